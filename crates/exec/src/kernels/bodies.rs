//! The code of hot computations: how lanes are read, computed and written.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::hot::{Hot, Place};
use crate::code::{Destination, Modify, Source};
use crate::lanes::convert::{Compute, Convert, Element};
use crate::lanes::int::{Binary, Horner, Ternary, Unary};
use crate::lanes::simd::{Host, Kernel};
use crate::machine::file::{array, element, put};
use crate::machine::registers::{is_element, is_lane};
use bytemuck::Pod;
use std::marker::PhantomData;

/// Lanes of 64 bits that are computed at a time: as many vectors of the host as for 32 lanes of 32 bits.
const WIDE: usize = 16;

/// Lanes that are computed at a time where the larger element of a computation has this many bytes.
pub(super) const fn at_a_time(bytes: usize) -> usize {
    if bytes > 4 { WIDE } else { 32 }
}

/// When the host's floats must behave as the thread's float mode requires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Needs {
    Nothing,
    Half,
    Single,
    Double,
    Conversions,
}

impl Needs {
    /// For lanes of type C that are elements of type E in the file.
    pub(super) const fn of<C: Compute, E: Element>() -> Self {
        match (C::FLOAT, E::SIZE) {
            (false, _) => Self::Nothing,
            (true, 2) => Self::Half,
            (true, 4) => Self::Single,
            (true, _) => Self::Double,
        }
    }
}

/// The code of a kind of computation, and which operands it takes.
pub(super) trait Body {
    const NEEDS: Needs;
    /// Bytes of a lane of the sources.
    const FROM: usize;
    /// Bytes of a lane of the destination; 0 where a predicate is written.
    const TO: usize;
    /// Bytes from element to element of the source and of the destination, where they are not consecutive.
    const STRIDES: [usize; 2] = [0; 2];
    /// Which modifiers sources may have.
    fn modifies(modify: Modify) -> bool {
        modify == Modify::None
    }
    /// Whether elements of a source can be used as lanes unchanged.
    fn reads(_: &Source) -> bool {
        true
    }
    /// Whether lanes can be stored as elements of a destination unchanged. Not asked where a predicate is written.
    fn writes(_: &Destination) -> bool {
        true
    }
    /// Computes N lanes so many times, and writes those of the mask. Without `MODIFIED` no source has a modifier.
    fn lanes<const N: usize, const TIMES: usize, const MODIFIED: bool, H: Host>(
        host: H,
        hot: &Hot,
        file: &mut [u8],
        mask: u32,
    );
}

/// Computes the lanes of the mask by code for the number of lanes.
#[cfg_attr(not(debug_assertions), inline(always))]
fn sized<B: Body, const MODIFIED: bool, H: Host>(host: H, hot: &Hot, file: &mut [u8], mask: u32) {
    let bytes = if B::FROM > B::TO { B::FROM } else { B::TO };
    // Comparisons by themselves: of one number the compiler would make a jump through a table.
    match (hot.width.wide, hot.width.more) {
        (true, true) if at_a_time(bytes) == WIDE => {
            B::lanes::<WIDE, 2, MODIFIED, H>(host, hot, file, mask);
        }
        (true, true) => B::lanes::<32, 1, MODIFIED, H>(host, hot, file, mask),
        (true, false) => B::lanes::<16, 1, MODIFIED, H>(host, hot, file, mask),
        (false, true) => B::lanes::<8, 1, MODIFIED, H>(host, hot, file, mask),
        (false, false) => B::lanes::<1, 1, MODIFIED, H>(host, hot, file, mask),
    }
}

/// Computes the lanes of the mask, where that is to be inlined.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn inlined<B: Body, H: Host>(host: H, hot: &Hot, file: &mut [u8], mask: u32) {
    if hot.modified {
        called::<B, H>(host, hot, file, mask);
    } else {
        sized::<B, false, H>(host, hot, file, mask);
    }
}

