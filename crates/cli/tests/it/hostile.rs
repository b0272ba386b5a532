//! Every command meets inputs that it cannot use: it says why in a few lines and ends with 1 or 2.

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

/// Bytes without order, some of which make characters of several bytes.
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
            // What lenient reading is for.
            if name != "cut.isa" || !line.contains("--lenient") {
                refused(line, name);
            }
        }
    }
    for line in COMMANDS {
        refused(line, "no_such_file.isa");
        // An empty folder has no objects, and none of them is wrong.
        if !["stats", "roundtrip", "validate"].contains(&line.split(' ').next().unwrap()) {
            refused(line, "empty_folder");
        }
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

#[test]
fn binary_files_are_no_texts() {
    fs::write(folder().join("program.bin"), b"\x7fELF\x02\x01\x01\0\0\0").unwrap();
    let said = refused("run {} --bare", "program.bin");
    assert!(said.contains("an ELF file is given with --zebin"), "{said}");
    for line in ["asm {} -o never.isa", "fmt {}"] {
        assert_eq!(visakit(line, "program.bin").status.code(), Some(2));
        let said = refused(line, "program.bin");
        assert!(said.contains("is binary, expected vISA text"), "{said}");
    }
}
