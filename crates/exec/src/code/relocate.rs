//! Relocates the contents of the register file.

use super::{Action, Code, Compute, Message, Scalar, Step, Target};
use crate::operands::Moved;
use std::sync::Arc;

impl Scalar {
    pub(crate) fn relocate(&mut self, moved: Moved<'_>) {
        match self {
            Self::Constant(_) => {}
            Self::Register { offset, .. } => *offset = moved(*offset),
            Self::Indirect { address, .. } => *address = moved(*address),
        }
    }
}

impl Compute {
    fn relocate(&mut self, moved: Moved<'_>) {
        let used = self.operation.sources();
        for source in self.sources.iter_mut().take(used) {
            source.offset = moved(source.offset);
        }
        for destination in std::iter::once(&mut self.destination).chain(&mut self.second) {
            if destination.target != Target::Null {
                destination.offset = moved(destination.offset);
            }
        }
        let used = self.operation.flags();
        for flag in self.flags.iter_mut().take(used).chain(&mut self.sets) {
            relocate_word(&mut flag.offset, moved);
        }
    }
}

fn relocate_word(offset: &mut u32, moved: Moved<'_>) {
    *offset = u32::try_from(moved(*offset as usize)).unwrap_or(u32::MAX);
}

impl Step {
    pub(super) fn relocate(&mut self, moved: Moved<'_>) {
        if let Some(flag) = &mut self.predicate {
            relocate_word(&mut flag.offset, moved);
        }
        match &mut self.action {
            Action::Compute(compute) => Arc::make_mut(compute).relocate(moved),
            Action::Message(message) => {
                let Message(message) = Arc::make_mut(message);
                message.relocate(moved);
            }
            Action::Systolic(systolic) => {
                systolic.activations = moved(systolic.activations);
                let places = &mut systolic.places;
                places.result = moved(places.result);
                places.weights = moved(places.weights);
                let others = [
                    &mut places.accumulator,
                    &mut places.weight_scales,
                    &mut places.activation_scales,
                ];
                for place in others.into_iter().flatten() {
                    *place = moved(*place);
                }
            }
            Action::UpdateMode(place) | Action::ExecutionMask(place) | Action::Clock(place) => {
                *place = moved(*place);
            }
            Action::Count(count) => {
                let places = [&mut count.times, &mut count.lanes, &mut count.parts];
                for place in places.into_iter().flatten() {
                    *place = moved(*place);
                }
            }
            Action::Switch { index, .. } => index.relocate(moved),
            Action::CallAddress { address, .. } => address.relocate(moved),
            Action::NamedSignal(operands) => operands.iter_mut().for_each(|o| o.relocate(moved)),
            Action::NamedWait(number) => number.relocate(moved),
            Action::Join
            | Action::Nothing
            | Action::Jump { .. }
            | Action::Goto { .. }
            | Action::Call { .. }
            | Action::Return { .. }
            | Action::Barrier
            | Action::Signal
            | Action::Wait
            | Action::Fault(_) => {}
        }
    }
}

impl Code {
    /// Everything that the steps name is at other places from now on.
    pub(crate) fn relocate(&mut self, moved: Moved<'_>) {
        for step in &mut self.steps {
            step.relocate(moved);
        }
        for (place, _) in &mut self.constants {
            *place = moved(*place);
        }
    }
}
