//! What users get, as a tree: `bin/visakit`, and in `lib/visakit` the drivers and the page of the explorer, where the
//! program looks for them (`crates/cli/src/installed.rs`).

use crate::{Done, call, cargo, web};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages of drivers and the libraries that they make. Those that are not in the workspace are left out.
const DRIVERS: [(&str, &str, &str); 2] = [
    ("visakit-opencl", "crates/opencl", "libvisakit_opencl.so"),
    (
        "visakit-level-zero",
        "crates/level-zero",
        "libze_visakit.so",
    ),
];

/// Builds with a profile of cargo, and puts the tree into a folder.
pub(crate) fn stage(root: &Path, profile: &str) -> Done {
    let workspace = visakit_testing::root();
    let drivers: Vec<_> = DRIVERS
        .iter()
        .filter(|driver| cfg!(target_os = "linux") && workspace.join(driver.1).is_dir())
        .collect();
    let mut build = cargo();
    build.args([
        "build",
        "--locked",
        "--profile",
        profile,
        "-p",
        "visakit-cli",
    ]);
    for (package, ..) in &drivers {
        build.args(["-p", package]);
    }
    call(&mut build)?;
    let built = target().join(if profile == "dev" { "debug" } else { profile });
    place(&built.join("visakit"), &root.join("bin"))?;
    for (.., library) in &drivers {
        place(&built.join(library), &root.join("lib/visakit"))?;
    }
    page(&root.join("lib/visakit/explorer"))
}

/// `cargo xtask install [--root DIR] [--profile NAME]`: by default to where cargo installs.
pub(crate) fn install(arguments: &[String]) -> Done {
    let root = option(arguments, "--root").map_or_else(default_root, |root| Ok(root.into()))?;
    stage(
        &root,
        &option(arguments, "--profile").unwrap_or_else(|| "release".into()),
    )?;
    println!("{} is installed", root.join("bin/visakit").display());
    Ok(())
}

fn default_root() -> Result<PathBuf, Box<dyn Error>> {
    let named = ["CARGO_INSTALL_ROOT", "CARGO_HOME"].into_iter();
    let named = named.filter_map(std::env::var_os).next();
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"));
    let root = named.map(PathBuf::from).or_else(home);
    root.ok_or_else(|| "name a folder with --root: HOME is not set".into())
}

/// The value of an option.
pub(crate) fn option(arguments: &[String], name: &str) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1).cloned()
}

/// The folder that cargo builds in.
pub(crate) fn target() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    named.unwrap_or_else(|| visakit_testing::root().join("target"))
}

/// Copies a program or library into a folder, without what only debuggers need.
fn place(file: &Path, folder: &Path) -> Done {
    std::fs::create_dir_all(folder)?;
    let to = folder.join(file.file_name().unwrap_or_default());
    // A running program is replaced, not written to.
    let _ = std::fs::remove_file(&to);
    std::fs::copy(file, &to).map_err(|error| format!("{}: {error}", file.display()))?;
    // Without this program the file is only larger.
    let _ = Command::new("strip").arg("--strip-debug").arg(&to).status();
    Ok(())
}

/// The page of the explorer: the one that `cargo xtask web` made, or it makes it, which needs npm.
fn page(to: &Path) -> Done {
    let made = visakit_testing::root().join("web/dist");
    if !made.join("index.html").is_file() {
        if Command::new("npm").arg("--version").output().is_err() {
            println!("without the page of `visakit explore`: making it needs npm");
            return Ok(());
        }
        web::run(&[])?;
    }
    copy(&made, to)
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Done {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
