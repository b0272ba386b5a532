//! Threads of a group that may run side by side in a loop: results depend on the order in which threads access memory.

use super::{Writer, bytes, each_lane, named, object};
use crate::generate::{Case, Start};
use fastrand::Rng;

/// Bytes of shared local memory.
const BYTES: usize = 1 << 10;

const VARIABLES: u32 = 6;

fn statement(to: &mut Writer<'_>) {
    let lanes = to.lanes;
    let [a, b, c] = [(); 3].map(|()| to.below(VARIABLES));
    let head = |name: &str| format!("{name} (M1, {lanes})");
    let line = match to.below(24) {
        0 | 1 => format!(
            "{} V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>",
            head("add")
        ),
        2 => format!(
            "{} V{a}(0,0)<1> V{b}(0,0)<1;1,0> I(0,0)<0;1,0>",
            head("xor")
        ),
        3 => format!(
            "{} F{a}(0,0)<1> F{b}(0,0)<1;1,0> F{c}(0,0)<1;1,0> C(0,0)<1;1,0>",
            head("mad")
        ),
        4 => format!(
            "{} F{a}(0,0)<1> F{b}(0,0)<1;1,0> C(0,0)<1;1,0>",
            head("add")
        ),
        5 => format!("{} F{a}(0,0)<1> F{b}(0,0)<1;1,0> 0x40000000:f", head("mul")),
        6 => format!(
            "{} F{a}(0,0)<1> F{b}(0,0)<1;1,0> (-)F{b}(0,0)<1;1,0>",
            head("mul")
        ),
        7 => format!("{} V{a}(0,0)<1> V{b}(0,0)<1;1,0>", head("mov")),
        8 => format!("{} V{a}(0,0)<1> N(0,0)<0;1,0>", head("mov")),
        9 => format!("add (M1_NM, 1) N(0,0)<1> N(0,0)<0;1,0> V{b}(0,2)<0;1,0>"),
        // Operands of other sizes, for which threads run alone.
        10 => format!("mov (M1_NM, 1) W{a}(0,0)<1> W{b}(0,0)<0;1,0>"),
        11 => format!(
            "{} W{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>",
            head("add")
        ),
        12 => format!("cmp.lt (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"),
        13 => format!(
            "cmp.lt (M1_NM, {lanes}) P2 V{a}(0,0)<1;1,0> V{b}(0,0)<1;1,0>\n\
             (P2) sel (M1_NM, 1) V{c}(0,0)<1> V{a}(0,1)<0;1,0> V{b}(0,3)<0;1,0>"
        ),
        14..17 => format!(
            "cmp.lt (M1, {lanes}) P2 V{a}(0,0)<1;1,0> V{b}(0,0)<1;1,0>\n\
             (P2) sel (M1, {lanes}) V{c}(0,0)<1> V{a}(0,0)<1;1,0> V{b}(0,0)<1;1,0>"
        ),
        _ => format!("{} V{a}(0,0)<1> V{b}(0,0)<1;1,0> 0x3:ud", head("shl")),
    };
    to.line(&line);
}

fn statements(to: &mut Writer<'_>, count: u32) {
    for _ in 0..count {
        statement(to);
    }
}

/// Results depend on which thread has accessed memory before.
fn access(to: &mut Writer<'_>, vector: u32) {
    let lanes = to.lanes;
    to.line(&format!(
        "lsc_load.slm (M1, {lanes}) M:d32 flat[A]:a32\n\
         mul (M1, {lanes}) M(0,0)<1> M(0,0)<1;1,0> 0x3:ud\n\
         add (M1, {lanes}) M(0,0)<1> M(0,0)<1;1,0> V{vector}(0,0)<1;1,0>\n\
         lsc_store.slm (M1, {lanes}) flat[A]:a32 M:d32"
    ));
}

/// What is on the way to a loop.
fn before(to: &mut Writer<'_>, number: u32) {
    let lanes = to.lanes;
    let line = match to.below(8) {
        // Some threads, or some of their lanes, take another way to the loop.
        0 => format!(
            "cmp.lt (M1, {lanes}) P1 E(0,0)<1;1,0> 0x2:ud\n\
             (P1) goto (M1, {lanes}) OVER{number}\n\
             add (M1, {lanes}) V1(0,0)<1> V1(0,0)<1;1,0> 0x7:ud\nOVER{number}:"
        ),
        1 => format!(
            "cmp.gt (M1_NM, 1) P1 N(0,0)<0;1,0> 0x6:ud\n\
             (P1) jmp (M1, 1) OUT{number}"
        ),
        2 => {
            let vector = to.below(VARIABLES);
            return access(to, vector);
        }
        3 => "xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud".into(),
        4 => "barrier".into(),
        5 => format!(
            "and (M1, {lanes}) M(0,0)<1> E(0,0)<1;1,0> 0x1:ud\n\
             cmp.eq (M1, {lanes}) P1 M(0,0)<1;1,0> 0x0:ud\n\
             (P1) goto (M1, {lanes}) OVER{number}\n\
             add (M1, {lanes}) V2(0,0)<1> V2(0,0)<1;1,0> 0x5:ud\nOVER{number}:"
        ),
        _ => return,
    };
    to.line(&line);
}

