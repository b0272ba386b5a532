//! No routine is proven equal to another one that a run tells apart.

use crate::generate::{Asked, Maker, Routine, ask};
use visakit_prove::Verdict;

/// How many pairs; `VISAKIT_PROVE=100000` for a long run.
pub(crate) fn pairs() -> u64 {
    let number = std::env::var("VISAKIT_PROVE").ok();
    number.and_then(|n| n.parse().ok()).unwrap_or(300)
}

/// The first pair; for runs that go on where another one ended.
pub(crate) fn first() -> u64 {
    let number = std::env::var("VISAKIT_PROVE_FIRST").ok();
    number.and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Another instruction, number, condition, type, operand or predicate in one line.
pub(crate) fn mutate(maker: &mut Maker, routine: &Routine) -> Routine {
    let mut lines = routine.lines.clone();
    let at = maker.below(lines.len());
    let line = lines[at].clone();
    let swaps: &[(&str, &str)] = &[
        ("add ", "mul "),
        ("and ", "or "),
        ("or ", "xor "),
        ("shl ", "shr "),
        ("asr ", "shr "),
        (".lt", ".le"),
        (".gt", ".ge"),
        (".eq", ".ne"),
        ("min ", "max "),
        ("(P1)", "(!P1)"),
        ("(!P2)", "(P2)"),
        ("P1", "P2"),
        (" UD", " D"),
        (" D", " UD"),
        ("<1;1,0>", "<0;1,0>"),
        (":d", ":ud"),
        (".sat", ""),
        ("add ", "add.sat "),
        ("(-)", ""),
        ("(abs)", ""),
        ("0x", "0x1"),
        ("D0", "D1"),
        ("D2", "D3"),
        ("F1", "F4"),
        ("(M1, 16)", "(M1, 8)"),
        (",1)<2", ",0)<2"),
    ];
    let fit: Vec<_> = swaps
        .iter()
        .filter(|(from, _)| line.contains(from))
        .collect();
    match (maker.below(4), fit.len()) {
        (0, _) | (_, 0) => match maker.below(3) {
            0 => lines[at] = maker.instruction(),
            1 => {
                lines.remove(at);
            }
            _ if at > 0 => lines.swap(at, at - 1),
            _ => lines.push(line),
        },
        (_, count) => {
            let (from, to) = fit[maker.below(count)];
            lines[at] = line.replacen(from, to, 1);
        }
    }
    Routine { lines }
}

#[test]
fn none_is_proven_that_a_run_tells_apart() {
    let (mut asked, mut proven, mut refuted, mut unknown) = (0, 0, 0, 0);
    for seed in first()..first() + pairs() {
        let mut maker = Maker::new(seed);
        let length = 1 + maker.below(14);
        let old = maker.routine(length);
        let new = mutate(&mut maker, &old);
        let Some(Asked::Proof(proof)) = ask(&old, &new, false) else {
            continue;
        };
        asked += 1;
        match proof.verdict {
            Verdict::Proven => {
                proven += 1;
                let Some(Asked::Refutation(found)) = ask(&old, &new, true) else {
                    panic!("not run");
                };
                if let Some(found) = found {
                    panic!(
                        "seed {seed}: proven, but {:?}\n{old:#?}\n{new:#?}",
                        found.difference
                    );
                }
            }
            Verdict::Refuted(_) => refuted += 1,
            Verdict::Unknown(_) => unknown += 1,
        }
    }
    visakit_testing::say(&format!(
        "{asked} pairs: {proven} proven, {refuted} refuted, {unknown} unknown"
    ));
    assert!(
        asked > pairs() / 3 && proven > 0 && refuted > asked / 4,
        "{asked} {proven} {refuted}"
    );
}

/// Sources in another order, other temporaries, and instructions that nothing depends on.
fn rewritten(maker: &mut Maker, routine: &Routine) -> Routine {
    let mut lines = Vec::new();
    for line in &routine.lines {
        let words: Vec<&str> = line.rsplitn(3, ' ').collect();
        let commutes = ["and (", "or (", "xor (", "add (", "mul ("];
        let exchanges = commutes.iter().any(|op| line.contains(op))
            && !line.contains(" F")
            && !line.contains("0x")
            && !line.contains(" P")
            && !line.contains("(-)")
            && !line.contains("(abs)");
        match words[..] {
            [second, first, rest] if exchanges => lines.push(format!("{rest} {second} {first}")),
            _ => lines.push(line.clone()),
        }
        if maker.below(4) == 0 {
            lines.push("mov (M1, 16) LD(0,0)<1> D1(0,0)<1;1,0>".to_owned());
        }
    }
    Routine { lines }
}

#[test]
fn rewritten_routines_are_proven() {
    let (mut asked, mut proven) = (0, 0);
    for seed in 0..100 {
        let mut maker = Maker::new(seed);
        let length = 1 + maker.below(14);
        let old = maker.routine(length);
        let new = rewritten(&mut maker, &old);
        let Some(Asked::Proof(proof)) = ask(&old, &new, false) else {
            continue;
        };
        asked += 1;
        match proof.verdict {
            Verdict::Proven => proven += 1,
            Verdict::Refuted(found) => {
                panic!("seed {seed}: {:?}\n{old:#?}\n{new:#?}", found.difference)
            }
            Verdict::Unknown(_) => {}
        }
    }
    assert!(
        asked > 30 && proven * 20 >= asked * 19,
        "{proven} of {asked}"
    );
}
