//! Machine code for vISA programs.
//!
//! [`Jit`] compiles the code of a [`visakit_exec::Program`] for the host: x86-64 with AVX2 or AVX-512.
//! A vISA instruction already works on up to 32 lanes, so that a step becomes a few vector
//! instructions. Steps without a template are run by the interpreter's own function, called from
//! machine code; at calls, and at the last return or barrier of a group, the interpreter takes over. Results are identical bit
//! for bit.
//!
//! ```
//! # fn compile(program: &mut visakit_exec::Program) {
//! if let Some(jit) = visakit_jit::Jit::host() {
//!     program.compile_with(std::sync::Arc::new(jit), 0);
//! }
//! # }
//! ```
//!
//! # How it is built
//!
//! `crates/jit` compiles code for x86-64 with AVX2 or AVX-512. These are its parts; a test reads the sources and holds
//! what is said of the first two:
//!
//! * `x64/` is the assembler, the only part that knows instructions. Templates name operations ("add lanes of 32
//!   bits") on typed operands; which instruction does one, in the short form of AVX2 or in the long one of AVX-512,
//!   with which immediate and which jump, follows from the operands. What has no encoding makes no code at all, in any
//!   build.
//! * `access.rs`, with `access/`, is the only module that makes addresses of kernel memory, from what code has compared with bounds:
//!   `Checked` bytes, `Places` of lanes. A template that wants more bytes than were compared has none.
//! * `x64/verify/` believes none of this. Before code is encoded it follows the instructions that were recorded, over all
//!   ways and turns of loops, with what is known of each register (`tables.rs`: of each instruction that may be there, what it
//!   does; `values.rs`: how instructions compute values, `facts.rs`: what follows from a comparison, `labels.rs`: what is known
//!   where ways come together, `memory.rs`: whether an operand is inside of what it names), and there is
//!   no code unless every address is known to be inside, every register written before it is read, every jump to code,
//!   and what the host expects is where it expects it. What the host promises in turn is a table of the fields that both share
//!   (`pages/frame.rs`). The interpreter runs what is refused; a test counts that nothing is. Tests change safe and unsafe code
//!   at random, and run what is not refused of it in a machine that looks at all accesses.
//! * The templates and what arranges them, below.
//!
//! The function `listing` (feature `listing`) and `visakit run --show-machine-code` show what was written; tests
//! compare listings of small kernels.
//!
//! `iced-x86` encodes each instruction, in 0.1 to 0.2 µs; its own code assembler was not taken, as it names
//! instructions where templates want operations, and jumps, which it solves by encoding blocks again, are shortened
//! here in one pass. An encoder of our own would be 2,000 lines to keep right. LLVM is no way: it takes 27 to 116 µs
//! an instruction of a program, where all of this takes 10, brings 100 MB, and promises nothing about the payloads of
//! NaNs, nor about rounding modes that change while a program runs; cranelift ends at vectors of 128 bits, without
//! gathers and masks.
//!
//! `flow.rs` divides the code into
//! segments, each in two versions, for full and for partial masks (`branch.rs`: jumps, and lanes that diverge or join; `fused.rs`: comparisons that run as one with the branch after them),
//! with further forms of each for float modes that are likely there (`code/modes.rs` of the executor; `mode.rs`, `rounding.rs`): those that flush denormals, by
//! instructions (`flush.rs`), and those with directed rounding, for which the host's control word is set while such code
//! runs; `work.rs`, `compute.rs`, `bits.rs`, `carry.rs`, `elementary.rs`, `narrow.rs` (floats of 16 bits),
//! `product.rs` (systolic products; `factors.rs`: what is known of their factors), `convert.rs`,
//! `compare.rs` and `memory.rs` have the templates (`elements.rs` for lanes of qwords and of several dwords each, `run.rs` for consecutive lanes, which `apart.rs` lets messages share
//! whose addresses differ by something uniform, `gather.rs` for lanes near each other
//! or anywhere, by offsets of 32 bits where the memory is not larger, `lane.rs` for atomics and for
//! elements of other sizes, lane by lane). `linear.rs` finds addresses that follow each other because they are
//! sums, shifts and extensions of a vector that does, and of vectors with one number in all lanes, such as the place of a
//! row: a form of the segment begins with looking at these vectors, and computes the first address as a number and the
//! others not at all (`addresses.rs`; `origin.rs` guesses from the arguments of a thread which vectors are worth a look). `loops.rs` writes innermost loops once more, with what a turn
//! reads before it writes it in registers from turn to turn, and products of sums by powers of two (`scaled.rs`); `predicates.rs`
//! finds the predicates that only the segment which sets them reads; `vector.rs`, `load.rs`, `masks.rs` and `kept.rs` handle vectors,
//! sources, masks, and what registers hold from step to step, predicates among it, over messages, too: a detour through the interpreter, for a
//! message or a number that the template does not handle, loads again what later steps use. Results are stored to the
//! register file at once, but stores of values that were only used from registers, and are not live at the end of the
//! segment, are removed when it is complete; ways out of it and detours store what registers hold (`pending.rs`), so that
//! machine code may end anywhere. Which values are live depends on when registers are examined from outside
//! (`Program::examine_registers`): launches never do. From a thread to the one that follows, and from a
//! group to the next, machine code goes by itself (`follow.rs`). In an innermost loop that accesses no memory two threads may run side by
//! side, as one of twice as many lanes (`pair.rs`): the next thread comes to the loop before its turn if nothing but registers is
//! accessed on its way, and what it has run is counted when it has its turn, so that the order of all accesses is that of the
//! interpreter (`Host::ahead`). Lanes that jump forward wait without the host, which is told of them later,
//! where none wait before their target, and join, or change places with those that run, without it, as long as it knows of none that
//! wait at the same place (`exits.rs`); in all other cases in which lanes diverge or join machine code asks it
//! (`Host::branch`, `join`) which of them continue; at calls, at the last barrier or return of a group and when fuel runs out
//! the interpreter takes over, and a step without a template is run by the interpreter's own function. Every access is checked against the
//! size of what it accesses; for the register file this happens when the code is written. Code of traced compilers says
//! which of all these ways it takes (`path.rs`), so that tests know what they have run. `pages/` has the crate's unsafe
//! code (`place.rs`: where its data are, `ahead.rs`: threads before their turn): pages that are executable and never writable again, entering and leaving them. It relies on what the services of the
//! interpreter promise, so that no other crate can implement them (`Host` is sealed).

