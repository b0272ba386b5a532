//! Instructions as text, one by one.

use std::convert::Infallible;
use visakit_isa::object::{Body, Object, Routine, RoutineId, RoutineKind};
use visakit_text::{LineKind, Options, Output, Printer};

/// Keeps the text of instructions by their index in the code.
#[derive(Default)]
struct Lines(Vec<String>);

impl Output for Lines {
    type Error = Infallible;

    fn line(&mut self, kind: LineKind, text: &[u8]) -> Result<(), Infallible> {
        let (LineKind::Instruction(index) | LineKind::Undecoded(index)) = kind else {
            return Ok(());
        };
        if index == self.0.len() {
            self.0.push(plain(&String::from_utf8_lossy(text)));
        }
        Ok(())
    }
}

/// The line without its number, and of several lines the last.
fn plain(text: &str) -> String {
    let text = text.trim_end();
    let text = text.rsplit('\n').next().unwrap_or(text);
    let end = text.rfind(" /// $").unwrap_or(text.len());
    text.get(..end).unwrap_or(text).trim().to_owned()
}

/// The text of every instruction of a routine, on one line each, without indentation and offsets.
#[must_use]
pub fn all(object: &Object<'_>, id: RoutineId) -> Vec<String> {
    let mut lines = Lines::default();
    let Ok(()) = Printer::new(object, Options::default()).routine(id, &mut lines);
    lines.0
}

/// The text of some instructions of a routine, with their indices in the code. Only these are printed.
#[must_use]
pub fn some(
    object: &Object<'_>,
    id: RoutineId,
    indices: impl Iterator<Item = usize>,
) -> Vec<(usize, String)> {
    let Some(body) = object.routine(id).and_then(Routine::body) else {
        return Vec::new();
    };
    let (indices, code): (Vec<_>, Vec<_>) = indices
        .filter_map(|index| Some((index, body.code.get(index)?.clone())))
        .unzip();
    if code.is_empty() {
        return Vec::new();
    }
    let body = Body {
        strings: body.strings.clone(),
        name: body.name,
        variables: body.variables.clone(),
        addresses: body.addresses.clone(),
        predicates: body.predicates.clone(),
        labels: body.labels.clone(),
        samplers: body.samplers.clone(),
        surfaces: body.surfaces.clone(),
        attributes: body.attributes.clone(),
        code,
        ..Body::default()
    };
    let mut short = Object::new(object.version, object.dialect);
    short.file_variables.clone_from(&object.file_variables);
    let routine = Routine::new(&b""[..], body);
    match id.kind {
        RoutineKind::Kernel => short.kernels.push(routine),
        RoutineKind::Function => short.functions.push(routine),
    }
    let id = RoutineId::new(id.kind, 0);
    indices.into_iter().zip(all(&short, id)).collect()
}
