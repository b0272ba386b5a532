//! `visakit run`: what it prints and how it ends.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(path)
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_visakit"));
    command.current_dir(fixture("")).arg("run").args(arguments);
    command.output().unwrap()
}

/// Standard output, where the exit code is this.
fn printed(arguments: &[&str], code: i32) -> String {
    let output = run(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn complaint(arguments: &[&str], code: i32) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

const LOOKUP: [&str; 10] = [
    "kernels/lookup.pvc.visaasm",
    "--zebin",
    "kernels/lookup.pvc.zebin",
    "--global",
    "8",
    "--arg",
    "zeros:32",
    "--arg",
    "zeros:32",
    "--arg",
];

#[test]
fn a_kernel() {
    let arguments = [&LOOKUP[..], &["i32:1000"]].concat();
    assert_eq!(
        printed(&arguments, 0),
        "argument 0 out (32 bytes as d)\n  0: 1000 1001 1004 1009 1016 1025 1036 1049\n"
    );
    let shown = printed(
        &[&arguments[..], &["--show", "0:u8", "--stats"]].concat(),
        0,
    );
    assert!(
        shown.starts_with("argument 0 out (32 bytes as ub)\n   0: 232   3   0   0 233"),
        "{shown}"
    );
    assert!(shown.contains("lane operations a second"), "{shown}");
    let json: serde_json::Value =
        serde_json::from_str(&printed(&[&arguments[..], &["--json"]].concat(), 0)).unwrap();
    assert_eq!(json["buffers"][0]["elements"][7], 1049);
    assert_eq!(json["buffers"][1]["changed"], false);
}

#[test]
fn images() {
    let mut arguments = vec![
        "kernels/images.skl.visaasm",
        "--zeinfo",
        "kernels/images.skl.zeinfo",
        "--global=32",
        "--local=32",
        "--show=5:f32",
    ];
    for argument in [
        "image1d:zeros:4:R:FLOAT",
        "image1d_buffer:zeros:4:R:FLOAT",
        "image1d_array:zeros:4x3:R:FLOAT",
        "image2d_array:zeros:4x4x2:R:FLOAT",
        "image3d:zeros:4x4x3:R:FLOAT",
        "image2d_array:zeros:4x4x2:R:FLOAT",
        "zeros:1024",
    ] {
        arguments.extend(["--arg", argument]);
    }
    let text = printed(&arguments, 0);
    assert!(
        text.starts_with("argument 5 copy (128 bytes as f)\n   0: 19.0 18.0 17.0 16.0 23.0"),
        "{text}"
    );
}

#[test]
fn cases() {
    let one = ["--case", "cases/partial_groups/pvc", "cases/call_sub/dg2"];
    assert_eq!(printed(&one, 0), "2 cases: 2 passed, 0 failed\n");
    assert_eq!(
        printed(&[&one[..], &["--from-text"]].concat(), 0),
        "2 cases: 2 passed, 0 failed\n"
    );
    let text = printed(&["--case", "cases/nothing"], 1);
    assert!(text.ends_with("1 cases: 0 passed, 1 failed\n"), "{text}");
}

#[test]
fn bare() {
    let arguments = [
        "programs/bfi.visaasm",
        "--bare",
        "--set",
        "WIDTH=4,8",
        "--set",
        "OFFSET=0,4",
        "--set",
    ];
    let arguments = [
        &arguments[..],
        &["VALUE=0xffff,0xffff", "--print", "RESULT"],
    ]
    .concat();
    assert_eq!(
        printed(&arguments, 0),
        "RESULT (ud)\n   0:   15 4080    0    0    0    0    0    0\n   8:    0    0    0    0    0    0    0    0\n"
    );
    let trace = printed(&[&arguments[..], &["--trace"]].concat(), 0);
    let first = trace.lines().next().unwrap();
    assert!(
        first.starts_with("t0 k0:0 0000ffff  bfi (M1, 16)") && first.contains("=> 15 4080 0"),
        "{first}"
    );
}

#[test]
fn media() {
    let arguments = [
        "programs/prefix_sum_2d.visaasm",
        "--media",
        "3x1",
        "--dependency",
        "horizontal",
    ];
    let surface = [
        "--surface",
        "0:zeros:20x2",
        "--input",
        "1:1,0,0,0",
        "--show",
        "0:u32",
    ];
    assert_eq!(
        printed(&[&arguments[..], &surface].concat(), 0),
        "input 0 (40 bytes as ud)\n  0: 0 0 0 0 0 0 1 2\n  8: 3 0\n"
    );
}

#[test]
fn what_goes_wrong() {
    let fault = complaint(
        &[
            "programs/loops.visaasm",
            "--bare",
            "--set",
            "N=27",
            "--max-steps",
            "50",
        ],
        1,
    );
    assert!(fault.contains("more than 50 instructions"), "{fault}");
    let kind = complaint(&[&LOOKUP[..], &["zeros:4"]].concat(), 2);
    assert!(
        kind.contains("argument 2: the kernel wants a value, not a buffer"),
        "{kind}"
    );
    let count = complaint(&LOOKUP[..LOOKUP.len() - 1], 2);
    assert!(
        count.contains("takes 3 arguments and was given 2: int* out, int* which, int shift"),
        "{count}"
    );
    assert!(complaint(&["programs/bfi.visaasm"], 2).contains("--zeinfo or --zebin"));
    assert!(complaint(&[], 2).contains("no program"));
    let usage = complaint(
        &[
            "programs/bfi.visaasm",
            "--global",
            "4",
            "--arg",
            "strange:1",
        ],
        2,
    );
    assert!(usage.contains("known are buffer, zeros"), "{usage}");
    let sizes = complaint(&["programs/bfi.visaasm", "--arg", "image3d:zeros:4x4"], 2);
    assert!(sizes.contains("an image3d has 3 size(s), not 2"), "{sizes}");
    let embedded = complaint(&["--zebin", "kernels/lookup.pvc.zebin", "--global", "4"], 2);
    assert!(embedded.contains("native code only"), "{embedded}");
}
