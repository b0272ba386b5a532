//! Pages that can be mapped at several addresses, and by several processes.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

/// Nobody can change the size: what is mapped stays there.
const SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// Zeroed pages: a file in memory whose size is fixed.
#[derive(Debug)]
pub struct Pages {
    file: File,
    bytes: usize,
}

impl Pages {
    /// Pages for this many bytes; `None` if the host has no file for them.
    pub fn new(bytes: usize) -> Option<Self> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: a C string.
        let number = unsafe { libc::memfd_create(c"visakit".as_ptr(), flags) };
        if number < 0 {
            return None;
        }
        // SAFETY: a new file, which nobody else has.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(number) });
        file.set_len(u64::try_from(bytes).ok()?).ok()?;
        // SAFETY: an open file, and a number.
        let sealed = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) };
        (sealed == 0).then_some(Self { file, bytes })
    }

    /// The pages of a file that another process made; `None` if it is another kind of file, or its size can change.
    pub fn of(file: File) -> Option<Self> {
        // SAFETY: an open file.
        let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
        let bytes = usize::try_from(file.metadata().ok()?.len()).ok()?;
        (seals >= 0 && seals & SEALS == SEALS && bytes > 0).then_some(Self { file, bytes })
    }

    /// Number of bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// What tells its file from every other of the machine.
    pub fn identity(&self) -> Option<(u64, u64)> {
        identity(&self.file)
    }
}

/// What tells a file from every other of the machine.
pub fn identity(file: &File) -> Option<(u64, u64)> {
    let data = file.metadata().ok()?;
    Some((data.dev(), data.ino()))
}

/// A second descriptor of the file that a number names in this process; `None` if it names none.
pub fn duplicate(number: i32) -> Option<File> {
    // SAFETY: the kernel checks the number.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return None;
    }
    // SAFETY: a new descriptor, which nobody else has.
    Some(File::from(unsafe { OwnedFd::from_raw_fd(copy) }))
}

impl AsFd for Pages {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
