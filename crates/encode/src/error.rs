//! Errors: what a format cannot express.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use thiserror::Error as ThisError;
use visakit_isa::object::RoutineId;
use visakit_isa::table::FieldName;
use visakit_isa::{DataType, Format, Op, Version};

/// What is wrong, without a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The version has no binary form, or no known one.
    #[error("version {0} has no known binary layout")]
    UnsupportedVersion(Version),
    /// Something only version 4.2 has: an instruction, or a field that is not neutral.
    #[error("{what} exists as text only", what = DisplayTextOnly(.op, .field))]
    TextOnly {
        /// The instruction.
        op: Op,
        /// Its field, if it is a field.
        field: Option<FieldName>,
    },
    /// A type that only version 4.2 has.
    #[error("the type {0} exists as text only")]
    TextOnlyType(DataType),
    /// A number is too large for its field.
    #[error("{value:#x} does not fit into {bits} bits")]
    TooLarge {
        /// The number.
        value: u64,
        /// Width of the field.
        bits: u8,
    },
    /// Content that the format has no place for.
    #[error("the format has no place for this")]
    NoPlace,
    /// There must be exactly this many.
    #[error("{found} entries where the format has exactly {expected}")]
    ExactCount {
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// An instruction that the format does not have.
    #[error("{0:?} does not exist in this version")]
    NoSuchInstruction(Op),
    /// A field is missing or out of order.
    #[error("expected the field {expected}, found {found}", found = DisplayField(.found))]
    FieldOrder {
        /// The field that the layout has here.
        expected: FieldName,
        /// The field that was found.
        found: Option<FieldName>,
    },
    /// A field that the layout does not have, or one too many.
    #[error("the layout has no field {0} here")]
    ExtraField(FieldName),
    /// A field holds a value of another kind.
    #[error("the value is of the wrong kind for this field")]
    WrongKind,
    /// A string with a NUL among its bytes.
    #[error("a string of the pool cannot hold a NUL")]
    NulInString,
    /// A kernel has function parts or a function has kernel parts.
    #[error("a {0} has no place for this")]
    WrongRoutineKind(&'static str),
    /// The file would be too large for its 32-bit offsets.
    #[error("the object is larger than 4 GiB")]
    ObjectTooLarge,
    /// An arrangement names a piece that does not exist, or twice.
    #[error("the arrangement names a piece that does not exist, or names it twice")]
    BadArrangement,
}

struct DisplayTextOnly<'a>(&'a Op, &'a Option<FieldName>);

impl fmt::Display for DisplayTextOnly<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mnemonic = self.0.def().mnemonic();
        match self.1 {
            Some(field) => write!(f, "{field} of `{mnemonic}`"),
            None => write!(f, "`{mnemonic}`"),
        }
    }
}

struct DisplayField<'a>(&'a Option<FieldName>);

impl fmt::Display for DisplayField<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => name.fmt(f),
            None => f.write_str("none"),
        }
    }
}

impl ErrorKind {
    /// What the user can do.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::UnsupportedVersion(_) => {
                "known are 2.4, 3.0 to 3.8, 4.0, 4.1 and 4.8; 4.2 exists as text only"
            }
            Self::TextOnly { .. } | Self::TextOnlyType(_) => {
                "keep it as text: no version has a binary form for it; without it, 4.1 has one"
            }
            Self::TooLarge { .. } => {
                "choose a newer version with wider fields, or make the value smaller"
            }
            Self::NoPlace | Self::NoSuchInstruction(_) => {
                "choose a version or dialect that has it, or remove it"
            }
            Self::FieldOrder { .. } | Self::ExtraField(_) | Self::WrongKind => {
                "give the fields of the table's row in stream order: see `visakit isa`"
            }
            _ => "change the object",
        }
    }
}

/// Where in the object something is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The routine.
    pub routine: Option<(RoutineId, String)>,
    /// Tables and entries, outermost first.
    pub path: Vec<(&'static str, Option<u32>)>,
    /// Number of the item in the routine's code, and its operation.
    pub instruction: Option<(usize, Op)>,
    /// The field of the instruction.
    pub operand: Option<FieldName>,
    /// The field of a record, or the part of an instruction's field.
    pub field: Option<&'static str>,
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some((id, name)) = &self.routine {
            write!(f, "{} {} {name:?}", id.kind.name(), id.index)?;
            separator = ", ";
        }
        for (name, index) in &self.path {
            f.write_str(separator)?;
            separator = ", ";
            match index {
                Some(index) => write!(f, "{name}[{index}]")?,
                None => f.write_str(name)?,
            }
        }
        if let Some((number, op)) = self.instruction {
            let mnemonic = op.def().mnemonic();
            write!(f, "{separator}instruction {number} ({mnemonic})")?;
            separator = ", ";
        }
        match (self.operand, self.field) {
            (Some(operand), Some(part)) if operand.as_str() != part => {
                write!(f, "{separator}field {operand}, {part}")
            }
            (_, Some(field)) => write!(f, "{separator}field {field}"),
            (_, None) => Ok(()),
        }
    }
}

/// What cannot be written, where, and what to do about it. One word wide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    format: Format,
    context: Context,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, format: Format, context: Context) -> Self {
        Self(Box::new(Inner {
            kind,
            format,
            context,
        }))
    }

    pub(crate) fn in_routine(mut self, id: RoutineId, name: &str) -> Self {
        self.0.context.routine = Some((id, name.into()));
        self
    }

    pub(crate) fn in_operand(mut self, name: FieldName) -> Self {
        self.0.context.operand = Some(name);
        self
    }

    pub(crate) fn in_instruction(mut self, number: usize, op: Op) -> Self {
        self.0.context.instruction = Some((number, op));
        self
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The format that was to be written.
    #[must_use]
    pub fn format(&self) -> Format {
        self.0.format
    }

    /// Where in the object it is.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// What the user can do.
    #[must_use]
    pub fn help(&self) -> &'static str {
        self.0.kind.help()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            kind,
            format,
            context,
        } = &*self.0;
        write!(f, "{kind}, writing version {}", format.version())?;
        if *context != Context::default() {
            write!(f, ", in {context}")?;
        }
        Ok(())
    }
}

impl core::error::Error for Error {}
