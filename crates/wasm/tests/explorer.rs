//! The requests of the explorer in the browser, without a browser.

#![allow(
    clippy::cast_possible_truncation,
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use serde_json::{Value as Json, json};
use std::path::Path;
use visakit_wasm::Explorer;

fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(visakit_testing::fixtures().join(path)).unwrap()
}

fn parsed(answer: &str) -> Json {
    let answer: Json = serde_json::from_str(answer).unwrap();
    match answer.get("ok") {
        Some(value) => value.clone(),
        None => panic!("{answer}"),
    }
}

fn ask(explorer: &mut Explorer, request: Json) -> Json {
    parsed(&explorer.call(&request.to_string()))
}

fn objects() -> Vec<(String, Vec<u8>)> {
    let folder = visakit_testing::fixtures().join("objects");
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let files = entries.map(|e| e.path());
    let name = |p: &Path| p.file_name().unwrap().to_string_lossy().into_owned();
    files
        .map(|p| (name(&p), std::fs::read(&p).unwrap()))
        .collect()
}

/// Every object opens as a text that makes its bytes, every field is in the tree, and instructions of text and bytes
/// are the same number.
#[test]
fn objects_open() {
    for (name, bytes) in objects() {
        let mut explorer = Explorer::new();
        let opened = parsed(&explorer.open(0, &name, &bytes));
        assert_eq!(opened["editable"], true, "{name}: {}", opened["notes"]);
        assert_eq!(explorer.data(0), bytes, "{name}");
        for (routine, about) in opened["routines"].as_array().unwrap().iter().enumerate() {
            let links = explorer.links(0, routine);
            let (links, rest) = links.as_chunks::<4>();
            assert!(rest.is_empty());
            assert_eq!(links.len() as u64, about["instructions"].as_u64().unwrap());
            let text = explorer.text(0, routine);
            for [from, to, ..] in links {
                assert!(!text[*from as usize..*to as usize].trim().is_empty());
            }
            let flow = ask(
                &mut explorer,
                json!({"method": "flow", "routine": routine, "folded": [0]}),
            );
            assert!(!flow["blocks"].as_array().unwrap().is_empty());
            let declared = ask(
                &mut explorer,
                json!({"method": "declarations", "routine": routine}),
            );
            let pressure = declared["pressure"].as_array().unwrap();
            assert!(pressure.iter().all(|p| p.as_f64().unwrap() >= 0.0));
            assert!(pressure.iter().any(|p| p.as_f64().unwrap() > 0.0));
            ask(
                &mut explorer,
                json!({"method": "lines", "routine": routine}),
            );
            ask(
                &mut explorer,
                json!({"method": "run_form", "routine": routine}),
            );
        }
        cover(&mut explorer, &name, &bytes);
        ask(&mut explorer, json!({"method": "statistics"}));
        ask(&mut explorer, json!({"method": "findings"}));
    }
}

/// Fields and native code together cover the file, each byte once, and the tree leads to each field.
fn cover(explorer: &mut Explorer, name: &str, bytes: &[u8]) {
    let mut at = 0;
    let mut paths = 0;
    while at < bytes.len() {
        let fields = ask(
            explorer,
            json!({"method": "fields", "from": at, "to": at + 1000}),
        );
        let fields = fields.as_array().unwrap();
        assert!(!fields.is_empty(), "{name}: nothing at {at:#x}");
        for field in fields {
            let (from, to) = (
                field[0].as_u64().unwrap() as usize,
                field[1].as_u64().unwrap() as usize,
            );
            assert!(from <= at, "{name}: nothing at {at:#x}, next is {field}");
            at = at.max(to);
            paths += 1;
            if paths > 500 && paths % 37 != 0 {
                continue;
            }
            let path = ask(explorer, json!({"method": "tree_path", "offset": from}));
            if path.is_null() {
                assert_eq!(field[3], "native code", "{name}");
                continue;
            }
            assert_eq!(path["path"], field[3], "{name}");
            // Descending the tree leads to the same field; a sample is enough, as every list is read again.
            if paths % 407 == 0 || paths < 40 {
                descend(explorer, &path, field);
            }
        }
    }
}

