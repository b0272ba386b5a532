//! Instructions on numbers: general registers, and the memory that holds numbers.

use super::registers::{Memory, Number, Operand, Width};
use super::{Assembler, Condition};
use iced_x86::{Code, OpKind};

/// The codes of an instruction on 16, 32 and 64 bits.
type Sizes = [Code; 3];

const NONE: Code = Code::INVALID;

/// The code for numbers of this width.
fn sized(codes: Sizes, width: Width) -> Code {
    let [word, dword, qword] = codes;
    match width {
        Width::Byte => NONE,
        Width::Word => word,
        Width::Dword => dword,
        Width::Qword => qword,
    }
}

/// An instruction on two numbers, the second a register, memory or an immediate.
struct Arithmetic {
    /// Of a register or memory with a register, and with memory.
    operand: Sizes,
    /// With an immediate.
    immediate: Sizes,
    /// With an immediate of one byte, which is extended by its sign.
    short: Sizes,
}

/// Methods for instructions on two numbers: the first is changed, or compared.
macro_rules! arithmetic {
    ($($(#[$doc:meta])* $name:ident = [$($operand:ident)*] [$($immediate:ident)*] [$($short:ident)*];)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(&mut self, to: Number, from: impl Into<Operand>) {
            self.arithmetic(to.width, to.into(), from.into(), &Arithmetic {
                operand: [$(Code::$operand),*],
                immediate: [$(Code::$immediate),*],
                short: [$(Code::$short),*],
            });
        }
    )*};
}

#[rustfmt::skip]
impl Assembler {
    arithmetic! {
        add = [INVALID Add_r32_rm32 Add_r64_rm64] [INVALID Add_rm32_imm32 Add_rm64_imm32] [INVALID Add_rm32_imm8 Add_rm64_imm8];
        sub = [INVALID Sub_r32_rm32 Sub_r64_rm64] [INVALID Sub_rm32_imm32 Sub_rm64_imm32] [INVALID Sub_rm32_imm8 Sub_rm64_imm8];
        /// Subtracts what is borrowed, too.
        sbb = [INVALID Sbb_r32_rm32 Sbb_r64_rm64] [INVALID Sbb_rm32_imm32 Sbb_rm64_imm32] [INVALID Sbb_rm32_imm8 Sbb_rm64_imm8];
        and = [INVALID And_r32_rm32 And_r64_rm64] [INVALID And_rm32_imm32 And_rm64_imm32] [INVALID And_rm32_imm8 And_rm64_imm8];
        or = [INVALID Or_r32_rm32 Or_r64_rm64] [INVALID Or_rm32_imm32 Or_rm64_imm32] [INVALID Or_rm32_imm8 Or_rm64_imm8];
        xor = [INVALID Xor_r32_rm32 Xor_r64_rm64] [INVALID Xor_rm32_imm32 Xor_rm64_imm32] [INVALID Xor_rm32_imm8 Xor_rm64_imm8];
        cmp = [Cmp_r16_rm16 Cmp_r32_rm32 Cmp_r64_rm64] [INVALID Cmp_rm32_imm32 Cmp_rm64_imm32] [INVALID Cmp_rm32_imm8 Cmp_rm64_imm8];
        /// Compares the common bits with zero.
        test = [INVALID Test_rm32_r32 Test_rm64_r64] [INVALID Test_rm32_imm32 Test_rm64_imm32] [INVALID INVALID INVALID];
    }
}

impl Assembler {
    /// An instruction on two numbers, in the shortest form.
    fn arithmetic(&mut self, width: Width, to: Operand, from: Operand, op: &Arithmetic) {
        let Operand::Immediate(number) = from else {
            return self.emit(sized(op.operand, width), &[to, from]);
        };
        // Dwords are written with a sign or without one.
        let number = match (width, u32::try_from(number)) {
            (Width::Dword, Ok(number)) => number.cast_signed().into(),
            _ => number,
        };
        let (byte, whole) = match width {
            Width::Qword => (OpKind::Immediate8to64, OpKind::Immediate32to64),
            _ => (OpKind::Immediate8to32, OpKind::Immediate32),
        };
        let short = sized(op.short, width);
        let operands = [to, Operand::Immediate(number)];
        if short != NONE && i8::try_from(number).is_ok() {
            return self.emit_with(short, &operands, byte);
        }
        self.emit_with(sized(op.immediate, width), &operands, whole);
    }

    /// Compares a number in memory with one that is part of the code.
    pub(crate) fn cmp_memory(&mut self, width: Width, place: Memory, number: impl Into<Operand>) {
        let op = Arithmetic {
            operand: [NONE; 3],
            immediate: [NONE, Code::Cmp_rm32_imm32, Code::Cmp_rm64_imm32],
            short: [NONE, Code::Cmp_rm32_imm8, Code::Cmp_rm64_imm8],
        };
        self.arithmetic(width, place.into(), number.into(), &op);
    }

