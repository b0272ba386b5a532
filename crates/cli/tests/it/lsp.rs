//! A session of an editor with `visakit lsp`, over its standard streams.
//!
//! `lsp.session` is the recording: lines that begin with `> ` are sent, those with `< ` are the server's.
//! `cargo xtask bless` records it again.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

struct Client {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Client {
    fn start() -> Self {
        let mut command = crate::command(&["lsp"]);
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            to: server.stdin.take().unwrap(),
            from: BufReader::new(server.stdout.take().unwrap()),
            server,
        }
    }

    fn send(&mut self, message: &str) {
        write!(
            self.to,
            "Content-Length: {}\r\n\r\n{message}",
            message.len()
        )
        .unwrap();
        self.to.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(
                self.from.read_line(&mut line).unwrap() > 0,
                "the server has gone"
            );
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", bytes)) => length = bytes.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }
}

#[test]
fn a_session() {
    let path = visakit_testing::root().join("crates/cli/tests/it/lsp.session");
    let recording = std::fs::read_to_string(&path).unwrap();
    let mut client = Client::start();
    let mut made = String::new();
    for line in recording.lines() {
        let Some(message) = line.strip_prefix("> ") else {
            if !line.starts_with("< ") {
                made.push_str(line);
                made.push('\n');
            }
            continue;
        };
        made.push_str(line);
        made.push('\n');
        client.send(message);
        let message: Value = serde_json::from_str(message).unwrap();
        // A request has a response; documents that are opened, changed and closed have their diagnostics published.
        let method = message["method"].as_str().unwrap();
        let answered = message.get("id").is_some() || method.starts_with("textDocument/did");
        if answered {
            let mut said = client.receive();
            if let Some(server) = said.pointer_mut("/result/serverInfo/version") {
                *server = "of the workspace".into();
            }
            made.push_str(&format!("< {said}\n"));
        }
    }
    let status = client.server.wait().unwrap();
    assert_eq!(status.code(), Some(0));
    visakit_testing::page::holds(&path, &made);
}

/// The streams of editors that crash.
#[test]
fn what_is_no_session_ends() {
    for (sent, code) in [
        ("", 2),
        ("Content-Length: 5\r\n\r\nhello", 2),
        ("Content-Length: 99999999\r\n\r\n{", 2),
        ("\u{0}\u{1}", 2),
    ] {
        let mut client = Client::start();
        client.to.write_all(sent.as_bytes()).unwrap();
        drop(client.to);
        let mut said = String::new();
        client.from.read_to_string(&mut said).unwrap();
        assert_eq!(
            client.server.wait().unwrap().code(),
            Some(code),
            "{sent:?}: {said}"
        );
    }
}
