//! Intel's finalizer accepts generated objects, if it is installed (`libigc-tools`).

#![allow(clippy::disallowed_methods, reason = "tests")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use visakit_smith::{Config, PLATFORMS, Platform, from_seed};

/// Written directly to the stream: the harness hides the output of `eprintln!` in a test that
/// passes.
fn say(what: &str) {
    std::io::stderr()
        .write_all(format!("{what}\n").as_bytes())
        .unwrap();
}

#[test]
fn the_finalizer_accepts_ninety_nine_of_a_hundred() {
    let installed = Command::new("GenX_IR")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if installed.is_err() {
        say("NOT RUN: the finalizer GenX_IR is not installed (Debian package libigc-tools)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let count: usize = 120;
    let mut refused = Vec::new();
    for seed in 0..count {
        let platform = PLATFORMS[seed % PLATFORMS.len()];
        let object = from_seed(
            u64::try_from(seed).unwrap(),
            &Config::for_platform(platform),
        );
        if !accepted(&object, platform, folder.path()) {
            refused.push(format!("seed {seed} for {}", platform.name()));
        }
    }
    let accepted = count - refused.len();
    say(&format!(
        "{count} seeds: {accepted} accepted by the finalizer"
    ));
    assert!(accepted * 100 >= count * 99, "refused: {refused:?}");
}

fn accepted(object: &visakit_isa::object::Object<'_>, platform: Platform, folder: &Path) -> bool {
    let text = crate::laws::printer(object, platform).for_finalizer();
    std::fs::write(folder.join("smith.visaasm"), text).unwrap();
    let output = Command::new("GenX_IR")
        .args(["smith.visaasm", "-platform", platform.name(), "-binary"])
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).to_lowercase();
    output.status.success() && !said.contains("error")
}
