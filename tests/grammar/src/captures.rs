//! The queries: their names for the nodes of a text are those that editors know.

use crate::{fault, grammar, language, parse, parser, query};
use std::fs;
use tree_sitter::{QueryCursor, StreamingIterator};

/// Of an editor, the captures that it documents. One that is not among them counts as the longest of them that it
/// begins with.
struct Editor {
    name: &'static str,
    highlights: &'static [&'static str],
    locals: &'static [&'static str],
    indents: &'static [&'static str],
    folds: &'static [&'static str],
}

/// `:help treesitter-highlight-groups` and the contributors' guide of nvim-treesitter.
const NEOVIM: Editor = Editor {
    name: "Neovim",
    highlights: &[
        "attribute",
        "boolean",
        "character",
        "comment",
        "comment.documentation",
        "constant",
        "constant.builtin",
        "constant.macro",
        "constructor",
        "function",
        "function.builtin",
        "function.call",
        "function.macro",
        "keyword",
        "keyword.directive",
        "keyword.directive.define",
        "keyword.function",
        "keyword.modifier",
        "keyword.operator",
        "keyword.type",
        "label",
        "module",
        "number",
        "number.float",
        "operator",
        "property",
        "punctuation.bracket",
        "punctuation.delimiter",
        "punctuation.special",
        "string",
        "string.escape",
        "type",
        "type.builtin",
        "variable",
        "variable.builtin",
        "variable.member",
        "variable.parameter",
    ],
    locals: &[
        "local.definition",
        "local.definition.function",
        "local.definition.var",
        "local.reference",
        "local.scope",
    ],
    indents: &[
        "indent.begin",
        "indent.branch",
        "indent.dedent",
        "indent.end",
        "indent.ignore",
        "indent.zero",
    ],
    folds: &["fold"],
};

/// The scopes of themes and the guide to indent queries of Helix's documentation. It has no folds of queries.
const HELIX: Editor = Editor {
    name: "Helix",
    highlights: &[
        "attribute",
        "comment",
        "comment.block",
        "comment.block.documentation",
        "comment.line",
        "comment.line.documentation",
        "constant",
        "constant.builtin",
        "constant.character",
        "constant.numeric",
        "constant.numeric.float",
        "constant.numeric.integer",
        "constructor",
        "function",
        "function.builtin",
        "function.macro",
        "function.special",
        "keyword",
        "keyword.control",
        "keyword.directive",
        "keyword.function",
        "keyword.operator",
        "keyword.storage",
        "label",
        "namespace",
        "operator",
        "punctuation",
        "punctuation.bracket",
        "punctuation.delimiter",
        "punctuation.special",
        "string",
        "string.special",
        "type",
        "type.builtin",
        "variable",
        "variable.builtin",
        "variable.other",
        "variable.other.member",
        "variable.parameter",
    ],
    locals: &["local.definition", "local.reference", "local.scope"],
    indents: &[
        "align",
        "extend",
        "indent",
        "indent.always",
        "outdent",
        "outdent.always",
    ],
    folds: &[],
};

const EDITORS: [Editor; 2] = [NEOVIM, HELIX];

impl Editor {
    fn captures(&self, query: &str) -> &'static [&'static str] {
        match query {
            "highlights.scm" => self.highlights,
            "locals.scm" => self.locals,
            "indents.scm" => self.indents,
            "folds.scm" => self.folds,
            _ => panic!("nobody says what editors make of {query}"),
        }
    }
}

