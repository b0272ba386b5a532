//! Predicates whose words have bits that no instruction uses: generated comparisons, logic and predicated steps, as the
//! interpreter runs them.

use super::{Random, Trial, each_lane};
use std::fmt::Write;

/// Bytes of shared local memory.
const BYTES: usize = 1 << 12;

const VARIABLES: u32 = 5;
const PREDICATES: u32 = 6;
/// Those of them that anything but branches may read.
const READ: u32 = 3;

/// Programs that are tried.
const ROUNDS: usize = 1000;

fn text(lanes: u32, random: &mut Random) -> String {
    let mut text = String::from(
        ".version 4.1\n.kernel \"k\"\n\
         .decl A v_type=G type=ud num_elts=32 align=GRF\n\
         .decl I v_type=G type=ud num_elts=1 align=dword\n",
    );
    for n in 0..VARIABLES {
        let _ = writeln!(
            text,
            ".decl V{n} v_type=G type=ud num_elts=32 align=GRF\n\
             .decl D{n} v_type=G type=d num_elts=32 alias=<V{n}, 0>"
        );
    }
    for n in 1..=PREDICATES {
        let _ = writeln!(text, ".decl P{n} v_type=P num_elts=32");
    }
    for n in 1..=2 {
        let _ = writeln!(text, ".decl L{n} v_type=P num_elts={lanes}");
    }
    let _ = writeln!(text, ".kernel_attr SimdSize={lanes}");
    let mut line = |line: String| {
        let _ = writeln!(text, "{line}");
    };
    line("mov (M1_NM, 1) I(0,0)<1> 0x0:ud".into());
    let is_loop = !random.next().is_multiple_of(3);
    if is_loop {
        line("TURN:".into());
    }
    let mut open = None;
    for number in 0..4 + random.next() % 12 {
        let [a, b, c] = [(); 3].map(|()| random.next() % VARIABLES);
        let p = 1 + random.next() % PREDICATES;
        let [q, r] = [(); 2].map(|()| 1 + random.next() % READ);
        let mask = ["M1", "M1", "M1_NM"][random.next() as usize % 3];
        let sign = ["", "!"][random.next() as usize % 2];
        match random.next() % 11 {
            0..3 => {
                let relation = ["lt", "ne", "eq", "le", "gt", "ge"][random.next() as usize % 6];
                let letter = ["V", "D"][random.next() as usize % 2];
                // Of lanes, of numbers, with a constant.
                let (a, b) = match random.next() % 5 {
                    0 | 1 => (
                        format!("{a}(0,0)<1;1,0>"),
                        format!("{letter}{b}(0,0)<1;1,0>"),
                    ),
                    2 => (
                        format!("{a}(0,1)<0;1,0>"),
                        format!("{letter}{b}(0,2)<0;1,0>"),
                    ),
                    3 => (format!("{a}(0,3)<0;1,0>"), "0x3:w".into()),
                    _ => (
                        format!("{a}(0,0)<1;1,0>"),
                        format!("{letter}{b}(0,1)<0;1,0>"),
                    ),
                };
                line(format!(
                    "cmp.{relation} ({mask}, {lanes}) P{p} {letter}{a} {b}"
                ));
                // Mostly it is tested at once.
                match random.next() % 4 {
                    0 if open.is_none() => {
                        line(format!("({sign}P{p}) goto (M1, {lanes}) OVER{number}"));
                        open = Some(number);
                    }
                    1 if open.is_none() => {
                        line(format!("({sign}P{p}) jmp (M1, 1) OVER{number}"));
                        open = Some(number);
                    }
                    2 if is_loop => line(format!("({sign}P{p}) goto (M1, {lanes}) OUT")),
                    _ => {}
                }
            }
            3 => {
                let name = ["and", "or", "xor"][random.next() as usize % 3];
                line(format!("{name} ({mask}, {lanes}) P{p} P{q} P{r}"));
            }
            4 => line(format!("not ({mask}, {lanes}) P{p} P{q}")),
            // Predicates that nobody else reads, of lanes that run and of all.
            9 | 10 => {
                let name = ["and", "or", "xor"][random.next() as usize % 3];
                let own = ["M1", "M1_NM"][random.next() as usize % 2];
                line(format!(
                    "cmp.lt ({own}, {lanes}) L1 V{a}(0,0)<1;1,0> V{b}(0,0)<1;1,0>\n\
                     cmp.ne (M1, {lanes}) L2 V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"
                ));
                if random.next().is_multiple_of(2) {
                    let all = ["", "", ".any", ".all"][random.next() as usize % 4];
                    line(format!(
                        "({sign}L1{all}) mov (M1, {lanes}) V{c}(0,0)<1> 0x2:ud"
                    ));
                }
                // They leave their registers.
                match random.next() % 6 {
                    0 => line(format!("lsc_load.slm (M1, {lanes}) V{a}:d32 flat[A]:a32")),
                    1 => (1..=PREDICATES).for_each(|p| {
                        line(format!(
                            "cmp.gt (M1, {lanes}) P{p} V{c}(0,0)<1;1,0> V{b}(0,{p})<0;1,0>"
                        ));
                    }),
                    _ => {}
                }
                match random.next() % 4 {
                    0 => line(format!("{name} (M1, {lanes}) L2 L1 L2")),
                    1 => line(format!("{name} (M1, {lanes}) L1 L1 L2")),
                    2 => line(format!("not (M1, {lanes}) L2 L1")),
                    _ => line(format!("{name} (M1, {lanes}) L2 L2 L2")),
                }
                let of = 1 + random.next() % 2;
                match random.next() % 5 {
                    4 => line(format!("({sign}L{of}) ret (M1, {lanes})")),
                    0 if open.is_none() => {
                        line(format!("({sign}L{of}) goto (M1, {lanes}) OVER{number}"));
                        open = Some(number);
                    }
                    1 if is_loop => line(format!("({sign}L{of}) goto (M1, {lanes}) OUT")),
                    2 => line(format!(
                        "({sign}L{of}) sel (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"
                    )),
                    _ => line(format!(
                        "({sign}L{of}) add (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"
                    )),
                }
            }
            5 if open.is_none() => {
                line(format!("({sign}P{p}) goto (M1, {lanes}) OVER{number}"));
                open = Some(number);
            }
            6 if is_loop => line(format!("(P{p}) goto (M1, {lanes}) OUT")),
            _ => line(format!(
                "({sign}P{q}) add ({mask}, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"
            )),
        }
        if let Some(since) = open
            && number > since + 1
        {
            line(format!("OVER{since}:"));
            open = None;
        }
    }
    if let Some(since) = open {
        line(format!("OVER{since}:"));
    }
    if is_loop {
        line(format!(
            "add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud\n\
             cmp.lt (M1_NM, {lanes}) P1 I(0,0)<0;1,0> 0x5:ud\n\
             (P1) goto (M1, {lanes}) TURN\nOUT:"
        ));
    }
    for n in 0..VARIABLES {
        let at = 0x100 * n;
        line(format!(
            "lsc_store.slm (M1, {lanes}) flat[A+{at:#x}]:a32 V{n}:d32"
        ));
    }
    line("ret (M1, 1)".into());
    text
}

#[test]
fn as_interpreted() {
    let mut random = Random(0x9e1);
    for round in 0..ROUNDS {
        let lanes = [16, 8, 32, 4][round % 4];
        let trial = Trial {
            text: &text(lanes, &mut random),
            lanes,
            local: BYTES,
            // Bits of predicates that nobody reads may differ.
            registers: false,
            fuel: 40,
        };
        trial.agree(&mut random, &|random| {
            let mut sets = vec![("A".into(), each_lane())];
            for n in 0..VARIABLES {
                let small = (0..32).flat_map(|_| (random.next() % 8).to_le_bytes());
                sets.push((format!("V{n}"), small.collect()));
            }
            let names = (1..=PREDICATES).map(|n| format!("P{n}"));
            for name in names.chain(["L1".into(), "L2".into()]) {
                sets.push((name, random.next().to_le_bytes().to_vec()));
            }
            sets
        });
    }
}
