//! Programs of their own on the device: one in C over most entry points, one in Python. What they need (a C compiler,
//! OpenCL's headers and loader, `ocloc`, pyopencl) is looked for; where it is missing, the test says so.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use visakit_testing::say;

/// The library that was built beside this test.
fn library() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    // The test is in `deps`, and so is the library that cargo built for it.
    let folders = [test.parent()?, test.parent()?.parent()?];
    let mut places = folders.iter().map(|f| f.join("libvisakit_opencl.so"));
    places.find(|p| p.exists())
}

fn has(program: &str, arguments: &[&str]) -> bool {
    let done = Command::new(program).args(arguments).output();
    done.is_ok_and(|d| d.status.success())
}

/// A command that sees the device alone, with a cache of its own.
fn on_device(program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Option<Command> {
    let library = library()?;
    std::fs::write(
        folder.join("visakit.icd"),
        format!("{}\n", library.display()),
    )
    .ok()?;
    let mut command = Command::new(program);
    command
        .env("OCL_ICD_VENDORS", folder)
        .env("VISAKIT_CACHE", folder.join("cache"));
    command
        .env_remove("VISAKIT_DEVICE")
        .env_remove("VISAKIT_DUMP");
    Some(command)
}

fn shown(done: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&done.stdout) + &text(&done.stderr)
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

#[test]
fn in_c() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("entry_points");
    let mut compiler = Command::new("cc");
    compiler
        .arg("-o")
        .arg(&program)
        .arg(source("entry_points.c"))
        .arg("-lOpenCL");
    let built = compiler.output().is_ok_and(|d| d.status.success());
    if !built || !has("ocloc", &["ids", "dg2"]) && !has("sh", &["-c", "command -v ocloc"]) {
        return say(
            "NOT RUN: OpenCL in C needs a C compiler, OpenCL's headers, its loader and ocloc",
        );
    }
    for device in ["acm-g10", "pvc", "tgllp"] {
        let mut command = on_device(&program, folder.path()).unwrap();
        let done = command.env("VISAKIT_DEVICE", device).output().unwrap();
        assert!(done.status.success(), "{device}: {}", shown(&done));
    }
    // Launches are kept as cases, which run again.
    let dump = folder.path().join("dump");
    let mut command = on_device(&program, folder.path()).unwrap();
    let done = command.env("VISAKIT_DUMP", &dump).output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
    let mut cases = 0;
    for entry in std::fs::read_dir(&dump).unwrap() {
        let case = visakit_launch::Case::open(&entry.unwrap().path()).unwrap();
        // What is reached by pointers inside of buffers is in no case.
        if case.name().starts_with("chain") {
            continue;
        }
        let verdict = case.run(true, &visakit_launch::Config::default()).unwrap();
        assert!(verdict.difference.is_none(), "{}", case.name());
        cases += 1;
    }
    assert!(cases >= 3, "{cases}");
}

#[test]
fn in_python() {
    let python = ["/usr/bin/python3", "python3"]
        .into_iter()
        .find(|p| has(p, &["-c", "import pyopencl"]));
    let Some(python) = python.filter(|_| has("sh", &["-c", "command -v ocloc"])) else {
        return say("NOT RUN: OpenCL in Python needs pyopencl and ocloc");
    };
    let folder = tempfile::tempdir().unwrap();
    let mut command = on_device(python, folder.path()).unwrap();
    let done = command.arg(source("programs.py")).output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
    assert!(shown(&done).contains("12 programs"), "{}", shown(&done));
}
