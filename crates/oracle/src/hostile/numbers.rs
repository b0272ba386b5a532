//! Numbers at ends: addresses, counters, floats.

#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers that begin anew are meant to"
)]

use super::kernel::{
    BASES, BASES_AT, BYTES, COUNTERS, DWORDS, FLAT, LANES, LIMITS, NUMBERS, NUMBERS_AT,
    PLAIN_BASES, ROWS, WINDOWS, WORDS,
};
use super::launch::SURFACES;
use fastrand::Rng;

/// A number of bytes that ends nowhere in particular.
pub(super) fn size(rng: &mut Rng) -> usize {
    match rng.u8(..8) {
        0 => rng.usize(1..80),
        1 => rng.usize(250..270),
        2 => 1 << rng.u32(3..13),
        3 | 4 => rng.usize(500..1100),
        _ => rng.usize(4060..=4096),
    }
}

/// A number of 32 bits, often at an end of something.
fn edge(rng: &mut Rng) -> u32 {
    match rng.u8(..10) {
        0 => rng.u32(..),
        1 => u32::MAX - rng.u32(..40),
        2 => 0x8000_0000u32.wrapping_sub(rng.u32(..40)),
        3 => 0xffff - rng.u32(..40),
        4 | 5 => SURFACES[rng.usize(..SURFACES.len())].into(),
        _ => rng.u32(..20),
    }
}

/// Words of which all first contents are parts.
const POOL: usize = 1 << 13;

/// What memory and registers begin with: parts of words that are made once for many kernels.
#[derive(Debug)]
pub(super) struct Pool(Vec<u64>);

impl Pool {
    /// The words of a seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        Self((0..POOL).map(|_| content(&mut rng)).collect())
    }

    /// So many words.
    pub(super) fn part(&self, words: usize, rng: &mut Rng) -> &[u64] {
        let first = rng.usize(..=POOL - words);
        &self.0[first..first + words]
    }
}

/// Two numbers of 32 bits: any, small ones, floats, no numbers of any kind.
fn content(rng: &mut Rng) -> u64 {
    let bits = rng.u64(..);
    match rng.u8(..16) {
        0..=3 => bits,
        4..=8 => bits & 0x0000_0fff_0000_0fff,
        9..=11 => bits & 0x0000_003f_0000_003f,
        // Floats near one, the largest ones, and what is no number, of 16, 32 and 64 bits.
        12 => bits & 0x80ff_ffff_80ff_ffff | 0x7e80_0000_7e80_0000,
        13 => bits & 0x807f_ffff_807f_ffff | 0x3f80_0000_3f80_0000,
        14 => bits & 0x807f_ffff_807f_ffff | 0x7f80_0000_7f80_0000,
        _ => bits & 0x81ff_81ff_81ff_81ff | 0x7c00_7c00_7c00_7ff0,
    }
}

/// Places of lanes, relative to the first byte of something.
fn places(room: usize, rng: &mut Rng) -> [u64; LANES] {
    let size = [1u64, 2, 4, 4, 4, 8, 8, 16][rng.usize(..8)];
    let end = room as u64;
    let most = end.saturating_sub(size * LANES as u64) / size;
    let first = size * rng.u64(..=most);
    let shape = rng.u8(..18);
    let stride = rng.u64(1..9) * if rng.bool() { 1 } else { size };
    let (a, b) = (rng.u64(..), rng.u32(..32) as usize);
    std::array::from_fn(|lane| {
        let n = lane as u64;
        match shape {
            0..=4 => first + n * size,
            5 => first,
            6 => rng.u64(..=end.saturating_sub(size)) / size * size,
            7 => (first + n * stride) % end.max(1),
            8 => first + rng.u64(..4) * size,
            // The last bytes, and across the end.
            9 => end.wrapping_sub(size).wrapping_sub(rng.u64(..3)),
            10 => end.wrapping_sub(size * 8).wrapping_add(n * size),
            11 if lane == b => end.wrapping_add(rng.u64(..64)),
            12 => first + n * size + 1,
            // Where numbers of 32 and 64 bits begin anew.
            13 => (a | 0xffff_ffff)
                .wrapping_sub(16 * size)
                .wrapping_add(n * size),
            14 if lane == b => rng.u64(..),
            15 => (n * size).wrapping_sub(size * 4),
            // Within a vector, and one of them not.
            16 => first + ((n * 7) & 15) * 4,
            17 if lane == b => first + 0x1000,
            _ => first + (n ^ 3) * size,
        }
    })
}

