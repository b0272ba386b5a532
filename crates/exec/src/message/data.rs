//! Bytes of the register file that a message reads or writes.

use crate::fault::{FaultKind, Trap};
use crate::machine::Registers;
use crate::operands::{Moved, RawPlace};
use std::fmt::{self, Display, Formatter};

/// Bytes of the register file that a message reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Data {
    offset: usize,
    bytes: usize,
    fits: bool,
}

impl Data {
    /// The first `bytes` bytes of an operand.
    pub(crate) fn new(place: RawPlace, bytes: usize) -> Self {
        Self {
            offset: place.offset,
            bytes,
            fits: bytes <= place.available,
        }
    }

    /// Its bytes in the register file, if all of it is inside of its variable.
    pub(crate) fn range(&self) -> Option<std::ops::Range<usize>> {
        self.fits.then(|| self.offset..self.offset + self.bytes)
    }

    /// Its first byte, if all of it is inside of its variable.
    pub(crate) fn place(&self) -> Option<usize> {
        self.fits.then_some(self.offset)
    }

    /// Adapts it to the new places of its bytes.
    pub(crate) fn relocate(&mut self, moved: Moved<'_>) {
        self.offset = moved(self.offset);
    }

    #[inline]
    pub(crate) fn read<'r>(&self, registers: &'r Registers) -> Result<&'r [u8], Box<Trap>> {
        if self.fits
            && let Some(bytes) = registers.bytes(self.offset, self.bytes)
        {
            return Ok(bytes);
        }
        Err(Trap::new(FaultKind::RegisterOutOfBounds))
    }

    #[inline]
    pub(crate) fn write<'r>(
        &self,
        registers: &'r mut Registers,
    ) -> Result<&'r mut [u8], Box<Trap>> {
        if self.fits
            && let Some(bytes) = registers.bytes_mut(self.offset, self.bytes)
        {
            return Ok(bytes);
        }
        Err(Trap::new(FaultKind::RegisterOutOfBounds))
    }
}

impl Display for Data {
    /// The first byte and the byte after the last one; `!` if they leave their variable.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let end = self.offset.saturating_add(self.bytes);
        write!(
            f,
            "r{}..{end}{}",
            self.offset,
            if self.fits { "" } else { "!" }
        )
    }
}
