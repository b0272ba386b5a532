//! Bytes of a buffer that outlive a memory: several launches see the same bytes, and so may the host.

use std::sync::Arc;

pub use visakit_storage::Lent;

/// A word of storage that the host lends. Threads of a launch and other holders access it concurrently.
pub use visakit_storage::U64 as Word;

/// Storage of a buffer that a memory borrows; see [`super::Memory::add_storage`].
///
/// A clone refers to the same bytes.
#[derive(Clone, Debug)]
pub struct Storage {
    pub(super) held: Arc<visakit_storage::Storage>,
    bytes: usize,
}

impl Storage {
    /// Storage with these contents; `None` where there is no room.
    #[must_use]
    pub fn new(contents: &[u8]) -> Option<Self> {
        let storage = Self {
            held: zeroes(contents.len())?,
            bytes: contents.len(),
        };
        storage.write(0, contents);
        Some(storage)
    }

    /// Words of somebody else; the first `bytes` bytes are the buffer. The rest may be read as the remainder of the last
    /// page.
    #[must_use]
    pub fn lent(words: impl Into<Lent>, bytes: usize) -> Self {
        let held = visakit_storage::Storage::lent(words);
        Self {
            bytes: bytes.min(held.len()),
            held: Arc::new(held),
        }
    }

    /// Number of bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes to the end of the last page.
    #[must_use]
    pub fn room(&self) -> usize {
        self.held.len()
    }

    /// Where the bytes are in the host's memory.
    #[must_use]
    pub fn host_address(&self) -> usize {
        self.held.address()
    }

    /// The bytes.
    #[must_use]
    pub fn read(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes];
        self.read_into(0, &mut bytes);
        bytes
    }

    /// Reads a part; the rest of `out` past the end is left unchanged.
    pub fn read_into(&self, offset: usize, out: &mut [u8]) {
        if let Some(room) = self.bytes.checked_sub(offset) {
            let count = out.len().min(room);
            self.held
                .read(offset, out.get_mut(..count).unwrap_or_default());
        }
    }

    /// Overwrites a part; data that does not fit is ignored.
    pub fn write(&self, offset: usize, data: &[u8]) {
        if let Some(room) = self.bytes.checked_sub(offset) {
            self.held.write(offset, data.get(..room).unwrap_or(data));
        }
    }
}

/// Whole pages for this many bytes, all zero.
pub(super) fn zeroes(bytes: usize) -> Option<Arc<visakit_storage::Storage>> {
    let whole = bytes.checked_next_multiple_of(visakit_storage::PAGE)?;
    Some(Arc::new(visakit_storage::Storage::zeroed(whole)?))
}
