//! Operands that stay inside of their variables and inside of two registers.

use crate::choice::Choices;
use crate::kernel::{General, Kernel, VARIABLE_GRFS, immediate};
use visakit_isa::operand::{GeneralOperand, Modifier, Region};
use visakit_isa::table::{InstructionDef, SourceModifiers};
use visakit_isa::{DataType, Op, Value, VarId};

impl Kernel<'_> {
    fn general(&self, variable: VarId, ty: DataType, start: u16, region: Region) -> GeneralOperand {
        let in_row = self.grf_bytes() / u16::from(ty.size());
        GeneralOperand {
            modifier: Modifier::NONE,
            variable,
            row: u8::try_from(start / in_row).unwrap_or(0),
            column: u8::try_from(start % in_row).unwrap_or(0),
            region,
        }
    }

    /// A packed destination from element `start` on.
    pub(crate) fn destination(&self, variable: VarId, ty: DataType, start: u16) -> Value {
        let region = Region::destination(1).unwrap_or_default();
        Value::Vector(self.general(variable, ty, start, region).into())
    }

    /// A packed source of `lanes` elements from element `start` on.
    pub(crate) fn packed(&self, variable: VarId, ty: DataType, start: u16, lanes: u8) -> Value {
        let region = packed_region(lanes);
        Value::Vector(self.general(variable, ty, start, region).into())
    }

    /// One element for all lanes.
    pub(crate) fn element(&self, variable: VarId, ty: DataType, at: u16) -> Value {
        Value::Vector(self.general(variable, ty, at, Region::SCALAR).into())
    }

    /// A variable of this type; `None` where none is declared.
    pub(crate) fn of_type(&self, ty: DataType, choices: &mut Choices<'_>) -> Option<VarId> {
        let ids: Vec<VarId> = self
            .pool
            .iter()
            .filter(|v| v.ty == ty)
            .map(|v| v.id)
            .collect();
        choices.of(&ids)
    }

    /// A source operand: a region of a variable, an element of one, or an immediate.
    pub(crate) fn source(
        &self,
        ty: DataType,
        lanes: u8,
        may_be_immediate: bool,
        choices: &mut Choices<'_>,
    ) -> Option<Value> {
        let variable = self.of_type(ty, choices)?;
        let of = General { id: variable, ty };
        Some(match choices.below(8) {
            0 if may_be_immediate => self.constant(ty, choices),
            1 => self.any_element(of, choices),
            2 | 3 => self.strided(of, lanes, choices),
            _ => self.any_packed(of, lanes, choices),
        })
    }

    /// A source operand whose elements follow each other, or an element.
    pub(crate) fn in_order(
        &self,
        ty: DataType,
        lanes: u8,
        choices: &mut Choices<'_>,
    ) -> Option<Value> {
        let id = self.of_type(ty, choices)?;
        let of = General { id, ty };
        Some(if choices.below(8) == 1 {
            self.any_element(of, choices)
        } else {
            self.any_packed(of, lanes, choices)
        })
    }

    fn any_element(&self, of: General, choices: &mut Choices<'_>) -> Value {
        let elements = usize::from(self.elements(of.ty));
        let at = u16::try_from(choices.below(elements)).unwrap_or(0);
        self.element(of.id, of.ty, at)
    }

    fn any_packed(&self, of: General, lanes: u8, choices: &mut Choices<'_>) -> Value {
        let start = self.start(of.ty, u16::from(lanes), choices);
        self.packed(of.id, of.ty, start, lanes)
    }

    /// A destination operand, packed or with a stride.
    pub(crate) fn written(
        &self,
        ty: DataType,
        lanes: u8,
        choices: &mut Choices<'_>,
    ) -> Option<Value> {
        let variable = self.of_type(ty, choices)?;
        let stride = choices.of_or(&[1u8, 1, 1, 2], 1);
        let stride = if self.fits(ty, lanes, stride) {
            stride
        } else {
            1
        };
        let extent = u16::from(lanes) * u16::from(stride);
        let start = self.start(ty, extent, choices);
        let region = Region::destination(stride)?;
        Some(Value::Vector(
            self.general(variable, ty, start, region).into(),
        ))
    }

    /// Whether that many elements at a stride lie within two registers.
    fn fits(&self, ty: DataType, lanes: u8, stride: u8) -> bool {
        let bytes = u16::from(lanes) * u16::from(stride) * u16::from(ty.size());
        bytes <= 2 * self.grf_bytes()
    }

    /// A first element such that `extent` elements fit within two registers and the variable: the
    /// start of a register, or a place inside one with enough space after it.
    pub(crate) fn start(&self, ty: DataType, extent: u16, choices: &mut Choices<'_>) -> u16 {
        let in_row = self.grf_bytes() / u16::from(ty.size());
        let rows = extent.div_ceil(in_row).max(1);
        let row =
            u16::try_from(choices.below(usize::from(VARIABLE_GRFS - rows.min(VARIABLE_GRFS) + 1)))
                .unwrap_or(0);
        let free = in_row.saturating_sub(extent);
        // Aligned to the extent: an operand of less than a register does not cross one.
        let places = free.checked_div(extent).unwrap_or(0);
        let inside = u16::try_from(choices.below(usize::from(places) + 1)).unwrap_or(0) * extent;
        row * in_row + inside
    }

    fn strided(&self, of: General, lanes: u8, choices: &mut Choices<'_>) -> Value {
        let General { id, ty } = of;
        let stride = choices.of_or(&[2u8, 4], 2);
        let region = match choices.below(3) {
            // Every second or fourth element.
            0 | 1 if self.fits(ty, lanes, stride) && lanes > 1 => {
                let width = lanes.min(8);
                Region::source(width * stride, width, stride).map(|r| (r, lanes * stride))
            }
            // Rows that repeat.
            2 if lanes >= 4 => Region::source(0, lanes / 2, 1).map(|r| (r, lanes / 2)),
            _ => None,
        };
        let (region, extent) = match region {
            Some((region, extent)) if region.vertical_stride().elements().is_some() => {
                (region, extent)
            }
            _ => (packed_region(lanes), lanes),
        };
        let start = self.start(ty, u16::from(extent), choices);
        Value::Vector(self.general(id, ty, start, region).into())
    }

    /// A constant of the type: an edge of its range, a small or an arbitrary number.
    pub(crate) fn constant(&self, ty: DataType, choices: &mut Choices<'_>) -> Value {
        let bits = u32::from(ty.size()) * 8;
        let mask = if bits == 64 {
            u64::MAX
        } else {
            (1 << bits) - 1
        };
        let number = match choices.below(6) {
            0 => 0,
            1 => 1,
            2 => mask,
            3 => mask >> 1,
            4 => u64::from(choices.u8()),
            _ => choices.u64(),
        };
        let number = match ty {
            DataType::F => u64::from(float(number).to_bits()),
            DataType::Df => f64::from(float(number)).to_bits(),
            // 1.0, -2.0, 0.5, 0.0: halves have few exact neighbours.
            DataType::Hf => choices.of_or(&[0x3c00, 0xc000, 0x3800, 0], 0),
            _ => number & mask,
        };
        immediate(ty, number)
    }

    /// Puts a modifier that the instruction allows on a source of a variable.
    pub(crate) fn modified(
        &self,
        def: &InstructionDef,
        value: Value,
        ty: DataType,
        choices: &mut Choices<'_>,
    ) -> Value {
        let Value::Vector(visakit_isa::VectorOperand::General(mut operand)) = value else {
            return value;
        };
        let signed = ty.is_float() || ty.is_signed();
        operand.modifier = match def.source_modifiers {
            // A logical shift of a negated number is undefined.
            SourceModifiers::Arithmetic if def.op == Op::SHR => Modifier::NONE,
            SourceModifiers::Arithmetic if signed && choices.once_in(4) => choices.of_or(
                &[Modifier::NEG, Modifier::ABS, Modifier::NEG_ABS],
                Modifier::NEG,
            ),
            SourceModifiers::Logic if choices.once_in(5) => Modifier::NOT,
            _ => Modifier::NONE,
        };
        Value::Vector(operand.into())
    }
}

/// A float of moderate size with a few digits.
fn float(number: u64) -> f32 {
    let sixteenths = i16::from_le_bytes([(number & 0xff) as u8, (number >> 8 & 0xff) as u8]);
    f32::from(sixteenths) / 16.0
}

fn packed_region(lanes: u8) -> Region {
    if lanes == 1 {
        return Region::SCALAR;
    }
    let width = lanes.min(8);
    Region::source(width, width, 1).unwrap_or_default()
}
