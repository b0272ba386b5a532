//! Two objects in the same generated environment: do they do the same?
//!
//! A trial does not know the purpose of the kernels. It passes both kernels of a name the same inputs, surfaces,
//! buffers and samplers, generated from a seed, runs a few small groups of both and compares the resulting memory, byte
//! for byte. It can show that two kernels differ, and makes it likely that they do not; it proves nothing.
//!
//! The generated environment:
//!
//! * Surfaces: the binding table has [`ENTRIES`] of them, which surface inputs use in order. They are linear buffers;
//!   if neither kernel runs with those, 2D surfaces of bytes, and then images of four channels.
//! * Inputs of one 64-bit integer are addresses, each of a separate buffer. Packed words of at least eight lanes are
//!   lane numbers, as in local ids. All others are small numbers, so that values computed from them stay in bounds.
//! * Implicit inputs and predefined variables describe the grid: three groups of two threads.

use crate::LaunchError;
use crate::bare::image_bytes;
use crate::source::grf_bytes_of;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use visakit_exec::memory::{
    Addressing, ChannelOrder, ChannelType, Filter, Format, Image, MemoryError, Sampler, Surface,
};
use visakit_exec::{
    BufferId, Group, InputClass, InputSlot, Limits, Memory, Options, Program, ThreadStart,
};
use visakit_isa::DataType;
use visakit_isa::object::{Object, Routine, RoutineId, RoutineKind};

/// Surfaces in the binding table.
pub const ENTRIES: u8 = 16;

/// Bytes of a row of a 2D surface, and rows.
const SIDE: u32 = 256;

/// Bytes of a buffer.
const BUFFER: usize = (SIDE * SIDE) as usize;

/// Bytes of scratch memory of a thread.
const SCRATCH: usize = 256 << 10;

/// Kilobyte, the unit of the attribute `SLMSize`.
const SLM_UNIT: usize = 1024;

/// Texels of images.
const CHANNELS: Format = Format {
    order: ChannelOrder::Rgba,
    channel: ChannelType::Unorm8,
};

/// Every sampler: texels are counted, not mixed, and those at the edge extend outwards.
const SAMPLER: Sampler = Sampler {
    normalized: false,
    addressing: Addressing::ClampToEdge,
    filter: Filter::Nearest,
};

/// Groups by their place, and threads of each.
const GROUPS: [[u32; 3]; 3] = [[0, 0, 0], [1, 0, 0], [0, 1, 0]];
const THREADS: u32 = 2;

/// Options of a trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TrialOptions {
    /// Seeds: each generates other contents.
    pub seeds: u64,
    /// Bytes of a register, 32 or 64; by default what the kernels state, or else 32.
    pub grf_bytes: Option<u32>,
    /// Instructions of a group after which it counts as endless.
    pub max_steps: u64,
}

impl Default for TrialOptions {
    fn default() -> Self {
        Self {
            seeds: 4,
            grf_bytes: None,
            max_steps: 1_000_000,
        }
    }
}

/// The result for the kernels of one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelTrial {
    /// Name of the kernels.
    pub name: Vec<u8>,
    /// The verdict.
    pub verdict: TrialVerdict,
}

/// The verdict on two kernels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TrialVerdict {
    /// Both left the same memory in all runs.
    Same {
        /// Environments that both ran in.
        runs: u64,
        /// Whether they changed any memory; if not, nothing could be compared.
        wrote: bool,
    },
    /// They did not.
    Differs(TrialDifference),
    /// No verdict, with the reason.
    NotRun(String),
    /// Only one of the objects has the kernel.
    Missing {
        /// Whether it is the new object that has it.
        in_new: bool,
    },
}

/// The first difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrialDifference {
    /// Seed of the environment.
    pub seed: u64,
    /// The content of the binding table.
    pub surfaces: &'static str,
    /// The difference.
    pub what: TrialPlace,
}

/// The kind of difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TrialPlace {
    /// Memory.
    Memory {
        /// The surface or buffer.
        name: String,
        /// First byte that differs.
        offset: usize,
        /// Up to eight bytes from there on that the old kernel left.
        old: Vec<u8>,
        /// The bytes there that the new kernel left.
        new: Vec<u8>,
        /// Bytes that differ in all memory.
        bytes: usize,
    },
    /// How they end: the fault of each, `None` for one that ran to its end.
    End {
        /// Of the old kernel.
        old: Option<String>,
        /// Of the new kernel.
        new: Option<String>,
    },
}

