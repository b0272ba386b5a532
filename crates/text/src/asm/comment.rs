//! Directives in comments: `//@ …` on a line of its own says what the object has besides its text,
//! `//@ …` behind a line changes numbers of what the line made.
//!
//! A change names the number that the line makes and the one that is wanted, so that it cannot
//! silently undo an edit of its line: where the line makes another number by now, it is a fault.

use super::cursor::shown;
use super::diagnostic::{Diagnostic, DiagnosticKind, Fault, Parsed, Span};
use super::{Assembler, Blob, Last};
use crate::wire::{FieldNumbers, Key, Numbers, Slot};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use data_encoding::BASE64;
use visakit_isa::object::{
    Arrangement, Body, Content, Item, Linkage, NativeBinary, NativeCode, NativePlatform, Piece,
    RawItem, Relocation, RoutineId, RoutineKind,
};
use visakit_isa::wire::Derived;
use visakit_isa::{Dialect, Field, Format, enums};

/// Numbers that follow from the rest of an object, and that damaged ones state otherwise.
pub(crate) const DERIVED: [(&str, Derived); 5] = [
    ("routine_offset", Derived::RoutineOffset),
    ("routine_size", Derived::RoutineSize),
    ("input_offset", Derived::InputOffset),
    ("code_size", Derived::CodeSize),
    ("code_entry", Derived::CodeEntry),
];

/// A change of a number.
#[derive(Debug)]
struct Change<'t> {
    key: &'t [u8],
    how: How<'t>,
    span: Span,
}

#[derive(Debug)]
enum How<'t> {
    /// `+0x90-0x1`: bits that the line leaves clear are set, others that it sets are cleared.
    Bits { set: u32, clear: u32 },
    /// `=5>6`
    Whole { from: u32, to: u32 },
    /// `="name">6`: the index of another string.
    Name { from: Cow<'t, [u8]>, to: u32 },
    /// `=x01000000>x02`
    Bytes { from: Vec<u8>, to: Vec<u8> },
    /// `/1`: the number in fewer bytes.
    Shorter { len: usize },
}

/// What became of a change.
enum Outcome {
    /// There is no such number.
    Unknown,
    /// The number is there, and the change is of another kind.
    WrongKind,
    /// The line makes something else.
    Stale(String),
    Done,
}

#[cold]
fn fault(span: Span, message: impl Into<String>) -> Fault {
    Diagnostic::new(DiagnosticKind::Directive, span, message)
}

