//! The code of hot copies and conversions.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use super::bodies::{Body, Modifiers, Needs, Work, converted};
use crate::code::{Destination, Source};
use crate::lanes::convert::{Compute, Convert, Element};
use crate::lanes::simd::Host;
use crate::machine::file::array;
use crate::machine::registers::{is_element, is_lane};
use std::marker::PhantomData;

/// A copy of elements of which the source has one in every `FROM`, and the destination one in every `TO`.
pub(super) struct Spaced<E, const FROM: usize, const TO: usize>(PhantomData<E>);

impl<E: Compute + Element, const FROM: usize, const TO: usize> Body for Spaced<E, FROM, TO> {
    const NEEDS: Needs = Needs::Nothing;
    const FROM: usize = FROM * E::SIZE;
    const TO: usize = TO * E::SIZE;
    const STRIDES: [usize; 2] = [
        if FROM > 1 { FROM * E::SIZE } else { 0 },
        if TO > 1 { TO * E::SIZE } else { 0 },
    ];

    // The type of the source was compared when the kind was looked for.
    fn writes(destination: &Destination) -> bool {
        is_element::<E>(destination)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(_: H, mut work: Work<'_>) {
        let [from, ..] = work.sources::<E>();
        let [source, ..] = work.hot.sources;
        for first in work.turns::<N>() {
            let mut values = [E::zeroed(); N];
            if FROM == 1 {
                values = from.elements(work.file, first);
            } else {
                let at = source.offset as usize + first * Self::FROM;
                let spaces: [[E; FROM]; N] = array(work.file, at);
                for lane in 0..N {
                    values[lane] = spaces[lane][0];
                }
            }
            if TO == 1 {
                work.put(first, &values);
            } else {
                let to = work.hot.to as usize + first * Self::TO;
                let mut spaces: [[E; TO]; N] = array(work.file, to);
                for lane in 0..N {
                    spaces[lane][0] = values[lane];
                }
                work.put(first, &spaces);
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
    const MODIFIERS: Modifiers = Modifiers::of::<S>();

    fn reads(source: &Source) -> bool {
        is_lane::<S>(source)
    }

    fn writes(destination: &Destination) -> bool {
        is_element::<D>(destination)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(_: H, mut work: Work<'_>) {
        let [from, ..] = work.sources::<S>();
        for first in work.turns::<N>() {
            let values: [S; N] = from.read::<S, N, MODIFIED>(work.file, first);
            work.put(first, &converted::<S, D, N>(&values));
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
    fn lanes<const N: usize, const MODIFIED: bool, H: Host>(_: H, mut work: Work<'_>) {
        let [from, ..] = work.sources::<S>();
        for first in work.turns::<N>() {
            let values: [S; N] = from.elements(work.file, first);
            work.put(first, &converted::<S, D, N>(&values));
        }
    }
}
