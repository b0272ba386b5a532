//! The hash used for fingerprints.

/// A hash of 64 bits that is fed numbers: each step multiplies to 128 bits and folds the halves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash(u64);

const KEY: u64 = 0x9e37_79b9_7f4a_7c15;

/// Both halves of the product. Every bit of the result depends on every bit of both numbers.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the halves
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// Hashes two numbers into one; their order matters.
#[inline]
pub(super) const fn pair(a: u64, b: u64) -> u64 {
    fold(a ^ 0xbf58_476d_1ce4_e5b9, b ^ 0x94d0_49bb_1331_11eb)
}

impl Hash {
    pub(super) const NEW: Self = Self(0x243f_6a88_85a3_08d3);

    #[inline]
    pub(super) const fn add(&mut self, number: u64) {
        self.add_two(number, 0);
    }

    /// Adds two numbers for the price of one.
    #[inline]
    pub(super) const fn add_two(&mut self, a: u64, b: u64) {
        self.0 = fold(self.0 ^ a, KEY ^ b);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let number = chunk
                .iter()
                .rev()
                .fold(0, |n, byte| n << 8 | u64::from(*byte));
            self.add(number);
        }
    }

    #[inline]
    pub(super) const fn finish(self) -> u64 {
        mix(self.0)
    }
}

/// Mixes all bits, as `splitmix64` does.
#[inline]
pub(super) const fn mix(number: u64) -> u64 {
    let mut z = number;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
