//! Elements of a register file at byte offsets: one, or as many as lanes.

#![allow(
    clippy::indexing_slicing,
    reason = "hot numeric code: arrays of N lanes are indexed by a lane below N"
)]

use crate::operands::full;
use bytemuck::Pod;

/// An element of a register file, 0 outside of it.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn element<E: Pod>(file: &[u8], offset: usize) -> E {
    let [element] = array(file, offset);
    element
}

/// Writes an element; no effect outside the file.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn set_element<E: Pod>(file: &mut [u8], offset: usize, value: E) {
    if let Some(end) = offset.checked_add(size_of::<E>())
        && let Some(bytes) = file.get_mut(offset..end)
    {
        bytes.copy_from_slice(bytemuck::bytes_of(&value));
    }
}

/// N consecutive elements, 0 outside of the file. It has a tail, so that reads of fixed width stay inside.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn array<E: Pod, const N: usize>(file: &[u8], offset: usize) -> [E; N] {
    let end = offset.checked_add(size_of::<[E; N]>());
    match end.and_then(|end| file.get(offset..end)) {
        Some(bytes) => bytemuck::pod_read_unaligned(bytes),
        None => [E::zeroed(); N],
    }
}

/// Writes those of the N lanes from `first` on that the mask enables; lane 0 is at `to`.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn put<E: Pod, const N: usize>(
    file: &mut [u8],
    to: u32,
    first: usize,
    mask: u32,
    values: &[E; N],
) {
    let mask = mask >> first & full(N);
    let offset = to as usize + first * size_of::<E>();
    let Some(bytes) = file.get_mut(offset..offset + size_of::<[E; N]>()) else {
        return;
    };
    if mask == full(N) {
        bytes.copy_from_slice(bytemuck::bytes_of(values));
        return;
    }
    if N == 32 {
        // The compiler would treat the last bit of a word in another way than the others.
        let (low, high) = bytes.split_at_mut(size_of::<[E; N]>() / 2);
        let (values, _) = values.as_chunks::<16>();
        merge(low, mask, &values[0]);
        merge(high, mask >> 16, &values[1]);
    } else {
        merge(bytes, mask, values);
    }
}

/// Writes those of N lanes that the mask enables to as many elements.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn merge<E: Pod, const N: usize>(bytes: &mut [u8], mask: u32, values: &[E; N]) {
    let mut merged: [E; N] = bytemuck::pod_read_unaligned(bytes);
    // Without this the compiler would use masked stores, from which hosts do not forward to the loads that follow.
    let mask = std::hint::black_box(mask);
    for lane in 0..N {
        let enabled = mask >> lane & 1 != 0;
        merged[lane] = if enabled { values[lane] } else { merged[lane] };
    }
    bytes.copy_from_slice(bytemuck::bytes_of(&merged));
}
