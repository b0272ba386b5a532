//! Kernel memory: the only file that makes addresses of it.
//!
//! Memory is reached by [`Checked`] bytes and by the [`Places`] of lanes alone. Only the functions here make them,
//! after code that compares addresses with the bounds of the memory, and they know how many bytes were compared: a
//! template that wants more than these has none. Nothing of this is believed: code is only used if it is known to stay
//! inside of memory (`x64/verify/`).

use crate::Features;
use crate::masks::mask_register;
use crate::pages::place;
use crate::path::Path;
use crate::vector::{Chunks, Done, MASK, NoTemplate, Writer, field};
use crate::x64::{
    Condition, EAX, ECX, Index, Label, Mask, Memory, Number, R8, R9, R9D, R10, RAX, RCX, RDI, RDX,
    Vector, Width, ops, xmm, ymm,
};
use visakit_exec::code::{LaneMessage, LaneSpace};
use visakit_exec::memory::Region;

/// Bytes of kernel memory that were compared with its bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked {
    start: Memory,
    bytes: usize,
}

impl Checked {
    /// The place of some of these bytes, at a distance from the first one.
    pub(crate) fn at(self, distance: usize, bytes: usize) -> Result<Memory, NoTemplate> {
        within(self.start, distance, bytes, self.bytes)
    }
}

/// A place at a distance from a start of which so many bytes were compared.
fn within(
    start: Memory,
    distance: usize,
    bytes: usize,
    compared: usize,
) -> Result<Memory, NoTemplate> {
    let end = distance.checked_add(bytes).ok_or(NoTemplate)?;
    match i32::try_from(distance) {
        Ok(distance) if end <= compared => Ok(start.further(distance.into())),
        _ => Err(NoTemplate),
    }
}

/// Where the lanes of a message are in memory: offsets that were compared with its bounds.
///
/// This is the only way to lanes that lie anywhere. The offsets are in vector registers, which hold them until all lanes
/// have been moved; addresses in the register file are never read again, as what is loaded may be written over them.
pub(crate) struct Places {
    pub(crate) c: Chunks,
    /// The register of each chunk.
    offsets: Vec<u32>,
    /// The register with the address of the memory.
    base: Number,
    /// Bytes from each offset on that were compared.
    span: usize,
    /// Whether this code is for memory with more bytes than offsets of 32 bits reach: it is short, as it rarely runs.
    pub(crate) is_large: bool,
}

impl Places {
    /// Number of vectors that hold the offsets.
    pub(crate) const fn chunks(&self) -> usize {
        self.offsets.len()
    }

    /// The register of a chunk.
    fn offset(&self, chunk: usize) -> Result<u32, NoTemplate> {
        self.offsets.get(chunk).copied().ok_or(NoTemplate)
    }

    /// Where an offset is, or each of a vector of them.
    fn place(&self, index: impl Into<Index>) -> Memory {
        Memory::at(self.base, 0).indexed(index, Width::Byte)
    }

    /// The places of all elements of a chunk, dwords, at this distance from the offsets.
    pub(crate) fn lanes(&self, chunk: usize, distance: u32) -> Result<Memory, NoTemplate> {
        let index: Vector = self.c.register(self.offset(chunk)?);
        within(self.place(index), distance as usize, 4, self.span)
    }
}

impl Writer {
    /// Of the buffer that may have the address in `rax`: its address in `r8`, its bytes in `r9`, its place in `r10`. If it
    /// is another one, or none, the address is outside of it.
    pub(crate) fn buffer(&mut self) {
        let [address, bytes, storage] =
            Region::LAYOUT.map(|offset| Memory::at(RCX, i64::try_from(offset).unwrap_or(0)));
        let asm = &mut self.asm;
        asm.mov(RCX, RAX);
        asm.shr(RCX, 32);
        asm.and(RCX, field(place::STORAGE_MASK));
        asm.shl(RCX, place::REGION_SHIFT);
        asm.add(RCX, field(place::STORAGE));
        asm.mov(R8, address);
        asm.mov(R9, bytes);
        asm.mov(R10, storage);
    }

