//! Machine code for the lanes of a message one after the other: atomics, and elements of other sizes than 32 bits.
//!
//! The places have been compared with the bounds before, for all lanes, and are the ones that are used here.

use crate::access::{Checked, Places};
use crate::mode::Form;
use crate::path::Path;
use crate::vector::{Done, MASK, NoTemplate, Writer};
use crate::x64::{
    Assembler, Condition, EAX, ECX, Memory, Number, R9, R11D, RAX, RCX, Width, ops, ops::Op, xmm,
};
use visakit_exec::code::{AtomicOp, LaneAtomic, LaneMessage, LaneSpace};

/// How an element of so many bytes is moved.
fn width(bytes: usize) -> Result<Width, NoTemplate> {
    match bytes {
        1 => Ok(Width::Byte),
        2 => Ok(Width::Word),
        4 => Ok(Width::Dword),
        8 => Ok(Width::Qword),
        _ => Err(NoTemplate),
    }
}

impl Writer {
    /// Accesses the memory of each lane, the lowest first: of those in [`MASK`], if it is masked. Clobbers `rax`, `rcx`,
    /// `rdx`, `r9` and `r11`.
    pub(crate) fn each_lane(&mut self, m: &LaneMessage, places: &Places, masked: bool) -> Done {
        self.store_offsets(places)?;
        if m.atomic.is_none() {
            self.takes(match m.store {
                true => Path::EachStored,
                false => Path::EachLoaded,
            });
        }
        if masked {
            self.takes(Path::EachMasked);
        }
        if !m.store {
            return self.each_lane_with(m, &m.parts, places, masked);
        }
        // Where lanes overlap, what is stored last counts: element by element, as in the interpreter.
        for part in &m.parts {
            self.each_lane_with(m, std::slice::from_ref(part), places, masked)?;
        }
        Ok(())
    }

    /// A message lane by lane, with these elements of each lane.
    fn each_lane_with(
        &mut self,
        m: &LaneMessage,
        parts: &[(u32, u32)],
        places: &Places,
        masked: bool,
    ) -> Done {
        if masked {
            self.asm.mov(R11D, MASK);
        } else {
            let window = u32::MAX >> (32 - m.lanes.clamp(1, 32));
            self.asm.mov(R11D, window);
        }
        let again = self.asm.label();
        self.asm.place(again);
        self.asm.lowest_bit(ECX, R11D);
        let checked = self.lane_in_turn(places, m.lanes)?;
        self.one_lane(m, parts, checked)?;
        // The lowest lane is done.
        self.asm.clear_lowest_bit(R11D, R11D);
        self.asm.jump_if(Condition::NotEqual, again);
        Ok(())
    }

    /// The elements of the lane in `ecx`, or its atomic operation.
    pub(crate) fn one_lane(
        &mut self,
        m: &LaneMessage,
        parts: &[(u32, u32)],
        checked: Checked,
    ) -> Done {
        let bytes = m.element.memory;
        if let Some(atomic) = &m.atomic {
            return self.atomic(m, atomic, checked.at(0, bytes)?);
        }
        for &(memory, register) in parts {
            let here = m.data + register as usize;
            self.element(m, checked.at(memory as usize, bytes)?, here)?;
        }
        Ok(())
    }

    /// The element of the lane in `ecx` of an operand in the register file.
    pub(crate) fn lane_of_file(
        &mut self,
        place: usize,
        size: usize,
        lanes: usize,
    ) -> Result<Memory, NoTemplate> {
        let first = self.file(place, size * lanes)?;
        Ok(first.indexed(RCX, width(size)?))
    }

    /// The element of a message for the lane in `ecx`, without the bytes below.
    fn of_lane(&mut self, m: &LaneMessage, place: usize, low: usize) -> Result<Memory, NoTemplate> {
        let place = self.lane_of_file(place, m.element.register, m.lanes)?;
        Ok(place.further(i64::try_from(low).map_err(|_| NoTemplate)?))
    }

