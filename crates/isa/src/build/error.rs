//! Errors in built instructions.

use crate::table::{FieldName, Op};
use crate::version::Format;
use core::fmt;

/// Why an instruction cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Error {
    /// The operation.
    pub op: Op,
    /// The field, if the error concerns one.
    pub field: Option<FieldName>,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// What is wrong with an instruction or a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The format does not have the instruction.
    NoSuchInstruction(Format),
    /// The instruction does not have the field: not at all, not in this format, or not with the
    /// values of the other fields.
    NoSuchField,
    /// The field must be set.
    Missing,
    /// The field was set to a value of another kind.
    WrongKind,
    /// The number does not fit the field.
    OutOfRange(i64),
    /// The enumeration of the field has no such name.
    UnknownName(&'static str),
    /// The format has no code for this number of lanes, or for this execution mask.
    Lanes,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.op.def().mnemonic())?;
        if let Some(field) = self.field {
            write!(f, "field {field}: ")?;
        }
        match self.kind {
            ErrorKind::NoSuchInstruction(format) => {
                let (version, dialect) = (format.version(), format.dialect());
                write!(f, "version {version} ({dialect}) has no such instruction")
            }
            ErrorKind::NoSuchField => f.write_str("the instruction does not have it here"),
            ErrorKind::Missing => f.write_str("must be set"),
            ErrorKind::WrongKind => f.write_str("a value of another kind belongs here"),
            ErrorKind::OutOfRange(number) => write!(f, "{number} does not fit"),
            ErrorKind::UnknownName(name) => write!(f, "no value is named {name:?}"),
            ErrorKind::Lanes => f.write_str("no such number of lanes or execution mask"),
        }
    }
}

impl core::error::Error for Error {}
