//! Files, folders and standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Name of standard input on the command line and in messages.
pub(crate) const STDIN: &str = "-";

/// Reads a file of any kind, or standard input for `-`.
pub(crate) fn read_any(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    read_into(path, &mut bytes)?;
    Ok(bytes)
}

/// The same, into memory that is reused: its content is lost.
pub(crate) fn read_into(path: &Path, bytes: &mut Vec<u8>) -> Result<(), String> {
    bytes.clear();
    fill(path, bytes).map_err(|error| format!("{}: {error}", name(path)))
}

fn fill(path: &Path, bytes: &mut Vec<u8>) -> io::Result<()> {
    if path.as_os_str() == STDIN {
        io::stdin().lock().read_to_end(bytes)?;
        return Ok(());
    }
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::Error::other("is a folder, expected a file"));
    }
    // One byte more than the size, so that the end is found without growing the buffer.
    let size = usize::try_from(about.len()).unwrap_or(usize::MAX);
    bytes.try_reserve(size.saturating_add(1))?;
    file.read_to_end(bytes)?;
    Ok(())
}

/// The path as shown to people.
pub(crate) fn name(path: &Path) -> String {
    if path.as_os_str() == STDIN {
        "<stdin>".to_owned()
    } else {
        crate::output::printable(path.to_string_lossy().as_bytes())
    }
}

/// The files to work on, and those that could not be listed.
pub(crate) struct Found {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) errors: Vec<String>,
}

/// The kind of files that folders are searched for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// `*.isa` and `*.visaasm`.
    Programs,
    /// `*.visaasm`.
    Texts,
}

impl Wanted {
    const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Programs => &["isa", "visaasm"],
            Self::Texts => &["visaasm"],
        }
    }

    fn has(self, path: &Path) -> bool {
        let extension = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        let mut all = self.extensions().iter();
        all.any(|known| known.eq_ignore_ascii_case(extension))
    }
}

/// Files are used as they are; folders are searched, ordered by name. A folder without matching files is an error.
pub(crate) fn find(paths: &[PathBuf], wanted: Wanted) -> Found {
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
        let before = (found.files.len(), found.errors.len());
        for entry in WalkDir::new(path).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_file() && wanted.has(entry.path()) => {
                    found.files.push(entry.into_path());
                }
                Ok(_) => {}
                Err(error) => found.errors.push(error.to_string()),
            }
        }
        if before == (found.files.len(), found.errors.len()) {
            let wanted = wanted.extensions().iter().map(|e| format!("*.{e}"));
            found.errors.push(format!(
                "{}: no {} in this folder",
                name(path),
                wanted.collect::<Vec<_>>().join(" or ")
            ));
        }
    }
    found
}
