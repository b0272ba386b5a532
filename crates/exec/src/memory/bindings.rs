//! Surfaces and samplers as programs name them: binding tables, bindless handles, offsets of states.

use super::{Bound, BufferId, Memory, MemoryError, Region, Sampler, Surface};

/// States of samplers take 16 bytes: the lower bits are not part of the place.
const SAMPLER_FLAGS: u32 = 0xf;

impl Memory {
    /// The buffer that a surface is of, by its binding-table index or handle, as an observer is given it.
    #[must_use]
    pub fn surface_buffer(&self, index: u32) -> Option<BufferId> {
        let bound = self
            .bti(index)
            .or_else(|| self.handle(index))
            .or_else(|| self.state(index))?;
        match bound.surface {
            Surface::Buffer { buffer, .. } => Some(buffer),
            Surface::Image2d(image) => Some(image.buffer),
            Surface::Scratch => None,
        }
    }

    /// Whether a program finds the same in both: the same bytes in buffers at the same addresses, and the same surfaces and
    /// samplers. False if threads may reach other buffers.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.has_buffers_of(other, [&[], &[]])
            && self.table == other.table
            && self.bindless == other.bindless
            && self.states == other.states
            && self.samplers == other.samplers
            && self.bindless_samplers == other.bindless_samplers
            && self.arguments == other.arguments
    }

    /// Whether a program finds the same bytes in buffers at the same addresses in both, apart from buffers at these addresses
    /// of the one and the other. False if threads may reach other buffers.
    #[must_use]
    pub fn has_buffers_of(&self, other: &Self, [own, others]: [&[u64]; 2]) -> bool {
        let buffers = |memory: &Self, except: &[u64]| {
            let all = memory.buffers().map(|b| (memory.address(b), b));
            all.filter(|(address, _)| !except.contains(address))
                .collect::<Vec<_>>()
        };
        let (first, second) = (buffers(self, own), buffers(other, others));
        self.others.is_none()
            && other.others.is_none()
            && first.len() == second.len()
            && first.iter().zip(&second).all(|((a, own), (b, other_own))| {
                a == b && self.read(*own) == other.read(*other_own)
            })
            && (self.exact, self.lenient) == (other.exact, other.lenient)
    }

    /// Puts a surface at a binding-table index.
    ///
    /// # Errors
    ///
    /// When the surface names a buffer that this memory does not have.
    pub fn bind(&mut self, index: u8, surface: Surface) -> Result<(), MemoryError> {
        let bound = self.bound(surface)?;
        let index = usize::from(index);
        if self.table.len() <= index {
            self.table.resize(index + 1, None);
        }
        let region = match surface {
            Surface::Buffer {
                buffer,
                offset,
                size,
            } => self.buffer(buffer).map(|b| {
                let bytes = b.extent(offset, size, self.exact);
                Region::part(b, offset, bytes)
            }),
            _ => None,
        };
        self.surfaces.resize_with(self.table.len(), Region::default);
        if let (Some(entry), Some(storage)) =
            (self.table.get_mut(index), self.surfaces.get_mut(index))
        {
            *entry = Some(bound);
            *storage = region.unwrap_or_default();
        }
        Ok(())
    }

    /// Binds a surface to a bindless handle: the value that the kernel puts into `%bss`, or passes to `bss(…)`.
    ///
    /// # Errors
    ///
    /// When the surface names a buffer that this memory does not have.
    pub fn bind_handle(&mut self, handle: u32, surface: Surface) -> Result<(), MemoryError> {
        let bound = self.bound(surface)?;
        self.bindless.insert(handle, bound);
        Ok(())
    }

    /// Binds a surface to an offset into the surface-state heap, for `ss(…)`. Unknown offsets mean the scratch memory
    /// of the thread.
    ///
    /// # Errors
    ///
    /// When the surface names a buffer that this memory does not have.
    pub fn bind_state(&mut self, offset: u32, surface: Surface) -> Result<(), MemoryError> {
        let bound = self.bound(surface)?;
        self.states.insert(offset, bound);
        Ok(())
    }

    /// Gives the surface at a binding-table index an append counter: a dword (or qword, depending on the message) of a
    /// buffer.
    pub fn bind_counter(&mut self, index: u8, buffer: BufferId, offset: u64) {
        if let Some(Some(bound)) = self.table.get_mut(usize::from(index)) {
            bound.counter = Some((buffer, offset));
        }
    }

    /// Puts a sampler at an index of the sampler table.
    pub fn bind_sampler(&mut self, index: u8, sampler: Sampler) {
        let index = usize::from(index);
        if self.samplers.len() <= index {
            self.samplers.resize(index + 1, None);
        }
        if let Some(entry) = self.samplers.get_mut(index) {
            *entry = Some(sampler);
        }
    }

    /// Binds a sampler to a bindless handle: the value that the kernel puts into `S31`, or passes to a message as its
    /// sampler state. The lower four bits of handles are flags that programs set.
    pub fn bind_sampler_handle(&mut self, handle: u32, sampler: Sampler) {
        self.bindless_samplers
            .insert(handle & !SAMPLER_FLAGS, sampler);
    }

    pub(crate) fn bti(&self, index: u32) -> Option<&Bound> {
        self.table.get(usize::try_from(index).ok()?)?.as_ref()
    }

    pub(crate) fn handle(&self, handle: u32) -> Option<&Bound> {
        self.bindless.get(&handle)
    }

    pub(crate) fn state(&self, offset: u32) -> Option<&Bound> {
        self.states.get(&offset)
    }

    pub(crate) fn sampler(&self, index: u32) -> Option<Sampler> {
        *self.samplers.get(usize::try_from(index).ok()?)?
    }

    pub(crate) fn sampler_handle(&self, handle: u32) -> Option<Sampler> {
        let found = self.bindless_samplers.get(&(handle & !SAMPLER_FLAGS));
        found.copied()
    }

    fn bound(&self, surface: Surface) -> Result<Bound, MemoryError> {
        let buffer = match surface {
            Surface::Buffer { buffer, .. } => Some(buffer),
            Surface::Image2d(image) => Some(image.buffer),
            Surface::Scratch => None,
        };
        if let Some(buffer) = buffer
            && self.buffer(buffer).is_none()
        {
            return Err(MemoryError::NoBuffer(buffer.0));
        }
        Ok(Bound {
            surface,
            counter: None,
        })
    }
}
