//! Parts of the protocol that a recorded session does not show.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use lsp_server::{Message, Notification, Request, RequestId, Response};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::io::{Cursor, Write as _};

fn request(id: i32, method: &str, params: Value) -> Message {
    Message::Request(Request::new(id.into(), method.to_owned(), params))
}

fn notification(method: &str, params: Value) -> Message {
    Message::Notification(Notification::new(method.to_owned(), params))
}

/// A body in its frame.
fn framed(body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    write!(frame, "Content-Length: {}\r\n\r\n", body.len()).unwrap();
    frame.extend(body);
    frame
}

/// The server's output for an input stream, and its result.
fn served(stream: Vec<u8>) -> (Result<bool, visakit_lsp::Error>, Vec<Value>) {
    let mut said = Vec::new();
    let ended = visakit_lsp::serve(Cursor::new(stream), &mut said);
    let mut said = said.as_slice();
    let mut messages = Vec::new();
    while let Some(end) = said.windows(4).position(|w| w == b"\r\n\r\n") {
        let header = std::str::from_utf8(&said[..end]).unwrap();
        let length: usize = header.rsplit(' ').next().unwrap().parse().unwrap();
        messages.push(serde_json::from_slice(&said[end + 4..][..length]).unwrap());
        said = &said[end + 4 + length..];
    }
    assert!(said.is_empty());
    (ended, messages)
}

/// Sends everything before the server starts; returns its output up to the end.
fn session(capabilities: &Value, messages: Vec<Message>) -> (bool, Vec<Message>) {
    let params = json!({ "capabilities": capabilities });
    let begin = [
        request(0, "initialize", params),
        notification("initialized", json!({})),
    ];
    let all = begin.into_iter().chain(messages);
    let stream = all.flat_map(|m| framed(&serde_json::to_vec(&m).unwrap()));
    let (ended, said) = served(stream.collect());
    let said = said.into_iter();
    let said = said.map(|message| serde_json::from_value(message).unwrap());
    (ended.unwrap(), said.collect())
}

fn opened(text: &str) -> Message {
    let document = json!({ "uri": "file:///a", "languageId": "visa", "version": 1, "text": text });
    notification("textDocument/didOpen", json!({ "textDocument": document }))
}

fn end() -> [Message; 2] {
    end_as(99)
}

fn end_as(id: i32) -> [Message; 2] {
    [
        request(id, "shutdown", Value::Null),
        notification("exit", Value::Null),
    ]
}

fn answer(said: &[Message], id: i32) -> Response {
    let id = RequestId::from(id);
    let mut responses = said.iter().filter_map(|message| match message {
        Message::Response(response) if response.id == id => Some(response.clone()),
        _ => None,
    });
    let response = responses.next().unwrap();
    assert!(responses.next().is_none(), "answered twice");
    response
}

/// A request that was cancelled has one answer, too: its result, if it was begun before the server saw that.
#[test]
fn cancelled_requests_are_answered() {
    let mut messages = vec![opened(".version 4.1\n.kernel \"k\"\n")];
    let symbols = json!({ "textDocument": { "uri": "file:///a" } });
    for id in 1..4 {
        messages.push(request(id, "textDocument/documentSymbol", symbols.clone()));
    }
    messages.push(notification("$/cancelRequest", json!({ "id": 2 })));
    messages.push(notification("$/cancelRequest", json!({ "id": 77 })));
    messages.extend(end());
    let (asked, said) = session(&json!({}), messages);
    assert!(asked);
    assert!(answer(&said, 1).response_result.is_ok() && answer(&said, 3).response_result.is_ok());
    if let Err(error) = answer(&said, 2).response_result {
        assert_eq!(error.code, -32800);
    }
    assert!(answer(&said, 99).response_result.is_ok());
}

#[test]
fn columns_are_what_was_agreed_on() {
    let text = ".kernel \"k\"\n.decl A v_type=G type=ud num_elts=1\n/* é𝄞 */ mov (M1, 1) A(0,0)<1> 0x1:ud\n";
    for (offers, name, column) in [
        (json!(["utf-16", "utf-8"]), "utf-8", 25),
        (json!(["utf-32"]), "utf-32", 21),
        (json!(["utf-16"]), "utf-16", 22),
        (json!([7, null]), "utf-16", 22),
    ] {
        let place = json!({ "line": 2, "character": column });
        let params = json!({ "textDocument": { "uri": "file:///a" }, "position": place });
        let mut messages = vec![opened(text), request(1, "textDocument/definition", params)];
        messages.extend(end());
        let capabilities = json!({ "general": { "positionEncodings": offers } });
        let (_, said) = session(&capabilities, messages);
        let agreed = answer(&said, 0).response_result.unwrap();
        assert_eq!(agreed["capabilities"]["positionEncoding"], name);
        let found = answer(&said, 1).response_result.unwrap();
        assert_eq!(
            found["range"]["start"],
            json!({ "line": 1, "character": 6 }),
            "{name}"
        );
    }
}

