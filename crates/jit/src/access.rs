//! Kernel memory: the only module that makes addresses of it.
//!
//! Memory is reached by [`Checked`] bytes and by the [`Places`] of lanes alone. Only the functions here make them,
//! after code that compares addresses with the bounds of the memory, and they know how many bytes were compared: a
//! template that wants more than these has none. Nothing of this is believed: code is only used if it is known to stay
//! inside of memory (`x64/verify/`).

mod lanes;

use crate::Features;
use crate::masks::mask_register;
use crate::pages::place;
use crate::path::Path;
use crate::vector::{Chunks, Done, MASK, NoTemplate, Writer, field};
use crate::x64::{
    Condition, EAX, ECX, Index, Label, Mask, Memory, Number, R8, R9, R9D, R10, RAX, RCX, RDI,
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
                } else {
                    own.v3(c, ops::MAX_UD, most, most, n);
                }
                if m.align > 1 {
                    own.joined(c, chunk, any, n);
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
                // Their signs count only with AVX2, where comparisons have signs.
                if m.align > 1 || !avx512 {
                    own.joined(c, chunk, any, n);
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

    /// The bits that any chunk has: of another one, too.
    fn joined(&mut self, c: Chunks, chunk: usize, any: u32, n: u32) {
        match chunk {
            0 => self.v2(c, ops::MOVE, any, c.register(n)),
            _ => self.v3(c, ops::OR, any, any, n),
        }
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
}
