//! What is installed beside the program: drivers, and the page of the explorer. Archives, wheels and `cargo xtask install`
//! put it into `lib/visakit` beside `bin`; builds leave drivers in the program's own folder.

use crate::output::Failure;
use std::fs;
use std::path::{Path, PathBuf};

/// How to get what is missing.
const HOW: &str = "`pip install visakit` and release archives have it; a checkout installs it with `cargo xtask install`";

/// The file or folder of that name.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let tool = std::env::current_exe().ok().or_else(called)?;
    let tool = fs::canonicalize(tool).ok()?;
    let folder = tool.parent()?;
    let places = ["", "../lib/visakit", "../lib"].map(|place| folder.join(place).join(name));
    places.iter().find_map(|place| fs::canonicalize(place).ok())
}

/// The program by the name that it was called by: there are systems without /proc.
fn called() -> Option<PathBuf> {
    let name = PathBuf::from(std::env::args_os().next()?);
    if name.components().count() > 1 {
        return Some(name);
    }
    let path = std::env::var_os("PATH")?;
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(&name));
    found.find(|file| file.is_file())
}

/// The file or folder of that name; else how to get it.
pub(crate) fn need(name: &str, option: &str) -> Result<PathBuf, Failure> {
    find(name).ok_or_else(|| {
        Failure::Other(format!(
            "{name} is not installed beside visakit: {HOW}; or name it with {option}"
        ))
    })
}

/// The file that was named, or the one that is installed.
pub(crate) fn named_or_found(
    named: Option<&Path>,
    name: &str,
    option: &str,
) -> Result<PathBuf, Failure> {
    match named {
        Some(path) => fs::canonicalize(path)
            .map_err(|error| Failure::Other(format!("{}: {error}", crate::input::name(path)))),
        None => need(name, option),
    }
}
