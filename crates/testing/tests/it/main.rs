//! Switches in the manifests hide no test, and pages that differ are found.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod links;
mod security;

use std::fs;
use std::path::{Path, PathBuf};
use visakit_testing::{page, root};

/// All sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                sources(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// A library without unit tests or examples in its documentation is not built once more for them; so it must have none.
#[test]
fn no_test_is_switched_off() {
    let mut crates = 0;
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let off = |what: &str| manifest.lines().any(|line| line == what);
        for source in sources(&folder.join("src")) {
            let text = fs::read_to_string(&source).unwrap();
            let has = |what: &[&str]| {
                let mut lines = text.lines().map(str::trim_start);
                lines.any(|line| what.iter().any(|what| line.starts_with(what)))
            };
            assert!(
                !off("test = false") || !has(&["#[test]", "proptest!"]),
                "tests in {} do not run: move them to tests/it, or remove `test = false`",
                source.display()
            );
            assert!(
                !off("doctest = false") || !has(&["/// ```", "//! ```"]),
                "examples in {} do not run: remove `doctest = false`",
                source.display()
            );
        }
        crates += 1;
    }
    assert!(crates > 10);
}

#[test]
#[should_panic(expected = "first in line 2, which is now:\nnew")]
fn a_page_that_differs_is_found() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    fs::write(&path, "same\nold\n").unwrap();
    assert!(!page::blesses(), "this test is not one to bless");
    page::holds(&path, "same\nnew\n");
}
