//! Hot code computes the same as the functions for operands of any kind.

use super::{Bound, Hot};
use crate::code::{
    Compute, Destination, Flag, Lane, Modify, Operation, Precision, Region, Relation, Source,
    Target, full,
};
use crate::lanes::mode::{FloatMode, HostFloats};
use crate::lanes::simd::{Host, Kernel, Plain};
use crate::machine::Registers;
use crate::native::{ROUNDING_BITS, USUAL_MODE};
use proptest::prelude::*;
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, Round};
use std::sync::Arc;
use visakit_isa::DataType;

const OPERATIONS: [Operation; 41] = {
    use Operation as O;
    [
        O::Copy,
        O::Not,
        O::Add,
        O::Mul,
        O::Mad,
        O::Div,
        O::Min,
        O::Max,
        O::Inv,
        O::Sqrt,
        O::Rsqrt,
        O::Frc,
        O::Rndd,
        O::Rndu,
        O::Rnde,
        O::Rndz,
        O::And,
        O::Or,
        O::Xor,
        O::Shl,
        O::Shr,
        O::Rol,
        O::Ror,
        O::Add3,
        O::Boolean(0x96),
        O::Boolean(0xe4),
        O::Boolean(0x78),
        O::Boolean(0x35),
        O::Select,
        O::Compare(Relation::Equal),
        O::Compare(Relation::NotEqual),
        O::Compare(Relation::Less),
        O::Compare(Relation::LessEqual),
        O::Convert(Lane::F32),
        O::Convert(Lane::F64),
        O::Convert(Lane::I32),
        O::Convert(Lane::U32),
        O::FlagAnd,
        O::FlagOr,
        O::FlagXor,
        O::FlagNot,
    ]
};

const LANES: [(Lane, DataType); 8] = [
    (Lane::U8, DataType::Ub),
    (Lane::U16, DataType::Uw),
    (Lane::U32, DataType::Ud),
    (Lane::I32, DataType::D),
    (Lane::U64, DataType::Uq),
    (Lane::I64, DataType::Q),
    (Lane::F32, DataType::F),
    (Lane::F64, DataType::Df),
];

pub(super) const INTEGERS: [DataType; 8] = [
    DataType::Ub,
    DataType::B,
    DataType::Uw,
    DataType::W,
    DataType::Ud,
    DataType::D,
    DataType::Uq,
    DataType::Q,
];

/// Places of the sources, of the destination, and of a predicate.
const SOURCES: [usize; 3] = [0, 512, 1024];
const TO: usize = 1536;
const FLAG: u32 = 2048;
const BYTES: usize = 2048 + 256;

fn of_type(lane: Lane) -> DataType {
    let found = LANES.iter().find(|(of, _)| *of == lane);
    found.map_or(DataType::Ud, |(_, data_type)| *data_type)
}

/// A computation of operands of these types; `scalars` has a bit for each source.
fn compute(
    operation: Operation,
    lane: Lane,
    types: (DataType, DataType),
    scalars: usize,
    modify: Modify,
    lanes: usize,
) -> Compute {
    let mut sources: [Source; 4] = Default::default();
    let used = sources.iter_mut().zip(SOURCES).take(operation.sources());
    for (number, (source, offset)) in used.enumerate() {
        *source = Source {
            offset,
            region: match scalars >> number & 1 {
                0 => Region::Packed,
                _ => Region::Scalar,
            },
            modify: if number == 1 || operation.sources() == 1 {
                modify
            } else {
                Modify::None
            },
            ..Source::scalar(offset, types.0)
        };
    }
    let flag = Flag {
        offset: FLAG,
        window: full(lanes),
        ..Flag::default()
    };
    let inverted = Flag {
        offset: FLAG + 4,
        invert: true,
        ..flag
    };
    let compares = matches!(operation, Operation::Compare(_))
        || operation.flags() != 0 && operation != Operation::Select;
    Compute {
        operation,
        lane,
        precision: match lane {
            Lane::F64 => Precision::Double,
            _ => Precision::Float,
        },
        destination: Destination {
            offset: TO,
            data_type: types.1,
            saturate: false,
            target: if compares {
                Target::Null
            } else {
                Target::Packed
            },
        },
        second: None,
        sets: compares.then_some(flag),
        sources,
        flags: [flag, inverted],
    }
}

