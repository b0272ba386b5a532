//! Parts of instructions that are neither operands nor common to most lines.

use super::Context;
use super::instruction::{Printing, is_identifier, is_null};
use crate::language::pool::string;
use visakit_isa::operand::OperandClass;
use visakit_isa::table::{FieldName, Part};
use visakit_isa::{
    AddressId, PredicateId, SamplerId, StringId, SurfaceId, Value, VarId, VectorOperand, enums,
};

impl Printing<'_, '_> {
    /// Parts that occur in few instructions.
    pub(super) fn rare(&mut self, part: &Part) {
        match *part {
            Part::NoRegion(name) => {
                if let Some(Value::Vector(operand)) = self.get(name).copied() {
                    self.line.byte(b' ');
                    match operand {
                        VectorOperand::General(o) => self.context.general(self.line, &o),
                        _ => self.context.vector(self.line, &operand, false),
                    }
                    let field = self.field_def(name);
                    if let (Some(reading), Some((index, field))) =
                        (self.reading.as_deref_mut(), field)
                    {
                        reading.no_region(index, field, &operand);
                    }
                }
            }
            Part::AddressOf(name) => {
                if let Some(Value::Vector(operand)) = self.get(name).copied() {
                    self.line.byte(b' ');
                    let offset = self.context.address_of(self.line, &operand);
                    let field = self.field_def(name);
                    if let (Some(reading), Some((index, field))) =
                        (self.reading.as_deref_mut(), field)
                    {
                        reading.address_of(index, field, &operand, offset);
                    }
                }
            }
            Part::Bare(name) => self.bare(name),
            Part::Surface(name) => self.surface(name, true),
            Part::SurfaceNumber(name) => self.surface(name, self.context.is_plain),
            Part::Sampler(name) => {
                let value = self.get(name).copied();
                if let Some(Value::Sampler(id)) = value {
                    self.context.sampler(self.line, id.0.into());
                }
                if let Some(reading) = self.reading.as_deref_mut() {
                    reading.put(name, value.filter(|v| matches!(v, Value::Sampler(_))));
                }
            }
            Part::State(name, state, index) => self.state(name, state, index),
            Part::Caching => self.caching(),
            Part::Number(name) => {
                let number = self.get(name).and_then(Value::as_number);
                if let Some(number) = number {
                    self.line.signed(number);
                }
                let at = self.at();
                if let Some(reading) = self.reading.as_deref_mut() {
                    // A sign is not allowed here.
                    let unsigned = number.map(|n| u64::try_from(n).unwrap_or(u64::MAX));
                    reading.number(name, unsigned);
                    reading.decimal(at, number.unwrap_or(1));
                }
            }
            Part::PowerOfTwo(name, mask) => {
                let power = self.number(name).map(|number| number & u64::from(mask));
                if let Some(power) = power {
                    self.line.number(1u64 << power);
                }
                if let Some(reading) = self.reading.as_deref_mut() {
                    match power {
                        Some(power) => reading.fields.set(name, mask.into(), low32(power)),
                        None => reading.refuse(),
                    }
                }
            }
            Part::HexDigits(name) => {
                if let Some(number) = self.number(name) {
                    self.hex(number);
                }
                self.note_hex(name);
            }
            Part::Hex(name) => {
                if let Some(number) = self.number(name) {
                    self.line.text("0x");
                    self.hex(number);
                }
                self.note_hex(name);
            }
            Part::HexPair(high, low) => {
                if let (Some(high), Some(low)) = (self.number(high), self.number(low)) {
                    self.line.text("0x");
                    self.hex(high << 32 | low);
                }
                self.note_hex(high);
                self.note_hex(low);
            }
            Part::SignedHex(name) => {
                if let Some(Value::I32(number)) = self.get(name).copied()
                    && number != 0
                {
                    self.line.text(if number < 0 { "-0x" } else { "+0x" });
                    self.hex(number.unsigned_abs().into());
                    if let Some(reading) = self.reading.as_deref_mut() {
                        reading.fields.set(name, u32::MAX, number.cast_unsigned());
                    }
                }
            }
            Part::Named(name) => self.named(name, u64::MAX, false),
            Part::Operation(name, codes) => self.named(name, codes, true),
            Part::Channels(name, letters) => self.channels(name, letters, 0),
            Part::ChannelsInverted(name, letters) => self.channels(name, letters, u64::MAX),
            Part::Flags(name, flags) => {
                if let Some(number) = self.number(name) {
                    for (bit, text) in flags {
                        if number >> bit & 1 == 1 {
                            self.line.text(text);
                        }
                    }
                    if let Some(reading) = self.reading.as_deref_mut() {
                        let all = flags.iter().fold(0u32, |all, (bit, _)| all | 1 << bit);
                        reading.fields.set(name, all, low32(number));
                    }
                }
            }
            Part::MinMaxMode(name) => self.min_max_mode(name),
            Part::Precision(name) => self.precision(name),
            Part::Quoted(name) => self.string(name, |_, _| false),
            Part::Name(name) => self.string(name, |context, text| {
                !context.is_plain || is_identifier(text)
            }),
            Part::Symbol(name) => self.string(name, |_, text| is_identifier(text)),
            Part::Variable(name) => self.lifetime(name),
            _ => self.label(part),
        }
    }