impl<'t> Assembler<'t, '_> {
    /// A directive behind a line.
    pub(super) fn trailing_directive(&mut self) {
        if let Err(found) = self.changes() {
            self.fault(found);
        }
        self.cursor.skip_line();
    }

    fn changes(&mut self) -> Parsed<()> {
        let Some(start) = self.cursor.directive.take() else {
            return Ok(());
        };
        let end = self.cursor.at;
        self.cursor.at = start + "//@".len();
        while !self.cursor.ends() {
            let change = self.change()?;
            self.apply(&change)?;
        }
        self.cursor.at = end;
        Ok(())
    }

    fn change(&mut self) -> Parsed<Change<'t>> {
        self.cursor.blanks();
        let start = self.cursor.at;
        let rest = self.cursor.rest();
        let part = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'[' | b']');
        let len = rest.iter().take_while(|c| part(c)).count();
        let key = rest.get(..len).unwrap_or_default();
        self.cursor.at += len;
        let how = match self.cursor.peek() {
            _ if key.is_empty() => None,
            Some(sign @ (b'+' | b'-')) => {
                let mut bits = (0, 0);
                if sign == b'+' {
                    self.cursor.at += 1;
                    bits.0 = self.word32()?;
                }
                if self.cursor.peek() == Some(b'-') {
                    self.cursor.at += 1;
                    bits.1 = self.word32()?;
                }
                let (set, clear) = bits;
                Some(How::Bits { set, clear })
            }
            Some(b'/') => {
                self.cursor.at += 1;
                let len = usize::try_from(self.word32()?).unwrap_or(0);
                Some(How::Shorter { len })
            }
            Some(b'=') => {
                self.cursor.at += 1;
                Some(self.from_to()?)
            }
            _ => None,
        };
        let Some(how) = how else {
            let wanted = "changes such as `dst.region+0x32` or `label=5>6`";
            return Err(self.cursor.unexpected(wanted));
        };
        let span = Span::between(start, self.cursor.at);
        Ok(Change { key, how, span })
    }

    fn from_to(&mut self) -> Parsed<How<'t>> {
        if let Some((from, _)) = self.cursor.string()? {
            self.cursor.need(b'>', "`>` and the number of a string")?;
            let to = self.word32()?;
            return Ok(How::Name { from, to });
        }
        if self.cursor.peek() == Some(b'x') {
            let from = self.hexadecimal()?;
            self.cursor.need(b'>', "`>` and bytes")?;
            let to = self.hexadecimal()?;
            return Ok(How::Bytes { from, to });
        }
        let from = self.word32()?;
        self.cursor.need(b'>', "`>` and a number")?;
        let to = self.word32()?;
        Ok(How::Whole { from, to })
    }

    /// `x0102ff`
    fn hexadecimal(&mut self) -> Parsed<Vec<u8>> {
        self.cursor.need(b'x', "`x` and hexadecimal digits")?;
        let rest = self.cursor.rest();
        let len = rest.iter().take_while(|c| c.is_ascii_hexdigit()).count();
        let digits = rest.get(..len).unwrap_or_default();
        let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(digits);
        let Ok(bytes) = bytes else {
            return Err(self.cursor.unexpected("pairs of hexadecimal digits"));
        };
        self.cursor.at += len;
        Ok(bytes)
    }

    fn word32(&mut self) -> Parsed<u32> {
        self.cursor.blanks();
        let start = self.cursor.at;
        let Some(number) = self.cursor.number()? else {
            return Err(self.cursor.unexpected("a number"));
        };
        u32::try_from(number).map_err(|_| {
            let span = Span::between(start, self.cursor.at);
            fault(span, alloc::format!("{number} has more than 32 bits"))
        })
    }

    fn apply(&mut self, change: &Change<'t>) -> Parsed<()> {
        let format = self.object.format();
        let last = self.last;
        let Some(draft) = self.draft.as_mut() else {
            return Err(fault(
                change.span,
                "no line of a routine stands before this",
            ));
        };
        let Body {
            strings,
            variables,
            addresses,
            predicates,
            samplers,
            surfaces,
            labels,
            attributes,
            code,
            ..
        } = &mut draft.body;
        let record: Option<&mut dyn Numbers<'t>> = match last {
            Last::None => None,
            Last::Variable => variables.last_mut().map(|r| r as _),
            Last::Address => addresses.last_mut().map(|r| r as _),
            Last::Predicate => predicates.last_mut().map(|r| r as _),
            Last::Sampler => samplers.last_mut().map(|r| r as _),
            Last::Surface => surfaces.last_mut().map(|r| r as _),
            Last::Label => labels.last_mut().map(|r| r as _),
            Last::Attribute => attributes.last_mut().map(|r| r as _),
            Last::Item => match code.last_mut() {
                Some(Item::Instruction(instruction)) => {
                    let def = instruction.def();
                    let mut fields = InstructionNumbers {
                        fields: &mut instruction.fields,
                        def,
                        format,
                    };
                    return finish(apply(&mut fields, strings, change), change);
                }
                _ => None,
            },
        };
        match record {
            Some(record) => finish(apply(record, strings, change), change),
            None => Err(fault(
                change.span,
                "the line before this has no numbers to change",
            )),
        }
    }

    /// A directive on a line of its own.
    pub(super) fn own_directive(&mut self) {
        let Some(start) = self.cursor.directive.take() else {
            return;
        };
        self.cursor.at = start + "//@".len();
        if let Err(found) = self.stated() {
            self.fault(found);
        }
        self.cursor.skip_line();
    }

    fn stated(&mut self) -> Parsed<()> {
        let Some(word) = self.cursor.word() else {
            return Err(self.cursor.unexpected("the name of a directive"));
        };
        match word.name {
            b"dialect" => self.dialect(word.span),
            b"grf_bytes" => {
                let bytes = self.word32()?;
                self.grf_bytes = bytes.max(1);
                Ok(())
            }
            b"no_routines" => {
                self.empty = true;
                Ok(())
            }
            b"arrangement" => self.arrangement(),
            b"place" => self.piece(word.span),
            b"data" => self.data(word.span),
            _ => self.of_routine(word.name, word.span),
        }?;
        if self.cursor.ends() {
            return Ok(());
        }
        Err(super::instruction::trailing(
            &self.cursor,
            &shown(word.name),
        ))
    }

    fn dialect(&mut self, span: Span) -> Parsed<()> {
        self.cursor.blanks();
        let rest = self.cursor.rest();
        let end = rest.iter().position(u8::is_ascii_whitespace);
        let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let mut known = Dialect::ALL.into_iter();
        let Some(dialect) = known.find(|d| d.name().as_bytes() == name) else {
            return Err(self.cursor.unexpected("the name of a dialect"));
        };
        self.cursor.at += name.len();
        if self.draft.is_some() {
            return Err(fault(
                span,
                "the dialect must stand before the first routine",
            ));
        }
        if self.options.dialect.is_none() {
            self.object.dialect = dialect;
        }
        Ok(())
    }

    fn arrangement(&mut self) -> Parsed<()> {
        let Some(word) = self.cursor.word() else {
            return Err(self.cursor.unexpected("interleaved, grouped or custom"));
        };
        self.object.arrangement = match word.name {
            b"interleaved" => Arrangement::Interleaved,
            b"grouped" => Arrangement::Grouped,
            b"custom" => Arrangement::Custom(Vec::new()),
            _ => {
                let message = alloc::format!("no arrangement is called `{}`", shown(word.name));
                let found = fault(word.span, message);
                return Err(found.expected("interleaved, grouped or custom"));
            }
        };
        self.arranged = true;
        Ok(())
    }

    /// `place kernel 0`, `place function 1`, `place binary 0 1`, `place filler`
    fn piece(&mut self, span: Span) -> Parsed<()> {
        let Some(word) = self.cursor.word() else {
            return Err(self.cursor.unexpected("kernel, function, binary or filler"));
        };
        let index = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        let piece = match word.name {
            b"kernel" => Piece::Routine(RoutineId::new(RoutineKind::Kernel, index(self.word32()?))),
            b"function" => {
                Piece::Routine(RoutineId::new(RoutineKind::Function, index(self.word32()?)))
            }
            b"binary" => Piece::Binary {
                kernel: index(self.word32()?),
                index: index(self.word32()?),
            },
            b"filler" => Piece::Filler(Cow::Borrowed(&[])),
            _ => {
                let message = alloc::format!("no piece is called `{}`", shown(word.name));
                let found = fault(word.span, message);
                return Err(found.expected("kernel, function, binary or filler"));
            }
        };
        self.blob = match piece {
            Piece::Filler(_) => Blob::Filler,
            _ => Blob::None,
        };
        let Arrangement::Custom(pieces) = &mut self.object.arrangement else {
            let found = fault(span, "there is no arrangement that this could belong to");
            return Err(found.expected("`//@ arrangement custom` before it"));
        };
        pieces.push(piece);
        Ok(())
    }

    /// `data BASE64`: bytes of what was named before.
    fn data(&mut self, span: Span) -> Parsed<()> {
        // Two slashes would be a comment elsewhere.
        while matches!(self.cursor.peek(), Some(b' ' | b'\t')) {
            self.cursor.at += 1;
        }
        let start = self.cursor.at;
        let rest = self.cursor.rest();
        let end = rest.iter().position(u8::is_ascii_whitespace);
        let digits = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.cursor.at += digits.len();
        let Ok(bytes) = BASE64.decode(digits) else {
            let span = Span::between(start, self.cursor.at);
            return Err(fault(span, "this is no base64"));
        };
        let shell = self.draft.as_mut().map(|d| &mut d.shell);
        let target = match (self.blob, shell, &mut self.object.arrangement) {
            (Blob::Native, Some(shell), _) => {
                match shell.binaries.last_mut().map(|b| &mut b.code) {
                    Some(NativeCode::Bytes(bytes)) => Some(bytes),
                    _ => None,
                }
            }
            (Blob::Raw, Some(shell), _) => match &mut shell.content {
                Content::Raw(raw) => Some(&mut raw.bytes),
                _ => None,
            },
            (Blob::Filler, _, Arrangement::Custom(pieces)) => match pieces.last_mut() {
                Some(Piece::Filler(bytes)) => Some(bytes),
                _ => None,
            },
            _ => None,
        };
        match target {
            Some(target) => {
                target.to_mut().extend_from_slice(&bytes);
                Ok(())
            }
            None => {
                let found = fault(span, "there is nothing that these bytes could belong to");
                Err(found.expected("`//@ native`, `//@ raw` or `//@ place filler` before them"))
            }
        }
    }

    /// What belongs to a routine.
    fn of_routine(&mut self, name: &[u8], span: Span) -> Parsed<()> {
        if self.draft.is_none() {
            return Err(super::outside(span));
        }
        match name {
            b"strings" => self.strings(span),
            b"routine" => {
                while !self.cursor.ends() {
                    let change = self.change()?;
                    self.change_routine(&change)?;
                }
                Ok(())
            }
            b"no_target" => {
                if let Some(draft) = self.draft.as_mut() {
                    draft.no_target = true;
                }
                Ok(())
            }
            b"variable_relocation" | b"function_relocation" => {
                let (symbolic, resolved) = (self.word16()?, self.word16()?);
                let relocation = Relocation { symbolic, resolved };
                if let Some(draft) = self.draft.as_mut() {
                    let shell = &mut draft.shell;
                    match name {
                        b"variable_relocation" => shell.variable_relocations.push(relocation),
                        _ => shell.function_relocations.push(relocation),
                    }
                }
                Ok(())
            }
            b"stored" => {
                let Some(word) = self.cursor.word() else {
                    return Err(self.cursor.unexpected("the name of a number"));
                };
                let known = DERIVED.iter().find(|(n, _)| n.as_bytes() == word.name);
                let Some((_, derived)) = known else {
                    let message = alloc::format!("no number is called `{}`", shown(word.name));
                    return Err(fault(word.span, message));
                };
                let number = self.word32()?;
                if let Some(draft) = self.draft.as_mut() {
                    draft.shell.stored.push((*derived, number));
                }
                Ok(())
            }
            b"native" => self.native(),
            b"raw" | b"missing" => {
                let raw = name == b"raw";
                let reason = String::from("the text gives it so");
                if let Some(draft) = self.draft.as_mut() {
                    draft.shell.content = if raw {
                        Content::Raw(RawItem {
                            bytes: Cow::Borrowed(&[]),
                            reason,
                        })
                    } else {
                        Content::Missing(reason)
                    };
                }
                self.blob = if raw { Blob::Raw } else { Blob::None };
                Ok(())
            }
            _ => {
                let message = alloc::format!("no directive is called `{}`", shown(name));
                Err(fault(span, message).hint("other comments begin with `//` or `///`"))
            }
        }
    }

    fn word16(&mut self) -> Parsed<u16> {
        let start = self.cursor.at;
        let number = self.word32()?;
        u16::try_from(number).map_err(|_| {
            let span = Span::between(start, self.cursor.at);
            fault(span, alloc::format!("{number} has more than 16 bits"))
        })
    }

    /// `native SKL`, with bytes on further lines; `native SKL 0x40 0` for one that is a place only.
    fn native(&mut self) -> Parsed<()> {
        let platform = if let Some(word) = self.cursor.word() {
            let named = core::str::from_utf8(word.name).ok();
            let code = named.and_then(|name| enums::NATIVE_PLATFORM.code_named(name));
            code.ok_or_else(|| {
                let name = shown(word.name);
                fault(word.span, alloc::format!("no platform is called `{name}`"))
            })?
        } else {
            u8::try_from(self.word16()?).unwrap_or(u8::MAX)
        };
        let code = if self.cursor.ends() {
            self.blob = Blob::Native;
            NativeCode::Bytes(Cow::Borrowed(&[]))
        } else {
            self.blob = Blob::None;
            let (offset, size) = (self.word32()?, self.word32()?);
            NativeCode::Placeholder { offset, size }
        };
        if let Some(draft) = self.draft.as_mut() {
            let platform = NativePlatform(platform);
            draft.shell.binaries.push(NativeBinary { platform, code });
        }
        Ok(())
    }

    fn strings(&mut self, span: Span) -> Parsed<()> {
        let mut strings = Vec::new();
        while !self.cursor.ends() {
            match self.cursor.string()? {
                Some((text, _)) => strings.push(text),
                None => return Err(self.cursor.unexpected("quoted strings")),
            }
        }
        let Some(draft) = self.draft.as_mut() else {
            return Err(super::outside(span));
        };
        let body = &draft.body;
        if draft.pool_is_closed() || !body.variables.is_empty() || !body.code.is_empty() {
            let found = fault(
                span,
                "the strings of a routine stand before everything else of it",
            );
            return Err(found);
        }
        draft.state_strings(strings);
        Ok(())
    }

    fn change_routine(&mut self, change: &Change<'t>) -> Parsed<()> {
        let Some(draft) = self.draft.as_mut() else {
            return Err(super::outside(change.span));
        };
        draft.claim_name();
        let strings = core::mem::take(&mut draft.body.strings);
        let mut numbers = RoutineNumbers {
            body: &mut draft.body,
            linkage: &mut draft.shell.linkage,
        };
        let outcome = apply(&mut numbers, &strings, change);
        draft.body.strings = strings;
        finish(outcome, change)
    }
}

