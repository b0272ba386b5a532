//! Text and source lines of instructions.

use crate::finding::Place;
use std::collections::BTreeMap;
use visakit_isa::object::{Item, Object, RoutineId, SourceFiles, SourceLine};
use visakit_isa::table::FieldName;
use visakit_isa::{Op, Value};
use visakit_text::{Form, Options, Printer};

/// Text and source of the instructions of some routines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    lines: BTreeMap<(RoutineId, usize), Line>,
    files: SourceFiles,
}

#[derive(Clone, Debug, Default)]
struct Line {
    text: String,
    source: Option<SourceLine>,
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
            let lines = listing.files.lines(body);
            for (number, (text, source)) in printer.code(id).into_iter().zip(lines).enumerate() {
                listing.lines.insert((id, number), Line { text, source });
            }
            for (number, item) in body.code.iter().enumerate() {
                let Item::Instruction(instruction) = item else {
                    continue;
                };
                let field = |name| instruction.get(name).and_then(Value::as_number);
                match instruction.op {
                    Op::FENCE => {
                        let mask = field(FieldName::Mask).unwrap_or(0);
                        // A compiler-only fence is used if local memory needs no fence of the hardware.
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
            }
        }
        (listing, fences)
    }

    /// Whether the program queries its lane number: it has the vector of lane numbers. Kernels with private memory have
    /// it too, as each lane has its own place.
    pub(crate) fn counts_lanes(&self) -> bool {
        let mut lines = self.lines.values();
        lines.any(|line| line.text.contains(" 0x76543210:"))
    }

    /// The place of an instruction.
    pub(crate) fn place(&self, routine: (RoutineId, &str), instruction: usize) -> Place {
        let line = self.lines.get(&(routine.0, instruction));
        let source = line.and_then(|line| line.source);
        let file = source.and_then(|source| self.files.name(source.file?));
        Place {
            routine: routine.1.to_owned(),
            instruction,
            text: line.map_or_else(String::new, |line| line.text.clone()),
            file: file.map(ToOwned::to_owned),
            line: source.map(|source| source.line),
        }
    }
}
