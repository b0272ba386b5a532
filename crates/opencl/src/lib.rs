//! An OpenCL device that runs kernels on the instructions of Intel's GPUs, without the GPU.
//!
//! `libvisakit_opencl.so` is an installable client driver: the loader (`libOpenCL.so.1`) finds it by an `.icd` file or
//! `OCL_ICD_VENDORS`. Programs are compiled by Intel's offline compiler `ocloc`, and the vISA it writes is run by the
//! executor. `docs/opencl.md` describes how to use it, and what it supports.
//!
//! * [`model`]: what contexts, queues, events, memory, programs and kernels are and do. Plain Rust.
//! * [`handle`]: what the host's handles point at, and how objects are found by them.
//! * `ffi`: the C boundary, the one place with unsafe code. Every entry point catches panics, finds its objects by
//!   their handles and answers with error codes.
//!
//! # How it is built
//!
//! `crates/opencl` is an OpenCL driver (an ICD) whose device is the executor. Handles are looked up in a table and never
//! dereferenced, one macro generates every entry point and catches panics; commands run in the thread that makes them
//! ready. Buffers and shared virtual memory are `exec::memory::Storage`, which launches borrow; `docs/opencl.md` lists what
//! works. `model/compiler.rs` builds programs with Intel's compiler and its linker, `ocloc.rs` calls them, `cache.rs`
//! caches their results, `includes.rs` detects changes of the files that they read, and `spirv.rs` sets specialization
//! constants. What devices have is data: `models.rs`, and `extensions.rs` by family. `model/watch.rs` is where launches
//! are observed: dumps, comparison, checks and the profiler wrap a launch, each an implementation of one trait;
//! `ffi/foreign.rs` loads another driver for the comparison.

#![cfg(target_os = "linux")]

pub mod error;
#[expect(unsafe_code, reason = "the C boundary")]
mod ffi;
pub mod handle;
pub mod info;
pub mod model;

use std::io::Write as _;

pub use ffi::{clGetExtensionFunctionAddress, clGetPlatformInfo, clIcdGetPlatformIDsKHR};

/// Says something to who runs the program: a driver has no other way than standard error. Nothing depends on whether that
/// can be written.
pub(crate) fn say(message: &str) {
    let _ = writeln!(std::io::stderr().lock(), "visakit: {message}");
}

/// A number of things: `1 launch`, `2 launches`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
