//! Instructions.

use super::Editor;
use super::tables::References;
use crate::error::{Error, ErrorKind};
use crate::location::{Location, Reference, Table};
use crate::visit::Visitor;
use visakit_isa::object::Item;
use visakit_isa::semantics::Flow;
use visakit_isa::{FieldName, Instruction, LabelId, Value};

/// The label that an instruction places.
pub(crate) fn placed(instruction: &Instruction) -> Option<LabelId> {
    match (instruction.def().flow, instruction.get(FieldName::Label)) {
        (Flow::Label { .. }, Some(Value::Label(id))) => Some(*id),
        _ => None,
    }
}

impl Editor<'_, '_> {
    /// Inserts an instruction before the one that is at `index` now, or after all.
    ///
    /// # Errors
    /// The index is beyond the end; the instruction refers to something that does not exist, places
    /// a label that is placed already, or cannot be written in the object's format.
    pub fn insert(&mut self, index: usize, instruction: Instruction) -> Result<(), Error> {
        if index > self.body().code.len() {
            return Err(self.fail(ErrorKind::NoEntry("instruction", index)));
        }
        self.check(index, &instruction, None)?;
        self.recompile();
        self.body_mut()?.code.insert(index, instruction.into());
        Ok(())
    }

    /// Takes an instruction out.
    ///
    /// # Errors
    /// There is no such item; it places a label that is in use.
    pub fn take(&mut self, index: usize) -> Result<Item<'_>, Error> {
        self.leaves_labels(index, None)?;
        self.recompile();
        Ok(self.body_mut()?.code.remove(index))
    }

    /// Replaces an instruction.
    ///
    /// # Errors
    /// As [`Editor::insert`] and [`Editor::take`].
    pub fn replace(&mut self, index: usize, instruction: Instruction) -> Result<(), Error> {
        self.leaves_labels(index, placed(&instruction))?;
        self.check(index, &instruction, Some(index))?;
        self.recompile();
        if let Some(item) = self.body_mut()?.code.get_mut(index) {
            *item = instruction.into();
        }
        Ok(())
    }

    /// Where a label is placed.
    #[must_use]
    pub fn placed_at(&self, label: LabelId) -> Option<usize> {
        self.all_placed_at(label).next()
    }

    fn all_placed_at(&self, label: LabelId) -> impl Iterator<Item = usize> {
        let code = self.body().code.iter().enumerate();
        code.filter_map(move |(index, item)| match item {
            Item::Instruction(i) if placed(i) == Some(label) => Some(index),
            _ => None,
        })
    }

    /// Checks that an instruction may be placed at an index, where the one at `instead` is going to
    /// be removed.
    fn check(
        &self,
        index: usize,
        instruction: &Instruction,
        instead: Option<usize>,
    ) -> Result<(), Error> {
        let location = Location::of(index, instruction);
        let mut used = References::default();
        used.instruction(index, instruction);
        self.all_known(&used)?;
        if let Some(label) = placed(instruction)
            && let Some(other) = self.all_placed_at(label).find(|p| Some(*p) != instead)
        {
            let reference = Reference::new(Table::Label, label.0.into());
            let kind = ErrorKind::PlacedTwice(reference, other);
            return Err(self.fail(Error::at(kind, location)));
        }
        match visakit_encode::instruction(instruction, self.format) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.fail(Error::at(error, location))),
        }
    }

    /// Checks that no used label becomes unplaced if the instruction at `index` is removed.
    fn leaves_labels(&self, index: usize, again: Option<LabelId>) -> Result<(), Error> {
        let Some(item) = self.body().code.get(index) else {
            return Err(self.fail(ErrorKind::NoEntry("instruction", index)));
        };
        let Item::Instruction(instruction) = item else {
            return Ok(());
        };
        let Some(label) = placed(instruction).filter(|l| Some(*l) != again) else {
            return Ok(());
        };
        if self.all_placed_at(label).any(|other| other != index) {
            return Ok(());
        }
        let reference = Reference::new(Table::Label, label.0.into());
        let mut uses = self.uses(reference);
        uses.retain(|p| !matches!(p, Location::Instruction { index: i, .. } if *i == index));
        match super::summary(&uses) {
            None => Ok(()),
            Some(uses) => Err(self.fail(ErrorKind::InUse(reference, uses))),
        }
    }
}
