//! Lanes that part, wait and join: nested branches and loops.

use super::{Writer, bytes, case, each_lane, named, some_lanes};
use crate::generate::{Case, Start};
use fastrand::Rng;

/// Bytes of shared local memory.
const BYTES: usize = 1 << 12;

const VARIABLES: u32 = 6;

/// How deep branches and loops are nested.
const DEPTH: u32 = 4;

/// Sets a predicate in some lanes, now and then in all of them or in none.
fn decide(to: &mut Writer<'_>) {
    let (lanes, a) = (to.lanes, to.below(VARIABLES));
    let bits = to.pick(&["0x1", "0x3", "0x10", "0x0", "0x40"]);
    to.line(&format!(
        "and (M1, {lanes}) T(0,0)<1> V{a}(0,0)<1;1,0> {bits}:ud\n\
         cmp.eq (M1, {lanes}) P1 T(0,0)<1;1,0> 0x0:ud"
    ));
}

fn statements(to: &mut Writer<'_>, depth: u32) {
    for _ in 0..=to.below(3) {
        statement(to, depth);
    }
}

fn statement(to: &mut Writer<'_>, depth: u32) {
    let lanes = to.lanes;
    let sign = to.pick(&["", "!"]);
    let [a, b, c] = [(); 3].map(|()| to.below(VARIABLES));
    match to.below(if depth == 0 { 4 } else { 12 }) {
        0..2 => to.line(&format!(
            "mad (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0> V{a}(0,0)<1;1,0>"
        )),
        2 => {
            let bits = to.rng.u32(..);
            to.line(&format!(
                "xor (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> {bits:#x}:ud"
            ));
        }
        3 => {
            decide(to);
            to.line(&format!(
                "({sign}P1) add (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"
            ));
        }
        // Without, and with other statements for the lanes that jump.
        4..7 => {
            let end = to.label();
            decide(to);
            to.line(&format!("({sign}P1) goto (M1, {lanes}) L{end}"));
            statements(to, depth - 1);
            to.line(&format!("L{end}:"));
        }
        7..10 => {
            let [other, end] = [(); 2].map(|()| to.label());
            decide(to);
            to.line(&format!("({sign}P1) goto (M1, {lanes}) L{other}"));
            statements(to, depth - 1);
            to.line(&format!("goto (M1, {lanes}) L{end}\nL{other}:"));
            statements(to, depth - 1);
            to.line(&format!("L{end}:"));
        }
        10 => {
            // Out of everything.
            decide(to);
            to.line(&format!("({sign}P1) goto (M1, {lanes}) END"));
        }
        _ => {
            let [turn, end] = [(); 2].map(|()| to.label());
            to.line(&format!(
                "mov (M1, {lanes}) C{depth}(0,0)<1> 0x0:ud\nL{turn}:"
            ));
            statements(to, depth - 1);
            decide(to);
            to.line(&format!("({sign}P1) goto (M1, {lanes}) L{end}"));
            statements(to, depth - 1);
            to.line(&format!(
                "add (M1, {lanes}) C{depth}(0,0)<1> C{depth}(0,0)<1;1,0> 0x1:ud\n\
                 and (M1, {lanes}) T(0,0)<1> V{a}(0,0)<1;1,0> 0x3:ud\n\
                 cmp.le (M1, {lanes}) P1 C{depth}(0,0)<1;1,0> T(0,0)<1;1,0>\n\
                 (P1) goto (M1, {lanes}) L{turn}\nL{end}:"
            ));
        }
    }
}

pub(crate) fn program(rng: &mut Rng) -> Case {
    let lanes = *rng.choice(&[8, 16, 32]).unwrap_or(&16);
    let mut to = Writer::new(rng, lanes, &[]);
    to.vectors("ud", ["A".into(), "T".into()]);
    to.predicates(["P1".into()]);
    to.vectors("ud", named("V", 0..VARIABLES));
    to.vectors("ud", named("C", 0..=DEPTH));
    to.begin();
    for _ in 0..4 {
        statement(&mut to, DEPTH);
    }
    to.line("END:");
    let text = to.store(0, named("V", 0..VARIABLES));
    let starts = (0..3).map(|_| {
        let mut sets = vec![each_lane()];
        for name in named("V", 0..VARIABLES) {
            sets.push((name, bytes((0..32).map(|_| rng.u32(..)))));
        }
        Start {
            mask: some_lanes(rng, lanes),
            sets,
        }
    });
    let starts = starts.collect();
    case(&text, BYTES, starts)
}
