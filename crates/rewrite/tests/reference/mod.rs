//! Where test data is.

#![allow(dead_code)] // not every test uses every helper

use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder of reference data beside the checkout, or a loud word that the test did not run.
pub(crate) fn shared(test: &str, folder: &str) -> Option<PathBuf> {
    let path = root().join("../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    // Written past the test harness, which would hide it.
    use std::io::Write as _;
    let _ = writeln!(
        std::io::stderr(),
        "NOT RUN: {test} needs {folder} of the reference data, which is not beside the checkout"
    );
    assert!(
        std::env::var_os("VISAKIT_NEEDS_SHARED").is_none(),
        "{test}: {folder} is missing although VISAKIT_NEEDS_SHARED is set"
    );
    None
}

/// Every `*.isa` below a folder, in order.
pub(crate) fn objects(folder: &Path) -> Vec<PathBuf> {
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
