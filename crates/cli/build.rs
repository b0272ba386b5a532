//! Lists the output of `cargo xtask web`, so that `visakit explore` has it in the binary (feature
//! `explorer`).

#![allow(clippy::disallowed_methods, reason = "a build script")]

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_EXPLORER").is_none() {
        return Ok(());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    if collect(&folder, &mut files).is_err() || files.is_empty() {
        println!(
            "cargo::error=the feature `explorer` needs web/dist; make it with `cargo xtask web`"
        );
        return Ok(());
    }
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&folder).unwrap_or(&file);
        let name = name.to_string_lossy().replace('\\', "/");
        let path = fs::canonicalize(&file)?;
        list.push_str(&format!("    ({name:?}, include_bytes!({path:?})),\n"));
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("explorer.rs"), list)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
