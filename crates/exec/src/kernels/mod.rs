//! The functions that run computations.
//!
//! Computations whose operands are plain lanes of the register file have code in `bodies.rs`; `hot.rs` lists them. All
//! others have a function that accepts operands of any region and type; `bind.rs` selects it. A step is bound to one or
//! the other once, when it is loaded.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

mod arithmetic;
mod bind;
mod bodies;
mod choice;
mod copies;
#[cfg(test)]
mod extremes;
mod hot;
mod key;
mod relations;
mod special;
#[cfg(test)]
mod tests;

pub(crate) use bind::Bound;
pub(crate) use hot::Hot;

use crate::code::{Compute, Precision};
use crate::fault::Outcome;
use crate::lanes::float::Exact;
use crate::machine::Registers;
use std::ops::Deref;

/// The code of a computation. Bit i of the mask enables lane i.
pub(crate) type Function = fn(&Alu<'_>, &mut Registers, u32) -> Outcome;

/// A computation that runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alu<'a> {
    /// Number of lanes, at most 32.
    pub(crate) lanes: usize,
    pub(crate) compute: &'a Compute,
}

impl Deref for Alu<'_> {
    type Target = Compute;

    fn deref(&self) -> &Compute {
        self.compute
    }
}

impl Alu<'_> {
    pub(crate) fn exact(&self, registers: &Registers) -> Exact {
        let mode = registers.mode;
        Exact {
            precision: self.precision,
            rounding: mode.rounding,
            flush: match self.precision {
                Precision::Half => mode.flush_hf,
                Precision::BFloat | Precision::Float => mode.flush_f,
                Precision::Double => mode.flush_df,
            },
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_slow(&self, registers: &Registers) -> bool {
        match self.precision {
            Precision::Half => registers.mode.slow_hf,
            Precision::BFloat | Precision::Float => registers.mode.slow_f,
            Precision::Double => registers.mode.slow_df,
        }
    }
}
