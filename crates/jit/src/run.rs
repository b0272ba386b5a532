//! Machine code for runs of bytes: lanes whose addresses follow each other.

use crate::Features;
use crate::access::Checked;
use crate::kept::Content;
use crate::load::widening;
use crate::memory::Loaded;
use crate::path::Path;
use crate::vector::{Chunks, Done, NoTemplate, Writer};
use crate::x64::{Condition, ECX, Label, Mask, Operand, ops, xmm};
use visakit_exec::code::{Element, LaneMessage};
use visakit_isa::DataType;

/// The function of three bits `a | b ^ c`, as a table of truth.
const OR_DIFFERENT: u32 = 0xf6;

/// The mask register that says, with all of its eight low bits set, that lanes were found to follow each other.
pub(crate) const CONSECUTIVE: Mask = Mask::K7;

/// How elements of lanes whose addresses follow each other are moved at once: as they are, or extended from a type.
/// `None` if they are not.
fn run_of(m: &LaneMessage) -> Option<Option<DataType>> {
    let Element {
        memory,
        register,
        low,
    } = m.element;
    match (memory, register) {
        _ if memory == register => Some(None),
        (1, 4) if low == 0 && !m.store => Some(Some(DataType::Ub)),
        (2, 4) if low == 0 && !m.store => Some(Some(DataType::Uw)),
        _ => None,
    }
}

/// What is added to the address of a lane, and how elements are moved at once, if those of a message may follow each other.
pub(crate) fn row_of(m: &LaneMessage) -> Option<(u32, Option<DataType>)> {
    let [(memory, 0)] = *m.parts.as_slice() else {
        return None;
    };
    let aligned = m.align <= m.element.memory as u64;
    let extended = run_of(m).filter(|_| aligned && m.atomic.is_none())?;
    Some((memory, extended))
}

impl Writer {
    /// Copies bytes between memory and the register file. Bytes that are loaded go through these registers.
    pub(crate) fn copy(
        &mut self,
        checked: Checked,
        store: bool,
        data: usize,
        bytes: usize,
        loaded: &Loaded,
    ) -> Done {
        let mut done = 0;
        while done < bytes {
            let left = bytes - done;
            let size = match left {
                64.. if self.features == Features::Avx512 => 64,
                32.. => 32,
                16.. => 16,
                8.. => 8,
                _ => 4,
            };
            let there = checked.at(done, size)?;
            let content = Content::Bytes {
                offset: data + done,
                bytes: size,
            };
            let c = Chunks::new(self.features, 4, size / 4);
            let held = if store { self.find(c, content) } else { None };
            let any = u32::try_from(done / size % 8).unwrap_or(0);
            if store {
                let register = match held {
                    Some(n) => n,
                    None => {
                        let here = self.file(data + done, size)?;
                        self.load_bytes(any, here, size)?;
                        any
                    }
                };
                self.store_bytes(there, register, size)?;
            } else {
                let own = loaded.iter().find(|(_, own)| *own == content);
                let n = own.map_or(any, |(n, _)| *n);
                self.load_bytes(n, there, size)?;
                self.store_loaded(content, n)?;
            }
            done += size;
        }
        Ok(())
    }

    /// Stores what was loaded to its place in the file.
    pub(crate) fn store_loaded(&mut self, content: Content, from: u32) -> Done {
        let Content::Bytes { offset, bytes } = content else {
            return Err(NoTemplate);
        };
        let to = self.place(offset, bytes)?;
        self.store_bytes(to, from, bytes)?;
        self.loads.push((content, self.asm.mark() - 1));
        Ok(())
    }

    /// Extends elements, which follow each other, to lanes of 32 bits.
    pub(crate) fn extend(&mut self, checked: Checked, m: &LaneMessage, ty: DataType) -> Done {
        let c = Chunks::new(self.features, 4, m.lanes);
        let op = widening(ty, 4).ok_or(NoTemplate)?;
        for chunk in 0..c.count {
            let read = c.lanes * m.element.memory;
            let from = checked.at(chunk * read, read)?;
            let bytes = 4 * c.lanes;
            let to = self.file(m.data + chunk * bytes, bytes)?;
            self.v2(c, op, 0, from);
            self.store_bytes(to, 0, bytes)?;
        }
        Ok(())
    }

    /// Continues if the addresses are consecutive, one element apart. Messages with the same number have addresses that
    /// differ by something uniform: with AVX-512 the outcome stays in [`CONSECUTIVE`] for the next ones.
    pub(crate) fn is_run(
        &mut self,
        c: Chunks,
        m: &LaneMessage,
        number: Option<u32>,
        otherwise: Label,
    ) -> Done {
        let number = number.filter(|_| c.zmm);
        let found = number.map(|number| (number, m.element.memory));
        if found.is_none() || self.kept.consecutive != found {
            self.with_scratch(|own, registers| own.compare_to_run(c, m, registers))?;
            self.kept.consecutive = found;
        } else {
            self.takes(Path::RunAgain);
        }
        if c.zmm {
            self.asm.mask_to(ECX, CONSECUTIVE);
            self.asm.cmp(ECX, 0xff);
        }
        self.asm.jump_if(Condition::NotEqual, otherwise);
        Ok(())
    }

    /// Compares the address of each lane with the one that follows the lane before, counting from the first: with AVX-512
    /// sets the bits of [`CONSECUTIVE`] for lanes in which that is so in each chunk, otherwise [`Condition::NotEqual`].
    fn compare_to_run(
        &mut self,
        c: Chunks,
        m: &LaneMessage,
        [differs, next, first]: [u32; 3],
    ) -> Done {
        let bytes = c.lanes * 8;
        let held = |writer: &mut Self, chunk: usize| {
            let offset = m.addresses + chunk * bytes;
            writer.find(c, Content::Bytes { offset, bytes })
        };
        let address: Operand = match held(self, 0) {
            Some(n) => xmm(n).into(),
            None => self.file(m.addresses, 8)?.into(),
        };
        self.v2(c, ops::BROADCAST_Q, first, address);
        for chunk in 0..c.count {
            let n = match held(self, chunk) {
                Some(n) => n,
                None => {
                    let there = self.file(m.addresses + chunk * bytes, bytes)?;
                    self.load_bytes(next, there, bytes)?;
                    next
                }
            };
            let size = m.element.memory;
            let steps = self.each_qword(|lane| (size * (chunk * c.lanes + lane)) as u64);
            self.v3m(c, ops::SUB_Q, next, n, steps);
            // What differs, of all chunks together: comparing each would wait for the one before.
            match (chunk, c.zmm) {
                (0, _) => self.v3(c, ops::XOR, differs, next, first),
                (_, true) => {
                    let [all, own, first] = [differs, next, first].map(|n| c.register(n));
                    self.asm.v3i(ops::TERNARY_Q, all, own, first, OR_DIFFERENT);
                }
                (_, false) => {
                    self.v3(c, ops::XOR, next, next, first);
                    self.v3(c, ops::OR, differs, differs, next);
                }
            }
        }
        let differs = c.register(differs);
        if c.zmm {
            self.asm
                .v3(ops::MASK_OF_NO_BITS_Q, CONSECUTIVE, differs, differs);
        } else {
            self.asm.v2(ops::TEST, differs, differs);
        }
        Ok(())
    }
}
