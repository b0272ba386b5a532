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
    for command in ["bless", "dist", "fixtures", "fuzz", "fuzz-seeds", "install"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
    }
    assert_eq!(xtask(&["nothing"]).status.code(), Some(2));
    let wrong = xtask(&["fuzz", "no-such-target"]);
    assert_eq!(wrong.status.code(), Some(1));
}

/// A part of a release that needs no build: its file, and the checksum of it.
#[test]
fn releases_have_checksums() {
    let out = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("dist");
    let _ = std::fs::remove_dir_all(&out);
    let made = xtask(&["dist", "--out", out.to_str().unwrap(), "sbom"]);
    assert!(made.status.success(), "{made:?}");
    let bill = out.join(format!("visakit-{}.cdx.json", env!("CARGO_PKG_VERSION")));
    let bill: serde_json::Value = serde_json::from_slice(&std::fs::read(bill).unwrap()).unwrap();
    assert_eq!(bill["bomFormat"], "CycloneDX");
    let components = bill["components"].as_array().unwrap();
    let named = |name: &str| {
        components
            .iter()
            .find(|component| component["name"] == name)
    };
    for name in ["visakit-cli", "visakit-internal-opencl", "clap"] {
        let component = named(name).unwrap();
        assert!(component["licenses"][0]["expression"].is_string(), "{name}");
        assert!(
            component["purl"]
                .as_str()
                .unwrap()
                .starts_with("pkg:cargo/")
        );
    }
    let mut check = Command::new("sha256sum");
    let check = check
        .args(["--check", "--strict", "SHA256SUMS"])
        .current_dir(&out);
    assert!(check.output().unwrap().status.success());
    assert_eq!(xtask(&["dist", "everything"]).status.code(), Some(1));
}
