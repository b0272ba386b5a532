//! Computations on operands whose lanes are consecutive in the register file, or that use one element for all lanes:
//! most steps of real programs.
//!
//! Each of them is a [`Kind`]. Their code is one `match`, into which the loop over steps is inlined, so that a step
//! costs one jump and no call. What a kind computes is defined in `lanes/`; here lanes are only moved.

use super::bodies::{
    self, AT_A_TIME, Bitwise, Body, Carried, Modifiers, Needs, OfOne, OfThree, OfTwo,
};
use super::choice;
use super::copies::{Conversion, Resizing, Spaced};
use super::key::Key;
use super::relations::{Bits, Comparison, Logic, Selection, Truth};
use crate::code::{
    Combine, Compute, Destination, Flag, Lane, Modify, Operation, Precision, Region, Relation,
    Source, Target, full,
};
use crate::lanes::mode::HostFloats;
use crate::lanes::simd::Host;
use crate::lanes::{float, int};
use half::{bf16, f16};
use visakit_isa::DataType;

/// A source as it is in the register file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Of its first element, in bytes.
    pub(super) offset: u32,
    /// Whether one element is used for all lanes; otherwise they are consecutive.
    pub(super) scalar: bool,
    pub(super) modify: Modify,
}

/// A computation with the data its code needs: little, to keep steps small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hot {
    pub(super) sources: [Place; 3],
    /// Place of the first element, or of the predicate, that is written.
    pub(super) to: u32,
    kind: Kind,
    pub(super) lanes: u8,
    pub(super) width: Width,
    /// Whether any source has a modifier.
    pub(super) modified: bool,
    /// Whether the result of a comparison is negated, or the predicate of a selection.
    pub(super) negated: bool,
    /// First lane of the predicate that is written or read.
    pub(super) first: u8,
    /// Table of truth of a bitwise function of three sources, as [`int::Horner`] has it.
    pub(super) coefficients: u8,
}

/// The least number of lanes for which there is code that is not less than those of a computation: 1, 8, 16 or 32.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    /// 16 or 32.
    pub(super) wide: bool,
    /// 8 or 32.
    pub(super) more: bool,
}

/// The layout of operands that a kind's code accepts.
#[derive(Clone, Copy)]
struct Form {
    kind: Kind,
    needs: Needs,
    /// Bytes of a lane of the sources.
    from: usize,
    /// Bytes of a lane of the destination; 0 where a predicate is written.
    to: usize,
    /// Bytes from element to element of the source and of the destination, where they are not consecutive.
    strides: [usize; 2],
    modifiers: Modifiers,
    reads: fn(&Source) -> bool,
    writes: fn(&Destination) -> bool,
}

impl Form {
    const fn new<B: Body>(kind: Kind) -> Self {
        Self {
            kind,
            needs: B::NEEDS,
            from: B::FROM,
            to: B::TO,
            strides: B::STRIDES,
            modifiers: B::MODIFIERS,
            reads: B::reads,
            writes: B::writes,
        }
    }

    /// Whether elements of a destination are where the code writes them.
    fn writes_to(&self, target: &Target) -> bool {
        match *target {
            Target::Packed => self.strides[1] == 0,
            Target::Strided(stride) => self.strides[1] == usize::from(stride),
            _ => false,
        }
    }
}

macro_rules! kinds {
    ($($how:ident $kind:ident: $key:pat => $body:ty;)*) => {
        /// A computation that has specialised code.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        enum Kind { $($kind,)* }

        impl Form {
            /// The kind for a computation.
            fn of(key: Key) -> Option<Self> {
                match key {
                    $($key => Some(Form::new::<$body>(Kind::$kind)),)*
                    _ => None,
                }
            }
        }

        impl Hot {
            /// Runs the computation for the lanes of the mask, which is not empty.
            #[cfg_attr(not(debug_assertions), inline(always))]
            pub(crate) fn run<H: Host>(&self, host: H, file: &mut [u8], mask: u32) {
                match self.kind {
                    $(Kind::$kind => bodies::$how::<$body, H>(host, self, file, mask),)*
                }
            }
        }
    };
}

