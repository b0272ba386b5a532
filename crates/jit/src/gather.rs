//! Machine code that moves lanes whose places in memory have been checked: as a vector where they are next to each
//! other, otherwise by gathers and scatters, which cost several times as much.

use crate::Features;
use crate::kept::Content;
use crate::masks::mask_register;
use crate::memory::{Loaded, Places, indexed};
use crate::path::Path;
use crate::vector::{Chunks, Done, MASK, NoTemplate, Writer};
use crate::x64::{Condition, EAX, ECX, Label, Mask, Memory, Number, R9, RAX, RCX, ops, xmm, ymm};
use visakit_exec::code::LaneMessage;

impl Writer {
    /// Moves the elements of all lanes, dwords. The elements go through
    /// these registers if they are loaded. `r9` holds the largest offset that is valid for all elements of a lane.
    pub(crate) fn move_chunks(
        &mut self,
        m: &LaneMessage,
        places: &Places,
        masked: bool,
        loaded: &Loaded,
    ) -> Done {
        if !m.store {
            return self.load_chunks(m, places, masked, loaded);
        }
        let Places { c, base, .. } = *places;
        // Element by element, as the interpreter stores them where lanes overlap.
        for &(memory, register) in &m.parts {
            let data = m.data + register as usize;
            for (chunk, &n) in places.offsets.iter().enumerate() {
                let done = self.asm.label();
                if !masked && m.parts.len() == 1 {
                    let scattered = self.asm.label();
                    self.is_row(c, n, scattered);
                    self.takes(Path::RowStored);
                    let from = self.stored(c, chunk, data)?;
                    self.store_bytes(indexed(base, RAX, memory), from, 4 * c.lanes)?;
                    self.asm.jump(done);
                    self.asm.place(scattered);
                }
                self.takes(match masked {
                    false => Path::StoredByLane,
                    true => Path::StoredMasked,
                });
                if self.features == Features::Avx512 {
                    self.scatter(c, chunk, n, (base, memory, data), masked)?;
                } else {
                    // A lane after the other.
                    self.store_lanes(c, chunk, n, (base, memory, data), masked)?;
                }
                self.asm.place(done);
            }
        }
        Ok(())
    }

    /// The register that holds the dwords of a chunk: a kept one, or register 0, where they are loaded.
    fn stored(&mut self, c: Chunks, chunk: usize, data: usize) -> Result<u32, NoTemplate> {
        let bytes = 4 * c.lanes;
        let offset = data + chunk * bytes;
        let dwords = Chunks::new(self.features, 4, c.lanes);
        if let Some(n) = self.find(dwords, Content::Bytes { offset, bytes }) {
            return Ok(n);
        }
        let any = Chunks::new(self.features, 4, 16);
        if let Some(n) = self.part(any, 0, offset, bytes) {
            return Ok(n);
        }
        let from = self.file(offset, bytes)?;
        self.load_bytes(0, from, bytes)?;
        Ok(0)
    }

    /// Loads the elements of all lanes. Where offsets have 64 bits, two chunks of them make a vector of elements.
    fn load_chunks(
        &mut self,
        m: &LaneMessage,
        places: &Places,
        masked: bool,
        loaded: &Loaded,
    ) -> Done {
        let Places { c, base, .. } = *places;
        let vectors = Chunks::new(self.features, 4, m.lanes);
        let bytes = 4 * vectors.lanes;
        let halves = (c.count / vectors.count.max(1)).max(1);
        for (vector, offsets) in places.offsets.chunks(halves).enumerate() {
            let place = |register: u32| m.data + register as usize + vector * bytes;
            let to = |register: u32| {
                let offset = place(register);
                let own = loaded
                    .iter()
                    .find(|(_, content)| *content == Content::Bytes { offset, bytes });
                own.map(|(n, _)| *n)
            };
            for (half, &n) in offsets.iter().enumerate() {
                let chunk = vector * halves + half;
                self.load_chunk(c, (chunk, half), n, m, base, masked, &to)?;
            }
            for &(_, register) in &m.parts {
                if let Some(n) = to(register) {
                    let offset = place(register);
                    self.store_loaded(Content::Bytes { offset, bytes }, n)?;
                }
            }
        }
        Ok(())
    }

