//! Rectangles and texels of 2D surfaces, and small matrix products.

use crate::choice::Choices;
use crate::kernel::{Kernel, immediate, raw};
use crate::rows::destination;
use visakit_isa::enums::{
    lsc_addr_size, lsc_addr_type, lsc_data_elems, lsc_data_order, lsc_data_size, precision,
};
use visakit_isa::semantics::{Action, DataLayout, Storage};
use visakit_isa::table::FieldKind;
use visakit_isa::{DataType, FieldName, Instruction, Op, Predicate, RawOperand, Value};

/// How a surface of an executable object is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SurfaceKind {
    /// A buffer.
    Linear,
    /// Rows of [`ROW_BYTES`] bytes, of which each is a texel.
    Bytes,
    /// Rows of [`ROW_BYTES`] bytes; a texel is four unsigned numbers of 32 bits.
    Texels,
}

/// The surfaces that executable objects access: entry of the binding table, and the required kind. Each has
/// [`crate::SURFACE_BYTES`] bytes.
pub const SURFACES: [(u8, SurfaceKind); 3] = [
    (1, SurfaceKind::Linear),
    (2, SurfaceKind::Bytes),
    (3, SurfaceKind::Texels),
];

/// Bytes of a row of the surfaces that have rows.
pub const ROW_BYTES: u32 = 64;

/// Bytes of a texel.
const TEXEL: u32 = 16;