/// Highlighting after an edit is sent as a change to the previous one, and yields the same as a complete one.
#[test]
fn tokens_change_where_the_text_does() {
    let line = "    add (M1, 1) A(0,0)<1> A(0,0)<0;1,0> 0x1:ud\n";
    let text = format!(
        ".version 4.1\n.kernel \"k\"\n.decl A v_type=G type=ud num_elts=1\n{}",
        line.repeat(300)
    );
    let document = json!({ "uri": "file:///a" });
    let full = json!({ "textDocument": document });
    let since = |id: &str| json!({ "textDocument": document, "previousResultId": id });
    let at = json!({ "line": 150, "character": 26 });
    let change = json!({
        "textDocument": { "uri": "file:///a", "version": 2 },
        "contentChanges": [{ "range": { "start": at, "end": at }, "text": "V" }],
    });
    let delta = "textDocument/semanticTokens/full/delta";
    let mut messages = vec![
        opened(&text),
        request(1, "textDocument/semanticTokens/full", full.clone()),
        request(2, delta, since("1")),
        notification("textDocument/didChange", change),
        request(3, delta, since("2")),
        request(4, delta, since("1")),
        request(5, "textDocument/semanticTokens/full", full),
        request(
            6,
            delta,
            json!({ "textDocument": { "uri": "file:///b" }, "previousResultId": "" }),
        ),
    ];
    messages.extend(end());
    let (_, said) = session(&json!({}), messages);
    let result = |id| answer(&said, id).response_result.unwrap();
    let numbers = |value: &Value| -> Vec<u64> {
        let all = value.as_array().unwrap().iter();
        all.map(|n| n.as_u64().unwrap()).collect()
    };
    let first = result(1);
    assert_eq!(first["resultId"], "1");
    assert_eq!(result(2), json!({ "resultId": "2", "edits": [] }));
    let changed = result(3);
    let [edit] = changed["edits"].as_array().unwrap().as_slice() else {
        panic!("{changed}");
    };
    let start = edit["start"].as_u64().unwrap() as usize;
    let removed = edit["deleteCount"].as_u64().unwrap() as usize;
    let mut tokens = numbers(&first["data"]);
    assert!(removed <= 10 && tokens.len() > 5000, "{edit}");
    tokens.splice(start..start + removed, numbers(&edit["data"]));
    // If the previous result is not the last one, tokens are sent in full.
    let whole = result(4);
    assert_eq!(numbers(&whole["data"]), tokens);
    assert_eq!(numbers(&result(5)["data"]), tokens);
    assert_eq!(result(6), Value::Null);
}