impl std::fmt::Display for TrialDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "seed {}, {}: ", self.seed, self.surfaces)?;
        let hex = |bytes: &[u8]| {
            let digits: Vec<_> = bytes.iter().map(|b| format!("{b:02x}")).collect();
            digits.join(" ")
        };
        let end = |fault: &Option<String>| match fault {
            Some(fault) => fault.clone(),
            None => "runs to its end".to_owned(),
        };
        match &self.what {
            TrialPlace::Memory {
                name,
                offset,
                old,
                new,
                bytes,
            } => write!(
                f,
                "{name}, byte {offset:#x}: old {}, new {} ({bytes} bytes differ)",
                hex(old),
                hex(new)
            ),
            TrialPlace::End { old, new } => {
                write!(f, "the old one: {}; the new one: {}", end(old), end(new))
            }
        }
    }
}

/// Runs the kernels of both objects, pair by pair of the same name. Those of the old object come first, in its order.
///
/// ```
/// use visakit_launch::{TrialOptions, TrialVerdict, trial};
///
/// # let file = include_bytes!("../../../fixtures/objects/vecadd_f32_skl_v41.isa");
/// let object = visakit_parse::read(file).unwrap();
/// let found = trial(&object, &object, &TrialOptions::default());
/// assert_eq!(found[0].verdict, TrialVerdict::Same { runs: 4, wrote: true });
/// ```
#[must_use]
pub fn trial(old: &Object<'_>, new: &Object<'_>, options: &TrialOptions) -> Vec<KernelTrial> {
    let mut trials = Vec::new();
    for (id, routine) in kernels(old) {
        let verdict = match kernels(new).find(|(_, r)| r.name == routine.name) {
            Some((other, _)) => pair((old, id), (new, other), options),
            None => TrialVerdict::Missing { in_new: false },
        };
        trials.push(KernelTrial {
            name: routine.name.to_vec(),
            verdict,
        });
    }
    for (_, routine) in kernels(new) {
        if !kernels(old).any(|(_, r)| r.name == routine.name) {
            trials.push(KernelTrial {
                name: routine.name.to_vec(),
                verdict: TrialVerdict::Missing { in_new: true },
            });
        }
    }
    trials
}

fn kernels<'o, 'a>(object: &'o Object<'a>) -> impl Iterator<Item = (RoutineId, &'o Routine<'a>)> {
    let all = object.routines();
    all.filter(|(id, _)| id.kind == RoutineKind::Kernel)
}

fn pair(
    old: (&Object<'_>, RoutineId),
    new: (&Object<'_>, RoutineId),
    options: &TrialOptions,
) -> TrialVerdict {
    let told = |(object, id): (&Object<'_>, RoutineId)| {
        let routine = object.routine(id);
        routine.and_then(grf_bytes_of)
    };
    let grf = options
        .grf_bytes
        .or_else(|| told(old))
        .or_else(|| told(new));
    let translate = |(object, id): (&Object<'_>, RoutineId), which: &str| {
        let options = Options {
            grf_bytes: grf.unwrap_or(32),
            ..Options::default()
        };
        Program::new(object, id, &options).map_err(|e| format!("the {which} one: {e}"))
    };
    let programs = translate(old, "old").and_then(|a| Ok((a, translate(new, "new")?)));
    let (a, b) = match programs {
        Ok(programs) => programs,
        Err(why) => return TrialVerdict::NotRun(why),
    };
    if explicit(&a) != explicit(&b) {
        return TrialVerdict::NotRun("they do not take the same inputs".to_owned());
    }
    let local = local_bytes(old).max(local_bytes(new));
    let mut first_fault = None;
    for kind in SurfaceContent::ALL {
        let mut runs = 0;
        let mut wrote = false;
        for seed in 0..options.seeds {
            let run = |program: &Program| Run::new(&a, program, kind, seed, local, options);
            match (run(&a), run(&b)) {
                (Err(why), _) | (_, Err(why)) => return TrialVerdict::NotRun(why.to_string()),
                (Ok(old), Ok(new)) => {
                    let differs = |what| {
                        TrialVerdict::Differs(TrialDifference {
                            seed,
                            surfaces: kind.name(),
                            what,
                        })
                    };
                    match (&old.fault, &new.fault) {
                        (Some(fault), Some(_)) => {
                            first_fault.get_or_insert_with(|| fault.clone());
                            continue;
                        }
                        (None, None) => {}
                        _ => {
                            return differs(TrialPlace::End {
                                old: old.fault,
                                new: new.fault,
                            });
                        }
                    }
                    if let Some(place) = old.difference(&new) {
                        return differs(place);
                    }
                    runs += 1;
                    wrote |= old.wrote();
                }
            }
        }
        if runs > 0 {
            return TrialVerdict::Same { runs, wrote };
        }
    }
    let why = first_fault.unwrap_or_else(|| "no seeds".to_owned());
    TrialVerdict::NotRun(format!("neither runs in a generated environment: {why}"))
}

/// Class, place and size of what a caller passes.
fn explicit(program: &Program) -> Vec<(InputClass, usize, usize)> {
    let inputs = program.inputs().iter();
    inputs
        .filter(|i| i.kind.implicit_kind() == 0)
        .map(|i| (i.class, i.image_offset, i.size))
        .collect()
}

fn local_bytes((object, id): (&Object<'_>, RoutineId)) -> usize {
    let body = object.routine(id).and_then(|r| r.body());
    let attribute = body.and_then(|b| b.attribute("SLMSize"));
    let size = attribute.and_then(|a| a.value.first().copied());
    usize::from(size.unwrap_or(0)) * SLM_UNIT
}

/// The content of the binding table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SurfaceContent {
    Linear,
    Bytes,
    Channels,
}

impl SurfaceContent {
    const ALL: [Self; 3] = [Self::Linear, Self::Bytes, Self::Channels];

    const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear buffers",
            Self::Bytes => "2D surfaces of bytes",
            Self::Channels => "images of four channels",
        }
    }

    fn surface(self, buffer: BufferId) -> Surface {
        match self {
            Self::Linear => Surface::whole(buffer),
            Self::Bytes => {
                Surface::Image2d(Image::new_2d(buffer, SIDE, SIDE, SIDE, Format::R8_UINT))
            }
            Self::Channels => {
                // Four bytes a texel.
                Surface::Image2d(Image::new_2d(buffer, SIDE / 4, SIDE, SIDE, CHANNELS))
            }
        }
    }
}

