//! Language server for vISA text: the protocol around [`visakit_language`].
//!
//! [`stdio`] serves an editor over standard input and output, as `visakit lsp` does; [`serve`] serves any connection.
//! What is answered, and how a client is set up: `docs/editors.md` of the repository.
//!
//! One thread takes messages in order. Before it answers a request it looks at everything that has come since, so that
//! requests that were cancelled are not begun. Problems are published when no message has come for a moment.

#![forbid(unsafe_code)]

mod answers;
mod convert;
mod server;

use lsp_server::Connection;
use std::fmt;

/// Why the server has ended before its client said so.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The client broke the protocol, or went away in the middle of the first handshake.
    Protocol(lsp_server::ProtocolError),
    /// Reading or writing failed, or what came was no message.
    Io(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(error) => write!(f, "the client broke the protocol: {error}"),
            Self::Io(error) => write!(f, "the connection to the client failed: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Protocol(error) => Some(error),
            Self::Io(error) => Some(error),
        }
    }
}

/// Serves an editor over standard input and output until it says that it ends. Tells whether it asked for the end
/// before, as the protocol wants it: the exit code is to be 0 then, else 1.
///
/// # Errors
/// The connection fails, or what comes is not the protocol.
pub fn stdio() -> Result<bool, Error> {
    let (connection, threads) = Connection::stdio();
    let result = serve(&connection);
    // The thread that writes ends when nobody is left who could send.
    drop(connection);
    match result {
        // What was no message ends the thread that reads, and it knows more.
        Err(Error::Protocol(error)) if error.channel_is_disconnected() => {
            threads.join().map_err(Error::Io)?;
            Err(Error::Protocol(error))
        }
        // A client that has gone, or still talks, is not waited for.
        Err(error) => Err(error),
        Ok(false) => Ok(false),
        Ok(true) => threads.join().map(|()| true).map_err(Error::Io),
    }
}

/// Serves the client of a connection until it says that it ends, or goes away. Tells whether it asked for the end
/// before.
///
/// # Errors
/// What comes first is not the handshake of the protocol.
pub fn serve(connection: &Connection) -> Result<bool, Error> {
    server::run(connection)
}
