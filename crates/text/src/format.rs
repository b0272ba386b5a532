//! Formats texts as the printer would, without changing what they say.

use crate::asm::pieces::{Piece, Record, Statement, StatementKind};
use crate::asm::{Errors, Options, Span, record_in_any_dialect};
use crate::lexer::{comment, joined_lines, literal};
use alloc::vec::Vec;

/// Gives a text the printer's spacing, one statement per line.
///
/// What changes: blanks and line breaks; mnemonics and other fixed words, which are spelled as the printer spells them;
/// execution sizes, which always name their mask. Instructions are indented by four blanks, and by four more for every
/// enclosing scope. Of several empty lines one is kept.
///
/// What is kept: every name, number and expression as written, and every comment except the instruction numbers that
/// printers append (`/// $12`), which would be wrong after an edit. A comment on its own line keeps its place between
/// the statements; one after a statement stays after it; one inside a statement moves after it, or before it if it
/// spans several lines.
///
/// Directives in comments (`//@`) are treated like other comments, and keep their meaning.
///
/// The result assembles to the same object, in every dialect, and formatting it again changes nothing. If neither the
/// options nor the text name a dialect, any that has everything the text uses will do.
///
/// ```
/// use visakit_text::asm::Options;
///
/// let text = b".version 4.1\n.kernel \"k\"\n.decl V1 v_type = G type=d num_elts=8\n\
///     MOV(8)V1( 0,0 )<1>0x2a:d // the answer\n";
/// let tidy = visakit_text::format(text, &Options::default()).unwrap();
/// assert_eq!(String::from_utf8(tidy).unwrap(), ".version 4.1\n.kernel \"k\"\n\
///     .decl V1 v_type=G type=d num_elts=8\n    mov (M1, 8) V1(0,0)<1> 0x2a:d // the answer\n");
/// ```
///
/// # Errors
/// Everything that is wrong with the text, as reported by the assembler.
pub fn format(text: &[u8], options: &Options) -> Result<Vec<u8>, Errors> {
    format_as(text, options, Style::Printer)
}

/// Which spacing a text is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// That of [`Printer`](crate::Printer).
    #[default]
    Printer,
    /// That of the compiler's dumps: instructions with their numbers in a column, no blanks in addresses, and a blank
    /// line before subroutines.
    Compiler,
}

/// Like [`format`], in a given style.
///
/// # Errors
/// As [`format`].
pub fn format_as(text: &[u8], options: &Options, style: Style) -> Result<Vec<u8>, Errors> {
    let record = record_in_any_dialect(text, options)?;
    let mut formatter = Formatter {
        text,
        out: Vec::with_capacity(text.len()),
        open: false,
        depth: 0,
        compiler: style == Style::Compiler,
        line: 0,
        number: 0,
        begins: false,
    };
    formatter.run(&record);
    Ok(formatter.out)
}

/// Width of one level of indentation.
const STEP: usize = 4;

/// Deeper scopes are not indented further, so that the output stays linear in the input.
const DEEPEST: usize = 8;

/// A piece of text between blanks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Item {
    LineEnd,
    Comment(Span),
    /// A string literal, or a run of other characters.
    Code(Span),
}

struct Formatter<'t> {
    text: &'t [u8],
    out: Vec<u8>,
    /// Whether the last line of the output has any text.
    open: bool,
    depth: usize,
    /// Whether the style is that of the compiler.
    compiler: bool,
    /// Where the last line of the output begins.
    line: usize,
    /// Number of the next instruction, subroutine or label.
    number: u64,
    /// Whether the last statement began a subroutine, whose label follows.
    begins: bool,
}

/// How the compiler begins a subroutine.
const SUBROUTINE: &[u8] = b".function";

/// Numbers of instructions come after this column.
const COLUMN: usize = 80;

impl<'t> Formatter<'t> {
    fn run(&mut self, record: &Record) {
        let mut pieces = record.pieces.as_slice();
        let mut at = 0;
        for statement in &record.statements {
            let count = match statement.kind {
                StatementKind::Instruction { pieces } => pieces,
                _ => 0,
            };
            let (own, rest) = pieces.split_at_checked(count).unwrap_or_default();
            pieces = rest;
            if statement.kind == (StatementKind::Scope { opens: false }) {
                self.depth = self.depth.saturating_sub(1);
            }
            let indent = self.indent(statement.kind);
            let gap = Span::between(at, statement.span.start);
            let ends = self.between(gap, indent);
            self.statement(statement, own, ends, indent);
            if statement.kind == (StatementKind::Scope { opens: true }) {
                self.depth += 1;
            }
            at = statement.span.end();
        }
        let gap = Span::between(at, self.text.len());
        self.between(gap, 0);
        // Dumps end without a line end.
        if !self.compiler || self.text.last() == Some(&b'\n') {
            self.end_line();
        }
    }

