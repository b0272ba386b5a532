//! Dead code: a statement stands before itself once more, where an argument decides that it does not run.

use super::change::{Change, OPAQUE};
use super::parsed::{Parsed, each, of_kind};
use tree_sitter::Node;

/// Statements that may be copied.
const KINDS: [&str; 5] = [
    "expression_statement",
    "if_statement",
    "for_statement",
    "while_statement",
    "do_statement",
];

/// What does not stand in copies: what work-items do together, and jumps to what is outside.
pub(super) fn is_copied(parsed: &Parsed, node: Node<'_>) -> bool {
    let text = parsed.text(node);
    let together = ["barrier", "group_", "fence", "local", "printf"];
    let mut fine = !together.iter().any(|word| text.contains(word)) && !parsed.has_macros(node);
    each(node, &mut |inner| {
        fine &= !matches!(
            inner.kind(),
            "break_statement"
                | "continue_statement"
                | "goto_statement"
                | "labeled_statement"
                | "case_statement"
                | "return_statement"
        );
    });
    fine
}

pub(super) fn changes(parsed: &Parsed, kernel: &str) -> Vec<Change> {
    let Some(function) = parsed.function(kernel) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for block in of_kind(function, "compound_statement") {
        let mut cursor = block.walk();
        for statement in block.named_children(&mut cursor) {
            let at = statement.start_byte();
            if !KINDS.contains(&statement.kind()) {
                continue;
            }
            if is_copied(parsed, statement) {
                let text = parsed.text(statement);
                let dead = format!("if ({OPAQUE} == 77u) {{ {text} }}\n");
                all.push(Change::insert(
                    "dead code",
                    at,
                    dead,
                    statement.byte_range(),
                ));
            } else if block.parent() == Some(function) {
                let dead = format!("if ({OPAQUE} > 1u) return;\n");
                all.push(Change::insert("dead return", at, dead, at..at));
            }
        }
    }
    all
}
