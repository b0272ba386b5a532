//! Lanes that are enabled: in predicate variables, in mask registers, in vectors.

use crate::Features;
use crate::fused::Outcome;
use crate::kept::Content;
use crate::pending::Holder;
use crate::vector::{Chunks, Done, MASK, NoTemplate, RUNNING, Writer};
use crate::x64::{EAX, Mask, Number, Operand, R8D, R9D, R10D, R11D, ops, xmm, ymm};
use visakit_exec::code::{Combine, Flag, Step};

/// The lanes that a step may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Enabled {
    /// All of its lanes.
    All,
    /// Those that run.
    Running,
    /// Those in [`MASK`].
    Some,
}

/// A mask register whose content is kept.
pub(crate) fn mask_register(place: usize) -> Mask {
    match place {
        0 => Mask::K3,
        1 => Mask::K4,
        2 => Mask::K5,
        _ => Mask::K6,
    }
}

/// A register whose content, the word of a predicate variable, is kept. Messages use them for other things.
pub(crate) fn flag_register(place: usize) -> Number {
    match place {
        0 => R8D,
        1 => R9D,
        2 => R10D,
        _ => R11D,
    }
}

impl Writer {
    /// The enabled lanes of a step in [`MASK`]; the other registers of numbers are lost.
    pub(crate) fn exec_mask(&mut self, step: &Step) -> Done {
        let lanes = step.lanes;
        let plain = step.predicate.is_none() && !lanes.no_mask;
        // Lanes that may run.
        let wanted = self.full >> lanes.first;
        let key = plain.then(|| (lanes.first, lanes.window()));
        if key.is_some() && self.kept.enabled == key {
            return Ok(());
        }
        self.kept.enabled = key;
        let Some(flag) = &step.predicate else {
            if lanes.no_mask {
                let window = lanes.window();
                self.asm.mov(MASK, window);
                return Ok(());
            }
            self.asm.mov(MASK, RUNNING);
            if lanes.first != 0 {
                let first = lanes.first.into();
                self.asm.shr(MASK, first);
            }
            if wanted & !lanes.window() != 0 {
                let window = lanes.window();
                self.asm.and(MASK, window);
            }
            return Ok(());
        };
        self.flag(flag, MASK, if lanes.no_mask { u32::MAX } else { wanted })?;
        if !lanes.no_mask {
            self.asm.mov(EAX, RUNNING);
            if lanes.first != 0 {
                self.asm.shr(EAX, lanes.first.into());
            }
            self.asm.and(MASK, EAX);
        }
        Ok(())
    }

    /// `to` becomes `set` in the lanes of a chunk that are enabled, else `clear`.
    pub(crate) fn blend(
        &mut self,
        c: Chunks,
        chunk: usize,
        to: u32,
        clear: u32,
        set: u32,
        enabled: Enabled,
    ) -> Done {
        if enabled != Enabled::Running {
            self.blend_by(c, chunk, to, clear, set, MASK);
            return Ok(());
        }
        if self.features == Features::Avx512 {
            let key = Some((c.lanes, chunk));
            let place = match self.kept.masks.iter().position(|m| *m == key) {
                Some(place) => place,
                None => {
                    let free = self
                        .kept
                        .masks
                        .iter()
                        .position(Option::is_none)
                        .unwrap_or(0);
                    self.lanes_of(c, chunk, RUNNING, mask_register(free));
                    if let Some(mask) = self.kept.masks.get_mut(free) {
                        *mask = key;
                    }
                    free
                }
            };
            self.blend_under(c, to, clear, set, mask_register(place));
            return Ok(());
        }
        let content = Content::Running {
            lane: c.lane,
            first: chunk * c.lanes,
        };
        if let Some(m) = self.find(c, content) {
            self.blend_by_vector(to, clear, set, m);
            return Ok(());
        }
        self.reads(c, content);
        // Results may need all kept registers.
        match self.take(c) {
            Ok(m) => {
                self.spread(c, chunk, RUNNING, m);
                self.set(m, Some(content));
                self.release(m);
                self.blend_by_vector(to, clear, set, m);
            }
            Err(NoTemplate) => self.with_scratch(|own, [m]| {
                own.spread(c, chunk, RUNNING, m);
                own.blend_by_vector(to, clear, set, m);
            }),
        }
        Ok(())
    }

