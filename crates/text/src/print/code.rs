//! Instructions in the plain and the exact form, each with how the assembler will read its line.

use super::Context;
use super::exact;
use super::line::Line;
use super::output::{LineKind, Output};
use super::plain::Writer;
use super::plan::{Plan, numbered_mentions};
use super::reading::{Meaning, Mention, Reading};
use crate::language::numbers::{self, InstructionNumbers};
use crate::language::pool::string;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use visakit_isa::object::{Item, RawItem};
use visakit_isa::table::{LineKind as SyntaxLine, Part};
use visakit_isa::{Instruction, Value};

/// Writes instructions, reusing buffers from line to line.
#[derive(Debug)]
pub(super) struct InstructionLines {
    pub(super) reading: Reading,
    is_exact: bool,
    spare: Line,
}

impl InstructionLines {
    pub(super) fn new(context: &Context<'_>, is_exact: bool) -> Self {
        Self {
            reading: Reading::new(context.format),
            is_exact,
            spare: Line::default(),
        }
    }

    /// Writes an instruction in the form of its row, without the line end. Returns what the assembler
    /// reads the line as, or `None` if the instruction has to be written number by number.
    #[inline]
    pub(super) fn write(
        &mut self,
        context: &Context<'_>,
        line: &mut Line,
        instruction: &Instruction,
    ) -> Option<Meaning> {
        let def = instruction.def();
        if def.syntax.line != SyntaxLine::Label {
            line.text("    ");
        }
        let start = line.bytes().len();
        self.reading.begin(def);
        context.parts(line, instruction, Some(&mut self.reading));
        let written = line.bytes().get(start..).unwrap_or_default();
        match self.reading.meaning(instruction, line.bytes()) {
            Meaning::Refused => None,
            Meaning::Other if !self.is_enough(context, instruction, written) => None,
            meaning => Some(meaning),
        }
    }

    /// Whether a line that does not state all of an instruction is acceptable nevertheless: what the
    /// assembler reads has the same text, and in exact text directives can supply the rest.
    #[cold]
    fn is_enough(&mut self, context: &Context<'_>, wanted: &Instruction, written: &[u8]) -> bool {
        let found = self.reading.fields.instruction();
        // What these parts show does not depend on the rest of the instruction.
        let alone = |part: &Part| {
            matches!(
                part,
                Part::Text(_)
                    | Part::Mnemonic
                    | Part::Predicate
                    | Part::Saturation
                    | Part::ExecSize
                    | Part::Operands
                    | Part::Operand(_)
                    | Part::Surface(_)
                    | Part::Sampler(_)
            )
        };
        if !found.def().syntax.parts.iter().all(alone) {
            self.spare.clear();
            context.parts(&mut self.spare, &found, None);
            if self.spare.bytes() != written {
                return false;
            }
        }
        !self.is_exact || has_layout_of(context, wanted, &found)
    }
}

