//! Parts that occur in few instructions, and those that hold numbers and strings.

use super::diagnostic::{Diagnostic, DiagnosticKind, Parsed, Span};
use super::expression::Extent;
use super::instruction::LineParser;
use visakit_isa::Value;
use visakit_isa::table::{FieldKind, FieldName, Part};

impl LineParser<'_, '_> {
    /// Parts that occur in few instructions.
    pub(super) fn rare(&mut self, part: &'static Part) -> Parsed<()> {
        match *part {
            Part::NoRegion(name) => {
                if let Some((index, field)) = self.present(name) {
                    let operand = self.no_region(field)?;
                    self.put(index, Value::Vector(operand));
                }
            }
            Part::AddressOf(name) => {
                if let Some((index, field)) = self.present(name) {
                    let operand = self.vector(field)?;
                    self.put(index, Value::Vector(operand));
                }
            }
            Part::Bare(name) => {
                if let Some((index, field)) = self.present(name) {
                    let value = match field.kind {
                        FieldKind::Vector => Value::Vector(self.bare_vector(name)?),
                        _ => Value::Raw(self.raw(true)?),
                    };
                    self.put(index, value);
                }
            }
            Part::Surface(name) | Part::SurfaceNumber(name) => {
                let id = self.surface()?;
                self.put_named(name, Value::Surface(id));
            }
            Part::Sampler(name) => {
                let id = self.sampler()?;
                self.put_named(name, Value::Sampler(id));
            }
            Part::State(name, state, index) => return self.state_of(name, state, index),
            Part::Caching => return self.caching(),
            Part::Number(name @ (FieldName::UOffset | FieldName::VOffset)) => {
                self.in_dialect(name, self.cursor.piece())?;
                let range = i64::from(i32::MIN)..=i64::from(i32::MAX);
                let number = self.expression(Extent::Full, "an offset", range)?;
                let bits = i32::try_from(number).unwrap_or(0).cast_unsigned();
                self.set(name, u32::MAX, bits);
            }
            Part::Hex(name @ FieldName::SurfaceIndex) => {
                let range = 0..=i64::from(u32::MAX);
                let number = self.expression(Extent::Full, "an index", range)?;
                self.set(name, u32::MAX, u32::try_from(number).unwrap_or(0));
            }
            Part::Hex(name @ FieldName::AddrScale) => {
                let number = self.expression(Extent::Primary, "a scale", 0..=0xffff)?;
                self.set(name, u32::MAX, u32::try_from(number).unwrap_or(0));
            }
            Part::Number(name) | Part::Hex(name) => {
                if self.present(name).is_some() {
                    let (number, span) = self.number()?;
                    self.set_number(name, number, span)?;
                }
            }
            Part::PowerOfTwo(name, mask) => return self.power_of_two(name, mask),
            Part::HexDigits(name) => {
                let start = self.cursor.at;
                let mut number = 0u64;
                while let Some(digit) = self.cursor.peek().and_then(|c| (c as char).to_digit(16)) {
                    number = number.saturating_mul(16).saturating_add(digit.into());
                    self.cursor.at += 1;
                }
                if self.cursor.at == start {
                    return Err(self.cursor.unexpected("hexadecimal digits"));
                }
                self.set_number(name, number, Span::between(start, self.cursor.at))?;
            }
            Part::HexPair(high, low) => {
                let (number, span) = self.number()?;
                self.set_number(high, number >> 32, span)?;
                self.set_number(low, number & 0xffff_ffff, span)?;
            }
            Part::SignedHex(name) => return self.signed(name),
            Part::Named(name) => return self.enumerated(name, u64::MAX),
            Part::Operation(name, codes) => return self.enumerated(name, codes),
            Part::Channels(name, letters) => {
                if self.present(name).is_some() {
                    let mask = self.channels(letters)?;
                    self.set(name, (1 << letters.len()) - 1, mask);
                }
            }
            Part::ChannelsInverted(name, letters) => {
                if self.present(name).is_some() {
                    let mask = self.channels(letters)?;
                    self.set(name, (1 << letters.len()) - 1, !mask);
                }
            }
            Part::Flags(name, flags) => return self.flags(name, flags),
            Part::MinMaxMode(name) => return self.min_max_mode(name),
            Part::Precision(name) => return self.precision(name),
            Part::Quoted(name) | Part::Symbol(name) | Part::Name(name) => {
                return self.text(part, name);
            }
            Part::Variable(name) => return self.lifetime(name),
            _ => return self.label(part),
        }
        Ok(())
    }

    /// A number whose logarithm is stored.
    fn power_of_two(&mut self, name: FieldName, mask: u8) -> Parsed<()> {
        let (number, span) = self.number()?;
        let log = number.trailing_zeros();
        if !number.is_power_of_two() || log > u32::from(mask) {
            let message = alloc::format!("{number} is not a number of blocks");
            let kind = DiagnosticKind::ImmediateRange;
            let fault = Diagnostic::new(kind, span, message);
            return Err(fault.expected("1 or a small power of two"));
        }
        self.set(name, mask.into(), log);
        Ok(())
    }

    /// A string of the pool.
    fn text(&mut self, part: &Part, name: FieldName) -> Parsed<()> {
        let text = match self.cursor.pooled()? {
            Some((text, _)) => text,
            None if matches!(part, Part::Quoted(_)) => {
                return Err(self.cursor.unexpected("a quoted string"));
            }
            None => match self.cursor.label() {
                Some(word) => word.name.into(),
                None => return Err(self.cursor.unexpected("a name")),
            },
        };
        let id = self.draft.string(text);
        self.put_named(name, Value::String(id));
        Ok(())
    }

    /// Sets a whole number, which must fit.
    pub(super) fn set_number(&mut self, name: FieldName, number: u64, span: Span) -> Parsed<()> {
        let most = match self.field(name).map(|(_, f)| f.kind) {
            Some(FieldKind::U8) => 0xff,
            Some(FieldKind::U16 | FieldKind::SamplerOp) => 0xffff,
            _ => 0xffff_ffff,
        };
        match u32::try_from(number) {
            Ok(bits) if bits <= most => self.set(name, u32::MAX, bits),
            _ => {
                let message = alloc::format!("{number} does not fit into {name}");
                let fault = Diagnostic::new(DiagnosticKind::ImmediateRange, span, message);
                return Err(fault.expected(alloc::format!("a number up to {most}")));
            }
        }
        Ok(())
    }

    pub(super) fn number(&mut self) -> Parsed<(u64, Span)> {
        self.cursor.blanks();
        let start = self.cursor.at;
        match self.cursor.number()? {
            Some(number) => Ok((number, Span::between(start, self.cursor.at))),
            None => Err(self.cursor.unexpected("a number")),
        }
    }
}