    /// Blends by bits in a register.
    pub(crate) fn blend_by(
        &mut self,
        c: Chunks,
        chunk: usize,
        to: u32,
        clear: u32,
        set: u32,
        bits: Number,
    ) {
        if self.features == Features::Avx512 {
            self.lanes_of(c, chunk, bits, Mask::K1);
            self.blend_under(c, to, clear, set, Mask::K1);
        } else {
            self.with_scratch(|own, [m]| {
                own.spread(c, chunk, bits, m);
                own.blend_by_vector(to, clear, set, m);
            });
        }
    }

    /// The lanes of a chunk in a mask register.
    pub(crate) fn lanes_of(&mut self, c: Chunks, chunk: usize, bits: Number, to: Mask) {
        let shift = u32::try_from(chunk * c.lanes).unwrap_or(0);
        let mut from = bits;
        if shift != 0 {
            self.asm.mov(EAX, bits);
            self.asm.shr(EAX, shift);
            from = EAX;
        }
        self.asm.mask_from(to, from);
    }

    fn blend_under(&mut self, c: Chunks, to: u32, clear: u32, set: u32, mask: Mask) {
        let (to, clear, set) = (c.register(to), c.register(clear), c.register(set));
        self.asm
            .v3(c.of(ops::BLEND_D, ops::BLEND_Q), to, clear, set);
        self.asm.mask(mask);
    }

    /// The lanes of a chunk as all ones or zeros.
    pub(crate) fn spread(&mut self, c: Chunks, chunk: usize, bits: Number, m: u32) {
        self.asm.v2(ops::LOAD_D, xmm(m), bits);
        let first = chunk * c.lanes;
        let bit = |lane: usize| u32::try_from(first + lane).unwrap_or(64);
        let (select, equal) = if c.lane == 4 {
            self.v2(c, ops::BROADCAST_D, m, xmm(m));
            let select = self.each_dword(|lane| 1u32.checked_shl(bit(lane)).unwrap_or(0));
            (select, ops::EQUAL_D)
        } else {
            self.v2(c, ops::BROADCAST_Q, m, xmm(m));
            let select = self.each_qword(|lane| 1u64.checked_shl(bit(lane)).unwrap_or(0));
            (select, ops::EQUAL_Q)
        };
        self.v3m(c, ops::AND, m, m, select);
        self.asm.v3(equal, ymm(m), ymm(m), select);
    }

    pub(crate) fn blend_by_vector(&mut self, to: u32, clear: u32, set: u32, m: u32) {
        self.asm
            .v4(ops::BLEND_BYTES, ymm(to), ymm(clear), ymm(set), ymm(m));
    }

    /// The register that holds the word of a predicate variable.
    pub(crate) fn flag_at(&self, offset: usize) -> Option<Number> {
        let flags = &self.kept.flags;
        let held = flags.iter().position(|own| *own == Some(offset));
        held.map(flag_register)
    }

    /// The word of a predicate variable: a register that holds it, which has no other bits than [`Self::used_bits`], or its
    /// place.
    fn flag_word(&mut self, offset: usize) -> Result<Operand, NoTemplate> {
        match self.flag_at(offset) {
            Some(held) => Ok(held.into()),
            None => Ok(self.file(offset, 4)?.into()),
        }
    }

    /// The register that holds the lanes that a predicate enables, the first at bit 0, and no other bits; inverted ones before
    /// they are inverted.
    pub(crate) fn held_flag(&self, flag: &Flag) -> Option<Number> {
        let offset = flag.offset as usize;
        let held = self.flag_at(offset)?;
        let is_plain = flag.first == 0
            && flag.combine == Combine::PerLane
            && self.outcome != Some(Outcome::Bits)
            && self.used_bits(offset) & !self.lanes_of_both(flag.window) == 0;
        is_plain.then_some(held)
    }

    /// The register that will hold a predicate variable of which a step sets all bits that anybody uses.
    pub(crate) fn flag_target(&self, flag: &Flag, masked: bool) -> Option<Number> {
        let offset = flag.offset as usize;
        let lanes = self.lanes_of_both(flag.lanes());
        let sets_all = !masked && self.used_bits(offset) & !lanes == 0;
        sets_all.then(|| flag_register(self.flag_place(offset)))
    }

    /// The number of that register.
    fn flag_place(&self, offset: usize) -> usize {
        let flags = &self.kept.flags;
        let own = flags.iter().position(|own| *own == Some(offset));
        let free = || flags.iter().position(Option::is_none);
        own.or_else(free).unwrap_or(offset / 4 % flags.len())
    }

    /// The bits of a predicate variable that anybody uses.
    fn used_bits(&self, offset: usize) -> u32 {
        let used = self.flags.get(&offset).copied().unwrap_or(u32::MAX);
        self.lanes_of_both(used)
    }

