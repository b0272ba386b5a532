//! What kernels run on: memory with a fence around each buffer, threads and groups, and fuel that ends anywhere.

use super::fences::{Fences, Words};
use super::kernel::{Kernel, Start};
use super::numbers::{Pool, Targets, registers, size};
use fastrand::Rng;
use visakit_exec::memory::{
    Addressing, ChannelOrder, ChannelType, Filter, Format, Image, Sampler, Storage, Surface,
};
use visakit_exec::{
    Counters, Fault, Group, HeaderDwords, Limits, Memory, MemoryAccess, Observer, Program,
    Progress, ThreadStart,
};

/// Buffers that kernels access.
const BUFFERS: usize = 3;

/// Pages of their fences, of that of the results, and of that of what registers begin with.
pub(super) const PAGES: [usize; BUFFERS + 2] = [1, 1, 1, 2, 2];

/// Bytes of results of each thread.
pub(super) const RESULT: usize = 768;

/// Most threads of a group.
pub(super) const THREADS: usize = 5;

/// Bytes from what the registers of one thread begin with to those of the next one.
const NEXT_START: u64 = 64;

/// Binding-table indices with a surface, and with an image; all others have none.
pub(super) const SURFACES: [u8; 3] = [0, 5, 17];
pub(super) const IMAGES: [u8; 2] = [9, 12];

/// Groups whose threads access this many accesses are enough.
const STEPS: u64 = 2000;

/// A launch of a kernel.
#[derive(Debug)]
pub struct Launch {
    memory: Memory,
    /// What memory holds at first.
    words: Vec<Words>,
    local_bytes: usize,
    /// Threads of the first group.
    starts: Vec<ThreadStart>,
    groups: u32,
    /// Whether groups go on from the one before, where they may leave registers that nobody reads.
    again: bool,
    fuel: u64,
    max_steps: u64,
}

/// What a run leaves besides memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Left {
    pub(super) fault: String,
    /// Groups that began.
    pub(super) groups: u32,
    pub(super) counters: Counters,
    pub(super) accesses: u64,
    /// Whether some part of it took more instructions than it had fuel.
    pub(super) overran: bool,
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

/// The dwords of the thread header that differ from group to group.
const fn header(group: u32) -> HeaderDwords {
    [(0, 0), (4, group), (24, 0), (28, 0)]
}

impl Launch {
    pub(super) fn new(
        rng: &mut Rng,
        kernel: &Kernel,
        program: &Program,
        (fences, pool): (&Fences, &Pool),
    ) -> Self {
        let mut memory = Memory::new(1 << 20);
        memory.set_lenient(rng.u8(..3) != 0);
        let mut words = fences.empty();
        let (mut buffers, mut ids) = (Vec::new(), Vec::new());
        for (number, words) in words.iter_mut().enumerate() {
            let (bytes, last) = match number {
                0..BUFFERS => (size(rng), rng.bool()),
                _ => (8 * words.len(), true),
            };
            if number < BUFFERS {
                fill(words, (bytes, last), pool, rng);
            }
            let own = fences.part(number, bytes, last);
            let storage = Storage::lent(own, bytes);
            if let Ok(id) = memory.add_storage(&storage, None) {
                buffers.push((memory.address(id), bytes));
                ids.push(id);
            }
        }
        let surface_bytes = bind(&mut memory, &ids, &buffers, rng);
        let local_bytes = match kernel.start {
            // Groups repeat where they have none.
            Start::Loaded if rng.u8(..4) != 0 => 0,
            _ if rng.u8(..8) == 0 => 0,
            _ => size(rng),
        };
        let targets = Targets {
            buffers: &buffers[..BUFFERS],
            local_bytes,
            surface_bytes,
        };
        let full = u32::MAX >> (32 - kernel.lanes);
        let threads = rng.usize(1..=THREADS);
        let cr0 = match rng.u8(..4) {
            0 => rng.u32(..) & 0x14f0,
            _ => 0x4c0,
        };
        let (results, starts_at) = (buffers[BUFFERS].0, buffers[BUFFERS + 1].0);
        let starts = (0..threads as u64).map(|n| {
            let start = ThreadStart {
                mask: mask(kernel, full, rng),
                cr0,
                ..ThreadStart::default()
            };
            let results = results + n * RESULT as u64;
            match kernel.start {
                Start::Loaded => {
                    let from = starts_at + n * NEXT_START;
                    let mut image = vec![0; 2 * kernel.grf_bytes as usize];
                    let inputs = image[kernel.grf_bytes as usize..].as_chunks_mut::<8>().0;
                    inputs[0] = from.to_le_bytes();
                    inputs[1] = results.to_le_bytes();
                    ThreadStart { image, ..start }
                }
                Start::Set | Start::Pairs => {
                    let set = |name: &str, bytes: Vec<u8>| Some((program.variable(name)?, bytes));
                    let sets = [
                        set("BIG", registers(&targets, pool, rng)),
                        set("OA", results.to_le_bytes().to_vec()),
                        set("P1", rng.u32(..).to_le_bytes().to_vec()),
                        set("P2", rng.u32(..).to_le_bytes().to_vec()),
                    ];
                    ThreadStart {
                        scratch_bytes: 256,
                        sets: sets.into_iter().flatten().collect(),
                        ..start
                    }
                }
            }
        });
        let starts = starts.collect();
        if kernel.start == Start::Loaded
            && let Some(words) = words.last_mut()
        {
            let bytes = registers(&targets, pool, rng);
            let count = words.len();
            words.copy_from_slice(pool.part(count, rng));
            for (to, from) in words.iter_mut().zip(bytes.as_chunks().0) {
                *to = u64::from_le_bytes(*from);
            }
        }
        Self {
            memory,
            words,
            local_bytes,
            starts,
            groups: match kernel.start {
                Start::Loaded => rng.u32(1..8),
                _ => rng.u32(1..4),
            },
            again: rng.bool(),
            fuel: match rng.u8(..4) {
                // What a thread has run before its turn may be more than is left.
                0 | 1 if kernel.start == Start::Pairs => rng.u64(20..1500),
                0 => rng.u64(1..20),
                1 => rng.u64(20..200),
                _ => u64::MAX,
            },
            max_steps: match kernel.start {
                // No limit may be near.
                Start::Pairs => u64::MAX,
                _ if rng.bool() => STEPS,
                _ => rng.u64(1..300),
            },
        }
    }

