//! The line buffer: numbers, padding, string literals.

use alloc::vec::Vec;

/// A line under construction. Reused for the next one, to avoid allocations.
#[derive(Debug, Default)]
pub(crate) struct Line {
    bytes: Vec<u8>,
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The character of a digit below sixteen.
#[allow(clippy::indexing_slicing)] // sixteen entries, four bits
#[cfg_attr(not(debug_assertions), inline(always))]
const fn digit(value: u64) -> u8 {
    DIGITS[(value & 0xf) as usize]
}

impl Line {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(256),
        }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn raw(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// A decimal number.
    #[inline]
    pub(crate) fn number(&mut self, value: impl Into<u64>) {
        let value = value.into();
        if value < 10 {
            self.byte(digit(value));
        } else {
            self.text(itoa::Buffer::new().format(value));
        }
    }

    /// A decimal number with its sign.
    #[inline]
    pub(crate) fn signed(&mut self, value: i64) {
        if value < 0 {
            self.byte(b'-');
        }
        self.number(value.unsigned_abs());
    }

    /// Hexadecimal digits without leading zeros.
    #[inline]
    pub(crate) fn hex(&mut self, value: u64) {
        let nibbles = (64 - value.leading_zeros()).div_ceil(4).max(1);
        for nibble in (0..nibbles).rev() {
            self.byte(digit(value >> (nibble * 4)));
        }
    }

    /// The two hexadecimal digits of a byte.
    pub(crate) fn hex_pair(&mut self, byte: u8) {
        self.byte(digit(u64::from(byte >> 4)));
        self.byte(digit(u64::from(byte)));
    }

    /// Hexadecimal digits in capitals.
    #[inline]
    pub(crate) fn hex_capital(&mut self, value: u64) {
        let start = self.bytes.len();
        self.hex(value);
        if let Some(digits) = self.bytes.get_mut(start..) {
            digits.make_ascii_uppercase();
        }
    }

    /// Blanks up to `column`.
    #[inline]
    pub(crate) fn pad(&mut self, column: usize) {
        if self.bytes.len() < column {
            self.bytes.resize(column, b' ');
        }
    }

    /// A string literal.
    pub(crate) fn quoted(&mut self, text: impl IntoIterator<Item = u8>) {
        self.byte(b'"');
        for byte in text {
            let escape = match byte {
                0x07 => b'a',
                0x08 => b'b',
                0x1b => b'e',
                0x0c => b'f',
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                0x0b => b'v',
                b'\'' | b'"' | b'\\' => byte,
                b' '..=b'~' => {
                    self.byte(byte);
                    continue;
                }
                _ => {
                    self.raw(&[
                        b'\\',
                        b'x',
                        digit(u64::from(byte >> 4)),
                        digit(u64::from(byte)),
                    ]);
                    continue;
                }
            };
            self.raw(&[b'\\', escape]);
        }
        self.byte(b'"');
    }
}

#[cfg(test)]
mod tests {
    use super::Line;
    use alloc::string::String;

    fn made(make: impl FnOnce(&mut Line)) -> String {
        let mut line = Line::new();
        make(&mut line);
        String::from_utf8(line.bytes).unwrap()
    }

    #[test]
    fn numbers() {
        assert_eq!(made(|l| l.number(0u8)), "0");
        assert_eq!(made(|l| l.number(10u8)), "10");
        assert_eq!(made(|l| l.number(u64::MAX)), "18446744073709551615");
        assert_eq!(made(|l| l.signed(i64::MIN)), "-9223372036854775808");
        assert_eq!(made(|l| l.hex(0)), "0");
        assert_eq!(made(|l| l.hex(0x10)), "10");
        assert_eq!(made(|l| l.hex(u64::MAX)), "ffffffffffffffff");
        assert_eq!(made(|l| l.hex_capital(0xab1)), "AB1");
    }

    #[test]
    fn literals() {
        assert_eq!(
            made(|l| l.quoted(*b"a\"\\\n'\x1b\x00\xff~")),
            r#""a\"\\\n\'\e\x00\xff~""#
        );
    }
}
