//! What kernels run on: memory with a fence around each buffer, and numbers that are at ends.

#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers that begin anew are meant to"
)]

use super::kernel::{Kernel, LANES};
use fastrand::Rng;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use visakit_exec::memory::{Storage, Surface, Word};
use visakit_exec::{
    Counters, Fault, Group, Limits, Memory, MemoryAccess, Observer, Program, Progress, ThreadStart,
};

/// Buffers that kernels access, and the one that takes their results.
const BUFFERS: usize = 3;

/// Pages of a fence.
const PAGES: usize = 3;

/// What is around a buffer.
const CANARY: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// Bytes of results of each thread.
pub(super) const RESULT: usize = 1024;

/// Most threads of a group.
const THREADS: usize = 3;

/// Numbers of 32 bits, and addresses of buffers: the first ones are plain.
pub(super) const NUMBERS: usize = 16;
pub(super) const BASES: usize = 8;
pub(super) const PLAIN_BASES: usize = 4;

/// Binding-table indices with a surface; all others have none.
pub(super) const SURFACES: [u8; 3] = [0, 5, 17];

/// Memory for buffers, between pages that nobody may access where the host has such.
#[derive(Debug)]
pub struct Fences {
    all: Vec<&'static [Word]>,
}

impl Default for Fences {
    fn default() -> Self {
        Self {
            all: (0..=BUFFERS).map(|_| fenced()).collect(),
        }
    }
}

/// Words between pages that nobody may access, or else between others.
fn fenced() -> &'static [Word] {
    #[cfg(unix)]
    if let Some(words) = visakit_storage::fenced(PAGES) {
        return words;
    }
    let words = (0..PAGES * visakit_storage::PAGE / 8).map(|_| Word::new(0));
    Vec::leak(words.collect())
}

/// Where a buffer is in its fence.
#[derive(Clone, Copy, Debug)]
struct Place {
    bytes: usize,
    /// Whether it ends where the fence ends, or else begins where it begins.
    last: bool,
}

/// A launch of a kernel.
#[derive(Debug)]
pub struct Launch {
    buffers: Vec<Place>,
    /// Whether accesses outside of memory are no faults.
    lenient: bool,
    local_bytes: usize,
    /// The buffer of each surface, its first byte and its bytes.
    surfaces: Vec<(usize, u64, u64)>,
    masks: Vec<u32>,
    groups: usize,
    /// Whether groups go on from the one before, where they may leave registers that nobody reads.
    again: bool,
    fuel: u64,
    max_steps: u64,
    cr0: u32,
    /// What memory and variables are made of.
    seed: u64,
    shape: Shape,
}

/// What a launch leaves.
#[derive(Debug)]
pub struct Left {
    pub(super) fault: String,
    pub(super) counters: Vec<Counters>,
    pub(super) buffers: Vec<Vec<u8>>,
    pub(super) local: Vec<u8>,
    pub(super) registers: Vec<Vec<u8>>,
    pub(super) accesses: u64,
}

/// Where the vectors of a kernel are in its registers.
#[derive(Clone, Copy, Debug)]
struct Shape {
    bytes: usize,
    flat: [usize; 2],
    windows: [usize; 2],
    words: [usize; 2],
    dwords: [usize; 2],
    numbers: usize,
    bases: usize,
    counters: usize,
}

/// Counts accesses.
struct Accesses(u64);

impl Observer for Accesses {
    const INSTRUCTIONS: bool = false;
    const MEMORY: bool = true;

    fn memory(&mut self, _: &MemoryAccess, _: &[u8]) {
        self.0 += 1;
    }
}

