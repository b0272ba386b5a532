//! What code finds out about the lanes of a message whose places were compared: where they follow each other, are near
//! each other, or are at multiples of some number of bytes.

use super::{Checked, Places, within};
use crate::masks::mask_register;
use crate::pages::place;
use crate::vector::{Chunks, Done, MASK, NoTemplate, Writer, field};
use crate::x64::{Condition, EAX, Label, Mask, Memory, R9, RAX, RCX, RDX, Width, ops, xmm, ymm};

impl Writer {
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
    pub(super) fn has_none(&mut self, c: Chunks, n: u32, bits: Memory, otherwise: Label) {
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

    /// Sets a register to the distances of the lanes of a chunk from the first one.
    pub(crate) fn distances_of(&mut self, places: &Places, chunk: usize, to: u32) -> Done {
        self.distances(places.c, places.offset(chunk)?, to);
        Ok(())
    }

    /// Continues if the lanes of a chunk, whose distances from the first one a register holds, are so many bytes apart, and
    /// inside of the memory from the first one on. `r9` is as the places were made.
    pub(crate) fn check_rows(
        &mut self,
        places: &Places,
        (chunk, stride): (usize, usize),
        distances: u32,
        otherwise: Label,
    ) -> Result<Checked, NoTemplate> {
        let (c, n) = (places.c, places.offset(chunk)?);
        let row = self.each_dword(|lane| u32::try_from(stride * lane).unwrap_or(0));
        let all = self.dwords(u32::MAX);
        self.with_scratch(|own, [differ]| {
            own.v3m(c, ops::XOR, differ, distances, row);
            own.has_none(c, differ, all, otherwise);
        });
        let bytes = stride * (c.lanes - 1);
        self.first_lane(c, n);
        let last = i64::try_from(bytes).map_err(|_| NoTemplate)?;
        self.asm.lea(RCX, Memory::at(RAX, last));
        self.asm.cmp(RCX, R9);
        self.asm.jump_if(Condition::Above, otherwise);
        Ok(self.of_first(places, bytes))
    }

    /// Continues if all lanes are at multiples of this number of bytes, a power of two.
    pub(crate) fn check_multiples(
        &mut self,
        places: &Places,
        bytes: usize,
        otherwise: Label,
    ) -> Done {
        let c = places.c;
        let others = u32::try_from(bytes - 1).map_err(|_| NoTemplate)?;
        let others = self.every(c, others, others.into());
        self.with_scratch(|own, [any]| {
            for (chunk, n) in places.offsets.iter().enumerate() {
                own.joined(c, chunk, any, *n);
            }
            own.has_none(c, any, others, otherwise);
        });
        Ok(())
    }

    /// The places of qwords at this distance from the offsets of the lower and of the upper half of a chunk. Of the upper half
    /// the offsets go to a register.
    pub(crate) fn halves_of(
        &mut self,
        places: &Places,
        chunk: usize,
        upper: u32,
        distance: u32,
    ) -> Result<[Memory; 2], NoTemplate> {
        let (c, n) = (places.c, places.offset(chunk)?);
        self.asm
            .v2i(ops::EXTRACT_HALF, c.half(upper), c.register(n), 1);
        let place = |n| {
            let start = places.place(c.half(n));
            within(start, distance as usize, 8, places.span)
        };
        Ok([place(n)?, place(upper)?])
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
