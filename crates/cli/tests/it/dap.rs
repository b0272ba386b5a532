//! An editor's session with `visakit dap`, over the protocol.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value
)] // tests

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The editor's side of a session.
struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    sequence: i64,
    /// Events received but not yet consumed.
    events: Vec<Value>,
}

impl Client {
    fn new() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_visakit"));
        command.arg("dap").current_dir(visakit_testing::fixtures());
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: process.stdin.take().unwrap(),
            output: BufReader::new(process.stdout.take().unwrap()),
            process,
            sequence: 0,
            events: Vec::new(),
        }
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).unwrap() > 0,
                "the adapter has gone"
            );
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().unwrap(),
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    fn answer(&mut self, command: &str, arguments: Value) -> Value {
        self.sequence += 1;
        let request = json!({
            "seq": self.sequence, "type": "request", "command": command, "arguments": arguments,
        });
        let bytes = serde_json::to_vec(&request).unwrap();
        write!(self.input, "Content-Length: {}\r\n\r\n", bytes.len()).unwrap();
        self.input.write_all(&bytes).unwrap();
        self.input.flush().unwrap();
        loop {
            let message = self.read();
            if message["type"] == "event" {
                self.events.push(message);
                continue;
            }
            assert_eq!(message["request_seq"], self.sequence);
            assert_eq!(message["command"], command);
            return message;
        }
    }

    /// The body of an answer that must be a success.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let answer = self.answer(command, arguments);
        assert_eq!(answer["success"], true, "{answer}");
        answer["body"].clone()
    }

    fn event(&mut self, name: &str) -> Value {
        loop {
            let known = self.events.iter().position(|e| e["event"] == name);
            if let Some(known) = known {
                return self.events.remove(known)["body"].clone();
            }
            let message = self.read();
            assert_eq!(message["type"], "event", "{message}");
            self.events.push(message);
        }
    }

    /// The line and the name of the innermost frame.
    fn top(&mut self, thread: &Value) -> (i64, String, Value) {
        let stack = self.ask("stackTrace", json!({ "threadId": thread }));
        let top = stack["stackFrames"][0].clone();
        let name = top["name"].as_str().unwrap().to_owned();
        (top["line"].as_i64().unwrap(), name, top)
    }

    fn launch(&mut self, more: &[&str]) {
        let mut words: Vec<&str> =
            "kernels/blur.dg2.visaasm --zeinfo kernels/blur.dg2.zeinfo --global 128 --local 64 \
            --arg zeros:512 --arg zeros:512 --arg local:264 --arg i32:128"
                .split_whitespace()
                .collect();
        words.extend(more);
        self.launch_words(&words);
    }

    fn launch_words(&mut self, words: &[&str]) {
        let body = self.ask(
            "initialize",
            json!({ "adapterID": "visakit", "linesStartAt1": true }),
        );
        assert_eq!(body["supportsStepBack"], true);
        self.ask("launch", json!({ "args": words, "stopOnEntry": true }));
        self.event("initialized");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn child<'v>(list: &'v Value, key: &str, name: &str) -> &'v Value {
    let mut all = list[key].as_array().unwrap().iter();
    all.find(|v| v["name"] == name)
        .unwrap_or_else(|| panic!("no {name} in {list}"))
}

