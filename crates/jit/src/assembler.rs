//! Lists of machine instructions with labels.

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, OpKind, Register};

/// A place in the code that jumps name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(usize);

/// When a jump is taken. Each condition is its number in the code of the jump, so that there is none without a code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Condition {
    Overflow = 0x0,
    Below = 0x2,
    AboveOrEqual = 0x3,
    Equal = 0x4,
    NotEqual = 0x5,
    BelowOrEqual = 0x6,
    Above = 0x7,
    Less = 0xc,
    GreaterOrEqual = 0xd,
    LessOrEqual = 0xe,
    Greater = 0xf,
}

/// A part of the code.
#[derive(Debug)]
enum Item {
    Instruction(Instruction),
    /// A jump, which is taken in any case if it has no condition.
    Jump(Option<Condition>, Label),
    Label(Label),
    /// An instruction that was removed.
    Removed,
}

/// Machine code that is being written.
///
/// What the processor would not understand, or not as it was meant, is found here, in any build: then there is no code.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    items: Vec<Item>,
    labels: usize,
    /// Whether something could not be encoded. Then there is no code.
    failed: bool,
}

/// An operand that is a register or memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Register(Register),
    Memory(MemoryOperand),
}

impl From<Register> for Operand {
    fn from(register: Register) -> Self {
        Self::Register(register)
    }
}

impl From<MemoryOperand> for Operand {
    fn from(memory: MemoryOperand) -> Self {
        Self::Memory(memory)
    }
}

impl Assembler {
    /// A label that is not placed yet.
    pub(crate) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// Puts a label before the next instruction.
    pub(crate) fn place(&mut self, label: Label) {
        self.items.push(Item::Label(label));
    }

    #[expect(clippy::needless_pass_by_value, reason = "as instructions are made")]
    fn push(&mut self, instruction: Result<Instruction, IcedError>) {
        match instruction {
            Ok(instruction) => self.items.push(Item::Instruction(instruction)),
            Err(_) => self.failed = true,
        }
    }

    /// A place to go back to.
    pub(crate) fn mark(&self) -> usize {
        self.items.len()
    }

    /// Number of instructions after a mark.
    pub(crate) fn instructions_since(&self, mark: usize) -> usize {
        let items = self.items.get(mark..).unwrap_or_default();
        let is_one = |item: &&Item| matches!(item, Item::Instruction(_) | Item::Jump(..));
        items.iter().filter(is_one).count()
    }

    /// Removes what was written after a mark. Nothing that stays may jump to a label that was placed since.
    pub(crate) fn back(&mut self, mark: usize) {
        self.items.truncate(mark);
    }

    /// Removes an instruction. Marks do not change.
    pub(crate) fn remove(&mut self, instruction: usize) {
        match self.items.get_mut(instruction) {
            Some(item @ Item::Instruction(_)) => *item = Item::Removed,
            Some(Item::Removed) => {}
            _ => self.failed = true,
        }
    }

    /// There is no code.
    pub(crate) const fn give_up(&mut self) {
        self.failed = true;
    }

    /// Goes to another place.
    pub(crate) fn jump(&mut self, target: Label) {
        self.items.push(Item::Jump(None, target));
    }

    /// Goes to another place if a condition holds.
    pub(crate) fn jump_if(&mut self, condition: Condition, target: Label) {
        self.items.push(Item::Jump(Some(condition), target));
    }

    pub(crate) fn op0(&mut self, code: Code) {
        self.push(Ok(Instruction::with(code)));
    }

    pub(crate) fn op1(&mut self, code: Code, a: impl Into<Operand>) {
        self.push(match a.into() {
            Operand::Register(a) => Instruction::with1(code, a),
            Operand::Memory(a) => Instruction::with1(code, a),
        });
    }

    pub(crate) fn op2(&mut self, code: Code, a: impl Into<Operand>, b: impl Into<Operand>) {
        self.push(match (a.into(), b.into()) {
            (Operand::Register(a), Operand::Register(b)) => Instruction::with2(code, a, b),
            (Operand::Register(a), Operand::Memory(b)) => Instruction::with2(code, a, b),
            (Operand::Memory(a), Operand::Register(b)) => Instruction::with2(code, a, b),
            (Operand::Memory(_), Operand::Memory(_)) => return self.failed = true,
        });
    }

