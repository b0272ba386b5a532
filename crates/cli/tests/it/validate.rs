//! The validator on the command line.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/objects");
const BAD: &str = ".version 4.1
.kernel \"bad\"
.decl V32 v_type=G type=d num_elts=16 align=GRF
    mov (M1, 16) V32(0,0)<0> 0x2a:d
    asr (M1, 8) V32(0,0)<1> V32(0,0)<1;1,0> 0x1:d
    lsc_fence.ugm.none.group
    ret (M1, 1)
";

fn visakit(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_visakit"));
    command.args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap();
    path
}

#[test]
fn sound_objects_have_no_errors() {
    let done = visakit(&["validate", FIXTURES]);
    assert_eq!(done.status.code(), Some(0));
    let last = "6 objects, 9 routines: 0 errors, 4 warnings\n";
    assert!(said(&done).ends_with(last), "{}", said(&done));
    let clean = format!("{FIXTURES}/subgroups_skl_v36.isa");
    let done = visakit(&["validate", &clean, "--deny", "warnings"]);
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(said(&done), "1 objects, 1 routines: 0 errors, 0 warnings\n");
}

#[test]
fn findings_of_texts_have_lines() {
    let path = file("bad_validate.visaasm", BAD.as_bytes());
    let name = path.to_str().unwrap();
    let done = visakit(&["validate", name]);
    assert_eq!(done.status.code(), Some(1));
    let expected = format!(
        "\
{name}:4:5: error[V0223-destination-stride] kernel 0, instruction 0 (mov), dst of bad: horizontal stride 0: all lanes write to the same element
  help: Lanes must not write to the same element: use 1.
1 objects, 1 routines: 1 errors, 0 warnings
"
    );
    assert_eq!(said(&done), expected);
    let done = visakit(&["validate", name, "--platform", "skl"]);
    assert!(
        said(&done).contains(":6:5: error[V0500-not-yet]"),
        "{}",
        said(&done)
    );
}

#[test]
fn texts_that_do_not_assemble_have_findings() {
    let path = file(
        "worse_validate.visaasm",
        BAD.replace("ret", "rte").as_bytes(),
    );
    let done = visakit(&["validate", path.to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(1));
    assert!(said(&done).contains(":7:5: error[V0002-text-fault]: no instruction is called `rte`"));
}

#[test]
fn programs_are_told() {
    let text = file("json_validate.visaasm", BAD.as_bytes());
    let object = text.with_extension("isa");
    let (text, object) = (text.to_str().unwrap(), object.to_str().unwrap());
    assert!(visakit(&["asm", text, "-o", object]).status.success());
    let done = visakit(&["validate", object, "--json"]);
    assert_eq!(done.status.code(), Some(1));
    let document: Value = serde_json::from_str(&said(&done)).unwrap();
    assert_eq!(document["errors"], 1);
    let finding = &document["files"][0]["findings"][0];
    assert_eq!(finding["rule"], "V0223-destination-stride");
    assert_eq!(finding["routine"]["name"], "bad");
    assert_eq!(
        (&finding["instruction"], &finding["field"]),
        (&0.into(), &"dst".into())
    );
    let offset = usize::try_from(finding["offset"].as_u64().unwrap()).unwrap();
    let bytes = std::fs::read(object).unwrap();
    assert_eq!(bytes[offset - 4], 0x29);

    let done = visakit(&["validate", text, object, "--sarif"]);
    let log: Value = serde_json::from_str(&said(&done)).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        let rule = &run["tool"]["driver"]["rules"][index];
        assert_eq!(rule["id"], result["ruleId"]);
    }
    let region = |n: usize| &results[n]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region(0)["startLine"], 4);
    assert_eq!(region(1)["byteOffset"], offset);
}

#[test]
fn exit_codes() {
    let warned = BAD.replace("V32(0,0)<0>", "V32(0,0)<1>");
    let warned = warned.replace("asr (M1, 8)", "asr (M2, 8)");
    let path = file("warned_validate.visaasm", warned.as_bytes());
    let name = path.to_str().unwrap();
    let done = visakit(&["validate", name]);
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert!(said(&done).contains("0 errors, 1 warnings"));
    let done = visakit(&["validate", name, "--deny", "warnings"]);
    assert_eq!(done.status.code(), Some(1));
    let missing = visakit(&["validate", "no/such.isa", FIXTURES]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(said(&missing).contains("6 objects"));
    let other = file("not_an_object.isa", b"\x7fELF");
    assert_eq!(
        visakit(&["validate", other.to_str().unwrap()])
            .status
            .code(),
        Some(2)
    );
    assert_eq!(
        visakit(&["validate", FIXTURES, "--platform", "z80"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn rules_are_explained() {
    for name in ["V0226", "226", "region-bounds", "v0226-region-bounds"] {
        let done = visakit(&["explain", name]);
        assert!(said(&done).starts_with("V0226-region-bounds\n"), "{name}");
    }
    let all = said(&visakit(&["explain"]));
    assert!(all.contains("V0001-undecodable") && all.contains("V0515-plane"));
    let json: Value = serde_json::from_str(&said(&visakit(&["explain", "--json"]))).unwrap();
    assert!(json.as_array().unwrap().len() > 100);
    let wrong = visakit(&["explain", "region-bound"]);
    assert_eq!(wrong.status.code(), Some(2));
    let error = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        error.contains("did you mean V0226-region-bounds?"),
        "{error}"
    );
}
