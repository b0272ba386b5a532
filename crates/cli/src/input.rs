//! Files, folders and standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use visakit::parse::MAGIC;
use walkdir::WalkDir;

/// Name of standard input on the command line and in messages.
const STDIN: &str = "-";

/// Offsets in an object have 32 bits.
const LARGEST: u64 = u32::MAX as u64;

/// So many bytes tell a text from a binary file.
const TELLING: usize = 4096;

/// Reads a file, or standard input for `-`.
///
/// Of what does not begin like an object only the beginning is read, so that a device or a disk
/// image given by mistake is refused at once.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let read = || {
        if path.as_os_str() == STDIN {
            read_object(io::stdin().lock())
        } else if path.is_dir() {
            Err(is_a_folder())
        } else {
            read_object(File::open(path)?)
        }
    };
    read().map_err(|error| format!("{}: {error}", name(path)))
}

/// Reads vISA text: a file, or standard input for `-`.
pub(crate) fn read_text(path: &Path) -> Result<Vec<u8>, String> {
    let text = read_any(path)?;
    if text.starts_with(&MAGIC) {
        return Err(format!(
            "{}: is an object already, expected text",
            name(path)
        ));
    }
    let beginning = text.get(..TELLING).unwrap_or(&text);
    if beginning.contains(&0) {
        return Err(format!("{}: is binary, expected vISA text", name(path)));
    }
    Ok(text)
}

/// Reads a file of any kind, or standard input for `-`.
pub(crate) fn read_any(path: &Path) -> Result<Vec<u8>, String> {
    let read = || {
        if path.as_os_str() == STDIN {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            Ok(bytes)
        } else if path.is_dir() {
            Err(is_a_folder())
        } else {
            std::fs::read(path)
        }
    };
    read().map_err(|error| format!("{}: {error}", name(path)))
}

fn is_a_folder() -> io::Error {
    io::Error::other("is a folder, expected a file")
}

fn read_object(mut source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.by_ref().take(64).read_to_end(&mut bytes)?;
    if bytes.starts_with(&MAGIC) {
        source.by_ref().take(LARGEST).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST {
            return Err(io::Error::other("is larger than 4 GiB, which no object is"));
        }
    }
    Ok(bytes)
}

/// Whether a file is vISA text: wildcards that mean objects often catch the text beside them.
pub(crate) fn is_text(path: &Path, bytes: &[u8]) -> bool {
    !bytes.starts_with(&visakit::parse::MAGIC) && path.extension() == Some("visaasm".as_ref())
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
