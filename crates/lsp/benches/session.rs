//! A keystroke in a text of 20,000 lines, as an editor sees it: `cargo bench -p visakit-internal-lsp`.
//!
//! Each keystroke is a change of the document followed by the queries editors make, as messages of the protocol over
//! pipes. A request is timed from when it is written until its answer has been read; problems until they are published,
//! not counting the pause in typing that the server waits for. One text has many kernels, the other a single one.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    clippy::unwrap_used
)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::thread;
use std::time::{Duration, Instant};

const KEYSTROKES: usize = 40;

/// The server publishes problems after this pause in typing.
const PAUSE: Duration = Duration::from_millis(100);

struct Client {
    to: PipeWriter,
    from: BufReader<PipeReader>,
    next: i32,
}

impl Client {
    fn send(&mut self, message: &Value) {
        let body = serde_json::to_vec(message).unwrap();
        write!(self.to, "Content-Length: {}\r\n\r\n", body.len()).unwrap();
        self.to.write_all(&body).unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn ask(&mut self, method: &str, params: Value) -> Vec<u8> {
        self.next += 1;
        self.send(
            &json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }),
        );
        self.receive()
    }

    /// The body of the next answer or notification.
    fn receive(&mut self) -> Vec<u8> {
        let mut header = String::new();
        self.from.read_line(&mut header).unwrap();
        let length = header.trim().rsplit(' ').next().unwrap().parse().unwrap();
        self.from.read_line(&mut header).unwrap();
        let mut body = vec![0; length];
        self.from.read_exact(&mut body).unwrap();
        body
    }
}

/// The kinds of responses, with their times and the size of the longest one.
struct Answers {
    name: &'static str,
    times: Vec<Duration>,
    bytes: usize,
}

/// The edits: a blank inside an instruction, which changes no meaning; a line end; one that makes a word unknown; and
/// one that renames a variable, so that its uses become unknown.
const KINDS: [&str; 4] = [
    "a blank",
    "a line end",
    "a letter of a mnemonic",
    "a letter of a declared name",
];

/// A kernel as long as the text with many: its code repeated, without jumps and what may occur only once.
fn single() -> String {
    let path = visakit_testing::fixtures().join("kernels/sha256.pvc.visaasm");
    let kernel = std::fs::read_to_string(path).unwrap();
    let begin = kernel.find("    mov (").unwrap();
    let jumps = ["goto", "jmp", "call", "ret", "barrier"];
    let straight = kernel[begin..]
        .lines()
        .filter(|line| line.starts_with("    ") && !jumps.iter().any(|jump| line.contains(jump)));
    let code: String = straight.flat_map(|line| [line, "\n"]).collect();
    let (count, all) = (code.lines().count(), kernel.lines().count());
    let times = 20_000usize.saturating_sub(all).div_ceil(count);
    [&kernel[..begin], &code.repeat(times), &kernel[begin..]].concat()
}

fn main() {
    measure("many kernels", &visakit_testing::corpus::long_text());
    measure("one kernel", &single());
}