/// Computations with operands of other forms: outcomes of comparisons in variables, every other element, bits of a
/// dword as a predicate, doubles as dwords.
fn others(scalars: usize, modify: Modify, lanes: usize) -> Vec<Compute> {
    let mut all = Vec::new();
    for relation in [
        Relation::Equal,
        Relation::NotEqual,
        Relation::Less,
        Relation::LessEqual,
    ] {
        for lane in [Lane::U32, Lane::I32, Lane::F32] {
            let types = (of_type(lane), DataType::Ud);
            let modify = match (modify, lane) {
                (Modify::Not, Lane::F32) => Modify::Neg,
                (Modify::Abs, Lane::U32 | Lane::I32) => Modify::None,
                (other, _) => other,
            };
            let operation = Operation::Compare(relation);
            let mut one = compute(operation, lane, types, scalars, modify, lanes);
            one.sets = None;
            one.destination.target = Target::Packed;
            all.push(one);
        }
    }
    for (types, lane, strides) in [
        ((DataType::D, DataType::Ud), Lane::U32, [8, 0]),
        ((DataType::D, DataType::Ud), Lane::U32, [0, 8]),
        ((DataType::Ud, DataType::Ud), Lane::U32, [8, 8]),
        ((DataType::Uw, DataType::W), Lane::U16, [4, 0]),
        ((DataType::Uw, DataType::W), Lane::U16, [0, 4]),
        ((DataType::B, DataType::Ub), Lane::U8, [2, 0]),
        ((DataType::B, DataType::Ub), Lane::U8, [0, 2]),
        ((DataType::B, DataType::Ub), Lane::U8, [4, 0]),
        ((DataType::B, DataType::Ub), Lane::U8, [0, 4]),
        ((DataType::Ub, DataType::Ub), Lane::U8, [4, 4]),
    ] {
        let mut one = compute(
            Operation::Copy,
            lane,
            types,
            scalars & 1,
            Modify::None,
            lanes,
        );
        let [from, to] = strides;
        if from != 0 {
            one.sources[0].region = Region::Strided(from);
        }
        if to != 0 {
            one.destination.target = Target::Strided(to);
        }
        all.push(one);
    }
    for data_type in [DataType::Uw, DataType::W, DataType::Ub, DataType::B] {
        use Operation as O;
        let lane = match data_type.is_signed() {
            true => Lane::I32,
            false => Lane::U32,
        };
        let modify = match modify {
            Modify::Abs => Modify::None,
            other => other,
        };
        let types = (data_type, data_type);
        let one = |operation, lane| compute(operation, lane, types, scalars, modify, lanes);
        let of_words = if data_type.size() == 2 {
            &[O::Mul, O::Add3][..]
        } else {
            &[]
        };
        for operation in [O::Add, O::And, O::Or, O::Xor].iter().chain(of_words) {
            all.push(one(*operation, Lane::U32));
        }
        for operation in [
            O::Min,
            O::Max,
            O::Compare(Relation::Equal),
            O::Compare(Relation::NotEqual),
            O::Compare(Relation::Less),
            O::Compare(Relation::LessEqual),
        ] {
            all.push(one(operation, lane));
        }
        if !data_type.is_signed() {
            all.push(one(O::Shr, lane));
        }
    }
    let (from, to) = (Operation::IntegerToFloat, Operation::Convert(Lane::F64));
    for dwords in [DataType::D, DataType::Ud] {
        for (operation, lane, types) in [
            (from, Lane::I64, (dwords, DataType::Df)),
            (to, Lane::F64, (DataType::Df, dwords)),
        ] {
            all.push(compute(
                operation,
                lane,
                types,
                scalars,
                Modify::None,
                lanes,
            ));
        }
    }
    for (operation, lane, data_type) in [
        (Operation::MulHigh, Lane::U64, DataType::Ud),
        (Operation::MulHigh, Lane::U64, DataType::D),
        (Operation::AddCarry, Lane::I64, DataType::Ud),
        (Operation::SubBorrow, Lane::I64, DataType::Ud),
    ] {
        let types = (data_type, data_type);
        let mut one = compute(operation, lane, types, scalars, Modify::None, lanes);
        if operation != Operation::MulHigh {
            let offset = TO + 128;
            one.second = Some(Destination {
                offset,
                ..one.destination.clone()
            });
        }
        all.push(one);
    }
    let types = (DataType::Ud, DataType::Ud);
    for operation in [
        Operation::CountBits,
        Operation::LeadingZeros,
        Operation::FirstBitLow,
        Operation::FirstBitHighUnsigned,
        Operation::ReverseBits,
    ] {
        all.push(compute(
            operation,
            Lane::U32,
            types,
            scalars,
            Modify::None,
            lanes,
        ));
    }
    let mut bits = compute(
        Operation::FlagFromBits,
        Lane::U32,
        types,
        1,
        Modify::None,
        lanes,
    );
    bits.sets = Some(bits.flags[0]);
    bits.destination.target = Target::Null;
    all.push(bits);
    all
}

