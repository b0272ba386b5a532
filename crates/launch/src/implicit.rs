//! The buffer of implicit arguments, for functions called with a stack, which have no payload.
//!
//! Its layout (version 0) is that of the public OpenCL and Level Zero runtime for this hardware:
//!
//! ```text
//! 0x00  size, version, number of dimensions, lanes     one byte each
//! 0x04  size of the group                              3 x u32
//! 0x10  size of the grid                               3 x u64
//! 0x28  buffer of printf                               u64
//! 0x30  offset of the grid                             3 x u64
//! 0x48  table of local ids                             u64
//! 0x50  number of groups                               3 x u32
//! 0x60  buffer of ray tracing, buffer of assert        2 x u64
//! ```
//!
//! The table has the 16-bit local ids of each thread's lanes, x, then y, then z, each for at least 16 lanes; threads of
//! one lane have three words. The first dword of a thread's header has the offset of the buffer.

use crate::bind::Bound;
use crate::error::LaunchError;
use crate::ndrange::NdRange;
use crate::payload::{Layout, items, local_id};

/// Bytes that the buffer says it has.
const SIZE: u8 = 0x70;

/// The place of the address of the buffer for assertions.
const ASSERT: usize = 0x68;

/// Bytes of it, the reserved ones included; the table follows.
const TABLE: usize = 0x80;

/// Offsets in a header have no lower bits.
const ALIGNMENT: usize = 64;

/// The buffers of a launch, one for each size of groups, in one piece of memory.
#[derive(Debug)]
pub(crate) struct Implicit {
    base: u64,
    places: Vec<([u32; 3], u32)>,
}

impl Implicit {
    /// Lays out the buffers for all sizes of groups that the grid has.
    pub(crate) fn new(
        bound: &mut Bound,
        range: &NdRange,
        layout: &Layout,
        walk: [usize; 3],
    ) -> Result<Self, LaunchError> {
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        // The places of the pointers to the tables, and their targets.
        let mut tables = Vec::new();
        let buffers = (bound.printf_address(), bound.assert_address());
        for local in range.local_sizes() {
            let at = bytes.len();
            places.push((local, u32::try_from(at).unwrap_or(u32::MAX)));
            let table = arguments(range, layout, local, buffers, &mut bytes);
            tables.push((table, at + TABLE));
            ids(layout, local, walk, &mut bytes);
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        }
        let (base, buffer) = bound.add_bytes(&bytes)?;
        for (pointer, table) in tables {
            let address = base.wrapping_add(table as u64);
            bound
                .memory
                .write(buffer, pointer as u64, &address.to_le_bytes());
        }
        bound.memory.set_argument_base(base);
        Ok(Self { base, places })
    }

    /// The offset of the buffer for a size of groups, from the first one.
    pub(crate) fn place(&self, local: [u32; 3]) -> u32 {
        let found = self.places.iter().find(|place| place.0 == local);
        found.map_or(0, |place| place.1)
    }

    /// Address of the buffer for a size of groups.
    pub(crate) fn address(&self, local: [u32; 3]) -> u64 {
        self.base.wrapping_add(self.place(local).into())
    }
}

/// The buffer without its table; returns the place of the pointer to that.
fn arguments(
    range: &NdRange,
    layout: &Layout,
    local: [u32; 3],
    (printf, assert): (u64, u64),
    bytes: &mut Vec<u8>,
) -> usize {
    let at = bytes.len();
    let byte = |n: u32| u8::try_from(n).unwrap_or(u8::MAX);
    bytes.extend([SIZE, 0, byte(range.dimensions), byte(layout.simd)]);
    bytes.extend(local.into_iter().flat_map(u32::to_le_bytes));
    let long = |n: u32| u64::from(n).to_le_bytes();
    bytes.extend(range.global.into_iter().flat_map(long));
    bytes.extend(printf.to_le_bytes());
    bytes.extend(range.offset.into_iter().flat_map(long));
    let pointer = bytes.len();
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(range.groups().into_iter().flat_map(u32::to_le_bytes));
    bytes.resize(at + ASSERT, 0);
    bytes.extend(assert.to_le_bytes());
    bytes.resize(at + TABLE, 0);
    pointer
}

