//! Checks by other people's tools: dependencies, the public API since the last release, the guide as a book.

use crate::{Done, call, cargo};
use std::process::Command;

/// Tools, and what installs them.
const TOOLS: [&str; 3] = ["cargo-deny", "cargo-semver-checks", "mdbook"];

pub(crate) fn run(arguments: &[String]) -> Done {
    if let Some(unknown) = arguments.first() {
        return Err(format!("no argument is called {unknown:?}").into());
    }
    let absent: Vec<&str> = TOOLS.into_iter().filter(|tool| !exists(tool)).collect();
    if !absent.is_empty() {
        let tools = absent.join(" ");
        return Err(format!("install what is missing: cargo install --locked {tools}").into());
    }
    call(cargo().args(["deny", "--all-features", "check"]))?;
    api()?;
    book()
}

fn exists(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}

/// What was published may not change but in a new version; before the first release there is nothing to compare with.
fn api() -> Done {
    let tags = [
        "tag",
        "--list",
        "v*",
        "--merged",
        "HEAD",
        "--sort=-creatordate",
    ];
    let tags = Command::new("git")
        .args(tags)
        .current_dir(visakit_testing::root())
        .output()?;
    if !tags.status.success() {
        return Err(String::from_utf8_lossy(&tags.stderr).into());
    }
    let tags = String::from_utf8(tags.stdout)?;
    match tags.lines().next() {
        None => {
            println!("no release yet: there is no API to compare with");
            Ok(())
        }
        Some(tag) => call(cargo().args(["semver-checks", "--workspace", "--baseline-rev", tag])),
    }
}

/// The guide, which must be built without a warning.
fn book() -> Done {
    let folder = visakit_testing::root().join("target/book");
    let built = Command::new("mdbook")
        .args(["build", "docs", "--dest-dir"])
        .arg(&folder)
        .current_dir(visakit_testing::root())
        .output()?;
    let said = String::from_utf8_lossy(&built.stderr);
    eprint!("{said}");
    let warned = said.lines().any(|line| line.contains("WARN"));
    if built.status.success() && !warned {
        return Ok(());
    }
    Err("the guide is not built without warnings".into())
}
