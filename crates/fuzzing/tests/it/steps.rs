//! Kernels that are the same step by step: under other names, with steps that nothing depends on, and never for a mutant
//! that a run tells apart.

use visakit_fuzzing::proofs::{Frame, Pair, Style};
use visakit_launch::Config;
use visakit_prove::{Difference, Options, Verdict, prove, refute};
use visakit_testing::layouts::Random;

/// Temporaries that get other names.
const TEMPORARIES: usize = 6;

/// Pairs of each style; `VISAKIT_PROVE=25000` for a long run.
fn pairs() -> u64 {
    let number = std::env::var("VISAKIT_PROVE").ok();
    number.and_then(|n| n.parse().ok()).unwrap_or(100)
}

/// Instructions on which nothing depends between those of a routine.
fn padded(random: &mut Random, frame: &Frame, lines: &[String]) -> Vec<String> {
    let mut padded = Vec::new();
    for line in lines {
        if random.below(3) == 0 {
            let (operation, source) = (["add", "xor"][random.below(2)], random.below(TEMPORARIES));
            padded.push(format!(
                "{operation} (M1, {}) SPARE(0,0)<1> SPARE(0,0)<1;1,0> UD{source}(0,0)<1;1,0>",
                frame.lanes
            ));
        }
        padded.push(line.clone());
    }
    padded
}

/// The text with temporaries by other names, in another place of the register file each.
fn renamed(text: &str, names: &[usize; TEMPORARIES]) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut renamed = String::new();
    for line in text.lines() {
        // Declarations stay in their order: the names change their places.
        let is_code = !line.starts_with('.');
        for part in line.split_inclusive(|c| !is_word(c)) {
            let word = part.trim_end_matches(|c| !is_word(c));
            let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
            let name = word[letters.len()..].parse().ok();
            let name = name.and_then(|n: usize| names.get(n));
            let kinds = ["D", "UD", "W", "UW", "F", "B", "UB", "HF", "BF"];
            match name.filter(|_| is_code && kinds.contains(&letters)) {
                Some(name) => renamed += &format!("{letters}{name}{}", &part[word.len()..]),
                None => renamed += part,
            }
        }
        renamed.push('\n');
        if line.starts_with(".decl DATA") {
            renamed += ".decl SPARE v_type=G type=ud num_elts=32 align=GRF\n";
        }
    }
    renamed
}

/// Whether two texts are the same step by step. Terms are out of bounds.
fn same(frame: &Frame, texts: &[String; 2]) -> Option<bool> {
    let options = Options {
        trials: 0,
        steps: 0,
        ..Options::default()
    };
    let proof = frame.with_kernels(texts, |[old, new], arguments| {
        prove(old, new, arguments, &Config::default(), &options)
    });
    let proof = proof.unwrap()?;
    assert_eq!(proof.steps, proof.verdict == Verdict::Proven);
    Some(proof.steps)
}

/// Integers of one type may be exchanged in a sum; in a difference, and floats, not.
#[test]
fn sources_that_commute_may_be_exchanged() {
    let same_lines = |old: &str, new: &str| {
        let pair = Pair::of_lines(&[old], &[new]);
        same(&pair.frame, &pair.texts())
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
        let found = same_lines(&line(1, 2), &line(2, 1));
        assert_eq!(found, Some(equal), "{operation} {ty}");
    }
    let line = |b| format!("add (M1, 16) D0(0,0)<1> D1(0,0)<1;1,0> {b}D2(0,0)<1;1,0>");
    assert_eq!(same_lines(&line(""), &line("(-)")), Some(false));
}

/// What runs find.
fn apart(frame: &Frame, texts: &[String; 2]) -> Option<Difference> {
    let options = Options {
        trials: 24,
        ..Options::default()
    };
    let found = frame.with_kernels(texts, |[old, new], arguments| {
        refute(old, new, arguments, &Config::default(), &options)
    });
    Some(found.unwrap()??.difference)
}

#[test]
fn no_mutant_is_the_same_that_a_run_tells_apart() {
    for style in Style::ALL {
        let (mut asked, mut equal) = (0, 0);
        for seed in 0..pairs() {
            let mut random = Random::of_seed(seed);
            let mut pair = Pair::of_seed(seed, Some(style));
            let mutant = std::mem::take(&mut pair.new);
            let mut names = std::array::from_fn(|n| n);
            for n in (1..TEMPORARIES).rev() {
                names.swap(n, random.below(n + 1));
            }
            pair.new = padded(&mut random, &pair.frame, &pair.old);
            let [text, other] = pair.texts();
            let texts = [text, renamed(&other, &names)];
            let Some(found) = same(&pair.frame, &texts) else {
                continue;
            };
            // In a loop, a register on which nothing else depends may depend on itself; addresses of registers are numbers.
            assert!(
                found || matches!(style, Style::Flow | Style::Indirect),
                "{style:?}, seed {seed}: not the same\n{}\n{}",
                texts[0],
                texts[1]
            );
            pair.new = padded(&mut random, &pair.frame, &mutant);
            let [text, other] = pair.texts();
            let texts = [text, renamed(&other, &names)];
            let Some(found) = same(&pair.frame, &texts) else {
                continue;
            };
            asked += 1;
            equal += u64::from(found);
            if found && let Some(difference) = apart(&pair.frame, &texts) {
                panic!(
                    "{style:?}, seed {seed}: the same, but {difference:?}\n{}\n{}",
                    texts[0], texts[1]
                );
            }
        }
        visakit_testing::say(&format!(
            "{style:?}: {asked} mutants, {equal} the same step by step"
        ));
        assert!(asked > pairs() / 3 && equal < asked, "{asked} {equal}");
    }
}
