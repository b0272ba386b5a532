//! Instructions, parsed according to the same description that they are printed by.

use super::diagnostic::{Diagnostic, DiagnosticKind, Fault, Parsed, Span};
use super::directive::most;
use super::fragment::Operand;
use super::pieces::Record;
use super::routine::Draft;
use crate::language::fields::{Fields, Slot, choice_texts};
use crate::language::index::Entry;
use crate::language::operand::Paired;
use crate::lexer::Cursor;
use alloc::string::String;
use visakit_isa::table::{FieldDef, FieldKind, FieldName, InstructionDef, Part};
use visakit_isa::{Dialect, Features, Instruction, Predicate, Value, enums};

/// Buffers reused from line to line.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) fields: Fields,
    /// What the statements consist of, if the caller wants it.
    pub(super) record: Option<Record>,
}

/// A line that is being parsed.
#[derive(Debug)]
pub(super) struct LineParser<'p, 't> {
    pub(super) cursor: &'p mut Cursor<'t>,
    pub(super) draft: &'p mut Draft<'t>,
    pub(super) def: &'static InstructionDef,
    pub(super) saturate: bool,
    pub(super) scratch: &'p mut Scratch,
    predicate: Option<(Predicate, Span)>,
}

/// Parses an instruction in one of its forms, after its predicate.
pub(super) fn parse<'t>(
    cursor: &mut Cursor<'t>,
    draft: &mut Draft<'t>,
    scratch: &mut Scratch,
    entry: &Entry,
    predicate: Option<(Predicate, Span)>,
) -> Parsed<Instruction> {
    let def = entry.def;
    scratch.fields.begin(def, draft.format);
    if let Some(record) = scratch.record.as_mut() {
        record.pieces.truncate(record.done);
        record.fields.clear();
    }
    let mut line = LineParser {
        cursor,
        draft,
        def,
        saturate: false,
        scratch,
        predicate,
    };
    if let Some((_, span)) = predicate {
        line.in_dialect(FieldName::Pred, span)?;
    }
    let unpredicated = !entry.parts.iter().any(|p| matches!(p, Part::Predicate))
        || line.present(FieldName::Pred).is_none();
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
    Ok(line.scratch.fields.instruction())
}

