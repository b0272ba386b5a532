//! The register image that a thread starts with.
//!
//! ```text
//! [0, GRF)          r0, the thread header
//! [GRF, GRF+T)      local ids, T bytes, if the kernel uses any
//! [cross, ...)      cross-thread data: arguments and facts about the grid
//! ```
//!
//! Inline data, the first bytes of the cross-thread data, fill whole registers; with registers of 64 bytes there may be
//! a gap after them.
//!
//! A kernel's `.input` lines say which bytes of the image go into which variable.

use crate::error::LaunchError;
use crate::facts::Facts;
use crate::zeinfo::{ArgType, KernelInfo};
use visakit_exec::HeaderDwords;

/// Images that are larger are refused; real ones have a few KiB.
const MOST_IMAGE: u32 = 1 << 20;

/// Bytes of the input that holds the offset of the grid and the size of groups.
const HEADER_INPUT: u32 = 32;

/// Bytes of the thread header that is filled in.
const HEADER: usize = 32;

/// The layout of a kernel's register image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of a register.
    pub grf_bytes: u32,
    /// Work-items of a thread.
    pub simd: u32,
    /// Start of the cross-thread data.
    pub cross: u32,
    /// Its first part, and the gap after that.
    inline: Inline,
    /// Size of the image.
    pub bytes: u32,
    /// The place of the local ids, if the kernel uses any.
    pub local_ids: Option<LocalIds>,
}

/// The first part of the cross-thread data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inline {
    /// Bytes of the payload that it holds.
    bytes: u32,
    /// Bytes of registers that it takes.
    registers: u32,
}

/// Most bytes that an argument is aligned to: those of the largest vectors.
pub(crate) const MOST_ALIGNED: u32 = 128;

impl Inline {
    /// Without a gap that comes from the alignment of an argument.
    fn new(info: &KernelInfo, grf_bytes: u32) -> Self {
        let bytes = info.execution_env.inline_data_payload_size;
        Self {
            bytes,
            registers: bytes
                .checked_next_multiple_of(grf_bytes.max(1))
                .unwrap_or(bytes),
        }
    }

    /// This payload with all gaps that there may be, the smallest first: the first argument that is not inline follows in
    /// the payload at once, wherever its alignment has put it in the registers.
    fn with_gaps(self, grf_bytes: u32) -> impl Iterator<Item = Self> {
        let registers = if self.bytes == 0 {
            0
        } else {
            MOST_ALIGNED / grf_bytes.max(32)
        };
        (0..=registers).map(move |n| Self {
            registers: self.registers.saturating_add(n * grf_bytes),
            ..self
        })
    }

    /// The place of a byte of the payload in the cross-thread data.
    const fn place(self, offset: u32) -> u32 {
        if offset < self.bytes {
            offset
        } else {
            (offset - self.bytes).saturating_add(self.registers)
        }
    }

    /// The byte of the payload at an offset; `None` in the gap.
    const fn offset(self, place: u32) -> Option<u32> {
        if place < self.bytes {
            Some(place)
        } else if place >= self.registers {
            Some((place - self.registers).saturating_add(self.bytes))
        } else {
            None
        }
    }
}

/// The place of local ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalIds {
    /// For each dimension an array of 16-bit lanes, padded to registers.
    Lanes {
        /// Position in the image.
        at: u32,
        /// Number of dimensions.
        dimensions: u32,
    },
    /// x, y and z of the only lane, 16 bits each.
    Packed {
        /// Position in the image.
        at: u32,
    },
}

