//! The code of a routine: where its instructions are in the file, and the text of one that is shown and not edited.
//!
//! Routines may have hundreds of thousands of instructions: data about them is computed once and kept.

use crate::file::File;
use crate::units::Units;
use std::convert::Infallible;
use std::ops::Range;
use std::rc::Rc;
use visakit::isa::object::RoutineId;
use visakit::parse::{Instructions, Rules};
use visakit::text::{LineKind, Options, Output, Printer};
use visakit_language::Document;

/// Instructions of a routine whose fields are listed together.
pub(crate) const CHUNK: usize = 1000;

/// The places of a routine's instructions in the file.
#[derive(Debug, Default)]
pub(crate) struct Code {
    /// Offset and length of each.
    pub(crate) places: Vec<(usize, usize)>,
    /// Where they begin.
    pub(crate) start: usize,
    /// Whether bytes follow that could not be decoded.
    pub(crate) has_rest: bool,
}

impl Code {
    fn of(file: &File, id: RoutineId) -> Self {
        let Some(reader) = file.container().and_then(|c| c.routine(id).ok()) else {
            return Self::default();
        };
        let format = file.object.format();
        let start = reader.tables_end();
        let mut code = Self {
            start: usize::try_from(start).unwrap_or(usize::MAX),
            ..Self::default()
        };
        for instruction in Instructions::new(reader.code(), start, format, Rules::LENIENT) {
            let Ok(instruction) = instruction else {
                code.has_rest = true;
                break;
            };
            let offset = usize::try_from(instruction.offset()).unwrap_or(usize::MAX);
            code.places.push((offset, instruction.len()));
        }
        code
    }

    /// The number of lists of fields.
    pub(crate) fn chunks(&self) -> usize {
        (self.places.len() + usize::from(self.has_rest)).div_ceil(CHUNK)
    }

    /// The list that the field at an offset is in.
    pub(crate) fn chunk_at(&self, offset: usize) -> Option<usize> {
        if offset < self.start || self.chunks() == 0 {
            return None;
        }
        let after = self.places.partition_point(|(start, _)| *start <= offset);
        // What follows the last instruction could not be decoded.
        let within = after.checked_sub(1).and_then(|n| self.places.get(n));
        let inside = within.is_some_and(|(start, length)| offset < start + length);
        let number = if inside { after - 1 } else { after };
        Some((number / CHUNK).min(self.chunks() - 1))
    }
}

/// The text of a routine, and the places of its instructions.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    pub(crate) text: String,
    spans: Vec<Range<usize>>,
    units: Units,
    /// The starts of lines.
    lines: Vec<usize>,
}

impl Output for Printed {
    type Error = Infallible;

    fn line(&mut self, kind: LineKind, text: &[u8]) -> Result<(), Infallible> {
        let text = String::from_utf8_lossy(text);
        let start = self.text.len() + (text.len() - text.trim_start_matches('\n').len());
        self.text.push_str(&text);
        if let LineKind::Instruction(index) | LineKind::Undecoded(index) = kind
            && index == self.spans.len()
        {
            let end = start.max(self.text.trim_end().len());
            self.spans.push(start..end);
        }
        Ok(())
    }
}

/// A piece of a text with the class of its colour, in units of UTF-16.
pub(crate) type Piece = (usize, usize, visakit_language::Highlight);

impl Printed {
    fn of(file: &File, id: RoutineId) -> Self {
        let mut printed = Self::default();
        let Ok(()) = Printer::new(&file.object, Options::default()).routine(id, &mut printed);
        printed.units = Units::of(&printed.text);
        printed.lines.push(0);
        let ends = printed
            .text
            .bytes()
            .enumerate()
            .filter(|(_, b)| *b == b'\n');
        printed.lines.extend(ends.map(|(at, _)| at + 1));
        printed
    }

    /// Highlighting of some lines. Declarations outside of them are not known.
    pub(crate) fn highlights(&self, lines: Range<usize>) -> Vec<Piece> {
        let at = |line: usize| self.lines.get(line).copied().unwrap_or(self.text.len());
        let (from, to) = (at(lines.start), at(lines.end.max(lines.start)));
        let window = self.text.get(from..to).unwrap_or_default();
        let document = Document::new(window);
        let pieces = document.highlights(0..document.line_count()).into_iter();
        let place = |at: usize| self.units.units(from + at);
        let pieces = pieces.map(|(span, class)| (place(span.start), place(span.end), class));
        pieces.collect()
    }
}

impl File {
    /// The places of a routine's instructions.
    pub(crate) fn code(&self, routine: usize) -> Rc<Code> {
        self.kept.codes.get(routine, || match self.id(routine) {
            Ok(id) => Code::of(self, id),
            Err(_) => Code::default(),
        })
    }

    /// The text of a routine of a file that is not edited.
    pub(crate) fn printed(&self, routine: usize) -> Rc<Printed> {
        self.kept.printed.get(routine, || match self.id(routine) {
            Ok(id) => Printed::of(self, id),
            Err(_) => Printed::default(),
        })
    }

    /// The text of a routine; of a file that can be edited the whole text.
    pub(crate) fn text_of(&self, routine: usize) -> String {
        match &self.document {
            Some(document) => document.text().to_owned(),
            None => self.printed(routine).text.clone(),
        }
    }

    /// The places of a routine's instructions, four numbers for each: start and end in the text, in UTF-16 units,
    /// offset and length in the file. Omits instructions that are in only one of them.
    pub(crate) fn links(&self, routine: usize) -> Vec<u32> {
        let Ok(id) = self.id(routine) else {
            return Vec::new();
        };
        let code = self.code(routine);
        let mut links = Vec::with_capacity(code.places.len() * 4);
        let mut link = |from: usize, to: usize, (offset, length): (usize, usize)| {
            let numbers = [from, to, offset, length];
            links.extend(numbers.map(|n| u32::try_from(n).unwrap_or(u32::MAX)));
        };
        if let Some(document) = &self.document {
            let analysis = document.analysis();
            for (number, place) in code.places.iter().enumerate() {
                let span = analysis.place_of(id, number).unwrap_or(0..0);
                let text = document.text().get(span.clone()).unwrap_or_default();
                let start = span.start + (text.len() - text.trim_start().len());
                let end = (span.start + text.trim_end().len()).max(start);
                link(self.units.units(start), self.units.units(end), *place);
            }
        } else {
            let printed = self.printed(routine);
            let units = |at| printed.units.units(at);
            for (number, place) in code.places.iter().enumerate() {
                let span = printed.spans.get(number).cloned().unwrap_or(0..0);
                link(units(span.start), units(span.end), *place);
            }
        }
        links
    }
}
