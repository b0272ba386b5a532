//! The debugger of visakit for editors: the Debug Adapter Protocol on a pair of streams.
//!
//! Threads are the threads of the running group; lanes are shown in variables. Code without a source file is shown as
//! the listing of its routine, which is a source like any other: breakpoints can be set in it.

mod protocol;
mod server;
mod state;

use crate::Console;
use server::Server;
use std::io::{BufReader, Read, Write};
use std::sync::mpsc;

/// Creates a session from the arguments of a launch request, which are those of `visakit debug`.
pub trait Launcher: FnMut(&[String]) -> Result<Console, String> {}

impl<F: FnMut(&[String]) -> Result<Console, String>> Launcher for F {}

/// Serves an editor until it disconnects or the input ends.
///
/// # Errors
/// Streams that fail, and input that is not of the protocol.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write,
    launch: impl Launcher,
) -> std::io::Result<()> {
    let mut server = Server::new(output, launch);
    // A separate thread reads, so that `pause` is seen while the program runs.
    let (send, requests) = mpsc::channel();
    let pause = server.pause();
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let request = protocol::read(&mut input);
            if let Ok(Some(request)) = &request
                && matches!(
                    request.command.as_str(),
                    "pause" | "disconnect" | "terminate"
                )
            {
                pause.raise();
            }
            let last = !matches!(request, Ok(Some(_)));
            if send.send(request).is_err() || last {
                return;
            }
        }
    });
    for request in requests {
        let Some(request) = request? else {
            return Ok(());
        };
        if !server.answer(&request)? {
            return Ok(());
        }
    }
    Ok(())
}
