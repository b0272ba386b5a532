//! Changes: directives in comments that alter numbers of the record a line produced.
//!
//! A change names both the number the line produces and the one that is wanted, so that it cannot
//! silently undo an edit of its line: if the line now produces another number, that is a fault.

use super::comment::fault;
use super::diagnostic::{Diagnostic, DiagnosticKind, Parsed, Span};
use super::{Assembler, Last};
use crate::language::numbers::{Held, InstructionNumbers, Numbered, RoutineNumbers, shortened};
use crate::lexer::shown;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use visakit_isa::Format;
use visakit_isa::object::{Body, Item};

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

/// What happens to a number that is to be changed.
enum Outcome {
    /// The change is of another kind.
    WrongKind,
    /// The line produces another value.
    Stale(String),
    Changed(Held),
}

impl<'t> Assembler<'t> {
    /// A directive after a line.
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
            return Err(fault(change.span, "no line of a routine precedes this"));
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
        let mut fields;
        let record: Option<&mut dyn Numbered> = match last {
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
                    fields = InstructionNumbers {
                        fields: &mut instruction.fields,
                        def,
                    };
                    Some(&mut fields)
                }
                _ => None,
            },
        };
        match record {
            Some(record) => apply(record, strings, format, change),
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
        let format = draft.format;
        let strings = core::mem::take(&mut draft.body.strings);
        let mut numbers = RoutineNumbers {
            body: &mut draft.body,
            linkage: &mut draft.shell.linkage,
        };
        let outcome = apply(&mut numbers, &strings, format, change);
        draft.body.strings = strings;
        outcome
    }
}

/// Changes a number of a record.
fn apply(
    record: &mut dyn Numbered,
    strings: &[Cow<'_, [u8]>],
    format: Format,
    change: &Change<'_>,
) -> Parsed<()> {
    let name = shown(change.key);
    let stale = |message: String| {
        let stale = Diagnostic::new(DiagnosticKind::StaleDirective, change.span, message);
        Err(stale.hint("delete the directive, or undo the change of its line"))
    };
    let Some((key, held)) = record.find(format, change.key) else {
        return stale(alloc::format!("what the line makes has no number `{name}`"));
    };
    match changed(&held, strings, &change.how) {
        Outcome::Changed(held) => {
            record.set(format, key, held);
            Ok(())
        }
        Outcome::WrongKind => {
            let message = alloc::format!("`{name}` cannot be changed in this way");
            Err(fault(change.span, message))
        }
        Outcome::Stale(found) => stale(alloc::format!(
            "the directive is for another line: `{name}` is {found} here"
        )),
    }
}

/// Applies a change to one number.
fn changed(held: &Held, strings: &[Cow<'_, [u8]>], how: &How<'_>) -> Outcome {
    match (held, how) {
        (Held::Bits(number), How::Bits { set, clear }) => {
            if number & (set | clear) != *clear {
                return Outcome::Stale(alloc::format!("{number:#x}"));
            }
            Outcome::Changed(Held::Bits(number ^ (set | clear)))
        }
        (Held::Index(number), How::Whole { from, to }) => {
            if number != from {
                return Outcome::Stale(alloc::format!("{number}"));
            }
            Outcome::Changed(Held::Index(*to))
        }
        (Held::Name(number), How::Name { from, to }) => {
            let index = usize::try_from(*number).ok();
            let text = index.and_then(|i| strings.get(i)).map(AsRef::as_ref);
            let text = text.unwrap_or_default();
            if text != from.as_ref() {
                return Outcome::Stale(alloc::format!("\"{}\"", shown(text)));
            }
            Outcome::Changed(Held::Name(*to))
        }
        (Held::Bytes(bytes), How::Bytes { from, to }) => {
            if bytes != from {
                let found = data_encoding::HEXLOWER.encode(bytes);
                return Outcome::Stale(alloc::format!("x{found}"));
            }
            Outcome::Changed(Held::Bytes(to.clone()))
        }
        (Held::Bytes(bytes), How::Shorter { len }) => match shortened(bytes, *len) {
            Some(short) => Outcome::Changed(Held::Bytes(short)),
            None => {
                let found = data_encoding::HEXLOWER.encode(bytes);
                Outcome::Stale(alloc::format!("x{found}, which needs more bytes"))
            }
        },
        _ => Outcome::WrongKind,
    }
}
