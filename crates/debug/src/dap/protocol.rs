//! The messages of the protocol that the debugger takes part in, and how they are framed.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{self, BufRead, Read as _, Write};

/// Largest message that is read.
const LARGEST: usize = 64 << 20;

/// The headers of a message are not longer than this.
const LONGEST_HEADERS: u64 = 64 << 10;

/// A request of the editor.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Request {
    pub(crate) seq: i64,
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) arguments: Value,
}

/// An outgoing message.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Message {
    /// The answer to a request.
    Response {
        seq: i64,
        request_seq: i64,
        success: bool,
        command: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        #[serde(skip_serializing_if = "Value::is_null")]
        body: Value,
    },
    /// Something that happened.
    Event {
        seq: i64,
        event: &'static str,
        body: Value,
    },
}

/// Reads a message; `None` at the end of the input.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    let invalid = |message: &str| io::Error::new(io::ErrorKind::InvalidData, message.to_owned());
    let mut length = None;
    let mut headers = input.by_ref().take(LONGEST_HEADERS);
    loop {
        let mut line = String::new();
        if headers.read_line(&mut line)? == 0 || !line.ends_with('\n') {
            return match headers.limit() {
                0 => Err(invalid("headers of more than 64 KiB")),
                _ => Ok(None),
            };
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
    let length: usize = length.ok_or_else(|| invalid("a message without Content-Length"))?;
    if length > LARGEST {
        return Err(invalid("a message of more than 64 MiB"));
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    let request = serde_json::from_slice(&bytes);
    request
        .map(Some)
        .map_err(|error| invalid(&format!("a message that is no request: {error}")))
}

/// Writes a message.
pub(crate) fn write(output: &mut impl Write, message: &Message) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    write!(output, "Content-Length: {}\r\n\r\n", bytes.len())?;
    output.write_all(&bytes)?;
    output.flush()
}

/// The source of a breakpoint, as the editor specifies it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Source {
    pub(crate) name: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) source_reference: Option<i64>,
}

/// `setBreakpoints`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SetBreakpoints {
    pub(crate) source: Source,
    pub(crate) breakpoints: Vec<Breakpoint>,
}

/// A breakpoint of any of the requests that set them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Breakpoint {
    pub(crate) line: u32,
    pub(crate) name: String,
    pub(crate) condition: Option<String>,
    pub(crate) instruction_reference: String,
    pub(crate) offset: i64,
    pub(crate) data_id: String,
    pub(crate) access_type: Option<String>,
}

/// The other requests that carry a list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Breakpoints {
    pub(crate) breakpoints: Vec<Breakpoint>,
}

/// `setExceptionBreakpoints`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Filters {
    pub(crate) filters: Vec<String>,
}

/// `launch`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Launch {
    /// Arguments as for `visakit debug`.
    pub(crate) args: Vec<String>,
    /// The folder of a case.
    pub(crate) case: Option<String>,
    /// A folder with sources.
    pub(crate) source: Option<String>,
    pub(crate) stop_on_entry: bool,
}

/// Arguments of requests that name little.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Place {
    pub(crate) thread_id: i64,
    pub(crate) frame_id: Option<i64>,
    pub(crate) variables_reference: i64,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) expression: String,
    pub(crate) context: Option<String>,
    pub(crate) granularity: Option<String>,
    pub(crate) memory_reference: String,
    pub(crate) offset: i64,
    pub(crate) count: usize,
    pub(crate) data: String,
    pub(crate) instruction_offset: i64,
    pub(crate) instruction_count: usize,
    pub(crate) source_reference: i64,
    pub(crate) start_frame: usize,
    pub(crate) levels: usize,
    pub(crate) start: usize,
}