impl<'t> LineParser<'_, 't> {
    pub(super) fn parts(&mut self, parts: &'static [Part]) -> Parsed<()> {
        for part in parts {
            let start = self.cursor.at;
            self.part(part)?;
            if self.scratch.record.is_some() {
                self.note(part, start);
            }
        }
        Ok(())
    }

    pub(super) fn field(&self, name: FieldName) -> Option<(usize, &'static FieldDef)> {
        self.scratch.fields.field(name)
    }

    /// The field, if the instruction has it in this format.
    pub(super) fn present(&self, name: FieldName) -> Option<(usize, &'static FieldDef)> {
        self.scratch.fields.present(name)
    }

    /// Whether the instruction has the field in this format.
    #[inline]
    pub(super) fn has(&self, field: &FieldDef) -> bool {
        self.scratch.fields.has(field)
    }

    /// An error if only other dialects of the instruction have the field.
    pub(super) fn in_dialect(&self, name: FieldName, span: Span) -> Parsed<()> {
        match self.field(name) {
            Some((_, field)) if !self.has(field) => self.lacking(field, span),
            _ => Ok(()),
        }
    }

    #[cold]
    fn lacking(&self, field: &FieldDef, span: Span) -> Parsed<()> {
        let needed = field.when.required() & (Features::UNMARKED | Features::SINCE_4_2);
        if needed.is_empty() || self.draft.format.features().contains(needed) {
            return Ok(());
        }
        let (name, mnemonic) = (field.name, self.def.mnemonic());
        if needed.contains(Features::SINCE_4_2) {
            let version = self.draft.format.version();
            let message = alloc::format!("version {version} has no {name} in `{mnemonic}`");
            return Err(Diagnostic::new(DiagnosticKind::NotInVersion, span, message)
                .hint(super::dialect::TEXT_ONLY)
                .needs(needed));
        }
        let message = alloc::format!("this dialect has no {name} in `{mnemonic}`");
        let fault = Diagnostic::new(DiagnosticKind::NotInDialect, span, message);
        let mut hint = String::from("dialects that have it:");
        let having = |d: &Dialect| d.features().contains(needed);
        for dialect in Dialect::ALL.into_iter().filter(having) {
            hint.push(' ');
            hint.push_str(dialect.name());
        }
        Err(fault.hint(hint).needs(needed))
    }

    pub(super) fn slot(&self, name: FieldName) -> Slot {
        self.scratch.fields.slot(name)
    }

    #[inline]
    pub(super) fn put(&mut self, index: usize, value: Value) {
        self.scratch.fields.put(index, value);
    }

    pub(super) fn put_named(&mut self, name: FieldName, value: Value) {
        self.scratch.fields.put_named(name, value);
    }

    /// Sets some bits of a number.
    pub(super) fn set(&mut self, name: FieldName, mask: u32, bits: u32) {
        self.scratch.fields.set(name, mask, bits);
    }

    pub(super) fn part(&mut self, part: &'static Part) -> Parsed<()> {
        match *part {
            Part::Text(text) => {
                if self.cursor.eat_text(text) {
                    self.fixed(text);
                } else if self.sizeless(text) {
                    self.fixed("]");
                } else {
                    let wanted = alloc::format!("`{}`", text.trim_matches(' '));
                    return Err(self.cursor.unexpected(&wanted));
                }
                Ok(())
            }
            Part::Mnemonic => self.mnemonic(),
            Part::Predicate => {
                let predicate = self.predicate.map_or(Predicate::NONE, |(p, _)| p);
                self.put_named(FieldName::Pred, Value::Predicate(predicate));
                if let Some((_, span)) = self.predicate {
                    self.predicated(span);
                }
                Ok(())
            }
            Part::Saturation => {
                let start = self.cursor.at;
                self.saturate = self.cursor.eat_text(".sat");
                if self.saturate {
                    self.saturates(Span::between(start, self.cursor.at))?;
                    self.fixed(".sat");
                }
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
                None if name == FieldName::PairedSurface => self.unpaired(),
                None => Ok(()),
            },
            Part::If(test, parts) => self.conditional(test, parts),
            Part::MayOmit(parts) | Part::InputOnly(parts) => {
                if self.begins(parts) {
                    self.parts(parts)?;
                }
                Ok(())
            }
            Part::NotIntel(parts) => self.parts(parts),
            Part::Choice(choice) => {
                let mut best: Option<(u32, Cursor<'_>, &'static str)> = None;
                for (value, text) in choice_texts(choice) {
                    let mut ahead = *self.cursor;
                    if ahead.eat_text(text) && best.is_none_or(|(_, b, _)| ahead.at > b.at) {
                        best = Some((value, ahead, text));
                    }
                }
                let Some((value, ahead, text)) = best else {
                    let mut wanted = alloc::string::String::new();
                    for (i, (_, text)) in choice.cases.iter().enumerate() {
                        wanted.push_str(if i == 0 { "`" } else { " or `" });
                        wanted.push_str(text.trim_matches(' '));
                        wanted.push('`');
                    }
                    return Err(self.cursor.unexpected(&wanted));
                };
                if !text.is_empty() {
                    self.in_dialect(choice.field, Span::between(self.cursor.at, ahead.at))?;
                }
                *self.cursor = ahead;
                self.fixed(text);
                self.set(choice.field, choice.mask.into(), value);
                Ok(())
            }
            _ => self.rare(part),
        }
    }

    /// Saturation is a bit of the destination: without one `.sat` would be lost.
    fn saturates(&self, span: Span) -> Parsed<()> {
        if self.scratch.fields.can_saturate() {
            return Ok(());
        }
        let message = alloc::format!(
            "`{}` has no destination that saturates",
            self.def.mnemonic()
        );
        let fault = Diagnostic::new(DiagnosticKind::Syntax, span, message);
        Err(fault.expected("the instruction without `.sat`"))
    }

    /// The place of a paired surface in a dialect without them: texts that can name one say here
    /// that there is none. A null parameter, which could mean something else, cannot be encoded.
    fn unpaired(&mut self) -> Parsed<()> {
        if self.draft.paired == Paired::Never {
            return Ok(());
        }
        let before = *self.cursor;
        if let Some(word) = self.cursor.word()
            && word.name == b"%null"
            && self.cursor.eat_text(".0")
        {
            self.listed(FieldName::PairedSurface, word.span.start);
            return Ok(());
        }
        *self.cursor = before;
        if self.draft.paired == Paired::Perhaps || self.cursor.ends() {
            return Ok(());
        }
        self.in_dialect(FieldName::PairedSurface, self.cursor.piece())
    }

    /// `flat[%null]`: without an address it has no size.
    fn sizeless(&mut self, text: &str) -> bool {
        let address = self.slot(FieldName::Src0Addrs).value;
        let none = matches!(address, Some(Value::Raw(operand)) if operand.is_null());
        if text != "]:" || !none || !self.cursor.eat(b']') {
            return false;
        }
        let size = enums::lsc_addr_size::A32U.into();
        self.set(FieldName::AddrSize, 0xff, size);
        true
    }

    pub(super) fn mnemonic(&mut self) -> Parsed<()> {
        self.cursor.blanks();
        let names = self.def.mnemonics.iter().filter(|m| self.cursor.has(m));
        match names.max_by_key(|m| m.len()) {
            Some(name) => {
                self.cursor.at += name.len();
                self.fixed(name);
                Ok(())
            }
            None => Err(self.cursor.unexpected(self.def.mnemonic())),
        }
    }

    #[inline]
    pub(super) fn operand(&mut self, index: usize, field: &'static FieldDef) -> Parsed<()> {
        let start = self.cursor.at;
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
                    let start = self.cursor.at;
                    let raw = self.raw(false)?;
                    self.scratch.fields.list.push(Value::Raw(raw));
                    let span = Span::between(start, self.cursor.at);
                    most(self.scratch.fields.list.len(), 0xff, "parameters", span)?;
                    self.listed(field.name, start);
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.listed(field.name, start);
        self.put(index, value);
        Ok(())
    }

    /// The number of operands the instruction takes, and the position of the one at `index` among
    /// them.
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
        let operands = self.def.fields.iter();
        let mut operands =
            operands.filter(|f| matches!(f.kind, FieldKind::Vector | FieldKind::Raw));
        let span = self.cursor.piece();
        if let Some(Err(fault)) = operands
            .find(|f| !self.has(f))
            .map(|f| self.lacking(f, span))
        {
            return fault;
        }
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

