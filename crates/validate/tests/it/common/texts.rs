//! More faults as text: the rule, the platform (empty for none), further declarations, the lines.

use visakit_validate::{Rule, examples, rules as r};

pub(crate) type Fault = (&'static Rule, &'static str, &'static str, &'static str);

/// The violations in the examples of rules, and more.
pub(crate) fn faults() -> impl Iterator<Item = Fault> {
    let examples = examples::all();
    let examples = examples.map(|e| (e.rule, e.platform, e.declarations, e.wrong));
    examples.chain(FAULTS.iter().copied())
}

static FAULTS: &[Fault] = &[
    (
        &r::MODIFIER_UNEXPECTED,
        "",
        "",
        "dp4a (M1, 8) D0(0,0)<1> (-)D0(0,0)<1;1,0> D1(0,0)<1;1,0> D1(0,0)<1;1,0>",
    ),
    (
        &r::PREDICATED_LOGIC,
        "",
        "",
        "(P1) mov (M1, 1) U0(0,0)<1> P2",
    ),
    (
        &r::NO_LONGER,
        "xehp",
        "",
        "switchjmp (M1, 1) 0x0:ub (one)\none:",
    ),
    (
        &r::NO_LONGER,
        "pvc",
        "",
        "dpasw.s8.s8.8.8 (M1, 16) D0.0 D1.0 U0.0 U1(0,0)",
    ),
    (
        &r::NO_LONGER,
        "xe3p",
        "",
        "plane (M1, 8) F0(0,0)<1> F0(0,0)<0;4,1> F1(0,0)<8;8,1>",
    ),
];