impl Layout {
    /// Works out the layout from the metadata and the kernel's inputs, given as offset and size in bytes.
    ///
    /// # Errors
    /// [`LaunchError::Mismatch`] for sizes that cannot be, [`LaunchError::TooLarge`] for an image of more than 1 MiB.
    pub fn new(
        info: &KernelInfo,
        inputs: &[(u32, u32)],
        grf_bytes: u32,
    ) -> Result<Self, LaunchError> {
        let simd = info.execution_env.simd_size;
        if !(1..=32).contains(&simd) {
            return Err(LaunchError::Mismatch(format!(
                "simd_size is {simd}, which no thread has; expected 1, 8, 16 or 32"
            )));
        }
        let (cross, inline) = cross_place(info, Inline::new(info, grf_bytes), inputs, grf_bytes);
        let ends = inputs.iter().map(|(at, size)| at.saturating_add(*size));
        let arguments = info.payload_arguments.iter();
        let ends = ends.chain(arguments.map(|a| {
            let end = a.offset.saturating_add(a.size);
            cross.saturating_add(inline.place(end))
        }));
        let bytes = ends.max().unwrap_or(0).max(cross).max(64);
        if bytes > MOST_IMAGE {
            return Err(LaunchError::TooLarge {
                what: "the payload",
                bytes: bytes.into(),
                limit: MOST_IMAGE.into(),
            });
        }
        let mut local_ids = None;
        for piece in &info.per_thread_payload_arguments {
            let at = grf_bytes.saturating_add(piece.offset);
            match piece.arg_type {
                ArgType::LocalId => {
                    let stride = lane_stride(simd, grf_bytes);
                    local_ids = Some(LocalIds::Lanes {
                        at,
                        dimensions: piece.size.div_ceil(stride).min(3),
                    });
                }
                ArgType::PackedLocalIds => local_ids = Some(LocalIds::Packed { at }),
                ref other if piece.size > 0 => return Err(other.missing()),
                _ => {}
            }
        }
        Ok(Self {
            grf_bytes,
            simd,
            cross,
            inline,
            bytes,
            local_ids,
        })
    }

    /// The place of a byte of the payload in the image.
    pub(crate) const fn place(&self, offset: u32) -> u32 {
        self.cross.saturating_add(self.inline.place(offset))
    }

    /// The number of threads of a group of this size.
    #[must_use]
    pub fn threads(&self, local: [u32; 3]) -> u32 {
        items(local).div_ceil(self.simd.max(1))
    }

    /// Lanes of the thread of that number that have a work-item; bit k is lane k. The only work-item of a thread has
    /// all of them: what its instructions do at once is up to the kernel, which was written for vectors (ESIMD).
    #[must_use]
    pub fn live_lanes(&self, local: [u32; 3], thread: u32) -> u32 {
        if self.simd == 1 {
            return u32::MAX;
        }
        let before = thread.saturating_mul(self.simd);
        let live = items(local).saturating_sub(before).min(self.simd);
        u32::MAX.checked_shr(32 - live).unwrap_or(0)
    }

    /// The dwords of the thread header that all threads of a group have in common, with their places. `implicit` is the
    /// place of the implicit arguments, a multiple of 64.
    #[must_use]
    pub const fn header([x, y, z]: [u32; 3], implicit: u32) -> HeaderDwords {
        [(0, implicit), (4, x), (24, y), (28, z)]
    }

    /// Writes the thread header; see [`Self::header`].
    pub fn write_header(&self, image: &mut [u8], group: [u32; 3], thread: u32, implicit: u32) {
        let Some(header) = image.first_chunk_mut::<HEADER>() else {
            return;
        };
        let (dwords, _) = header.as_chunks_mut::<4>();
        let common = Self::header(group, implicit);
        for (at, value) in common.into_iter().chain([(8, thread & 0xff)]) {
            if let Some(dword) = dwords.get_mut(at / 4) {
                *dword = value.to_le_bytes();
            }
        }
    }

    /// Writes the local ids of a thread's work-items. `walk` says in which order they run through the dimensions.
    pub fn write_local_ids(
        &self,
        image: &mut [u8],
        local: [u32; 3],
        walk: [usize; 3],
        thread: u32,
    ) {
        let Some(place) = self.local_ids else {
            return;
        };
        let first = thread.saturating_mul(self.simd);
        for lane in 0..self.simd {
            let id = local_id(first.saturating_add(lane), local, walk);
            // Lanes past the end of the group are disabled; their content does not matter.
            for (dimension, id) in (0_u32..).zip(id) {
                let id = u16::try_from(id).unwrap_or(u16::MAX).to_le_bytes();
                match place {
                    LocalIds::Lanes { at, dimensions } if dimension < dimensions => {
                        let stride = lane_stride(self.simd, self.grf_bytes);
                        put(image, at + dimension * stride + lane * 2, &id);
                    }
                    LocalIds::Packed { at } if lane == 0 => put(image, at + dimension * 2, &id),
                    _ => {}
                }
            }
        }
    }

    /// Writes the cross-thread data.
    ///
    /// # Errors
    /// Those of [`Facts::bytes`].
    pub fn write_cross_thread(
        &self,
        image: &mut [u8],
        info: &KernelInfo,
        facts: &Facts<'_>,
    ) -> Result<(), LaunchError> {
        self.write_pieces(image, info, facts, |_| true)
    }

