//! Branches change places, with the opposite condition.

use super::change::Change;
use super::parsed::{Parsed, of_kind};

pub(super) fn changes(parsed: &Parsed, kernel: &str) -> Vec<Change> {
    let Some(function) = parsed.function(kernel) else {
        return Vec::new();
    };
    let swapped = of_kind(function, "if_statement")
        .into_iter()
        .filter_map(|node| {
            let of = |field| node.child_by_field_name(field);
            let (condition, yes, no) = (of("condition")?, of("consequence")?, of("alternative")?);
            let no = no.named_child(0)?;
            let [condition, yes, no] = [condition, yes, no].map(|part| parsed.text(part));
            let text = format!("if (!{condition}) {{ {no} }} else {{ {yes} }}");
            (!parsed.has_macros(node))
                .then(|| Change::replace("branches swapped", node.byte_range(), text))
        });
    swapped.collect()
}
