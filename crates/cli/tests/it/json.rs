//! Documents for programs: the output of `--json` and `--sarif`, read as a program would.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)] // helpers of tests

use crate::{file, text, visakit};
use serde_json::Value;

const CALLS: &str = "call_stack_pvc_v41.isa";

/// The document that a command prints, checking that it exits with this code.
fn document(args: &[&str], code: i32) -> Value {
    let output = visakit(args);
    assert_eq!(output.status.code(), Some(code), "{args:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

const BAD: &str = ".version 4.1
.kernel \"bad\"
.decl V32 v_type=G type=d num_elts=16 align=GRF
    mov (M1, 16) V32(0,0)<0> 0x2a:d
    asr (M1, 8) V32(0,0)<1> V32(0,0)<1;1,0> 0x1:d
    lsc_fence.ugm.none.group
    ret (M1, 1)
";

#[test]
fn info() {
    let json = document(&["info", "--json", CALLS, "subgroups_skl_v36.isa"], 0);
    assert_eq!(json["files"].as_array().unwrap().len(), 2);
    let file = &json["files"][0];
    assert_eq!(file["file"], CALLS);
    assert_eq!(file["version"], "4.1");
    assert_eq!(file["routines"].as_array().unwrap().len(), 4);
    assert_eq!(file["routines"][0]["kind"], "kernel");
    assert_eq!(file["routines"][0]["instructions"], 65);
    assert_eq!(file["routines"][1]["linkage"], "extern");
    assert_eq!(file["faults"], serde_json::json!([]));
    let attributes = file["routines"][0]["attributes"].as_array().unwrap();
    let simd = attributes.iter().find(|a| a["name"] == "SimdSize").unwrap();
    assert_eq!(simd["value"], 16);
}

#[test]
fn stats() {
    std::fs::write(file("cut.isa"), [0; 64]).unwrap();
    let cut = file("cut.isa").display().to_string();
    let json = document(&["stats", "--json", CALLS, "images_dg2_v41.isa", &cut], 2);
    let mix = json["mix"].as_array().unwrap();
    let sum: u64 = mix.iter().map(|row| row["count"].as_u64().unwrap()).sum();
    assert_eq!(json["instructions"], sum);
    let bytes = &json["bytes"];
    let parts = ["header", "tables", "code", "native", "other"];
    let parts: u64 = parts.iter().map(|p| bytes[p].as_u64().unwrap()).sum();
    assert_eq!(bytes["file"], parts);
    assert_eq!(json["objects"], 2);
    assert_eq!(json["rejected"][0]["file"], cut);
}

#[test]
fn reference_of_everything() {
    let rows = visakit::isa::table::rows().count();
    assert_eq!(text(&visakit(&["isa"]).stdout).lines().count(), rows + 1);
    let json = document(&["isa", "--json"], 0);
    let json = json["instructions"].as_array().unwrap();
    assert_eq!(json.len(), rows);
    let bfi = json.iter().find(|row| row["name"] == "BFI").unwrap();
    assert_eq!(bfi["opcode"], 0x47);
    assert_eq!(bfi["fields"][2]["role"], "destination");
}

/// What tools rely on: offsets in the file, lengths, opcodes, in order and without gaps.
#[test]
fn dump() {
    let document = document(&["dump", "--json", CALLS], 0);
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
fn dump_of_a_routine_by_name_and_number() {
    let all = document(&["dump", "--json", CALLS], 0);
    for (number, routine) in all["routines"].as_array().unwrap().iter().enumerate() {
        let name = routine["name"].as_str().unwrap();
        let by_name = visakit(&["dump", "--json", CALLS, "--routine", name]);
        let by_number = visakit(&["dump", "--json", CALLS, "--routine", &number.to_string()]);
        assert_eq!(by_name.stdout, by_number.stdout);
        let one: Value = serde_json::from_slice(&by_name.stdout).unwrap();
        assert_eq!(one["routines"], Value::from(vec![routine.clone()]));
    }
}

#[test]
fn validate() {
    let text = file("bad.visaasm");
    std::fs::write(&text, BAD).unwrap();
    let object = text.with_extension("isa");
    let (text, object) = (text.to_str().unwrap(), object.to_str().unwrap());
    assert!(visakit(&["asm", text, "-o", object]).status.success());
    let json = document(&["validate", object, "--json"], 1);
    assert_eq!(json["errors"], 1);
    let finding = &json["files"][0]["findings"][0];
    assert_eq!(finding["rule"], "V0223-destination-stride");
    assert_eq!(finding["routine"]["name"], "bad");
    assert_eq!(
        (&finding["instruction"], &finding["field"]),
        (&0.into(), &"dst".into())
    );
    let offset = usize::try_from(finding["offset"].as_u64().unwrap()).unwrap();
    let bytes = std::fs::read(object).unwrap();
    assert_eq!(bytes[offset - 4], 0x29);

    let log = document(&["validate", text, object, "--sarif"], 1);
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
fn pages_are_texts() {
    for args in [
        &["isa", "bfi", "--html", "--json"][..],
        &["table", "--schema", "--json"],
    ] {
        assert!(document(args, 0)["text"].is_string(), "{args:?}");
    }
}

#[test]
fn explain() {
    let json = document(&["explain", "--json"], 0);
    assert!(json["rules"].as_array().unwrap().len() > 100);
}

#[test]
fn diff() {
    let renamed = file("renamed.isa").display().to_string();
    let done = visakit(&["rename", CALLS, "leaf_stack=leaf", "-o", &renamed]);
    assert!(done.status.success());
    let json = document(&["diff", CALLS, &renamed, "--json"], 1);
    let routines = json["routines"].as_array().unwrap();
    let only = |side: &str| {
        let mut found = routines.iter().filter(|r| r["only_in"] == side);
        (found.next().unwrap()["name"].clone(), found.count())
    };
    assert_eq!(only("old"), ("leaf_stack".into(), 0));
    assert_eq!(only("new"), ("leaf".into(), 0));
}

/// The schema of all documents, which is part of the documentation.
pub(crate) fn schema() -> Value {
    let path = visakit_testing::root().join("docs/visakit.schema.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The violations of a schema by a document, for the keywords of JSON Schema that ours uses; any other
/// keyword is a fault.
fn faults(root: &Value, schema: &Value, document: &Value, place: &str) -> Vec<String> {
    let Some(words) = schema.as_object() else {
        return Vec::new();
    };
    let inner = |schema: &Value, document: &Value| faults(root, schema, document, place);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let is = |name: &Value| match name.as_str().unwrap() {
        "object" => document.is_object(),
        "array" => document.is_array(),
        "string" => document.is_string(),
        "boolean" => document.is_boolean(),
        "null" => document.is_null(),
        "integer" => document.is_i64() || document.is_u64(),
        "number" => document.is_number(),
        other => panic!("{other}"),
    };
    let mut found = Vec::new();
    for (word, value) in words {
        let fits = match word.as_str() {
            "type" if value.is_array() => list(value).iter().any(is),
            "type" => is(value),
            "const" => document == value,
            "enum" => list(value).contains(document),
            "minimum" => document
                .as_i64()
                .is_none_or(|n| n >= value.as_i64().unwrap()),
            "required" => {
                let has = |key: &Value| document.get(key.as_str().unwrap()).is_some();
                document.as_object().is_none() || list(value).iter().all(has)
            }
            "anyOf" => list(value).iter().any(|s| inner(s, document).is_empty()),
            "allOf" => {
                found.extend(list(value).iter().flat_map(|s| inner(s, document)));
                true
            }
            "if" => {
                if inner(value, document).is_empty() {
                    found.extend(inner(&words["then"], document));
                }
                true
            }
            "$ref" => {
                let target = root
                    .pointer(value.as_str().unwrap().trim_start_matches('#'))
                    .unwrap();
                found.extend(inner(target, document));
                true
            }
            "items" => {
                let items = list(document);
                let all = items.iter().enumerate();
                found.extend(
                    all.flat_map(|(n, item)| faults(root, value, item, &format!("{place}/{n}"))),
                );
                true
            }
            "properties" => {
                for (key, schema) in value.as_object().unwrap() {
                    if let Some(member) = document.get(key) {
                        found.extend(faults(root, schema, member, &format!("{place}/{key}")));
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = |key: &str| {
                    words
                        .get("properties")
                        .is_some_and(|p| p.get(key).is_some())
                };
                let members = document.as_object().into_iter().flatten();
                for (key, member) in members.filter(|(key, _)| !known(key)) {
                    let place = format!("{place}/{key}");
                    if value == false {
                        found.push(format!("{place}: is not expected"));
                    } else {
                        found.extend(faults(root, value, member, &place));
                    }
                }
                true
            }
            "then" | "$schema" | "$defs" | "title" => true,
            other => panic!("{other} is a word that this test does not know"),
        };
        if !fits {
            found.push(format!("{place}: {word} {value}"));
        }
    }
    found
}

/// The document, checked against the schema; nothing else is printed.
pub(crate) fn valid(schema: &Value, args: &[&str]) -> (Option<i32>, Value) {
    let output = visakit(args);
    assert_eq!(text(&output.stderr), "", "{args:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let faults = faults(schema, schema, &document, "");
    assert!(faults.is_empty(), "{args:?}: {faults:?}");
    assert_eq!(document["command"], args[0]);
    (output.status.code(), document)
}

/// Every command that prints a document has its part of the schema, and its row in the documentation.
#[test]
fn every_document_is_described() {
    let schema = schema();
    let page = std::fs::read_to_string(visakit_testing::root().join("docs/json.md")).unwrap();
    let help = text(&visakit(&["--help"]).stdout);
    let commands = help.lines().skip_while(|line| *line != "Look:");
    let commands = commands.take_while(|line| *line != "Options:");
    let verbs = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let mut documents = 0;
    for verb in verbs.filter(|verb| !verb.is_empty()) {
        if !text(&visakit(&[verb, "--help"]).stdout).contains("--json") {
            continue;
        }
        documents += 1;
        let part = format!("verb_{}", verb.replace('-', "_"));
        assert!(schema["$defs"][&part].is_object(), "{verb} in the schema");
        assert!(
            page.contains(&format!("`{verb}`")),
            "{verb} in docs/json.md"
        );
    }
    assert!(documents > 25, "{documents}");
}

#[test]
fn documents_are_as_the_schema_says() {
    let schema = schema();
    let out = file("schema.isa").display().to_string();
    let texts = "../texts/call_stack_pvc_v41.visaasm";
    for (args, code) in [
        (&["info", CALLS, texts][..], 0),
        (&["dump", CALLS], 0),
        (&["stats", CALLS, texts, "../bench/visakit.wasm"], 2),
        (&["roundtrip", CALLS, "../bench/visakit.wasm"], 2),
        (&["validate", CALLS, texts], 0),
        (&["validate", "--statistics", CALLS], 0),
        (&["explain"], 0),
        (&["isa", "bfi"], 0),
        (&["platforms"], 0),
        (&["diff", CALLS, texts], 1),
        (&["diff", CALLS, CALLS, "--run"], 0),
        (&["diff", CALLS, texts, "--prove"], 1),
        (&["dis", CALLS], 0),
        (&["dis", CALLS, "-o", &out], 0),
        (&["cfg", CALLS], 0),
        (&["callgraph", texts], 0),
        (&["pressure", CALLS], 0),
        (&["search", "add", CALLS], 0),
        (&["similar", CALLS, CALLS], 0),
        (&["compare-compilers", CALLS, CALLS, "--run"], 0),
        (
            &["debug", "--case", "../cases/call_sub/dg2", "-ex", "step"],
            0,
        ),
        (&["fmt", texts], 0),
        (&["fmt", "--check", texts], 1),
        (&["asm", texts, "-o", &out, "--platform", "pvc"], 0),
        (&["convert", CALLS, "--to", "3.6", "-o", &out], 0),
        (&["strip", CALLS, "-o", &out], 0),
        (&["extract", CALLS, "--routine", "0", "-o", &out], 0),
        (&["rename", CALLS, "leaf_stack=leaf", "-o", &out], 0),
        (&["smith", "--seed", "1", "-o", &out], 0),
        (&["run", "--case", "../cases/call_sub/dg2", "--stats"], 0),
        (&["run", "../programs/bfi.visaasm", "--bare"], 0),
        (&["profile", "--case", "../cases/call_sub/dg2"], 0),
        (&["check", "--case", "../cases/call_sub/dg2"], 0),
        (&["check", "../programs/loops.visaasm", "--bare"], 1),
        (
            &["run", "--case", "../cases/call_sub/dg2", "--check", "all"],
            0,
        ),
    ] {
        let (ended, document) = valid(&schema, &[args, &["--json"]].concat());
        let only = document.as_object().unwrap().len();
        assert_eq!(
            (ended, only > 3),
            (Some(code), true),
            "{args:?}: {document:#}"
        );
    }
}

/// The same cause has the same code, and is reported in the same way, by every verb.
#[test]
fn failures_are_documents() {
    let schema = schema();
    let out = file("never-written.isa").display().to_string();
    let module = file("failures.spv").display().to_string();
    std::fs::write(&module, b"\x03\x02\x23\x07\0\0\x01\0").unwrap();
    let bad = file("failures.visaasm").display().to_string();
    std::fs::write(&bad, BAD.replace("asr ", "asrr ")).unwrap();
    for (input, code) in [("no-such-file", 2), (&module, 2), (&bad, 1)] {
        for args in [
            &["info", input][..],
            &["dump", input],
            &["dis", input],
            &["cfg", input],
            &["callgraph", input],
            &["fmt", input],
            &["diff", input, CALLS],
            &["asm", input, "-o", &out],
            &["convert", input, "--to", "4.1", "-o", &out],
            &["strip", input, "-o", &out],
            &["extract", input, "--routine", "0", "-o", &out],
            &["rename", input, "a=b", "-o", &out],
            &["merge", input, input, "-o", &out],
            &["reduce", input, "--test", "true {}", "-o", &out],
            &["run", input, "--bare"],
            &["stats", input],
            &["roundtrip", input],
            &["validate", input],
        ] {
            let (ended, document) = valid(&schema, &[args, &["--json"]].concat());
            assert_eq!(ended, Some(code), "{args:?}: {document:#}");
            let verb = args[0];
            // These list what is wrong with each file.
            if !["stats", "roundtrip", "validate"].contains(&verb) {
                let problem = &document["problems"][0];
                assert_eq!(problem["severity"], "error", "{args:?}");
                if code == 1 {
                    assert_eq!(problem["line"], 5, "{args:?}: {document:#}");
                }
            }
        }
    }
    let (ended, document) = valid(&schema, &["info", "--no-such-option", "--json"]);
    assert_eq!(
        (ended, document["problems"].as_array().unwrap().len()),
        (Some(2), 1)
    );
}