    /// Writes only the base of private memory, which differs from thread to thread.
    pub(crate) fn write_private_base(
        &self,
        image: &mut [u8],
        info: &KernelInfo,
        facts: &Facts<'_>,
    ) -> Result<(), LaunchError> {
        self.write_pieces(image, info, facts, |kind| {
            *kind == ArgType::PrivateBaseStateless
        })
    }

    fn write_pieces(
        &self,
        image: &mut [u8],
        info: &KernelInfo,
        facts: &Facts<'_>,
        wanted: impl Fn(&ArgType) -> bool,
    ) -> Result<(), LaunchError> {
        for piece in info
            .payload_arguments
            .iter()
            .filter(|p| wanted(&p.arg_type))
        {
            let mut value = facts.bytes(piece)?;
            let size = usize::try_from(piece.size).unwrap_or(usize::MAX);
            value.truncate(size);
            // A piece may begin in the inline data and end after the gap.
            let inside = self.inline.bytes.saturating_sub(piece.offset);
            let inside = usize::try_from(inside)
                .unwrap_or(usize::MAX)
                .min(value.len());
            let (first, rest) = value.split_at(inside);
            put(image, self.place(piece.offset), first);
            put(image, self.place(piece.offset.max(self.inline.bytes)), rest);
        }
        Ok(())
    }
}

/// The start of the cross-thread data, and the gap in it. It begins after the local ids; but kernels without local ids
/// may reserve space for them, and the metadata do not state the alignment of arguments, so that the start and the gap
/// are chosen such that most inputs match the arguments.
fn cross_place(
    info: &KernelInfo,
    inline: Inline,
    inputs: &[(u32, u32)],
    grf_bytes: u32,
) -> (u32, Inline) {
    let formula = grf_bytes.saturating_add(info.per_thread_registers(grf_bytes));
    let fits = |place: u32, inline: Inline| {
        let fits = inputs.iter().filter(|(at, size)| {
            let Some(at) = at.checked_sub(place).and_then(|at| inline.offset(at)) else {
                return false;
            };
            let mut pieces = info.payload_arguments.iter();
            pieces.any(|a| {
                let argument = a.offset..a.offset.saturating_add(a.size);
                let inside = argument.contains(&at);
                match a.arg_type {
                    // The header is one input: both of its pieces and unused bytes.
                    ArgType::GlobalIdOffset => inside && (*size == HEADER_INPUT || *size == a.size),
                    // A value or pointer may be used in part, or in several pieces.
                    _ => inside && *size <= argument.end - at,
                }
            })
        });
        fits.count()
    };
    let later = inputs.iter().map(|(at, _)| *at).filter(|at| *at >= formula);
    let Some(first) = later.min() else {
        return (formula, inline);
    };
    // The first input after the local ids is the first piece of the payload, if that was not left out.
    let lowest = info.payload_arguments.iter().filter(|a| a.size > 0);
    let lowest = lowest.map(|a| a.offset).min().unwrap_or(0);
    let candidates = inline.with_gaps(grf_bytes).flat_map(|inline| {
        let place = first.saturating_sub(inline.place(lowest)).max(formula);
        [(place, inline), (formula, inline)]
    });
    // Of those that fit as well, the first.
    let mut best = (formula, inline);
    let mut most = None;
    for (place, inline) in candidates {
        let count = Some(fits(place, inline));
        if count > most {
            (best, most) = ((place, inline), count);
        }
    }
    best
}

/// Bytes of the local ids of one dimension.
const fn lane_stride(simd: u32, grf_bytes: u32) -> u32 {
    let grf = if grf_bytes == 0 { 32 } else { grf_bytes };
    (simd * 2).div_ceil(grf) * grf
}

/// The local id of a work-item of a group, by its number.
#[must_use]
pub fn local_id(number: u32, local: [u32; 3], walk: [usize; 3]) -> [u32; 3] {
    let size = |d: usize| local.get(d).copied().unwrap_or(1).max(1);
    let mut rest = number;
    let mut id = [0_u32; 3];
    for dimension in walk {
        if let Some(id) = id.get_mut(dimension) {
            *id = rest % size(dimension);
            rest /= size(dimension);
        }
    }
    id
}

/// Work-items of a group.
pub(crate) fn items(local: [u32; 3]) -> u32 {
    local.iter().fold(1, |n: u32, &d| n.saturating_mul(d))
}

