//! Names the library as loaders do: programs that look for Level Zero's loader among what is loaded find this library where it
//! stands in for it (`src/ffi/loader.rs`).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libze_loader.so.1");
}
