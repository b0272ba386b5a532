//! The contents of vector registers from step to step.

use crate::count::Counts;
use crate::factors::Factors;
use crate::loops::Access;
use crate::pending::{Holder, Pending};
use crate::run::CONSECUTIVE;
use crate::scaled::Scaled;
use crate::vector::{Chunks, Done, NoTemplate, Writer};
use crate::x64::{Label, ops, xmm, ymm, zmm};

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
    /// Floats of the register file times a power of two, in the lanes that run.
    Scaled(Scaled),
}

/// The first vector register whose content is kept, after those for sources and [`SCRATCH`](crate::vector::SCRATCH).
pub(crate) const KEPT: u32 = 8;

/// Mask registers from `k3` on that hold lanes that run: lanes of a chunk, and which chunk.
pub(crate) type Masks = [Option<(usize, usize)>; 4];

/// Registers that mirror parts of the register file, to avoid reading it again within a segment.
#[derive(Clone, Default, Debug)]
pub(crate) struct Kept {
    pub(crate) contents: [Option<Content>; 32],
    /// Those that may not be needed in the file.
    pub(crate) pending: Vec<Pending>,
    /// The number of detours when each got its content.
    pub(crate) since: [usize; 32],
    pub(crate) masks: Masks,
    /// Predicate variables whose words are in registers, by their places. The file has them, too, unless they are pending.
    pub(crate) flags: [Option<usize>; 4],
    /// The window of running lanes that [`MASK`](crate::vector::MASK) holds, and its first lane.
    pub(crate) enabled: Option<(u8, u32)>,
    /// The messages for which [`CONSECUTIVE`](crate::run::CONSECUTIVE) says whether lanes follow each other, by their
    /// number, and the bytes from one to the next.
    pub(crate) consecutive: Option<(u32, usize)>,
    /// What is known of the factors of systolic products.
    pub(crate) factors: Factors,
    /// Registers that hold no denormals that the mode flushes, as lanes of 32 and of 64 bits.
    flushed: [u32; 2],
    next: u32,
    /// Registers that the step works with.
    pub(crate) busy: u32,
    /// Registers in use by the step.
    taken: u32,
    /// Registers that hold what the next turn of a loop needs.
    pub(crate) held: u32,
}

/// A way around a template, through the interpreter, which overwrites all registers. What they hold after the template
/// is loaded again at its end, as far as later steps use it.
#[derive(Clone, Debug)]
pub(crate) struct Detour {
    /// The step that the interpreter runs, and what ran until then.
    pub(crate) step: usize,
    pub(crate) counts: Counts,
    /// The lanes of the step, if all are enabled; otherwise they are in the mask.
    pub(crate) window: Option<u32>,
    /// Where it begins.
    pub(crate) slow: Label,
    /// Where templates go that have nothing to do: what they would have left in registers is loaded here.
    pub(crate) idle: Label,
    /// Where it comes back.
    pub(crate) done: Label,
    /// What registers hold where it begins, and may not be in the file.
    pub(crate) pending: Vec<Pending>,
    /// What registers hold there.
    pub(crate) kept: Kept,
    /// Registers that later steps use as they are there.
    pub(crate) used: u32,
}

impl Writer {
    /// Loads what later steps use of the registers after a detour.
    pub(crate) fn reload(&mut self, detour: &Detour) -> Done {
        if detour.kept.consecutive.is_some() {
            // It is not known any more.
            self.asm.mask_none(CONSECUTIVE);
        }
        for (n, content) in (0..).zip(detour.kept.contents) {
            if detour.used >> n & 1 == 0 {
                continue;
            }
            match content {
                Some(Content::Bytes { offset, bytes }) => {
                    let from = self.place(offset, bytes)?;
                    self.load_bytes(n, from, bytes)?;
                }
                Some(Content::Each { offset, bytes, zmm }) => {
                    let c = Chunks {
                        lane: bytes,
                        lanes: 1,
                        count: 1,
                        zmm,
                    };
                    let from = self.place(offset, bytes)?;
                    let op = if bytes == 4 {
                        ops::BROADCAST_D
                    } else {
                        ops::BROADCAST_Q
                    };
                    self.v2(c, op, n, from);
                }
                Some(Content::Scaled(scaled)) => self.load_scaled(n, scaled)?,
                // These are not kept over messages.
                Some(Content::Running { .. }) | None => {}
            }
        }
        Ok(())
    }

    /// The lanes that run, and predicates, are no longer in registers.
    pub(crate) fn forget_masks(&mut self) {
        self.need_flags();
        self.kept.masks = [None; 4];
        self.kept.flags = [None; 4];
        self.kept.enabled = None;
        for content in &mut self.kept.contents {
            if matches!(content, Some(Content::Running { .. })) {
                *content = None;
            }
        }
    }

    /// A register for a value computed from bytes of the file, and one that holds these, which may be the same.
    pub(crate) fn result_and_source(
        &mut self,
        c: Chunks,
        offset: usize,
        bytes: usize,
    ) -> Result<(u32, u32), NoTemplate> {
        let to = self.take(c)?;
        let content = Content::Bytes { offset, bytes };
        if let Some(n) = self.find(c, content) {
            return Ok((to, n));
        }
        self.reads(c, content);
        let from = self.file(offset, bytes)?;
        self.load_bytes(to, from, bytes)?;
        Ok((to, to))
    }

    /// Begins a step.
    pub(crate) fn begin(&mut self) {
        self.kept.busy = 0;
        self.kept.taken = 0;
    }

