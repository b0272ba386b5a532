//! The contents of vector registers from step to step.

use crate::vector::{Chunks, NoTemplate, Writer};

/// The content of a vector register beyond the operands of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    /// This many bytes of the register file.
    Bytes { offset: usize, bytes: usize },
    /// An element of the register file in every lane of a vector of 256 or 512 bits.
    Each {
        offset: usize,
        bytes: usize,
        zmm: bool,
    },
    /// All ones in the running lanes, with elements of `lane` bytes, starting with lane `first`.
    Running { lane: usize, first: usize },
}

/// The first vector register whose content is kept. Registers 0 to 2 hold sources of a step, 3 to 7
/// intermediate values.
const KEPT: u32 = 8;

/// Registers that mirror parts of the register file, to avoid reading it again within a segment.
/// Writes go to the file at once.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Kept {
    pub(crate) contents: [Option<Content>; 32],
    /// Mask registers from `k3` on that hold lanes that run: lanes of a chunk, and which chunk.
    pub(crate) masks: [Option<(usize, usize)>; 4],
    /// Registers that hold no denormals that the mode flushes, as lanes of 32 and of 64 bits.
    flushed: [u32; 2],
    next: u32,
    /// Registers that the step works with.
    pub(crate) busy: u32,
    /// Registers in use by the step.
    taken: u32,
}

impl Writer {
    /// Begins a step.
    pub(crate) fn begin(&mut self) {
        self.kept.busy = 0;
        self.kept.taken = 0;
    }

    /// Nothing is kept: other code ran, or the place can be reached from elsewhere.
    pub(crate) fn forget(&mut self) {
        self.kept = Kept::default();
    }

    /// It is not known here whether the step ran.
    pub(crate) fn forget_step(&mut self) {
        for n in 0..32 {
            if self.kept.taken >> n & 1 != 0 {
                self.set(n, None);
            }
        }
        self.kept.masks = [None; 4];
    }

    /// Bytes of the file were written in another way.
    pub(crate) fn overwritten(&mut self, offset: usize, bytes: usize) {
        for content in &mut self.kept.contents {
            let place = match *content {
                Some(Content::Bytes { offset, bytes } | Content::Each { offset, bytes, .. }) => {
                    offset..offset + bytes
                }
                _ => continue,
            };
            if place.start < offset + bytes && offset < place.end {
                *content = None;
            }
        }
    }

    pub(crate) fn set(&mut self, n: u32, content: Option<Content>) {
        if let Some(to) = self.kept.contents.get_mut(n as usize) {
            *to = content;
            for flushed in &mut self.kept.flushed {
                *flushed &= !(1 << n);
            }
        }
    }

    /// Whether a register holds no denormals that the mode flushes.
    pub(crate) fn is_flushed(&self, c: Chunks, n: u32) -> bool {
        let [dwords, qwords] = self.kept.flushed;
        let flushed = if c.lane == 4 { dwords } else { qwords };
        flushed >> n & 1 != 0
    }

    /// Marks a kept register as holding flushed results.
    pub(crate) fn set_flushed(&mut self, c: Chunks, n: u32) {
        let [dwords, qwords] = &mut self.kept.flushed;
        *(if c.lane == 4 { dwords } else { qwords }) |= 1 << n;
    }

    /// The register that holds this, for instructions on vectors of this kind.
    pub(crate) fn find(&self, c: Chunks, content: Content) -> Option<u32> {
        let mut contents = self.kept.contents.iter().take(c.registers());
        let place = contents.position(|c| *c == Some(content))?;
        u32::try_from(place).ok()
    }

    /// A register for a result.
    pub(crate) fn take(&mut self, c: Chunks) -> Result<u32, NoTemplate> {
        let count = u32::try_from(c.registers()).unwrap_or(16) - KEPT;
        for _ in 0..count {
            let n = KEPT + self.kept.next % count;
            self.kept.next += 1;
            if self.kept.busy >> n & 1 == 0 {
                self.set(n, None);
                self.kept.busy |= 1 << n;
                self.kept.taken |= 1 << n;
                return Ok(n);
            }
        }
        Err(NoTemplate)
    }

    /// The step needs a register no more.
    pub(crate) fn release(&mut self, n: u32) {
        self.kept.busy &= !(1 << n);
    }
}
