//! An OpenCL device that runs kernels on the instructions of Intel's GPUs, without the GPU.
//!
//! `libvisakit_opencl.so` is an installable client driver: the loader (`libOpenCL.so.1`) finds it by an `.icd` file or
//! `OCL_ICD_VENDORS`. Programs are compiled by Intel's offline compiler `ocloc`, and the vISA it writes is run by the
//! executor. `docs/opencl.md` describes how to use it, and what it supports.
//!
//! Contexts, queues, events, memory, programs and kernels are those of `crates/driver`, which is plain Rust. Here is the C
//! boundary: every entry point catches panics, finds its objects by their handles and answers with error codes; one macro
//! generates them. `docs/opencl.md` lists what works.

#![cfg(target_os = "linux")]

#[expect(unsafe_code, reason = "the C boundary")]
mod ffi;

pub use ffi::{clGetExtensionFunctionAddress, clGetPlatformInfo, clIcdGetPlatformIDsKHR};
