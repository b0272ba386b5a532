//! Loops whose operands may stay in registers: values that go from turn to turn, lanes that leave earlier, branches, messages.

use super::{Writer, bytes, case, each_lane, named, some_lanes};
use crate::generate::{Case, Start};
use fastrand::Rng;

/// Bytes of shared local memory.
const BYTES: usize = 1 << 16;

/// Variables of a loop, more than there are registers.
const VARIABLES: u32 = 28;

/// A statement of a loop. There is but one of those that are `large`: loops of which most is code for them are not written
/// with operands in registers.
fn statement(to: &mut Writer<'_>, used: u32, large: &mut bool) {
    let lanes = to.lanes;
    let [a, b, c] = [(); 3].map(|()| to.below(used));
    let vector = |n: u32| format!("V{n}(0,0)<1;1,0>");
    let predicate = to.pick(&["", "", "", "(P1) ", "(!P2) "]);
    let head = |name: &str| format!("{predicate}{name} (M1, {lanes}) V{a}(0,0)<1>");
    let kind = match to.below(24) {
        16..19 if std::mem::replace(large, true) => 0,
        kind => kind,
    };
    let line = match kind {
        0..4 => format!("{} {}", head("mov"), vector(b)),
        4..7 => format!("{} {} {}", head("add"), vector(b), vector(c)),
        7 => format!("{} {} (-){}", head("add"), vector(b), vector(c)),
        8 => format!("{} {} S(0,0)<0;1,0>", head("xor"), vector(b)),
        9 => format!("{} I(0,0)<0;1,0>", head("mov")),
        10 => format!("add (M1_NM, 1) S(0,0)<1> S(0,0)<0;1,0> V{b}(0,1)<0;1,0>"),
        11 | 12 => format!(
            "{predicate}mad (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0> F{c}(0,0)<1;1,0> (-)F{a}(0,0)<1;1,0>"
        ),
        13 => format!("cmp.lt (M1, {lanes}) P1 {} {}", vector(b), vector(c)),
        14 => format!("cmp.gt (M1_NM, {lanes}) P2 {} {}", vector(b), vector(c)),
        15 => format!("xor (M1, {lanes}) P1 P1 P2"),
        // Elements of all lanes are apart.
        16 => format!(
            "lsc_store.slm (M1, {lanes}) flat[A]:a32 V{b}:d32\n\
             lsc_load.slm (M1, {lanes}) V{a}:d32 flat[A+0x100]:a32"
        ),
        // The interpreter computes some of these.
        17 => format!("{predicate}exp (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0>"),
        18 => format!("sin (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0>"),
        // Fewer lanes from turn to turn, and some bits at random.
        19 => format!(
            "and (M1, {lanes}) B(0,0)<1> {} 0x7:ud\n\
             cmp.lt (M1, {lanes}) P3 B(0,0)<1;1,0> I(0,0)<0;1,0>\n\
             (P3) goto (M1, {lanes}) OUT",
            vector(b)
        ),
        20 => {
            format!("{predicate}add (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0> F{c}(0,0)<1;1,0>")
        }
        21 => format!("mul (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0> 0x40000000:f"),
        22 => format!(
            "{predicate}mul (M1, {lanes}) F{a}(0,0)<1> F{b}(0,0)<1;1,0> (-)F{b}(0,0)<1;1,0>"
        ),
        _ => format!(
            "mul (M1, {lanes}) Q(0,0)<1> {} {}\n\
             mov (M1, {lanes}) V{a}(0,0)<1> Q(0,0)<1;1,0>",
            vector(b),
            vector(c)
        ),
    };
    to.line(&line);
}

pub(crate) fn program(rng: &mut Rng) -> Case {
    let lanes = *rng.choice(&[8, 16, 32]).unwrap_or(&16);
    let numbers = ["N", "I", "S"].map(|name| format!(".decl {name} v_type=G type=ud num_elts=1"));
    let mut to = Writer::new(rng, lanes, &numbers.each_ref().map(String::as_str));
    to.vectors("ud", ["A".into(), "B".into()]);
    to.vectors("uq", ["Q".into()]);
    to.predicates(named("P", 1..4));
    to.vectors("ud", named("V", 0..VARIABLES));
    for n in 0..VARIABLES {
        to.line(&format!(
            ".decl F{n} v_type=G type=f num_elts=32 align=GRF alias=<V{n}, 0>"
        ));
    }
    to.begin();
    let used = 2 + to.below(VARIABLES - 2);
    to.line("mov (M1_NM, 1) I(0,0)<1> 0x0:ud\nTURN:");
    let mut open = None;
    let mut large = false;
    let statements = 3 + to.below(24);
    for number in 0..statements {
        if open.is_none() && to.once_in(24) {
            to.line(&format!("(P1) goto (M1, {lanes}) OVER{number}"));
            open = Some(number);
        }
        statement(&mut to, used, &mut large);
        if let Some(since) = open
            && (number > since + 2 || number + 1 == statements)
        {
            to.line(&format!("OVER{since}:"));
            open = None;
        }
    }
    to.line(&format!(
        "add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud\n\
         cmp.lt (M1_NM, {lanes}) P3 I(0,0)<0;1,0> N(0,0)<0;1,0>"
    ));
    let back = match to.below(3) {
        0 => format!("(P3) goto (M1, {lanes}) TURN"),
        1 => "(P3) jmp (M1, 1) TURN".into(),
        // Two blocks.
        _ => format!("(!P3) goto (M1, {lanes}) OUT\ngoto (M1, {lanes}) TURN"),
    };
    to.line(&back);
    to.line("OUT:");
    // All bits of a predicate, of which comparisons have set some.
    for (at, predicate) in [(0x800, "P1"), (0x900, "P2")] {
        to.line(&format!(
            "mov (M1_NM, 1) S(0,0)<1> {predicate}\n\
             mov (M1, {lanes}) B(0,0)<1> S(0,0)<0;1,0>\n\
             lsc_store.slm (M1, {lanes}) flat[A+{at:#x}]:a32 B:d32"
        ));
    }
    let text = to.store(0x1000, named("V", 0..used));
    let starts = (0..3).map(|_| start(rng, lanes)).collect();
    case(&text, BYTES, starts)
}

fn start(rng: &mut Rng, lanes: u32) -> Start {
    let mut sets = vec![
        ("N".into(), bytes([rng.u32(1..13)])),
        ("S".into(), bytes([rng.u32(..)])),
        each_lane(),
    ];
    for name in named("P", 1..4) {
        sets.push((name, bytes([rng.u32(..)])));
    }
    for name in named("V", 0..VARIABLES) {
        // Small numbers, floats near 1, anything.
        let numbers = (0..32).map(|_| match rng.u8(..3) {
            0 => rng.u32(..16),
            1 => 0x3f80_0000 + rng.u32(..0x40_0000),
            _ => rng.u32(..),
        });
        sets.push((name, bytes(numbers)));
    }
    Start {
        mask: some_lanes(rng, lanes),
        sets,
    }
}
