//! Separate programs on the drivers: where the libraries are, how programs in C are built, what a program said.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The library that was built beside the running test: a driver of its own crate.
#[must_use]
pub fn library(name: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    // The test is in `deps`, and so is the library that cargo built for it.
    let folders = [test.parent()?, test.parent()?.parent()?];
    let mut places = folders.iter().map(|f| f.join(name));
    places.find(|p| p.exists())
}

/// Whether a program runs, and succeeds with these arguments.
#[must_use]
pub fn has(program: &str, arguments: &[&str]) -> bool {
    let done = Command::new(program).args(arguments).output();
    done.is_ok_and(|d| d.status.success())
}

/// Whether Intel's offline compiler is installed.
#[must_use]
pub fn has_ocloc() -> bool {
    has("sh", &["-c", "command -v ocloc"])
}

/// Builds a program in C with these libraries; `None` if the compiler, headers or libraries are missing.
///
/// # Panics
/// If the program itself is at fault.
#[must_use]
pub fn built(source: &Path, program: &Path, libraries: &[&str]) -> Option<PathBuf> {
    let mut compiler = Command::new("cc");
    compiler.arg("-o").arg(program).arg(source).args(libraries);
    let done = compiler.env("LC_ALL", "C").output().ok()?;
    let said = shown(&done);
    let lacks = ["No such file or directory", "cannot find -l"];
    let is_missing = lacks.iter().any(|what| said.contains(what));
    assert!(done.status.success() || is_missing, "{said}");
    done.status.success().then(|| program.to_owned())
}

/// A command whose driver is as by default, but for a cache of its own in a folder.
#[must_use]
pub fn on_device(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("VISAKIT_CACHE", folder.join("cache"))
        .env_remove("VISAKIT_DEVICE")
        .env_remove("VISAKIT_DUMP");
    command
}

/// What a program wrote.
#[must_use]
pub fn shown(done: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&done.stdout) + &text(&done.stderr)
}