/// Whether two instructions have the same list of numbers, so that changes can turn one into the other.
fn has_layout_of(context: &Context<'_>, wanted: &Instruction, found: &Instruction) -> bool {
    let differs = |i: usize| wanted.fields.get(i) != found.fields.get(i);
    let keys = |instruction: &Instruction| {
        let (fields, def) = (&instruction.fields, instruction.def());
        let numbers = InstructionNumbers::of(fields, def, context.format, differs);
        numbers.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    keys(wanted) == keys(found)
}

impl<'o> Writer<'o> {
    pub(super) fn code<O: Output>(
        &mut self,
        plan: &Plan,
        line: &mut Line,
        out: &mut O,
    ) -> Result<(), O::Error> {
        for (index, item) in self.context.body.code.iter().enumerate() {
            line.clear();
            match item {
                Item::Instruction(instruction) => {
                    self.instruction(plan.is_forced(index), line, instruction);
                    out.line(LineKind::Instruction(index), line.bytes())?;
                }
                Item::Raw(raw) => {
                    line.undecoded(raw);
                    out.line(LineKind::Undecoded(index), line.bytes())?;
                }
            }
        }
        Ok(())
    }

    /// An instruction, a label, or an instruction number by number.
    #[inline]
    fn instruction(&mut self, is_forced: bool, line: &mut Line, instruction: &'o Instruction) {
        let meaning = match is_forced {
            true => None,
            false => self.lines.write(&self.context, line, instruction),
        };
        if meaning.is_none() {
            line.clear();
            self.context.numbers(line, instruction);
        }
        let names_nothing = meaning.is_some() && self.lines.reading.mentions.is_empty();
        if self.strings.is_some() && (meaning != Some(Meaning::Same) || !names_nothing) {
            self.note(line, instruction, meaning);
        }
        line.byte(b'\n');
    }

    /// Notes how the instruction differs from what the assembler reads in the line.
    fn note(&mut self, line: &mut Line, wanted: &'o Instruction, meaning: Option<Meaning>) {
        let body = self.context.body;
        let mut found = match meaning {
            Some(_) => self.lines.reading.fields.instruction(),
            None => wanted.clone(),
        };
        let mentions: Vec<Mention> = match meaning {
            Some(_) => core::mem::take(&mut self.lines.reading.mentions),
            None => numbered_mentions(&self.context, wanted).collect(),
        };
        for mention in &mentions {
            match *mention {
                Mention::String(id) => {
                    let taken = self.take(Cow::Borrowed(string(body, id)), id);
                    let named = found.fields.iter_mut();
                    for field in named.filter(|f| f.value == Value::String(id)) {
                        field.value = Value::String(taken);
                    }
                }
                // The name is added with the first line that has it.
                Mention::Label(id) => {
                    let index = usize::from(id.0);
                    let named = self.named.get_mut(index);
                    let is_new = named.is_some_and(|named| !core::mem::replace(named, true));
                    let label = body
                        .labels
                        .get(index)
                        .zip(self.context.names.labels.get(index));
                    if let (true, Some((label, name))) = (is_new, label) {
                        let name = name.clone();
                        self.take(name, label.name);
                    }
                }
            }
        }
        self.lines.reading.mentions = mentions;
        let Some(strings) = &self.strings else { return };
        if found == *wanted && !strings.collides() {
            return;
        }
        let (def, format) = (wanted.def(), self.context.format);
        let (wanted, found) = (&wanted.fields, &found.fields);
        let matters = |i: usize| strings.collides() || wanted.get(i) != found.get(i);
        let wanted = InstructionNumbers::of(wanted, def, format, matters);
        let found = InstructionNumbers::of(found, def, format, matters);
        line.note(&exact::difference(&wanted, &found, strings));
    }
}

impl Context<'_> {
    /// `.op MOV exec_size=0x4 pred=0x0 dst.tag=0x0 …`: all numbers of an instruction.
    fn numbers(&self, line: &mut Line, instruction: &Instruction) {
        let def = instruction.def();
        line.text("    .op ");
        line.text(def.name);
        for field in &instruction.fields {
            line.byte(b' ');
            line.text(field.name.as_str());
            if let Value::Label(id) = field.value
                && let Some(name) = self.names.labels.get(usize::from(id.0))
            {
                line.byte(b'=');
                line.raw(name);
                continue;
            }
            if let Value::String(id) = field.value
                && let Some(text) = self.body.string(id)
            {
                line.byte(b'=');
                line.quoted(text.iter().copied());
                continue;
            }
            let kind = def.fields.iter().find(|f| f.name == field.name);
            let numbers = kind.and_then(|f| {
                let numbers = numbers::numbers(f.kind, &field.value, self.format)?;
                Some((f.kind, numbers))
            });
            let Some((kind, numbers)) = numbers else {
                continue;
            };
            for (i, (name, number)) in numbers.into_iter().enumerate() {
                match numbers::part(kind, name) {
                    "" => {}
                    name => {
                        if i > 0 {
                            line.byte(b' ');
                            line.text(field.name.as_str());
                        }
                        line.byte(b'.');
                        line.text(name);
                    }
                }
                line.text("=0x");
                line.hex(number.into());
            }
        }
    }
}

impl Line {
    /// `.bytes 60 04 03 00`: bytes that could not be decoded.
    fn undecoded(&mut self, raw: &RawItem<'_>) {
        self.text("    .bytes");
        for byte in raw.bytes.iter() {
            self.byte(b' ');
            self.hex_pair(*byte);
        }
        self.text(" /// undecoded: ");
        for c in raw.reason.bytes() {
            self.byte(if c == b'\n' { b' ' } else { c });
        }
        self.byte(b'\n');
    }
}