/// The table of the local ids of a group.
fn ids(layout: &Layout, local: [u32; 3], walk: [usize; 3], bytes: &mut Vec<u8>) {
    let word = |id: u32| u16::try_from(id).unwrap_or(u16::MAX).to_le_bytes();
    let id = |number: u32| local_id(number, local, walk);
    if layout.simd == 1 {
        bytes.extend((0..items(local)).flat_map(id).flat_map(word));
        return;
    }
    let lanes = layout.simd.max(16);
    for thread in 0..layout.threads(local) {
        let first = thread.saturating_mul(layout.simd);
        for dimension in 0..3 {
            for lane in 0..lanes {
                let known = lane < layout.simd;
                let id = id(first.saturating_add(lane)).get(dimension).copied();
                bytes.extend(word(id.filter(|_| known).unwrap_or(0)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use crate::bind::bind;
    use crate::variables::Variables;
    use crate::zeinfo::ZeInfo;

    /// The memory at an address of the only buffer.
    fn made(simd: u32, range: &NdRange) -> (Implicit, Vec<u8>) {
        let text = format!("kernels:\n  - name: k\n    execution_env:\n      simd_size: {simd}\n");
        let info = ZeInfo::parse(&text).unwrap().kernels.remove(0);
        let layout = Layout::new(&info, &[], 32).unwrap();
        let mut bound = bind(
            (&info, 32),
            &[],
            &Variables::default(),
            None,
            &crate::Config::default(),
        )
        .unwrap();
        bound.add_assert().unwrap();
        let made = Implicit::new(&mut bound, range, &layout, [0, 1, 2]).unwrap();
        let bytes = bound.memory.read(visakit_exec::BufferId(1));
        let assert = bound.assert_address().to_le_bytes();
        assert!(assert != [0; 8] && bytes[ASSERT..ASSERT + 8] == assert);
        (made, bytes)
    }

    fn words(bytes: &[u8]) -> Vec<u16> {
        let words = bytes.as_chunks().0.iter();
        words.map(|word| u16::from_le_bytes(*word)).collect()
    }

    #[test]
    fn arguments_and_tables() {
        let range = NdRange::new(&[10, 3], &[4, 2], &[7, 8]).unwrap();
        let (made, bytes) = made(8, &range);
        // The last column and the last row are of other sizes.
        let sizes: Vec<_> = made.places.iter().map(|place| place.0).collect();
        assert_eq!(sizes, [[4, 2, 1], [2, 2, 1], [4, 1, 1], [2, 1, 1]]);
        for (local, at) in &made.places {
            let at = usize::try_from(*at).unwrap();
            assert!(at.is_multiple_of(ALIGNMENT));
            let dword =
                |n: usize| u32::from_le_bytes(bytes[at + n..at + n + 4].try_into().unwrap());
            let long = |n: usize| u64::from_le_bytes(bytes[at + n..at + n + 8].try_into().unwrap());
            assert_eq!(bytes[at..at + 4], [0x70, 0, 2, 8]);
            assert_eq!([4, 8, 12].map(dword), *local);
            assert_eq!([0x10, 0x18, 0x20].map(long), [10, 3, 1]);
            assert_eq!([0x30, 0x38, 0x40].map(long), [7, 8, 0]);
            assert_eq!([0x50, 0x54, 0x58].map(dword), [3, 2, 1]);
            assert_eq!(long(0x48), made.address(*local) + 0x80);
        }
        // 16 places for each dimension, of which 8 are lanes.
        let table = words(&bytes[0x80..0xe0]);
        assert_eq!(table[..8], [0, 1, 2, 3, 0, 1, 2, 3]);
        assert_eq!(table[16..24], [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(table[32..40], [0; 8]);
    }

    #[test]
    fn threads_of_one_lane() {
        let range = NdRange::new(&[2, 2], &[2, 2], &[]).unwrap();
        let (made, bytes) = made(1, &range);
        assert_eq!(made.places.len(), 1);
        let table = words(&bytes[0x80..0x98]);
        assert_eq!(table, [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0]);
    }
}
