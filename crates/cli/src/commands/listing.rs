//! Text for people: with offsets, bytes, source lines, notes and colours. All additions are in
//! comments, so that the text still assembles.

use crate::output::printable;
use anstyle::{AnsiColor, Style};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use visakit::isa::object::{Item, Object, RoutineId, SourceFiles, SourceLine};
use visakit::isa::{Op, Value};
use visakit::parse::Container;
use visakit::text::asm::{self, assemble};
use visakit::text::{Form, LineKind, Options, Output, Printer, Token, tokens};
use visakit_debug::Sources;

/// What is shown besides the text.
#[derive(clap::Args, Clone)]
pub(crate) struct Shown {
    /// The place of each instruction in the file, in a comment before it.
    #[arg(long)]
    offsets: bool,
    /// The bytes of each instruction, in comments.
    #[arg(long)]
    bytes: bool,
    /// The lines of the source that FILE and LOC name, where the files are found: below the folder of
    /// the object, or below DIR.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    source: Option<Option<PathBuf>>,
    /// What the bytes of an instruction say and its text does not, in a comment after it.
    #[arg(long)]
    notes: bool,
}

impl Shown {
    /// Whether anything is.
    pub(crate) const fn any(&self) -> bool {
        self.offsets || self.bytes || self.source.is_some() || self.notes
    }
}

/// Bytes in a line.
const ROW: usize = 8;

/// Prints routines for people.
pub(crate) struct Listing<'o, W> {
    out: W,
    object: &'o Object<'o>,
    file: &'o [u8],
    container: Option<Container<'o>>,
    shown: &'o Shown,
    colours: bool,
    options: Options,
    /// The routines that are not printed yet, where the whole object is.
    to_come: VecDeque<RoutineId>,
    /// The items of the routine that is printed.
    code: &'o [Item<'o>],
    /// Where each of them begins and ends.
    places: Vec<(usize, usize)>,
    /// Facts about instructions that their text does not show.
    notes: HashMap<usize, String>,
    source: Source,
}

/// The source locations of the code, according to FILE and LOC.
struct Source {
    files: SourceFiles,
    /// For each item of the routine that is printed.
    lines: Vec<Option<SourceLine>>,
    texts: Sources,
}

impl<'o, W: Write> Listing<'o, W> {
    pub(crate) fn new(
        out: W,
        path: &Path,
        file: &'o [u8],
        object: &'o Object<'o>,
        options: Options,
        shown: &'o Shown,
        colours: bool,
    ) -> Self {
        let beside = path.parent().unwrap_or(Path::new("")).to_owned();
        let named = shown.source.iter().flatten().cloned();
        let folders = std::iter::once(beside).chain(named);
        Self {
            out,
            object,
            file,
            container: Container::parse(file).ok(),
            shown,
            colours,
            options,
            to_come: VecDeque::new(),
            code: &[],
            places: Vec::new(),
            notes: HashMap::new(),
            source: Source {
                files: SourceFiles::default(),
                lines: Vec::new(),
                texts: Sources::new(folders.collect()),
            },
        }
    }

    fn printer(&self) -> Printer<'o, 'o> {
        Printer::new(self.object, self.options)
    }

    /// Everything of the object.
    pub(crate) fn whole(&mut self) -> io::Result<()> {
        let ids = self.object.routines().map(|(id, _)| id);
        if self.options.form == Form::Intel {
            for id in ids {
                self.routine(id)?;
            }
            return Ok(());
        }
        self.to_come = ids.collect();
        self.printer().object(self)
    }

    /// One routine.
    pub(crate) fn routine(&mut self, id: RoutineId) -> io::Result<()> {
        self.begin(id);
        self.printer().routine(id, self)
    }

