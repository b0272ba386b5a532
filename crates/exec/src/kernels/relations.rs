//! The code of hot comparisons, and of what works on predicates.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::bodies::{Body, Modifiers, Needs, Work, is_widened};
use super::choice::{Relation, relate};
use super::hot::Place;
use crate::code::{Destination, Modify, Region, Source};
use crate::lanes::convert::{Compute, Convert, Element};
use crate::lanes::int::Binary;
use crate::lanes::simd::Host;
use crate::machine::file::element;
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
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(host: H, work: Work<'_>) {
        let [a, b, _] = work.sources::<E>();
        let mut bits = 0;
        for first in work.turns::<N>() {
            let a: [C; N] = a.read::<C, N, MODIFIED>(work.file, first);
            let b: [C; N] = b.read::<C, N, MODIFIED>(work.file, first);
            bits |= relate::<R, C, N, H>(host, &a, &b) << first;
        }
        let bits = if work.hot.negated { !bits } else { bits };
        work.set(bits);
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
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(_: H, mut work: Work<'_>) {
        let [a, b, _] = work.sources::<C>();
        let inverted = u32::from(work.hot.negated).wrapping_neg();
        for first in work.turns::<N>() {
            let a: [C; N] = a.read::<C, N, MODIFIED>(work.file, first);
            let b: [C; N] = b.read::<C, N, MODIFIED>(work.file, first);
            let mut result = [0u32; N];
            for lane in 0..N {
                let holds = R::holds(&a[lane], &b[lane]);
                result[lane] = u32::from(holds).wrapping_neg() ^ inverted;
            }
            work.put(first, &result);
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
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(_: H, work: Work<'_>) {
        let [from, ..] = work.hot.sources;
        let bits = element(work.file, from.offset as usize);
        work.set(bits);
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
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(_: H, work: Work<'_>) {
        let bits = |place: Place| {
            let bits: u32 = element(work.file, place.offset as usize);
            let inverted = place.modify == Modify::Not;
            (if inverted { !bits } else { bits }) >> work.hot.first
        };
        let [a, b, _] = work.hot.sources;
        let bits = O::apply(bits(a), bits(b));
        work.set(bits);
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
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(_: H, mut work: Work<'_>) {
        let chosen = work.hot.chooser().read(work.file);
        let [a, b, _] = work.sources::<C>();
        for first in work.turns::<N>() {
            let a: [C; N] = a.read::<C, N, MODIFIED>(work.file, first);
            let mut result: [C; N] = b.read::<C, N, MODIFIED>(work.file, first);
            for lane in 0..N {
                let chosen = chosen >> first >> lane & 1 != 0;
                result[lane] = if chosen { a[lane] } else { result[lane] };
            }
            work.put(first, &result);
        }
    }
}
