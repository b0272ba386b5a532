//! Reading what an input names.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Reads a regular file of at most `limit` bytes. Pipes, devices and folders are not opened.
///
/// # Errors
/// The operating system's; a file of another kind; a larger file, of which no more than `limit` bytes are read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Opening a pipe waits for its other end.
    regular(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    let about = file.metadata()?;
    regular(&about)?;
    if about.len() > limit {
        return Err(too_large(limit));
    }
    let mut bytes = Vec::new();
    let size = usize::try_from(about.len()).unwrap_or(usize::MAX);
    // One byte more than the size, so that the end is found without growing the buffer.
    bytes.try_reserve_exact(size.saturating_add(1))?;
    // Files of the kernel have no size and a content.
    take(file, limit, &mut bytes)?;
    Ok(bytes)
}

/// Opens what a person names: a regular file, a pipe, a terminal, or the empty `/dev/null`. Folders and other devices, which
/// may be without end, are refused.
///
/// # Errors
/// The operating system's; a file of another kind.
pub fn open(path: &Path) -> io::Result<File> {
    // Opening a device may change it.
    named(path, &fs::metadata(path)?)?;
    let file = File::open(path)?;
    named(path, &file.metadata()?)?;
    Ok(file)
}

/// Reads what [`open`] opens, at most `limit` bytes.
///
/// # Errors
/// As [`open`]; more than `limit` bytes, of which no more are read.
pub fn read_any(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_into(path, limit, &mut bytes)?;
    Ok(bytes)
}

/// Reads as [`read_any`] does, to the end of `bytes`.
///
/// # Errors
/// As [`read_any`].
pub fn read_into(path: &Path, limit: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let file = open(path)?;
    let size = file.metadata()?.len();
    if size > limit {
        return Err(too_large(limit));
    }
    // One byte more than the size, so that the end is found without growing the buffer.
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    bytes.try_reserve(size.saturating_add(1))?;
    take(file, limit, bytes)
}

/// Reads a stream to its end; more than `limit` bytes are an error.
///
/// # Errors
/// The stream's; more than `limit` bytes, of which no more are read.
pub fn take(from: impl Read, limit: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let read = from.take(limit.saturating_add(1)).read_to_end(bytes)?;
    if read as u64 > limit {
        return Err(too_large(limit));
    }
    Ok(())
}

fn too_large(limit: u64) -> io::Error {
    let message = format!("is larger than the limit of {limit} bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// Whether the content of what a person names has an end.
fn named(path: &Path, about: &fs::Metadata) -> io::Result<()> {
    let message = if about.is_dir() {
        "is a folder, expected a file"
    } else if is_device(about) && !has_end(path) {
        "is a device, expected a file"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

#[cfg(unix)]
fn is_device(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    about.file_type().is_char_device() || about.file_type().is_block_device()
}

#[cfg(not(unix))]
const fn is_device(_: &fs::Metadata) -> bool {
    false
}

/// Whether a device is a terminal, a stream of the process, or `/dev/null`: by its name, as opening one may change it.
fn has_end(device: &Path) -> bool {
    const NAMES: [&str; 5] = [
        "/dev/null",
        "/dev/tty",
        "/dev/pts/",
        "/dev/fd/",
        "/dev/console",
    ];
    let path = device.canonicalize().unwrap_or_default();
    let path = path.to_string_lossy();
    NAMES.iter().any(|name| path.starts_with(name))
}

fn regular(about: &fs::Metadata) -> io::Result<()> {
    let message = match about {
        about if about.is_file() => return Ok(()),
        about if about.is_dir() => "is a folder, expected a file",
        _ => "is a pipe or a device, expected a file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// The place of a file in a folder or anywhere below it, without symbolic links, by which a name may also leave the
/// folder; `None` for files elsewhere and for those that do not exist.
#[must_use]
pub fn within(folder: &Path, name: &Path) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let root = folder.canonicalize().ok()?;
    let path = folder.join(name).canonicalize().ok()?;
    path.starts_with(root).then_some(path)
}
