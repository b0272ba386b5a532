//! Operands and the typed words of instructions.
//!
//! Every type here keeps all bits of its wire form, including reserved ones, so that what was read
//! can be written again unchanged. Whether the bits are legal is checked by `is_wire_legal` (what a
//! strict reader requires) and by the validator (what the specification requires).

/// A word of the wire with its own type, all of its bits kept.
macro_rules! wire_words {
    ($($name:ident($int:ty)),*) => {$(
        impl $name {
            /// Wraps the bits as found in a file.
            #[inline]
            #[must_use]
            pub const fn from_bits(bits: $int) -> Self {
                Self(bits)
            }

            /// The bits as they are in a file.
            #[inline]
            #[must_use]
            pub const fn bits(self) -> $int {
                self.0
            }
        }
    )*};
}

mod control;
mod layout;
mod number;
mod region;
mod vector;

pub use control::{
    ElementCount, ExecMask, ExecSize, Predicate, PredicateCombine, RawOperand, SamplerOp,
    SamplerOpFlags,
};
pub use layout::OperandRef;
pub use number::ImmediateValue;
pub use region::{Region, RegionCode};
pub use vector::{
    AddressOperand, GeneralOperand, ImmediateOperand, IndirectOperand, Modifier, OperandClass,
    OperandClasses, PredicateOperand, PropertyByte, StateClass, StateOperand, VectorOperand,
};