    /// A number in hexadecimal digits, which are unsigned.
    fn note_hex(&mut self, name: FieldName) {
        let number = self.number(name);
        let negative = matches!(self.get(name), Some(Value::I32(n)) if *n < 0);
        if let Some(reading) = self.reading.as_deref_mut() {
            reading.number(name, number);
            let too_large = name == FieldName::AddrScale && number.is_some_and(|n| n > 0xffff);
            if negative || too_large {
                reading.refuse();
            }
        }
    }

    /// An operand without a region.
    fn bare(&mut self, name: FieldName) {
        let value = self.get(name).copied();
        match value {
            Some(Value::Raw(operand)) => self.context.bare_raw(self.line, operand),
            Some(Value::Vector(operand)) => {
                self.context.bare_vector(self.line, &operand);
                self.capital |= matches!(operand, VectorOperand::Immediate(_));
            }
            _ => {}
        }
        let field = self.field_def(name);
        if let Some(reading) = self.reading.as_deref_mut() {
            match (value, field) {
                (Some(Value::Raw(operand)), Some((index, field))) => {
                    reading.raw(index, field, operand);
                }
                (Some(Value::Vector(operand)), _) => reading.bare_vector(name, &operand),
                _ => reading.absent(name),
            }
        }
    }

    fn surface(&mut self, name: FieldName, by_name: bool) {
        let value = self.get(name).copied();
        if let Some(Value::Surface(SurfaceId(id))) = value {
            if by_name {
                self.context.surface(self.line, SurfaceId(id));
            } else {
                self.line.byte(b'T');
                self.line.number(id);
            }
        }
        if let Some(reading) = self.reading.as_deref_mut() {
            reading.put(name, value.filter(|v| matches!(v, Value::Surface(_))));
        }
    }

    /// A sampler or surface by its name, or the variable and index of its state.
    fn state(&mut self, name: FieldName, state: FieldName, index: FieldName) {
        let base = self.get(state).copied();
        let Some(Value::Raw(base)) = base.filter(|base| !is_null(base)) else {
            if let Some(Value::Sampler(_)) = self.get(name) {
                return self.rare(&Part::Sampler(name));
            }
            return self.surface(name, true);
        };
        let number = self.number(index).unwrap_or(0);
        if number != 0 {
            self.line.byte(b'(');
        }
        self.context.variable_name(self.line, base.variable);
        if number != 0 {
            self.line.text(", 0x");
            self.line.hex(number);
            self.line.byte(b')');
        }
        let (value, field) = (self.get(name).copied(), self.field_def(state));
        if let Some(reading) = self.reading.as_deref_mut() {
            let unnamed = |value: &Value| {
                matches!(
                    value,
                    Value::Sampler(SamplerId(0)) | Value::Surface(SurfaceId(0))
                )
            };
            reading.put(name, value.filter(unnamed));
            if let Some((place, field)) = field {
                reading.raw(place, field, base);
            }
            if number != 0 {
                reading.number(index, Some(number));
            }
            if base.offset != 0 {
                reading.refuse();
            }
        }
    }

    /// The caching controls of the levels, unless all have the default.
    fn caching(&mut self) {
        let [first, second, third] = Part::CACHING;
        let stated = |name| self.number(name).unwrap_or(0) != 0;
        if !Part::CACHING.into_iter().any(stated) {
            return;
        }
        let all = stated(second);
        let second = all.then_some(second);
        for name in [Some(first), second, Some(third)].into_iter().flatten() {
            self.line.byte(b'.');
            self.named(name, u64::MAX, false);
        }
    }

