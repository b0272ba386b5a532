//! Folders of files for the page: what the compiler makes of a source, and what it left in a folder.

use super::site::{LARGEST_FILE, Served};
use crate::input::{self, Wanted};
use crate::output::Failure;
use crate::sources::{Building, Unopened};
use std::path::Path;
use visakit_launch::{Dump, LaunchError};

/// A folder as the compiler dumps it, by the source's name: texts of kernels and functions, and compiled programs.
pub(super) fn files(
    source: &Path,
    bytes: &[u8],
    building: Building,
) -> Result<Vec<Served>, Unopened> {
    let dumped = building.compile(source, bytes, None)?;
    let folder = source.file_stem().unwrap_or_default().to_string_lossy();
    Ok(of_dump(&folder, source, &dumped.dump)?)
}

/// What a compiler left in a folder, or the objects and texts in it.
pub(super) fn folder(path: &Path) -> Result<Vec<Served>, Failure> {
    // `.` has no name of its own.
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    match Dump::open(path).and_then(|dump| of_dump(&name, path, &dump)) {
        Err(LaunchError::NoDump { .. }) => {
            let found = input::find(&[path.to_owned()], Wanted::Programs);
            match found.errors.into_iter().next() {
                Some(error) => Err(Failure::Other(error)),
                None => Ok(found.files.into_iter().map(Served::at).collect()),
            }
        }
        served => served.map_err(|error| Failure::Other(error.to_string())),
    }
}

fn of_dump(folder: &str, path: &Path, dump: &Dump) -> Result<Vec<Served>, LaunchError> {
    let served = |path: &Path, bytes| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Served::made(format!("{folder}/{name}"), bytes)
    };
    let texts = dump.input(path)?.sources;
    let mut files: Vec<_> = texts
        .into_iter()
        .map(|text| served(&text.path, text.bytes))
        .collect();
    for metadata in dump.metadata() {
        if let Ok(bytes) = visakit_files::read(&metadata.path, LARGEST_FILE) {
            files.push(served(&metadata.path, bytes));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
    use super::*;

    /// Texts with their metadata under the folder's name, objects where there is nothing else, and folders without either.
    #[test]
    fn folders_are_served() {
        let fixtures = visakit_testing::root().join("fixtures");
        let base = std::env::temp_dir().join(format!("visakit-folders-{}", std::process::id()));
        let make = |name: &str, files: &[&str]| {
            let folder = base.join(name);
            std::fs::create_dir_all(&folder).unwrap();
            for file in files {
                let from = fixtures.join(file);
                std::fs::copy(&from, folder.join(from.file_name().unwrap())).unwrap();
            }
            folder
        };
        let names = |folder: &Path| {
            let served = super::folder(folder).ok().unwrap();
            served
                .iter()
                .map(|one| one.name().to_owned())
                .collect::<Vec<_>>()
        };
        let text = ["kernels/lookup.pvc.visaasm", "kernels/lookup.pvc.zebin"];
        let of_text = ["dump/lookup.pvc.visaasm", "dump/lookup.pvc.zebin"];
        assert_eq!(names(&make("dump", &text)), of_text);
        let object = ["objects/vecadd_f32_skl_v41.isa"];
        assert_eq!(names(&make("objects", &object)), ["vecadd_f32_skl_v41.isa"]);
        let nothing = super::folder(&make("nothing", &[]));
        assert!(
            matches!(nothing, Err(Failure::Other(said)) if said.contains("no *.isa or *.visaasm"))
        );
        std::fs::remove_dir_all(&base).unwrap();
    }
}