struct Run<'a>(&'a Hot, &'a mut [u8], u32);

impl Kernel for Run<'_> {
    type Output = ();

    fn run<H: Host>(self, host: H) {
        let Self(hot, file, mask) = self;
        hot.run(host, file, mask);
    }
}

/// Runs a computation both ways. Returns whether there is hot code for it.
fn agree(compute: &Compute, lanes: usize, file: &[u8], mask: u32) -> bool {
    let mask = mask & full(lanes);
    let Some(hot) = Hot::new(compute, lanes, HostFloats::ALL).filter(|_| mask != 0) else {
        return false;
    };
    let registers = || Registers {
        file: file.into(),
        mode: FloatMode::from_cr0(USUAL_MODE),
        ..Registers::default()
    };
    let (mut fast, mut plain, mut any) = (registers(), registers(), registers());
    fast.simd.run(Run(&hot, &mut fast.file, mask));
    Plain.call(Run(&hot, &mut plain.file, mask));
    let bound = Bound::new(&Arc::new(compute.clone()));
    bound
        .run(u8::try_from(lanes).unwrap(), &mut any, mask)
        .unwrap();
    // NaNs included, except that Miri makes up those of conversions.
    if !(cfg!(miri) && matches!(compute.operation, Operation::Convert(_))) {
        for file in [&fast.file, &plain.file] {
            assert_eq!(file[TO..], any.file[TO..], "{compute:?} {lanes} {mask:#x}");
        }
    }
    true
}

/// Singles and halves of doubles, of which every other one is a NaN or infinite.
fn floats() -> impl Strategy<Value = Vec<u8>> {
    let special = any::<u32>().prop_map(|bits| bits | 0x7ff0_0000);
    let word = prop_oneof![any::<u32>(), special, Just(0x7f80_0000)];
    prop::collection::vec(word, BYTES / 4)
        .prop_map(|words| words.into_iter().flat_map(u32::to_le_bytes).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 12 }))]

    #[test]
    fn hot_code_and_functions_agree(
        bytes in prop_oneof![prop::collection::vec(any::<u8>(), BYTES), floats()],
        mask in prop_oneof![Just(u32::MAX), any::<u32>()],
        scalars in 0..8usize,
        modify in prop_oneof![Just(Modify::None), Just(Modify::Neg), Just(Modify::Not), Just(Modify::Abs)],
    ) {
        let mut hot = 0;
        for lanes in [1, 4, 8, 16, 32] {
            for operation in OPERATIONS {
                for (lane, data_type) in LANES {
                    let to = match operation {
                        Operation::Convert(to) => of_type(to),
                        _ => data_type,
                    };
                    let modify = match modify {
                        Modify::Not if data_type.is_float() => Modify::Neg,
                        other => other,
                    };
                    let one = compute(operation, lane, (data_type, to), scalars, modify, lanes);
                    hot += usize::from(agree(&one, lanes, &bytes, mask));
                }
            }
            for from in INTEGERS {
                for to in INTEGERS {
                    let one = compute(Operation::Copy, Lane::U64, (from, to), scalars, Modify::None, lanes);
                    hot += usize::from(agree(&one, lanes, &bytes, mask));
                }
            }
            for one in others(scalars, modify, lanes) {
                let is_hot = agree(&one, lanes, &bytes, mask);
                prop_assert!(is_hot || lanes == 1 || mask & full(lanes) == 0, "{:?}", one);
                hot += usize::from(is_hot);
            }
        }
        // For five numbers of lanes; without a lane in the mask there is nothing to run.
        prop_assert!(hot > 200, "{}", hot);
    }
}

