//! Machine code for runs of bytes: lanes whose addresses follow each other.

use crate::Features;
use crate::assembler::Label;
use crate::load::widening;
use crate::memory::at;
use crate::ops;
use crate::vector::{Chunks, Done, MASK, NoTemplate, Writer, ymm};
use iced_x86::{Code, MemoryOperand, Register};
use visakit_exec::code::{Element, LaneMessage};
use visakit_isa::DataType;

use Register::{ECX, EDX, K1, K2, K3, R9, R11, RAX, RCX, RDX};

/// How elements of lanes whose addresses follow each other are moved at once: as they are, or extended from a type.
/// `None` if they are not.
pub(crate) fn run_of(m: &LaneMessage) -> Option<Option<DataType>> {
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

impl Writer {
    /// Copies bytes between memory at `rax` and the register file.
    pub(crate) fn copy(&mut self, store: bool, data: usize, bytes: usize) -> Done {
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
            let there = at(RAX, done)?;
            let here = self.file(data + done, size)?;
            let (from, to) = if store { (here, there) } else { (there, here) };
            let register = u32::try_from(done / size % 8).unwrap_or(0);
            self.load_bytes(register, from, size)?;
            self.store_bytes(to, register, size)?;
            done += size;
        }
        Ok(())
    }

    /// Extends the elements at `rax`, which follow each other, to lanes of 32 bits.
    pub(crate) fn extend(&mut self, m: &LaneMessage, ty: DataType) -> Done {
        let c = Chunks::new(self.features, 4, m.lanes);
        let op = widening(ty, 4).ok_or(NoTemplate)?;
        for chunk in 0..c.count {
            let from = at(RAX, chunk * c.lanes * m.element.memory)?;
            let bytes = 4 * c.lanes;
            let to = self.file(m.data + chunk * bytes, bytes)?;
            self.v2(c, op, 0, from);
            self.store_bytes(to, 0, bytes)?;
        }
        Ok(())
    }

    /// Goes on if the addresses follow each other as elements do.
    pub(crate) fn is_run(&mut self, c: Chunks, m: &LaneMessage, otherwise: Label) -> Done {
        let from = self.file(m.addresses, 8)?;
        self.v2(c, ops::BROADCAST_Q, 7, from);
        for chunk in 0..c.count {
            let bytes = c.lanes * 8;
            let there = self.file(m.addresses + chunk * bytes, bytes)?;
            let size = m.element.memory;
            let steps = self.each_qword(|lane| (size * (chunk * c.lanes + lane)) as u64);
            self.v3m(c, ops::ADD_Q, 6, 7, steps);
            if c.zmm {
                let code = Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8;
                self.asm.op3i(code, K2, c.register(6), there, 0);
                if chunk != 0 {
                    self.asm.mask(K2);
                }
            } else {
                self.asm
                    .op3(Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256, ymm(6), ymm(6), there);
                if chunk == 0 {
                    self.v2(c, ops::MOVE, 5, ymm(6));
                } else {
                    self.v3(c, ops::AND, 5, 5, 6);
                }
            }
        }
        if c.zmm {
            self.asm.op2(Code::VEX_Kmovd_r32_kr, Register::ECX, K2);
            self.asm.op1i(Code::Cmp_rm32_imm32, Register::ECX, 0xff);
        } else {
            self.asm
                .op2(Code::VEX_Vpmovmskb_r32_ymm, Register::ECX, ymm(5));
            self.asm.op1i(Code::Cmp_rm32_imm32, Register::ECX, u32::MAX);
        }
        self.asm.jump(Code::Jne_rel32_64, otherwise);
        Ok(())
    }

    /// Moves dwords of the lanes in [`MASK`] at once, with AVX-512, if their addresses follow each other as all lanes' do;
    /// else goes to the first label. `rax` has the address of the first of them. Lanes that are not enabled access nothing.
    pub(crate) fn masked_run(
        &mut self,
        c: Chunks,
        m: &LaneMessage,
        memory: u32,
        (scattered, slow): (Label, Label),
    ) -> Done {
        let add = i32::try_from(m.add.cast_signed()).map_err(|_| NoTemplate)?;
        // The place of lane 0, as address operands have it.
        self.asm.op2(Code::Bsf_r32_rm32, ECX, MASK);
        self.asm.op2(Code::Mov_r64_rm64, RDX, RCX);
        self.asm.op1i(Code::Shl_rm64_imm8, RDX, 2);
        self.asm.op2(Code::Mov_r64_rm64, R11, RAX);
        self.asm.op2(Code::Sub_r64_rm64, R11, RDX);
        if add != 0 {
            self.asm.op1s(Code::Sub_rm64_imm32, R11, add);
        }
        self.asm
            .op2(Code::EVEX_Vpbroadcastq_zmm_k1z_r64, c.register(7), R11);
        for chunk in 0..c.count {
            let bytes = c.lanes * 8;
            let there = self.file(m.addresses + chunk * bytes, bytes)?;
            let steps = self.each_qword(|lane| (4 * (chunk * c.lanes + lane)) as u64);
            self.v3m(c, ops::ADD_Q, 6, 7, steps);
            self.lanes_of(c, chunk, MASK, K1);
            // Those that differ.
            let code = Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8;
            let to = if chunk == 0 { K2 } else { K3 };
            self.asm.op3i(code, to, c.register(6), there, 4);
            self.asm.mask(K1);
            if chunk != 0 {
                self.asm.op3(Code::VEX_Korw_kr_kr_kr, K2, K2, K3);
            }
        }
        self.asm.op2(Code::VEX_Kortestw_kr_kr, K2, K2);
        self.asm.jump(Code::Jne_rel32_64, scattered);
        // Bytes from the first to the last of them.
        self.asm.op2(Code::Bsr_r32_rm32, EDX, MASK);
        self.asm.op2(Code::Sub_r32_rm32, EDX, ECX);
        let span = MemoryOperand::with_base_index_scale_displ_size(
            Register::None,
            RDX,
            4,
            4 + i64::from(memory),
            4,
        );
        self.asm.op2(Code::Lea_r64_m, RDX, span);
        self.asm.op2(Code::Sub_r64_rm64, R9, RDX);
        self.asm.jump(Code::Jb_rel32_64, slow);
        self.asm.op2(Code::Sub_r64_rm64, RAX, Register::R8);
        self.asm.op2(Code::Cmp_r64_rm64, RAX, R9);
        self.asm.jump(Code::Ja_rel32_64, slow);
        if let Some(low) = m.align.checked_sub(1).filter(|low| *low != 0) {
            let low = u32::try_from(low).map_err(|_| NoTemplate)?;
            self.asm.op1i(Code::Test_rm64_imm32, RAX, low);
            self.asm.jump(Code::Jne_rel32_64, slow);
        }
        self.asm.op2(Code::Add_r64_rm64, RAX, Register::R10);
        self.asm.op1i(Code::Shl_rm64_imm8, RCX, 2);
        self.asm.op2(Code::Sub_r64_rm64, RAX, RCX);
        // What the address of lane 0 has become.
        self.asm.op2(Code::Mov_r64_rm64, RDX, RAX);
        let c = Chunks::new(self.features, 4, m.lanes);
        for chunk in 0..c.count {
            let bytes = c.lanes * 4;
            let here = self.file(m.data + chunk * bytes, bytes)?;
            let there = at(RDX, memory as usize + chunk * bytes)?;
            self.lanes_of(c, chunk, MASK, K1);
            self.load_bytes(0, here, bytes)?;
            let (load, store) = if c.zmm {
                (
                    Code::EVEX_Vmovdqu32_zmm_k1z_zmmm512,
                    Code::EVEX_Vmovdqu32_zmmm512_k1z_zmm,
                )
            } else {
                (
                    Code::EVEX_Vmovdqu32_ymm_k1z_ymmm256,
                    Code::EVEX_Vmovdqu32_ymmm256_k1z_ymm,
                )
            };
            if m.store {
                self.asm.op2(store, there, c.register(0));
                self.asm.mask(K1);
            } else {
                self.asm.op2(load, c.register(0), there);
                self.asm.mask(K1);
                self.store_bytes(here, 0, bytes)?;
            }
        }
        Ok(())
    }
}
