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
    /// How often machine code has taken each of its ways.
    ways: Vec<u64>,
    /// Descriptions of differences, and of ends.
    texts: Vec<String>,
}

/// Runs the kernels of these seeds in this process, and prints their counts, then what differs.
pub(super) fn alone(first: u64, count: u64) -> ExitCode {
    let (counts, differences) = hostile::judge(first..first.saturating_add(count));
    println!("{}", line(&counts.numbers()));
    let ways: Vec<u64> = hostile::ways().into_iter().map(|(_, n)| n).collect();
    println!("{}", line(&ways));
    for difference in &differences {
        println!("{difference}");
    }
    ExitCode::SUCCESS
}

/// Numbers as [`read`] takes them.
fn line(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(" ")
}

impl Found {
    fn add(mut self, other: Self) -> Self {
        self.counts += other.counts;
        self.ways.resize(self.ways.len().max(other.ways.len()), 0);
        for (sum, more) in self.ways.iter_mut().zip(other.ways) {
            *sum += more;
        }
        self.texts.extend(other.texts);
        self
    }
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
        .reduce(Found::default, Found::add);
    for text in found.texts.iter().take(show) {
        println!("{text}");
    }
    for ((way, _), times) in hostile::ways().into_iter().zip(&found.ways) {
        println!("{times:>12} {way}");
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
        return each.fold(Found::default(), Found::add);
    }
    let (kernel, _) = hostile::text(first);
    Found {
        counts: Counts {
            kernels: 1,
            differ: 1,
            ..Counts::default()
        },
        ways: Vec::new(),
        texts: vec![format!("seed {first}: {end}\n{kernel}")],
    }
}

/// What another process has printed.
fn read(text: &str) -> Option<Found> {
    let (counts, rest) = text.split_once('\n')?;
    let (ways, rest) = rest.split_once('\n')?;
    let numbers = |line: &str| -> Option<Vec<u64>> {
        let numbers = line.split_whitespace().map(|n| n.parse().ok());
        numbers.collect()
    };
    Some(Found {
        counts: Counts::from_numbers(numbers(counts)?.try_into().ok()?),
        ways: numbers(ways)?,
        texts: match rest {
            "" => Vec::new(),
            rest => vec![rest.to_owned()],
        },
    })
}
