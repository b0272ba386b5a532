//! Every kind of field from its bytes, and the error if they end early.

use crate::{NARROW, WIDE};
use visakit_isa::operand::ImmediateOperand;
use visakit_isa::table::FieldKind as K;
use visakit_isa::{
    DataType, ElementCount, ExecSize, Format, LabelId, Predicate, RawOperand, SamplerId, SamplerOp,
    StringId, SurfaceId, Value, VarId,
};
use visakit_parse::{nom, value, vector_operand};

#[track_caller]
fn is(kind: K, format: Format, bytes: &[u8], expected: Value) {
    let mut more = bytes.to_vec();
    more.push(0xee);
    let (rest, found) = value(kind, format)(&more).unwrap();
    assert_eq!((rest, found), (&[0xee][..], expected));
    for end in 0..bytes.len() {
        match value(kind, format)(&bytes[..end]) {
            Err(nom::Err::Incomplete(nom::Needed::Size(needed))) => {
                assert!(needed.get() <= bytes.len() - end, "{kind:?} cut at {end}");
            }
            other => panic!("{kind:?} cut at {end}: {other:?}"),
        }
    }
}

#[test]
fn numbers_are_little_endian() {
    is(
        K::ExecSize,
        WIDE,
        &[0x84],
        Value::ExecSize(ExecSize::from_bits(0x84)),
    );
    is(
        K::Predicate,
        WIDE,
        &[0x34, 0x82],
        Value::Predicate(Predicate::from_bits(0x8234)),
    );
    is(K::U8, WIDE, &[0xfe], Value::U8(0xfe));
    is(K::U16, WIDE, &[0x34, 0x12], Value::U16(0x1234));
    is(
        K::U32,
        WIDE,
        &[0x78, 0x56, 0x34, 0x12],
        Value::U32(0x1234_5678),
    );
    is(K::I32, WIDE, &[0xfe, 0xff, 0xff, 0xff], Value::I32(-2));
    is(K::Label, WIDE, &[0x34, 0x12], Value::Label(LabelId(0x1234)));
    is(
        K::Labels,
        WIDE,
        &[0x34, 0x12],
        Value::Label(LabelId(0x1234)),
    );
    is(
        K::StringIndex16,
        WIDE,
        &[0x34, 0x12],
        Value::String(StringId(0x1234)),
    );
    is(K::Surface, WIDE, &[7], Value::Surface(SurfaceId(7)));
    is(K::Sampler, WIDE, &[7], Value::Sampler(SamplerId(7)));
    is(
        K::ElementCount,
        WIDE,
        &[0x81],
        Value::ElementCount(ElementCount::from_bits(0x81)),
    );
    is(K::Count, WIDE, &[3], Value::U8(3));
}

#[test]
fn widths_follow_the_version() {
    is(
        K::StringIndex,
        NARROW,
        &[0x34, 0x12],
        Value::String(StringId(0x1234)),
    );
    is(
        K::StringIndex,
        WIDE,
        &[0x78, 0x56, 0x34, 0x12],
        Value::String(StringId(0x1234_5678)),
    );
    is(
        K::Lifetime,
        NARROW,
        &[0x34, 0x12],
        Value::Lifetime(VarId(0x1234)),
    );
    is(
        K::Lifetime,
        WIDE,
        &[0x78, 0x56, 0x34, 0x12],
        Value::Lifetime(VarId(0x1234_5678)),
    );
    is(
        K::SamplerOp,
        NARROW,
        &[0xa3],
        Value::SamplerOp(SamplerOp::from_bits(0x0503)),
    );
    is(
        K::SamplerOp,
        WIDE,
        &[0x03, 0x05],
        Value::SamplerOp(SamplerOp::from_bits(0x0503)),
    );
    let raw = Value::Raw(RawOperand {
        variable: VarId(0x1234),
        offset: 0x5678,
    });
    for kind in [K::Raw, K::Raws] {
        is(kind, NARROW, &[0x34, 0x12, 0x78, 0x56], raw);
        is(kind, WIDE, &[0x34, 0x12, 0, 0, 0x78, 0x56], raw);
    }
}

#[test]
fn vector_operands_of_every_class() {
    for format in [NARROW, WIDE] {
        for (operand, bytes) in visakit_testing::operands::samples(format) {
            is(K::Vector, format, &bytes, Value::Vector(operand));
        }
    }
}

#[test]
fn immediates_have_four_bytes_or_eight() {
    for ty in DataType::ALL {
        let mut bytes = vec![0x05, ty.code(), 0x11, 0x22, 0x33, 0x44];
        let mut bits = 0x4433_2211;
        match ImmediateOperand::wire_size(ty) {
            None => {
                assert!(vector_operand(WIDE)(&bytes).is_err());
                continue;
            }
            Some(8) => {
                bytes.extend([0x55, 0x66, 0x77, 0x88]);
                bits = 0x8877_6655_4433_2211;
            }
            Some(_) => {}
        }
        let immediate = ImmediateOperand::new(ty.into(), bits);
        is(K::Vector, WIDE, &bytes, Value::Vector(immediate.into()));
    }
}
