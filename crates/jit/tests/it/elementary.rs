//! Powers, logarithms, sines and cosines: as the interpreter has them, and close to the numbers themselves.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

use super::{Random, ended, forms, words};
use visakit_exec::elementary::FAR;
use visakit_exec::{Program, ThreadStart};

const TEXT: &str = "\
.version 4.1
.kernel \"k\"
.decl A v_type=G type=f num_elts=32 align=GRF
.decl S v_type=G type=f num_elts=32 align=GRF
.decl C v_type=G type=f num_elts=32 align=GRF
.decl E v_type=G type=f num_elts=32 align=GRF
.decl L v_type=G type=f num_elts=32 align=GRF
.decl T v_type=G type=f num_elts=32 align=GRF
.decl B v_type=G type=f num_elts=32 align=GRF
.decl P v_type=G type=f num_elts=32 align=GRF
.decl R v_type=G type=f num_elts=32 align=GRF
.kernel_attr SimdSize=LANES
mov (M1_NM, 1) %cr0(0,0)<1> 0x4c0:ud
sin (M1, LANES) S(0,0)<1> A(0,0)<1;1,0>
cos (M1, LANES) C(0,0)<1> A(0,0)<1;1,0>
exp (M1, LANES) E(0,0)<1> A(0,0)<1;1,0>
log (M1, LANES) L(0,0)<1> A(0,0)<1;1,0>
pow (M1, LANES) P(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>
pow (M1, LANES) R(0,0)<1> A(0,0)<1;1,0> 0x3eaaaaab:f
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

/// Mostly small numbers, and some of all kinds.
fn exponent(random: &mut Random) -> f32 {
    let number = (random.next() % 4001) as f32 / 500.0 - 4.0;
    match random.next() % 16 {
        0 => f32::from_bits(random.next()),
        1 => f32::INFINITY,
        2 => f32::NEG_INFINITY,
        3 => f32::NAN,
        4 => number.round(),
        5 => -0.0,
        _ => number,
    }
}

#[test]
fn as_interpreted_and_rounded_once() {
    let mut random = Random(11);
    for lanes in [1, 8, 16, 32] {
        let text = TEXT.replace("LANES", &lanes.to_string());
        let (interpreted, compiled) = forms(&text);
        for round in 0..200 {
            let full = u32::MAX >> (32 - lanes);
            let mask = if round % 2 == 0 {
                full
            } else {
                random.next() & full | 1
            };
            let a = numbers(round % 4 < 2, &mut random);
            let exponents: Vec<f32> = a.iter().map(|_| exponent(&mut random)).collect();
            let sets = [("A", &a), ("B", &exponents)].map(|(name, numbers)| {
                let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
                (interpreted.variable(name).unwrap(), bytes)
            });
            let start = ThreadStart {
                mask,
                sets: sets.into(),
                ..ThreadStart::default()
            };
            let run = |program: &Program| {
                let group = ended(program, &start);
                ["S", "C", "E", "L", "P", "R", "T"].map(|name| words(program, &group, name))
            };
            let expected = run(&interpreted);
            for program in &compiled {
                assert_eq!(run(program), expected, "{a:?} {mask:#x}");
            }
            let power = |x: f64, y: f32| x.abs().powf(y.into());
            let functions: [&dyn Fn(f64, f32) -> f64; 6] = [
                &|x, _| x.sin(),
                &|x, _| x.cos(),
                &|x, _| x.exp2(),
                &|x, _| x.log2(),
                &power,
                &|x, _| power(x, f32::from_bits(0x3eaa_aaab)),
            ];
            for (function, results) in functions.into_iter().zip(&expected) {
                for (lane, ((x, y), result)) in a.iter().zip(&exponents).zip(results).enumerate() {
                    let exact = function((*x).into(), *y) as f32;
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