    /// Loads a chunk, which is a vector of elements or half of one, to the register of each element, or to the file.
    #[expect(clippy::too_many_arguments, reason = "a chunk and where it goes")]
    fn load_chunk(
        &mut self,
        c: Chunks,
        (chunk, half): (usize, usize),
        n: u32,
        m: &LaneMessage,
        base: Number,
        masked: bool,
        to: &impl Fn(u32) -> Option<u32>,
    ) -> Done {
        let bytes = 4 * c.lanes;
        let data = |register: u32| m.data + register as usize + chunk * bytes;
        let own = |register: u32| match (to(register), half) {
            (None, _) => 0,
            (Some(n), 0) => n,
            (Some(_), _) => 1,
        };
        let done = self.asm.label();
        if !masked {
            let scattered = self.asm.label();
            self.are_near(c, n, scattered);
            self.takes(Path::Near);
            for &(memory, register) in &m.parts {
                let own = own(register);
                self.load_near(c, own, indexed(base, RAX, memory))?;
                self.put(c, own, half, to(register), data(register))?;
            }
            self.asm.jump(done);
            self.asm.place(scattered);
        }
        self.takes(match masked {
            false => Path::Gathered,
            true => Path::GatheredMasked,
        });
        for &(memory, register) in &m.parts {
            let own = own(register);
            if masked {
                let old = self.file(data(register), bytes)?;
                self.load_bytes(own, old, bytes)?;
            }
            let there = indexed(base, c.register(n), memory);
            self.gather_chunk(c, chunk, own, there, masked);
            self.put(c, own, half, to(register), data(register))?;
        }
        self.asm.place(done);
        Ok(())
    }

    /// Puts a chunk that was loaded where it belongs: to the file, or into the second half of a register.
    fn put(&mut self, c: Chunks, from: u32, half: usize, to: Option<u32>, place: usize) -> Done {
        let Some(to) = to else {
            let there = self.file(place, 4 * c.lanes)?;
            return self.store_bytes(there, from, 4 * c.lanes);
        };
        if half != 0 {
            let whole = c.register(to);
            self.asm
                .v3i(ops::INSERT_HALF, whole, whole, c.half(from), 1);
        }
        Ok(())
    }

    /// Sets register 6 to the distances of the lanes' offsets from that of the first one.
    fn distances(&mut self, c: Chunks, n: u32) {
        self.v2(c, c.of(ops::BROADCAST_D, ops::BROADCAST_Q), 5, xmm(n));
        self.v3(c, c.of(ops::SUB_D, ops::SUB_Q), 6, n, 5);
    }

    /// Sets `rax` to the first lane of a register.
    pub(crate) fn first_lane(&mut self, c: Chunks, n: u32) {
        let to = if c.lane == 4 { EAX } else { RAX };
        self.asm.v2(c.of(ops::STORE_D, ops::TO_Q), to, xmm(n));
    }

    /// Continues if register 6 has none of these bits, the same in each lane.
    fn has_none(&mut self, c: Chunks, bits: Memory, otherwise: Label) {
        if c.zmm {
            let op = c.of(ops::MASK_OF_BITS_D, ops::MASK_OF_BITS_Q);
            self.asm.v3(op, Mask::K2, c.register(6), bits);
            self.asm.mask_any(Mask::K2);
        } else {
            self.asm.v2(ops::TEST, ymm(6), bits);
        }
        self.asm.jump_if(Condition::NotEqual, otherwise);
    }

    /// Continues if the lanes' elements follow each other, the first at the offset in `rax`.
    fn is_row(&mut self, c: Chunks, n: u32, otherwise: Label) {
        self.distances(c, n);
        let (row, all) = if c.lane == 4 {
            let row = self.each_dword(|lane| u32::try_from(4 * lane).unwrap_or(0));
            (row, self.dwords(u32::MAX))
        } else {
            let row = self.each_qword(|lane| 4 * lane as u64);
            (row, self.qwords(u64::MAX))
        };
        self.v3m(c, ops::XOR, 6, 6, row);
        self.has_none(c, all, otherwise);
        self.first_lane(c, n);
    }

    /// Continues if the elements of all lanes are in one vector of memory, which begins with that of the first lane, at
    /// the offset in `rax`, and is inside of the memory. Register 6 then holds their places in it, as dwords.
    fn are_near(&mut self, c: Chunks, n: u32, otherwise: Label) {
        let bytes = 4 * c.lanes as u64;
        self.distances(c, n);
        let inside = bytes - 4;
        let outside = self.qwords(if c.lane == 4 {
            !(inside << 32 | inside)
        } else {
            !inside
        });
        self.has_none(c, outside, otherwise);
        self.first_lane(c, n);
        let end = Memory::at(RAX, inside.cast_signed());
        self.asm.lea(RCX, end);
        self.asm.cmp(RCX, R9);
        self.asm.jump_if(Condition::Above, otherwise);
        if c.lane == 4 {
            self.v2i(c, ops::SHR_D_IMM, 6, c.register(6), 2);
            return;
        }
        self.v2i(c, ops::SHR_Q_IMM, 6, c.register(6), 2);
        if c.zmm {
            self.asm.v2(ops::NARROW_Q_D, ymm(6), c.register(6));
        } else {
            self.asm.v2i(ops::EXTRACT_HALF, xmm(7), ymm(6), 1);
            self.asm
                .v3i(ops::SHUFFLE_PS, xmm(6), xmm(6), xmm(7), 0b1000_1000);
        }
    }