#[test]
fn a_session() {
    let mut client = Client::new();
    client.launch(&[]);
    // Breakpoints by line, with a condition, by routine, by data.
    let path = visakit_testing::fixtures().join("kernels/blur.cl");
    let set = client.ask(
        "setBreakpoints",
        json!({ "source": { "path": path }, "breakpoints": [
            { "line": 15, "condition": "any($gid0 == 70)" }, { "line": 900 },
        ] }),
    );
    assert_eq!(set["breakpoints"][0]["verified"], true);
    assert_eq!(set["breakpoints"][0]["line"], 15);
    assert_eq!(set["breakpoints"][1]["verified"], false);
    let set = client.ask(
        "setFunctionBreakpoints",
        json!({ "breakpoints": [{ "name": "blur" }, { "name": "nothing" }] }),
    );
    assert_eq!(set["breakpoints"][0]["verified"], true);
    assert_eq!(set["breakpoints"][1]["verified"], false);
    client.ask("configurationDone", Value::Null);
    assert_eq!(client.event("stopped")["reason"], "entry");
    client.ask("setFunctionBreakpoints", json!({ "breakpoints": [] }));
    client.ask("continue", json!({ "threadId": 1 }));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "breakpoint");
    let threads = client.ask("threads", Value::Null);
    assert_eq!(threads["threads"].as_array().unwrap().len(), 2);
    let thread = stopped["threadId"].clone();
    let (line, _, frame) = client.top(&thread);
    assert_eq!(line, 15);
    assert!(
        frame["source"]["path"]
            .as_str()
            .unwrap()
            .ends_with("blur.cl")
    );

    // Variables by lane, and setting them.
    let scopes = client.ask("scopes", json!({ "frameId": frame["id"] }));
    let items = child(&scopes, "scopes", "Work-items")["variablesReference"].clone();
    let items = client.ask("variables", json!({ "variablesReference": items }));
    let lane = child(&items, "variables", "lane 6")["value"].clone();
    assert_eq!(lane, "runs, local [6, 0, 0], global [70, 0, 0]");
    let own = child(&scopes, "scopes", "Variables")["variablesReference"].clone();
    let own = client.ask("variables", json!({ "variablesReference": own }));
    let sum = child(&own, "variables", "V0109").clone();
    assert_eq!(sum["type"], "f x 48");
    let elements = sum["variablesReference"].clone();
    let set = client.ask(
        "setVariable",
        json!({ "variablesReference": elements, "name": "[6]", "value": "1.5" }),
    );
    assert_eq!(set["value"], "1.5");
    let some = client.ask(
        "variables",
        json!({ "variablesReference": elements, "start": 6, "count": 1 }),
    );
    assert_eq!(some["variables"][0]["value"], "1.5");

    // Memory, watched, read and written.
    let memory = child(&scopes, "scopes", "Memory")["variablesReference"].clone();
    let memory = client.ask("variables", json!({ "variablesReference": memory }));
    let out = child(&memory, "variables", "out").clone();
    let reference = out["memoryReference"].clone();
    client.ask(
        "writeMemory",
        json!({ "memoryReference": reference, "offset": 4, "data": "AACAPw==" }),
    );
    let read = client.ask(
        "readMemory",
        json!({ "memoryReference": reference, "offset": 4, "count": 4 }),
    );
    assert_eq!(read["data"], "AACAPw==");
    let value = client.ask(
        "evaluate",
        json!({ "expression": "out[1]", "frameId": frame["id"] }),
    );
    assert_eq!(value["result"], "1");
    let info = client.ask(
        "dataBreakpointInfo",
        json!({ "variablesReference": out["variablesReference"], "name": "[70]" }),
    );
    assert_eq!(info["dataId"], "out[70]");
    client.ask(
        "setDataBreakpoints",
        json!({ "breakpoints": [{ "dataId": "out[70]", "accessType": "write" }] }),
    );
    client.ask("continue", json!({ "threadId": thread }));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "data breakpoint", "{stopped}");

    // Back to the breakpoint, and by instructions.
    client.ask("reverseContinue", json!({ "threadId": thread }));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    let (_, here, frame) = client.top(&thread);
    client.ask(
        "stepIn",
        json!({ "threadId": thread, "granularity": "instruction" }),
    );
    client.event("stopped");
    assert_ne!(client.top(&thread).1, here);
    client.ask(
        "stepBack",
        json!({ "threadId": thread, "granularity": "instruction" }),
    );
    client.event("stopped");
    assert_eq!(client.top(&thread).1, here);
    // The line writes the watched value.
    client.ask("next", json!({ "threadId": thread }));
    assert_eq!(client.event("stopped")["reason"], "data breakpoint");
    client.ask("next", json!({ "threadId": thread }));
    assert_eq!(client.event("stopped")["reason"], "step");
    assert_eq!(client.top(&thread).0, 16);

    // Disassembly, and a breakpoint in it.
    let pointer = frame["instructionPointerReference"].clone();
    let code = client.ask(
        "disassemble",
        json!({ "memoryReference": pointer, "instructionOffset": -2, "instructionCount": 5 }),
    );
    let code = code["instructions"].as_array().unwrap().clone();
    assert_eq!(code.len(), 5);
    assert_eq!(code[2]["address"], pointer);
    let set = client.ask(
        "setInstructionBreakpoints",
        json!({ "breakpoints": [{ "instructionReference": pointer }] }),
    );
    assert_eq!(set["breakpoints"][0]["verified"], true);

    // Commands of the console, and errors.
    let said = client.ask(
        "evaluate",
        json!({ "expression": "info run", "context": "repl" }),
    );
    assert!(said["result"].as_str().unwrap().contains("2 groups"));
    let answer = client.answer("evaluate", json!({ "expression": "nothing" }));
    assert_eq!(answer["success"], false);
    let answer = client.answer("frobnicate", Value::Null);
    assert_eq!(answer["success"], false);

    // To the end.
    client.ask("setInstructionBreakpoints", json!({ "breakpoints": [] }));
    client.ask("setDataBreakpoints", json!({ "breakpoints": [] }));
    client.ask(
        "setBreakpoints",
        json!({ "source": { "path": path }, "breakpoints": [] }),
    );
    client.ask("continue", json!({ "threadId": thread }));
    let stopped = client.event("stopped");
    assert_eq!(stopped["description"], "all groups have ended");
    client.ask("disconnect", Value::Null);
    assert!(client.process.wait().unwrap().success());
}