/// The parts of memory that addresses of a thread lead to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Targets<'a> {
    /// Addresses of buffers, and their bytes.
    pub(super) buffers: &'a [(u64, usize)],
    pub(super) local_bytes: usize,
    /// Bytes of the surface that addresses are made for.
    pub(super) surface_bytes: usize,
}

/// Registers of a thread.
struct File(Vec<u8>);

impl File {
    fn put<const N: usize>(&mut self, at: usize, numbers: impl IntoIterator<Item = [u8; N]>) {
        let to = self.0[at..].as_chunks_mut().0;
        for (to, from) in to.iter_mut().zip(numbers) {
            *to = from;
        }
    }
}

/// The registers of a thread.
pub(super) fn registers(targets: &Targets<'_>, pool: &Pool, rng: &mut Rng) -> Vec<u8> {
    let mut all = vec![0; BYTES];
    let words = pool.part(BYTES / 8, rng);
    for (to, from) in all.as_chunks_mut().0.iter_mut().zip(words) {
        *to = from.to_le_bytes();
    }
    let mut file = File(all);
    // Numbers that follow each other begin anew where they have so many bits, or they do not.
    let bits = [8u32, 16, 31, 32][rng.usize(..4)];
    let first = match rng.u8(..4) {
        0 | 1 => rng.u64(..8),
        _ => (1u64 << bits) - rng.u64(1..40),
    };
    for at in WORDS {
        let words = (first..).map(|n| (n as u16).to_le_bytes());
        file.put(at, words.take(LANES));
    }
    for at in DWORDS {
        let dwords = (first..).map(|n| (n as u32).to_le_bytes());
        file.put(at, dwords.take(LANES));
    }
    // A number for all lanes, or another one in one of them.
    let (row, other) = (rng.u32(..6), rng.usize(..4 * LANES));
    let lane = |n: usize| if n == other { row + 1 } else { row };
    let [words, dwords] = ROWS;
    file.put(words, (0..LANES).map(|n| (lane(n) as u16).to_le_bytes()));
    file.put(dwords, (0..LANES).map(|n| lane(n).to_le_bytes()));
    let numbers = (0..NUMBERS).map(|_| edge(rng).to_le_bytes());
    file.put(NUMBERS_AT, numbers.collect::<Vec<_>>());
    let most = [3, 12, 40][rng.usize(..3)];
    let limits = (0..LANES).map(|_| rng.u32(..most).to_le_bytes());
    file.put(LIMITS, limits.collect::<Vec<_>>());
    let buffer = |rng: &mut Rng| targets.buffers[rng.usize(..targets.buffers.len())];
    let numbers = (0..BASES).map(|n| {
        let (base, _) = buffer(rng);
        let base = match (n, rng.u8(..16)) {
            (_, 0) => base.wrapping_add(rng.u64(..64)),
            (_, 1) => base.wrapping_sub(rng.u64(..64) * 8),
            (_, 2) => rng.u64(..),
            (0..PLAIN_BASES, _) => base,
            // What begins anew would be inside if it did not.
            _ => {
                let anew = 1u64 << bits << (n - PLAIN_BASES);
                base.wrapping_sub(anew).wrapping_add(rng.u64(..64) * 8)
            }
        };
        base.to_le_bytes()
    });
    file.put(BASES_AT, numbers.collect::<Vec<_>>());
    let counters = (0..64).map(|_| [if rng.bool() { 0 } else { rng.u8(..) }]);
    file.put(COUNTERS, counters.collect::<Vec<_>>());
    for at in FLAT {
        let (base, bytes) = buffer(rng);
        let places = places(bytes, rng);
        file.put(
            at,
            places.map(|place| base.wrapping_add(place).to_le_bytes()),
        );
    }
    for at in WINDOWS {
        let room = match rng.bool() {
            true => targets.local_bytes,
            false => targets.surface_bytes,
        };
        let places = places(room, rng);
        file.put(at, places.map(|place| (place as u32).to_le_bytes()));
    }
    file.0
}
