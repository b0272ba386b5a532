//! The functions that run computations.
//!
//! A kernel is compiled for an operation and the type of its lanes. Hot kernels take operands as they
//! stand in the register file, [`CHUNK`] lanes at a time; the others take operands of any region and
//! type. Which one a step gets is decided once, by [`Bound::new`].

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

mod arithmetic;
mod bind;
mod choice;
mod special;

pub(crate) use bind::Bound;

use crate::code::{Compute, Modify, Precision};
use crate::fault::Outcome;
use crate::lanes::convert;
use crate::lanes::float::Exact;
use crate::machine::Registers;
use std::ops::Deref;

/// The code of a computation. Bit i of the mask enables lane i.
pub(crate) type Function = fn(&Alu<'_>, &mut Registers, u32) -> Outcome;

/// Lanes that a hot kernel computes at a time: two wide registers of 32-bit lanes.
pub(crate) const CHUNK: usize = 16;

/// A computation that runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alu<'a> {
    /// For hot kernels, else nothing.
    pub(crate) hot: &'a Hot,
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

/// A source that a hot kernel takes as it stands in the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Place {
    /// Of its first element, in bytes.
    pub(crate) offset: u32,
    /// Whether one element serves all lanes; else they follow each other.
    pub(crate) scalar: bool,
    pub(crate) modify: Modify,
}

/// What hot kernels need to know: little, so that steps are small.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Hot {
    pub(crate) sources: [Place; 3],
    /// Place of the first element that is written.
    pub(crate) to: u32,
    pub(crate) lanes: u8,
    /// Whether any source has a modifier.
    pub(crate) modified: bool,
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

/// A source of a hot kernel. What serves all lanes is read before anything is written.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<C> {
    place: Place,
    value: C,
}

impl<C: convert::Compute> Lanes<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn new(place: Place, registers: &Registers) -> Self {
        let value = match place.scalar {
            true => registers.element(place.offset as usize),
            false => C::default(),
        };
        Self { place, value }
    }

    /// The N lanes from `first` on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn read<const N: usize, const MODIFIED: bool>(
        &self,
        registers: &Registers,
        first: usize,
    ) -> [C; N] {
        let mut values = match self.place.scalar {
            true => [self.value; N],
            false => registers.array(self.place.offset as usize + first * size_of::<C>()),
        };
        if MODIFIED {
            let change = C::change(self.place.modify);
            for value in &mut values {
                *value = value.changed(change);
            }
        }
        values
    }
}
