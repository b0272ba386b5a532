//! Files of the tools: outputs that are whole or untouched, and inputs that are regular files of bounded size.
//!
//! * [`write()`] and [`Replacement`] write beside the file and rename: a full disk, an error or a signal leaves the file
//!   as it was. This is the only place where outputs are opened; clippy refuses `fs::write` elsewhere.
//! * [`append`] adds a line to a log of several processes.
//! * [`TemporaryFolder`] is the same for folders of files.
//! * [`read()`] opens what an input names: no pipe that never ends, no device, nothing that is too large.
//! * [`open`] and [`read_any`] do that for what a person names on a command line, which may be a pipe or a terminal.
//! * [`within`] says whether a name that an input gives stays in a folder.

mod read;
#[cfg(feature = "write")]
mod replace;
#[cfg(feature = "write")]
mod temporary;

pub use read::{open, read, read_any, read_into, take, within};
#[cfg(feature = "write")]
pub use replace::{Replacement, append, scratch, write};
#[cfg(feature = "write")]
pub use temporary::TemporaryFolder;
