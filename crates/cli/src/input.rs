//! Files, folders and standard input.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use walkdir::WalkDir;

/// Name of standard input on the command line and in messages.
pub(crate) const STDIN: &str = "-";

/// Offsets in an object have 32 bits, and no other input is larger.
pub(crate) const LARGEST: u64 = u32::MAX as u64;

/// More than anybody writes by hand.
pub(crate) const LARGEST_TEXT: u64 = 64 << 20;

/// Sources and profiles are smaller.
pub(crate) const LARGEST_SOURCE: u64 = 1 << 30;

/// Reads a file of any kind but a device, or standard input for `-`.
pub(crate) fn read_any(path: &Path) -> Result<Vec<u8>, String> {
    read_within(path, LARGEST)
}

/// Reads a file of any kind, or standard input for `-`, of at most `limit` bytes.
pub(crate) fn read_within(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = fill(path, &mut bytes, limit);
    read.map_err(|error| format!("{}: {error}", name(path)))?;
    Ok(bytes)
}

/// Reads a file of any kind, or standard input, into memory that is reused: its content is lost.
#[cfg(feature = "table")]
pub(crate) fn read_into(path: &Path, bytes: &mut Vec<u8>) -> Result<(), String> {
    bytes.clear();
    fill(path, bytes, LARGEST).map_err(|error| format!("{}: {error}", name(path)))
}

/// Whether standard input carries a protocol.
static IS_LENT: AtomicBool = AtomicBool::new(false);

/// Standard input carries a protocol from here on, and is no file.
pub(crate) fn lend_stdin() {
    IS_LENT.store(true, Relaxed);
}

/// Standard input as a file, unless it carries a protocol.
pub(crate) fn stdin() -> io::Result<io::StdinLock<'static>> {
    match IS_LENT.load(Relaxed) {
        false => Ok(io::stdin().lock()),
        true => Err(io::Error::other(
            "standard input is the editor's, name a file",
        )),
    }
}

fn fill(path: &Path, bytes: &mut Vec<u8>, limit: u64) -> io::Result<()> {
    if path.as_os_str() == STDIN {
        return visakit_files::take(stdin()?, limit, bytes);
    }
    visakit_files::read_into(path, limit, bytes)
}

/// Reads a text of a person's own, such as a list of rules, or standard input for `-`.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let bytes = read_within(path, LARGEST_TEXT)?;
    String::from_utf8(bytes).map_err(|_| format!("{}: is no text in UTF-8", name(path)))
}

/// The path as shown to people.
pub(crate) fn name(path: &Path) -> String {
    if path.as_os_str() == STDIN {
        "<stdin>".to_owned()
    } else {
        crate::output::printable(path.to_string_lossy().as_bytes())
    }
}

/// Whether it is a folder; `-` is standard input, whatever else has that name.
pub(crate) fn is_folder(path: &Path) -> bool {
    path.as_os_str() != STDIN && path.is_dir()
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
        if !is_folder(path) {
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
