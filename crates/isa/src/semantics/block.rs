//! Rectangles of elements that messages move between a surface and registers.

use super::memory::ElementSize;
use crate::any::AnyInstruction;
use crate::enums::lsc_data_order;
use crate::ids::VarId;
use crate::instruction::Value;
use crate::operand::{GeneralOperand, VectorOperand};
use crate::table::FieldName;

/// How a message for 2D blocks states its surface and the place of the block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockAddress {
    /// Base, width, height and pitch of the surface, x and y are operands of their own.
    Operands,
    /// They are the dwords of one register, the first two of which are the base.
    Payload(GeneralOperand),
}

impl BlockAddress {
    /// Bytes of the payload that are used: a base of 64 bits, and five dwords.
    pub const PAYLOAD_BYTES: u32 = 28;

    /// The fields that the payload stands for; they are null then.
    pub const IN_PAYLOAD: [FieldName; 5] = [
        FieldName::SurfaceWidth,
        FieldName::SurfaceHeight,
        FieldName::SurfacePitch,
        FieldName::X,
        FieldName::Y,
    ];

    /// The form of an instruction, which its row's text shows: the width of the surface is null where there is a
    /// payload.
    pub fn of(instruction: &(impl AnyInstruction + ?Sized)) -> Self {
        let general = |name| match instruction.value(name) {
            Some(Value::Vector(VectorOperand::General(operand))) => Some(operand),
            _ => None,
        };
        let no_width =
            general(FieldName::SurfaceWidth).is_some_and(|width| width.variable == VarId::NULL);
        match general(FieldName::SurfaceBase) {
            Some(payload) if no_width => Self::Payload(payload),
            _ => Self::Operands,
        }
    }
}

/// The shape of 2D blocks, and where their elements are in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockShape {
    /// Bytes of an element.
    pub element: usize,
    /// The number of blocks, which are side by side in memory.
    pub blocks: usize,
    /// Elements of a row of a block.
    pub width: usize,
    /// Rows of a block.
    pub height: usize,
    /// Whether columns of memory become rows in registers.
    pub transpose: bool,
    /// Whether elements of a column that make a dword become neighbours.
    pub vnni: bool,
    /// Bytes of a register.
    pub grf: usize,
}

impl BlockShape {
    /// The shape that an instruction states; `None` where the size of its elements has no meaning.
    pub fn of(instruction: &(impl AnyInstruction + ?Sized), grf: u32) -> Option<Self> {
        let number = |name| {
            let value = instruction.value(name)?.as_number()?;
            usize::try_from(value).ok()
        };
        let code = u8::try_from(number(FieldName::DataSize)?).ok()?;
        Some(Self {
            element: usize::try_from(ElementSize::of_data_size(code)?).ok()?,
            blocks: number(FieldName::Blocks).unwrap_or(0),
            width: number(FieldName::BlockWidth).unwrap_or(0),
            height: number(FieldName::BlockHeight).unwrap_or(0),
            transpose: number(FieldName::DataOrder) == Some(lsc_data_order::TRANSPOSE.into()),
            vnni: number(FieldName::Vnni).unwrap_or(0) != 0,
            grf: usize::try_from(grf).unwrap_or(32).max(1),
        })
    }

    /// Elements that are side by side in a dword, for VNNI.
    #[must_use]
    pub fn packed(&self) -> usize {
        if self.vnni {
            (4 / self.element.max(1)).max(1)
        } else {
            1
        }
    }

    /// Elements from row to row (or column to column of a transposed block).
    #[must_use]
    pub fn row_pitch(&self) -> usize {
        let size = if self.transpose {
            self.height
        } else {
            self.width
        };
        size.next_power_of_two()
    }

    /// Elements of a block.
    fn block_size(&self) -> usize {
        let rows = if self.transpose {
            self.width
        } else {
            self.height
        };
        let rows = rows.next_multiple_of(self.packed());
        self.row_pitch().saturating_mul(rows)
    }

    /// Elements from block to block: whole registers.
    fn block_pitch(&self) -> usize {
        let register = (self.grf / self.element.max(1)).max(1);
        self.block_size()
            .checked_next_multiple_of(register)
            .unwrap_or(usize::MAX)
    }

    /// Bytes of all blocks: loads fill the last register of each with zeros.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.block_pitch()
            .saturating_mul(self.blocks)
            .saturating_mul(self.element)
    }

    /// Bytes up to the last element, which is all that stores read.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        let Some(before) = self.blocks.checked_sub(1) else {
            return 0;
        };
        let elements = self.block_pitch().saturating_mul(before);
        elements
            .saturating_add(self.block_size())
            .saturating_mul(self.element)
    }

    /// Place of an element in the data, in elements.
    #[must_use]
    pub fn slot(&self, block: usize, y: usize, x: usize) -> usize {
        let packed = self.packed();
        let (row, column) = if self.transpose { (x, y) } else { (y, x) };
        let in_block = row / packed * packed * self.row_pitch() + column * packed + row % packed;
        block * self.block_pitch() + in_block
    }
}
