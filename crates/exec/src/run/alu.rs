//! Instructions on registers: what they work on, and the kernels of arithmetic.
//!
//! A kernel is compiled for an operation and the type of its lanes. Hot kernels take operands as they stand in the
//! register file, [`CHUNK`] lanes at a time; the others take operands of any shape and type.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::registers::{Destinations, Registers, Sources};
use super::simd::Kernel;
use crate::fault::Outcome;
use crate::lanes::convert::Compute;
use crate::lanes::exact::Rounding;
use crate::lanes::float::{Exact, InMode, Precision, Real};
use crate::lanes::int::{Binary, Horner, Ternary, Unary};
use crate::program::operand::{Destination, Modify, Source};
use std::marker::PhantomData;
use std::ops::Deref;

/// The code of an instruction. Bit i of the mask enables lane i.
pub(crate) type AluFn = fn(&Alu, &mut Registers, u32) -> Outcome;

/// Lanes that a hot kernel computes at a time: two wide registers of 32-bit lanes.
pub(crate) const CHUNK: usize = 16;

/// A predicate variable as an instruction sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flag {
    /// Place of its word.
    pub(crate) offset: u32,
    /// First lane.
    pub(crate) first: u8,
    pub(crate) any: bool,
    pub(crate) all: bool,
    pub(crate) invert: bool,
    /// Lanes of the instruction, as a mask.
    pub(crate) window: u32,
}

impl Flag {
    /// The whole word.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn word(&self, registers: &Registers) -> u32 {
        registers.read_u32(self.offset as usize)
    }

    /// The lanes that it enables.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn read(&self, registers: &Registers) -> u32 {
        let mut bits = (self.word(registers) >> self.first) & self.window;
        if self.any {
            bits = if bits != 0 { self.window } else { 0 };
        } else if self.all {
            bits = if bits == self.window { self.window } else { 0 };
        }
        if self.invert {
            !bits & self.window
        } else {
            bits
        }
    }

    /// Writes the enabled lanes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn write(&self, registers: &mut Registers, bits: u32, mask: u32) {
        let mask = (mask & self.window) << self.first;
        let old = self.word(registers);
        let new = old & !mask | (bits << self.first) & mask;
        registers.write_u32(self.offset as usize, new);
    }
}

/// What few instructions have.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extra {
    pub(crate) fourth: Option<Source>,
    pub(crate) second: Option<Destination>,
    pub(crate) flags: [Flag; 3],
    pub(crate) numbers: [usize; 4],
}

/// What an instruction works on.
#[derive(Clone, Debug)]
pub(crate) struct Operands {
    pub(crate) lanes: usize,
    /// Whether the outcome of a comparison is inverted.
    pub(crate) negate: bool,
    /// Format of float arithmetic.
    pub(crate) precision: Precision,
    pub(crate) destination: Destination,
    pub(crate) sources: [Source; 3],
    pub(crate) extra: Option<Box<Extra>>,
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

/// An instruction on registers.
#[derive(Clone, Debug)]
pub(crate) struct Alu {
    pub(crate) run: AluFn,
    /// For hot kernels, else nothing.
    pub(crate) hot: Hot,
    pub(crate) operands: Box<Operands>,
}

impl Deref for Alu {
    type Target = Operands;

    fn deref(&self) -> &Operands {
        &self.operands
    }
}

impl Operands {
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
    pub(super) fn is_slow(&self, registers: &Registers) -> bool {
        match self.precision {
            Precision::Half => registers.mode.slow_hf,
            Precision::BFloat | Precision::Float => registers.mode.slow_f,
            Precision::Double => registers.mode.slow_df,
        }
    }
}

/// A source of a hot kernel. What serves all lanes is read before anything is written.
#[derive(Clone, Copy)]
pub(super) struct Lanes<C> {
    place: Place,
    value: C,
}

impl<C: Compute> Lanes<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(place: Place, registers: &Registers) -> Self {
        let value = match place.scalar {
            true => registers.element(place.offset as usize),
            false => C::default(),
        };
        Self { place, value }
    }