fn measure(what: &str, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    println!("{what}: {} lines, {} bytes", lines.len(), text.len());
    let find = |what: &str, place: &str, from: usize| {
        let mut found = (from..).filter(|line| lines[*line].trim_start().starts_with(what));
        let line = found.next().unwrap();
        (line, lines[line].find(place).unwrap())
    };
    let (line, operand) = find("add", " V", lines.len() / 2);
    let kernel = (0..line).rfind(|line| lines[*line].starts_with(".kernel \""));
    let declaration = find(".decl", " v_type", kernel.unwrap());

    let (requests, to) = pipe().unwrap();
    let (from, answers) = pipe().unwrap();
    let serving = thread::spawn(move || visakit_lsp::serve(requests, answers).unwrap());
    let mut client = Client {
        to,
        from: BufReader::with_capacity(1 << 20, from),
        next: 0,
    };
    let commands = json!(["visakit.run", "visakit.showControlFlow"]);
    client.ask(
        "initialize",
        json!({ "capabilities": {}, "initializationOptions": { "commands": commands } }),
    );
    client.notify("initialized", json!({}));
    let document = json!({ "uri": "file:///a" });
    let whole = json!({ "textDocument": document });
    client.notify(
        "textDocument/didOpen",
        json!({ "textDocument": { "uri": "file:///a", "languageId": "visa", "version": 1, "text": text } }),
    );
    let start = Instant::now();
    let published = client.receive();
    let opened = start.elapsed().saturating_sub(PAUSE);
    let problems: Value = serde_json::from_slice(&published).unwrap();
    let problems = problems
        .pointer("/params/diagnostics")
        .and_then(Value::as_array);
    println!(
        "  opened, {} problems told: {opened:.1?}",
        problems.unwrap().len()
    );
    let start = Instant::now();
    let answer = client.ask("textDocument/semanticTokens/full", whole.clone());
    println!(
        "  all tokens: {:.1?}, {} bytes",
        start.elapsed(),
        answer.len()
    );
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let mut id = answer["result"]["resultId"].clone();

    let screen = json!({ "start": { "line": line - 40, "character": 0 }, "end": { "line": line + 40, "character": 0 } });
    let names = [
        "semanticTokens/full/delta",
        "completion",
        "inlayHint",
        "codeLens",
        "documentSymbol",
        "foldingRange",
        "all of these",
        "publishDiagnostics",
    ];
    // One run of a test build shows that it works; it is too slow to measure.
    let count = if cfg!(debug_assertions) {
        2
    } else {
        KEYSTROKES
    };
    let mut version = 1;
    for kind in KINDS {
        let mut all = names.map(|name| Answers {
            name,
            times: Vec::new(),
            bytes: 0,
        });
        let ((row, column), typed) = match kind {
            "a blank" => ((line, operand), " "),
            "a line end" => ((line, 0), "\n"),
            "a letter of a mnemonic" => ((line, lines[line].find("add").unwrap() + 3), "x"),
            _ => (declaration, "x"),
        };
        for number in 0..count {
            let at =
                |line: usize, character: usize| json!({ "line": line, "character": character });
            // Each keystroke is undone by the next one.
            let after = match typed {
                "\n" => at(row + 1, 0),
                _ => at(row, column + 1),
            };
            let (end, put) = if number % 2 == 0 {
                (at(row, column), typed)
            } else {
                (after, "")
            };
            version += 1;
            let first = Instant::now();
            client.notify("textDocument/didChange", json!({
                "textDocument": { "uri": "file:///a", "version": version },
                "contentChanges": [{ "range": { "start": at(row, column), "end": end }, "text": put }],
            }));
            let mut note = |index: usize, time: Duration, bytes: usize| {
                let entry: &mut Answers = &mut all[index];
                entry.times.push(time);
                entry.bytes = entry.bytes.max(bytes);
            };
            for (index, name) in names.iter().take(6).enumerate() {
                let params = match index {
                    0 => json!({ "textDocument": document, "previousResultId": id }),
                    1 => json!({ "textDocument": document, "position": at(row, column + 1) }),
                    2 => json!({ "textDocument": document, "range": screen }),
                    _ => whole.clone(),
                };
                let start = Instant::now();
                let answer = client.ask(&format!("textDocument/{name}"), params);
                note(index, start.elapsed(), answer.len());
                if index == 0 {
                    let answer: Value = serde_json::from_slice(&answer).unwrap();
                    id = answer["result"]["resultId"].clone();
                }
            }
            note(6, first.elapsed(), 0);
            let start = Instant::now();
            let published = client.receive();
            note(7, start.elapsed().saturating_sub(PAUSE), published.len());
        }
        println!("  after {kind}");
        for Answers {
            name,
            mut times,
            bytes,
        } in all
        {
            times.sort();
            let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
            println!("    {name}: median {median:.1?}, most {most:.1?}, at most {bytes} bytes");
        }
    }
    client.ask("shutdown", Value::Null);
    client.notify("exit", Value::Null);
    assert!(serving.join().unwrap());
}
