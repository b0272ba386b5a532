//! The tool starts, and names its commands. That there is a test lets `cargo test` build the tool: `.ci/run` runs it
//! from there, where `cargo xtask` would build the libraries once more, with other features of dependencies.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::process::{Command, Output};

fn xtask(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(args).output().unwrap()
}

#[test]
fn commands_are_named() {
    let help = xtask(&["help"]);
    assert!(help.status.success());
    let help = String::from_utf8(help.stdout).unwrap();
    for command in ["bless", "fixtures", "fuzz", "fuzz-seeds"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
    }
    assert_eq!(xtask(&["nothing"]).status.code(), Some(2));
    let wrong = xtask(&["fuzz", "no-such-target"]);
    assert_eq!(wrong.status.code(), Some(1));
}
