//! Instructions, printed part by part.

use super::Context;
use super::line::Line;
use super::reading::Reading;
use visakit_isa::operand::{Modifier, PredicateCombine};
use visakit_isa::table::{FieldDef, FieldName, InstructionDef, LineKind, Part, Test};
use visakit_isa::{ExecMask, Instruction, Predicate, Value, VectorOperand};

/// Numbers of instructions come after this column.
const COLUMN: usize = 80;

/// An instruction that is being printed.
pub(crate) struct Printing<'p, 'o> {
    pub(crate) context: &'p Context<'o>,
    pub(crate) line: &'p mut Line,
    pub(crate) def: &'static InstructionDef,
    pub(crate) instruction: &'p Instruction,
    /// What the assembler reads in the line, if the caller wants it.
    pub(crate) reading: Option<&'p mut Reading>,
    /// Whether hexadecimal digits are in capitals, as after a constant in an address.
    pub(super) capital: bool,
}

impl Context<'_> {
    /// A line for an instruction in the form of Intel's printer, with its line end.
    #[inline]
    pub(crate) fn instruction(&self, line: &mut Line, index: usize, instruction: &Instruction) {
        let kind = instruction.def().syntax.line;
        if kind != LineKind::Label {
            line.text("    ");
        }
        self.parts(line, instruction, None);
        if kind == LineKind::Instruction {
            line.pad(COLUMN);
            line.text(" /// $");
            line.number(index as u64);
        }
        line.byte(b'\n');
    }

    /// The parts of an instruction, without indentation and line end.
    #[inline]
    pub(crate) fn parts(
        &self,
        line: &mut Line,
        instruction: &Instruction,
        reading: Option<&mut Reading>,
    ) {
        let def = instruction.def();
        let mut printing = Printing {
            context: self,
            line,
            def,
            instruction,
            reading,
            capital: false,
        };
        printing.parts(def.syntax.parts);
    }
}

