//! Systolic products: each form has a template, and the same bits as in the interpreter.

use super::{Random, compilers, ended, forms, same_registers, translated};
use std::fmt::Write;
use visakit_exec::{Program, ThreadStart};
use visakit_jit::{Path, taken};

/// A format of factors, and its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Format {
    name: &'static str,
    bits: u32,
    /// Bits of the exponent; 0 of integers.
    exponent: u32,
}

const FORMATS: [Format; 5] = [
    Format {
        name: "bf",
        bits: 16,
        exponent: 8,
    },
    Format {
        name: "hf",
        bits: 16,
        exponent: 5,
    },
    Format {
        name: "tf32",
        bits: 32,
        exponent: 8,
    },
    Format {
        name: "s8",
        bits: 8,
        exponent: 0,
    },
    Format {
        name: "u8",
        bits: 8,
        exponent: 0,
    },
];

/// What numbers are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Like {
    Any,
    /// Few bits, so that sums are often in the middle between two singles.
    Short,
    Usual,
    /// At the ends of what the template multiplies.
    Ends,
    /// All of them near one end, so that sums overflow, or lose bits, if it is too far away.
    Great,
    Small,
    /// Usual, but for one.
    Special,
}

const LIKE: [Like; 7] = [
    Like::Any,
    Like::Short,
    Like::Usual,
    Like::Ends,
    Like::Great,
    Like::Small,
    Like::Special,
];

/// A float of so many bits, of which the exponent has some. Great ones, and inverses of small ones, are below this power of
/// two.
fn number(bits: u32, exponent: u32, (like, end): (Like, i32), random: &mut Random) -> u32 {
    let mantissa = bits - 1 - exponent;
    let bias = (1 << (exponent - 1)) - 1;
    let any = random.next();
    let sign = (any & 1) << (bits - 1);
    let of = |power: i32, low: u32| {
        let power = (bias + power).clamp(0, (1 << exponent) - 2).cast_unsigned();
        sign | power << mantissa | low & ((1 << mantissa) - 1)
    };
    let power = |random: &mut Random, most: u32| {
        (random.next() % (2 * most + 1)).cast_signed() - most.cast_signed()
    };
    match like {
        Like::Any => any & (u32::MAX >> (32 - bits)),
        _ if random.next().is_multiple_of(16) => 0,
        Like::Short => {
            let low = random.next() >> 30 << (mantissa - 2);
            of(power(random, 3), low)
        }
        Like::Usual | Like::Special => of(power(random, 12), random.next()),
        Like::Great => of(end - (random.next() % 4).cast_signed(), random.next()),
        Like::Small => of((random.next() % 4).cast_signed() - end, random.next()),
        Like::Ends => {
            let end = [60, 61, -60, -61, 126, 127, -126, -133][random.next() as usize % 8];
            of(end, random.next() % 3)
        }
    }
}

/// Bytes of numbers.
fn numbers(count: usize, bits: u32, exponent: u32, like: Like, random: &mut Random) -> Vec<u8> {
    let mut found = Vec::new();
    let special = random.next() as usize % count;
    let end = [59, 60, 63, 125, 126, 127][random.next() as usize % 6];
    for place in 0..count {
        let like = match like {
            Like::Special if place != special => Like::Usual,
            Like::Special if random.next().is_multiple_of(2) => Like::Any,
            Like::Special => Like::Ends,
            // Ends are few, so that sums are not all the same.
            Like::Ends if !random.next().is_multiple_of(64) => Like::Usual,
            like => like,
        };
        let number = match exponent {
            0 => random.next(),
            _ => number(bits, exponent, (like, end), random),
        };
        found.extend(&number.to_le_bytes()[..bits as usize / 8]);
    }
    found
}

/// A kernel with a product.
struct Form {
    weights: Format,
    activations: Format,
    depth: u32,
    rows: u32,
    lanes: u32,
    types: [&'static str; 2],
    /// What the result is added to.
    sums: &'static str,
}

impl Form {
    fn text(&self) -> String {
        let mut text = String::from(".version 4.1\n.kernel \"k\"\n");
        let [result, sums] = self.types;
        for (name, ty, count) in [
            ("R", result, 128),
            ("S", sums, 128),
            ("W", "ud", 128),
            ("A", "ud", 80),
        ] {
            let _ = writeln!(
                text,
                ".decl {name} v_type=G type={ty} num_elts={count} align=GRF"
            );
        }
        let _ = write!(
            text,
            ".kernel_attr SimdSize={}\ndpas.{}.{}.{}.{} (M1, {}) R.0 {}.0 W.0 A(0,0)\nret (M1, 1)\n",
            self.lanes,
            self.weights.name,
            self.activations.name,
            self.depth,
            self.rows,
            self.lanes,
            self.sums,
        );
        text
    }