fn finish(outcome: Outcome, change: &Change<'_>) -> Parsed<()> {
    let key = shown(change.key);
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Unknown => {
            let message = alloc::format!("what the line makes has no number `{key}`");
            Err(
                Diagnostic::new(DiagnosticKind::StaleDirective, change.span, message)
                    .hint("delete the directive, or undo the change of its line"),
            )
        }
        Outcome::WrongKind => {
            let message = alloc::format!("`{key}` cannot be changed in this way");
            Err(fault(change.span, message))
        }
        Outcome::Stale(found) => {
            let message =
                alloc::format!("the directive is for another line: `{key}` is {found} here");
            Err(
                Diagnostic::new(DiagnosticKind::StaleDirective, change.span, message)
                    .hint("delete the directive, or undo the change of its line"),
            )
        }
    }
}

/// The numbers of a routine that are in no table.
#[derive(Debug)]
pub(crate) struct RoutineNumbers<'r, 't> {
    pub(crate) body: &'r mut Body<'t>,
    pub(crate) linkage: &'r mut Linkage,
}

impl<'t> Numbers<'t> for RoutineNumbers<'_, 't> {
    fn visit(&mut self, see: &mut dyn FnMut(Key, Slot<'_, 't>)) {
        see(Key::of("name"), Slot::Name(&mut self.body.name.0));
        for (name, number) in [
            ("linkage", &mut self.linkage.0),
            ("input_size", &mut self.body.input_size),
            ("return_value_size", &mut self.body.return_value_size),
        ] {
            let mut wide = u32::from(*number);
            see(Key::of(name), Slot::Whole(&mut wide));
            *number = u8::try_from(wide).unwrap_or(*number);
        }
    }
}