/// Programs without source lines are shown as listings, in which breakpoints can be set.
#[test]
fn listings_are_sources() {
    let mut client = Client::new();
    client.ask("initialize", json!({}));
    client.ask(
        "launch",
        json!({ "case": "cases/call_stack/pvc", "stopOnEntry": true }),
    );
    client.event("initialized");
    let sources = client.ask("loadedSources", Value::Null);
    let all = sources["sources"].as_array().unwrap();
    assert!(all.len() > 1, "{sources}");
    let reference = all[1]["sourceReference"].clone();
    let text = client.ask("source", json!({ "sourceReference": reference }));
    assert!(text["content"].as_str().unwrap().contains("fret"));
    let set = client.ask(
        "setBreakpoints",
        json!({ "source": { "sourceReference": reference }, "breakpoints": [{ "line": 3 }] }),
    );
    assert_eq!(set["breakpoints"][0]["verified"], true);
    client.ask("configurationDone", Value::Null);
    client.event("stopped");
    client.ask("continue", json!({ "threadId": 1 }));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "breakpoint");
    let stack = client.ask("stackTrace", json!({ "threadId": stopped["threadId"] }));
    assert!(
        stack["stackFrames"].as_array().unwrap().len() > 1,
        "{stack}"
    );
    assert_eq!(
        stack["stackFrames"][0]["source"]["sourceReference"],
        reference
    );
}

/// A launch that cannot be is an answer, not an end.
/// Headers that never end are not kept.
#[test]
fn headers_are_bounded() {
    let mut client = Client::new();
    let line = vec![b'x'; 1 << 20];
    // The adapter ends before it has read all of it.
    while client.input.write_all(&line).is_ok() {}
    assert_eq!(client.process.wait().unwrap().code(), Some(2));
}

#[test]
fn launches_that_fail() {
    let mut client = Client::new();
    let answer = client.answer("threads", Value::Null);
    assert_eq!(answer["success"], false);
    let answer = client.answer("launch", json!({ "args": ["--frob"] }));
    assert_eq!(answer["success"], false);
    let answer = client.answer("launch", json!({ "case": "nowhere" }));
    assert_eq!(answer["success"], false);
    // The stream of the protocol is no program, nor anything else.
    let kernel = "kernels/blur.dg2.visaasm --global 64 --local 64 --zeinfo";
    for words in [
        "-",
        &format!("{kernel} -"),
        &format!("{kernel} kernels/blur.dg2.zeinfo --arg buffer:-"),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let answer = client.answer("launch", json!({ "args": words }));
        assert_eq!(answer["success"], false, "{words:?}");
    }
    client.ask("disconnect", Value::Null);
}

