//! The tree-sitter grammar of `editors/tree-sitter-visa`.
//!
//! Its parser is committed, as editors build it from there: it must be what `grammar.js` generates, pass the tests of
//! its own corpus, and parse every available text. `VISAKIT_BLESS=1` generates it again. `grammar.js` is run by
//! Node.js; tests that cannot run say so.

#![cfg(test)]

mod captures;

use flate2::read::GzDecoder;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use tree_sitter::{Language, Node, Parser, Query, Tree};
use tree_sitter_generate::{OptLevel, generate_parser_in_directory};
use tree_sitter_loader::{CompileConfig, Loader};

/// The oldest layout of parsers that releases of Neovim and Helix of the last years read.
const ABI: usize = 14;

/// Generated files that are committed.
const GENERATED: [&str; 6] = [
    "grammar.json",
    "node-types.json",
    "parser.c",
    "tree_sitter/alloc.h",
    "tree_sitter/array.h",
    "tree_sitter/parser.h",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn grammar() -> PathBuf {
    root().join("editors/tree-sitter-visa")
}

/// Writes a line past the test harness.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The language, compiled once from the committed parser into a folder that goes away.
fn language() -> Language {
    static LANGUAGE: LazyLock<Language> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let loader = Loader::with_parser_lib_path(folder.path().to_owned());
        let source = grammar().join("src");
        let library = folder.path().join("visa.so");
        let config = CompileConfig::new(&source, None, Some(library));
        loader.load_language_at_path(config).unwrap()
    });
    LANGUAGE.clone()
}

fn parser(language: &Language) -> Parser {
    let mut parser = Parser::new();
    parser.set_language(language).unwrap();
    parser
}

fn parse(parser: &mut Parser, text: &[u8]) -> Tree {
    parser.parse(text, None).unwrap()
}

#[test]
fn the_committed_parser_is_what_the_grammar_makes() {
    if let Err(error) = Command::new("node").arg("--version").output() {
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        say(
            "NOT RUN: whether the committed parser is what grammar.js makes, as there is no Node.js",
        );
        return;
    }
    let made = tempfile::tempdir().unwrap();
    let mut diagnostics = Vec::new();
    generate_parser_in_directory(
        grammar(),
        Some(made.path()),
        None::<&Path>,
        ABI,
        None,
        None,
        true,
        OptLevel::default(),
        &mut diagnostics,
    )
    .unwrap();
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    for name in GENERATED {
        let committed = grammar().join("src").join(name);
        if std::env::var_os("VISAKIT_BLESS").is_some() {
            fs::create_dir_all(committed.parent().unwrap()).unwrap();
            fs::copy(made.path().join(name), &committed).unwrap();
        }
        let made = fs::read(made.path().join(name)).unwrap();
        let same = fs::read(&committed).is_ok_and(|bytes| bytes == made);
        assert!(
            same,
            "{name} is not what grammar.js makes: VISAKIT_BLESS=1 cargo test --manifest-path tests/grammar/Cargo.toml"
        );
    }
}

/// The sections of a corpus file: name, text, tree.
fn sections(file: &str) -> Vec<(String, String, String)> {
    let mut sections: Vec<(String, String, String)> = Vec::new();
    let is_ruler = |line: &str, sign: char| line.len() >= 3 && line.chars().all(|c| c == sign);
    let mut lines = file.split_inclusive('\n').peekable();
    let mut in_tree = false;
    while let Some(line) = lines.next() {
        if is_ruler(line.trim_end(), '=') {
            let name = lines.next().unwrap().trim_end().to_owned();
            assert!(is_ruler(lines.next().unwrap().trim_end(), '='), "{name}");
            sections.push((name, String::new(), String::new()));
            in_tree = false;
        } else if let Some((_, text, tree)) = sections.last_mut() {
            if !in_tree && is_ruler(line.trim_end(), '-') {
                in_tree = true;
            } else if in_tree {
                tree.push_str(line);
            } else {
                text.push_str(line);
            }
        }
    }
    sections
}

/// The tree as corpus files write it: named nodes, without fields.
fn written(node: Node<'_>) -> String {
    let mut cursor = node.walk();
    let children = node.named_children(&mut cursor);
    let children: String = children
        .map(|child| format!(" {}", written(child)))
        .collect();
    format!("({}{children})", node.kind())
}

