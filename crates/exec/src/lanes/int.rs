//! Integer arithmetic of a lane.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::convert::Compute;

/// An operation of one source.
pub(crate) trait Unary<C: Compute> {
    /// Whether results may have to be settled.
    const SETTLES: bool = false;
    fn apply(a: C) -> C;
    /// Of N lanes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn all<const N: usize>([a]: [[C; N]; 1]) -> [C; N] {
        let mut results = [C::default(); N];
        for lane in 0..N {
            results[lane] = Self::apply(a[lane]);
        }
        results
    }
    /// Gives results that are no numbers the bits they should have; see [`super::float::settle`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn settle<const N: usize>(results: [C; N], _sources: [[C; N]; 1]) -> [C; N] {
        results
    }
    /// Whether results have to be settled.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_open<const N: usize>(_results: &[C; N]) -> bool {
        false
    }
}

/// An operation of two sources.
pub(crate) trait Binary<C: Compute> {
    /// As of [`Unary`].
    const SETTLES: bool = false;
    fn apply(a: C, b: C) -> C;
    /// Of N lanes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn all<const N: usize>([a, b]: [[C; N]; 2]) -> [C; N] {
        let mut results = [C::default(); N];
        for lane in 0..N {
            results[lane] = Self::apply(a[lane], b[lane]);
        }
        results
    }
    /// As of [`Unary`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn settle<const N: usize>(results: [C; N], _sources: [[C; N]; 2]) -> [C; N] {
        results
    }
    /// As of [`Unary`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_open<const N: usize>(_results: &[C; N]) -> bool {
        false
    }
}

/// An operation of three sources.
pub(crate) trait Ternary<C: Compute> {
    /// As of [`Unary`].
    const SETTLES: bool = false;
    fn apply(a: C, b: C, c: C) -> C;
    /// Of N lanes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn all<const N: usize>([a, b, c]: [[C; N]; 3]) -> [C; N] {
        let mut results = [C::default(); N];
        for lane in 0..N {
            results[lane] = Self::apply(a[lane], b[lane], c[lane]);
        }
        results
    }
    /// As of [`Unary`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn settle<const N: usize>(results: [C; N], _sources: [[C; N]; 3]) -> [C; N] {
        results
    }
    /// As of [`Unary`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_open<const N: usize>(_results: &[C; N]) -> bool {
        false
    }
}

/// Requirements of the operations below on an integer type.
pub(crate) trait Int: Compute + Ord {
    /// Whether the type wraps: unsigned, 32 or 64 bits.
    const MODULAR: bool;
    /// Whether all its values stand for themselves: of what does not fit, as products of numbers of 64 bits may not, only
    /// the sign and that it is large matter.
    const IS_EXACT: bool;
    const BITS: u32;
    const ZERO: Self;
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn quotient(self, other: Self) -> Self;
    fn remainder(self, other: Self) -> Self;
    fn shl(self, count: u32) -> Self;
    fn shr(self, count: u32) -> Self;
    fn rotate(self, count: u32) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn low(self) -> u32;
    fn average(self, other: Self) -> Self;
}

