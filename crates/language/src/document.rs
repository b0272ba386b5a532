//! A text that is edited.

use crate::analysis::Analysis;
use crate::line::{Line, What};
use crate::names::Before;
use crate::symbols::Symbols;
use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::ops::Range;
use visakit_isa::{Format, Platform, Version};

/// How a text is read if it does not state this itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The platform whose rules are checked, and whose registers offsets are counted in. A line
    /// `//Platform: NAME`, which compilers write at the end, goes before it.
    pub platform: Option<Platform>,
}

/// A text and what is known about it.
#[derive(Debug)]
pub struct Document {
    text: String,
    settings: Settings,
    /// One for each line; the last one may be empty.
    lines: Vec<Line>,
    /// How many lines have been lexed since the document was created.
    lexed: u64,
    /// The name of the next line.
    next_id: u64,
    symbols: OnceCell<Symbols>,
    /// The meanings of names before edits that highlighted lines have not been updated for.
    pub(crate) before: RefCell<Option<Before>>,
    analysis: OnceCell<Analysis>,
}

/// The range of an edit is not one of the text, or cuts a character.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchPlace(pub Range<usize>);

impl fmt::Display for NoSuchPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = self.0;
        write!(
            f,
            "bytes {start} to {end} are no range of characters of the text"
        )
    }
}

impl core::error::Error for NoSuchPlace {}

