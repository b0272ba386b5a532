//! The commands that change, compare and draw objects.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn visakit(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_visakit"))
        .args(args)
        .output()
        .unwrap()
}

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/objects");
    folder.join(name).to_string_lossy().into_owned()
}

fn temporary(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    path.to_string_lossy().into_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_converted_object_is_the_same_but_for_its_version() {
    let (old, new) = (fixture("subgroups_skl_v36.isa"), temporary("new.isa"));
    let done = visakit(&["convert", &old, "--to", "4.1", "-o", &new]);
    assert!(done.status.success() && done.stdout.is_empty() && done.stderr.is_empty());
    let found = visakit(&["diff", &old, &new]);
    assert_eq!(found.status.code(), Some(1));
    let expected = "- version 0: 3.6\n+ version 0: 4.1\n1 routine the same, 0 different\n";
    assert_eq!(text(&found.stdout), expected);
    let back = visakit(&["convert", &new, "--to", "3.6"]);
    assert_eq!(back.stdout, std::fs::read(&old).unwrap());
    assert_eq!(visakit(&["diff", &old, &old]).status.code(), Some(0));
}

#[test]
fn what_cannot_be_expressed_names_the_instruction() {
    let done = visakit(&[
        "convert",
        &fixture("uniform_switch_tgllp_v36.isa"),
        "--to",
        "3.0",
    ]);
    let errors = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1));
    assert!(done.stdout.is_empty());
    assert!(
        errors.contains("version 3.0 has no execution mask M5_NM"),
        "{errors}"
    );
    assert!(
        errors.contains("kernel 0 \"uniform_switch\", instruction "),
        "{errors}"
    );
    assert!(errors.contains("nothing was written"), "{errors}");
    assert_eq!(
        visakit(&["convert", "nothing.isa", "--to", "3.0"])
            .status
            .code(),
        Some(2)
    );
    assert_eq!(
        visakit(&["convert", "nothing.isa", "--to", "9.9"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn differences_are_for_programs_too() {
    let (old, new) = (fixture("call_stack_pvc_v41.isa"), temporary("renamed.isa"));
    let done = visakit(&["rename", &old, "leaf_stack=leaf", "-o", &new]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let found = visakit(&["diff", &old, &new, "--json"]);
    assert_eq!(found.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    let names = |key: &str| {
        let routines = json["routines"].as_array().unwrap().iter();
        let only = routines.filter(|r| r["only_in"] == key);
        only.map(|r| r["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (names("old"), names("new")),
        (vec!["leaf_stack".into()], vec!["leaf".into()])
    );
    let done = visakit(&["rename", &old, "leaf_stack=mixf_stack", "-o", &new]);
    assert_eq!(done.status.code(), Some(1));
}

#[test]
fn a_linked_object_tells_what_is_missing() {
    let whole = fixture("call_stack_pvc_v41.isa");
    let (leaf, other, linked) = (
        temporary("leaf.isa"),
        temporary("other.isa"),
        temporary("linked.isa"),
    );
    let done = visakit(&["extract", &whole, "--routine", "leaf_stack", "-o", &leaf]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let done = visakit(&["rename", &leaf, "leaf_stack=leaf", "-o", &other]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let done = visakit(&["merge", &leaf, &other, "-o", &linked]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let done = visakit(&["merge", &whole, &leaf, "-o", &linked]);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).contains("function \"leaf_stack\" is defined twice"));
    let done = visakit(&[
        "merge",
        &whole,
        &fixture("subgroups_skl_v36.isa"),
        "-o",
        &linked,
    ]);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).contains("visakit convert"));
}

#[test]
fn stripped_objects_are_smaller() {
    let (old, new) = (fixture("subgroups_skl_v36.isa"), temporary("stripped.isa"));
    assert!(visakit(&["strip", &old, "-o", &new]).status.success());
    assert!(std::fs::metadata(&new).unwrap().len() < std::fs::metadata(&old).unwrap().len());
    let round = visakit(&["roundtrip", &new]);
    assert!(round.status.success(), "{}", text(&round.stdout));
}

#[test]
fn graphs_have_blocks_and_calls() {
    let switch = fixture("uniform_switch_tgllp_v36.isa");
    let dot = text(&visakit(&["cfg", &switch, "--routine", "0"]).stdout);
    assert!(dot.starts_with("digraph visa {\n"));
    assert!(
        dot.contains("style=dashed color=red label=\"jump\""),
        "{dot}"
    );
    let image = temporary("switch.svg");
    assert!(visakit(&["cfg", &switch, "-o", &image]).status.success());
    assert!(std::fs::read_to_string(image).unwrap().starts_with("<svg"));
    let calls = text(&visakit(&["callgraph", &fixture("call_stack_pvc_v41.isa")]).stdout);
    assert!(calls.contains("label=\"kernel call_stack\\l\""), "{calls}");
    assert!(
        calls.contains("n0_0 -> n0_2 [style=solid label=\"call\"]"),
        "{calls}"
    );
    assert_eq!(
        visakit(&["cfg", &switch, "--routine", "none"])
            .status
            .code(),
        Some(2)
    );
}

/// The object of a fixture's text with one word changed.
fn with(name: &str, from: &str, to: &str, made: &str) -> String {
    let said = visakit(&["dis", &fixture(name)]);
    let listing = text(&said.stdout);
    assert!(listing.contains(from), "{listing}");
    let (source, object) = (temporary(&format!("{made}.visaasm")), temporary(made));
    std::fs::write(&source, listing.replace(from, to)).unwrap();
    let done = visakit(&["asm", &source, "-o", &object]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    object
}

#[test]
fn kernels_are_compared_by_running_them() {
    let old = fixture("vecadd_f32_skl_v41.isa");
    let same = visakit(&["diff", &old, &old, "--run"]);
    let expected =
        "kernel vecadd_f32: same in 4 runs\n1 kernel: 1 the same, 0 different, 0 not compared\n";
    assert_eq!(text(&same.stdout), expected);
    assert_eq!(same.status.code(), Some(0));

    // Other code, the same effect: the object in another version.
    let new = temporary("vecadd_36.isa");
    let done = visakit(&["convert", &old, "--to", "3.6", "-o", &new]);
    assert!(done.status.success());
    let same = visakit(&["diff", &old, &new, "--run", "--seeds", "9"]);
    assert_eq!(same.status.code(), Some(0), "{}", text(&same.stdout));
    assert!(text(&same.stdout).contains("same in 9 runs"));

    // Nearly the same code, another effect.
    let new = with(
        "vecadd_f32_skl_v41.isa",
        "    add (M1, 16) V0058",
        "    mul (M1, 16) V0058",
        "vecmul.isa",
    );
    let other = visakit(&["diff", &old, &new, "--run"]);
    assert_eq!(other.status.code(), Some(1));
    let said = text(&other.stdout);
    assert!(
        said.contains("kernel vecadd_f32: differs: seed 0, linear buffers: "),
        "{said}"
    );
    assert!(said.contains("byte 0x"), "{said}");
    let other = visakit(&["diff", &old, &new, "--run", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&other.stdout).unwrap();
    assert_eq!(report[0]["result"], "differs");

    // Nothing to compare is no agreement.
    let other = visakit(&["diff", &old, &fixture("subgroups_skl_v36.isa"), "--run"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(text(&other.stdout).contains("only in the new object"));
}
