//! Translation of routines into the internal code.

mod context;
pub(crate) mod layout;
pub(crate) mod operand;

pub(crate) use context::{Context, Lanes, RawPlace, Scalar, StatePlace};

use crate::fault::TranslateError;
use std::collections::BTreeMap;
use visakit_isa::DataType;
use visakit_isa::object::{InputKind, Object, RoutineId};

/// How a program is translated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Bytes of a register of the target: 32 or 64.
    pub grf_bytes: u32,
    /// Whether an unsupported instruction is an error of the translation. Otherwise it is a fault
    /// when it is reached.
    pub strict: bool,
    /// Addresses of data symbols, which `faddr` gives to the program. Functions of the object need
    /// none.
    pub symbols: BTreeMap<String, u64>,
    /// Largest register file of a thread in bytes.
    pub max_register_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            grf_bytes: 32,
            strict: false,
            symbols: BTreeMap::new(),
            max_register_bytes: 16 << 20,
        }
    }
}

/// What an input fills.
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
    /// What it fills.
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

/// Class of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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

/// A translated kernel with the functions of its object.
#[derive(Debug)]
pub struct Program {
    inputs: Vec<InputSlot>,
}

impl Program {
    /// Translates a kernel (or, for tests, a function) of an object.
    ///
    /// # Errors
    /// No such routine, a routine that was not decoded, contradicting declarations, and in strict
    /// mode the first unsupported instruction.
    pub fn new(
        object: &Object<'_>,
        kernel: RoutineId,
        options: &Options,
    ) -> Result<Self, TranslateError> {
        let _ = (
            object
                .routine(kernel)
                .ok_or(TranslateError::NoRoutine(kernel))?,
            options,
        );
        Ok(Self { inputs: Vec::new() })
    }

    /// The inputs of the kernel, in their order in the object.
    #[must_use]
    pub fn inputs(&self) -> &[InputSlot] {
        &self.inputs
    }

    /// The variable of that name: the kernel's own (`V0032`, `A0`, `P1`, `T6`, `S0` or what its
    /// table calls it) or a predefined one (`%r0`, `%thread_x`). The first of equal names.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<VariableSlot> {
        let _ = name;
        None
    }

    /// Names of the variables that the kernel declares, in table order, class by class.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &VariableSlot)> {
        std::iter::empty()
    }

    /// The kernel's attribute `SimdSize`, else the largest execution size in its code (at most 32).
    #[must_use]
    pub fn simd_size(&self) -> u32 {
        1
    }

    /// Bytes of a register of the target.
    #[must_use]
    pub fn grf_bytes(&self) -> u32 {
        32
    }

    /// Bytes of a thread's register file.
    #[must_use]
    pub fn register_bytes(&self) -> usize {
        0
    }

    /// The address that `faddr` gives for a function of the object, for tables of functions in data.
    #[must_use]
    pub fn function_address(&self, name: &str) -> Option<u64> {
        let _ = name;
        None
    }

    /// Number of instructions of the kernel and all functions.
    #[must_use]
    pub fn instruction_count(&self) -> usize {
        0
    }
}