    /// Loads the dwords of a vector of memory that register 6 names.
    fn load_near(&mut self, c: Chunks, to: u32, there: Memory) -> Done {
        match (c.zmm, c.lane) {
            (_, 4) => self.v3m(c, ops::PERMUTE_D, to, 6, there),
            (true, _) => self.asm.v3(ops::PERMUTE_D, ymm(to), ymm(6), there),
            (false, _) => {
                self.load_bytes(to, there, 16)?;
                self.asm.v3(ops::PERMUTE_PS, xmm(to), xmm(to), xmm(6));
            }
        }
        Ok(())
    }

    /// Gathers the dwords of a chunk.
    fn gather_chunk(&mut self, c: Chunks, chunk: usize, to: u32, there: Memory, masked: bool) {
        if self.features == Features::Avx512 {
            self.lanes_mask(masked, chunk);
            let op = c.of(ops::MASKED_GATHER_D_D, ops::MASKED_GATHER_Q_D);
            self.asm.v2(op, c.dwords(to), there);
            self.asm.mask(Mask::K2);
        } else if c.lane == 4 {
            self.gather_lanes(c, chunk, masked);
            self.asm.v3(ops::GATHER_D_D, ymm(to), there, ymm(6));
        } else {
            let dwords = Chunks { lane: 4, ..c };
            self.gather_lanes(dwords, chunk, masked);
            self.asm.v3(ops::GATHER_Q_D, xmm(to), there, xmm(6));
        }
    }

    /// Scatters the dwords of a chunk.
    fn scatter(
        &mut self,
        c: Chunks,
        chunk: usize,
        n: u32,
        (base, memory, data): (Number, u32, usize),
        masked: bool,
    ) -> Done {
        let from = self.stored(c, chunk, data)?;
        self.lanes_mask(masked, chunk);
        let there = indexed(base, c.register(n), memory);
        let op = c.of(ops::SCATTER_D_D, ops::SCATTER_Q_D);
        self.asm.v2(op, there, c.dwords(from));
        self.asm.mask(Mask::K2);
        Ok(())
    }

    /// The mask of the next gather or scatter of AVX-512, in `k2`: all ones, or the lanes of a chunk.
    fn lanes_mask(&mut self, masked: bool, chunk: usize) {
        if masked {
            let from = mask_register(chunk);
            self.asm.mask_copy(Mask::K2, from);
        } else {
            self.asm.mask_all(Mask::K2);
        }
    }

    /// Stores the lanes of a chunk of 32 bytes of offsets, which are in a register, one after the other.
    fn store_lanes(
        &mut self,
        c: Chunks,
        chunk: usize,
        n: u32,
        (base, memory, data): (Number, u32, usize),
        masked: bool,
    ) -> Done {
        self.asm.v2i(ops::EXTRACT_HALF, xmm(5), ymm(n), 1);
        for lane in 0..c.lanes {
            let number = chunk * c.lanes + lane;
            let skip = self.asm.label();
            let from = self.file(data + 4 * number, 4)?;
            let number = u32::try_from(number).map_err(|_| NoTemplate)?;
            if masked {
                self.asm.bit(MASK, number);
                self.asm.jump_if(Condition::AboveOrEqual, skip);
            }
            let lane = u32::try_from(lane).map_err(|_| NoTemplate)?;
            let half = u32::try_from(c.lanes / 2).map_err(|_| NoTemplate)?;
            let (from_register, at) = if lane < half {
                (n, lane)
            } else {
                (5, lane - half)
            };
            let to = if c.lane == 4 { EAX } else { RAX };
            let op = c.of(ops::EXTRACT_D, ops::EXTRACT_Q);
            self.asm.v2i(op, to, xmm(from_register), at);
            self.asm.mov(ECX, from);
            let there = indexed(base, RAX, memory);
            self.asm.store(there, ECX);
            if masked {
                self.asm.place(skip);
            }
        }
        Ok(())
    }

    /// The mask of the next gather of AVX2, in register 6.
    fn gather_lanes(&mut self, c: Chunks, chunk: usize, masked: bool) {
        if masked {
            self.spread(c, chunk, MASK, 6);
        } else {
            let all = ymm(6);
            self.asm.v3(ops::EQUAL_D, all, all, all);
        }
    }
}
