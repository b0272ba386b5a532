//! Every layout of every instruction has a fixture, and every fixture reads and writes unchanged.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use visakit::isa::table::{self, FieldDef, FieldKind, KeyTest};
use visakit::isa::{
    DataType, Dialect, Features, Format, Instruction, Op, Value, VectorOperand, Version,
};
use visakit::verify::{Outcome, roundtrip};
use visakit_testing::layouts::{Case, cases, formats, key_of, keys, layout, list_of};

static CASES: LazyLock<Vec<Case>> = LazyLock::new(cases);

/// Generated cases with the instructions that they are about.
static GENERATED: LazyLock<Vec<(&Case, Instruction)>> = LazyLock::new(|| {
    CASES
        .iter()
        .filter(|case| !case.independent)
        .map(|case| (case, case.subject(&case.read())))
        .collect()
});

#[test]
fn every_case_reads_strictly_and_is_written_identically() {
    for case in &*CASES {
        match roundtrip(case.bytes.clone(), case.options()) {
            Outcome::Identical(counts) => assert!(counts.instructions > 0, "{}", case.place),
            other => panic!("{} {}: {other:?}", case.place, case.def.name),
        }
    }
}

#[test]
fn every_case_holds_its_row() {
    for case in &*CASES {
        let object = case.read();
        assert_eq!(object.format(), case.format, "{}", case.place);
        let subject = case.subject(&object);
        assert_eq!(subject.op, case.def.op, "{}", case.place);
        let expected = layout(case.def, case.format, Some(key_of(&subject))).unwrap();
        let expected = expected
            .iter()
            .filter(|(_, kind, _)| !kind.is_list() && *kind != FieldKind::Count);
        let list = list_of(case.def).map(|l| l.name);
        let found = subject.fields.iter().filter(|f| Some(f.name) != list);
        assert!(
            expected.map(|(name, _, _)| *name).eq(found.map(|f| f.name)),
            "{}: {subject:?}",
            case.place
        );
    }
}

