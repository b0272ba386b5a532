//! Compares with what Intel's printer writes, for every text of the shared corpus.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of a test that reports

use std::fs;
use std::path::{Path, PathBuf};
use visakit_isa::object::{Object, RoutineId};
use visakit_testing::corpus::unpacked;
use visakit_testing::shared;
use visakit_text::{Form, Options, Printer, file_name};

/// Folders of texts, each with the folder of the objects they were printed from.
const FOLDERS: [(&str, &str); 3] = [("text", "isa"), ("text-asm", "asm"), ("text-ocl", "ocl")];

/// The text of an object that gives its files no name.
const UNNAMED: &str = "unnamed.visaasm";

/// Whether a line differs on purpose: `docs/text-differences.md` lists these kinds.
fn is_deliberate(expected: &str, printed: &str) -> bool {
    let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
    let same = |a: &str, b: &str| {
        let filled = |line: &str| -> Vec<String> {
            words(line).into_iter().filter(|w| !w.is_empty()).collect()
        };
        filled(a) == filled(b)
    };
    // Storage that all routines of a file share.
    let shared = printed.contains(" alias=<@")
        && printed.split(" alias=").next() == expected.split(" alias=").next();
    // The predicate of typed messages.
    let predicate = printed.contains("4_typed.")
        && (printed.split_once(") ")).is_some_and(|(_, rest)| same(rest, expected));
    // Switches of samplers in narrow operation bytes.
    let switches = same(&printed.replace("pixel_null_mask.", ""), expected);
    shared || predicate || switches
}

#[derive(Default)]
struct Totals {
    routines: usize,
    identical: usize,
    deliberate: usize,
    different: usize,
}

#[test]
fn texts_are_those_of_intels_printer() {
    let Some(root) = shared("the printer", "corpus") else {
        return;
    };
    let mut totals = Totals::default();
    for (texts, objects) in FOLDERS {
        walk(
            &root.join(texts),
            &root.join(texts),
            &root.join(objects),
            &mut totals,
        );
    }
    println!(
        "{} routines: {} identical, {} different ({} of them on purpose)",
        totals.routines,
        totals.identical,
        totals.different + totals.deliberate,
        totals.deliberate
    );
    assert_eq!(totals.different, 0);
}

fn walk(folder: &Path, texts: &Path, objects: &Path, totals: &mut Totals) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    let (folders, files): (Vec<_>, Vec<_>) = entries.into_iter().partition(|p| p.is_dir());
    if !files.is_empty() {
        let object = objects.join(folder.strip_prefix(texts).unwrap());
        compare(&object.with_added_extension("isa"), &files, totals);
    }
    for folder in folders {
        walk(&folder, texts, objects, totals);
    }
}

trait WithAdded {
    fn with_added_extension(&self, extension: &str) -> PathBuf;
}

impl WithAdded for PathBuf {
    fn with_added_extension(&self, extension: &str) -> PathBuf {
        let mut name = self.as_os_str().to_owned();
        name.push(".");
        name.push(extension);
        name.into()
    }
}

fn compare(object: &Path, texts: &[PathBuf], totals: &mut Totals) {
    let stem = object.file_stem().unwrap().to_str().unwrap();
    let platform = stem.rsplit('_').next().unwrap();
    let wide = platform.starts_with("pvc");
    let options = Options {
        form: Form::Intel,
        grf_bytes: Some(if wide { 64 } else { 32 }),
    };
    let bytes = fs::read(object).unwrap();
    let object = visakit_parse::read(&bytes).unwrap();
    for text in texts {
        let expected = unpacked(text).unwrap();
        totals.routines += 1;
        let routine = text.file_name().unwrap().to_str().unwrap();
        let id = routine_of(&expected, &object);
        let name = id.and_then(|id| file_name(&object, id));
        let expected_name = match routine.strip_suffix(".gz") {
            Some(UNNAMED) | None => None,
            Some(name) => Some(name.as_bytes().to_vec()),
        };
        assert_eq!(name, expected_name, "name of {stem}/{routine}");
        let printed = id.map(|id| {
            let mut printed = Vec::new();
            let Ok(()) = Printer::new(&object, options).routine(id, &mut printed);
            printed
        });
        let Some(printed) = printed else {
            totals.different += 1;
            println!("{stem}/{routine}: no such routine");
            continue;
        };
        if printed == expected {
            totals.identical += 1;
            continue;
        }
        let (expected, printed) = (lines(&expected), lines(&printed));
        let pairs = || expected.iter().zip(&printed).filter(|(a, b)| a != b);
        let on_purpose =
            expected.len() == printed.len() && pairs().all(|(a, b)| is_deliberate(a, b));
        let remark = if on_purpose {
            "on purpose"
        } else {
            "DIFFERENT"
        };
        match pairs().next() {
            Some((a, b)) => println!("{stem}/{routine}: {remark}\n  expected {a}\n  printed  {b}"),
            None => println!("{stem}/{routine}: {remark}, one is longer"),
        }
        if on_purpose {
            totals.deliberate += 1;
        } else {
            totals.different += 1;
        }
    }
}

fn lines(text: &[u8]) -> Vec<String> {
    let lines = text.split(|b| *b == b'\n');
    lines
        .map(|l| String::from_utf8_lossy(l).into_owned())
        .collect()
}

/// The routine whose name is in the second line.
fn routine_of(text: &[u8], object: &Object<'_>) -> Option<RoutineId> {
    let line = text.split(|b| *b == b'\n').nth(1)?;
    let name = line.split(|b| *b == b'"').nth(1)?;
    let (id, _) = object.routines().find(|(_, r)| {
        let printed: Vec<u8> = r
            .name
            .iter()
            .map(|c| if *c == b'.' { b' ' } else { *c })
            .collect();
        printed == name
    })?;
    Some(id)
}
