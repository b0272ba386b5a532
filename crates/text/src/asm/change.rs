//! Changes: what a directive in a comment makes of the numbers that a line made.
//!
//! A change names the number that the line makes and the one that is wanted, so that it cannot
//! silently undo an edit of its line: where the line makes another number by now, it is a fault.

use super::comment::fault;
use super::cursor::shown;
use super::diagnostic::{Diagnostic, DiagnosticKind, Parsed, Span};
use super::{Assembler, Last};
use crate::wire::{FieldNumbers, Key, Numbers, Slot};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use visakit_isa::object::{Body, Item, Linkage};
use visakit_isa::{Field, Format};

/// A change of a number.
#[derive(Debug)]
pub(super) struct Change<'t> {
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

impl<'t> Assembler<'t> {
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

    pub(super) fn change(&mut self) -> Parsed<Change<'t>> {
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
                Some(self.pair()?)
            }
            _ => None,
        };
        let Some(how) = how else {
            let wanted = "changes such as `dst.region+0x32` or `label=5>6`";
            return Err(self.cursor.unexpected(wanted));
        };
        let how = match (how, &mut self.draft) {
            (How::Name { from, to }, Some(draft)) => {
                let to = draft.kept_index(to);
                How::Name { from, to }
            }
            (how, _) => how,
        };
        let span = Span::between(start, self.cursor.at);
        Ok(Change { key, how, span })
    }

    fn pair(&mut self) -> Parsed<How<'t>> {
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

    pub(super) fn word32(&mut self) -> Parsed<u32> {
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

    pub(super) fn change_routine(&mut self, change: &Change<'t>) -> Parsed<()> {
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
