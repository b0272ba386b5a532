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
    let too_large = || {
        let message = format!("is larger than {limit} bytes");
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    };
    if about.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let size = usize::try_from(about.len()).unwrap_or(usize::MAX);
    // One byte more than the size, so that the end is found without growing the buffer.
    bytes.try_reserve_exact(size.saturating_add(1))?;
    // Files of the kernel have no size and a content.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(bytes)
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
