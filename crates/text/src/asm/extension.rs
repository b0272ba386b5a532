//! Statements that Intel's language lacks, for what it cannot express.

use super::diagnostic::{Diagnostic, DiagnosticKind, Fault, Parsed, Span};
use super::directive::not_one;
use super::{Assembler, Last};
use crate::language::numbers;
use crate::lexer::{is_word, shown};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use visakit_isa::object::{LabelKind, RawItem};
use visakit_isa::table::{FieldDef, FieldKind, rows};
use visakit_isa::{Field, Instruction, LabelId, StringId, Value, enums};

impl<'t> Assembler<'t> {
    /// `.label NAME kind=block unplaced attrs={…}`: a label, before it is used.
    pub(super) fn label_declaration(&mut self, at: Span) -> Parsed<()> {
        self.draft(at)?;
        let Some(name) = self.cursor.label() else {
            return Err(self.cursor.unexpected("the name of a label"));
        };
        let (mut kind, mut unplaced) = (LabelKind::BLOCK, false);
        let mut attributes = Vec::new();
        while !self.cursor.ends() {
            let key = self.word("`kind=`, `unplaced` or `attrs=`")?;
            match key.name {
                b"unplaced" => unplaced = true,
                b"kind" => {
                    self.cursor.need(b'=', "`=`")?;
                    kind = self.label_kind()?;
                }
                b"attrs" => {
                    self.cursor.need(b'=', "`=`")?;
                    self.attributes(&mut attributes)?;
                }
                _ => {
                    return Err(not_one(
                        key,
                        "no property of a label",
                        "kind, unplaced or attrs",
                    ));
                }
            }
        }
        let names = core::mem::take(&mut self.pending);
        let draft = self.draft(at)?;
        let id = draft.declare_label(name.name.into(), kind, unplaced, name.span)?;
        for attribute in &mut attributes {
            let text = names.get(attribute.name.0 as usize).cloned();
            attribute.name = draft.string(text.unwrap_or_default());
        }
        if let Some(label) = draft.body.labels.get_mut(usize::from(id.0)) {
            label.attributes = attributes;
        }
        self.last = Last::Label;
        Ok(())
    }

    fn label_kind(&mut self) -> Parsed<LabelKind> {
        if let Some(word) = self.cursor.word() {
            let named = core::str::from_utf8(word.name).ok();
            let code = named.and_then(|name| enums::LABEL_KIND.code_named(name));
            let wanted = "block, subroutine, fast_composite or a number";
            return code
                .map(LabelKind)
                .ok_or_else(|| not_one(word, "no kind of label", wanted));
        }
        let number = self.number("a kind of label", 0..=255)?;
        Ok(LabelKind(u8::try_from(number).unwrap_or(0)))
    }

    /// `.bytes 60 04 03 00`: raw bytes of the instruction area.
    pub(super) fn undecoded(&mut self, at: Span) -> Parsed<()> {
        self.draft(at)?;
        let mut bytes = Vec::new();
        while !self.cursor.ends() {
            let pair = self.cursor.rest().get(..2).unwrap_or_default();
            let digits = core::str::from_utf8(pair).ok();
            let byte = digits.filter(|d| d.bytes().all(|c| c.is_ascii_hexdigit()));
            let Some(byte) = byte.and_then(|d| u8::from_str_radix(d, 16).ok()) else {
                return Err(self.cursor.unexpected("two hexadecimal digits"));
            };
            self.cursor.at += 2;
            bytes.push(byte);
        }
        let raw = RawItem {
            bytes: Cow::Owned(bytes),
            reason: "the text gives them as bytes".into(),
        };
        self.draft(at)?.body.code.push(raw.into());
        self.last = Last::Item;
        Ok(())
    }

