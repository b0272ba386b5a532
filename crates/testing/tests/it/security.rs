//! Promises of SECURITY.md: each has a test, and those that are about the sources are tested here.

use std::fs;
use std::path::{Path, PathBuf};
use visakit_testing::root;

/// The rows of the tables: promise and test.
fn rows(page: &str) -> Vec<(&str, &str)> {
    let cells = page.lines().filter_map(|line| {
        let line = line.strip_prefix('|')?.strip_suffix('|')?;
        let (promise, test) = line.split_once('|')?;
        Some((promise.trim(), test.trim()))
    });
    let heads = ["promise", "---"];
    cells
        .filter(|(promise, _)| !heads.contains(promise))
        .collect()
}

/// Whether a source has a test of this name.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    let start = format!("fn {name}(");
    let mut places = (0..lines.len()).filter(|at| lines[*at].starts_with(&start));
    places.any(|at| {
        let attributes = lines[..at].iter().rev();
        let mut attributes =
            attributes.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        attributes.any(|line| *line == "#[test]")
    })
}

#[test]
fn every_promise_has_a_test() {
    let page = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let rows = rows(&page);
    assert!(rows.len() > 30, "the tables are not found");
    for (promise, test) in rows {
        let named = test
            .strip_prefix('`')
            .and_then(|test| test.strip_suffix('`'));
        let (path, name) = named
            .and_then(|t| t.split_once("::"))
            .unwrap_or_else(|| panic!("{promise}: {test}"));
        let source = fs::read_to_string(root().join(path))
            .unwrap_or_else(|e| panic!("{promise}: {path}: {e}"));
        assert!(
            has_test(&source, name),
            "{promise}: {path} has no test {name}"
        );
    }
}

/// Sources of what is built for users, without their unit tests.
fn sources() -> Vec<(String, String)> {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        below(&entry.unwrap().path().join("src"), &mut all);
    }
    below(&root().join("python/src"), &mut all);
    assert!(all.len() > 300);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let code = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        let lines = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let name = path
            .strip_prefix(root())
            .unwrap()
            .to_string_lossy()
            .into_owned();
        (name, lines.collect::<Vec<_>>().join("\n"))
    };
    all.into_iter().map(read).collect()
}

/// The sources that have one of these words, apart from some.
fn with(words: &[&str], except: &[&str]) -> Vec<String> {
    let sources = sources().into_iter();
    let found = sources.filter(|(name, text)| {
        words.iter().any(|word| text.contains(word))
            && !except.iter().any(|place| name.starts_with(place))
    });
    found.map(|(name, _)| name).collect()
}

#[test]
fn unsafe_code_is_in_few_places() {
    let words = [
        "unsafe {",
        "unsafe fn",
        "unsafe impl",
        "unsafe extern",
        "unsafe trait",
    ];
    let places = [
        "crates/jit/src/pages/",
        "crates/storage/src/",
        "crates/host/src/",
        "crates/level-zero/src/ffi/",
        "crates/opencl/src/ffi/",
    ];
    assert_eq!(with(&words, &places), Vec::<String>::new());
    // The words are those that the places have.
    for place in places {
        assert!(
            with(&words, &[]).iter().any(|name| name.starts_with(place)),
            "{place}"
        );
    }
}

#[test]
fn outputs_are_opened_in_one_place() {
    let words = [
        "fs::write(",
        "File::create",
        ".create(true)",
        ".create_new(true)",
        ".truncate(true)",
        ".append(true)",
    ];
    let others = [
        // Helpers of tests.
        "crates/testing/src/",
        // Files of a folder that gets its name when all of them are complete.
        "crates/corpus/src/parquet.rs",
        // The output of a command, beside the result and removed with it.
        "crates/cli/src/commands/reduce.rs",
        // Only the time of the last use.
        "crates/driver/src/cache.rs",
        // Names for perf, which nobody else reads: a file that is made anew, and grows while a process compiles.
        "crates/jit/src/perf.rs",
    ];
    let mut except = vec!["crates/files/src/"];
    except.extend(others);
    assert_eq!(
        with(&words, &except),
        Vec::<String>::new(),
        "see visakit_files::write"
    );
    for other in others {
        assert!(
            with(&words, &[]).iter().any(|name| name.starts_with(other)),
            "{other} needs no exception"
        );
    }
}
