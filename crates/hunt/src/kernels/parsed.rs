//! Sources of OpenCL C, parsed as C: words that C does not have are blanks to the parser, so that places are those of
//! the source.

use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::{Node, Parser, Tree};

/// Words of OpenCL C that stand before types and functions.
const WORDS: [&str; 11] = [
    "__kernel",
    "kernel",
    "__global",
    "global",
    "__local",
    "local",
    "__constant",
    "__private",
    "private",
    "__read_only",
    "__write_only",
];

/// A source with its tree.
#[derive(Debug)]
pub(crate) struct Parsed {
    text: String,
    tree: Tree,
    macros: BTreeSet<String>,
}

/// Calls something for a node and those in it, parents first.
pub(crate) fn each<'t>(node: Node<'t>, visit: &mut dyn FnMut(Node<'t>)) {
    visit(node);
    let mut cursor = node.walk();
    let children: Vec<_> = node.named_children(&mut cursor).collect();
    for child in children {
        each(child, visit);
    }
}

/// The nodes of a kind, in their order.
pub(crate) fn of_kind<'t>(node: Node<'t>, kind: &str) -> Vec<Node<'t>> {
    let mut all = Vec::new();
    each(node, &mut |inner| {
        if inner.kind() == kind {
            all.push(inner);
        }
    });
    all
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The text with blanks for the words of OpenCL C.
fn blanked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|b| is_word(**b)).count();
        let word = rest.get(..length).unwrap_or_default();
        if WORDS.iter().any(|w| w.as_bytes() == word)
            && let Some(blank) = out.get_mut(at..at + length)
        {
            blank.fill(b' ');
        }
        at += length.max(1);
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

impl Parsed {
    /// Parses a source.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
        let tree = parser.parse(blanked(text), None)?;
        let mut parsed = Self {
            text: text.to_owned(),
            tree,
            macros: BTreeSet::new(),
        };
        let mut macros = BTreeSet::new();
        for kind in ["preproc_def", "preproc_function_def"] {
            for node in of_kind(parsed.tree.root_node(), kind) {
                let text = parsed.text(node);
                let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                macros.extend(
                    words
                        .filter(|w| *w != "define" && !w.is_empty())
                        .map(str::to_owned),
                );
            }
        }
        parsed.macros = macros;
        Some(parsed)
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The source.
    pub(crate) fn source(&self) -> &str {
        &self.text
    }

    /// The text of a node, as it is in the source.
    pub(crate) fn text(&self, node: Node<'_>) -> &str {
        self.at(node.byte_range())
    }

    pub(crate) fn at(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// The definition of a function, unless there is something in it that is not understood.
    pub(crate) fn function(&self, name: &str) -> Option<Node<'_>> {
        let root = self.tree.root_node();
        let mut cursor = root.walk();
        let found = root
            .named_children(&mut cursor)
            .find(|node| node.kind() == "function_definition" && self.name_of(*node) == Some(name));
        found.filter(|node| !node.has_error())
    }

    /// Whether it is understood as a whole and defines a function.
    pub(crate) fn defines(&self, name: &str) -> bool {
        !self.root().has_error() && self.function(name).is_some()
    }

    /// The names of the functions of the source.
    pub(crate) fn functions(&self) -> BTreeSet<&str> {
        let all = of_kind(self.tree.root_node(), "function_definition");
        all.into_iter()
            .filter_map(|node| self.name_of(node))
            .collect()
    }

    fn name_of(&self, function: Node<'_>) -> Option<&str> {
        let declarator = declarator(function)?;
        let name = declarator.child_by_field_name("declarator")?;
        Some(self.text(name))
    }

    /// Whether a node has a word that a macro may replace, or that is within one.
    pub(crate) fn has_macros(&self, node: Node<'_>) -> bool {
        let mut found = false;
        each(node, &mut |inner| {
            let leaf = inner.named_child_count() == 0;
            found |= leaf && self.macros.contains(self.text(inner));
            found |= inner.kind().starts_with("preproc");
        });
        found
    }

    /// Whether a word is that of a macro, or within one.
    pub(crate) fn is_in_macros(&self, word: &str) -> bool {
        self.macros.contains(word)
    }

    /// Whether a node has no effect, so that its parts may be computed in another order.
    pub(crate) fn is_pure(&self, node: Node<'_>) -> bool {
        let mut pure = !self.has_macros(node);
        each(node, &mut |inner| match inner.kind() {
            "assignment_expression" | "update_expression" | "comma_expression" => pure = false,
            "call_expression" => {
                let callee = inner.child_by_field_name("function");
                pure &= callee.is_some_and(|callee| PURE.contains(&self.text(callee)));
            }
            _ => {}
        });
        pure
    }
}

/// Built-in functions without effects.
const PURE: [&str; 24] = [
    "get_global_id",
    "get_local_id",
    "get_group_id",
    "get_global_size",
    "get_local_size",
    "get_num_groups",
    "min",
    "max",
    "abs",
    "abs_diff",
    "add_sat",
    "sub_sat",
    "clamp",
    "clz",
    "hadd",
    "rhadd",
    "mad24",
    "mul24",
    "mad_hi",
    "mul_hi",
    "popcount",
    "rotate",
    "select",
    "upsample",
];

/// The part of a function's definition that has its name and parameters.
pub(crate) fn declarator(function: Node<'_>) -> Option<Node<'_>> {
    let declarator = function.child_by_field_name("declarator")?;
    (declarator.kind() == "function_declarator").then_some(declarator)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kernels_are_found() {
        let source = "#define N 4\n__attribute__((reqd_work_group_size(8, 1, 1)))\n__kernel void f(__global int *p, \
                      const uint n) { int local_sum = N; p[get_global_id(0)] = local_sum + (int)n; }\n";
        let parsed = Parsed::new(source).unwrap();
        let function = parsed.function("f").unwrap();
        assert_eq!(parsed.functions().into_iter().collect::<Vec<_>>(), ["f"]);
        let all = of_kind(function, "declaration");
        assert_eq!(parsed.text(all[0]), "int local_sum = N;");
        assert!(parsed.has_macros(all[0]) && !parsed.is_pure(all[0]));
        let sums = of_kind(function, "binary_expression");
        assert!(parsed.is_pure(sums[0]));
        assert_eq!(parsed.function("g").map(|_| ()), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[a-z_#(){};=+*/ \n\"'é]{0,60}") {
            let parsed = Parsed::new(&text).unwrap();
            prop_assert_eq!(blanked(&text).len(), text.len());
            for name in parsed.functions() {
                let _ = parsed.function(name);
            }
        }
    }
}
