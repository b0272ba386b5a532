//! Machine code does what the interpreter does: on every case, and wherever it is stopped and goes on.
//! The oracle's tests compare both on generated programs, byte by byte.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::path::PathBuf;
use std::sync::Arc;
use visakit_exec::{Compiler, Group, Limits, Memory, Options, Program, ThreadStart};
use visakit_jit::Jit;
use visakit_launch::{Case, Compile, Config};
use visakit_testing::{cases, fixtures, say};

/// The compilers that the host can use; says so if there is none.
fn compilers() -> Vec<Jit> {
    let mut all: Vec<Jit> = [Jit::avx2(), Jit::host()].into_iter().flatten().collect();
    all.dedup();
    if all.is_empty() {
        say("NOT RUN: machine code: the host has no AVX2");
    }
    all
}

fn run(folders: &[PathBuf]) {
    for jit in compilers() {
        let compiler: Arc<dyn Compiler> = Arc::new(jit);
        let config = Config {
            compile: Some(Compile::always(&compiler)),
            ..Config::default()
        };
        for folder in folders {
            let case = Case::open(folder).unwrap();
            let verdict = case.run(false, &config).unwrap();
            let difference = verdict
                .difference
                .map(|(argument, d)| format!("{argument}: {d}"));
            assert_eq!(
                difference,
                None,
                "{} with {:?}",
                case.name(),
                jit.features()
            );
        }
        say(&format!(
            "{} cases in machine code ({:?}) passed",
            folders.len(),
            jit.features()
        ));
    }
}

#[test]
fn committed_cases() {
    let folders = cases(&fixtures().join("cases"));
    assert!(folders.len() >= 5);
    run(&folders);
}

#[test]
fn reference_cases() {
    let Some(root) = visakit_testing::shared("machine code on every case", "cases") else {
        return;
    };
    run(&cases(&root));
}

/// The kernels of the benches, translated.
fn kernels() -> Vec<(String, u32, String)> {
    let folder = fixtures().join("kernels");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".visaasm") {
            let grf_bytes = if name.contains(".pvc.") { 64 } else { 32 };
            found.push((name, grf_bytes, path.to_string_lossy().into_owned()));
        }
    }
    found.sort();
    found
}

/// What a lone thread leaves behind: registers, instructions and lane operations. Every kernel runs
/// into its end or into a fault, the same one.
fn left_behind(program: &Program, fuel: u64) -> (Vec<u8>, u64, u64, String) {
    let memory = Memory::new(1 << 20);
    let lanes = program.simd_size().clamp(1, 32);
    let start = ThreadStart {
        mask: u32::MAX >> (32 - lanes),
        cr0: 0x4c0,
        ..ThreadStart::default()
    };
    let limits = Limits {
        max_steps: 100_000,
        ..Limits::default()
    };
    let mut group = Group::new(program, 1 << 12, &[start], &limits).unwrap();
    let fault = loop {
        match group.advance(program, &memory, &limits, fuel, None, &mut ()) {
            Ok(visakit_exec::Progress::Ended) => break String::new(),
            Ok(_) => {}
            Err(fault) => break fault.to_string(),
        }
    };
    let counters = group.counters();
    let registers = group.thread(0).unwrap().registers().to_vec();
    (
        registers,
        counters.instructions,
        counters.lane_operations,
        fault,
    )
}

/// Fuel may run out anywhere: the same registers, counts and fault as without compiling and in one go.
#[test]
fn fuel_runs_out_anywhere() {
    for (name, grf_bytes, path) in kernels() {
        let source = visakit_launch::Source::open(path.as_ref()).unwrap();
        let object = source.object(grf_bytes).unwrap();
        let (kernel, _) = visakit_launch::find_kernel(&object, None).unwrap();
        let options = Options {
            grf_bytes,
            ..Options::default()
        };
        let program = || Program::new(&object, kernel, &options).unwrap();
        let expected = left_behind(&program(), 1 << 40);
        for jit in compilers() {
            let mut compiled = program();
            compiled.compile_with(Arc::new(jit), 0);
            assert!(compiled.is_compiled(), "{name}");
            for fuel in [1, 3, 977, 1 << 40] {
                assert_eq!(
                    left_behind(&compiled, fuel),
                    expected,
                    "{name}, {fuel} at a time"
                );
            }
        }
    }
}

/// What takes no template is told.
#[test]
fn steps_without_a_template() {
    let Some(jit) = Jit::host() else {
        say("NOT RUN: machine code: the host has no AVX2");
        return;
    };
    for (name, grf_bytes, path) in kernels() {
        let source = visakit_launch::Source::open(path.as_ref()).unwrap();
        let object = source.object(grf_bytes).unwrap();
        let (kernel, _) = visakit_launch::find_kernel(&object, None).unwrap();
        let options = Options {
            grf_bytes,
            ..Options::default()
        };
        let program = Program::new(&object, kernel, &options).unwrap();
        let calls = jit.calls(program.code()).unwrap();
        // Most steps of compute kernels have one.
        let steps = program.code().steps.len();
        assert!(
            2 * calls.len() <= steps,
            "{name}: {} of {steps}",
            calls.len()
        );
    }
}
