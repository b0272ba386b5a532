//! The productions of the grammar of Intel's assembler, of IGC releases up to 2026-08, each with lines of
//! it: `grammar/accepted.txt` holds what assembles, `grammar/refused.txt` what the binary form cannot
//! express, with the message that says so, `grammar/same.txt` pairs with the same meaning,
//! `grammar/text_only.txt` what only objects of version 4.2 can hold, which have no binary form.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use visakit_isa::object::Object;
use visakit_isa::{Dialect, Version};
use visakit_parse::ReadOptions;
use visakit_text::asm::{Errors, Options, assemble, assemble_in_any_dialect};
use visakit_text::{Form, Options as PrintOptions, Printer};

const ACCEPTED: &str = include_str!("grammar/accepted.txt");
const SAME: &str = include_str!("grammar/same.txt");
const REFUSED: &str = include_str!("grammar/refused.txt");
const TEXT_ONLY: &str = include_str!("grammar/text_only.txt");

const HEAD: &str = ".version 4.1
.kernel \"k\"
.decl U v_type=G type=ud num_elts=256 align=GRF
.decl D v_type=G type=d num_elts=256 align=GRF
.decl F v_type=G type=f num_elts=256 align=GRF
.decl H v_type=G type=hf num_elts=256 align=GRF
.decl DF v_type=G type=df num_elts=64 align=GRF
.decl Q v_type=G type=uq num_elts=64 align=GRF
.decl W v_type=G type=uw num_elts=256 align=GRF
.decl B v_type=G type=ub num_elts=256 align=GRF
.decl A0 v_type=A num_elts=16
.decl A1 v_type=A num_elts=1
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.decl P3 v_type=P num_elts=16
.decl S0 v_type=S num_elts=1 v_name=sampler
.decl T6 v_type=T num_elts=1 v_name=surface
.kernel_attr Target=\"3d\"
.kernel_attr SimdSize=16
";

/// The lines of a list, each with the dialect that it needs.
fn lines(list: &str) -> impl Iterator<Item = (Dialect, &str)> {
    let lines = list
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.map(|line| {
        let dialect = line
            .split_once('|')
            .and_then(|(name, rest)| Some((Dialect::from_name(name)?, rest)));
        dialect.unwrap_or((Dialect::default(), line))
    })
}

/// A text with the line, and with the label that it may jump to.
fn text_of(line: &str) -> String {
    let line = line.replace("\\n", "\n");
    let label = match line.split_once(" L1").or_else(|| line.split_once("\"L1")) {
        Some((before, _)) if before.contains("call") => "\n.function \"L1\"\n",
        Some(_) if !line.contains("L1:") => "\nL1:\n",
        _ => "\n",
    };
    format!("{HEAD}    {line}{label}")
}

fn assembled(text: &str, dialect: Dialect) -> Result<Object<'_>, Errors> {
    let options = Options {
        dialect: Some(dialect),
        ..Options::default()
    };
    assemble(text.as_bytes(), &options)
}

#[test]
fn accepted_lines_become_objects_that_print() {
    for (dialect, line) in lines(ACCEPTED) {
        let text = text_of(line);
        let object = assembled(&text, dialect).unwrap_or_else(|f| panic!("{line}: {}", f[0]));
        let bytes = visakit_encode::write(&object).unwrap_or_else(|e| panic!("{line}: {e}"));
        let options = ReadOptions {
            lenient: false,
            dialect: Some(dialect),
        };
        let read = visakit_parse::read_with(&bytes, options);
        let read = read.unwrap_or_else(|e| panic!("{line}: {e}")).object;
        assert_eq!(read.kernels[0].body(), object.kernels[0].body(), "{line}");
        let mut printed = Vec::new();
        let printer = Printer::new(&read, PrintOptions::default());
        for (id, _) in read.routines() {
            let Ok(()) = printer.routine(id, &mut printed);
        }
        let printed = String::from_utf8(printed).unwrap();
        let again = assembled(&printed, dialect);
        if let Err(faults) = again {
            panic!("{line}: {}\n{printed}", faults[0]);
        }
    }
}