/// Writes as much as fits.
fn put(image: &mut [u8], at: u32, bytes: &[u8]) {
    let place = usize::try_from(at).ok().and_then(|at| image.get_mut(at..));
    if let Some(place) = place {
        let count = bytes.len().min(place.len());
        if let (Some(to), Some(from)) = (place.get_mut(..count), bytes.get(..count)) {
            to.copy_from_slice(from);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use crate::facts::Section;
    use crate::ndrange::NdRange;
    use crate::zeinfo::ZeInfo;

    /// A kernel with these payload and per-thread arguments, as `kind offset size argument`.
    fn info(simd: u32, per_thread: u32, pieces: &[(&str, u32, u32, Option<u32>)]) -> KernelInfo {
        let mut text =
            format!("kernels:\n  - name: k\n    execution_env:\n      simd_size: {simd}\n");
        if per_thread > 0 {
            text += "    per_thread_payload_arguments:\n";
            text += &format!("      - {{arg_type: local_id, offset: 0, size: {per_thread}}}\n");
        }
        text += "    payload_arguments:\n";
        for (kind, offset, size, index) in pieces {
            let index = index.map_or_else(String::new, |i| format!(", arg_index: {i}"));
            text +=
                &format!("      - {{arg_type: {kind}, offset: {offset}, size: {size}{index}}}\n");
        }
        ZeInfo::parse(&text).unwrap().kernels.remove(0)
    }

    const HEADER: [(&str, u32, u32, Option<u32>); 2] = [
        ("global_id_offset", 0, 12, None),
        ("local_size", 12, 12, None),
    ];

    /// A thread with one work-item: packed ids in a register of their own, all lanes enabled.
    #[test]
    fn one_work_item_has_all_lanes() {
        let mut info = info(
            1,
            6,
            &[("local_size", 0, 12, None), ("arg_byvalue", 24, 8, Some(0))],
        );
        for piece in &mut info.per_thread_payload_arguments {
            piece.arg_type = ArgType::PackedLocalIds;
        }
        for (grf, cross) in [(64, 128), (32, 64)] {
            let inputs = [(grf, 6), (cross, 12), (cross + 24, 8)];
            let layout = Layout::new(&info, &inputs, grf).unwrap();
            assert_eq!((layout.cross, layout.threads([3, 2, 1])), (cross, 6));
            assert_eq!(layout.live_lanes([3, 2, 1], 5), u32::MAX);
            let mut image = vec![0; 256];
            layout.write_local_ids(&mut image, [3, 2, 1], [0, 1, 2], 5);
            let at = grf as usize;
            assert_eq!(image[at..at + 6], [2, 0, 1, 0, 0, 0]);
        }
    }

    /// A pointer to vectors of 64 bytes in local memory is aligned to as many in the registers, and not in the payload.
    #[test]
    fn alignment_leaves_a_gap_after_inline_data() {
        let pieces = [
            HEADER[0],
            HEADER[1],
            ("arg_bypointer", 32, 8, Some(2)),
            ("buffer_address", 40, 8, Some(0)),
            ("arg_byvalue", 48, 4, Some(3)),
            ("enqueued_local_size", 64, 12, None),
        ];
        let mut info = info(8, 96, &pieces);
        info.execution_env.inline_data_payload_size = 32;
        for gap in [0, 32, 64, 96, 128] {
            let inputs = [(32, 96), (128, 32), (160, 4), (168, 8), (176, 4), (192, 12)];
            let inputs = inputs.map(|(at, size)| (if at < 160 { at } else { at + gap }, size));
            let layout = Layout::new(&info, &inputs, 32).unwrap();
            assert_eq!(layout.cross, 128);
            assert_eq!(layout.place(0), 128);
            assert_eq!(layout.place(32), 160 + gap);
            assert_eq!(layout.bytes, 160 + gap + 44);
        }
        // If no inputs show it, there is none.
        let layout = Layout::new(&info, &[(128, 32)], 32).unwrap();
        assert_eq!(layout.place(32), 160);
    }

    #[test]
    fn cross_thread_data_follows_the_local_ids() {
        for (simd, grf, per_thread) in [
            (8, 32, 96),
            (16, 32, 96),
            (32, 32, 192),
            (16, 64, 192),
            (32, 64, 192),
        ] {
            let info = info(simd, per_thread, &HEADER);
            let header = grf + per_thread;
            let layout = Layout::new(&info, &[(grf, 32), (header, 32)], grf).unwrap();
            assert_eq!(layout.cross, header);
            assert_eq!(layout.bytes, header + 32);
            let at = LocalIds::Lanes {
                at: grf,
                dimensions: 3,
            };
            assert_eq!(layout.local_ids, Some(at), "SIMD{simd}, {grf} bytes");
        }
    }

    /// 32 bytes of inline data leave a gap in registers of 64 bytes; a piece that begins before it ends after it.
    #[test]
    fn inline_data_fill_whole_registers() {
        let mut info = info(
            32,
            64,
            &[
                HEADER[0],
                ("enqueued_local_size", 12, 12, None),
                ("global_size", 24, 12, None),
                ("work_dimensions", 36, 4, None),
            ],
        );
        info.execution_env.inline_data_payload_size = 32;
        let inputs = [(64, 64), (128, 12), (140, 12), (152, 8), (192, 4), (196, 4)];
        let layout = Layout::new(&info, &inputs, 64).unwrap();
        assert_eq!((layout.cross, layout.bytes), (128, 200));
        let range = NdRange::new(&[7, 8, 9], &[1, 2, 3], &[4, 5, 6]).unwrap();
        let facts = Facts {
            range: &range,
            local: [1, 2, 3],
            arguments: &[],
            places: &[],
            private_base: 0,
            printf: 0,
            assert: 0,
            sync: 0,
            constants: Section::default(),
            globals: Section::default(),
            implicit: 0,
        };
        let mut image = vec![0; 200];
        layout
            .write_cross_thread(&mut image, &info, &facts)
            .unwrap();
        let dword = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
        assert_eq!(
            [128, 140, 152, 156, 192, 196].map(dword),
            [4, 1, 7, 8, 9, 3]
        );
        assert_eq!(dword(160), 0);
        // Registers of 32 bytes have no gap.
        assert_eq!(Inline::new(&info, 32).place(40), 40);
        assert_eq!(Inline::new(&info, 64).offset(40), None);
    }

    #[test]
    fn a_kernel_without_local_ids_may_leave_room_for_them() {
        let info = info(
            16,
            0,
            &[HEADER[0], HEADER[1], ("arg_byvalue", 32, 4, Some(0))],
        );
        // One register of per-thread data that is never used, or none.
        for cross in [64, 32] {
            let layout = Layout::new(&info, &[(cross, 32), (cross + 32, 4)], 32).unwrap();
            assert_eq!((layout.cross, layout.local_ids), (cross, None));
        }
        // The header may have been omitted, if nobody reads it.
        let layout = Layout::new(&info, &[(64, 4)], 32).unwrap();
        assert_eq!(layout.cross, 32);
    }

    #[test]
    fn local_ids_run_through_the_dimensions() {
        let info = info(16, 96, &HEADER);
        let layout = Layout::new(&info, &[(32, 32), (128, 32)], 32).unwrap();
        let ids = |walk, thread, lane: usize| {
            let mut image = vec![0; 160];
            layout.write_local_ids(&mut image, [5, 3, 2], walk, thread);
            [32, 64, 96]
                .map(|at| u16::from_le_bytes([image[at + lane * 2], image[at + lane * 2 + 1]]))
        };
        assert_eq!(ids([0, 1, 2], 0, 7), [2, 1, 0]);
        assert_eq!(ids([0, 1, 2], 1, 1), [2, 0, 1]);
        assert_eq!(ids([1, 0, 2], 0, 7), [2, 1, 0]);
        assert_eq!(ids([2, 1, 0], 0, 7), [1, 0, 1]);
        assert_eq!(layout.threads([5, 3, 2]), 2);
        assert_eq!(layout.live_lanes([5, 3, 2], 0), 0xffff);
        assert_eq!(layout.live_lanes([5, 3, 2], 1), 0x3fff);
        assert_eq!(layout.live_lanes([5, 3, 2], 2), 0);
    }

    #[test]
    fn the_header_of_a_thread() {
        let info = info(32, 192, &HEADER);
        let layout = Layout::new(&info, &[(64, 64), (256, 32)], 64).unwrap();
        let mut image = vec![0; 320];
        layout.write_header(&mut image, [7, 8, 9], 3, 0x140);
        let dwords: Vec<u32> = image[..32]
            .as_chunks()
            .0
            .iter()
            .map(|b| u32::from_le_bytes(*b))
            .collect();
        assert_eq!(dwords, [0x140, 7, 3, 0, 0, 0, 8, 9]);
    }
}
