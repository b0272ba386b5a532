//! Tools for developers, run as `cargo xtask COMMAND`.
//!
//! A command is a file of this folder with a function, and a line of [`COMMANDS`].

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers that stops where something is wrong"
)]

mod audit;
mod bench;
mod bless;
mod builders;
mod dist;
mod fixtures;
mod fuzz;
mod fuzz_seeds;
mod stage;
mod suites;
mod web;

use std::error::Error;
use std::process::{Command, ExitCode};

/// The result of a command.
type Done = Result<(), Box<dyn Error>>;

/// A command, given the arguments after its name.
type Run = fn(&[String]) -> Done;

/// Name, description, and function.
const COMMANDS: [(&str, &str, Run); 10] = [
    (
        "audit",
        "run cargo-deny, cargo-semver-checks and mdbook over the project",
        audit::run,
    ),
    (
        "bench",
        "run benches and write their tables into BENCHMARKS.md: bench [machine|codec|text|kernels|costs...]",
        bench::run,
    ),
    (
        "bless",
        "make generated sources, pages and snapshots anew",
        bless::run,
    ),
    (
        "dist",
        "make the files of a release: dist [--out DIR] [--profile NAME] [--target TRIPLE] [archive|wheel|vsix|sbom|sums...]",
        dist::run,
    ),
    (
        "fixtures",
        "write fixtures/layouts: an object for every row and layout",
        fixtures::run,
    ),
    (
        "fuzz",
        "build the fuzz binary and run targets: fuzz [--no-run] [--quick] [--seconds N] [TARGET...] [-- OPTIONS OF LIBFUZZER]",
        fuzz::run,
    ),
    (
        "fuzz-seeds",
        "write the fixtures as seeds of all fuzz targets: fuzz-seeds [FOLDER]",
        fuzz_seeds::run,
    ),
    (
        "install",
        "build and install the command with its drivers and its page: install [--root DIR] [--profile NAME]",
        stage::install,
    ),
    (
        "suites",
        "ask `check --symbolic` about GPUVerify's or Oclgrind's kernels: suites [--visakit FILE] [--time SECONDS] [--device NAME] [--only TEXT] FOLDER...",
        suites::run,
    ),
    (
        "web",
        "make web/dist, the explorer in the browser: web [--test]",
        web::run,
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = match arguments.split_first() {
        Some((name, rest)) => (name.as_str(), rest),
        None => ("", &[][..]),
    };
    let Some((_, _, run)) = COMMANDS.iter().find(|command| command.0 == name) else {
        println!("usage: cargo xtask COMMAND");
        for (name, about, _) in COMMANDS {
            println!("  {name:12} {about}");
        }
        let asked = ["", "help", "--help", "-h"].contains(&name);
        return ExitCode::from(if asked { 0 } else { 2 });
    };
    match run(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo xtask {name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command at the root of the repository; a failure is an error that shows it.
fn call(command: &mut Command) -> Done {
    let status = command.current_dir(visakit_testing::root()).status()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{command:?} failed: {status}").into())
}

/// Cargo, as it runs this tool.
fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