    /// Of shared local memory or of a surface: its address in `rdi`, its bytes in `r9`.
    fn window(&mut self, space: LaneSpace, slow: Label) -> Done {
        let LaneSpace::Surface { place: index, add } = space else {
            self.asm.mov(RDI, field(place::LOCAL));
            self.asm.mov(R9, field(place::LOCAL_BYTES));
            return Ok(());
        };
        let [_, bytes, storage] =
            Region::LAYOUT.map(|offset| Memory::at(RCX, i64::try_from(offset).unwrap_or(0)));
        if let Some(index) = index {
            let index = self.file(index, 4)?;
            self.asm.mov(ECX, index);
            if add != 0 {
                self.asm.add(ECX, add);
            }
            self.takes(Path::SurfaceIndex);
        } else {
            self.asm.mov(ECX, add);
        }
        let asm = &mut self.asm;
        asm.cmp(RCX, field(place::SURFACE_COUNT));
        asm.jump_if(Condition::AboveOrEqual, slow);
        asm.shl(RCX, place::REGION_SHIFT);
        asm.add(RCX, field(place::SURFACES));
        asm.mov(RDI, storage);
        asm.mov(R9, bytes);
        asm.mov(EAX, place::MOST_BYTES);
        asm.cmp(R9, RAX);
        asm.mov_if(Condition::Above, R9, RAX);
        Ok(())
    }

    /// So many bytes from the address in `rax` on, which is this far from the address in the register, in the buffer that
    /// [`Self::buffer`] has found.
    pub(crate) fn check_in_buffer(
        &mut self,
        distance: u32,
        bytes: u64,
        align: u64,
        slow: Label,
    ) -> Result<Checked, NoTemplate> {
        self.asm.sub(RAX, R8);
        if distance != 0 {
            self.asm.add(RAX, distance);
        }
        self.check_offset(bytes, align, R10, slow)
    }

    /// So many bytes from the offset in `rax` on, in shared local memory or a surface.
    pub(crate) fn check_in_window(
        &mut self,
        space: LaneSpace,
        bytes: u64,
        align: u64,
        slow: Label,
    ) -> Result<Checked, NoTemplate> {
        // The offset is in the way.
        self.asm.mov(R8, RAX);
        self.window(space, slow)?;
        self.asm.mov(RAX, R8);
        self.check_offset(bytes, align, RDI, slow)
    }

    /// Continues if this many bytes from the offset in `rax` are below `r9`, which is clobbered, and the offset is
    /// aligned; `rax` becomes their address.
    fn check_offset(
        &mut self,
        bytes: u64,
        align: u64,
        storage: Number,
        slow: Label,
    ) -> Result<Checked, NoTemplate> {
        let compared = i32::try_from(bytes).map_err(|_| NoTemplate)?;
        let asm = &mut self.asm;
        asm.sub(R9, compared);
        asm.jump_if(Condition::Below, slow);
        asm.cmp(RAX, R9);
        asm.jump_if(Condition::Above, slow);
        if align > 1 {
            let low = u32::try_from(align - 1).map_err(|_| NoTemplate)?;
            asm.test(RAX, low);
            asm.jump_if(Condition::NotEqual, slow);
        }
        asm.add(RAX, storage);
        Ok(Checked {
            start: Memory::at(RAX, 0),
            bytes: usize::try_from(bytes).map_err(|_| NoTemplate)?,
        })
    }

    /// Checked bytes by their address in another register, which leaves `rax` for other things.
    pub(crate) fn move_checked(&mut self, from: Checked, to: Number) -> Checked {
        self.asm.lea(to, from.start);
        Checked {
            start: Memory::at(to, 0),
            ..from
        }
    }