/// The state after a kernel.
struct Run {
    memory: Vec<(String, Vec<u8>, Vec<u8>)>,
    fault: Option<String>,
}

impl Run {
    /// The environment follows from the inputs of `model`, which is the same for both kernels.
    fn new(
        model: &Program,
        program: &Program,
        kind: SurfaceContent,
        seed: u64,
        local: usize,
        options: &TrialOptions,
    ) -> Result<Self, LaunchError> {
        let mut random = Random(SplitMix64::from_seed(seed.to_le_bytes()));
        let mut memory = Memory::new(1 << 30);
        let failed = |e: MemoryError| LaunchError::Memory(e.to_string());
        let mut buffers = Vec::new();
        let mut add = |memory: &mut Memory, name: String, random: &mut Random| {
            let bytes = random.content();
            let buffer = memory.add_buffer(&bytes).map_err(failed)?;
            buffers.push((name, bytes, buffer));
            Ok::<BufferId, LaunchError>(buffer)
        };
        for entry in 0..ENTRIES {
            let name = format!("surface {entry} of the binding table");
            let buffer = add(&mut memory, name, &mut random)?;
            memory.bind(entry, kind.surface(buffer)).map_err(failed)?;
            memory.bind_sampler(entry, SAMPLER);
        }
        let mut image = vec![0; image_bytes(model).max(image_bytes(program))];
        let mut surfaces = 0;
        // The lane number that the next register of words begins with: wide kernels have several.
        let mut lane = 0;
        let simd = usize::try_from(model.simd_size()).unwrap_or(1).max(1);
        for (number, input) in model.inputs().iter().enumerate() {
            if input.kind.implicit_kind() != 0 {
                continue;
            }
            let bytes = match input.class {
                InputClass::Surface | InputClass::Sampler => {
                    let entry = u32::from(surfaces % ENTRIES);
                    surfaces += u8::from(input.class == InputClass::Surface);
                    entry.to_le_bytes().to_vec()
                }
                InputClass::General => match data_type(model, input) {
                    DataType::Uq | DataType::Q if input.size == 8 => {
                        let name = format!("buffer of input {number} ({})", input.name);
                        let buffer = add(&mut memory, name, &mut random)?;
                        memory.address(buffer).to_le_bytes().to_vec()
                    }
                    ty if is_lanes(ty, input.size) => {
                        let count = input.size / 2;
                        let numbers = (lane..lane + count).map(|n| n % simd.max(count));
                        let numbers = numbers.map(|n| u16::try_from(n).unwrap_or(0));
                        lane = (lane + count) % simd.max(count);
                        numbers.flat_map(u16::to_le_bytes).collect()
                    }
                    ty => random.numbers(ty, input.size),
                },
            };
            put(&mut image, input.image_offset, &bytes);
        }
        let limits = Limits {
            max_steps: options.max_steps,
            max_bytes: 256 << 20,
            max_call_depth: 200,
        };
        let mut fault = None;
        for place in GROUPS {
            let starts: Vec<_> = (0..THREADS)
                .map(|thread| start(program, &image, place, thread))
                .collect();
            let mut group = match Group::new(program, local, &starts, &limits) {
                Ok(group) => group,
                Err(found) => {
                    fault = Some(found.to_string());
                    break;
                }
            };
            if let Err(found) = group.run(program, &memory, &limits, &mut ()) {
                fault = Some(found.to_string());
                break;
            }
        }
        let memory = buffers
            .into_iter()
            .map(|(name, before, id)| (name, before, memory.read(id)))
            .collect();
        Ok(Self { memory, fault })
    }