    /// Whether registers are what they would be if each group began anew.
    pub(super) const fn is_fresh(&self) -> bool {
        self.groups == 1 || !self.again
    }

    /// Runs all groups, in the interpreter or in machine code.
    pub(super) fn run(
        &self,
        program: &Program,
        group: &mut Group,
        fences: &Fences,
        compiled: bool,
    ) -> Left {
        fences.fill(&self.words);
        let mut run = Run {
            launch: self,
            program,
            limits: Limits {
                max_steps: self.max_steps,
                ..Limits::default()
            },
            left: Left::default(),
        };
        let ended = run.all(group, compiled);
        let mut left = run.left;
        left.fault = ended
            .err()
            .map_or_else(String::new, |fault| fault.to_string());
        left
    }

    /// What threads have in their registers.
    pub(super) fn registers<'g>(&self, group: &'g Group) -> impl Iterator<Item = &'g [u8]> {
        let threads = (0..self.starts.len()).filter_map(|n| group.thread(n));
        threads.map(visakit_exec::Thread::registers)
    }

    /// The header of threads of a group.
    fn starts_of(&self, group: u32) -> Vec<ThreadStart> {
        let mut starts = self.starts.clone();
        for start in &mut starts {
            for (at, value) in header(group) {
                if let Some(dword) = start.image.get_mut(at..at + 4) {
                    dword.copy_from_slice(&value.to_le_bytes());
                }
            }
        }
        starts
    }
}

/// All groups of a launch.
struct Run<'a> {
    launch: &'a Launch,
    program: &'a Program,
    limits: Limits,
    left: Left,
}