impl Printing<'_, '_> {
    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            self.part(part);
        }
    }

    #[inline]
    pub(crate) fn get(&self, name: FieldName) -> Option<&Value> {
        self.instruction.get(name)
    }

    /// The current end of the line.
    pub(super) fn at(&self) -> usize {
        self.line.bytes().len()
    }

    /// The plain number that a field holds.
    pub(super) fn number(&self, name: FieldName) -> Option<u64> {
        match self.get(name)? {
            Value::U8(v) => Some((*v).into()),
            Value::U16(v) => Some((*v).into()),
            Value::U32(v) => Some((*v).into()),
            Value::I32(v) => Some(u64::from(v.unsigned_abs())),
            Value::SamplerOp(v) => Some(v.bits().into()),
            _ => None,
        }
    }

    pub(super) fn field_def(&self, name: FieldName) -> Option<(usize, &'static FieldDef)> {
        let mut fields = self.def.fields.iter().enumerate();
        fields.find(|(_, f)| f.name == name)
    }

    #[inline]
    pub(super) fn part(&mut self, part: &Part) {
        match *part {
            Part::Text(text) => self.line.text(text),
            Part::Mnemonic => self.line.text(self.def.mnemonic()),
            Part::Predicate => self.predicate(),
            Part::Saturation => self.saturation(),
            Part::ExecSize => self.exec_size(None),
            Part::FixedLanes(lanes) => self.exec_size(Some(lanes)),
            Part::Lanes(name) => {
                let written = match self.get(name) {
                    Some(Value::ElementCount(count)) => {
                        Some((count.mask(self.context.format), count.lanes()))
                    }
                    _ => None,
                };
                self.lanes(name, None, written);
            }
            Part::Operands => self.operands(),
            Part::Operand(name) => {
                let instruction = self.instruction;
                match instruction.get(name) {
                    Some(value) => self.operand(self.field_def(name), name, value),
                    None => self.lacks_operand(name),
                }
            }
            Part::List(name) => {
                let (instruction, field) = (self.instruction, self.field_def(name));
                for value in instruction.all(name) {
                    self.operand(field, name, value);
                }
            }
            Part::If(test, parts) => {
                let holds = self.holds(test);
                let at = self.at();
                if let Some(reading) = self.reading.as_deref_mut() {
                    reading.test(test, holds, at);
                }
                if holds {
                    self.parts(parts);
                }
            }
            Part::Choice(choice) => {
                let text = self.number(choice.field).map(|value| {
                    let value = value & u64::from(choice.mask);
                    let case = choice.cases.iter().find(|(v, _)| u64::from(*v) == value);
                    case.map_or(choice.otherwise, |(_, t)| t)
                });
                self.line.text(text.unwrap_or_default());
                if let Some(reading) = self.reading.as_deref_mut() {
                    reading.choice(choice, text);
                }
            }
            Part::MayOmit(parts) => self.parts(parts),
            Part::InputOnly(_) => {}
            Part::NotIntel(parts) => {
                if self.context.is_plain {
                    self.parts(parts);
                }
            }
            _ => self.rare(part),
        }
    }

    /// Every vector and raw operand in stream order.
    #[inline]
    fn operands(&mut self) {
        let instruction = self.instruction;
        let mut defs = self.def.fields.iter().enumerate();
        let mut current: Option<(usize, &'static FieldDef)> = None;
        for field in &instruction.fields {
            if !matches!(field.value, Value::Vector(_) | Value::Raw(_)) {
                continue;
            }
            // Entries of a list share one name.
            if self.reading.is_some() && current.is_none_or(|(_, def)| def.name != field.name) {
                current = defs.find(|(_, def)| def.name == field.name);
            }
            self.operand(current, field.name, &field.value);
        }
    }

    #[inline]
    fn operand(
        &mut self,
        field: Option<(usize, &'static FieldDef)>,
        name: FieldName,
        value: &Value,
    ) {
        match value {
            Value::Vector(operand) => {
                self.line.byte(b' ');
                let destination = name.is_destination();
                self.context.vector(self.line, operand, destination);
                if let (Some(reading), Some((index, field))) = (self.reading.as_deref_mut(), field)
                {
                    reading.vector(index, field, operand);
                }
            }
            Value::Raw(operand) => {
                self.line.byte(b' ');
                self.context.raw(self.line, *operand);
                if let (Some(reading), Some((index, field))) = (self.reading.as_deref_mut(), field)
                {
                    reading.raw(index, field, *operand);
                }
            }
            _ => {}
        }
    }

    /// Notes that there is no such operand.
    fn lacks_operand(&mut self, name: FieldName) {
        let at = self.at();
        if let Some(reading) = self.reading.as_deref_mut() {
            reading.lacks_operand(at, name);
        }
    }

    #[inline]
    fn predicate(&mut self) {
        let predicate = match self.get(FieldName::Pred) {
            Some(Value::Predicate(predicate)) => Some(*predicate),
            _ => None,
        };
        if let Some(predicate) = predicate
            && !predicate.is_none()
        {
            self.predicate_text(predicate);
        }
        if let Some(reading) = self.reading.as_deref_mut() {
            reading.predicate(predicate);
        }
    }

    fn predicate_text(&mut self, predicate: Predicate) {
        self.line
            .text(if predicate.is_inverted() { "(!" } else { "(" });
        self.context.predicate(self.line, predicate.id());
        self.line.text(match predicate.combine() {
            PredicateCombine::Any => ".any",
            PredicateCombine::All => ".all",
            _ => "",
        });
        self.line.text(") ");
    }

    fn saturation(&mut self) {
        let saturates = matches!(self.get(FieldName::Dst),
            Some(Value::Vector(operand)) if operand.modifier() == Modifier::SAT);
        if saturates {
            self.line.text(".sat");
        }
        if let Some(reading) = self.reading.as_deref_mut() {
            reading.saturation(saturates);
        }
    }

    #[inline]
    fn exec_size(&mut self, fixed: Option<u8>) {
        let written = match self.get(FieldName::ExecSize) {
            Some(Value::ExecSize(size)) => {
                let mask = size.mask(self.context.format);
                Some((mask, fixed.or_else(|| size.lanes())))
            }
            _ => None,
        };
        self.lanes(FieldName::ExecSize, fixed, written);
    }

    #[inline]
    fn lanes(
        &mut self,
        name: FieldName,
        fixed: Option<u8>,
        written: Option<(Option<ExecMask>, Option<u8>)>,
    ) {
        let written =
            written.map(|(mask, lanes)| (mask.unwrap_or(ExecMask::M1), lanes.unwrap_or(0)));
        if let Some((mask, lanes)) = written {
            self.line.text("(M");
            self.line.number(mask.first_lane / 4 + 1);
            self.line.text(if mask.no_mask { "_NM, " } else { ", " });
            self.line.number(lanes);
            self.line.byte(b')');
        }
        if let Some(reading) = self.reading.as_deref_mut() {
            reading.lanes(name, fixed, written);
        }
    }

    fn holds(&self, test: Test) -> bool {
        let number = |name| self.number(name).unwrap_or(0);
        match test {
            Test::Present(name) => self.get(name).is_some(),
            Test::Absent(name) => self.get(name).is_none(),
            Test::Bits(name, bits) => number(name) & u64::from(bits) != 0,
            Test::NoBits(name, bits) => number(name) & u64::from(bits) == 0,
            Test::Not(name, value) => number(name) != u64::from(value),
            Test::OneOf(name, values) => {
                let value = number(name);
                value < 32 && values >> value & 1 == 1
            }
            Test::Above(name, value) => number(name) > u64::from(value),
            Test::NotNull(name) => self.get(name).is_some_and(|value| !is_null(value)),
            Test::Null(name) => self.get(name).is_some_and(is_null),
            Test::NotZero(name) => match self.get(name) {
                Some(Value::Vector(VectorOperand::Immediate(o))) => o.bits() != 0,
                value => value.is_some(),
            },
        }
    }
}

/// Whether an operand is the null operand.
pub(super) fn is_null(value: &Value) -> bool {
    match value {
        Value::Vector(VectorOperand::General(o)) => o.variable.0 == 0,
        Value::Raw(o) => o.is_null(),
        _ => false,
    }
}

/// Whether a string can be written without quotes.
pub(crate) fn is_identifier(text: &[u8]) -> bool {
    let letter = |c: &u8| c.is_ascii_alphabetic() || *c == b'_';
    text.first().is_some_and(letter) && text.iter().all(|c| letter(c) || c.is_ascii_digit())
}
