//! Access through address variables: the address is taken right before its use.

use crate::choice::Choices;
use crate::kernel::{Kernel, immediate};
use visakit_isa::operand::{AddressOperand, GeneralOperand, IndirectOperand, Modifier, Region};
use visakit_isa::{AddressId, DataType, FieldName, Instruction, Op, Predicate, Value};

impl Kernel<'_> {
    pub(crate) fn indirect(&mut self, choices: &mut Choices<'_>) {
        let types: Vec<DataType> = self.pool.iter().map(|v| v.ty).collect();
        let Some(ty) = choices.of(&types) else { return };
        let (Some(from), Some(to)) = (self.of_type(ty, choices), self.of_type(ty, choices)) else {
            return;
        };
        let address = AddressId(u16::from(choices.once_in(2)));
        // A place in the first register, so that eight lanes stay inside of the variable.
        let at = u16::try_from(choices.below(4)).unwrap_or(0);
        let taken = GeneralOperand {
            variable: from,
            ..GeneralOperand::default()
        };
        let target = AddressOperand {
            address,
            ..AddressOperand::default()
        };
        // The one operation that takes the address of a variable.
        let addr_add = Instruction::new(Op::ADDR_ADD)
            .with(FieldName::ExecSize, self.no_mask(1))
            .with(FieldName::Dst, Value::Vector(target.into()))
            .with(FieldName::Src0, Value::Vector(taken.into()))
            .with(
                FieldName::Src1,
                immediate(DataType::Uw, u64::from(at * u16::from(ty.size()))),
            );
        self.push(addr_add);
        let lanes = choices.of_or(&[1u8, 4, 8], 1);
        let region = if lanes == 1 {
            Some(Region::SCALAR)
        } else {
            Region::source(lanes, lanes, 1)
        };
        let into = choices.once_in(3);
        let region = if into { Region::destination(1) } else { region };
        let operand = IndirectOperand {
            modifier: Modifier::NONE,
            address,
            address_offset: 0,
            offset: 0,
            property: ty.into(),
            region: region.unwrap_or_default(),
        };
        let operand = Value::Vector(operand.into());
        let start = self.start(ty, u16::from(lanes), choices);
        let (destination, source) = if into {
            (operand, self.packed(to, ty, start, lanes))
        } else {
            (self.destination(to, ty, start), operand)
        };
        // Any operation with such an operand will do.
        let moved = Instruction::new(Op::MOV)
            .with(FieldName::ExecSize, self.size_and_mask(lanes, choices))
            .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
            .with(FieldName::Dst, destination)
            .with(FieldName::Src0, source);
        self.push(moved);
    }
}
