//! Instructions: their parts in order.

use crate::line::Line;
use crate::names::string;
use crate::printer::Context;
use visakit_isa::operand::{Modifier, PredicateCombine};
use visakit_isa::table::{FieldDef, FieldName, InstructionDef, LineKind, Part, Test};
use visakit_isa::{
    AddressId, ExecMask, Instruction, Predicate, PredicateId, StringId, SurfaceId, Value,
    VectorOperand, enums,
};

/// Numbers of instructions stand behind this column.
const COLUMN: usize = 80;

/// An instruction that is being printed.
pub(crate) struct Printing<'p, 'o> {
    pub(crate) context: &'p Context<'o>,
    pub(crate) line: &'p mut Line,
    pub(crate) def: &'static InstructionDef,
    pub(crate) instruction: &'p Instruction,
    /// Whether hexadecimal digits are capitals: after a constant in an address.
    pub(crate) capital: bool,
}

impl Context<'_> {
    /// A line for an instruction, with its line end.
    #[inline]
    pub(crate) fn instruction(&self, line: &mut Line, index: usize, instruction: &Instruction) {
        let def = instruction.def();
        if self.own {
            return self.own_instruction(line, index, instruction);
        }
        let kind = def.syntax.line;
        if kind != LineKind::Label {
            line.text("    ");
        }
        let mut printing = Printing {
            context: self,
            line,
            def,
            instruction,
            capital: false,
        };
        printing.parts(def.syntax.parts);
        if kind == LineKind::Instruction {
            line.pad(COLUMN);
            line.text(" /// $");
            line.number(index as u64);
        }
        line.byte(b'\n');
    }
}

