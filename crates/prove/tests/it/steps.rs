//! Kernels that are the same step by step: under other names, with steps that nothing depends on, and never for a mutant
//! that a run tells apart.

use crate::generate::{Maker, Routine, TEMPORARIES, between};
use crate::mutants::{first, mutate, pairs};
use visakit_launch::Config;
use visakit_prove::{Difference, Options, Verdict, prove, refute};

/// Instructions on which nothing depends between those of a routine.
fn padded(maker: &mut Maker, routine: &Routine) -> Routine {
    let mut lines = Vec::new();
    for line in &routine.lines {
        if maker.below(3) == 0 {
            let (operation, source) = (["add", "xor"][maker.below(2)], maker.source("ud"));
            lines.push(format!(
                "{operation} (M1, 16) SPARE(0,0)<1> SPARE(0,0)<1;1,0> {source}"
            ));
        }
        lines.push(line.clone());
    }
    Routine { lines }
}

/// The text of a routine with temporaries by other names, in another place of the register file each.
fn renamed(routine: &Routine, names: &[usize; TEMPORARIES]) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut renamed = String::new();
    for line in routine.text().lines() {
        // Declarations stay in their order: the names change their places.
        let is_code = !line.starts_with('.');
        for part in line.split_inclusive(|c| !is_word(c)) {
            let word = part.trim_end_matches(|c| !is_word(c));
            let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
            let name = word[letters.len()..].parse().ok();
            let name = name.and_then(|n: usize| names.get(n));
            match name.filter(|_| is_code && ["D", "UD", "W", "UW", "F"].contains(&letters)) {
                Some(name) => renamed += &format!("{letters}{name}{}", &part[word.len()..]),
                None => renamed += part,
            }
        }
        renamed.push('\n');
        if line.starts_with(".decl DATA") {
            renamed += ".decl SPARE v_type=G type=ud num_elts=16 align=hword\n";
        }
    }
    renamed
}

/// Whether two texts are the same step by step. Terms are out of bounds.
fn same(old: &str, new: &str) -> Option<bool> {
    let options = Options {
        trials: 0,
        steps: 0,
        ..Options::default()
    };
    let proof = between([old, new], |old, new, arguments| {
        prove(old, new, arguments, &Config::default(), &options).unwrap()
    })?;
    assert_eq!(proof.steps, proof.verdict == Verdict::Proven);
    Some(proof.steps)
}

/// Integers of one type may be exchanged in a sum; in a difference, and floats, not.
#[test]
fn sources_that_commute_may_be_exchanged() {
    let text = |line: &str| {
        let lines = vec![line.to_owned()];
        Routine { lines }.text()
    };
    for (operation, ty, equal) in [
        ("add", "D", true),
        ("xor", "UD", true),
        ("mul", "D", true),
        ("shl", "D", false),
        ("min", "D", false),
        ("add", "F", false),
    ] {
        let line = |a, b| {
            format!("{operation} (M1, 16) {ty}0(0,0)<1> {ty}{a}(0,0)<1;1,0> {ty}{b}(0,0)<1;1,0>")
        };
        let (old, new) = (text(&line(1, 2)), text(&line(2, 1)));
        assert_eq!(same(&old, &new), Some(equal), "{operation} {ty}");
    }
    let line = |b| format!("add (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0> {b}D2(0,0)<1;1,0>");
    assert_eq!(same(&text(&line("")), &text(&line("(-)"))), Some(false));
}

/// What runs find.
fn apart(old: &str, new: &str) -> Option<Difference> {
    let options = Options {
        trials: 24,
        ..Options::default()
    };
    let found = between([old, new], |old, new, arguments| {
        refute(old, new, arguments, &Config::default(), &options).unwrap()
    });
    Some(found??.difference)
}

#[test]
fn no_mutant_is_the_same_that_a_run_tells_apart() {
    let (mut asked, mut equal) = (0, 0);
    for seed in first()..first() + 4 * pairs() {
        let mut maker = Maker::new(seed);
        let length = 1 + maker.below(14);
        let old = maker.routine(length);
        let new = padded(&mut maker, &old);
        let mut names = std::array::from_fn(|n| n);
        for n in (1..TEMPORARIES).rev() {
            names.swap(n, maker.below(n + 1));
        }
        let text = old.text();
        let other = renamed(&new, &names);
        let Some(found) = same(&text, &other) else {
            continue;
        };
        assert!(found, "seed {seed}: not the same\n{text}\n{other}");
        let other = renamed(&mutate(&mut maker, &new), &names);
        let Some(found) = same(&text, &other) else {
            continue;
        };
        asked += 1;
        equal += u64::from(found);
        if found && let Some(difference) = apart(&text, &other) {
            panic!("seed {seed}: the same, but {difference:?}\n{text}\n{other}");
        }
    }
    visakit_testing::say(&format!("{asked} mutants, {equal} the same step by step"));
    assert!(
        asked > pairs() && equal > 0 && equal < asked,
        "{asked} {equal}"
    );
}
