//! Code that is ready to run: each step bound to the function that runs it on this host.

use crate::code::{Action, Code, Count, Flag, Message};
use crate::kernels::Bound;
use std::sync::Arc;

/// Which lanes a step works on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Masking {
    /// First lane of the execution mask.
    pub(crate) first: u8,
    /// Whether the execution mask is ignored.
    pub(crate) no_mask: bool,
    /// Number of lanes.
    pub(crate) count: u8,
    /// Lanes of the instruction, as a mask.
    pub(crate) window: u32,
    /// Predication.
    pub(crate) predicate: Option<Flag>,
}

/// A step as the loop of a thread sees it: what happens often, in few bytes. Everything else stands
/// in the step of the code at the same place.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) masking: Masking,
    pub(crate) work: Work,
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// [`Action::Compute`].
    Compute(Bound),
    /// [`Action::Message`].
    Message(Arc<Message>),
    /// [`Action::Join`].
    Join,
    /// [`Action::Count`].
    Count(Box<Count>),
    /// [`Action::Jump`].
    Jump { target: usize, inverted: bool },
    /// [`Action::Goto`].
    Goto { target: usize, inverted: bool },
    /// What the step of the code says.
    Other { is_instruction: bool },
}

impl Work {
    /// Whether it stands for an instruction of the routine.
    pub(crate) const fn is_instruction(&self) -> bool {
        match self {
            Self::Join | Self::Count(_) => false,
            Self::Other { is_instruction } => *is_instruction,
            _ => true,
        }
    }
}

/// Binds every step.
pub(super) fn load(code: &Code) -> Box<[Loaded]> {
    let steps = code.steps.iter();
    steps
        .map(|step| Loaded {
            masking: Masking {
                first: step.lanes.first,
                no_mask: step.lanes.no_mask,
                count: step.lanes.count.min(32),
                window: step.lanes.window(),
                predicate: step.predicate,
            },
            work: match &step.action {
                Action::Compute(compute) => {
                    Work::Compute(Bound::new(compute, usize::from(step.lanes.count).min(32)))
                }
                Action::Message(message) => Work::Message(Arc::clone(message)),
                Action::Join => Work::Join,
                Action::Count(count) => Work::Count(count.clone()),
                &Action::Jump { target, inverted } => Work::Jump { target, inverted },
                &Action::Goto { target, inverted } => Work::Goto { target, inverted },
                other => Work::Other {
                    is_instruction: other.is_instruction(),
                },
            },
        })
        .collect()
}
