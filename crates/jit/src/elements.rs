//! Lanes of qwords, and of several dwords each, such as vectors of the source: two of these move as one qword. Where the lanes
//! follow each other in memory they move as whole vectors, otherwise by gathers and scatters of qwords, half as many as of
//! dwords.

use crate::Features;
use crate::access::{Checked, Places};
use crate::kept::Content;
use crate::masks::mask_register;
use crate::memory::Loaded;
use crate::path::Path;
use crate::vector::{Chunks, Done, MASK, NoTemplate, Writer};
use crate::x64::{Label, Mask, Memory, ops, ymm};
use visakit_exec::code::{Element, LaneMessage};

/// An element: its distance in memory from the address of a lane, and in the register file from that of the first element.
pub(crate) type Part = (u32, u32);

/// Which of two dwords of a qword, or of two qwords; or which half of the lanes.
const BOTH: [usize; 2] = [0, 1];

/// Bytes from lane to lane where those of a message follow each other, two or four dwords each.
pub(crate) fn stride_of(m: &LaneMessage) -> Option<usize> {
    let (first, _) = m.parts.first()?;
    let mut next = *first;
    let follow = m.parts.iter().all(|(memory, _)| {
        let is_next = *memory == next;
        next = memory.wrapping_add(4);
        is_next
    });
    let count = m.parts.len();
    (follow && matches!(count, 2 | 4)).then_some(4 * count)
}

/// Where the qwords of each half of a chunk are in the register file, and their bytes.
fn halves_of(m: &LaneMessage, c: Chunks, chunk: usize, (_, register): Part) -> [(usize, usize); 2] {
    let bytes = 4 * c.lanes;
    let first = m.data + register as usize;
    BOTH.map(|half| (first + (2 * chunk + half) * bytes, bytes))
}

/// Whether elements are moved as qwords.
pub(crate) fn is_qwords(m: &LaneMessage) -> bool {
    let Element {
        memory,
        register,
        low,
    } = m.element;
    m.atomic.is_none() && (memory, register, low) == (8, 8, 0)
}

/// The distance of the first element from the address of a lane.
pub(crate) fn first_of(m: &LaneMessage) -> usize {
    m.parts.first().map_or(0, |(memory, _)| *memory as usize)
}

/// The elements of a lane, two in one where they follow each other.
pub(crate) fn pairs(parts: &[Part]) -> impl Iterator<Item = &[Part]> {
    let mut rest = parts;
    std::iter::from_fn(move || {
        let count = match rest {
            [] => return None,
            [(one, _), (two, _), ..] if one.checked_add(4) == Some(*two) => 2,
            _ => 1,
        };
        let (own, after) = rest.split_at(count);
        rest = after;
        Some(own)
    })
}

impl Writer {
    /// Whether the lanes of a chunk can be gathered and scattered as qwords.
    pub(crate) fn has_pairs(&self, c: Chunks) -> bool {
        c.lane == 4 && (c.zmm || self.features != Features::Avx512)
    }

    /// Whether the lanes of a chunk can be moved as whole vectors.
    pub(crate) fn row_stride(&self, places: &Places, m: &LaneMessage) -> Option<usize> {
        let c = places.c;
        let is_whole = c.lane == 4 && c.lanes == if c.zmm { 16 } else { 8 } && !places.is_large;
        stride_of(m).filter(|_| is_whole)
    }

