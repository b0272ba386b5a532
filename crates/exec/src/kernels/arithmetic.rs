//! Kernels of arithmetic on operands of any shape and type.
//!
//! A kernel is compiled for an operation and the type of its lanes.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::Alu;
use crate::code::{Operation, Precision};
use crate::fault::Outcome;
use crate::lanes::convert::Compute;
use crate::lanes::exact::{self, Rounding, Tried};
use crate::lanes::float::{self, Exact, InMode, Real};
use crate::lanes::int::{Binary, Horner, Ternary, Unary};
use crate::lanes::simd::{Host, Kernel};
use crate::machine::Registers;
use crate::machine::registers::{Destinations, Sources};
use std::marker::PhantomData;
use std::ops::Range;

macro_rules! kernels {
    ($($(#[doc = $doc:literal])* $name:ident $trait:ident ($($arg:ident $index:literal),*);)*) => {$(
        $(#[doc = $doc])*
        #[inline(never)]
        pub(crate) fn $name<O, C>(
            alu: &Alu<'_>,
            registers: &mut Registers,
            mask: u32,
        ) -> Outcome
        where
            C: Compute,
            O: $trait<C>,
            Registers: Sources<C> + Destinations<C>,
        {
            let mut result = [C::default(); 32];
            let lanes = alu.lanes;
            $(let $arg = registers.load(&alu.sources[$index], lanes, mask)?;)*
            for lane in 0..lanes {
                result[lane] = O::apply($($arg[lane]),*);
            }
            if O::SETTLES && O::is_open(&result) {
                result = O::settle(result, [$($arg),*]);
            }
            registers.store(&alu.destination, &result[..lanes], mask)
        }
    )*};
}

kernels! {
    /// One source.
    unary Unary (a 0);
    /// Two sources.
    binary Binary (a 0, b 1);
    /// Three sources.
    ternary Ternary (a 0, b 1, c 2);
}

macro_rules! real_kernels {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident $kernel:ident $flushed:ident $body_name:ident
        $trait:ident ($($arg:ident $index:literal),*);
    )*) => {$(
        $(#[doc = $doc])*
        pub(crate) fn $name<O, C>(
            alu: &Alu<'_>,
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
            $kernel::<O, C>(alu, registers, mask)
        }

        /// If the mode only flushes denormals, the host computes; otherwise software does.
        #[inline(never)]
        fn $flushed<O, C>(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome
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
            alu: &'a Alu<'a>,
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
            fn run<H: Host>(self, _: H) -> Outcome {
                let Self { alu, registers, mask, .. } = self;
                let mut result = [C::default(); 32];
                let lanes = alu.lanes;
                $(let $arg = registers.load(&alu.sources[$index], lanes, mask)?;)*
                for lane in 0..lanes {
                    result[lane] = O::apply($($arg[lane].flush()),*).flush();
                }
                if O::SETTLES && O::is_open(&result) {
                result = O::settle(result, [$($arg),*]);
            }
                registers.store(&alu.destination, &result[..lanes], mask)
            }
        }
    )*};
}

real_kernels! {
    /// One float source.
    real_unary unary flushed_unary FlushedUnary Unary (a 0);
    /// Two float sources.
    real_binary binary flushed_binary FlushedBinary Binary (a 0, b 1);
    /// Three float sources.
    real_ternary ternary flushed_ternary FlushedTernary Ternary (a 0, b 1, c 2);
}

/// One float source, of an operation that is worth the host's widest registers.
pub(crate) fn vector_unary<O, C>(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome
where
    C: Real,
    O: Unary<C> + InMode,
    Registers: Sources<C> + Destinations<C>,
{
    if alu.is_slow(registers) {
        return flushed_unary::<O, C>(alu, registers, mask);
    }
    let simd = registers.simd;
    simd.run(VectorUnary::<O, C> {
        alu,
        registers,
        mask,
        marker: PhantomData,
    })
}

struct VectorUnary<'a, O, C> {
    alu: &'a Alu<'a>,
    registers: &'a mut Registers,
    mask: u32,
    marker: PhantomData<(O, C)>,
}

impl<O, C> Kernel for VectorUnary<'_, O, C>
where
    C: Real,
    O: Unary<C>,
    Registers: Sources<C> + Destinations<C>,
{
    type Output = Outcome;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<H: Host>(self, _: H) -> Outcome {
        let Self {
            alu,
            registers,
            mask,
            ..
        } = self;
        let lanes = alu.lanes;
        let sources: [C; 32] = registers.load(&alu.sources[0], lanes, mask)?;
        // Eight lanes at a time, so that the number of turns is known.
        let mut results = [C::default(); 32];
        for (results, sources) in results
            .chunks_mut(8)
            .zip(sources.chunks(8))
            .take(lanes.div_ceil(8))
        {
            for (result, source) in results.iter_mut().zip(sources) {
                *result = O::apply(*source);
            }
        }
        if O::SETTLES && O::is_open(&results) {
            results = O::settle(results, [sources]);
        }
        registers.store(&alu.destination, &results[..lanes], mask)
    }
}

/// Float arithmetic in a mode, or of a precision, that the host does not have.
#[inline(never)]
pub(crate) fn in_mode<O: InMode>(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let exact = alu.exact(registers);
    let mut sources = [[0.0f64; 32]; 3];
    let used = alu.operation.sources();
    for (values, source) in sources.iter_mut().zip(&alu.sources).take(used) {
        *values = registers.load(source, alu.lanes, mask)?;
    }
    let mut results = registers.simd.run(LanesInMode::<O> {
        exact,
        sources: &sources,
        lanes: alu.lanes,
        mask,
        marker: PhantomData,
    });
    if O::COMPUTES && float::is_open(&results) {
        // Unused sources are zeroes.
        results = float::settle(results, sources);
    }
    registers.store_rounded(
        &alu.destination,
        exact.precision,
        &results[..alu.lanes],
        mask,
    )
}

/// The enabled lanes of an operation in a mode. The host's fused multiply-add makes the difference.
struct LanesInMode<'a, O> {
    exact: Exact,
    sources: &'a [[f64; 32]; 3],
    lanes: usize,
    mask: u32,
    marker: PhantomData<O>,
}

