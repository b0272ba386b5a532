//! Every case of the reference data gives what it must, from the object and from the compiler's text.

#![allow(missing_docs)]
#![allow(
    clippy::print_stderr,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use rayon::prelude::*;
use std::path::{Path, PathBuf};
use visakit_launch::{Case, Config};

/// Folders with a description below a folder, two levels deep.
fn cases(root: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|e| e.path()).filter(|p| p.is_dir()).collect()
    };
    let devices = inside(root).into_iter().flat_map(|kernel| inside(&kernel));
    let mut found: Vec<_> = devices.filter(|d| d.join("case.json").exists()).collect();
    found.sort();
    found
}

/// Runs all, prints the failures and the count, and gives the number of failures.
fn run(folders: &[PathBuf], from_text: bool) -> usize {
    let failures: Vec<String> = folders
        .par_iter()
        .filter_map(|folder| {
            let case = match Case::open(folder) {
                Ok(case) => case,
                Err(error) => return Some(error.to_string()),
            };
            match case.run(from_text, &Config::default()) {
                Ok(verdict) => {
                    let (argument, difference) = verdict.difference?;
                    Some(format!(
                        "{}: argument {argument}, {difference}",
                        case.name()
                    ))
                }
                Err(error) => Some(format!("{}: {error}", case.name())),
            }
        })
        .collect();
    for failure in &failures {
        eprintln!("{failure}");
    }
    let (all, failed) = (folders.len(), failures.len());
    let form = if from_text { "text" } else { "binary" };
    eprintln!(
        "{all} cases from {form}: {} passed, {failed} failed",
        all - failed
    );
    failed
}

#[test]
fn reference_cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    if !root.is_dir() {
        assert!(
            std::env::var_os("VISAKIT_NEEDS_SHARED").is_none(),
            "no reference data at {}",
            root.display()
        );
        eprintln!("NOT RUN: there is no {}", root.display());
        return;
    }
    let folders = cases(&root);
    assert!(folders.len() >= 442, "{} cases only", folders.len());
    let failed = run(&folders, false) + run(&folders, true);
    assert_eq!(failed, 0);
}

#[test]
fn committed_cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cases");
    let folders = cases(&root);
    assert!(folders.len() >= 5);
    assert_eq!(run(&folders, false) + run(&folders, true), 0);
}

/// A case whose expectation is wrong fails, and says where.
#[test]
fn a_difference_is_found() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cases/partial_groups");
    let to = std::env::temp_dir().join(format!("visakit-case-{}", std::process::id()));
    std::fs::create_dir_all(to.join("pvc")).unwrap();
    for entry in std::fs::read_dir(&from)
        .unwrap()
        .chain(std::fs::read_dir(from.join("pvc")).unwrap())
    {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.strip_prefix(&from).unwrap())).unwrap();
        }
    }
    let expected = to.join("expect0.bin");
    let mut bytes = std::fs::read(&expected).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&expected, bytes).unwrap();
    let case = Case::open(&to.join("pvc")).unwrap();
    let verdict = case.run(false, &Config::default()).unwrap();
    let (argument, difference) = verdict.difference.unwrap();
    assert_eq!(
        (argument, difference.element, difference.count),
        (0, Some(10), 1)
    );
    std::fs::remove_dir_all(&to).unwrap();
}

/// What must not change the meaning of a program does not: every case gives the same after it was stripped of all that
/// can go, and, where an older version can express it, after it went there and back.
#[test]
fn cases_give_the_same_after_passes() {
    use visakit_isa::{Format, Version};
    use visakit_rewrite::{Strip, convert, strip};

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    let mut folders = cases(&root);
    if folders.is_empty() {
        assert!(std::env::var_os("VISAKIT_NEEDS_SHARED").is_none());
        folders = cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cases"));
    }
    let converted = std::sync::atomic::AtomicUsize::new(0);
    let failures: Vec<String> = folders
        .par_iter()
        .filter_map(|folder| {
            let case = Case::open(folder).unwrap();
            let verdict = case.run_changed(false, &Config::default(), |mut object| {
                strip(&mut object, Strip::ALL);
                let home = object.format();
                let away = Format::new(Version::new(3, 6), home.dialect());
                match convert(object.clone(), away) {
                    Ok(old) => {
                        converted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        convert(old, home).unwrap()
                    }
                    Err(_) => object,
                }
            });
            match verdict {
                Ok(verdict) => {
                    let (argument, difference) = verdict.difference?;
                    Some(format!(
                        "{}: argument {argument}, {difference}",
                        case.name()
                    ))
                }
                Err(error) => Some(format!("{}: {error}", case.name())),
            }
        })
        .collect();
    eprintln!(
        "{} cases after strip, {} of them by way of 3.6: {} failed",
        folders.len(),
        converted.into_inner(),
        failures.len()
    );
    assert!(failures.is_empty(), "{failures:#?}");
}
