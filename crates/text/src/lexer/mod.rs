//! The lexer: comments, strings, words and numbers, for the assembler, the formatter and syntax
//! highlighters. [`Cursor`] is a position in the text from which pieces are taken without copying.
//!
//! The meaning of a character depends on its context (`.RGBA`, `sample+killpix`, `:d8.2x16x8nn`), so
//! there is no list of tokens: the description of the instruction says what to expect.

use crate::asm::diagnostic::{Diagnostic, DiagnosticKind, Fault, Parsed, Span};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use visakit_isa::Platform;

mod tokens;

pub use tokens::{LexState, Token, Tokens, tokens, tokens_from};

/// A place in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) at: usize,
    /// Where the directive in the last skipped comment is.
    pub(crate) directive: Option<usize>,
    /// The platform named by the last `//Platform:` line of a compiler's dump.
    pub(crate) platform: Option<Platform>,
    /// Where a comment begins that has no end.
    pub(crate) unclosed: Option<usize>,
}

/// A name and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'t> {
    pub(crate) name: &'t [u8],
    pub(crate) span: Span,
}

/// Characters of words.
static WORDS: [bool; 256] = {
    let mut words = [false; 256];
    let mut c = 0;
    while c < 256 {
        #[allow(clippy::indexing_slicing, clippy::cast_possible_truncation)] // 256 entries, 8 bits
        {
            words[c] = (c as u8).is_ascii_alphanumeric() || c as u8 == b'_';
        }
        c += 1;
    }
    words
};

#[cfg_attr(not(debug_assertions), inline(always))]
#[allow(clippy::indexing_slicing)] // 256 entries, 8 bits
pub(crate) const fn is_word(c: u8) -> bool {
    WORDS[c as usize]
}

/// The length of the comment at the start of this text.
pub(crate) fn comment(text: &[u8]) -> Option<usize> {
    match text {
        [b'/', b'/', ..] => Some(text.iter().position(|c| *c == b'\n').unwrap_or(text.len())),
        [b'/', b'*', inner @ ..] => {
            let end = inner.windows(2).position(|w| w == b"*/");
            Some(end.map_or(text.len(), |end| end + 4))
        }
        _ => None,
    }
}

/// Whether a comment begins at the start of this text, of this length, that has no end.
fn is_unclosed(text: &[u8], len: Option<usize>) -> bool {
    let inner = text.get(2..len.unwrap_or(0)).unwrap_or_default();
    text.starts_with(b"/*") && !inner.ends_with(b"*/")
}

/// The length of the line end at the start of this text that a backslash cancels.
pub(crate) const fn joined_lines(text: &[u8]) -> Option<usize> {
    match text {
        [b'\\', b'\n', ..] => Some(2),
        [b'\\', b'\r', b'\n', ..] => Some(3),
        _ => None,
    }
}

/// The length of the string literal at the start of this text, up to the end of the line if it is
/// unterminated.
pub(crate) fn literal(text: &[u8]) -> Option<usize> {
    let (b'"', inner) = text.split_first()? else {
        return None;
    };
    let mut escaped = false;
    let end = inner.iter().position(|c| {
        let ends = *c == b'\n' || *c == b'"' && !escaped;
        escaped = *c == b'\\' && !escaped;
        ends
    });
    Some(end.map_or(text.len(), |end| {
        end + 1 + usize::from(inner.get(end) == Some(&b'"'))
    }))
}

/// Characters of labels.
pub(crate) const fn is_label(c: u8) -> bool {
    is_word(c) || matches!(c, b'$' | b'@' | b'?' | b'-' | b'.')
}

