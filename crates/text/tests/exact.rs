//! Exact text carries every byte of an object.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)] // helpers of a test that reports

mod common;

use common::{Corpus, objects};
use visakit_isa::object::Object;
use visakit_text::{Form, Options, Printer, asm};

/// Larger objects are not damaged: each is assembled ten times.
const LARGEST_DAMAGED: usize = 16_000;

fn exact(object: &Object<'_>) -> Vec<u8> {
    let options = Options {
        form: Form::Exact,
        ..Options::default()
    };
    let mut text = Vec::new();
    let Ok(()) = Printer::new(object, options).object(&mut text);
    text
}

#[derive(Default)]
struct Totals {
    objects: usize,
    identical: usize,
    bytes: usize,
    lines: usize,
    /// Lines with directives.
    directives: usize,
    reasons: Vec<String>,
}

#[test]
fn exact_text_assembles_to_the_same_bytes() {
    let mut totals = Totals::default();
    objects(Corpus::All, |name, bytes| {
        if let Ok(object) = visakit_parse::read(bytes) {
            check(name, bytes, &object, &mut totals);
        }
    });
    report(&totals);
}

#[test]
fn exact_text_carries_damaged_objects() {
    let mut totals = Totals::default();
    let options = visakit_parse::ReadOptions {
        lenient: true,
        dialect: None,
    };
    objects(Corpus::Real, |name, bytes| {
        if bytes.len() > LARGEST_DAMAGED {
            return;
        }
        for cut in [bytes.len() / 3, bytes.len() / 2, bytes.len() - 1] {
            let bytes = &bytes[..cut];
            if let Ok(decoded) = visakit_parse::read_with(bytes, options) {
                check(name, bytes, &decoded.object, &mut totals);
            }
        }
        let mut bytes = bytes.to_vec();
        for at in (bytes.len() / 2..bytes.len()).step_by(bytes.len() / 7 + 1) {
            bytes[at] ^= 0x5a;
            if let Ok(decoded) = visakit_parse::read_with(&bytes, options) {
                check(name, &bytes, &decoded.object, &mut totals);
            }
        }
    });
    report(&totals);
}

fn report(totals: &Totals) {
    println!(
        "{} objects of {} bytes: {} identical; {} lines, {} with directives",
        totals.objects, totals.bytes, totals.identical, totals.lines, totals.directives
    );
    for reason in totals.reasons.iter().take(12) {
        println!("{reason}");
    }
    assert_eq!(totals.objects, totals.identical);
}

fn check(name: &str, bytes: &[u8], object: &Object<'_>, totals: &mut Totals) {
    totals.objects += 1;
    totals.bytes += bytes.len();
    let text = exact(object);
    let lines = || text.split(|c| *c == b'\n');
    totals.lines += lines().count();
    totals.directives += lines()
        .filter(|l| l.windows(3).any(|w| w == b"//@"))
        .count();
    let made = match asm::assemble(&text, &asm::Options::default()) {
        Ok(made) => made,
        Err(faults) => {
            for fault in faults.iter().take(3) {
                let (line, _) = fault.span.place(&text);
                let line = String::from_utf8_lossy(lines().nth(line - 1).unwrap());
                let line: String = line.chars().take(100).collect();
                totals.reasons.push(format!("{name}: {fault}: {line}"));
            }
            return;
        }
    };
    match visakit_encode::write(&made) {
        Ok(written) if written == bytes => totals.identical += 1,
        Ok(written) => {
            let pairs = written.iter().zip(bytes);
            let at = pairs.take_while(|(a, b)| a == b).count();
            let lengths = (written.len(), bytes.len());
            totals
                .reasons
                .push(format!("{name}: differs at {at:#x}, {lengths:?}"));
        }
        Err(error) => totals.reasons.push(format!("{name}: {error}")),
    }
}
