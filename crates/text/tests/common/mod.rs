//! The objects and texts that tests are run on.

#![allow(dead_code)] // each test uses a part of it

use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The shared corpus, beside the checkout.
pub(crate) const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
/// The executor's cases.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases");
/// The committed objects.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");

/// Which objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Corpus {
    /// Those of compilers and assemblers, and the committed ones.
    Real,
    /// Synthetic ones and the executor's cases too.
    All,
}

/// Shows every object with its name, in order. Without the shared corpus only the committed ones are
/// there, which is said aloud.
pub(crate) fn objects(corpus: Corpus, mut see: impl FnMut(&str, &[u8])) {
    let mut files = Vec::new();
    find(Path::new(FIXTURES), &mut files);
    if Path::new(SHARED).is_dir() {
        for folder in ["asm", "ocl", "isa"] {
            find(&Path::new(SHARED).join(folder), &mut files);
        }
        if corpus == Corpus::All {
            find(&Path::new(SHARED).join("synth"), &mut files);
            find(Path::new(CASES), &mut files);
        }
    } else {
        not_run(&format!(
            "NOT RUN on the shared corpus, which is not at {SHARED}"
        ));
    }
    for file in files {
        let bytes = fs::read(&file).unwrap();
        see(&file.display().to_string(), &bytes);
    }
}

/// Every object under a folder.
fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|e| e == "isa") {
            files.push(path);
        }
    }
}

/// Every text that is at hand: those of the fixtures, and those of the shared corpus, which must be
/// there where `VISAKIT_NEEDS_SHARED` is set.
pub(crate) fn texts() -> Vec<(String, Vec<u8>)> {
    let mut texts = Vec::new();
    collect(&Path::new(FIXTURES).join("texts"), &mut texts);
    let shared = Path::new(SHARED);
    if shared.is_dir() {
        for folder in ["asm", "text", "text-asm", "text-ocl", "ocl"] {
            collect(&shared.join(folder), &mut texts);
        }
        collect(Path::new(CASES), &mut texts);
    } else {
        not_run(&format!(
            "FIXTURES ONLY: the shared corpus is not at {SHARED}"
        ));
    }
    texts
}

fn collect(folder: &Path, texts: &mut Vec<(String, Vec<u8>)>) {
    let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut entries: Vec<PathBuf> = entries.collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, texts);
            continue;
        }
        let name = path.display().to_string();
        let mut text = Vec::new();
        if name.ends_with(".visaasm.gz") {
            let file = fs::File::open(&path).unwrap();
            GzDecoder::new(file).read_to_end(&mut text).unwrap();
        } else if name.ends_with(".visaasm") {
            text = fs::read(&path).unwrap();
        } else {
            continue;
        }
        texts.push((name, text));
    }
}

/// Says aloud, past the test harness, that reference data is missing; where it must be there, fails.
pub(crate) fn not_run(what: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{what}");
    assert!(std::env::var_os("VISAKIT_NEEDS_SHARED").is_none(), "{what}");
}