    fn indent(&self, kind: StatementKind) -> usize {
        let scopes = self.depth.min(DEEPEST);
        match kind {
            StatementKind::Instruction { .. } => STEP * (scopes + 1),
            StatementKind::Directive | StatementKind::Scope { .. } => STEP * scopes,
            StatementKind::Label => 0,
        }
    }

    /// Writes the comments between two statements. Returns the number of line ends after the last one.
    fn between(&mut self, gap: Span, indent: usize) -> usize {
        let mut ends = 0;
        for item in Items::new(self.text, gap) {
            match item {
                Item::LineEnd => ends += 1,
                Item::Comment(span) => {
                    let trailing = ends == 0 && self.open;
                    self.comment(span, trailing, ends, indent);
                    ends = 0;
                }
                Item::Code(_) => {}
            }
        }
        ends
    }

    fn comment(&mut self, span: Span, trailing: bool, ends: usize, indent: usize) {
        let text = self.slice(span).trim_ascii_end();
        if trailing {
            if !is_number(text) {
                self.out.push(b' ');
                self.out.extend_from_slice(text);
            }
            return;
        }
        self.begin_line(ends, indent);
        self.out.extend_from_slice(text);
    }

    fn statement(&mut self, statement: &Statement, pieces: &[Piece], ends: usize, indent: usize) {
        let (start, text) = (statement.span.start, self.text);
        let mut code = Span { start, len: 0 };
        for item in Items::new(text, statement.span) {
            if let Item::Code(span) = item {
                code = Span::between(start, span.end());
            }
        }
        let mut ends = ends;
        let inside = Items::new(text, code).filter_map(|item| match item {
            Item::Comment(span) => Some(span),
            _ => None,
        });
        let has_lines = |span: &Span| self.slice(*span).contains(&b'\n');
        let (before, trailing): (Vec<Span>, Vec<Span>) = inside.partition(has_lines);
        for span in before {
            self.comment(span, false, ends, indent);
            ends = 0;
        }
        if self.compiler && self.slice(code).starts_with(SUBROUTINE) {
            // The header does not end its last line.
            if self.number > 0 {
                self.end_line();
            }
            self.out.extend_from_slice(b"    \n");
            self.open = false;
            ends = 2;
        }
        self.begin_line(ends, indent);
        match statement.kind {
            StatementKind::Directive => self.directive(code),
            StatementKind::Label | StatementKind::Scope { .. } => self.squeezed(code),
            StatementKind::Instruction { .. } => {
                for piece in pieces {
                    self.piece(*piece);
                }
            }
        }
        self.trim();
        if self.compiler {
            self.count(statement.kind, code);
        }
        for span in trailing {
            self.comment(span, true, 0, indent);
        }
        let rest = Span::between(code.end(), statement.span.end());
        self.between(rest, indent);
    }

    fn piece(&mut self, piece: Piece) {
        match piece {
            Piece::Fixed(", ") if self.compiler => self.out.push(b','),
            Piece::Fixed(text) => self.out.extend_from_slice(text.as_bytes()),
            Piece::Said(span) => self.squeezed(span),
            Piece::Operand(span) => {
                self.out.push(b' ');
                self.squeezed(span);
            }
            Piece::List(span) => {
                let mut first = true;
                for item in Items::new(self.text, span) {
                    let Item::Code(span) = item else { continue };
                    let names = self.slice(span).split(|c| *c == b',');
                    for name in names.filter(|n| !n.is_empty()) {
                        self.out.extend_from_slice(if first { b"" } else { b", " });
                        self.out.extend_from_slice(name);
                        first = false;
                    }
                }
            }
            Piece::Lanes(span) => self.lanes(span),
        }
    }

    /// `(M1_NM, 16)`
    fn lanes(&mut self, span: Span) {
        let mut plain = Vec::new();
        for item in Items::new(self.text, span) {
            if let Item::Code(span) = item {
                plain.extend(self.slice(span).iter().map(u8::to_ascii_uppercase));
            }
        }
        let plain = plain.strip_prefix(b"(").unwrap_or(&plain);
        let plain = plain.strip_suffix(b")").unwrap_or(plain);
        let (mask, lanes) = match plain.iter().position(|c| *c == b',') {
            Some(comma) => plain.split_at(comma),
            None => (&b"M1"[..], plain),
        };
        let mask = if mask == b"NOMASK" { b"M1_NM" } else { mask };
        let lanes = lanes.strip_prefix(b",").unwrap_or(lanes);
        self.out.push(b'(');
        self.out.extend_from_slice(mask);
        self.out.extend_from_slice(b", ");
        self.out.extend(lanes.iter().map(u8::to_ascii_lowercase));
        self.out.push(b')');
    }