    /// Adds a number to 64 bits of memory.
    pub(crate) fn add_to(&mut self, place: Memory, number: impl Into<Operand>) {
        let op = Arithmetic {
            operand: [NONE, NONE, Code::Add_rm64_r64],
            immediate: [NONE, NONE, Code::Add_rm64_imm32],
            short: [NONE, NONE, Code::Add_rm64_imm8],
        };
        self.arithmetic(Width::Qword, place.into(), number.into(), &op);
    }

    /// Sets bits of a number in memory.
    pub(crate) fn or_to(&mut self, place: Memory, number: Number) {
        let codes = [NONE, Code::Or_rm32_r32, Code::Or_rm64_r64];
        self.emit(sized(codes, number.width), &[place.into(), number.into()]);
    }

    /// Sets a register. One of 32 bits clears the upper half.
    pub(crate) fn mov(&mut self, to: Number, from: impl Into<Operand>) {
        match from.into() {
            from @ Operand::Immediate(_) => {
                let code = sized([NONE, Code::Mov_r32_imm32, NONE], to.width);
                self.emit_with(code, &[to.into(), from], OpKind::Immediate32);
            }
            from => {
                let codes = [NONE, Code::Mov_r32_rm32, Code::Mov_r64_rm64];
                self.emit(sized(codes, to.width), &[to.into(), from]);
            }
        }
    }

    /// Stores the number in a register.
    pub(crate) fn store(&mut self, place: Memory, from: Number) {
        let code = match from.width {
            Width::Byte => Code::Mov_rm8_r8,
            Width::Word => Code::Mov_rm16_r16,
            Width::Dword => Code::Mov_rm32_r32,
            Width::Qword => Code::Mov_rm64_r64,
        };
        self.emit(code, &[place.into(), from.into()]);
    }

    /// Stores a number that is part of the code: 64 bits, extended by their sign from 32.
    pub(crate) fn store_number(&mut self, place: Memory, number: impl Into<Operand>) {
        let operands = [place.into(), number.into()];
        self.emit_with(Code::Mov_rm64_imm32, &operands, OpKind::Immediate32to64);
    }

    /// Stores a byte that is part of the code.
    pub(crate) fn store_byte(&mut self, place: Memory, byte: u8) {
        let byte = u32::from(byte);
        self.emit(Code::Mov_rm8_imm8, &[place.into(), byte.into()]);
    }

    /// Sets a whole register to an unsigned number of so many bytes.
    pub(crate) fn extend(&mut self, to: Number, bytes: usize, from: impl Into<Operand>) {
        let (code, width) = match bytes {
            1 => (Code::Movzx_r32_rm8, Width::Dword),
            2 => (Code::Movzx_r32_rm16, Width::Dword),
            4 => (Code::Mov_r32_rm32, Width::Dword),
            8 => (Code::Mov_r64_rm64, Width::Qword),
            _ => (NONE, Width::Qword),
        };
        self.emit(code, &[to.low(width).into(), from.into()]);
    }

    /// Extends a signed number of so many bytes.
    pub(crate) fn extend_signed(&mut self, to: Number, bytes: usize, from: impl Into<Operand>) {
        let codes = match bytes {
            1 => [NONE, Code::Movsx_r32_rm8, Code::Movsx_r64_rm8],
            2 => [NONE, Code::Movsx_r32_rm16, Code::Movsx_r64_rm16],
            4 => [NONE, Code::Mov_r32_rm32, Code::Movsxd_r64_rm32],
            _ => [NONE; 3],
        };
        self.emit(sized(codes, to.width), &[to.into(), from.into()]);
    }

    /// The address of a place.
    pub(crate) fn lea(&mut self, to: Number, place: Memory) {
        self.emit(Code::Lea_r64_m, &[to.into(), place.into()]);
    }

    pub(crate) fn shl(&mut self, to: Number, bits: u32) {
        let codes = [NONE, Code::Shl_rm32_imm8, Code::Shl_rm64_imm8];
        self.emit(sized(codes, to.width), &[to.into(), bits.into()]);
    }

    pub(crate) fn shr(&mut self, to: Number, bits: u32) {
        let codes = [NONE, Code::Shr_rm32_imm8, Code::Shr_rm64_imm8];
        self.emit(sized(codes, to.width), &[to.into(), bits.into()]);
    }

    pub(crate) fn inc(&mut self, to: Number) {
        let codes = [NONE, Code::Inc_rm32, Code::Inc_rm64];
        self.emit(sized(codes, to.width), &[to.into()]);
    }

    /// Increments 64 bits of memory.
    pub(crate) fn inc_memory(&mut self, place: Memory) {
        self.emit(Code::Inc_rm64, &[place.into()]);
    }

    pub(crate) fn dec(&mut self, to: Number) {
        let codes = [NONE, Code::Dec_rm32, Code::Dec_rm64];
        self.emit(sized(codes, to.width), &[to.into()]);
    }

    pub(crate) fn not(&mut self, to: Number) {
        let codes = [NONE, Code::Not_rm32, Code::Not_rm64];
        self.emit(sized(codes, to.width), &[to.into()]);
    }

    pub(crate) fn neg(&mut self, to: Number) {
        let codes = [NONE, Code::Neg_rm32, Code::Neg_rm64];
        self.emit(sized(codes, to.width), &[to.into()]);
    }