/// Text that only 4.2 can express assembles to an object of that version, whose text assembles to the same
/// object, in every form.
#[test]
fn lines_of_text_only_make_objects_that_print() {
    for (_, line) in lines(TEXT_ONLY) {
        let text = text_of(line).replace(".version 4.1", ".version 4.2");
        let made = |text: &[u8]| {
            let made = assemble_in_any_dialect(text, &Options::default());
            let made = made.unwrap_or_else(|f| panic!("{line}: {}", f[0]));
            made.object.into_owned()
        };
        let object = made(text.as_bytes());
        assert_eq!(object.version, Version::V4_2, "{line}");
        for form in [Form::Plain, Form::Exact] {
            let mut printed = Vec::new();
            let options = PrintOptions {
                form,
                ..PrintOptions::default()
            };
            let Ok(()) = Printer::new(&object, options).object(&mut printed);
            let again = made(&printed);
            let shown = String::from_utf8_lossy(&printed);
            // A declaration after all others does not have the string that one among them has.
            if form == Form::Exact || !line.starts_with(".decl") {
                assert_eq!(again.kernels, object.kernels, "{line}: {shown}");
            }
            let mut reprinted = Vec::new();
            let Ok(()) = Printer::new(&again, options).object(&mut reprinted);
            assert_eq!(reprinted, printed, "{line}: {shown}");
        }
        let tidy = visakit_text::format(text.as_bytes(), &Options::default()).unwrap();
        assert_eq!(made(&tidy).kernels, object.kernels, "{line}");
        let error = visakit_encode::write(&object).unwrap_err();
        assert!(!error.help().is_empty());
    }
}

#[test]
fn lines_that_mean_the_same_make_the_same() {
    for (dialect, line) in lines(SAME) {
        let (one, other) = line.split_once(" == ").unwrap();
        let (one, other) = (text_of(one), text_of(other));
        let [one, other] = [&one, &other].map(|text| {
            let object = assembled(text, dialect);
            let object = object.unwrap_or_else(|f| panic!("{line}: {}", f[0]));
            object.kernels[0].body().unwrap().code.clone()
        });
        assert_eq!(one, other, "{line}");
    }
}

/// The first instruction of a text.
fn first(text: &str) -> visakit_isa::Instruction {
    let object = assemble(text.as_bytes(), &Options::default());
    let object = object.unwrap_or_else(|f| panic!("{text}: {}", f[0]));
    let found = object.kernels[0].body().unwrap().instructions().next();
    found.unwrap().clone()
}

/// Intel's assemblers store one more than the last relation.
#[test]
fn a_comparison_without_relation_stores_that_there_is_none() {
    let compare = first(&text_of("cmp (M1, 16) P1 U(0,0)<1;1,0> 2:ud"));
    let relation = compare.get(visakit_isa::FieldName::RelOp);
    assert_eq!(relation, Some(&visakit_isa::Value::U8(6)));
}

/// Before 3.2 the mask said which channels are absent, and the size of the message was not stored.
#[test]
fn typed_messages_of_old_versions() {
    let version = |version: &str| {
        let text = text_of("gather4_typed.R (M5_NM, 8) T6 U.0 U.0 U.0 %null.0 U.0");
        text.replace("4.1", version)
    };
    let bytes = |text: &str, number| {
        let format = visakit_isa::Format::new(Version::new(3, number), Dialect::default());
        visakit_encode::instruction(&first(text), format).unwrap()[..3].to_vec()
    };
    assert_eq!(bytes(&version("3.1"), 1), [0x4b, 0x0e, 0xc0]);
    assert_eq!(bytes(&version("3.2"), 2)[..2], [0x4b, 0xc3]);
}

#[test]
fn refused_lines_say_why() {
    for (dialect, line) in lines(REFUSED) {
        let (line, message) = line.split_once(" => ").unwrap();
        let text = text_of(line);
        match assembled(&text, dialect) {
            Ok(_) => panic!("{line}: accepted"),
            Err(faults) => assert_eq!(faults[0].to_string(), message, "{line}"),
        }
    }
}

/// Texts of 4.2 always say which surface is paired, mostly none.
#[test]
fn texts_of_newer_compilers_name_a_paired_surface() {
    let with = text_of("sample_3d.R (M1, 8) 0x0:uw S0 T6 F.0 %null.0 F.0");
    let without = text_of("sample_3d.R (M1, 8) 0x0:uw S0 T6 F.0 F.0");
    let older = assembled(&without, Dialect::Writer2018).unwrap();
    let newest = with.replace(".version 4.1", ".version 4.2");
    let object = assembled(&newest, Dialect::Writer2018).unwrap();
    assert_eq!(object, older);
    assert_eq!(object.version, Version::V4_1);
    let paired = newest.replace("%null.0", "U.0");
    let faults = assembled(&paired, Dialect::Writer2018).unwrap_err();
    assert!(
        faults[0].message.contains("paired_surface"),
        "{}",
        faults[0]
    );
    assert!(assembled(&paired, Dialect::Reader2024_02).is_ok());
}

/// Before 4.1 nobody wrote paired surfaces.
#[test]
fn null_parameters_of_older_texts_stay() {
    let text = text_of("sample_3d.R (M1, 8) 0x0:uw S0 T6 F.0 %null.0 F.0");
    let text = text.replace(".version 4.1", ".version 4.0");
    let object = assembled(&text, Dialect::Writer2018).unwrap();
    let sample = object.kernels[0].body().unwrap().instructions().next();
    let name = visakit_isa::table::FieldName::Params;
    assert_eq!(sample.unwrap().all(name).count(), 2);
}
