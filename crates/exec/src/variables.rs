//! Inputs and variables of a kernel, and where they are in the register file.

use visakit_isa::DataType;
use visakit_isa::object::InputKind;

/// What an input sets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InputClass {
    /// A general variable.
    General,
    /// A sampler variable.
    Sampler,
    /// A surface variable.
    Surface,
}

/// An input of the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputSlot {
    /// Name of the variable, without `%`.
    pub name: String,
    /// What it sets.
    pub class: InputClass,
    /// Kind as the object states it, with the implicit kind.
    pub kind: InputKind,
    /// Index of the variable in its table, predefined entries included.
    pub index: u32,
    /// Offset in the thread's image ([`crate::ThreadStart::image`]).
    pub image_offset: usize,
    /// Size in bytes.
    pub size: usize,
    /// Place in the register file.
    pub place: usize,
}

impl InputSlot {
    /// The bytes of the register file that it fills.
    pub(crate) const fn range(&self) -> std::ops::Range<usize> {
        self.place..self.place + self.size
    }
}

/// Class of a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum VariableClass {
    /// General variable.
    General,
    /// Address variable; elements are 16 bits.
    Address,
    /// Predicate variable; one 32-bit word, bit n for lane n.
    Predicate,
    /// Surface variable; elements are 32 bits.
    Surface,
    /// Sampler variable; elements are 32 bits.
    Sampler,
}

impl VariableClass {
    /// The letter that names of variables without a name begin with.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::General => 'V',
            Self::Address => 'A',
            Self::Predicate => 'P',
            Self::Surface => 'T',
            Self::Sampler => 'S',
        }
    }
}

/// Where a variable is in the register file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariableSlot {
    /// Class.
    pub class: VariableClass,
    /// First byte in the register file.
    pub offset: usize,
    /// Size in bytes.
    pub bytes: usize,
    /// Element type; `ud` for predicates, surfaces and samplers, `uw` for addresses.
    pub data_type: DataType,
    /// Number of elements.
    pub elements: u32,
}

/// A variable of a routine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredVariable {
    /// Its name in the routine's table.
    pub name: Option<String>,
    /// Its number in the text: predefined variables and surfaces come first, predicates count from 1.
    pub number: u32,
    /// Where it is.
    pub slot: VariableSlot,
}

impl DeclaredVariable {
    /// Its name; where it has none, its class and number: `V32`, `A0`, `P1`, `T6`, `S0`.
    #[must_use]
    pub fn display_name(&self) -> String {
        self.name
            .clone()
            .unwrap_or_else(|| format!("{}{}", self.slot.class.letter(), self.number))
    }
}