    /// The lines of this routine follow.
    fn begin(&mut self, id: RoutineId) {
        let body = self.object.routine(id).and_then(|r| r.body());
        self.code = body.map_or(&[][..], |b| &b.code);
        self.places = self.places_of(id);
        self.notes.clear();
        self.source.lines = match body {
            Some(body) if self.shown.source.is_some() => self.source.files.lines(body),
            _ => Vec::new(),
        };
        if self.shown.notes {
            self.notes = notes(self.printer(), id, self.object, self.code, self.options);
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Where the items of a routine are in the file.
    fn places_of(&self, id: RoutineId) -> Vec<(usize, usize)> {
        let format = self.object.format();
        let size = |item: &Item<'_>| match item {
            Item::Raw(raw) => raw.bytes.len(),
            Item::Instruction(i) => visakit::encode::instruction(i, format).map_or(0, |b| b.len()),
        };
        let sizes: Vec<usize> = self.code.iter().map(size).collect();
        let routine = self.container.as_ref().and_then(|c| c.routine(id).ok());
        let start = routine.and_then(|r| usize::try_from(r.instructions().offset()).ok());
        let Some(start) = start.or_else(|| self.start_before_damage(&sizes)) else {
            return Vec::new();
        };
        let mut at = start;
        let place = |size: usize| {
            let start = at;
            at = at.saturating_add(size);
            (start, at)
        };
        sizes.into_iter().map(place).collect()
    }

    /// Where an incomplete routine begins: what could not be decoded is a piece of the file.
    fn start_before_damage(&self, sizes: &[usize]) -> Option<usize> {
        let raw = |item: &Item<'_>| match item {
            Item::Raw(raw) => Some(raw.bytes.as_ptr().addr()),
            Item::Instruction(_) => None,
        };
        let mut items = self.code.iter().enumerate();
        let (index, address) = items.find_map(|(i, item)| Some((i, raw(item)?)))?;
        let offset = address.checked_sub(self.file.as_ptr().addr())?;
        let before: usize = sizes.iter().take(index).sum();
        offset
            .checked_sub(before)
            .filter(|start| *start < self.file.len())
    }

    fn bytes(&self, index: usize) -> &'o [u8] {
        let place = self.places.get(index).copied();
        let file: &'o [u8] = self.file;
        place.and_then(|(a, b)| file.get(a..b)).unwrap_or_default()
    }

    /// Text in its colours, if it has some.
    fn text(&mut self, text: &[u8]) -> io::Result<()> {
        if !self.colours {
            return self.out.write_all(text);
        }
        let mut at = 0;
        for (token, span) in tokens(text) {
            self.out
                .write_all(text.get(at..span.start).unwrap_or_default())?;
            let word = text.get(span.start..span.end()).unwrap_or_default();
            match style(token) {
                None => self.out.write_all(word)?,
                Some(style) => {
                    write!(self.out, "{style}")?;
                    self.out.write_all(word)?;
                    write!(self.out, "{style:#}")?;
                }
            }
            at = span.end();
        }
        self.out.write_all(text.get(at..).unwrap_or_default())
    }

    /// `/* 0x000805 75 04 00 */`; empty if nothing was requested.
    fn margin(&self, index: usize) -> String {
        let mut margin = String::new();
        if !self.shown.offsets && !self.shown.bytes {
            return margin;
        }
        margin.push_str("/*");
        if self.shown.offsets {
            let at = self.places.get(index).map_or(0, |(start, _)| *start);
            // Writing to a string does not fail.
            let _ = write!(margin, " {at:#08x}");
        }
        if self.shown.bytes {
            row(&mut margin, self.bytes(index), 0);
        }
        margin.push_str(" */");
        margin
    }

    fn instruction(&mut self, index: usize, text: &[u8]) -> io::Result<()> {
        if self.shown.source.is_some()
            && let Some(line) = self.source_line(index)
        {
            self.text(line.as_bytes())?;
        }
        let margin = self.margin(index);
        // Labels begin with an empty line.
        let blank = text.iter().take_while(|c| matches!(c, b'\n')).count();
        let (before, text) = text.split_at_checked(blank).unwrap_or((&[], text));
        self.out.write_all(before)?;
        self.text(margin.as_bytes())?;
        self.text(text)?;
        let bytes = self.bytes(index);
        if self.shown.bytes {
            for start in (ROW..bytes.len()).step_by(ROW) {
                let mut more = String::from("/*");
                if self.shown.offsets {
                    more.push_str("         ");
                }
                row(&mut more, bytes, start);
                more.push_str(" */\n");
                self.text(more.as_bytes())?;
            }
        }
        if let Some(note) = self.notes.get(&index) {
            let note = format!("    // the bytes say besides: {note}\n");
            self.text(note.as_bytes())?;
        }
        Ok(())
    }

    /// The line of the source that a LOC names.
    fn source_line(&mut self, index: usize) -> Option<String> {
        let Some(Item::Instruction(instruction)) = self.code.get(index) else {
            return None;
        };
        let of = (*self.source.lines.get(index)?).filter(|_| instruction.op == Op::LOC)?;
        let (file, number) = (of.file?, of.line);
        let name = self.source.files.name(file)?;
        let line = self.source.texts.line(name, number)?;
        Some(format!(
            "// {}:{number}: {}\n",
            printable(name.as_bytes()),
            printable(line.trim_end().as_bytes())
        ))
    }
}

