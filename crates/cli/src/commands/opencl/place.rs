//! Where the source of a program stands in the files of a project: OpenCL programs are strings, whose origin no driver
//! knows.

use std::collections::HashMap;
use walkdir::WalkDir;

/// Files that may contain sources of programs, by their extensions.
const EXTENSIONS: [&str; 14] = [
    "cl", "clh", "ocl", "py", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "jl", "rs", "nim",
];

/// Files that are examined at most, and the bytes of one.
const MOST_FILES: usize = 20_000;
const LARGEST: u64 = 4 << 20;

/// The files of the project: those below the current folder.
#[derive(Default)]
pub(super) struct Sources {
    files: Option<Vec<(String, String)>>,
    known: HashMap<String, Option<(String, u64)>>,
}

impl Sources {
    /// The file that contains this source, and the number of lines before it. The first one in the order of names.
    pub(super) fn find(&mut self, source: &str) -> Option<(String, u64)> {
        if let Some(known) = self.known.get(source) {
            return known.clone();
        }
        let files = self.files.get_or_insert_with(files);
        let found = files.iter().find_map(|(name, text)| {
            // What follows the last line of a string differs from file to file.
            let at = text.find(source.trim_end())?;
            let before = text.get(..at)?.matches('\n').count();
            Some((name.clone(), u64::try_from(before).ok()?))
        });
        let found = found.filter(|_| !source.trim().is_empty());
        self.known.insert(source.to_owned(), found.clone());
        found
    }
}

fn files() -> Vec<(String, String)> {
    let visible = |entry: &walkdir::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !name.starts_with('.') && name != "node_modules" && name != "target"
    };
    let entries = WalkDir::new(".").sort_by_file_name().into_iter();
    let entries = entries.filter_entry(visible).flatten();
    let of_kind = entries.filter(|entry| {
        let extension = entry.path().extension().and_then(|e| e.to_str());
        entry.file_type().is_file() && extension.is_some_and(|e| EXTENSIONS.contains(&e))
    });
    of_kind
        .take(MOST_FILES)
        .filter_map(|entry| {
            let bytes = visakit_files::read(entry.path(), LARGEST).ok()?;
            let name = entry.path().strip_prefix(".").ok()?.to_str()?.to_owned();
            Some((name, String::from_utf8(bytes).ok()?))
        })
        .collect()
}