    /// The lanes of a message in shared local memory, or in a surface, at addresses of 32 bits. `r9` becomes the largest
    /// offset that is valid for a lane.
    pub(crate) fn check_window_lanes(
        &mut self,
        m: &LaneMessage,
        masked: bool,
        slow: Label,
    ) -> Result<Places, NoTemplate> {
        let c = Chunks::new(self.features, 4, m.lanes);
        let full = if c.zmm { 16 } else { 8 };
        if c.lanes != full {
            return Err(NoTemplate);
        }
        let span = u32::try_from(m.span).ok().filter(|n| *n < 1 << 30);
        let span = span.ok_or(NoTemplate)?;
        // Sums are of as many bits as lanes have.
        let mask = u32::try_from(m.mask).map_err(|_| NoTemplate)?;
        self.window(m.space, slow)?;
        self.asm.sub(R9, span);
        self.asm.jump_if(Condition::Below, slow);
        self.with_scratch(|own, [most, any, outside, limit]| {
            let mut offsets = Vec::with_capacity(c.count);
            for chunk in 0..c.count {
                let bytes = c.lanes * m.width;
                let place = m.addresses + chunk * bytes;
                let (n, mut from) = own.result_and_source(c, place, bytes)?;
                if m.add != 0 {
                    #[expect(clippy::cast_possible_truncation, reason = "addresses have 32 bits")]
                    let add = own.dwords(m.add as u32);
                    own.v3m(c, ops::ADD_D, n, from, add);
                    from = n;
                }
                let mask = own.dwords(mask);
                own.v3m(c, ops::AND, n, from, mask);
                if masked {
                    own.only_enabled(c, chunk, n);
                }
                offsets.push(n);
                if chunk == 0 {
                    own.v2(c, ops::MOVE, most, c.register(n));
                    own.v2(c, ops::MOVE, any, c.register(n));
                } else {
                    own.v3(c, ops::MAX_UD, most, most, n);
                    own.v3(c, ops::OR, any, any, n);
                }
            }
            own.asm.v2(ops::LOAD_D, xmm(limit), R9D);
            own.v2(c, ops::BROADCAST_D, limit, xmm(limit));
            own.v3(c, ops::MIN_UD, outside, most, limit);
            own.v3(c, ops::XOR, outside, outside, most);
            if m.align > 1 {
                let low = own.dwords(u32::try_from(m.align - 1).map_err(|_| NoTemplate)?);
                own.v3m(c, ops::AND, any, any, low);
                own.v3(c, ops::OR, outside, outside, any);
            }
            // Anything left is an address outside, or one that is not aligned.
            if c.zmm {
                let n = c.register(outside);
                own.asm.v3(ops::MASK_OF_BITS_D, Mask::K2, n, n);
                own.asm.mask_any(Mask::K2);
            } else {
                own.asm.v2(ops::TEST, ymm(outside), ymm(outside));
            }
            own.asm.jump_if(Condition::NotEqual, slow);
            Ok(own.places(c, offsets, RDI, span))
        })
    }

