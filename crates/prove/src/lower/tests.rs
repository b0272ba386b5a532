//! Whatever is understood of an operation is what the executor computes.

use super::{agrees, floats, integers::understood};
use crate::term::{Terms, Values, Variable};
use visakit_exec::LaneFunction;
use visakit_exec::code::{Lane, Modify, Operation, Precision, Relation};
use visakit_isa::DataType;

const OPERATIONS: [Operation; 45] = [
    Operation::Copy,
    Operation::Convert(Lane::F32),
    Operation::Convert(Lane::F64),
    Operation::Convert(Lane::I32),
    Operation::Convert(Lane::U32),
    Operation::IntegerToFloat,
    Operation::Not,
    Operation::CountBits,
    Operation::LeadingZeros,
    Operation::ReverseBits,
    Operation::Add,
    Operation::Mul,
    Operation::Div,
    Operation::Mod,
    Operation::Avg,
    Operation::MulHigh,
    Operation::Min,
    Operation::Max,
    Operation::And,
    Operation::Or,
    Operation::Xor,
    Operation::Shl,
    Operation::Shr,
    Operation::Rol,
    Operation::Ror,
    Operation::Mad,
    Operation::Add3,
    Operation::ExtractSigned,
    Operation::ExtractUnsigned,
    Operation::Boolean(0xe8),
    Operation::Boolean(0xca),
    Operation::Boolean(0x96),
    Operation::Boolean(0x7f),
    Operation::Boolean(0x13),
    Operation::Insert,
    Operation::Compare(Relation::Equal),
    Operation::Compare(Relation::NotEqual),
    Operation::Compare(Relation::Less),
    Operation::Compare(Relation::LessEqual),
    Operation::Select,
    Operation::AddCarry,
    Operation::SubBorrow,
    Operation::MadWide,
    Operation::DotBytes,
    Operation::Add3Overflow,
];

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

const TYPES: [DataType; 11] = [
    DataType::Ub,
    DataType::B,
    DataType::Uw,
    DataType::W,
    DataType::Ud,
    DataType::D,
    DataType::Uq,
    DataType::Q,
    DataType::Hf,
    DataType::F,
    DataType::Df,
];

const MODIFIERS: [Modify; 5] = [
    Modify::None,
    Modify::Neg,
    Modify::Not,
    Modify::Abs,
    Modify::NegAbs,
];

/// Types of results that are tried for each type of a source.
const RESULTS: usize = 3;

/// The functions of an operation: sources of the same type, or of another one after the first; results of every type.
fn functions(operation: Operation, turn: &mut usize, mut to: impl FnMut(&LaneFunction)) {
    let two = matches!(
        operation,
        Operation::AddCarry | Operation::SubBorrow | Operation::MadWide
    );
    for lane in LANES {
        for source in TYPES {
            for _ in 0..RESULTS {
                *turn += 1;
                let result = TYPES[*turn * 7 % TYPES.len()];
                let other = if turn.is_multiple_of(3) {
                    TYPES[*turn % TYPES.len()]
                } else {
                    source
                };
                let modify = MODIFIERS[*turn / 2 % MODIFIERS.len()];
                let modify = if turn.is_multiple_of(2) {
                    Modify::None
                } else {
                    modify
                };
                let flag = matches!(operation, Operation::Compare(_)) && turn.is_multiple_of(2);
                to(&LaneFunction {
                    operation,
                    lane,
                    precision: Precision::Float,
                    sources: [
                        (source, modify),
                        (other, Modify::None),
                        (source, Modify::None),
                        (source, Modify::None),
                    ],
                    destination: (!flag).then_some((result, turn.is_multiple_of(5))),
                    second: two.then_some((DataType::Ud, false)),
                    sets: flag,
                    cr0: visakit_exec::USUAL_MODE,
                });
            }
        }
    }
}

/// The executor refutes nothing: what depends on it is only how much is understood.
#[test]
fn understood_functions_are_those_of_the_executor() {
    let (mut known, mut all, mut turn) = (0, 0, 0);
    for operation in OPERATIONS {
        functions(operation, &mut turn, |function| {
            let mut terms = Terms::new();
            let used = operation.sources();
            let types = function.sources.iter().take(used);
            let elements: Vec<_> = (0..)
                .zip(types)
                .map(|(n, (ty, _))| terms.variable(Variable::Free(n), 8 * ty.size()))
                .collect();
            let flag = (operation.flags() > 0).then(|| terms.variable(Variable::Free(9), 1));
            let Some(agreed) = agrees(function, understood) else {
                return;
            };
            all += 1;
            if understood(&mut terms, function, &elements, flag).is_some() {
                assert!(agreed, "{function:?}");
                known += 1;
            }
        });
    }
    assert!(known > 1000 && all > 2500, "{known} of {all}");
}

