//! Every case of the reference data has the expected result, from the object and from the compiler's text.

#![allow(clippy::disallowed_methods, reason = "tests")]
#![allow(missing_docs)]
#![allow(
    clippy::print_stderr,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use visakit_exec::Pass;
use visakit_isa::object::{Object, RoutineId, RoutineKind};
use visakit_isa::{Format, Version};
use visakit_launch::{Case, Config};
use visakit_rewrite::{Strip, convert, extract, merge, rename_routine, strip};
use visakit_testing::cases;

/// Runs all, prints the failures and the count, and returns the number of failures.
fn run(folders: &[PathBuf], from_text: bool, passes: &[Pass]) -> usize {
    let config = Config {
        passes,
        ..Config::default()
    };
    let failures: Vec<String> = folders
        .par_iter()
        .filter_map(|folder| {
            let case = match Case::open(folder) {
                Ok(case) => case,
                Err(error) => return Some(error.to_string()),
            };
            match case.run(from_text, &config) {
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

/// The cases of a folder of the reference data, at least `least`; empty if the folder is missing.
fn reference(folder: &str, least: usize) -> Vec<PathBuf> {
    let Some(root) = visakit_testing::shared("a test of kernels", folder) else {
        return Vec::new();
    };
    let folders = cases(&root);
    assert!(folders.len() >= least, "{} cases only", folders.len());
    folders
}

#[test]
fn reference_cases() {
    let folders = reference("cases", 442);
    let failed = run(&folders, false, &Pass::ALL) + run(&folders, true, &Pass::UNNOTICED);
    assert_eq!(failed, 0);
}

/// The newest compiler, which writes text only, for seven devices.
#[test]
fn reference_cases_of_the_newest_compiler() {
    assert_eq!(run(&reference("cases240", 742), true, &Pass::ALL), 0);
}

#[test]
fn committed_cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cases");
    let folders = cases(&root);
    assert!(folders.len() >= 5);
    for passes in [&[][..], &Pass::UNNOTICED, &Pass::ALL] {
        assert_eq!(
            run(&folders, false, passes) + run(&folders, true, passes),
            0
        );
    }
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

/// The cases of the reference data, or the committed ones where it is not there.
fn known_cases() -> Vec<PathBuf> {
    let shared = visakit_testing::shared("a test of cases, run on the committed ones,", "cases");
    cases(&shared.unwrap_or_else(|| visakit_testing::fixtures().join("cases")))
}

/// Runs all after a change, which receives the number of the case.
fn failures(
    folders: &[PathBuf],
    change: impl Fn(usize, Object<'static>) -> Object<'static> + Sync,
) -> Vec<String> {
    folders
        .par_iter()
        .enumerate()
        .filter_map(|(number, folder)| {
            let case = Case::open(folder).unwrap();
            let config = Config::default();
            let verdict = case.run_changed(false, &config, |object| change(number, object));
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
        .collect()
}

/// Transformations that must not change the meaning of a program do not: every case has the same result after
/// everything removable was stripped, and, if an older version can express it, after conversion to that version and
/// back.
#[test]
fn cases_give_the_same_after_passes() {
    let folders = known_cases();
    let converted = AtomicUsize::new(0);
    let failures = failures(&folders, |_, mut object| {
        strip(&mut object, Strip::ALL);
        let home = object.format();
        let away = Format::new(Version::new(3, 6), home.dialect());
        match convert(object.clone(), away) {
            Ok(old) => {
                converted.fetch_add(1, Ordering::Relaxed);
                convert(old, home).unwrap()
            }
            Err(_) => object,
        }
    });
    eprintln!(
        "{} cases after strip, {} of them by way of 3.6: {} failed",
        folders.len(),
        converted.into_inner(),
        failures.len()
    );
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Passes between objects preserve the results of cases: routines get other names, it is merged into the object of another case,
/// its kernels are taken out again and get their names back.
#[test]
fn cases_give_the_same_from_among_others() {
    const MARK: &str = "renamed.";
    let folders = known_cases();
    let linked = AtomicUsize::new(0);
    let renamed = |object: &mut Object<'static>, change: &dyn Fn(&str) -> String| {
        let names: Vec<_> = object
            .routines()
            .map(|(id, r)| (id, String::from_utf8_lossy(&r.name).into_owned()))
            .collect();
        for (id, name) in names {
            rename_routine(object, id, &change(&name)).unwrap();
        }
    };
    let failures = failures(&folders, |number, mut object| {
        let before = object.clone();
        let host = folders
            .iter()
            .cycle()
            .skip(number + 1)
            .take(folders.len() - 1)
            .find_map(|folder| {
                let bytes = std::fs::read(folder.join("k.isa")).ok()?;
                let host = visakit_parse::read(&bytes).ok()?.into_owned();
                (host.format() == object.format() && host.kernels != object.kernels).then_some(host)
            });
        let Some(host) = host else {
            return object;
        };
        let kernels = host.kernels.len();
        renamed(&mut object, &|name| format!("{MARK}{name}"));
        let mut whole = merge(vec![host, object]).unwrap().object;
        linked.fetch_add(1, Ordering::Relaxed);
        let wanted: Vec<_> = (kernels..whole.kernels.len())
            .map(|index| RoutineId::new(RoutineKind::Kernel, index))
            .collect();
        extract(&mut whole, &wanted).unwrap();
        renamed(&mut whole, &|name| {
            name.strip_prefix(MARK).unwrap_or(name).to_owned()
        });
        let names = |o: &Object<'_>| {
            o.routines()
                .map(|(_, r)| r.name.to_vec())
                .collect::<Vec<_>>()
        };
        assert!(
            names(&whole)
                .iter()
                .all(|name| names(&before).contains(name))
        );
        whole
    });
    eprintln!(
        "{} cases, {} of them merged into another and extracted again: {} failed",
        folders.len(),
        linked.load(Ordering::Relaxed),
        failures.len()
    );
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(linked.into_inner() > 0);
}

/// Threads print in any order; where there is but one, the order of lines counts.
#[test]
fn the_order_of_lines_counts_where_it_is_asked() {
    let apart = |a: &str, b: &str, in_order| {
        visakit_launch::lines_apart(a.as_bytes(), b.as_bytes(), in_order).is_some()
    };
    for (a, b, in_any_order, in_order) in [
        ("a 1\nb 2\n", "b 2\na 1\n", false, true),
        ("a 1\nb 2\n", "b 1\na 2\n", true, true),
        ("a\na\n", "a\n", true, true),
        ("a\nb\n", "a\nb\n", false, false),
    ] {
        assert_eq!(apart(a, b, false), in_any_order, "{a:?} {b:?}");
        assert_eq!(apart(a, b, true), in_order, "{a:?} {b:?}");
    }
}
