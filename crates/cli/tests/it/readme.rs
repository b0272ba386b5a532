//! The README's examples are run, and print what it shows.
//!
//! In its blocks marked `console` a line that begins with `$ ` is a command for the shell, `? N` the exit code where
//! it is not 0, and `...` stands for any lines. `SNAPSHOTS=overwrite cargo test -p visakit-cli --test readme` writes
//! what is printed now into the README.
#![cfg(unix)] // the examples are for a Unix shell
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder to work in, with the fixtures in it.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    std::os::unix::fs::symlink(fixtures, folder.join("fixtures")).unwrap();
    folder
}

/// What a shell prints, both streams as they come, and the exit code where it is not 0.
fn printed(command: &str, folder: &Path) -> String {
    let tools = Path::new(env!("CARGO_BIN_EXE_visakit")).parent().unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec 2>&1; {command}"));
    let done = shell
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    match done.status.code() {
        Some(0) => text,
        Some(code) => format!("? {code}\n{text}"),
        None => panic!("{command} was killed"),
    }
}

#[test]
fn examples_of_the_readme_print_what_it_shows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let folder = folder();
    let mut actual = String::new();
    let mut in_block = false;
    let mut commands = 0;
    let mut lines = readme.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            in_block = line == "```console";
        }
        let command = line.strip_prefix("$ ").filter(|_| in_block);
        // What else stands in a block is printed, but for an empty line before the next command.
        let parts = line.is_empty() && lines.peek().is_some_and(|next| next.starts_with("$ "));
        if !in_block || command.is_some() || parts || line.starts_with("```") {
            actual.push_str(line);
            actual.push('\n');
        }
        if let Some(command) = command {
            actual.push_str(&printed(command, &folder));
            commands += 1;
        }
    }
    assert!(commands > 20, "only {commands} commands found");
    // What looks like a path is none.
    let compare = snapbox::Assert::new()
        .action_env("SNAPSHOTS")
        .normalize_paths(false);
    compare.eq(actual, snapbox::Data::read_from(&path, None));
}
