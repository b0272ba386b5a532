//! One line for each field.

use super::Stop;
use crate::output::printable;
use anstyle::{AnsiColor, Style};
use std::io::Write;
use std::ops::Range;
use visakit::dump::{Content, Visitor, meaning};
use visakit::isa::object::RoutineId;
use visakit::parse::{self, Extent, InstructionRef};

const DIM: Style = AnsiColor::BrightBlack.on_default();
const NAME: Style = AnsiColor::Cyan.on_default();
const HEAD: Style = Style::new().bold();
const FAULT: Style = AnsiColor::Red.on_default().bold();

/// Bytes shown per line; longer ranges continue on the next lines.
const COLUMNS: usize = 10;
/// Lines shown of a range without structure.
const MOST_ROWS: usize = 4;

/// Prints one line for each field: offset, bytes, and the name indented by its depth.
pub(super) struct Lines<'a, W> {
    bytes: &'a [u8],
    pub(super) out: W,
    depth: usize,
    pub(super) faults: usize,
}

impl<'a, W: Write> Lines<'a, W> {
    pub(super) fn new(bytes: &'a [u8], out: W) -> Self {
        Self {
            bytes,
            out,
            depth: 0,
            faults: 0,
        }
    }

    fn head(&mut self, offset: u64, text: &str) -> Result<(), Stop> {
        let blank = COLUMNS * 3;
        let indent = self.depth * 2;
        writeln!(
            self.out,
            "{DIM}{offset:#08x} |{DIM:#} {:blank$}{DIM}|{DIM:#} {:indent$}{HEAD}{text}{HEAD:#}",
            "", ""
        )?;
        self.depth += 1;
        Ok(())
    }

    fn line(&mut self, range: &Range<u64>, text: &str) -> Result<(), Stop> {
        let slice = usize::try_from(range.start)
            .ok()
            .zip(usize::try_from(range.end).ok())
            .and_then(|(start, end)| self.bytes.get(start..end))
            .unwrap_or_default();
        let indent = self.depth * 2;
        let rows = slice.chunks(COLUMNS);
        let hidden = rows.len().saturating_sub(MOST_ROWS);
        if slice.is_empty() {
            writeln!(
                self.out,
                "{DIM}{:#08x} |{DIM:#} {:width$}{DIM}|{DIM:#} {:indent$}{text}",
                range.start,
                "",
                "",
                width = COLUMNS * 3
            )?;
        }
        for (number, row) in rows.take(MOST_ROWS).enumerate() {
            let offset = range.start + (number * COLUMNS) as u64;
            write!(self.out, "{DIM}{offset:#08x} |{DIM:#} ")?;
            for byte in row {
                write!(self.out, "{byte:02x} ")?;
            }
            let blank = (COLUMNS - row.len()) * 3;
            write!(self.out, "{:blank$}{DIM}|{DIM:#}", "")?;
            if number == 0 {
                write!(self.out, " {:indent$}{text}", "")?;
            }
            writeln!(self.out)?;
        }
        if hidden > 0 {
            let more = slice.len() - MOST_ROWS * COLUMNS;
            writeln!(self.out, "{DIM}         |{DIM:#} … {more} more bytes")?;
        }
        Ok(())
    }
}

impl<'a, W: Write> Visitor<'a> for Lines<'_, W> {
    type Error = Stop;

    fn enter(&mut self, name: &str, index: Option<u32>, offset: u64) -> Result<(), Stop> {
        match index {
            Some(index) => self.head(offset, &format!("{name}[{index}]")),
            None => self.head(offset, name),
        }
    }

    fn leave(&mut self, _: u64) -> Result<(), Stop> {
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    fn field(&mut self, name: &str, range: Range<u64>, content: &Content<'a>) -> Result<(), Stop> {
        let value = match content {
            Content::Number(number, None) => format!(" = {number}"),
            Content::Number(number, Some(meaning)) => {
                format!(" = {number} {}", printable(meaning.as_bytes()))
            }
            Content::Bytes(bytes) if name == "name" => format!(" = \"{}\"", printable(bytes)),
            Content::Bytes(bytes) => format!(", {} bytes", bytes.len()),
            Content::Text(text) => format!(" = \"{}\"", printable(text)),
            Content::Opcode(def) | Content::SubOp(def) => {
                format!(" = {} {}", def.name, def.mnemonic())
            }
            Content::Field(def, value) => match meaning(def, value) {
                Some(meaning) => format!(" = {value} {meaning}"),
                None => format!(" = {value}"),
            },
            Content::Raw(_, reason) => {
                let reason = printable(reason.as_bytes());
                return self.line(&range, &format!("{FAULT}{name}: {reason}{FAULT:#}"));
            }
        };
        self.line(&range, &format!("{NAME}{name}{NAME:#}{value}"))
    }

    fn routine(&mut self, id: RoutineId, name: &[u8], place: &Extent) -> Result<(), Stop> {
        let (kind, index, name) = (id.kind.name(), id.index, printable(name));
        let text = format!("{kind} {index} \"{name}\", {} bytes", place.size);
        self.head(place.offset.into(), &text)
    }

    fn instruction(&mut self, number: u32, instruction: &InstructionRef<'a>) -> Result<(), Stop> {
        let text = format!("instruction {number}: {}", instruction.def().mnemonic());
        self.head(instruction.offset(), &text)
    }

    fn fault(&mut self, fault: &parse::Error) -> Result<(), Stop> {
        self.faults += 1;
        let text = printable(fault.to_string().as_bytes());
        writeln!(self.out, "{FAULT}fault{FAULT:#}: {text}")?;
        Ok(())
    }
}
