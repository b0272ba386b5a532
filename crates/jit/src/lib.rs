//! Machine code for vISA programs.
//!
//! [`Jit`] compiles the code of a [`visakit_exec::Program`] for the host: x86-64 with AVX2 or AVX-512.
//! A vISA instruction works on up to 32 lanes already, so that a step becomes few vector instructions.
//! Steps without a template are run by the interpreter's own function, called from machine code; where
//! lanes part or meet, and at calls and barriers, the interpreter goes on. Results are the same bit for
//! bit.
//!
//! ```
//! # fn compile(program: &visakit_exec::Program) {
//! if let Some(jit) = visakit_jit::Jit::host() {
//!     program.compile(&jit);
//! }
//! # }
//! ```

mod assembler;
mod compute;
mod flow;
mod memory;
mod pages;
mod vector;

pub use vector::Features;

use pages::Pages;
use std::collections::BTreeMap;
use visakit_exec::code::Code;
use visakit_exec::{Compiler, Host, Native, NativeFault, NativeThread};

/// A compiler for a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Jit {
    features: Features,
}

impl Jit {
    /// For this host; `None` if it has no AVX2 or is no x86-64.
    #[must_use]
    pub fn host() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c")
                && is_x86_feature_detected!("popcnt");
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
                });
            }
        }
        None
    }

    /// For this host with AVX2 only; `None` if it does not have that.
    #[must_use]
    pub fn avx2() -> Option<Self> {
        Self::host().map(|_| Self {
            features: Features::Avx2,
        })
    }

    /// The steps of a program that its machine code has the interpreter run, for want of a template;
    /// `None` if nothing can be compiled.
    #[must_use]
    pub fn calls(&self, code: &Code) -> Option<Vec<usize>> {
        Some(flow::compile(code, self.features)?.calls)
    }

    /// What it compiles for.
    #[must_use]
    pub const fn features(&self) -> Features {
        self.features
    }
}

impl Compiler for Jit {
    fn compile(&self, code: &Code) -> Option<Box<dyn Native>> {
        // Places of operands are checked against this; see the safety comments of the pages.
        code.verify().ok()?;
        let compiled = flow::compile(code, self.features)?;
        Some(Box::new(Machine {
            pages: Pages::new(&compiled.bytes, compiled.constants, code.register_bytes)?,
            entries: compiled.entries,
            places: compiled.places,
            full: compiled.full,
        }))
    }
}

/// Machine code of a program.
#[derive(Debug)]
struct Machine {
    pages: Pages,
    entries: Vec<u32>,
    places: BTreeMap<usize, [usize; 2]>,
    full: u32,
}

impl Native for Machine {
    fn entries(&self) -> &[u32] {
        &self.entries
    }

    fn run(&self, thread: &mut NativeThread, host: &mut dyn Host) -> Result<(), NativeFault> {
        let Some([full, other]) = self.places.get(&thread.place) else {
            return Ok(());
        };
        // Lanes that the program has no instruction for are left to the interpreter.
        if thread.running & !self.full != 0 {
            return Ok(());
        }
        let place = if thread.running == self.full {
            *full
        } else {
            *other
        };
        self.pages.run(place, thread, host)
    }
}