    /// The lanes that a predicate variable enables, the first at bit 0, in a register of 32 bits. There may be other bits
    /// besides those that are `wanted`.
    pub(crate) fn flag(&mut self, flag: &Flag, to: Number, wanted: u32) -> Done {
        let offset = flag.offset as usize;
        let window = self.lanes_of_both(flag.window);
        if self.pair.is_some() && self.flag_at(offset).is_none() && self.outcome.is_none() {
            return Err(NoTemplate);
        }
        let narrow = |writer: &mut Self, wanted: u32| {
            if wanted & !window != 0 {
                writer.asm.and(to, window);
            }
        };
        if self.outcome.take() == Some(Outcome::Bits) {
            if flag.invert {
                self.asm.not(to);
            }
            narrow(self, wanted);
            return Ok(());
        }
        if let Some(held) = self.held_flag(flag).filter(|_| !flag.invert) {
            if held != to {
                self.asm.mov(to, held);
            }
            return Ok(());
        }
        let word = self.flag_word(offset)?;
        self.asm.mov(to, word);
        let combined = |writer: &mut Self| {
            if flag.tested != u32::MAX {
                writer.asm.and(to, flag.tested);
            }
        };
        match flag.combine {
            Combine::PerLane => {
                if flag.first != 0 {
                    self.asm.shr(to, flag.first.into());
                }
                if flag.invert {
                    self.asm.not(to);
                }
                narrow(self, wanted);
                return Ok(());
            }
            Combine::Any => {
                combined(self);
                // All ones if any is set.
                self.asm.neg(to);
                self.asm.sbb(to, to);
            }
            Combine::All => {
                self.asm.not(to);
                combined(self);
                // All ones if none is clear.
                self.asm.cmp(to, 1);
                self.asm.sbb(to, to);
            }
        }
        if flag.invert {
            self.asm.not(to);
        }
        narrow(self, wanted);
        Ok(())
    }

    /// Writes bits to a predicate variable: to all lanes of the instruction, or to those that
    /// [`MASK`] enables. The bits are lost; if they are `narrow`, there are none besides the lanes'.
    pub(crate) fn set_flag(
        &mut self,
        flag: &Flag,
        bits: Number,
        masked: bool,
        narrow: bool,
    ) -> Done {
        let offset = flag.offset as usize;
        let shift = u32::from(flag.first);
        let window = self.lanes_of_both(flag.window);
        if self.pair.is_some() && (shift != 0 || masked) {
            return Err(NoTemplate);
        }
        let word = self.flag_word(offset)?;
        let used = self.used_bits(offset);
        if masked {
            self.asm.and(bits, MASK);
        } else if window != u32::MAX && !narrow {
            self.asm.and(bits, window);
        }
        if shift != 0 {
            self.asm.shl(bits, shift);
        }
        // Other bits stay, if anybody uses them.
        let others = used & !self.lanes_of_both(flag.lanes());
        if masked || others != 0 {
            let eax = EAX;
            if masked {
                let mut lanes = MASK;
                if shift != 0 {
                    self.asm.mov(eax, MASK);
                    self.asm.shl(eax, shift);
                    lanes = eax;
                }
                self.asm.and_not(eax, lanes, word);
                if used != u32::MAX && matches!(word, Operand::Memory(_)) {
                    self.asm.and(eax, used);
                }
            } else {
                self.asm.mov(eax, others);
                self.asm.and(eax, word);
            }
            self.asm.or(bits, eax);
        }
        let to = self.place(offset, 4)?;
        let place = self.flag_place(offset);
        self.overwritten(offset, 4);
        self.keep_flag(place, offset, bits);
        let first = self.asm.mark();
        self.asm.store(to, flag_register(place));
        self.store_other_flag(offset, place)?;
        if self.local_flags.contains(&offset) {
            let stores = (first..self.asm.mark()).collect();
            self.stored_by(Holder::Flag(place), offset..offset + 4, stores);
        }
        Ok(())
    }

    /// A register holds the word of a predicate variable from here on, which is in an operand.
    pub(crate) fn keep_flag(&mut self, place: usize, offset: usize, word: impl Into<Operand>) {
        let to = flag_register(place);
        let word = word.into();
        self.need_register(Holder::Flag(place));
        if !matches!(word, Operand::Number(own) if own == to) {
            self.asm.mov(to, word);
        }
        let used = self.used_bits(offset);
        if used != u32::MAX && matches!(word, Operand::Memory(_)) {
            self.asm.and(to, used);
        }
        if let Some(flag) = self.kept.flags.get_mut(place) {
            *flag = Some(offset);
        }
    }
}
