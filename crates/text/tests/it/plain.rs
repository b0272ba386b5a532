//! Plain text can be assembled again: the text stays the same, and so do the instructions.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of a test that reports

use std::collections::{BTreeMap, HashMap};
use visakit_isa::object::{Body, Item, Object};
use visakit_isa::table::FieldName;
use visakit_isa::{Field, Instruction, LabelId, Op, Region, StringId, Value, VectorOperand};
use visakit_testing::corpus::{Corpus, objects};
use visakit_text::{Form, asm};

#[derive(Default)]
struct Totals {
    objects: usize,
    routines: usize,
    instructions: usize,
    numbers: usize,
    /// What text does not express, each with its count.
    losses: BTreeMap<&'static str, usize>,
    /// Fields of synthetic instructions that text does not show.
    silent: BTreeMap<String, usize>,
    reasons: Vec<String>,
}

fn plain(object: &Object<'_>) -> Vec<u8> {
    crate::text_of(object, Form::Plain)
}

#[test]
fn plain_text_assembles_to_the_same_instructions_and_prints_the_same() {
    let mut totals = Totals::default();
    objects(Corpus::All, |name, bytes| check(name, bytes, &mut totals));
    println!(
        "{} objects, {} routines, {} instructions, {} of them shown number by number",
        totals.objects, totals.routines, totals.instructions, totals.numbers
    );
    for (loss, count) in &totals.losses {
        println!("not told by text, {count} times: {loss}");
    }
    println!("fields of synthetic instructions that text does not show:");
    for (field, count) in &totals.silent {
        println!("  {count} times {field}");
    }
    for reason in totals.reasons.iter().take(30) {
        println!("{reason}");
    }
    assert!(totals.reasons.is_empty(), "{}", totals.reasons.len());
}

fn check(name: &str, bytes: &[u8], totals: &mut Totals) {
    // Broken objects are in the corpus too.
    let Ok(object) = visakit_parse::read(bytes) else {
        return;
    };
    totals.objects += 1;
    let text = plain(&object);
    let again = match asm::assemble(&text, &asm::Options::default()) {
        Ok(again) => again,
        Err(faults) => {
            for fault in faults.iter().take(3) {
                let (line, _) = fault.span.place(&text);
                let line = text.split(|c| *c == b'\n').nth(line - 1).unwrap();
                let line = String::from_utf8_lossy(line);
                totals.reasons.push(format!("{name}: {fault}: {line}"));
            }
            return;
        }
    };
    let written = visakit_encode::write(&again).unwrap();
    let again = visakit_parse::read(&written).unwrap();
    let second = plain(&again);
    if second != text {
        let pairs = text
            .split(|c| *c == b'\n')
            .zip(second.split(|c| *c == b'\n'));
        let (a, b) = pairs.into_iter().find(|(a, b)| a != b).unwrap_or_default();
        let (a, b) = (String::from_utf8_lossy(a), String::from_utf8_lossy(b));
        totals.reasons.push(format!("{name}: {a}\n  again {b}"));
    }
    totals.numbers += text.windows(8).filter(|w| w == b"    .op ").count();
    for ((_, a), (_, b)) in object.routines().zip(again.routines()) {
        totals.routines += 1;
        let (a, b) = (a.body().unwrap(), b.body().unwrap());
        totals.instructions += a.code.len();
        let synthetic = name.contains("/synth/") || name.contains("/layouts/");
        if let Some(difference) = difference(&object, a, b, synthetic, totals) {
            totals.reasons.push(format!("{name}: {difference}"));
        }
    }
}

