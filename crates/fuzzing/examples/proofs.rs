//! Asks the prover about random routines and changes of them, and runs what it proves: `proofs --count N [--first SEED]`.
//!
//! With `--induction 1` all pairs are asked about by induction, too, else one of four. Each of the N seeds is a routine that is compared with `--changes K` changed ones. It goes on from a seed, so that a long run can be done in parts; every part prints where the next one begins.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program"
)]

use std::process::ExitCode;
use std::time::{Duration, Instant};
use visakit_fuzzing::proofs::{Family, Outcome, Style, Tally};

/// The time for a proof, which its other bounds hardly let it take.
const TIME: Duration = Duration::from_millis(500);

/// The time between two lines about the progress.
const TOLD: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    // Runs are short: they stay in the thread that asks for them.
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(asked),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn asked() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut first, mut count, mut changes, mut style) = (0_u64, 1_000_u64, 16, None);
    let (mut show, mut induction) = (false, 4);
    while let Some(name) = arguments.next() {
        if name == "--show" {
            show = true;
            continue;
        }
        let value = arguments.next().unwrap_or_default();
        let number = value.parse().ok();
        match (name.as_str(), number) {
            ("--count", Some(number)) => count = number,
            ("--first", Some(number)) => first = number,
            ("--changes", Some(number)) => changes = usize::try_from(number).unwrap_or(usize::MAX),
            ("--induction", Some(number)) => induction = number,
            ("--style", _) => {
                let named = |style: &Style| format!("{style:?}").eq_ignore_ascii_case(&value);
                style = Style::ALL.into_iter().find(named);
            }
            _ => {
                eprintln!(
                    "proofs [--count N] [--first SEED] [--changes K] [--style NAME] [--induction N] [--show]"
                );
                return ExitCode::from(2);
            }
        }
    }
    let (started, mut told) = (Instant::now(), Instant::now());
    let mut tally = Tally::default();
    for seed in first..first.saturating_add(count) {
        let family = Family::of_seed(seed, style, changes);
        for (pair, outcome) in family.pairs.iter().zip(family.judged_by(TIME, induction)) {
            if show {
                println!("seed {seed}: {outcome:?}\n{:#?}\n{:#?}", pair.old, pair.new);
            }
            match &outcome {
                Outcome::Wrong(found) => {
                    let [old, new] = pair.texts();
                    println!("seed {seed}: proven, but {found:?}\n{old}\n{new}");
                    return ExitCode::FAILURE;
                }
                Outcome::Missed => {
                    println!("seed {seed}: not recognised after edits without effect\n{pair:#?}");
                    return ExitCode::FAILURE;
                }
                Outcome::Failed(why) => {
                    println!("seed {seed}: {why}\n{}", pair.texts()[0]);
                    return ExitCode::FAILURE;
                }
                _ => tally.add(pair.frame.style, &outcome),
            }
        }
        if told.elapsed() > TOLD {
            told = Instant::now();
            let done = seed + 1 - first;
            let seconds = started.elapsed().as_secs_f64();
            let left = seconds / done as f64 * (count - done) as f64;
            eprintln!(
                "{done} of {count} routines, {} pairs compared, {} proven; {left:.0} s left; next seed {}",
                tally.compared(),
                tally.proven(),
                seed + 1
            );
        }
    }
    println!("{tally}");
    for (why, count) in tally.reasons().into_iter().take(12) {
        println!("{count:>9}  {why}");
    }
    println!(
        "{} compared in {:.0} s, none wrong; next seed {}",
        tally.compared(),
        started.elapsed().as_secs_f64(),
        first.saturating_add(count)
    );
    ExitCode::SUCCESS
}