/// Comparisons of floats by their bits are the executor's, in one way for each mode: none is used that is in neither.
#[test]
fn floats_compare_by_their_bits() {
    let mut known = 0;
    for (relation, lane, ty) in [Relation::Equal, Relation::Less, Relation::LessEqual]
        .into_iter()
        .flat_map(|r| [(r, Lane::F32, DataType::F), (r, Lane::F64, DataType::Df)])
    {
        for (first, second) in MODIFIERS.iter().flat_map(|a| MODIFIERS.map(|b| (*a, b))) {
            if first == Modify::Not || second == Modify::Not {
                continue;
            }
            for cr0 in [visakit_exec::USUAL_MODE, 0] {
                let function = LaneFunction {
                    operation: Operation::Compare(relation),
                    lane,
                    precision: match ty {
                        DataType::Df => Precision::Double,
                        _ => Precision::Float,
                    },
                    sources: [(ty, first), (ty, second), (ty, first), (ty, first)],
                    destination: None,
                    second: None,
                    sets: true,
                    cr0,
                };
                let ways = [floats::whole, floats::flushed];
                let right = ways.map(|way| agrees(&function, way) == Some(true));
                let count = right.iter().filter(|right| **right).count();
                // Where the answer is plain from the signs, denormals make no difference.
                let plain = first == Modify::Abs || second == Modify::Abs;
                let plain = plain || first == Modify::NegAbs || second == Modify::NegAbs;
                assert!(count == 1 || count == 2 && plain, "{function:?}");
                known += 1;
            }
        }
    }
    assert_eq!(known, 6 * 16 * 2);
}

/// An integer that a float holds exactly is that float, and others are not.
#[test]
fn integers_beside_floats_are_floats() {
    let (mut same, mut all) = (0, 0);
    let operations = [
        Operation::Add,
        Operation::Mul,
        Operation::Min,
        Operation::Compare(Relation::Less),
        Operation::Compare(Relation::Equal),
    ];
    for operation in operations {
        for (integer, number, modify) in [
            (DataType::D, 0, Modify::None),
            (DataType::Uw, 7, Modify::None),
            (DataType::D, 0xffff_fffb, Modify::None),
            (DataType::W, 0xfffb, Modify::Neg),
            (DataType::D, 0, Modify::Neg),
            (DataType::Ud, 1 << 24, Modify::None),
            (DataType::Ud, (1 << 24) + 1, Modify::None),
            (DataType::Uq, 1 << 63, Modify::None),
            (DataType::W, 0xfffb, Modify::Not),
        ] {
            for (lane, float) in [(Lane::F32, DataType::F), (Lane::F64, DataType::Df)] {
                let sets = matches!(operation, Operation::Compare(_));
                let mut function = LaneFunction {
                    operation,
                    lane,
                    precision: Precision::Float,
                    sources: [(float, Modify::None); 4],
                    destination: (!sets).then_some((float, false)),
                    second: None,
                    sets,
                    cr0: visakit_exec::USUAL_MODE,
                };
                function.sources[1] = (integer, modify);
                let mut terms = Terms::new();
                let free = terms.variable(Variable::Free(0), super::bits(float));
                let element = terms.constant(number, super::bits(integer));
                let found = super::mixed::of_floats(&mut terms, &function, &[free, element]);
                all += 1;
                let Some((other, elements)) = found else {
                    continue;
                };
                same += 1;
                assert_eq!(elements[0], free);
                let constant = terms.number(elements[1]).unwrap();
                let list = super::directed(super::bits(float), true);
                for any in list.into_iter().chain((0..1000).map(|n: u64| {
                    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - super::bits(float))
                })) {
                    assert_eq!(
                        function.evaluate([any, number, 0, 0], false),
                        other.evaluate([any, constant, 0, 0], false),
                        "{function:?} {any:#x} {number:#x}"
                    );
                }
            }
        }
    }
    assert!(same > 30 && same < all - 10, "{same} of {all}");
}

