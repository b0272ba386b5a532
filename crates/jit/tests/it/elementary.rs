//! Powers, logarithms, sines and cosines: as the interpreter has them, and close to the numbers themselves.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

use super::{Random, compilers, translated};
use std::sync::Arc;
use visakit_exec::elementary::FAR;
use visakit_exec::{Group, Limits, Memory, Program, ThreadStart};

const TEXT: &str = "\
.version 4.1
.kernel \"k\"
.decl A v_type=G type=f num_elts=32 align=GRF
.decl S v_type=G type=f num_elts=32 align=GRF
.decl C v_type=G type=f num_elts=32 align=GRF
.decl E v_type=G type=f num_elts=32 align=GRF
.decl L v_type=G type=f num_elts=32 align=GRF
.decl T v_type=G type=f num_elts=32 align=GRF
.kernel_attr SimdSize=LANES
mov (M1_NM, 1) %cr0(0,0)<1> 0x4c0:ud
sin (M1, LANES) S(0,0)<1> A(0,0)<1;1,0>
cos (M1, LANES) C(0,0)<1> A(0,0)<1;1,0>
exp (M1, LANES) E(0,0)<1> A(0,0)<1;1,0>
log (M1, LANES) L(0,0)<1> A(0,0)<1;1,0>
add (M1, LANES) T(0,0)<1> S(0,0)<1;1,0> C(0,0)<1;1,0>
ret (M1, 1)
";

/// Numbers around multiples of a quarter of a turn, of all sizes, and with `far` some that the template of a sine leaves
/// to the interpreter.
fn numbers(far: bool, random: &mut Random) -> Vec<f32> {
    let mut number = || {
        let quarters = f64::from(random.next() >> (7 + random.next() % 25));
        let near = (quarters * std::f64::consts::FRAC_PI_2) as f32;
        let near = f32::from_bits(near.to_bits() + random.next() % 5);
        let number = if near <= FAR { near } else { FAR };
        match random.next() % 40 {
            0 if far => f32::from_bits(random.next()),
            1 if far => f32::from_bits(FAR.to_bits() + 1),
            2 if far => f32::INFINITY,
            3 => FAR,
            4 => f32::from_bits(random.next() % (1 << 24)),
            n if n % 2 == 0 => -number,
            _ => number,
        }
    };
    (0..32).map(|_| number()).collect()
}

#[test]
fn as_interpreted_and_rounded_once() {
    let mut random = Random(11);
    for lanes in [1, 8, 16, 32] {
        let text = TEXT.replace("LANES", &lanes.to_string());
        let program = || translated(&text);
        let interpreted = program();
        let compiled: Vec<Program> = compilers()
            .into_iter()
            .map(|jit| {
                let mut compiled = program();
                compiled.compile_with(Arc::new(jit), 0);
                compiled
            })
            .collect();
        for round in 0..200 {
            let full = u32::MAX >> (32 - lanes);
            let mask = if round % 2 == 0 {
                full
            } else {
                random.next() & full | 1
            };
            let a = numbers(round % 4 < 2, &mut random);
            let bytes = a.iter().flat_map(|x| x.to_le_bytes()).collect();
            let start = ThreadStart {
                mask,
                sets: vec![(interpreted.variable("A").unwrap(), bytes)],
                ..ThreadStart::default()
            };
            let run = |program: &Program| {
                let limits = Limits::default();
                let starts = std::slice::from_ref(&start);
                let mut group = Group::new(program, 0, starts, &limits).unwrap();
                group
                    .run(program, &Memory::new(0), &limits, &mut ())
                    .unwrap();
                let thread = group.thread(0).unwrap();
                ["S", "C", "E", "L", "T"].map(|name| {
                    let bytes = thread.read(&program.variable(name).unwrap());
                    bytes
                        .as_chunks()
                        .0
                        .iter()
                        .map(|b| u32::from_le_bytes(*b))
                        .collect::<Vec<_>>()
                })
            };
            let expected = run(&interpreted);
            for program in &compiled {
                assert_eq!(run(program), expected, "{a:?} {mask:#x}");
            }
            let functions = [f64::sin, f64::cos, f64::exp2, f64::log2];
            for (function, results) in functions.into_iter().zip(&expected) {
                for (lane, (x, result)) in a.iter().zip(results).enumerate() {
                    let exact = function((*x).into()) as f32;
                    let close = exact.is_nan() || exact.to_bits().abs_diff(*result) <= 1;
                    assert!(
                        mask >> lane & 1 == 0 || close,
                        "{x:e} {exact:e} {result:#x}"
                    );
                }
            }
        }
    }
}
