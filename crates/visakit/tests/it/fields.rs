//! A field of an instruction is where the reader reports it, and nowhere else: changing it changes
//! those bytes and no others.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use crate::alternatives::alternatives;
use std::collections::BTreeSet;
use visakit::encode;
use visakit::isa::object::{Item, Object};
use visakit::isa::operand::{ImmediateOperand, VectorOperand};
use visakit::isa::table::{FieldDef, FieldKind};
use visakit::isa::{DataType, Field, Instruction, StringId, Value};
use visakit::parse::{Container, InstructionRef};
use visakit_testing::layouts::{Case, cases, key_of, layout};

/// The code of a case and the instruction that it is about, as a view.
fn view(case: &Case) -> InstructionRef<'_> {
    let container = Container::parse(&case.bytes).unwrap();
    let id = container.header().routines().next().unwrap().0;
    let reader = container.routine(id).unwrap();
    let reader = reader.with_dialect(case.format.dialect());
    reader
        .instructions()
        .map(Result::unwrap)
        .find(|i| i.op() == case.def.op)
        .unwrap()
}

/// The object with another instruction in place of the one that the case is about.
fn with(case: &Case, object: &Object<'_>, instruction: &Instruction) -> Vec<u8> {
    let mut object = object.clone();
    let body = object.kernels[0].body_mut().unwrap();
    let place = body.code.iter_mut().find_map(|item| match item {
        Item::Instruction(i) if i.op == case.def.op => Some(i),
        _ => None,
    });
    *place.unwrap() = instruction.clone();
    encode::write(&object).unwrap_or_else(|e| panic!("{}: {e}", case.place))
}

/// Reads an object that was written and returns the instruction of the case.
fn reread(case: &Case, bytes: Vec<u8>) -> Instruction {
    let case = Case {
        bytes,
        ..case.clone()
    };
    case.subject(&case.read())
}

fn differences(a: &[u8], b: &[u8]) -> Vec<usize> {
    assert_eq!(a.len(), b.len());
    (0..a.len()).filter(|i| a[*i] != b[*i]).collect()
}

/// Whether the field's value decides which other fields exist.
fn steers(def: &FieldDef) -> bool {
    def.is_key || def.kind == FieldKind::Count
}

#[test]
fn a_change_of_a_part_changes_its_bytes_only() {
    let mut kinds = BTreeSet::new();
    let mut changes = 0;
    for case in cases() {
        let object = case.read();
        let subject = case.subject(&object);
        let view = view(&case);
        let start = usize::try_from(view.offset()).unwrap();
        let fields = view.fields().filter(|f| f.def.kind != FieldKind::Count);
        for (number, field) in fields.enumerate() {
            assert_eq!(subject.fields[number].value, field.value);
            if steers(field.def) {
                continue;
            }
            for (what, value, part) in alternatives(field.def.kind, &field.value, case.format) {
                let at = || format!("{} {} {} {what}", case.place, case.def.name, field.def.name);
                assert_ne!(value, field.value, "{}", at());
                let mut changed = subject.clone();
                changed.fields[number].value = value;
                let written = with(&case, &object, &changed);
                let differing = differences(&case.bytes, &written);
                let first = start + field.start;
                let range = first + part.start..first + part.end;
                assert!(range.end <= start + field.end, "{}", at());
                assert!(!differing.is_empty(), "{}", at());
                assert!(
                    differing.iter().all(|d| range.contains(d)),
                    "{}: {differing:x?} outside of {range:x?}",
                    at()
                );
                assert_eq!(
                    encode::instruction(&changed, case.format).unwrap(),
                    &written[start..start + view.len()],
                    "{}",
                    at()
                );
                // Both tables of a state operand have two entries, so even its class may change;
                // objects that are not ours have fewer of everything.
                if !case.independent {
                    assert_eq!(reread(&case, written), changed, "{}", at());
                }
                kinds.insert((field.def.kind.name(), what));
                changes += 1;
            }
        }
    }
    // Every kind of field and every part of a vector operand came up.
    for kind in [
        "exec_size",
        "predicate",
        "raw",
        "u8",
        "u16",
        "u32",
        "i32",
        "label",
        "string16",
        "string",
        "surface",
        "sampler",
        "variable",
        "element_count",
        "sampler_op",
        "label list",
        "raw list",
    ] {
        assert!(kinds.iter().any(|(k, _)| *k == kind), "{kind}");
    }
    for part in [
        "modifier",
        "variable",
        "row",
        "column",
        "region",
        "address",
        "offset",
        "width",
        "predicate",
        "address_offset",
        "property",
        "bits",
        "type",
        "class",
        "index",
    ] {
        assert!(kinds.contains(&("vector", part)), "{part}");
    }
    assert!(changes > 20_000, "{changes}");
}

