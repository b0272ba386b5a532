//! Lines and columns.

use crate::Document;
use std::ops::Range;

/// The unit of columns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of 16 bits, as JavaScript counts, and protocols for editors unless they agree on something else.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    const fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// The number of units in a text.
    #[must_use]
    pub fn length(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            _ if text.is_ascii() => text.len(),
            _ => text.chars().map(|c| self.width(c)).sum(),
        }
    }
}

/// A line and a column, both from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in units of an [`Encoding`].
    pub column: usize,
}

impl Document {
    /// The position of an offset. One past the end is treated as the end, one inside a character as its beginning.
    #[must_use]
    pub fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let line = self.line_at(offset);
        let start = self.line_start(line);
        let mut end = offset.clamp(start, self.text().len());
        while !self.text().is_char_boundary(end) {
            end -= 1;
        }
        let before = self.text().get(start..end).unwrap_or_default();
        Position {
            line,
            column: encoding.length(before),
        }
    }

    /// The offset of a place. Columns past the end of a line mean its end, lines past the last the end of the text.
    #[must_use]
    pub fn offset(&self, position: Position, encoding: Encoding) -> usize {
        if position.line >= self.line_count() {
            return self.text().len();
        }
        let start = self.line_start(position.line);
        let line = self.line_text(position.line);
        if line.is_ascii() {
            return start + position.column.min(line.len());
        }
        let mut column = 0;
        for (at, c) in line.char_indices() {
            if column >= position.column {
                return start + at;
            }
            column += encoding.width(c);
            if column > position.column {
                // Inside of the character.
                return start + at;
            }
        }
        start + line.len()
    }

    /// The offsets between two places.
    #[must_use]
    pub fn range(&self, start: Position, end: Position, encoding: Encoding) -> Range<usize> {
        let start = self.offset(start, encoding);
        start..self.offset(end, encoding).max(start)
    }
}
