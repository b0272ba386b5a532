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

// Builds for other processors contain none of this.
#[cfg(target_arch = "x86_64")]
mod addresses;
#[cfg(target_arch = "x86_64")]
mod apart;
#[cfg(target_arch = "x86_64")]
mod assembler;
#[cfg(target_arch = "x86_64")]
mod bits;
#[cfg(target_arch = "x86_64")]
mod branch;
#[cfg(target_arch = "x86_64")]
mod carry;
#[cfg(target_arch = "x86_64")]
mod compare;
#[cfg(target_arch = "x86_64")]
mod compute;
#[cfg(target_arch = "x86_64")]
mod convert;
#[cfg(target_arch = "x86_64")]
mod count;
#[cfg(target_arch = "x86_64")]
mod elementary;
#[cfg(target_arch = "x86_64")]
mod exits;
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
mod ops;
#[cfg(target_arch = "x86_64")]
mod origin;
#[cfg(target_arch = "x86_64")]
mod pages;
#[cfg(target_arch = "x86_64")]
mod pair;
#[cfg(target_arch = "x86_64")]
mod pending;
#[cfg(target_arch = "x86_64")]
mod predicates;
#[cfg(target_arch = "x86_64")]
mod run;
#[cfg(target_arch = "x86_64")]
mod scaled;
#[cfg(target_arch = "x86_64")]
mod vector;
#[cfg(target_arch = "x86_64")]
mod work;

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

    /// The steps of a program that machine code leaves to the interpreter, for lack of a template;
    /// `None` if nothing can be compiled.
    #[must_use]
    pub fn calls(&self, code: &Code) -> Option<Vec<usize>> {
        #[cfg(target_arch = "x86_64")]
        return Some(flow::compile(code, None, self.features)?.calls);
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

impl Compiler for Jit {
    fn compile(&self, code: &Code, live: Option<&Liveness>) -> Option<Box<dyn Native>> {
        #[cfg(target_arch = "x86_64")]
        return machine::Machine::new(code, live, self.features)
            .map(|machine| Box::new(machine) as _);
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (code, live);
            None
        }
    }
}
