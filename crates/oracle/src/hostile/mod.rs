//! Kernels that try to leave their memory, in the interpreter and in machine code.
//!
//! A kernel in machine code stays inside its memory and does what the interpreter does, to the bit. Everything here exists
//! to break that: [`kernel`] writes texts whose addresses, sizes, counters and branches are chosen for the places where
//! machine code would go wrong (data over the addresses that are being used, numbers that wrap, accesses at ends, lanes
//! that collide), [`launch`] gives them memory whose neighbours show every touch, and [`judge`] compares.
//!
//! Buffers lie between pages that nobody may access, so that what goes far beyond them ends the process: run many kernels
//! in a process of their own, as the program of this crate does (`visakit-oracle --hostile`). What goes a little beyond
//! them changes, or reads, bytes that are compared.
//!
//! This is written against the public interface of the executor and of the compiler alone.

mod fences;
pub mod kernel;
pub mod launch;
mod numbers;

use fastrand::Rng;
use fences::{Fences, Words};
use kernel::Kernel;
use launch::{Launch, Left};
use numbers::Pool;
use std::fmt;
use std::ops::{AddAssign, Range};
use std::sync::Arc;
use visakit_exec::{Examined, Group, Options, Pass, Program};
use visakit_isa::object::Object;
use visakit_jit::Jit;

/// Launches of each kernel: most of the time is spent on compiling it.
const LAUNCHES: usize = 3;

/// Kernels whose first contents are parts of the same words.
const POOLED: u64 = 64;

/// Kernels of which one is compiled to code that says which ways it takes.
const TRACED: u64 = 4;

/// How many were compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Kernels.
    pub kernels: u64,
    /// Texts that are no kernels.
    pub refused: u64,
    /// Launches of them.
    pub launches: u64,
    /// Launches that ended with a fault.
    pub faults: u64,
    /// Accesses of lanes to memory in the interpreter.
    pub accesses: u64,
    /// Kernels that differ.
    pub differ: u64,
}

impl Counts {
    /// The numbers in their order, as [`Self::from_numbers`] takes them.
    #[must_use]
    pub const fn numbers(&self) -> [u64; 6] {
        [
            self.kernels,
            self.refused,
            self.launches,
            self.faults,
            self.accesses,
            self.differ,
        ]
    }

    /// See [`Self::numbers`].
    #[must_use]
    pub const fn from_numbers(numbers: [u64; 6]) -> Self {
        let [kernels, refused, launches, faults, accesses, differ] = numbers;
        Self {
            kernels,
            refused,
            launches,
            faults,
            accesses,
            differ,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        let mut sums = self.numbers();
        for (sum, more) in sums.iter_mut().zip(other.numbers()) {
            *sum += more;
        }
        *self = Self::from_numbers(sums);
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} kernels ({} more were refused), {} launches ({} with a fault), {} accesses of lanes, {} kernels differ",
            self.kernels, self.refused, self.launches, self.faults, self.accesses, self.differ
        )
    }
}

/// A kernel that machine code runs differently.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The seed that makes it.
    pub seed: u64,
    /// Its text.
    pub text: String,
    /// What differs, where, and in which launch.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {}\n{}", self.seed, self.what, self.text)
    }
}

/// Compares the kernels of these seeds.
#[must_use]
pub fn judge(seeds: Range<u64>) -> (Counts, Vec<Difference>) {
    let mut bench = Bench {
        fences: Fences::new(&launch::PAGES),
        pool: Pool::new(seeds.start / POOLED * POOLED),
        groups: Default::default(),
    };
    let (mut counts, mut differences) = (Counts::default(), Vec::new());
    for seed in seeds {
        let (more, difference) = bench.one(seed);
        counts += more;
        differences.extend(difference);
    }
    (counts, differences)
}

/// How often machine code of this process has taken each of its ways, as far as it says so.
#[must_use]
pub fn ways() -> Vec<(&'static str, u64)> {
    let taken = visakit_jit::taken().into_iter();
    taken.map(|(path, n)| (path.description(), n)).collect()
}

fn assemble(kernel: &Kernel) -> Result<Object<'_>, String> {
    let options = visakit_text::asm::Options::default();
    let object = visakit_text::asm::assemble(kernel.text.as_bytes(), &options);
    object.map_err(|faults| {
        let first = faults.first();
        first.map_or_else(String::new, |fault| fault.message.to_string())
    })
}

/// The program of a kernel.
fn program(kernel: &Kernel, object: &Object<'_>) -> Result<Program, String> {
    let (routine, _) = object.routines().next().ok_or("no routine")?;
    let options = Options {
        grf_bytes: kernel.grf_bytes,
        strict: true,
        passes: Pass::IN_PLACE.to_vec(),
        ..Options::default()
    };
    Program::new(object, routine, &options).map_err(|e| e.to_string())
}