fn descend(explorer: &mut Explorer, path: &Json, field: &Json) {
    let part = &path["part"];
    let mut rows = ask(explorer, json!({"method": "tree", "part": part}));
    let steps = path["steps"].as_array().unwrap();
    for (number, step) in steps.iter().enumerate() {
        let same = |row: &&Json| row["chunk"] == step[0] && row["node"] == step[1];
        let all = rows.as_array().unwrap();
        let row = all
            .iter()
            .find(same)
            .unwrap_or_else(|| panic!("{path}"))
            .clone();
        if number + 1 == steps.len() {
            assert_eq!((&row["from"], &row["to"]), (&field[0], &field[1]), "{path}");
            return;
        }
        let below =
            json!({"method": "tree", "part": part, "chunk": row["chunk"], "node": row["node"]});
        rows = ask(explorer, below);
        assert_eq!(
            rows.as_array().unwrap().len() as u64,
            row["children"].as_u64().unwrap(),
            "{row}"
        );
    }
}

/// Routines with more instructions than are listed together: lists of them are entries of the tree, and everything is
/// found as in short ones. If the end is damaged, the rest is shown.
#[test]
fn long_routines() {
    let line = "    add (M1, 16) V1(0,0)<1> V1(0,0)<1;1,0> 0x1:d\n";
    let text = format!(
        ".version 4.1\n.kernel \"k\"\n.decl V1 v_type=G type=d num_elts=16 align=GRF\n{}    ret (M1, 1)\n",
        line.repeat(2300)
    );
    let mut explorer = Explorer::new();
    parsed(&explorer.open(0, "long.visaasm", text.as_bytes()));
    let bytes = explorer.data(0);
    // No instruction has that opcode.
    let mut damaged = bytes.clone();
    let [.., last, _] = explorer.links(0, 0)[..] else {
        panic!()
    };
    damaged[last as usize] = 0xff;
    for bytes in [bytes, damaged] {
        let opened = parsed(&explorer.open(0, "long.isa", &bytes));
        cover(&mut explorer, "long", &bytes);
        let whole = opened["editable"] == true;
        let count = explorer.links(0, 0).len() / 4;
        assert_eq!(count, if whole { 2301 } else { 2300 });
        // Colours, whether it is edited or not.
        let colours = ask(
            &mut explorer,
            json!({"method": "highlights", "from": 700, "to": 720}),
        );
        assert!(
            colours["pieces"].as_array().unwrap().len() >= 60,
            "{colours}"
        );
        let text = explorer.text(0, 0);
        for piece in colours["pieces"].as_array().unwrap() {
            let span = piece[0].as_u64().unwrap() as usize..piece[1].as_u64().unwrap() as usize;
            let expected = match piece[2].as_str().unwrap() {
                "mnemonic" => "add",
                "type" => ":d",
                _ => continue,
            };
            assert_eq!(&text[span], expected);
        }
    }
}

/// Changing a byte changes the text, which assembles to that byte; unreadable bytes are rejected.
#[test]
fn fields_are_edited() {
    let bytes = fixture("objects/vecadd_f32_skl_v41.isa");
    let mut explorer = Explorer::new();
    parsed(&explorer.open(0, "vecadd.isa", &bytes));
    let links = explorer.links(0, 0);
    let [.., offset, _] = links[..] else { panic!() };
    let offset = offset as usize;
    let refused =
        explorer.call(&json!({"method": "patch", "offset": offset, "hex": "ff"}).to_string());
    assert!(refused.contains("error"), "{refused}");
    // The execution size of the last instruction.
    let fields = ask(
        &mut explorer,
        json!({"method": "fields", "from": offset, "to": offset + 2}),
    );
    let size = fields
        .as_array()
        .unwrap()
        .iter()
        .find(|f| f[3].as_str().unwrap().ends_with("exec_size"));
    let place = size.unwrap()[0].as_u64().unwrap() as usize;
    let text = ask(
        &mut explorer,
        json!({"method": "patch", "offset": place, "hex": "01"}),
    );
    let status = ask(&mut explorer, json!({"method": "edit", "text": text}));
    assert_eq!(status["assembles"], true, "{status}");
    let mut expected = bytes;
    expected[place] = 1;
    let now = explorer.data(0);
    assert_eq!(now[place], 1);
    assert_eq!(now.len(), expected.len());
}

