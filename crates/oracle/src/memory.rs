//! Memory as lists of bytes.

use crate::generate::Case;
use crate::state::{Halt, Result};
use std::collections::BTreeMap;

/// A buffer of global memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Buffer {
    /// Flat address of the first byte.
    pub address: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// The memory that a message accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// Flat addresses.
    Flat,
    /// Offsets into a buffer.
    Surface(usize),
    /// Shared local memory.
    Local,
}

/// How a surface is identified.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Binding {
    /// Index in the binding table.
    Table(u32),
    /// Bindless handle.
    Handle(u32),
    /// Offset in the heap of surface states.
    State(u32),
}

/// The memory that messages act on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    buffers: Vec<Buffer>,
    /// Shared local memory.
    pub local: Vec<u8>,
    surfaces: BTreeMap<Binding, usize>,
    /// Append counters: buffer and offset.
    pub counters: BTreeMap<u32, (usize, u64)>,
}

/// Bits of an address that count in shared local memory; the others may carry a tag.
const LOCAL_BITS: u64 = 0x0fff_ffff;

impl Memory {
    /// The memory that a case begins with.
    #[must_use]
    pub fn of(case: &Case) -> Self {
        Self {
            buffers: case
                .buffers
                .iter()
                .zip(&case.addresses)
                .map(|(bytes, address)| Buffer {
                    address: *address,
                    bytes: bytes.clone(),
                })
                .collect(),
            local: vec![0; case.local_bytes],
            surfaces: case.bindings.iter().copied().collect(),
            counters: case.counters.iter().copied().collect(),
        }
    }

    /// The bytes of a buffer.
    #[must_use]
    pub fn buffer(&self, index: usize) -> &[u8] {
        self.buffers.get(index).map_or(&[], |b| &b.bytes)
    }

    /// The buffer of a surface.
    ///
    /// # Errors
    /// Nothing is bound there.
    pub fn surface(&self, binding: Binding) -> Result<usize> {
        let buffer = self.surfaces.get(&binding);
        buffer.copied().ok_or(Halt::Undefined("no such surface"))
    }

    /// Bytes of a place; `None` outside of a surface.
    fn bytes(&mut self, space: Space, address: i128, size: usize) -> Result<Option<&mut [u8]>> {
        let place = |start: i128, length: usize| -> Option<std::ops::Range<usize>> {
            let at = usize::try_from(address - start).ok()?;
            (at + size <= length).then_some(at..at + size)
        };
        match space {
            Space::Flat => {
                for buffer in &mut self.buffers {
                    if let Some(range) = place(buffer.address.into(), buffer.bytes.len()) {
                        return Ok(buffer.bytes.get_mut(range));
                    }
                }
                Err(Halt::Undefined("flat address outside of every buffer"))
            }
            Space::Surface(index) => {
                let buffer = self
                    .buffers
                    .get_mut(index)
                    .ok_or(Halt::Undefined("no such buffer"))?;
                let length = buffer.bytes.len();
                match place(0, length) {
                    Some(range) => Ok(buffer.bytes.get_mut(range)),
                    None if address < 0 => Err(Halt::Undefined("negative offset")),
                    None if usize::try_from(address).is_ok_and(|a| a < length) => {
                        Err(Halt::Undefined("access across the end of a surface"))
                    }
                    None => Ok(None),
                }
            }
            Space::Local => {
                let address = u64::try_from(address & i128::from(u64::MAX)).unwrap_or(0);
                let at = usize::try_from(address & LOCAL_BITS).unwrap_or(usize::MAX);
                self.local
                    .get_mut(at..at + size)
                    .map(Some)
                    .ok_or(Halt::Undefined("outside of local memory"))
            }
        }
    }

    /// Checks that there is memory at a place.
    ///
    /// # Errors
    /// There is none.
    pub fn check(&mut self, space: Space, address: i128, size: usize) -> Result<()> {
        match self.bytes(space, address, size)? {
            Some(_) => Ok(()),
            None => Err(Halt::Undefined("status outside of a surface")),
        }
    }

    /// Reads up to eight bytes; zero outside of a surface.
    ///
    /// # Errors
    /// Loads outside memory are undefined.
    pub fn load(&mut self, space: Space, address: i128, size: usize) -> Result<u64> {
        let mut bits = [0; 8];
        if let Some(bytes) = self.bytes(space, address, size)? {
            for (to, from) in bits.iter_mut().zip(bytes) {
                *to = *from;
            }
        }
        Ok(u64::from_le_bytes(bits))
    }

    /// Writes up to eight bytes; no effect outside a surface.
    ///
    /// # Errors
    /// Stores outside memory are undefined.
    pub fn store(&mut self, space: Space, address: i128, size: usize, bits: u64) -> Result<()> {
        if let Some(bytes) = self.bytes(space, address, size)? {
            for (to, from) in bytes.iter_mut().zip(bits.to_le_bytes()) {
                *to = from;
            }
        }
        Ok(())
    }
}
