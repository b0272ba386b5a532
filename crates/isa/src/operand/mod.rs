//! Operands and the typed words that instructions are made of.
//!
//! Every type here keeps all bits of its wire form, reserved ones included, so that what was read
//! can be written again unchanged. Whether the bits are legal is asked by `is_wire_legal` (what
//! a strict reader demands) and by the validator (what the specification demands).

mod control;
mod layout;
mod region;
mod vector;

pub use control::{
    ElementCount, ExecMask, ExecSize, Predicate, PredicateCombine, RawOperand, SamplerOp,
    SamplerOpFlags,
};
pub use region::{Region, RegionCode};
pub use vector::{
    AddressOperand, GeneralOperand, ImmediateOperand, IndirectOperand, Modifier, OperandClass,
    OperandClasses, PredicateOperand, PropertyByte, StateClass, StateOperand, VectorOperand,
};
