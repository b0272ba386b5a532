//! Features are listed wherever users look for them.

use std::path::Path;

/// The names in the first column of a table, from the lines that begin like a row.
fn rows(text: &str, start: &str) -> Vec<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix(start));
    let names = rows.filter_map(|row| row.split_once("` |"));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// Each feature is in the table of the crate's documentation, in that of the guide, and re-exports one crate, which
/// has the feature's name.
#[test]
fn features_are_documented() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    let (manifest, source) = (read("Cargo.toml"), read("src/lib.rs"));
    let features = manifest.split("[features]").nth(1).unwrap();
    let features = features.split("\n[").next().unwrap();
    let features: Vec<String> = features
        .lines()
        .filter_map(|line| line.split_once(" = [\"dep:visakit-"))
        .map(|(name, rest)| {
            assert!(rest.starts_with(&format!("{name}\"")), "{name}: {rest}");
            let export = format!("pub use visakit_{name} as {name};");
            assert!(source.contains(&export), "{export}");
            name.to_owned()
        })
        .collect();
    assert!(features.len() > 10, "{features:?}");
    let documented = rows(&source, "//! | `");
    assert_eq!(documented, features, "src/lib.rs");
    assert_eq!(rows(&read("../../docs/library.md"), "| `"), features);
}
