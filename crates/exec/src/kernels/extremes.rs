//! No operands make a computation panic: the functions take what programs that nobody has checked ask for, such as numbers
//! of 64 bits or floats for operations of dwords.

use super::Bound;
use super::tests::INTEGERS;
use crate::code::{
    Compute, Destination, DotTerms, Flag, FourBits, Lane, Modify, Narrowing, Operation, Precision,
    Region, Relation, Source, Target, full,
};
use crate::lanes::mode::FloatMode;
use crate::machine::Registers;
use crate::native::USUAL_MODE;
use std::sync::Arc;
use visakit_isa::DataType;

const FLOATS: [DataType; 4] = [DataType::Hf, DataType::Bf, DataType::F, DataType::Df];

const LANES: [Lane; 9] = [
    Lane::U8,
    Lane::U16,
    Lane::U32,
    Lane::I32,
    Lane::U64,
    Lane::I64,
    Lane::I128,
    Lane::F32,
    Lane::F64,
];

fn operations() -> Vec<Operation> {
    use Operation as O;
    let mut all = vec![
        O::Copy,
        O::IntegerToFloat,
        O::Not,
        O::CountBits,
        O::LeadingZeros,
        O::FirstBitLow,
        O::FirstBitHighSigned,
        O::FirstBitHighUnsigned,
        O::ReverseBits,
        O::Exp,
        O::Log,
        O::Sin,
        O::Cos,
        O::Tanh,
        O::Sigmoid,
        O::Inv,
        O::Sqrt,
        O::Rsqrt,
        O::Frc,
        O::Rndd,
        O::Rndu,
        O::Rnde,
        O::Rndz,
        O::Add,
        O::Mul,
        O::Div,
        O::Mod,
        O::Avg,
        O::MulHigh,
        O::Pow,
        O::Min,
        O::Max,
        O::And,
        O::Or,
        O::Xor,
        O::Shl,
        O::Shr,
        O::Rol,
        O::Ror,
        O::Mad,
        O::Add3,
        O::Lrp,
        O::ExtractSigned,
        O::ExtractUnsigned,
        O::Boolean(0x35),
        O::Insert,
        O::Select,
        O::AddCarry,
        O::SubBorrow,
        O::Add3Overflow,
        O::MadWide,
        O::DotBytes,
        O::Differences,
        O::DifferencesAdd,
        O::DotProduct(DotTerms {
            products: 3,
            bare: 1,
        }),
        O::Line,
        O::Plane,
        O::QuotientStep,
        O::RsqrtStep,
        O::ShuffleNibbles(true),
        O::ShuffleNibbles(false),
        O::FlagAnd,
        O::FlagOr,
        O::FlagXor,
        O::FlagNot,
        O::FlagToNumber(32),
        O::FlagFromBits,
        O::FlagFromLanes,
    ];
    for relation in [Relation::Equal, Relation::Less, Relation::LessEqual] {
        all.push(O::Compare(relation));
    }
    for to in LANES {
        all.push(O::Convert(to));
    }
    for float in [false, true] {
        let places = [0, 4, 8, 12];
        all.push(O::ScaleDown(FourBits {
            brain: !float,
            float,
            places,
        }));
    }
    for narrowing in [
        Narrowing::BFloatToFloat,
        Narrowing::FloatToBFloat,
        Narrowing::FloatToTf32,
        Narrowing::Tf32ToFloat,
        Narrowing::HalfToBf8,
        Narrowing::Bf8ToHalf,
        Narrowing::HalfToHf8,
        Narrowing::Hf8ToHalf,
    ] {
        all.push(O::Narrow(narrowing));
    }
    for narrowing in [Narrowing::FloatToHalfByChance, Narrowing::HalfToBf8ByChance] {
        all.push(O::NarrowByChance(narrowing));
    }
    for name in O::NAMES {
        assert!(all.iter().any(|o| o.name() == *name), "{name} is missing");
    }
    all
}

/// A register file whose sources have these bytes, one after the other.
fn file(bytes: [u8; 4]) -> Vec<u8> {
    let mut file = vec![0xa5; 4096];
    for (source, byte) in file.chunks_exact_mut(512).zip(bytes) {
        source.fill(byte);
        // The highest byte of each element of 64 bits: the largest and the smallest number.
        for last in source.iter_mut().skip(7).step_by(16) {
            *last ^= 0x80;
        }
    }
    file
}

#[test]
fn no_operands_are_too_large() {
    let files = [
        [0xff; 4],
        [0; 4],
        [0xff, 0, 0xff, 0],
        [0, 0xff, 0x80, 0x7f],
        [0x7f; 4],
    ]
    .map(file);
    let flag = Flag {
        offset: 2560,
        window: full(16),
        ..Flag::default()
    };
    let types = [&INTEGERS[..], &FLOATS].concat();
    let mut ran = 0;
    for operation in operations() {
        for lane in LANES {
            for (number, data_type) in types.iter().copied().enumerate() {
                // Types of destinations go through all in turn.
                let other = types[(number * 5 + lane as usize) % types.len()];
                let destination = |offset| Destination {
                    offset,
                    data_type: other,
                    saturate: number % 2 == 0,
                    target: Target::Packed,
                };
                let modify = [Modify::None, Modify::Neg, Modify::Abs][number % 3];
                let source = |offset| Source {
                    offset,
                    region: Region::Packed,
                    modify,
                    ..Source::scalar(offset, data_type)
                };
                let precision = match data_type {
                    DataType::Hf => Precision::Half,
                    DataType::Bf => Precision::BFloat,
                    DataType::Df => Precision::Double,
                    _ => Precision::Float,
                };
                let compute = Arc::new(Compute {
                    operation,
                    lane,
                    precision,
                    destination: destination(2048),
                    second: Some(destination(3072)),
                    sets: Some(flag),
                    sources: [0, 512, 1024, 1536].map(source),
                    flags: [flag; 2],
                });
                let bound = Bound::new(&compute);
                for file in &files {
                    let mut registers = Registers {
                        file: file[..].into(),
                        mode: FloatMode::from_cr0(USUAL_MODE),
                        ..Registers::default()
                    };
                    // Lanes of types that an operation does not have are refused.
                    ran += usize::from(bound.run(16, &mut registers, full(16)).is_ok());
                }
            }
        }
    }
    assert!(ran > 20_000, "{ran}");
}