    /// `.op MOV exec_size=0x4 pred=0x0 dst.tag=0x0 …`: an instruction number by number.
    pub(super) fn numbers(&mut self, at: Span) -> Parsed<()> {
        let format = self.draft(at)?.format;
        let word = self.word("the name of an instruction, such as MOV")?;
        let name = word.name;
        let mut named = rows().filter(|def| def.name.as_bytes().eq_ignore_ascii_case(name));
        let Some(def) = named.find(|def| def.exists_in(format)) else {
            let name = shown(name);
            let message = alloc::format!("this version has no instruction of the name `{name}`");
            return Err(Diagnostic::new(
                DiagnosticKind::UnknownOpcode,
                word.span,
                message,
            ));
        };
        let mut built = Instruction::new(def.op);
        let mut key = 0;
        for field in def.fields {
            let present =
                field.when.holds(format) && field.only_if.is_none_or(|test| test.holds(key));
            if !present || field.kind == FieldKind::Count {
                continue;
            }
            loop {
                if field.kind.is_list() && !self.stands(field) {
                    break;
                }
                let value = self.stated_value(field)?;
                if field.is_key {
                    key = value.key();
                }
                built.fields.push(Field {
                    name: field.name,
                    value,
                });
                if !field.kind.is_list() {
                    break;
                }
            }
        }
        if !self.cursor.ends() {
            return Err(super::instruction::trailing(&self.cursor, ".op"));
        }
        self.draft(at)?.body.code.push(built.into());
        self.last = Last::Item;
        Ok(())
    }

    /// Whether the number of this field is given here.
    fn stands(&mut self, field: &FieldDef) -> bool {
        self.cursor.blanks();
        let name = field.name.as_str();
        let next = self.cursor.peek_at(name.len());
        self.cursor.has(name) && !next.is_some_and(is_word)
    }

    fn stated_value(&mut self, field: &FieldDef) -> Parsed<Value> {
        let format = self.object.format();
        let label = matches!(field.kind, FieldKind::Label | FieldKind::Labels);
        let string = matches!(
            field.kind,
            FieldKind::StringIndex | FieldKind::StringIndex16
        );
        if label || string {
            self.key(field.name.as_str(), "")?;
            self.cursor.blanks();
            let span = self.cursor.piece();
            let Some(draft) = self.draft.as_mut() else {
                return Err(super::outside(span));
            };
            if string && let Some((text, _)) = self.cursor.pooled()? {
                return Ok(Value::String(draft.string(text)));
            }
            if label
                && !self.cursor.peek().is_some_and(|c| c.is_ascii_digit())
                && let Some(word) = self.cursor.label()
            {
                let id = draft.label(word.name.into(), LabelKind::BLOCK, word.span)?;
                return Ok(Value::Label(id));
            }
            let number = self.number("a number", 0..=0xffff_ffff)?;
            let number = u32::try_from(number).unwrap_or(0);
            return Ok(match (label, self.draft.as_mut()) {
                (false, Some(draft)) => Value::String(StringId(draft.kept_index(number))),
                (false, None) => Value::String(StringId(number)),
                (true, _) => Value::Label(LabelId(u16::try_from(number).unwrap_or(u16::MAX))),
            });
        }
        let mut fault: Option<Fault> = None;
        let value = numbers::value(field.kind, format, |name, width| {
            let bits = 8 * u32::from(width.bytes(format));
            let most = u32::MAX.checked_shr(32 - bits.clamp(1, 32)).unwrap_or(0);
            let signed = width == visakit_isa::wire::Width::I16;
            match self.stated_number(field.name.as_str(), numbers::part(field.kind, name)) {
                Ok((number, span)) => {
                    if number > most && !signed {
                        let message = alloc::format!("{number} does not fit into {bits} bits");
                        fault = Some(Diagnostic::new(
                            DiagnosticKind::ImmediateRange,
                            span,
                            message,
                        ));
                        return None;
                    }
                    Some(number)
                }
                Err(found) => {
                    fault = Some(found);
                    None
                }
            }
        });
        match (value, fault) {
            (_, Some(fault)) => Err(fault),
            (Some(value), None) => Ok(value),
            (None, None) => {
                let span = self.cursor.piece();
                let message = alloc::format!("{} has no such layout", field.name);
                Err(Diagnostic::new(DiagnosticKind::OperandClass, span, message))
            }
        }
    }

    /// `dst.region=`
    fn key(&mut self, field: &str, part: &str) -> Parsed<()> {
        self.cursor.blanks();
        let mut whole = alloc::string::String::from(field);
        if !part.is_empty() {
            whole.push('.');
            whole.push_str(part);
        }
        whole.push('=');
        if self.cursor.has(&whole) {
            self.cursor.at += whole.len();
            return Ok(());
        }
        Err(self.cursor.unexpected(&alloc::format!("`{whole}`")))
    }

    fn stated_number(&mut self, field: &str, part: &str) -> Parsed<(u32, Span)> {
        self.key(field, part)?;
        self.cursor.blanks();
        let start = self.cursor.at;
        let number = self.number("a number", 0..=0xffff_ffff)?;
        let span = Span::between(start, self.cursor.at);
        Ok((u32::try_from(number).unwrap_or(0), span))
    }
}
