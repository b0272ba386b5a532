//! Messages of the protocol on a pair of streams.

use crate::answers::Refusal;
use lsp_server::{Message, RequestId};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, channel};

/// Input from a client.
#[derive(Debug)]
pub(crate) enum Incoming {
    Message(Message),
    /// A correctly framed message with invalid content.
    Malformed(String),
    /// The stream cannot be followed any more.
    Broken(io::Error),
}

/// Reads a stream up to its end in a separate thread, so that the server sees what arrived while it was working. The
/// thread is not joined: a client that has gone need not close its stream.
pub(crate) fn listen(input: impl Read + Send + 'static) -> Receiver<Incoming> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let incoming = match read(&mut input) {
                Ok(None) => return,
                Ok(Some(bytes)) => match message(&bytes) {
                    Ok(message) => Incoming::Message(message),
                    Err(error) => Incoming::Malformed(error.to_string()),
                },
                Err(error) => Incoming::Broken(error),
            };
            let last = match &incoming {
                Incoming::Broken(_) => true,
                Incoming::Message(Message::Notification(n)) => n.method == "exit",
                _ => false,
            };
            if send.send(incoming).is_err() || last {
                return;
            }
        }
    });
    receive
}

/// The message of a frame.
fn message(bytes: &[u8]) -> serde_json::Result<Message> {
    let message = serde_json::from_slice(bytes)?;
    // A request whose number is no number reads as a notification, which nobody would answer.
    if matches!(message, Message::Notification(_)) {
        let Named { id } = serde_json::from_slice(bytes)?;
        if !id.is_null() {
            return Err(serde::de::Error::custom("an id is an integer or a string"));
        }
    }
    Ok(message)
}

/// What distinguishes a request.
#[derive(Deserialize)]
struct Named {
    #[serde(default)]
    id: serde_json::Value,
}

/// Reads the content of one frame; `None` at the end of the stream. Memory is allocated for data received, not for the
/// announced length.
fn read(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let invalid = |message: String| io::Error::new(io::ErrorKind::InvalidData, message);
    let mut length = None;
    let mut begun = false;
    loop {
        let mut line = Vec::new();
        // Longer lines are not headers.
        if input.by_ref().take(4096).read_until(b'\n', &mut line)? == 0 {
            let broken = || io::ErrorKind::UnexpectedEof.into();
            return if begun { Err(broken()) } else { Ok(None) };
        }
        begun = true;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(invalid(format!("{line:?} is no header of a message")));
        };
        if name.eq_ignore_ascii_case("content-length") {
            let number = value.trim().parse::<u64>();
            length = Some(number.map_err(|_| invalid(format!("{value:?} is no length")))?);
        }
    }
    let length = length.ok_or_else(|| invalid("a message without Content-Length".into()))?;
    let mut bytes = Vec::new();
    let came = input.by_ref().take(length).read_to_end(&mut bytes)?;
    if u64::try_from(came).is_ok_and(|came| came == length) {
        Ok(Some(bytes))
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Output to a client. Responses are written as they are serialised: those for long texts have millions of values.
#[derive(Debug)]
pub(crate) struct Client<W> {
    output: W,
    body: Vec<u8>,
}

#[derive(Serialize)]
struct Answered<'a, T> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: T,
}

#[derive(Serialize)]
struct Refused<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RequestId>,
    error: Reason<'a>,
}

#[derive(Serialize)]
struct Reason<'a> {
    code: i32,
    message: &'a str,
}

#[derive(Serialize)]
struct Notified<'a, T> {
    jsonrpc: &'static str,
    method: &'a str,
    params: T,
}

const JSONRPC: &str = "2.0";

impl<W: Write> Client<W> {
    pub(crate) const fn new(output: W) -> Self {
        Self {
            output,
            body: Vec::new(),
        }
    }

    pub(crate) fn answer(&mut self, id: &RequestId, result: impl Serialize) -> io::Result<()> {
        self.write(&Answered {
            jsonrpc: JSONRPC,
            id,
            result,
        })
    }

    /// Reports why a message has no result; an invalid message has no id.
    pub(crate) fn refuse(&mut self, id: Option<&RequestId>, refusal: &Refusal) -> io::Result<()> {
        self.write(&Refused {
            jsonrpc: JSONRPC,
            id,
            error: Reason {
                code: refusal.code as i32,
                message: &refusal.message,
            },
        })
    }

    pub(crate) fn notify(&mut self, method: &str, params: impl Serialize) -> io::Result<()> {
        self.write(&Notified {
            jsonrpc: JSONRPC,
            method,
            params,
        })
    }

    fn write(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.body.clear();
        serde_json::to_writer(&mut self.body, message)?;
        write!(self.output, "Content-Length: {}\r\n\r\n", self.body.len())?;
        self.output.write_all(&self.body)?;
        self.output.flush()
    }
}
