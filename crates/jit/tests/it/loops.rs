//! Loops that keep operands in registers: generated ones, as the interpreter runs them, wherever fuel runs out.

use super::{Contents, Random, Trial, each_lane};
use std::fmt::Write;

/// Bytes of shared local memory.
const BYTES: usize = 1 << 16;

/// Variables of a loop, more than there are registers.
const VARIABLES: u32 = 28;

/// Loops that are tried.
const ROUNDS: usize = 150;

/// A loop: statements that take values from turn to turn, lanes that leave earlier, branches, messages; then everything
/// is stored.
fn text(lanes: u32, random: &mut Random) -> String {
    let mut text = String::from(
        ".version 4.1\n.kernel \"k\"\n\
         .decl N v_type=G type=ud num_elts=1 align=dword\n\
         .decl I v_type=G type=ud num_elts=1 align=dword\n\
         .decl S v_type=G type=ud num_elts=1 align=dword\n\
         .decl A v_type=G type=ud num_elts=32 align=GRF\n\
         .decl B v_type=G type=ud num_elts=32 align=GRF\n\
         .decl Q v_type=G type=uq num_elts=32 align=GRF\n\
         .decl P1 v_type=P num_elts=32\n.decl P2 v_type=P num_elts=32\n\
         .decl P3 v_type=P num_elts=32\n",
    );
    let used = 2 + random.next() % (VARIABLES - 2);
    for n in 0..VARIABLES {
        let _ = writeln!(
            text,
            ".decl V{n} v_type=G type=ud num_elts=32 align=GRF\n\
             .decl F{n} v_type=G type=f num_elts=32 align=GRF alias=<V{n}, 0>"
        );
    }
    let _ = writeln!(text, ".kernel_attr SimdSize={lanes}");
    let mut code = String::new();
    let mut line = |line: String| {
        let _ = writeln!(code, "{line}");
    };
    line("mov (M1_NM, 1) I(0,0)<1> 0x0:ud".into());
    line("TURN:".into());
    let statements = 3 + random.next() % 24;
    let mut open = None;
    // Loops of which most is code for these are not written with operands in registers.
    let mut large = false;
    for number in 0..statements {
        let [a, b, c] = [(); 3].map(|()| random.next() % used);
        let vector = |n: u32| format!("V{n}(0,0)<1;1,0>");
        let predicate = ["", "", "", "(P1) ", "(!P2) "][random.next() as usize % 5];
        let head = |name: &str| format!("{predicate}{name} (M1, {lanes}) V{a}(0,0)<1>");
        let kind = match random.next() % 26 {
            16 | 19 | 20 if std::mem::replace(&mut large, true) => 0,
            kind => kind,
        };
        match kind {
            0..4 => line(format!("{} {}", head("mov"), vector(b))),
            4..7 => line(format!("{} {} {}", head("add"), vector(b), vector(c))),
            7 => line(format!("{} {} (-){}", head("add"), vector(b), vector(c))),
            8 => line(format!("{} {} S(0,0)<0;1,0>", head("xor"), vector(b))),
            9 => line(format!("{} I(0,0)<0;1,0>", head("mov"))),
            10 => line(format!(
                "add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> V{b}(0,1)<0;1,0>"
            )),
            11 | 12 => line(format!(
                "{predicate}mad (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0> F{c}(0,0)<1;1,0> (-)F{a}(0,0)<1;1,0>"
            )),
            13 => line(format!(
                "cmp.lt (M1, {lanes}) P1 {} {}",
                vector(b),
                vector(c)
            )),
            14 => line(format!(
                "cmp.gt (M1_NM, {lanes}) P2 {} {}",
                vector(b),
                vector(c)
            )),
            15 => line(format!("xor (M1, {lanes}) P1 P1 P2")),
            16 => {
                // Elements of all lanes are apart.
                line(format!(
                    "lsc_store.slm (M1, {lanes}) flat[A]:a32 V{b}:d32\n\
                     lsc_load.slm (M1, {lanes}) V{a}:d32 flat[A+0x100]:a32"
                ));
            }
            17 if open.is_none() => {
                line(format!("(P1) goto (M1, {lanes}) OVER{number}"));
                open = Some(number);
            }
            18 => {
                // Fewer of them from turn to turn, and some bits at random.
                line(format!(
                    "and (M1, {lanes}) B(0,0)<1> {} 0x7:ud\n\
                     cmp.lt (M1, {lanes}) P3 B(0,0)<1;1,0> I(0,0)<0;1,0>\n\
                     (P3) goto (M1, {lanes}) OUT",
                    vector(b)
                ));
            }
            // The interpreter computes some of these.
            19 => line(format!(
                "{predicate}exp (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0>"
            )),
            22 => line(format!(
                "{predicate}add (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0> F{c}(0,0)<1;1,0>"
            )),
            23 | 24 => line(format!(
                "mul (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0> 0x40000000:f"
            )),
            25 => line(format!(
                "{predicate}mul (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0> (-)F{b}(0,0)<1;1,0>"
            )),
            20 => line(format!("sin (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0>")),
            _ => line(format!(
                "mul (M1, {lanes}) Q(0,0)<1> {} {}\n\
                 mov (M1, {lanes}) V{a}(0,0)<1> Q(0,0)<1;1,0>",
                vector(b),
                vector(c)
            )),
        }
        if let Some(since) = open
            && (number > since + 2 || number + 1 == statements)
        {
            line(format!("OVER{since}:"));
            open = None;
        }
    }
    line("add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud".into());
    line(format!(
        "cmp.lt (M1_NM, {lanes}) P3 I(0,0)<0;1,0> N(0,0)<0;1,0>"
    ));
    line(match random.next() % 3 {
        0 => format!("(P3) goto (M1, {lanes}) TURN"),
        1 => "(P3) jmp (M1, 1) TURN".into(),
        // Two blocks.
        _ => format!("(!P3) goto (M1, {lanes}) OUT\ngoto (M1, {lanes}) TURN"),
    });
    line("OUT:".into());
    // All bits of a predicate, of which comparisons have set some.
    for (at, predicate) in [(0x800, "P1"), (0x900, "P2")] {
        line(format!(
            "mov (M1_NM, 1) S(0,0)<1> {predicate}\n\
             mov (M1, {lanes}) B(0,0)<1> S(0,0)<0;1,0>\n\
             lsc_store.slm (M1, {lanes}) flat[A+{at:#x}]:a32 B:d32"
        ));
    }
    for n in 0..used {
        line(format!(
            "lsc_store.slm (M1, {lanes}) flat[A+{:#x}]:a32 V{n}:d32",
            0x1000 + 0x100 * n
        ));
    }
    line("ret (M1, 1)".into());
    text + &code
}