/// What an editor uses a capture for.
fn known<'k>(names: &[&'k str], capture: &str) -> Option<&'k str> {
    let mut known = names.iter().filter(|name| {
        let rest = capture.strip_prefix(**name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    let first = known.next()?;
    Some(known.fold(first, |a, b| if a.len() < b.len() { b } else { a }))
}

#[test]
fn captures_are_names_that_editors_know() {
    let language = language();
    for entry in fs::read_dir(grammar().join("queries")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let (_, query) = query(&language, &file);
        let captures = query.capture_names().iter();
        // Those that begin so are for predicates alone.
        for capture in captures.filter(|name| !name.starts_with('_')) {
            let mut editors = EDITORS.iter().map(|editor| editor.captures(&file));
            assert!(
                editors.any(|names| known(names, capture).is_some()),
                "no editor knows @{capture} of {file}"
            );
        }
    }
}

const TEXT: &str = r#".version 4.1
.kernel "k" // its name
.decl V32 v_type=G type=ud num_elts=8 align=GRF alias=<%r0, 64>
.function "f"
//@ routine
L1:
    (!P1.any) add.sat (M1, 8) V33(0,0)<1> -0x2:d
"#;

/// Each word of the text with the class that both editors give it.
const CLASSES: [(&str, [&str; 2]); 29] = [
    (".version", ["keyword.directive"; 2]),
    ("4", ["number", "constant.numeric"]),
    (".kernel", ["keyword.directive"; 2]),
    ("\"k\"", ["function"; 2]),
    ("// its name", ["comment"; 2]),
    (".decl", ["keyword.directive"; 2]),
    ("V32", ["variable"; 2]),
    ("v_type", ["property", "variable.other.member"]),
    ("G", ["variable"; 2]),
    ("type", ["property", "variable.other.member"]),
    ("ud", ["type"; 2]),
    ("num_elts", ["property", "variable.other.member"]),
    ("8", ["number", "constant.numeric"]),
    ("%r0", ["variable.builtin"; 2]),
    (".function", ["keyword.directive"; 2]),
    ("\"f\"", ["function"; 2]),
    ("//@ routine", ["comment.documentation", "comment"]),
    ("L1", ["label"; 2]),
    ("!", ["operator"; 2]),
    ("P1", ["variable.parameter"; 2]),
    ("any", ["keyword.operator"; 2]),
    ("add.sat", ["keyword"; 2]),
    ("(", ["punctuation.bracket"; 2]),
    ("M1", ["variable"; 2]),
    (",", ["operator"; 2]),
    ("V33", ["variable"; 2]),
    ("<", ["operator"; 2]),
    ("0x2", ["number", "constant.numeric"]),
    (":d", ["type"; 2]),
];

/// Both editors let the last pattern that they know decide.
#[test]
fn words_have_the_colours_of_what_they_are() {
    let language = language();
    let tree = parse(&mut parser(&language), TEXT.as_bytes());
    assert!(fault(tree.root_node()).is_none());
    let (_, query) = query(&language, "highlights.scm");
    for (number, editor) in EDITORS.iter().enumerate() {
        let mut cursor = QueryCursor::new();
        let mut found: Vec<(usize, std::ops::Range<usize>, &str)> = Vec::new();
        let mut matches = cursor.matches(&query, tree.root_node(), TEXT.as_bytes());
        while let Some(one) = matches.next() {
            for capture in one.captures() {
                let name = query.capture_names()[capture.index as usize];
                if let Some(class) = known(editor.highlights, name) {
                    found.push((one.pattern_index, capture.node.byte_range(), class));
                }
            }
        }
        for (word, classes) in CLASSES {
            let begins = TEXT.match_indices(word).map(|(at, _)| at..at + word.len());
            let mut here = begins.filter_map(|place| {
                let here = found.iter().filter(|(_, range, _)| *range == place);
                here.max_by_key(|(pattern, ..)| *pattern)
            });
            let class = here.next().map(|(_, _, class)| *class);
            assert_eq!(class, Some(classes[number]), "`{word}` in {}", editor.name);
        }
    }
}

/// In Neovim braces and routines fold, and lines in braces are indented.
#[test]
fn routines_and_scopes_fold_and_indent() {
    let language = language();
    let text = ".kernel \"k\"\n{\n    mov (M1, 8) A(0,0)<1> 0x1:ud\n}\n";
    let tree = parse(&mut parser(&language), text.as_bytes());
    for (file, capture, count) in [
        ("folds.scm", "fold", 2),
        ("indents.scm", "indent.begin", 1),
        ("indents.scm", "indent", 1),
        ("indents.scm", "outdent", 1),
        ("locals.scm", "local.scope", 2),
    ] {
        let (_, query) = query(&language, file);
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
        let mut found = 0;
        while let Some(one) = matches.next() {
            let names = one.captures().iter();
            let names = names.map(|c| query.capture_names()[c.index as usize]);
            found += names.filter(|name| *name == capture).count();
        }
        assert_eq!(found, count, "@{capture} of {file}");
    }
}
