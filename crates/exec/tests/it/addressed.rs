//! More variables whose address is taken than addresses reach: those that are not in use at once share places.

#![allow(
    missing_docs,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used
)] // a test

use crate::common::program;
use proptest::prelude::*;
use std::fmt::Write;
use visakit_exec::{Group, Limits, Memory, Options, ThreadStart};

/// Variables of 2 KiB each: more than 64 KiB.
const VARIABLES: usize = 48;
const ELEMENTS: u32 = 512;

/// What happens to a variable, one after the other: it is written, and the value is read some variables later, by address
/// or by name.
#[derive(Clone, Copy, Debug)]
struct Use {
    element: u32,
    value: u32,
    later: usize,
    by_name: bool,
}

fn uses() -> impl Strategy<Value = (Vec<Use>, usize, usize)> {
    let one = (0..ELEMENTS, any::<u32>(), 0..12_usize, any::<bool>());
    let one = one.prop_map(|(element, value, later, by_name)| Use {
        element,
        value,
        later,
        by_name,
    });
    // A part of the variables is used in a loop of two turns.
    (
        prop::collection::vec(one, VARIABLES),
        0..VARIABLES,
        0..6_usize,
    )
}

#[test]
fn too_many_at_once() {
    let all = vec![
        Use {
            element: 0,
            value: 1,
            later: VARIABLES,
            by_name: false
        };
        VARIABLES
    ];
    let text = text(&all, 0, 0);
    let options = visakit_text::asm::Options::default();
    let object = visakit_text::asm::assemble(text.as_bytes(), &options);
    let object = object.unwrap();
    let kernel = visakit_isa::object::RoutineId::new(visakit_isa::object::RoutineKind::Kernel, 0);
    let refused = visakit_exec::Program::new(&object, kernel, &Options::default());
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("larger than 64 KiB"), "{message}");
}

/// The steps of a program: writes of variables, and reads.
fn steps(uses: &[Use]) -> Vec<Vec<(usize, bool)>> {
    let mut steps: Vec<Vec<(usize, bool)>> = vec![Vec::new(); uses.len()];
    for (number, used) in uses.iter().enumerate() {
        steps[number].push((number, true));
        steps[(number + used.later).min(uses.len() - 1)].push((number, false));
    }
    steps
}

fn text(uses: &[Use], first: usize, turns_of: usize) -> String {
    let mut text = String::from(".version 4.1\n.kernel \"k\"\n");
    for number in 0..uses.len() {
        write!(
            text,
            ".decl V{number} v_type=G type=ud num_elts={ELEMENTS} align=GRF\n.decl A{number} v_type=A num_elts=1\n"
        )
        .unwrap();
    }
    text.push_str(
        ".decl SUM v_type=G type=ud num_elts=1 align=dword\n\
         .decl TURN v_type=G type=ud num_elts=1 align=dword\n\
         .decl P1 v_type=P num_elts=1\n\
         .kernel_attr SimdSize=16\n\
         mov (M1_NM, 1) SUM(0,0)<1> 0x0:ud\nmov (M1_NM, 1) TURN(0,0)<1> 0x0:ud\n",
    );
    for (number, step) in steps(uses).into_iter().enumerate() {
        if turns_of > 0 && number == first {
            text.push_str("L0:\n");
        }
        for (variable, writes) in step {
            let Use {
                element,
                value,
                by_name,
                ..
            } = uses[variable];
            let (row, column, at) = (element / 8, element % 8, 4 * element);
            if writes {
                write!(
                    text,
                    "addr_add (M1_NM, 1) A{variable}(0)<1> &V{variable} {at}:uw\n\
                     mov (M1_NM, 1) r[A{variable}(0),0]<1>:ud {value:#x}:ud\n"
                )
                .unwrap();
                continue;
            }
            text.push_str("mul (M1_NM, 1) SUM(0,0)<1> SUM(0,0)<0;1,0> 0x3:ud\n");
            let from = match by_name {
                true => format!("V{variable}({row},{column})<0;1,0>"),
                false => format!("r[A{variable}(0),0]<0;1,0>:ud"),
            };
            writeln!(text, "add (M1_NM, 1) SUM(0,0)<1> SUM(0,0)<0;1,0> {from}").unwrap();
        }
        if turns_of > 0 && number + 1 == first + turns_of {
            text.push_str(
                "add (M1_NM, 1) TURN(0,0)<1> TURN(0,0)<0;1,0> 0x1:ud\n\
                 cmp.lt (M1_NM, 1) P1 TURN(0,0)<0;1,0> 0x2:ud\n\
                 (P1) jmp (M1, 1) L0\n",
            );
        }
    }
    text.push_str("ret (M1, 1)\n");
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn share_places((uses, first, turns_of) in uses()) {
        let turns_of = turns_of.min(VARIABLES - first);
        let program = program(&text(&uses, first, turns_of), &Options::default());
        let all = steps(&uses);
        let repeated = all[first..first + turns_of].iter();
        let ahead = all[..first + turns_of].iter();
        let order = ahead.chain(repeated).chain(&all[first + turns_of..]);
        let mut sum = 0_u32;
        for (variable, _) in order.flatten().filter(|(_, writes)| !writes) {
            sum = sum.wrapping_mul(3).wrapping_add(uses[*variable].value);
        }
        let start = ThreadStart { mask: 0xffff, ..ThreadStart::default() };
        let mut group = Group::new(&program, 0, &[start], &Limits::default()).unwrap();
        let memory = Memory::new(1 << 16);
        group.run(&program, &memory, &Limits::default(), &mut ()).unwrap();
        let slot = program.variable("SUM").unwrap();
        let bytes = group.thread(0).unwrap().read(&slot);
        prop_assert_eq!(u32::from_le_bytes(bytes[..4].try_into().unwrap()), sum);
    }
}
