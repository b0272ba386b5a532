//! What instructions do, as data: columns of the table, and the methods that evaluate them.
//!
//! | column of a row | question | answer |
//! |---|---|---|
//! | [`Flow`], [`Ending`] | [`AnyInstruction::flow`](crate::AnyInstruction::flow) | where control continues |
//! | [`Memory`] | [`AnyInstruction::memory`](crate::AnyInstruction::memory) | which memory is read or written, and in which layout |
//! | roles of the fields, [`Implicit`] | [`AnyInstruction::reads`](crate::AnyInstruction::reads), [`AnyInstruction::writes`](crate::AnyInstruction::writes) | what is read and written |
//! | [`Traits`], [`Conversion`] | | rules of types and operands beyond the lists of the fields |
//! | all of them, and the fields | [`Payload`] | bytes of the operands without a region |
//! | platforms | [`InstructionDef::runs_on`](crate::InstructionDef::runs_on) | which platforms have it |
//! | [`InstructionDef::unsupported`](field@crate::InstructionDef::unsupported) | | why it cannot be executed without the hardware |
//!
//! ```
//! use visakit_isa::semantics::{Action, AtomicOp, Flow};
//! use visakit_isa::Op;
//!
//! assert_eq!(Op::GOTO.def().flow, Flow::Jump { by_lane: true });
//! let memory = Op::LSC_ATOMIC_IADD.def().memory.unwrap();
//! assert_eq!(memory.action, Action::Atomic(AtomicOp::Add));
//! ```

mod access;
mod atomic;
mod block;
mod flow;
mod memory;
mod payload;
mod systolic;
mod traits;

pub use access::{Access, Implicit, Resource};
pub use atomic::AtomicOp;
pub use block::{BlockAddress, BlockShape};
pub use flow::{Callee, ControlFlow, Ending, Flow, Structure};
pub use memory::{
    Action, AddressSpace, AddressUnit, AddressWidth, Count, DataLayout, ElementSize, Memory,
    MemoryAccess, Storage,
};
pub use payload::{Payload, rectangle_pitch};
pub use systolic::{BLOCK_SCALES, SCALED_BLOCK, Systolic, precision_bits};
pub use traits::{Conversion, Traits};

pub(crate) use access::accesses;
pub(crate) use flow::control_flow;
pub(crate) use memory::memory_access;