    /// With an immediate as the last operand.
    pub(crate) fn op1i(&mut self, code: Code, a: impl Into<Operand>, immediate: u32) {
        self.push(match a.into() {
            Operand::Register(a) => Instruction::with2(code, a, immediate),
            Operand::Memory(a) => Instruction::with2(code, a, immediate),
        });
    }

    /// With an immediate that is sign-extended.
    pub(crate) fn op1s(&mut self, code: Code, a: impl Into<Operand>, immediate: i32) {
        self.push(match a.into() {
            Operand::Register(a) => Instruction::with2(code, a, immediate),
            Operand::Memory(a) => Instruction::with2(code, a, immediate),
        });
    }

    /// With an immediate as the last operand.
    pub(crate) fn op2i(
        &mut self,
        code: Code,
        a: impl Into<Operand>,
        b: impl Into<Operand>,
        immediate: u32,
    ) {
        self.push(match (a.into(), b.into()) {
            (Operand::Register(a), Operand::Register(b)) => {
                Instruction::with3(code, a, b, immediate)
            }
            (Operand::Register(a), Operand::Memory(b)) => Instruction::with3(code, a, b, immediate),
            (Operand::Memory(a), Operand::Register(b)) => Instruction::with3(code, a, b, immediate),
            (Operand::Memory(_), Operand::Memory(_)) => return self.failed = true,
        });
    }

    pub(crate) fn op3(&mut self, code: Code, a: Register, b: Register, c: impl Into<Operand>) {
        self.push(match c.into() {
            Operand::Register(c) => Instruction::with3(code, a, b, c),
            Operand::Memory(c) => Instruction::with3(code, a, b, c),
        });
    }

    /// With the memory in the middle, as gathers have it.
    pub(crate) fn gather(&mut self, code: Code, a: Register, b: MemoryOperand, mask: Register) {
        self.push(Instruction::with3(code, a, b, mask));
    }

    pub(crate) fn op4(&mut self, code: Code, a: Register, b: Register, c: Register, d: Register) {
        self.push(Instruction::with4(code, a, b, c, d));
    }

    /// With an immediate as the last operand.
    pub(crate) fn op3i(
        &mut self,
        code: Code,
        a: Register,
        b: Register,
        c: impl Into<Operand>,
        immediate: u32,
    ) {
        self.push(match c.into() {
            Operand::Register(c) => Instruction::with4(code, a, b, c, immediate),
            Operand::Memory(c) => Instruction::with4(code, a, b, c, immediate),
        });
    }

    /// Changes the last instruction, which has to be one of these.
    fn last(
        &mut self,
        is_suitable: impl Fn(&Instruction) -> bool,
        change: impl Fn(&mut Instruction),
    ) {
        match self.items.last_mut() {
            Some(Item::Instruction(last)) if is_suitable(last) => change(last),
            _ => self.failed = true,
        }
    }

    /// Applies a mask register to the last instruction; lanes that it disables keep their value.
    pub(crate) fn mask(&mut self, mask: Register) {
        self.last(|_| true, |last| last.set_op_mask(mask));
    }

    /// The last instruction, which exchanges if memory has a value, is atomic.
    pub(crate) fn lock(&mut self) {
        let exchanges = |last: &Instruction| {
            let code = last.code();
            matches!(
                code,
                Code::Cmpxchg_rm16_r16 | Code::Cmpxchg_rm32_r32 | Code::Cmpxchg_rm64_r64
            ) && last.op0_kind() == OpKind::Memory
        };
        self.last(exchanges, |last| last.set_has_lock_prefix(true));
    }

    /// The last instruction works under a mask register; lanes that it disables become zero.
    pub(crate) fn mask_or_zero(&mut self, mask: Register) {
        self.mask(mask);
        self.last(|_| true, |last| last.set_zeroing_masking(true));
    }

    /// The bytes of the code, and where each of the labels is in it. `None` if there is no code.
    pub(crate) fn finish(mut self, labels: &[Label]) -> Option<(Vec<u8>, Vec<usize>)> {
        // A label behind the last instruction would be none in the code.
        self.op0(Code::Ud2);
        if self.failed {
            return None;
        }
        let layout = Layout::new(&self.items, self.labels)?;
        let offsets = labels.iter().map(|label| layout.offset(*label));
        Some((layout.bytes()?, offsets.collect::<Option<Vec<_>>>()?))
    }
}

/// The first byte of instructions that may work under a mask register.
const EVEX: u8 = 0x62;

