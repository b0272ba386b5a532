//! Where decisions come from: a seed, or the bytes of a fuzzer.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A source of decisions.
#[derive(Debug)]
pub(crate) enum Choices<'a> {
    /// Without an end.
    Seed(SplitMix64),
    /// As many as there are bytes; then always the first possibility.
    Bytes(&'a [u8]),
}

impl<'a> Choices<'a> {
    pub(crate) fn of_seed(seed: u64) -> Self {
        Self::Seed(SplitMix64::seed_from_u64(seed))
    }

    pub(crate) fn number(&mut self) -> u64 {
        match self {
            Self::Seed(random) => random.next_u64(),
            Self::Bytes(bytes) => {
                let (head, rest) = bytes.split_at(bytes.len().min(8));
                *bytes = rest;
                head.iter().fold(0, |all, byte| all << 8 | u64::from(*byte))
            }
        }
    }

    /// A number below `end`; 0 if that is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap_or(1);
        let number = match self {
            Self::Bytes([first, rest @ ..]) if end <= 256 => {
                let first = u64::from(*first);
                *self = Self::Bytes(rest);
                first
            }
            _ => self.number(),
        };
        usize::try_from(number % end).unwrap_or(0)
    }

    /// One of the entries.
    pub(crate) fn pick(&mut self, all: &[&'static str]) -> &'static str {
        let at = self.below(all.len());
        all.get(at).copied().unwrap_or("")
    }

    /// True once in `count` times.
    pub(crate) fn once_in(&mut self, count: usize) -> bool {
        self.below(count) + 1 == count
    }
}