/// A key of the same outcome is one byte or two; of another outcome it is another layout, and the
/// fields of the old one are refused.
#[test]
fn a_change_of_a_key_is_another_layout() {
    let mut same = 0;
    let mut refused = 0;
    for case in cases().iter().filter(|case| !case.independent) {
        let object = case.read();
        let subject = case.subject(&object);
        let Some(number) = case.def.fields.iter().position(|f| f.is_key).and_then(|i| {
            let name = case.def.fields[i].name;
            subject.fields.iter().position(|f| f.name == name)
        }) else {
            continue;
        };
        for bit in 0..16 {
            let key = key_of(&subject) ^ 1 << bit;
            let mut changed = subject.clone();
            changed.fields[number].value = match subject.fields[number].value {
                Value::U8(_) if bit > 7 => continue,
                Value::U8(_) => Value::U8(u8::try_from(key).unwrap()),
                _ => Value::U16(key),
            };
            let layouts =
                [key_of(&subject), key].map(|key| layout(case.def, case.format, Some(key)));
            let written = encode::instruction(&changed, case.format);
            if layouts[0] == layouts[1] {
                let view = view(case);
                let field = view.fields().find(|f| f.def.is_key).unwrap();
                let differing = differences(view.bytes(), &written.unwrap());
                let expected = field.start + bit / 8;
                assert_eq!(differing, [expected], "{} bit {bit}", case.place);
                same += 1;
            } else {
                let error = written.unwrap_err();
                assert!(
                    matches!(
                        error.kind(),
                        encode::ErrorKind::FieldOrder { .. } | encode::ErrorKind::ExtraField(_)
                    ),
                    "{error}"
                );
                refused += 1;
            }
        }
    }
    assert!(same > 50 && refused > 50, "{same} {refused}");
}

/// The count of a list follows from its entries.
#[test]
fn entries_change_the_count() {
    let mut lists = 0;
    for case in cases().iter().filter(|case| !case.independent) {
        let Some(list) = visakit_testing::layouts::list_of(case.def) else {
            continue;
        };
        let subject = case.subject(&case.read());
        let bytes = view(case).bytes().to_vec();
        let count = view(case).fields().find(|f| f.def.kind == FieldKind::Count);
        let count = count.unwrap();
        let entry = Field {
            name: list.name,
            value: match list.kind {
                FieldKind::Labels => Value::Label(visakit::isa::LabelId(2)),
                _ => Value::Raw(visakit::isa::RawOperand::NULL),
            },
        };
        let mut longer = subject.clone();
        longer.fields.push(entry);
        let written = encode::instruction(&longer, case.format).unwrap();
        let mut expected = bytes.clone();
        expected[count.start] += 1;
        assert_eq!(&written[..bytes.len()], expected);
        let width = match (list.kind, case.format.wide_indices()) {
            (FieldKind::Labels, _) => 2,
            (_, false) => 4,
            (_, true) => 6,
        };
        assert_eq!(written.len(), bytes.len() + width);
        longer.fields.extend(vec![entry; 255]);
        let error = encode::instruction(&longer, case.format).unwrap_err();
        assert!(matches!(
            error.kind(),
            encode::ErrorKind::TooLarge { bits: 8, value } if value > 255
        ));
        lists += 1;
    }
    assert!(lists > 10, "{lists}");
}

/// An immediate of another size moves what follows, and changes the sizes in the header.
#[test]
fn a_wider_immediate_is_another_layout() {
    let mut wider = 0;
    for case in cases().iter().filter(|case| !case.independent) {
        let object = case.read();
        let subject = case.subject(&object);
        for number in 0..subject.fields.len() {
            let Value::Vector(VectorOperand::Immediate(immediate)) = subject.fields[number].value
            else {
                continue;
            };
            if ImmediateOperand::wire_size(immediate.data_type()) != Some(4) {
                continue;
            }
            let mut changed = subject.clone();
            let bits = immediate.bits() | 0x0102_0304 << 32;
            changed.fields[number].value = Value::Vector(VectorOperand::Immediate(
                ImmediateOperand::new(DataType::Uq.into(), bits),
            ));
            let written = with(case, &object, &changed);
            assert_eq!(written.len(), case.bytes.len() + 4);
            assert_eq!(reread(case, written), changed);
            // These bits in a type of four bytes would lose the upper half: refused.
            let mut narrow = changed.clone();
            narrow.fields[number].value = Value::Vector(VectorOperand::Immediate(
                ImmediateOperand::new(DataType::Ud.into(), bits),
            ));
            let error = encode::instruction(&narrow, case.format).unwrap_err();
            assert_eq!(error.kind(), encode::ErrorKind::NoPlace);
            assert_eq!(error.context().field, Some("high"));
            wider += 1;
        }
    }
    assert!(wider > 50, "{wider}");
}

/// A value that the width of the format cannot hold is refused, whatever the field.
#[test]
fn indices_beyond_sixteen_bits_need_wide_indices() {
    let mut refused = 0;
    for case in cases().iter().filter(|case| !case.independent) {
        let subject = case.subject(&case.read());
        for number in 0..subject.fields.len() {
            let mut changed = subject.clone();
            let kind = case.def.fields.iter();
            let kind = kind.clone().find(|f| f.name == subject.fields[number].name);
            let kind = kind.unwrap().kind;
            match &mut changed.fields[number].value {
                Value::Raw(raw) => raw.variable.0 = 0x1_0000,
                Value::Vector(VectorOperand::General(o)) => o.variable.0 = 0x1_0000,
                Value::Lifetime(v) => v.0 = 0x1_0000,
                Value::String(v) => *v = StringId(0x1_0000),
                _ => continue,
            }
            let written = encode::instruction(&changed, case.format);
            if case.format.wide_indices() && kind != FieldKind::StringIndex16 {
                let length = view(case).len();
                assert_eq!(written.unwrap().len(), length, "{}", case.place);
            } else {
                let expected = encode::ErrorKind::TooLarge {
                    value: 0x1_0000,
                    bits: 16,
                };
                assert_eq!(written.unwrap_err().kind(), expected, "{}", case.place);
                refused += 1;
            }
        }
    }
    assert!(refused > 500, "{refused}");
}
