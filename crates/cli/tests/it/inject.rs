//! An edited text in a compiled program, with Intel's own tools: the finalizer takes it, and the disassembler shows it.

use crate::{command, file, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = "__kernel void k(__global int *out) { out[get_global_id(0)] = 7; }\n";

/// The tool, with the compiler of the system.
fn visakit(args: &[&str]) -> Output {
    command(args)
        .env("VISAKIT_OCLOC", "ocloc")
        .output()
        .unwrap()
}

fn works(program: &str) -> bool {
    Command::new(program).arg("--help").output().is_ok()
}

/// The native code of a kernel: the compiler's disassembler finds it in the program, Intel's assembler shows it.
fn shown(program: &Path) -> String {
    let folder = program.with_extension("shown");
    fs::create_dir_all(&folder).unwrap();
    let mut ocloc = Command::new("ocloc");
    ocloc.args(["disasm", "-device", "dg2", "-file"]);
    ocloc.arg(program).arg("-dump").arg(&folder);
    let output = ocloc.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stdout));
    let mut iga = Command::new("iga64");
    let output = iga.args(["-d", "-p=12p71"]).arg(folder.join(".text.k"));
    text(&output.output().unwrap().stdout)
}

#[test]
fn a_gpu_would_run_the_edited_text() {
    if !["ocloc", "GenX_IR", "iga64"].iter().all(|tool| works(tool)) {
        eprintln!(
            "NOT RUN: an edited text in a compiled program, which needs ocloc and libigc-tools"
        );
        return;
    }
    let source = file("inject.cl");
    fs::write(&source, SOURCE).unwrap();
    let source = source.to_str().unwrap();
    let folder = file("inject.out");
    let out = folder.to_str().unwrap();
    let output = visakit(&["compile", source, "--device", "dg2", "-o", out]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let original = fs::read_to_string(folder.join("k.visaasm")).unwrap();
    let edited = folder.join("edited.visaasm");
    for (constant, expected) in [("0x7:d", "7"), ("0x2a:d", "42")] {
        fs::write(&edited, original.replace("0x7:d", constant)).unwrap();
        let program = folder.join(format!("new{expected}.zebin"));
        let words = [
            "inject",
            source,
            edited.to_str().unwrap(),
            "--device",
            "dg2",
            "-o",
        ];
        let output = visakit(&[&words[..], &[program.to_str().unwrap()]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let listing = shown(&program);
        let moves = listing
            .lines()
            .filter(|line| line.trim_start().starts_with("mov (16|M"));
        let stored: Vec<_> = moves
            .filter(|line| line.contains(&format!(" {expected}:")))
            .collect();
        assert_eq!(stored.len(), 2, "{listing}");
    }
    // What the driver starts is SIMD32.
    fs::write(&edited, original.replace("SimdSize=32", "SimdSize=16")).unwrap();
    let words = [
        "inject",
        source,
        edited.to_str().unwrap(),
        "--device",
        "dg2",
        "-o",
        "never",
    ];
    let output = visakit(&words);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("is for SIMD16, the program has k for SIMD32"));
}
