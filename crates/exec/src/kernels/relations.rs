//! The code of hot comparisons, and of what works on predicates.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::bodies::{Body, Lanes, Modifiers, Needs, is_widened};
use super::choice::{Relation, relate};
use super::hot::{Hot, Place};
use crate::code::{Destination, Modify, Region, Source};
use crate::lanes::convert::{Compute, Convert, Element};
use crate::lanes::int::Binary;
use crate::lanes::simd::Host;
use crate::machine::file::{element, put};
use crate::machine::registers::{is_element, is_lane};
use std::marker::PhantomData;

/// A comparison that writes a predicate.
pub(super) struct Comparison<R, C, E = C>(PhantomData<(R, C, E)>);

impl<R: Relation, C: Compute, E: Element + Convert<C>> Body for Comparison<R, C, E> {
    const NEEDS: Needs = Needs::of::<C, E>();
    const FROM: usize = E::SIZE;
    const TO: usize = 0;
    const MODIFIERS: Modifiers = Modifiers::of::<C>();

    fn reads(source: &Source) -> bool {
        is_widened::<C, E>() || is_lane::<C>(source)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(
        host: H,
        hot: &Hot,
        file: &mut [u8],
        mask: u32,
        times: usize,
    ) {
        let [a, b, _] = hot.sources;
        let (a, b) = (Lanes::<E>::new(a, file), Lanes::<E>::new(b, file));
        let mut bits = 0;
        for first in (0..times).map(|turn| turn * N) {
            let a: [C; N] = a.read::<C, N, MODIFIED>(file, first);
            let b: [C; N] = b.read::<C, N, MODIFIED>(file, first);
            bits |= relate::<R, C, N, H>(host, &a, &b) << first;
        }
        let bits = if hot.negated { !bits } else { bits };
        hot.sets().write(file, bits, mask);
    }
}

/// A comparison that writes all ones or zeros.
pub(super) struct Truth<R, C>(PhantomData<(R, C)>);

impl<R: Relation, C: Compute + Element + Convert<C>> Body for Truth<R, C> {
    const NEEDS: Needs = Needs::of::<C, C>();
    const FROM: usize = size_of::<C>();
    const TO: usize = 4;
    const MODIFIERS: Modifiers = Modifiers::of::<C>();

    fn reads(source: &Source) -> bool {
        is_lane::<C>(source)
    }

    fn writes(destination: &Destination) -> bool {
        is_element::<u32>(destination)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(
        _: H,
        hot: &Hot,
        file: &mut [u8],
        mask: u32,
        times: usize,
    ) {
        let [a, b, _] = hot.sources;
        let (a, b) = (Lanes::<C>::new(a, file), Lanes::<C>::new(b, file));
        let inverted = u32::from(hot.negated).wrapping_neg();
        for first in (0..times).map(|turn| turn * N) {
            let a: [C; N] = a.read::<C, N, MODIFIED>(file, first);
            let b: [C; N] = b.read::<C, N, MODIFIED>(file, first);
            let mut result = [0u32; N];
            for lane in 0..N {
                let holds = R::holds(&a[lane], &b[lane]);
                result[lane] = u32::from(holds).wrapping_neg() ^ inverted;
            }
            put(file, hot.to, first, mask, &result);
        }
    }
}

/// A predicate from the bits of a dword.
pub(super) struct Bits;

impl Body for Bits {
    const NEEDS: Needs = Needs::Nothing;
    const FROM: usize = 4;
    const TO: usize = 0;
    const BY_LANES: bool = false;

    fn reads(source: &Source) -> bool {
        source.region == Region::Scalar && is_lane::<u32>(source)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(
        _: H,
        hot: &Hot,
        file: &mut [u8],
        mask: u32,
        _: usize,
    ) {
        let [from, ..] = hot.sources;
        let bits = element(file, from.offset as usize);
        hot.sets().write(file, bits, mask);
    }
}

/// Logic on predicates.
pub(super) struct Logic<O>(PhantomData<O>);

impl<O: Binary<u32>> Body for Logic<O> {
    const NEEDS: Needs = Needs::Nothing;
    const FROM: usize = 0;
    const TO: usize = 0;
    const BY_LANES: bool = false;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(
        _: H,
        hot: &Hot,
        file: &mut [u8],
        mask: u32,
        _: usize,
    ) {
        let bits = |place: Place| {
            let bits: u32 = element(file, place.offset as usize);
            let inverted = place.modify == Modify::Not;
            (if inverted { !bits } else { bits }) >> hot.first
        };
        let [a, b, _] = hot.sources;
        let bits = O::apply(bits(a), bits(b));
        hot.sets().write(file, bits, mask);
    }
}

/// The first source where a predicate is set, else the second.
pub(super) struct Selection<C>(PhantomData<C>);

impl<C: Compute + Element + Convert<C>> Body for Selection<C> {
    // Values are not computed with.
    const NEEDS: Needs = Needs::Nothing;
    const FROM: usize = size_of::<C>();
    const TO: usize = size_of::<C>();
    const MODIFIERS: Modifiers = Modifiers::of::<C>();

    fn reads(source: &Source) -> bool {
        is_lane::<C>(source)
    }

    fn writes(destination: &Destination) -> bool {
        is_element::<C>(destination)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(
        _: H,
        hot: &Hot,
        file: &mut [u8],
        mask: u32,
        times: usize,
    ) {
        let chosen = hot.chooser().read(file);
        let [a, b, _] = hot.sources;
        let (a, b) = (Lanes::<C>::new(a, file), Lanes::<C>::new(b, file));
        for first in (0..times).map(|turn| turn * N) {
            let a: [C; N] = a.read::<C, N, MODIFIED>(file, first);
            let mut result: [C; N] = b.read::<C, N, MODIFIED>(file, first);
            for lane in 0..N {
                let chosen = chosen >> first >> lane & 1 != 0;
                result[lane] = if chosen { a[lane] } else { result[lane] };
            }
            put(file, hot.to, first, mask, &result);
        }
    }
}
