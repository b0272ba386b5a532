//! Findings of the checkers in a run.

use pyo3::prelude::*;
use visakit_check::{Access, Between, Finding, Item, Place};

/// Something that is wrong in a run, as often as it happened by the same cause.
#[pyclass(frozen, get_all, module = "visakit")]
pub(crate) struct RunFinding {
    kind: &'static str,
    level: &'static str,
    space: &'static str,
    access: Option<&'static str>,
    between: Option<&'static str>,
    message: String,
    routine: String,
    instruction: usize,
    text: String,
    file: Option<String>,
    line: Option<u32>,
    object: Option<String>,
    object_bytes: Option<u64>,
    offset: Option<i64>,
    argument: Option<usize>,
    group: Option<(u32, u32, u32)>,
    global_id: Option<(u32, u32, u32)>,
    local_id: Option<(u32, u32, u32)>,
    address: Option<u64>,
    bytes: Option<u32>,
    value: Option<u64>,
    count: u64,
    other: Option<String>,
    other_line: Option<u32>,
}

/// A description of an instruction's place.
fn place(place: &Place) -> String {
    match (&place.file, place.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => format!("{}, instruction {}", place.routine, place.instruction),
    }
}

impl RunFinding {
    pub(crate) fn new(finding: &Finding) -> Self {
        let item = finding.item.as_ref();
        let id = |id: fn(&Item) -> Option<[u32; 3]>| item.and_then(id).map(<(u32, u32, u32)>::from);
        let target = finding.target.as_ref();
        let other = finding.other.as_ref();
        let other_place = other.and_then(|o| o.place.as_ref());
        Self {
            kind: finding.kind.name(),
            level: finding.kind.level().name(),
            space: finding.space.name(),
            access: finding.access.map(Access::name),
            between: finding.between.map(Between::name),
            message: finding.message.clone(),
            routine: finding.place.routine.clone(),
            instruction: finding.place.instruction,
            text: finding.place.text.clone(),
            file: finding.place.file.clone(),
            line: finding.place.line,
            object: target.map(|t| t.name.clone()),
            object_bytes: target.map(|t| t.bytes),
            offset: target.map(|t| t.offset),
            argument: target.and_then(|t| t.argument),
            group: id(|item| Some(item.group)),
            global_id: id(|item| item.global),
            local_id: id(|item| item.local),
            address: finding.address,
            bytes: finding.bytes,
            value: finding.value,
            count: finding.count,
            other: other.map(|o| match &o.place {
                Some(at) => format!("{} at {}", o.what, place(at)),
                None => o.what.clone(),
            }),
            other_line: other_place.and_then(|p| p.line),
        }
    }
}

#[pymethods]
impl RunFinding {
    fn __repr__(&self) -> String {
        let Self { kind, message, .. } = self;
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => format!("{}, instruction {}", self.routine, self.instruction),
        };
        format!("<RunFinding {kind} at {place}: {message}>")
    }
}