impl<O: InMode> Kernel for LanesInMode<'_, O> {
    type Output = [f64; 32];

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<H: Host>(self, _: H) -> [f64; 32] {
        // Compilers divide integers by floats that are rounded towards zero. Where this is a constant, lanes become vectors.
        const fn towards_zero(precision: Precision) -> Exact {
            Exact {
                precision,
                rounding: Rounding::Zero,
                flush: false,
            }
        }
        const DOUBLES: Exact = towards_zero(Precision::Double);
        const SINGLES: Exact = towards_zero(Precision::Float);
        let mut results = [0.0f64; 32];
        match self.exact {
            DOUBLES => self.together(DOUBLES, |double| double, &mut results),
            SINGLES => self.together(SINGLES, exact::try_single, &mut results),
            _ => self.each(0..self.lanes, &mut results),
        }
        results
    }
}

impl<O: InMode> LanesInMode<'_, O> {
    /// Computes lanes eight at a time, and one by one where that does not give all results.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn together(&self, exact: Exact, round: impl Fn(Tried) -> Tried, results: &mut [f64; 32]) {
        const VECTOR: usize = 8;
        let [a, b, c] = self.sources.each_ref().map(|x| x.as_chunks::<VECTOR>().0);
        let vectors = results
            .as_chunks_mut::<VECTOR>()
            .0
            .iter_mut()
            .zip(a)
            .zip(b)
            .zip(c);
        let mut doubts = [0; 32 / VECTOR];
        for ((((results, a), b), c), doubts) in
            vectors.zip(&mut doubts).take(self.lanes.div_ceil(VECTOR))
        {
            for lane in 0..VECTOR {
                let (result, doubt) = round(O::attempt(exact, [a[lane], b[lane], c[lane]]));
                results[lane] = result;
                *doubts |= doubt;
            }
        }
        for (vector, doubts) in doubts.into_iter().enumerate() {
            if doubts >> 63 != 0 {
                let first = vector * VECTOR;
                self.each(first..self.lanes.min(first + VECTOR), results);
            }
        }
    }

    /// Computes enabled lanes one by one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn each(&self, lanes: Range<usize>, results: &mut [f64; 32]) {
        let Self {
            exact,
            sources: [a, b, c],
            ..
        } = *self;
        for lane in lanes {
            if self.mask >> lane & 1 != 0 {
                let sources = [a[lane], b[lane], c[lane]].map(|x| exact.source(x));
                results[lane] = exact.result(O::in_mode(exact, sources));
            }
        }
    }
}

/// A bitwise function of three sources.
pub(crate) fn boolean(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let table = match alu.operation {
        Operation::Boolean(table) => table,
        _ => 0,
    };
    let function = Horner::new(Horner::coefficients(table));
    let lanes = alu.lanes;
    let a: [u32; 32] = registers.load(&alu.sources[0], lanes, mask)?;
    let b: [u32; 32] = registers.load(&alu.sources[1], lanes, mask)?;
    let c: [u32; 32] = registers.load(&alu.sources[2], lanes, mask)?;
    let mut result = [0; 32];
    for lane in 0..lanes {
        result[lane] = function.apply(a[lane], b[lane], c[lane]);
    }
    registers.store(&alu.destination, &result[..lanes], mask)
}