impl Kernel<'_> {
    /// Loads or stores a rectangle.
    pub(crate) fn rectangle(&mut self, choices: &mut Choices<'_>) {
        let Some(surface) = self.bytes else { return };
        let Some(data) = self.of_type(DataType::Ud, choices) else {
            return;
        };
        let width = choices.of_or(&[4u8, 8, 16, 32], 4);
        // As many rows as a variable holds on the smallest platform.
        let height = 1 + u8::try_from(choices.below(usize::from(128 / width).min(8))).unwrap_or(0);
        let x = 4 * choices.below(usize::from(64 - width) / 4 + 1);
        let y = choices.below(usize::from(64 - height) + 1);
        let place = |at: usize| immediate(DataType::Ud, u64::try_from(at).unwrap_or(0));
        let rows = self.rows(|row| {
            row.memory
                .is_some_and(|m| m.layout == DataLayout::Rectangle)
        });
        let Some(def) = choices.of(&rows) else { return };
        let last = match destination(def) {
            Some(_) => FieldName::Dst,
            None => FieldName::Src,
        };
        let instruction = Instruction::new(def.op)
            .with(FieldName::Modifier, Value::U8(0))
            .with(FieldName::Surface, Value::Surface(surface))
            .with(FieldName::Plane, Value::U8(0))
            .with(FieldName::BlockWidth, Value::U8(width))
            .with(FieldName::BlockHeight, Value::U8(height))
            .with(FieldName::XOffset, place(x))
            .with(FieldName::YOffset, place(y))
            .with(last, raw(data, 0));
        self.push(instruction);
    }

    /// Loads or stores texels, one for each lane.
    pub(crate) fn texels(&mut self, choices: &mut Choices<'_>) {
        let Some(surface) = self.texels else { return };
        let rows = self.rows(|row| row.memory.is_some_and(|m| m.layout == DataLayout::Texels));
        let Some(def) = choices.of(&rows) else { return };
        let memory = def.memory;
        let loads = memory.is_some_and(|memory| memory.action == Action::Load);
        let cached = memory.is_some_and(|memory| memory.storage == Storage::LscImage);
        let ty = DataType::Ud;
        let Some(data) = self.of_type(ty, choices) else {
            return;
        };
        // A register for each channel.
        let lanes = if self.grf_bytes() == 64 { 16 } else { 8 };
        let columns = u64::from(ROW_BYTES / TEXEL);
        let base = u64::from(choices.u8() & 31);
        let steps = [
            (Op::AND, self.columns, self.lanes, columns - 1),
            (
                Op::SHR,
                self.places,
                self.lanes,
                columns.trailing_zeros().into(),
            ),
            (Op::ADD, self.places, self.places, base),
        ];
        for (op, to, from, by) in steps {
            let to = self.destination(to, ty, 0);
            let from = self.packed(from, ty, 0, lanes);
            self.push(self.computed(op, lanes, to, from, immediate(ty, by)));
        }
        let channels = if cached && !loads {
            // These are the first ones, without a gap.
            choices.of_or(&[0b1, 0b11, 0b111, 0b1111], 1)
        } else {
            1 + choices.u8() % 15
        };
        let old = def
            .fields_in(self.format)
            .any(|f| f.name == FieldName::ChannelsInv);
        let predicate = self.predicate(false, choices);
        let mut instruction = Instruction::new(def.op);
        for field in def.fields_in(self.format) {
            let value = match field.name {
                // The early layout has a special code for its eight lanes.
                FieldName::ExecSize if old => Value::ExecSize(visakit_isa::ExecSize::from_bits(0)),
                FieldName::ExecSize => self.masked(lanes),
                FieldName::Pred => Value::Predicate(predicate),
                FieldName::ChannelsInv => Value::U8(channels ^ 0xf),
                FieldName::Channels | FieldName::ChMask => Value::U8(channels),
                FieldName::AddrType => Value::U8(lsc_addr_type::BTI),
                FieldName::AddrSize => Value::U8(lsc_addr_size::A32),
                FieldName::DataSize => Value::U8(lsc_data_size::D32),
                FieldName::DataOrder => Value::U8(lsc_data_order::NONTRANSPOSE),
                FieldName::DataElems => Value::U8(lsc_data_elems::N4),
                FieldName::Surface if field.kind == FieldKind::Surface => Value::Surface(surface),
                FieldName::Surface => immediate(ty, 3),
                FieldName::SurfaceIndex => Value::U32(0),
                FieldName::U | FieldName::Src0U => raw(self.columns, 0),
                FieldName::V | FieldName::Src0V => raw(self.places, 0),
                FieldName::Dst if loads => raw(data, 0),
                FieldName::Src | FieldName::Src1Data if !loads => raw(data, 0),
                _ if field.kind == FieldKind::I32 => Value::I32(0),
                _ if field.kind == FieldKind::U8 => Value::U8(0),
                _ => Value::Raw(RawOperand::NULL),
            };
            instruction = instruction.with(field.name, value);
        }
        self.push(instruction);
    }

    /// A product of matrices of small integers, added to an accumulator.
    pub(crate) fn matrix(&mut self, choices: &mut Choices<'_>) {
        let Some(weights) = self.weights else { return };
        let (Some(to), Some(accumulator), Some(activations)) = (
            self.of_type(DataType::D, choices),
            self.of_type(DataType::D, choices),
            self.of_type(DataType::Ud, choices),
        ) else {
            return;
        };
        let kinds = [precision::S8, precision::U8, precision::S4, precision::U4];
        let w = choices.of_or(&kinds, precision::S8);
        let a = choices.of_or(&kinds, precision::S8);
        // Each row takes a register, and a variable has four.
        let rows = choices.of_or(&[1u8, 2, 4], 1);
        let lanes = if self.grf_bytes() == 64 { 16 } else { 8 };
        let zero = choices.once_in(4);
        // Precisions and counts of rows, which this statement chooses, are those of this operation.
        let mut instruction = Instruction::new(Op::DPAS);
        for field in Op::DPAS.def().fields_in(self.format) {
            let value = match field.name {
                FieldName::ExecSize => self.no_mask(lanes),
                FieldName::Pred => Value::Predicate(Predicate::NONE),
                FieldName::Dst => raw(to, 0),
                FieldName::Src0 if zero => Value::Raw(RawOperand::NULL),
                FieldName::Src0 => raw(accumulator, 0),
                FieldName::Src1 => raw(weights, 0),
                FieldName::Src2 => self.element(activations, DataType::Ud, 0),
                FieldName::PrecisionInfo => Value::U32(u32::from_le_bytes([w, a, 8, rows])),
                _ => Value::U8(0),
            };
            instruction = instruction.with(field.name, value);
        }
        self.push(instruction);
    }
}
