//! Lists of machine instructions with labels.

use super::registers::{Mask, Operand};
use super::verify::{Frame, verify};
use iced_x86::{Code, Encoder, Instruction, OpKind};

/// A place in the code that jumps name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(pub(super) usize);

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
    /// Of floats: they are not ordered.
    Parity = 0xa,
    Less = 0xc,
    GreaterOrEqual = 0xd,
    LessOrEqual = 0xe,
    Greater = 0xf,
}

/// What the code from here on is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Note {
    /// The way in, and the one out.
    Entry,
    /// The segment that begins with a step, for full masks or for others.
    Segment { start: usize, full: bool },
    /// The loop that begins with a step, for full masks or for others.
    Loop { start: usize, full: bool },
    /// A form of the segment.
    Form(&'static str),
    /// A step.
    Step(usize),
    /// What follows the last step.
    End,
    /// The way of a step through the interpreter.
    Detour(usize),
    /// A way out of the segment, at a step.
    Exit(usize),
    /// The way to the next thread.
    Follower,
}

/// A part of the code.
#[derive(Debug)]
pub(super) enum Item {
    Instruction(Instruction),
    /// A jump, which is taken in any case if it has no condition.
    Jump(Option<Condition>, Label),
    Label(Label),
    Note(Note),
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

/// Sets an operand of an instruction; `None` if it has no such operand. What the processor has no code for is found when
/// the instruction is encoded.
fn set_operand(
    instruction: &mut Instruction,
    place: u32,
    operand: Operand,
    immediate: OpKind,
) -> Option<()> {
    let register = match operand {
        Operand::Number(number) => number.register(),
        Operand::Vector(vector) => vector.register(),
        Operand::Mask(mask) => mask.register(),
        Operand::Memory(memory) => {
            instruction.try_set_op_kind(place, OpKind::Memory).ok()?;
            let operand = memory.operand();
            instruction.set_memory_base(operand.base);
            instruction.set_memory_index(operand.index);
            instruction.set_memory_index_scale(operand.scale);
            instruction.set_memory_displ_size(operand.displ_size);
            instruction.set_memory_displacement64(operand.displacement.cast_unsigned());
            return Some(());
        }
        Operand::Immediate(number) => {
            instruction.try_set_op_kind(place, immediate).ok()?;
            match immediate {
                OpKind::Immediate8 => instruction.set_immediate8(number.try_into().ok()?),
                OpKind::Immediate8to32 => {
                    let number = i8::try_from(number).ok()?;
                    instruction.set_immediate8to32(number.into());
                }
                OpKind::Immediate8to64 => {
                    let number = i8::try_from(number).ok()?;
                    instruction.set_immediate8to64(number.into());
                }
                OpKind::Immediate32 => {
                    let signed = i32::try_from(number).map(i32::cast_unsigned);
                    let number = signed.or_else(|_| u32::try_from(number)).ok()?;
                    instruction.set_immediate32(number);
                }
                OpKind::Immediate32to64 => {
                    let number = i32::try_from(number).ok()?;
                    instruction.set_immediate32to64(number.into());
                }
                _ => return None,
            }
            return Some(());
        }
    };
    instruction.try_set_op_kind(place, OpKind::Register).ok()?;
    instruction.try_set_op_register(place, register).ok()
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

    /// Says what the code from here on is for.
    pub(crate) fn note(&mut self, note: Note) {
        self.items.push(Item::Note(note));
    }

    /// An instruction, whose immediate has one byte.
    pub(super) fn emit(&mut self, code: Code, operands: &[Operand]) {
        self.emit_with(code, operands, OpKind::Immediate8);
    }

    /// An instruction, with its immediate in this form.
    pub(super) fn emit_with(&mut self, code: Code, operands: &[Operand], immediate: OpKind) {
        let mut instruction = Instruction::new();
        instruction.set_code(code);
        for (place, operand) in (0..).zip(operands) {
            if set_operand(&mut instruction, place, *operand, immediate).is_none() {
                self.failed = true;
                return;
            }
        }
        self.items.push(Item::Instruction(instruction));
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
    pub(crate) fn mask(&mut self, mask: Mask) {
        self.last(|_| true, |last| last.set_op_mask(mask.register()));
    }

    /// The last instruction, which exchanges if memory has a value, is atomic.
    pub(super) fn lock(&mut self) {
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
    pub(crate) fn mask_or_zero(&mut self, mask: Mask) {
        self.mask(mask);
        self.last(|_| true, |last| last.set_zeroing_masking(true));
    }

    /// The code, and where each of the labels is in it, at which the host may enter it; one of them is the end. `None` if
    /// there is no code, or it is not known to stay inside of what it may access.
    pub(crate) fn finish(
        mut self,
        entries: (&[Label], Label),
        frame: &Frame,
        constants: &[u8],
    ) -> Option<Finished> {
        self.close();
        verify(&self.items, self.labels, entries, (frame, constants)).ok()?;
        self.encode(entries.0)
    }

    /// A label behind the last instruction would be none in the code.
    pub(super) fn close(&mut self) {
        self.emit(Code::Ud2, &[]);
    }

    /// The code, whatever it accesses.
    pub(super) fn encode(self, labels: &[Label]) -> Option<Finished> {
        if self.failed {
            return None;
        }
        let layout = Layout::new(&self.items, self.labels)?;
        let offsets = labels.iter().map(|label| layout.offset(*label));
        Some(Finished {
            bytes: layout.bytes()?,
            labels: offsets.collect::<Option<Vec<_>>>()?,
            notes: layout.notes()?,
        })
    }

    /// Why the code is refused, and in which step; `None` if there is no code.
    #[cfg(feature = "listing")]
    pub(crate) fn proof(
        mut self,
        entries: (&[Label], Label),
        frame: &Frame,
        constants: &[u8],
    ) -> Option<Result<(), String>> {
        self.close();
        let Err(refused) = verify(&self.items, self.labels, entries, (frame, constants)) else {
            return self.encode(entries.0).map(|_| Ok(()));
        };
        if self.failed {
            return None;
        }
        let before = self.items.iter().take(refused.place).rev();
        let step = before.filter_map(|item| match item {
            Item::Note(Note::Step(step) | Note::Detour(step) | Note::Exit(step)) => Some(*step),
            _ => None,
        });
        let step = { step }.next().unwrap_or(0);
        Some(Err(format!("step {step}: {}", refused.reason)))
    }
}

/// Code that is complete.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) bytes: Vec<u8>,
    /// Where the labels are that were asked for.
    pub(crate) labels: Vec<usize>,
    /// What the code is for, from where on.
    pub(crate) notes: Vec<(usize, Note)>,
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
    /// What is said of the code, where, if all jumps are long.
    notes: Vec<(usize, Note)>,
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
            notes: Vec::new(),
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
                Item::Note(note) => layout.notes.push((at, *note)),
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
        self.shortened((*self.places.get(label.0)?)?)
    }

    fn notes(&self) -> Option<Vec<(usize, Note)>> {
        let notes = self.notes.iter();
        notes
            .map(|(at, note)| Some((self.shortened(*at)?, *note)))
            .collect()
    }

    /// Where something is that is at this place if all jumps are long.
    fn shortened(&self, place: usize) -> Option<usize> {
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
impl Assembler {
    /// Changes the last instruction to one that no template writes.
    pub(super) fn change(&mut self, change: impl Fn(&mut Instruction)) {
        self.last(|_| true, change);
    }

    /// The code, as it is written.
    pub(super) fn items(&mut self) -> (&mut Vec<Item>, usize) {
        (&mut self.items, self.labels)
    }

    /// The code of a step, in the first part of the code that is for all lanes or for others: each instruction and jump, and
    /// whether the code is refused without it.
    pub(crate) fn relied_on(
        &mut self,
        entries: (&[Label], Label),
        frame: &Frame,
        constants: &[u8],
        (step, is_full): (usize, bool),
    ) -> Vec<(String, bool)> {
        self.close();
        let mut code = Vec::new();
        let (mut is_segment, mut is_step) = (false, false);
        for place in 0..self.items.len() {
            let Some(item) = self.items.get_mut(place) else {
                continue;
            };
            let text = match item {
                Item::Note(Note::Segment { full, .. }) => {
                    is_segment = *full == is_full;
                    continue;
                }
                Item::Note(note) => {
                    is_step = is_segment && *note == Note::Step(step);
                    continue;
                }
                Item::Instruction(instruction) => text(instruction),
                Item::Jump(condition, label) => format!("jump {condition:?} {}", label.0),
                Item::Label(_) | Item::Removed => continue,
            };
            if is_step {
                let removed = std::mem::replace(item, Item::Removed);
                let all = verify(&self.items, self.labels, entries, (frame, constants));
                if let Some(item) = self.items.get_mut(place) {
                    *item = removed;
                }
                code.push((text, all.is_err()));
            }
        }
        code
    }
}

#[cfg(test)]
fn text(instruction: &Instruction) -> String {
    use iced_x86::{Formatter as _, IntelFormatter};
    let mut text = String::new();
    IntelFormatter::new().format(instruction, &mut text);
    text
}
