//! Builds the one fuzz binary and runs targets of it, each for the same time.

use crate::{Done, call, cargo, fuzz_seeds};
use std::fs;
use std::process::Command;
use visakit_fuzzing::{Input, TARGETS, Target};

/// Where cargo-fuzz puts the binary.
const BINARY: &str = "fuzz/target/x86_64-unknown-linux-gnu/release/run";

pub(crate) fn run(arguments: &[String]) -> Done {
    let end = arguments.iter().position(|a| a == "--");
    let (own, options) = match end {
        Some(end) => (&arguments[..end], &arguments[end + 1..]),
        None => (arguments, &[][..]),
    };
    let mut seconds = 60;
    let mut targets = Vec::new();
    let mut own = own.iter();
    while let Some(argument) = own.next() {
        if argument == "--seconds" {
            seconds = own.next().ok_or("--seconds takes a number")?.parse()?;
        } else {
            targets.push(Target::named(argument).ok_or_else(|| format!("no target {argument}"))?);
        }
    }
    if targets.is_empty() {
        targets.extend(TARGETS);
    }
    fuzz_seeds::run(&[])?;
    call(
        cargo()
            .env_remove("RUSTUP_TOOLCHAIN")
            .args(["+nightly", "fuzz", "build", "run"]),
    )?;
    for target in targets {
        println!("fuzz target {}", target.name);
        one(target, seconds, options)?;
    }
    Ok(())
}

/// Runs one target: with a fixed seed, so that a red run is the fault of the change at hand and can be run again, if the
/// options name no other.
fn one(target: Target, seconds: u32, options: &[String]) -> Done {
    let root = visakit_testing::root();
    let artifacts = format!("fuzz/artifacts/{}/", target.name);
    fs::create_dir_all(root.join(&artifacts))?;
    let mut command = Command::new(root.join(BINARY));
    command.env("FUZZER", target.name).args([
        "-seed=1".to_owned(),
        format!("-artifact_prefix={artifacts}"),
        format!("-max_total_time={seconds}"),
        "-rss_limit_mb=2048".to_owned(),
    ]);
    command.arg(match target.input {
        Input::Object | Input::Text => "-dict=fuzz/visa.dict",
        // The input is no object, so that the dictionary says nothing.
        Input::Shape => "-max_len=2048",
    });
    command
        .args(options)
        .arg(format!("fuzz/corpus/{}", target.name));
    call(&mut command)
}
