//! Machine code for the lanes of a message one after the other: atomics, and elements of other sizes than 32 bits.
//!
//! The places have been compared with the bounds before, for all lanes, and are the ones that are used here.

use crate::assembler::Condition;
use crate::memory::{Places, indexed};
use crate::mode::Form;
use crate::pages::place;
use crate::path::Path;
use crate::vector::{CONTEXT, Done, MASK, NoTemplate, Writer, field};
use iced_x86::{Code, MemoryOperand, Register};
use visakit_exec::code::{AtomicOp, LaneAtomic, LaneMessage, LaneSpace};

use Register::{EAX, ECX, EDX, R9, R9D, R11D, RAX, RCX, RDX, XMM0, XMM1};

/// Bytes of the places of lanes in the context.
fn lane_places(at: usize, bytes: usize) -> Result<MemoryOperand, NoTemplate> {
    let is_inside = at + bytes <= place::LANES_BYTES;
    let at = i64::try_from(at).ok().filter(|_| is_inside);
    Ok(field(place::LANES + at.ok_or(NoTemplate)?))
}

/// An instruction on 16, 32 and 64 bits of memory.
const fn sized(m: &LaneMessage, word: Code, dword: Code, qword: Code) -> Code {
    if m.element.memory == 2 {
        word
    } else {
        of(m, dword, qword)
    }
}

/// An instruction on 32 and on 64 bits of a register.
const fn of(m: &LaneMessage, dword: Code, qword: Code) -> Code {
    if m.element.register == 8 {
        qword
    } else {
        dword
    }
}