impl<W: Write> Output for Listing<'_, W> {
    type Error = io::Error;

    fn line(&mut self, kind: LineKind, text: &[u8]) -> io::Result<()> {
        match kind {
            LineKind::Instruction(index) => self.instruction(index, text),
            LineKind::Undecoded(index) => {
                if let Some((start, end)) = self.places.get(index).copied() {
                    let place = format!("    /// damaged from {start:#x} to {end:#x}\n");
                    self.text(place.as_bytes())?;
                }
                self.text(text)?;
                let bytes = self.bytes(index);
                for start in (0..bytes.len()).step_by(ROW).filter(|_| self.shown.bytes) {
                    let mut more = String::from("/*");
                    row(&mut more, bytes, start);
                    more.push_str(" */\n");
                    self.out.write_all(more.as_bytes())?;
                }
                Ok(())
            }
            // Whole objects have an empty line before each routine.
            LineKind::Header if text == b"\n" => {
                if let Some(id) = self.to_come.pop_front() {
                    self.begin(id);
                }
                self.text(text)
            }
            _ => self.text(text),
        }
    }
}

/// A row of bytes, padded to its width.
fn row(text: &mut String, bytes: &[u8], start: usize) {
    let row = bytes.iter().skip(start).take(ROW);
    let count = row.len();
    for byte in row {
        let _ = write!(text, " {byte:02x}");
    }
    for _ in count..ROW {
        text.push_str("   ");
    }
}

fn style(token: Token) -> Option<Style> {
    Some(match token {
        Token::Comment => AnsiColor::BrightBlack.on_default(),
        Token::Directive => AnsiColor::Magenta.on_default(),
        Token::Mnemonic => AnsiColor::Blue.on_default().bold(),
        Token::Label => AnsiColor::Yellow.on_default().bold(),
        Token::Predefined => AnsiColor::Cyan.on_default(),
        Token::Number => AnsiColor::Green.on_default(),
        Token::Type => AnsiColor::BrightBlack.on_default(),
        Token::String => AnsiColor::Green.on_default(),
        _ => return None,
    })
}

/// What the instructions contain that their text does not show: determined by assembling the text.
fn notes(
    printer: Printer<'_, '_>,
    id: RoutineId,
    object: &Object<'_>,
    code: &[Item<'_>],
    options: Options,
) -> HashMap<usize, String> {
    let mut notes = HashMap::new();
    let mut text = Vec::new();
    let Ok(()) = printer.routine(id, &mut text);
    let options = asm::Options {
        version: Some(object.version),
        dialect: Some(object.dialect),
        grf_bytes: options.grf_bytes,
    };
    let Ok(again) = assemble(&text, &options) else {
        return notes;
    };
    let Some(body) = again.routines().find_map(|(_, r)| r.body()) else {
        return notes;
    };
    // Numbers of labels and strings are reassigned.
    let told = |value: &Value| matches!(value, Value::Label(_) | Value::String(_));
    for (index, (item, again)) in code.iter().zip(&body.code).enumerate() {
        let (Item::Instruction(a), Item::Instruction(b)) = (item, again) else {
            continue;
        };
        let mut note = String::new();
        for field in a.fields.iter().filter(|f| !told(&f.value)) {
            let other = b.get(field.name);
            let single = a.all(field.name).count() == 1;
            if a.op == b.op && single && other != Some(&field.value) {
                let separator = if note.is_empty() { "" } else { ", " };
                let _ = write!(note, "{separator}{} is {:?}", field.name, field.value);
            }
        }
        if !note.is_empty() {
            notes.insert(index, note);
        }
    }
    notes
}
