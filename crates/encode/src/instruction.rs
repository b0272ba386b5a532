//! Instructions.

use crate::error::{Error, ErrorKind};
use crate::sink::{Buffer, Output, Window};
use alloc::vec::Vec;
use visakit_isa::table::{FieldDef, FieldKind, FieldPattern};
use visakit_isa::wire::{Sink, Width};
use visakit_isa::{Field, Format, Instruction, InstructionDef, Value};

/// Writes one instruction.
///
/// # Errors
/// The format does not have the instruction, fields are missing, superfluous or of the wrong
/// kind, or a value does not fit.
pub fn instruction(instruction: &Instruction, format: Format) -> Result<Vec<u8>, Error> {
    let mut buffer = Buffer::new(format);
    write(instruction, &mut buffer)?;
    Ok(buffer.bytes)
}

/// Bytes that are gathered before they go to the buffer.
const BLOCK: usize = 4096;
/// Instructions longer than this are written to the buffer directly.
const LONGEST: usize = 512;
/// Upper bound for the size of a field that is not a list.
const FIELD: usize = 16;

/// Writes the instructions of a routine.
///
/// Space is checked once for each instruction and operand, not for each number, and errors are not
/// constructed: a rejected instruction is written again, by [`write`], which reports the reason.
#[derive(Debug)]
pub(crate) struct Writer<'o> {
    out: &'o mut Buffer,
    block: [u8; BLOCK],
    at: usize,
}

impl<'o> Writer<'o> {
    pub(crate) fn new(out: &'o mut Buffer) -> Self {
        Self {
            out,
            block: [0; BLOCK],
            at: 0,
        }
    }

    #[inline]
    pub(crate) fn instruction(&mut self, instruction: &Instruction) -> Result<(), Error> {
        if self.at > BLOCK - LONGEST {
            self.flush();
        }
        let format = self.out.format();
        let room = self.block.get_mut(self.at..).unwrap_or_default();
        let written = if format.wide_indices() {
            quick::<4>(instruction, format, room)
        } else {
            quick::<2>(instruction, format, room)
        };
        match written {
            Some(bytes) => {
                self.at += bytes;
                Ok(())
            }
            None => {
                self.flush();
                write(instruction, self.out)
            }
        }
    }

    /// Writes bytes that are not an instruction.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.flush();
        self.out.bytes("raw", bytes)
    }

    /// Flushes the gathered bytes to the buffer.
    pub(crate) fn flush(&mut self) {
        let gathered = self.block.get(..self.at).unwrap_or_default();
        self.out.bytes.extend_from_slice(gathered);
        self.at = 0;
    }
}

/// Writes an instruction if nothing is wrong with it; returns the number of bytes.
#[cfg_attr(not(debug_assertions), inline(always))]
fn quick<const INDEX: u8>(
    instruction: &Instruction,
    format: Format,
    room: &mut [u8],
) -> Option<usize> {
    let def = instruction.def();
    let mut out = Window::<INDEX>::new(room, format);
    let fields = instruction.fields.as_slice();
    head(def, &mut out).ok()?;
    if matches!(def.pattern, FieldPattern::Conditional) {
        write_fields(fields, def, &mut out).ok()?;
        return Some(out.at);
    }
    if fields.len() != def.fields.len() {
        return None;
    }
    for (field, def) in fields.iter().zip(def.fields) {
        if field.name != def.name {
            return None;
        }
        let place = out.bytes.get_mut(out.at..)?.first_chunk_mut::<FIELD>()?;
        let mut part = Window::<INDEX>::new(place, format);
        match (&field.value, def.kind) {
            (Value::Vector(operand), FieldKind::Vector) => operand.write(&mut part).ok()?,
            (value, kind) => value.write(kind, &mut part).ok()?,
        }
        out.at += part.at;
    }
    Some(out.at)
}

/// Writes one instruction, reporting what is wrong with it.
#[cold]
fn write(instruction: &Instruction, out: &mut Buffer) -> Result<(), Error> {
    let def = instruction.def();
    head(def, out)?;
    write_fields(instruction.fields.as_slice(), def, out)
}

/// Writes opcode and sub-operation.
#[cfg_attr(not(debug_assertions), inline(always))]
fn head<K: Output>(def: &'static InstructionDef, out: &mut K) -> Result<(), K::Error> {
    if !def.has_layout() || !def.exists_in(out.format()) {
        return Err(out.refuse(ErrorKind::NoSuchInstruction(def.op), "opcode"));
    }
    out.number("opcode", Width::U8, def.op.opcode().into())?;
    match def.sub_op {
        Some(sub_op) => out.number("sub_op", Width::U8, sub_op.into()),
        None => Ok(()),
    }
}

/// The only place that knows how conditions, counts and lists control the writing.
#[cfg_attr(not(debug_assertions), inline(always))]
fn write_fields<K: Output>(
    mut fields: &[Field],
    def: &'static InstructionDef,
    out: &mut K,
) -> Result<(), K::Error> {
    let format = out.format();
    let mut key = 0;
    for field in def.fields {
        if !field.when.holds(format) || field.only_if.is_some_and(|test| !test.holds(key)) {
            continue;
        }
        match field.kind {
            FieldKind::Count => {
                // The counted list is the last field of both the row and the instruction.
                let list = def.fields.last().map(|last| last.name);
                let entries = fields.iter().filter(|f| Some(f.name) == list).count();
                out.count(field.name.as_str(), Width::U8, entries)?;
            }
            FieldKind::Labels | FieldKind::Raws => {
                while let Some((first, rest)) = fields.split_first() {
                    if first.name != field.name {
                        break;
                    }
                    value(first, field, out)?;
                    fields = rest;
                }
            }
            _ => match fields.split_first() {
                Some((first, rest)) if first.name == field.name => {
                    value(first, field, out)?;
                    if field.is_key {
                        key = first.value.key();
                    }
                    fields = rest;
                }
                other => {
                    let kind = ErrorKind::FieldOrder {
                        expected: field.name,
                        found: other.map(|(first, _)| first.name),
                    };
                    return Err(out.refuse(kind, field.name.as_str()));
                }
            },
        }
    }
    match fields.first() {
        None => Ok(()),
        Some(extra) => Err(out.refuse(ErrorKind::ExtraField(extra.name), extra.name.as_str())),
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn value<K: Output>(field: &Field, def: &FieldDef, out: &mut K) -> Result<(), K::Error> {
    if !field.value.fits(def.kind) {
        return Err(out.refuse(ErrorKind::WrongKind, field.name.as_str()));
    }
    let written = field.value.write(def.kind, out);
    written.map_err(|error| K::in_operand(error, field.name))
}
