//! A Level Zero driver that runs kernels on the instructions of Intel's GPUs, without the GPU.
//!
//! `libze_visakit.so` is a driver for the ordinary loader (`libze_loader.so.1`), which takes it by
//! `ZE_ENABLE_ALT_DRIVERS`. Devices, memory, programs and kernels are those of `crates/driver`, which the OpenCL driver has,
//! too; modules are compiled by Intel's offline compiler `ocloc`. `docs/oneapi.md` says how to use it, and what runs.
//!
//! * [`objects`]: command lists, queues, events, modules, kernels. Plain Rust.
//! * `ffi`: the C boundary, the one place with unsafe code. Every entry point catches panics, finds its objects by their
//!   handles and answers with result codes; the tables that the loader asks for are one list.

#![cfg(target_os = "linux")]

pub mod error;
#[expect(unsafe_code, reason = "the C boundary")]
mod ffi;
pub mod objects;

pub use ffi::*;
