//! The latency an editor experiences in a text of 20,000 lines: `cargo bench -p visakit-internal-language`.
//!
//! `keystroke_*` is one character typed into the middle, followed by the queries editors make after it. `assembly` is
//! the assembler alone, for comparison.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use divan::{Bencher, black_box};
use std::sync::LazyLock;
use visakit_language::Document;

fn main() {
    println!("{} lines, {} bytes", TEXT.lines().count(), TEXT.len());
    divan::main();
}

static TEXT: LazyLock<String> = LazyLock::new(visakit_testing::corpus::long_text);

/// The place in the middle after an operand, and a document that is as an editor has it.
fn opened() -> (Document, usize) {
    let document = Document::new(TEXT.as_str());
    let middle = document.line_count() / 2;
    let mut lines = middle..;
    let line = lines
        .find(|l| document.line_text(*l).trim_start().starts_with("add"))
        .unwrap();
    let at = document.line_start(line) + document.line_text(line).find(" V").unwrap() + 2;
    let _ = document.outline();
    (document, at)
}

/// A blank before the operand is inserted and removed: the text stays correct, so that names resolve and the validator
/// examines everything.
fn typed<T>(bencher: Bencher<'_, '_>, ask: impl Fn(&Document, usize) -> T) {
    let (mut document, at) = opened();
    let blank = at - 2;
    bencher.bench_local(|| {
        document.edit(blank..blank, " ").unwrap();
        black_box(ask(&document, at + 1));
        document.edit(blank..blank + 1, "").unwrap();
    });
}

#[divan::bench]
fn keystroke_two_edits_alone(bencher: Bencher<'_, '_>) {
    typed(bencher, |_, _| ());
}

#[divan::bench]
fn keystroke_colours_of_a_screen(bencher: Bencher<'_, '_>) {
    typed(bencher, |d, at| {
        let line = d.line_at(at);
        d.highlights(line..line + 80)
    });
}

#[divan::bench]
fn keystroke_colours_of_all(bencher: Bencher<'_, '_>) {
    typed(bencher, |d, _| d.highlights(0..d.line_count()));
}

#[divan::bench]
fn keystroke_completion(bencher: Bencher<'_, '_>) {
    typed(bencher, Document::complete);
}

#[divan::bench]
fn keystroke_outline(bencher: Bencher<'_, '_>) {
    typed(bencher, |d, _| d.outline());
}

#[divan::bench]
fn keystroke_folds(bencher: Bencher<'_, '_>) {
    typed(bencher, |d, _| d.folds());
}

#[divan::bench]
fn keystroke_references(bencher: Bencher<'_, '_>) {
    typed(bencher, Document::references);
}

#[divan::bench]
fn keystroke_problems(bencher: Bencher<'_, '_>) {
    typed(bencher, |d, _| d.problems().len());
}

#[divan::bench]
fn keystroke_problems_and_hints_of_a_screen(bencher: Bencher<'_, '_>) {
    typed(bencher, |d, at| {
        (d.problems().len(), d.hints(at..at + 4000))
    });
}

#[divan::bench]
fn keystroke_hover(bencher: Bencher<'_, '_>) {
    typed(bencher, Document::hover);
}

#[divan::bench]
fn format_all(bencher: Bencher<'_, '_>) {
    let (document, _) = opened();
    bencher.bench_local(|| document.format());
}

#[divan::bench]
fn open(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| Document::new(TEXT.as_str()));
}

#[divan::bench]
fn assembly(bencher: Bencher<'_, '_>) {
    let options = visakit_text::asm::Options::default();
    bencher.bench_local(|| visakit_text::asm::check(TEXT.as_bytes(), &options));
}