    /// The lanes of a message anywhere in the buffer of the first one, as [`Self::buffer`] has found it. `r9` becomes the
    /// largest offset that is valid for a lane.
    pub(crate) fn check_buffer_lanes(
        &mut self,
        c: Chunks,
        m: &LaneMessage,
        masked: bool,
        slow: Label,
    ) -> Result<Places, NoTemplate> {
        let span = u32::try_from(m.span).ok().filter(|s| *s < 1 << 31);
        let span = span.ok_or(NoTemplate)?;
        self.asm.sub(R9, span);
        self.asm.jump_if(Condition::Below, slow);
        if m.add != 0 {
            let add = i32::try_from(m.add.cast_signed()).map_err(|_| NoTemplate)?;
            self.asm.sub(R8, add);
        }
        let avx512 = self.features == Features::Avx512;
        // A register of sources, which messages have not.
        let limit = 2;
        self.with_scratch(|own, [bad, any, base]| {
            for (n, from) in [(base, R8), (limit, R9)] {
                if avx512 {
                    own.asm.v2(ops::BROADCAST_NUMBER_Q, c.register(n), from);
                } else {
                    own.asm.v2(ops::FROM_Q, xmm(n), from);
                    own.v2(c, ops::BROADCAST_Q, n, xmm(n));
                }
            }
            let mut offsets = Vec::with_capacity(c.count);
            for chunk in 0..c.count {
                let bytes = c.lanes * m.width;
                let (n, from) = own.result_and_source(c, m.addresses + chunk * bytes, bytes)?;
                own.v3(c, ops::SUB_Q, n, from, base);
                if masked {
                    own.only_enabled(c, chunk, n);
                }
                offsets.push(n);
                if chunk == 0 {
                    own.v2(c, ops::MOVE, any, c.register(n));
                } else {
                    own.v3(c, ops::OR, any, any, n);
                }
                if avx512 {
                    // Not greater than the limit.
                    let (n, limit) = (c.register(n), c.register(limit));
                    own.asm.v3i(ops::MASK_OF_UQ, Mask::K2, n, limit, 2);
                    if chunk != 0 {
                        own.asm.mask(Mask::K2);
                    }
                } else {
                    // Greater, as signed numbers; negative ones are outside, too.
                    if chunk == 0 {
                        own.v3(c, ops::GREATER_Q, bad, n, limit);
                    } else {
                        own.with_scratch(|own, [more]| {
                            own.v3(c, ops::GREATER_Q, more, n, limit);
                            own.v3(c, ops::OR, bad, bad, more);
                        });
                    }
                }
            }
            if avx512 {
                own.asm.mask_to(ECX, Mask::K2);
                own.asm.cmp(ECX, 0xff);
            } else {
                own.v3(c, ops::OR, bad, bad, any);
                own.asm.v2(ops::SIGNS_PD, ECX, ymm(bad));
                own.asm.test(ECX, ECX);
            }
            own.asm.jump_if(Condition::NotEqual, slow);
            if m.align > 1 {
                let low = own.qwords(m.align - 1);
                own.has_none(c, any, low, slow);
            }
            Ok(own.places(c, offsets, R10, span))
        })
    }

    /// Places that have just been compared.
    const fn places(&self, c: Chunks, offsets: Vec<u32>, base: Number, span: u32) -> Places {
        Places {
            c,
            offsets,
            base,
            span: span as usize,
            is_large: false,
        }
    }

    /// Offsets of 64 bits as such of 32, two chunks in one: one gather or scatter then moves twice as many lanes. Code goes
    /// to `large`, where the offsets are as before, if the memory has more bytes than that; `r9` is as the places were made.
    /// There are none where a chunk has all lanes.
    pub(crate) fn narrow_places(
        &mut self,
        places: &Places,
        masked: bool,
        large: Label,
    ) -> Result<Option<Places>, NoTemplate> {
        let c = Chunks::new(self.features, 4, places.c.lanes * places.chunks());
        if places.c.lane != 8 || places.chunks() != 2 * c.count {
            return Ok(None);
        }
        self.asm.cmp(R9, i32::MAX);
        self.asm.jump_if(Condition::Above, large);
        let mut offsets = Vec::with_capacity(c.count);
        for chunk in 0..c.count {
            let (n, upper) = (places.offset(2 * chunk)?, places.offset(2 * chunk + 1)?);
            let whole = c.register(n);
            if c.zmm {
                for n in [n, upper] {
                    self.asm.v2(ops::NARROW_Q_D, ymm(n), c.register(n));
                }
                self.asm.v3i(ops::INSERT_HALF, whole, whole, ymm(upper), 1);
            } else {
                let low = 0b1000_1000;
                self.asm.v3i(ops::SHUFFLE_PS, whole, whole, ymm(upper), low);
                self.asm.v2i(ops::PERMUTE_Q_IMM, whole, whole, 0b1101_1000);
            }
            if masked && c.zmm {
                self.lanes_of(c, chunk, MASK, mask_register(chunk));
            }
            offsets.push(n);
        }
        Ok(Some(Places {
            c,
            offsets,
            ..*places
        }))
    }

