//! Instructions on registers, specialised for operation, type and number of lanes.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::registers::{Destinations, Registers, Sources};
use super::simd::Kernel;
use crate::fault::Outcome;
use crate::lanes::convert::{Compute, Convert};
use crate::lanes::exact::Rounding;
use crate::lanes::float::{Exact, InMode, Precision, Real};
use crate::lanes::int::{Binary, Ternary, Unary};
use crate::program::operand::{Destination, Modify, Source};
use std::marker::PhantomData;

/// The code of an instruction. Bit i of the mask enables lane i.
pub(crate) type AluFn = fn(&Alu, &mut Registers, u32) -> Outcome;

/// A predicate variable as an instruction sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flag {
    /// Place of its word.
    pub(crate) offset: usize,
    /// First lane.
    pub(crate) first: u8,
    pub(crate) any: bool,
    pub(crate) all: bool,
    pub(crate) invert: bool,
    /// Lanes of the instruction, as a mask.
    pub(crate) window: u32,
}

impl Flag {
    /// The lanes that it enables.
    #[inline(always)]
    pub(crate) fn read(&self, registers: &Registers) -> u32 {
        let mut bits = (registers.read_u32(self.offset) >> self.first) & self.window;
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
    #[inline(always)]
    pub(crate) fn write(&self, registers: &mut Registers, bits: u32, mask: u32) {
        let mask = (mask & self.window) << self.first;
        let old = registers.read_u32(self.offset);
        let new = old & !mask | (bits << self.first) & mask;
        registers.write_u32(self.offset, new);
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

/// An instruction on registers.
#[derive(Clone, Debug)]
pub(crate) struct Alu {
    pub(crate) run: AluFn,
    pub(crate) lanes: usize,
    /// Whether the outcome of a comparison is inverted.
    pub(crate) negate: bool,
    /// Format of float arithmetic.
    pub(crate) precision: Precision,
    pub(crate) destination: Destination,
    pub(crate) sources: [Source; 3],
    pub(crate) extra: Option<Box<Extra>>,
}

impl Alu {
    fn exact(&self, registers: &Registers) -> Exact {
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

    #[inline(always)]
    fn is_slow(&self, registers: &Registers) -> bool {
        match self.precision {
            Precision::Half => registers.mode.slow_hf,
            Precision::BFloat | Precision::Float => registers.mode.slow_f,
            Precision::Double => registers.mode.slow_df,
        }
    }
}

macro_rules! kernels {
    ($($(#[doc = $doc:literal])* $name:ident $any:ident $body_name:ident $trait:ident ($($arg:ident $index:literal),*);)*) => {$(
        $(#[doc = $doc])*
        /// For a fixed number of lanes.
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
                Ok(outcome) => outcome,
                Err(body) => $any::<O, C>(alu, body.registers, mask),
            }
        }

        $(#[doc = $doc])*
        /// For any number of lanes.
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
            $(let $arg: [C; 32] = registers.load(&alu.sources[$index], alu.lanes, mask)?;)*
            for lane in 0..alu.lanes.min(32) {
                result[lane] = O::apply($($arg[lane]),*);
            }
            registers.store(&alu.destination, alu.lanes, mask, &result)
        }

        struct $body_name<'a, O, C, const N: usize> {
            alu: &'a Alu,
            registers: &'a mut Registers,
            mask: u32,
            marker: PhantomData<(O, C)>,
        }

        impl<O, C, const N: usize> Kernel for $body_name<'_, O, C, N>
        where
            C: Compute,
            O: $trait<C>,
            Registers: Sources<C> + Destinations<C>,
        {
            type Output = Outcome;

            #[inline(always)]
            fn run(self) -> Outcome {
                let Self { alu, registers, mask, .. } = self;
                let mut result = [C::default(); N];
                $(let $arg: [C; N] = registers.load(&alu.sources[$index], alu.lanes, mask)?;)*
                for lane in 0..N {
                    result[lane] = O::apply($($arg[lane]),*);
                }
                registers.store(&alu.destination, alu.lanes, mask, &result)
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
        $name:ident $any:ident $sized_kernel:ident $any_kernel:ident $flushed:ident $body_name:ident
        $trait:ident ($($arg:ident $index:literal),*);
    )*) => {$(
        $(#[doc = $doc])*
        /// For a fixed number of lanes.
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
            if alu.is_slow(registers) {
                return $flushed::<O, C>(alu, registers, mask);
            }
            $sized_kernel::<O, C, N>(alu, registers, mask)
        }

        $(#[doc = $doc])*
        /// For any number of lanes.
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

            #[inline(always)]
            fn run(self) -> Outcome {
                let Self { alu, registers, mask, .. } = self;
                let mut result = [C::default(); 32];
                $(let $arg: [C; 32] = registers.load(&alu.sources[$index], alu.lanes, mask)?;)*
                for lane in 0..alu.lanes.min(32) {
                    result[lane] = O::apply($($arg[lane].flush()),*).flush();
                }
                registers.store(&alu.destination, alu.lanes, mask, &result)
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

impl Registers {
    /// The value of a source as doubles, with its modifier.
    pub(crate) fn load_exact(&self, source: &Source, values: &mut [f64], mask: u32) -> Outcome {
        self.load_any(source, values, mask)?;
        modify(source.modify, values);
        Ok(())
    }

    /// The value of a source as integers, with its modifier.
    pub(crate) fn load_integers(&self, source: &Source, values: &mut [i128], mask: u32) -> Outcome {
        self.load_any(source, values, mask)?;
        modify(source.modify, values);
        Ok(())
    }
}

fn modify<C: Compute>(modify: Modify, values: &mut [C]) {
    for value in values {
        *value = match modify {
            Modify::None => *value,
            Modify::Neg => value.neg(),
            Modify::Abs => value.abs(),
            Modify::NegAbs => value.abs().neg(),
            Modify::Not => value.not(),
        };
    }
}

/// A relation of two values.
pub(crate) trait Relation {
    fn holds<C: PartialOrd>(a: &C, b: &C) -> bool;
}

macro_rules! relations {
    ($($name:ident $op:tt;)*) => {$(
        #[doc = concat!("`", stringify!($op), "`")]
        pub(crate) struct $name;
        impl Relation for $name {
            #[inline(always)]
            fn holds<C: PartialOrd>(a: &C, b: &C) -> bool {
                a $op b
            }
        }
    )*};
}

relations! { Equal ==; Less <; LessEqual <=; }

struct CompareBody<'a, R, C, const N: usize> {
    alu: &'a Alu,
    registers: &'a Registers,
    mask: u32,
    marker: PhantomData<(R, C)>,
}

impl<R, C, const N: usize> Kernel for CompareBody<'_, R, C, N>
where
    R: Relation,
    C: Compute,
    Registers: Sources<C>,
{
    type Output = Result<u32, Box<crate::fault::Trap>>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self {
            alu,
            registers,
            mask,
            ..
        } = self;
        let a: [C; N] = registers.load(&alu.sources[0], alu.lanes, mask)?;
        let b: [C; N] = registers.load(&alu.sources[1], alu.lanes, mask)?;
        let mut bits = 0;
        for lane in 0..N {
            bits |= u32::from(R::holds(&a[lane], &b[lane])) << lane;
        }
        Ok(if alu.negate { !bits } else { bits })
    }
}

/// Comparison with a predicate or general destination.
pub(crate) fn compare<R, C, const N: usize>(
    alu: &Alu,
    registers: &mut Registers,
    mask: u32,
) -> Outcome
where
    R: Relation,
    C: Compute,
    Registers: Sources<C>,
{
    let bits = if C::FLOAT && alu.is_slow(registers) && alu.exact(registers).flush {
        compare_flushed::<R>(alu, registers, mask)?
    } else {
        let body = CompareBody::<R, C, N> {
            alu,
            registers,
            mask,
            marker: PhantomData,
        };
        match registers.simd.try_run(body) {
            Ok(bits) => bits?,
            Err(body) => body.run()?,
        }
    };
    match &alu.extra {
        Some(extra) => {
            extra.flags[0].write(registers, bits, mask);
            Ok(())
        }
        None => {
            let mut lanes = [0u64; 32];
            for (lane, value) in lanes.iter_mut().enumerate() {
                *value = if bits >> lane & 1 != 0 { u64::MAX } else { 0 };
            }
            registers.store_any(&alu.destination, &lanes[..alu.lanes.min(32)], mask)
        }
    }
}

/// Comparison where denormals count as zero.
#[inline(never)]
fn compare_flushed<R: Relation>(
    alu: &Alu,
    registers: &Registers,
    mask: u32,
) -> Result<u32, Box<crate::fault::Trap>> {
    let exact = alu.exact(registers);
    let (mut a, mut b) = ([0.0f64; 32], [0.0f64; 32]);
    registers.load_exact(&alu.sources[0], &mut a[..alu.lanes.min(32)], mask)?;
    registers.load_exact(&alu.sources[1], &mut b[..alu.lanes.min(32)], mask)?;
    let mut bits = 0;
    for lane in 0..alu.lanes.min(32) {
        let holds = R::holds(&exact.source(a[lane]), &exact.source(b[lane]));
        bits |= u32::from(holds) << lane;
    }
    Ok(if alu.negate { !bits } else { bits })
}

struct SelectBody<'a, C, const N: usize> {
    alu: &'a Alu,
    registers: &'a mut Registers,
    mask: u32,
    chosen: u32,
    marker: PhantomData<C>,
}

impl<C, const N: usize> Kernel for SelectBody<'_, C, N>
where
    C: Compute,
    Registers: Sources<C> + Destinations<C>,
{
    type Output = Outcome;

    #[inline(always)]
    fn run(self) -> Outcome {
        let Self {
            alu,
            registers,
            mask,
            chosen,
            ..
        } = self;
        let a: [C; N] = registers.load(&alu.sources[0], alu.lanes, mask & chosen)?;
        let b: [C; N] = registers.load(&alu.sources[1], alu.lanes, mask & !chosen)?;
        let mut result = b;
        for lane in 0..N {
            if chosen >> lane & 1 != 0 {
                result[lane] = a[lane];
            }
        }
        registers.store(&alu.destination, alu.lanes, mask, &result)
    }
}

/// The first source where the predicate is set, else the second.
pub(crate) fn select<C, const N: usize>(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome
where
    C: Compute,
    Registers: Sources<C> + Destinations<C>,
{
    let chosen = alu
        .extra
        .as_ref()
        .map_or(0, |extra| extra.flags[0].read(registers));
    let body = SelectBody::<C, N> {
        alu,
        registers,
        mask,
        chosen,
        marker: PhantomData,
    };
    let simd = body.registers.simd;
    match simd.try_run(body) {
        Ok(outcome) => outcome,
        Err(body) => body.run(),
    }
}

/// Integers to a float destination.
pub(crate) fn integers_to_float<C>(alu: &Alu, registers: &mut Registers, mask: u32) -> Outcome
where
    C: crate::lanes::int::Int,
    Registers: Sources<C> + Destinations<C>,
{
    if registers.mode.is_slow() {
        let mut values = [0i128; 32];
        let values = &mut values[..alu.lanes.min(32)];
        registers.load_integers(&alu.sources[0], values, mask)?;
        return registers.store_integers(&alu.destination, values, mask);
    }
    unary_any::<crate::lanes::int::Copy, C>(alu, registers, mask)
}

struct ConvertBody<'a, S, D, const N: usize> {
    alu: &'a Alu,
    registers: &'a mut Registers,
    mask: u32,
    marker: PhantomData<(S, D)>,
}

impl<S, D, const N: usize> Kernel for ConvertBody<'_, S, D, N>
where
    S: Compute + Convert<D>,
    D: Compute,
    Registers: Sources<S> + Destinations<D>,
{
    type Output = Outcome;

    #[inline(always)]
    fn run(self) -> Outcome {
        let Self {
            alu,
            registers,
            mask,
            ..
        } = self;
        let a: [S; N] = registers.load(&alu.sources[0], alu.lanes, mask)?;
        let mut result = [D::default(); N];
        for lane in 0..N {
            result[lane] = a[lane].convert();
        }
        registers.store(&alu.destination, alu.lanes, mask, &result)
    }
}

/// A conversion between two types that both have lanes of their own.
pub(crate) fn convert<S, D, const N: usize>(
    alu: &Alu,
    registers: &mut Registers,
    mask: u32,
) -> Outcome
where
    S: Compute + Convert<D>,
    D: Compute,
    Registers: Sources<S> + Destinations<D>,
{
    if (S::FLOAT || D::FLOAT) && registers.mode.is_slow() {
        return convert_in_mode(alu, registers, mask, S::FLOAT);
    }
    let body = ConvertBody::<S, D, N> {
        alu,
        registers,
        mask,
        marker: PhantomData,
    };
    let simd = body.registers.simd;
    match simd.try_run(body) {
        Ok(outcome) => outcome,
        Err(body) => body.run(),
    }
}

/// A conversion in the mode of the thread.
#[inline(never)]
fn convert_in_mode(alu: &Alu, registers: &mut Registers, mask: u32, float: bool) -> Outcome {
    let lanes = alu.lanes.min(32);
    if float {
        let mut values = [0.0f64; 32];
        registers.load_exact(&alu.sources[0], &mut values[..lanes], mask)?;
        registers.store_exact(&alu.destination, &values[..lanes], mask)
    } else {
        let mut values = [0i128; 32];
        registers.load_integers(&alu.sources[0], &mut values[..lanes], mask)?;
        registers.store_integers(&alu.destination, &values[..lanes], mask)
    }
}
