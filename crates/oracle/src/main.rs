//! Compares many random routines in both machines, or hostile kernels in the interpreter and in machine code.

#![allow(clippy::print_stdout, reason = "a command-line program")]

mod survivor;

use clap::Parser;
use rayon::prelude::*;
use std::process::ExitCode;
use visakit_oracle::session::{self, Tally};

/// Run random routines in the slow and in the fast machine and compare all registers.
#[derive(Parser)]
struct Options {
    /// Run kernels that try to leave their memory, in the interpreter and in machine code, and compare their memory.
    #[arg(long)]
    hostile: bool,
    /// Print the text of the first one instead, and why it is no kernel, if it is not.
    #[arg(long, requires = "hostile")]
    text: bool,
    /// Run them in this process, for another one that survives it.
    #[arg(long, hide = true, requires = "hostile")]
    alone: bool,
    /// Number of routines of single instructions, eight instructions each, or of hostile kernels.
    #[arg(long, default_value_t = 100_000)]
    count: u64,
    /// First seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of routines of messages, eight messages each.
    #[arg(long, default_value_t = 20_000)]
    messages: u64,
    /// Number of programs with control flow, of each style.
    #[arg(long, default_value_t = 10_000)]
    programs: u64,
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
    if options.text {
        let (text, refused) = visakit_oracle::hostile::text(options.seed);
        println!("{text}{}", refused.unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    if options.alone {
        return survivor::alone(options.seed, options.count);
    }
    if options.hostile {
        return survivor::all(options.seed, options.count, options.show);
    }
    let only = options.op.as_deref();
    let mut tally = over(options.seed, options.count, |seeds| {
        session::instructions(seeds, only, 2)
    });
    tally.add(over(options.seed, options.messages, |seeds| {
        session::all_messages(seeds, only, 2)
    }));
    if only.is_none() {
        tally.add(over(options.seed, options.programs, |seeds| {
            session::programs(seeds, 2)
        }));
    }
    if options.open {
        for ((op, why), n) in &tally.open {
            println!("open {:<12} {n:>9}  {why}", op.name());
        }
    }
    for failure in tally.failures.iter().take(options.show) {
        println!("{failure}");
    }
    println!("{}", tally.table());
    println!("{}", tally.precision());
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

/// Runs this many seeds on all cores.
fn over(first: u64, count: u64, run: impl Fn(std::ops::Range<u64>) -> Tally + Sync) -> Tally {
    const BLOCK: u64 = 64;
    (0..count.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let from = first.saturating_add(block * BLOCK);
            run(from..from.saturating_add(BLOCK).min(first.saturating_add(count)))
        })
        .reduce(Tally::default, |mut a, b| {
            a.add(b);
            a
        })
}
