//! Rules for types and operands that are not expressed by the lists of the fields.

use crate::types::TypeSet;
use bitflags::bitflags;

bitflags! {
    /// Properties of an instruction's operands. Unless a source is named, a rule is that of the
    /// reference implementation's verifier.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Traits: u32 {
        /// Accepts `bf` beside `f`, and nothing else beside `bf`.
        const BRAIN_FLOAT = 1 << 0;
        /// Moves `bf` like any other type.
        const MOVES_BRAIN_FLOAT = 1 << 1;
        /// Sources of integer types that their fields do not list are rejected.
        const STRICT_INTEGERS = 1 << 2;
        /// Integers of 64 bits that the fields do not list are rejected.
        const NO_QWORDS = 1 << 3;
        /// Integers are accepted where fields list floats, with the results of floats.
        const TAKES_INTEGERS = 1 << 4;
        /// All sources have one type; signs do not mix.
        const ONE_TYPE = 1 << 5;
        /// An element of the result depends on several elements of a source.
        const ACROSS_LANES = 1 << 6;
        /// Regions are ignored: elements are consecutive, or one serves all lanes.
        const REGIONS_IGNORED = 1 << 7;
        /// The predicate selects, and is required.
        const SELECTS = 1 << 8;
        /// The predicate field names the predicate that is written; it is required.
        const WRITES_PREDICATE = 1 << 9;
        /// Divides. Only platforms before XeHP divide integers.
        const DIVIDES = 1 << 10;
        /// Mathematics whose exact form (`df`, or correctly rounded) is a sequence that requires
        /// support for 64-bit floats.
        const EXACT_DOUBLE = 1 << 11;
        /// Correctly rounded mathematics of any type.
        const EXACT = 1 << 12;
        /// One step of a computation whose other steps the finalizer emits.
        const STEP = 1 << 13;
        /// Shifts.
        const SHIFTS = 1 << 14;
        /// Rotates. Integers of 64 bits are rotated since PVC.
        const ROTATES = 1 << 15;
        /// Bit fields are processed one by one or by the register: execution size 2 is rejected,
        /// and operands are aligned to 16 bytes.
        const BIT_FIELDS = 1 << 16;
        /// The result has twice the width of the source's type: its halves are in consecutive
        /// registers.
        const WIDE_RESULT = 1 << 17;
        /// Results may be wider than the sources.
        const WIDENS = 1 << 18;
        /// Fused execution units share the operands.
        const FUSED = 1 << 19;
        /// Accesses only images and media surfaces, never shared local memory.
        const IMAGES_ONLY = 1 << 20;
        /// The bits of a source become the elements of a predicate: a constant or a scalar sets all
        /// of them, whatever the execution size.
        const PREDICATE_FROM_BITS = 1 << 21;
        /// Copies states of surfaces and samplers, or between them and `ud`.
        const COPIES_STATE = 1 << 22;
        /// Multiplies matrices in the systolic array.
        const SYSTOLIC = 1 << 23;
    }
}

/// Types that a conversion accepts and produces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// Types of the result.
    pub to: TypeSet,
    /// Types of the source.
    pub from: TypeSet,
    /// Whether the result is written regardless of enabled lanes, so that it needs a NoMask form.
    pub unmasked: bool,
}