    fn element(&mut self, m: &LaneMessage, there: Memory, place: usize) -> Done {
        let e = m.element;
        if m.store {
            let from = self.of_lane(m, place, e.low)?;
            self.asm.extend(RAX, e.memory, from);
            self.asm.store(there, RAX.low(width(e.memory)?));
            return Ok(());
        }
        let to = self.of_lane(m, place, 0)?;
        self.asm.extend(RAX, e.memory, there);
        if e.low != 0 {
            let bits = u32::try_from(8 * e.low).map_err(|_| NoTemplate)?;
            self.asm.shl(EAX, bits);
        }
        self.asm.store(to, RAX.low(width(e.register)?));
        Ok(())
    }

    /// The atomic operation of the lane in `ecx`. Shared local memory belongs to threads that take turns; other memory
    /// is exchanged until there is no interference.
    fn atomic(&mut self, m: &LaneMessage, atomic: &LaneAtomic, there: Memory) -> Done {
        let bytes = m.element.memory as u64;
        if m.align < bytes {
            // Words that are not aligned are left to the interpreter.
            return Err(NoTemplate);
        }
        self.takes(match atomic.op.is_float() {
            true => Path::AtomicFloat,
            false => Path::AtomicInteger,
        });
        if m.space == LaneSpace::Local {
            self.takes(Path::AtomicLocal);
        }
        // Words are computed with as dwords, of which a part is stored.
        let computed = width(m.element.memory.max(4))?;
        let (old, new) = (RAX.low(computed), R9.low(computed));
        let part = R9.low(width(m.element.memory)?);
        self.asm.extend(RAX, m.element.memory, there);
        let retry = self.asm.label();
        if m.space != LaneSpace::Local {
            self.asm.place(retry);
        }
        self.changed(m, atomic, old, new)?;
        if m.space == LaneSpace::Local {
            self.asm.store(there, part);
        } else {
            // On failure the first register holds the current value.
            self.asm.exchange_if_same(there, part);
            self.asm.jump_if(Condition::NotEqual, retry);
        }
        if let Some(result) = atomic.result {
            let to = self.of_lane(m, result, 0)?;
            let from = if atomic.op == AtomicOp::PreDecrement {
                if bytes == 2 {
                    self.asm.extend(new, 2, part);
                }
                new
            } else {
                old
            };
            self.asm.store(to, from);
        }
        Ok(())
    }

