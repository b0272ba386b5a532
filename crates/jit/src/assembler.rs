//! Lists of machine instructions with labels.

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

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
        debug_assert!(Jump::condition(code).is_some(), "{code:?} is no jump");
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
        // A label behind the last instruction would be none in the code.
        self.op0(Code::Ud2);
        if self.failed {
            return None;
        }
        self.instructions.retain(|one| !one.is_invalid());
        let layout = Layout::new(&self.instructions, usize::try_from(self.labels).ok()?)?;
        let offsets = labels.iter().map(|label| layout.offset(label.0));
        Some((layout.bytes()?, offsets.collect::<Option<Vec<_>>>()?))
    }
}

/// A jump of the code.
struct Jump {
    /// Where it is, if all jumps are long.
    at: usize,
    target: u64,
    /// The number of its condition in its code; `None` if it always jumps.
    condition: Option<u8>,
    /// Whether the distance has one byte.
    short: bool,
}

impl Jump {
    /// The condition of an instruction; `None` if it is not a jump.
    const fn condition(code: Code) -> Option<Option<u8>> {
        Some(match code {
            Code::Jmp_rel32_64 => None,
            Code::Jo_rel32_64 => Some(0),
            Code::Jb_rel32_64 => Some(2),
            Code::Jae_rel32_64 => Some(3),
            Code::Je_rel32_64 => Some(4),
            Code::Jne_rel32_64 => Some(5),
            Code::Jbe_rel32_64 => Some(6),
            Code::Ja_rel32_64 => Some(7),
            _ => return None,
        })
    }

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
        match (self.condition, i8::try_from(distance)) {
            (condition, Ok(distance)) if self.short => {
                let code = condition.map_or(0xeb, |condition| 0x70 | condition);
                bytes.extend([code, distance.cast_unsigned()]);
                return Some(());
            }
            (Some(condition), _) => bytes.extend([0x0f, 0x80 | condition]),
            (None, _) => bytes.push(0xe9),
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
    /// `None` if an instruction cannot be encoded. `labels` is the highest one.
    fn new(instructions: &[Instruction], labels: usize) -> Option<Self> {
        let mut encoder = Encoder::try_with_capacity(64, instructions.len() * 8).ok()?;
        let mut layout = Self {
            bytes: Vec::new(),
            jumps: Vec::new(),
            places: vec![None; labels + 1],
            saved: Vec::new(),
        };
        let mut at = 0;
        for instruction in instructions {
            let label = usize::try_from(instruction.ip()).ok()?;
            if label != 0 {
                *layout.places.get_mut(label)? = Some(at);
                // It was only written to bear the label.
                if instruction.code() == Code::Nopd {
                    continue;
                }
            }
            if let Some(condition) = Jump::condition(instruction.code()) {
                let jump = Jump {
                    at,
                    target: instruction.near_branch64(),
                    condition,
                    short: false,
                };
                at += jump.long();
                for _ in 0..jump.long() {
                    encoder.write_u8(0);
                }
                layout.jumps.push(jump);
            } else {
                at += encoder.encode(instruction, 0).ok()?;
            }
        }
        layout.bytes = encoder.take_buffer();
        layout.shorten();
        Some(layout)
    }

    /// Makes jumps short that are in any case near enough: other jumps only become shorter.
    fn shorten(&mut self) {
        let mut saved = 0;
        for jump in &mut self.jumps {
            let target = usize::try_from(jump.target).ok();
            let target = target.and_then(|label| *self.places.get(label)?);
            let distance = target.and_then(|target| distance(jump.at + 2, target));
            jump.short = distance.is_some_and(|distance| i8::try_from(distance).is_ok());
            saved += jump.long() - jump.size();
            self.saved.push(saved);
        }
    }

    /// Where a label is.
    fn offset(&self, label: u64) -> Option<usize> {
        let place = (*self.places.get(usize::try_from(label).ok()?)?)?;
        let before = self.jumps.partition_point(|jump| jump.at < place);
        let saved = before.checked_sub(1).and_then(|jump| self.saved.get(jump));
        Some(place - saved.copied().unwrap_or(0))
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
