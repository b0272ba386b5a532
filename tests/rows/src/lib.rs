//! Tests that a row is all that an instruction needs.
//!
//! The feature `probe` of `visakit-isa` adds three rows that no compiler knows: an operation that computes, a message
//! of the load/store cache, and an operation with a field of a new name. Nothing else in the workspace names them. They
//! are read, written, printed, assembled, validated, generated and documented nevertheless.

#![cfg(test)]

use visakit_isa::object::Object;
use visakit_isa::semantics::{Action, AtomicOp};
use visakit_isa::{AnyInstruction, FieldName, Op, Platform, Value, Version, for_each_op, table};

const PROBES: [Op; 3] = [Op::PROBE, Op::LSC_ATOMIC_PROBE, Op::PROBE_FIELD];

const TEXT: &str = "\
.version 4.1
.kernel \"k\"
.decl V32 v_type=G type=ud num_elts=16 align=GRF
.decl V33 v_type=G type=ud num_elts=16 align=GRF
.decl V34 v_type=G type=uq num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
    probe (M1, 16) V32(0,0)<1> V33(0,0)<1;1,0> 0x7:ud
    (P1) probe.sat (M1, 16) V32(0,0)<1> V33(0,0)<1;1,0> V33(0,0)<1;1,0>
    lsc_atomic_probe.ugm.df.df (M1, 16) V32:d32 flat[V34]:a64 V33 V0
    probe_field.5 (M1, 16) V32(0,0)<1> V33(0,0)<1;1,0>
    ret (M1, 1)
";

fn assembled(text: &str) -> Object<'_> {
    let options = visakit_text::asm::Options {
        version: Some(Version::V4_1),
        ..Default::default()
    };
    match visakit_text::asm::assemble(text.as_bytes(), &options) {
        Ok(object) => object,
        Err(error) => panic!("{error:?}"),
    }
}

fn findings(object: &Object<'_>, platform: Platform) -> Vec<String> {
    let options = visakit_validate::Options {
        platform: Some(platform),
        ..Default::default()
    };
    let report = visakit_validate::object(object, &options);
    report
        .findings
        .iter()
        .map(|f| format!("{} {}", f.rule.id(), f.message))
        .collect()
}

#[test]
fn rows_are_walked() {
    macro_rules! names {
        ($(#[doc = $doc:literal] $name:ident $kind:ident($($code:expr),+) $mnemonics:tt;)*) => {
            const NAMES: &[Op] = &[$(Op::$name),*];
        };
    }
    for_each_op!(names);
    assert!(PROBES.iter().all(|op| NAMES.contains(op)));
}

#[test]
fn assembled_written_read_and_printed() {
    let object = assembled(TEXT);
    let code: Vec<_> = object.kernels[0].body().unwrap().instructions().collect();
    assert_eq!(
        code.iter().map(|i| i.op()).collect::<Vec<_>>(),
        [
            Op::PROBE,
            Op::PROBE,
            Op::LSC_ATOMIC_PROBE,
            Op::PROBE_FIELD,
            Op::RET
        ]
    );
    assert_eq!(code[3].value(FieldName::Probe), Some(Value::U8(5)));
    let memory = code[2].memory().unwrap();
    assert_eq!(memory.action, Action::Atomic(AtomicOp::Xor));
    let bytes = visakit_encode::write(&object).unwrap();
    let read = visakit_parse::read(&bytes).unwrap();
    assert_eq!(read.kernels, object.kernels);
    let mut text = Vec::new();
    let printer = visakit_text::Printer::new(&read, visakit_text::Options::default());
    let Ok(()) = printer.object(&mut text);
    let text = String::from_utf8(text).unwrap();
    for line in TEXT.lines().filter(|line| line.contains("probe")) {
        // What it leaves out, because it is the default, is up to the printer.
        let (mnemonic, _) = line.trim().split_once([' ', '.']).unwrap();
        assert!(text.contains(mnemonic), "{line}\n{text}");
    }
    assert_eq!(assembled(&text).kernels, object.kernels);
}

#[test]
fn validated() {
    let object = assembled(TEXT);
    assert_eq!(findings(&object, Platform::Pvc), [""; 0]);
    // The message is of the load/store cache, which this platform does not have.
    let early = findings(&object, Platform::Tgllp).join("\n");
    assert!(
        early.contains("lsc_atomic_probe exists since DG2"),
        "{early}"
    );
    // Its operation takes one data operand.
    let lacking = TEXT.replace("V33 V0\n", "V0 V0\n");
    let lacking = findings(&assembled(&lacking), Platform::Pvc).join("\n");
    assert!(
        lacking.contains("the operand is null, and is needed"),
        "{lacking}"
    );
    let floats = TEXT.replace("type=ud num_elts=16", "type=f num_elts=16");
    let floats = findings(&assembled(&floats), Platform::Pvc).join("\n");
    assert!(floats.contains("type f, expected ud, d"), "{floats}");
}

#[test]
fn generated() {
    let mut missing = PROBES.to_vec();
    for seed in 0..2_000 {
        let config = visakit_smith::Config::for_platform(Platform::Pvc);
        let object = visakit_smith::from_seed(seed, &config);
        for routine in object.kernels.iter().chain(&object.functions) {
            for instruction in routine
                .body()
                .into_iter()
                .flat_map(|body| body.instructions())
            {
                missing.retain(|op| *op != instruction.op());
            }
        }
        if missing.is_empty() {
            return;
        }
    }
    panic!("never generated: {missing:?}");
}

#[test]
fn documented() {
    let page = table::page();
    for op in PROBES {
        let row = op.def();
        assert!(page.contains(&format!("### {}\n", row.name)), "{op:?}");
        assert!(page.contains(row.summary), "{op:?}");
    }
}
