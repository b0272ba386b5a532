//! Plain tables and paragraphs: columns separated by spaces, wrapped at words if the terminal is narrow.

use std::fmt;
use std::sync::OnceLock;
use unicode_width::UnicodeWidthStr;

/// Where the text of a column begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Prose is not wider than this, however wide the terminal is.
const PROSE: usize = 80;

/// Minimum width of lines of prose.
const NARROWEST: usize = 12;

/// Longer words may be cut.
const LONGEST: usize = 24;

/// Maximum width of a line of output: that of the terminal, or else the value of `COLUMNS`. Unlimited for a pipe.
pub(crate) fn width() -> usize {
    static WIDTH: OnceLock<usize> = OnceLock::new();
    *WIDTH.get_or_init(|| {
        let terminal = terminal_size::terminal_size_of(std::io::stdout());
        let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
        let known = terminal
            .map(|(width, _)| usize::from(width.0))
            .or_else(columns);
        known.filter(|n| *n > 0).unwrap_or(usize::MAX)
    })
}

/// Characters that a line of prose may have.
pub(crate) fn prose() -> usize {
    width().min(PROSE)
}

/// Lines of at most `width` characters, broken at spaces; longer words are cut.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut free = width;
    for word in text.split(' ') {
        let mut word = word;
        loop {
            let Some(line) = lines.last_mut() else {
                return lines;
            };
            let gap = usize::from(free < width);
            let size = word.width();
            if size + gap <= free {
                if gap > 0 {
                    line.push(' ');
                }
                line.push_str(word);
                free -= size + gap;
                break;
            }
            if gap == 0 {
                // A single word is longer than a line.
                let cut = word
                    .char_indices()
                    .nth(width.max(1))
                    .map_or(word.len(), |(at, _)| at);
                let (first, rest) = word.split_at(cut);
                line.push_str(first);
                word = rest;
                if word.is_empty() {
                    free = 0;
                    break;
                }
            }
            lines.push(String::new());
            free = width;
        }
    }
    lines
}

/// A paragraph with every line indented by `indent` spaces.
pub(crate) fn paragraph(text: &str, indent: usize) -> String {
    let lines = wrap(text, prose().saturating_sub(indent).max(NARROWEST));
    let lines = lines.iter().map(|line| format!("{:indent$}{line}\n", ""));
    lines.collect()
}

/// A table under construction.
pub(crate) struct Columns {
    heads: Vec<(&'static str, Align)>,
    shows_heads: bool,
    rows: Vec<Vec<String>>,
    limit: usize,
}

impl Columns {
    /// A table with these column heads. Columns in which all cells are empty are left out.
    pub(crate) fn new(heads: &[(&'static str, Align)]) -> Self {
        Self {
            heads: heads.to_vec(),
            shows_heads: true,
            rows: Vec::new(),
            limit: width(),
        }
    }

    /// A table of names and their meanings, without headings.
    pub(crate) fn pairs() -> Self {
        Self {
            shows_heads: false,
            limit: prose(),
            ..Self::new(&[("", Align::Left), ("", Align::Left)])
        }
    }

    /// Appends a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// Whether it needs no wrapping.
    pub(crate) fn fits(&self) -> bool {
        let columns = self.columns();
        total(&columns) <= self.limit
    }

    /// The columns that are shown, with the widths of their contents.
    fn columns(&self) -> Vec<(usize, usize)> {
        let cells = |n: usize| self.rows.iter().filter_map(move |row| row.get(n));
        let shown = (0..self.heads.len()).filter(|n| cells(*n).any(|cell| !cell.is_empty()));
        let head = |n: usize| self.heads.get(n).map_or(0, |(head, _)| head.width());
        let widest = |n: usize| cells(n).map(|cell| cell.width()).max().unwrap_or(0);
        shown.map(|n| (n, widest(n).max(head(n)))).collect()
    }

    /// Narrows columns of text until all fit, the widest first; words are kept whole unless they are long.
    fn shrink(&self, columns: &mut [(usize, usize)]) {
        let word = |n: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(n));
            let head = self.heads.get(n).map_or("", |(head, _)| head);
            let words = cells
                .map(String::as_str)
                .chain([head])
                .flat_map(|cell| cell.split(' '));
            words
                .map(UnicodeWidthStr::width)
                .max()
                .unwrap_or(0)
                .min(LONGEST)
        };
        let least: Vec<usize> = (0..self.heads.len()).map(word).collect();
        while total(columns) > self.limit {
            let text = |n: usize| {
                self.heads
                    .get(n)
                    .is_some_and(|(_, align)| *align == Align::Left)
            };
            let least = |n: usize| least.get(n).copied().unwrap_or(0);
            let wide = columns
                .iter_mut()
                .filter(|(n, w)| text(*n) && *w > least(*n));
            let Some((_, widest)) = wide.max_by_key(|(_, w)| *w) else {
                return;
            };
            *widest -= 1;
        }
    }
}

/// The indent, the columns, and the gaps between them.
fn total(columns: &[(usize, usize)]) -> usize {
    columns.iter().map(|(_, width)| width + 2).sum()
}

impl fmt::Display for Columns {
    /// Every line is indented by two spaces and ends with a line feed, without trailing blanks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut columns = self.columns();
        self.shrink(&mut columns);
        let heads = self
            .heads
            .iter()
            .map(|(head, _)| (*head).to_owned())
            .collect();
        let heads: Option<Vec<String>> = self.shows_heads.then_some(heads);
        for row in heads.iter().chain(&self.rows) {
            let cell = |(n, width): &(usize, usize)| {
                let text = row.get(*n).map_or("", String::as_str);
                if text.width() <= *width {
                    vec![text.to_owned()]
                } else {
                    wrap(text, *width)
                }
            };
            let cells: Vec<_> = columns.iter().map(cell).collect();
            let lines = cells.iter().map(Vec::len).max().unwrap_or(0);
            for number in 0..lines {
                let mut line = String::new();
                for ((n, width), cell) in columns.iter().zip(&cells) {
                    let text = cell.get(number).map_or("", String::as_str);
                    let blank = " ".repeat(width.saturating_sub(text.width()));
                    let right = self.heads.get(*n).is_some_and(|h| h.1 == Align::Right);
                    line.push_str("  ");
                    line.push_str(if right { &blank } else { text });
                    line.push_str(if right { text } else { &blank });
                }
                writeln!(f, "{}", line.trim_end())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_columns_are_left_out() {
        let heads = [
            ("n", Align::Right),
            ("none", Align::Left),
            ("name", Align::Left),
        ];
        let mut table = Columns::new(&heads);
        table.row(["1".to_owned(), String::new(), "one".to_owned()]);
        table.row(["10".to_owned(), String::new(), "ten".to_owned()]);
        assert_eq!(table.to_string(), "   n  name\n   1  one\n  10  ten\n");
    }

    #[test]
    fn pairs_have_no_heads() {
        let mut table = Columns::pairs();
        table.row(["a".to_owned(), "b".to_owned()]);
        assert_eq!(table.to_string(), "  a  b\n");
    }

    #[test]
    fn text_is_wrapped_at_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a_long_word b", 4), ["a_lo", "ng_w", "ord", "b"]);
        assert_eq!(wrap("", 4), [""]);
        let mut table = Columns::new(&[("n", Align::Right), ("text", Align::Left)]);
        table.limit = 20;
        table.row(["1".to_owned(), "some words that do not fit".to_owned()]);
        let expected = "  n  text\n  1  some words that\n     do not fit\n";
        assert_eq!(table.to_string(), expected);
    }
}
