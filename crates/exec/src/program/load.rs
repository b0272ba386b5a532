//! Code that is ready to run: each step bound to its implementation on this host in a float mode.

use crate::code::{Action, Code, Count, Flag, Message};
use crate::kernels::{Bound, Hot};
use crate::lanes::mode::{FloatMode, HostFloats};
use std::sync::{Arc, OnceLock};

/// Which lanes a step works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

/// A step as the loop of a thread sees it: the frequently used data, in few bytes. Everything else is in the
/// step of the code at the same place.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) masking: Masking,
    /// How many steps from this one on are [`Work::Hot`].
    pub(crate) hot: u16,
    pub(crate) work: Work,
}

/// The work of a step.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// [`Action::Compute`] on operands that are in the register file as lanes.
    Hot(Hot),
    /// [`Action::Compute`] on others.
    Compute(Bound),
    /// [`Action::Message`].
    Message(Arc<Message>),
    /// [`Action::Join`].
    Join,
    /// [`Action::Count`].
    Count(Box<Count>),
    /// [`Action::UpdateMode`].
    UpdateMode(usize),
    /// [`Action::Jump`].
    Jump { target: usize, inverted: bool },
    /// [`Action::Goto`].
    Goto { target: usize, inverted: bool },
    /// Given by the step of the code.
    Other { is_instruction: bool },
}

impl Work {
    /// Whether it is a computation.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn computes(&self) -> bool {
        matches!(self, Self::Hot(_) | Self::Compute(_))
    }

    /// Whether it represents an instruction of the routine.
    pub(crate) const fn is_instruction(&self) -> bool {
        match self {
            Self::Join | Self::Count(_) | Self::UpdateMode(_) => false,
            Self::Other { is_instruction } => *is_instruction,
            _ => true,
        }
    }
}

/// The steps of a program, bound for each float mode that threads of it have had.
#[derive(Debug)]
pub(crate) struct Steps([OnceLock<Box<[Loaded]>>; HostFloats::COUNT]);

impl Steps {
    /// Binds the steps for the mode that most programs run in.
    pub(super) fn new(code: &Code) -> Self {
        let all = Self(std::array::from_fn(|_| OnceLock::new()));
        all.of(code, HostFloats::ALL);
        all
    }

    /// Those for a mode.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn in_mode(&self, code: &Code, mode: FloatMode) -> &[Loaded] {
        self.of(code, mode.host_floats())
    }

    fn of(&self, code: &Code, floats: HostFloats) -> &[Loaded] {
        let [usual, ..] = &self.0;
        let steps = self.0.get(floats.number()).unwrap_or(usual);
        steps.get_or_init(|| load(code, floats))
    }
}

/// Binds every step.
fn load(code: &Code, floats: HostFloats) -> Box<[Loaded]> {
    let steps = code.steps.iter();
    let mut steps: Box<[Loaded]> = steps
        .map(|step| Loaded {
            hot: 0,
            masking: Masking {
                first: step.lanes.first,
                no_mask: step.lanes.no_mask,
                count: step.lanes.count.min(32),
                window: step.lanes.window(),
                predicate: step.predicate,
            },
            work: match &step.action {
                Action::Compute(compute) => {
                    let hot = Hot::new(compute, usize::from(step.lanes.count).min(32), floats);
                    hot.map_or_else(|| Work::Compute(Bound::new(compute)), Work::Hot)
                }
                Action::Message(message) => Work::Message(Arc::clone(message)),
                Action::Join => Work::Join,
                Action::Count(count) => Work::Count(count.clone()),
                &Action::UpdateMode(place) => Work::UpdateMode(place),
                &Action::Jump { target, inverted } => Work::Jump { target, inverted },
                &Action::Goto { target, inverted } => Work::Goto { target, inverted },
                other => Work::Other {
                    is_instruction: other.is_instruction(),
                },
            },
        })
        .collect();
    let mut hot = 0u16;
    for step in steps.iter_mut().rev() {
        hot = match step.work {
            Work::Hot(_) => hot.saturating_add(1),
            _ => 0,
        };
        step.hot = hot;
    }
    steps
}
