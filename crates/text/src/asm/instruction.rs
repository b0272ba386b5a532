//! Instructions, parsed after the description that they are printed by.

use super::cursor::Cursor;
use super::diagnostic::{Diagnostic, DiagnosticKind, Fault, Parsed, Span};
use super::index::Entry;
use super::routine::Draft;
use alloc::vec::Vec;
use visakit_isa::table::{FieldDef, FieldKind, FieldName, InstructionDef, Part};
use visakit_isa::{ExecSize, Field, Instruction, Predicate, RawOperand, Value};

/// What is known of a field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    pub(super) value: Option<Value>,
    /// The number of a plain field.
    pub(super) bits: u32,
    /// The bits of it that the text told.
    pub(super) known: u32,
}

/// Memory that the lines share.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    slots: Vec<Slot>,
    pub(super) list: Vec<Value>,
}

/// A line that is being parsed.
#[derive(Debug)]
pub(super) struct Line<'p, 't> {
    pub(super) cursor: &'p mut Cursor<'t>,
    pub(super) draft: &'p mut Draft<'t>,
    pub(super) def: &'static InstructionDef,
    pub(super) saturate: bool,
    pub(super) scratch: &'p mut Scratch,
    predicate: Option<(Predicate, Span)>,
    /// The field and value that other fields depend on.
    key: Option<usize>,
}

/// Parses an instruction in one of its forms, behind its predicate.
pub(super) fn parse<'t>(
    cursor: &mut Cursor<'t>,
    draft: &mut Draft<'t>,
    scratch: &mut Scratch,
    entry: &Entry,
    predicate: Option<(Predicate, Span)>,
) -> Parsed<Instruction> {
    let def = entry.def;
    scratch.slots.clear();
    scratch.slots.resize(def.fields.len(), Slot::default());
    scratch.list.clear();
    let mut line = Line {
        cursor,
        draft,
        def,
        saturate: false,
        scratch,
        predicate,
        key: def.fields.iter().position(|f| f.is_key),
    };
    let unpredicated = !entry.parts.iter().any(|p| matches!(p, Part::Predicate))
        || !def.fields.iter().any(|f| f.name == FieldName::Pred);
    if let Some((_, span)) = predicate
        && unpredicated
    {
        let message = alloc::format!("`{}` cannot be predicated", def.mnemonic());
        return Err(Diagnostic::new(
            DiagnosticKind::NotPredicable,
            span,
            message,
        ));
    }
    line.parts(entry.parts)?;
    if !line.cursor.ends() {
        return Err(line.superfluous());
    }
    Ok(line.finish())
}