    /// The enabled lanes of a chunk; the others become zero: their address is as good as any. With AVX-512 the mask
    /// register of the chunk holds its lanes from here on.
    fn only_enabled(&mut self, c: Chunks, chunk: usize, n: u32) {
        if self.features == Features::Avx512 {
            self.lanes_of(c, chunk, MASK, mask_register(chunk));
            let op = c.of(ops::MASKED_MOVE_D, ops::MASKED_MOVE_Q);
            self.v2(c, op, n, c.register(n));
            self.asm.mask_or_zero(mask_register(chunk));
        } else {
            self.with_scratch(|own, [enabled]| {
                own.spread(c, chunk, MASK, enabled);
                own.v3(c, ops::AND, n, n, enabled);
            });
        }
    }

    /// Sets a register to the distances of the lanes' offsets from that of the first one.
    fn distances(&mut self, c: Chunks, n: u32, to: u32) {
        self.with_scratch(|own, [first]| {
            own.v2(c, c.of(ops::BROADCAST_D, ops::BROADCAST_Q), first, xmm(n));
            own.v3(c, c.of(ops::SUB_D, ops::SUB_Q), to, n, first);
        });
    }

    /// Sets `rax` to the first lane of a register.
    pub(crate) fn first_lane(&mut self, c: Chunks, n: u32) {
        let to = if c.lane == 4 { EAX } else { RAX };
        self.asm.v2(c.of(ops::STORE_D, ops::TO_Q), to, xmm(n));
    }

    /// Continues if a register has none of these bits, the same in each lane.
    fn has_none(&mut self, c: Chunks, n: u32, bits: Memory, otherwise: Label) {
        if c.zmm {
            let op = c.of(ops::MASK_OF_BITS_D, ops::MASK_OF_BITS_Q);
            self.asm.v3(op, Mask::K2, c.register(n), bits);
            self.asm.mask_any(Mask::K2);
        } else {
            self.asm.v2(ops::TEST, ymm(n), bits);
        }
        self.asm.jump_if(Condition::NotEqual, otherwise);
    }

    /// Continues if the elements of a chunk, dwords, follow each other: from the first element of the first lane on, the
    /// bytes of all of them.
    pub(crate) fn check_row(
        &mut self,
        places: &Places,
        chunk: usize,
        otherwise: Label,
    ) -> Result<Checked, NoTemplate> {
        let (c, n) = (places.c, places.offset(chunk)?);
        let (row, all) = if c.lane == 4 {
            let row = self.each_dword(|lane| u32::try_from(4 * lane).unwrap_or(0));
            (row, self.dwords(u32::MAX))
        } else {
            let row = self.each_qword(|lane| 4 * lane as u64);
            (row, self.qwords(u64::MAX))
        };
        self.with_scratch(|own, [distances]| {
            own.distances(c, n, distances);
            own.v3m(c, ops::XOR, distances, distances, row);
            own.has_none(c, distances, all, otherwise);
        });
        self.first_lane(c, n);
        Ok(self.of_first(places, 4 * (c.lanes - 1)))
    }

    /// Bytes from the offset in `rax` on, which is the one of a lane: so many, and the bytes of a lane.
    fn of_first(&self, places: &Places, bytes: usize) -> Checked {
        Checked {
            start: Memory::at(places.base, 0).indexed(RAX, Width::Byte),
            bytes: bytes + places.span,
        }
    }

