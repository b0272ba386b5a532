//! The order of the crate's modules, by what their sources name: what a rule forbids would not be seen otherwise.

use std::path::Path;

/// The sources of the crate, by their places below `src`, without their tests.
fn sources() -> Vec<(String, String)> {
    fn below(folder: &Path, root: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, root, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy();
                let text = std::fs::read_to_string(&path).unwrap();
                let lines = text.lines().filter(|line| !line.trim().starts_with("//"));
                found.push((name.into_owned(), lines.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    below(&root, &root, &mut found);
    found
}

/// The files whose code has a text.
fn naming(text: &str) -> Vec<String> {
    let mut files: Vec<String> = sources()
        .into_iter()
        .filter(|(name, source)| !name.contains("tests") && source.contains(text))
        .map(|(name, _)| name)
        .collect();
    files.sort();
    files
}

/// Only the assembler knows instructions; what lists them reads what it wrote.
#[test]
fn instructions_are_named_by_the_assembler_alone() {
    for file in naming("iced_x86") {
        assert!(file.starts_with("x64/") || file == "listing.rs", "{file}");
    }
}

/// The assembler knows nothing of programs, nor of the rest of the crate.
#[test]
fn the_assembler_stands_on_nothing() {
    for (file, source) in sources() {
        let names = ["crate::", "visakit_"]
            .iter()
            .any(|name| source.contains(name));
        assert!(!file.starts_with("x64/") || !names, "{file}");
    }
}

/// Addresses of kernel memory are made in one module, from what was compared with its bounds; all others are those of the
/// register file, of constants, and of what host and machine code share. What code accesses is proven all the same.
#[test]
fn kernel_memory_is_reached_by_checks_alone() {
    // The register file, constants and the context; entries of followers in it.
    let others = [
        "access.rs",
        "access/lanes.rs",
        "follow.rs",
        "load.rs",
        "pair.rs",
        "vector.rs",
    ];
    assert_eq!(naming("Memory::at("), others);
}
