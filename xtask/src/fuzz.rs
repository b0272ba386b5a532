//! Builds the one fuzz binary and runs targets of it, as many at a time as there are cores.

use crate::{Done, call, cargo, fuzz_seeds};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread::{available_parallelism, scope};
use visakit_fuzzing::{Input, TARGETS, Target};
use visakit_testing::root;

/// Folder below the root for binaries of the fuzz crate.
const BUILT: &str = "fuzz/target";

pub(crate) fn run(arguments: &[String]) -> Done {
    let end = arguments.iter().position(|a| a == "--");
    let (own, options) = match end {
        Some(end) => (&arguments[..end], &arguments[end + 1..]),
        None => (arguments, &[][..]),
    };
    let mut seconds = 60;
    let (mut runs, mut quick) = (true, false);
    let mut targets = Vec::new();
    let mut own = own.iter();
    while let Some(argument) = own.next() {
        match argument.as_str() {
            "--seconds" => seconds = own.next().ok_or("--seconds takes a number")?.parse()?,
            "--no-run" => runs = false,
            "--quick" => quick = true,
            name => targets.push(Target::named(name).ok_or_else(|| format!("no target {name}"))?),
        }
    }
    if targets.is_empty() {
        targets.extend(TARGETS);
    }
    fuzz_seeds::run(&[])?;
    let binary = build(quick)?;
    if !runs {
        return Ok(());
    }
    let queue = Mutex::new(targets.into_iter());
    let failed = Mutex::new(Vec::new());
    let worker = || {
        loop {
            let Some(target) = queue.lock().unwrap().next() else {
                break;
            };
            let output = one(&binary, target, seconds, options);
            let text = output.as_ref().map_or_else(ToString::to_string, said);
            let ended = output.is_ok_and(|output| output.status.success());
            // For a run without findings only the counts at its end matter.
            let lines: Vec<_> = text.lines().collect();
            let shown = if ended {
                lines.len().saturating_sub(2)
            } else {
                0
            };
            println!("fuzz target {}\n{}", target.name, lines[shown..].join("\n"));
            if !ended {
                failed.lock().unwrap().push(target.name);
            }
        }
    };
    scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            scope.spawn(worker);
        }
    });
    let failed = failed.into_inner()?;
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("failed: {}", failed.join(", ")).into())
}

/// The binary, built without a sanitizer of memory: there is no unsafe code for it to watch, it takes twice the time,
/// and without it the stable compiler will do. What is quickly built is optimised less.
fn build(quick: bool) -> Result<PathBuf, Box<dyn Error>> {
    let host = Command::new("rustc")
        .args(["--print", "host-tuple"])
        .output()?;
    let host = String::from_utf8(host.stdout)?;
    let mut command = cargo();
    command.args(["fuzz", "build", "--sanitizer", "none", "--target-dir"]);
    command.arg(root().join(BUILT)).arg("run");
    let profile = if quick { "debug" } else { "release" };
    if quick {
        command.arg("--dev");
    }
    call(&mut command)?;
    Ok(root()
        .join(BUILT)
        .join(host.trim())
        .join(profile)
        .join("run"))
}

/// Runs one target: with a fixed seed, unless the options name another, so that a failure is caused by the current
/// change and can be reproduced.
fn one(binary: &Path, target: Target, seconds: u32, options: &[String]) -> std::io::Result<Output> {
    let artifacts = format!("fuzz/artifacts/{}/", target.name);
    fs::create_dir_all(root().join(&artifacts))?;
    let mut command = Command::new(binary);
    command
        .current_dir(root())
        .env("FUZZER", target.name)
        .args([
            "-seed=1".to_owned(),
            format!("-artifact_prefix={artifacts}"),
            format!("-max_total_time={seconds}"),
            "-rss_limit_mb=2048".to_owned(),
            match target.input {
                Input::Object | Input::Text => "-dict=fuzz/visa.dict".to_owned(),
                // The input is not an object, so that the dictionary is useless.
                Input::Shape => "-max_len=2048".to_owned(),
            },
        ]);
    command
        .args(options)
        .arg(format!("fuzz/corpus/{}", target.name))
        .output()
}

/// The output of libFuzzer.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
