//! Text and source lines of instructions.

use crate::finding::Place;
use std::collections::BTreeMap;
use visakit_isa::object::{Object, RoutineId};
use visakit_isa::table::FieldName;
use visakit_isa::{Op, Value};
use visakit_text::{Form, Options, Printer};

/// Text and source of the instructions of some routines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    lines: BTreeMap<(RoutineId, usize), Line>,
    files: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct Line {
    text: String,
    /// File, by its number, and line.
    source: Option<(Option<usize>, u32)>,
}

/// The unit of shared local memory in the field of a fence.
const SLM: i64 = 3;

/// Which memory a fence orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fence {
    pub(crate) local: bool,
    pub(crate) global: bool,
}

impl Listing {
    /// Text and source lines of the routines, and what their fences order.
    pub(crate) fn new(
        object: &Object<'_>,
        grf_bytes: u32,
        routines: impl Iterator<Item = RoutineId>,
    ) -> (Self, BTreeMap<(RoutineId, usize), Fence>) {
        let mut listing = Self::default();
        let mut fences = BTreeMap::new();
        let printer = Printer::new(
            object,
            Options {
                form: Form::Intel,
                grf_bytes: Some(grf_bytes),
            },
        );
        for id in routines {
            let Some(body) = object.routine(id).and_then(|routine| routine.body()) else {
                continue;
            };
            for (number, text) in printer.code(id).into_iter().enumerate() {
                listing
                    .lines
                    .insert((id, number), Line { text, source: None });
            }
            let (mut file, mut line) = (None, None);
            for (number, instruction) in body.instructions().enumerate() {
                let field = |name| instruction.get(name).and_then(Value::as_number);
                match instruction.op {
                    Op::FILE => {
                        let name = match instruction.get(FieldName::FileName) {
                            Some(Value::String(id)) => body.string(*id),
                            _ => None,
                        };
                        let name = name.map(|n| String::from_utf8_lossy(n).into_owned());
                        file = name.map(|name| listing.file(name));
                    }
                    Op::LOC => {
                        let number = field(FieldName::Line).and_then(|n| u32::try_from(n).ok());
                        // Line 0 is code that the compiler made: it belongs to what was before.
                        line = number.filter(|n| *n != 0).or(line);
                    }
                    Op::FENCE => {
                        let mask = field(FieldName::Mask).unwrap_or(0);
                        // A fence for the compiler alone stands where local memory needs none of the hardware.
                        let local = mask & 0xa0 != 0;
                        let fence = Fence {
                            local,
                            global: !local,
                        };
                        fences.insert((id, number), fence);
                    }
                    Op::LSC_FENCE => {
                        let local = field(FieldName::Sfid) == Some(SLM);
                        let fence = Fence {
                            local,
                            global: !local,
                        };
                        fences.insert((id, number), fence);
                    }
                    _ => {}
                }
                if let Some(line) = line {
                    let entry = listing.lines.entry((id, number)).or_default();
                    entry.source = Some((file, line));
                }
            }
        }
        (listing, fences)
    }

    /// Whether the program asks which lane it is in: it has the vector of lane numbers. So do kernels with private
    /// memory, whose lanes are at places of their own.
    pub(crate) fn counts_lanes(&self) -> bool {
        let mut lines = self.lines.values();
        lines.any(|line| line.text.contains(" 0x76543210:"))
    }

    fn file(&mut self, name: String) -> usize {
        let found = self.files.iter().position(|f| *f == name);
        found.unwrap_or_else(|| {
            self.files.push(name);
            self.files.len() - 1
        })
    }

    /// The place of an instruction.
    pub(crate) fn place(&self, routine: (RoutineId, &str), instruction: usize) -> Place {
        let line = self.lines.get(&(routine.0, instruction));
        let source = line.and_then(|line| line.source);
        let file = source.and_then(|(file, _)| self.files.get(file?).cloned());
        Place {
            routine: routine.1.to_owned(),
            instruction,
            text: line.map_or_else(String::new, |line| line.text.clone()),
            file,
            line: source.map(|(_, line)| line),
        }
    }
}