#[test]
fn faults_have_places_and_the_last_object_stays() {
    let text = "// ä\n.version 4.1\n.kernel \"k\"\n.decl V1 v_type=G type=d num_elts=8\n    mov (M1, 8) V1(0,0)<1> 0x1:d\n    ret (M1, 1)\n";
    let mut explorer = Explorer::new();
    parsed(&explorer.open(0, "k.visaasm", text.as_bytes()));
    let before = explorer.data(0);
    let wrong = text.replace("mov (", "mow (");
    let status = ask(&mut explorer, json!({"method": "edit", "text": wrong}));
    assert_eq!(status["assembles"], false);
    let from = status["problems"][0]["from"].as_u64().unwrap() as usize;
    let units: Vec<u16> = wrong.encode_utf16().collect();
    assert_eq!(String::from_utf16_lossy(&units[from..from + 3]), "mow");
    assert_eq!(explorer.data(0), before);
    let status = ask(&mut explorer, json!({"method": "edit", "text": text}));
    assert_eq!(status["assembles"], true);
}

/// Forwards and backwards a run is at the same values.
#[test]
fn steps_back() {
    let text = fixture("programs/loops.visaasm");
    let mut explorer = Explorer::new();
    parsed(&explorer.open(0, "loops.visaasm", &text));
    ask(
        &mut explorer,
        json!({"method": "run_start", "routine": 0, "mode": "bare", "sets": {"N": "7,1,6,27,0,3"}}),
    );
    let mut seen = Vec::new();
    for _ in 0..12 {
        let state = ask(&mut explorer, json!({"method": "run_step", "by": 1}));
        let values = ask(&mut explorer, json!({"method": "run_values", "thread": 0}));
        seen.push((state["step"].clone(), state["last"].clone(), values));
    }
    for (step, last, values) in seen.iter().rev().skip(1) {
        let state = ask(&mut explorer, json!({"method": "run_step", "by": -1}));
        assert_eq!((&state["step"], &state["last"]), (step, last));
        let now = ask(&mut explorer, json!({"method": "run_values", "thread": 0}));
        assert_eq!(&now, values);
    }
    let end = ask(&mut explorer, json!({"method": "run_end"}));
    assert_eq!(end["ended"], true, "{end}");
}

/// A kernel on a grid: the results are those of the case.
#[test]
fn kernels_run() {
    let case = "cases/partial_groups/pvc";
    let about: Json = serde_json::from_slice(&fixture(&format!("{case}/case.json"))).unwrap();
    let file = |name: &Json| fixture(&format!("{case}/{}", name.as_str().unwrap()));
    let mut explorer = Explorer::new();
    let source = if about["isa"].is_null() {
        &about["visaasm"]
    } else {
        &about["isa"]
    };
    parsed(&explorer.open(0, "kernel", &file(source)));
    let zeinfo = String::from_utf8(file(&about["zeinfo"])).unwrap();
    ask(&mut explorer, json!({"method": "attach", "text": zeinfo}));
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let arguments =
        about["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|arg| match arg["kind"].as_str() {
                Some("buffer") => json!({"kind": "buffer", "hex": hex(&file(&arg["file"]))}),
                _ => json!({"kind": "value", "hex": arg["bytes"]}),
            });
    let arguments: Vec<Json> = arguments.collect();
    let start = json!({
        "method": "run_start", "routine": 0, "arguments": arguments,
        "global": about["global_size"], "local": about["local_size"],
    });
    ask(&mut explorer, start);
    let state = ask(&mut explorer, json!({"method": "run_step", "by": 100}));
    assert_eq!(state["step"], 100);
    let end = ask(&mut explorer, json!({"method": "run_end"}));
    assert_eq!(
        (&end["ended"], &end["fault"]),
        (&json!(true), &Json::Null),
        "{end}"
    );
    let output = &about["outputs"][0];
    let expected = file(&output["file"]);
    let memory = json!({
        "method": "run_memory", "space": "argument", "number": output["arg"], "type": "u8",
    });
    let memory = ask(&mut explorer, memory);
    let got: Vec<u8> = memory["elements"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e.as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!(got, expected[..got.len()]);
    // Each instruction as often as it runs, wherever it is requested from.
    let heat = ask(&mut explorer, json!({"method": "run_heat", "routine": 0}));
    let count = |heat: &Json| -> u64 {
        let rows = heat["rows"].as_array().unwrap();
        rows.iter().map(|row| row[1].as_u64().unwrap()).sum()
    };
    assert!(count(&heat) > 0 && count(&heat) <= end["step"].as_u64().unwrap());
    // And back, over the ends of groups, to the step from before.
    let middle = ask(&mut explorer, json!({"method": "run_seek", "to": 100}));
    assert_eq!(
        (&middle["step"], &middle["last"], &middle["group"]),
        (&state["step"], &state["last"], &state["group"])
    );
    assert_eq!(
        ask(&mut explorer, json!({"method": "run_check"})),
        json!({"findings": [], "stopped": null})
    );
}

