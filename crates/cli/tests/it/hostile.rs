//! Every command is given inputs that it cannot use: it says why in a few lines and ends with 1 or
//! 2.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Commands with the place of the input.
const COMMANDS: &[&str] = &[
    "info {}",
    "dump {}",
    "stats {}",
    "dis {}",
    "dis --exact {}",
    "dis --intel {}",
    "dis --lenient {}",
    "roundtrip {}",
    "validate {}",
    "convert {} --to 4.1 -o never.isa",
    "strip {} -o never.isa",
    "extract {} --routine a -o never.isa",
    "merge {} {} -o never.isa",
    "rename {} a=b -o never.isa",
    "diff {} {}",
    "cfg {}",
    "callgraph {}",
    "reduce {} --test never-run{} -o never.isa",
    "asm {} -o never.isa",
    "fmt {}",
    "run {} --bare",
    "run {} --kernel a --zeinfo {} --global 1",
    "run --zebin {} --kernel a --global 1",
    "run --case {}",
];

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    fs::create_dir_all(folder.join("empty_folder")).unwrap();
    folder
}

fn visakit(line: &str, input: &str) -> Output {
    let words = line.split(' ').map(|word| word.replace("{}", input));
    let mut command = Command::new(env!("CARGO_BIN_EXE_visakit"));
    // Sources are not compiled by whatever the machine has.
    command.env("VISAKIT_OCLOC", "no-such-compiler");
    command.current_dir(folder()).args(words).output().unwrap()
}

#[track_caller]
fn refused(line: &str, input: &str) -> String {
    let done = visakit(line, input);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let printed = String::from_utf8_lossy(&done.stdout);
    let code = done.status.code();
    assert!(
        matches!(code, Some(1 | 2)),
        "{line} of {input}: {code:?}\n{said}"
    );
    assert!(
        !said.is_empty() || !printed.is_empty(),
        "{line} of {input}: silence"
    );
    assert!(!folder().join("never.isa").exists(), "{line} of {input}");
    said
}

/// Random bytes, some of which form multi-byte characters.
fn noise(seed: u64) -> Vec<u8> {
    let mut random = visakit_testing::layouts::Random::of_seed(seed);
    let mut bytes: Vec<u8> = (0..256).flat_map(|_| random.word().to_le_bytes()).collect();
    for (at, wide) in [(9, "ϵ"), (40, "\n퉃 x"), (90, "\r\n  ϵϵ(0,"), (200, "\"ϵ")] {
        bytes.splice(at..at + wide.len(), wide.bytes());
    }
    bytes.retain(|&byte| byte != 0);
    bytes
}

#[test]
fn what_is_no_input_is_refused_by_every_command() {
    let object =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/objects/subgroups_skl_v36.isa");
    let object = fs::read(object).unwrap();
    let header = b"CISA\x04\x01\xff\xff".to_vec();
    let inputs = [
        ("zeros.isa", vec![0; 100_000]),
        ("nothing.isa", Vec::new()),
        ("cut.isa", object.get(..3000).unwrap().to_vec()),
        ("header.isa", header),
    ];
    for (name, bytes) in inputs {
        fs::write(folder().join(name), bytes).unwrap();
        for line in COMMANDS {
            // The purpose of lenient reading.
            if name != "cut.isa" || !line.contains("--lenient") {
                refused(line, name);
            }
        }
    }
    for line in COMMANDS {
        refused(line, "no_such_file.isa");
        assert_eq!(
            visakit(line, "empty_folder").status.code(),
            Some(2),
            "{line}"
        );
        refused(line, "empty_folder");
    }
}

#[test]
fn noise_is_a_text_with_faults() {
    for seed in 1..20 {
        let name = format!("noise{seed}.visaasm");
        fs::write(folder().join(&name), noise(seed)).unwrap();
        for line in ["asm {} -o never.isa", "fmt {}", "run {} --bare"] {
            let said = refused(line, &name);
            assert!(said.contains(&format!("{name}:1:")), "{said}");
        }
    }
}

/// What cannot be started says what is wrong with it, not what else a program would need.
#[test]
fn what_is_no_program_is_not_asked_for_metadata() {
    fs::write(folder().join("bytes.bin"), [0x90, 0, 0xff, 7].repeat(2000)).unwrap();
    for line in [
        "run {} --global 4",
        "check {} --global 4",
        "profile {} --global 4",
    ] {
        let said = refused(line, "bytes.bin");
        assert!(
            said.contains("bytes.bin") && !said.contains("metadata"),
            "{said}"
        );
    }
}

/// `-` is standard input, and no folder.
#[test]
fn a_folder_does_not_stand_for_standard_input() {
    let place = folder().join("dash");
    fs::create_dir_all(place.join("-")).unwrap();
    let tool = |words: &[&str]| {
        let object = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures/objects/subgroups_skl_v36.isa");
        let mut tool = std::process::Command::new(env!("CARGO_BIN_EXE_visakit"));
        tool.args(words).current_dir(&place);
        tool.stdin(fs::File::open(object).unwrap())
            .output()
            .unwrap()
    };
    for words in [
        &["info", "-"][..],
        &["dis", "-"],
        &["compare-compilers", "-", "-"],
    ] {
        let said = tool(words);
        let told = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(!told.contains("folder"), "{words:?}: {told}");
    }
    assert!(tool(&["info", "-"]).status.success());
    let done = tool(&["compile", "-", "-o", "-"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("name a folder"));
}

#[test]
fn what_holds_no_visa_is_named_by_every_verb() {
    let others: [(&str, &[u8], &str); 6] = [
        ("program.bin", b"\x7fELF\x02\x01\x01\0\0\0", "an ELF file"),
        ("k.spv", b"\x03\x02\x23\x07\0\0\x01\0", "a SPIR-V module"),
        ("k.bc", b"BC\xc0\xde5\x14\0\0", "LLVM bitcode"),
        ("k.ll", b"; ModuleID = 'k'\n", "LLVM text"),
        (
            "k.asm",
            b"//.kernel k\n//.platform DG2\n",
            "native code as text",
        ),
        ("k.cl", b"__kernel void k() {}\n", "OpenCL C"),
    ];
    for (name, bytes, what) in others {
        fs::write(folder().join(name), bytes).unwrap();
        for line in COMMANDS {
            // These report what they expect instead.
            if ["--zeinfo", "--zebin", "--case", "reduce"]
                .iter()
                .any(|w| line.contains(w))
            {
                continue;
            }
            let done = visakit(line, name);
            let said = refused(line, name);
            let printed = String::from_utf8_lossy(&done.stdout);
            assert_eq!(done.status.code(), Some(2), "{line} of {name}: {said}");
            let told = format!("{said}{printed}");
            // What can be compiled is, where there is a compiler.
            let is_source = name.ends_with(".cl") || name.ends_with(".spv");
            let compiles = is_source && told.contains("no-such-compiler was not found");
            assert!(compiles || told.contains(what), "{line}: {said}");
        }
    }
}
