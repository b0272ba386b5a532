//! Language server for vISA text: the protocol around [`visakit_language`].
//!
//! [`stdio`] serves an editor over standard input and output, as `visakit lsp` does; [`serve`] serves any pair of
//! streams. For the supported requests and the setup of clients see `docs/editors.md` of the repository.
//!
//! One thread reads, another one answers in order. Before it answers a request it takes in everything that has come
//! since, so that requests that were cancelled are not begun. Problems are published when no message has come for a
//! moment.

#![forbid(unsafe_code)]

mod answers;
mod convert;
mod server;
mod tokens;
mod transport;

use std::fmt;
use std::io::{self, Read, Write};
use transport::Client;

/// Why the server has ended before its client said so.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The client went away before the handshake of the protocol.
    NoHandshake,
    /// Reading or writing failed, or the framing of a message was invalid.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHandshake => f.write_str("the client went away before the handshake"),
            Self::Io(error) => write!(f, "the connection to the client failed: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoHandshake => None,
            Self::Io(error) => Some(error),
        }
    }
}

/// Serves an editor over standard input and output: [`serve`].
///
/// # Errors
/// Those of [`serve`].
pub fn stdio() -> Result<bool, Error> {
    serve(io::stdin(), io::stdout())
}

/// Serves the client at the other ends of two streams until it exits or disconnects. Returns whether it requested the
/// shutdown before, as the protocol requires: the exit code should then be 0, otherwise 1.
///
/// An invalid message is answered with an error; only a stream with broken framing ends the session.
///
/// # Errors
/// The streams fail, they are not framed as the protocol wants it, or they end before the handshake.
pub fn serve(input: impl Read + Send + 'static, output: impl Write) -> Result<bool, Error> {
    let incoming = transport::listen(input);
    server::run(&incoming, &mut Client::new(output))
}
