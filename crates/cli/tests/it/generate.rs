//! `smith`, `reduce`, `completions` and `man`, run as a user runs them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn visakit(args: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_visakit"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn the_same_seed_gives_the_same_object() {
    let folder = folder("smith");
    for out in ["a", "b"] {
        let run = visakit(
            &[
                "smith",
                "--seed",
                "3",
                "--count",
                "5",
                "--platform",
                "pvc",
                "-o",
                out,
            ],
            &folder,
        );
        assert!(run.status.success(), "{run:?}");
    }
    for seed in 3..8 {
        let read = |out: &str| fs::read(folder.join(out).join(format!("{seed}.isa"))).unwrap();
        assert_eq!(read("a"), read("b"));
    }
    let run = visakit(&["roundtrip", "a"], &folder);
    let said = String::from_utf8(run.stdout).unwrap();
    assert!(
        said.contains("5 identical, 0 different, 0 rejected"),
        "{said}"
    );
    let run = visakit(
        &["smith", "--seed", "1", "--without", "love", "-o", "c"],
        &folder,
    );
    assert_eq!(run.status.code(), Some(2));
}

#[test]
#[cfg(unix)]
fn a_reduction_keeps_what_the_command_looks_for() {
    let folder = folder("reduce");
    visakit(&["smith", "--seed", "1", "-o", "."], &folder);
    let before = fs::metadata(folder.join("1.isa")).unwrap().len();
    let test = format!(
        "{} dis {{}} | grep -q ' ret '",
        env!("CARGO_BIN_EXE_visakit")
    );
    let run = visakit(
        &["reduce", "1.isa", "--test", &test, "-o", "small.isa"],
        &folder,
    );
    assert!(run.status.success(), "{run:?}");
    let after = fs::metadata(folder.join("small.isa")).unwrap().len();
    assert!(after * 5 < before, "{after} bytes of {before}");
    // Nothing but the result is left behind.
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    let run = visakit(
        &["reduce", "1.isa", "--test", "false {}", "-o", "x.isa"],
        &folder,
    );
    assert_eq!(run.status.code(), Some(2));
    let run = visakit(
        &["reduce", "1.isa", "--test", "true", "-o", "x.isa"],
        &folder,
    );
    assert_eq!(run.status.code(), Some(2));
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let folder = folder("shell");
    let run = visakit(&["completions", "bash"], &folder);
    let script = String::from_utf8(run.stdout).unwrap();
    let run = visakit(&["man", "pages"], &folder);
    assert!(run.status.success(), "{run:?}");
    let help = visakit(&["help"], &folder);
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help
        .split("Commands:")
        .nth(1)
        .and_then(|rest| rest.split("Options:").next())
        .unwrap();
    let names = commands
        .lines()
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|name| *name != "help");
    let mut count = 0;
    for name in names {
        assert!(script.contains(name), "{name}");
        assert!(
            folder.join(format!("pages/visakit-{name}.1")).exists(),
            "{name}"
        );
        count += 1;
    }
    assert!(count > 8);
}
