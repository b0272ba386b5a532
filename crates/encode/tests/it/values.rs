//! What is written is little-endian, has the width of the version, and is read back unchanged.

use visakit_isa::operand::{GeneralOperand, ImmediateOperand};
use visakit_isa::{
    Dialect, ExecSize, FieldName as F, Format, Instruction, Op, Predicate, Region, Value, VarId,
    VectorOperand, Version,
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
fn is(format: Format, src0: VectorOperand, operand: &[u8]) {
    let written = visakit_encode::instruction(&mov(src0), format).unwrap();
    let wide: &[u8] = if format.wide_indices() { &[0, 0] } else { &[] };
    let mut expected = vec![Op::MOV.opcode(), 4, 0x01, 0x80, 0x00, 0x34, 0x12];
    expected.extend(wide);
    expected.extend([0, 0, 0x00, 0x02]);
    expected.extend(operand);
    assert_eq!(written, expected);
    let (rest, read) = visakit_parse::instruction(format)(&written).unwrap();
    assert!(rest.is_empty());
    assert_eq!(read.to_instruction(), mov(src0));
}

#[test]
fn operands() {
    let float = ImmediateOperand::from_f32(1.5).into();
    let word = ImmediateOperand::from_i16(-2).into();
    let quad = ImmediateOperand::from_u64(0x1122_3344_5566_7788).into();
    let bytes = [0x05, 11, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11];
    for version in [Version::V3_3, Version::V4_1] {
        let format = Format::new(version, Dialect::Writer2018);
        is(format, float, &[0x05, 7, 0, 0, 0xc0, 0x3f]);
        is(format, word, &[0x05, 3, 0xfe, 0xff, 0xff, 0xff]);
        is(format, quad, &bytes);
        for (operand, bytes) in visakit_testing::operands::samples(format) {
            is(format, operand, &bytes);
        }
    }
}
