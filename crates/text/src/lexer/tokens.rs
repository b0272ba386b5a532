//! Tokens of printed lines, for syntax highlighting and markup.

use super::{comment, is_label, is_unclosed, joined_lines, literal};
use crate::asm::Span;

/// What a piece of a line is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Token {
    /// A comment.
    Comment,
    /// A word at the beginning of a line that begins with a full stop.
    Directive,
    /// The mnemonic with its suffixes.
    Mnemonic,
    /// The name of a label at the place it labels.
    Label,
    /// A predefined variable or surface.
    Predefined,
    /// Another name.
    Name,
    /// A number.
    Number,
    /// A type after a colon, such as `:ud`.
    Type,
    /// A string literal.
    String,
    /// A bracket, a comma or another character.
    Punctuation,
}

/// Splits printed text into tokens: each piece that is not blank, with its kind.
///
/// ```
/// use visakit_text::{Token, tokens};
///
/// let line = b"    (P1) mov (M1, 16) V32(0,0)<1> 0x2a:d /// $3\n";
/// let mut found = tokens(line).filter(|(token, _)| *token == Token::Mnemonic);
/// let (_, span) = found.next().unwrap();
/// assert_eq!(&line[span.start..span.end()], b"mov");
/// ```
pub fn tokens(text: &[u8]) -> Tokens<'_> {
    tokens_from(text, LexState::default())
}

/// Like [`tokens`], for lines from the middle of a text: `state` is what [`Tokens::state`] returned
/// at the end of the preceding lines. This makes it possible to lex a single line.
///
/// ```
/// use visakit_text::{LexState, Token, tokens_from};
///
/// let (first, second) = (&b"mov /* begins\n"[..], &b"and ends */ (M1, 1) V1\n"[..]);
/// let mut line = tokens_from(first, LexState::default());
/// assert_eq!(line.by_ref().count(), 2);
/// let mut line = tokens_from(second, line.state());
/// assert_eq!(line.next().unwrap().0, Token::Comment);
/// assert!(line.all(|(token, _)| token != Token::Mnemonic));
/// ```
pub const fn tokens_from(text: &[u8], state: LexState) -> Tokens<'_> {
    Tokens { text, at: 0, state }
}

/// The state of the lexer at the end of a line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct LexState {
    expects: Expects,
    /// A comment has begun but not ended.
    in_comment: bool,
}

/// What the next word of a line is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Expects {
    /// The line has not begun.
    #[default]
    Statement,
    /// Inside of the predicate before a mnemonic.
    Predicate,
    /// The mnemonic has been seen.
    Operand,
}

/// The pieces of a text, see [`tokens`].
#[derive(Clone, Debug)]
pub struct Tokens<'t> {
    text: &'t [u8],
    at: usize,
    state: LexState,
}

/// Characters of label names, except the signs that also separate words.
const fn is_name(c: u8) -> bool {
    is_label(c) && !matches!(c, b'-' | b'.')
}

impl Tokens<'_> {
    /// The state to pass to the following text; valid after the last token.
    #[must_use]
    pub const fn state(&self) -> LexState {
        self.state
    }

    /// The length and kind of the token at the beginning of this text.
    fn token(&mut self, rest: &[u8]) -> (Token, usize) {
        let words = |from: usize, also: &[u8]| {
            let tail = rest.get(from..).unwrap_or_default();
            let part = |c: &&u8| is_name(**c) || also.contains(c);
            from + tail.iter().take_while(part).count()
        };
        if self.state.in_comment {
            let end = rest.windows(2).position(|w| w == b"*/");
            self.state.in_comment = end.is_none();
            return (Token::Comment, end.map_or(rest.len(), |end| end + 2));
        }
        if let Some(len) = comment(rest) {
            self.state.in_comment = is_unclosed(rest, Some(len));
            return (Token::Comment, len);
        }
        if let Some(len) = literal(rest) {
            return (Token::String, len);
        }
        let begins = self.state.expects == Expects::Statement;
        match rest {
            [b'.', ..] if begins => {
                self.state.expects = Expects::Operand;
                (Token::Directive, words(1, b""))
            }
            [b'(', ..] if begins => {
                self.state.expects = Expects::Predicate;
                (Token::Punctuation, 1)
            }
            [b')', ..] if self.state.expects == Expects::Predicate => {
                self.state.expects = Expects::Statement;
                (Token::Punctuation, 1)
            }
            [b'%', c, ..] if is_name(*c) => (Token::Predefined, words(1, b"")),
            [b':', c, ..] if c.is_ascii_alphabetic() => (Token::Type, words(1, b".")),
            [c, ..] if c.is_ascii_digit() => {
                self.state.expects = Expects::Operand;
                (Token::Number, words(1, b""))
            }
            [c, ..] if is_name(*c) => {
                if !begins {
                    return (Token::Name, words(1, b""));
                }
                self.state.expects = Expects::Operand;
                let label = words(1, b".-");
                if rest.get(label) == Some(&b':') {
                    return (Token::Label, label);
                }
                (Token::Mnemonic, words(1, b".<>+-"))
            }
            // Do not split characters.
            [c, tail @ ..] if !c.is_ascii() => {
                let more = tail.iter().take_while(|c| !c.is_ascii()).count();
                (Token::Punctuation, 1 + more)
            }
            _ => (Token::Punctuation, 1),
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = (Token, Span);

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.text;
        loop {
            let rest = text.get(self.at..)?;
            let first = rest.first()?;
            if let (b'\\', false, Some(len)) = (first, self.state.in_comment, joined_lines(rest)) {
                self.at += len;
                continue;
            }
            match first {
                b'\n' if self.state.in_comment => {}
                b'\n' => self.state.expects = Expects::Statement,
                b' ' | b'\t' | b'\r' => {}
                _ => {
                    let (token, len) = self.token(rest);
                    let span = Span {
                        start: self.at,
                        len: len.clamp(1, rest.len()),
                    };
                    self.at = span.end();
                    return Some((token, span));
                }
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Token, tokens};
    use alloc::string::String;
    use alloc::vec::Vec;

    fn found(line: &str) -> Vec<(Token, String)> {
        let text = |s: crate::asm::Span| line[s.start..s.end()].into();
        tokens(line.as_bytes()).map(|(t, s)| (t, text(s))).collect()
    }

    #[test]
    fn lines_are_told_apart() {
        use Token::{
            Comment, Directive, Label, Mnemonic, Name, Number, Predefined, Punctuation, String,
            Type,
        };
        let kinds = |line| found(line).into_iter().map(|(t, _)| t).collect::<Vec<_>>();
        assert_eq!(kinds(".file \"a \\\" b\""), [Directive, String]);
        assert_eq!(kinds("\nL1.x_3:\n"), [Label, Punctuation]);
        let line = "(!P1.any) add.sat (16) %r0.0 -0x2:d // x";
        let expected = [
            Punctuation,
            Punctuation,
            Name,
            Punctuation,
            Name,
            Punctuation,
            Mnemonic,
            Punctuation,
            Number,
            Punctuation,
            Predefined,
            Punctuation,
            Number,
            Punctuation,
            Number,
            Type,
            Comment,
        ];
        assert_eq!(kinds(line), expected);
    }

    #[test]
    fn everything_that_is_not_blank_is_in_a_token() {
        for line in [
            "\"",
            "/*",
            "//",
            "(",
            "%",
            ":",
            ".",
            "a\"b\n\u{e9}",
            "%%a::b..",
        ] {
            let all: String = found(line).into_iter().map(|(_, t)| t).collect();
            assert_eq!(all, line.replace([' ', '\n'], ""));
        }
    }
}
