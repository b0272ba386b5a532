//! The model of visakit's drivers: what devices, contexts, queues, events, memory, programs and kernels are and do.
//!
//! OpenCL (`crates/opencl`) and Level Zero (`crates/level-zero`) are C boundaries around it. Names of functions, error codes
//! and queries are those of OpenCL. Objects are found by handles that nobody dereferences ([`handle`]). Commands run in threads
//! of the driver: queues of both are [`stream`]s, events are [`signal`]s, `worker.rs` has the threads; urgent streams go first
//! through the [`gate`] of their device.
//! Buffers and shared memory are `exec::memory::Storage`, which launches borrow. [`compiler`] builds programs with Intel's
//! compiler and its linker, `ocloc.rs` calls them, `cache.rs` caches their results, `includes.rs` detects changes of the
//! files that they read, and `spirv.rs` sets specialization constants. What devices have is data: [`models`], and
//! `extensions.rs` by family. `watch.rs` is where launches are observed: dumps, comparison, checks and the profiler wrap a
//! launch, each an implementation of one trait.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

pub mod addresses;
pub mod binary;
mod cache;
pub(crate) mod check;
pub mod commands;
pub(crate) mod compare;
pub mod compiler;
pub mod context;
pub mod device;
pub(crate) mod dump;
pub mod error;
pub mod event;
pub(crate) mod extensions;
pub mod format;
pub mod gate;
pub mod handle;
mod includes;
pub mod info;
pub mod kernel;
pub mod launch;
pub mod linkage;
pub mod memory;
pub mod models;
pub mod mutable;
mod ocloc;
pub(crate) mod profile;
pub mod program;
pub mod queue;
pub mod region;
pub mod reservation;
pub mod sampler;
pub mod signal;
pub(crate) mod spirv;
pub mod stream;
pub mod symbols;
mod sync;
pub(crate) mod watch;
mod worker;

use std::io::Write as _;
use std::sync::OnceLock;

/// Says something to who runs the program: a driver has no other way than standard error. Nothing depends on whether that
/// can be written.
pub fn say(message: &str) {
    let _ = writeln!(std::io::stderr().lock(), "visakit: {message}");
}

/// Says what an entry point answered, if `VISAKIT_TRACE` asks for it.
pub fn trace(name: &str, code: i64) {
    static TRACES: OnceLock<bool> = OnceLock::new();
    let traces = TRACES.get_or_init(|| {
        std::env::var_os("VISAKIT_TRACE").is_some_and(|v| !v.is_empty() && v != "0")
    });
    if *traces {
        say(&format!("{name} -> {code}"));
    }
}

/// A number of things: `1 launch`, `2 launches`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
