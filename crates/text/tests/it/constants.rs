//! Constants of whole numbers: accepted exactly if they fit, and printed back.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

use visakit_isa::object::{Item, Object};
use visakit_isa::table::FieldName;
use visakit_isa::{Value, VectorOperand};
use visakit_text::Form;
use visakit_text::asm::{Declarations, Operand, Options, assemble};

const HEAD: &str = ".version 4.1
.kernel \"k\"
.decl V1 v_type=G type=d num_elts=32 align=GRF
.decl VQ v_type=G type=q num_elts=8 align=GRF
";

/// Types, and how many bits they have.
const TYPES: [(&str, u32); 8] = [
    ("b", 8),
    ("ub", 8),
    ("w", 16),
    ("uw", 16),
    ("d", 32),
    ("ud", 32),
    ("q", 64),
    ("uq", 64),
];

/// Whether a number may be a constant: with or without a sign, and narrow ones as the 32 bits that they are stored in.
fn fits(value: i128, bits: u32) -> bool {
    let half = 1_i128 << (bits - 1);
    (-half..2 * half).contains(&value) || bits < 32 && ((1 << 32) - half..1 << 32).contains(&value)
}

/// The bits of a constant, if it is accepted.
fn bits(text: &str) -> Option<u64> {
    let mut known = Declarations::new(HEAD.as_bytes(), &Options::default()).unwrap();
    match known.source(text.as_bytes()).ok()? {
        Operand::Vector(VectorOperand::Immediate(constant)) => Some(constant.bits()),
        _ => None,
    }
}

/// Numbers around the ends of all types, and others.
fn numbers() -> Vec<i128> {
    let mut all = Vec::new();
    for bits in [7, 8, 15, 16, 31, 32, 63, 64] {
        for near in -3..=3 {
            let end = (1_i128 << bits) + near;
            all.extend([end, -end, (1 << 32) - end]);
        }
    }
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for n in 0..256 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let value = i128::from(random >> (n % 64));
        all.extend([value, -value]);
    }
    all
}

#[test]
fn constants_are_accepted_if_they_fit() {
    for value in numbers() {
        let sign = if value < 0 { "-" } else { "" };
        let size = value.unsigned_abs();
        for (ty, width) in TYPES {
            // More than 64 bits are no number at all.
            let expected = fits(value, width) && size <= u64::MAX.into();
            let whole = if width == 64 {
                u64::MAX
            } else {
                u32::MAX.into()
            };
            #[allow(clippy::cast_possible_truncation)] // the lowest bits
            let expected = expected.then_some(value.cast_unsigned() as u64 & whole);
            for text in [
                format!("{sign}{size}:{ty}"),
                format!("{sign}{size:#x}:{ty}"),
            ] {
                assert_eq!(bits(&text), expected, "{text}");
            }
        }
    }
}

/// The sources of a kernel's instructions.
fn sources(object: &Object<'_>) -> Vec<Option<Value>> {
    let body = object.routines().next().unwrap().1.body().unwrap();
    let instructions = body.code.iter().filter_map(|item| match item {
        Item::Instruction(instruction) => Some(instruction),
        _ => None,
    });
    instructions
        .map(|i| i.get(FieldName::Src0).cloned())
        .collect()
}

#[test]
fn constants_are_printed_back() {
    for (ty, width) in TYPES {
        let register = if width == 64 { "VQ" } else { "V1" };
        let fitting = numbers().into_iter().filter(|n| fits(*n, width));
        let lines = fitting.map(|n| format!("    mov (M1, 1) {register}(0,0)<1> {n}:{ty}\n"));
        let text = format!("{HEAD}{}    ret (M1, 1)\n", lines.collect::<String>());
        let object = assemble(text.as_bytes(), &Options::default()).unwrap();
        let printed = super::text_of(&object, Form::Plain);
        let again = assemble(&printed, &Options::default()).unwrap();
        // Narrow ones that were written with other upper bits have those of their type.
        assert!(super::text_of(&again, Form::Plain) == printed, "{ty}");
        assert!(width < 32 || sources(&again) == sources(&object), "{ty}");
    }
}

/// What other places than constants take is not taken modulo 2^64 either.
#[test]
fn numbers_of_other_places() {
    for text in [
        "mov (M1, 1) V1(0,18446744073709551615)<1> 0:d",
        "mov (M1, 1) V1(-18446744073709551615,0)<1> 0:d",
        "mov (M1, 1) V1(0,0)<-18446744073709551615> 0:d",
        "mov (M1, 1) V1(0,0)<1> -0x1ffffffff:f",
        "mov (M1, 1) V1(0,0)<1> -0x13c00:hf",
    ] {
        let mut known = Declarations::new(HEAD.as_bytes(), &Options::default()).unwrap();
        assert!(known.instruction(text.as_bytes()).is_err(), "{text}");
    }
    assert_eq!(bits("-0x3f800000:f"), Some(0xbf80_0000));
    assert_eq!(bits("-0xbff0000000000000:df"), Some(0x3ff0_0000_0000_0000));
    // What is computed has 64 bits.
    assert_eq!(bits("(0xffffffffffffffff + 2):q"), Some(1));
    assert_eq!(bits("~0:q"), Some(u64::MAX));
}
