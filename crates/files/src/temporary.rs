//! Files and folders under temporary names, and what killed processes left of them.
//!
//! Names carry the number of this boot of the machine, and what has such a name is locked as long as its process lives.
//! What can be locked was left by a process that is gone, and is removed by the next one that writes into the folder.
//! Only the names of this boot are tried: other machines that share the folder may not share its locks.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use tempfile::{Builder, NamedTempFile, TempDir};

/// The end of the names of files. They begin with a dot, so that patterns of shells and searches pass over them.
const SUFFIX: &str = ".tmp";

/// How often a name is chosen anew, if another process removes what has it.
const TRIES: usize = 16;

/// The folder that a path is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The part of names that tells this boot; `None` where it is not known, and nothing is ever removed.
static BOOT: LazyLock<Option<String>> = LazyLock::new(|| {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    (digits.len() == 32).then_some(digits)
});

/// The beginning of the names of one purpose.
fn prefix(purpose: &str) -> String {
    let boot = BOOT.as_deref().unwrap_or("none");
    format!("{purpose}-{boot}-")
}

/// What chooses names. The permissions are those of everything new, less what the process masks.
fn builder<'n>(prefix: &'n str, suffix: &'n str, mode: u32) -> Builder<'n, 'n> {
    let mut builder = Builder::new();
    builder.prefix(prefix).suffix(suffix).rand_bytes(12);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

/// An error about a name that nobody has chosen is one about its folder.
fn about(folder: &Path, error: &io::Error) -> io::Error {
    // The system's own words, where the folder itself is what is wrong.
    let cause = fs::metadata(folder).err();
    let cause = cause.map_or_else(|| error.kind().to_string(), |cause| cause.to_string());
    let folder = folder.display();
    io::Error::new(
        error.kind(),
        format!("nothing can be written into {folder}: {cause}"),
    )
}

/// A locked file in the folder of a path.
pub(crate) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = folder_of(path);
    let prefix = prefix(".visakit");
    clean(folder, &prefix, SUFFIX);
    let builder = builder(&prefix, SUFFIX, 0o666);
    for _ in 0..TRIES {
        let file = builder.tempfile_in(folder);
        let file = file.map_err(|error| about(folder, &error))?;
        if claim(file.path(), file.as_file()) {
            return Ok(file);
        }
    }
    Err(io::Error::other("temporary files are removed at once"))
}

/// A folder under a temporary name, which gets its name by [`commit`](Self::commit). Dropped before, it is removed.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: TempDir,
    lock: Option<File>,
}

impl TemporaryFolder {
    /// A new folder in `folder`, for one purpose. What processes that are gone left there of the same purpose is
    /// removed.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new(folder: &Path, purpose: &str) -> io::Result<Self> {
        let prefix = prefix(purpose);
        clean(folder, &prefix, "");
        let builder = builder(&prefix, "", 0o777);
        for _ in 0..TRIES {
            let made = builder.tempdir_in(folder);
            let made = made.map_err(|error| about(folder, &error))?;
            // Windows does not open folders, and nothing is ever removed there.
            if cfg!(not(unix)) {
                return Ok(Self {
                    folder: made,
                    lock: None,
                });
            }
            // As long as it is not locked, another process may take it for a leftover.
            let lock = match File::open(made.path()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                lock => lock.map_err(|error| about(made.path(), &error))?,
            };
            if claim(made.path(), &lock) {
                return Ok(Self {
                    folder: made,
                    lock: Some(lock),
                });
            }
        }
        Err(io::Error::other("temporary folders are removed at once"))
    }

    /// Where it is now.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Gives it its name. All files in it must have been closed.
    ///
    /// # Errors
    /// It is removed: there is something of this name, for instance.
    pub fn commit(self, place: &Path) -> io::Result<()> {
        let _lock = self.lock;
        fs::rename(self.folder.path(), place)?;
        // It is no longer where it would be removed.
        let _ = self.folder.keep();
        Ok(())
    }
}

/// Locks something of this process; false if another process has removed it.
#[cfg(unix)]
fn claim(path: &Path, file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    use std::os::unix::fs::MetadataExt as _;
    // File systems without locks lock for nobody.
    let _ = flock(file, FlockOperation::LockExclusive);
    let there = fs::symlink_metadata(path).and_then(|there| Ok((there, file.metadata()?)));
    there.is_ok_and(|(a, b)| (a.dev(), a.ino()) == (b.dev(), b.ino()))
}

#[cfg(not(unix))]
fn claim(_: &Path, _: &File) -> bool {
    true
}

/// Whether nobody uses it any more. As long as the result lives, nobody else will.
#[cfg(unix)]
fn abandoned(path: &Path) -> Option<File> {
    use rustix::fs::{FlockOperation, flock};
    let file = File::open(path).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(file)
}

#[cfg(not(unix))]
fn abandoned(_: &Path) -> Option<File> {
    None
}

/// Removes what processes of this boot left in a folder; once in a process.
fn clean(folder: &Path, prefix: &str, suffix: &str) {
    static CLEANED: Mutex<BTreeSet<(PathBuf, String)>> = Mutex::new(BTreeSet::new());
    let new = (folder.to_owned(), prefix.to_owned());
    let mut cleaned = CLEANED.lock().unwrap_or_else(PoisonError::into_inner);
    if BOOT.is_none() || !cleaned.insert(new) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let kind_fits = if suffix.is_empty() {
            kind.is_dir()
        } else {
            kind.is_file()
        };
        if !(kind_fits && name.starts_with(prefix) && name.ends_with(suffix)) {
            continue;
        }
        if let Some(_lock) = abandoned(&entry.path()) {
            // What cannot be removed stays; it is in nobody's way.
            let _ = match kind.is_dir() {
                true => fs::remove_dir_all(entry.path()),
                false => fs::remove_file(entry.path()),
            };
        }
    }
}