/// Every response about an edited document equals the one for a new document with the same text; highlighting is
/// reconstructed from the changes sent since the first response.
#[test]
fn edited_documents_are_answered_as_new_ones() {
    let path = visakit_testing::fixtures().join("programs/loops.visaasm");
    let program = std::fs::read_to_string(path).unwrap();
    let begin = [
        program.clone(),
        program.replace('\n', "\r\n"),
        format!("// \u{e9}\u{1d11e}\r\n{program}/* \u{1d11e} */ // no end"),
    ];
    let pieces = [
        "",
        " ",
        "\n",
        "\r\n",
        "{",
        "}",
        "/*",
        "*/",
        "// \u{1d11e}\u{e9}\n",
        "\\\n",
        ".decl V32 v_type=P num_elts=8\n",
        "L9:\n",
        ".kernel \"k2\"\n",
        "    mov (M1, 8) V32(0,0)<1> 0x1:ud\n",
        "V33",
        "\"",
    ];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(17);
    let mut below = |end: usize| usize::try_from(random.next_u64() % (end as u64)).unwrap();
    let asked = [
        "documentSymbol",
        "foldingRange",
        "codeLens",
        "semanticTokens/full",
    ];
    let document = |name: &str| json!({ "textDocument": { "uri": name } });
    for text in begin {
        let mut text = text;
        let mut messages = vec![opened(&text)];
        messages.push(request(
            1,
            "textDocument/semanticTokens/full",
            document("file:///a"),
        ));
        let (edits, mut id) = (60, 100);
        for edit in 0..edits {
            // A place as the protocol says it: a line, and units of 16 bits.
            let mut place = || {
                let starts: Vec<usize> = std::iter::once(0)
                    .chain(text.match_indices('\n').map(|(at, _)| at + 1))
                    .collect();
                let line = below(starts.len());
                let rest = &text[starts[line]..];
                let rest = rest.split('\n').next().unwrap();
                let rest = rest.strip_suffix('\r').unwrap_or(rest);
                let ends: Vec<usize> = rest
                    .char_indices()
                    .map(|(at, _)| at)
                    .chain([rest.len()])
                    .collect();
                let at = ends[below(ends.len())];
                let column = rest[..at].encode_utf16().count();
                (
                    starts[line] + at,
                    json!({ "line": line, "character": column }),
                )
            };
            let (from, to) = (place(), place());
            // Most edits are short.
            let (from, to) = match edit % 4 {
                0 if from.0.abs_diff(to.0) < 400 && from.0 <= to.0 => (from, to),
                _ => (from.clone(), from),
            };
            let piece = pieces[below(pieces.len())];
            text.replace_range(from.0..to.0, piece);
            messages.push(notification("textDocument/didChange", json!({
                "textDocument": { "uri": "file:///a", "version": edit + 2 },
                "contentChanges": [{ "range": { "start": from.1, "end": to.1 }, "text": piece }],
            })));
            let item =
                json!({ "uri": "file:///b", "languageId": "visa", "version": 1, "text": text });
            messages.push(notification(
                "textDocument/didOpen",
                json!({ "textDocument": item }),
            ));
            let since = json!({ "textDocument": { "uri": "file:///a" }, "previousResultId": (edit + 1).to_string() });
            messages.push(request(id, "textDocument/semanticTokens/full/delta", since));
            for (number, method) in asked.iter().enumerate() {
                let method = format!("textDocument/{method}");
                let number = i32::try_from(number).unwrap();
                messages.push(request(id + 10 + number, &method, document("file:///b")));
                if number < 3 {
                    messages.push(request(id + 20 + number, &method, document("file:///a")));
                }
            }
            for (number, name) in [(15, "file:///b"), (25, "file:///a")] {
                let end = json!({ "line": 4_000_000, "character": 0 });
                let range = json!({ "start": { "line": 0, "character": 0 }, "end": end });
                let hints = json!({ "textDocument": { "uri": name }, "range": range });
                messages.push(request(id + number, "textDocument/inlayHint", hints));
            }
            id += 100;
        }
        messages.extend(end_as(7));
        let (_, said) = session(&json!({}), messages);
        let result = |id| answer(&said, id).response_result.unwrap();
        let numbers = |value: &Value| -> Vec<u64> {
            value
                .as_array()
                .unwrap()
                .iter()
                .map(|n| n.as_u64().unwrap())
                .collect()
        };
        let mut tokens = numbers(&result(1)["data"]);
        for edit in 0..edits {
            let id = 100 * (edit + 1);
            for edit in result(id)["edits"].as_array().unwrap() {
                let start = edit["start"].as_u64().unwrap() as usize;
                let removed = edit["deleteCount"].as_u64().unwrap() as usize;
                tokens.splice(start..start + removed, numbers(&edit["data"]));
            }
            assert_eq!(tokens, numbers(&result(id + 13)["data"]), "edit {edit}");
            for number in [0, 1, 2, 5] {
                let (mut new, mut edited) = (result(id + 10 + number), result(id + 20 + number));
                for lens in new
                    .as_array_mut()
                    .into_iter()
                    .chain(edited.as_array_mut())
                    .flatten()
                {
                    if let Some(name) = lens.pointer_mut("/command/arguments/0") {
                        *name = Value::Null;
                    }
                }
                assert_eq!(edited, new, "edit {edit}, request {number}");
            }
        }
    }
}

#[test]
fn clients_that_leave_without_a_word_are_told_apart() {
    assert!(!session(&json!({}), vec![notification("exit", Value::Null)]).0);
}

