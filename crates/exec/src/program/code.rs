//! The internal code.

use super::context::Scalar;
use crate::fault::FaultKind;
use crate::lanes::dpas::{Places, Plan};
use crate::message::Message;
use crate::run::alu::{Alu, Flag};

/// An entry of the code.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// First lane of the execution mask.
    pub(crate) first: u8,
    /// Whether the execution mask is ignored.
    pub(crate) no_mask: bool,
    /// Lanes of the instruction, as a mask.
    pub(crate) window: u32,
    /// Predication.
    pub(crate) predicate: Option<Flag>,
    /// What is done.
    pub(crate) kind: Kind,
}

impl Step {
    /// A step that looks at no lanes.
    pub(crate) fn plain(kind: Kind) -> Self {
        Self {
            first: 0,
            no_mask: true,
            window: 1,
            predicate: None,
            kind,
        }
    }
}

/// What a step does.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Arithmetic, logic, moves.
    Alu(Alu),
    /// A systolic dot product.
    Systolic(Box<Systolic>),
    /// A memory message.
    Message(Box<Message>),
    /// Waiting lanes may join here. Not an instruction.
    Join,
    /// An instruction without effect.
    Nothing,
    /// `%cr0` was written. Not an instruction.
    UpdateMode(usize),
    /// `%ce0` is about to be read: place. Not an instruction.
    ExecutionMask(usize),
    /// `%tsc` is about to be read: place. Not an instruction.
    Clock(usize),
    /// All running lanes jump if the first lane of the predicate is set (or clear).
    Jump { target: usize, inverted: bool },
    /// Enabled lanes jump.
    Goto {
        target: usize,
        /// The lanes that the predicate disables jump instead.
        inverted: bool,
    },
    /// Jump to one of the targets.
    Switch {
        index: Scalar,
        targets: Box<[usize]>,
    },
    /// Call of a subroutine (`None`) or a function of the program.
    Call {
        target: usize,
        function: Option<usize>,
        uniform: bool,
    },
    /// Call of a function by address.
    CallAddress { address: Scalar, uniform: bool },
    /// Return from a subroutine, a function or the kernel.
    Return { uniform: bool },
    /// Waits for the other threads of the group.
    Barrier,
    /// Split barrier.
    Signal,
    /// Split barrier.
    Wait,
    /// Named barrier: number, kind of thread (0 both, 1 producer, 2 consumer), producers,
    /// consumers.
    NamedSignal(Box<[Scalar; 4]>),
    /// Named barrier.
    NamedWait(Scalar),
    /// A fault when it is reached.
    Fault(Box<FaultKind>),
}

/// A systolic dot product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Systolic {
    pub(crate) plan: Plan,
    pub(crate) places: Places,
    /// Place of the activations.
    pub(crate) activations: usize,
    /// Bytes to the end of their variable.
    pub(crate) available: usize,
    /// Whether two fused threads share the activations.
    pub(crate) fused: bool,
}

impl Kind {
    /// Whether it stands for an instruction of the routine.
    pub(crate) const fn is_instruction(&self) -> bool {
        !matches!(
            self,
            Self::Join | Self::UpdateMode(_) | Self::ExecutionMask(_) | Self::Clock(_)
        )
    }
}