/// Signs of float sources are bits of them, of every operation, and what is made of it is the executor's result.
#[test]
fn signs_of_floats_are_bits() {
    let (mut plain, mut turn) = (0, 0);
    for operation in OPERATIONS {
        functions(operation, &mut turn, |function| {
            let [first, ..] = function.sources;
            if !first.0.is_float() || first.1 == Modify::None {
                return;
            }
            let mut terms = Terms::new();
            let used = operation.sources();
            let width = |number: usize| super::bits(function.sources[number].0);
            let elements: Vec<_> = (0..used)
                .map(|n| terms.variable(Variable::Free(u32::try_from(n).unwrap()), width(n)))
                .collect();
            let flag = (operation.flags() > 0).then(|| terms.variable(Variable::Free(9), 1));
            let Some(found) = super::apply(&mut terms, function, &elements, flag) else {
                return;
            };
            plain += usize::from(super::signs::of_bits(&mut terms, function, &elements).is_some());
            for sample in 0..200_u64 {
                let list = super::directed(width(0), true);
                let any = |n: u64| (sample + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 + 2 * n);
                let mut sources = [0, 1, 2, 3].map(any);
                sources[0] = list[usize::try_from(sample).unwrap() % list.len()];
                for (number, source) in sources.iter_mut().enumerate() {
                    *source &= crate::term::ones(width(number));
                }
                let wanted = function.evaluate(sources, sample & 1 != 0).unwrap();
                let mut values = Values::new(&terms, |variable| match variable {
                    Variable::Free(9) => sample & 1,
                    Variable::Free(number) => sources[number as usize],
                    _ => 0,
                });
                let bit = found.flag.map(|flag| values.of(flag));
                assert!(
                    bit.is_none_or(|bit| bit == Some(wanted.flag.into())),
                    "{function:?}"
                );
                if let (Some(value), Some((ty, _))) = (found.value, function.destination) {
                    let wanted = wanted.value & crate::term::ones(super::bits(ty));
                    assert_eq!(values.of(value), Some(wanted), "{function:?} {sources:x?}");
                }
            }
        });
    }
    assert!(plain > 80, "{plain}");
}

/// Factors and summands may be exchanged where one of them is never a NaN, and only there.
#[test]
fn the_order_of_floats_counts_for_nans_alone() {
    let types = [
        (Lane::F32, DataType::F, 0x3f80_0000, 0x7fc0_0001),
        (
            Lane::F64,
            DataType::Df,
            0x3ff0_0000_0000_0000,
            0x7ff8_0000_0000_0001,
        ),
    ];
    for operation in [Operation::Add, Operation::Mul, Operation::Mad] {
        for (lane, float, one, nan) in types {
            for modify in [Modify::None, Modify::Neg] {
                let function = LaneFunction {
                    operation,
                    lane,
                    precision: Precision::Float,
                    sources: [
                        (float, Modify::None),
                        (float, modify),
                        (float, Modify::None),
                        (float, Modify::None),
                    ],
                    destination: Some((float, false)),
                    second: None,
                    sets: false,
                    cr0: visakit_exec::USUAL_MODE,
                };
                let mut other = function;
                other.sources.swap(0, 1);
                let mut terms = Terms::new();
                let width = super::bits(float);
                let [x, y] = [0, 1].map(|n| terms.variable(Variable::Free(n), width));
                let bit = terms.variable(Variable::Free(2), 1);
                let [one, two, nan] = [one, one + 1, nan].map(|n| terms.constant(n, width));
                let few = terms.choice(bit, one, two);
                let maybe = terms.choice(bit, one, nan);
                for (of, equal) in [
                    (one, true),
                    (few, true),
                    (nan, false),
                    (maybe, false),
                    (y, false),
                ] {
                    let mut made = |function: &LaneFunction, elements: [crate::term::Term; 3]| {
                        let used = &elements[..function.operation.sources()];
                        super::apply(&mut terms, function, used, None)
                            .unwrap()
                            .value
                    };
                    let pair = [made(&function, [x, of, y]), made(&other, [of, x, y])];
                    assert_eq!(pair[0] == pair[1], equal, "{function:?} {of:?}");
                }
            }
        }
    }
}