#[test]
fn the_corpus_parses_as_it_says() {
    let language = language();
    let mut parser = parser(&language);
    let mut count = 0;
    for entry in fs::read_dir(grammar().join("test/corpus")).unwrap() {
        let path = entry.unwrap().path();
        for (name, text, tree) in sections(&fs::read_to_string(&path).unwrap()) {
            count += 1;
            // The line ends around the text belong to the rulers.
            let text = text.trim_start_matches('\n');
            let text = text.strip_suffix('\n').unwrap_or(text);
            let parsed = parse(&mut parser, text.as_bytes());
            let wanted = tree.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(
                written(parsed.root_node()),
                wanted.replace(" )", ")"),
                "{}: {name}",
                path.display()
            );
            assert!(!parsed.root_node().has_error(), "{name}");
        }
    }
    assert!(count > 0, "there are no corpus tests");
}

/// Every text below a folder, packed ones unpacked.
fn texts(folder: &Path, see: &mut impl FnMut(&Path, &[u8])) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.to_string_lossy();
        if path.is_dir() {
            texts(&path, see);
        } else if name.ends_with(".visaasm") {
            see(&path, &fs::read(&path).unwrap());
        } else if name.ends_with(".visaasm.gz") {
            let mut text = Vec::new();
            let file = fs::File::open(&path).unwrap();
            GzDecoder::new(file).read_to_end(&mut text).unwrap();
            see(&path, &text);
        }
    }
}

/// The first node of a tree that is an error or missing.
fn fault(node: Node<'_>) -> Option<Node<'_>> {
    if node.is_error() || node.is_missing() {
        return Some(node);
    }
    let mut cursor = node.walk();
    let mut faulty = node.children(&mut cursor).filter(Node::has_error);
    faulty.find_map(fault)
}

#[test]
fn every_text_parses_without_errors() {
    let mut folders = vec![root().join("fixtures")];
    let shared = std::env::var_os("VISAKIT_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    if shared.is_dir() {
        folders.extend(["corpus", "cases", "cases240"].map(|folder| shared.join(folder)));
    } else {
        let what = "FIXTURES ONLY: texts of the reference data, which is not beside the checkout";
        say(what);
        assert!(std::env::var_os("VISAKIT_NEEDS_SHARED").is_none(), "{what}");
    }
    let language = language();
    let mut parser = parser(&language);
    let (mut count, mut faults) = (0, Vec::new());
    for folder in folders {
        texts(&folder, &mut |path, text| {
            count += 1;
            let tree = parse(&mut parser, text);
            if let Some(node) = fault(tree.root_node()) {
                let at = node.start_position();
                let line = text.split(|b| *b == b'\n').nth(at.row).unwrap_or_default();
                faults.push(format!(
                    "{}:{}:{}: {}",
                    path.display(),
                    at.row + 1,
                    at.column + 1,
                    String::from_utf8_lossy(line)
                ));
            }
        });
    }
    say(&format!("{count} texts parsed by the tree-sitter grammar"));
    assert!(count > 100, "{count} texts");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// An edited text is parsed from its previous tree, with the same result as from scratch.
#[test]
fn edited_texts_parse_as_new_ones() {
    let language = language();
    let mut parser = parser(&language);
    let path = root().join("fixtures/programs/loops.visaasm");
    let text = fs::read(path).unwrap();
    for at in (0..text.len()).step_by(97) {
        for with in [&b""[..], b"{", b"\n", b"/* ", b"x y"] {
            let mut tree = parse(&mut parser, &text);
            let mut edited = text.clone();
            edited.splice(at..at + 1, with.iter().copied());
            let place = |bytes: &[u8], at: usize| {
                let before = &bytes[..at];
                let row = before.iter().filter(|b| **b == b'\n').count();
                let line = before.iter().rev().take_while(|b| **b != b'\n').count();
                tree_sitter::Point::new(row, line)
            };
            tree.edit(&tree_sitter::InputEdit {
                start_byte: at,
                old_end_byte: at + 1,
                new_end_byte: at + with.len(),
                start_position: place(&text, at),
                old_end_position: place(&text, at + 1),
                new_end_position: place(&edited, at + with.len()),
            });
            let again = parser.parse(&edited, Some(&tree)).unwrap();
            let fresh = parse(&mut parser, &edited);
            // How an error is repaired may depend on the previous tree; correct parts may not.
            if !fresh.root_node().has_error() {
                assert_eq!(
                    again.root_node().to_sexp(),
                    fresh.root_node().to_sexp(),
                    "{at} {with:?}"
                );
            }
        }
    }
}

fn query(language: &Language, name: &str) -> (String, Query) {
    let source = fs::read_to_string(grammar().join("queries").join(name)).unwrap();
    let query = Query::new(language, &source);
    let query = query.unwrap_or_else(|error| panic!("queries/{name}: {error}"));
    (source, query)
}
