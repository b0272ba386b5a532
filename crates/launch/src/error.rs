//! Errors before and while a kernel runs.

use crate::content::Content;
use std::path::PathBuf;
use thiserror::Error;
use visakit_exec::memory::MemoryError;
use visakit_text::asm::{Diagnostic, Errors};

/// Why a launch failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A file could not be read.
    #[error("{}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A text could not be assembled.
    #[error("{}:{faults}", .path.display())]
    Assemble {
        /// The file.
        path: PathBuf,
        /// Its faults; places are offsets in its bytes.
        faults: Errors,
    },
    /// An object could not be decoded.
    #[error("{}: {error}", .path.display())]
    Decode {
        /// The file.
        path: PathBuf,
        /// Why.
        error: Box<visakit_parse::Error>,
    },
    /// The metadata is no YAML or not of the specified form.
    #[error("the .ze_info metadata cannot be read: {0}")]
    ZeInfo(String),
    /// The container is no ELF file or lacks a section.
    #[error("the zebin cannot be read: {0}")]
    Zebin(String),
    /// A case file is not of its form.
    #[error("{}: {message}", .path.display())]
    Case {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// No kernel of that name.
    #[error("{}", no_such_kernel(name, place, known))]
    NoSuchKernel {
        /// The requested name; empty for the only one.
        name: String,
        /// Where it was searched for.
        place: &'static str,
        /// The existing names.
        known: String,
    },
    /// Nothing says how the kernel is started.
    #[error("no metadata of kernel {kernel}: neither a zebin nor a zeinfo")]
    NoMetadata {
        /// The kernel.
        kernel: String,
    },
    /// The number of arguments is wrong.
    #[error("the kernel takes {expected} arguments and was given {given}{hint}")]
    ArgumentCount {
        /// The number the kernel takes.
        expected: usize,
        /// The number given.
        given: usize,
        /// Their names, where they are known.
        hint: String,
    },
    /// An argument is of the wrong kind or size.
    #[error("argument {index}: {message}")]
    Argument {
        /// Position in the parameter list.
        index: usize,
        /// What is wrong and what is expected.
        message: String,
    },
    /// The grid is not one that the kernel can be started with.
    #[error("grid: {0}")]
    Grid(String),
    /// Assertions of the kernel failed.
    #[error("an assertion failed: {messages}")]
    Asserted {
        /// Their messages, a line each.
        messages: String,
        /// What the kernel printed.
        printed: Vec<u8>,
    },
    /// The kernel needs something of a launch that is not provided.
    #[error("the kernel wants {0}")]
    Payload(String),
    /// The metadata say that there is no kernel, and why.
    #[error("the compiler made no kernel: {0}")]
    Invalid(String),
    /// The kernel needs more memory than it may have.
    #[error("{what} takes {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// The thing that is too large.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The largest allowed size.
        limit: u64,
    },
    /// A file holds no vISA.
    #[error("{} is {content}{}", .path.display(), but_holds(holds))]
    NotAProgram {
        /// The file.
        path: PathBuf,
        /// The kind of content; [`Content::advice`] says what to do.
        content: Content,
        /// A description of the content, if known.
        holds: String,
    },
    /// The text has different meanings on machines with registers of 32 and of 64 bytes, and nothing states which is
    /// meant.
    #[error("{}: {fault}", .path.display())]
    NeedsPlatform {
        /// The file.
        path: PathBuf,
        /// The first operand that depends on it.
        fault: Box<Diagnostic>,
    },
    /// A folder has no texts of kernels.
    #[error("{}: no text of a kernel (*.visaasm) in this folder", .path.display())]
    NoDump {
        /// The folder.
        path: PathBuf,
    },
    /// The kernel does not fit the metadata.
    #[error("the object and the metadata do not belong together: {0}")]
    Mismatch(String),
    /// A variable was named that the routine does not have.
    #[error("the routine has no variable `{name}`{hint}")]
    NoSuchVariable {
        /// The name.
        name: String,
        /// The existing choices.
        hint: String,
    },
    /// Something about one input or variable.
    #[error("{name}: {message}")]
    Variable {
        /// The variable.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// The kernel cannot be translated.
    #[error("{0}")]
    Translate(#[from] visakit_exec::TranslateError),
    /// The kernel did something that it must not do.
    #[error("{}{fault}", place(*.group))]
    Fault {
        /// Coordinates of the work-group, or of the media thread.
        group: Option<[u32; 3]>,
        /// The fault.
        fault: Box<visakit_exec::Fault>,
    },
    /// Global memory could not be set up.
    #[error("global memory: {0}")]
    Memory(String),
    /// The groups together ran more instructions than [`crate::Config::max_steps`].
    #[error("the groups ran more than {0} instructions together")]
    Steps(u64),
    /// The host has not as much memory.
    #[error("{what} of {bytes} bytes cannot be allocated")]
    OutOfMemory {
        /// The thing that needs memory.
        what: &'static str,
        /// The amount.
        bytes: u64,
    },
    /// The run was interrupted before it came to its end.
    #[error("stopped before the end")]
    Stopped,
}

impl From<MemoryError> for LaunchError {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error.to_string())
    }
}

/// Zeroes, or an error where there is no memory for them. They take memory of the host where they are written.
///
/// # Errors
/// [`LaunchError::OutOfMemory`].
pub fn zeroes(what: &'static str, bytes: usize) -> Result<Vec<u8>, LaunchError> {
    let mut room: Vec<u8> = Vec::new();
    let enough = room.try_reserve_exact(bytes);
    enough.map_err(|_| LaunchError::OutOfMemory {
        what,
        bytes: bytes as u64,
    })?;
    drop(room);
    // Only the allocator has zeroes that nobody has touched, and it is asked for what it has just had.
    Ok(vec![0; bytes])
}

/// Zeroes, if there are no more than the limit allows.
///
/// # Errors
/// [`LaunchError::TooLarge`], [`LaunchError::OutOfMemory`].
pub fn zeroes_within(what: &'static str, bytes: usize, limit: u64) -> Result<Vec<u8>, LaunchError> {
    if bytes as u64 > limit {
        return Err(LaunchError::TooLarge {
            what,
            bytes: bytes as u64,
            limit,
        });
    }
    zeroes(what, bytes)
}

fn place(group: Option<[u32; 3]>) -> String {
    group.map_or_else(String::new, |[x, y, z]| format!("group ({x}, {y}, {z}): "))
}

fn no_such_kernel(name: &str, place: &str, known: &str) -> String {
    match (name, known) {
        (_, "") => format!("{place} has no kernel"),
        ("", known) => format!("{place} has several kernels: name one of {known}"),
        (name, known) => format!("{place} has no kernel `{name}`; it has: {known}"),
    }
}

fn but_holds(holds: &str) -> String {
    if holds.is_empty() {
        ", which holds no vISA".to_owned()
    } else {
        format!(" and holds no vISA, only {holds}")
    }
}