impl Printing<'_, '_> {
    pub(crate) fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            self.part(part);
        }
    }

    #[inline]
    pub(crate) fn get(&self, name: FieldName) -> Option<&Value> {
        self.instruction.get(name)
    }

    /// The plain number that a field holds.
    fn number(&self, name: FieldName) -> Option<u64> {
        match self.get(name)? {
            Value::U8(v) => Some((*v).into()),
            Value::U16(v) => Some((*v).into()),
            Value::U32(v) => Some((*v).into()),
            Value::I32(v) => Some(u64::from(v.unsigned_abs())),
            Value::SamplerOp(v) => Some(v.bits().into()),
            _ => None,
        }
    }

    fn field_def(&self, name: FieldName) -> Option<&'static FieldDef> {
        self.def.fields.iter().find(|f| f.name == name)
    }

    #[inline]
    fn part(&mut self, part: &Part) {
        match *part {
            Part::Text(text) => self.line.text(text),
            Part::Mnemonic => self.line.text(self.def.mnemonic()),
            Part::Predicate => self.predicate(),
            Part::Saturation => self.saturation(),
            Part::ExecSize => {
                if let Some(Value::ExecSize(size)) = self.get(FieldName::ExecSize) {
                    let size = *size;
                    self.lanes(size.mask(self.context.format), size.lanes());
                }
            }
            Part::FixedLanes(lanes) => {
                if let Some(Value::ExecSize(size)) = self.get(FieldName::ExecSize) {
                    let mask = size.mask(self.context.format);
                    self.lanes(mask, Some(lanes));
                }
            }
            Part::Lanes(name) => {
                if let Some(Value::ElementCount(count)) = self.get(name) {
                    let count = *count;
                    self.lanes(count.mask(self.context.format), count.lanes());
                }
            }
            Part::Operands => {
                let instruction = self.instruction;
                for field in &instruction.fields {
                    self.operand(field.name, &field.value);
                }
            }
            Part::Operand(name) => {
                let instruction = self.instruction;
                if let Some(value) = instruction.get(name) {
                    self.operand(name, value);
                }
            }
            Part::List(name) => {
                let instruction = self.instruction;
                for value in instruction.all(name) {
                    self.operand(name, value);
                }
            }
            Part::If(test, parts) => {
                if self.holds(test) {
                    self.parts(parts);
                }
            }
            Part::Choice(choice) => {
                if let Some(value) = self.number(choice.field) {
                    let value = value & u64::from(choice.mask);
                    let case = choice.cases.iter().find(|(v, _)| u64::from(*v) == value);
                    self.line.text(case.map_or(choice.otherwise, |(_, t)| t));
                }
            }
            Part::MayOmit(parts) => self.parts(parts),
            Part::Heard(_) => {}
            Part::Own(parts) => {
                if self.context.own {
                    self.parts(parts);
                }
            }
            _ => self.rare(part),
        }
    }

    /// Parts that are in few instructions.
    fn rare(&mut self, part: &Part) {
        match *part {
            Part::NoRegion(name) => {
                if let Some(Value::Vector(operand)) = self.get(name).copied() {
                    self.line.byte(b' ');
                    match operand {
                        VectorOperand::General(o) => self.context.general(self.line, &o),
                        _ => self.context.vector(self.line, &operand, false),
                    }
                }
            }
            Part::AddressOf(name) => {
                if let Some(Value::Vector(operand)) = self.get(name).copied() {
                    self.line.byte(b' ');
                    self.context.address_of(self.line, &operand);
                }
            }
            Part::Bare(name) => match self.get(name).copied() {
                Some(Value::Raw(operand)) => self.context.bare_raw(self.line, operand),
                Some(Value::Vector(operand)) => {
                    self.context.bare_vector(self.line, &operand);
                    self.capital |= matches!(operand, VectorOperand::Immediate(_));
                }
                _ => {}
            },
            Part::Surface(name) => {
                if let Some(Value::Surface(id)) = self.get(name).copied() {
                    self.context.surface(self.line, id);
                }
            }
            Part::SurfaceNumber(name) => {
                if let Some(Value::Surface(SurfaceId(id))) = self.get(name).copied() {
                    if self.context.own {
                        return self.context.surface(self.line, SurfaceId(id));
                    }
                    self.line.byte(b'T');
                    self.line.number(id);
                }
            }
            Part::Sampler(name) => {
                if let Some(Value::Sampler(id)) = self.get(name).copied() {
                    self.context.sampler(self.line, id.0.into());
                }
            }
            Part::Number(name) => {
                if let Some(number) = self.get(name).and_then(Value::as_number) {
                    self.line.signed(number);
                }
            }
            Part::PowerOfTwo(name, mask) => {
                if let Some(number) = self.number(name) {
                    self.line.number(1u64 << (number & u64::from(mask)));
                }
            }
            Part::HexDigits(name) => {
                if let Some(number) = self.number(name) {
                    self.hex(number);
                }
            }
            Part::Hex(name) => {
                if let Some(number) = self.number(name) {
                    self.line.text("0x");
                    self.hex(number);
                }
            }
            Part::HexPair(high, low) => {
                if let (Some(high), Some(low)) = (self.number(high), self.number(low)) {
                    self.line.text("0x");
                    self.hex(high << 32 | low);
                }
            }
            Part::SignedHex(name) => {
                if let Some(Value::I32(number)) = self.get(name).copied()
                    && number != 0
                {
                    self.line.text(if number < 0 { "-0x" } else { "+0x" });
                    self.hex(number.unsigned_abs().into());
                }
            }
            Part::Named(name) | Part::Operation(name, _) => self.named(name),
            Part::Channels(name, letters) => {
                if let Some(number) = self.number(name) {
                    self.channels(number, letters);
                }
            }
            Part::ChannelsInverted(name, letters) => {
                if let Some(number) = self.number(name) {
                    self.channels(!number, letters);
                }
            }
            Part::Flags(name, flags) => {
                if let Some(number) = self.number(name) {
                    for (bit, text) in flags {
                        if number >> bit & 1 == 1 {
                            self.line.text(text);
                        }
                    }
                }
            }
            Part::MinMaxMode(name) => self.min_max_mode(name),
            Part::Precision(name) => {
                if let Some(Value::U32(number)) = self.get(name).copied() {
                    let [weights, activations, depth, count] = number.to_le_bytes();
                    for precision in [weights, activations] {
                        self.line.byte(b'.');
                        let name = enums::PRECISION.name_of(precision);
                        self.line.text(name.unwrap_or("?"));
                    }
                    for number in [depth, count] {
                        self.line.byte(b'.');
                        self.line.number(number);
                    }
                }
            }
            Part::Quoted(name) => {
                if let Some(id) = self.string(name) {
                    let text = string(self.context.body, id).iter().copied();
                    self.line.quoted(text);
                }
            }
            Part::Name(name) => {
                if let Some(id) = self.string(name) {
                    let text = string(self.context.body, id);
                    if self.context.own && !is_identifier(text) {
                        self.line.quoted(text.iter().copied());
                    } else {
                        self.line.legal(text);
                    }
                }
            }
            Part::Symbol(name) => {
                if let Some(id) = self.string(name) {
                    let text = string(self.context.body, id);
                    if is_identifier(text) {
                        self.line.raw(text);
                    } else {
                        self.line.quoted(text.iter().copied());
                    }
                }
            }
            Part::Variable(name) => self.lifetime(name),
            _ => self.label(part),
        }
    }

    pub(crate) fn string(&self, name: FieldName) -> Option<StringId> {
        match self.get(name)? {
            Value::String(id) => Some(*id),
            _ => None,
        }
    }

    #[inline]
    fn operand(&mut self, name: FieldName, value: &Value) {
        match value {
            Value::Vector(operand) => {
                self.line.byte(b' ');
                let destination = name.is_destination();
                self.context.vector(self.line, operand, destination);
            }
            Value::Raw(operand) => {
                self.line.byte(b' ');
                self.context.raw(self.line, *operand);
            }
            _ => {}
        }
    }

    #[inline]
    fn predicate(&mut self) {
        let Some(Value::Predicate(predicate)) = self.get(FieldName::Pred).copied() else {
            return;
        };
        if predicate.is_none() {
            return;
        }
        self.predicate_text(predicate);
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
        if let Some(Value::Vector(operand)) = self.get(FieldName::Dst)
            && operand.modifier() == Modifier::SAT
        {
            self.line.text(".sat");
        }
    }

    #[inline]
    fn lanes(&mut self, mask: Option<ExecMask>, lanes: Option<u8>) {
        let mask = mask.unwrap_or(ExecMask::M1);
        self.line.text("(M");
        self.line.number(mask.first_lane / 4 + 1);
        self.line.text(if mask.no_mask { "_NM, " } else { ", " });
        self.line.number(lanes.unwrap_or(0));
        self.line.byte(b')');
    }

    fn hex(&mut self, number: u64) {
        if self.capital {
            self.line.hex_capital(number);
        } else {
            self.line.hex(number);
        }
    }

    fn channels(&mut self, mask: u64, letters: &str) {
        for (bit, letter) in letters.bytes().enumerate() {
            if mask >> bit & 1 == 1 {
                self.line.byte(letter);
            }
        }
    }

    /// The name of a value, or its number where it has none.
    fn named(&mut self, name: FieldName) {
        let Some(number) = self.number(name) else {
            return;
        };
        let code = (number & 0xff) as u8;
        let enumeration = self.field_def(name).and_then(|f| f.enumeration);
        match enumeration.and_then(|e| e.name_of(code)) {
            Some(text) => self.line.text(text),
            None => {
                self.line.text("<<");
                self.line.hex_capital(number);
                self.line.text("?>>");
            }
        }
    }

    fn min_max_mode(&mut self, name: FieldName) {
        let constant = match self.get(name) {
            Some(Value::U8(v)) => Some(u64::from(*v)),
            Some(Value::Vector(VectorOperand::Immediate(o))) => Some(o.bits()),
            _ => None,
        };
        let word = match constant {
            Some(0) => " VA_MINMAX_ENABLE",
            Some(1) => " VA_MAX_ENABLE",
            Some(2) => " VA_MIN_ENABLE",
            _ => return self.part(&Part::Operand(name)),
        };
        self.line.text(word);
    }

    fn lifetime(&mut self, name: FieldName) {
        let Some(Value::Lifetime(id)) = self.get(name).copied() else {
            return;
        };
        match self.number(FieldName::Properties).unwrap_or(0) >> 4 & 3 {
            0 => self.context.variable_name(self.line, id),
            class => {
                let number = u16::try_from(id.0).unwrap_or(u16::MAX);
                match class {
                    1 => self.context.address(self.line, AddressId(number)),
                    _ => self.context.predicate(self.line, PredicateId(number)),
                }
            }
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
            Test::Either(a, b) => number(a) != 0 || number(b) != 0,
            Test::NotNull(name) => match self.get(name) {
                Some(Value::Vector(VectorOperand::General(o))) => o.variable.0 != 0,
                Some(Value::Raw(o)) => !o.is_null(),
                value => value.is_some(),
            },
            Test::NotZero(name) => match self.get(name) {
                Some(Value::Vector(VectorOperand::Immediate(o))) => o.bits() != 0,
                value => value.is_some(),
            },
        }
    }
}

/// Whether a string can stand in text without quotes.
pub(crate) fn is_identifier(text: &[u8]) -> bool {
    let letter = |c: &u8| c.is_ascii_alphabetic() || *c == b'_';
    text.first().is_some_and(letter) && text.iter().all(|c| letter(c) || c.is_ascii_digit())
}
