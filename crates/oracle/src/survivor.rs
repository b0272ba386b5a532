//! Hostile kernels in processes of their own, which this one survives.

use rayon::prelude::*;
use std::process::{Command, ExitCode};
use visakit_oracle::hostile::{self, Counts};

/// Most kernels of a process.
const BLOCK: u64 = 512;

/// What a process found.
#[derive(Default)]
struct Found {
    counts: Counts,
    /// Descriptions of differences, and of ends.
    texts: Vec<String>,
}

/// Runs the kernels of these seeds in this process, and prints their counts, then what differs.
pub(super) fn alone(first: u64, count: u64) -> ExitCode {
    let (counts, differences) = hostile::judge(first..first.saturating_add(count));
    println!("{}", counts.numbers().map(|n| n.to_string()).join(" "));
    for difference in &differences {
        println!("{difference}");
    }
    ExitCode::SUCCESS
}

/// Runs them in other processes, on all cores, and prints what was found.
pub(super) fn all(first: u64, count: u64, show: usize) -> ExitCode {
    let threads = rayon::current_num_threads() as u64;
    let block = count.div_ceil(4 * threads).clamp(1, BLOCK);
    let found = (0..count.div_ceil(block))
        .into_par_iter()
        .map(|n| {
            let from = n * block;
            part(first.saturating_add(from), block.min(count - from))
        })
        .reduce(Found::default, |mut a, b| {
            a.counts += b.counts;
            a.texts.extend(b.texts);
            a
        });
    for text in found.texts.iter().take(show) {
        println!("{text}");
    }
    println!("{}", found.counts);
    match found.counts.differ {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Runs some of them in another process; if it does not come to its end, each in one of its own.
fn part(first: u64, count: u64) -> Found {
    let program = std::env::current_exe().unwrap_or_default();
    let output = Command::new(program)
        .args(["--hostile", "--alone"])
        .args(["--seed", &first.to_string(), "--count", &count.to_string()])
        .output();
    let end = match &output {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            if let Some(found) = read(&text) {
                return found;
            }
            "no counts".to_owned()
        }
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr);
            format!("{}: {}", output.status, why.trim())
        }
        Err(error) => error.to_string(),
    };
    if count > 1 {
        let each = (first..first.saturating_add(count)).map(|seed| part(seed, 1));
        return each.fold(Found::default(), |mut all, one| {
            all.counts += one.counts;
            all.texts.extend(one.texts);
            all
        });
    }
    let (kernel, _) = hostile::text(first);
    Found {
        counts: Counts {
            kernels: 1,
            differ: 1,
            ..Counts::default()
        },
        texts: vec![format!("seed {first}: {end}\n{kernel}")],
    }
}

/// What another process has printed.
fn read(text: &str) -> Option<Found> {
    let (numbers, rest) = text.split_once('\n')?;
    let numbers = numbers.split(' ').map(|n| n.parse().ok());
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    Some(Found {
        counts: Counts::from_numbers(numbers.try_into().ok()?),
        texts: match rest {
            "" => Vec::new(),
            rest => vec![rest.to_owned()],
        },
    })
}
