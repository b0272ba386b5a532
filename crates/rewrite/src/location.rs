//! Places in a routine, and references into tables.

use std::fmt;
use visakit_isa::object::{Body, RoutineKind};
use visakit_isa::{FieldName, Format, Instruction, Op};

/// A symbol table of a routine. Numbers into it are those that operands use: predefined entries
/// come first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Table {
    /// General variables, from `V0`.
    Variable,
    /// Address variables, from `A0`.
    Address,
    /// Predicate variables; the first declared one is `P1`.
    Predicate,
    /// Labels, from 0.
    Label,
    /// Samplers, from `S0`.
    Sampler,
    /// Surfaces, from `T0`.
    Surface,
    /// The string pool, from 0.
    String,
    /// Variables of the file, as the routine numbers them (its relocations may renumber them).
    FileVariable,
}

impl Table {
    /// Every table of a routine.
    pub const ALL: [Self; 7] = [
        Self::Variable,
        Self::Address,
        Self::Predicate,
        Self::Label,
        Self::Sampler,
        Self::Surface,
        Self::String,
    ];

    /// The name of an entry's kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Variable => "variable",
            Self::Address => "address",
            Self::Predicate => "predicate",
            Self::Label => "label",
            Self::Sampler => "sampler",
            Self::Surface => "surface",
            Self::String => "string",
            Self::FileVariable => "file variable",
        }
    }

    /// Number of the first declared entry, which is the number of predefined ones.
    #[must_use]
    pub const fn first(self, format: Format) -> u32 {
        match self {
            Self::Variable => format.predefined_variable_count(),
            Self::Surface => format.predefined_surface_count() as u32,
            Self::Predicate => 1,
            _ => 0,
        }
    }

    /// Number of declared entries.
    #[must_use]
    pub fn len(self, body: &Body<'_>) -> usize {
        match self {
            Self::Variable => body.variables.len(),
            Self::Address => body.addresses.len(),
            Self::Predicate => body.predicates.len(),
            Self::Label => body.labels.len(),
            Self::Sampler => body.samplers.len(),
            Self::Surface => body.surfaces.len(),
            Self::String => body.strings.len(),
            Self::FileVariable => 0,
        }
    }

    /// Largest number of declared entries that operands of every class can name.
    #[must_use]
    pub const fn limit(self, format: Format) -> usize {
        let index = if format.wide_indices() {
            u32::MAX as usize
        } else {
            u16::MAX as usize
        };
        match self {
            Self::Variable => index - self.first(format) as usize,
            Self::String => index,
            Self::Address | Self::Label => u16::MAX as usize,
            // Twelve bits, of which 0 means none.
            Self::Predicate => 0xfff,
            // S31 is the bindless sampler.
            Self::Sampler => 31,
            Self::Surface => u8::MAX as usize - self.first(format) as usize,
            Self::FileVariable => u16::MAX as usize,
        }
    }
}

/// A number into a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Reference {
    /// The table.
    pub table: Table,
    /// The number, predefined entries included.
    pub id: u32,
}

impl Reference {
    /// The entry of that number.
    #[must_use]
    pub const fn new(table: Table, id: u32) -> Self {
        Self { table, id }
    }

    /// Index among the declared entries; `None` for predefined ones.
    #[must_use]
    pub fn declared(self, format: Format) -> Option<usize> {
        let index = self.id.checked_sub(self.table.first(format))?;
        usize::try_from(index).ok()
    }
}

impl fmt::Display for Reference {
    /// `V32`, `A0`, `P1`, `label 3`, `S0`, `T6`, `string 7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.table {
            Table::Variable => "V",
            Table::Address => "A",
            Table::Predicate => "P",
            Table::Sampler => "S",
            Table::Surface => "T",
            table => return write!(f, "{} {}", table.name(), self.id),
        };
        write!(f, "{letter}{}", self.id)
    }
}

/// A place in a routine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Location {
    /// The name of the routine.
    Name,
    /// An entry of a table, by its index among the declared ones.
    Entry(Table, usize),
    /// An input.
    Input(usize),
    /// An attribute of the routine.
    Attribute(usize),
    /// An instruction.
    Instruction {
        /// Index in the code.
        index: usize,
        /// Its operation.
        op: Op,
        /// The field; `None` for the instruction as a whole.
        field: Option<FieldName>,
    },
    /// Bytes among the code that could not be decoded.
    Undecoded(usize),
}

impl Location {
    /// An instruction as a whole.
    pub(crate) const fn of(index: usize, instruction: &Instruction) -> Self {
        let (op, field) = (instruction.op, None);
        Self::Instruction { index, op, field }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("the name of the routine"),
            Self::Entry(table, index) => write!(f, "{} {index} of the table", table.name()),
            Self::Input(index) => write!(f, "input {index}"),
            Self::Attribute(index) => write!(f, "attribute {index}"),
            Self::Instruction { index, op, field } => {
                write!(f, "instruction {index} ({})", op.def().mnemonic())?;
                match field {
                    Some(field) => write!(f, ", field {field}"),
                    None => Ok(()),
                }
            }
            Self::Undecoded(index) => write!(f, "undecoded bytes at {index}"),
        }
    }
}

/// Whether a routine of this kind has inputs and native binaries.
pub(crate) const fn is_kernel(kind: RoutineKind) -> bool {
    matches!(kind, RoutineKind::Kernel)
}