/// All lanes are read before any is written, wherever the destination overlaps a source.
#[test]
fn destinations_may_overlap_sources() {
    let mut bytes: Vec<u8> = (0..=250).cycle().step_by(7).take(BYTES).collect();
    // Some singles and doubles are NaNs.
    for word in bytes.as_chunks_mut::<4>().0.iter_mut().step_by(5) {
        [word[2], word[3]] = [0xf0, 0x7f];
    }
    let mut hot = 0;
    for (operation, lane, types) in [
        (Operation::Add, Lane::U32, (DataType::Ud, DataType::Ud)),
        (Operation::Add, Lane::U64, (DataType::Uq, DataType::Uq)),
        (Operation::Copy, Lane::U64, (DataType::Ud, DataType::Uq)),
        (Operation::Copy, Lane::U64, (DataType::Uq, DataType::Ud)),
        (Operation::Copy, Lane::U64, (DataType::Uq, DataType::Ub)),
        (Operation::Add, Lane::F32, (DataType::F, DataType::F)),
        (Operation::Sqrt, Lane::F64, (DataType::Df, DataType::Df)),
    ] {
        for source in (TO - 256..=TO + 256).step_by(8) {
            for mut one in others(0, Modify::None, 32) {
                one.sources[0].offset = source;
                hot += usize::from(agree(&one, 32, &bytes, 0xffff_fff7));
            }
            for scalars in 0..4 {
                let mut one = compute(operation, lane, types, scalars, Modify::None, 32);
                one.sources[0].offset = source;
                hot += usize::from(agree(&one, 32, &bytes, 0xffff_fff7));
            }
        }
    }
    assert!(hot > 300, "{hot}");
}

/// Numbers of a format near each other, at the ends of its range, and any others, as bits.
fn numbers(fraction: u32, exponents: u64) -> impl Strategy<Value = Vec<u64>> {
    let near = (0..4u64, any::<u64>()).prop_map(move |(exponent, bits)| {
        let exponent = exponents / 2 - 2 + exponent;
        exponent << fraction | bits & ((1 << fraction) - 1)
    });
    let whole = (0..20u64).prop_map(move |n| match (n, fraction) {
        (n, 23) => (n as f32).to_bits().into(),
        (n, _) => (n as f64).to_bits(),
    });
    let end = (any::<bool>(), any::<u64>()).prop_map(move |(high, bits)| {
        let exponent = if high { exponents } else { 0 };
        exponent << fraction | bits & ((1 << fraction) - 1) & bits >> 7
    });
    let sign = (exponents + 1) << fraction;
    let one = prop_oneof![4 => near, 2 => whole, 1 => end, 2 => any::<u64>()];
    let signed = (one, any::<bool>()).prop_map(move |(bits, negative)| {
        let magnitude = bits & (sign - 1);
        if negative {
            magnitude | sign
        } else {
            magnitude
        }
    });
    prop::collection::vec(signed, 96)
}

