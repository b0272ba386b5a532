//! Texts of Intel's printer, assembled and printed again in its form, are unchanged except for the
//! number that its printer appends to labels each time.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)] // helpers of a test that reports

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use visakit_isa::object::RoutineId;
use visakit_testing::corpus::unpacked;
use visakit_testing::shared;
use visakit_text::asm::{self, DiagnosticKind, assemble};
use visakit_text::{Form, Options, Printer};

#[derive(Default)]
struct Totals {
    texts: usize,
    same: usize,
    /// Texts that cannot be assembled, by the reason.
    unreadable: BTreeMap<&'static str, usize>,
    different: Vec<String>,
}

#[test]
fn intels_texts_print_as_they_were() {
    let Some(root) = shared("the printer", "corpus") else {
        return;
    };
    let mut totals = Totals::default();
    for folder in ["text", "text-asm", "text-ocl"] {
        walk(&root.join(folder), &mut totals);
    }
    println!(
        "{} texts: {} the same but for labels",
        totals.texts, totals.same
    );
    for (reason, count) in &totals.unreadable {
        println!("{count} not assembled: {reason}");
    }
    for text in totals.different.iter().take(20) {
        println!("{text}");
    }
    assert!(totals.different.is_empty(), "{}", totals.different.len());
}

fn walk(folder: &Path, totals: &mut Totals) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, totals);
        } else {
            compare(&path, totals);
        }
    }
}

fn compare(path: &Path, totals: &mut Totals) {
    let text = unpacked(path).unwrap();
    totals.texts += 1;
    let name = path.display().to_string();
    let wide = name.contains("_pvc");
    let grf_bytes = Some(if wide { 64 } else { 32 });
    let options = asm::Options {
        grf_bytes,
        ..asm::Options::default()
    };
    let object = match assemble(&text, &options) {
        Ok(object) => object,
        Err(faults) => match unreadable(&text, &faults) {
            Some(reason) => return *totals.unreadable.entry(reason).or_default() += 1,
            None => return totals.different.push(format!("{name}: {}", faults[0])),
        },
    };
    let options = Options {
        form: Form::Intel,
        grf_bytes,
    };
    let mut again = Vec::new();
    let ids: Vec<RoutineId> = object.routines().map(|(id, _)| id).collect();
    for id in ids {
        let Ok(()) = Printer::new(&object, options).routine(id, &mut again);
    }
    let (a, b) = (
        String::from_utf8_lossy(&text),
        String::from_utf8_lossy(&again),
    );
    let differs = |(a, b): &(&str, &str)| !same_but_for_labels(a, b);
    let lines = (a.lines().count(), b.lines().count());
    match a.lines().zip(b.lines()).find(differs) {
        None if lines.0 == lines.1 => totals.same += 1,
        None => totals.different.push(format!("{name}: {lines:?} lines")),
        Some((a, b)) => totals.different.push(format!("{name}:\n  {a}\n  {b}")),
    }
}

/// Why a text cannot be assembled, if the object is the cause.
fn unreadable(text: &[u8], faults: &[asm::Diagnostic]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(text);
    let subroutine = |fault: &asm::Diagnostic| {
        let label = text.get(fault.span.start..fault.span.end());
        fault.kind == DiagnosticKind::MissingLabel
            && label.is_some_and(|label| text.contains(&format!(".function \"{label}_")))
    };
    faults.iter().all(subroutine).then_some(
        "a writer left the kind of a label as it was; its target is printed as a subroutine",
    )
}

/// Equal words, or a label with more numbers after it.
fn same_but_for_labels(a: &str, b: &str) -> bool {
    let words = |line: &str| -> Vec<String> {
        let parts = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        parts.filter(|p| !p.is_empty()).map(str::to_owned).collect()
    };
    // The printer remarks which characters of a name it replaced.
    let [a, b] = [a, b].map(|line| line.split(" /// Original Name").next().unwrap_or_default());
    if a == b {
        return true;
    }
    let (a, b) = (words(a), words(b));
    let longer = |(a, b): (&String, &String)| {
        a == b
            || b.strip_prefix(a.as_str()).is_some_and(|rest| {
                rest.starts_with('_') && rest.chars().all(|c| c == '_' || c.is_ascii_digit())
            })
    };
    a.len() == b.len() && a.iter().zip(&b).all(longer)
}
