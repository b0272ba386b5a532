//! MinHash with one permutation.
//!
//! The first bits of a feature choose a bin, the rest compete in it for the smallest value, so that a feature costs one
//! comparison instead of one for each number of the signature (Li, Owen, Zhang: One Permutation Hashing, 2012). Empty
//! bins borrow the value of another one, chosen in an order specific to the bin and the same in every signature
//! (Shrivastava: Optimal Densification for Fast and Accurate Minwise Hashing, 2017); the share of equal bins then
//! estimates the share of common features without bias.

use super::hash::{mix, pair};

/// Numbers of a MinHash.
pub const MINHASH: usize = 64;

/// Bits that choose a bin.
const BITS: u32 = MINHASH.ilog2();

/// The order in which each bin visits the others: a start, and an odd step, so that all are visited.
const ORDERS: [(u8, u8); MINHASH] = {
    let mut orders = [(0, 0); MINHASH];
    let mut rest: &mut [(u8, u8)] = &mut orders;
    while let [order, others @ ..] = rest {
        let [first, step, ..] = pair(others.len() as u64, 0).to_le_bytes();
        *order = (first, step | 1);
        rest = others;
    }
    orders
};

/// The smallest values of the bins over all features; all are `u32::MAX` if there are no features. Repeated features
/// count once.
#[must_use]
pub fn minhash(features: impl IntoIterator<Item = u64>) -> [u32; MINHASH] {
    let mut smallest = [u32::MAX; MINHASH];
    // A bit for each bin that something fell into.
    let mut full = 0u64;
    for feature in features {
        // Features of instructions that differ in a constant have much in common.
        let feature = mix(feature);
        let bin = bin(feature);
        full |= 1 << bin;
        if let Some(least) = smallest.get_mut(bin) {
            #[allow(clippy::cast_possible_truncation)] // the other half
            let value = feature as u32;
            *least = value.min(*least);
        }
    }
    if full == 0 || full == u64::MAX {
        return smallest;
    }
    let lenders = smallest;
    for (number, (value, order)) in smallest.iter_mut().zip(ORDERS).enumerate() {
        if full >> number & 1 == 0 {
            let lender = lender(full, order);
            *value = lenders.get(lender).copied().unwrap_or(u32::MAX);
        }
    }
    smallest
}

#[inline]
#[allow(clippy::cast_possible_truncation)] // few bits are left
const fn bin(feature: u64) -> usize {
    (feature >> (u64::BITS - BITS)) as usize
}

/// The first full bin in an order; there is one.
fn lender(full: u64, (first, step): (u8, u8)) -> usize {
    let mut at = first;
    while full >> (at % 64) & 1 == 0 {
        at = at.wrapping_add(step);
    }
    usize::from(at % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Features that look as if by chance.
    fn features(from: u64, to: u64) -> impl Iterator<Item = u64> {
        (from..to).map(|n| pair(n, 1))
    }

    fn estimate(a: &[u32; MINHASH], b: &[u32; MINHASH]) -> f64 {
        let equal = a.iter().zip(b).filter(|(a, b)| a == b).count();
        f64::from(u32::try_from(equal).unwrap_or(0)) / 64.0
    }

    #[test]
    fn equal_numbers_estimate_the_share_of_common_features() {
        // Sizes of the common part and of each rest; from few features to many.
        for (common, rest) in [(4, 4), (10, 5), (30, 60), (100, 20), (1000, 1000)] {
            let mut sum = 0.0;
            for trial in 0..200 {
                let base = trial * 10_000;
                let common_end = base + common;
                let a = minhash(features(base, common_end + rest));
                let other = features(common_end + 5000, common_end + 5000 + rest);
                let b = minhash(features(base, common_end).chain(other));
                sum += estimate(&a, &b);
            }
            let share = |n: u64| f64::from(u32::try_from(n).unwrap_or(0));
            let expected = share(common) / share(common + 2 * rest);
            let found = sum / 200.0;
            assert!(
                (found - expected).abs() < 0.03,
                "{common} common, {rest} others: {found} instead of {expected}"
            );
        }
    }

    #[test]
    fn order_and_repetition_do_not_count_and_nothing_is_nothing() {
        let once = minhash(features(0, 50));
        let twice: Vec<u64> = features(0, 50).chain(features(0, 50)).collect();
        assert_eq!(minhash(twice.iter().rev().copied()), once);
        assert_eq!(minhash([]), [u32::MAX; MINHASH]);
        let [first, rest @ ..] = minhash([7]);
        assert!(rest.iter().all(|value| *value == first));
    }
}
