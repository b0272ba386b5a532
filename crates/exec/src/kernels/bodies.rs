//! The code of hot computations: how lanes are read, computed and written.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::hot::{Hot, Place};
use crate::code::{Destination, Modify, Source};
use crate::lanes::convert::{Compute, Convert, Element};
use crate::lanes::int::{Binary, Horner, Ternary, TwoResults, Unary};
use crate::lanes::simd::{Host, Kernel};
use crate::machine::file::{array, element, put};
use crate::machine::registers::{is_element, is_lane};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::Range;

/// Lanes of 64 bits that are computed at a time: as many vectors of the host as for 32 lanes of 32 bits.
const WIDE: usize = 16;

/// Lanes that are computed at a time at least, if there are as many.
pub(super) const AT_A_TIME: usize = 8;

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

/// The modifiers that sources of a kind may have: those that can be applied to its lanes without a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Modifiers {
    None,
    OfIntegers,
    OfFloats,
}

impl Modifiers {
    /// For lanes of type C.
    pub(super) const fn of<C: Compute>() -> Self {
        if C::FLOAT {
            Self::OfFloats
        } else {
            Self::OfIntegers
        }
    }

    pub(super) const fn any(self) -> bool {
        !matches!(self, Self::None)
    }

    pub(super) const fn allow(self, modify: Modify) -> bool {
        match self {
            Self::None => matches!(modify, Modify::None),
            Self::OfIntegers => !matches!(modify, Modify::Abs | Modify::NegAbs),
            Self::OfFloats => true,
        }
    }
}

/// The code of a kind of computation, and which operands it takes.
///
/// There is as much code for each as its constants tell: it is most of what this crate has to compile.
pub(super) trait Body {
    const NEEDS: Needs;
    /// Bytes of a lane of the sources.
    const FROM: usize;
    /// Bytes of a lane of the destination; 0 where a predicate is written.
    const TO: usize;
    /// Bytes from element to element of the source and of the destination, where they are not consecutive.
    const STRIDES: [usize; 2] = [0; 2];
    const MODIFIERS: Modifiers = Modifiers::None;
    /// Whether the code depends on the number of lanes.
    const BY_LANES: bool = true;
    /// Whether elements of a source can be used as lanes unchanged.
    fn reads(_: &Source) -> bool {
        true
    }
    /// Whether lanes can be stored as elements of a destination unchanged. Not asked where a predicate is written.
    fn writes(_: &Destination) -> bool {
        true
    }
    /// Computes N lanes at a time, and writes those of the mask. Without `MODIFIED` no source has a modifier.
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(host: H, work: Work<'_>);
}

/// What the code of a computation works on.
pub(super) struct Work<'a> {
    pub(super) hot: &'a Hot,
    pub(super) file: &'a mut [u8],
    /// The lanes that are written.
    pub(super) mask: u32,
    /// How many times lanes are computed.
    times: usize,
}

impl<'a> Work<'a> {
    /// Lanes that are computed once.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(hot: &'a Hot, file: &'a mut [u8], mask: u32) -> Self {
        Self {
            hot,
            file,
            mask,
            times: 1,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    const fn often(self, times: usize) -> Self {
        Self { times, ..self }
    }

    /// The first lane of each N.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn turns<const N: usize>(&self) -> impl Iterator<Item = usize> + use<N> {
        (0..self.times).map(|turn| turn * N)
    }

    /// The sources, with the values that all lanes use: to be asked for before anything is written.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn sources<E: Element>(&self) -> [Lanes<E>; 3] {
        self.hot.sources.map(|place| Lanes::new(place, self.file))
    }

    /// Writes N lanes from `first` on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn put<E: Pod, const N: usize>(&mut self, first: usize, values: &[E; N]) {
        put(self.file, self.hot.to, first, self.mask, values);
    }

    /// Writes the predicate.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn set(self, bits: u32) {
        self.hot.sets().write(self.file, bits, self.mask);
    }
}

/// Computes the lanes of the mask by code for the number of lanes.
#[cfg_attr(not(debug_assertions), inline(always))]
fn sized<B: Body, const MODIFIED: bool, H: Host>(host: H, work: Work<'_>) {
    let wide = B::FROM > 4 || B::TO > 4;
    let Hot { lanes, width, .. } = *work.hot;
    if !B::BY_LANES {
        one::<B, 1, MODIFIED, H>(host, work);
    } else if !H::WIDE {
        if lanes > 1 {
            let times = usize::from(lanes).div_ceil(AT_A_TIME);
            one::<B, AT_A_TIME, MODIFIED, H>(host, work.often(times));
        } else {
            one::<B, 1, MODIFIED, H>(host, work);
        }
    } else {
        // Comparisons by themselves: of one number the compiler would make a jump through a table.
        match (width.wide, width.more) {
            (true, true) if wide => one::<B, WIDE, MODIFIED, H>(host, work.often(2)),
            (true, true) => one::<B, 32, MODIFIED, H>(host, work),
            (true, false) => one::<B, 16, MODIFIED, H>(host, work),
            (false, true) => one::<B, AT_A_TIME, MODIFIED, H>(host, work),
            (false, false) => one::<B, 1, MODIFIED, H>(host, work),
        }
    }
}

/// The code for N lanes: a function of its own, so that the compiler makes vectors of it before it becomes part of the loop.
#[cfg_attr(not(debug_assertions), inline(always))]
fn one<B: Body, const N: usize, const MODIFIED: bool, H: Host>(host: H, work: Work<'_>) {
    host.call(One::<B, N, MODIFIED>(work, PhantomData));
}

struct One<'a, B, const N: usize, const MODIFIED: bool>(Work<'a>, PhantomData<B>);

