//! Writing files as a whole.

use crate::temporary::{beside, folder_of};
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// As many symbolic links as Linux follows.
const LINKS: usize = 40;

/// A file that is being written, and replaces what is at its place by [`commit`](Self::commit). Dropped before, it
/// leaves that place as it was.
///
/// It is written beside its place, so the folder must be writable, too. Symbolic links are followed. Permissions are
/// kept, and owner and group if the process may set them; other names (hard links) keep the old content. Pipes,
/// devices and what `/dev/stdout` stands for are written at once, as there is nothing to replace.
#[derive(Debug)]
pub struct Replacement(Place);

#[derive(Debug)]
enum Place {
    /// A pipe, a device, a stream of the process.
    Direct(File),
    /// A file beside its place, and the file that it replaces.
    Beside {
        file: NamedTempFile,
        target: PathBuf,
        old: Option<Box<Metadata>>,
    },
}

impl Replacement {
    /// Begins to write the file at a path.
    ///
    /// # Errors
    /// What is there cannot be written, or its folder cannot.
    pub fn new(path: &Path) -> io::Result<Self> {
        let (target, old) = match target(path)? {
            Target::New(target) => (target, None),
            Target::File(target, about) => {
                // Renaming does not ask whether the file may be written.
                File::options().write(true).open(&target)?;
                (target, Some(Box::new(about)))
            }
            Target::Special(path) => {
                let file = File::options().write(true).truncate(true).open(path)?;
                return Ok(Self(Place::Direct(file)));
            }
        };
        let file = beside(&target)?;
        Ok(Self(Place::Beside { file, target, old }))
    }

    /// Puts the file at its place, after its content is on the disk.
    ///
    /// # Errors
    /// What is at the place is as before.
    pub fn commit(self) -> io::Result<()> {
        match self.0 {
            Place::Direct(mut file) => file.flush(),
            Place::Beside { file, target, old } => {
                if let Some(old) = old {
                    keep(&old, file.as_file())?;
                }
                file.as_file().sync_all()?;
                // Kept open, and by that locked, until it has its name.
                let _file = file.persist(&target).map_err(|error| error.error)?;
                // Where folders cannot be opened, the system decides when names reach the disk.
                if let Ok(folder) = File::open(folder_of(&target)) {
                    let _ = folder.sync_all();
                }
                Ok(())
            }
        }
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Place::Direct(file) => file.write(bytes),
            Place::Beside { file, .. } => file.as_file_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Place::Direct(file) => file.flush(),
            Place::Beside { file, .. } => file.as_file_mut().flush(),
        }
    }
}

/// Writes a file: it has the old content or the new one, whatever happens. See [`Replacement`].
///
/// # Errors
/// What is at the place is as before, unless it is a pipe or a device.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = Replacement::new(path)?;
    file.write_all(bytes.as_ref())?;
    file.commit()
}

/// Writes a file that is nobody's result, such as the input of another program in a folder for this purpose: at once,
/// and without waiting for the disk.
///
/// # Errors
/// The file may be incomplete.
pub fn scratch(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut options = File::options();
    let mut file = options.write(true).create(true).truncate(true).open(path)?;
    file.write_all(bytes.as_ref())
}

/// Adds a line to a log, which several processes may do at once: it is one write. After a signal or on a full disk the
/// last line may be incomplete, which readers leave out.
///
/// # Errors
/// The line may be incomplete.
pub fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = File::options().create(true).append(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}

/// What is at a path.
enum Target {
    New(PathBuf),
    File(PathBuf, Metadata),
    Special(PathBuf),
}

/// Follows symbolic links, also to files that do not exist yet.
fn target(path: &Path) -> io::Result<Target> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        // Open files of processes: a link there names the file, but the stream is what is meant.
        let folder = folder_of(&path).canonicalize();
        if folder.is_ok_and(|folder| folder.starts_with("/proc")) {
            return Ok(Target::Special(path));
        }
        match fs::symlink_metadata(&path) {
            Ok(about) if about.is_symlink() => {
                path = folder_of(&path).join(fs::read_link(&path)?);
            }
            Ok(about) if about.is_file() => return Ok(Target::File(path, about)),
            Ok(_) => return Ok(Target::Special(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Target::New(path)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("leads through too many symbolic links"))
}

/// Gives a file the permissions of another one, and its owner and group if that is allowed.
#[cfg(unix)]
fn keep(old: &Metadata, file: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let new = file.metadata()?;
    if (old.uid(), old.gid()) != (new.uid(), new.gid())
        && fchown(file, Some(old.uid()), Some(old.gid())).is_err()
    {
        // Only its owner, or a member of the group, may give it away.
        let _ = fchown(file, None, Some(old.gid()));
    }
    // Last, as a change of the owner takes permissions away.
    file.set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn keep(old: &Metadata, file: &File) -> io::Result<()> {
    file.set_permissions(old.permissions())
}
