//! Products by powers of two of sums in loops, which machine code computes beside the sums: squares of complex numbers and
//! the like, for floats of any size.

use super::{Writer, bytes, case, some_lanes};
use crate::generate::{Case, Start};
use fastrand::Rng;

/// Two, four, two to the 60th; the others are no powers of two, or less than one.
const SINGLES: [&str; 6] = [
    "0x40000000:f",
    "0x40800000:f",
    "0x5d800000:f",
    "0x3f000000:f",
    "0x40400000:f",
    "0xc0000000:f",
];
const DOUBLES: [&str; 6] = [
    "0x4000000000000000:df",
    "0x4010000000000000:df",
    "0x43b0000000000000:df",
    "0x3fe0000000000000:df",
    "0x4008000000000000:df",
    "0xc000000000000000:df",
];

/// Variables of floats.
const FLOATS: [&str; 9] = ["X", "Y", "T", "U", "S", "CX", "CY", "R", "V"];

/// A loop with a product of a sum of the turn before, or of its own turn; with copies between, and lanes that leave.
fn text(rng: &mut Rng, lanes: u32, double: bool) -> String {
    let ty = if double { "df" } else { "f" };
    let mut to = Writer::new(rng, lanes, &[".decl I v_type=G type=ud num_elts=1"]);
    to.vectors("ud", ["E".into()]);
    to.predicates(["P".into()]);
    to.vectors(ty, FLOATS.map(str::to_owned));
    to.begin();
    // An instruction on vectors: names of variables, or whole operands.
    let op = |name: &str, into: &str, sources: &[&str]| {
        let mut all = format!("{name} (M1, {lanes}) {into}(0,0)<1>");
        for source in sources {
            all += &match source.contains([':', '<']) {
                true => format!(" {source}"),
                false => format!(" {source}(0,0)<1;1,0>"),
            };
        }
        all
    };
    let factor = to.pick(if double { &DOUBLES } else { &SINGLES });
    // What is added: a vector, or the same in all lanes.
    let added = to.pick(&["CX", "CX", "CX(0,0)<0;1,0>"]);
    let sum = match to.below(2) {
        0 => ["T", added],
        _ => [added, "T"],
    };
    let order = to.below(4);
    let product = match order == 0 || to.once_in(2) {
        true => ["X", factor],
        false => [factor, "X"],
    };
    to.line("mov (M1_NM, 1) I(0,0)<1> 0x0:ud\nTURN:");
    if to.once_in(3) {
        // Sums that are small, or nothing.
        to.line(&op("mov", "T", &["V"]));
    } else {
        to.line(&op("mul", "T", &["Y", "(-)Y(0,0)<1;1,0>"]));
        to.line(&op("mad", "T", &["X", "X", "T"]));
    }
    // The product is of this turn's sum, or of the one before.
    to.line(&op("add", if order == 0 { "X" } else { "U" }, &sum));
    to.line(&op("mul", "S", &product));
    to.line(&op("mad", "Y", &["S", "Y", "CY"]));
    if order == 2 {
        to.line(&op("mov", "R", &["U"]));
        to.line(&op("mov", "X", &["R"]));
    }
    let of_turn = format!("cmp.eq (M1, {lanes}) P E(0,0)<1;1,0> I(0,0)<0;1,0>");
    match to.below(4) {
        // Other lanes leave in each turn.
        1 => to.line(&format!("{of_turn}\n(P) goto (M1, {lanes}) OUT")),
        2 => to.line(&format!(
            "cmp.lt (M1, {lanes}) P X(0,0)<1;1,0> CY(0,0)<1;1,0>\n(P) goto (M1, {lanes}) OUT"
        )),
        // Some of the lanes go on with another number.
        0 if order == 3 && lanes < 32 => {
            to.line(&op("mov", "U", &["CY"]).replace("(0,0)<1> ", "(0,4)<1> "));
        }
        3 if order == 3 => to.line(&format!("{of_turn}\n(P) {}", op("mov", "U", &["CY"]))),
        _ => {}
    }
    if order == 1 || order == 3 {
        to.line(&op("mov", "X", &["U"]));
    }
    to.line(
        "add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud\n\
         cmp.lt (M1_NM, 1) P I(0,0)<0;1,0> 0x9:ud\n\
         (P) jmp (M1, 1) TURN\nOUT:",
    );
    to.end()
}

/// A float: near 1, of any size, next to the largest ones, the smallest ones, no number.
fn float(rng: &mut Rng, double: bool) -> u64 {
    let any = rng.u64(..);
    let (fraction, exponent) = if double { (52, 11) } else { (23, 8) };
    let most = (1u64 << exponent) - 1;
    let exponent = match rng.u8(..32) {
        0..4 => any >> 7 & most,
        4..8 => most - 1 - (any >> 7 & 3).min(2),
        8..12 => any >> 7 & 1,
        12 => most,
        _ => most / 2 - 2 + (any >> 7 & 3),
    };
    let bits = match rng.u8(..6) {
        0 => 0,
        _ => any >> 9 & ((1 << fraction) - 1),
    };
    let width = if double { 63 } else { 31 };
    (any & 1) << width | exponent << fraction | bits
}

/// A thread with any numbers if they are `wild`, else with numbers of which products are computed beside sums.
fn start(rng: &mut Rng, (lanes, double, wild): (u32, bool, bool)) -> Start {
    let size = if double { 8 } else { 4 };
    let mut sets = Vec::new();
    for name in ["X", "Y", "S", "CX", "CY", "U", "R"] {
        let mut content = Vec::new();
        while content.len() < 32 * size {
            let bits = float(rng, double);
            let top = bits >> if double { 53 } else { 24 } & 0x7f;
            if wild || name != "CX" || top < 0x60 {
                content.extend_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
        sets.push((name.to_owned(), content));
    }
    // About as large as what is added, with the other sign.
    let mut others = sets[3].1.clone();
    for lane in others.chunks_mut(size) {
        lane[size - 1] ^= 0x80;
        if rng.u8(..3) != 0 {
            lane[rng.usize(..3)] ^= rng.u8(..);
        }
    }
    sets.push(("V".into(), others));
    sets.push(("E".into(), bytes((0..32).map(|_| rng.u32(..16)))));
    Start {
        mask: some_lanes(rng, lanes),
        sets,
    }
}

pub(crate) fn program(rng: &mut Rng) -> Case {
    let lanes = *rng.choice(&[8, 16, 16, 32]).unwrap_or(&16);
    let double = rng.u8(..3) == 0;
    let text = text(rng, lanes, double);
    let wild = [false, true, false, true];
    let starts = wild.map(|wild| start(rng, (lanes, double, wild)));
    case(&text, 0, starts.into())
}
