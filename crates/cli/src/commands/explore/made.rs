//! What the compiler makes of a source, as files for the page.

use super::site::{LARGEST_FILE, Served};
use crate::sources::{Building, Unopened};
use std::path::Path;

/// A folder as the compiler dumps it, by the source's name: texts of kernels and functions, and compiled programs.
pub(super) fn files(
    source: &Path,
    bytes: &[u8],
    building: Building,
) -> Result<Vec<Served>, Unopened> {
    let dumped = building.compile(source, bytes, None)?;
    let folder = source.file_stem().unwrap_or_default().to_string_lossy();
    let served = |path: &Path, bytes| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Served::made(format!("{folder}/{name}"), bytes)
    };
    let texts = dumped.dump.input(source)?.sources;
    let mut files: Vec<_> = texts
        .into_iter()
        .map(|text| served(&text.path, text.bytes))
        .collect();
    for metadata in dumped.dump.metadata() {
        if let Ok(bytes) = visakit_files::read(&metadata.path, LARGEST_FILE) {
            files.push(served(&metadata.path, bytes));
        }
    }
    Ok(files)
}