/// What text does not express about a field, if that is the only difference.
fn loss(op: Op, a: &Field, b: &Field, object: &Object<'_>) -> Option<&'static str> {
    match (&a.value, &b.value) {
        (Value::Vector(VectorOperand::Indirect(x)), Value::Vector(VectorOperand::Indirect(y))) => {
            let mut z = *y;
            z.property = x.property;
            let strides = [x.region, y.region].map(Region::horizontal_stride);
            if a.name.is_destination() && x.region != y.region && strides[0] == strides[1] {
                return Some("rows of a region that is written");
            }
            (z == *x && x.property.data_type() == y.property.data_type())
                .then_some("reserved bits of an indirect operand")
        }
        (
            Value::Vector(VectorOperand::Immediate(x)),
            Value::Vector(VectorOperand::Immediate(y)),
        ) => {
            let unused = 64 - 8 * u32::from(x.data_type().size());
            (x.property == y.property && x.bits() << unused == y.bits() << unused)
                .then_some("upper bytes of a constant")
        }
        (Value::ExecSize(x), Value::ExecSize(y)) => {
            let format = object.format();
            let same = x.lanes() == y.lanes() && x.mask(format) == y.mask(format);
            same.then_some("one of two codes of the same mask, before 3.1")
        }
        (Value::ElementCount(x), Value::ElementCount(y)) => {
            let format = object.format();
            let same = x.lanes() == y.lanes() && x.mask(format) == y.mask(format);
            same.then_some("one of two codes of the same mask, before 3.1")
        }
        (Value::U8(x), Value::U8(_)) => match (op, a.name) {
            (Op::FENCE, _) if x & 0x80 != 0 => Some("flags of a software fence"),
            (_, FieldName::IsModified) => Some("modified bit of a block"),
            (Op::SVM_BLOCK_LD | Op::SVM_BLOCK_ST, _) => Some("reserved bits of a block"),
            _ => None,
        },
        _ => None,
    }
}

/// Labels by the order in which they occur, strings by their text.
fn comparable(body: &Body<'_>) -> Vec<(Instruction, Vec<String>)> {
    let mut labels: HashMap<LabelId, u16> = HashMap::new();
    let mut convert = |instruction: &Instruction| {
        let mut instruction = instruction.clone();
        let mut strings = Vec::new();
        for field in &mut instruction.fields {
            match &mut field.value {
                Value::Label(id) => {
                    let next = u16::try_from(labels.len()).unwrap();
                    *id = LabelId(*labels.entry(*id).or_insert(next));
                }
                Value::String(id) => {
                    let text = body.string(*id).unwrap_or_default();
                    strings.push(String::from_utf8_lossy(text).into_owned());
                    *id = StringId(0);
                }
                _ => {}
            }
        }
        (instruction, strings)
    };
    body.code
        .iter()
        .filter_map(|item| match item {
            Item::Instruction(instruction) => Some(convert(instruction)),
            Item::Raw(_) => None,
        })
        .collect()
}

fn difference(
    object: &Object<'_>,
    a: &Body<'_>,
    b: &Body<'_>,
    synthetic: bool,
    totals: &mut Totals,
) -> Option<String> {
    let (a, b) = (comparable(a), comparable(b));
    for i in 0..a.len().max(b.len()) {
        let (Some((x, s)), Some((y, t))) = (a.get(i), b.get(i)) else {
            return Some(format!("{} instructions, here {}", a.len(), b.len()));
        };
        if x.op != y.op || s != t || x.fields.len() != y.fields.len() {
            return Some(format!(
                "instruction {i}: {:?} {s:?}, here {:?} {t:?}",
                x.op, y.op
            ));
        }
        for (f, g) in x.fields.iter().zip(&y.fields).filter(|(f, g)| f != g) {
            match loss(x.op, f, g, object) {
                Some(loss) => *totals.losses.entry(loss).or_default() += 1,
                None if synthetic => {
                    // The text is the same, so the text does not show the field.
                    let silent = format!("{} of {}", f.name, x.def().mnemonic());
                    *totals.silent.entry(silent).or_default() += 1;
                }
                None => {
                    return Some(format!(
                        "instruction {i}: {:?} {}: {:?}, here {:?}",
                        x.op, f.name, f.value, g.value
                    ));
                }
            }
        }
    }
    None
}
