//! Steps without the places that they name, to compare programs that lay out their registers and labels differently.

use super::blocks::targets;
use super::{Action, Origin, Step};
use std::cell::RefCell;

/// A step, and the places that it names apart from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nameless {
    /// The step with zeros for all places and targets. What it does with a place is the same in every step that is equal
    /// to this one.
    pub step: Step,
    /// Places of the register file, in an order that depends on [`Self::step`] alone. A place may be named several times.
    pub places: Vec<usize>,
    /// Steps that may follow besides the next one.
    pub targets: Vec<usize>,
}

impl Step {
    /// Takes the step apart from the places that it names.
    #[must_use]
    pub fn nameless(&self) -> Nameless {
        let mut step = Self {
            origin: Origin::NONE,
            fused: false,
            ..self.clone()
        };
        let places = RefCell::default();
        step.relocate(&|place| {
            let mut places: std::cell::RefMut<'_, Vec<usize>> = places.borrow_mut();
            places.push(place);
            0
        });
        match &mut step.action {
            Action::Jump { target, .. }
            | Action::Goto { target, .. }
            | Action::Call { target, .. } => *target = 0,
            Action::Switch { targets, .. } => targets.fill(0),
            _ => {}
        }
        Nameless {
            step,
            places: places.into_inner(),
            targets: targets(&self.action).to_vec(),
        }
    }
}
