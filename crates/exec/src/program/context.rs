//! What the translation of an instruction can ask about its operands.

use crate::fault::Unsupported;
use crate::run::Registers;
use visakit_isa::{
    DataType, Format, Instruction, RawOperand, SamplerId, StringId, SurfaceId, VectorOperand,
};

/// A raw operand in the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RawPlace {
    /// First byte in the register file.
    pub(crate) offset: usize,
    /// Bytes from there to the end of the variable's storage (rounded up to a register). A message
    /// that touches more must fault with `RegisterOutOfBounds`.
    pub(crate) available: usize,
    /// Element type of the variable.
    pub(crate) data_type: DataType,
}

/// A scalar source operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scalar {
    /// A constant, sign- or zero-extended by its type.
    Constant(u64),
    /// An element of the register file.
    Register {
        /// First byte.
        offset: usize,
        /// Type.
        data_type: DataType,
    },
    /// An element that an address variable points at.
    Indirect {
        /// Place of the 16-bit address in the register file.
        address: usize,
        /// Offset added to it.
        offset: i16,
        /// Type.
        data_type: DataType,
    },
}

impl Scalar {
    /// The value, sign- or zero-extended by its type to 64 bits; floats as their bits.
    /// Outside of the register file it reads zero.
    pub(crate) fn read(&self, registers: &Registers) -> u64 {
        let (offset, data_type) = match *self {
            Self::Constant(value) => return value,
            Self::Register { offset, data_type } => (offset, data_type),
            Self::Indirect {
                address,
                offset,
                data_type,
            } => {
                let base = registers.read_u32(address) & 0xffff;
                let place = i64::from(base) + i64::from(offset);
                (usize::try_from(place).unwrap_or(usize::MAX), data_type)
            }
        };
        let size = usize::from(data_type.size());
        let bytes = offset
            .checked_add(size)
            .and_then(|end| registers.file.get(offset..end));
        let mut word = [0u8; 8];
        let Some(bytes) = bytes else { return 0 };
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        let value = u64::from_le_bytes(word);
        if data_type.is_signed() {
            let unused = 64 - 8 * u32::from(data_type.size());
            #[expect(
                clippy::cast_possible_wrap,
                clippy::cast_sign_loss,
                reason = "sign extension"
            )]
            return ((value << unused) as i64 >> unused) as u64;
        }
        value
    }
}

/// A surface or sampler operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StatePlace {
    /// Index in the routine's table, predefined entries included: surface 0 is `%slm`, 4 `%bss`,
    /// 5 `%scratch` (see [`visakit_isa::PredefinedSurface`]).
    pub(crate) id: u32,
    /// Place of the variable's first element (32 bits) in the register file. Predefined surfaces
    /// start with their binding table index (254, 1, 2, 3, 252, 255), others with 0.
    pub(crate) offset: usize,
    /// Whether the surface is a predefined one.
    pub(crate) predefined: bool,
}

/// Execution size and mask of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lanes {
    /// Number of lanes: 1 to 32.
    pub(crate) count: u8,
    /// First lane of the execution mask.
    pub(crate) first: u8,
    /// Whether the execution mask is ignored.
    pub(crate) no_mask: bool,
}

/// The surroundings of an instruction that is translated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) grf_bytes: u32,
    pub(crate) format: Format,
    marker: std::marker::PhantomData<&'a ()>,
}

impl Context<'_> {
    /// The place of a raw operand; `None` for the null operand.
    pub(crate) fn raw(&self, operand: RawOperand) -> Result<Option<RawPlace>, Unsupported> {
        let _ = operand;
        todo_unsupported()
    }

    /// A scalar source.
    pub(crate) fn scalar(&self, operand: &VectorOperand) -> Result<Scalar, Unsupported> {
        let _ = operand;
        todo_unsupported()
    }

    /// A surface variable.
    pub(crate) fn surface(&self, id: SurfaceId) -> Result<StatePlace, Unsupported> {
        let _ = id;
        todo_unsupported()
    }

    /// A sampler variable.
    pub(crate) fn sampler(&self, id: SamplerId) -> Result<StatePlace, Unsupported> {
        let _ = id;
        todo_unsupported()
    }

    /// Lanes of an instruction with an execution size or an element count; one lane with NoMask
    /// where it has neither.
    pub(crate) fn lanes(&self, instruction: &Instruction) -> Result<Lanes, Unsupported> {
        let _ = instruction;
        todo_unsupported()
    }

    /// A string of the routine's pool.
    pub(crate) fn string(&self, id: StringId) -> Option<&[u8]> {
        let _ = id;
        None
    }
}

fn todo_unsupported<T>() -> Result<T, Unsupported> {
    Err(Unsupported::new("", "not there yet"))
}