    fn wrote(&self) -> bool {
        self.memory.iter().any(|(_, before, after)| before != after)
    }

    fn difference(&self, other: &Self) -> Option<TrialPlace> {
        let both = || self.memory.iter().zip(&other.memory);
        let differs = |(a, b): &(&u8, &u8)| a != b;
        let mut places = both().filter_map(|((name, _, a), (_, _, b))| {
            let offset = a.iter().zip(b).position(|(a, b)| a != b)?;
            Some((name, offset, a, b))
        });
        let (name, offset, a, b) = places.next()?;
        let part = |bytes: &[u8]| bytes.iter().skip(offset).take(8).copied().collect();
        let counts = both().map(|((_, _, a), (_, _, b))| a.iter().zip(b).filter(differs).count());
        Some(TrialPlace::Memory {
            name: name.clone(),
            offset,
            old: part(a),
            new: part(b),
            bytes: counts.sum(),
        })
    }
}

/// Whether an input is a register of lane numbers, as local ids are.
const fn is_lanes(ty: DataType, bytes: usize) -> bool {
    matches!(ty, DataType::Uw | DataType::W) && bytes >= 16
}

fn data_type(program: &Program, input: &InputSlot) -> DataType {
    let slot = program.variable(&input.name);
    slot.map_or(DataType::Ud, |slot| slot.data_type)
}

fn start(program: &Program, image: &[u8], group: [u32; 3], thread: u32) -> ThreadStart {
    let lanes = program.simd_size().clamp(1, 32);
    // Kernels for one work item in a thread have all lanes.
    let mask = if lanes == 1 {
        u32::MAX
    } else {
        u32::MAX >> (32 - lanes)
    };
    let mut image = image.to_vec();
    let (local, size, count) = ([thread, 0, 0], [THREADS, 1, 1], [2, 2, 1]);
    for input in program.inputs() {
        let values: [u32; 3] = match input.kind.implicit_name() {
            Some("group_count") => count,
            Some("local_size") => size,
            Some("local_id") => local,
            _ => continue,
        };
        let values = values.into_iter().flat_map(u32::to_le_bytes);
        let values: Vec<u8> = values.take(input.size).collect();
        put(&mut image, input.image_offset, &values);
    }
    // The thread header has the group's place.
    let [x, y, z] = group;
    for (at, number) in [(4, x), (24, y), (28, z)] {
        put(&mut image, at, &number.to_le_bytes());
    }
    let narrow = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
    ThreadStart {
        image,
        mask,
        sr0: [0, 0, mask, 0],
        thread_x: narrow(x * THREADS + thread),
        thread_y: narrow(y),
        group_id: group,
        group_count: count,
        local_id: local,
        local_size: size,
        scratch_bytes: SCRATCH,
        ..ThreadStart::default()
    }
}

/// Writes as much as fits.
fn put(image: &mut [u8], at: usize, bytes: &[u8]) {
    for (to, from) in image.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}

/// Random numbers that do not depend on the machine.
struct Random(SplitMix64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    #[allow(clippy::cast_possible_truncation, reason = "any bits do")]
    /// Content of a buffer: dwords that are small, floats near one, or anything.
    fn content(&mut self) -> Vec<u8> {
        let kind = self.next() % 3;
        let dword = |random: u64| match kind {
            0 => (random >> 32) as u32 % 64,
            1 => (f32::from((random >> 32) as u16 % 1024) / 256.0).to_bits(),
            _ => (random >> 32) as u32,
        };
        (0..BUFFER / 4)
            .flat_map(|_| dword(self.next()).to_le_bytes())
            .collect()
    }

    #[allow(clippy::cast_possible_truncation, reason = "any bits do")]
    /// Small numbers of a type.
    fn numbers(&mut self, ty: DataType, bytes: usize) -> Vec<u8> {
        let size = usize::from(ty.size()).max(1);
        let count = bytes / size;
        let mut result = Vec::with_capacity(bytes);
        for _ in 0..count {
            let small = (self.next() >> 40) as u8 % 16;
            let number = match ty {
                DataType::F => u64::from(f32::from(small).to_bits()),
                DataType::Df => f64::from(small).to_bits(),
                DataType::Hf => 0x3c00 + (u64::from(small) << 6),
                _ => small.into(),
            };
            result.extend(number.to_le_bytes().into_iter().take(size));
        }
        result
    }
}