    /// Loads the qwords of elements `2 * pair` and the next one, of the lower and the upper half of the lanes of a chunk,
    /// which follow each other.
    fn load_row(
        &mut self,
        c: Chunks,
        (row, stride): (Checked, usize),
        (first, pair): (usize, usize),
        halves: [u32; 2],
    ) -> Done {
        let bytes = 4 * c.lanes;
        let at = |n: usize| row.at(first + n * bytes, bytes);
        for (half, to) in halves.into_iter().enumerate() {
            if stride == 8 {
                self.load_bytes(to, at(half)?, bytes)?;
                continue;
            }
            // Two vectors have the qwords of these lanes, every second one.
            self.with_scratch(|own, [one]| -> Done {
                own.load_bytes(one, at(2 * half)?, bytes)?;
                if c.zmm {
                    let order = own.each_qword(|lane| (2 * lane + pair) as u64);
                    own.load_bytes(to, order, bytes)?;
                    own.v3m(c, ops::PERMUTE_TWO_Q, to, one, at(2 * half + 1)?);
                } else {
                    let op = [ops::UNPACK_LOW_Q, ops::UNPACK_HIGH_Q];
                    let op = op.get(pair).copied().ok_or(NoTemplate)?;
                    own.v3m(c, op, to, one, at(2 * half + 1)?);
                    own.v2i(c, ops::PERMUTE_Q_IMM, to, c.register(to), 0b1101_1000);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Loads the lanes of a chunk, which follow each other from a place in these bytes on: to the register of each element, or
    /// to the file.
    pub(crate) fn load_rows(
        &mut self,
        m: &LaneMessage,
        c: Chunks,
        (chunk, first): (usize, usize),
        (row, stride): (Checked, usize),
        to: &impl Fn(u32) -> Option<u32>,
    ) -> Done {
        for (number, pair) in pairs(&m.parts).enumerate() {
            self.with_scratch(|own, qwords| -> Done {
                own.load_row(c, (row, stride), (first, number), qwords)?;
                for (part, (_, register)) in pair.iter().enumerate() {
                    let data = m.data + *register as usize + chunk * 4 * c.lanes;
                    let n = to(*register).unwrap_or(0);
                    own.split_pair(c, n, qwords, part)?;
                    own.put(c, n, 0, to(*register), data)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Moves all lanes, which follow each other in these bytes.
    pub(crate) fn move_rows(
        &mut self,
        m: &LaneMessage,
        (row, stride): (Checked, usize),
        loaded: &Loaded,
    ) -> Done {
        let c = Chunks::new(self.features, 4, m.lanes);
        let bytes = 4 * c.lanes;
        for chunk in 0..c.count {
            let first = chunk * stride * c.lanes;
            if m.store {
                self.store_row(m, c, (chunk, first), row)?;
                continue;
            }
            let content = |register: u32| Content::Bytes {
                offset: m.data + register as usize + chunk * bytes,
                bytes,
            };
            let to = |register: u32| {
                let own = loaded.iter().find(|(_, of)| *of == content(register));
                own.map(|(n, _)| *n)
            };
            self.load_rows(m, c, (chunk, first), (row, stride), &to)?;
            for &(_, register) in &m.parts {
                if let Some(n) = to(register) {
                    self.store_loaded(content(register), n)?;
                }
            }
        }
        Ok(())
    }

    /// Gathers the qwords of the lower and the upper half of the lanes of a chunk. Those of lanes that are not enabled stay.
    pub(crate) fn gather_pair(
        &mut self,
        places: &Places,
        (chunk, memory): (usize, u32),
        masked: bool,
        halves: [u32; 2],
    ) -> Done {
        let c = places.c;
        let qwords = Chunks::new(self.features, 8, c.lanes);
        self.with_scratch(|own, [upper]| {
            let there = own.halves_of(places, chunk, upper, memory)?;
            for (half, (to, there)) in halves.into_iter().zip(there).enumerate() {
                let number = 2 * chunk + half;
                if c.zmm {
                    match masked {
                        true => own.lanes_of(qwords, number, MASK, Mask::K2),
                        false => own.asm.mask_all(Mask::K2),
                    }
                    own.asm.v2(ops::MASKED_GATHER_D_Q, c.register(to), there);
                    own.asm.mask(Mask::K2);
                } else {
                    own.with_scratch(|own, [mask]| {
                        match masked {
                            true => own.spread(qwords, number, MASK, mask),
                            false => own.v3(c, ops::EQUAL_D, mask, mask, mask),
                        }
                        own.asm.v3(ops::GATHER_D_Q, ymm(to), there, ymm(mask));
                    });
                }
            }
            Ok(())
        })
    }

    /// Of qwords the lower or the upper dwords.
    pub(crate) fn split_pair(
        &mut self,
        c: Chunks,
        to: u32,
        [lower, upper]: [u32; 2],
        part: usize,
    ) -> Done {
        if c.zmm {
            let order = self.each_dword(|lane| u32::try_from(2 * lane + part).unwrap_or(0));
            self.load_bytes(to, order, 64)?;
            self.v3(c, ops::PERMUTE_TWO_D, to, lower, upper);
        } else {
            let chosen = [0b1000_1000, 0b1101_1101];
            let chosen = chosen.get(part).copied().ok_or(NoTemplate)?;
            self.asm
                .v3i(ops::SHUFFLE_PS, ymm(to), ymm(lower), ymm(upper), chosen);
            self.v2i(c, ops::PERMUTE_Q_IMM, to, c.register(to), 0b1101_1000);
        }
        Ok(())
    }

    /// Lanes of a vector and of another one in turns, those of the lower or of the upper half. The last register is lost.
    fn interleave(
        &mut self,
        c: Chunks,
        (to, half): (u32, usize),
        [one, two]: [u32; 2],
        lost: u32,
    ) -> Done {
        if c.zmm {
            let lanes = c.lanes;
            let place = |lane: usize| half * lanes / 2 + lane / 2 + lane % 2 * lanes;
            let order = match c.lane {
                4 => self.each_dword(|lane| u32::try_from(place(lane)).unwrap_or(0)),
                _ => self.each_qword(|lane| place(lane) as u64),
            };
            self.load_bytes(to, order, 64)?;
            let op = c.of(ops::PERMUTE_TWO_D, ops::PERMUTE_TWO_Q);
            self.v3(c, op, to, one, two);
        } else {
            let [low, high] = [
                c.of(ops::UNPACK_LOW_D, ops::UNPACK_LOW_Q),
                c.of(ops::UNPACK_HIGH_D, ops::UNPACK_HIGH_Q),
            ];
            self.v3(c, low, to, one, two);
            self.v3(c, high, lost, one, two);
            let halves = [0x20, 0x31];
            let halves = halves.get(half).copied().ok_or(NoTemplate)?;
            self.asm
                .v3i(ops::PERMUTE_HALVES, ymm(to), ymm(to), ymm(lost), halves);
        }
        Ok(())
    }

    /// The qwords of two elements, of one half of the lanes of a chunk. The last register is lost.
    fn join_pair(
        &mut self,
        c: Chunks,
        (chunk, half): (usize, usize),
        data: [usize; 2],
        (to, lost): (u32, u32),
    ) -> Done {
        let [one, two] = data;
        let one = self.stored(c, chunk, one, 0)?;
        let two = self.stored(c, chunk, two, lost)?;
        self.interleave(c, (to, half), [one, two], lost)
    }

    /// Stores the lanes of a message of several dwords each, if all lanes are at multiples of their distance, where none
    /// overlaps another one in part: then it does not matter that elements are stored together. Code then goes to the label,
    /// otherwise it goes on.
    pub(crate) fn store_pairs(
        &mut self,
        m: &LaneMessage,
        places: &Places,
        masked: bool,
    ) -> Result<Option<Label>, NoTemplate> {
        let c = places.c;
        let stride = self.row_stride(places, m);
        let Some(stride) = stride.filter(|_| self.has_pairs(c) && (c.zmm || !masked)) else {
            return Ok(None);
        };
        let (done, apart) = (self.asm.label(), self.asm.label());
        self.check_multiples(places, stride, apart)?;
        for chunk in 0..places.chunks() {
            let (end, anywhere) = (self.asm.label(), self.asm.label());
            if !masked {
                let row = self.with_scratch(|own, [distances]| {
                    own.distances_of(places, chunk, distances)?;
                    own.check_rows(places, (chunk, stride), distances, anywhere)
                })?;
                self.takes(Path::RowsStored);
                self.store_row(m, c, (chunk, first_of(m)), row)?;
                self.asm.jump(end);
                self.asm.place(anywhere);
            }
            if c.zmm {
                self.takes(match masked {
                    false => Path::PairsStored,
                    true => Path::PairsStoredMasked,
                });
                self.scatter_pairs(m, places, chunk, masked)?;
            } else {
                self.takes(Path::StoredByLane);
                for &(memory, register) in &m.parts {
                    let data = m.data + register as usize;
                    self.store_lanes(places, chunk, (memory, data), masked)?;
                }
            }
            self.asm.place(end);
        }
        self.asm.jump(done);
        self.asm.place(apart);
        Ok(Some(done))
    }

    /// Stores the lanes of a chunk, which follow each other.
    fn store_row(
        &mut self,
        m: &LaneMessage,
        c: Chunks,
        (chunk, first): (usize, usize),
        row: Checked,
    ) -> Done {
        let bytes = 4 * c.lanes;
        let qwords = Chunks::new(self.features, 8, c.lanes);
        let place = |(_, register): &Part| m.data + *register as usize;
        match m.parts.as_slice() {
            [a, b] => self.with_scratch(|own, [joined, lost]| {
                for half in BOTH {
                    let data = [place(a), place(b)];
                    own.join_pair(c, (chunk, half), data, (joined, lost))?;
                    own.store_bytes(row.at(first + half * bytes, bytes)?, joined, bytes)?;
                }
                Ok(())
            }),
            [a, b, x, y] => self.with_scratch(|own, [low, high, joined, lost]| {
                for half in BOTH {
                    let (of_low, of_high) = ([place(a), place(b)], [place(x), place(y)]);
                    own.join_pair(c, (chunk, half), of_low, (low, lost))?;
                    own.join_pair(c, (chunk, half), of_high, (high, lost))?;
                    for quarter in BOTH {
                        own.interleave(qwords, (joined, quarter), [low, high], lost)?;
                        let there = row.at(first + (2 * half + quarter) * bytes, bytes)?;
                        own.store_bytes(there, joined, bytes)?;
                    }
                }
                Ok(())
            }),
            _ => Err(NoTemplate),
        }
    }

    /// Scatters the lanes of a chunk.
    fn scatter_pairs(
        &mut self,
        m: &LaneMessage,
        places: &Places,
        chunk: usize,
        masked: bool,
    ) -> Done {
        let c = places.c;
        self.with_scratch(|own, [upper, joined, lost]| {
            for pair in pairs(&m.parts) {
                let [(memory, one), (_, two)] = *pair else {
                    return Err(NoTemplate);
                };
                let data = [one, two].map(|register| m.data + register as usize);
                let there = own.halves_of(places, chunk, upper, memory)?;
                for (half, there) in there.into_iter().enumerate() {
                    own.join_pair(c, (chunk, half), data, (joined, lost))?;
                    own.scatter_half(c, (chunk, half), (joined, there), masked);
                }
            }
            Ok(())
        })
    }

    /// Whether the elements of a message are qwords, and these lanes can be moved as such.
    pub(crate) fn is_of_qwords(&self, m: &LaneMessage, places: &Places) -> bool {
        let c = places.c;
        let is_whole = self.has_pairs(c) && c.lanes == if c.zmm { 16 } else { 8 };
        // AVX2 does not scatter.
        is_qwords(m) && is_whole && !places.is_large && (c.zmm || !m.store)
    }

    /// Moves elements of eight bytes, one after the other, as the interpreter does where lanes overlap.
    pub(crate) fn move_qwords(&mut self, m: &LaneMessage, places: &Places, masked: bool) -> Done {
        for &part in &m.parts {
            for chunk in 0..places.chunks() {
                let done = self.asm.label();
                if !masked && m.parts.len() == 1 {
                    let anywhere = self.asm.label();
                    self.qwords_in_row(m, places, (chunk, part), anywhere)?;
                    self.asm.jump(done);
                    self.asm.place(anywhere);
                }
                match m.store {
                    false => self.gather_qwords(m, places, (chunk, part), masked)?,
                    true => self.scatter_qwords(m, places, (chunk, part), masked)?,
                }
                self.asm.place(done);
            }
        }
        Ok(())
    }

    fn qwords_in_row(
        &mut self,
        m: &LaneMessage,
        places: &Places,
        (chunk, part): (usize, Part),
        otherwise: Label,
    ) -> Done {
        let (memory, _) = part;
        let halves = halves_of(m, places.c, chunk, part);
        self.with_scratch(|own, [n]| {
            own.distances_of(places, chunk, n)?;
            let row = own.check_rows(places, (chunk, 8), n, otherwise)?;
            own.takes(match m.store {
                false => Path::Rows,
                true => Path::RowsStored,
            });
            for (half, (offset, bytes)) in halves.into_iter().enumerate() {
                let file = own.file(offset, bytes)?;
                let there = row.at(memory as usize + half * bytes, bytes)?;
                let [from, to] = if m.store {
                    [file, there]
                } else {
                    [there, file]
                };
                own.load_bytes(n, from, bytes)?;
                own.store_bytes(to, n, bytes)?;
            }
            Ok(())
        })
    }

    fn gather_qwords(
        &mut self,
        m: &LaneMessage,
        places: &Places,
        (chunk, part): (usize, Part),
        masked: bool,
    ) -> Done {
        let (memory, _) = part;
        self.takes(match masked {
            false => Path::Pairs,
            true => Path::PairsMasked,
        });
        let files = halves_of(m, places.c, chunk, part);
        self.with_scratch(|own, halves| {
            for (n, (offset, bytes)) in halves.into_iter().zip(files).filter(|_| masked) {
                let old = own.file(offset, bytes)?;
                own.load_bytes(n, old, bytes)?;
            }
            own.gather_pair(places, (chunk, memory), masked, halves)?;
            for (n, (offset, bytes)) in halves.into_iter().zip(files) {
                let file = own.file(offset, bytes)?;
                own.store_bytes(file, n, bytes)?;
            }
            Ok(())
        })
    }

    fn scatter_qwords(
        &mut self,
        m: &LaneMessage,
        places: &Places,
        (chunk, part): (usize, Part),
        masked: bool,
    ) -> Done {
        let (memory, _) = part;
        self.takes(match masked {
            false => Path::PairsStored,
            true => Path::PairsStoredMasked,
        });
        let files = halves_of(m, places.c, chunk, part);
        self.with_scratch(|own, [upper, n]| {
            let there = own.halves_of(places, chunk, upper, memory)?;
            for (half, (there, (offset, bytes))) in there.into_iter().zip(files).enumerate() {
                let file = own.file(offset, bytes)?;
                own.load_bytes(n, file, bytes)?;
                own.scatter_half(places.c, (chunk, half), (n, there), masked);
            }
            Ok(())
        })
    }

    /// Scatters the qwords of half a chunk.
    fn scatter_half(
        &mut self,
        c: Chunks,
        (chunk, half): (usize, usize),
        (from, there): (u32, Memory),
        masked: bool,
    ) {
        let qwords = Chunks::new(self.features, 8, c.lanes);
        match masked {
            true => self.lanes_of(qwords, 2 * chunk + half, MASK, Mask::K2),
            false => self.asm.mask_all(Mask::K2),
        }
        self.asm.v2(ops::SCATTER_D_Q, there, c.register(from));
        self.asm.mask(Mask::K2);
    }

    /// The enabled lanes of a vector of dwords; the others become what the file holds.
    pub(crate) fn merge(&mut self, c: Chunks, chunk: usize, (to, from): (u32, u32)) {
        if c.zmm {
            self.v2(c, ops::MASKED_MOVE_D, to, c.register(from));
            self.asm.mask(mask_register(chunk));
        } else {
            self.with_scratch(|own, [mask]| {
                own.spread(c, chunk, MASK, mask);
                own.blend_by_vector(to, to, from, mask);
            });
        }
    }
}
