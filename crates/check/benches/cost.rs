//! The cost of checks: the time of kernels under each kind of check, as a multiple of the interpreter's.
//!
//! `cargo bench -p visakit-check` prints a table, of all kernels or of those named after `--`. Runs alternate, and
//! medians are compared. One host thread.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench"
)]

#[path = "../../launch/benches/work/mod.rs"]
mod work;

use std::path::Path;
use std::time::{Duration, Instant};
use visakit_check::{Checks, check, config};
use visakit_launch::{Config, Kernel, Source, ZeInfo};
use work::{KERNELS, bench_work, measured};

/// Number of runs of each: one if nobody reads the times.
fn rounds() -> usize {
    if measured() { 5 } else { 1 }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).unwrap().as_secs_f64()
}

fn main() {
    let kinds = ["memory", "uninitialized", "race", "sync", "all"];
    println!("| kernel | interpreter | {} |", kinds.join(" | "));
    println!("|---|---|{}", "---|".repeat(kinds.len()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    let pool = pool.build().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernels");
    let zeinfo = std::fs::read_to_string(folder.join("bench.pvc.zeinfo")).unwrap();
    let zeinfo = ZeInfo::parse(&zeinfo).unwrap();
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let wanted = |name: &&str| named.is_empty() || named.iter().any(|n| n == name);
    for name in KERNELS.into_iter().filter(wanted) {
        let source = Source::open(&folder.join(format!("{name}.pvc.visaasm"))).unwrap();
        let object = source.object(64).unwrap();
        let kernel = Kernel::new(&object, name, &zeinfo).unwrap();
        let (range, arguments) = bench_work(name);
        let config = config(Config::default());
        let launch = || kernel.prepare(&range, &arguments, &config).unwrap();
        let mut plain = Vec::new();
        let mut checked = vec![Vec::new(); kinds.len()];
        for _ in 0..rounds() {
            let plain_launch = launch();
            let started = Instant::now();
            pool.install(|| plain_launch.run(&config).unwrap());
            plain.push(started.elapsed());
            for (kind, times) in kinds.iter().zip(&mut checked) {
                let checks = Checks::NONE.with(kind).unwrap();
                let launch = launch();
                let started = Instant::now();
                check(&kernel, launch, &config, checks, &[]).unwrap();
                times.push(started.elapsed());
            }
        }
        let plain = median(plain);
        let factors: Vec<_> = checked
            .into_iter()
            .map(|times| format!("{:.1}", median(times) / plain))
            .collect();
        println!(
            "| {name} | {:.0} ms | {} |",
            plain * 1e3,
            factors.join(" | ")
        );
    }
}
