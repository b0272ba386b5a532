//! `cargo xtask web`: the explorer in the browser, as the folder `web/dist`.

use crate::stage::target;
use crate::{Done, call, cargo};
use std::path::Path;
use std::process::Command;

/// The system of a browser, as Rust has it.
const TARGET: &str = "wasm32-unknown-unknown";

/// The crate's module, in the folder that cargo builds in.
const MODULE: &str = "wasm32-unknown-unknown/web/visakit_wasm.wasm";

/// Builds everything; `--test` runs the tests in the browser afterwards.
pub(crate) fn run(arguments: &[String]) -> Done {
    let root = visakit_testing::root();
    if !root.join("web/node_modules").is_dir() {
        call(npm().args(["ci", "--no-audit", "--no-fund"]))?;
    }
    // A toolchain without rustup has the target, or the build says that it has not.
    let mut add = Command::new("rustup");
    let _ = add.args(["--quiet", "target", "add", TARGET]).status();
    call(cargo().args([
        "build",
        "-p",
        "visakit-wasm",
        "--lib",
        "--profile",
        "web",
        "--target",
        TARGET,
    ]))?;
    let bindgen = [
        "run",
        "--quiet",
        "--release",
        "--manifest-path",
        "web/bindgen/Cargo.toml",
        "--",
    ];
    let module = target().join(MODULE);
    call(cargo().args(bindgen).arg(module).arg("web/src/wasm"))?;
    let made = "web/src/wasm/visakit_wasm_bg.wasm";
    call(npm().args(["run", "build"]))?;
    let size = std::fs::metadata(root.join(made))?.len();
    println!("web/dist is made; the module has {size} bytes");
    if arguments.iter().any(|a| a == "--test") {
        call(Command::new("node").arg("web/test/run.mjs"))?;
    }
    Ok(())
}

/// npm, in the folder of the explorer.
fn npm() -> Command {
    let mut npm = Command::new("npm");
    npm.args([Path::new("--prefix"), Path::new("web")]);
    npm
}
