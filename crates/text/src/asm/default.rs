//! The fields that text does not show, or may leave out.

use super::instruction::Line;
use visakit_isa::operand::{ImmediateOperand, PropertyByte};
use visakit_isa::table::FieldName as F;
use visakit_isa::{DataType, Op, Value, enums};

/// Messages of one lane, whose text need not say so.
const BARE: [Op; 3] = [
    Op::LSC_FENCE,
    Op::LSC_TYPED_LOAD_BLOCK2D,
    Op::LSC_TYPED_STORE_BLOCK2D,
];

impl Line<'_, '_> {
    /// A plain number.
    pub(super) fn default(&self, name: F) -> u32 {
        let known = |name| {
            let slot = self.slot(name);
            (slot.known != 0).then_some(slot.bits)
        };
        let state = self.def.op == Op::LSC_TYPED_READ_STATE_INFO;
        match name {
            // One lane, whatever the mask.
            F::ExecSize if state || BARE.contains(&self.def.op) => 0x80,
            F::DataSize => enums::lsc_data_size::D32.into(),
            F::DataOrder => enums::lsc_data_order::NONTRANSPOSE.into(),
            // Both fields were one in the assemblers.
            F::DataElems => known(F::ChMask).unwrap_or(enums::lsc_data_elems::N1.into()),
            F::ChMask if self.field(F::Src0AddrPitch).is_some() => 0,
            F::ChMask => known(F::DataElems).unwrap_or(enums::lsc_data_elems::N1.into()),
            F::AddrSize => enums::lsc_addr_size::A32.into(),
            F::AddrType => enums::lsc_addr_type::FLAT.into(),
            F::AddrScale | F::Blocks => 1,
            // No relation, as Intel's assemblers store it.
            F::RelOp => 6,
            _ => 0,
        }
    }

    /// Bytes of the data at an address.
    fn data_bytes(&self) -> u32 {
        let size = match u8::try_from(self.slot(F::DataSize).bits) {
            Ok(enums::lsc_data_size::D8) => 1,
            Ok(enums::lsc_data_size::D16) => 2,
            Ok(enums::lsc_data_size::D64) => 8,
            _ => 4,
        };
        let elements = self.slot(F::DataElems).bits;
        size * elements.checked_sub(5).map_or(elements, |n| 8 << (n & 3))
    }

    /// A vector operand.
    pub(super) fn unwritten_vector(&self, name: F) -> Value {
        if name == F::NumThreads {
            // Writers repeat the number of the barrier.
            if let Some(value) = self.slot(F::BarrierId).value {
                return value;
            }
        }
        if name == F::NumConsumers
            && let Some(value) = self.slot(F::NumProducers).value
        {
            return value;
        }
        if name == F::Type {
            // Producers and consumers.
            let both = ImmediateOperand::new(PropertyByte::from(DataType::Uw), 0);
            return Value::Vector(both.into());
        }
        if name == F::Src0AddrPitch {
            // As if the elements were packed.
            let pitch = self.data_bytes();
            let pitch = ImmediateOperand::new(PropertyByte::from(DataType::Ud), pitch.into());
            return Value::Vector(pitch.into());
        }
        let zero = ImmediateOperand::new(PropertyByte::from(DataType::Ud), 0);
        Value::Vector(zero.into())
    }
}