    /// The product of 32 bits.
    pub(crate) fn imul(&mut self, to: Number, from: Number, factor: u32) {
        let operands = [to.into(), from.into(), factor.into()];
        self.emit_with(Code::Imul_r32_rm32_imm32, &operands, OpKind::Immediate32);
    }

    /// The number of bits that are set, of 32.
    pub(crate) fn popcnt(&mut self, to: Number, from: impl Into<Operand>) {
        self.emit(Code::Popcnt_r32_rm32, &[to.into(), from.into()]);
    }

    /// The place of the lowest bit that is set, of 32.
    pub(crate) fn lowest_bit(&mut self, to: Number, from: Number) {
        self.emit(Code::Bsf_r32_rm32, &[to.into(), from.into()]);
    }

    /// Clears the lowest bit that is set, of 32.
    pub(crate) fn clear_lowest_bit(&mut self, to: Number, from: Number) {
        self.emit(Code::VEX_Blsr_r32_rm32, &[to.into(), from.into()]);
    }

    /// The bits of the last operand that are not in the one before, of 32.
    pub(crate) fn and_not(&mut self, to: Number, not: Number, from: impl Into<Operand>) {
        let operands = [to.into(), not.into(), from.into()];
        self.emit(Code::VEX_Andn_r32_r32_rm32, &operands);
    }

    /// Sets carry to a bit of 32: [`Condition::AboveOrEqual`] if it is clear.
    pub(crate) fn bit(&mut self, of: Number, number: u32) {
        self.emit(Code::Bt_rm32_imm8, &[of.into(), number.into()]);
    }

    /// Sets a register if a condition holds.
    pub(crate) fn mov_if(&mut self, condition: Condition, to: Number, from: Number) {
        let (dword, qword) = match condition {
            Condition::Overflow => (Code::Cmovo_r32_rm32, Code::Cmovo_r64_rm64),
            Condition::Below => (Code::Cmovb_r32_rm32, Code::Cmovb_r64_rm64),
            Condition::AboveOrEqual => (Code::Cmovae_r32_rm32, Code::Cmovae_r64_rm64),
            Condition::Equal => (Code::Cmove_r32_rm32, Code::Cmove_r64_rm64),
            Condition::NotEqual => (Code::Cmovne_r32_rm32, Code::Cmovne_r64_rm64),
            Condition::BelowOrEqual => (Code::Cmovbe_r32_rm32, Code::Cmovbe_r64_rm64),
            Condition::Above => (Code::Cmova_r32_rm32, Code::Cmova_r64_rm64),
            Condition::Parity => (Code::Cmovp_r32_rm32, Code::Cmovp_r64_rm64),
            Condition::Less => (Code::Cmovl_r32_rm32, Code::Cmovl_r64_rm64),
            Condition::GreaterOrEqual => (Code::Cmovge_r32_rm32, Code::Cmovge_r64_rm64),
            Condition::LessOrEqual => (Code::Cmovle_r32_rm32, Code::Cmovle_r64_rm64),
            Condition::Greater => (Code::Cmovg_r32_rm32, Code::Cmovg_r64_rm64),
        };
        let code = sized([NONE, dword, qword], to.width);
        self.emit(code, &[to.into(), from.into()]);
    }

    /// Atomically replaces a number in memory that is the one in `rax`, which otherwise becomes the current one:
    /// [`Condition::NotEqual`].
    pub(crate) fn exchange_if_same(&mut self, place: Memory, new: Number) {
        let codes = [
            Code::Cmpxchg_rm16_r16,
            Code::Cmpxchg_rm32_r32,
            Code::Cmpxchg_rm64_r64,
        ];
        self.emit(sized(codes, new.width), &[place.into(), new.into()]);
        self.lock();
    }

    pub(crate) fn push(&mut self, number: Number) {
        self.emit(Code::Push_r64, &[number.into()]);
    }

    pub(crate) fn pop(&mut self, number: Number) {
        self.emit(Code::Pop_r64, &[number.into()]);
    }

    /// Calls the function whose address is in memory. What vector registers hold beyond 128 bits is lost.
    pub(crate) fn call(&mut self, place: Memory) {
        self.emit(Code::VEX_Vzeroupper, &[]);
        self.emit(Code::Call_rm64, &[place.into()]);
    }

    /// Continues at an address.
    pub(crate) fn jump_to(&mut self, address: impl Into<Operand>) {
        self.emit(Code::Jmp_rm64, &[address.into()]);
    }

    /// Returns to the host.
    pub(crate) fn ret(&mut self) {
        self.emit(Code::Retnq, &[]);
    }

    /// Forgets what vector registers hold beyond 128 bits.
    pub(crate) fn clear_upper(&mut self) {
        self.emit(Code::VEX_Vzeroupper, &[]);
    }

    /// All accesses before are seen before all accesses after.
    pub(crate) fn fence(&mut self) {
        self.emit(Code::Mfence, &[]);
    }

    /// The host computes floats as this word says.
    pub(crate) fn load_control(&mut self, word: Memory) {
        self.emit(Code::VEX_Vldmxcsr_m32, &[word.into()]);
    }
}