/// The text of a seed, and why it is no kernel, if it is not.
#[must_use]
pub fn text(seed: u64) -> (String, Option<String>) {
    let kernel = Kernel::new(&mut Rng::with_seed(seed));
    let refused = assemble(&kernel).and_then(|object| program(&kernel, &object).map(|_| ()));
    let refused = refused.err();
    (kernel.text, refused)
}

/// What kernels run on, one after the other.
struct Bench {
    fences: Fences,
    pool: Pool,
    /// For the interpreter, and for machine code.
    groups: [Group; 2],
}

/// A kernel as machine code.
struct Compiled {
    jit: Jit,
    program: Program,
    examined: Examined,
}

/// What a launch leaves in the interpreter.
struct Expected {
    left: Left,
    words: Vec<Words>,
}

impl Bench {
    fn one(&mut self, seed: u64) -> (Counts, Option<Difference>) {
        let mut rng = Rng::with_seed(seed);
        let kernel = Kernel::new(&mut rng);
        let mut counts = Counts::default();
        if seed.is_multiple_of(POOLED) {
            self.pool = Pool::new(seed);
        }
        let Ok(compiled) = compile(&kernel, seed, &mut rng) else {
            counts.refused = 1;
            return (counts, None);
        };
        counts.kernels = 1;
        // An observer sees accesses of the interpreter alone.
        let Some(Compiled { program, .. }) = compiled.first() else {
            return (counts, None);
        };
        for _ in 0..LAUNCHES {
            let launch = Launch::new(&mut rng, &kernel, program, (&self.fences, &self.pool));
            let [watched, _] = &mut self.groups;
            let left = launch.run(program, watched, &self.fences, false);
            let expected = Expected {
                left,
                words: self.fences.content(),
            };
            counts.launches += 1;
            counts.faults += u64::from(!expected.left.fault.is_empty());
            counts.accesses += expected.left.accesses;
            for compiled in &compiled {
                if let Some(what) = self.difference(&launch, compiled, &expected) {
                    counts.differ = 1;
                    let (features, examined) = (compiled.jit.features(), compiled.examined);
                    let what = format!("{features:?}, {examined:?}: {what}\n{launch:?}");
                    let text = kernel.text;
                    return (counts, Some(Difference { seed, text, what }));
                }
            }
        }
        (counts, None)
    }

    /// What differs, if anything does.
    fn difference(
        &mut self,
        launch: &Launch,
        compiled: &Compiled,
        expected: &Expected,
    ) -> Option<String> {
        let [watched, group] = &mut self.groups;
        let mut left = launch.run(&compiled.program, group, &self.fences, true);
        left.accesses = expected.left.accesses;
        if left != expected.left {
            return Some(format!("{left:?} is not {:?}", expected.left));
        }
        if let Some((fence, at, word)) = self.fences.different(&expected.words) {
            let expected = expected.words[fence][at];
            return Some(format!(
                "word {at} of fence {fence} is {word:#018x}, not {expected:#018x}"
            ));
        }
        let differs = |left: &[u8], expected: &[u8]| {
            let at = left.iter().zip(expected).position(|(a, b)| a != b);
            at.or((left.len() != expected.len()).then_some(left.len()))
        };
        if let Some(at) = differs(group.slm(), watched.slm()) {
            return Some(format!("shared local memory differs at {at}"));
        }
        if compiled.examined != Examined::Always || !launch.is_fresh() {
            return None;
        }
        let registers = launch.registers(group).zip(launch.registers(watched));
        let mut all = registers.enumerate();
        all.find_map(|(thread, (left, expected))| {
            let at = differs(left, expected)?;
            Some(format!("registers of thread {thread} differ at {at}"))
        })
    }
}

/// A kernel in machine code of each width.
fn compile(kernel: &Kernel, seed: u64, rng: &mut Rng) -> Result<Vec<Compiled>, String> {
    let object = assemble(kernel)?;
    // Machine code makes most of programs whose registers nobody looks at.
    let examined = match rng.u8(..8) {
        0 => Examined::Always,
        1 => Examined::AtEnd,
        _ => Examined::Never,
    };
    let mut compilers: Vec<Jit> = [Jit::avx2(), Jit::host()].into_iter().flatten().collect();
    compilers.dedup();
    // Both, or one of them: compiling is what takes the time.
    match seed % 3 {
        1 => compilers.truncate(1),
        2 => compilers = compilers.split_off(compilers.len().saturating_sub(1)),
        _ => {}
    }
    let compile = |jit: Jit| {
        let mut program = program(kernel, &object)?;
        let jit = match seed.is_multiple_of(TRACED) {
            true => jit.traced(),
            false => jit,
        };
        program.examine_registers(examined);
        program.compile_with(Arc::new(jit), 0);
        Ok(Compiled {
            jit,
            program,
            examined,
        })
    };
    compilers.into_iter().map(compile).collect()
}
