//! The code of hot computations: how lanes are read, computed and written.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::choice::{Relation, relate};
use super::hot::{Hot, Place};
use crate::code::{Destination, Modify, Source};
use crate::lanes::convert::{Compute, Convert, Element};
use crate::lanes::int::{Binary, Horner, Ternary, Unary};
use crate::machine::registers::{array, element, is_element, is_lane, put};
use crate::machine::simd::{Kernel, Simd};
use std::marker::PhantomData;

/// Lanes that are computed at a time: two wide registers of 32-bit lanes.
pub(super) const CHUNK: usize = 16;

/// When the host's floats must behave as the thread's float mode requires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Needs {
    Nothing,
    Single,
    Double,
    Conversions,
}

impl Needs {
    const fn of<C: Compute>() -> Self {
        match (C::FLOAT, size_of::<C>()) {
            (false, _) => Self::Nothing,
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
    fn modifies(modify: Modify) -> bool;
    /// Whether elements of a source can be used as lanes unchanged.
    fn reads(source: &Source) -> bool;
    /// Whether lanes can be stored as elements of a destination unchanged.
    fn writes(destination: &Destination) -> bool;
    /// Computes N lanes at a time, and writes those of the mask. Without `MODIFIED` no source has a modifier.
    fn lanes<const N: usize, const MODIFIED: bool>(hot: &Hot, file: &mut [u8], mask: u32);
}

/// Computes the lanes of the mask, where that is to be inlined.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn inlined<B: Body>(simd: Simd, hot: &Hot, file: &mut [u8], mask: u32) {
    if hot.modified {
        called::<B>(simd, hot, file, mask);
    } else if hot.lanes == 1 {
        B::lanes::<1, false>(hot, file, mask);
    } else {
        B::lanes::<CHUNK, false>(hot, file, mask);
    }
}

/// Computes the lanes of the mask.
#[inline(never)]
pub(super) fn called<B: Body>(simd: Simd, hot: &Hot, file: &mut [u8], mask: u32) {
    simd.run(Call::<B> {
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
    fn run(self) {
        let Self {
            hot, file, mask, ..
        } = self;
        match (hot.lanes, hot.modified) {
            (1, false) => B::lanes::<1, false>(hot, file, mask),
            (1, true) => B::lanes::<1, true>(hot, file, mask),
            (_, false) => B::lanes::<CHUNK, false>(hot, file, mask),
            (_, true) => B::lanes::<CHUNK, true>(hot, file, mask),
        }
    }
}

/// A source. A value used by all lanes is read before anything is written.
#[derive(Clone, Copy)]
struct Lanes<C> {
    place: Place,
    value: C,
}

impl<C: Compute> Lanes<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new(place: Place, file: &[u8]) -> Self {
        let value = match place.scalar {
            true => element(file, place.offset as usize),
            false => C::default(),
        };
        Self { place, value }
    }

    /// The N lanes from `first` on.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn read<const N: usize, const MODIFIED: bool>(&self, file: &[u8], first: usize) -> [C; N] {
        let mut values = match N == 1 || self.place.scalar {
            true => [self.value; N],
            false => array(file, self.place.offset as usize + first * size_of::<C>()),
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

/// The modifiers that can be applied to values of a type without a branch.
fn modifies<C: Compute>(modify: Modify) -> bool {
    C::FLOAT || !matches!(modify, Modify::Abs | Modify::NegAbs)
}

macro_rules! arithmetic {
    ($($(#[doc = $doc:literal])* $name:ident $trait:ident ($($arg:ident $index:literal),*);)*) => {$(
        $(#[doc = $doc])*
        pub(super) struct $name<O, C>(PhantomData<(O, C)>);

        impl<O: $trait<C>, C: Compute> Body for $name<O, C> {
            const NEEDS: Needs = Needs::of::<C>();
            const FROM: usize = size_of::<C>();
            const TO: usize = size_of::<C>();

            fn modifies(modify: Modify) -> bool {
                modifies::<C>(modify)
            }

            fn reads(source: &Source) -> bool {
                is_lane::<C>(source)
            }

            fn writes(destination: &Destination) -> bool {
                is_element::<C>(destination)
            }

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn lanes<const N: usize, const MODIFIED: bool>(hot: &Hot, file: &mut [u8], mask: u32) {
                $(let $arg = Lanes::<C>::new(hot.sources[$index], file);)*
                for first in (0..usize::from(hot.lanes)).step_by(N) {
                    let result = {
                        $(let $arg: [C; N] = $arg.read::<N, MODIFIED>(file, first);)*
                        let mut result = [C::default(); N];
                        for lane in 0..N {
                            result[lane] = O::apply($($arg[lane]),*);
                        }
                        result
                    };
                    if O::is_open(&result) {
                        settled::<N, O, C>(hot, file, first, mask, $($arg),*);
                    } else {
                        put(file, hot.to, first, mask, &result);
                    }
                }

                /// Computes lanes of which one is to be settled, once more: so that nothing need be kept for that.
                #[cold]
                #[inline(never)]
                fn settled<const N: usize, O: $trait<C>, C: Compute>(
                    hot: &Hot,
                    file: &mut [u8],
                    first: usize,
                    mask: u32,
                    $($arg: Lanes<C>),*
                ) {
                    $(let $arg: [C; N] = $arg.read::<N, true>(file, first);)*
                    let mut result = [C::default(); N];
                    for lane in 0..N {
                        result[lane] = O::apply($($arg[lane]),*);
                    }
                    put(file, hot.to, first, mask, &O::settle(result, [$($arg),*]));
                }
            }
        }
    )*};
}

arithmetic! {
    /// One source.
    OfOne Unary (a 0);
    /// Two sources.
    OfTwo Binary (a 0, b 1);
    /// Three sources.
    OfThree Ternary (a 0, b 1, c 2);
}

/// Any bitwise function of three sources.
pub(super) struct Bitwise;

impl Body for Bitwise {
    const NEEDS: Needs = Needs::Nothing;
    const FROM: usize = 4;
    const TO: usize = 4;

    fn modifies(modify: Modify) -> bool {
        modify == Modify::None
    }

    fn reads(source: &Source) -> bool {
        is_lane::<u32>(source)
    }

    fn writes(destination: &Destination) -> bool {
        is_element::<u32>(destination)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool>(hot: &Hot, file: &mut [u8], mask: u32) {
        let function = Horner::new(hot.coefficients);
        let [a, b, c] = hot.sources.map(|place| Lanes::<u32>::new(place, file));
        for first in (0..usize::from(hot.lanes)).step_by(N) {
            let a: [u32; N] = a.read::<N, false>(file, first);
            let b: [u32; N] = b.read::<N, false>(file, first);
            let c: [u32; N] = c.read::<N, false>(file, first);
            let mut result = [0; N];
            for lane in 0..N {
                result[lane] = function.apply(a[lane], b[lane], c[lane]);
            }
            put(file, hot.to, first, mask, &result);
        }
    }
}

/// A comparison that writes a predicate.
pub(super) struct Comparison<R, C>(PhantomData<(R, C)>);

impl<R: Relation, C: Compute> Body for Comparison<R, C> {
    const NEEDS: Needs = Needs::of::<C>();
    const FROM: usize = size_of::<C>();
    const TO: usize = 0;

    fn modifies(modify: Modify) -> bool {
        modifies::<C>(modify)
    }

    fn reads(source: &Source) -> bool {
        is_lane::<C>(source)
    }

    fn writes(_: &Destination) -> bool {
        false
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool>(hot: &Hot, file: &mut [u8], mask: u32) {
        let [a, b, _] = hot.sources.map(|place| Lanes::<C>::new(place, file));
        let mut bits = 0;
        for first in (0..usize::from(hot.lanes)).step_by(N) {
            let a: [C; N] = a.read::<N, MODIFIED>(file, first);
            let b: [C; N] = b.read::<N, MODIFIED>(file, first);
            bits |= relate::<R, C>(&a, &b) << first;
        }
        let bits = if hot.negated { !bits } else { bits };
        hot.sets().write(file, bits, mask);
    }
}

/// The first source where a predicate is set, else the second.
pub(super) struct Selection<C>(PhantomData<C>);

impl<C: Compute> Body for Selection<C> {
    // Values are not computed with.
    const NEEDS: Needs = Needs::Nothing;
    const FROM: usize = size_of::<C>();
    const TO: usize = size_of::<C>();

    fn modifies(modify: Modify) -> bool {
        modifies::<C>(modify)
    }

    fn reads(source: &Source) -> bool {
        is_lane::<C>(source)
    }

    fn writes(destination: &Destination) -> bool {
        is_element::<C>(destination)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool>(hot: &Hot, file: &mut [u8], mask: u32) {
        let chosen = hot.chooser().read(file);
        let [a, b, _] = hot.sources.map(|place| Lanes::<C>::new(place, file));
        for first in (0..usize::from(hot.lanes)).step_by(N) {
            let a: [C; N] = a.read::<N, MODIFIED>(file, first);
            let mut result: [C; N] = b.read::<N, MODIFIED>(file, first);
            for lane in 0..N {
                let chosen = chosen >> first >> lane & 1 != 0;
                result[lane] = if chosen { a[lane] } else { result[lane] };
            }
            put(file, hot.to, first, mask, &result);
        }
    }
}

/// The code of conversions from elements of one type to elements of another.
#[cfg_attr(not(debug_assertions), inline(always))]
fn convert<S, D, const N: usize>(hot: &Hot, file: &mut [u8], mask: u32)
where
    S: Element + Convert<D>,
    D: Element,
{
    let [from, ..] = hot.sources;
    let scalar: S = element(file, from.offset as usize);
    for first in (0..usize::from(hot.lanes)).step_by(N) {
        let values: [S; N] = match N == 1 || from.scalar {
            true => [scalar; N],
            false => array(file, from.offset as usize + first * S::SIZE),
        };
        let mut result = [D::zeroed(); N];
        for lane in 0..N {
            result[lane] = values[lane].convert();
        }
        put(file, hot.to, first, mask, &result);
    }
}

/// A conversion of lanes to lanes of another type.
pub(super) struct Conversion<S, D>(PhantomData<(S, D)>);

impl<S, D> Body for Conversion<S, D>
where
    S: Compute + Element + Convert<D>,
    D: Compute + Element,
{
    const NEEDS: Needs = Needs::Conversions;
    const FROM: usize = S::SIZE;
    const TO: usize = D::SIZE;

    fn modifies(modify: Modify) -> bool {
        modify == Modify::None
    }

    fn reads(source: &Source) -> bool {
        is_lane::<S>(source)
    }

    fn writes(destination: &Destination) -> bool {
        is_element::<D>(destination)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool>(hot: &Hot, file: &mut [u8], mask: u32) {
        convert::<S, D, N>(hot, file, mask);
    }
}

/// A copy of integers to integers of another size.
pub(super) struct Resizing<S, D>(PhantomData<(S, D)>);

impl<S: Element + Convert<D>, D: Element> Body for Resizing<S, D> {
    const NEEDS: Needs = Needs::Nothing;
    const FROM: usize = S::SIZE;
    const TO: usize = D::SIZE;

    fn modifies(modify: Modify) -> bool {
        modify == Modify::None
    }

    // The types were asked for when the kind was looked for.
    fn reads(_: &Source) -> bool {
        true
    }

    fn writes(_: &Destination) -> bool {
        true
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool>(hot: &Hot, file: &mut [u8], mask: u32) {
        convert::<S, D, N>(hot, file, mask);
    }
}
