//! Expressions rewritten: operands change places.

use super::change::Change;
use super::parsed::{Parsed, of_kind};

/// What it does.
pub(super) const WHAT: &str = "operands swapped";

pub(super) fn changes(parsed: &Parsed, kernel: &str) -> Vec<Change> {
    let Some(function) = parsed.function(kernel) else {
        return Vec::new();
    };
    let swapped = of_kind(function, "binary_expression")
        .into_iter()
        .filter_map(|node| {
            let of = |field| node.child_by_field_name(field);
            let (left, op, right) = (of("left")?, of("operator")?, of("right")?);
            let turned = match parsed.text(op) {
                same @ ("+" | "*" | "&" | "|" | "^" | "==" | "!=") => same,
                "<" => ">",
                ">" => "<",
                "<=" => ">=",
                ">=" => "<=",
                _ => return None,
            };
            let text = format!(
                "(({}) {turned} ({}))",
                parsed.text(right),
                parsed.text(left)
            );
            parsed
                .is_pure(node)
                .then(|| Change::replace(WHAT, node.byte_range(), text))
        });
    swapped.collect()
}
