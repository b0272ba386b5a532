//! Buffers that a kernel writes messages into: those of `printf`, and of assertions that failed.

use crate::bind::Bound;
use crate::error::LaunchError;
use crate::printf::{Strings, text};
use visakit_exec::BufferId;

/// The printf buffer's own length counts its first word, which holds it.
const PRINTF_START: u32 = 4;

/// Bytes of the buffer for assertions, as Intel's drivers have it: its size, whether one failed, where the next message
/// goes, and messages as those of printf.
const ASSERT_BYTES: u32 = 1 << 16;
const ASSERT_START: u32 = 12;

impl Bound {
    /// A buffer that the kernel writes messages into, which begins with these words.
    fn add_messages(&mut self, bytes: u64, head: &[u32]) -> Result<BufferId, LaunchError> {
        let id = self.memory.add_zeroed(bytes)?;
        let head: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.memory.write(id, 0, &head);
        Ok(id)
    }

    /// The buffer that printf writes into.
    pub(crate) fn add_printf(&mut self, bytes: usize) -> Result<(), LaunchError> {
        self.printf = Some(self.add_messages(bytes as u64, &[PRINTF_START])?);
        Ok(())
    }

    /// The buffer that failed assertions are written into.
    pub(crate) fn add_assert(&mut self) -> Result<(), LaunchError> {
        let head = [ASSERT_BYTES, 0, ASSERT_START];
        self.assert = Some(self.add_messages(ASSERT_BYTES.into(), &head)?);
        Ok(())
    }

    pub(crate) fn printf_address(&self) -> u64 {
        self.printf.map_or(0, |id| self.memory.address(id))
    }

    pub(crate) fn assert_address(&self) -> u64 {
        self.assert.map_or(0, |id| self.memory.address(id))
    }

    /// The messages in a buffer: the word before them says where they end.
    fn messages(&self, id: BufferId, start: u32) -> Vec<u8> {
        let place = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        let mut bytes = self.memory.read(id);
        let end = bytes
            .get(..place(start))
            .and_then(|head| head.last_chunk())
            .map_or(0, |end| u32::from_le_bytes(*end));
        bytes.truncate(place(end));
        bytes.drain(..place(start).min(bytes.len()));
        bytes
    }

    /// The output of printf, without the counter.
    pub(crate) fn printf_bytes(&self) -> Vec<u8> {
        let id = self.printf;
        id.map_or_else(Vec::new, |id| self.messages(id, PRINTF_START))
    }

    /// The messages of failed assertions as text, if one failed.
    pub(crate) fn asserted(&self) -> Option<String> {
        let id = self.assert?;
        let mut failed = [0; 4];
        self.memory.read_into(id, 4, &mut failed);
        let messages = text(&self.messages(id, ASSERT_START), self);
        (failed != [0; 4]).then(|| String::from_utf8_lossy(&messages).trim_end().to_owned())
    }
}

impl Strings for Bound {
    fn read(&self, address: u64, out: &mut [u8]) -> usize {
        let Some((id, offset)) = self.memory.find(address) else {
            return 0;
        };
        let Ok(offset) = usize::try_from(offset) else {
            return 0;
        };
        let count = self.memory.len(id).saturating_sub(offset).min(out.len());
        let out = out.get_mut(..count).unwrap_or_default();
        self.memory.read_into(id, offset, out);
        count
    }
}