    /// The N lanes from `first` on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn read<const N: usize, const MODIFIED: bool>(
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

macro_rules! kernels {
    ($($(#[doc = $doc:literal])* $name:ident $any:ident $body_name:ident $trait:ident ($($arg:ident $index:literal),*);)*) => {$(
        $(#[doc = $doc])*
        /// For operands that are taken as they are, N lanes at a time.
        pub(crate) fn $name<O, C, const N: usize>(
            alu: &Alu,
            registers: &mut Registers,
            mask: u32,
        ) -> Outcome
        where
            C: Compute,
            O: $trait<C>,
            Registers: Sources<C> + Destinations<C>,
        {
            let simd = registers.simd;
            let body = $body_name::<O, C, N> { alu, registers, mask, marker: PhantomData };
            match simd.try_run(body) {
                Ok(()) => Ok(()),
                Err(body) => $any::<O, C>(alu, body.registers, mask),
            }
        }

        $(#[doc = $doc])*
        /// For operands of any kind.
        #[inline(never)]
        pub(crate) fn $any<O, C>(
            alu: &Alu,
            registers: &mut Registers,
            mask: u32,
        ) -> Outcome
        where
            C: Compute,
            O: $trait<C>,
            Registers: Sources<C> + Destinations<C>,
        {
            let mut result = [C::default(); 32];
            let lanes = alu.lanes.min(32);
            $(let $arg = registers.load(&alu.sources[$index], lanes, mask)?;)*
            for lane in 0..lanes {
                result[lane] = O::apply($($arg[lane]),*);
            }
            registers.store(&alu.destination, &result[..lanes], mask)
        }

        struct $body_name<'a, O, C, const N: usize> {
            alu: &'a Alu,
            registers: &'a mut Registers,
            mask: u32,
            marker: PhantomData<(O, C)>,
        }

        impl<O: $trait<C>, C: Compute, const N: usize> $body_name<'_, O, C, N> {
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn lanes<const MODIFIED: bool>(self) {
                let Self { alu, registers, mask, .. } = self;
                let hot = &alu.hot;
                $(let $arg = Lanes::<C>::new(hot.sources[$index], registers);)*
                for first in (0..usize::from(hot.lanes)).step_by(N) {
                    $(let $arg: [C; N] = $arg.read::<N, MODIFIED>(registers, first);)*
                    let mut result = [C::default(); N];
                    for lane in 0..N {
                        result[lane] = O::apply($($arg[lane]),*);
                    }
                    registers.put(hot.to, first, mask, &result);
                }
            }
        }

        impl<O: $trait<C>, C: Compute, const N: usize> Kernel for $body_name<'_, O, C, N> {
            type Output = ();

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn run(self) {
                if self.alu.hot.modified {
                    self.lanes::<true>();
                } else {
                    self.lanes::<false>();
                }
            }
        }
    )*};
}

kernels! {
    /// One source.
    unary unary_any UnaryBody Unary (a 0);
    /// Two sources.
    binary binary_any BinaryBody Binary (a 0, b 1);
    /// Three sources.
    ternary ternary_any TernaryBody Ternary (a 0, b 1, c 2);
}

macro_rules! real_kernels {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident $any:ident $hot_kernel:ident $any_kernel:ident $flushed:ident $body_name:ident
        $trait:ident ($($arg:ident $index:literal),*);
    )*) => {$(
        $(#[doc = $doc])*
        /// For operands that are taken as they are, N lanes at a time.
        pub(crate) fn $name<O, C, const N: usize>(
            alu: &Alu,
            registers: &mut Registers,
            mask: u32,
        ) -> Outcome
        where
            C: Real,
            O: $trait<C> + InMode,
            Registers: Sources<C> + Destinations<C>,
        {
            if C::is_slow(registers.mode) {
                return $flushed::<O, C>(alu, registers, mask);
            }
            $hot_kernel::<O, C, N>(alu, registers, mask)
        }

        $(#[doc = $doc])*
        /// For operands of any kind.
        pub(crate) fn $any<O, C>(
            alu: &Alu,
            registers: &mut Registers,
            mask: u32,
        ) -> Outcome
        where
            C: Real,
            O: $trait<C> + InMode,
            Registers: Sources<C> + Destinations<C>,
        {
            if alu.is_slow(registers) {
                return $flushed::<O, C>(alu, registers, mask);
            }
            $any_kernel::<O, C>(alu, registers, mask)
        }

        /// Where the mode only flushes denormals, the host computes; else the soft way is taken.
        #[inline(never)]
        fn $flushed<O, C>(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome
        where
            C: Real,
            O: $trait<C> + InMode,
            Registers: Sources<C> + Destinations<C>,
        {
            let is_host = matches!(alu.precision, Precision::Float | Precision::Double);
            if !is_host || registers.mode.rounding != Rounding::NearestEven {
                return in_mode::<O>(alu, registers, mask);
            }
            let simd = registers.simd;
            simd.run($body_name::<O, C> { alu, registers, mask, marker: PhantomData })
        }

        struct $body_name<'a, O, C> {
            alu: &'a Alu,
            registers: &'a mut Registers,
            mask: u32,
            marker: PhantomData<(O, C)>,
        }

        impl<O, C> Kernel for $body_name<'_, O, C>
        where
            C: Real,
            O: $trait<C>,
            Registers: Sources<C> + Destinations<C>,
        {
            type Output = Outcome;

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn run(self) -> Outcome {
                let Self { alu, registers, mask, .. } = self;
                let mut result = [C::default(); 32];
                let lanes = alu.lanes.min(32);
                $(let $arg = registers.load(&alu.sources[$index], lanes, mask)?;)*
                for lane in 0..lanes {
                    result[lane] = O::apply($($arg[lane].flush()),*).flush();
                }
                registers.store(&alu.destination, &result[..lanes], mask)
            }
        }
    )*};
}

real_kernels! {
    /// One float source.
    real_unary real_unary_any unary unary_any flushed_unary FlushedUnary Unary (a 0);
    /// Two float sources.
    real_binary real_binary_any binary binary_any flushed_binary FlushedBinary Binary (a 0, b 1);
    /// Three float sources.
    real_ternary real_ternary_any ternary ternary_any flushed_ternary FlushedTernary
        Ternary (a 0, b 1, c 2);
}

/// Float arithmetic in a mode, or of a precision, that the host does not have.
#[inline(never)]
pub(crate) fn in_mode<O: InMode>(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome {
    let exact = alu.exact(registers);
    let mut sources = [[0.0f64; 32]; 3];
    for (values, source) in sources.iter_mut().zip(&alu.sources) {
        registers.load_exact(source, &mut values[..alu.lanes.min(32)], mask)?;
    }
    let mut results = [0.0f64; 32];
    for (lane, result) in results.iter_mut().enumerate().take(alu.lanes) {
        if mask >> lane & 1 != 0 {
            let of = |n: usize| exact.source(sources[n][lane]);
            *result = exact.result(O::in_mode(exact, [of(0), of(1), of(2)]));
        }
    }
    registers.store_exact(&alu.destination, &results[..alu.lanes.min(32)], mask)
}

struct BooleanBody<'a, const N: usize> {
    alu: &'a Alu,
    registers: &'a mut Registers,
    mask: u32,
    function: Horner,
}

impl<const N: usize> Kernel for BooleanBody<'_, N> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(self) {
        let Self {
            alu,
            registers,
            mask,
            function,
        } = self;
        let hot = &alu.hot;
        let [a, b, c] = hot.sources.map(|place| Lanes::<u32>::new(place, registers));
        for first in (0..usize::from(hot.lanes)).step_by(N) {
            let a: [u32; N] = a.read::<N, false>(registers, first);
            let b: [u32; N] = b.read::<N, false>(registers, first);
            let c: [u32; N] = c.read::<N, false>(registers, first);
            let mut result = [0; N];
            for lane in 0..N {
                result[lane] = function.apply(a[lane], b[lane], c[lane]);
            }
            registers.put(hot.to, first, mask, &result);
        }
    }
}

