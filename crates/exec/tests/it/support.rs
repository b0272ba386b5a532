//! The table of supported instructions: the page that has it, and that it is true.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)] // a test

use std::collections::BTreeSet;
use std::fmt::Write;
use visakit_exec::{Options, Program, support};
use visakit_isa::enums::Enumeration;
use visakit_isa::object::{Body, Content, Item, Object, Routine, RoutineId, RoutineKind};
use visakit_isa::operand::ImmediateOperand;
use visakit_isa::{
    DataType, Dialect, FieldName, Instruction, InstructionDef, Op, SamplerOp, Value, Version, enums,
};
use visakit_testing::layouts::Case;
use visakit_text::asm;

const BEGIN: &str = "<!-- support -->\n";
const END: &str = "<!-- /support -->\n";

#[test]
fn the_page_has_the_table() {
    let path = visakit_testing::root().join("docs/execution.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let mut table = String::from("| instruction | mnemonic | runs |\n|---|---|---|\n");
    for row in support::table() {
        let def = row.op.def();
        let mnemonic = def.mnemonics.first().copied().unwrap_or("");
        let runs = row
            .reason
            .map_or_else(|| "yes".to_owned(), |why| format!("no: {why}"));
        writeln!(table, "| {} | `{mnemonic}` | {runs} |", def.name).unwrap();
    }
    table.push_str("\nOf instructions that run, these forms do not:\n\n");
    table.push_str("| instructions | field | values | why |\n|---|---|---|---|\n");
    for form in &support::REFUSED_FORMS {
        let entries = form.enumeration.entries.iter();
        let named = entries.filter(|(code, _)| form.codes.contains(code));
        let mut names: Vec<_> = named.map(|(_, name)| format!("`{name}`")).collect();
        names.dedup();
        let (of, field, reason) = (form.instructions, form.enumeration.name, form.reason);
        writeln!(table, "| {of} | {field} | {} | {reason} |", names.join(" ")).unwrap();
    }
    visakit_testing::page::holds(&path, &format!("{head}{BEGIN}{table}{END}{tail}"));
}

/// Of every row that the page says runs, some instruction is translated.
#[test]
fn what_runs_is_translated() {
    let cases = visakit_testing::layouts::cases();
    let mut refused = Vec::new();
    for row in support::table().filter(|row| row.reason.is_none()) {
        let mut objects: Vec<Object<'_>> = cases
            .iter()
            .filter(|case| case.def.op == row.op)
            .map(Case::read)
            .collect();
        if !row.op.def().has_layout() {
            let mut body = Body::default();
            body.code.push(Instruction::new(row.op).into());
            let mut object = Object::new(Version::V4_1, Dialect::default());
            object.kernels.push(Routine::new(&b"k"[..], body));
            objects.push(object);
        }
        let code = match row.op {
            // No type of the cases is one that it converts.
            Op::BF_CVT => {
                ".version 3.8\n.kernel \"k\"\n\
                .decl A v_type=G type=f num_elts=8 align=GRF\n\
                .decl B v_type=G type=uw num_elts=8 align=GRF\n\
                bf_cvt (M1, 8) A(0,0)<1> B(0,0)<1;1,0>\n"
            }
            // These have no binary form.
            Op::SHFL_IDX4 => {
                ".version 4.2\n.kernel \"k\"\n\
                .decl U v_type=G type=ud num_elts=16 align=GRF\n\
                .decl W v_type=G type=uw num_elts=16 align=GRF\n\
                shfl_idx4 (M1, 16) U.0 U(0,0)<1;1,0> W(0,0)<1;1,0>\n"
            }
            Op::DNSCL => {
                ".version 4.2\n.kernel \"k\"\n\
                .decl U v_type=G type=ud num_elts=32 align=GRF\n\
                dnscl.hftoint4.mode3.rne (M1, 16) U.0 U.0 U.0 U.0\n"
            }
            Op::BDPAS => {
                ".version 4.2\n.kernel \"k\"\n\
                .decl F v_type=G type=f num_elts=128 align=GRF\n\
                .decl U v_type=G type=ud num_elts=128 align=GRF\n\
                .decl B v_type=G type=ub num_elts=64 align=GRF\n\
                bdpas.e2m1.e2m1.8.8 (M1, 16) F.0 F.0 U.0 U.0 B(0,16) B(0,8)\n"
            }
            _ => "",
        };
        if !code.is_empty() {
            let options = asm::Options::default();
            let made = asm::assemble_in_any_dialect(code.as_bytes(), &options);
            objects.push(made.unwrap().object);
        }
        let mut reasons = Vec::new();
        let translated = objects.into_iter().any(|mut object| {
            give_meaning(&mut object, row.op);
            let options = Options {
                strict: true,
                ..Options::default()
            };
            let kernel = RoutineId::new(RoutineKind::Kernel, 0);
            let outcome = Program::new(&object, kernel, &options);
            reasons.extend(outcome.as_ref().err().map(ToString::to_string));
            outcome.is_ok()
        });
        if !translated {
            refused.push(format!("{:?}: {reasons:?}", row.op));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// What does not run is rejected for the reason given on the page.
#[test]
fn what_does_not_run_says_why() {
    let mut checked = 0;
    for case in visakit_testing::layouts::cases() {
        let Some(reason) = support::reason(case.def.op) else {
            continue;
        };
        let options = Options {
            strict: true,
            ..Options::default()
        };
        let kernel = RoutineId::new(RoutineKind::Kernel, 0);
        match Program::new(&case.read(), kernel, &options) {
            Err(error) => assert!(
                error.to_string().contains(reason),
                "{}: {error}",
                case.place
            ),
            Ok(_) => panic!("{}: {:?} is translated", case.place, case.def.op),
        }
        checked += 1;
    }
    assert!(checked > 40, "{checked}");
}

/// Values of fields that exclude each other, or that name something, are made to fit.
fn give_meaning(object: &mut Object<'_>, op: Op) {
    let Content::Body(body) = &mut object.kernels[0].content else {
        return;
    };
    let mut called = None;
    for item in &mut body.code {
        let Item::Instruction(instruction) = item else {
            continue;
        };
        if instruction.op != op {
            continue;
        }
        for field in &mut instruction.fields {
            match (field.name, &mut field.value) {
                (FieldName::AddrType, value) => *value = Value::U8(enums::lsc_addr_type::BTI),
                (FieldName::DataSize, value) => *value = Value::U8(enums::lsc_data_size::D32),
                (FieldName::Surface, Value::Vector(operand)) => {
                    *operand = ImmediateOperand::new(DataType::Ud.into(), 3).into();
                }
                (FieldName::FuncName, Value::String(name)) => called = Some(*name),
                _ => {}
            }
        }
    }
    if let Some(name) = called.and_then(|name| body.string(name)) {
        let function = Routine::new(name.to_vec(), Body::default());
        object.functions.push(function);
    }
}

/// The row that an operation of the sampler belongs to.
fn row_of(operation: &str) -> Op {
    match operation {
        _ if operation.starts_with("sample4") => Op::GATHER4_3D,
        _ if operation.starts_with("load") => Op::LOAD_3D,
        "resinfo" | "sampleinfo" => Op::INFO_3D,
        _ => Op::SAMPLE_3D,
    }
}

/// The first kernel of an object.
pub(crate) const KERNEL: RoutineId = RoutineId::new(RoutineKind::Kernel, 0);

/// What cannot be translated is an error.
pub(crate) fn strict() -> Options {
    Options {
        strict: true,
        ..Options::default()
    }
}

/// An instruction with a value of a field with names.
pub(crate) struct Form {
    pub(crate) def: &'static InstructionDef,
    enumeration: &'static Enumeration,
    code: u8,
    pub(crate) name: &'static str,
}

/// For every row that runs, an object for every value of every field with names.
pub(crate) fn each_form(mut see: impl FnMut(&Form, &Object<'_>)) {
    let options = strict();
    for case in visakit_testing::layouts::cases() {
        let (op, def) = (case.def.op, case.def);
        let mut object = case.read();
        give_meaning(&mut object, op);
        if support::reason(op).is_some() || Program::new(&object, KERNEL, &options).is_err() {
            continue;
        }
        for field in def.fields {
            let Some(enumeration) = field.enumeration else {
                continue;
            };
            for (code, name) in enumeration.entries {
                if std::ptr::eq(enumeration, &raw const enums::SAMPLER_OP) && row_of(name) != op {
                    continue;
                }
                let mut object = object.clone();
                set(&mut object, op, field.name, enumeration, *code);
                let form = Form {
                    def,
                    enumeration,
                    code: *code,
                    name,
                };
                see(&form, &object);
            }
        }
    }
}

/// For every row that runs, every value of every field with names is translated, or listed among those that are
/// rejected, with the reason.
#[test]
fn every_form_runs_or_is_listed() {
    let options = strict();
    let (mut met, mut wrong) = (BTreeSet::new(), Vec::new());
    let mut forms = 0;
    each_form(|form, object| {
        let Form {
            def,
            enumeration,
            code,
            name,
        } = *form;
        let listed = support::REFUSED_FORMS.iter().position(|form| {
            std::ptr::eq(form.enumeration, enumeration)
                && form.codes.contains(&code)
                && (form.applies)(def)
        });
        let form = format!("{:?}, {} = {name}", def.op, enumeration.name);
        match (Program::new(object, KERNEL, &options), listed) {
            // If another field makes this one irrelevant, listed ones run as well.
            (Ok(_), _) => {}
            (Err(error), Some(number)) => {
                let reason = support::REFUSED_FORMS[number].reason;
                assert!(error.to_string().contains(reason), "{form}: {error}");
                met.insert((number, code));
            }
            (Err(error), None) => {
                wrong.push(format!("{form} is refused, and not listed: {error}"));
            }
        }
        forms += 1;
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(forms > 1000, "{forms}");
    for (number, form) in support::REFUSED_FORMS.iter().enumerate() {
        for code in form.codes {
            assert!(
                met.contains(&(number, *code)),
                "{form:?}: {code} is not met"
            );
        }
    }
}

/// Sets a field of the instructions of a row.
fn set(object: &mut Object<'_>, op: Op, name: FieldName, of: &Enumeration, code: u8) {
    let Content::Body(body) = &mut object.kernels[0].content else {
        return;
    };
    let bits = code << of.mask.trailing_zeros();
    for item in &mut body.code {
        let Item::Instruction(instruction) = item else {
            continue;
        };
        for field in &mut instruction.fields {
            if instruction.op != op || field.name != name {
                continue;
            }
            match &mut field.value {
                Value::U8(byte) => *byte = *byte & !of.mask | bits,
                Value::SamplerOp(value) => *value = SamplerOp::new(bits, value.flags()),
                other => panic!("{op:?}: {other:?} has names"),
            }
        }
    }
}
