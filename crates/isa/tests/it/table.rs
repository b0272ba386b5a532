//! Laws of the table itself.

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeSet;
use visakit_isa::table::{self, FieldKind, FieldName, Lookup};
use visakit_isa::{Dialect, Format, Op, Value, VectorOperand, Version};

fn formats() -> impl Iterator<Item = Format> {
    Version::SUPPORTED
        .into_iter()
        .flat_map(|v| Dialect::ALL.map(|d| Format::new(v, d)))
}

#[test]
fn every_row_is_found_where_it_exists() {
    for row in table::rows() {
        assert_eq!(row.op.def().op, row.op);
        assert!(!row.name.is_empty() && !row.summary.is_empty());
        let mut exists = false;
        for format in formats().filter(|f| row.exists_in(*f)) {
            exists = true;
            let found = match table::lookup(row.op.opcode(), format) {
                Lookup::Instruction(found) => found,
                Lookup::SubOps(subs) => subs.get(row.sub_op.unwrap()).unwrap(),
                Lookup::Unknown(_) => unreachable!(),
            };
            assert_eq!(found.op, row.op);
        }
        assert_eq!(exists, row.has_layout(), "{}", row.name);
    }
}

#[test]
fn operations_and_names_are_unique() {
    let ops: BTreeSet<Op> = table::rows().map(|r| r.op).collect();
    let names: BTreeSet<&str> = table::rows().map(|r| r.name).collect();
    assert_eq!(ops.len(), table::rows().count());
    assert_eq!(names.len(), table::rows().count());
}

/// Invariants that reader and writer rely on: a list is the last field, follows a count, and there
/// is at most one; a key comes before the fields that depend on it.
#[test]
fn lists_and_keys_stand_where_they_may() {
    for row in table::rows() {
        let lists = row.fields.iter().filter(|f| f.kind.is_list()).count();
        let counts = row
            .fields
            .iter()
            .filter(|f| f.kind == FieldKind::Count)
            .count();
        assert!(lists <= 1 && lists == counts, "{}", row.name);
        if lists == 1 {
            assert!(row.fields.last().unwrap().kind.is_list(), "{}", row.name);
        }
        let mut key = false;
        for field in row.fields {
            assert!(key || field.only_if.is_none(), "{}", row.name);
            key |= field.is_key || field.kind == FieldKind::Lifetime;
        }
        for format in formats() {
            let names: Vec<FieldName> = row.fields_in(format).map(|f| f.name).collect();
            let unique: BTreeSet<_> = names.iter().collect();
            assert_eq!(names.len(), unique.len(), "{}", row.name);
        }
    }
}

/// Values are copied around a lot.
#[test]
fn values_are_small() {
    assert_eq!(size_of::<VectorOperand>(), 16);
    assert_eq!(size_of::<Value>(), 16);
}

/// 4.8 is laid out like 4.0 although its number is larger than 4.1.
#[test]
fn versions_are_ordered_by_layout() {
    let features = |v| Format::new(v, Dialect::Writer2018).features();
    assert_eq!(features(Version::V4_8), features(Version::V4_0));
    assert!(Version::V4_1.at_least(Version::V4_8));
    assert!(!Version::V4_2.is_supported());
    assert!(Version::SUPPORTED.windows(2).all(|w| w[1].at_least(w[0])));
}