/// Findings of the checkers lead to the moment at which they occur, though the run continues without them.
#[test]
fn findings_have_moments() {
    let case = "cases/partial_groups";
    let mut explorer = Explorer::new();
    parsed(&explorer.open(0, "k.isa", &fixture(&format!("{case}/pvc/k.isa"))));
    let zeinfo = String::from_utf8(fixture(&format!("{case}/pvc/k.zeinfo"))).unwrap();
    ask(&mut explorer, json!({"method": "attach", "text": zeinfo}));
    // A buffer that is too small for the grid.
    let start = json!({
        "method": "run_start", "routine": 0, "global": [60, 3, 1], "local": [20, 3, 1],
        "arguments": [{"kind": "buffer", "type": "u32", "count": 100}, {"kind": "value", "type": "u32", "values": "100000"}],
    });
    ask(&mut explorer, start);
    let found = ask(&mut explorer, json!({"method": "run_check"}));
    let found = found["findings"].as_array().unwrap();
    let finding = found
        .iter()
        .find(|f| f["kind"] == "out-of-bounds")
        .unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(finding["place"]["routine"], 0);
    let moment =
        json!({"method": "run_moment", "group": finding["group"], "step": finding["step"]});
    let state = ask(&mut explorer, moment);
    let at = if state["fault"].is_null() {
        &state["last"]
    } else {
        &state["fault"]
    };
    assert_eq!(
        at["instruction"], finding["place"]["instruction"],
        "{state}"
    );
    assert_eq!(state["group"], finding["group"]);
}

/// A bare routine that faults has counts up to there, and says that the checkers are not for it.
#[test]
fn bare_runs_have_heat() {
    let mut explorer = Explorer::new();
    parsed(&explorer.open(0, "loops.visaasm", &fixture("programs/loops.visaasm")));
    ask(
        &mut explorer,
        json!({"method": "run_start", "routine": 0, "mode": "bare", "sets": {"N": "7,1"}}),
    );
    let end = ask(&mut explorer, json!({"method": "run_end"}));
    let heat = ask(&mut explorer, json!({"method": "run_heat", "routine": 0}));
    let rows = heat["rows"].as_array().unwrap();
    let sum: u64 = rows.iter().map(|row| row[1].as_u64().unwrap()).sum();
    assert!(
        rows.len() > 5 && sum <= end["step"].as_u64().unwrap(),
        "{heat}"
    );
    // Only two of sixteen lanes have a number.
    let found = ask(&mut explorer, json!({"method": "run_check"}));
    assert_eq!(found["findings"][0]["kind"], "uninitialized", "{found}");
    let through = ask(&mut explorer, json!({"method": "run_seek", "to": 0}));
    assert_eq!(through["last"], Json::Null);
    let instruction = rows.last().unwrap()[0].clone();
    let through = ask(
        &mut explorer,
        json!({"method": "run_until", "routine": 0, "instruction": instruction}),
    );
    assert_eq!(through["last"]["instruction"], instruction);
}

