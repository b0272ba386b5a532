//! Parts of instructions that are neither operands nor plain numbers.

use super::diagnostic::{Diagnostic, DiagnosticKind, Parsed, Span};
use super::directive::most;
use super::expression::Extent;
use super::instruction::LineParser;
use crate::language::index::enumeration;
use crate::language::symbol::Symbol;
use crate::language::{fields, operand};
use crate::lexer::{Cursor, Word, is_word, shown};
use alloc::borrow::Cow;
use alloc::string::String;
use visakit_isa::object::LabelKind;
use visakit_isa::table::{FieldKind, FieldName, Part};
use visakit_isa::{ExecMask, RawOperand, SamplerId, SurfaceId, Value, VarId, enums};

impl<'t> LineParser<'_, 't> {
    /// `(M1_NM, 16)`, `(16)`
    pub(super) fn exec_size(&mut self, name: FieldName, fixed: Option<u8>) -> Parsed<()> {
        self.cursor
            .need(b'(', "an execution size such as `(M1, 16)`")?;
        let mut mask = ExecMask::M1;
        if let Some(word) = self.cursor.word() {
            let Some(named) = mask_named(word.name) else {
                let name = shown(word.name);
                let message = alloc::format!("no execution mask is called `{name}`");
                let kind = DiagnosticKind::IllegalExecSize;
                let fault = Diagnostic::new(kind, word.span, message);
                return Err(fault.expected("M1 to M8, with _NM for all lanes"));
            };
            mask = named;
            self.cursor.need(b',', "`,` and a number of lanes")?;
        }
        let (number, span) = self.number()?;
        let lanes = u8::try_from(number).unwrap_or(0);
        let kind = self
            .field(name)
            .map_or(FieldKind::ExecSize, |(_, f)| f.kind);
        let element_count = kind == FieldKind::ElementCount;
        let (m1_code, format) = (self.draft.m1_code, self.draft.format);
        let value = fields::lanes(kind, fixed, (mask, lanes), m1_code, format);
        let Some(value) = value else {
            let message = alloc::format!("{number} lanes are not a legal execution size");
            let fault = Diagnostic::new(DiagnosticKind::IllegalExecSize, span, message);
            return Err(fault.expected(match (fixed, element_count) {
                (Some(8), _) => "8",
                (_, true) => "1, 8 or 16",
                _ => "1, 2, 4, 8, 16 or 32",
            }));
        };
        self.cursor.need(b')', "`)`")?;
        self.put_named(name, value);
        Ok(())
    }

    /// The longest name of a value at the cursor: code and length.
    pub(super) fn longest(
        &self,
        name: FieldName,
        codes: u64,
        at: &Cursor<'_>,
    ) -> Option<(u8, usize)> {
        let names = enumeration(self.def, name)?;
        let mut best: Option<(u8, usize)> = None;
        for (code, text) in names.entries {
            let allowed = *code >= 64 || codes >> code & 1 == 1;
            if allowed && at.has(text) && best.is_none_or(|(_, len)| text.len() > len) {
                best = Some((*code, text.len()));
            }
        }
        // Sizes may also be spelled like unsigned types: `u32` for `d32`, `d8u32` for `d8c32`.
        if name == FieldName::DataSize {
            for (code, text) in names.entries {
                if stands_as_size(at, text) && best.is_none_or(|(_, len)| text.len() > len) {
                    best = Some((*code, text.len()));
                }
            }
        }
        best
    }

    pub(super) fn enumerated(&mut self, name: FieldName, codes: u64) -> Parsed<()> {
        if name == FieldName::AddrSize && self.slot(name).known != 0 {
            return Ok(());
        }
        self.cursor.blanks();
        let names = enumeration(self.def, name);
        if self.cursor.eat_text("<<") {
            // A value without a name, as printers show it.
            let start = self.cursor.at;
            let rest = self.cursor.rest();
            let len = rest.iter().take_while(|c| c.is_ascii_hexdigit()).count();
            let digits = rest.get(..len).and_then(|d| core::str::from_utf8(d).ok());
            let number = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
            self.cursor.at += len;
            if let Some(number) = number
                && self.cursor.eat_text("?>>")
            {
                let span = Span::between(start, start + len);
                return self.set_number(name, number.into(), span);
            }
            return Err(self.cursor.unexpected("`?>>`"));
        }
        let Some((code, len)) = self.longest(name, codes, self.cursor) else {
            let mut wanted = String::from("one of");
            for (_, text) in names.map_or(&[][..], |n| n.entries) {
                wanted.push(' ');
                wanted.push_str(text);
            }
            return Err(self.cursor.unexpected(&wanted));
        };
        if code != 0 {
            self.in_dialect(name, Span::between(self.cursor.at, self.cursor.at + len))?;
        }
        self.cursor.at += len;
        let mask = names.map_or(0xff, |n| n.mask);
        let bits = u32::from(code) << mask.trailing_zeros();
        self.set(name, mask.into(), bits);
        Ok(())
    }

    /// `.ca.uc`, `.ca.ca.uc`: one to three names; two are for the first and the last level.
    pub(super) fn caching(&mut self) -> Parsed<()> {
        const NAMED: [Part; 3] = [
            Part::Named(Part::CACHING[0]),
            Part::Named(Part::CACHING[1]),
            Part::Named(Part::CACHING[2]),
        ];
        let [first, second, third] = const { &NAMED };
        let mut count = 0;
        let mut ahead = *self.cursor;
        while count < 3 && ahead.eat(b'.') {
            match self.longest(FieldName::CacheL1, u64::MAX, &ahead) {
                Some((_, len)) => ahead.at += len,
                None if ahead.eat_text("<<") => {
                    let rest = ahead.rest();
                    ahead.at += rest.iter().take_while(|c| **c != b'>').count() + 2;
                }
                None => break,
            }
            count += 1;
        }
        let named = [first, third].into_iter().take(count);
        let all = [first, second, third].into_iter().take(count);
        let parts: &mut dyn Iterator<Item = &'static Part> = if count == 3 {
            &mut { all }
        } else {
            &mut { named }
        };
        for part in parts {
            self.cursor.at += 1;
            self.fixed(".");
            let start = self.cursor.at;
            let name = match part {
                Part::Named(name) => *name,
                _ => continue,
            };
            // The default is implied, also in versions without the level.
            let is_default = self.cursor.has("df");
            if !is_default {
                self.in_dialect(name, self.cursor.piece())?;
            }
            self.enumerated(name, u64::MAX)?;
            if self.scratch.record.is_some() {
                self.note(part, start);
            }
        }
        Ok(())
    }

    /// `S31`, `V32`, `(V32, 0x3)`, and `V32(0,0)<0;1,0>[0x3]`, as the compiler writes loads
    pub(super) fn state_of(
        &mut self,
        name: FieldName,
        state: FieldName,
        index: FieldName,
    ) -> Parsed<()> {
        self.cursor.blanks();
        let start = self.cursor.at;
        let kind = self.field(name).map(|(_, field)| field.kind);
        let (value, what) = if kind == Some(FieldKind::Sampler) {
            (Value::Sampler(SamplerId(0)), "a sampler")
        } else {
            (Value::Surface(SurfaceId(0)), "a surface")
        };
        let indexed = self.cursor.eat(b'(');
        let (word, symbol) = self.named(what)?;
        let what = if indexed {
            "a variable that holds a state"
        } else {
            what
        };
        let value = match (symbol, value) {
            (Symbol::Sampler(id), Value::Sampler(_)) if !indexed => Value::Sampler(id),
            (Symbol::Surface(id), Value::Surface(_)) if !indexed => Value::Surface(id),
            (Symbol::General(variable), unnamed) => {
                self.in_dialect(state, Span::between(start, self.cursor.at))?;
                let base = RawOperand {
                    variable,
                    offset: 0,
                };
                self.put_named(state, Value::Raw(base));
                if indexed {
                    self.cursor.need(b',', "`,` and an index")?;
                    let range = 0..=i64::from(u32::MAX);
                    let number = self.expression(Extent::Full, "an index", range)?;
                    self.set(index, u32::MAX, u32::try_from(number).unwrap_or(0));
                    self.cursor.need(b')', "`)`")?;
                } else if self.cursor.peek() == Some(b'(') {
                    self.state_element(word, index)?;
                }
                unnamed
            }
            (other, _) => return self.wrong_class(word, other, what),
        };
        self.put_named(name, value);
        Ok(())
    }

    /// The first element of a variable that holds a state, and the index in brackets.
    fn state_element(&mut self, word: Word<'t>, index: FieldName) -> Parsed<()> {
        let (row, column) = self.place()?;
        self.cursor.need(b'<', "a region")?;
        self.cursor.at -= 1;
        self.region(false)?;
        if (row, column) != (0, 0) {
            let span = Span::between(word.span.start, self.cursor.at);
            let message = "a state that does not begin its variable";
            let fault = Diagnostic::new(DiagnosticKind::OperandClass, span, message);
            return Err(fault.hint("declare an alias of the variable that begins there"));
        }
        self.cursor.need(b'[', "`[` and an index")?;
        let range = 0..=i64::from(u32::MAX);
        let number = self.expression(Extent::Full, "an index", range)?;
        self.set(index, u32::MAX, u32::try_from(number).unwrap_or(0));
        self.cursor.need(b']', "`]`")
    }

    /// Letters of channels, in their order.
    pub(super) fn channels(&mut self, letters: &str) -> Parsed<u32> {
        self.cursor.blanks();
        let mut mask = 0;
        for (bit, letter) in letters.bytes().enumerate() {
            let found = self.cursor.peek();
            if found.is_some_and(|c| c.eq_ignore_ascii_case(&letter)) {
                mask |= 1 << bit;
                self.cursor.at += 1;
            }
        }
        if self.cursor.peek().is_some_and(is_word) {
            let wanted = alloc::format!("channels of {letters}, in this order");
            return Err(self.cursor.unexpected(&wanted));
        }
        Ok(mask)
    }

    pub(super) fn flags(&mut self, name: FieldName, flags: &[(u8, &str)]) -> Parsed<()> {
        loop {
            let standing = flags.iter().filter(|(_, text)| self.cursor.has(text));
            let Some((bit, text)) = standing.max_by_key(|(_, text)| text.len()) else {
                break;
            };
            self.in_dialect(
                name,
                Span::between(self.cursor.at, self.cursor.at + text.len()),
            )?;
            self.cursor.at += text.len();
            self.set(name, 1 << bit, 1 << bit);
        }
        let all = flags.iter().fold(0u32, |all, (bit, _)| all | 1 << bit);
        let bits = self.slot(name).bits;
        self.set(name, all, bits);
        Ok(())
    }

    /// `+0x10`, `-16`
    pub(super) fn signed(&mut self, name: FieldName) -> Parsed<()> {
        self.cursor.blanks();
        let start = self.cursor.at;
        let negative = self.cursor.peek() == Some(b'-');
        if !negative && self.cursor.peek() != Some(b'+') {
            return Ok(());
        }
        self.cursor.at += 1;
        let extent = if negative {
            Extent::Primary
        } else {
            Extent::NoComparison
        };
        let range = i64::from(i32::MIN)..=i64::from(i32::MAX) + 1;
        let value = self.expression(extent, "an offset", range)?;
        let value = if negative { -value } else { value };
        let span = Span::between(start, self.cursor.at);
        self.in_dialect(name, span)?;
        match i32::try_from(value) {
            Ok(value) => {
                self.set(name, u32::MAX, value.cast_unsigned());
                Ok(())
            }
            Err(_) => {
                let message = alloc::format!("{value} does not fit into 32 bits");
                Err(Diagnostic::new(
                    DiagnosticKind::ImmediateRange,
                    span,
                    message,
                ))
            }
        }
    }

    pub(super) fn min_max_mode(&mut self, name: FieldName) -> Parsed<()> {
        self.cursor.blanks();
        let Some((index, field)) = self.present(name) else {
            return Ok(());
        };
        let Some(mode) = operand::MIN_MAX_WORDS
            .iter()
            .position(|w| self.cursor.has(w))
        else {
            return self.operand(index, field);
        };
        self.cursor.at += operand::MIN_MAX_WORDS.get(mode).map_or(0, |w| w.len());
        if field.kind == FieldKind::U8 {
            self.set(name, 0xff, u32::try_from(mode).unwrap_or(0));
        } else {
            let operand = operand::min_max_mode(u64::try_from(mode).unwrap_or(0));
            self.put(index, Value::Vector(operand.into()));
        }
        Ok(())
    }

    /// `.s8.u8.8.8`
    pub(super) fn precision(&mut self, name: FieldName) -> Parsed<()> {
        let mut bytes = [0; 4];
        let [weights, activations, counts @ ..] = &mut bytes;
        for byte in [weights, activations] {
            self.cursor.need(b'.', "`.` and a precision")?;
            let names = enums::PRECISION.entries.iter();
            let standing = names.filter(|(_, text)| self.cursor.has(text));
            let Some((code, text)) = standing.max_by_key(|(_, text)| text.len()) else {
                return Err(self.cursor.unexpected("a precision such as `s8` or `bf`"));
            };
            self.cursor.at += text.len();
            *byte = *code;
        }
        for byte in counts {
            self.cursor.need(b'.', "`.` and a count from 1 to 8")?;
            let (number, span) = self.number()?;
            let count = u8::try_from(number).ok();
            let Some(number) = count.filter(|n| operand::SYSTOLIC_COUNTS.contains(n)) else {
                let message = alloc::format!("{number} is not a depth or repeat count");
                let fault = Diagnostic::new(DiagnosticKind::ImmediateRange, span, message);
                return Err(fault.expected("a number from 1 to 8"));
            };
            *byte = number;
        }
        self.set(name, u32::MAX, u32::from_le_bytes(bytes));
        Ok(())
    }

    pub(super) fn lifetime(&mut self, name: FieldName) -> Parsed<()> {
        let (word, symbol) = self.named("a variable")?;
        let (class, id) = match symbol {
            Symbol::General(VarId(id)) => (0, id),
            Symbol::Address(id) => (1, id.0.into()),
            Symbol::Predicate(id) => (2, id.0.into()),
            Symbol::Sampler(_) | Symbol::Surface(_) => {
                let message = alloc::format!("{} has no lifetime", symbol.what());
                let kind = DiagnosticKind::OperandClass;
                let fault = Diagnostic::new(kind, word.span, message);
                return Err(fault.expected("a general, address or predicate variable"));
            }
        };
        self.set(FieldName::Properties, 0xfe, class << 4);
        self.put_named(name, Value::Lifetime(VarId(id)));
        Ok(())
    }

    /// Parts that name labels.
    pub(super) fn label(&mut self, part: &'static Part) -> Parsed<()> {
        match *part {
            Part::CallMnemonic(_) => {
                let fast = self.cursor.eat_text("fccall");
                if !fast && !self.cursor.eat_text("call") {
                    return Err(self.cursor.unexpected("`call`"));
                }
                self.fixed(if fast { "fccall" } else { "call" });
                // Kept for the label, whose kind it decides.
                self.saturate = fast;
                Ok(())
            }
            Part::Target(name) | Part::BareTarget(name) | Part::CallTarget(name) => {
                let (text, span) = self.label_name()?;
                let kind = match part {
                    Part::CallTarget(_) if self.saturate => LabelKind::FAST_COMPOSITE,
                    Part::CallTarget(_) => LabelKind::SUBROUTINE,
                    _ => LabelKind::BLOCK,
                };
                let known = match part {
                    Part::Target(_) => self.draft.subroutine(&text),
                    _ => None,
                };
                let id = match known {
                    Some(id) => id,
                    None => self.draft.label(text, kind, span)?,
                };
                self.put_named(name, Value::Label(id));
                Ok(())
            }
            Part::Targets(_) => loop {
                while self.cursor.eat(b',') {}
                self.cursor.blanks();
                if matches!(self.cursor.peek(), None | Some(b')' | b'\n')) {
                    return Ok(());
                }
                let (text, span) = self.label_name()?;
                let id = self.draft.label(text, LabelKind::BLOCK, span)?;
                self.scratch.fields.list.push(Value::Label(id));
                most(self.scratch.fields.list.len(), 0xff, "labels", span)?;
            },
            _ => Ok(()),
        }
    }

    pub(super) fn label_name(&mut self) -> Parsed<(Cow<'t, [u8]>, Span)> {
        if let Some(found) = self.cursor.pooled()? {
            return Ok(found);
        }
        match self.cursor.label() {
            Some(word) => Ok((Cow::Borrowed(word.name), word.span)),
            None => Err(self.cursor.unexpected("the name of a label")),
        }
    }
}

/// Whether a size is written here, its `d` and `c` possibly spelled `u`.
fn stands_as_size(at: &Cursor<'_>, text: &str) -> bool {
    let found = at.text.get(at.at..at.at + text.len());
    found.is_some_and(|found| {
        found.iter().zip(text.bytes()).all(|(found, wanted)| {
            found.eq_ignore_ascii_case(&wanted)
                || matches!(found, b'u' | b'U') && matches!(wanted, b'd' | b'c')
        })
    })
}

/// `M1`, `M5_NM`, `NoMask`
fn mask_named(name: &[u8]) -> Option<ExecMask> {
    if name.eq_ignore_ascii_case(b"NoMask") {
        return Some(ExecMask {
            first_lane: 0,
            no_mask: true,
        });
    }
    let (number, rest) = match name {
        [b'M' | b'm', number @ b'1'..=b'8', rest @ ..] => (number - b'1', rest),
        _ => return None,
    };
    let no_mask = rest.eq_ignore_ascii_case(b"_NM");
    (no_mask || rest.is_empty()).then_some(ExecMask {
        first_lane: number * 4,
        no_mask,
    })
}
