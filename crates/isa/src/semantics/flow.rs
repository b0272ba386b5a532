//! Control flow.

use crate::any::AnyInstruction;
use crate::instruction::Value;
use crate::operand::{ExecSize, PredicateCombine};
use crate::table::FieldName;

/// The effect of an instruction on control flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flow {
    /// Continues with the next instruction.
    Next,
    /// Not code: debug information, or marks of lifetimes.
    Marker,
    /// Places a label.
    Label {
        /// Whether it begins a subroutine.
        subroutine: bool,
    },
    /// Jumps to the label of the field `label`.
    Jump {
        /// Whether each lane decides for itself; otherwise the thread jumps as a whole.
        by_lane: bool,
    },
    /// Jumps to one of the labels of the field `labels`, all lanes to the same.
    Switch,
    /// Calls, and continues when the callee returns.
    Call(Callee),
    /// Returns from a subroutine or function, or ends the kernel.
    Return {
        /// Whether it returns only from functions.
        function: bool,
    },
    /// A part of the structured control flow of versions before 3.8.
    Structured(Structure),
}

impl Flow {
    /// A description for reference pages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Next => "next instruction",
            Self::Marker => "none: a marker",
            Self::Label { subroutine: false } => "places a label",
            Self::Label { subroutine: true } => "begins a subroutine",
            Self::Jump { by_lane: false } => "jump of all lanes",
            Self::Jump { by_lane: true } => "jump of each lane",
            Self::Switch => "jump of all lanes to one of several labels",
            Self::Call(Callee::Label) => "call of a subroutine",
            Self::Call(Callee::Name) => "call of a function by name",
            Self::Call(Callee::Address) => "call of a function by address",
            Self::Return { function: false } => "return, or the end of the kernel",
            Self::Return { function: true } => "return from a function",
            Self::Structured(Structure::If) => "begins a conditional",
            Self::Structured(Structure::Else) => "begins the other part of a conditional",
            Self::Structured(Structure::EndIf) => "ends a conditional",
            Self::Structured(Structure::Do) => "begins a loop",
            Self::Structured(Structure::While) => "ends a loop",
            Self::Structured(Structure::Break) => "leaves a loop",
            Self::Structured(Structure::Continue) => "goes to the end of a loop",
        }
    }
}

/// How a call names its callee.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// A subroutine by its label.
    Label,
    /// A function by its name.
    Name,
    /// A function by its address.
    Address,
}

/// A part of structured control flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Structure {
    /// Begins a conditional.
    If,
    /// Begins the part of the other lanes.
    Else,
    /// Ends a conditional.
    EndIf,
    /// Begins a loop.
    Do,
    /// Ends a loop; enabled lanes repeat it.
    While,
    /// Enabled lanes leave the loop.
    Break,
    /// Enabled lanes go to the end of the loop.
    Continue,
}

/// Whether an instruction can be the last one a thread runs, apart from what [`Flow`] says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// It cannot.
    Never,
    /// This bit of a field says that nothing follows: the end of the thread, or a call that does not
    /// return.
    IfBit(FieldName, u8),
    /// The message may end the thread, although no field says so.
    Possible,
}

/// The result of [`AnyInstruction::flow`] for one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ControlFlow {
    /// The kind of the row.
    pub flow: Flow,
    /// Whether some lane can continue with the next instruction. For calls: after they return.
    pub falls_through: bool,
    /// Whether lanes may diverge here: each lane decides, and there are several.
    pub diverges: bool,
    /// Whether a routine may end here: control does not fall through, or the message may end the thread.
    pub may_end: bool,
}

impl ControlFlow {
    /// Whether the instruction only continues with the next one.
    #[must_use]
    pub const fn is_plain(&self) -> bool {
        matches!(self.flow, Flow::Next | Flow::Marker) && self.falls_through
    }
}

pub(crate) fn control_flow(instruction: &(impl AnyInstruction + ?Sized)) -> ControlFlow {
    let def = instruction.def();
    let predicate = instruction.predicate().filter(|p| !p.is_none());
    let predicated = predicate.is_some();
    let each_lane = predicate.is_some_and(|p| p.combine() == PredicateCombine::PerLane);
    let lanes = instruction.exec_size().and_then(ExecSize::lanes);
    let ends = match def.ending {
        Ending::Never | Ending::Possible => false,
        Ending::IfBit(name, bit) => instruction
            .value(name)
            .as_ref()
            .and_then(Value::as_number)
            .is_some_and(|number| number >> bit & 1 == 1),
    };
    let falls_through = match def.flow {
        Flow::Next
        | Flow::Marker
        | Flow::Label { .. }
        | Flow::Call(_)
        | Flow::Structured(Structure::If | Structure::EndIf | Structure::Do) => !ends,
        Flow::Jump { .. }
        | Flow::Return { .. }
        | Flow::Structured(Structure::While | Structure::Break | Structure::Continue) => predicated,
        Flow::Switch | Flow::Structured(Structure::Else) => false,
    };
    let by_lane = match def.flow {
        Flow::Jump { by_lane } => by_lane,
        Flow::Return { .. } => true,
        Flow::Structured(part) => !matches!(part, Structure::EndIf | Structure::Do),
        _ => false,
    };
    ControlFlow {
        flow: def.flow,
        falls_through,
        diverges: by_lane && each_lane && lanes.is_some_and(|lanes| lanes > 1),
        may_end: !falls_through || def.ending == Ending::Possible,
    }
}
