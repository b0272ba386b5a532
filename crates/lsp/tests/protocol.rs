//! Parts of the protocol that a recorded session does not show.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::thread;

fn request(id: i32, method: &str, params: Value) -> Message {
    Message::Request(Request::new(id.into(), method.to_owned(), params))
}

fn notification(method: &str, params: Value) -> Message {
    Message::Notification(Notification::new(method.to_owned(), params))
}

/// Everything is sent before the server looks; what it says up to the end.
fn session(capabilities: &Value, messages: Vec<Message>) -> (bool, Vec<Message>) {
    let (server, client) = Connection::memory();
    client
        .sender
        .send(request(
            0,
            "initialize",
            json!({ "capabilities": capabilities }),
        ))
        .unwrap();
    client
        .sender
        .send(notification("initialized", json!({})))
        .unwrap();
    for message in messages {
        client.sender.send(message).unwrap();
    }
    let serving = thread::spawn(move || visakit_lsp::serve(&server).unwrap());
    let said = client.receiver.iter().collect();
    (serving.join().unwrap(), said)
}

fn opened(text: &str) -> Message {
    let document = json!({ "uri": "file:///a", "languageId": "visa", "version": 1, "text": text });
    notification("textDocument/didOpen", json!({ "textDocument": document }))
}

fn end() -> [Message; 2] {
    [
        request(99, "shutdown", Value::Null),
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

#[test]
fn cancelled_requests_are_answered_and_not_begun() {
    let mut messages = vec![opened(".version 4.1\n.kernel \"k\"\n")];
    let symbols = json!({ "textDocument": { "uri": "file:///a" } });
    for id in 1..4 {
        messages.push(request(id, "textDocument/documentSymbol", symbols.clone()));
    }
    messages.push(notification("$/cancelRequest", json!({ "id": 2 })));
    messages.push(notification("$/cancelRequest", json!({ "id": 77 })));
    messages.push(notification(
        "$/cancelRequest",
        json!({ "id": { "x": [] } }),
    ));
    messages.extend(end());
    let (asked, said) = session(&json!({}), messages);
    assert!(asked);
    assert!(answer(&said, 1).response_result.is_ok() && answer(&said, 3).response_result.is_ok());
    assert_eq!(answer(&said, 2).response_result.unwrap_err().code, -32800);
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

/// Colours after an edit come as a change of those before it, and make the same as all of them anew.
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
    // What is no change of the last answer comes as a whole.
    let whole = result(4);
    assert_eq!(numbers(&whole["data"]), tokens);
    assert_eq!(numbers(&result(5)["data"]), tokens);
    assert_eq!(result(6), Value::Null);
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
