//! The objects and texts that tests are run on.

#![allow(missing_docs, clippy::missing_panics_doc)]

use crate::{fixtures, objects as find, reference, shared};
use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Which objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corpus {
    /// Those of compilers and assemblers, and the committed ones.
    Real,
    /// Synthetic ones and the executor's cases too.
    All,
}

/// Visits every object with its name, in order. Without the shared corpus only the committed ones are
/// available, which is printed.
pub fn objects(corpus: Corpus, mut see: impl FnMut(&str, &[u8])) {
    let mut files = find(&fixtures());
    if let Some(shared) = shared("a test of objects, run on the committed ones,", "corpus") {
        for folder in ["asm", "ocl", "isa"] {
            files.extend(find(&shared.join(folder)));
        }
        if corpus == Corpus::All {
            files.extend(find(&shared.join("synth")));
            files.extend(find(&reference().join("cases")));
        }
    }
    for file in files {
        let bytes = fs::read(&file).unwrap();
        see(&crate::name(&file), &bytes);
    }
}

/// The objects that benches measure, and the folder that they come from: `corpus/isa` of the reference
/// data, or the committed ones where that is not there.
#[must_use]
pub fn measured() -> (&'static str, Vec<Vec<u8>>) {
    let shared = reference().join("corpus/isa");
    let (from, folder) = if shared.is_dir() {
        ("../shared/corpus/isa", shared)
    } else {
        ("fixtures/objects", fixtures().join("objects"))
    };
    let files = find(&folder)
        .into_iter()
        .map(|path| fs::read(path).unwrap());
    (from, files.collect())
}

/// Every available text: those of the fixtures, and those of the shared corpus, which must exist if
/// `VISAKIT_NEEDS_SHARED` is set.
pub fn texts() -> Vec<(String, Vec<u8>)> {
    let mut texts = Vec::new();
    collect(&fixtures().join("texts"), &mut texts);
    if let Some(shared) = shared("a test of texts, run on the committed ones,", "corpus") {
        for folder in ["asm", "text", "text-asm", "text-ocl", "ocl"] {
            collect(&shared.join(folder), &mut texts);
        }
        collect(&reference().join("cases"), &mut texts);
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
        let name = crate::name(&path);
        let text = if name.ends_with(".visaasm.gz") {
            unpacked(&path).unwrap()
        } else if name.ends_with(".visaasm") {
            fs::read(&path).unwrap()
        } else {
            continue;
        };
        texts.push((name, text));
    }
}

/// The content of a gzipped file, or `None` if it cannot be opened.
#[must_use]
pub fn unpacked(path: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let file = fs::File::open(path).ok()?;
    GzDecoder::new(file).read_to_end(&mut text).unwrap();
    Some(text)
}

/// A text of more than 20,000 lines, for benches of editors: kernels of the fixtures, under other names.
#[must_use]
pub fn long_text() -> String {
    let path = crate::fixtures().join("kernels/sha256.pvc.visaasm");
    let kernel = std::fs::read_to_string(path).unwrap();
    let (head, rest) = kernel.split_once('\n').unwrap();
    let mut text = format!("{head}\n");
    let mut count = 0;
    while text.lines().count() < 20_000 {
        count += 1;
        text.push_str(&rest.replacen(".kernel \"", &format!(".kernel \"k{count}_"), 1));
        text.push('\n');
    }
    text
}
