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

/// Variables of 1 KiB each: more than 64 KiB.
const VARIABLES: usize = 96;
const ELEMENTS: u32 = 256;

/// What happens to a variable, one after the other: it is written, and the value is read some variables later, by address
/// or by name.
#[derive(Clone, Copy, Debug)]
struct Use {
    element: u32,
    value: u32,
    later: usize,
    by_name: bool,
}

/// How a kernel is written besides.
#[derive(Clone, Copy, Default, Debug)]
struct Shape {
    /// Whether it begins with a label of its own, as those of compilers do.
    is_named: bool,
    /// The variable before which it calls a subroutine, which counts its calls in a variable of its own and has another.
    call: Option<usize>,
    /// The variables that are used in a loop of two turns: the first, and how many.
    first: usize,
    turns_of: usize,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let call = prop::option::of(0..VARIABLES);
    let shape = (any::<bool>(), call, 0..VARIABLES, 0..6_usize);
    shape.prop_map(|(is_named, call, first, turns_of)| Shape {
        is_named,
        call,
        first,
        turns_of: turns_of.min(VARIABLES - first),
    })
}

fn uses() -> impl Strategy<Value = Vec<Use>> {
    let one = (0..ELEMENTS, any::<u32>(), 0..12_usize, any::<bool>());
    let one = one.prop_map(|(element, value, later, by_name)| Use {
        element,
        value,
        later,
        by_name,
    });
    prop::collection::vec(one, VARIABLES)
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
    let text = text(&all, &Shape::default());
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

/// Its variables: what it counts in, and what it uses at each call alone.
const SUBROUTINE: &str = ".function \"SUB\"\nSUB:\n\
    addr_add (M1_NM, 1) AC(0)<1> &COUNT 0x14:uw\n\
    add (M1_NM, 1) r[AC(0),0]<1>:ud r[AC(0),0]<0;1,0>:ud 0x7:ud\n\
    addr_add (M1_NM, 1) AO(0)<1> &OTHER 0x24:uw\n\
    mov (M1_NM, 1) r[AO(0),0]<1>:ud 0x9:ud\n\
    mul (M1_NM, 1) SUM(0,0)<1> SUM(0,0)<0;1,0> 0x3:ud\n\
    add (M1_NM, 1) SUM(0,0)<1> SUM(0,0)<0;1,0> r[AO(0),0]<0;1,0>:ud\n\
    mul (M1_NM, 1) SUM(0,0)<1> SUM(0,0)<0;1,0> 0x3:ud\n\
    add (M1_NM, 1) SUM(0,0)<1> SUM(0,0)<0;1,0> r[AC(0),0]<0;1,0>:ud\n\
    ret (M1, 16)\n";

fn text(uses: &[Use], shape: &Shape) -> String {
    let Shape {
        first, turns_of, ..
    } = *shape;
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
         .decl COUNT v_type=G type=ud num_elts=256 align=GRF\n\
         .decl OTHER v_type=G type=ud num_elts=256 align=GRF\n\
         .decl AC v_type=A num_elts=1\n.decl AO v_type=A num_elts=1\n\
         .kernel_attr SimdSize=16\n",
    );
    if shape.is_named {
        text.push_str(".function \"MAIN\"\nMAIN:\n");
    }
    text.push_str(
        "addr_add (M1_NM, 1) AC(0)<1> &COUNT 0x14:uw\n\
         mov (M1_NM, 1) r[AC(0),0]<1>:ud 0x5:ud\n\
         mov (M1_NM, 1) SUM(0,0)<1> 0x0:ud\nmov (M1_NM, 1) TURN(0,0)<1> 0x0:ud\n",
    );
    for (number, step) in steps(uses).into_iter().enumerate() {
        if turns_of > 0 && number == first {
            text.push_str("L0:\n");
        }
        if shape.call == Some(number) {
            text.push_str("call (M1, 16) SUB\n");
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
    if shape.call.is_some() {
        text.push_str(SUBROUTINE);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn share_places(uses in uses(), shape in shapes()) {
        let program = program(&text(&uses, &shape), &Options::default());
        let all = steps(&uses);
        let Shape { first, turns_of, .. } = shape;
        let order = (0..first + turns_of).chain(first..VARIABLES);
        let (mut sum, mut count) = (0_u32, 5_u32);
        let mut add = |value: u32| sum = sum.wrapping_mul(3).wrapping_add(value);
        for number in order {
            if shape.call == Some(number) {
                count += 7;
                add(9);
                add(count);
            }
            for (variable, _) in all[number].iter().filter(|(_, writes)| !writes) {
                add(uses[*variable].value);
            }
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