/// Findings of checks are exceptions.
#[test]
fn findings_are_exceptions() {
    let mut client = Client::new();
    let body = client.ask("initialize", json!({}));
    assert_eq!(body["exceptionBreakpointFilters"][0]["filter"], "finding");
    let words = "check/race_in_loop.pvc.visaasm --zeinfo check/faults.pvc.zeinfo --platform PVC \
                 --global 256 --local 64 --arg zeros:1024 --arg zeros:1024";
    let words: Vec<_> = words.split_whitespace().collect();
    client.ask("launch", json!({ "args": words }));
    client.event("initialized");
    let set = client.ask("setExceptionBreakpoints", json!({ "filters": ["finding"] }));
    assert_eq!(set["breakpoints"][0]["verified"], true);
    client.ask("configurationDone", Value::Null);
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "exception");
    let text = stopped["description"].as_str().unwrap();
    assert!(text.contains("race: read in a data race"), "{text}");
    client.ask("setExceptionBreakpoints", json!({ "filters": [] }));
    client.ask("continue", json!({ "threadId": stopped["threadId"] }));
    let stopped = client.event("stopped");
    assert_eq!(stopped["description"], "all groups have ended");
}

/// A media kernel: its threads have places instead of work-items, its surfaces names.
#[test]
fn a_media_kernel() {
    let cells = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("dap_media_cells");
    std::fs::write(&cells, [0; 400]).unwrap();
    let surface = format!("0:{}:40x10", cells.display());
    let mut client = Client::new();
    client.launch_words(&[
        "programs/prefix_sum_2d.visaasm",
        "--media",
        "8x9",
        "--dependency",
        "wavefront26",
        "--surface",
        &surface,
        "--input",
        "1:0,1,1,1",
    ]);
    client.ask("configurationDone", Value::Null);
    assert_eq!(client.event("stopped")["reason"], "entry");
    let (_, _, frame) = client.top(&json!(1));
    let scopes = client.ask("scopes", json!({ "frameId": frame["id"] }));
    let items = child(&scopes, "scopes", "Work-items")["variablesReference"].clone();
    let items = client.ask("variables", json!({ "variablesReference": items }));
    let lane = child(&items, "variables", "lane 0")["value"].clone();
    assert_eq!(lane, "runs, local [0, 0, 0], global [0, 0, 0]");
    let memory = child(&scopes, "scopes", "Memory")["variablesReference"].clone();
    let memory = client.ask("variables", json!({ "variablesReference": memory }));
    assert_eq!(child(&memory, "variables", "input0")["type"], "ub");
    client.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(client.event("stopped")["reason"], "exit");
}

/// Variables of the source have their names, in the list and under the pointer.
#[test]
fn variables_of_the_source() {
    let mut client = Client::new();
    let words = "debug/dg2 --source debug --global 64 --local 32 --arg zeros:256 --arg iota:256:f32 --arg i32:5";
    let words: Vec<_> = words.split_whitespace().collect();
    client.launch_words(&words);
    let source = visakit_testing::fixtures().join("debug/stencil.cl");
    let set = client.ask(
        "setBreakpoints",
        json!({ "source": { "path": source }, "breakpoints": [{ "line": 20 }] }),
    );
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    client.ask("configurationDone", Value::Null);
    assert_eq!(client.event("stopped")["reason"], "entry");
    client.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(client.event("stopped")["reason"], "breakpoint");
    let (line, _, frame) = client.top(&json!(1));
    assert_eq!(line, 20);
    let scopes = client.ask("scopes", json!({ "frameId": frame["id"] }));
    let locals = &scopes["scopes"][0];
    assert_eq!(locals["name"], "Locals");
    let locals = client.ask(
        "variables",
        json!({ "variablesReference": locals["variablesReference"] }),
    );
    // 0 + 0 + 1, 0 + 1 + 2, …
    let sum = child(&locals, "variables", "sum");
    assert_eq!(sum["type"], "float");
    let text = sum["value"].as_str().unwrap();
    assert!(text.starts_with("1.0   (lanes: 1.0 3.0 6.0 9.0"), "{text}");
    let mut hover = |expression: &str| {
        client.answer(
            "evaluate",
            json!({ "expression": expression, "frameId": frame["id"], "context": "hover" }),
        )
    };
    assert_eq!(hover("tile[3]")["body"]["result"], "2.0");
    assert_eq!(hover("sum")["body"]["result"], text);
    assert_eq!(hover("tile[99]")["success"], false);
    assert_eq!(hover("nothing")["success"], false);
}