/// What a library in software has for a sum, a product, and a product with a sum, rounded towards zero.
fn towards_zero<F: Float>(operation: Operation, sources: [u64; 3]) -> F {
    let [a, b, c] = sources.map(|bits| F::from_bits(bits.into()));
    let sum = match operation {
        Operation::Add => a.add_r(b, Round::TowardZero),
        Operation::Mul => a.mul_r(b, Round::TowardZero),
        _ => a.mul_add_r(b, c, Round::TowardZero),
    };
    sum.value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 200 }))]

    /// Floats that are rounded towards zero, a vector of lanes at a time or one by one.
    #[test]
    fn rounded_towards_zero(
        singles in numbers(23, 0xff),
        doubles in numbers(52, 0x7ff),
        mask in prop_oneof![Just(u32::MAX), any::<u32>()],
        lanes in prop_oneof![Just(1usize), Just(8), Just(16), Just(32)],
    ) {
        for (operation, is_double) in [Operation::Add, Operation::Mul, Operation::Mad]
            .into_iter()
            .flat_map(|operation| [(operation, false), (operation, true)])
        {
            let (lane, data_type, numbers) = match is_double {
                true => (Lane::F64, DataType::Df, &doubles),
                false => (Lane::F32, DataType::F, &singles),
            };
            let size = usize::from(data_type.size());
            let one = compute(operation, lane, (data_type, data_type), 0, Modify::None, lanes);
            let mut registers = Registers {
                file: vec![0; BYTES].as_slice().into(),
                mode: FloatMode::from_cr0(USUAL_MODE | ROUNDING_BITS),
                ..Registers::default()
            };
            for (offset, numbers) in SOURCES.into_iter().zip(numbers.chunks(32)) {
                for (lane, number) in numbers.iter().enumerate() {
                    let to = offset + lane * size;
                    registers.file[to..to + size].copy_from_slice(&number.to_le_bytes()[..size]);
                }
            }
            let bound = Bound::new(&Arc::new(one));
            bound.run(u8::try_from(lanes).unwrap(), &mut registers, mask & full(lanes)).unwrap();
            for lane in 0..32 {
                let mut bytes = [0; 8];
                bytes[..size].copy_from_slice(&registers.file[TO + lane * size..][..size]);
                let written = u64::from_le_bytes(bytes);
                let sources = [0, 32, 64].map(|first| numbers[first + lane]);
                let (expected, is_nan) = match is_double {
                    true => {
                        let sum: Double = towards_zero(operation, sources);
                        (sum.to_bits(), sum.is_nan() && f64::from_bits(written).is_nan())
                    }
                    false => {
                        let sum: Single = towards_zero(operation, sources);
                        let single = u32::try_from(written).unwrap();
                        (sum.to_bits(), sum.is_nan() && f32::from_bits(single).is_nan())
                    }
                };
                let expected = if mask & full(lanes) & 1 << lane == 0 { 0 } else { expected };
                prop_assert!(
                    u128::from(written) == expected || is_nan,
                    "{:?} {:x?} {:#x} {:#x}", operation, sources, written, expected
                );
            }
        }
    }
}

/// Arithmetic keeps the first source that is a NaN, with the sign that its modifier gave it, and makes it quiet.
#[test]
fn sums_and_products_keep_the_first_nan() {
    let numbers = [0xffa0_0001u32, 0x7fc0_0002, 0x7fc0_0003];
    let one = 1f32.to_bits();
    let mut file = vec![0; BYTES];
    for (offset, number) in SOURCES.into_iter().zip(numbers) {
        file[offset..offset + 4].copy_from_slice(&number.to_le_bytes());
    }
    let mut second = file.clone();
    second[..4].copy_from_slice(&one.to_le_bytes());
    for operation in [
        Operation::Add,
        Operation::Mul,
        Operation::Mad,
        Operation::Div,
    ] {
        for (file, modify, expected) in [
            (&file, Modify::None, 0xffe0_0001u32),
            (&second, Modify::None, 0x7fc0_0002),
            (&second, Modify::Neg, 0xffc0_0002),
        ] {
            let types = (DataType::F, DataType::F);
            let one = compute(operation, Lane::F32, types, 0, modify, 1);
            let mut registers = Registers {
                file: file.as_slice().into(),
                mode: FloatMode::from_cr0(USUAL_MODE),
                ..Registers::default()
            };
            Bound::new(&Arc::new(one.clone()))
                .run(1, &mut registers, 1)
                .unwrap();
            let written: [u8; 4] = registers.file[TO..TO + 4].try_into().unwrap();
            assert_eq!(u32::from_le_bytes(written), expected, "{one:?}");
        }
    }
}
