//! Files, folders and standard input.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Name of standard input on the command line and in messages.
const STDIN: &str = "-";

/// Reads a file, or standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let result = if path.as_os_str() == STDIN {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else if path.is_dir() {
        return Err(format!("{}: is a folder, expected a file", name(path)));
    } else {
        fs::read(path)
    };
    result.map_err(|error| format!("{}: {error}", name(path)))
}

/// The path as shown to people.
pub(crate) fn name(path: &Path) -> String {
    if path.as_os_str() == STDIN {
        "<stdin>".to_owned()
    } else {
        crate::output::printable(path.to_string_lossy().as_bytes())
    }
}

/// The files to work on, and what could not be listed.
pub(crate) struct Found {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) errors: Vec<String>,
}

/// Files are taken as they are; folders are searched for `*.isa`, in order of their names.
pub(crate) fn find(paths: &[PathBuf]) -> Found {
    let mut found = Found {
        files: Vec::new(),
        errors: Vec::new(),
    };
    for path in paths {
        if path.as_os_str() == STDIN || !path.is_dir() {
            match (path.as_os_str() == STDIN, path.try_exists()) {
                (true, _) | (_, Ok(true)) => found.files.push(path.clone()),
                (_, Ok(false)) => found
                    .errors
                    .push(format!("{}: no such file or folder", name(path))),
                (_, Err(error)) => found.errors.push(format!("{}: {error}", name(path))),
            }
            continue;
        }
        for entry in WalkDir::new(path).sort_by_file_name() {
            match entry {
                Ok(entry)
                    if entry.file_type().is_file()
                        && entry.path().extension().is_some_and(|e| e == "isa") =>
                {
                    found.files.push(entry.into_path());
                }
                Ok(_) => {}
                Err(error) => found.errors.push(error.to_string()),
            }
        }
    }
    found
}