    /// The new value that an atomic operation computes from the old one.
    fn changed(&mut self, m: &LaneMessage, atomic: &LaneAtomic, old: Number, new: Number) -> Done {
        // Results are written while operands of later lanes are still to be read.
        if let Some(result) = atomic.result {
            let bytes = m.lanes * m.element.register;
            let apart = |place: usize| place + bytes <= result || result + bytes <= place;
            let operands = atomic.operands.iter().flatten();
            if !operands.copied().all(apart) {
                return Err(NoTemplate);
            }
        }
        let compared = width(m.element.memory)?;
        let [a, b] = atomic.operands;
        let operand = |writer: &mut Self, place: Option<usize>| {
            let place = place.ok_or(NoTemplate)?;
            writer.of_lane(m, place, 0)
        };
        let both = |writer: &mut Self, op: fn(&mut Assembler, Number, Memory)| -> Done {
            writer.asm.mov(new, old);
            let a = operand(writer, a)?;
            op(&mut writer.asm, new, a);
            Ok(())
        };
        let choice = |writer: &mut Self, keeps: Condition| -> Done {
            let a = operand(writer, a)?;
            writer.asm.mov(new, a);
            writer.asm.cmp(old.low(compared), new.low(compared));
            writer.asm.mov_if(keeps, new, old);
            Ok(())
        };
        if atomic.op.is_float() {
            if m.element.memory == 2 {
                return Err(NoTemplate);
            }
            return self.changed_float(m, atomic, old, new);
        }
        match atomic.op {
            AtomicOp::Load => self.asm.mov(new, old),
            AtomicOp::Store => {
                let a = operand(self, a)?;
                self.asm.mov(new, a);
            }
            AtomicOp::Add => both(self, Assembler::add)?,
            AtomicOp::Sub => both(self, Assembler::sub)?,
            AtomicOp::And => both(self, Assembler::and)?,
            AtomicOp::Or => both(self, Assembler::or)?,
            AtomicOp::Xor => both(self, Assembler::xor)?,
            AtomicOp::Increment => {
                self.asm.mov(new, old);
                self.asm.inc(new);
            }
            AtomicOp::Decrement | AtomicOp::PreDecrement => {
                self.asm.mov(new, old);
                self.asm.dec(new);
            }
            AtomicOp::UnsignedMin => choice(self, Condition::Below)?,
            AtomicOp::UnsignedMax => choice(self, Condition::Above)?,
            AtomicOp::SignedMin => choice(self, Condition::Less)?,
            AtomicOp::SignedMax => choice(self, Condition::Greater)?,
            AtomicOp::CompareExchange => {
                let b = operand(self, b)?;
                self.asm.mov(new, b);
                let a = operand(self, a)?;
                self.asm.cmp(old.low(compared), a);
                self.asm.mov_if(Condition::NotEqual, new, old);
            }
            _ => return Err(NoTemplate),
        }
        Ok(())
    }

    /// The new value by an operation on floats, which ignores the mode: host arithmetic, and choices as in the interpreter.
    fn changed_float(
        &mut self,
        m: &LaneMessage,
        atomic: &LaneAtomic,
        old: Number,
        new: Number,
    ) -> Done {
        let of = |dword: Op, qword: Op| match m.element.register {
            8 => qword,
            _ => dword,
        };
        let into = of(ops::LOAD_D, ops::FROM_Q);
        let out = of(ops::STORE_D, ops::TO_Q);
        let relate = of(ops::COMPARE_SS, ops::COMPARE_SD);
        let (x, y) = (xmm(0), xmm(1));
        let [a, b] = atomic.operands;
        let a = self.of_lane(m, a.ok_or(NoTemplate)?, 0)?;
        self.asm.v2(into, x, old);
        match atomic.op {
            // The host rounds as the mode says, which does not matter here.
            AtomicOp::FloatAdd | AtomicOp::FloatSub if self.form == Form::Directed => {
                return Err(NoTemplate);
            }
            AtomicOp::FloatAdd | AtomicOp::FloatSub => {
                let op = match atomic.op {
                    AtomicOp::FloatAdd => of(ops::ADD_SS, ops::ADD_SD),
                    _ => of(ops::SUB_SS, ops::SUB_SD),
                };
                self.asm.v3(op, x, x, a);
                self.asm.v2(out, new, x);
            }
            AtomicOp::FloatMin | AtomicOp::FloatMax => {
                self.asm.mov(new, a);
                self.asm.v2(into, y, new);
                // Not below: neither is NaN.
                let (first, second) = if atomic.op == AtomicOp::FloatMin {
                    (y, x)
                } else {
                    (x, y)
                };
                self.asm.v2(relate, first, second);
                self.asm.mov_if(Condition::AboveOrEqual, new, old);
                self.asm.v2(relate, y, y);
                self.asm.mov_if(Condition::Parity, new, old);
            }
            AtomicOp::FloatCompareExchange => {
                let b = self.of_lane(m, b.ok_or(NoTemplate)?, 0)?;
                self.asm.mov(new, b);
                self.asm.v2(relate, x, a);
                self.asm.mov_if(Condition::NotEqual, new, old);
                self.asm.mov_if(Condition::Parity, new, old);
            }
            _ => return Err(NoTemplate),
        }
        Ok(())
    }
}
