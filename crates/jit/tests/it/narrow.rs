//! Floats of 16 bits: every instruction has a template, and the same bits as in the interpreter.

use super::{Random, compilers, ended, forms, same_registers, words};
use std::fmt::Write;
use visakit_exec::ThreadStart;
use visakit_jit::Jit;

/// Instructions on a type, each with a separate result: with modifiers, predicates, saturation, elements that are used
/// by all lanes or that lie apart, and conversions from and to other types.
fn kernel(lanes: u32, ty: &str) -> String {
    let mut lines = Vec::new();
    for source in ["", "(-)", "(abs)"] {
        let (a, b, c) = (
            format!("{source}A(0,0)<1;1,0>"),
            "B(0,0)<1;1,0>",
            "C(0,3)<0;1,0>",
        );
        for name in ["add", "mul", "min", "max"] {
            lines.push((ty, name.to_owned(), format!("{a} {b}")));
            let chooses = matches!(name, "min" | "max");
            let predicate = if chooses { "" } else { "(P1) " };
            lines.push((ty, format!("{predicate}{name}.sat"), format!("{b} {a}")));
            lines.push((ty, format!("{predicate}{name}"), format!("{c} {a}")));
            lines.push((ty, name.to_owned(), format!("{a} S(0,0)<2;1,0>")));
            lines.push((ty, name.to_owned(), format!("{a} S(0,1)<4;1,0>")));
        }
        for name in ["add", "mul"] {
            lines.push((ty, name.to_owned(), format!("{a} {}", one(ty))));
        }
        for (to, name) in [
            ("f", "mov"),
            ("f", "(P1) mov"),
            (ty, "mov"),
            (ty, "mov.sat"),
        ] {
            lines.push((to, name.to_owned(), a.clone()));
        }
        lines.push((ty, "mov".to_owned(), format!("{source}F(0,0)<1;1,0>")));
        lines.push((ty, "(P1) mov".to_owned(), format!("{source}F(0,0)<1;1,0>")));
        if ty == "hf" {
            for name in ["mad", "(P1) mad", "mad.sat"] {
                lines.push((ty, name.to_owned(), format!("{a} {b} C(0,0)<1;1,0>")));
                lines.push((ty, name.to_owned(), format!("{b} {a} {c}")));
            }
            for name in [
                "sqrt", "inv", "rsqrt", "exp", "log", "frc", "rndd", "rnde", "rndz", "rndu",
            ] {
                lines.push((ty, name.to_owned(), a.clone()));
            }
            lines.push((ty, "div".to_owned(), format!("{a} {b}")));
            for to in ["d", "ud"] {
                lines.push((to, "mov".to_owned(), "A(0,0)<1;1,0>".to_owned()));
            }
            for to in ["d", "ud", "w", "uw", "b", "ub"] {
                for name in ["mov", "mov.sat", "(P1) mov"] {
                    lines.push((to, name.to_owned(), a.clone()));
                    lines.push((to, name.to_owned(), format!("{source}F(0,0)<1;1,0>")));
                }
            }
            for to in ["w", "uw", "ud"] {
                lines.push((to, "cmp.lt".to_owned(), format!("{a} {b}")));
                lines.push((to, "cmp.ne".to_owned(), format!("{b} {a}")));
            }
            for from in ["D", "W"] {
                lines.push((ty, "(P1) mov".to_owned(), format!("{from}(0,0)<1;1,0>")));
            }
        }
    }
    for (ty, name) in [("w", "W"), ("uw", "U"), ("b", "G")] {
        let sources = [format!("{name}(0,0)<1;1,0>"), format!("{name}(0,3)<0;1,0>")];
        lines.push((ty, "(P1) sel".to_owned(), sources.join(" ")));
        lines.push((
            ty,
            "(!P1) sel".to_owned(),
            format!("{} 0x1:{ty}", sources[1]),
        ));
    }
    let mut text = String::from(".version 4.1\n.kernel \"k\"\n.decl P1 v_type=P num_elts=32\n");
    for (name, ty, elements) in [
        ("A", ty, 32),
        ("B", ty, 32),
        ("C", ty, 32),
        ("S", ty, 128),
        ("X", ty, 128),
        ("F", "f", 32),
        ("D", "d", 32),
        ("W", "w", 32),
        ("U", "uw", 32),
        ("G", "b", 32),
    ] {
        writeln!(
            text,
            ".decl {name} v_type=G type={ty} num_elts={elements} align=GRF"
        )
        .unwrap();
    }
    let mut code = String::new();
    for (number, (ty, name, sources)) in lines.iter().enumerate() {
        writeln!(
            text,
            ".decl R{number} v_type=G type={ty} num_elts=32 align=GRF"
        )
        .unwrap();
        writeln!(code, "{name} (M1, {lanes}) R{number}(0,0)<1> {sources}").unwrap();
    }
    for (name, to) in [("add", "X(0,0)<2>"), ("(P1) mul", "X(0,1)<2>")] {
        writeln!(
            code,
            "{name} (M1, {lanes}) {to} A(0,0)<1;1,0> B(0,0)<1;1,0>"
        )
        .unwrap();
    }
    for (number, relation) in ["lt", "ne", "ge"].into_iter().enumerate() {
        writeln!(text, ".decl P{} v_type=P num_elts=32", number + 2).unwrap();
        let sources = "A(0,0)<1;1,0> B(0,0)<1;1,0>";
        writeln!(
            code,
            "cmp.{relation} (M1, {lanes}) P{} {sources}",
            number + 2
        )
        .unwrap();
    }
    text + &format!(".kernel_attr SimdSize={lanes}\n{code}ret (M1, 1)\n")
}

