//! Compares many random routines in both machines.

#![allow(clippy::print_stdout, reason = "a command-line program")]

use clap::Parser;
use rayon::prelude::*;
use std::process::ExitCode;
use visakit_oracle::session::{self, Tally};

/// Run random routines in the slow and in the fast machine and compare all registers.
#[derive(Parser)]
struct Options {
    /// Number of routines of single instructions, eight instructions each.
    #[arg(long, default_value_t = 100_000)]
    count: u64,
    /// First seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Only this row of the table, such as ADD.
    #[arg(long)]
    op: Option<String>,
    /// Differing routines that are shown.
    #[arg(long, default_value_t = 5)]
    show: usize,
    /// Show what the definitions leave open.
    #[arg(long)]
    open: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let step = 64;
    let end = options.seed.saturating_add(options.count);
    let tally = (0..options.count.div_ceil(step))
        .into_par_iter()
        .map(|block| {
            let first = options.seed + block * step;
            session::instructions(first..(first + step).min(end), options.op.as_deref(), 2)
        })
        .reduce(Tally::default, |mut a, b| {
            a.add(b);
            a
        });
    if options.open {
        for ((op, why), n) in &tally.open {
            println!("open {:<12} {n:>9}  {why}", op.name());
        }
    }
    for failure in tally.failures.iter().take(options.show) {
        println!("{failure}");
    }
    println!("{}", tally.table());
    println!(
        "{} instructions compared, {} routines differ",
        tally.total(),
        tally.failed
    );
    if tally.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
