//! The tool as its users meet it.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

#[cfg(unix)]
mod action;
mod cli;
mod containers;
mod dap;
#[cfg(unix)]
mod debug;
#[cfg(unix)]
mod files;
mod hostile;
#[cfg(target_os = "linux")]
#[cfg(feature = "hunt")]
mod hunt;
mod inject;
mod json;
mod listing;
#[cfg(feature = "lsp")]
mod lsp;
mod pages;
mod stops;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const OBJECTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/objects");

/// The tool with its arguments, in the folder of the committed objects.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_visakit"));
    // Sources are not compiled by whatever the machine has.
    command.env("VISAKIT_OCLOC", "no-such-compiler");
    command.args(args).current_dir(OBJECTS);
    command
}

fn visakit(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

/// A place for a file of this name, which one test only may use.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The output as text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
