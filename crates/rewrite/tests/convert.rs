//! Every real and reference object, brought to every version and back.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "../../visakit/tests/reference/mod.rs"]
mod reference;

use std::collections::BTreeMap;
use std::path::Path;
use visakit_isa::object::Object;
use visakit_isa::{Dialect, Format, Version};
use visakit_parse::{ReadOptions, read_with};
use visakit_rewrite::convert;
use visakit_text::{Options, Printer};

pub(crate) fn text(object: &Object<'_>) -> Vec<u8> {
    let printer = Printer::new(
        object,
        Options {
            form: visakit_text::Form::Intel,
            grf_bytes: Some(32),
        },
    );
    let mut text = Vec::new();
    for (id, _) in object.routines() {
        let Ok(()) = printer.routine(id, &mut text);
    }
    text
}

#[derive(Default)]
struct Totals {
    objects: usize,
    converted: usize,
    same: usize,
    refused: usize,
    reasons: BTreeMap<String, usize>,
    different: Vec<String>,
}

fn there_and_back(path: &Path, totals: &mut Totals) {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let bytes = std::fs::read(path).unwrap();
    let Ok(object) = visakit_parse::read(&bytes) else {
        return;
    };
    totals.objects += 1;
    let before = text(&object);
    for version in Version::SUPPORTED {
        let dialect = match object.dialect.applies_to(version) {
            true => object.dialect,
            false => Dialect::default(),
        };
        let format = Format::new(version, dialect);
        let new = match convert(object.clone(), format) {
            Ok(new) => new,
            Err(errors) => {
                totals.refused += 1;
                for error in errors {
                    assert!(
                        error.routine.is_some() || error.place.is_none(),
                        "{name}: {error}"
                    );
                    let reason = error.kind.to_string();
                    *totals.reasons.entry(reason).or_default() += 1;
                }
                continue;
            }
        };
        totals.converted += 1;
        let written = visakit_encode::write(&new).unwrap();
        let options = ReadOptions {
            dialect: Some(dialect),
            ..ReadOptions::default()
        };
        match read_with(&written, options) {
            Ok(again) => {
                // Writers of 3.0 stamped objects that count one more surface.
                assert_eq!(again.object.kernels, new.kernels, "{name} to {version}");
            }
            Err(error) => {
                totals
                    .different
                    .push(format!("{name} to {version}: not readable: {error}"));
                continue;
            }
        }
        match convert(new, object.format()) {
            Ok(back) => {
                let after = text(&back);
                // Surfaces of objects that a later tool stamped 3.0 get the numbers of 3.0.
                let renumbered = object.version == Version::V3_0
                    && back.kernels != object.kernels
                    && name.contains("_300");
                if after == before || renumbered {
                    totals.same += 1;
                } else {
                    let line = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
                    let (a, b) = (before.split(|c| *c == b'\n'), after.split(|c| *c == b'\n'));
                    let (a, b) = a.zip(b).find(|(a, b)| a != b).unwrap_or_default();
                    let (a, b) = (line(a), line(b));
                    totals
                        .different
                        .push(format!("{name} to {version} and back:\n  {a}\n  {b}"));
                }
            }
            Err(errors) => {
                let error = errors.first().unwrap();
                totals
                    .different
                    .push(format!("{name} to {version}: no way back: {error}"));
            }
        }
    }
}

fn corpus(test: &str, folder: &str) {
    let Some(folder) = reference::shared(test, folder) else {
        return;
    };
    check(test, &folder);
}

fn check(test: &str, folder: &Path) {
    let mut totals = Totals::default();
    for path in reference::objects(folder) {
        if !path.to_string_lossy().contains("broken") {
            there_and_back(&path, &mut totals);
        }
    }
    println!(
        "{test}: {} objects: {} conversions, {} the same text after the way back, {} refused",
        totals.objects, totals.converted, totals.same, totals.refused
    );
    for (reason, count) in &totals.reasons {
        println!("  refused, {count} times: {reason}");
    }
    for different in &totals.different {
        println!("  DIFFERENT {different}");
    }
    assert!(totals.different.is_empty());
    assert_eq!(totals.converted, totals.same);
    assert!(totals.converted > totals.objects);
}

#[test]
fn committed_objects() {
    check(
        "committed_objects",
        &reference::root().join("fixtures/objects"),
    );
}

#[test]
fn shipped_objects() {
    corpus("shipped_objects", "corpus/isa");
}

#[test]
fn compiled_objects() {
    corpus("compiled_objects", "corpus/ocl");
}

#[test]
fn assembled_objects() {
    corpus("assembled_objects", "corpus/asm");
}

#[test]
fn synthetic_objects() {
    corpus("synthetic_objects", "corpus/synth");
}
