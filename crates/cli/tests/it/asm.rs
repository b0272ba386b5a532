//! The assembler on the command line.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn visakit(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_visakit"));
    command.args(args).output().unwrap()
}

/// A file in the folder for tests, with this content.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn text_becomes_an_object_and_text_again() {
    let text = file(
        "good.visaasm",
        b".version 4.1\n.kernel \"good\"\n    ret (M1, 1)\n",
    );
    let object = text.with_file_name("good.isa");
    let (text, object) = (text.to_str().unwrap(), object.to_str().unwrap());
    let done = visakit(&["asm", text, "-o", object]);
    assert!(done.status.success() && done.stdout.is_empty() && done.stderr.is_empty());
    let printed = visakit(&["dis", "--intel", object]);
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.contains(".kernel \"good\""), "{printed}");
    assert!(printed.contains("    ret (M1, 1)"), "{printed}");
    let written = visakit(&["asm", text, "--target-version", "3.6"]);
    assert!(written.stdout.starts_with(b"CISA\x03\x06"));
    let again = visakit(&["asm", object, "-o", "never.isa"]);
    assert_eq!(again.status.code(), Some(2));
}

#[test]
fn faults_are_shown_in_their_line() {
    let text = file(
        "bad.visaasm",
        b".version 4.1\n.kernel \"bad\"\n    rte (M1, 1)\n    ret (M1, 3) \xff\n",
    );
    let object = text.with_file_name("bad.isa");
    let (name, object) = (text.to_str().unwrap(), object.to_str().unwrap());
    let done = visakit(&["asm", name, "-o", object, "--color", "never"]);
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8(done.stderr).unwrap();
    let expected = format!(
        "\
error: no instruction is called `rte`
 --> {name}:3:5
  |
3 |     rte (M1, 1)
  |     ^^^
  |
  = help: did you mean `ret`?
error: 3 lanes are no legal execution size
 --> {name}:4:14
  |
4 |     ret (M1, 3) ?
  |              ^ expected 1, 2, 4, 8, 16 or 32
note: 2 faults, nothing was written
"
    );
    assert_eq!(said, expected);
    assert!(!PathBuf::from(object).exists());
}

#[test]
fn texts_become_one_object() {
    let kernel = file(
        "one.visaasm",
        b".version 4.1\n.kernel \"one\"\n    fcall (M1, 1) two 1 1\n    ret (M1, 1)\n",
    );
    let function = file(
        "two.visaasm",
        b".version 4.1\n.global_function \"two\"\n    fret (M1, 1)\n",
    );
    let object = kernel.with_file_name("both.isa");
    let names = [&kernel, &function, &object].map(|p| p.to_str().unwrap());
    let done = visakit(&["asm", names[0], names[1], "-o", names[2]]);
    assert!(done.status.success());
    let checked = visakit(&["roundtrip", names[2]]);
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(
        said.contains("1 objects, 2 routines, 3 instructions"),
        "{said}"
    );
}

#[test]
fn unusable_input_is_told() {
    let missing = visakit(&["asm", "no/such.visaasm", "-o", "never.isa"]);
    assert_eq!(missing.status.code(), Some(2));
    let version = visakit(&["asm", "a.visaasm", "--target-version", "9.9"]);
    assert_eq!(version.status.code(), Some(2));
    let said = String::from_utf8(version.stderr).unwrap();
    assert!(said.contains("known versions: 2.4, 3.0"), "{said}");
}

#[test]
fn formatting_writes_checks_and_refuses() {
    let loose = b".version 4.1\n.kernel \"k\"\nRET(1) // done\n";
    let tidy = ".version 4.1\n.kernel \"k\"\n    ret (M1, 1) // done\n";
    let path = file("loose.visaasm", loose);
    let name = path.to_str().unwrap();
    let printed = visakit(&["fmt", name]);
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), tidy);
    let checked = visakit(&["fmt", "--check", name]);
    assert_eq!(checked.status.code(), Some(1));
    assert_eq!(String::from_utf8(checked.stdout).unwrap().trim(), name);
    assert!(visakit(&["fmt", "--write", name]).status.success());
    assert_eq!(fs::read(&path).unwrap(), tidy.as_bytes());
    assert!(visakit(&["fmt", "--check", name]).status.success());
    let faulty = file(
        "faulty.visaasm",
        b".version 4.1\n.kernel \"k\"\n    rte (M1, 1)\n",
    );
    let refused = visakit(&["fmt", "--write", faulty.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        String::from_utf8(refused.stderr)
            .unwrap()
            .contains("did you mean `ret`?")
    );
}

#[test]
fn the_dialect_follows_the_text() {
    let text = b".version 4.2\n.kernel \"k\"\n.decl P v_type=P num_elts=8\n\
        .decl V v_type=G type=f num_elts=64\n(P) dpas.bf.bf.8.8 (M1, 8) V.0 V.0 V.0 V(0,0)\n";
    let path = file("newer.visaasm", text);
    let object = path.with_file_name("newer.isa");
    let (text, object) = (path.to_str().unwrap(), object.to_str().unwrap());
    assert!(visakit(&["asm", text, "-o", object]).status.success());
    let printed = visakit(&["dis", "--dialect", "reader-2026-04", object]);
    assert!(
        String::from_utf8(printed.stdout)
            .unwrap()
            .contains("(P) dpas.bf.bf.8.8")
    );
    let older = visakit(&["asm", text, "-o", object, "--dialect", "writer-2018"]);
    assert_eq!(older.status.code(), Some(1));
    assert!(
        String::from_utf8(older.stderr)
            .unwrap()
            .contains("reader-2026-04")
    );
}
