//! The modules of the crate import only those below them.

#![allow(missing_docs, clippy::unwrap_used)] // a test

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// From the lowest one up.
const LAYERS: [&str; 18] = [
    "fault",
    "operands",
    "lanes",
    "machine",
    "observe",
    "memory",
    "message",
    "code",
    "native",
    "kernels",
    "passes",
    "support",
    "variables",
    "translate",
    "program",
    "probe",
    "run",
    "lib",
];

/// The files of a module: a file of its name, or a folder.
fn files(path: &Path, to: &mut Vec<PathBuf>) {
    for entry in path.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, to);
        } else {
            to.push(path);
        }
    }
}

#[test]
fn import_those_below() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &mut all);
    let mut seen = BTreeSet::new();
    for path in all {
        let within = path.strip_prefix(&source).unwrap();
        let first = within.components().next().unwrap().as_os_str();
        let module = Path::new(first).with_extension("").display().to_string();
        let Some(own) = LAYERS.iter().position(|layer| *layer == module) else {
            panic!("{module} is no layer: put it into the list, and into ARCHITECTURE.md");
        };
        seen.insert(own);
        let text = std::fs::read_to_string(&path).unwrap();
        for import in text.split("crate::").skip(1) {
            let name: String = import
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '_')
                .collect();
            let above = LAYERS.iter().position(|layer| *layer == name);
            assert!(
                above.is_none_or(|above| above <= own),
                "{} imports {name}, a layer above",
                within.display()
            );
        }
    }
    assert_eq!(seen.len(), LAYERS.len(), "a layer without a file");
}