    /// Continues if the elements of a chunk, dwords, are in one vector of memory, which begins with the first lane's, and
    /// is inside of the memory. The register then holds their places in it, as dwords. `r9` is as the places were made.
    pub(crate) fn check_near(
        &mut self,
        places: &Places,
        chunk: usize,
        to: u32,
        otherwise: Label,
    ) -> Result<Checked, NoTemplate> {
        let (c, n) = (places.c, places.offset(chunk)?);
        let bytes = 4 * c.lanes as u64;
        self.distances(c, n, to);
        let inside = bytes - 4;
        let outside = self.qwords(if c.lane == 4 {
            !(inside << 32 | inside)
        } else {
            !inside
        });
        self.has_none(c, to, outside, otherwise);
        self.first_lane(c, n);
        self.asm.lea(RCX, Memory::at(RAX, inside.cast_signed()));
        self.asm.cmp(RCX, R9);
        self.asm.jump_if(Condition::Above, otherwise);
        let shift = c.of(ops::SHR_D_IMM, ops::SHR_Q_IMM);
        self.v2i(c, shift, to, c.register(to), 2);
        if c.lane == 8 && c.zmm {
            self.asm.v2(ops::NARROW_Q_D, ymm(to), c.register(to));
        } else if c.lane == 8 {
            self.with_scratch(|own, [high]| {
                let high = xmm(high);
                own.asm.v2i(ops::EXTRACT_HALF, high, c.register(to), 1);
                own.asm
                    .v3i(ops::SHUFFLE_PS, xmm(to), xmm(to), high, 0b1000_1000);
            });
        }
        Ok(self.of_first(places, 4 * (c.lanes - 1)))
    }

    /// Copies the upper half of the offsets of a chunk of 256 bits, for [`Self::lane_of_chunk`].
    pub(crate) fn split_offsets(&mut self, places: &Places, chunk: usize, upper: u32) -> Done {
        let n = places.offset(chunk)?;
        self.asm.v2i(ops::EXTRACT_HALF, xmm(upper), ymm(n), 1);
        Ok(())
    }

    /// The bytes of one lane of a chunk whose offsets were split. Clobbers `rax`.
    pub(crate) fn lane_of_chunk(
        &mut self,
        places: &Places,
        (chunk, upper): (usize, u32),
        lane: usize,
    ) -> Result<Checked, NoTemplate> {
        let (c, n) = (places.c, places.offset(chunk)?);
        let half = c.lanes / 2;
        let (from, number) = if lane < half {
            (n, lane)
        } else {
            (upper, lane - half)
        };
        let number = u32::try_from(number).map_err(|_| NoTemplate)?;
        let to = if c.lane == 4 { EAX } else { RAX };
        let op = c.of(ops::EXTRACT_D, ops::EXTRACT_Q);
        self.asm.v2i(op, to, xmm(from), number);
        Ok(self.of_first(places, 0))
    }

    /// Stores the offsets of all lanes for [`Self::lane_in_turn`].
    pub(crate) fn store_offsets(&mut self, places: &Places) -> Done {
        let bytes = places.c.lane * places.c.lanes;
        for chunk in 0..places.chunks() {
            let there = stored_offsets(chunk * bytes, bytes)?;
            self.store_bytes(there, places.offset(chunk)?, bytes)?;
        }
        Ok(())
    }

    /// The bytes of the lane whose number is in `rcx`, one of so many, of offsets that were stored. Clobbers `rdx`.
    pub(crate) fn lane_in_turn(
        &mut self,
        places: &Places,
        lanes: usize,
    ) -> Result<Checked, NoTemplate> {
        let size = places.c.lane;
        let width = if size == 8 {
            Width::Qword
        } else {
            Width::Dword
        };
        let stored = stored_offsets(0, size * lanes)?.indexed(RCX, width);
        self.asm.extend(RDX, size, stored);
        Ok(Checked {
            start: Memory::at(places.base, 0).indexed(RDX, Width::Byte),
            bytes: places.span,
        })
    }
}

/// Bytes of the offsets of lanes in the context.
fn stored_offsets(at: usize, bytes: usize) -> Result<Memory, NoTemplate> {
    let is_inside = at + bytes <= place::LANES_BYTES;
    let at = i64::try_from(at).ok().filter(|_| is_inside);
    Ok(field(place::LANES + at.ok_or(NoTemplate)?))
}