use Key::{Computed as C, Halves as H, Reshaped, Resized as R, Truth as T};
use Operation as O;

// What programs of all kinds do most is inlined into the loop; inlining the rest would only enlarge it.
kinds! {
    entire AddF32: C(O::Add, Lane::F32) => OfTwo<float::Add, f32>;
    entire MulF32: C(O::Mul, Lane::F32) => OfTwo<float::Mul, f32>;
    entire MadF32: C(O::Mad, Lane::F32) => OfThree<float::Mad, f32>;
    called DivF32: C(O::Div, Lane::F32) => OfTwo<float::Div, f32>;
    inlined MinF32: C(O::Min, Lane::F32) => OfTwo<float::Min, f32>;
    inlined MaxF32: C(O::Max, Lane::F32) => OfTwo<float::Max, f32>;
    called InvF32: C(O::Inv, Lane::F32) => OfOne<float::Inv, f32>;
    called SqrtF32: C(O::Sqrt, Lane::F32) => OfOne<float::Sqrt, f32>;
    called RsqrtF32: C(O::Rsqrt, Lane::F32) => OfOne<float::Rsqrt, f32>;
    called FrcF32: C(O::Frc, Lane::F32) => OfOne<float::Frc, f32>;
    called RnddF32: C(O::Rndd, Lane::F32) => OfOne<float::Rndd, f32>;
    called RnduF32: C(O::Rndu, Lane::F32) => OfOne<float::Rndu, f32>;
    called RndeF32: C(O::Rnde, Lane::F32) => OfOne<float::Rnde, f32>;
    called RndzF32: C(O::Rndz, Lane::F32) => OfOne<float::Rndz, f32>;
    called AddF64: C(O::Add, Lane::F64) => OfTwo<float::Add, f64>;
    called MulF64: C(O::Mul, Lane::F64) => OfTwo<float::Mul, f64>;
    called MadF64: C(O::Mad, Lane::F64) => OfThree<float::Mad, f64>;
    called DivF64: C(O::Div, Lane::F64) => OfTwo<float::Div, f64>;
    called MinF64: C(O::Min, Lane::F64) => OfTwo<float::Min, f64>;
    called MaxF64: C(O::Max, Lane::F64) => OfTwo<float::Max, f64>;
    called InvF64: C(O::Inv, Lane::F64) => OfOne<float::Inv, f64>;
    called SqrtF64: C(O::Sqrt, Lane::F64) => OfOne<float::Sqrt, f64>;
    called RsqrtF64: C(O::Rsqrt, Lane::F64) => OfOne<float::Rsqrt, f64>;
    called FrcF64: C(O::Frc, Lane::F64) => OfOne<float::Frc, f64>;
    called RnddF64: C(O::Rndd, Lane::F64) => OfOne<float::Rndd, f64>;
    called RnduF64: C(O::Rndu, Lane::F64) => OfOne<float::Rndu, f64>;
    called RndeF64: C(O::Rnde, Lane::F64) => OfOne<float::Rnde, f64>;
    called RndzF64: C(O::Rndz, Lane::F64) => OfOne<float::Rndz, f64>;
    called AddHf: H(O::Add) => OfTwo<float::Add, f32, f16>;
    called MulHf: H(O::Mul) => OfTwo<float::Mul, f32, f16>;
    called MadHf: H(O::Mad) => OfThree<float::HalfMad, f32, f16>;
    called DivHf: H(O::Div) => OfTwo<float::Div, f32, f16>;
    called MinHf: H(O::Min) => OfTwo<float::Min, f32, f16>;
    called MaxHf: H(O::Max) => OfTwo<float::Max, f32, f16>;
    called InvHf: H(O::Inv) => OfOne<float::Inv, f32, f16>;
    called SqrtHf: H(O::Sqrt) => OfOne<float::Sqrt, f32, f16>;
    called RsqrtHf: H(O::Rsqrt) => OfOne<float::Rsqrt, f32, f16>;
    called EqualHf: H(O::Compare(Relation::Equal | Relation::NotEqual)) => Comparison<choice::Equal, f32, f16>;
    called LessHf: H(O::Compare(Relation::Less)) => Comparison<choice::Less, f32, f16>;
    called LessEqualHf: H(O::Compare(Relation::LessEqual)) => Comparison<choice::LessEqual, f32, f16>;
    called CopyU8: C(O::Copy, Lane::U8) => OfOne<int::Copy, u8>;
    inlined CopyU16: C(O::Copy, Lane::U16) => OfOne<int::Copy, u16>;
    inlined CopyU32: C(O::Copy, Lane::U32) => OfOne<int::Copy, u32>;
    inlined CopyU64: C(O::Copy, Lane::U64) => OfOne<int::Copy, u64>;
    inlined NotU32: C(O::Not, Lane::U32) => OfOne<int::Not, u32>;
    called NotU64: C(O::Not, Lane::U64) => OfOne<int::Not, u64>;
    entire AddU32: C(O::Add, Lane::U32) => OfTwo<int::Add, u32>;
    inlined AddU64: C(O::Add, Lane::U64) => OfTwo<int::Add, u64>;
    called AddCarry: Key::Carried(O::AddCarry) => Carried<int::AddCarry>;
    called SubBorrow: Key::Carried(O::SubBorrow) => Carried<int::SubBorrow>;
    called HighU32: Key::High(false) => OfTwo<int::Mulh, u32>;
    called HighI32: Key::High(true) => OfTwo<int::Mulh, i32>;
    called CountBits: C(O::CountBits, Lane::U32) => OfOne<int::Cbit, u32>;
    called LeadingZeros: C(O::LeadingZeros, Lane::U32) => OfOne<int::Lzd, u32>;
    called FirstBitLow: C(O::FirstBitLow, Lane::U32) => OfOne<int::Fbl, u32>;
    called FirstBitHighU: C(O::FirstBitHighUnsigned, Lane::U32) => OfOne<int::FbhUnsigned, u32>;
    called ReverseBits: C(O::ReverseBits, Lane::U32) => OfOne<int::Bfrev, u32>;
    inlined MulU32: C(O::Mul, Lane::U32) => OfTwo<int::Mul, u32>;
    called MulU64: C(O::Mul, Lane::U64) => OfTwo<int::Mul, u64>;
    inlined MadU32: C(O::Mad, Lane::U32) => OfThree<int::Mad, u32>;
    called MadU64: C(O::Mad, Lane::U64) => OfThree<int::Mad, u64>;
    called AddU16: C(O::Add, Lane::U16) => OfTwo<int::Add, u16>;
    entire Add3U32: C(O::Add3, Lane::U32) => OfThree<int::Add3, u32>;
    inlined AndU32: C(O::And, Lane::U32) => OfTwo<int::And, u32>;
    called AndU64: C(O::And, Lane::U64) => OfTwo<int::And, u64>;
    inlined OrU32: C(O::Or, Lane::U32) => OfTwo<int::Or, u32>;
    called OrU64: C(O::Or, Lane::U64) => OfTwo<int::Or, u64>;
    inlined XorU32: C(O::Xor, Lane::U32) => OfTwo<int::Xor, u32>;
    called XorU64: C(O::Xor, Lane::U64) => OfTwo<int::Xor, u64>;
    inlined ShlU32: C(O::Shl, Lane::U32) => OfTwo<int::Shl, u32>;
    inlined ShlU64: C(O::Shl, Lane::U64) => OfTwo<int::Shl, u64>;
    inlined ShrU32: C(O::Shr, Lane::U32) => OfTwo<int::Shr, u32>;
    inlined ShrI32: C(O::Shr, Lane::I32) => OfTwo<int::Shr, i32>;
    called ShrU64: C(O::Shr, Lane::U64) => OfTwo<int::Shr, u64>;
    inlined RolU32: C(O::Rol, Lane::U32) => OfTwo<int::Rol, u32>;
    called RorU32: C(O::Ror, Lane::U32) => OfTwo<int::Ror, u32>;
    called RolU64: C(O::Rol, Lane::U64) => OfTwo<int::Rol, u64>;
    called RorU64: C(O::Ror, Lane::U64) => OfTwo<int::Ror, u64>;
    inlined MinU32: C(O::Min, Lane::U32) => OfTwo<int::Min, u32>;
    inlined MinI32: C(O::Min, Lane::I32) => OfTwo<int::Min, i32>;
    inlined MaxU32: C(O::Max, Lane::U32) => OfTwo<int::Max, u32>;
    inlined MaxI32: C(O::Max, Lane::I32) => OfTwo<int::Max, i32>;
    // Those that compilers emit. `passes/order.rs` orders the sources so that the table is largest.
    inlined Xor3: C(O::Boolean(0x96), Lane::U32) => OfThree<int::Table<0x96>, u32>;
    called Majority: C(O::Boolean(0xe8), Lane::U32) => OfThree<int::Table<0xe8>, u32>;
    inlined Choice: C(O::Boolean(0xe4), Lane::U32) => OfThree<int::Table<0xe4>, u32>;
    inlined AndOr: C(O::Boolean(0xf8), Lane::U32) => OfThree<int::Table<0xf8>, u32>;
    inlined AndXor: C(O::Boolean(0x78), Lane::U32) => OfThree<int::Table<0x78>, u32>;
    inlined XorAnd: C(O::Boolean(0x60), Lane::U32) => OfThree<int::Table<0x60>, u32>;
    called OrAnd: C(O::Boolean(0xe0), Lane::U32) => OfThree<int::Table<0xe0>, u32>;
    called Or3: C(O::Boolean(0xfe), Lane::U32) => OfThree<int::Table<0xfe>, u32>;
    called And3: C(O::Boolean(0x80), Lane::U32) => OfThree<int::Table<0x80>, u32>;
    called Boolean: C(O::Boolean(_), Lane::U32) => Bitwise;
    inlined EqualU32: C(O::Compare(Relation::Equal | Relation::NotEqual), Lane::U32) => Comparison<choice::Equal, u32>;
    inlined EqualI32: C(O::Compare(Relation::Equal | Relation::NotEqual), Lane::I32) => Comparison<choice::Equal, i32>;
    called EqualU64: C(O::Compare(Relation::Equal | Relation::NotEqual), Lane::U64) => Comparison<choice::Equal, u64>;
    called EqualI64: C(O::Compare(Relation::Equal | Relation::NotEqual), Lane::I64) => Comparison<choice::Equal, i64>;
    called EqualF32: C(O::Compare(Relation::Equal | Relation::NotEqual), Lane::F32) => Comparison<choice::Equal, f32>;
    called EqualF64: C(O::Compare(Relation::Equal | Relation::NotEqual), Lane::F64) => Comparison<choice::Equal, f64>;
    inlined LessU32: C(O::Compare(Relation::Less), Lane::U32) => Comparison<choice::Less, u32>;
    inlined LessI32: C(O::Compare(Relation::Less), Lane::I32) => Comparison<choice::Less, i32>;
    called LessU64: C(O::Compare(Relation::Less), Lane::U64) => Comparison<choice::Less, u64>;
    called LessI64: C(O::Compare(Relation::Less), Lane::I64) => Comparison<choice::Less, i64>;
    inlined LessF32: C(O::Compare(Relation::Less), Lane::F32) => Comparison<choice::Less, f32>;
    called LessF64: C(O::Compare(Relation::Less), Lane::F64) => Comparison<choice::Less, f64>;
    inlined LessEqualU32: C(O::Compare(Relation::LessEqual), Lane::U32) => Comparison<choice::LessEqual, u32>;
    inlined LessEqualI32: C(O::Compare(Relation::LessEqual), Lane::I32) => Comparison<choice::LessEqual, i32>;
    called LessEqualU64: C(O::Compare(Relation::LessEqual), Lane::U64) => Comparison<choice::LessEqual, u64>;
    called LessEqualI64: C(O::Compare(Relation::LessEqual), Lane::I64) => Comparison<choice::LessEqual, i64>;
    inlined LessEqualF32: C(O::Compare(Relation::LessEqual), Lane::F32) => Comparison<choice::LessEqual, f32>;
    called LessEqualF64: C(O::Compare(Relation::LessEqual), Lane::F64) => Comparison<choice::LessEqual, f64>;
    called TruthEqualU32: T(Relation::Equal | Relation::NotEqual, Lane::U32) => Truth<choice::Equal, u32>;
    called TruthEqualI32: T(Relation::Equal | Relation::NotEqual, Lane::I32) => Truth<choice::Equal, i32>;
    called TruthEqualF32: T(Relation::Equal | Relation::NotEqual, Lane::F32) => Truth<choice::Equal, f32>;
    called TruthLessU32: T(Relation::Less, Lane::U32) => Truth<choice::Less, u32>;
    called TruthLessI32: T(Relation::Less, Lane::I32) => Truth<choice::Less, i32>;
    called TruthLessF32: T(Relation::Less, Lane::F32) => Truth<choice::Less, f32>;
    called TruthLessEqualU32: T(Relation::LessEqual, Lane::U32) => Truth<choice::LessEqual, u32>;
    called TruthLessEqualI32: T(Relation::LessEqual, Lane::I32) => Truth<choice::LessEqual, i32>;
    called TruthLessEqualF32: T(Relation::LessEqual, Lane::F32) => Truth<choice::LessEqual, f32>;
    called BytesOf2: Key::Spaced(1, 2, 1) => Spaced<u8, 2, 1>;
    called BytesTo2: Key::Spaced(1, 1, 2) => Spaced<u8, 1, 2>;
    called BytesOf4: Key::Spaced(1, 4, 1) => Spaced<u8, 4, 1>;
    called BytesTo4: Key::Spaced(1, 1, 4) => Spaced<u8, 1, 4>;
    called Bytes4To4: Key::Spaced(1, 4, 4) => Spaced<u8, 4, 4>;
    called WordsOf2: Key::Spaced(2, 2, 1) => Spaced<u16, 2, 1>;
    called WordsTo2: Key::Spaced(2, 1, 2) => Spaced<u16, 1, 2>;
    called DwordsOf2: Key::Spaced(4, 2, 1) => Spaced<u32, 2, 1>;
    called DwordsTo2: Key::Spaced(4, 1, 2) => Spaced<u32, 1, 2>;
    called Dwords2To2: Key::Spaced(4, 2, 2) => Spaced<u32, 2, 2>;
    called AddBytes: Key::Short(1, O::Add, _) => OfTwo<int::Add, u32, u8>;
    called AndBytes: Key::Short(1, O::And, _) => OfTwo<int::And, u32, u8>;
    called OrBytes: Key::Short(1, O::Or, _) => OfTwo<int::Or, u32, u8>;
    called XorBytes: Key::Short(1, O::Xor, _) => OfTwo<int::Xor, u32, u8>;
    called ShrBytes: Key::Short(1, O::Shr, _) => OfTwo<int::Shr, u32, u8>;
    called MinU8: Key::Short(1, O::Min, false) => OfTwo<int::Min, u32, u8>;
    called MinI8: Key::Short(1, O::Min, true) => OfTwo<int::Min, i32, i8>;
    called MaxU8: Key::Short(1, O::Max, false) => OfTwo<int::Max, u32, u8>;
    called MaxI8: Key::Short(1, O::Max, true) => OfTwo<int::Max, i32, i8>;
    called EqualU8: Key::Short(1, O::Compare(Relation::Equal | Relation::NotEqual), false) => Comparison<choice::Equal, u32, u8>;
    called EqualI8: Key::Short(1, O::Compare(Relation::Equal | Relation::NotEqual), true) => Comparison<choice::Equal, i32, i8>;
    called LessU8: Key::Short(1, O::Compare(Relation::Less), false) => Comparison<choice::Less, u32, u8>;
    called LessI8: Key::Short(1, O::Compare(Relation::Less), true) => Comparison<choice::Less, i32, i8>;
    called LessEqualU8: Key::Short(1, O::Compare(Relation::LessEqual), false) => Comparison<choice::LessEqual, u32, u8>;
    called LessEqualI8: Key::Short(1, O::Compare(Relation::LessEqual), true) => Comparison<choice::LessEqual, i32, i8>;
    called AddWords: Key::Short(2, O::Add, _) => OfTwo<int::Add, u32, u16>;
    called MulWords: Key::Short(2, O::Mul, _) => OfTwo<int::Mul, u32, u16>;
    called Add3Words: Key::Short(2, O::Add3, _) => OfThree<int::Add3, u32, u16>;
    called AndWords: Key::Short(2, O::And, _) => OfTwo<int::And, u32, u16>;
    called OrWords: Key::Short(2, O::Or, _) => OfTwo<int::Or, u32, u16>;
    called XorWords: Key::Short(2, O::Xor, _) => OfTwo<int::Xor, u32, u16>;
    called ShrWords: Key::Short(2, O::Shr, _) => OfTwo<int::Shr, u32, u16>;
    called MinU16: Key::Short(2, O::Min, false) => OfTwo<int::Min, u32, u16>;
    called MinI16: Key::Short(2, O::Min, true) => OfTwo<int::Min, i32, i16>;
    called MaxU16: Key::Short(2, O::Max, false) => OfTwo<int::Max, u32, u16>;
    called MaxI16: Key::Short(2, O::Max, true) => OfTwo<int::Max, i32, i16>;
    called EqualU16: Key::Short(2, O::Compare(Relation::Equal | Relation::NotEqual), false) => Comparison<choice::Equal, u32, u16>;
    called EqualI16: Key::Short(2, O::Compare(Relation::Equal | Relation::NotEqual), true) => Comparison<choice::Equal, i32, i16>;
    called LessU16: Key::Short(2, O::Compare(Relation::Less), false) => Comparison<choice::Less, u32, u16>;
    called LessI16: Key::Short(2, O::Compare(Relation::Less), true) => Comparison<choice::Less, i32, i16>;
    called LessEqualU16: Key::Short(2, O::Compare(Relation::LessEqual), false) => Comparison<choice::LessEqual, u32, u16>;
    called LessEqualI16: Key::Short(2, O::Compare(Relation::LessEqual), true) => Comparison<choice::LessEqual, i32, i16>;
    called FromBits: C(O::FlagFromBits, Lane::U32) => Bits;
    called SelectU8: C(O::Select, Lane::U8) => Selection<u8>;
    called SelectU16: C(O::Select, Lane::U16) => Selection<u16>;
    inlined SelectU32: C(O::Select, Lane::U32) => Selection<u32>;
    called SelectU64: C(O::Select, Lane::U64) => Selection<u64>;
    called SelectI64: C(O::Select, Lane::I64) => Selection<i64>;
    inlined SelectF32: C(O::Select, Lane::F32) => Selection<f32>;
    called SelectF64: C(O::Select, Lane::F64) => Selection<f64>;
    inlined PredicateAnd: C(O::FlagAnd | O::FlagNot, _) => Logic<int::And>;
    inlined PredicateOr: C(O::FlagOr, _) => Logic<int::Or>;
    inlined PredicateXor: C(O::FlagXor, _) => Logic<int::Xor>;
    called F64ToF32: C(O::Convert(Lane::F32), Lane::F64) => Conversion<f64, f32>;
    called F32ToF64: C(O::Convert(Lane::F64), Lane::F32) => Conversion<f32, f64>;
    inlined F32ToI32: C(O::Convert(Lane::I32), Lane::F32) => Conversion<f32, i32>;
    inlined F32ToU32: C(O::Convert(Lane::U32), Lane::F32) => Conversion<f32, u32>;
    inlined I32ToF32: C(O::Convert(Lane::F32), Lane::I32) => Conversion<i32, f32>;
    inlined U32ToF32: C(O::Convert(Lane::F32), Lane::U32) => Conversion<u32, f32>;
    called I8To16: R(1, true, 2) => Resizing<i8, u16>;
    called I8To32: R(1, true, 4) => Resizing<i8, u32>;
    called I8To64: R(1, true, 8) => Resizing<i8, u64>;
    called U8To16: R(1, false, 2) => Resizing<u8, u16>;
    called U8To32: R(1, false, 4) => Resizing<u8, u32>;
    called U8To64: R(1, false, 8) => Resizing<u8, u64>;
    called I16To32: R(2, true, 4) => Resizing<i16, u32>;
    called I16To64: R(2, true, 8) => Resizing<i16, u64>;
    inlined U16To32: R(2, false, 4) => Resizing<u16, u32>;
    called U16To64: R(2, false, 8) => Resizing<u16, u64>;
    inlined I32To64: R(4, true, 8) => Resizing<i32, u64>;
    inlined U32To64: R(4, false, 8) => Resizing<u32, u64>;
    called U16To8: R(2, _, 1) => Resizing<u16, u8>;
    called U32To8: R(4, _, 1) => Resizing<u32, u8>;
    called U32To16: R(4, _, 2) => Resizing<u32, u16>;
    called HfToF: Reshaped(DataType::Hf, DataType::F) => Resizing<f16, f32>;
    called BfToF: Reshaped(DataType::Bf, DataType::F) => Resizing<bf16, f32>;
    called FToHf: Reshaped(DataType::F, DataType::Hf) => Resizing<f32, f16>;
    called FToBf: Reshaped(DataType::F, DataType::Bf) => Resizing<f32, bf16>;
    called U64To8: R(8, _, 1) => Resizing<u64, u8>;
    called U64To16: R(8, _, 2) => Resizing<u64, u16>;
    called DToDf: Reshaped(DataType::D, DataType::Df) => Resizing<i32, f64>;
    called UdToDf: Reshaped(DataType::Ud, DataType::Df) => Resizing<u32, f64>;
    called DfToD: Reshaped(DataType::Df, DataType::D) => Resizing<f64, i32>;
    called DfToUd: Reshaped(DataType::Df, DataType::Ud) => Resizing<f64, u32>;
    called F32ToF32: C(O::Convert(Lane::F32), Lane::F32) => Conversion<f32, f32>;
    called F64ToF64: C(O::Convert(Lane::F64), Lane::F64) => Conversion<f64, f64>;
    inlined U64To32: R(8, _, 4) => Resizing<u64, u32>;
}