macro_rules! int {
    ($($ty:ty),*) => {$(
        impl Int for $ty {
            const MODULAR: bool = <$ty>::MIN == 0 && <$ty>::BITS >= 32;
            const IS_EXACT: bool = <$ty>::BITS > 64;
            const BITS: u32 = <$ty>::BITS;
            const ZERO: Self = 0;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn add(self, other: Self) -> Self {
                if Self::IS_EXACT { self.saturating_add(other) } else { self.wrapping_add(other) }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn mul(self, other: Self) -> Self {
                if Self::IS_EXACT { self.saturating_mul(other) } else { self.wrapping_mul(other) }
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn quotient(self, other: Self) -> Self {
                if other == 0 {
                    // The hardware's quotient of a division by zero: all ones, or the largest or
                    // smallest number by the sign of the dividend where the type is signed.
                    return if self >= Self::ZERO { <$ty>::MAX } else { <$ty>::MIN };
                }
                self.wrapping_div(other)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn remainder(self, other: Self) -> Self {
                if other == 0 {
                    return if self >= Self::ZERO { <$ty>::MAX } else { <$ty>::MIN };
                }
                self.wrapping_rem(other)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn shl(self, count: u32) -> Self {
                self.wrapping_shl(count)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn shr(self, count: u32) -> Self {
                self.wrapping_shr(count)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn rotate(self, count: u32) -> Self {
                self.rotate_left(count)
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn low(self) -> u32 {
                self as u32
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn average(self, other: Self) -> Self {
                // (a + b + 1) >> 1 without the carry.
                (self | other).wrapping_sub((self ^ other) >> 1)
            }
        }
    )*};
}

int!(u8, u16, u32, i32, u64, i64, i128);

macro_rules! binary {
    ($($(#[doc = $doc:literal])* $name:ident($a:ident, $b:ident) $body:expr;)*) => {$(
        $(#[doc = $doc])*
        pub(crate) struct $name;
        impl<C: Int> Binary<C> for $name {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn apply($a: C, $b: C) -> C {
                $body
            }
        }
    )*};
}

binary! {
    /// Sum.
    Add(a, b) a.add(b);
    /// Product.
    Mul(a, b) a.mul(b);
    /// Rounded average.
    Avg(a, b) a.average(b);
    /// Quotient.
    Div(a, b) a.quotient(b);
    /// Remainder with the sign of the dividend.
    Mod(a, b) a.remainder(b);
    /// And.
    And(a, b) a.and(b);
    /// Or.
    Or(a, b) a.or(b);
    /// Exclusive or.
    Xor(a, b) a.xor(b);
    /// Shift left. Lanes of 64 bits with sign hold a dword that is needed exactly.
    Shl(a, b) a.shl(b.low() & shift_left_mask::<C>());
    /// Shift right, logical or arithmetic by the type.
    Shr(a, b) a.shr(b.low() & shift_mask::<C>());
    /// Rotate left within the type.
    Rol(a, b) a.rotate(b.low() & (C::BITS - 1));
    /// Rotate right within the type.
    Ror(a, b) a.rotate(b.low().wrapping_neg() & (C::BITS - 1));
    /// Smaller one.
    Min(a, b) if a < b { a } else { b };
    /// Larger one.
    Max(a, b) if a >= b { a } else { b };
}

#[cfg_attr(not(debug_assertions), inline(always))]
const fn shift_mask<C: Int>() -> u32 {
    if C::BITS >= 64 { 63 } else { 31 }
}

#[cfg_attr(not(debug_assertions), inline(always))]
const fn shift_left_mask<C: Int>() -> u32 {
    if C::BITS > 64 || C::BITS == 64 && C::MODULAR {
        63
    } else {
        31
    }
}

/// Complement.
pub(crate) struct Not;

impl<C: Int> Unary<C> for Not {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: C) -> C {
        a.not()
    }
}

/// The source itself.
pub(crate) struct Copy;

impl<C: Int> Unary<C> for Copy {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: C) -> C {
        a
    }
}

/// Product plus sum.
pub(crate) struct Mad;

impl<C: Int> Ternary<C> for Mad {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: C, b: C, c: C) -> C {
        a.mul(b).add(c)
    }
}

/// Sum of three.
pub(crate) struct Add3;

impl<C: Int> Ternary<C> for Add3 {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: C, b: C, c: C) -> C {
        a.add(b).add(c)
    }
}

macro_rules! bits32 {
    ($($(#[doc = $doc:literal])* $name:ident($a:ident) $body:expr;)*) => {$(
        $(#[doc = $doc])*
        pub(crate) struct $name;
        impl Unary<u32> for $name {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn apply($a: u32) -> u32 {
                $body
            }
        }
    )*};
}

bits32! {
    /// Number of set bits.
    Cbit(a) a.count_ones();
    /// Number of leading zeros.
    Lzd(a) a.leading_zeros();
    /// Position of the lowest set bit, all ones if there is none.
    Fbl(a) if a == 0 { u32::MAX } else { a.trailing_zeros() };
    /// Leading zeros, all ones if there is no set bit.
    FbhUnsigned(a) if a == 0 { u32::MAX } else { a.leading_zeros() };
    /// Leading bits that equal the sign, all ones for 0 and -1.
    FbhSigned(a) {
        let differing = a ^ ((a as i32 >> 31) as u32);
        if differing == 0 { u32::MAX } else { differing.leading_zeros() }
    };
    /// Bits in reverse order.
    Bfrev(a) a.reverse_bits();
}

impl Unary<u64> for Cbit {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: u64) -> u64 {
        u64::from(a.count_ones())
    }
}

/// An operation of two dwords, modular or as exact numbers, whose second result is 0 or 1.
pub(crate) trait TwoResults<C> {
    fn apply(a: C, b: C) -> (C, u32);
}

/// A sum and its carry.
pub(crate) struct AddCarry;

impl TwoResults<u32> for AddCarry {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: u32, b: u32) -> (u32, u32) {
        let sum = a.wrapping_add(b);
        (sum, u32::from(sum < a))
    }
}

impl TwoResults<i128> for AddCarry {
    fn apply(a: i128, b: i128) -> (i128, u32) {
        let sum = Int::add(a, b);
        (sum, u32::from(sum > u32::MAX.into()))
    }
}

/// A difference and its borrow.
pub(crate) struct SubBorrow;

impl TwoResults<u32> for SubBorrow {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: u32, b: u32) -> (u32, u32) {
        (a.wrapping_sub(b), u32::from(a < b))
    }
}

impl TwoResults<i128> for SubBorrow {
    fn apply(a: i128, b: i128) -> (i128, u32) {
        (a.saturating_sub(b), u32::from(a < b))
    }
}

/// Upper half of the product of two dwords.
pub(crate) struct Mulh;

/// The dwords are given as 64 bits.
impl Binary<u64> for Mulh {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: u64, b: u64) -> u64 {
        a.wrapping_mul(b) >> 32
    }
}

impl Binary<u32> for Mulh {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: u32, b: u32) -> u32 {
        <Self as Binary<u64>>::apply(a.into(), b.into()) as u32
    }
}

impl Binary<i32> for Mulh {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: i32, b: i32) -> i32 {
        let [a, b] = [a, b].map(|x| i64::from(x).cast_unsigned());
        <Self as Binary<u64>>::apply(a, b) as i32
    }
}

/// Bit field: width, offset, value. Zero-extended.
pub(crate) struct BfeUnsigned;

impl Ternary<u32> for BfeUnsigned {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(width: u32, offset: u32, value: u32) -> u32 {
        let mask = (1u32 << (width & 31)) - 1;
        (value >> (offset & 31)) & mask
    }
}

/// Bit field, sign-extended.
pub(crate) struct BfeSigned;

impl Ternary<u32> for BfeSigned {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(width: u32, offset: u32, value: u32) -> u32 {
        let field = BfeUnsigned::apply(width, offset, value);
        let width = width & 31;
        let unused = (32 - width) & 31;
        let extended = ((field << unused) as i32 >> unused) as u32;
        if width == 0 { 0 } else { extended }
    }
}

/// Inserts a bit field.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn bfi(width: u32, offset: u32, insert: u32, base: u32) -> u32 {
    let mask = ((1u32 << (width & 31)) - 1) << (offset & 31);
    ((insert << (offset & 31)) & mask) | (base & !mask)
}

/// Any bitwise function of three sources, as a polynomial over bits in Horner's form: exclusive or is its sum, and its
/// product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Horner([u32; 8]);

impl Horner {
    /// The polynomial's coefficients, a bit each. Bit n of `table` is the result for source bits n (first source
    /// lowest).
    pub(crate) const fn coefficients(table: u8) -> u8 {
        // Coefficient n is the sum of the results for all subsets of the bits of n.
        let mut sums = table;
        sums ^= (sums & 0x55) << 1;
        sums ^= (sums & 0x33) << 2;
        sums ^= (sums & 0x0f) << 4;
        sums
    }

    /// The polynomial of these coefficients.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(coefficients: u8) -> Self {
        Self(std::array::from_fn(|n| {
            u32::from(coefficients >> n & 1).wrapping_neg()
        }))
    }

    /// The function of all bits.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn apply(self, a: u32, b: u32, c: u32) -> u32 {
        let [one, xa, xb, xab, xc, xac, xbc, xabc] = self.0;
        one ^ xa & a ^ b & (xb ^ xab & a) ^ c & (xc ^ xac & a ^ b & (xbc ^ xabc & a))
    }
}