/// Computes the lanes of the mask, where sources with modifiers are frequent, too.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn entire<B: Body, H: Host>(host: H, hot: &Hot, file: &mut [u8], mask: u32) {
    if hot.modified {
        sized::<B, true, H>(host, hot, file, mask);
    } else {
        sized::<B, false, H>(host, hot, file, mask);
    }
}

/// Computes the lanes of the mask.
#[inline(never)]
pub(super) fn called<B: Body, H: Host>(host: H, hot: &Hot, file: &mut [u8], mask: u32) {
    host.call(Call::<B> {
        hot,
        file,
        mask,
        body: PhantomData,
    });
}

struct Call<'a, B> {
    hot: &'a Hot,
    file: &'a mut [u8],
    mask: u32,
    body: PhantomData<B>,
}

impl<B: Body> Kernel for Call<'_, B> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<H: Host>(self, host: H) {
        let Self {
            hot, file, mask, ..
        } = self;
        entire::<B, H>(host, hot, file, mask);
    }
}

/// What is read outside of the register file.
static ZEROES: [u8; 256] = [0; 256];

/// A source. A value used by all lanes is read before anything is written.
#[derive(Clone, Copy)]
pub(super) struct Lanes<E> {
    place: Place,
    value: E,
}

impl<E: Element> Lanes<E> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(place: Place, file: &[u8]) -> Self {
        let value = match place.scalar {
            true => element(file, place.offset as usize),
            false => E::zeroed(),
        };
        Self { place, value }
    }

    /// The N lanes from `first` on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn read<C, const N: usize, const MODIFIED: bool>(
        &self,
        file: &[u8],
        first: usize,
    ) -> [C; N]
    where
        C: Compute,
        E: Convert<C>,
    {
        let first = self.place.offset as usize + first * E::SIZE;
        let mut values = converted(&either(self.place.scalar, self.value, file, first));
        if MODIFIED {
            let change = C::change(self.place.modify);
            for value in &mut values {
                *value = value.changed(change);
            }
        }
        values
    }
}

/// N copies of a value, or else N lanes of the file.
///
/// Both are read from memory in the same way: the compiler would make single lanes of a choice between arrays.
#[cfg_attr(not(debug_assertions), inline(always))]
fn either<C: Pod, const N: usize>(scalar: bool, value: C, file: &[u8], first: usize) -> [C; N] {
    let copies;
    let bytes = if scalar || N == 1 {
        copies = [value; N];
        bytemuck::bytes_of(&copies)
    } else {
        let bytes = file.get(first..first.saturating_add(size_of::<[C; N]>()));
        bytes.unwrap_or(&ZEROES[..size_of::<[C; N]>()])
    };
    array(bytes, 0)
}

/// The modifiers that can be applied to values of a type without a branch.
pub(super) fn modifies<C: Compute>(modify: Modify) -> bool {
    C::FLOAT || !matches!(modify, Modify::Abs | Modify::NegAbs)
}

