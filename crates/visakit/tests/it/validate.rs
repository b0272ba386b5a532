//! Real objects have no errors. Their warnings are counted, so that a rule that begins to fire is
//! noticed.

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use visakit::validate::{Options, Platform, Severity, bytes};

/// Warnings of all objects below a folder, by rule. Errors fail.
fn warnings(folder: &Path, platform: Option<Platform>) -> (usize, BTreeMap<String, usize>) {
    let (mut objects, mut found) = (0, BTreeMap::new());
    for path in visakit_testing::objects(folder) {
        if path.to_string_lossy().contains("broken") {
            continue;
        }
        let file = std::fs::read(&path).unwrap();
        let options = Options {
            platform,
            limit: usize::MAX,
        };
        let report = bytes(&file, None, &options).unwrap();
        for finding in &report.findings {
            assert!(
                finding.rule.severity == Severity::Warning,
                "{}: {finding}",
                path.display()
            );
            *found.entry(finding.rule.id().to_string()).or_default() += 1;
        }
        objects += 1;
    }
    (objects, found)
}

fn counts(expected: &[(&str, usize)]) -> BTreeMap<String, usize> {
    expected
        .iter()
        .map(|(id, n)| ((*id).to_owned(), *n))
        .collect()
}

#[test]
fn committed_objects_have_no_errors() {
    let folder = visakit_testing::root().join("fixtures/objects");
    let expected = counts(&[]);
    assert_eq!(warnings(&folder, None), (6, expected));
}

#[test]
fn shipped_objects_have_no_errors() {
    let Some(folder) = visakit_testing::shared("shipped_objects_have_no_errors", "corpus/isa")
    else {
        return;
    };
    let expected = counts(&[
        ("V0212-unusual-type", 29),
        ("V0215-modifier-unexpected", 1),
        ("V0217-saturation-unexpected", 258),
        ("V0226-region-bounds", 12),
        ("V0308-setp-mask", 7),
        ("V0402-label-place", 2),
    ]);
    assert_eq!(warnings(&folder, None), (72, expected));
}

#[test]
fn compiled_objects_have_no_errors() {
    let Some(folder) = visakit_testing::shared("compiled_objects_have_no_errors", "corpus/ocl")
    else {
        return;
    };
    let expected = counts(&[]);
    assert_eq!(warnings(&folder, None), (79, expected));
}

#[test]
fn case_objects_have_no_errors() {
    let Some(folder) = visakit_testing::shared("case_objects_have_no_errors", "cases") else {
        return;
    };
    let expected = counts(&[
        ("V0110-alias-predefined", 2),
        ("V0215-modifier-unexpected", 3),
        ("V0338-scaled-lanes", 3),
    ]);
    assert_eq!(warnings(&folder, None), (442, expected));
}

/// Nor with the rules of the platforms that they run on.
#[test]
fn case_objects_have_no_errors_on_their_platforms() {
    let name = "case_objects_have_no_errors_on_their_platforms";
    let Some(folder) = visakit_testing::shared(name, "cases") else {
        return;
    };
    let mut objects = 0;
    for case in std::fs::read_dir(folder).unwrap() {
        let case = case.unwrap().path();
        for device in ["skl", "tgllp", "dg2", "acm-g10", "pvc"] {
            let folder = case.join(device);
            if folder.is_dir() {
                objects += warnings(&folder, Platform::from_name(device)).0;
            }
        }
    }
    assert_eq!(objects, 442);
}

/// Objects truncated by faulty writers: the fault is found, and everything before it is checked.
#[test]
fn cut_objects_have_errors() {
    let Some(folder) = visakit_testing::shared("cut_objects_have_errors", "corpus") else {
        return;
    };
    let mut broken = 0;
    for path in visakit_testing::objects(&folder) {
        if !path.to_string_lossy().contains("broken") {
            continue;
        }
        broken += 1;
        let file = std::fs::read(&path).unwrap();
        let report = bytes(&file, None, &Options::default()).unwrap();
        assert!(report.errors > 0, "{}", path.display());
        assert!(report.findings.iter().all(|f| f.offset.is_some()));
    }
    assert_eq!(broken, 8);
}
