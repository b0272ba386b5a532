//! Where in a text the parts of an assembled object were written.

use super::diagnostic::{Diagnostic, Span};
use alloc::vec::Vec;
use visakit_isa::Platform;
use visakit_isa::object::{Body, Object, RoutineId, RoutineKind};

/// The lists of a routine whose entries have spans.
const LISTS: [&str; 9] = [
    "code",
    "variables",
    "addresses",
    "predicates",
    "labels",
    "samplers",
    "surfaces",
    "inputs",
    "attributes",
];

/// Lengths of the lists, in their order.
fn lengths(body: &Body<'_>) -> [usize; LISTS.len()] {
    [
        body.code.len(),
        body.variables.len(),
        body.addresses.len(),
        body.predicates.len(),
        body.labels.len(),
        body.samplers.len(),
        body.surfaces.len(),
        body.inputs.len(),
        body.attributes.len(),
    ]
}

/// SourceMap of a routine's parts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RoutineSpans {
    /// The directive that begins the routine.
    pub routine: Span,
    lists: [Vec<Span>; LISTS.len()],
}

impl RoutineSpans {
    /// Entries that came into being since the last call were written at `span`.
    pub(super) fn note(&mut self, body: &Body<'_>, span: Span) {
        for (list, length) in self.lists.iter_mut().zip(lengths(body)) {
            while list.len() < length {
                list.push(span);
            }
        }
    }

    /// The statement that made an instruction.
    #[must_use]
    pub fn instruction(&self, index: usize) -> Option<Span> {
        self.entry("code", index)
    }

    /// The statement that made the entry of a list of [`Body`], which is named like its field:
    /// `variables`, `inputs`, `code`. A label that was used before it was placed has the span of
    /// its first use. What the assembler added by itself has none, or that of a neighbour.
    #[must_use]
    pub fn entry(&self, list: &str, index: usize) -> Option<Span> {
        let list = LISTS.iter().position(|name| *name == list)?;
        self.lists.get(list)?.get(index).copied()
    }
}

/// SourceMap of an object's parts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceMap {
    /// One for each kernel.
    pub kernels: Vec<RoutineSpans>,
    /// One for each function.
    pub functions: Vec<RoutineSpans>,
}

impl SourceMap {
    /// Those of a routine.
    #[must_use]
    pub fn routine(&self, id: RoutineId) -> Option<&RoutineSpans> {
        match id.kind {
            RoutineKind::Kernel => self.kernels.get(id.index),
            RoutineKind::Function => self.functions.get(id.index),
        }
    }
}

/// An object and where its parts were written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assembled<'t> {
    /// The object.
    pub object: Object<'t>,
    /// Where its parts were written.
    pub source_map: SourceMap,
    /// Warnings: what was assembled although it looks wrong, in text order.
    pub warnings: Vec<Diagnostic>,
    /// The platform that the text names in a `//Platform:` line, as compilers write them.
    pub platform: Option<Platform>,
    /// The first place of the text that depends on the size of a register (an address-of operand with an offset,
    /// `%sizeof(GRF)`), where neither options nor text tell that size: it is assembled for registers of 32 bytes, and
    /// means something else on a machine of 64.
    pub undecided: Option<Diagnostic>,
}

/// What could be made of a text, and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked<'t> {
    /// What the lines that are right have made. Where there are faults the object is not the one that
    /// the text means: lines are missing from it, and routines may have labels that are nowhere placed.
    pub assembled: Assembled<'t>,
    /// The faults, in order of their places.
    pub faults: Vec<Diagnostic>,
}