impl<'t> Line<'_, 't> {
    pub(super) fn parts(&mut self, parts: &'static [Part]) -> Parsed<()> {
        for part in parts {
            self.part(part)?;
        }
        Ok(())
    }

    pub(super) fn field(&self, name: FieldName) -> Option<(usize, &'static FieldDef)> {
        let found = self.def.fields.iter().enumerate();
        found.into_iter().find(|(_, f)| f.name == name)
    }

    /// The field, if the instruction has it in this format.
    pub(super) fn present(&self, name: FieldName) -> Option<(usize, &'static FieldDef)> {
        self.field(name).filter(|(_, f)| self.has(f))
    }

    /// Whether the instruction has the field in this format.
    #[inline]
    pub(super) fn has(&self, field: &FieldDef) -> bool {
        field.when.holds(self.draft.format)
            && field.only_if.is_none_or(|test| {
                let key = self.key.and_then(|i| self.scratch.slots.get(i));
                test.holds(key.map_or(0, |slot| (slot.bits & 0xffff) as u16))
            })
    }

    pub(super) fn slot(&self, name: FieldName) -> Slot {
        let slot = self
            .field(name)
            .and_then(|(i, _)| self.scratch.slots.get(i));
        slot.copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn put(&mut self, index: usize, value: Value) {
        if let Some(slot) = self.scratch.slots.get_mut(index) {
            slot.value = Some(value);
        }
    }

    pub(super) fn put_named(&mut self, name: FieldName, value: Value) {
        if let Some((index, _)) = self.field(name) {
            self.put(index, value);
        }
    }

    /// Notes some bits of a number.
    pub(super) fn set(&mut self, name: FieldName, mask: u32, bits: u32) {
        let index = self.field(name).map(|(i, _)| i);
        if let Some(slot) = index.and_then(|i| self.scratch.slots.get_mut(i)) {
            slot.bits = slot.bits & !mask | bits & mask;
            slot.known |= mask;
        }
    }

    /// Notes a whole number, which must fit.
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

    pub(super) fn part(&mut self, part: &'static Part) -> Parsed<()> {
        match *part {
            Part::Text(text) => {
                if !self.cursor.eat_text(text) {
                    let wanted = alloc::format!("`{}`", text.trim_matches(' '));
                    return Err(self.cursor.unexpected(&wanted));
                }
                Ok(())
            }
            Part::Mnemonic => self.mnemonic(),
            Part::Predicate => {
                let predicate = self.predicate.map_or(Predicate::NONE, |(p, _)| p);
                self.put_named(FieldName::Pred, Value::Predicate(predicate));
                Ok(())
            }
            Part::Saturation => {
                self.saturate = self.cursor.eat_text(".sat");
                Ok(())
            }
            Part::ExecSize => self.exec_size(FieldName::ExecSize, None),
            Part::FixedLanes(lanes) => self.exec_size(FieldName::ExecSize, Some(lanes)),
            Part::Lanes(name) => self.exec_size(name, None),
            Part::Operands => {
                for (index, field) in self.def.fields.iter().enumerate() {
                    if self.has(field) {
                        self.operand(index, field)?;
                    }
                }
                Ok(())
            }
            Part::Operand(name) | Part::List(name) => match self.present(name) {
                Some((index, field)) => self.operand(index, field),
                None => Ok(()),
            },
            Part::If(test, parts) => self.conditional(test, parts),
            Part::MayOmit(parts) => {
                if self.begins(parts) {
                    self.parts(parts)?;
                }
                Ok(())
            }
            Part::Own(parts) => self.parts(parts),
            Part::Choice(choice) => {
                let cases = choice.cases.iter().copied();
                let mut best: Option<(u32, Cursor<'_>)> = None;
                let unlisted = || {
                    let mask = u32::from(choice.mask);
                    let listed = |v: u32| choice.cases.iter().any(|(c, _)| u32::from(*c) == v);
                    (0..=mask).find(|v| v & !mask == 0 && !listed(*v))
                };
                let others = (!choice.otherwise.contains("<<") && choice.otherwise != "illegal")
                    .then(unlisted)
                    .flatten()
                    .map(|v| (v, choice.otherwise));
                for (value, text) in cases.map(|(v, t)| (u32::from(v), t)).chain(others) {
                    let mut ahead = *self.cursor;
                    if ahead.eat_text(text) && best.is_none_or(|(_, b)| ahead.at > b.at) {
                        best = Some((value, ahead));
                    }
                }
                let Some((value, ahead)) = best else {
                    let mut wanted = alloc::string::String::new();
                    for (i, (_, text)) in choice.cases.iter().enumerate() {
                        wanted.push_str(if i == 0 { "`" } else { " or `" });
                        wanted.push_str(text.trim_matches(' '));
                        wanted.push('`');
                    }
                    return Err(self.cursor.unexpected(&wanted));
                };
                *self.cursor = ahead;
                self.set(choice.field, choice.mask.into(), value);
                Ok(())
            }
            _ => self.rare(part),
        }
    }

    /// Parts that are in few instructions.
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
                        FieldKind::Vector => Value::Vector(self.bare_vector()?),
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
            Part::Number(name) | Part::Hex(name) => {
                if self.present(name).is_some() {
                    let (number, span) = self.number()?;
                    self.set_number(name, number, span)?;
                }
            }
            Part::PowerOfTwo(name, mask) => {
                let (number, span) = self.number()?;
                let log = number.trailing_zeros();
                if !number.is_power_of_two() || log > u32::from(mask) {
                    let message = alloc::format!("{number} is no number of blocks");
                    let kind = DiagnosticKind::ImmediateRange;
                    let fault = Diagnostic::new(kind, span, message);
                    return Err(fault.expected("1 or a small power of two"));
                }
                self.set(name, mask.into(), log);
            }
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
                let mask = self.channels(letters)?;
                self.set(name, (1 << letters.len()) - 1, mask);
            }
            Part::ChannelsInverted(name, letters) => {
                if self.present(name).is_some() {
                    let mask = self.channels(letters)?;
                    self.set(name, (1 << letters.len()) - 1, !mask);
                }
            }
            Part::Flags(name, flags) => self.flags(name, flags),
            Part::MinMaxMode(name) => return self.min_max_mode(name),
            Part::Precision(name) => return self.precision(name),
            Part::Quoted(name) | Part::Symbol(name) | Part::Name(name) => {
                let text = match self.cursor.string()? {
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
            }
            Part::Variable(name) => return self.lifetime(name),
            _ => return self.label(part),
        }
        Ok(())
    }

    pub(super) fn mnemonic(&mut self) -> Parsed<()> {
        self.cursor.blanks();
        let names = self.def.mnemonics.iter().filter(|m| self.cursor.has(m));
        match names.map(|m| m.len()).max() {
            Some(len) => {
                self.cursor.at += len;
                Ok(())
            }
            None => Err(self.cursor.unexpected(self.def.mnemonic())),
        }
    }

    pub(super) fn number(&mut self) -> Parsed<(u64, Span)> {
        self.cursor.blanks();
        let start = self.cursor.at;
        match self.cursor.number()? {
            Some(number) => Ok((number, Span::between(start, self.cursor.at))),
            None => Err(self.cursor.unexpected("a number")),
        }
    }

    #[inline]
    pub(super) fn operand(&mut self, index: usize, field: &'static FieldDef) -> Parsed<()> {
        let value = match field.kind {
            FieldKind::Vector => {
                if self.cursor.ends() {
                    return Err(self.too_few(index, field));
                }
                Value::Vector(self.vector(field)?)
            }
            FieldKind::Raw => {
                if self.cursor.ends() {
                    return Err(self.too_few(index, field));
                }
                Value::Raw(self.raw(false)?)
            }
            FieldKind::Raws => {
                while !self.cursor.ends() {
                    let raw = self.raw(false)?;
                    self.scratch.list.push(Value::Raw(raw));
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.put(index, value);
        Ok(())
    }

    /// The operands that the instruction takes, and the number of the one at `index` among them.
    pub(super) fn operand_number(&self, index: usize) -> (usize, usize) {
        let is = |f: &&FieldDef| matches!(f.kind, FieldKind::Vector | FieldKind::Raw);
        let fields = || self.def.fields.iter().filter(|f| self.has(f));
        let before = self.def.fields.get(..index).unwrap_or_default();
        let before = before.iter().filter(|f| self.has(f)).filter(is).count();
        (fields().filter(is).count(), before)
    }

    #[cold]
    pub(super) fn too_few(&self, index: usize, field: &FieldDef) -> Fault {
        let (all, given) = self.operand_number(index);
        let name = self.def.mnemonic();
        let message = alloc::format!("`{name}` takes {all} operands, here are {given}");
        let span = self.cursor.piece();
        let fault = Diagnostic::new(DiagnosticKind::OperandCount, span, message);
        fault.expected(alloc::format!("the operand {}", field.name))
    }

    /// Something follows the last operand.
    #[cold]
    pub(super) fn superfluous(&self) -> Fault {
        let (all, _) = self.operand_number(0);
        let rest = self.cursor.rest();
        let looks = rest.first().is_some_and(|c| {
            c.is_ascii_alphanumeric() || matches!(c, b'%' | b'_' | b'(' | b'-' | b'&')
        });
        let name = self.def.mnemonic();
        if all > 0 && looks {
            let message = alloc::format!("`{name}` takes no more than {all} operands");
            let span = self.cursor.piece();
            return Diagnostic::new(DiagnosticKind::OperandCount, span, message)
                .expected("the end of the line");
        }
        trailing(self.cursor, name)
    }

    /// The fields in stream order.
    pub(super) fn finish(&mut self) -> Instruction {
        let fields = self.def.fields;
        let list = core::mem::take(&mut self.scratch.list);
        let mut built = Instruction::new(self.def.op);
        built.fields.reserve_exact(fields.len() + list.len());
        for (index, field) in fields.iter().enumerate() {
            if !self.has(field) {
                continue;
            }
            let slot = self.scratch.slots.get(index).copied().unwrap_or_default();
            let value = match field.kind {
                FieldKind::Count => continue,
                FieldKind::Labels | FieldKind::Raws => {
                    let entries = list.iter().map(|value| Field {
                        name: field.name,
                        value: *value,
                    });
                    built.fields.extend(entries);
                    continue;
                }
                _ => slot.value.unwrap_or_else(|| self.unwritten(field, slot)),
            };
            built.fields.push(Field {
                name: field.name,
                value,
            });
        }
        self.scratch.list = list;
        built
    }

    /// A plain number, or the value of a field that the text does not show.
    pub(super) fn unwritten(&self, field: &FieldDef, slot: Slot) -> Value {
        let bits = if slot.known == 0 {
            self.default(field.name)
        } else {
            slot.bits
        };
        #[allow(clippy::cast_possible_truncation)] // checked when it was set
        match field.kind {
            FieldKind::U8 => Value::U8(bits as u8),
            FieldKind::U16 => Value::U16(bits as u16),
            FieldKind::U32 => Value::U32(bits),
            FieldKind::I32 => Value::I32(bits.cast_signed()),
            FieldKind::SamplerOp => {
                Value::SamplerOp(visakit_isa::SamplerOp::from_bits(bits as u16))
            }
            FieldKind::ExecSize => Value::ExecSize(ExecSize::from_bits(bits as u8)),
            FieldKind::Predicate => Value::Predicate(Predicate::NONE),
            FieldKind::Vector => self.unwritten_vector(field.name),
            _ => Value::Raw(RawOperand::NULL),
        }
    }
}

/// More text follows a complete line.
#[cold]
pub(super) fn trailing(cursor: &Cursor<'_>, what: &str) -> Fault {
    let start = cursor.piece().start;
    let rest = cursor.text.get(start..).unwrap_or_default();
    let len = rest.iter().take_while(|c| **c != b'\n').count();
    let span = Span { start, len };
    let message = alloc::format!("text after the end of `{what}`");
    Diagnostic::new(DiagnosticKind::TrailingText, span, message).expected("the end of the line")
}

/// `P1)`, `!P1.any)`, behind the parenthesis that begins a predicate.
pub(super) fn predicate<'t>(
    cursor: &mut Cursor<'t>,
    draft: &mut Draft<'t>,
    scratch: &mut Scratch,
) -> Parsed<Predicate> {
    let mut line = Line {
        cursor,
        draft,
        def: visakit_isa::Op::MOV.def(),
        saturate: false,
        scratch,
        predicate: None,
        key: None,
    };
    line.predicate()
}