impl Hot {
    /// The computation on this many lanes, if there is code that accepts its operands and produces what the thread's
    /// float mode requires when the host computes `floats`.
    pub(crate) fn new(compute: &Compute, lanes: usize, floats: HostFloats) -> Option<Self> {
        let key = Key::of(compute);
        let form = Form::of(key)?;
        let allowed = match form.needs {
            Needs::Nothing => true,
            Needs::Half => floats.conversions,
            Needs::Single => floats.single && compute.precision == Precision::Float,
            Needs::Double => floats.double && compute.precision == Precision::Double,
            Needs::Conversions => floats.conversions,
        };
        if !allowed {
            return None;
        }
        let destination = &compute.destination;
        let mut hot = Self {
            sources: [Place::default(); 3],
            to: u32::try_from(destination.offset).ok()?,
            kind: form.kind,
            lanes: u8::try_from(lanes).ok()?,
            width: Width {
                // Of eight halves the compiler makes no vectors.
                wide: lanes > if form.needs == Needs::Half { 1 } else { 8 },
                more: lanes > 16 || form.needs != Needs::Half && (2..=8).contains(&lanes),
            },
            modified: false,
            negated: compute.operation == Operation::Compare(Relation::NotEqual),
            first: 0,
            coefficients: match compute.operation {
                Operation::Boolean(table) => int::Horner::coefficients(table),
                _ => 0,
            },
        };
        if form.to == 0 {
            let flag = compute.sets?;
            (hot.to, hot.first) = (flag.offset, flag.first);
        } else if !form.writes_to(&destination.target) || !(form.writes)(destination) {
            return None;
        }
        let used = compute.operation.sources();
        for (place, source) in hot.sources.iter_mut().zip(&compute.sources).take(used) {
            let scalar = match source.region {
                Region::Scalar => true,
                Region::Packed => lanes == 1,
                Region::Strided(stride) if form.strides[0] == usize::from(stride) => false,
                _ => return None,
            };
            if !(form.reads)(source) || !form.modifiers.allow(source.modify) {
                return None;
            }
            let to = destination.offset;
            if !scalar && is_read_late(source.offset, form.from, to, form.to, lanes) {
                return None;
            }
            *place = Place {
                offset: u32::try_from(source.offset).ok()?,
                scalar,
                modify: source.modify,
            };
            hot.modified |= source.modify != Modify::None;
        }
        if matches!(key, Key::Carried(_)) {
            let second = compute.second.as_ref()?;
            let bytes = form.to * lanes;
            let is_late = |from: &Source| {
                from.region == Region::Packed
                    && is_read_late(from.offset, form.from, second.offset, form.to, lanes)
            };
            // Each turn writes to both.
            if second.target != Target::Packed
                || !(form.writes)(second)
                || second.offset.abs_diff(destination.offset) < bytes
                || compute.sources.iter().take(used).any(is_late)
            {
                return None;
            }
            hot.sources[2].offset = u32::try_from(second.offset).ok()?;
        }
        if matches!(
            key,
            Key::Computed(O::FlagAnd | O::FlagOr | O::FlagXor | O::FlagNot, _)
        ) {
            let [a, mut b] = compute.flags;
            let is_not = compute.operation == Operation::FlagNot;
            if is_not {
                b = a;
            }
            for (place, flag) in hot.sources.iter_mut().zip([a, b]) {
                if flag.first != hot.first || flag.combine != Combine::PerLane {
                    return None;
                }
                place.offset = flag.offset;
                // Not a is (not a) and (not a).
                if flag.invert != is_not {
                    place.modify = Modify::Not;
                }
            }
        }
        if compute.operation == Operation::Select {
            let [flag, _] = compute.flags;
            if flag.combine != Combine::PerLane {
                return None;
            }
            hot.sources[2].offset = flag.offset;
            (hot.first, hot.negated) = (flag.first, flag.invert);
        }
        Some(hot)
    }

    /// The predicate that a selection reads.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn chooser(&self) -> Flag {
        Flag {
            offset: self.sources[2].offset,
            first: self.first,
            invert: self.negated,
            window: full(self.lanes.into()),
            ..Flag::default()
        }
    }

    /// The predicate that a comparison writes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn sets(&self) -> Flag {
        Flag {
            offset: self.to,
            first: self.first,
            window: full(self.lanes.into()),
            ..Flag::default()
        }
    }
}

/// Whether lanes of a source are read after those before them have been written over them. Sizes are of an element.
fn is_read_late(source: usize, from: usize, to: usize, size: usize, lanes: usize) -> bool {
    (AT_A_TIME..lanes).step_by(AT_A_TIME).any(|lane| {
        let read = source + lane * from..source + lanes * from;
        let written = to..to + lane * size;
        !written.is_empty() && written.start < read.end && read.start < written.end
    })
}