/// `P1)`, `!P1.any)`, after the parenthesis that begins a predicate.
pub(super) fn predicate<'t>(
    cursor: &mut Cursor<'t>,
    draft: &mut Draft<'t>,
    scratch: &mut Scratch,
) -> Parsed<Predicate> {
    let mut line = LineParser {
        cursor,
        draft,
        def: visakit_isa::Op::MOV.def(),
        saturate: false,
        scratch,
        predicate: None,
    };
    line.predicate()
}

/// A standalone vector or raw operand, parsed as this field of an instruction.
pub(super) fn operand_of<'t>(
    cursor: &mut Cursor<'t>,
    draft: &mut Draft<'t>,
    op: visakit_isa::Op,
    name: FieldName,
) -> Parsed<Operand> {
    let mut scratch = Scratch::default();
    let mut line = LineParser {
        cursor,
        draft,
        def: op.def(),
        saturate: false,
        scratch: &mut scratch,
        predicate: None,
    };
    let start = line.cursor.at;
    let raw = line.cursor.word().is_some() && line.cursor.eat(b'.');
    line.cursor.at = start;
    if raw {
        return line.raw(false).map(Operand::Raw);
    }
    match line.field(name) {
        Some((_, field)) => line.vector_of_any_class(field).map(Operand::Vector),
        None => Err(line.cursor.unexpected("an operand")),
    }
}