    /// Nothing is kept: other code ran, or the place can be reached from elsewhere.
    pub(crate) fn forget(&mut self) {
        self.need_all();
        self.kept = Kept::default();
    }

    /// It is not known here whether the step ran.
    pub(crate) fn forget_step(&mut self) {
        for n in 0..32 {
            if self.kept.taken >> n & 1 != 0 {
                self.set(n, None);
            }
        }
        self.need_flags();
        self.kept.masks = [None; 4];
        self.kept.flags = [None; 4];
        self.kept.enabled = None;
    }

    /// Bytes of the file were written in another way.
    pub(crate) fn overwritten(&mut self, offset: usize, bytes: usize) {
        self.replaced(&(offset..offset + bytes));
        if let Some(accesses) = &mut self.accesses {
            accesses.push(Access::Write(offset..offset + bytes));
        }
        self.kept.factors.overwritten(&(offset..offset + bytes));
        for flag in &mut self.kept.flags {
            if flag.is_some_and(|flag| flag < offset + bytes && offset < flag + 4) {
                *flag = None;
            }
        }
        for content in &mut self.kept.contents {
            let Some(place) = content.and_then(|content| content.place()) else {
                continue;
            };
            if place.start < offset + bytes && offset < place.end {
                *content = None;
            }
        }
    }

    pub(crate) fn set(&mut self, n: u32, content: Option<Content>) {
        self.need_register(Holder::Vector(n));
        self.kept.held &= !(1 << n);
        if let Some(since) = self.kept.since.get_mut(n as usize) {
            *since = self.detours.len();
        }
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

    /// The register file is read as the content of a register.
    pub(crate) fn reads(&mut self, c: Chunks, content: Content) {
        if let Some(accesses) = &mut self.accesses {
            accesses.push(Access::Read(content, c.registers()));
        }
    }

    /// The register that holds this, for instructions on vectors of this kind.
    pub(crate) fn find(&mut self, c: Chunks, content: Content) -> Option<u32> {
        let mut contents = self.kept.contents.iter().take(c.registers());
        let place = contents.position(|c| *c == Some(content))?;
        let n = u32::try_from(place).ok()?;
        self.uses(n);
        Some(n)
    }

    /// A later step uses a register: detours since it got its content load it again.
    pub(crate) fn uses(&mut self, n: u32) {
        let since = self.kept.since.get(n as usize).copied().unwrap_or(0);
        for detour in self.detours.iter_mut().skip(since) {
            detour.used |= 1 << n;
        }
    }

    /// A register whose low bytes are these of the file, 16 or 32 of them: one that holds just them, or more from there
    /// on, or `to`, if they are in the middle of what another one holds.
    pub(crate) fn part(&mut self, c: Chunks, to: u32, offset: usize, bytes: usize) -> Option<u32> {
        let mut contents = self.kept.contents.iter().take(c.registers()).enumerate();
        let (place, before, all) = contents.find_map(|(place, content)| match content {
            Some(Content::Bytes {
                offset: first,
                bytes: all,
            }) if *first <= offset && offset + bytes <= first + all => {
                Some((place, offset - first, *all))
            }
            _ => None,
        })?;
        let n = u32::try_from(place).ok()?;
        let number = u32::try_from(before / bytes.max(1)).ok()?;
        let (op, view, from) = match (bytes, all) {
            _ if before == 0 => {
                self.uses(n);
                return Some(n);
            }
            (32, 64) => (ops::EXTRACT_HALF, ymm(to), zmm(n)),
            (16, 64) => (ops::EXTRACT_QUARTER, xmm(to), zmm(n)),
            (16, 32) if n < 16 && to < 16 => (ops::EXTRACT_HALF, xmm(to), ymm(n)),
            _ => return None,
        };
        if before % bytes != 0 {
            return None;
        }
        self.uses(n);
        self.asm.v2i(op, view, from, number);
        Some(to)
    }

    /// Number of registers that the step does not work with.
    pub(crate) fn free(&self, c: Chunks) -> usize {
        (usable(c) & !self.kept.busy).count_ones() as usize
    }

    /// A register for a result.
    pub(crate) fn take(&mut self, c: Chunks) -> Result<u32, NoTemplate> {
        let usable = usable(c);
        let free = usable & !self.kept.busy;
        let contents = (0..).zip(&self.kept.contents);
        let empty = contents.fold(0, |all, (n, content)| {
            all | u32::from(content.is_none()) << n
        });
        let pending = self.kept.pending.iter();
        let needed = pending.fold(self.kept.held, |all, one| all | one.register.vector());
        // The best ones; of these the one that was taken first.
        let best = [free & empty, free & !needed, free];
        let best = best.into_iter().find(|some| *some != 0);
        let best = best.ok_or(NoTemplate)?;
        let start = KEPT + self.kept.next % usable.count_ones();
        let later = best & u32::MAX << start;
        let n = if later != 0 { later } else { best }.trailing_zeros();
        self.kept.next = n + 1 - KEPT;
        self.set(n, None);
        self.kept.busy |= 1 << n;
        self.kept.taken |= 1 << n;
        Ok(n)
    }

    /// A source needs a register no more, unless it was among these, which others need.
    pub(crate) fn release_but(&mut self, n: u32, others: u32) {
        if others >> n & 1 == 0 {
            self.release(n);
        }
    }

    /// The step needs a register no more.
    pub(crate) fn release(&mut self, n: u32) {
        self.kept.busy &= !(1 << n);
    }
}

/// The kept registers that instructions on such vectors can name.
const fn usable(c: Chunks) -> u32 {
    u32::MAX >> (32 - c.registers()) & u32::MAX << KEPT
}