/// A jump of the code.
struct Jump {
    /// Where it is, if all jumps are long.
    at: usize,
    target: Label,
    /// `None` if it always jumps.
    condition: Option<Condition>,
    /// Whether the distance has one byte.
    short: bool,
}

impl Jump {
    /// Bytes of the long form.
    const fn long(&self) -> usize {
        if self.condition.is_some() { 6 } else { 5 }
    }

    const fn size(&self) -> usize {
        if self.short { 2 } else { self.long() }
    }

    /// Writes it behind other bytes.
    fn encode(&self, target: usize, bytes: &mut Vec<u8>) -> Option<()> {
        let next = bytes.len() + self.size();
        let distance = distance(next, target)?;
        let condition = self.condition.map(|condition| condition as u8);
        if self.short {
            let code = condition.map_or(0xeb, |condition| 0x70 | condition);
            bytes.extend([code, i8::try_from(distance).ok()?.cast_unsigned()]);
            return Some(());
        }
        match condition {
            Some(condition) => bytes.extend([0x0f, 0x80 | condition]),
            None => bytes.push(0xe9),
        }
        bytes.extend(distance.to_le_bytes());
        Some(())
    }
}

/// Bytes from one place in the code to another one.
fn distance(from: usize, to: usize) -> Option<i32> {
    i32::try_from(to)
        .ok()?
        .checked_sub(i32::try_from(from).ok()?)
}

/// Where instructions are. Each is encoded once; only jumps depend on where others are.
struct Layout {
    /// All but the jumps, for which there is room in their long form.
    bytes: Vec<u8>,
    jumps: Vec<Jump>,
    /// Where the labels are, if all jumps are long.
    places: Vec<Option<usize>>,
    /// For each jump, the bytes that it and those before it are shorter.
    saved: Vec<usize>,
}

impl Layout {
    /// `None` if an instruction cannot be encoded, or a label is at two places.
    fn new(items: &[Item], labels: usize) -> Option<Self> {
        let mut encoder = Encoder::try_with_capacity(64, items.len() * 8).ok()?;
        let mut layout = Self {
            bytes: Vec::new(),
            jumps: Vec::new(),
            places: vec![None; labels],
            saved: Vec::new(),
        };
        let mut at = 0;
        let mut masked = Vec::new();
        for item in items {
            match item {
                Item::Instruction(instruction) => {
                    if instruction.has_op_mask() {
                        masked.push(at);
                    }
                    at += encoder.encode(instruction, 0).ok()?;
                }
                Item::Jump(condition, target) => {
                    let jump = Jump {
                        at,
                        target: *target,
                        condition: *condition,
                        short: false,
                    };
                    at += jump.long();
                    for _ in 0..jump.long() {
                        encoder.write_u8(0);
                    }
                    layout.jumps.push(jump);
                }
                Item::Label(Label(label)) => {
                    let before = layout.places.get_mut(*label)?.replace(at);
                    if before.is_some() {
                        return None;
                    }
                }
                Item::Removed => {}
            }
        }
        layout.bytes = encoder.take_buffer();
        // Other instructions would ignore their masks.
        let has_mask = |at: &usize| layout.bytes.get(*at) == Some(&EVEX);
        if !masked.iter().all(has_mask) {
            return None;
        }
        layout.shorten();
        Some(layout)
    }

    /// Makes jumps short that are in any case near enough: other jumps only become shorter.
    fn shorten(&mut self) {
        let mut saved = 0;
        for jump in &mut self.jumps {
            let target = self.places.get(jump.target.0).copied().flatten();
            let distance = target.and_then(|target| distance(jump.at + 2, target));
            jump.short = distance.is_some_and(|distance| i8::try_from(distance).is_ok());
            saved += jump.long() - jump.size();
            self.saved.push(saved);
        }
    }

