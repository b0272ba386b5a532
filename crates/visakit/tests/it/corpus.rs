//! Real and reference objects: all of them are read to the last byte and written identically.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use visakit::ReadOptions;
use visakit::parse::{ErrorKind, read, read_with};
use visakit::verify::{Counts, Outcome, roundtrip};

/// Round-trips every object below a folder; those below `broken*` are left to another test.
fn all_identical(folder: &Path) -> (usize, Counts) {
    let (mut objects, mut total) = (0, Counts::default());
    for path in visakit_testing::objects(folder) {
        if path.to_string_lossy().contains("broken") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        for lenient in [false, true] {
            let options = ReadOptions {
                lenient,
                dialect: None,
            };
            match roundtrip(bytes.clone(), options) {
                Outcome::Identical(counts) => {
                    assert_eq!(counts.raw_items, 0, "{}", path.display());
                    if !lenient {
                        objects += 1;
                        total += counts;
                    }
                }
                other => panic!("{}: {other:?}", path.display()),
            }
        }
    }
    (objects, total)
}

#[test]
fn committed_objects_are_identical() {
    let (objects, counts) = all_identical(&visakit_testing::root().join("fixtures/objects"));
    assert_eq!((objects, counts.routines), (6, 9));
}

#[test]
fn shipped_objects_are_identical() {
    let Some(folder) = visakit_testing::shared("shipped_objects_are_identical", "corpus/isa")
    else {
        return;
    };
    let (objects, counts) = all_identical(&folder);
    assert_eq!((objects, counts.instructions), (72, 153_589));
}

#[test]
fn compiled_objects_are_identical() {
    let Some(folder) = visakit_testing::shared("compiled_objects_are_identical", "corpus/ocl")
    else {
        return;
    };
    assert_eq!(all_identical(&folder).0, 79);
}

#[test]
fn assembled_objects_are_identical() {
    let Some(folder) = visakit_testing::shared("assembled_objects_are_identical", "corpus/asm")
    else {
        return;
    };
    assert_eq!(all_identical(&folder).0, 224);
}

#[test]
fn synthetic_objects_are_identical() {
    let Some(folder) = visakit_testing::shared("synthetic_objects_are_identical", "corpus/synth")
    else {
        return;
    };
    assert_eq!(all_identical(&folder).0, 1315);
}

#[test]
fn case_objects_are_identical() {
    let Some(folder) = visakit_testing::shared("case_objects_are_identical", "cases") else {
        return;
    };
    assert_eq!(all_identical(&folder).0, 442);
}

/// Objects that faulty writers cut are rejected inside of an instruction, and lenient reading
/// keeps every byte of them.
#[test]
fn cut_objects_are_rejected_and_kept() {
    let Some(folder) = visakit_testing::shared("cut_objects_are_rejected_and_kept", "corpus")
    else {
        return;
    };
    let mut broken = 0;
    for path in visakit_testing::objects(&folder) {
        if !path.to_string_lossy().contains("broken") {
            continue;
        }
        broken += 1;
        let bytes = std::fs::read(&path).unwrap();
        let error = read(&bytes).unwrap_err();
        let context = error.context();
        assert!(context.routine.is_some(), "{error}");
        assert!(context.instruction.is_some(), "{error}");
        assert!(context.field.is_some(), "{error}");
        let options = ReadOptions {
            lenient: true,
            dialect: None,
        };
        assert!(!read_with(&bytes, options).unwrap().errors.is_empty());
        assert!(matches!(roundtrip(bytes, options), Outcome::Identical(_)));
    }
    assert_eq!(broken, 8);
}

/// The dialect is determined by what fits; objects without a distinguishing instruction fit all.
#[test]
fn dialects_are_found_out() {
    let Some(folder) = visakit_testing::shared("dialects_are_found_out", "corpus") else {
        return;
    };
    let found = |path: &str| {
        let bytes = std::fs::read(folder.join(path)).unwrap();
        let decoded = read_with(&bytes, ReadOptions::default()).unwrap();
        let names: Vec<_> = decoded.candidates.iter().map(|d| d.name()).collect();
        names.join(" ")
    };
    assert_eq!(found("asm/lsc_dg2.isa"), "writer-2018");
    assert_eq!(
        found("asm/v41_2023_07/lsc_dg2.isa"),
        "writer-2023-07 writer-2023-08 reader-2024-02 reader-2024-09 reader-2026-04"
    );
    assert_eq!(
        found("asm/dpas_pvc.isa"),
        "writer-2018 writer-2023-07 writer-2023-08 reader-2024-02 reader-2024-09"
    );
    assert_eq!(
        found("asm/arith_skl.isa"),
        "writer-2018 writer-2023-07 writer-2023-08 reader-2024-02 reader-2024-09 reader-2026-04"
    );
}

#[test]
fn other_files_are_told_apart() {
    let kind = |bytes: &[u8]| read(bytes).unwrap_err().kind();
    assert!(matches!(kind(b""), ErrorKind::UnexpectedEnd { .. }));
    assert!(matches!(kind(b"CIS"), ErrorKind::UnexpectedEnd { .. }));
    assert!(matches!(kind(b"CISA\x03"), ErrorKind::UnexpectedEnd { .. }));
    assert!(matches!(
        kind(b"\x7fELF\x02\x01"),
        ErrorKind::NotAnObject { .. }
    ));
    assert!(matches!(kind(&[0; 64]), ErrorKind::NotAnObject { .. }));
    assert!(matches!(
        kind(b"CISA\x04\x02\x00\x00"),
        ErrorKind::UnsupportedVersion(v) if v.to_string() == "4.2"
    ));
    assert!(matches!(
        kind(b"CISA\x05\x00\x00\x00"),
        ErrorKind::UnsupportedVersion(_)
    ));
}