impl Writer {
    /// Accesses the memory of each lane, the lowest first: of those in [`MASK`], if it is masked. Clobbers `rax`, `rcx`,
    /// `rdx`, `r9` and `r11`.
    pub(crate) fn each_lane(&mut self, m: &LaneMessage, places: &Places, masked: bool) -> Done {
        let c = places.c;
        let bytes = c.lane * c.lanes;
        for (chunk, &n) in places.offsets.iter().enumerate() {
            let there = lane_places(chunk * bytes, bytes)?;
            self.store_bytes(there, n, bytes)?;
        }
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

    /// The same with these elements of each lane.
    fn each_lane_with(
        &mut self,
        m: &LaneMessage,
        parts: &[(u32, u32)],
        places: &Places,
        masked: bool,
    ) -> Done {
        let base = places.base;
        if masked {
            self.asm.op2(Code::Mov_r32_rm32, R11D, MASK);
        } else {
            let window = u32::MAX >> (32 - m.lanes.clamp(1, 32));
            self.asm.op1i(Code::Mov_r32_imm32, R11D, window);
        }
        let again = self.asm.label();
        self.asm.place(again);
        self.asm.op2(Code::Bsf_r32_rm32, ECX, R11D);
        let place = lane_places(0, places.c.lane * m.lanes)?.displacement;
        let (code, to, scale) = match places.c.lane {
            8 => (Code::Mov_r64_rm64, RDX, 8),
            _ => (Code::Mov_r32_rm32, EDX, 4),
        };
        let place = MemoryOperand::with_base_index_scale_displ_size(CONTEXT, RCX, scale, place, 8);
        self.asm.op2(code, to, place);
        self.one_lane(m, parts, |memory| Ok(indexed(base, RDX, memory)))?;
        // The lowest lane is done.
        self.asm.op2(Code::VEX_Blsr_r32_rm32, R11D, R11D);
        self.asm.jump_if(Condition::NotEqual, again);
        Ok(())
    }

    /// The elements of the lane in `ecx`, or its atomic operation. `there` is the place in memory, relative to the
    /// lane's address.
    pub(crate) fn one_lane(
        &mut self,
        m: &LaneMessage,
        parts: &[(u32, u32)],
        there: impl Fn(u32) -> Result<MemoryOperand, NoTemplate>,
    ) -> Done {
        if let Some(atomic) = &m.atomic {
            return self.atomic(m, atomic, there(0)?);
        }
        for &(memory, register) in parts {
            let here = m.data + register as usize;
            self.element(m, there(memory)?, here)?;
        }
        Ok(())
    }

    /// The element of the lane in `ecx` of an operand in the register file.
    pub(crate) fn lane_of_file(
        &mut self,
        place: usize,
        size: usize,
        lanes: usize,
    ) -> Result<MemoryOperand, NoTemplate> {
        let first = self.file(place, size * lanes)?;
        let scale = u32::try_from(size).map_err(|_| NoTemplate)?;
        let (base, displacement) = (first.base, first.displacement);
        Ok(MemoryOperand::with_base_index_scale_displ_size(
            base,
            RCX,
            scale,
            displacement,
            8,
        ))
    }

    /// The same of a message, without the bytes below.
    fn of_lane(
        &mut self,
        m: &LaneMessage,
        place: usize,
        low: usize,
    ) -> Result<MemoryOperand, NoTemplate> {
        let mut place = self.lane_of_file(place, m.element.register, m.lanes)?;
        place.displacement += i64::try_from(low).map_err(|_| NoTemplate)?;
        Ok(place)
    }

    fn element(&mut self, m: &LaneMessage, there: MemoryOperand, place: usize) -> Done {
        let e = m.element;
        if m.store {
            let from = self.of_lane(m, place, e.low)?;
            let (load, store, register) = match e.memory {
                1 => (Code::Movzx_r32_rm8, Code::Mov_rm8_r8, Register::AL),
                2 => (Code::Movzx_r32_rm16, Code::Mov_rm16_r16, Register::AX),
                4 => (Code::Mov_r32_rm32, Code::Mov_rm32_r32, EAX),
                8 => (Code::Mov_r64_rm64, Code::Mov_rm64_r64, RAX),
                _ => return Err(NoTemplate),
            };
            let loaded = if e.memory == 8 { RAX } else { EAX };
            self.asm.op2(load, loaded, from);
            self.asm.op2(store, there, register);
            return Ok(());
        }
        let to = self.of_lane(m, place, 0)?;
        let (load, loaded) = match e.memory {
            1 => (Code::Movzx_r32_rm8, EAX),
            2 => (Code::Movzx_r32_rm16, EAX),
            4 => (Code::Mov_r32_rm32, EAX),
            8 => (Code::Mov_r64_rm64, RAX),
            _ => return Err(NoTemplate),
        };
        self.asm.op2(load, loaded, there);
        if e.low != 0 {
            let bits = u32::try_from(8 * e.low).map_err(|_| NoTemplate)?;
            self.asm.op1i(Code::Shl_rm32_imm8, EAX, bits);
        }
        let (store, register) = match e.register {
            1 => (Code::Mov_rm8_r8, Register::AL),
            2 => (Code::Mov_rm16_r16, Register::AX),
            4 => (Code::Mov_rm32_r32, EAX),
            8 => (Code::Mov_rm64_r64, RAX),
            _ => return Err(NoTemplate),
        };
        self.asm.op2(store, to, register);
        Ok(())
    }

    /// The atomic operation of the lane in `ecx`. Shared local memory belongs to threads that take turns; other memory
    /// is exchanged until there is no interference.
    fn atomic(&mut self, m: &LaneMessage, atomic: &LaneAtomic, there: MemoryOperand) -> Done {
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
        let (old, new) = if bytes == 8 { (RAX, R9) } else { (EAX, R9D) };
        // The part of it that is stored.
        let part = if bytes == 2 { Register::R9W } else { new };
        let load = sized(
            m,
            Code::Movzx_r32_rm16,
            Code::Mov_r32_rm32,
            Code::Mov_r64_rm64,
        );
        self.asm.op2(load, old, there);
        let retry = self.asm.label();
        if m.space != LaneSpace::Local {
            self.asm.place(retry);
        }
        self.changed(m, atomic, old, new)?;
        if m.space == LaneSpace::Local {
            let store = sized(
                m,
                Code::Mov_rm16_r16,
                Code::Mov_rm32_r32,
                Code::Mov_rm64_r64,
            );
            self.asm.op2(store, there, part);
        } else {
            // On failure the first register holds the current value.
            let exchange = sized(
                m,
                Code::Cmpxchg_rm16_r16,
                Code::Cmpxchg_rm32_r32,
                Code::Cmpxchg_rm64_r64,
            );
            self.asm.op2(exchange, there, part);
            self.asm.lock();
            self.asm.jump_if(Condition::NotEqual, retry);
        }
        if let Some(result) = atomic.result {
            let to = self.of_lane(m, result, 0)?;
            let from = if atomic.op == AtomicOp::PreDecrement {
                if bytes == 2 {
                    self.asm.op2(Code::Movzx_r32_rm16, new, part);
                }
                new
            } else {
                old
            };
            self.asm
                .op2(of(m, Code::Mov_rm32_r32, Code::Mov_rm64_r64), to, from);
        }
        Ok(())
    }

    /// The new value that an atomic operation computes from the old one.
    fn changed(
        &mut self,
        m: &LaneMessage,
        atomic: &LaneAtomic,
        old: Register,
        new: Register,
    ) -> Done {
        // Results are written while operands of later lanes are still to be read.
        if let Some(result) = atomic.result {
            let bytes = m.lanes * m.element.register;
            let apart = |place: usize| place + bytes <= result || result + bytes <= place;
            let operands = atomic.operands.iter().flatten();
            if !operands.copied().all(apart) {
                return Err(NoTemplate);
            }
        }
        let mov = of(m, Code::Mov_r32_rm32, Code::Mov_r64_rm64);
        let relate = sized(
            m,
            Code::Cmp_r16_rm16,
            Code::Cmp_r32_rm32,
            Code::Cmp_r64_rm64,
        );
        let [a, b] = atomic.operands;
        let operand = |writer: &mut Self, code: Code, to: Register, place: Option<usize>| -> Done {
            let from = writer.of_lane(m, place.ok_or(NoTemplate)?, 0)?;
            writer.asm.op2(code, to, from);
            Ok(())
        };
        let both = |writer: &mut Self, dword: Code, qword: Code| -> Done {
            writer.asm.op2(mov, new, old);
            operand(writer, of(m, dword, qword), new, a)
        };
        let choice = |writer: &mut Self, dword: Code, qword: Code| -> Done {
            operand(writer, mov, new, a)?;
            let (x, y) = if m.element.memory == 2 {
                (Register::AX, Register::R9W)
            } else {
                (old, new)
            };
            writer.asm.op2(relate, x, y);
            writer.asm.op2(of(m, dword, qword), new, old);
            Ok(())
        };
        let count = |writer: &mut Self, dword: Code, qword: Code| {
            writer.asm.op2(mov, new, old);
            writer.asm.op1(of(m, dword, qword), new);
        };
        if atomic.op.is_float() {
            if m.element.memory == 2 {
                return Err(NoTemplate);
            }
            return self.changed_float(m, atomic, old, new);
        }
        match atomic.op {
            AtomicOp::Load => self.asm.op2(mov, new, old),
            AtomicOp::Store => operand(self, mov, new, a)?,
            AtomicOp::Add => both(self, Code::Add_r32_rm32, Code::Add_r64_rm64)?,
            AtomicOp::Sub => both(self, Code::Sub_r32_rm32, Code::Sub_r64_rm64)?,
            AtomicOp::And => both(self, Code::And_r32_rm32, Code::And_r64_rm64)?,
            AtomicOp::Or => both(self, Code::Or_r32_rm32, Code::Or_r64_rm64)?,
            AtomicOp::Xor => both(self, Code::Xor_r32_rm32, Code::Xor_r64_rm64)?,
            AtomicOp::Increment => count(self, Code::Inc_rm32, Code::Inc_rm64),
            AtomicOp::Decrement | AtomicOp::PreDecrement => {
                count(self, Code::Dec_rm32, Code::Dec_rm64);
            }
            AtomicOp::UnsignedMin => choice(self, Code::Cmovb_r32_rm32, Code::Cmovb_r64_rm64)?,
            AtomicOp::UnsignedMax => choice(self, Code::Cmova_r32_rm32, Code::Cmova_r64_rm64)?,
            AtomicOp::SignedMin => choice(self, Code::Cmovl_r32_rm32, Code::Cmovl_r64_rm64)?,
            AtomicOp::SignedMax => choice(self, Code::Cmovg_r32_rm32, Code::Cmovg_r64_rm64)?,
            AtomicOp::CompareExchange => {
                operand(self, mov, new, b)?;
                let compared = if m.element.memory == 2 {
                    Register::AX
                } else {
                    old
                };
                operand(self, relate, compared, a)?;
                let other = of(m, Code::Cmovne_r32_rm32, Code::Cmovne_r64_rm64);
                self.asm.op2(other, new, old);
            }
            _ => return Err(NoTemplate),
        }
        Ok(())
    }

    /// The same for an operation on floats, which ignores the mode: host arithmetic, and choices as in the interpreter.
    fn changed_float(
        &mut self,
        m: &LaneMessage,
        atomic: &LaneAtomic,
        old: Register,
        new: Register,
    ) -> Done {
        let mov = of(m, Code::Mov_r32_rm32, Code::Mov_r64_rm64);
        let into = of(m, Code::VEX_Vmovd_xmm_rm32, Code::VEX_Vmovq_xmm_rm64);
        let out = of(m, Code::VEX_Vmovd_rm32_xmm, Code::VEX_Vmovq_rm64_xmm);
        let relate = of(
            m,
            Code::VEX_Vucomiss_xmm_xmmm32,
            Code::VEX_Vucomisd_xmm_xmmm64,
        );
        let keep_above = of(m, Code::Cmovae_r32_rm32, Code::Cmovae_r64_rm64);
        let keep_other = of(m, Code::Cmovne_r32_rm32, Code::Cmovne_r64_rm64);
        let keep_unordered = of(m, Code::Cmovp_r32_rm32, Code::Cmovp_r64_rm64);
        let (x, y) = (XMM0, XMM1);
        let [a, b] = atomic.operands;
        let a = self.of_lane(m, a.ok_or(NoTemplate)?, 0)?;
        self.asm.op2(into, x, old);
        match atomic.op {
            // The host rounds as the mode says, which does not matter here.
            AtomicOp::FloatAdd | AtomicOp::FloatSub if self.form == Form::Directed => {
                return Err(NoTemplate);
            }
            AtomicOp::FloatAdd | AtomicOp::FloatSub => {
                let code = if atomic.op == AtomicOp::FloatAdd {
                    of(
                        m,
                        Code::VEX_Vaddss_xmm_xmm_xmmm32,
                        Code::VEX_Vaddsd_xmm_xmm_xmmm64,
                    )
                } else {
                    of(
                        m,
                        Code::VEX_Vsubss_xmm_xmm_xmmm32,
                        Code::VEX_Vsubsd_xmm_xmm_xmmm64,
                    )
                };
                self.asm.op3(code, x, x, a);
                self.asm.op2(out, new, x);
            }
            AtomicOp::FloatMin | AtomicOp::FloatMax => {
                self.asm.op2(mov, new, a);
                self.asm.op2(into, y, new);
                // Not below: neither is NaN.
                let (first, second) = if atomic.op == AtomicOp::FloatMin {
                    (y, x)
                } else {
                    (x, y)
                };
                self.asm.op2(relate, first, second);
                self.asm.op2(keep_above, new, old);
                self.asm.op2(relate, y, y);
                self.asm.op2(keep_unordered, new, old);
            }
            AtomicOp::FloatCompareExchange => {
                let b = self.of_lane(m, b.ok_or(NoTemplate)?, 0)?;
                self.asm.op2(mov, new, b);
                self.asm.op2(relate, x, a);
                self.asm.op2(keep_other, new, old);
                self.asm.op2(keep_unordered, new, old);
            }
            _ => return Err(NoTemplate),
        }
        Ok(())
    }
}
