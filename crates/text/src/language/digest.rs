//! A checksum of a routine's text: it shows a reader of exact text whether the native code in it still
//! belongs to the routine.

use crate::lexer::{comment, literal};
use alloc::vec::Vec;

/// A checksum of lines. Leading and trailing blanks, empty lines and comments are ignored; directives in
/// comments are not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

// The constants of FNV-1a, applied to words instead of bytes.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Digest {
    pub(crate) const fn new() -> Self {
        Self(START)
    }

    /// Adds some whole lines.
    pub(crate) fn lines(&mut self, text: &[u8]) {
        // A line that contains comments, without them.
        let mut joined = Vec::new();
        // Where the line's text begins, and where to search for its end.
        let (mut start, mut at) = (0, 0);
        loop {
            let rest = text.get(at..).unwrap_or_default();
            let found = memchr::memchr3(b'\n', b'/', b'"', rest);
            at += found.unwrap_or(rest.len());
            let piece = text.get(start..at).unwrap_or_default();
            let rest = text.get(at..).unwrap_or_default();
            match rest {
                [] | [b'\n', ..] => {
                    if joined.is_empty() {
                        self.line(piece);
                    } else {
                        joined.extend_from_slice(piece);
                        self.line(&joined);
                        joined.clear();
                    }
                    if rest.is_empty() {
                        return;
                    }
                    at += 1;
                    start = at;
                }
                [b'/', b'/', b'@', ..] => {
                    at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => {
                    if let Some(len) = comment(rest) {
                        joined.extend_from_slice(piece);
                        joined.push(b' ');
                        at += len;
                        start = at;
                    } else {
                        at += literal(rest).unwrap_or(1);
                    }
                }
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        let (words, rest) = line.as_chunks();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.word(u64::from_le_bytes(last));
        self.word(line.len() as u64);
    }

    #[inline]
    const fn word(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(PRIME);
        self.0 = mixed ^ mixed >> 32;
    }

    /// The checksum of what was added.
    #[allow(clippy::cast_possible_truncation)] // both halves are in it
    pub(crate) const fn value(self) -> u32 {
        (self.0 ^ self.0 >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    fn digest(text: &str) -> u32 {
        let mut digest = Digest::new();
        digest.lines(text.as_bytes());
        digest.value()
    }

    #[test]
    fn comments_and_blanks_do_not_count() {
        let text = ".kernel \"a//b\"\n    mov (M1, 8) V1(0,0)<1> 0x1:d //@ dst.region+0x10\n";
        let same = "\r\n.kernel \"a//b\" // name\r\n// a note\n/* 1\n2 */\t/**/mov (M1, 8) V1(0,0)<1> 0x1:d //@ dst.region+0x10";
        assert_eq!(digest(text), digest(same));
    }

    #[test]
    fn everything_else_counts() {
        let text = ".kernel \"a//b\"\n    mov (M1, 8) V1(0,0)<1> 0x1:d //@ dst.region+0x10\n";
        for (from, to) in [
            ("b\"", "c\""),
            ("0x1:d", "0x2:d"),
            ("+0x10", "+0x20"),
            ("mov", "mov  "),
            ("\n    mov", " mov"),
        ] {
            assert_ne!(digest(text), digest(&text.replacen(from, to, 1)), "{to}");
        }
    }
}
