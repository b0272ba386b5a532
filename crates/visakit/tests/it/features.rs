//! Features are listed wherever users look for them.

use std::path::Path;

/// The names in the first column of a table, from the lines that begin like a row.
fn rows(text: &str, start: &str) -> Vec<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix(start));
    let names = rows.filter_map(|row| row.split_once("` |"));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// Each feature is in the table of the crate's documentation, in that of the guide, and brings a module of its name: a crate
/// that is re-exported, or a file.
#[test]
fn features_are_documented() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    let (manifest, source) = (read("Cargo.toml"), read("src/lib.rs"));
    let features = manifest.split("[features]").nth(1).unwrap();
    let features = features.split("\n[").next().unwrap();
    let features: Vec<String> = features
        .lines()
        .filter_map(|line| line.split_once(" = [\"dep:"))
        .map(|(name, rest)| {
            let export = if rest.starts_with(&format!("visakit-{name}\"")) {
                format!("pub use visakit_{name} as {name};")
            } else {
                format!("pub mod {name};")
            };
            assert!(source.contains(&export), "{export}");
            name.to_owned()
        })
        .collect();
    assert!(features.len() > 10, "{features:?}");
    let documented = rows(&source, "//! | `");
    assert_eq!(documented, features, "src/lib.rs");
    assert_eq!(rows(&read("../../docs/library.md"), "| `"), features);
}

/// What is published is named where the guide says which crates are for everybody.
#[test]
fn crates_are_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = std::fs::read_to_string(folder.join("docs/library.md")).unwrap();
    let row = |start: &str| {
        let mut rows = guide.lines().filter(|line| line.starts_with(start));
        let names = rows.next().unwrap().split('`').skip(1).step_by(2);
        let names = names.map(|name| name.rsplit("visakit-internal-").next().unwrap());
        let names = names.map(|name| name.trim_start_matches("visakit").trim_start_matches('-'));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let (mut everybody, mut internal) = (row("| for everybody"), row("| internal"));
    for entry in std::fs::read_dir(folder.join("crates")).unwrap() {
        let folder = entry.unwrap();
        let manifest = std::fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        if manifest.contains("publish = false") {
            continue;
        }
        let name = folder.file_name().into_string().unwrap();
        let is_internal = manifest.contains(&format!("name = \"visakit-internal-{name}\""));
        let name = if name == "visakit" {
            String::new()
        } else {
            name
        };
        let listed = if is_internal {
            &mut internal
        } else {
            &mut everybody
        };
        let before = listed.len();
        listed.retain(|listed| *listed != name);
        assert_eq!(listed.len() + 1, before, "{name}");
    }
    assert!(
        everybody.is_empty() && internal.is_empty(),
        "{everybody:?} {internal:?}"
    );
}
