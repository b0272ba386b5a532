//! How long does compiling take?
//!
//! ```console
//! cargo run --release -p visakit-internal-jit --example cost -- FILE...
//! ```
//!
//! Prints for each text the instructions of its kernel, and the microseconds for one to be translated, to be analysed for
//! what is live, and to be compiled: the medians of eleven times.

#![allow(
    clippy::cast_precision_loss,
    clippy::print_stdout,
    reason = "a tool that prints times of a few thousand instructions"
)]

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use visakit_exec::code::Liveness;
use visakit_exec::{Compiler, Options, Pass, Program};
use visakit_jit::Jit;
use visakit_launch::{Source, find_kernel};

const TIMES: usize = 11;

fn median(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..TIMES)
        .map(|_| {
            let started = Instant::now();
            run();
            started.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(TIMES / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> ExitCode {
    let Some(jit) = Jit::host() else {
        println!("the host has no AVX2");
        return ExitCode::from(2);
    };
    println!("instructions translate live compile");
    for file in std::env::args().skip(1) {
        let options = Options {
            grf_bytes: if file.contains("pvc") { 64 } else { 32 },
            passes: Pass::ALL.to_vec(),
            ..Options::default()
        };
        let source = Source::open(Path::new(&file)).ok();
        let object = source
            .as_ref()
            .and_then(|s| s.object(options.grf_bytes).ok());
        let Some(object) = object else {
            println!("{file}: no text of vISA");
            return ExitCode::from(2);
        };
        let translated = find_kernel(&object, None).ok().and_then(|(kernel, _)| {
            let program = Program::new(&object, kernel, &options).ok()?;
            Some((kernel, program))
        });
        let Some((kernel, program)) = translated else {
            println!("{file}: no kernel that can be translated");
            return ExitCode::from(2);
        };
        let translate = median(|| drop(Program::new(&object, kernel, &options)));
        let code = program.code();
        let live = || Liveness::new(code, program.addressed(), false);
        let analyse = median(|| drop(live()));
        let live = live();
        let compile = median(|| drop(jit.compile(code, live.as_ref())));
        let count = program.instruction_count();
        let [translate, analyse, compile] = [translate, analyse, compile].map(|t| t / count as f64);
        println!("{count:12} {translate:9.2} {analyse:4.2} {compile:7.2} {file}");
    }
    ExitCode::SUCCESS
}