#[test]
fn every_row_and_layout_has_a_case() {
    let covered: BTreeSet<String> = GENERATED
        .iter()
        .map(|(case, subject)| {
            let key = key_of(subject);
            let layout = layout(case.def, case.format, Some(key)).unwrap();
            let list = list_of(case.def);
            let entries = list.map_or(0, |list| subject.all(list.name).count());
            format!("{} {layout:?} {entries}", case.def.name)
        })
        .collect();
    let mut missing = BTreeSet::new();
    let mut rows = 0;
    for def in table::rows().filter(|def| def.has_layout()) {
        rows += 1;
        let mut exists = false;
        for format in formats() {
            for key in keys(def) {
                if let Some(layout) = layout(def, format, Some(key)) {
                    exists = true;
                    let lengths: &[usize] = match list_of(def) {
                        Some(_) => &[0, 3],
                        None => &[0],
                    };
                    for entries in lengths {
                        let layout = format!("{} {layout:?} {entries}", def.name);
                        if !covered.contains(&layout) {
                            missing.insert(layout);
                        }
                    }
                }
            }
        }
        assert!(exists, "{} exists in no format", def.name);
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(rows > 200, "{rows} rows");
}

/// The versions on both sides of a change have the case, not just any version of that layout; and
/// a dialect has a case of each row that it alone, or it first, lays out that way.
#[test]
fn both_sides_of_every_change_have_a_case() {
    let covered: BTreeSet<(Op, Version, Dialect)> = GENERATED
        .iter()
        .map(|(case, _)| (case.def.op, case.format.version(), case.format.dialect()))
        .collect();
    let all: Vec<Format> = formats().collect();
    for def in table::rows().filter(|def| def.has_layout()) {
        let at = |format: Format| layout(def, format, None);
        // An earlier dialect with the same layout in the same version represents this one.
        let is_new = |format: Format| {
            let mut earlier = all
                .iter()
                .filter(|f| f.version() == format.version() && f.dialect() < format.dialect());
            def.exists_in(format) && earlier.all(|f| at(*f) != at(format))
        };
        for pair in all.windows(2) {
            if pair[0].dialect() == pair[1].dialect() && at(pair[0]) != at(pair[1]) {
                for format in pair.iter().filter(|f| is_new(**f)) {
                    let wanted = (def.op, format.version(), format.dialect());
                    assert!(covered.contains(&wanted), "{} in {format:?}", def.name);
                }
            }
        }
        for format in all.iter().filter(|f| is_new(**f)) {
            let mut cases = covered.iter();
            let found = cases.any(|(op, _, d)| *op == def.op && *d == format.dialect());
            assert!(found, "{} in {}", def.name, format.dialect());
        }
    }
}

#[test]
fn every_condition_has_a_case_with_and_without() {
    let mut present: BTreeMap<Op, Vec<(Format, &Instruction)>> = BTreeMap::new();
    for (case, subject) in &*GENERATED {
        let list = present.entry(case.def.op).or_default();
        list.push((case.format, subject));
    }
    for def in table::rows().filter(|def| def.has_layout()) {
        let cases = &present[&def.op];
        // What was added in 4.2 has no layout.
        let text_only = |f: &&FieldDef| f.when.required().contains(Features::SINCE_4_2);
        for field in def.fields.iter().filter(|f| !text_only(f)) {
            let conditional = !field.when.is_always() || field.only_if.is_some();
            if conditional {
                for wanted in [true, false] {
                    assert!(
                        cases
                            .iter()
                            .any(|(_, i)| i.get(field.name).is_some() == wanted),
                        "{} {} {wanted}",
                        def.name,
                        field.name
                    );
                }
            }
            let outcome = |wanted: bool, test: KeyTest| {
                let mut keys = cases.iter().map(|(_, i)| key_of(i));
                assert!(keys.any(|key| test.holds(key) == wanted), "{}", def.name);
            };
            if let Some(test) = field.only_if {
                outcome(true, test);
                outcome(false, test);
            }
            if field.kind.is_list() {
                for length in [0, 3] {
                    let mut lengths = cases.iter().map(|(_, i)| i.all(field.name).count());
                    assert!(lengths.any(|l| l == length), "{} {length}", def.name);
                }
            }
            // The effect of a feature of the condition is visible in both widths of an index.
            for feature in field.when.depends_on().iter() {
                for wanted in [true, false] {
                    assert!(
                        cases
                            .iter()
                            .any(|(f, _)| f.features().contains(feature) == wanted),
                        "{} {feature:?} {wanted}",
                        def.name
                    );
                }
            }
        }
    }
}

/// Numbers that changed their meaning: which row, in the last version before and the first since.
#[test]
fn reused_numbers_have_cases_of_both_meanings() {
    let has = |op: Op, version| {
        let case = GENERATED
            .iter()
            .find(|(case, _)| case.def.op == op && case.format.version() == version);
        assert!(case.is_some(), "{op:?} {version}");
    };
    has(Op::IF, Version::V3_7);
    has(Op::NBARRIER, Version::V3_8);
    has(Op::PBARRIER, Version::V3_5);
    has(Op::SBARRIER, Version::V3_6);
    has(Op::BF_CVT, Version::V3_8);
    has(Op::BF_CVT, Version::V4_8);
    has(Op::UNTYPED_ATOMIC, Version::V3_6);
}

#[test]
fn every_operand_class_and_type_has_a_case() {
    let mut classes = BTreeSet::new();
    let mut types = BTreeSet::new();
    for (case, subject) in &*GENERATED {
        let wide = case.format.wide_indices();
        for field in &subject.fields {
            if let Value::Vector(operand) = &field.value {
                classes.insert((operand.class().code(), wide));
                if let VectorOperand::Immediate(immediate) = operand {
                    types.insert((immediate.data_type().code(), wide));
                }
            }
        }
    }
    assert_eq!(classes.len(), 2 * 6);
    assert_eq!(types.len(), 2 * (DataType::ALL.len() - 1));
}

/// The container in every version.
#[test]
fn every_version_and_dialect_has_a_case() {
    let covered: BTreeSet<_> = GENERATED.iter().map(|(c, _)| c.format.version()).collect();
    assert!(Version::SUPPORTED.iter().all(|v| covered.contains(v)));
    let covered: BTreeSet<_> = GENERATED.iter().map(|(c, _)| c.format.dialect()).collect();
    let expected = BTreeSet::from(Dialect::ALL);
    assert_eq!(covered, expected);
}

/// Fields with the same content, assembled from an object that Intel's readers accept, are the
/// bytes in it: the writer agrees with them without having seen the reader's input.
#[test]
fn independent_cases_are_written_field_by_field() {
    let mut cases = 0;
    let mut rows = BTreeSet::new();
    for case in CASES.iter().filter(|case| case.independent) {
        let container = visakit::parse::Container::parse(&case.bytes).unwrap();
        let id = container.header().routines().next().unwrap().0;
        let reader = container.routine(id).unwrap();
        let reader = reader.with_dialect(case.format.dialect());
        for instruction in reader.instructions() {
            let instruction = instruction.unwrap();
            let mut copy = Instruction::new(instruction.op());
            for field in instruction.fields() {
                if field.def.kind != FieldKind::Count {
                    copy = copy.with(field.def.name, field.value);
                }
            }
            let written = visakit::encode::instruction(&copy, case.format).unwrap();
            assert_eq!(written, instruction.bytes(), "{}", case.place);
        }
        cases += 1;
        rows.insert(case.def.name);
    }
    assert!(cases > 400 && rows.len() > 200, "{cases} {}", rows.len());
}
