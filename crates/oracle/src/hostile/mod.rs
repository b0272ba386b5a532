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

pub mod kernel;
pub mod launch;

use fastrand::Rng;
use kernel::Kernel;
use launch::{Fences, Launch, Left};
use std::fmt;
use std::ops::{AddAssign, Range};
use std::sync::Arc;
use visakit_exec::{Compiler, Examined, Options, Pass, Program};
use visakit_jit::Jit;

/// Launches of each kernel: most of the time is spent on compiling it.
const LAUNCHES: usize = 8;

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
    let fences = Fences::default();
    let (mut counts, mut differences) = (Counts::default(), Vec::new());
    for seed in seeds {
        let (more, difference) = one(seed, &fences);
        counts += more;
        differences.extend(difference);
    }
    (counts, differences)
}

/// The kernel of a text, for the interpreter, or compiled.
fn program(kernel: &Kernel, compiled: Option<(Jit, Examined)>) -> Result<Program, String> {
    let options = visakit_text::asm::Options::default();
    let object = visakit_text::asm::assemble(kernel.text.as_bytes(), &options);
    let object = object.map_err(|faults| {
        let first = faults.first();
        first.map_or_else(String::new, |fault| fault.message.to_string())
    })?;
    let (routine, _) = object.routines().next().ok_or("no routine")?;
    let options = Options {
        grf_bytes: kernel.grf_bytes,
        strict: true,
        passes: Pass::IN_PLACE.to_vec(),
        ..Options::default()
    };
    let mut program = Program::new(&object, routine, &options).map_err(|e| e.to_string())?;
    if let Some((jit, examined)) = compiled {
        program.examine_registers(examined);
        let compiler: Arc<dyn Compiler> = Arc::new(jit);
        program.compile_with(compiler, 0);
    }
    Ok(program)
}

/// The text of a seed, and why it is no kernel, if it is not.
#[must_use]
pub fn text(seed: u64) -> (String, Option<String>) {
    let kernel = Kernel::new(&mut Rng::with_seed(seed));
    let refused = program(&kernel, None).err();
    (kernel.text, refused)
}

fn one(seed: u64, fences: &Fences) -> (Counts, Option<Difference>) {
    let mut rng = Rng::with_seed(seed);
    let kernel = Kernel::new(&mut rng);
    let mut counts = Counts::default();
    let Ok(interpreted) = program(&kernel, None) else {
        counts.refused = 1;
        return (counts, None);
    };
    // Machine code makes most of programs whose registers nobody looks at.
    let examined = match rng.u8(..4) {
        0 => Examined::Always,
        1 => Examined::AtEnd,
        _ => Examined::Never,
    };
    let mut compilers: Vec<Jit> = [Jit::avx2(), Jit::host()].into_iter().flatten().collect();
    compilers.dedup();
    let compiled: Vec<(Jit, Program)> = compilers
        .into_iter()
        .filter_map(|jit| Some((jit, program(&kernel, Some((jit, examined))).ok()?)))
        .collect();
    counts.kernels = 1;
    for _ in 0..LAUNCHES {
        let launch = Launch::new(&mut rng, &kernel);
        let expected = launch.run(&interpreted, fences, false);
        counts.launches += 1;
        counts.faults += u64::from(!expected.fault.is_empty());
        counts.accesses += expected.accesses;
        for (jit, program) in &compiled {
            let left = launch.run(program, fences, true);
            let registers = examined == Examined::Always && launch.is_fresh();
            if let Some(what) = difference(&expected, &left, registers) {
                counts.differ = 1;
                let features = jit.features();
                let what = format!("{features:?}, {examined:?}: {what}\n{launch:?}");
                let text = kernel.text;
                return (counts, Some(Difference { seed, text, what }));
            }
        }
    }
    (counts, None)
}

/// What differs, if anything does.
fn difference(expected: &Left, left: &Left, registers: bool) -> Option<String> {
    if expected.fault != left.fault {
        return Some(format!(
            "fault {:?} is not {:?}",
            left.fault, expected.fault
        ));
    }
    if expected.counters != left.counters {
        return Some(format!(
            "{:?} is not {:?}",
            left.counters, expected.counters
        ));
    }
    let differs = |what: &str, left: &[u8], expected: &[u8]| {
        let at = left.iter().zip(expected).position(|(a, b)| a != b);
        let at = at.or((left.len() != expected.len()).then_some(left.len().min(expected.len())))?;
        let part = |bytes: &[u8]| bytes.iter().skip(at).take(8).copied().collect::<Vec<u8>>();
        let (left, expected) = (part(left), part(expected));
        Some(format!(
            "{what} from {at} on {left:02x?} is not {expected:02x?}"
        ))
    };
    let buffers = left.buffers.iter().zip(&expected.buffers).enumerate();
    let mut buffers = buffers.filter_map(|(n, (left, expected))| {
        differs(&format!("buffer {n} with its fence"), left, expected)
    });
    let local = || differs("shared local memory", &left.local, &expected.local);
    let registers = || {
        let all = left.registers.iter().zip(&expected.registers).enumerate();
        let mut all = all.filter(|_| registers);
        all.find_map(|(n, (left, expected))| differs(&format!("thread {n}"), left, expected))
    };
    buffers.next().or_else(local).or_else(registers)
}