macro_rules! arithmetic {
    ($($(#[doc = $doc:literal])* $name:ident $settled:ident $trait:ident ($($arg:ident $index:literal),*);)*) => {$(
        $(#[doc = $doc])*
        ///
        /// Lanes have type C, their elements in the file type E.
        pub(super) struct $name<O, C, E = C>(PhantomData<(O, C, E)>);

        impl<O: $trait<C>, C: Compute + Convert<E>, E: Element + Convert<C>> Body for $name<O, C, E> {
            const NEEDS: Needs = Needs::of::<C, E>();
            const FROM: usize = E::SIZE;
            const TO: usize = E::SIZE;

            fn modifies(modify: Modify) -> bool {
                modifies::<C>(modify)
            }

            fn reads(source: &Source) -> bool {
                Needs::of::<C, E>() == Needs::Half || is_lane::<C>(source)
            }

            fn writes(destination: &Destination) -> bool {
                Needs::of::<C, E>() == Needs::Half && !destination.saturate || is_element::<C>(destination)
            }

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn lanes<const N: usize, const TIMES: usize, const MODIFIED: bool, H: Host>(
                host: H,
                hot: &Hot,
                file: &mut [u8],
                mask: u32,
            ) {
                $(let $arg = Lanes::<E>::new(hot.sources[$index], file);)*
                for first in (0..TIMES).map(|turn| turn * N) {
                    let result = {
                        $(let $arg: [C; N] = $arg.read::<C, N, MODIFIED>(file, first);)*
                        let mut result = [C::default(); N];
                        for lane in 0..N {
                            result[lane] = O::apply($($arg[lane]),*);
                        }
                        result
                    };
                    if O::is_open(&result) {
                        let kernel = $settled::<O, C, E, N> { hot, file, first, mask, $($arg,)* body: PhantomData };
                        settled(host, kernel);
                    } else {
                        put(file, hot.to, first, mask, &converted::<C, E, N>(&result));
                    }
                }
            }
        }

        /// Computes lanes of which one is to be settled, once more: so that nothing need be kept for that.
        struct $settled<'a, O, C, E, const N: usize> {
            hot: &'a Hot,
            file: &'a mut [u8],
            first: usize,
            mask: u32,
            $($arg: Lanes<E>,)*
            body: PhantomData<(O, C)>,
        }

        impl<O: $trait<C>, C: Compute + Convert<E>, E: Element + Convert<C>, const N: usize> Kernel
            for $settled<'_, O, C, E, N>
        {
            type Output = ();

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn run<H: Host>(self, _: H) {
                let Self { hot, file, first, mask, .. } = self;
                $(let $arg: [C; N] = self.$arg.read::<C, N, true>(file, first);)*
                let mut result = [C::default(); N];
                for lane in 0..N {
                    result[lane] = O::apply($($arg[lane]),*);
                }
                let result = O::settle(result, [$($arg),*]);
                put(file, hot.to, first, mask, &converted::<C, E, N>(&result));
            }
        }
    )*};
}

#[cold]
#[inline(never)]
fn settled<K: Kernel<Output = ()>, H: Host>(host: H, kernel: K) {
    host.call(kernel);
}

/// Lanes as elements, or elements as lanes.
#[cfg_attr(not(debug_assertions), inline(always))]
fn converted<S: Convert<D> + Copy, D: Pod, const N: usize>(values: &[S; N]) -> [D; N] {
    let mut result = [D::zeroed(); N];
    for lane in 0..N {
        result[lane] = values[lane].convert();
    }
    result
}

arithmetic! {
    /// One source.
    OfOne SettledOfOne Unary (a 0);
    /// Two sources.
    OfTwo SettledOfTwo Binary (a 0, b 1);
    /// Three sources.
    OfThree SettledOfThree Ternary (a 0, b 1, c 2);
}

/// Any bitwise function of three sources.
pub(super) struct Bitwise;

impl Body for Bitwise {
    const NEEDS: Needs = Needs::Nothing;
    const FROM: usize = 4;
    const TO: usize = 4;

    fn reads(source: &Source) -> bool {
        is_lane::<u32>(source)
    }

    fn writes(destination: &Destination) -> bool {
        is_element::<u32>(destination)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const TIMES: usize, const MODIFIED: bool, H: Host>(
        _: H,
        hot: &Hot,
        file: &mut [u8],
        mask: u32,
    ) {
        let function = Horner::new(hot.coefficients);
        let [a, b, c] = hot.sources;
        let [a, b, c] = [
            Lanes::<u32>::new(a, file),
            Lanes::new(b, file),
            Lanes::new(c, file),
        ];
        for first in (0..TIMES).map(|turn| turn * N) {
            let a: [u32; N] = a.read::<u32, N, false>(file, first);
            let b: [u32; N] = b.read::<u32, N, false>(file, first);
            let c: [u32; N] = c.read::<u32, N, false>(file, first);
            let mut result = [0; N];
            for lane in 0..N {
                result[lane] = function.apply(a[lane], b[lane], c[lane]);
            }
            put(file, hot.to, first, mask, &result);
        }
    }
}

/// A copy of elements that are every other one of the source, or become every other one of the destination.
pub(super) struct EveryOther<E, const OF_SOURCE: bool>(PhantomData<E>);

impl<E: Compute + Element, const OF_SOURCE: bool> Body for EveryOther<E, OF_SOURCE> {
    const NEEDS: Needs = Needs::Nothing;
    const FROM: usize = if OF_SOURCE { 2 * E::SIZE } else { E::SIZE };
    const TO: usize = if OF_SOURCE { E::SIZE } else { 2 * E::SIZE };
    const STRIDES: [usize; 2] = if OF_SOURCE {
        [2 * E::SIZE, 0]
    } else {
        [0, 2 * E::SIZE]
    };

    // The type of the source was compared when the kind was looked for.
    fn writes(destination: &Destination) -> bool {
        is_element::<E>(destination)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const TIMES: usize, const MODIFIED: bool, H: Host>(
        _: H,
        hot: &Hot,
        file: &mut [u8],
        mask: u32,
    ) {
        let [from, ..] = hot.sources;
        let scalar: E = element(file, from.offset as usize);
        for first in (0..TIMES).map(|turn| turn * N) {
            let at = from.offset as usize + first * Self::FROM;
            if OF_SOURCE {
                let pairs: [[E; 2]; N] = array(file, at);
                let mut result = [E::zeroed(); N];
                for lane in 0..N {
                    [result[lane], _] = pairs[lane];
                }
                put(file, hot.to, first, mask, &result);
            } else {
                let values: [E; N] = either(from.scalar, scalar, file, at);
                let to = hot.to as usize + first * Self::TO;
                let mut pairs: [[E; 2]; N] = array(file, to);
                for lane in 0..N {
                    pairs[lane][0] = values[lane];
                }
                put(file, hot.to, first, mask, &pairs);
            }
        }
    }
}

/// A conversion of lanes to lanes of another type, or of floats to floats with another sign.
pub(super) struct Conversion<S, D>(PhantomData<(S, D)>);

impl<S, D> Body for Conversion<S, D>
where
    S: Compute + Element + Convert<S> + Convert<D>,
    D: Compute + Element,
{
    const NEEDS: Needs = Needs::Conversions;
    const FROM: usize = S::SIZE;
    const TO: usize = D::SIZE;

    fn modifies(modify: Modify) -> bool {
        modifies::<S>(modify)
    }

    fn reads(source: &Source) -> bool {
        is_lane::<S>(source)
    }

    fn writes(destination: &Destination) -> bool {
        is_element::<D>(destination)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const TIMES: usize, const MODIFIED: bool, H: Host>(
        _: H,
        hot: &Hot,
        file: &mut [u8],
        mask: u32,
    ) {
        let [from, ..] = hot.sources;
        let from = Lanes::<S>::new(from, file);
        for first in (0..TIMES).map(|turn| turn * N) {
            let values: [S; N] = from.read::<S, N, MODIFIED>(file, first);
            put(file, hot.to, first, mask, &converted::<S, D, N>(&values));
        }
    }
}

/// A conversion to elements of another size: of integers, or of floats.
pub(super) struct Resizing<S, D>(PhantomData<(S, D)>);

impl<S: Element + Convert<D>, D: Element> Body for Resizing<S, D> {
    const NEEDS: Needs = match S::RANGE {
        Some(_) => Needs::Nothing,
        None => Needs::Conversions,
    };
    const FROM: usize = S::SIZE;
    const TO: usize = D::SIZE;

    // Types were compared when the kind was looked for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const TIMES: usize, const MODIFIED: bool, H: Host>(
        _: H,
        hot: &Hot,
        file: &mut [u8],
        mask: u32,
    ) {
        let [from, ..] = hot.sources;
        let scalar: S = element(file, from.offset as usize);
        for first in (0..TIMES).map(|turn| turn * N) {
            let first_byte = from.offset as usize + first * S::SIZE;
            let values: [S; N] = either(from.scalar, scalar, file, first_byte);
            put(file, hot.to, first, mask, &converted::<S, D, N>(&values));
        }
    }
}
