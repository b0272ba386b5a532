//! Separate programs in C on the driver. If what they need (a C compiler, the headers and the loader of Level Zero,
//! `ocloc`) is missing, the test says so.

#![allow(clippy::disallowed_methods, reason = "tests")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;
use visakit_testing::driver::{self, has_ocloc, shown};
use visakit_testing::say;

const LIBRARY: &str = "libze_visakit.so";

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

/// Builds a program of these tests, or says why it cannot be run.
fn built(name: &str, folder: &Path) -> Option<PathBuf> {
    let libraries = ["-lze_loader", "-ldl"];
    let program = driver::built(
        &source(&format!("{name}.c")),
        &folder.join(name),
        &libraries,
    );
    if program.is_none() || !has_ocloc() {
        say(
            "NOT RUN: Level Zero in C needs a C compiler, Level Zero's headers, its loader and ocloc",
        );
        return None;
    }
    program
}

/// A program of these tests as SPIR-V.
fn spirv(name: &str, folder: &Path) -> PathBuf {
    let mut compiler = Command::new("ocloc");
    compiler
        .args([
            "compile",
            "-device",
            "acm-g10",
            "-spv_only",
            "-output_no_suffix",
            "-file",
        ])
        .arg(source(&format!("{name}.cl")))
        .args(["-options", "-cl-std=CL3.0", "-output", name, "-out_dir"])
        .arg(folder);
    let done = compiler.output().unwrap();
    let made = ["", ".spv"].map(|end| folder.join(format!("{name}{end}")));
    let made = made.into_iter().find(|path| path.exists());
    assert!(made.is_some(), "{}", shown(&done));
    made.unwrap()
}

/// A command that sees only this driver.
fn on_device(program: &Path, folder: &Path) -> Command {
    let library = driver::library(LIBRARY).unwrap();
    let mut command = driver::on_device(program, folder);
    command.env("ZE_ENABLE_ALT_DRIVERS", library);
    command
}

#[test]
fn programs() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("program", folder.path()) else {
        return;
    };
    let (kernels, image) = (
        spirv("kernels", folder.path()),
        spirv("image", folder.path()),
    );
    for (device, jit) in [
        ("acm-g10", ""),
        ("acm-g10", "never"),
        ("pvc", ""),
        ("skl", ""),
    ] {
        let mut command = on_device(&program, folder.path());
        command.args([&kernels, &image]);
        let done = command
            .env("VISAKIT_DEVICE", device)
            .env("VISAKIT_JIT", jit);
        let done = done.output().unwrap();
        assert!(done.status.success(), "{device}, {jit}: {}", shown(&done));
    }
    for (variable, value) in [("VISAKIT_TIME", "host"), ("VISAKIT_SYSTEM_MEMORY", "1")] {
        let mut command = on_device(&program, folder.path());
        command.args([&kernels, &image]).env(variable, value);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{variable}: {}", shown(&done));
    }
}

/// What the management of systems says.
#[test]
fn managed() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("system", folder.path()) else {
        return;
    };
    let mut command = on_device(&program, folder.path());
    let done = command.arg(driver::library(LIBRARY).unwrap());
    let done = done.output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
}

/// Devices come in the order in which `VISAKIT_DEVICE` names them, or in that of their buses.
#[test]
fn devices_have_an_order() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("order", folder.path()) else {
        return;
    };
    let listed = |by_bus: &str| {
        let mut command = on_device(&program, folder.path());
        command.env("VISAKIT_DEVICE", "pvc,acm-g10,skl");
        let done = command.env("ZE_ENABLE_PCI_ID_DEVICE_ORDER", by_bus);
        let done = done.output().unwrap();
        assert!(done.status.success(), "{}", shown(&done));
        let text = String::from_utf8(done.stdout).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (named, by_bus) = (listed("0"), listed("1"));
    assert_eq!(by_bus.len(), 3);
    let mut sorted = named.clone();
    sorted.sort();
    assert_eq!(by_bus, sorted);
    assert_ne!(by_bus, named);
}

/// Checks, the profiler and dumps are those of the driver's model.
#[test]
fn watched() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("program", folder.path()) else {
        return;
    };
    let (kernels, image) = (
        spirv("kernels", folder.path()),
        spirv("image", folder.path()),
    );
    let run = |variable: &str, value: &std::ffi::OsStr| {
        let mut command = on_device(&program, folder.path());
        command.args([&kernels, &image]).arg("checked");
        let done = command.env(variable, value).output().unwrap();
        assert!(done.status.success(), "{variable}: {}", shown(&done));
        shown(&done)
    };
    let said = run("VISAKIT_CHECK", "memory".as_ref());
    assert!(said.contains("17 launches checked, 0 findings"), "{said}");
    let profile = folder.path().join("profile.json");
    let said = run("VISAKIT_PROFILE", profile.as_ref());
    assert!(said.contains("17 launches of 7 kernels profiled"), "{said}");
    let text = std::fs::read_to_string(profile).unwrap();
    assert!(text.contains("\"kernel\":\"scale\""), "{text}");
    let dump = folder.path().join("dump");
    run("VISAKIT_DUMP", dump.as_ref());
    assert_eq!(std::fs::read_dir(dump).unwrap().count(), 17);
}

#[test]
fn every_function_misused() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = built("misuse", folder.path()) else {
        return;
    };
    let mut command = on_device(&program, folder.path());
    command
        .arg(driver::library(LIBRARY).unwrap())
        .arg(spirv("kernels", folder.path()))
        .args(ze_visakit::tables());
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", shown(&done));
}