impl<B: Body, const N: usize, const MODIFIED: bool> Kernel for One<'_, B, N, MODIFIED> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<H: Host>(self, host: H) {
        B::lanes::<N, MODIFIED, H>(host, self.0);
    }
}

/// Computes the lanes of the mask, where that is to be inlined.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn inlined<B: Body, H: Host>(host: H, hot: &Hot, file: &mut [u8], mask: u32) {
    if B::MODIFIERS.any() && hot.modified {
        called::<B, H>(host, hot, file, mask);
    } else {
        sized::<B, false, H>(host, Work::new(hot, file, mask));
    }
}

/// Computes the lanes of the mask, where sources with modifiers are frequent, too.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn entire<B: Body, H: Host>(host: H, hot: &Hot, file: &mut [u8], mask: u32) {
    let work = Work::new(hot, file, mask);
    if hot.modified {
        sized::<B, true, H>(host, work);
    } else {
        sized::<B, false, H>(host, work);
    }
}

/// Computes the lanes of the mask, whether sources have modifiers or not.
#[inline(never)]
pub(super) fn called<B: Body, H: Host>(host: H, hot: &Hot, file: &mut [u8], mask: u32) {
    host.call(Call::<B>(Work::new(hot, file, mask), PhantomData));
}

struct Call<'a, B>(Work<'a>, PhantomData<B>);

impl<B: Body> Kernel for Call<'_, B> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<H: Host>(self, host: H) {
        if B::MODIFIERS.any() {
            sized::<B, true, H>(host, self.0);
        } else {
            sized::<B, false, H>(host, self.0);
        }
    }
}

/// Whether lanes are longer than their elements. Types of these were compared when the kind was looked for.
pub(super) const fn is_widened<C, E>() -> bool {
    size_of::<C>() != size_of::<E>()
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

    /// The N elements from lane `first` on, as they are.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn elements<const N: usize>(&self, file: &[u8], first: usize) -> [E; N] {
        let first = self.place.offset as usize + first * E::SIZE;
        either(self.place.scalar, self.value, file, first)
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
        let mut values = converted(&self.elements(file, first));
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
            const MODIFIERS: Modifiers = Modifiers::of::<C>();

            fn reads(source: &Source) -> bool {
                is_widened::<C, E>() || is_lane::<C>(source)
            }

            fn writes(destination: &Destination) -> bool {
                if is_widened::<C, E>() {
                    !destination.saturate
                } else {
                    is_element::<C>(destination)
                }
            }

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn lanes<const N: usize, const MODIFIED: bool, H: Host>(host: H, mut work: Work<'_>) {
                $(let $arg = Lanes::<E>::new(work.hot.sources[$index], work.file);)*
                for first in work.turns::<N>() {
                    let result = O::all([$($arg.read::<C, N, MODIFIED>(work.file, first)),*]);
                    if O::SETTLES && O::is_open(&result) {
                        let lanes = first..first + N;
                        let work = Work::new(work.hot, work.file, work.mask);
                        settled(host, $settled::<O, C, E> { work, lanes, $($arg,)* body: PhantomData });
                    } else {
                        work.put(first, &converted::<C, E, N>(&result));
                    }
                }
            }
        }

        /// Computes lanes of which one is to be settled, once more: so that nothing need be kept for that.
        struct $settled<'a, O, C, E> {
            work: Work<'a>,
            lanes: Range<usize>,
            $($arg: Lanes<E>,)*
            body: PhantomData<(O, C)>,
        }

        impl<O: $trait<C>, C: Compute + Convert<E>, E: Element + Convert<C>> Kernel
            for $settled<'_, O, C, E>
        {
            type Output = ();

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn run<H: Host>(self, _: H) {
                let Self { mut work, lanes, .. } = self;
                for first in lanes.step_by(AT_A_TIME) {
                    let sources = [$(self.$arg.read::<C, AT_A_TIME, true>(work.file, first)),*];
                    let result = O::settle(O::all(sources), sources);
                    work.put(first, &converted::<C, E, AT_A_TIME>(&result));
                }
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
pub(super) fn converted<S: Convert<D> + Copy, D: Pod, const N: usize>(values: &[S; N]) -> [D; N] {
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

/// A sum or difference of dwords; its carry or borrow goes to where the third source would be.
pub(super) struct Carried<O>(PhantomData<O>);

impl<O: TwoResults<u32>> Body for Carried<O> {
    const NEEDS: Needs = Needs::Nothing;
    const FROM: usize = 4;
    const TO: usize = 4;

    // Types of sources were compared when the kind was looked for.
    fn writes(destination: &Destination) -> bool {
        is_element::<u32>(destination)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(_: H, mut work: Work<'_>) {
        let ([a, b, _], [.., second]) = (work.sources::<u32>(), work.hot.sources);
        for first in work.turns::<N>() {
            let a: [u32; N] = a.read::<u32, N, false>(work.file, first);
            let b: [u32; N] = b.read::<u32, N, false>(work.file, first);
            let (mut low, mut high) = ([0; N], [0; N]);
            for lane in 0..N {
                (low[lane], high[lane]) = O::apply(a[lane], b[lane]);
            }
            work.put(first, &low);
            put(work.file, second.offset, first, work.mask, &high);
        }
    }
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
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(_: H, mut work: Work<'_>) {
        let function = Horner::new(work.hot.coefficients);
        let [a, b, c] = work.sources::<u32>();
        for first in work.turns::<N>() {
            let a: [u32; N] = a.read::<u32, N, false>(work.file, first);
            let b: [u32; N] = b.read::<u32, N, false>(work.file, first);
            let c: [u32; N] = c.read::<u32, N, false>(work.file, first);
            let mut result = [0; N];
            for lane in 0..N {
                result[lane] = function.apply(a[lane], b[lane], c[lane]);
            }
            work.put(first, &result);
        }
    }
}
