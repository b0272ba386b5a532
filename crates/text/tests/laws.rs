//! What is printed can be assembled again, and gives the same instructions.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of a test that reports

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use visakit_isa::object::{Body, Item, LabelKind, Object};
use visakit_isa::table::FieldName;
use visakit_isa::{Field, Instruction, LabelId, Op, Region, StringId, Value, VectorOperand};
use visakit_text::{Form, Options, Printer, asm};

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/objects");

#[derive(Default)]
struct Totals {
    objects: usize,
    routines: usize,
    same: usize,
    instructions: usize,
    /// What text does not tell, each with how often.
    losses: BTreeMap<&'static str, usize>,
    reasons: Vec<String>,
}

#[test]
fn printed_text_assembles_to_the_same_instructions() {
    let mut totals = Totals::default();
    let mut files = Vec::new();
    find(Path::new(FIXTURES), &mut files);
    if Path::new(SHARED).is_dir() {
        for folder in ["asm", "ocl", "isa"] {
            find(&Path::new(SHARED).join(folder), &mut files);
        }
    } else {
        println!("FIXTURES ONLY: the shared corpus is not at {SHARED}");
    }
    for file in files {
        check(&file, &mut totals);
    }
    println!(
        "{} objects, {} routines, {} instructions: {} routines the same",
        totals.objects, totals.routines, totals.instructions, totals.same
    );
    for (loss, count) in &totals.losses {
        println!("not told by text, {count} times: {loss}");
    }
    for reason in &totals.reasons {
        println!("{reason}");
    }
    assert!(totals.reasons.is_empty());
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|e| e == "isa") {
            files.push(path);
        }
    }
}

fn check(file: &Path, totals: &mut Totals) {
    let bytes = fs::read(file).unwrap();
    // Broken objects are in the corpus too.
    let Ok(object) = visakit_parse::read(&bytes) else {
        return;
    };
    totals.objects += 1;
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let mut text = Vec::new();
    let printer = Printer::new(
        &object,
        Options {
            form: Form::Intel,
            grf_bytes: Some(32),
        },
    );
    for (id, _) in object.routines() {
        let Ok(()) = printer.routine(id, &mut text);
        text.push(b'\n');
    }
    let options = asm::Options {
        version: Some(object.version),
        dialect: Some(object.dialect),
        grf_bytes: Some(32),
    };
    match asm::assemble(&text, &options) {
        Ok(again) => {
            for ((_, a), (_, b)) in object.routines().zip(again.routines()) {
                totals.routines += 1;
                let (a, b) = (a.body().unwrap(), b.body().unwrap());
                totals.instructions += a.code.len();
                match difference(&object, a, b, totals) {
                    None => totals.same += 1,
                    Some(difference) => totals.reasons.push(format!("{name}: {difference}")),
                }
            }
        }
        Err(faults) => {
            if let Some(loss) = untellable(&object) {
                return *totals.losses.entry(loss).or_default() += 1;
            }
            for fault in faults.iter().take(3) {
                let (line, _) = fault.span.place(&text);
                let line = text.split(|c| *c == b'\n').nth(line - 1).unwrap();
                let line = String::from_utf8_lossy(line);
                totals.reasons.push(format!("{name}: {fault}: {line}"));
            }
        }
    }
}

/// What an object has that its text cannot say at all.
fn untellable(object: &Object<'_>) -> Option<&'static str> {
    if !object.file_variables.is_empty() {
        return Some("object with variables of the file");
    }
    let mut labels = object
        .routines()
        .flat_map(|(_, r)| &r.body().unwrap().labels);
    labels
        .any(|l| l.kind != LabelKind::BLOCK && l.kind != LabelKind::SUBROUTINE)
        .then_some("object with labels of a kind that text shows as a subroutine")
}

/// What text does not tell of a field, if that is all that differs.
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
    totals: &mut Totals,
) -> Option<String> {
    let (a, b) = (comparable(a), comparable(b));
    for i in 0..a.len().max(b.len()) {
        let (Some((x, s)), Some((y, t))) = (a.get(i), b.get(i)) else {
            return Some(format!("{} instructions, here {}", a.len(), b.len()));
        };
        if (x.op, y.op) == (Op::LABEL, Op::SUBROUTINE) {
            let kind = "label of a subroutine without its directive";
            *totals.losses.entry(kind).or_default() += 1;
            continue;
        }
        if x.op != y.op || s != t || x.fields.len() != y.fields.len() {
            return Some(format!(
                "instruction {i}: {:?} {s:?}, here {:?} {t:?}",
                x.op, y.op
            ));
        }
        for (f, g) in x.fields.iter().zip(&y.fields).filter(|(f, g)| f != g) {
            match loss(x.op, f, g, object) {
                Some(loss) => *totals.losses.entry(loss).or_default() += 1,
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
