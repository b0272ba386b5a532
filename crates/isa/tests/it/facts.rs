//! The table against an independent statement of the same facts: `instructions.json` of the
//! reference data, which was checked on real objects and against Intel's readers.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use serde_json::Value as Json;
use std::collections::BTreeSet;
use visakit_isa::table::{self, FieldDef, FieldKind, KeyTest, Lookup, Status};
use visakit_isa::{Condition, Dialect, Features, Format, InstructionDef, Version};

fn facts() -> Option<Json> {
    let path = visakit_testing::shared("the table", "format/instructions.json")?;
    let text = std::fs::read_to_string(path).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

fn feature(name: &str) -> Features {
    match name {
        "lsc_surface_index" => Features::LSC_SURFACE_INDEX,
        "ifcall_flags" => Features::IFCALL_FLAGS,
        "paired_surface" => Features::PAIRED_SURFACE,
        "nbarrier_general" => Features::NBARRIER_GENERAL,
        "dpas_pred" => Features::DPAS_PREDICATE,
        other => panic!("unknown feature {other}"),
    }
}

fn since(version: &Json) -> Features {
    let part = |i: usize| u8::try_from(version[i].as_u64().unwrap()).unwrap();
    let version = Version::new(part(0), part(1));
    let found = Features::THRESHOLDS.iter().find(|(_, v)| *v == version);
    found.unwrap().0
}

/// The conditions of a fact, as the table expresses them.
fn conditions(fact: &Json) -> (Condition, Option<KeyTest>) {
    let (mut when, mut only_if) = (Condition::ALWAYS, None);
    for test in fact["when"].as_array().into_iter().flatten() {
        if let Some(version) = test.get("version_ge") {
            when = when.and(Condition::with(since(version)));
        } else if let Some(version) = test.get("version_lt") {
            when = when.and(Condition::without(since(version)));
        } else if let Some(name) = test.get("feature") {
            when = when.and(Condition::with(feature(name.as_str().unwrap())));
        } else if let Some(name) = test.get("feature_absent") {
            when = when.and(Condition::without(feature(name.as_str().unwrap())));
        } else if let Some(bit) = test.get("bit") {
            only_if = Some(KeyTest::Bit(u8::try_from(bit.as_u64().unwrap()).unwrap()));
        } else {
            let value = u16::try_from(test["eq"].as_u64().unwrap()).unwrap();
            only_if = Some(KeyTest::Equals(value));
        }
    }
    (when, only_if)
}

fn kind(fact: &Json) -> FieldKind {
    let name = fact["name"].as_str().unwrap();
    match fact["kind"].as_str().unwrap() {
        "exec_size" => FieldKind::ExecSize,
        "pred" => FieldKind::Predicate,
        "vec" => FieldKind::Vector,
        "raw" => FieldKind::Raw,
        "u8" if name == "op8" => FieldKind::SamplerOp,
        "u8" if name == "num_elts" => FieldKind::ElementCount,
        "u8" if name == "num_labels" || name == "num_params" => FieldKind::Count,
        "u8" => FieldKind::U8,
        "u16" => FieldKind::U16,
        "u32" => FieldKind::U32,
        "i32" => FieldKind::I32,
        "label" => FieldKind::Label,
        "string_index16" => FieldKind::StringIndex16,
        "string_index" => FieldKind::StringIndex,
        "surface" => FieldKind::Surface,
        "sampler" => FieldKind::Sampler,
        "var_id" => FieldKind::Lifetime,
        "repeat" if fact["of"] == "label" => FieldKind::Labels,
        "repeat" => FieldKind::Raws,
        other => panic!("unknown kind {other}"),
    }
}

fn compare(row: &InstructionDef, fields: &Json) {
    let mut facts = Vec::new();
    for fact in fields.as_array().unwrap() {
        match fact["name"].as_str().unwrap() {
            // One field of the table, whose width depends on the version.
            "op16" => {}
            "op8" => facts.push(("op", kind(fact), Condition::ALWAYS, None)),
            name => {
                let (when, only_if) = conditions(fact);
                facts.push((name, kind(fact), when, only_if));
            }
        }
    }
    // The facts are about bytes, which features of 4.2 do not have.
    let has_bytes = |f: &&FieldDef| !f.when.required().contains(Features::SINCE_4_2);
    let fields = row.fields.iter().filter(has_bytes);
    let table: Vec<_> = fields
        .map(|f| (f.name.as_str(), f.kind, f.when, f.only_if))
        .collect();
    if !row.has_layout() {
        // The kinds of operands are only stated by the language.
        let names: Vec<_> = table.iter().map(|f| f.0).collect();
        let facts: Vec<_> = facts.iter().map(|f| f.0).collect();
        assert_eq!(names, facts, "{}", row.name);
        return;
    }
    assert_eq!(table, facts, "{}", row.name);
}

#[test]
fn the_table_states_the_facts() {
    let Some(facts) = facts() else { return };
    let newest = Format::new(Version::V4_1, Dialect::Reader2026_04);
    let oldest = Format::new(Version::V3_0, Dialect::Writer2018);
    let mut compared = BTreeSet::new();
    for fact in facts["instructions"].as_array().unwrap() {
        let opcode = u8::try_from(fact["opcode"].as_u64().unwrap()).unwrap();
        let status = fact["status"].as_str().unwrap();
        if status == "reserved" {
            assert!(matches!(table::lookup(opcode, newest), Lookup::Unknown(_)));
            continue;
        }
        let has_layout = status == "active" || status == "legacy";
        if let Some(subs) = fact["sub_ops"].as_object() {
            let Lookup::SubOps(rows) = table::lookup(opcode, newest) else {
                panic!("{opcode:#x} has no sub-operations");
            };
            for (code, sub) in subs {
                let row = rows.get(code.parse().unwrap()).unwrap();
                compare(row, &sub["fields"]);
                assert_eq!(row.mnemonics[0], sub["mnemonics"][0].as_str().unwrap());
                compared.insert(row.op);
            }
            continue;
        }
        for variant in fact["variants"].as_array().into_iter().flatten() {
            let Lookup::Instruction(row) = table::lookup(opcode, oldest) else {
                panic!("{opcode:#x} had no older meaning");
            };
            assert_eq!(row.when, conditions(variant).0);
            compare(row, &variant["fields"]);
            compared.insert(row.op);
        }
        let row = table::rows()
            .find(|r| r.op.opcode() == opcode && !compared.contains(&r.op))
            .unwrap();
        compare(row, &fact["fields"]);
        assert_eq!(row.has_layout(), has_layout, "{}", row.name);
        assert_eq!(
            row.status == Status::Retired,
            status == "legacy",
            "{}",
            row.name
        );
        for mnemonic in fact["mnemonics"].as_array().unwrap() {
            let mnemonic = mnemonic.as_str().unwrap();
            assert!(
                row.mnemonics.contains(&mnemonic),
                "{}: {mnemonic}",
                row.name
            );
        }
        compared.insert(row.op);
    }
    // RT_READ is described by the written specification only.
    let missing: Vec<_> = table::rows()
        .filter(|row| !compared.contains(&row.op))
        .map(|row| row.name)
        .collect();
    assert_eq!(missing, ["RT_READ"]);
}