    /// Where a label is; `None` if it was not placed.
    fn offset(&self, label: Label) -> Option<usize> {
        let place = (*self.places.get(label.0)?)?;
        let saved = match self.jumps.partition_point(|jump| jump.at < place) {
            0 => 0,
            before => *self.saved.get(before - 1)?,
        };
        place.checked_sub(saved)
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        let mut copied = 0;
        for jump in &self.jumps {
            bytes.extend_from_slice(self.bytes.get(copied..jump.at)?);
            jump.encode(self.offset(jump.target)?, &mut bytes)?;
            copied = jump.at + jump.long();
        }
        bytes.extend_from_slice(self.bytes.get(copied..)?);
        Some(bytes)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use iced_x86::Register::{EAX, RAX, XMM0, XMM16, YMM0};

    /// What is written by `lines`.
    fn code(lines: impl FnOnce(&mut Assembler)) -> Option<Vec<u8>> {
        let mut asm = Assembler::default();
        lines(&mut asm);
        Some(asm.finish(&[])?.0)
    }

    /// Jumps are encoded as by the library that encodes all other instructions.
    #[test]
    fn jumps() {
        let all = [
            (Condition::Overflow, Code::Jo_rel32_64),
            (Condition::Below, Code::Jb_rel32_64),
            (Condition::AboveOrEqual, Code::Jae_rel32_64),
            (Condition::Equal, Code::Je_rel32_64),
            (Condition::NotEqual, Code::Jne_rel32_64),
            (Condition::BelowOrEqual, Code::Jbe_rel32_64),
            (Condition::Above, Code::Ja_rel32_64),
            (Condition::Less, Code::Jl_rel32_64),
            (Condition::GreaterOrEqual, Code::Jge_rel32_64),
            (Condition::LessOrEqual, Code::Jle_rel32_64),
            (Condition::Greater, Code::Jg_rel32_64),
        ];
        for (condition, expected) in all {
            // Bytes between the jump and its target: the distance has one byte or four.
            for between in [0, 123, 200] {
                let found = code(|asm| {
                    let target = asm.label();
                    asm.jump_if(condition, target);
                    (0..between).for_each(|_| asm.op0(Code::Nopd));
                    asm.place(target);
                });
                let is_short = between < 124;
                let mut encoder = Encoder::new(64);
                let expected = match is_short {
                    true => expected.as_short_branch(),
                    false => expected,
                };
                let size = if is_short { 2 } else { 6 };
                let jump = Instruction::with_branch(expected, size + between).unwrap();
                encoder.encode(&jump, 0).unwrap();
                let expected = encoder.take_buffer();
                assert_eq!(found.unwrap().get(..expected.len()), Some(&expected[..]));
            }
        }
    }

    /// There is no code where the processor would do anything else than what was meant.
    type Write<'a> = &'a dyn Fn(&mut Assembler);

    #[test]
    fn refused() {
        let far = MemoryOperand::with_base_displ(RAX, 1 << 31);
        let near = MemoryOperand::with_base_displ(RAX, (1 << 31) - 1);
        assert!(code(|asm| asm.op2(Code::Mov_r32_rm32, EAX, near)).is_some());
        let refused: [(&str, Write<'_>); 10] = [
            ("a label that is nowhere", &|asm| {
                let label = asm.label();
                asm.jump(label);
            }),
            ("a label that was taken back", &|asm| {
                let label = asm.label();
                asm.jump(label);
                let mark = asm.mark();
                asm.place(label);
                asm.back(mark);
            }),
            ("a label at two places", &|asm| {
                let label = asm.label();
                asm.place(label);
                asm.op0(Code::Nopd);
                asm.place(label);
            }),
            ("a displacement of 33 bits", &|asm| {
                asm.op2(Code::Mov_r32_rm32, EAX, far);
            }),
            ("a register that has no short code", &|asm| {
                asm.op3(Code::VEX_Vpaddd_xmm_xmm_xmmm128, XMM0, XMM0, XMM16);
            }),
            ("a register of another width", &|asm| {
                asm.op3(Code::VEX_Vpaddd_xmm_xmm_xmmm128, XMM0, XMM0, YMM0);
            }),
            ("a jump that is no jump of this list", &|asm| {
                asm.op1(Code::Jl_rel32_64, RAX);
            }),
            ("a mask that would be ignored", &|asm| {
                asm.op2(Code::VEX_Vmovdqu_ymm_ymmm256, YMM0, near);
                asm.mask(Register::K1);
            }),
            ("a lock of an instruction that has none", &|asm| {
                asm.op2(Code::Mov_rm32_r32, near, EAX);
                asm.lock();
            }),
            ("an immediate of nine bits", &|asm| {
                asm.op1i(Code::Shl_rm32_imm8, EAX, 256);
            }),
        ];
        for (what, lines) in refused {
            assert!(code(lines).is_none(), "{what}");
        }
    }
}
