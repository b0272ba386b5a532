//! Lists of machine instructions with labels.

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, IcedError, Instruction, InstructionBlock,
    MemoryOperand, Register,
};

/// A place in the code that jumps name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(u64);

/// Machine code that is being written.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    instructions: Vec<Instruction>,
    labels: u64,
    /// Label of the next instruction.
    pending: Option<Label>,
    /// Whether an instruction could not be encoded. Then there is no code.
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
        Label(self.labels)
    }

    /// Puts a label before the next instruction.
    pub(crate) fn place(&mut self, label: Label) {
        if self.pending.is_some() {
            // An instruction bears one label.
            self.push(Ok(Instruction::with(Code::Nopd)));
        }
        self.pending = Some(label);
    }

    #[expect(clippy::needless_pass_by_value, reason = "as instructions are made")]
    fn push(&mut self, instruction: Result<Instruction, IcedError>) {
        match instruction {
            Ok(mut instruction) => {
                if let Some(Label(label)) = self.pending.take() {
                    instruction.set_ip(label);
                }
                self.instructions.push(instruction);
            }
            Err(_) => self.failed = true,
        }
    }

    /// Number of instructions so far, to go back to.
    pub(crate) fn mark(&self) -> usize {
        self.instructions.len()
    }

    /// Removes what was written after a mark. No label may have been placed since.
    pub(crate) fn back(&mut self, mark: usize) {
        self.instructions.truncate(mark);
        self.pending = None;
    }

    /// Removes an instruction, whose label stays. Marks do not change.
    pub(crate) fn remove(&mut self, instruction: usize) {
        if let Some(instruction) = self.instructions.get_mut(instruction) {
            let label = instruction.ip();
            *instruction = match label {
                0 => Instruction::default(),
                _ => Instruction::with(Code::Nopd),
            };
            instruction.set_ip(label);
        }
    }

    /// Keeps a label before an instruction that is about to be removed.
    pub(crate) fn settle(&mut self) {
        if self.pending.is_some() {
            self.push(Ok(Instruction::with(Code::Nopd)));
        }
    }

    /// There is no code.
    pub(crate) const fn give_up(&mut self) {
        self.failed = true;
    }

    pub(crate) fn jump(&mut self, code: Code, target: Label) {
        self.push(Instruction::with_branch(code, target.0));
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

    /// Applies a mask register to the last instruction; lanes that it disables keep their value.
    pub(crate) fn mask(&mut self, mask: Register) {
        if let Some(last) = self.instructions.last_mut() {
            last.set_op_mask(mask);
        }
    }

    /// The last instruction is atomic.
    pub(crate) fn lock(&mut self) {
        if let Some(last) = self.instructions.last_mut() {
            last.set_has_lock_prefix(true);
        }
    }

    /// The last instruction works under a mask register; lanes that it disables become zero.
    pub(crate) fn mask_or_zero(&mut self, mask: Register) {
        if let Some(last) = self.instructions.last_mut() {
            last.set_op_mask(mask);
            last.set_zeroing_masking(true);
        }
    }

    /// The bytes of the code, and where each of the labels is in it.
    pub(crate) fn finish(mut self, labels: &[Label]) -> Option<(Vec<u8>, Vec<usize>)> {
        self.settle();
        if self.failed {
            return None;
        }
        self.instructions.retain(|one| !one.is_invalid());
        let mut places = vec![None; usize::try_from(self.labels).ok()? + 1];
        for (index, instruction) in self.instructions.iter().enumerate() {
            let label = usize::try_from(instruction.ip()).ok()?;
            if label != 0 {
                *places.get_mut(label)? = Some(index);
            }
        }
        let block = InstructionBlock::new(&self.instructions, 0);
        let options = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS;
        let result = BlockEncoder::encode(64, block, options).ok()?;
        let offset = |label: &Label| {
            let index = (*places.get(usize::try_from(label.0).ok()?)?)?;
            let offset = *result.new_instruction_offsets.get(index)?;
            usize::try_from(offset).ok()
        };
        let offsets = labels.iter().map(offset).collect::<Option<Vec<_>>>()?;
        Some((result.code_buffer, offsets))
    }
}