fn one_loop(to: &mut Writer<'_>, number: u32) {
    let lanes = to.lanes;
    let count = to.below(4);
    statements(to, count);
    before(to, number);
    to.line(&format!("mov (M1_NM, 1) I(0,0)<1> 0x0:ud\nTURN{number}:"));
    let count = 1 + to.below(6);
    statements(to, count);
    to.line(&format!(
        "add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud\n\
         cmp.gt (M1, {lanes}) P1 I(0,0)<0;1,0> E(0,0)<1;1,0>"
    ));
    if to.once_in(2) {
        to.line(&format!(
            "cmp.ge (M1_NM, {lanes}) P2 I(0,0)<0;1,0> 0x9:ud\n\
             or (M1, {lanes}) P1 P1 P2"
        ));
    }
    if to.once_in(3) {
        statement(to);
    }
    to.line(&format!("(P1) goto (M1, {lanes}) OUT{number}"));
    let count = to.below(3);
    statements(to, count);
    if to.once_in(4) {
        to.line(&format!(
            "cmp.eq (M1, {lanes}) P1 V0(0,0)<1;1,0> V1(0,0)<1;1,0>\n\
             (P1) goto (M1, {lanes}) OUT{number}"
        ));
    }
    let back = match to.below(2) {
        0 => format!("goto (M1, {lanes}) TURN{number}"),
        _ => format!("jmp (M1, 1) TURN{number}"),
    };
    to.line(&format!("{back}\nOUT{number}:"));
    let vector = to.below(VARIABLES);
    access(to, vector);
}

fn text(rng: &mut Rng, lanes: u32) -> String {
    let numbers = ["N", "I"].map(|name| format!(".decl {name} v_type=G type=ud num_elts=1"));
    let mut to = Writer::new(rng, lanes, &numbers.each_ref().map(String::as_str));
    to.vectors("ud", ["A", "E", "M"].map(str::to_owned));
    to.vectors("f", ["C".into()]);
    to.predicates(named("P", 1..3));
    to.vectors("ud", named("V", 0..VARIABLES));
    for n in 0..VARIABLES {
        to.line(&format!(
            ".decl F{n} v_type=G type=f num_elts=32 align=GRF alias=<V{n}, 0>\n\
             .decl W{n} v_type=G type=uw num_elts=64 align=GRF alias=<V{n}, 0>"
        ));
    }
    to.begin();
    for number in 0..1 + to.below(2) {
        one_loop(&mut to, number);
    }
    for vector in 0..VARIABLES {
        access(&mut to, vector);
    }
    to.end()
}

/// So many threads, of which one accesses memory beyond the end of it if there is to be a fault.
fn starts(rng: &mut Rng, lanes: u32, threads: u32, fault: bool) -> Vec<Start> {
    let one = |thread: u32| {
        let mut sets = vec![each_lane(), ("N".into(), bytes([rng.u32(..8)]))];
        if fault && thread == threads / 2 {
            sets[0].1 = bytes((0..32).map(|n| 0x1000 + 4 * n));
        }
        let turns = (0..32).map(|_| {
            let most = *rng.choice(&[3, 12, 40]).unwrap_or(&3);
            rng.u32(..most)
        });
        sets.push(("E".into(), bytes(turns)));
        for name in named("V", 0..VARIABLES).chain(["C".into()]) {
            let floats = (0..32).map(|_| 0x3f00_0000 + rng.u32(..0x100_0000));
            sets.push((name, bytes(floats)));
        }
        let full = u32::MAX >> (32 - lanes);
        Start {
            mask: match rng.u8(..6) {
                0 => rng.u32(..) & full | 1,
                _ => full,
            },
            sets,
        }
    };
    (0..threads).map(one).collect()
}

pub(crate) fn program(rng: &mut Rng) -> Case {
    let lanes = *rng.choice(&[4, 8, 16, 16]).unwrap_or(&16);
    let text = text(rng, lanes);
    let launches = [1, 2, 5, 40].map(|threads| {
        let fault = threads > 1 && rng.u8(..4) == 0;
        starts(rng, lanes, threads, fault)
    });
    Case {
        launches: launches.into(),
        local_bytes: BYTES,
        ..Case::of(object(&text))
    }
}
