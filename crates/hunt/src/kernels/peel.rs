//! Loops peeled: the first iteration stands before the others.

use super::change::Change;
use super::dead::is_copied;
use super::parsed::{Parsed, of_kind};

pub(super) fn changes(parsed: &Parsed, kernel: &str) -> Vec<Change> {
    let Some(function) = parsed.function(kernel) else {
        return Vec::new();
    };
    let peeled = of_kind(function, "for_statement").into_iter().filter_map(|node| {
        let of = |field| node.child_by_field_name(field);
        let (first, condition) = (of("initializer")?, of("condition")?);
        let (update, body) = (of("update")?, of("body")?);
        if !is_copied(parsed, node) {
            return None;
        }
        let semicolon = if first.kind() == "declaration" { "" } else { ";" };
        let [first, condition, update, body] =
            [first, condition, update, body].map(|part| parsed.text(part));
        let text = format!(
            "{{ {first}{semicolon} if ({condition}) {{ {{ {body} }} {update}; for (; {condition}; {update}) {body} }} }}"
        );
        Some(Change::replace("loop peeled", node.byte_range(), text))
    });
    peeled.collect()
}
