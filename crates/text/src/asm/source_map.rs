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

/// Lengths of those lists, in the same order.
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

/// Where the parts of a routine were written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RoutineSpans {
    /// The directive that begins the routine.
    pub routine: Span,
    lists: [Vec<Span>; LISTS.len()],
}

impl RoutineSpans {
    /// Entries created since the last call were written at `span`.
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

    /// The statement that made an entry of a list of [`Body`]. The list is named like its field: `variables`, `inputs`,
    /// `code`. A label that was used before it was placed has the span of its first use. Entries the assembler added
    /// itself have none, or that of a neighbour.
    #[must_use]
    pub fn entry(&self, list: &str, index: usize) -> Option<Span> {
        let list = LISTS.iter().position(|name| *name == list)?;
        self.lists.get(list)?.get(index).copied()
    }
}

/// Where the parts of an object were written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceMap {
    /// One for each kernel.
    pub kernels: Vec<RoutineSpans>,
    /// One for each function.
    pub functions: Vec<RoutineSpans>,
}

impl SourceMap {
    /// The spans of a routine.
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
    /// The platform named by a `//Platform:` line of the text, as compilers write it.
    pub platform: Option<Platform>,
    /// The first place of the text that depends on the size of a register (an address-of operand with an offset,
    /// `%sizeof(GRF)`), if neither options nor text state that size: it was assembled for registers of 32 bytes, and
    /// means something else on a machine of 64.
    pub undecided: Option<Diagnostic>,
}

/// What could be assembled from a text, and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked<'t> {
    /// What the correct lines produced. If there are faults, this is not the object that the text means: lines are
    /// missing from it, and routines may have labels that are not placed anywhere.
    pub assembled: Assembled<'t>,
    /// The faults, in order of their places.
    pub faults: Vec<Diagnostic>,
}
