//! Instructions on registers: what they work on, and the kernels of arithmetic.
//!
//! A kernel is compiled for an operation and the type of its lanes. Hot kernels take operands as they stand in the
//! register file, [`CHUNK`] lanes at a time; the others take operands of any shape and type.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::{Alu, Lanes};
use crate::code::{Operation, Precision};
use crate::fault::Outcome;
use crate::lanes::convert::Compute;
use crate::lanes::exact::Rounding;
use crate::lanes::float::{InMode, Real};
use crate::lanes::int::{Binary, Horner, Ternary, Unary};
use crate::machine::Registers;
use crate::machine::registers::{Destinations, Sources};
use crate::machine::simd::Kernel;
use std::marker::PhantomData;

macro_rules! kernels {
    ($($(#[doc = $doc:literal])* $name:ident $any:ident $body_name:ident $trait:ident ($($arg:ident $index:literal),*);)*) => {$(
        $(#[doc = $doc])*
        /// For operands that are taken as they are, N lanes at a time.
        pub(crate) fn $name<O, C, const N: usize>(
            alu: &Alu<'_>,
            registers: &mut Registers,
            mask: u32,
        ) -> Outcome
        where
            C: Compute,
            O: $trait<C>,
            Registers: Sources<C> + Destinations<C>,
        {
            let simd = registers.simd;
            simd.run($body_name::<O, C, N> { alu, registers, mask, marker: PhantomData });
            Ok(())
        }

        $(#[doc = $doc])*
        /// For operands of any kind.
        #[inline(never)]
        pub(crate) fn $any<O, C>(
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
            registers.store(&alu.destination, &result[..lanes], mask)
        }

        struct $body_name<'a, O, C, const N: usize> {
            alu: &'a Alu<'a>,
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
            alu: &Alu<'_>,
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
            $any_kernel::<O, C>(alu, registers, mask)
        }

        /// Where the mode only flushes denormals, the host computes; else the soft way is taken.
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
            fn run(self) -> Outcome {
                let Self { alu, registers, mask, .. } = self;
                let mut result = [C::default(); 32];
                let lanes = alu.lanes;
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
pub(crate) fn in_mode<O: InMode>(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let exact = alu.exact(registers);
    let mut sources = [[0.0f64; 32]; 3];
    let used = alu.operation.sources();
    for (values, source) in sources.iter_mut().zip(&alu.sources).take(used) {
        registers.load_exact(source, &mut values[..alu.lanes], mask)?;
    }
    let mut results = [0.0f64; 32];
    for (lane, result) in results.iter_mut().enumerate().take(alu.lanes) {
        if mask >> lane & 1 != 0 {
            let of = |n: usize| exact.source(sources[n][lane]);
            *result = exact.result(O::in_mode(exact, [of(0), of(1), of(2)]));
        }
    }
    registers.store_exact(&alu.destination, &results[..alu.lanes], mask)
}

struct BooleanBody<'a, const N: usize> {
    alu: &'a Alu<'a>,
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

fn boolean_function(alu: &Alu<'_>) -> Horner {
    match alu.operation {
        Operation::Boolean(table) => Horner::new(table.into()),
        _ => Horner::new(0),
    }
}

/// A bitwise function of three sources.
pub(crate) fn boolean<const N: usize>(
    alu: &Alu<'_>,
    registers: &mut Registers,
    mask: u32,
) -> Outcome {
    let simd = registers.simd;
    simd.run(BooleanBody::<N> {
        alu,
        registers,
        mask,
        function: boolean_function(alu),
    });
    Ok(())
}

/// The same for operands of any kind.
pub(crate) fn boolean_any(alu: &Alu<'_>, registers: &mut Registers, mask: u32) -> Outcome {
    let function = boolean_function(alu);
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
