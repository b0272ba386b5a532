//! Exact text carries every byte of an object.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)] // helpers of a test that reports

use visakit_isa::object::Object;
use visakit_testing::corpus::{Corpus, objects};
use visakit_text::{Form, asm};

/// Larger objects are not damaged: each is assembled ten times.
const LARGEST_DAMAGED: usize = 16_000;

fn exact(object: &Object<'_>) -> Vec<u8> {
    crate::text_of(object, Form::Exact)
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

/// Names stored beside the pools of strings, with their length, may contain any bytes.
#[test]
fn names_beside_the_pools_may_have_any_bytes() {
    let text = b".version 3.6\n.file_decl \"g\" type=ud num_elts=8 linkage=1\n.global_function \"f\"\nret (M1, 1)\n";
    let mut object = asm::assemble(text, &asm::Options::default()).unwrap();
    object.file_variables[0].name = b"\0g\0".into();
    object.functions[0].name = b"f\0\xff".into();
    let bytes = visakit_encode::write(&object).unwrap();
    let read = visakit_parse::read(&bytes).unwrap();
    let text = exact(&read);
    let again = asm::assemble(&text, &asm::Options::default()).unwrap();
    assert_eq!(visakit_encode::write(&again).unwrap(), bytes);
}

/// A routine that cannot be decoded keeps its linkage.
#[test]
fn linkage_of_a_routine_without_a_body() {
    let path = visakit_testing::fixtures().join("objects/call_stack_pvc_v41.isa");
    let bytes = std::fs::read(path).unwrap();
    let mut object = visakit_parse::read(&bytes).unwrap();
    let function = &mut object.functions[0];
    function.content = visakit_isa::object::Content::Raw(visakit_isa::object::RawItem {
        bytes: b"no code"[..].into(),
        reason: String::new(),
    });
    function.linkage = visakit_isa::object::Linkage(2);
    let text = exact(&object);
    let again = asm::assemble(&text, &asm::Options::default()).unwrap();
    assert_eq!(again.functions[0].linkage, object.functions[0].linkage);
}

/// Indices past the pool are kept, and are not confused with strings of names that the text makes
/// distinct.
#[test]
fn indices_behind_the_pool_are_kept() {
    for index in [2, 3, 4, 0xf7ff_ffff, 0xf800_0000, 0xf900_0001, u32::MAX] {
        let text = format!(
            ".version 3.6
.global_function f
//@ strings \"f\" \"v\"
//@ no_target
.decl w v_type=G type=ud num_elts=8 //@ name=\"w\">{index}
.decl v v_type=G type=ud num_elts=8 //@ name=\"v\">3
.decl x v_type=G type=ud num_elts=8
ret (M1, 1)
"
        );
        let object = asm::assemble(text.as_bytes(), &asm::Options::default()).unwrap();
        let body = object.functions[0].body().unwrap();
        let names: Vec<u32> = body.variables.iter().map(|v| v.name.0).collect();
        assert_eq!(names, [index, 3, 2]);
        assert_eq!(body.strings.len(), 3);
    }
}

/// An index just past the pool is not confused with that of the name which the text adds to it.
#[test]
fn an_index_behind_the_pool_is_no_made_name() {
    let text = b".version 3.6\n.global_function f\n.decl v v_type=G type=ud num_elts=8\n.decl w v_type=G type=ud num_elts=8\nret (M1, 1)\n";
    let mut object = asm::assemble(text, &asm::Options::default()).unwrap();
    for more in 0..3 {
        let body = object.functions[0].body_mut().unwrap();
        let end = u32::try_from(body.strings.len()).unwrap();
        body.variables[0].name.0 = end + more;
        body.variables[1].name.0 = end;
        let text = exact(&object);
        let again = asm::assemble(&text, &asm::Options::default()).unwrap();
        assert_eq!(again, object, "{more}");
    }
}

/// Objects with native code, and what the assembler makes of their exact texts after an edit.
fn edited(
    name: &str,
    edit: impl Fn(&str) -> String,
) -> (Vec<u8>, Vec<u8>, asm::Assembled<'static>) {
    let path = visakit_testing::fixtures().join("objects").join(name);
    let bytes = std::fs::read(path).unwrap();
    let object = visakit_parse::read(&bytes).unwrap();
    assert!(object.has_native());
    let text = String::from_utf8(exact(&object)).unwrap();
    let text = edit(&text).into_bytes().leak();
    let made = asm::assemble_with_source_map(text, &asm::Options::default()).unwrap();
    let written = visakit_encode::write(&made.object).unwrap();
    (bytes, written, made)
}

/// Native code is not carried over to other instructions: a driver would start it.
#[test]
fn native_code_of_changed_routines_is_left_out() {
    let stale = asm::DiagnosticKind::StaleNative;
    let kernel = "subgroups_skl_v36.isa";
    let (_, _, made) = edited(kernel, |text| text.replacen("    add (", "    mul (", 1));
    assert_eq!(made.warnings.len(), 1);
    assert_eq!(made.warnings[0].kind, stale);
    assert!(!made.object.has_native());
    let (_, _, made) = edited(kernel, |text| {
        let text = text.replacen("    add (", "    mul (", 1);
        let lines = text.lines().filter(|l| !l.starts_with("//@ compiled"));
        lines.flat_map(|l| [l, "\n"]).collect()
    });
    assert!(made.warnings.is_empty() && made.object.has_native());
    // Functions are linked into the native code of the kernels.
    let (_, _, made) = edited("call_stack_pvc_v41.isa", |text| {
        let (kernel, functions) = text.split_once(".global_function").unwrap();
        let functions = functions.replacen("    add (", "    mul (", 1);
        format!("{kernel}.global_function{functions}")
    });
    assert_eq!(made.warnings.len(), 1);
    assert!(!made.object.has_native());
}

/// Comments, blanks and the formatter change nothing.
#[test]
fn native_code_of_unchanged_routines_is_kept() {
    let commented = |text: &str| -> String {
        let lines = text.lines().map(|line| match line.strip_prefix("    ") {
            Some(line) if !line.contains("//") => {
                format!("// a note\n/* of\ntwo lines */\t{line}  // another\n")
            }
            _ => format!("{line}\n"),
        });
        lines.collect()
    };
    let formatted = |text: &str| {
        let text = visakit_text::format(text.as_bytes(), &asm::Options::default());
        String::from_utf8(text.unwrap()).unwrap()
    };
    for name in ["subgroups_skl_v36.isa", "call_stack_pvc_v41.isa"] {
        for edit in [&commented as &dyn Fn(&str) -> String, &formatted] {
            let (bytes, written, made) = edited(name, edit);
            assert!(made.warnings.is_empty());
            assert!(bytes == written);
        }
    }
}

/// A routine has one checksum, so that the time stays linear.
#[test]
fn a_second_checksum_is_a_fault() {
    let text = b".version 3.6\n.kernel \"k\"\n//@ compiled 1\n//@ compiled 2\nret (M1, 1)\n";
    let faults = asm::assemble(text, &asm::Options::default()).unwrap_err();
    assert_eq!(faults[0].kind, asm::DiagnosticKind::Directive);
    assert_eq!(faults.len(), 1);
}