// Builds for other processors contain none of this.
#[cfg(target_arch = "x86_64")]
mod access;
#[cfg(target_arch = "x86_64")]
mod addresses;
#[cfg(target_arch = "x86_64")]
mod apart;
#[cfg(all(test, target_arch = "x86_64"))]
mod attack;
#[cfg(target_arch = "x86_64")]
mod bits;
#[cfg(target_arch = "x86_64")]
mod branch;
#[cfg(target_arch = "x86_64")]
mod carry;
#[cfg(target_arch = "x86_64")]
mod compare;
#[cfg(target_arch = "x86_64")]
mod compiled;
#[cfg(target_arch = "x86_64")]
mod compute;
#[cfg(target_arch = "x86_64")]
mod convert;
#[cfg(target_arch = "x86_64")]
mod count;
#[cfg(target_arch = "x86_64")]
mod elementary;
#[cfg(target_arch = "x86_64")]
mod elements;
#[cfg(target_arch = "x86_64")]
mod exits;
#[cfg(target_arch = "x86_64")]
mod factors;
#[cfg(target_arch = "x86_64")]
mod flow;
#[cfg(target_arch = "x86_64")]
mod flush;
#[cfg(target_arch = "x86_64")]
mod follow;
#[cfg(target_arch = "x86_64")]
mod fused;
#[cfg(target_arch = "x86_64")]
mod gather;
#[cfg(target_arch = "x86_64")]
mod kept;
#[cfg(target_arch = "x86_64")]
mod lane;
#[cfg(target_arch = "x86_64")]
mod linear;
#[cfg(all(target_arch = "x86_64", feature = "listing"))]
mod listing;
#[cfg(target_arch = "x86_64")]
mod load;
#[cfg(target_arch = "x86_64")]
mod loops;
#[cfg(target_arch = "x86_64")]
mod machine;
#[cfg(target_arch = "x86_64")]
mod masks;
#[cfg(target_arch = "x86_64")]
mod memory;
#[cfg(target_arch = "x86_64")]
mod mode;
#[cfg(target_arch = "x86_64")]
mod narrow;
#[cfg(target_arch = "x86_64")]
mod origin;
#[cfg(target_arch = "x86_64")]
mod pages;
#[cfg(target_arch = "x86_64")]
mod pair;
mod path;
#[cfg(target_arch = "x86_64")]
mod pending;
#[cfg(target_arch = "x86_64")]
mod perf;
#[cfg(target_arch = "x86_64")]
mod predicates;
#[cfg(target_arch = "x86_64")]
mod product;
#[cfg(target_arch = "x86_64")]
mod rounding;
#[cfg(target_arch = "x86_64")]
mod run;
#[cfg(target_arch = "x86_64")]
mod scaled;
#[cfg(target_arch = "x86_64")]
mod vector;
#[cfg(target_arch = "x86_64")]
mod work;
#[cfg(target_arch = "x86_64")]
mod x64;

