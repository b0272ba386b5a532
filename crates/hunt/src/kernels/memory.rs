//! Variables through memory: one becomes an element of an array, at an index that is an argument.

use super::change::{Change, Edit, OPAQUE};
use super::parsed::{Parsed, of_kind};
use std::collections::BTreeMap;
use tree_sitter::Node;

const SCALARS: [&str; 11] = [
    "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double",
];

/// Whether it is a type of numbers or a vector of such.
pub(super) fn is_number(ty: &str) -> bool {
    let scalar = ty.trim_end_matches(|c: char| c.is_ascii_digit());
    SCALARS.contains(&scalar)
        && matches!(
            ty.strip_prefix(scalar),
            Some("" | "2" | "3" | "4" | "8" | "16")
        )
}

/// The type, the name and the value of a declaration of one variable.
pub(super) struct Declared<'t> {
    pub(super) ty: &'t str,
    pub(super) name: &'t str,
    pub(super) value: Node<'t>,
}

impl<'t> Declared<'t> {
    pub(super) fn of(parsed: &'t Parsed, node: Node<'t>) -> Option<Self> {
        let (ty, made) = (
            node.child_by_field_name("type")?,
            node.child_by_field_name("declarator")?,
        );
        let name = made.child_by_field_name("declarator")?;
        let value = made.child_by_field_name("value")?;
        let (ty, name_text) = (parsed.text(ty), parsed.text(name));
        let plain = made.kind() == "init_declarator"
            && name.kind() == "identifier"
            && value.kind() != "initializer_list"
            && node.named_child_count() == 2
            // Nothing stands around, neither qualifiers nor a second variable.
            && parsed.text(node).starts_with(ty);
        (plain && is_number(ty)).then_some(Self {
            ty,
            name: name_text,
            value,
        })
    }
}

/// How often each name is declared in a function, parameters included.
fn declarations<'t>(parsed: &'t Parsed, function: Node<'t>) -> BTreeMap<&'t str, usize> {
    let mut all = BTreeMap::new();
    for kind in ["declaration", "parameter_declaration"] {
        for node in of_kind(function, kind) {
            let mut cursor = node.walk();
            let declarators = node.children_by_field_name("declarator", &mut cursor);
            for mut declarator in declarators {
                while let Some(inner) = declarator.child_by_field_name("declarator") {
                    declarator = inner;
                }
                *all.entry(parsed.text(declarator)).or_insert(0) += 1;
            }
        }
    }
    all
}

pub(super) fn changes(parsed: &Parsed, kernel: &str) -> Vec<Change> {
    let Some(function) = parsed.function(kernel) else {
        return Vec::new();
    };
    let Some(body) = function.child_by_field_name("body") else {
        return Vec::new();
    };
    let counts = declarations(parsed, function);
    let uses = of_kind(body, "identifier");
    let mut cursor = body.walk();
    let all = body.named_children(&mut cursor).filter_map(|node| {
        if node.kind() != "declaration" {
            return None;
        }
        let Declared { ty, name, value } = Declared::of(parsed, node)?;
        if counts.get(name) != Some(&1) || parsed.is_in_macros(name) {
            return None;
        }
        let array = format!("visakit_{name}");
        let value = parsed.text(value);
        let mut edits = vec![Edit {
            range: node.byte_range(),
            of: node.byte_range(),
            text: format!("{ty} {array}[2]; {array}[{OPAQUE}] = {value};"),
        }];
        let later = uses
            .iter()
            .filter(|node_of| node_of.start_byte() >= node.end_byte());
        let later = later.filter(|use_| parsed.text(**use_) == name);
        edits.extend(later.map(|use_| Edit {
            range: use_.byte_range(),
            of: use_.byte_range(),
            text: format!("{array}[{OPAQUE}]"),
        }));
        Some(Change {
            what: "variable through memory",
            edits,
        })
    });
    all.collect()
}