impl Document {
    /// A text without settings.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self::with_settings(text, Settings::default())
    }

    /// A text.
    #[must_use]
    pub fn with_settings(text: impl Into<String>, settings: Settings) -> Self {
        let mut document = Self {
            text: text.into(),
            settings,
            lines: Vec::new(),
            lexed: 0,
            next_id: 1,
            symbols: OnceCell::new(),
            before: RefCell::default(),
            analysis: OnceCell::new(),
        };
        document.relex(0, 0, 0);
        document
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How the text is read.
    #[must_use]
    pub const fn settings(&self) -> Settings {
        self.settings
    }

    /// Changes how the text is read.
    pub fn set_settings(&mut self, settings: Settings) {
        if self.settings != settings {
            self.settings = settings;
            self.analysis.take();
        }
    }

    /// Puts another text in place of a range of bytes. Only the lines that it touches are lexed, and those after it
    /// whose meaning changes by it.
    ///
    /// # Errors
    /// The range is outside the text, or splits a character; nothing is changed then.
    pub fn edit(&mut self, range: Range<usize>, with: &str) -> Result<(), NoSuchPlace> {
        if range.start > range.end || self.text.get(range.clone()).is_none() {
            return Err(NoSuchPlace(range));
        }
        self.analysis.take();
        if self.edit_inside(&range, with) {
            return Ok(());
        }
        self.remember_names();
        // A line that a backslash joins to the one before is lexed with it.
        let mut first = self.line_at(range.start);
        while first > 0 && self.joins(first - 1) {
            first -= 1;
        }
        let last = self.line_at(range.end);
        let removed = range.len();
        self.text.replace_range(range.clone(), with);
        self.symbols.take();
        // Lines after the edit move.
        for line in self.lines.iter_mut().skip(last + 1) {
            line.start = line.start - removed + with.len();
        }
        self.relex(first, last + 1, range.start + with.len());
        Ok(())
    }

    /// An edit inside one line that does not affect what other lines know about it: the usual case. Returns `false`,
    /// without changing anything, if it is not one.
    fn edit_inside(&mut self, range: &Range<usize>, with: &str) -> bool {
        let number = self.line_at(range.start);
        let Some(old) = self.lines.get(number) else {
            return false;
        };
        let end = old.start + old.length;
        // The last line has no end, the first ones may say the version, and joined lines are one statement.
        let simple = range.end < end && number + 1 < self.lines.len() && old.what != What::Version;
        if !simple
            || with.contains('\n')
            || self.joins(number)
            || number > 0 && self.joins(number - 1)
        {
            return false;
        }
        let Some(before) = self.text.get(old.start..range.start) else {
            return false;
        };
        let said = [
            before,
            with,
            self.text.get(range.end..end).unwrap_or_default(),
        ]
        .concat();
        let mut line = Line::lex(&said, 0, old.state);
        let name =
            |line: &Line, text: &str| line.name().map(|name| text.get(name).map(str::to_owned));
        let joins = said.trim_end_matches(['\n', '\r']).ends_with('\\');
        if joins || line.role() != old.role() || name(&line, &said) != name(old, &self.text) {
            return false;
        }
        self.lexed += 1;
        line.start = old.start;
        line.id = old.id;
        let (start, moved, name) = (old.start, (range.len(), with.len()), line.name());
        if let Some(symbols) = self.symbols.get_mut() {
            symbols.shift(number, start, moved, name.as_ref());
        }
        self.text.replace_range(range.clone(), with);
        for line in self.lines.iter_mut().skip(number + 1) {
            line.start = line.start - moved.0 + moved.1;
        }
        if let Some(place) = self.lines.get_mut(number) {
            *place = line;
        }
        true
    }

    /// Puts another text in place of everything.
    pub fn replace(&mut self, text: impl Into<String>) {
        *self = Self::with_settings(text, self.settings);
    }

    /// Lexes from a line on, in place of the lines up to `next`, at least up to the line with the offset `until`, and
    /// further until a line begins in the state that it had before.
    fn relex(&mut self, first: usize, next: usize, until: usize) {
        let mut start = self.lines.get(first).map_or(0, |line| line.start);
        let mut state = self.lines.get(first).map(|l| l.state).unwrap_or_default();
        let mut made: Vec<Line> = Vec::new();
        let mut next = next.min(self.lines.len());
        loop {
            let statement = self.text.get(start..).unwrap_or_default();
            let mut line = Line::lex(statement, start, state);
            self.lexed += 1;
            line.start = start;
            state = line.leaves;
            let length = line.length;
            made.push(line);
            start += length;
            if start >= self.text.len() {
                if self.text.ends_with('\n') && length > 0 {
                    let mut last = Line::lex("", start, state);
                    last.start = start;
                    made.push(last);
                }
                next = self.lines.len();
                break;
            }
            if start <= until {
                continue;
            }
            // Check whether the following lines are unaffected.
            while self.lines.get(next).is_some_and(|line| line.start < start) {
                next += 1;
            }
            let same = |line: &Line| line.start == start && line.state == state;
            if self.lines.get(next).is_some_and(same) {
                break;
            }
        }
        // A line in the place of another has its name.
        let gone = self.lines.get(first..next.max(first)).unwrap_or_default();
        for (at, line) in made.iter_mut().enumerate() {
            line.id = gone.get(at).map_or(self.next_id, |gone| gone.id);
            self.next_id += u64::from(line.id == self.next_id);
        }
        self.lines.splice(first..next.max(first), made);
    }

    /// Whether a backslash at the end of a line cancels its line end.
    fn joins(&self, line: usize) -> bool {
        self.line_text(line).ends_with('\\')
    }

    /// How many lines have been lexed since the document was created, including the first time: shows the savings of
    /// incremental lexing.
    #[must_use]
    pub const fn lexed_lines(&self) -> u64 {
        self.lexed
    }

    /// The number of lines; one more than there are line ends.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The line that an offset is in.
    #[must_use]
    pub fn line_at(&self, offset: usize) -> usize {
        let after = self.lines.partition_point(|line| line.start <= offset);
        after.saturating_sub(1)
    }

    /// The offset at which a line begins; the length of the text where there is no such line.
    #[must_use]
    pub fn line_start(&self, line: usize) -> usize {
        self.lines
            .get(line)
            .map_or(self.text.len(), |line| line.start)
    }

    /// A line without its end.
    #[must_use]
    pub fn line_text(&self, line: usize) -> &str {
        let whole = self
            .text
            .get(self.line_start(line)..self.line_start(line + 1));
        let whole = whole.unwrap_or_default();
        let line = whole.strip_suffix('\n').unwrap_or(whole);
        line.strip_suffix('\r').unwrap_or(line)
    }

    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub(crate) fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| Symbols::of(self))
    }

    /// The results of assembler and validator, computed on the first request after an edit.
    #[must_use]
    pub fn analysis(&self) -> &Analysis {
        self.analysis.get_or_init(|| Analysis::of(self))
    }

    /// Whether the analysis has already been computed.
    #[must_use]
    pub fn is_analysed(&self) -> bool {
        self.analysis.get().is_some()
    }

    /// The platform that the text names, else that of the settings.
    #[must_use]
    pub fn platform(&self) -> Option<Platform> {
        self.analysis().platform()
    }

    /// The layout that the text is for, as far as its first line says.
    #[must_use]
    pub fn layout(&self) -> Format {
        let said = self
            .lines
            .iter()
            .take(64)
            .find(|line| line.what == What::Version);
        let said = said.and_then(|line| {
            let text = self.text.get(line.start..line.start + line.length)?;
            let (major, minor) = text
                .trim()
                .strip_prefix(".version")?
                .trim()
                .split_once('.')?;
            let minor = minor.split(|c: char| !c.is_ascii_digit()).next()?;
            Some(Version::new(major.parse().ok()?, minor.parse().ok()?))
        });
        let known = said.filter(|v| v.is_supported() || *v == Version::V4_2);
        Format::new(
            known.unwrap_or(Version::V4_1),
            visakit_isa::Dialect::default(),
        )
    }
}
