//! Directives in comments: `//@ …` on its own line records what the object has besides its text,
//! `//@ …` after a line changes numbers of the record that line produced.

use super::diagnostic::{Diagnostic, DiagnosticKind, Fault, Parsed, Span};
use super::routine::Compiled;
use super::{Assembler, Blob};
use crate::language::digest::Digest;
use crate::lexer::shown;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use data_encoding::BASE64;
use visakit_isa::object::{
    Arrangement, Content, NativeBinary, NativeCode, NativePlatform, Piece, RawItem, Relocation,
    RoutineId, RoutineKind,
};
use visakit_isa::wire::Derived;
use visakit_isa::{Dialect, ExecMask, Version, enums};

/// Numbers derived from the rest of an object, which damaged objects state differently.
pub(crate) const DERIVED: [(&str, Derived); 5] = [
    ("routine_offset", Derived::RoutineOffset),
    ("routine_size", Derived::RoutineSize),
    ("input_offset", Derived::InputOffset),
    ("code_size", Derived::CodeSize),
    ("code_entry", Derived::CodeEntry),
];

#[cold]
pub(super) fn fault(span: Span, message: impl Into<String>) -> Fault {
    Diagnostic::new(DiagnosticKind::Directive, span, message)
}

impl<'t> Assembler<'t> {
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
            b"text_only" if self.stated == Some(Version::V4_2) && self.draft.is_none() => {
                if self.options.version.is_none() {
                    self.object.version = Version::V4_2;
                }
                Ok(())
            }
            b"grf_bytes" => {
                let bytes = self.word32()?;
                self.grf_bytes = bytes.max(1);
                self.grf_assumed = false;
                Ok(())
            }
            b"no_routines" => {
                self.empty = true;
                Ok(())
            }
            b"padded" => {
                self.object.padded = true;
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
            return Err(fault(span, "the dialect must precede the first routine"));
        }
        self.states_dialect = true;
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

    /// `data BASE64`: bytes of whatever was named last.
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
            return Err(fault(span, "this is not base64"));
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
                let found = fault(span, "nothing before this line takes bytes");
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
            b"m1_code" => {
                let code = self.word32()?;
                let Some(draft) = self.draft.as_mut() else {
                    return Err(super::outside(span));
                };
                let masked = u8::try_from(code).ok();
                let known = masked.and_then(|code| ExecMask::from_code(code, draft.format));
                match masked {
                    Some(code) if known == Some(ExecMask::M1) => draft.m1_code = code,
                    _ => {
                        let message = alloc::format!("{code} is not a code of M1 in this version");
                        return Err(fault(span, message).expected("0, or 9 up to version 3.0"));
                    }
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
            b"compiled" => self.compiled(span),
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

    /// `compiled 0x1234`: the checksum of the routine's text so far, from when native code was
    /// compiled from it.
    fn compiled(&mut self, span: Span) -> Parsed<()> {
        let stated = self.word32()?;
        let text = self.cursor.text;
        let line = |at: usize| {
            let before = text.get(..at).unwrap_or_default();
            memchr::memrchr(b'\n', before).map_or(0, |end| end + 1)
        };
        let routine = line(self.here.routine.start)..line(span.start);
        let Some(draft) = self.draft.as_mut() else {
            return Err(super::outside(span));
        };
        if let Some(before) = draft.compiled {
            let found = fault(span, "the routine has such a checksum already");
            return Err(found.related(before.span, "here"));
        }
        let mut digest = Digest::new();
        digest.lines(text.get(routine).unwrap_or_default());
        let differs = digest.value() != stated;
        draft.compiled = Some(Compiled { span, differs });
        Ok(())
    }

    /// `native SKL`, with bytes on the following lines; `native SKL 0x40 0` for one that only
    /// reserves a place.
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
            match self.cursor.pooled()? {
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
                "the strings of a routine precede everything else of it",
            );
            return Err(found);
        }
        draft.state_strings(strings);
        Ok(())
    }
}
