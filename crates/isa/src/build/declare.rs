//! Declarations of a routine under construction.

use crate::ids::{LabelId, PredicateId, StringId, VarId};
use crate::object::{Alignment, Body, Declaration, Label, LabelKind, Variable, VariableProperties};
use crate::types::DataType;
use crate::version::Format;
use alloc::borrow::Cow;

/// A number that the tables of a file cannot hold becomes the largest one, which the writer
/// rejects.
fn number<T: TryFrom<usize>>(entries: usize, largest: T) -> T {
    T::try_from(entries).unwrap_or(largest)
}

impl<'a> Body<'a> {
    /// Appends a general variable of `elements` elements, aligned to a register.
    pub fn add_variable(
        &mut self,
        name: impl Into<Cow<'a, str>>,
        ty: DataType,
        elements: u16,
        format: Format,
    ) -> VarId {
        let own = number(self.variables.len(), u32::MAX);
        let variable = Variable {
            name: self.add_name(name),
            properties: VariableProperties::new(ty, Alignment::GRF),
            elements,
            ..Variable::default()
        };
        self.variables.push(variable);
        VarId(own.saturating_add(format.predefined_variable_count()))
    }

    /// Appends a predicate variable of `lanes` elements.
    pub fn add_predicate(&mut self, name: impl Into<Cow<'a, str>>, lanes: u16) -> PredicateId {
        let declaration = Declaration {
            name: self.add_name(name),
            elements: lanes,
            ..Declaration::default()
        };
        self.predicates.push(declaration);
        // P0 is "no predicate".
        PredicateId(number(self.predicates.len(), u16::MAX))
    }

    /// Appends a label.
    pub fn add_label(&mut self, name: impl Into<Cow<'a, str>>, kind: LabelKind) -> LabelId {
        let id = LabelId(number(self.labels.len(), u16::MAX));
        let label = Label {
            name: self.add_name(name),
            kind,
            ..Label::default()
        };
        self.labels.push(label);
        id
    }

    fn add_name(&mut self, name: impl Into<Cow<'a, str>>) -> StringId {
        self.add_string(match name.into() {
            Cow::Borrowed(name) => Cow::Borrowed(name.as_bytes()),
            Cow::Owned(name) => Cow::Owned(name.into_bytes()),
        })
    }
}