fn boolean_function(alu: &Alu) -> Horner {
    let numbers = alu.extra.as_ref().map_or([0; 4], |extra| extra.numbers);
    Horner::new(u32::try_from(numbers[0]).unwrap_or(0))
}

/// A bitwise function of three sources, whose table is the first number.
pub(crate) fn boolean<const N: usize>(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome {
    let simd = registers.simd;
    let body = BooleanBody::<N> {
        alu,
        registers,
        mask,
        function: boolean_function(alu),
    };
    match simd.try_run(body) {
        Ok(()) => Ok(()),
        Err(body) => boolean_any(alu, body.registers, mask),
    }
}

/// The same for operands of any kind.
pub(crate) fn boolean_any(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome {
    let function = boolean_function(alu);
    let lanes = alu.lanes.min(32);
    let a: [u32; 32] = registers.load(&alu.sources[0], lanes, mask)?;
    let b: [u32; 32] = registers.load(&alu.sources[1], lanes, mask)?;
    let c: [u32; 32] = registers.load(&alu.sources[2], lanes, mask)?;
    let mut result = [0; 32];
    for lane in 0..lanes {
        result[lane] = function.apply(a[lane], b[lane], c[lane]);
    }
    registers.store(&alu.destination, &result[..lanes], mask)
}
