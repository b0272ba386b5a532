//! Helpers shared by the tests of several crates: locating test data, and what a run without reference
//! data prints.
//!
//! * [`corpus`]: objects and texts of the committed fixtures and of the reference data
//! * [`driver`]: separate programs on the drivers
//! * [`effort`]: how the work for an input grows, on any machine
//! * [`layouts`]: the committed objects of one instruction each
//! * [`litmus`]: two kernels at once, and what each may observe of the other
//! * [`operands`]: an operand of each class with its bytes
//! * [`page`]: generated pages and snapshots, and how they are blessed

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on panics"
)]

pub mod corpus;
pub mod driver;
pub mod effort;
pub mod layouts;
pub mod litmus;
pub mod operands;
pub mod page;

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder `fixtures`.
#[must_use]
pub fn fixtures() -> PathBuf {
    root().join("fixtures")
}

/// The path of the reference data: what the variable `VISAKIT_SHARED` names, or else the folder `shared` beside the
/// checkout. Nothing is there if the variable is empty. The test that asks is added to the file that `VISAKIT_READERS`
/// names, as a line: its executable, a tab, and its name, which is that of its thread.
#[must_use]
pub fn reference() -> PathBuf {
    if let Some(readers) = std::env::var_os("VISAKIT_READERS") {
        let test = std::env::current_exe().unwrap_or_default();
        let thread = std::thread::current();
        let line = format!(
            "{}\t{}\n",
            test.display(),
            thread.name().unwrap_or_default()
        );
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(readers);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| say(&format!("VISAKIT_READERS: {error}")));
    }
    match std::env::var_os("VISAKIT_SHARED") {
        Some(path) if path.is_empty() => root().join("shared is hidden"),
        Some(path) => path.into(),
        None => root().join("../shared"),
    }
}

/// A file or folder of the reference data, or `None` if it does not exist, which is printed.
///
/// # Panics
/// If it is not there although `VISAKIT_NEEDS_SHARED` is set.
#[must_use]
pub fn shared(test: &str, path: &str) -> Option<PathBuf> {
    let found = reference().join(path);
    if found.exists() {
        return Some(found);
    }
    not_run(&format!(
        "NOT RUN: {test} needs {path} of the reference data, which is not beside the checkout"
    ));
    None
}

/// Says aloud that reference data is missing.
///
/// # Panics
/// If it must be there, as `VISAKIT_NEEDS_SHARED` says.
pub fn not_run(what: &str) {
    say(what);
    assert!(std::env::var_os("VISAKIT_NEEDS_SHARED").is_none(), "{what}");
}

/// Writes a line past the test harness, which hides the output of passing tests.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Every `*.isa` below a folder, in order.
///
/// # Panics
/// If a folder cannot be listed.
#[must_use]
pub fn objects(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "isa") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A path as tests name it, on every system with slashes.
#[must_use]
pub fn name(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

/// Folders of kernels with expectations below a folder, two levels deep, in order.
#[must_use]
pub fn cases(root: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|e| e.path()).filter(|p| p.is_dir()).collect()
    };
    let devices = inside(root).into_iter().flat_map(|kernel| inside(&kernel));
    let mut found: Vec<_> = devices.filter(|d| d.join("case.json").exists()).collect();
    found.sort();
    found
}
