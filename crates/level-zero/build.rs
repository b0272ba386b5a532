//! Names the library as loaders do: programs that look for Level Zero's loader among what is loaded find this library where it
//! stands in for it (`src/ffi/loader.rs`).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Only there is the driver more than an empty library, and are names given so.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libze_loader.so.1");
    }
}
