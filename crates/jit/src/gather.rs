//! Machine code that moves lanes whose places in memory have been checked: as a vector where they are next to each
//! other, otherwise by gathers and scatters, which cost several times as much.

use crate::Features;
use crate::access::Places;
use crate::elements::{Part, first_of, pairs};
use crate::kept::Content;
use crate::masks::mask_register;
use crate::memory::Loaded;
use crate::path::Path;
use crate::vector::{Chunks, Done, MASK, NoTemplate, Writer};
use crate::x64::{Condition, ECX, Mask, Memory, ops, xmm, ymm};
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
        let c = places.c;
        let moved = self.store_pairs(m, places, masked)?;
        // Element by element, as the interpreter stores them where lanes overlap.
        for &(memory, register) in &m.parts {
            let data = m.data + register as usize;
            for chunk in 0..places.chunks() {
                let done = self.asm.label();
                if !masked && !places.is_large && m.parts.len() == 1 {
                    let scattered = self.asm.label();
                    let row = self.check_row(places, chunk, scattered)?;
                    self.takes(Path::RowStored);
                    let from = self.stored(c, chunk, data, 0)?;
                    let there = row.at(memory as usize, 4 * c.lanes)?;
                    self.store_bytes(there, from, 4 * c.lanes)?;
                    self.asm.jump(done);
                    self.asm.place(scattered);
                }
                self.takes(match masked {
                    false => Path::StoredByLane,
                    true => Path::StoredMasked,
                });
                if self.features == Features::Avx512 {
                    self.scatter(places, chunk, (memory, data), masked)?;
                } else {
                    // A lane after the other.
                    self.store_lanes(places, chunk, (memory, data), masked)?;
                }
                self.asm.place(done);
            }
        }
        if let Some(moved) = moved {
            self.asm.place(moved);
        }
        Ok(())
    }

    /// The register that holds the dwords of a chunk: a kept one, or this one, where they are loaded.
    pub(crate) fn stored(
        &mut self,
        c: Chunks,
        chunk: usize,
        data: usize,
        to: u32,
    ) -> Result<u32, NoTemplate> {
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
        self.load_bytes(to, from, bytes)?;
        Ok(to)
    }

    /// Loads the elements of all lanes. Where offsets have 64 bits, two chunks of them make a vector of elements.
    fn load_chunks(
        &mut self,
        m: &LaneMessage,
        places: &Places,
        masked: bool,
        loaded: &Loaded,
    ) -> Done {
        let c = places.c;
        let vectors = Chunks::new(self.features, 4, m.lanes);
        let bytes = 4 * vectors.lanes;
        let halves = (c.count / vectors.count.max(1)).max(1);
        for vector in 0..places.chunks().div_ceil(halves) {
            let place = |register: u32| m.data + register as usize + vector * bytes;
            let to = |register: u32| {
                let offset = place(register);
                let own = loaded
                    .iter()
                    .find(|(_, content)| *content == Content::Bytes { offset, bytes });
                own.map(|(n, _)| *n)
            };
            let first = vector * halves;
            for chunk in first..places.chunks().min(first + halves) {
                self.load_chunk(places, (chunk, chunk - first), m, masked, &to)?;
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
    fn load_chunk(
        &mut self,
        places: &Places,
        (chunk, half): (usize, usize),
        m: &LaneMessage,
        masked: bool,
        to: &impl Fn(u32) -> Option<u32>,
    ) -> Done {
        let c = places.c;
        let bytes = 4 * c.lanes;
        let data = |register: u32| m.data + register as usize + chunk * bytes;
        let held = |register: u32| match (to(register), half) {
            (None, _) => 0,
            (Some(n), 0) => n,
            (Some(_), _) => 1,
        };
        let done = self.asm.label();
        // The registers of the elements of a pair get their dwords of the qwords in two others.
        let split = |own: &mut Self, pair: &[Part], qwords: [u32; 2]| -> Done {
            for (part, (_, register)) in pair.iter().enumerate() {
                let to_load = held(*register);
                if masked {
                    let old = own.file(data(*register), bytes)?;
                    own.load_bytes(to_load, old, bytes)?;
                    own.with_scratch(|own, [dwords]| {
                        own.split_pair(c, dwords, qwords, part)?;
                        own.merge(c, chunk, (to_load, dwords));
                        Ok(())
                    })?;
                } else {
                    own.split_pair(c, to_load, qwords, part)?;
                }
                own.put(c, to_load, half, to(*register), data(*register))?;
            }
            Ok(())
        };
        if !masked && !places.is_large {
            self.with_scratch(|own, [lanes]| -> Done {
                let scattered = own.asm.label();
                let near = own.check_near(places, chunk, lanes, scattered)?;
                own.takes(Path::Near);
                for &(memory, register) in &m.parts {
                    let to_load = held(register);
                    let there = near.at(memory as usize, bytes)?;
                    own.load_near(c, to_load, lanes, there)?;
                    own.put(c, to_load, half, to(register), data(register))?;
                }
                own.asm.jump(done);
                own.asm.place(scattered);
                let Some(stride) = own.row_stride(places, m) else {
                    return Ok(());
                };
                // The register has the distances of the lanes still.
                let scattered = own.asm.label();
                let row = own.check_rows(places, (chunk, stride), lanes, scattered)?;
                own.takes(Path::Rows);
                own.load_rows(m, c, (chunk, first_of(m)), (row, stride), to)?;
                own.asm.jump(done);
                own.asm.place(scattered);
                Ok(())
            })?;
        }
        self.takes(match masked {
            false => Path::Gathered,
            true => Path::GatheredMasked,
        });
        for pair in pairs(&m.parts) {
            let is_pair = pair.len() == 2 && self.has_pairs(c) && !places.is_large;
            if let [(memory, _), _] = *pair
                && is_pair
            {
                self.takes(match masked {
                    false => Path::Pairs,
                    true => Path::PairsMasked,
                });
                self.with_scratch(|own, qwords| {
                    for n in qwords.into_iter().filter(|_| masked) {
                        own.v3(c, ops::XOR, n, n, n);
                    }
                    own.gather_pair(places, (chunk, memory), masked, qwords)?;
                    split(own, pair, qwords)
                })?;
                continue;
            }
            for &(memory, register) in pair {
                let own = held(register);
                if masked {
                    let old = self.file(data(register), bytes)?;
                    self.load_bytes(own, old, bytes)?;
                }
                let there = places.lanes(chunk, memory)?;
                self.gather_chunk(c, chunk, own, there, masked);
                self.put(c, own, half, to(register), data(register))?;
            }
        }
        self.asm.place(done);
        Ok(())
    }

    /// Puts a chunk that was loaded where it belongs: to the file, or into the second half of a register.
    pub(crate) fn put(
        &mut self,
        c: Chunks,
        from: u32,
        half: usize,
        to: Option<u32>,
        place: usize,
    ) -> Done {
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

    /// Loads the dwords of a vector of memory that a register names.
    fn load_near(&mut self, c: Chunks, to: u32, lanes: u32, there: Memory) -> Done {
        match (c.zmm, c.lane) {
            (_, 4) => self.v3m(c, ops::PERMUTE_D, to, lanes, there),
            (true, _) => self.asm.v3(ops::PERMUTE_D, ymm(to), ymm(lanes), there),
            (false, _) => {
                self.load_bytes(to, there, 16)?;
                self.asm.v3(ops::PERMUTE_PS, xmm(to), xmm(to), xmm(lanes));
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
        } else {
            let dwords = Chunks { lane: 4, ..c };
            self.with_scratch(|own, [mask]| {
                match masked {
                    true => own.spread(dwords, chunk, MASK, mask),
                    false => own.v3(dwords, ops::EQUAL_D, mask, mask, mask),
                }
                let op = c.of(ops::GATHER_D_D, ops::GATHER_Q_D);
                own.asm.v3(op, c.dwords(to), there, c.dwords(mask));
            });
        }
    }

    /// Scatters the dwords of a chunk.
    fn scatter(
        &mut self,
        places: &Places,
        chunk: usize,
        (memory, data): (u32, usize),
        masked: bool,
    ) -> Done {
        let c = places.c;
        let from = self.stored(c, chunk, data, 0)?;
        self.lanes_mask(masked, chunk);
        let there = places.lanes(chunk, memory)?;
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
    pub(crate) fn store_lanes(
        &mut self,
        places: &Places,
        chunk: usize,
        (memory, data): (u32, usize),
        masked: bool,
    ) -> Done {
        let c = places.c;
        self.with_scratch(|own, [upper]| {
            own.split_offsets(places, chunk, upper)?;
            for lane in 0..c.lanes {
                let number = chunk * c.lanes + lane;
                let skip = own.asm.label();
                let from = own.file(data + 4 * number, 4)?;
                let number = u32::try_from(number).map_err(|_| NoTemplate)?;
                if masked {
                    own.asm.bit(MASK, number);
                    own.asm.jump_if(Condition::AboveOrEqual, skip);
                }
                let there = own.lane_of_chunk(places, (chunk, upper), lane)?;
                own.asm.mov(ECX, from);
                own.asm.store(there.at(memory as usize, 4)?, ECX);
                if masked {
                    own.asm.place(skip);
                }
            }
            Ok(())
        })
    }
}