/// Contents of the variables of a loop of so many turns.
fn sets(turns: u32, random: &mut Random) -> Contents {
    let mut sets = vec![
        ("N".into(), turns.to_le_bytes().to_vec()),
        ("S".into(), random.next().to_le_bytes().to_vec()),
        ("A".into(), each_lane()),
    ];
    for name in ["P1", "P2", "P3"] {
        sets.push((name.into(), random.next().to_le_bytes().to_vec()));
    }
    for n in 0..VARIABLES {
        // Small numbers, floats near 1, anything.
        let value = |random: &mut Random| match random.next() % 3 {
            0 => random.next() % 16,
            1 => 0x3f80_0000 + random.next() % 0x40_0000,
            _ => random.next(),
        };
        let bytes = (0..32).flat_map(|_| value(random).to_le_bytes());
        sets.push((format!("V{n}"), bytes.collect()));
    }
    sets
}

#[test]
fn as_interpreted() {
    let mut random = Random(0x5eed);
    for round in 0..ROUNDS {
        let lanes = [8, 16, 32][round % 3];
        let trial = Trial {
            text: &text(lanes, &mut random),
            lanes,
            local: BYTES,
            registers: true,
            fuel: 90,
        };
        let turns = 1 + random.next() % 12;
        trial.agree(&mut random, &|random| sets(turns, random));
    }
}

/// Operands that a turn finds in registers, when the interpreter has run a step of the turn before, after they were used.
#[test]
fn after_a_detour() {
    let mut random = Random(1);
    let (declarations, _) = text(16, &mut random)
        .split_once("mov (M1_NM, 1) I")
        .map(|(head, tail)| (head.to_owned(), tail.len()))
        .unwrap();
    let mut lines = String::from("mov (M1_NM, 1) I(0,0)<1> 0x0:ud\nTURN:\n");
    for n in 0..80 {
        let _ = writeln!(
            lines,
            "add (M1, 16) V8(0,0)<1> V8(0,0)<1;1,0> V{}(0,0)<1;1,0>",
            n % 2
        );
    }
    // Of a very large number, which its template leaves to the interpreter.
    lines += "mov (M1, 16) F20(0,0)<1> 0x7149f2ca:f\n\
              sin (M1, 16) F21(0,0)<1> F20(0,0)<1;1,0>\n\
              add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud\n\
              cmp.lt (M1_NM, 16) P3 I(0,0)<0;1,0> N(0,0)<0;1,0>\n\
              (P3) goto (M1, 16) TURN\n\
              ret (M1, 1)\n";
    let trial = Trial {
        text: &(declarations + &lines),
        lanes: 16,
        local: BYTES,
        registers: true,
        fuel: 90,
    };
    trial.agree(&mut random, &|random| sets(9, random));
}
