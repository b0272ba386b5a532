//! Every real and reference object, brought to every version and back.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing
)]

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
                        error.routine.is_some() || error.location.is_none(),
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
    let Some(folder) = visakit_testing::shared(test, folder) else {
        return;
    };
    check(test, &folder);
}

fn check(test: &str, folder: &Path) {
    let mut totals = Totals::default();
    for path in visakit_testing::objects(folder) {
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
        &visakit_testing::root().join("fixtures/objects"),
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

fn assembled(text: &str, version: Version) -> Object<'_> {
    let options = visakit_text::asm::Options {
        version: Some(version),
        ..Default::default()
    };
    visakit_text::asm::assemble(text.as_bytes(), &options).unwrap()
}

const LATER: Version = Version::V4_1;

/// There, a change, and back. Changed parts are kept, and nothing dangles.
fn changed_on_the_way(text: &str, change: impl FnOnce(&mut Object<'_>)) -> String {
    let object = assembled(text, Version::V3_2);
    let home = object.format();
    let mut away = convert(object.clone(), Format::new(LATER, Dialect::default())).unwrap();
    assert_eq!(convert(away.clone(), home).unwrap(), object);
    change(&mut away);
    let back = convert(away, home).unwrap();
    let written = visakit_encode::write(&back).unwrap();
    assert_eq!(visakit_parse::read(&written).unwrap().kernels, back.kernels);
    let printer = Printer::new(&back, Options::default());
    let mut text = Vec::new();
    let Ok(()) = printer.object(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn a_jump_that_was_added_keeps_the_labels() {
    use visakit_isa::{FieldName, Instruction, LabelId, Op, Predicate, Value};
    let text = "
.kernel \"k\"
.decl V v_type=G type=d num_elts=16
.decl P1 v_type=P num_elts=16
    if (M1, 16) (P1)
    mov (M1, 16) V(0,0)<1> 0x1:d
    else (M1, 16)
    mov (M1, 16) V(0,0)<1> 0x2:d
    endif (M1, 16)
    ret (M1, 1)
";
    let text = text.replace("if (M1, 16) (P1)", "(P1) if (M1, 16)");
    let untouched = changed_on_the_way(&text, |_| {});
    assert!(untouched.contains("endif") && !untouched.contains("goto"));
    let changed = changed_on_the_way(&text, |object| {
        let code = &mut object.kernels[0].body_mut().unwrap().code;
        let end = LabelId(0);
        let jump = Instruction::new(Op::JMP)
            .with(
                FieldName::ExecSize,
                Value::ExecSize(visakit_isa::ExecSize::from_bits(0)),
            )
            .with(FieldName::Pred, Value::Predicate(Predicate::NONE))
            .with(FieldName::Label, Value::Label(end));
        code.insert(0, jump.into());
    });
    assert!(
        changed.contains("jmp") && changed.contains("goto"),
        "{changed}"
    );
}

#[test]
fn an_alias_that_was_added_keeps_the_input() {
    let text = "
.kernel \"k\"
.decl V v_type=G type=ud num_elts=1
    mov (M1, 1) V(0,0)<1> %local_id_x(0,0)<0;1,0>
    ret (M1, 1)
";
    let untouched = changed_on_the_way(text, |_| {});
    assert!(untouched.contains("%local_id_x") && !untouched.contains("implicit"));
    let changed = changed_on_the_way(text, |object| {
        let body = object.kernels[0].body_mut().unwrap();
        let mut alias = body.variables.last().unwrap().clone();
        alias.name = body.variables[0].name;
        body.variables.push(alias);
    });
    assert!(changed.contains(".implicit_LOCAL_ID"), "{changed}");
}

/// Everything in an object of 4.2 that 4.1 can express is converted; what it cannot express is
/// named.
#[test]
fn what_exists_as_text_only() {
    let made = |line: &str| {
        let text = format!(
            ".version 4.2\n//@ text_only\n.kernel \"k\"\n.decl Q v_type=G type=uq num_elts=32 align=GRF\n\
             .decl U v_type=G type=ud num_elts=32 align=GRF\n    {line}\n    ret (M1, 1)\n"
        );
        let options = visakit_text::asm::Options::default();
        let made = visakit_text::asm::assemble_in_any_dialect(text.as_bytes(), &options);
        made.unwrap().object.into_owned()
    };
    let newest = Format::new(Version::V4_1, Dialect::Reader2026_04);
    let plain = made("lsc_load.ugm.ca.ca (M1, 16) U:d32 flat[Q]:a64");
    assert_eq!(plain.version, Version::V4_2);
    let converted = convert(plain, newest).unwrap();
    assert!(visakit_encode::write(&converted).is_ok());
    for (line, lost) in [
        (
            "lsc_load.ugm.ca.ca.uc (M1, 16) U:d32 flat[Q]:a64",
            "cache_l2",
        ),
        ("lsc_load.ugm.ov (M1, 16) U:d32 flat[Q]:a64", "overfetch"),
        ("breakpoint", "BREAKPOINT"),
    ] {
        let object = made(line);
        let error = visakit_encode::write(&object).unwrap_err();
        assert!(error.to_string().contains("text only"), "{error}");
        assert_eq!(error.context().instruction.unwrap().0, 0);
        let errors = convert(object, newest).unwrap_err();
        assert!(format!("{errors:?}").contains(lost), "{line}: {errors:?}");
    }
}
