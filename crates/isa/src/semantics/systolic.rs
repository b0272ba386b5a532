//! Products of matrices in the systolic array.

use crate::any::AnyInstruction;
use crate::enums::precision as p;
use crate::operand::ExecSize;
use crate::table::FieldName;
use crate::types::DataType;

use super::traits::Traits;

/// Elements that share a scale in a block-scaled product.
pub const SCALED_BLOCK: u32 = 32;

/// Bytes from the scales of one block to the scales of the next.
pub const BLOCK_SCALES: u32 = 32;

/// Bits of an element of a precision, by its code ([`crate::enums::PRECISION`]); `None` for codes without a meaning.
#[must_use]
pub const fn precision_bits(code: u8) -> Option<u32> {
    Some(match code {
        p::U1 | p::S1 => 1,
        p::U2 | p::S2 => 2,
        p::U4 | p::S4 | p::E2M1 => 4,
        p::U8 | p::S8 | p::BF8 | p::HF8 => 8,
        p::BF | p::HF => 16,
        p::TF32 => 32,
        _ => return None,
    })
}

/// The shape of a systolic product: a row of `depth * operations` activations and as many weights of each lane make an
/// element of the result, `repeat` rows in all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Systolic {
    /// Code of the precision of the weights, the first source after the accumulator.
    pub weights: u8,
    /// Code of the precision of the activations, the second source after the accumulator.
    pub activations: u8,
    /// Steps of depth.
    pub depth: u32,
    /// Rows of activations and of the result.
    pub repeat: u32,
    /// Lanes.
    pub lanes: u32,
    /// Products of each lane and step of depth.
    pub operations: u32,
    /// Whether two execution units share the activations, so that each holds half of them.
    pub fused: bool,
}

impl Systolic {
    /// The shape with these codes and counts; `None` where a precision has no meaning, or for a number of lanes that no
    /// platform has.
    #[must_use]
    pub const fn new(
        weights: u8,
        activations: u8,
        depth: u8,
        repeat: u8,
        lanes: u32,
    ) -> Option<Self> {
        let (Some(of_weights), Some(of_activations)) =
            (precision_bits(weights), precision_bits(activations))
        else {
            return None;
        };
        if !matches!(lanes, 8 | 16) {
            return None;
        }
        let most = if of_weights > of_activations {
            of_weights
        } else {
            of_activations
        };
        Some(Self {
            weights,
            activations,
            depth: depth as u32,
            repeat: repeat as u32,
            lanes,
            operations: match most {
                32 => 1,
                16 => 2,
                8 => 4,
                _ => 8,
            },
            fused: false,
        })
    }

    /// The shape of an instruction; `None` if it is no systolic product, or has no meaning.
    pub fn of(instruction: &(impl AnyInstruction + ?Sized)) -> Option<Self> {
        let traits = instruction.def().traits;
        if !traits.contains(Traits::SYSTOLIC) {
            return None;
        }
        let info = instruction.value(FieldName::PrecisionInfo)?.as_number()?;
        let [weights, activations, depth, repeat, ..] = info.to_le_bytes();
        let lanes = instruction.exec_size().and_then(ExecSize::lanes)?;
        let mut shape = Self::new(weights, activations, depth, repeat, lanes.into())?;
        shape.fused = traits.contains(Traits::FUSED);
        Some(shape)
    }

    /// Bytes of a row of activations, which the activations must be aligned to.
    #[must_use]
    pub fn row_bytes(&self) -> u32 {
        let bits = precision_bits(self.activations).unwrap_or(8);
        (self.depth * self.operations * bits).div_ceil(8)
    }

    /// Bytes that all lanes use of an operand, whose variable has the type `ty`; `None` for fields that are no
    /// operand of the product.
    #[must_use]
    pub fn bytes(&self, field: FieldName, ty: DataType) -> Option<u32> {
        let elements = self.depth * self.operations;
        let further = elements.div_ceil(SCALED_BLOCK).saturating_sub(1);
        Some(match field {
            FieldName::Dst | FieldName::Src0 => self.repeat * self.lanes * u32::from(ty.size()),
            FieldName::Src1 => {
                // A dword of each lane holds as many steps of depth as fit.
                let bits = self.operations * precision_bits(self.weights).unwrap_or(8);
                let steps = (32 / bits.max(1)).max(1);
                self.depth.div_ceil(steps) * self.lanes * 4
            }
            FieldName::Src2 => {
                let bits = precision_bits(self.activations).unwrap_or(8);
                let all = (self.repeat * elements * bits).div_ceil(8);
                if self.fused { all - all / 2 } else { all }
            }
            FieldName::Src3 => self.lanes + further * BLOCK_SCALES,
            FieldName::Src4 => self.repeat + further * BLOCK_SCALES,
            _ => return None,
        })
    }
}
