//! What a driver in user space needs of its process, and safe Rust does not have: memory by address ([`Block`],
//! [`Span`]), pages of several processes ([`Pages`], [`Board`]), the
//! memory of the program itself ([`process_memory`]), C's standard output ([`print()`], [`abort()`]), a call at the end of the program
//! ([`at_exit`]), whether it was forked ([`forks`]), and another OpenCL driver ([`foreign`]).
//!
//! The model of the drivers (`crates/driver`) is safe Rust on top of it.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "see the safety comments at each block")]

mod board;
pub mod foreign;
mod memory;
mod output;
mod pages;
mod process;

pub use board::{Board, Post};
pub use memory::{Block, END_SHARED, FIRST_SHARED, Span};
pub use output::{abort, print};
pub use pages::{Pages, duplicate, identity};
pub use process::{lend_process_memory, process_memory};

use std::panic::catch_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Calls a function when the program ends; the first one that was named, once.
pub fn at_exit(function: fn()) {
    static FUNCTION: OnceLock<fn()> = OnceLock::new();
    extern "C" fn end() {
        if let Some(function) = FUNCTION.get() {
            let _ = catch_unwind(function);
        }
    }
    if FUNCTION.set(function).is_ok() {
        // SAFETY: the function has no arguments and no result.
        unsafe { libc::atexit(end) };
    }
}

/// How often this process was forked from one that had called this before: a child does not have the threads that were
/// started at a smaller number.
pub fn forks() -> u32 {
    static FORKS: AtomicU32 = AtomicU32::new(0);
    static WATCHED: OnceLock<()> = OnceLock::new();
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Relaxed);
    }
    WATCHED.get_or_init(|| {
        // SAFETY: the function has no arguments and no result, and does what may be done after a fork.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    FORKS.load(Relaxed)
}