#[test]
fn every_request_takes_any_parameters() {
    let methods = [
        "hover",
        "completion",
        "definition",
        "references",
        "documentHighlight",
        "prepareRename",
        "rename",
        "documentSymbol",
        "foldingRange",
        "semanticTokens/full",
        "semanticTokens/full/delta",
        "semanticTokens/range",
        "formatting",
        "inlayHint",
        "codeAction",
        "codeLens",
        "didOpen",
        "didChange",
        "didClose",
    ];
    let place = json!({ "line": 4_000_000_000u32, "character": 4_000_000_000u32 });
    let range = json!({ "start": place, "end": { "line": 0, "character": 0 } });
    let whole = json!({
        "textDocument": { "uri": "file:///a", "version": -1 }, "position": place, "range": range, "newName": "", "previousResultId": "",
        "context": { "includeDeclaration": true, "diagnostics": [] }, "options": { "tabSize": 4, "insertSpaces": true },
        "contentChanges": [{ "range": range, "text": "é" }, { "text": ".kernel" }, { "range": 5 }],
    });
    let mut messages = vec![opened("/*")];
    let mut id = 0;
    for method in methods {
        for params in [json!(null), json!([]), json!({}), json!(5), whole.clone()] {
            id += 1;
            let method = format!("textDocument/{method}");
            messages.push(notification(&method, params.clone()));
            messages.push(request(id, &method, params));
        }
    }
    messages.extend(end());
    let (asked, said) = session(&json!([]), messages);
    assert!(asked);
    for id in 1..=id {
        let _ = answer(&said, id);
    }
}

/// Messages that violate the protocol: each gets an error, and the session continues.
#[test]
fn what_is_no_message_is_refused_and_the_session_goes_on() {
    let mut stream = Vec::new();
    let mut say = |body: &str| stream.extend(framed(body.as_bytes()));
    say(r#"{"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": {}}"#);
    say(r#"{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {}}"#);
    say("{");
    say("[]");
    say("");
    say(r#"{"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"capabilities": {}}}"#);
    say(r#"{"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {"capabilities": {}}}"#);
    say(r#"{"jsonrpc": "2.0", "id": 4, "method": "workspace/nothing", "params": {}}"#);
    say(r#"{"jsonrpc": "2.0", "method": "$/setTrace", "params": {"value": "off"}}"#);
    say(r#"{"jsonrpc": "2.0", "id": 9, "result": null}"#);
    say(r#"{"jsonrpc": "2.0", "id": {"a": 1}, "method": "textDocument/hover", "params": {}}"#);
    say(r#"{"jsonrpc": "2.0", "id": 1.5, "method": "textDocument/hover", "params": {}}"#);
    say(r#"{"jsonrpc": "2.0", "id": 5, "method": "shutdown"}"#);
    say(r#"{"jsonrpc": "2.0", "id": 6, "method": "textDocument/hover", "params": {}}"#);
    say(r#"{"jsonrpc": "2.0", "method": "exit"}"#);
    // A body that is no UTF-8, headers that are not needed, and a line end alone.
    stream.splice(0..0, framed(b"\"\xff\""));
    stream.splice(
        0..0,
        b"content-type: x; charset=utf-8\nContent-length:2\n\n{]".to_vec(),
    );
    let (ended, said) = served(stream);
    assert!(ended.unwrap());
    let codes = said.iter().map(|m| {
        (
            m["id"].as_i64(),
            m.pointer("/error/code").and_then(Value::as_i64),
        )
    });
    let codes: Vec<_> = codes.collect();
    assert_eq!(
        codes,
        [
            (None, Some(-32700)),
            (None, Some(-32700)),
            (Some(1), Some(-32002)),
            (None, Some(-32700)),
            (None, Some(-32700)),
            (None, Some(-32700)),
            (Some(2), None),
            (Some(3), Some(-32600)),
            (Some(4), Some(-32601)),
            (None, Some(-32700)),
            (None, Some(-32700)),
            (Some(5), None),
            (Some(6), Some(-32600)),
        ]
    );
}

/// Frames that cannot be parsed, whatever length they announce.
#[test]
fn streams_that_cannot_be_followed_end() {
    for stream in [
        "Content-Length: 18446744073709551615\r\n\r\n{}",
        "Content-Length: 99999999999999999999\r\n\r\n{}",
        "Content-Length: -1\r\n\r\n{}",
        "Content-Length: 10\r\n",
        "hello\r\n",
        "\r\n\r\n",
    ] {
        let (ended, said) = served(stream.into());
        assert!(
            matches!(ended, Err(visakit_lsp::Error::Io(_))),
            "{stream:?}"
        );
        assert!(said.is_empty());
    }
    let (ended, _) = served(vec![b'x'; 1 << 20]);
    assert!(ended.is_err());
    let (ended, _) = served(Vec::new());
    assert!(matches!(ended, Err(visakit_lsp::Error::NoHandshake)));
}