/// A number of bytes that ends nowhere in particular.
fn size(rng: &mut Rng) -> usize {
    match rng.u8(..8) {
        0 => rng.usize(1..80),
        1 => rng.usize(250..270),
        2 => 1 << rng.u32(3..13),
        3 | 4 => rng.usize(500..1100),
        _ => rng.usize(4080..4110),
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

/// Registers of a thread.
struct File(Vec<u8>);

impl File {
    /// So many bytes of numbers, most of them small.
    fn new(bytes: usize, rng: &mut Rng) -> Self {
        let number = |rng: &mut Rng| match rng.u8(..4) {
            0 => rng.u32(..),
            1 => rng.u32(..4096),
            _ => rng.u32(..64),
        };
        let numbers = (0..bytes / 4).flat_map(|_| number(rng).to_le_bytes());
        Self(numbers.collect())
    }

    fn put<const N: usize>(&mut self, at: usize, numbers: impl IntoIterator<Item = [u8; N]>) {
        let to = self.0[at..].as_chunks_mut().0;
        for (to, from) in to.iter_mut().zip(numbers) {
            *to = from;
        }
    }
}

impl Launch {
    pub(super) fn new(rng: &mut Rng, kernel: &Kernel) -> Self {
        let full = u32::MAX >> (32 - kernel.lanes);
        let mut buffers: Vec<Place> = (0..BUFFERS)
            .map(|_| Place {
                bytes: size(rng),
                last: rng.bool(),
            })
            .collect();
        buffers.push(Place {
            bytes: RESULT * THREADS,
            last: true,
        });
        let surfaces = SURFACES.map(|_| {
            let offset = if rng.bool() { 0 } else { rng.u64(..70) };
            let size = if rng.bool() {
                u64::MAX
            } else {
                rng.u64(1..2000)
            };
            (rng.usize(..BUFFERS), offset, size)
        });
        let mask = |rng: &mut Rng| match rng.u8(..6) {
            0..=2 => full,
            3 => 1 << rng.u32(..kernel.lanes),
            4 => full >> rng.u32(..kernel.lanes),
            _ => (rng.u32(..) & full).max(1),
        };
        Self {
            buffers,
            lenient: rng.u8(..3) != 0,
            local_bytes: if rng.u8(..8) == 0 { 0 } else { size(rng) },
            surfaces: surfaces.to_vec(),
            masks: (0..rng.usize(1..=THREADS)).map(|_| mask(rng)).collect(),
            groups: rng.usize(1..4),
            again: rng.bool(),
            fuel: match rng.u8(..4) {
                0 => rng.u64(1..20),
                1 => rng.u64(20..200),
                _ => u64::MAX,
            },
            max_steps: if rng.bool() { 1500 } else { rng.u64(1..300) },
            cr0: if rng.u8(..4) == 0 {
                rng.u32(..) & 0x14f0
            } else {
                0x4c0
            },
            seed: rng.u64(..),
            shape: Shape {
                bytes: kernel.bytes,
                flat: kernel.flat,
                windows: kernel.windows,
                words: kernel.words,
                dwords: kernel.dwords,
                numbers: kernel.numbers,
                bases: kernel.bases,
                counters: kernel.counters,
            },
        }
    }

    /// Fills the fences, and lends the buffers to a memory. The words of each buffer follow.
    fn memory(&self, fences: &Fences, rng: &mut Rng) -> (Memory, Vec<u64>) {
        let mut memory = Memory::new(1 << 20);
        memory.set_lenient(self.lenient);
        let (mut ids, mut bases) = (Vec::new(), Vec::new());
        for (place, words) in self.buffers.iter().zip(&fences.all) {
            for word in *words {
                word.store(CANARY, Relaxed);
            }
            let count = place.bytes.div_ceil(8);
            let own = match place.last {
                true => &words[words.len() - count..],
                false => &words[..count],
            };
            let storage = Storage::lent(own, place.bytes, Arc::new(()));
            let numbers: Vec<u8> = (0..place.bytes)
                .map(|at| {
                    if at % 4 == 0 || rng.bool() {
                        rng.u8(..)
                    } else {
                        0
                    }
                })
                .collect();
            storage.write(0, &numbers);
            if let Ok(id) = memory.add_storage(&storage, None) {
                bases.push(memory.address(id));
                ids.push(id);
            }
        }
        for (index, (buffer, offset, size)) in SURFACES.iter().zip(&self.surfaces) {
            let surface = Surface::Buffer {
                buffer: ids[*buffer],
                offset: *offset,
                size: *size,
            };
            // One that is beyond its buffer is refused: then there is none.
            let _ = memory.bind(*index, surface);
        }
        (memory, bases)
    }

    /// Places of lanes, relative to the first byte of something.
    fn places(room: usize, rng: &mut Rng) -> [u64; LANES] {
        let size = [1u64, 2, 4, 4, 4, 8, 8, 16][rng.usize(..8)];
        let end = room as u64;
        let most = end.saturating_sub(size * LANES as u64) / size;
        let first = size * rng.u64(..=most);
        let shape = rng.u8(..16);
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
                _ => first + (n ^ 3) * size,
            }
        })
    }

    /// The registers of a thread.
    fn registers(&self, bases: &[u64], rng: &mut Rng) -> Vec<u8> {
        let shape = &self.shape;
        let mut file = File::new(shape.bytes, rng);
        // Numbers that follow each other begin anew where they have so many bits, or they do not.
        let bits = [8u32, 16, 31, 32][rng.usize(..4)];
        let first = match rng.u8(..4) {
            0 => rng.u64(..8),
            _ => (1u64 << bits) - rng.u64(1..40),
        };
        for at in shape.words {
            let words = (first..).map(|n| (n as u16).to_le_bytes());
            file.put(at, words.take(LANES));
        }
        for at in shape.dwords {
            let dwords = (first..).map(|n| (n as u32).to_le_bytes());
            file.put(at, dwords.take(LANES));
        }
        let numbers = (0..NUMBERS).map(|_| edge(rng).to_le_bytes());
        file.put(shape.numbers, numbers.collect::<Vec<_>>());
        let numbers = (0..BASES).map(|n| {
            let base = bases[rng.usize(..BUFFERS)];
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
        file.put(shape.bases, numbers.collect::<Vec<_>>());
        let counters = (0..64).map(|_| [if rng.bool() { 0 } else { rng.u8(..) }]);
        file.put(shape.counters, counters.collect::<Vec<_>>());
        for at in shape.flat {
            let buffer = rng.usize(..BUFFERS);
            let places = Self::places(self.buffers[buffer].bytes, rng);
            let places = places.map(|place| bases[buffer].wrapping_add(place).to_le_bytes());
            file.put(at, places);
        }
        for at in shape.windows {
            let surface = self.buffers[self.surfaces[0].0].bytes;
            let room = if rng.bool() {
                self.local_bytes
            } else {
                surface
            };
            let places = Self::places(room, rng);
            file.put(at, places.map(|place| (place as u32).to_le_bytes()));
        }
        file.0
    }

    /// Whether registers are what they would be if each group began anew.
    pub(super) const fn is_fresh(&self) -> bool {
        self.groups == 1 || !self.again
    }

    pub(super) fn run(&self, program: &Program, fences: &Fences, compiled: bool) -> Left {
        let mut rng = Rng::with_seed(self.seed);
        let (memory, bases) = self.memory(fences, &mut rng);
        let results = bases.last().copied().unwrap_or(0);
        let set = |name: &str, bytes: Vec<u8>| Some((program.variable(name)?, bytes));
        let starts: Vec<ThreadStart> = (0u64..)
            .zip(&self.masks)
            .map(|(n, mask)| {
                let results = results + n * RESULT as u64;
                let sets = [
                    set("BIG", self.registers(&bases, &mut rng)),
                    set("OA", results.to_le_bytes().to_vec()),
                    set("P1", rng.u32(..).to_le_bytes().to_vec()),
                    set("P2", rng.u32(..).to_le_bytes().to_vec()),
                ];
                ThreadStart {
                    mask: *mask,
                    cr0: self.cr0,
                    scratch_bytes: 256,
                    sets: sets.into_iter().flatten().collect(),
                    ..ThreadStart::default()
                }
            })
            .collect();
        let limits = Limits {
            max_steps: self.max_steps,
            ..Limits::default()
        };
        let mut left = Left {
            fault: String::new(),
            counters: Vec::new(),
            buffers: Vec::new(),
            local: Vec::new(),
            registers: Vec::new(),
            accesses: 0,
        };
        let mut accesses = Accesses(0);
        let mut group = Group::default();
        for number in 0..self.groups {
            let local = self.local_bytes;
            let mut ended = match number > 0 && self.again {
                true => group.next(program, local, &starts, &limits),
                false => group.reset(program, local, &starts, &limits),
            };
            if ended.is_ok() && compiled {
                ended = self
                    .in_parts(&mut group, program, &memory, &limits)
                    .map_or(Ok(()), Err);
            } else if ended.is_ok() {
                let run = group.run(program, &memory, &limits, &mut accesses);
                ended = run.map(|_| ());
            }
            left.counters.push(group.counters());
            if let Err(fault) = ended {
                left.fault = fault.to_string();
                break;
            }
        }
        left.accesses = accesses.0;
        left.local = group.slm().to_vec();
        let threads = (0..self.masks.len()).filter_map(|n| group.thread(n));
        left.registers = threads.map(|thread| thread.registers().to_vec()).collect();
        let bytes = |words: &[Word]| {
            let words = words
                .iter()
                .flat_map(|word| word.load(Relaxed).to_le_bytes());
            words.collect::<Vec<u8>>()
        };
        left.buffers = fences.all.iter().map(|words| bytes(words)).collect();
        left
    }

    /// Runs a group to its end, a part at a time. Returns its fault, if it has one.
    fn in_parts(
        &self,
        group: &mut Group,
        program: &Program,
        memory: &Memory,
        limits: &Limits,
    ) -> Option<Fault> {
        loop {
            match group.advance(program, memory, limits, self.fuel, None, &mut ()) {
                Ok(Progress::Ended) => return None,
                Ok(_) => {}
                Err(fault) => return Some(fault),
            }
        }
    }
}
