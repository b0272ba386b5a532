//! Products by powers of two of sums in loops, which machine code computes beside the sums: generated squares of complex
//! numbers and the like, for floats of any size, as the interpreter computes them.

use super::{Contents, Random, Trial};
use std::fmt::Write;

/// Loops that are tried.
const ROUNDS: usize = 240;

/// A loop with a product of a sum of the turn before, or of its own turn; with copies between, and lanes that leave.
fn text(lanes: u32, double: bool, random: &mut Random) -> String {
    let ty = if double { "df" } else { "f" };
    let mut text = String::from(
        ".version 4.1\n.kernel \"k\"\n\
         .decl I v_type=G type=ud num_elts=1 align=dword\n\
         .decl E v_type=G type=ud num_elts=32 align=GRF\n\
         .decl P v_type=P num_elts=32\n",
    );
    for name in ["X", "Y", "T", "U", "S", "CX", "CY", "R", "V"] {
        let _ = writeln!(
            text,
            ".decl {name} v_type=G type={ty} num_elts=32 align=GRF"
        );
    }
    let _ = writeln!(text, ".kernel_attr SimdSize={lanes}");
    // An instruction on vectors: names of variables, or whole operands.
    let op = |name: &str, to: &str, sources: &[&str]| {
        let mut all = format!("{name} (M1, {lanes}) {to}(0,0)<1>");
        for source in sources {
            all += &match source.contains([':', '<']) {
                true => format!(" {source}"),
                false => format!(" {source}(0,0)<1;1,0>"),
            };
        }
        all
    };
    let mut line = |line: String| {
        let _ = writeln!(text, "{line}");
    };
    // 2, 4, 2 to the 60th; these are no powers of two, or less than one.
    let factor = random.next() as usize % 6;
    let factor = match double {
        false => [
            "0x40000000",
            "0x40800000",
            "0x5d800000",
            "0x3f000000",
            "0x40400000",
            "0xc0000000",
        ],
        true => [
            "0x4000000000000000",
            "0x4010000000000000",
            "0x43b0000000000000",
            "0x3fe0000000000000",
            "0x4008000000000000",
            "0xc000000000000000",
        ],
    }[factor];
    let factor = format!("{factor}:{ty}");
    // What is added: a vector, or the same in all lanes.
    let added = ["CX", "CX", "CX(0,0)<0;1,0>"][random.next() as usize % 3];
    let sum = match random.next() % 2 {
        0 => ["T", added],
        _ => [added, "T"],
    };
    let order = random.next() % 4;
    let product = match order == 0 || random.next().is_multiple_of(2) {
        true => ["X", &factor],
        false => [&factor, "X"],
    };
    line("mov (M1_NM, 1) I(0,0)<1> 0x0:ud".into());
    line("TURN:".into());
    if random.next().is_multiple_of(3) {
        // Sums that are small, or nothing.
        line(op("mov", "T", &["V"]));
    } else {
        line(op("mul", "T", &["Y", "(-)Y(0,0)<1;1,0>"]));
        line(op("mad", "T", &["X", "X", "T"]));
    }
    // The product is of this turn's sum, or of the one before.
    line(op("add", if order == 0 { "X" } else { "U" }, &sum));
    line(op("mul", "S", &product));
    line(op("mad", "Y", &["S", "Y", "CY"]));
    if order == 2 {
        line(op("mov", "R", &["U"]));
        line(op("mov", "X", &["R"]));
    }
    let of_turn = format!("cmp.eq (M1, {lanes}) P E(0,0)<1;1,0> I(0,0)<0;1,0>");
    match random.next() % 4 {
        // Other lanes leave in each turn.
        1 => line(format!("{of_turn}\n(P) goto (M1, {lanes}) OUT")),
        2 => line(format!(
            "cmp.lt (M1, {lanes}) P X(0,0)<1;1,0> CY(0,0)<1;1,0>\n(P) goto (M1, {lanes}) OUT"
        )),
        // Some of the lanes go on with another number.
        0 if order == 3 && lanes < 32 => {
            line(op("mov", "U", &["CY"]).replace("(0,0)<1> ", "(0,4)<1> "));
        }
        3 if order == 3 => line(format!("{of_turn}\n(P) {}", op("mov", "U", &["CY"]))),
        _ => {}
    }
    if order == 1 || order == 3 {
        line(op("mov", "X", &["U"]));
    }
    line("add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud".into());
    line("cmp.lt (M1_NM, 1) P I(0,0)<0;1,0> 0x9:ud".into());
    line("(P) jmp (M1, 1) TURN".into());
    line("OUT:".into());
    line("ret (M1, 1)".into());
    text
}

/// A float: near 1, of any size, next to the largest ones, the smallest ones, no number.
fn float(double: bool, random: &mut Random) -> u64 {
    let any = u64::from(random.next()) << 32 | u64::from(random.next());
    let (fraction, exponent) = if double { (52, 11) } else { (23, 8) };
    let most = (1u64 << exponent) - 1;
    let middle = most / 2;
    let exponent = match random.next() % 8 {
        0 => any >> 7 & most,
        1 => most - 1 - (any >> 7 & 3).min(2),
        2 => any >> 7 & 1,
        3 if random.next().is_multiple_of(4) => most,
        _ => middle - 2 + (any >> 7 & 3),
    };
    let bits = any >> 9 & ((1 << fraction) - 1);
    let bits = if random.next().is_multiple_of(6) {
        0
    } else {
        bits
    };
    let sign = any & 1;
    let width = if double { 63 } else { 31 };
    sign << width | exponent << fraction | bits
}

/// Contents of the variables: with `wild` any, else those of which products are computed beside sums.
fn sets(double: bool, wild: bool, random: &mut Random) -> Contents {
    let mut sets = Vec::new();
    for name in ["X", "Y", "S", "CX", "CY", "U", "R"] {
        let number = |random: &mut Random| {
            loop {
                let bits = float(double, random);
                let top = bits >> if double { 53 } else { 24 } & 0x7f;
                if wild || name != "CX" || top < 0x60 {
                    break bits;
                }
            }
        };
        let bytes = (0..32).flat_map(|_| {
            let bits = number(random).to_le_bytes();
            bits.into_iter().take(if double { 8 } else { 4 })
        });
        sets.push((name.into(), bytes.collect()));
    }
    // About as large as what is added, with the other sign.
    let (_, added): &(_, Vec<u8>) = &sets[3];
    let mut others = added.clone();
    for lane in others.chunks_mut(if double { 8 } else { 4 }) {
        *lane.last_mut().unwrap() ^= 0x80;
        if !random.next().is_multiple_of(3) {
            lane[random.next() as usize % 3] ^= random.next().to_le_bytes()[0];
        }
    }
    sets.push(("V".into(), others));
    let leaves = (0..32).flat_map(|_| (random.next() % 16).to_le_bytes());
    sets.push(("E".into(), leaves.collect()));
    sets
}

#[test]
fn as_interpreted() {
    let mut random = Random(0x2fac);
    for round in 0..ROUNDS {
        let lanes = [16, 8, 32, 16][round % 4];
        let double = round % 3 == 2;
        let trial = Trial {
            text: &text(lanes, double, &mut random),
            lanes,
            local: 0,
            registers: true,
            fuel: 60,
        };
        for wild in [false, true] {
            trial.agree(&mut random, &|random| sets(double, wild, random));
        }
    }
}