pub use path::{Path, taken};
use std::sync::{Arc, OnceLock};
use visakit_exec::code::{Code, Liveness};
use visakit_exec::{Compiler, Native};

/// Features of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Features {
    /// AVX2, FMA and BMI.
    Avx2,
    /// Those, and AVX-512 F, BW, DQ and VL.
    Avx512,
}

/// A compiler for a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Jit {
    features: Features,
    /// Whether code says which ways it takes.
    traced: bool,
}

impl Jit {
    /// The compiler for this host; `None` if it is not x86-64 or has no AVX2.
    #[must_use]
    pub fn host() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("bmi1");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx2 {
                return Some(Self {
                    features: if avx512 {
                        Features::Avx512
                    } else {
                        Features::Avx2
                    },
                    traced: false,
                });
            }
        }
        None
    }

    /// [`Self::host`] as programs take it, one for the process.
    #[must_use]
    pub fn shared() -> Option<&'static Arc<dyn Compiler>> {
        static HOST: OnceLock<Option<Arc<dyn Compiler>>> = OnceLock::new();
        let host = || Some(Arc::new(Self::host()?) as Arc<dyn Compiler>);
        HOST.get_or_init(host).as_ref()
    }

    /// For this host with AVX2 only; `None` if it does not have that.
    #[must_use]
    pub fn avx2() -> Option<Self> {
        Self::host().map(|_| Self {
            features: Features::Avx2,
            traced: false,
        })
    }

    /// A compiler whose code says which ways it takes: see [`taken`].
    #[must_use]
    pub const fn traced(self) -> Self {
        Self {
            traced: true,
            ..self
        }
    }

    /// The steps of a program that machine code leaves to the interpreter, for lack of a template;
    /// `None` if nothing can be compiled.
    #[must_use]
    pub fn calls(&self, code: &Code) -> Option<Vec<usize>> {
        #[cfg(target_arch = "x86_64")]
        return Some(flow::compile(code, None, *self)?.calls);
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = code;
            None
        }
    }

    /// The features it compiles for.
    #[must_use]
    pub const fn features(&self) -> Features {
        self.features
    }
}

/// The machine code of a program for a host with these features, which need not be those of this one; `None` if nothing
/// can be compiled, or this host is not x86-64. `live` says which registers are read again, as for
/// [`Compiler::compile`].
///
/// It has a line for each instruction, in Intel's syntax, and before them the steps of the program that they belong to
/// (`visakit run --show-code` lists these alone). Places that jumps go to have labels, so that no line depends on where
/// the code is: the same program is listed the same everywhere. Constants that the code reads are at the end, by their
/// distances from `rbp`.
#[cfg(feature = "listing")]
#[must_use]
pub fn listing(code: &Code, live: Option<&Liveness>, features: Features) -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        let jit = Jit {
            features,
            traced: false,
        };
        let compiled = flow::compile(code, live, jit)?;
        Some(listing::Listing { code, compiled }.to_string())
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (code, live, features);
        None
    }
}

/// What becomes of the machine code of a program.
#[cfg(feature = "listing")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// There is none: nothing of the program can be compiled, or this host is not x86-64.
    NoCode,
    /// It is proven that it stays inside of what it may access.
    Proven,
    /// That is not proven, for this reason, so that the interpreter runs the program. Code of this crate never is refused: that
    /// it stays inside is proven each time all the same.
    Refused(String),
}

/// What becomes of the machine code of a program for a host with these features; see [`listing`].
#[cfg(feature = "listing")]
#[must_use]
pub fn verdict(code: &Code, live: Option<&Liveness>, features: Features) -> Verdict {
    #[cfg(target_arch = "x86_64")]
    {
        let jit = Jit {
            features,
            traced: false,
        };
        flow::recorded(code, live, jit).map_or(Verdict::NoCode, flow::Compiler::verdict)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (code, live, features);
        Verdict::NoCode
    }
}

impl Compiler for Jit {
    fn compile(&self, code: &Code, live: Option<&Liveness>) -> Option<Box<dyn Native>> {
        #[cfg(target_arch = "x86_64")]
        return machine::Machine::new(code, live, *self).map(|machine| Box::new(machine) as _);
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (code, live);
            None
        }
    }
}