impl<'t> Cursor<'t> {
    pub(crate) const fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            at: 0,
            directive: None,
            platform: None,
            unclosed: None,
        }
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    pub(crate) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    #[inline]
    pub(crate) fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips blanks, comments and line ends cancelled by a backslash.
    #[inline]
    pub(crate) fn blanks(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'/' | b'\\' => {
                    if !self.rare_blank(c) {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    #[cold]
    fn rare_blank(&mut self, c: u8) -> bool {
        let rest = self.rest();
        let len = match c {
            b'/' => comment(rest),
            _ => joined_lines(rest),
        };
        if rest.starts_with(b"//@") {
            self.directive = Some(self.at);
        } else if let Some(name) = rest.strip_prefix(b"//Platform:") {
            let end = name.iter().position(|c| *c == b'\n').unwrap_or(name.len());
            let name = core::str::from_utf8(name.get(..end).unwrap_or(name)).ok();
            let named = name.and_then(|name| Platform::from_name(name.trim()));
            self.platform = named.or(self.platform);
        } else if is_unclosed(rest, len) {
            self.unclosed = Some(self.at);
        }
        self.at += len.unwrap_or(0);
        len.is_some()
    }

    /// Whether only blanks precede the end of the statement: the end of the line, or the brace that
    /// ends a scope.
    pub(crate) fn ends(&mut self) -> bool {
        self.blanks();
        matches!(self.peek(), None | Some(b'\n' | b'}'))
    }

    /// Whether an expression that is not a bare number begins after blanks.
    pub(crate) fn begins_primary(&mut self) -> bool {
        self.blanks();
        self.peek() == Some(b'(') || self.has("%sizeof") || self.has("%DispatchSimd")
    }

    /// Advances to the end of the line.
    pub(crate) fn skip_line(&mut self) {
        let rest = self.rest();
        let end = rest.iter().position(|c| *c == b'\n');
        self.at += end.unwrap_or(rest.len());
    }

    /// Consumes this character after blanks, if it is next.
    #[inline]
    pub(crate) fn eat(&mut self, c: u8) -> bool {
        self.blanks();
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    /// Consumes this character after blanks; an error if it is not next.
    #[inline]
    pub(crate) fn need(&mut self, c: u8, what: &str) -> Parsed<()> {
        if self.eat(c) {
            Ok(())
        } else {
            Err(self.unexpected(what))
        }
    }

    /// Whether these characters come next, ignoring case.
    #[inline]
    pub(crate) fn has(&self, text: &str) -> bool {
        let found = self.text.get(self.at..self.at + text.len());
        found.is_some_and(|f| f.eq_ignore_ascii_case(text.as_bytes()))
    }

    /// Consumes a text of a description: a blank in it matches any number of blanks, including none.
    #[inline]
    pub(crate) fn eat_text(&mut self, text: &str) -> bool {
        let start = self.at;
        let bytes = text.as_bytes();
        let mut begins = true;
        for c in bytes {
            if *c == b' ' {
                begins = true;
                continue;
            }
            if begins {
                self.blanks();
            }
            if self.peek().is_some_and(|f| f.eq_ignore_ascii_case(c)) {
                self.at += 1;
            } else {
                self.at = start;
                return false;
            }
            begins = !is_word(*c);
        }
        true
    }

    /// A name after blanks: letters, digits and underscores, not beginning with a digit; it may be
    /// preceded by a percent sign, or by the `#` of symbols identified by number.
    #[inline]
    pub(crate) fn word(&mut self) -> Option<Word<'t>> {
        self.blanks();
        let rest = self.rest();
        let sign = usize::from(matches!(rest.first(), Some(b'%' | b'#')));
        let first = *rest.get(sign)?;
        if !is_word(first) || first.is_ascii_digit() {
            return None;
        }
        let mut len = sign + 1;
        while rest.get(len).is_some_and(|c| is_word(*c)) {
            len += 1;
        }
        let name = rest.get(..len)?;
        let span = Span {
            start: self.at,
            len,
        };
        self.at += len;
        Some(Word { name, span })
    }

    /// The name of a label after blanks.
    pub(crate) fn label(&mut self) -> Option<Word<'t>> {
        self.blanks();
        let rest = self.rest();
        let end = rest.iter().position(|c| !is_label(*c));
        let len = end.unwrap_or(rest.len());
        let name = rest.get(..len).filter(|n| !n.is_empty())?;
        let span = Span {
            start: self.at,
            len,
        };
        self.at += len;
        Some(Word { name, span })
    }

    /// A decimal or hexadecimal number after blanks; `None` if there is none, an error if it has more
    /// than 64 bits.
    #[inline]
    pub(crate) fn number(&mut self) -> Parsed<Option<u64>> {
        self.blanks();
        if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return Ok(None);
        }
        let start = self.at;
        let hexadecimal = self.peek() == Some(b'0')
            && matches!(self.peek_at(1), Some(b'x' | b'X'))
            && self.peek_at(2).is_some_and(|c| c.is_ascii_hexdigit());
        let (mut number, mut fits) = (0u64, true);
        if hexadecimal {
            self.at += 2;
            while let Some(digit) = self.peek().and_then(|c| (c as char).to_digit(16)) {
                fits &= number >> 60 == 0;
                number = number << 4 | u64::from(digit);
                self.at += 1;
            }
        } else {
            while let Some(digit) = self.peek().map(|c| c.wrapping_sub(b'0'))
                && digit < 10
            {
                let more = |n: u64| n.checked_mul(10)?.checked_add(digit.into());
                match more(number) {
                    Some(more) => number = more,
                    None => fits = false,
                }
                self.at += 1;
            }
        }
        if fits {
            return Ok(Some(number));
        }
        let span = Span::between(start, self.at);
        Err(Diagnostic::new(
            DiagnosticKind::ImmediateRange,
            span,
            "the number has more than 64 bits",
        ))
    }

    /// A quoted string after blanks, with its escapes resolved.
    pub(crate) fn string(&mut self) -> Parsed<Option<(Cow<'t, [u8]>, Span)>> {
        self.blanks();
        if self.peek() != Some(b'"') {
            return Ok(None);
        }
        let start = self.at;
        self.at += 1;
        let rest = self.rest();
        let end = rest.iter().position(|c| matches!(c, b'"' | b'\\' | b'\n'));
        if let Some(end) = end
            && rest.get(end) == Some(&b'"')
        {
            self.at += end + 1;
            let text = rest.get(..end).unwrap_or_default();
            let span = Span::between(start, self.at);
            return Ok(Some((Cow::Borrowed(text), span)));
        }
        let mut text = Vec::new();
        loop {
            match self.peek() {
                None | Some(b'\n') => {
                    let span = Span::between(start, self.at);
                    let fault = Diagnostic::new(
                        DiagnosticKind::UnterminatedString,
                        span,
                        "the string has no end",
                    );
                    return Err(fault.expected("`\"` on the same line"));
                }
                Some(b'"') => {
                    self.at += 1;
                    let span = Span::between(start, self.at);
                    return Ok(Some((Cow::Owned(text), span)));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(c) => {
                    self.at += 1;
                    text.push(c);
                }
            }
        }
    }

    /// A quoted string after blanks, for a string pool.
    pub(crate) fn pooled(&mut self) -> Parsed<Option<(Cow<'t, [u8]>, Span)>> {
        self.string()?.map(pooled).transpose()
    }

    fn escape(&mut self) -> Parsed<u8> {
        let start = self.at;
        self.at += 1;
        let c = self.peek().unwrap_or(b'\n');
        if c.is_ascii_digit() || c == b'x' {
            // Decimal digits with the weights of octal ones, as Intel's lexer reads them.
            let (radix, weight, most) = if c == b'x' { (16, 16, 2) } else { (10, 8, 3) };
            self.at += usize::from(c == b'x');
            let mut value = 0u32;
            let mut digits = 0;
            while digits < most
                && let Some(digit) = self.peek().and_then(|c| (c as char).to_digit(radix))
            {
                value = value * weight + digit;
                digits += 1;
                self.at += 1;
            }
            if digits > 0 {
                return Ok((value & 0xff) as u8);
            }
        } else if c != b'\n' {
            self.at += 1;
        }
        Ok(match c {
            b'a' => 7,
            b'b' => 8,
            b'e' => 0x1b,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\'' | b'"' | b'?' | b'\\' => c,
            _ => {
                let span = Span::between(start, self.at);
                let message = "no such escape in a string";
                return Err(Diagnostic::new(DiagnosticKind::Syntax, span, message));
            }
        })
    }

    /// The piece of text at the cursor, for messages: a word, a number or a character.
    pub(crate) fn piece(&self) -> Span {
        let mut ahead = *self;
        ahead.blanks();
        let start = ahead.at;
        let rest = ahead.rest();
        let len = match rest.first() {
            None | Some(b'\n') => 0,
            Some(c) if is_word(*c) || *c == b'%' => {
                1 + rest.iter().skip(1).take_while(|c| is_word(**c)).count()
            }
            Some(_) => first_character(rest),
        };
        Span { start, len }
    }

    /// The error for a comment that has no end, if one was skipped.
    pub(crate) fn unclosed(&self) -> Option<Fault> {
        let span = Span {
            start: self.unclosed?,
            len: 2,
        };
        let message = "the comment has no end";
        let fault = Diagnostic::new(DiagnosticKind::UnterminatedComment, span, message);
        Some(fault.expected("`*/` after it"))
    }

    /// An error: something else was found here.
    #[cold]
    pub(crate) fn unexpected(&self, what: &str) -> Fault {
        let span = self.piece();
        let found = self.text.get(span.start..span.end()).unwrap_or_default();
        let message = if found.is_empty() {
            String::from("the line ends too early")
        } else {
            alloc::format!("unexpected `{}`", shown(found))
        };
        Diagnostic::new(DiagnosticKind::Syntax, span, message).expected(what)
    }
}

/// The string that was found, if a pool can hold it: strings of a pool end with a NUL.
pub(crate) fn pooled((text, span): (Cow<'_, [u8]>, Span)) -> Parsed<(Cow<'_, [u8]>, Span)> {
    if text.contains(&0) {
        let message = "the string has a NUL in it, which strings of objects cannot have";
        let kind = DiagnosticKind::NotEncodable;
        return Err(Diagnostic::new(kind, span, message));
    }
    Ok((text, span))
}

/// Bytes of the first character of a text, one where it is not UTF-8.
pub(crate) fn first_character(text: &[u8]) -> usize {
    let mut chunks = text.get(..4).unwrap_or(text).utf8_chunks();
    let first = chunks.next().and_then(|chunk| chunk.valid().chars().next());
    first.map_or(1, char::len_utf8)
}

/// A piece of text for a message.
pub(crate) fn shown(text: &[u8]) -> String {
    const MOST: usize = 60;
    // Not in the middle of a character.
    let begins = |at: &usize| text.get(*at).is_none_or(|c| c & 0xc0 != 0x80);
    let most = (MOST - 3..=MOST).rev().find(begins).unwrap_or(MOST);
    let short = text.get(..most).unwrap_or(text);
    let mut shown = String::from_utf8_lossy(short).into_owned();
    if short.len() < text.len() {
        shown.push('…');
    }
    shown
}
