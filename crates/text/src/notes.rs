//! What text in a form of our own says besides the lines themselves.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// A line that something can be noted at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Place {
    /// The declaration of a general variable.
    Variable(usize),
    /// The declaration of an address variable.
    Address(usize),
    /// The declaration of a predicate variable.
    Predicate(usize),
    /// The declaration of a sampler.
    Sampler(usize),
    /// The declaration of a surface.
    Surface(usize),
    /// The declaration of a label.
    Label(usize),
    /// An attribute of the routine.
    Attribute(usize),
    /// An entry of the instruction area.
    Item(usize),
}

/// How a label is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LabelNote {
    /// It has a line of its own before the instructions.
    pub(crate) declared: bool,
    /// No line places it.
    pub(crate) unplaced: bool,
}

/// Notes for a routine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// Instructions that are shown number by number, because no other line makes them.
    pub(crate) forced: BTreeSet<usize>,
    /// One for each label.
    pub(crate) labels: Vec<LabelNote>,
    /// Lines behind the routine's first one.
    pub(crate) lines: Vec<u8>,
    /// Lines behind everything else of the routine.
    pub(crate) tail: Vec<u8>,
    /// Directives at the end of lines.
    pub(crate) trailing: BTreeMap<Place, String>,
    /// The routine has no target, and must not get one.
    pub(crate) no_target: bool,
}

impl Notes {
    /// Gives every label a line of its own.
    pub(crate) fn declare_labels(&mut self) {
        for label in &mut self.labels {
            label.declared = true;
        }
    }
}