/// The bitwise function of three sources with a table of truth that is known here.
pub(crate) struct Table<const TABLE: u8>;

impl<const TABLE: u8> Ternary<u32> for Table<TABLE> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn apply(a: u32, b: u32, c: u32) -> u32 {
        Horner::new(const { Horner::coefficients(TABLE) }).apply(a, b, c)
    }
}

/// A sum of four products of bytes, and the accumulator.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn dp4a(acc: i64, a: u32, a_signed: bool, b: u32, b_signed: bool) -> i64 {
    let byte = |word: u32, n: u32, signed: bool| {
        let byte = (word >> (8 * n)) as u8;
        if signed {
            i64::from(byte as i8)
        } else {
            i64::from(byte)
        }
    };
    (0..4).fold(acc, |sum, n| {
        let product = byte(a, n, a_signed) * byte(b, n, b_signed);
        // An accumulator has 32 bits; nothing else is promised to be exact.
        sum.saturating_add(product)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_that_no_lane_holds_keep_their_sign() {
        let most = i128::from(u64::MAX);
        assert_eq!(Int::mul(most, most), i128::MAX);
        assert_eq!(Int::mul(most, -most), i128::MIN);
        assert_eq!(Int::add(Int::mul(most, most), most), i128::MAX);
    }

    #[test]
    fn bit_fields() {
        assert_eq!(bfi(8, 4, 0xabc, 0xffff_ffff), 0xffff_fbcf);
        assert_eq!(bfi(0, 4, 0xabc, 0x1234_5678), 0x1234_5678);
        assert_eq!(bfi(31, 31, 3, 0), 0x8000_0000);
        assert_eq!(BfeUnsigned::apply(8, 4, 0x0000_0abc), 0xab);
        assert_eq!(BfeSigned::apply(8, 4, 0x0000_0abc), 0xffff_ffab);
        assert_eq!(BfeSigned::apply(32, 0, 0xffff_ffff), 0);
        assert_eq!(BfeSigned::apply(31, 31, 0x8000_0000), 1);
    }

    #[test]
    fn bit_counts() {
        assert_eq!(FbhSigned::apply(0), u32::MAX);
        assert_eq!(FbhSigned::apply(u32::MAX), u32::MAX);
        assert_eq!(FbhSigned::apply(0xffff_fff0), 28);
        assert_eq!(FbhSigned::apply(1), 31);
        assert_eq!(FbhUnsigned::apply(0x8000_0000), 0);
        assert_eq!(Fbl::apply(0), u32::MAX);
        assert_eq!(Fbl::apply(8), 3);
        assert_eq!(
            <Avg as Binary<u32>>::apply(u32::MAX, u32::MAX - 1),
            u32::MAX
        );
        assert_eq!(<Avg as Binary<i32>>::apply(-3, -2), -2);
    }

    #[test]
    fn functions_of_three() {
        let of = |table| Horner::new(Horner::coefficients(table));
        let (a, b, c) = (0xaau32, 0xcc, 0xf0);
        // These sources hold all combinations in the order of the table.
        for table in 0..=0xff {
            assert_eq!(of(table).apply(a, b, c) & 0xff, table.into());
        }
        let (a, b, c) = (0xf0f0_aaaa, 0xcccc_ff00, 0x1234_5678);
        assert_eq!(of(0x80).apply(a, b, c), a & b & c);
        assert_eq!(of(0xfe).apply(a, b, c), a | b | c);
        assert_eq!(of(0x96).apply(a, b, c), a ^ b ^ c);
    }

    #[test]
    fn division_by_zero_is_defined() {
        assert_eq!(<Div as Binary<i32>>::apply(i32::MIN, -1), i32::MIN);
        assert_eq!(<Mod as Binary<i32>>::apply(i32::MIN, -1), 0);
        assert_eq!(<Div as Binary<u32>>::apply(7, 0), u32::MAX);
        assert_eq!(<Mod as Binary<i32>>::apply(-7, 2), -1);
    }
}