    /// Writes a piece without blanks, except where they separate names.
    fn squeezed(&mut self, span: Span) {
        let joins = |c: u8| c.is_ascii_alphanumeric() || b"_$@?-.%".contains(&c);
        let mut end = span.start;
        let mut last = None;
        for item in Items::new(self.text, span) {
            let Item::Code(code) = item else { continue };
            let text = self.slice(code);
            let first = text.first().copied().unwrap_or(b' ');
            if code.start > end && last.is_some_and(|last| joins(last) && joins(first)) {
                self.out.push(b' ');
            }
            self.out.extend_from_slice(text);
            (end, last) = (code.end(), text.last().copied());
        }
    }

    /// One blank between words, none beside brackets, one after commas.
    fn directive(&mut self, span: Span) {
        let mut end = span.start;
        let mut last = b' ';
        for item in Items::new(self.text, span) {
            let Item::Code(code) = item else { continue };
            let text = self.slice(code);
            let first = text.first().copied().unwrap_or(b' ');
            let apart = code.start > end;
            let tight = b"=<({,".contains(&last) || b"=>)},".contains(&first);
            if apart && !tight {
                self.out.push(b' ');
            }
            if first == b'"' {
                if last == b',' {
                    self.out.push(b' ');
                }
                self.out.extend_from_slice(text);
            } else {
                for c in text {
                    if last == b',' && *c != b',' {
                        self.out.push(b' ');
                    }
                    self.out.push(*c);
                    last = *c;
                }
            }
            (end, last) = (code.end(), text.last().copied().unwrap_or(last));
        }
    }

    fn slice(&self, span: Span) -> &'t [u8] {
        self.text.get(span.start..span.end()).unwrap_or_default()
    }

    /// Counts what is numbered, and numbers instructions.
    fn count(&mut self, kind: StatementKind, code: Span) {
        let text = self.slice(code);
        match kind {
            StatementKind::Instruction { .. } => {
                if !text.starts_with(b".") {
                    let end = (self.line + COLUMN).max(self.out.len());
                    self.out.resize(end, b' ');
                    let number = alloc::format!(" /// ${}", self.number);
                    self.out.extend_from_slice(number.as_bytes());
                }
                self.number += 1;
            }
            StatementKind::Label if !self.begins => self.number += 1,
            StatementKind::Directive if text.starts_with(SUBROUTINE) => self.number += 1,
            StatementKind::Directive if text.starts_with(b".kernel ") => self.number = 0,
            StatementKind::Directive if text.starts_with(b".global_function") => self.number = 0,
            _ => {}
        }
        self.begins = text.starts_with(SUBROUTINE);
    }

    /// Ends the line, keeps one empty line if there were any, and indents the next.
    fn begin_line(&mut self, ends: usize, indent: usize) {
        self.end_line();
        if ends > 1 && !self.out.is_empty() {
            self.out.push(b'\n');
        }
        self.line = self.out.len();
        self.out.resize(self.line + indent, b' ');
        self.open = true;
    }

    fn trim(&mut self) {
        while self.out.last() == Some(&b' ') {
            self.out.pop();
        }
    }

    fn end_line(&mut self) {
        if self.open {
            self.trim();
            self.out.push(b'\n');
            self.open = false;
        }
    }
}

/// `/// $12`, as printers number instructions.
fn is_number(comment: &[u8]) -> bool {
    let digits = comment.strip_prefix(b"/// $").unwrap_or_default();
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Splits a text into pieces.
struct Items<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Items<'t> {
    fn new(text: &'t [u8], span: Span) -> Self {
        Self {
            text: text.get(..span.end()).unwrap_or(text),
            at: span.start,
        }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The bytes up to here, at least one.
    fn take(&mut self, len: usize) -> Span {
        let len = len.clamp(1, self.rest().len().max(1));
        let start = self.at;
        self.at += len;
        Span { start, len }
    }
}

impl Iterator for Items<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            let rest = self.rest();
            if let Some(len) = joined_lines(rest) {
                self.at += len;
                continue;
            }
            if let Some(len) = comment(rest) {
                return Some(Item::Comment(self.take(len)));
            }
            if let Some(len) = literal(rest) {
                return Some(Item::Code(self.take(len)));
            }
            match rest {
                [] => return None,
                [b'\n', ..] => {
                    self.at += 1;
                    return Some(Item::LineEnd);
                }
                [b' ' | b'\t' | b'\r', ..] => self.at += 1,
                _ => {
                    let ends = |i: usize| match rest.get(i..) {
                        Some([b' ' | b'\t' | b'\r' | b'\n' | b'"', ..]) => true,
                        Some([b'/', b'/' | b'*', ..]) => true,
                        Some(tail @ [b'\\', ..]) => joined_lines(tail).is_some(),
                        _ => false,
                    };
                    let len = (1..rest.len()).find(|i| ends(*i)).unwrap_or(rest.len());
                    return Some(Item::Code(self.take(len)));
                }
            }
        }
    }
}