fn one(ty: &str) -> &str {
    if ty == "hf" { "0x3c01:hf" } else { "0x3f81:bf" }
}

/// Numbers whose sums and products are rounded, overflow or are denormal, and special ones.
fn numbers(count: usize, exponent: u32, random: &mut Random) -> Vec<u8> {
    let number = |random: &mut Random| {
        let bits = random.next();
        let top = (1 << (15 - exponent)) - 1;
        match random.next() % 8 {
            0 => [0, 0x8000, 1, 0x8001, 0x7fff, 0xffff][bits as usize % 6],
            // Infinities and NaNs, signalling ones too.
            1 => 0x7fff & !top | bits & (0x8000 | top >> (bits >> 16 & 15)),
            2 => bits & (0x8000 | top),
            // Near one.
            3 | 4 => {
                (0x3fff & !top).wrapping_add((bits >> 16 & 7) << exponent) | bits & (0x8000 | top)
            }
            _ => bits & 0xffff,
        }
    };
    (0..count)
        .flat_map(|_| ((number(random) & 0xffff) as u16).to_le_bytes())
        .collect()
}

#[test]
fn as_interpreted() {
    let mut random = Random(11);
    for (ty, exponent) in [("hf", 5), ("bf", 8)] {
        for lanes in [1, 8, 16, 32] {
            let text = kernel(lanes, ty);
            let (interpreted, programs) = forms(&text);
            let jits: Vec<Jit> = compilers();
            for jit in &jits {
                let calls = jit.calls(interpreted.code()).unwrap();
                assert_eq!(
                    calls.len(),
                    0,
                    "{ty} {lanes} {:?}: {calls:?}",
                    jit.features()
                );
            }
            for round in 0..60 {
                let full = u32::MAX >> (32 - lanes);
                let mask = if round % 2 == 0 {
                    full
                } else {
                    random.next() & full | 1
                };
                let set = |name: &str, bytes| (interpreted.variable(name).unwrap(), bytes);
                let mut narrow = |n| numbers(n, exponent, &mut random);
                let mut sets = vec![
                    set("A", narrow(32)),
                    set("B", narrow(32)),
                    set("C", narrow(32)),
                    set("S", narrow(128)),
                    // The upper half of a single is a brain float; the lower one decides where it is rounded to.
                    set("F", narrow(64)),
                    set("W", narrow(32)),
                    set("U", narrow(32)),
                    set("G", narrow(16)),
                ];
                let integers = (0..32).flat_map(|_| {
                    let bits = random.next();
                    (bits.cast_signed() >> (random.next() % 32)).to_le_bytes()
                });
                sets.push(set("D", integers.collect()));
                sets.push(set("P1", random.next().to_le_bytes().to_vec()));
                let start = ThreadStart {
                    mask,
                    sets,
                    ..ThreadStart::default()
                };
                let expected = ended(&interpreted, &start);
                let expected = expected.thread(0).unwrap().registers();
                for (program, jit) in programs.iter().zip(&jits) {
                    let group = ended(program, &start);
                    let left = group.thread(0).unwrap().registers();
                    let what = format!("{text}\n{mask:#x} {:?}", jit.features());
                    same_registers(&interpreted, left, expected, &what);
                }
            }
        }
    }
}

/// Integers alone, in modes that machine code for halves is not written for.
#[test]
fn integers_in_other_modes() {
    let text = "\
.version 4.1
.kernel \"k\"
.decl W v_type=G type=w num_elts=32 align=GRF
.decl D v_type=G type=d num_elts=32 align=GRF
.decl R v_type=G type=hf num_elts=32 align=GRF
.decl S v_type=G type=hf num_elts=32 align=GRF
.kernel_attr SimdSize=16
mov (M1, 16) R(0,0)<1> W(0,0)<1;1,0>
mov (M1, 16) S(0,0)<1> D(0,0)<1;1,0>
ret (M1, 1)
";
    let (interpreted, programs) = forms(text);
    // Between 16384 and 32768 a half is a multiple of 16.
    let short = (0..32u16).flat_map(|n| (0x7fff - n).to_le_bytes());
    let dwords = (0..32i32).flat_map(|n| (2049 + n - 3 * 2049 * (n & 1)).to_le_bytes());
    let set = |name: &str, bytes| (interpreted.variable(name).unwrap(), bytes);
    for cr0 in [0x4c0, 0x4d0, 0x4e0, 0x4f0, 0xc0, 0] {
        let start = ThreadStart {
            mask: 0xffff,
            cr0,
            sets: vec![
                set("W", short.clone().collect()),
                set("D", dwords.clone().collect()),
            ],
            ..ThreadStart::default()
        };
        let expected = ended(&interpreted, &start);
        for program in &programs {
            let group = ended(program, &start);
            for name in ["R", "S"] {
                let (found, expected) = (
                    words(program, &group, name),
                    words(&interpreted, &expected, name),
                );
                assert_eq!(found, expected, "{name}, {cr0:#x}");
            }
        }
    }
}