impl Run<'_> {
    fn all(&mut self, group: &mut Group, compiled: bool) -> Result<(), Box<Fault>> {
        let launch = self.launch;
        let mut next = 0;
        while next < launch.groups {
            let number = next;
            next += 1;
            self.left.groups = next;
            let starts = launch.starts_of(number);
            let (program, local) = (self.program, launch.local_bytes);
            match number > 0 && launch.again {
                true => group.next(program, local, &starts, &self.limits)?,
                false => group.reset(program, local, &starts, &self.limits)?,
            }
            let ended = match compiled {
                true => self.in_parts(group, &mut next),
                false => self.watched(group),
            };
            self.left.groups = next;
            let counters = group.counters();
            self.left.counters.instructions += counters.instructions;
            self.left.counters.lane_operations += counters.lane_operations;
            ended?;
        }
        Ok(())
    }

    /// Runs a group in the interpreter.
    fn watched(&mut self, group: &mut Group) -> Result<(), Box<Fault>> {
        let mut accesses = Accesses(0);
        let memory = &self.launch.memory;
        let ran = group.run(self.program, memory, &self.limits, &mut accesses);
        self.left.accesses += accesses.0;
        ran.map(|_| ()).map_err(Box::new)
    }

    /// Runs a group to its end, a part at a time, and goes on with others if they may follow it.
    fn in_parts(&mut self, group: &mut Group, next: &mut u32) -> Result<(), Box<Fault>> {
        let launch = self.launch;
        let mut more = || {
            let follows = launch.again && *next < launch.groups;
            follows.then(|| {
                *next += 1;
                header(*next - 1)
            })
        };
        loop {
            let before = group.counters().instructions;
            let progress = group.advance_through(
                self.program,
                &launch.memory,
                &self.limits,
                launch.fuel,
                None,
                &mut (),
                &mut more,
            );
            let took = group.counters().instructions - before;
            self.left.overran |= took > launch.fuel;
            if progress.map_err(Box::new)? == Progress::Ended {
                return Ok(());
            }
        }
    }
}

/// Fills a buffer, and leaves what is around it.
fn fill(words: &mut Words, (bytes, last): (usize, bool), pool: &Pool, rng: &mut Rng) {
    let count = bytes.div_ceil(8);
    let first = if last { words.len() - count } else { 0 };
    let own = words.iter_mut().skip(first).zip(pool.part(count, rng));
    for (number, (word, from)) in own.enumerate() {
        let own = match bytes - 8 * number {
            left @ ..8 => u64::MAX >> (64 - 8 * left),
            _ => u64::MAX,
        };
        *word = *word & !own | from & own;
    }
}

/// Lanes that run.
fn mask(kernel: &Kernel, full: u32, rng: &mut Rng) -> u32 {
    let all = match kernel.start {
        Start::Set => 3,
        Start::Loaded | Start::Pairs => 24,
    };
    match rng.u8(..all + 3) {
        0 => 1 << rng.u32(..kernel.lanes),
        1 => full >> rng.u32(..kernel.lanes),
        2 => (rng.u32(..) & full).max(1),
        _ => full,
    }
}

/// Binds surfaces, images and a sampler. Returns the bytes of the buffer of the first surface.
fn bind(
    memory: &mut Memory,
    ids: &[visakit_exec::BufferId],
    buffers: &[(u64, usize)],
    rng: &mut Rng,
) -> usize {
    let mut of_first = 0;
    for (number, index) in SURFACES.into_iter().enumerate() {
        let buffer = rng.usize(..BUFFERS);
        if number == 0 {
            of_first = buffers[buffer].1;
        }
        let surface = Surface::Buffer {
            buffer: ids[buffer],
            offset: if rng.bool() { 0 } else { rng.u64(..70) },
            size: if rng.bool() {
                u64::MAX
            } else {
                rng.u64(1..2000)
            },
        };
        // One that is beyond its buffer is refused: then there is none.
        let _ = memory.bind(index, surface);
        memory.bind_counter(index, ids[buffer], rng.u64(..80));
        let _ = memory.bind_handle(u32::from(index), surface);
        let _ = memory.bind_state(u32::from(index) << 6, surface);
    }
    for index in IMAGES {
        let (width, height) = (rng.u32(1..40), rng.u32(1..20));
        let types = [
            (ChannelOrder::R, ChannelType::Uint8),
            (ChannelOrder::Rgba, ChannelType::Float32),
            (ChannelOrder::Rgba, ChannelType::Unorm8),
            (ChannelOrder::R, ChannelType::Sint32),
        ];
        let (order, channel) = types[rng.usize(..types.len())];
        let format = Format { order, channel };
        let row = width * u32::try_from(format.bytes()).unwrap_or(1);
        let mut image = Image::new_2d(
            ids[rng.usize(..BUFFERS)],
            width,
            height,
            row + rng.u32(..9),
            format,
        );
        image.offset = rng.u64(..9);
        let _ = memory.bind(index, Surface::Image2d(image));
    }
    let addressing = [
        Addressing::Unchecked,
        Addressing::ClampToEdge,
        Addressing::ClampToBorder,
        Addressing::Repeat,
        Addressing::Mirror,
    ];
    memory.bind_sampler(
        0,
        Sampler {
            normalized: rng.bool(),
            addressing: addressing[rng.usize(..addressing.len())],
            filter: [Filter::Nearest, Filter::Linear][rng.usize(..2)],
        },
    );
    of_first
}