/// Of the files in a folder a kernel is opened, with its metadata.
#[test]
fn dumps_open() {
    let mut explorer = Explorer::new();
    assert!(explorer.call(r#"{"method":"dump"}"#).contains("error"));
    for name in [
        "blur.dg2.visaasm",
        "blur.dg2.zeinfo",
        "sha256.pvc.visaasm",
        "blur.cl",
    ] {
        explorer.offer(
            &format!("dump/{name}"),
            &fixture(&format!("kernels/{name}")),
        );
    }
    let several = ask(&mut explorer, json!({"method": "dump"}));
    assert_eq!(several, json!({ "kernels": ["blur", "sha256"] }));
    let none = explorer.call(r#"{"method":"dump","kernel":"other"}"#);
    assert!(none.contains("blur, sha256"), "{none}");
    let opened = ask(&mut explorer, json!({"method": "dump", "kernel": "blur"}));
    assert_eq!(
        (&opened["name"], &opened["metadata"], &opened["assembles"]),
        (&json!("blur.visaasm"), &json!(true), &json!(true))
    );
    assert!(explorer.text(0, 0).contains(".kernel \"blur\""));
    let form = ask(&mut explorer, json!({"method": "run_form", "routine": 0}));
    assert!(form["arguments"].as_array().unwrap().len() >= 2, "{form}");
}

#[test]
fn files_are_compared() {
    let text = String::from_utf8(fixture("programs/loops.visaasm")).unwrap();
    let mut explorer = Explorer::new();
    parsed(&explorer.open(0, "a", text.as_bytes()));
    let line = text
        .lines()
        .find(|l| l.trim_start().starts_with("add "))
        .unwrap();
    let more = text.replacen(line, &format!("{line}\n{line}"), 1);
    parsed(&explorer.open(1, "b", more.as_bytes()));
    let diff = ask(&mut explorer, json!({"method": "diff"}));
    let rows = diff["routines"][0]["rows"].as_array().unwrap();
    let count = |kind: &str| rows.iter().filter(|r| r[0] == kind).count();
    assert_eq!(
        (count("added"), count("removed"), count("changed")),
        (1, 0, 0)
    );
    assert_eq!(diff["routines"][0]["same"], count("same"));
    for row in rows.iter().filter(|r| r[0] == "same") {
        assert_eq!(row[1][1], row[2][1]);
    }
}

/// Any request gets an answer; nothing panics.
#[test]
fn any_request_is_answered() {
    let mut explorer = Explorer::new();
    let methods = [
        "edit",
        "tree",
        "tree_path",
        "fields",
        "flow",
        "lines",
        "findings",
        "run_form",
        "run_start",
        "run_step",
        "run_values",
        "run_memory",
        "run_moment",
        "run_until",
        "run_check",
        "run_heat",
        "diff",
        "hover",
        "complete",
        "patch",
        "highlights",
        "nothing",
        "",
    ];
    for bytes in [
        &b""[..],
        b"CISA",
        b"\x7fELF",
        b"\0",
        b"mov",
        b"CISA\x04\x01\xff\xff\xff\xff",
    ] {
        for slot in [0, 1, 9] {
            let opened = explorer.open(slot, "x", bytes);
            assert!(opened.starts_with('{'));
            for routine in [0, 7, usize::MAX] {
                assert_eq!(explorer.links(slot, routine).len() % 4, 0);
                drop(explorer.text(slot, routine));
            }
            for method in methods {
                for number in [0_u64, 1, 1 << 40, u64::MAX] {
                    let request = json!({"method": method, "slot": slot, "routine": number, "part": number, "chunk": number, "node": number, "group": number, "step": number, "instruction": number,
                        "space": "local", "number": number,
                        "from": number, "to": number, "at": number, "offset": number, "hex": "00", "text": "x", "type": "u8"});
                    assert!(explorer.call(&request.to_string()).starts_with('{'));
                }
            }
        }
    }
    assert!(explorer.call("no JSON").contains("error"));
}

/// In browsers, lines end with one character: places refer to the text there, and saving restores the line ends of the
/// file.
#[test]
fn lines_end_with_one_character() {
    let program = String::from_utf8(fixture("programs/loops.visaasm")).unwrap();
    let crlf = program.replace('\n', "\r\n");
    let mixed = crlf.replacen("\r\n", "\n", 3);
    for (text, two) in [(&program, false), (&crlf, true), (&mixed, false)] {
        let mut explorer = Explorer::new();
        let opened = parsed(&explorer.open(0, "loops.visaasm", text.as_bytes()));
        assert_eq!(opened["crlf"], two);
        assert_eq!(opened["assembles"], true, "{}", opened["problems"]);
        let shown = explorer.text(0, 0);
        assert_eq!(shown, program);
        let links = explorer.links(0, 0);
        let (links, _) = links.as_chunks::<4>();
        for [from, to, ..] in links {
            let said = &shown[*from as usize..*to as usize];
            assert_eq!(said.trim(), said, "{two}");
        }
    }
}
