//! Whether functions of the executor are the same, on samples, and what has been answered before.

use super::{bits, directed};
use crate::term::ones;
use hashbrown::HashMap;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::hash::Hash;
use std::sync::{LazyLock, Mutex, PoisonError};
use visakit_exec::LaneFunction;
use visakit_isa::DataType;

/// Answers that are the same in every proof.
pub(super) struct Answers<K, V>(LazyLock<Mutex<HashMap<K, V>>>);

/// Answers that are kept.
const MOST_KNOWN: usize = 1 << 14;

impl<K: Eq + Hash, V: Copy> Answers<K, V> {
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// The answer to a question, which is found if nobody has asked before.
    pub(super) fn of(&self, key: K, find: impl FnOnce() -> V) -> V {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&key).copied();
        found.unwrap_or_else(|| {
            let found = find();
            let mut known = known();
            if known.len() >= MOST_KNOWN {
                known.clear();
            }
            known.insert(key, found);
            found
        })
    }
}

/// Sources of samples at which functions change what they do, and random ones after them.
const DIRECTED: usize = 4096;
const RANDOM: usize = 64;

/// Whether two functions have the same results on samples. `pair` makes the source of each of a sample of a type, which is
/// always the same where `is_known` says so.
pub(super) fn is_same(
    [first, second]: [&LaneFunction; 2],
    is_known: [bool; 4],
    pair: impl Fn(usize, u64) -> [u64; 2],
) -> Option<bool> {
    let used = first.operation.sources();
    let types = first.sources.map(|(ty, _)| ty);
    let list = |ty: &DataType| directed(bits(*ty), ty.is_float());
    let lists: Vec<Vec<u64>> = types.iter().take(used).map(list).collect();
    let mut random = SplitMix64::seed_from_u64(0x5eed);
    for sample in 0..DIRECTED + RANDOM {
        let (mut a, mut b) = ([0; 4], [0; 4]);
        let mut place = sample;
        let to = a.iter_mut().zip(&mut b);
        let sources = lists.iter().zip(types).zip(is_known).zip(to);
        for (number, (((list, ty), is_known), (a, b))) in sources.enumerate() {
            let any = if is_known {
                0
            } else if sample >= DIRECTED {
                random.next_u64() & ones(bits(ty))
            } else {
                let length = list.len().max(1);
                let found = list.get(place % length).copied();
                // Most pairs of the first two, with any third one.
                place = match number {
                    0 => place / length,
                    _ => usize::try_from(random.next_u64() >> 33).unwrap_or(0),
                };
                found.unwrap_or(0)
            };
            [*a, *b] = pair(number, any);
        }
        // What comes next has been tried.
        let bit = sample & 1 != 0;
        if first.evaluate(a, bit)? != second.evaluate(b, bit)? {
            return Some(false);
        }
    }
    Some(true)
}
