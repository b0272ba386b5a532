//! `opencl-sys` provides the types and numbers of OpenCL, and links `libOpenCL`, of which an implementation calls
//! nothing: an empty archive satisfies the linker, so that building needs no loader.

#![allow(clippy::disallowed_methods, reason = "a build script")]

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let Some(folder) = std::env::var_os("OUT_DIR").map(PathBuf::from) else {
        return;
    };
    match std::fs::write(folder.join("libOpenCL.a"), b"!<arch>\n") {
        Ok(()) => println!("cargo::rustc-link-search=native={}", folder.display()),
        Err(error) => println!("cargo::warning=no stand-in for libOpenCL: {error}"),
    }
}