/// The numbers of an instruction.
#[derive(Debug)]
pub(crate) struct InstructionNumbers<'i> {
    pub(crate) fields: &'i mut [Field],
    pub(crate) def: &'static visakit_isa::table::InstructionDef,
    pub(crate) format: Format,
}

impl<'t> Numbers<'t> for InstructionNumbers<'_> {
    fn visit(&mut self, see: &mut dyn FnMut(Key, Slot<'_, 't>)) {
        let mut entry = 0;
        for field in self.fields.iter_mut() {
            let Some(def) = self.def.fields.iter().find(|f| f.name == field.name) else {
                continue;
            };
            let mut numbers = FieldNumbers {
                field,
                kind: def.kind,
                index: def.kind.is_list().then_some(entry),
                format: self.format,
            };
            entry += usize::from(def.kind.is_list());
            numbers.visit(see);
        }
    }
}

/// Changes a number of a record.
fn apply<'t>(
    record: &mut dyn Numbers<'t>,
    strings: &[Cow<'t, [u8]>],
    change: &Change<'t>,
) -> Outcome {
    let mut outcome = Outcome::Unknown;
    record.visit(&mut |key, slot| {
        if key.to_string().as_bytes() == change.key {
            outcome = change_slot(slot, strings, &change.how);
        }
    });
    outcome
}