    /// A form that is random.
    fn random(random: &mut Random) -> Self {
        let weights = FORMATS[random.next() as usize % 5];
        let integers = &FORMATS[3..];
        let activations = match weights.exponent {
            0 => integers[random.next() as usize % 2],
            _ => weights,
        };
        let mut ty = || match (weights.exponent, random.next() % 4) {
            (0, n) => ["d", "ud"][n as usize % 2],
            (_, 0) => "bf",
            (_, 1) => "hf",
            _ => "f",
        };
        let types = [ty(), ty()];
        let depth = [8, 8, 8, 4, 2, 1][random.next() as usize % 6];
        let rows = [8, 1 + random.next() % 8][random.next() as usize % 2];
        let lanes = [8, 16][random.next() as usize % 2];
        let sums = ["V0", "S", "R", "S"][random.next() as usize % 4];
        let types = [types[0], if sums == "R" { types[0] } else { types[1] }];
        Self {
            weights,
            activations,
            depth,
            rows,
            lanes,
            types,
            sums,
        }
    }

    /// Contents of its variables.
    fn sets(&self, like: [Like; 3], random: &mut Random) -> Vec<(&'static str, Vec<u8>)> {
        let [of_weights, of_activations, of_sums] = like;
        let factors = |format: Format, dwords: usize, like, random: &mut Random| {
            let count = dwords * 32 / format.bits as usize;
            numbers(count, format.bits, format.exponent, like, random)
        };
        let sums = |ty: &str, random: &mut Random| match ty {
            "bf" => numbers(128, 16, 8, of_sums, random),
            "hf" => numbers(128, 16, 5, of_sums, random),
            "f" => numbers(128, 32, 8, of_sums, random),
            _ => numbers(128, 32, 0, of_sums, random),
        };
        vec![
            ("W", factors(self.weights, 128, of_weights, random)),
            ("A", factors(self.activations, 64, of_activations, random)),
            ("S", sums(self.types[1], random)),
            ("R", sums(self.types[0], random)),
        ]
    }
}

/// Machine code leaves the registers and counters of the interpreter.
fn agree(program: &Program, compiled: &[Program], start: &ThreadStart, what: &str) {
    let group = ended(program, start);
    let (expected, counters) = (group.thread(0).unwrap().registers(), group.counters());
    for other in compiled {
        let group = ended(other, start);
        let left = group.thread(0).unwrap().registers();
        assert_eq!(group.counters(), counters, "{what}");
        same_registers(program, left, expected, what);
    }
}

/// The bytes that the machine code of a form leaves are those of the interpreter.
fn same(form: &Form, rounds: u32, random: &mut Random) {
    let text = form.text();
    let (program, compiled) = forms(&text);
    for jit in compilers() {
        assert_eq!(
            jit.calls(program.code()),
            Some(vec![]),
            "{:?} {text}",
            jit.features()
        );
    }
    for round in 0..rounds {
        let [a, b, of_sums] = [(); 3].map(|()| LIKE[random.next() as usize % LIKE.len()]);
        let like = match round % 4 {
            0 | 2 => [Like::Usual, Like::Usual, of_sums],
            1 => [[Like::Great, Like::Small][round as usize / 4 % 2]; 3],
            _ => [a, b, of_sums],
        };
        let sets = form.sets(like, random).into_iter();
        let full = u32::MAX >> (32 - form.lanes);
        let start = ThreadStart {
            mask: if round % 8 == 7 {
                random.next() & full | 1
            } else {
                full
            },
            cr0: [0x4c0, 0x4c0, 0x400, 0x4d0][round as usize % 4],
            sets: sets
                .map(|(name, bytes)| (program.variable(name).unwrap(), bytes))
                .collect(),
            ..ThreadStart::default()
        };
        agree(&program, &compiled, &start, &format!("{like:?}\n{text}"));
    }
}

#[test]
fn as_interpreted() {
    let mut random = Random(5);
    for _ in 0..250 {
        let form = Form::random(&mut random);
        same(&form, 16, &mut random);
    }
}

/// How often traced code has multiplied.
fn multiplied() -> u64 {
    let all = taken().into_iter();
    all.filter(|(path, _)| *path == Path::Product)
        .map(|(_, times)| times)
        .sum()
}

/// Numbers of the usual sizes are multiplied in machine code, others are not.
#[test]
fn usual_numbers_are_multiplied() {
    for form in FORMATS {
        let form = Form {
            weights: form,
            activations: form,
            depth: 8,
            rows: 8,
            lanes: 16,
            types: if form.exponent == 0 {
                ["d"; 2]
            } else {
                ["f"; 2]
            },
            sums: "R",
        };
        let mut random = Random(9);
        for like in [Like::Short, Like::Usual] {
            for jit in compilers() {
                let mut program = translated(&form.text());
                program.compile_with(std::sync::Arc::new(jit.traced()), 0);
                let sets = form.sets([like; 3], &mut random).into_iter();
                let sets = sets.map(|(name, bytes)| (program.variable(name).unwrap(), bytes));
                let start = ThreadStart {
                    mask: 0xffff,
                    cr0: 0x4c0,
                    sets: sets.collect(),
                    ..ThreadStart::default()
                };
                let before = multiplied();
                ended(&program, &start);
                assert!(multiplied() > before, "{like:?}");
            }
        }
    }
}

/// Products that follow each other, between other steps: registers hold what is used after them.
#[test]
fn between_other_steps() {
    let mut text = String::from(".version 4.1\n.kernel \"k\"\n");
    for (name, ty, count) in [
        ("R", "f", 128),
        ("T", "f", 128),
        ("W", "ud", 128),
        ("A", "ud", 64),
        ("N", "ud", 1),
        ("X", "f", 16),
        ("Y", "f", 16),
    ] {
        let _ = writeln!(
            text,
            ".decl {name} v_type=G type={ty} num_elts={count} align=GRF"
        );
    }
    text += ".decl P1 v_type=P num_elts=16\n.kernel_attr SimdSize=16\n\
             mov (M1_NM, 1) N(0,0)<1> 0x0:ud\n\
             L0:\n\
             add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> R(0,0)<1;1,0>\n\
             mul (M1, 16) Y(0,0)<1> Y(0,0)<1;1,0> 0x3f000000:f\n\
             cmp.lt (M1, 16) P1 X(0,0)<1;1,0> Y(0,0)<1;1,0>\n\
             dpas.bf.bf.8.8 (M1, 16) R.0 R.0 W.0 A(0,0)\n\
             (P1) add (M1, 16) X(0,0)<1> X(0,0)<1;1,0> Y(0,0)<1;1,0>\n\
             dpas.hf.hf.8.4 (M1, 16) T.0 T.0 W.0 A(0,0)\n\
             mad (M1, 16) Y(0,0)<1> X(0,0)<1;1,0> T(0,0)<1;1,0> Y(0,0)<1;1,0>\n\
             add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> 0x1:ud\n\
             cmp.lt (M1_NM, 1) P1 N(0,0)<0;1,0> 0x6:ud\n\
             (P1) jmp (M1, 1) L0\n\
             ret (M1, 1)\n";
    let (program, compiled) = forms(&text);
    let mut random = Random(3);
    for round in 0..24 {
        let like = LIKE[round % LIKE.len()];
        let mut set = |name, count, bits, exponent| {
            (
                program.variable(name).unwrap(),
                numbers(count, bits, exponent, like, &mut random),
            )
        };
        let sets = vec![
            set("R", 128, 32, 8),
            set("T", 128, 32, 8),
            set("W", 256, 16, 8),
            set("A", 128, 16, 8),
            set("X", 16, 32, 8),
            set("Y", 16, 32, 8),
        ];
        let mask = if round % 3 == 0 { 0xffff } else { 0xb7 };
        let start = ThreadStart {
            mask,
            cr0: 0x4c0,
            sets,
            ..ThreadStart::default()
        };
        agree(&program, &compiled, &start, &format!("{like:?} {mask:#x}"));
    }
}
