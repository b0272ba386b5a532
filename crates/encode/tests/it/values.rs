//! What is written is little-endian, as wide as the version says, and read back as it was.

use visakit_isa::operand::{
    AddressOperand, GeneralOperand, ImmediateOperand, IndirectOperand, Modifier, PredicateOperand,
    StateClass, StateOperand,
};
use visakit_isa::{
    AddressId, DataType, Dialect, ExecSize, FieldName as F, Format, Instruction, Op, Predicate,
    Region, Value, VarId, VectorOperand, Version,
};

fn mov(src0: VectorOperand) -> Instruction {
    let dst = GeneralOperand {
        variable: VarId(0x1234),
        region: Region::from_bits(0x0200),
        ..GeneralOperand::default()
    };
    Instruction::new(Op::MOV)
        .with(F::ExecSize, Value::ExecSize(ExecSize::from_bits(4)))
        .with(F::Pred, Value::Predicate(Predicate::from_bits(0x8001)))
        .with(F::Dst, Value::Vector(dst.into()))
        .with(F::Src0, Value::Vector(src0))
}

#[track_caller]
fn is(src0: VectorOperand, operand: &[u8]) {
    for (version, index) in [(Version::V3_3, 2), (Version::V4_1, 4)] {
        let format = Format::new(version, Dialect::Writer2018);
        let written = visakit_encode::instruction(&mov(src0), format).unwrap();
        let mut expected = vec![Op::MOV.opcode(), 4, 0x01, 0x80, 0x00];
        expected.extend(&[0x34, 0x12, 0, 0][..index]);
        expected.extend([0, 0, 0x00, 0x02]);
        expected.extend(operand);
        assert_eq!(written, expected, "{version}");
        let (rest, read) = visakit_parse::instruction(format)(&written).unwrap();
        assert!(rest.is_empty());
        assert_eq!(read.to_instruction(), mov(src0));
    }
}

#[test]
fn operands() {
    let immediate = ImmediateOperand::from_f32(1.5);
    is(immediate.into(), &[0x05, 7, 0, 0, 0xc0, 0x3f]);
    let immediate = ImmediateOperand::from_i16(-2);
    is(immediate.into(), &[0x05, 3, 0xfe, 0xff, 0xff, 0xff]);
    let immediate = ImmediateOperand::from_u64(0x1122_3344_5566_7788);
    let bytes = [0x05, 11, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11];
    is(immediate.into(), &bytes);
    let address = AddressOperand {
        modifier: Modifier::NONE,
        address: AddressId(0x1234),
        offset: 5,
        width: 3,
    };
    is(address.into(), &[0x01, 0x34, 0x12, 5, 3]);
    let predicate = PredicateOperand {
        modifier: Modifier::NOT,
        predicate: Predicate::from_bits(0x0234),
    };
    is(predicate.into(), &[0x2a, 0x34, 0x02]);
    let indirect = IndirectOperand {
        modifier: Modifier::SAT,
        address: AddressId(0x1234),
        address_offset: 5,
        offset: -2,
        property: DataType::W.into(),
        region: Region::from_bits(0x0243),
    };
    is(
        indirect.into(),
        &[0x23, 0x34, 0x12, 5, 0xfe, 0xff, 0x03, 0x43, 0x02],
    );
    let state = StateOperand {
        modifier: Modifier::NONE,
        class: StateClass::SAMPLER,
        index: 0x1234,
        offset: 5,
    };
    is(state.into(), &[0x06, 0x01, 0x34, 0x12, 5]);
}
