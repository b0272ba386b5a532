//! Functions outlined: the value of a variable becomes the result of a function of what it is computed from.

use super::change::{Change, Edit};
use super::memory::{Declared, is_number};
use super::parsed::{Parsed, declarator, of_kind};
use std::collections::BTreeMap;

pub(super) fn changes(parsed: &Parsed, kernel: &str) -> Vec<Change> {
    let Some(function) = parsed.function(kernel) else {
        return Vec::new();
    };
    let Some(list) = declarator(function).and_then(|d| d.child_by_field_name("parameters")) else {
        return Vec::new();
    };
    let before = function
        .prev_named_sibling()
        .map_or(0, |node| node.end_byte());
    // What each name is declared as, if it can be passed on.
    let mut types: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let mut start = list.start_byte() + 1;
    for parameter in of_kind(list, "parameter_declaration") {
        let mut name = parameter.child_by_field_name("declarator");
        while let Some(inner) = name.and_then(|n| n.child_by_field_name("declarator")) {
            name = Some(inner);
        }
        let whole = parsed
            .at(start..parameter.end_byte())
            .trim_start_matches([',', ' ', '\n']);
        start = parameter.end_byte();
        if let Some(name) = name {
            types.insert(parsed.text(name), Some(whole.trim().to_owned()));
        }
    }
    for node in of_kind(function, "declaration") {
        let mut cursor = node.walk();
        for declared in node.children_by_field_name("declarator", &mut cursor) {
            let name = declared
                .child_by_field_name("declarator")
                .unwrap_or(declared);
            let ty = node
                .child_by_field_name("type")
                .map_or("", |ty| parsed.text(ty));
            let plain = name.kind() == "identifier" && is_number(ty);
            let twice = types.contains_key(parsed.text(name));
            let passed = (plain && !twice).then(|| format!("{ty} {}", parsed.text(name)));
            types.insert(parsed.text(name), passed);
        }
    }
    let mut all = Vec::new();
    for node in of_kind(function, "declaration") {
        let Some(Declared { ty, value, .. }) = Declared::of(parsed, node) else {
            continue;
        };
        let callees = of_kind(value, "call_expression");
        let callees = callees
            .iter()
            .filter_map(|c| c.child_by_field_name("function"));
        let callees: Vec<&str> = callees.map(|node| parsed.text(node)).collect();
        let mut names: Vec<&str> = Vec::new();
        for name in of_kind(value, "identifier") {
            let name = parsed.text(name);
            if !callees.contains(&name) && !names.contains(&name) {
                names.push(name);
            }
        }
        let passed: Option<Vec<String>> = names
            .iter()
            .map(|name| types.get(name).cloned().flatten())
            .collect();
        let Some(passed) = passed.filter(|p| !p.is_empty() && parsed.is_pure(value)) else {
            continue;
        };
        let name = format!("visakit_outlined_{}", node.start_byte());
        let text = parsed.text(value);
        let definition = format!(
            "\n__attribute__((noinline)) {ty} {name}({}) {{ return {text}; }}\n",
            passed.join(", ")
        );
        all.push(Change {
            what: "function outlined",
            edits: vec![
                Edit {
                    range: before..before,
                    of: value.byte_range(),
                    text: definition,
                },
                Edit {
                    range: value.byte_range(),
                    of: value.byte_range(),
                    text: format!("{name}({})", names.join(", ")),
                },
            ],
        });
    }
    all
}