fn change_slot<'t>(slot: Slot<'_, 't>, strings: &[Cow<'t, [u8]>], how: &How<'t>) -> Outcome {
    match (slot, how) {
        (Slot::Bits(number), How::Bits { set, clear }) => {
            if *number & (set | clear) != *clear {
                return Outcome::Stale(alloc::format!("{number:#x}"));
            }
            *number ^= set | clear;
        }
        (Slot::Whole(number), How::Whole { from, to }) => {
            if number != from {
                return Outcome::Stale(alloc::format!("{number}"));
            }
            *number = *to;
        }
        (Slot::Name(number), How::Name { from, to }) => {
            let index = usize::try_from(*number).ok();
            let text = index.and_then(|i| strings.get(i)).map(AsRef::as_ref);
            let text = text.unwrap_or_default();
            if text != from.as_ref() {
                return Outcome::Stale(alloc::format!("\"{}\"", shown(text)));
            }
            *number = *to;
        }
        (Slot::Bytes(bytes), How::Bytes { from, to }) => {
            if bytes.as_ref() != from.as_slice() {
                let found = data_encoding::HEXLOWER.encode(bytes);
                return Outcome::Stale(alloc::format!("x{found}"));
            }
            *bytes = Cow::Owned(to.clone());
        }
        (Slot::Bytes(bytes), How::Shorter { len }) => match shortened(bytes, *len) {
            Some(short) => *bytes = Cow::Owned(short),
            None => {
                let found = data_encoding::HEXLOWER.encode(bytes);
                return Outcome::Stale(alloc::format!("x{found}, which needs more bytes"));
            }
        },
        _ => return Outcome::WrongKind,
    }
    Outcome::Done
}

/// The little-endian number in `len` bytes, which hold it with its sign.
pub(crate) fn shortened(bytes: &[u8], len: usize) -> Option<Vec<u8>> {
    let (kept, cut) = bytes.split_at_checked(len)?;
    let sign = kept.last()? >> 7;
    let fill = if sign == 1 { 0xff } else { 0 };
    cut.iter().all(|b| *b == fill).then(|| kept.to_vec())
}