    /// A string of the pool, quoted unless it may be written bare.
    fn string(&mut self, name: FieldName, is_bare: fn(&Context<'_>, &[u8]) -> bool) {
        let id: Option<StringId> = match self.get(name) {
            Some(Value::String(id)) => Some(*id),
            _ => None,
        };
        let text = id.map(|id| string(self.context.body, id));
        if let Some(text) = text {
            if is_bare(self.context, text) {
                self.line.legal(text);
            } else {
                self.line.quoted(text.iter().copied());
            }
        }
        if let Some(reading) = self.reading.as_deref_mut() {
            match id {
                Some(id) if !text.is_some_and(|t| t.contains(&0)) => reading.string(name, id),
                _ => reading.refuse(),
            }
        }
    }

    fn hex(&mut self, number: u64) {
        if self.capital {
            self.line.hex_capital(number);
        } else {
            self.line.hex(number);
        }
    }

    /// The letters of the channels whose bits are set, after inverting these bits.
    fn channels(&mut self, name: FieldName, letters: &str, inverted: u64) {
        let Some(number) = self.number(name) else {
            if let Some(reading) = self.reading.as_deref_mut() {
                reading.absent(name);
            }
            return;
        };
        let mask = number ^ inverted;
        for (bit, letter) in letters.bytes().enumerate() {
            if mask >> bit & 1 == 1 {
                self.line.byte(letter);
            }
        }
        let at = self.at();
        if let Some(reading) = self.reading.as_deref_mut() {
            let all = (1 << letters.len()) - 1;
            reading.channels(at, low32(mask) & all);
            reading.fields.set(name, all, low32(number));
        }
    }

    /// The name of a value, or its number if it has none.
    fn named(&mut self, name: FieldName, codes: u64, begins_line: bool) {
        let Some(number) = self.number(name) else {
            if let Some(reading) = self.reading.as_deref_mut() {
                reading.absent(name);
            }
            return;
        };
        let code = (number & 0xff) as u8;
        let enumeration = self.field_def(name).and_then(|(_, f)| f.enumeration);
        let text = enumeration.and_then(|e| e.name_of(code));
        match text {
            Some(text) => self.line.text(text),
            None => {
                self.line.text("<<");
                self.line.hex_capital(number);
                self.line.text("?>>");
            }
        }
        if let Some(reading) = self.reading.as_deref_mut() {
            match text {
                Some(text) => reading.named(name, codes, text),
                // A line cannot begin with a number.
                None if begins_line => reading.refuse(),
                None => reading.number(name, Some(number)),
            }
        }
    }

    fn min_max_mode(&mut self, name: FieldName) {
        let value = self.get(name).copied();
        let (constant, byte) = match value {
            Some(Value::U8(v)) => (Some(u64::from(v)), true),
            Some(Value::Vector(VectorOperand::Immediate(o))) => (Some(o.bits()), false),
            _ => (None, false),
        };
        let words = crate::language::operand::MIN_MAX_WORDS;
        let word = constant.and_then(|c| words.get(usize::try_from(c).ok()?));
        let Some(word) = word else {
            // A number is not listed as a text.
            if let (true, Some(reading)) = (byte, self.reading.as_deref_mut()) {
                reading.refuse();
            }
            return self.part(&Part::Operand(name));
        };
        self.line.byte(b' ');
        self.line.text(word);
        if let (Some(reading), Some(mode)) = (self.reading.as_deref_mut(), constant) {
            if byte {
                reading.number(name, Some(mode));
            } else {
                let read = crate::language::operand::min_max_mode(mode);
                reading.put(name, Some(Value::Vector(read.into())));
            }
        }
    }

    /// `.s8.u8.8.8`
    fn precision(&mut self, name: FieldName) {
        let Some(Value::U32(number)) = self.get(name).copied() else {
            return;
        };
        let [weights, activations, depth, count] = number.to_le_bytes();
        let mut known = true;
        for precision in [weights, activations] {
            self.line.byte(b'.');
            let name = enums::PRECISION.name_of(precision);
            known &= name.is_some();
            self.line.text(name.unwrap_or("?"));
        }
        for number in [depth, count] {
            self.line.byte(b'.');
            self.line.number(number);
            known &= crate::language::operand::SYSTOLIC_COUNTS.contains(&number);
        }
        if let Some(reading) = self.reading.as_deref_mut() {
            reading.number(name, known.then_some(number.into()));
        }
    }

    fn lifetime(&mut self, name: FieldName) {
        let Some(Value::Lifetime(id)) = self.get(name).copied() else {
            if let Some(reading) = self.reading.as_deref_mut() {
                reading.refuse();
            }
            return;
        };
        let number = u16::try_from(id.0).unwrap_or(u16::MAX);
        let properties = self.number(FieldName::Properties).unwrap_or(0);
        let properties = u16::try_from(properties).unwrap_or(0);
        let (class, read) = match OperandClass::of_lifetime(properties) {
            Some(OperandClass::General) => {
                self.context.variable_name(self.line, id);
                (0, id)
            }
            Some(OperandClass::Address) => {
                self.context.address(self.line, AddressId(number));
                (1, VarId(number.into()))
            }
            // Intel's printer takes the meaningless code for a predicate.
            _ => {
                self.context.predicate(self.line, PredicateId(number));
                (2, VarId(number.into()))
            }
        };
        if let Some(reading) = self.reading.as_deref_mut() {
            reading.fields.set(FieldName::Properties, 0xfe, class << 4);
            reading.put(name, Some(Value::Lifetime(read)));
        }
    }
}

/// The lower half of a number that fits in it.
#[allow(clippy::cast_possible_truncation)] // numbers of fields have 32 bits
const fn low32(number: u64) -> u32 {
    number as u32
}
