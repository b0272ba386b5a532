//! `visakit dump` and `visakit roundtrip` as their users meet them.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::Value;
use std::process::{Command, Output};

fn visakit(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_visakit"))
        .args(args)
        .current_dir(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/objects"
        ))
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn lines() {
    let output = visakit(&["dump", "vecadd_f32_skl_v41.isa"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!("dump_vecadd", text(&output.stdout));
}

/// What tools rely on: offsets in the file, lengths, opcodes, in order and without gaps.
#[test]
fn json() {
    let output = visakit(&["dump", "--json", "call_stack_pvc_v41.isa"]);
    assert_eq!(output.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let routines = document["routines"].as_array().unwrap();
    let kinds: Vec<_> = routines
        .iter()
        .map(|r| r["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"kernel") && kinds.contains(&"function"));
    for routine in routines {
        let number = |json: &Value| json.as_u64().unwrap();
        let end = number(&routine["offset"]) + number(&routine["size"]);
        let instructions = routine["instructions"].as_array().unwrap();
        let mut at = number(&instructions[0]["offset"]);
        for instruction in instructions {
            assert_eq!(number(&instruction["offset"]), at);
            let fields = instruction["fields"].as_array().unwrap();
            let subs = u64::from(instruction.get("sub_op").is_some());
            let mut inner = at + 1 + subs;
            for field in fields {
                assert_eq!(number(&field["offset"]), inner);
                inner += number(&field["length"]);
            }
            at += number(&instruction["length"]);
            assert_eq!(inner, at);
            assert!(instruction["mnemonic"].is_string() && instruction["opcode"].is_u64());
        }
        assert_eq!(at, end);
    }
}

#[test]
fn one_routine_by_name_and_number() {
    let file = "call_stack_pvc_v41.isa";
    let all = visakit(&["dump", "--json", file]);
    let all: Value = serde_json::from_slice(&all.stdout).unwrap();
    for (number, routine) in all["routines"].as_array().unwrap().iter().enumerate() {
        let name = routine["name"].as_str().unwrap();
        let by_name = visakit(&["dump", "--json", file, "--routine", name]);
        let by_number = visakit(&["dump", "--json", file, "--routine", &number.to_string()]);
        assert_eq!(by_name.stdout, by_number.stdout);
        let one: Value = serde_json::from_slice(&by_name.stdout).unwrap();
        assert_eq!(one["routines"], Value::from(vec![routine.clone()]));
    }
    let none = visakit(&["dump", file, "--routine", "nothing"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("there are: call_stack"));
}

#[test]
fn roundtrip_counts_and_exit_codes() {
    let last = |output: &Output| text(&output.stdout).lines().last().unwrap().to_owned();
    let clean = visakit(&["roundtrip", "."]);
    assert_eq!(clean.status.code(), Some(0));
    assert!(last(&clean).starts_with("6 objects, 9 routines, 778 instructions, 48129 bytes: "));
    assert!(last(&clean).ends_with(": 6 identical, 0 different, 0 rejected"));

    let rejected = visakit(&[
        "roundtrip",
        "vecadd_f32_skl_v41.isa",
        "../bench/visakit.wasm",
    ]);
    assert_eq!(rejected.status.code(), Some(1));
    assert!(last(&rejected).ends_with(": 1 identical, 0 different, 1 rejected"));

    let missing = visakit(&["roundtrip", "vecadd_f32_skl_v41.isa", "missing.isa"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(last(&missing).ends_with(": 1 identical, 0 different, 0 rejected"));
}
