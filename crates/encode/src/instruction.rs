//! Instructions.

use crate::error::{Error, ErrorKind};
use crate::sink::Buffer;
use alloc::vec::Vec;
use visakit_isa::table::{FieldDef, FieldKind};
use visakit_isa::wire::{Sink, Width};
use visakit_isa::{Field, Format, Instruction};

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

/// The only place that knows how conditions, counts and lists steer the writing.
#[inline]
pub(crate) fn write(instruction: &Instruction, out: &mut Buffer) -> Result<(), Error> {
    let def = instruction.def();
    let format = out.format();
    if !def.exists_in(format) {
        return Err(out.error(ErrorKind::NoSuchInstruction(instruction.op), "opcode"));
    }
    out.number("opcode", Width::U8, def.op.opcode().into())?;
    if let Some(sub_op) = def.sub_op {
        out.number("sub_op", Width::U8, sub_op.into())?;
    }
    let mut fields = instruction.fields.as_slice();
    let mut key = 0;
    for field in def.fields {
        if !field.when.holds(format) || field.only_if.is_some_and(|test| !test.holds(key)) {
            continue;
        }
        match field.kind {
            FieldKind::Count => {
                // The list that is counted stands at the end of the row and of the fields.
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
                    return Err(out.error(kind, field.name.as_str()));
                }
            },
        }
    }
    match fields.first() {
        None => Ok(()),
        Some(extra) => Err(out.error(ErrorKind::ExtraField(extra.name), extra.name.as_str())),
    }
}

#[inline(always)]
fn value(field: &Field, def: &FieldDef, out: &mut Buffer) -> Result<(), Error> {
    if !field.value.fits(def.kind) {
        return Err(out.error(ErrorKind::WrongKind, field.name.as_str()));
    }
    field
        .value
        .write(def.kind, out)
        .map_err(|error| error.in_operand(field.name))
}
