//! Undefined bits in systolic products.

use super::{Element, at_place};
use crate::shadow::{OriginId, Shadow, element, low_bytes};
use std::ops::Range;
use visakit_exec::code::{Bits, Systolic};

/// Tracks a systolic product in the enabled lanes. A product with zero is zero.
pub(crate) fn follow_systolic(
    systolic: &Systolic,
    (lanes, mask): (usize, u32),
    registers: &[u8],
    shadow: &mut Shadow,
) {
    let scales = systolic.scales();
    let scales = scales.map(|range| at_place_of(range, shadow));
    let scale = scales.fold(Element::default(), Element::with);
    let of_bits = |bits: Bits| {
        let mask = u64::MAX >> (64 - bits.count.clamp(1, 32));
        let (at, shift) = (bits.first / 8, bits.first % 8);
        let bytes = (shift + bits.count).div_ceil(8);
        let undefined = shadow.element(at, bytes) >> shift & mask;
        Element {
            value: element(registers, at, bytes) >> shift & mask,
            undefined,
            origin: match undefined {
                0 => OriginId::ITSELF,
                _ => shadow.origin(at, bytes),
            },
        }
    };
    let mut results = Vec::new();
    for row in 0..systolic.rows() {
        for lane in (0..lanes).filter(|lane| mask >> lane & 1 != 0) {
            let (result, accumulator) = systolic.element(row, lane);
            let added = accumulator.map(|range| at_place_of(range, shadow));
            let mut found = scale.with(added.unwrap_or_default());
            for [weight, activation] in systolic.products(row, lane) {
                let (weight, activation) = (of_bits(weight), of_bits(activation));
                let zero = |e: Element| e.value | e.undefined == 0;
                if !zero(weight) && !zero(activation) {
                    found = found.with(weight).with(activation);
                }
            }
            results.push((result, found));
        }
    }
    for (result, found) in results {
        let bits = found.undefined & low_bytes(result.len());
        shadow.set_element(result.start, result.len(), bits, found.origin);
    }
}

/// The undefined bits of a range, of at most eight bytes each time.
fn at_place_of(range: Range<usize>, shadow: &Shadow) -> Element {
    let parts = range.clone().step_by(8);
    let parts = parts.map(|at| at_place(at, (range.end - at).min(8), shadow));
    parts.fold(Element::default(), Element::with)
}
