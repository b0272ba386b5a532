//! Predicates whose words have bits that no instruction uses: comparisons, logic, and predicated steps.

use super::{Writer, bytes, case, each_lane, named, some_lanes};
use crate::generate::{Case, Start};
use fastrand::Rng;

/// Bytes of shared local memory.
const BYTES: usize = 1 << 12;

const VARIABLES: u32 = 5;
const PREDICATES: u32 = 6;
/// Those of them that anything but branches may read.
const READ: u32 = 3;

/// What a statement may jump over, and out of.
struct Around {
    /// The label behind some statements, and the statement that jumps there.
    over: Option<u32>,
    is_loop: bool,
}

impl Around {
    /// A jump over the next statements, where there is none yet.
    fn jump(&mut self, to: &mut Writer<'_>, predicate: &str, form: &str, number: u32) {
        if self.over.is_none() {
            to.line(&format!("({predicate}) {form} OVER{number}"));
            self.over = Some(number);
        }
    }
}

fn compare(to: &mut Writer<'_>, around: &mut Around, number: u32, (sign, mask): (&str, &str)) {
    let (lanes, p) = (to.lanes, 1 + to.below(PREDICATES));
    let [a, b] = [(); 2].map(|()| to.below(VARIABLES));
    let relation = to.pick(&["lt", "ne", "eq", "le", "gt", "ge"]);
    let letter = to.pick(&["V", "D"]);
    // Of lanes, of numbers, with a constant.
    let (a, b) = match to.below(5) {
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
    to.line(&format!(
        "cmp.{relation} ({mask}, {lanes}) P{p} {letter}{a} {b}"
    ));
    // Mostly it is tested at once.
    let predicate = format!("{sign}P{p}");
    match to.below(4) {
        0 => around.jump(to, &predicate, &format!("goto (M1, {lanes})"), number),
        1 => around.jump(to, &predicate, "jmp (M1, 1)", number),
        2 if around.is_loop => to.line(&format!("({predicate}) goto (M1, {lanes}) OUT")),
        _ => {}
    }
}

/// Predicates that nobody else reads, of lanes that run and of all.
fn local(to: &mut Writer<'_>, around: &mut Around, number: u32, sign: &str) {
    let lanes = to.lanes;
    let [a, b, c] = [(); 3].map(|()| to.below(VARIABLES));
    let name = to.pick(&["and", "or", "xor"]);
    let own = to.pick(&["M1", "M1_NM"]);
    to.line(&format!(
        "cmp.lt ({own}, {lanes}) L1 V{a}(0,0)<1;1,0> V{b}(0,0)<1;1,0>\n\
         cmp.ne (M1, {lanes}) L2 V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"
    ));
    if to.once_in(2) {
        let all = to.pick(&["", "", ".any", ".all"]);
        to.line(&format!(
            "({sign}L1{all}) mov (M1, {lanes}) V{c}(0,0)<1> 0x2:ud"
        ));
    }
    // They leave their registers.
    match to.below(6) {
        0 => to.line(&format!("lsc_load.slm (M1, {lanes}) V{a}:d32 flat[A]:a32")),
        1 => (1..=PREDICATES).for_each(|p| {
            to.line(&format!(
                "cmp.gt (M1, {lanes}) P{p} V{c}(0,0)<1;1,0> V{b}(0,{p})<0;1,0>"
            ));
        }),
        _ => {}
    }
    let logic = match to.below(4) {
        0 => format!("{name} (M1, {lanes}) L2 L1 L2"),
        1 => format!("{name} (M1, {lanes}) L1 L1 L2"),
        2 => format!("not (M1, {lanes}) L2 L1"),
        _ => format!("{name} (M1, {lanes}) L2 L2 L2"),
    };
    to.line(&logic);
    let of = 1 + to.below(2);
    match to.below(5) {
        0 => around.jump(
            to,
            &format!("{sign}L{of}"),
            &format!("goto (M1, {lanes})"),
            number,
        ),
        1 if around.is_loop => to.line(&format!("({sign}L{of}) goto (M1, {lanes}) OUT")),
        2 => to.line(&format!(
            "({sign}L{of}) sel (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"
        )),
        4 => to.line(&format!("({sign}L{of}) ret (M1, {lanes})")),
        _ => to.line(&format!(
            "({sign}L{of}) add (M1, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"
        )),
    }
}

fn statement(to: &mut Writer<'_>, around: &mut Around, number: u32) {
    let lanes = to.lanes;
    let [a, b, c] = [(); 3].map(|()| to.below(VARIABLES));
    let p = 1 + to.below(PREDICATES);
    let [q, r] = [(); 2].map(|()| 1 + to.below(READ));
    let mask = to.pick(&["M1", "M1", "M1_NM"]);
    let sign = to.pick(&["", "!"]);
    match to.below(11) {
        0..3 => compare(to, around, number, (sign, mask)),
        3 => {
            let name = to.pick(&["and", "or", "xor"]);
            to.line(&format!("{name} ({mask}, {lanes}) P{p} P{q} P{r}"));
        }
        4 => to.line(&format!("not ({mask}, {lanes}) P{p} P{q}")),
        5 => around.jump(
            to,
            &format!("{sign}P{p}"),
            &format!("goto (M1, {lanes})"),
            number,
        ),
        6 if around.is_loop => to.line(&format!("(P{p}) goto (M1, {lanes}) OUT")),
        9 | 10 => local(to, around, number, sign),
        _ => to.line(&format!(
            "({sign}P{q}) add ({mask}, {lanes}) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>"
        )),
    }
}

pub(crate) fn program(rng: &mut Rng) -> Case {
    let lanes = *rng.choice(&[4, 8, 16, 32]).unwrap_or(&16);
    let mut to = Writer::new(rng, lanes, &[".decl I v_type=G type=ud num_elts=1"]);
    to.vectors("ud", ["A".into()]);
    to.vectors("ud", named("V", 0..VARIABLES));
    for n in 0..VARIABLES {
        to.line(&format!(
            ".decl D{n} v_type=G type=d num_elts=32 alias=<V{n}, 0>"
        ));
    }
    to.predicates(named("P", 1..=PREDICATES));
    for n in 1..=2 {
        to.line(&format!(".decl L{n} v_type=P num_elts={lanes}"));
    }
    to.begin();
    to.line("mov (M1_NM, 1) I(0,0)<1> 0x0:ud");
    let mut around = Around {
        over: None,
        is_loop: !to.once_in(3),
    };
    if around.is_loop {
        to.line("TURN:");
    }
    for number in 0..4 + to.below(12) {
        statement(&mut to, &mut around, number);
        if let Some(since) = around.over
            && number > since + 1
        {
            to.line(&format!("OVER{since}:"));
            around.over = None;
        }
    }
    if let Some(since) = around.over {
        to.line(&format!("OVER{since}:"));
    }
    if around.is_loop {
        to.line(&format!(
            "add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud\n\
             cmp.lt (M1_NM, {lanes}) P1 I(0,0)<0;1,0> 0x5:ud\n\
             (P1) goto (M1, {lanes}) TURN\nOUT:"
        ));
    }
    let text = to.store(0, named("V", 0..VARIABLES));
    let starts = (0..3).map(|_| {
        let mut sets = vec![each_lane()];
        for name in named("V", 0..VARIABLES) {
            sets.push((name, bytes((0..32).map(|_| rng.u32(..8)))));
        }
        for name in named("P", 1..=PREDICATES).chain(named("L", 1..3)) {
            sets.push((name, bytes([rng.u32(..)])));
        }
        Start {
            mask: some_lanes(rng, lanes),
            sets,
        }
    });
    let starts = starts.collect();
    Case {
        // Bits of predicates that nobody reads may differ.
        registers: false,
        ..case(&text, BYTES, starts)
    }
}
