//! A keystroke in a text of 20,000 lines, as an editor sees it: `cargo bench -p visakit-lsp`.
//!
//! Each keystroke is a change of the document, and what editors ask after it, as messages of the protocol in JSON. The
//! time goes until the last answer has come, and until the problems are published, which waits for a pause of typing.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used
)]

use lsp_server::{Connection, Message, Notification, Request};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

const KEYSTROKES: usize = 60;

/// The server publishes problems when nobody has typed for so long.
const PAUSE: Duration = Duration::from_millis(100);

struct Client {
    connection: Connection,
    next: i32,
}

impl Client {
    /// Through JSON, as over a stream.
    fn send(&self, message: &Message) {
        let bytes = serde_json::to_vec(message).unwrap();
        let message = serde_json::from_slice(&bytes).unwrap();
        self.connection.sender.send(message).unwrap();
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(&Notification::new(method.to_owned(), params).into());
    }

    fn ask(&mut self, method: &str, params: Value) {
        self.next += 1;
        self.send(&Request::new(self.next.into(), method.to_owned(), params).into());
    }

    /// The next answer, or what is published, and its bytes.
    fn receive(&self) -> (Message, usize) {
        let message = self.connection.receiver.recv().unwrap();
        let bytes = serde_json::to_vec(&message).unwrap();
        let size = bytes.len();
        (serde_json::from_slice(&bytes).unwrap(), size)
    }
}

fn main() {
    let text = visakit_testing::corpus::long_text();
    let lines: Vec<&str> = text.lines().collect();
    println!("{} lines, {} bytes", lines.len(), text.len());
    let middle = lines.len() / 2;
    let line = (middle..)
        .find(|line| lines[*line].trim_start().starts_with("add"))
        .unwrap();
    let column = lines[line].find(" V").unwrap();

    let (server, connection) = Connection::memory();
    let serving = thread::spawn(move || visakit_lsp::serve(&server).unwrap());
    let mut client = Client {
        connection,
        next: 0,
    };
    client.ask("initialize", json!({ "capabilities": {} }));
    client.receive();
    client.notify("initialized", json!({}));
    let document = json!({ "uri": "file:///a" });
    client.notify(
        "textDocument/didOpen",
        json!({ "textDocument": { "uri": "file:///a", "languageId": "visa", "version": 1, "text": text } }),
    );
    client.receive();
    client.ask(
        "textDocument/semanticTokens/full",
        json!({ "textDocument": document }),
    );
    let (answer, first) = client.receive();
    let Message::Response(answer) = answer else {
        unreachable!("the answer to a request")
    };
    let mut id = answer.response_result.unwrap()["resultId"].clone();
    println!("all tokens: {first} bytes");

    let (mut answered, mut published, mut bytes) = (Vec::new(), Vec::new(), 0);
    // One run of a test build shows that it works; it is too slow to measure.
    let count = if cfg!(debug_assertions) {
        2
    } else {
        KEYSTROKES
    };
    for number in 0..count {
        let typed = number % 2 == 0;
        let at = |character: usize| json!({ "line": line, "character": character });
        let (end, put) = if typed {
            (column, " ")
        } else {
            (column + 1, "")
        };
        let screen = json!({ "start": { "line": line - 40, "character": 0 }, "end": { "line": line + 40, "character": 0 } });
        let start = Instant::now();
        client.notify("textDocument/didChange", json!({
            "textDocument": { "uri": "file:///a", "version": number + 2 },
            "contentChanges": [{ "range": { "start": at(column), "end": at(end) }, "text": put }],
        }));
        client.ask(
            "textDocument/semanticTokens/range",
            json!({ "textDocument": document, "range": screen }),
        );
        client.ask(
            "textDocument/semanticTokens/full/delta",
            json!({ "textDocument": document, "previousResultId": id }),
        );
        client.ask(
            "textDocument/completion",
            json!({ "textDocument": document, "position": at(column + 1) }),
        );
        client.ask(
            "textDocument/inlayHint",
            json!({ "textDocument": document, "range": screen }),
        );
        for asked in 0..4 {
            let (answer, size) = client.receive();
            let Message::Response(answer) = answer else {
                unreachable!("answers come before the pause")
            };
            if asked == 1 {
                id = answer.response_result.unwrap()["resultId"].clone();
                bytes = bytes.max(size);
            }
        }
        answered.push(start.elapsed());
        client.receive();
        published.push(start.elapsed().saturating_sub(PAUSE));
    }
    client.ask("shutdown", Value::Null);
    client.receive();
    client.notify("exit", Value::Null);
    assert!(serving.join().unwrap());
    println!("changes of the tokens: at most {bytes} bytes");
    for (what, mut times) in [
        ("tokens, completions and hints", answered),
        ("problems, without the pause", published),
    ] {
        times.sort();
        let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
        println!("{what}: median {median:.1?}, most {most:.1?}");
    }
}
