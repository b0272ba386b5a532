//! Text and source lines of instructions.

use crate::finding::Place;
use std::collections::BTreeMap;
use visakit_isa::object::{Object, RoutineId, SourceFiles, SourceLine};
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

impl Listing {
    /// Text and source lines of the routines.
    pub(crate) fn new(
        object: &Object<'_>,
        grf_bytes: u32,
        routines: impl Iterator<Item = RoutineId>,
    ) -> Self {
        let mut listing = Self::default();
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
        }
        listing
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
