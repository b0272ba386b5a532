//! Speed and memory of `diff` on large kernels.
//!
//! `cargo bench -p visakit-rewrite --bench diff`. The code is that of a committed kernel over and
//! over, each copy with other rows of its operands, and with an edit in every thousandth
//! instruction. The peer compares the text of the same instructions by line. The memory that is
//! shown is that of the comparison, without the objects.

#![allow(missing_docs, clippy::unwrap_used)]

use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher, black_box};
use std::path::Path;
use visakit_isa::object::{Item, Object};
use visakit_isa::{Instruction, Value, VectorOperand};
use visakit_rewrite::diff;
use visakit_text::{LineKind, Options, Output, Printer};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

/// Which instructions the second object has otherwise.
const EDITED: usize = 1000;

fn general(instruction: &mut Instruction, change: impl Fn(&mut u8)) {
    for field in &mut instruction.fields {
        if let Value::Vector(VectorOperand::General(operand)) = &mut field.value {
            change(&mut operand.row);
        }
    }
}

/// A kernel of this many instructions, and the same with edits.
fn kernels(count: usize) -> [Object<'static>; 2] {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/objects/subgroups_skl_v36.isa");
    let mut old = visakit_parse::read(&std::fs::read(path).unwrap())
        .unwrap()
        .into_owned();
    old.kernels.truncate(1);
    let body = old.kernels.first_mut().unwrap().body_mut().unwrap();
    let pattern: Vec<Instruction> = body.instructions().cloned().collect();
    body.code = (0..count)
        .zip(pattern.iter().cycle())
        .map(|(index, instruction)| {
            let mut copy = instruction.clone();
            let copies = index / pattern.len();
            general(&mut copy, |row| *row = u8::try_from(copies % 251).unwrap());
            copy.into()
        })
        .collect();
    let mut new = old.clone();
    let code = &mut new.kernels.first_mut().unwrap().body_mut().unwrap().code;
    let mut index = EDITED / 2;
    while index < code.len() {
        match index / EDITED % 3 {
            0 => drop(code.remove(index)),
            1 => code.insert(index, pattern.first().unwrap().clone().into()),
            _ => {
                if let Some(Item::Instruction(instruction)) = code.get_mut(index) {
                    general(instruction, |row| *row = row.wrapping_add(5));
                }
            }
        }
        index += EDITED;
    }
    [old, new]
}

#[divan::bench(args = [10_000, 100_000, 1_000_000], sample_count = 5, sample_size = 1)]
fn objects(bencher: Bencher<'_, '_>, count: usize) {
    let [old, new] = kernels(count);
    bencher
        .counter(ItemsCount::new(count))
        .bench(|| diff(black_box(&old), black_box(&new)));
}

/// One kernel, and another one that shares hardly anything with it.
#[divan::bench(args = [100_000], sample_count = 3, sample_size = 1)]
fn unrelated(bencher: Bencher<'_, '_>, count: usize) {
    let [old, mut new] = kernels(count);
    let code = &mut new.kernels.first_mut().unwrap().body_mut().unwrap().code;
    let mut state = 1u64;
    for index in 0..code.len() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let other = usize::try_from(state >> 33).unwrap() % code.len();
        code.swap(index, other);
    }
    bencher
        .counter(ItemsCount::new(count))
        .bench(|| diff(black_box(&old), black_box(&new)));
}

/// The text of the instructions, a line for each.
struct Lines(String);

impl Output for Lines {
    type Error = std::convert::Infallible;

    fn line(&mut self, kind: LineKind, text: &[u8]) -> Result<(), Self::Error> {
        if let LineKind::Instruction(_) = kind {
            self.0.push_str(String::from_utf8_lossy(text).trim_start());
        }
        Ok(())
    }
}

fn text(object: &Object<'_>) -> String {
    let mut lines = Lines(String::new());
    let options = Options {
        form: visakit_text::Form::Intel,
        ..Options::default()
    };
    let id = object.routines().next().unwrap().0;
    let Ok(()) = Printer::new(object, options).routine(id, &mut lines);
    lines.0
}

#[divan::bench(args = [10_000], sample_count = 3, sample_size = 1)]
fn lines_with_similar(bencher: Bencher<'_, '_>, count: usize) {
    let [old, new] = kernels(count).map(|object| text(&object));
    bencher.counter(ItemsCount::new(count)).bench(|| {
        similar::TextDiff::from_lines(black_box(&old), black_box(&new))
            .ops()
            .len()
    });
}

fn main() {
    divan::main();
}
