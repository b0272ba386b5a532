//! The tool as its users meet it.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

#[cfg(unix)]
mod action;
mod cli;
mod containers;
mod dap;
#[cfg(unix)]
mod debug;
#[cfg(unix)]
mod files;
mod hostile;
#[cfg(target_os = "linux")]
#[cfg(feature = "hunt")]
mod hunt;
mod inject;
mod json;
mod listing;
#[cfg(feature = "lsp")]
mod lsp;
mod pages;
mod refused;
mod stops;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
#[cfg(unix)]
use std::time::{Duration, Instant};

const OBJECTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/objects");

/// The tool with its arguments, in the folder of the committed objects.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_visakit"));
    // Sources are not compiled by whatever the machine has.
    command.env("VISAKIT_OCLOC", "no-such-compiler");
    command.args(args).current_dir(OBJECTS);
    command
}

fn visakit(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

/// A processor that another one imitates takes that many times longer (`tests/other-systems`).
fn slowness() -> u64 {
    match std::env::var_os("VISAKIT_EMULATED") {
        Some(_) => 20,
        None => 1,
    }
}

/// Seconds in which a run has begun, as an option has them.
fn brief() -> String {
    (slowness() as f64 / 10.0).to_string()
}

/// Waits until a process answers to Ctrl-C, and runs: what a clock says of that depends on the machine and its load.
#[cfg(unix)]
fn until_it_runs(process: u32) {
    if !cfg!(target_os = "linux") {
        std::thread::sleep(Duration::from_secs(1));
        return;
    }
    let place = Path::new("/proc").join(process.to_string());
    let read = |file: &str| std::fs::read_to_string(place.join(file)).unwrap_or_default();
    // The second bit is that of SIGINT.
    let handles = || {
        let status = read("status");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.is_some_and(|bits| u64::from_str_radix(bits.trim(), 16).unwrap() & 2 != 0)
    };
    until("it handles signals", handles);
    // User and system time, in hundredths of seconds, are the 12th and 13th number behind the name.
    let used = || -> u64 {
        let stat = read("stat");
        let numbers = stat.rsplit(')').next().unwrap().split_whitespace();
        numbers
            .skip(11)
            .take(2)
            .map(|time| time.parse::<u64>().unwrap())
            .sum()
    };
    let begun = used();
    until("it runs", || used() >= begun + 30 * slowness());
}

/// Waits until something is so.
#[cfg(unix)]
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(
            begun.elapsed() < Duration::from_secs(120 * slowness()),
            "{what}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A place for a file of this name, which one test only may use.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The output as text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
