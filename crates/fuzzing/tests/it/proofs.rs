//! No routine is proven equal to another one that a run tells apart. `cargo run --release -p visakit-fuzzing --example
//! proofs -- --count 1000000` is the long run.

use std::time::Duration;
use visakit_fuzzing::proofs::proven;
use visakit_fuzzing::proofs::{Family, Outcome, Pair, Style, Tally};
use visakit_prove::{Options, Verdict};
use visakit_testing::layouts::Random;

/// The time for a proof, on a busy machine.
const TIME: Duration = Duration::from_secs(2);

#[test]
fn none_is_proven_that_a_run_tells_apart() {
    let mut tally = Tally::default();
    for seed in 0..240 {
        let pair = Pair::of_seed(seed, None);
        let outcome = pair.judged(TIME);
        match &outcome {
            Outcome::Wrong(found) => panic!("seed {seed}: proven, but {found:?}\n{pair:#?}"),
            Outcome::Missed => panic!("seed {seed}: not recognised after edits\n{pair:#?}"),
            Outcome::Failed(why) => panic!("seed {seed}: {why}\n{pair:#?}"),
            _ => tally.add(pair.frame.style, &outcome),
        }
    }
    visakit_testing::say(&tally.to_string());
    let compared = tally.compared();
    assert!(compared > 150, "{tally}");
    assert!(tally.proven() > compared / 8, "{tally}");
    assert!(tally.refuted() > compared / 10, "{tally}");
}

/// A condition made shorter may be an object that is known already and longer, which is not made shorter for ever.
#[test]
fn conditions_with_longer_forms_come_to_an_end() {
    let family = Family::of_seed(92_042_713, None, 16);
    for (pair, outcome) in family.pairs.iter().zip(family.judged_by(TIME, 1)) {
        let wrong = matches!(outcome, Outcome::Wrong(_) | Outcome::Failed(_));
        assert!(!wrong, "{outcome:?}\n{pair:#?}");
    }
}

#[test]
fn rewritten_routines_are_proven() {
    let (mut asked, mut proven) = (0, 0);
    for seed in 0..100 {
        let pair = Pair::rewritten(seed, Style::Integers);
        let Some(proof) = pair.proof(&Options::default()).unwrap() else {
            continue;
        };
        asked += 1;
        match proof.verdict {
            Verdict::Proven => proven += 1,
            Verdict::Refuted(found) => panic!("seed {seed}: {:?}\n{pair:#?}", found.difference),
            Verdict::Unknown(_) => {}
        }
    }
    // Some depend on bits that nobody wrote, which each routine has for itself.
    assert!(
        asked > 30 && proven * 10 >= asked * 9,
        "{proven} of {asked}"
    );
}

/// The fuzz target: there is a pair for any bytes.
#[test]
fn bytes_are_pairs() {
    let mut random = Random::of_seed(0x51_0e52_7fad_e682);
    proven(&[]);
    for length in 0..40 {
        let bytes: Vec<u8> = (0..8 * length)
            .map(|_| random.word().to_le_bytes()[0])
            .collect();
        proven(&bytes);
    }
}
