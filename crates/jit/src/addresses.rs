//! Machine code for addresses that grow by the same number from lane to lane (`linear.rs`).

use crate::count::Counts;
use crate::flow::Compiler;
use crate::kept::Content;
use crate::linear::{Linear, Recipe, Root, linear, whole};
use crate::load::widening;
use crate::origin::Origins;
use crate::path::Path;
use crate::vector::{Chunks, Done, NoTemplate, Writer};
use crate::x64::{Condition, EAX, ECX, Label, Mask, Operand, RAX, RCX, ops, xmm, ymm};
use std::ops::Range;
use visakit_exec::code::{Action, Step};
use visakit_isa::DataType;

impl Compiler<'_> {
    /// A step that is computed where the interpreter needs it. What it reads is in the file then.
    pub(crate) fn defer(&mut self, step: &Step, counts: &mut Counts) {
        counts.instructions += 1;
        counts.lanes += u32::from(step.lanes.count);
        for bytes in step.read() {
            self.writer.need_bytes(&bytes);
        }
        if let Some(bytes) = whole(step) {
            self.writer.certain = true;
            self.writer.overwritten(bytes.start, bytes.len());
        }
    }

    /// Numbers that a step adds to addresses are in the file when messages need them.
    pub(crate) fn keep_numbers(&mut self, place: usize) {
        let recipes = self.linear.iter().flat_map(|plan| plan.messages.values());
        for recipe in recipes.filter(|recipe| recipe.steps.contains(&place)) {
            for number in recipe.numbers() {
                self.writer.need_bytes(&number);
            }
        }
    }

    /// Computes the addresses of a message for the interpreter.
    pub(crate) fn compute_addresses(&mut self, place: usize) {
        let step = self.code.steps.get(place);
        let linear = self.linear.as_ref().and_then(|plan| plan.message(place));
        if let (Some(recipe), Some(Action::Message(message))) =
            (linear, step.map(|step| &step.action))
        {
            self.writer.takes(Path::LinearDeferred);
            let to = message.lanes().map(|message| message.addresses);
            let done = to.ok_or(NoTemplate);
            let done = done.and_then(|to| self.writer.addresses(recipe, to));
            if done.is_err() {
                self.writer.asm.give_up();
            }
        }
    }

    /// What is known of a segment.
    pub(crate) fn find_linear(&self, steps: Range<usize>) -> Option<Linear> {
        let origins = || self.origins.get_or_init(|| Origins::new(self.code));
        linear(self.code, self.live?, self.writer.full, steps, origins)
    }
}

impl Writer {
    /// Goes on if elements follow each other, or are all the same, as they have to.
    pub(crate) fn check_roots(&mut self, plan: &Linear, otherwise: Label) -> Done {
        for root in &plan.roots {
            self.check_root(root, 1, otherwise)?;
        }
        for root in &plan.uniform {
            self.check_root(root, 0, otherwise)?;
        }
        Ok(())
    }

    /// Goes on if elements grow by this number from lane to lane.
    fn check_root(&mut self, root: &Root, by: u32, otherwise: Label) -> Done {
        // As lanes of 32 bits; pairs of words are such lanes.
        let c = Chunks::new(self.features, 4, root.lanes * root.size / 4);
        let (broadcast, subtract) = match root.size {
            2 => (ops::BROADCAST_W, ops::SUB_W),
            _ => (ops::BROADCAST_D, ops::SUB_D),
        };
        let differ = 2;
        let there = self.file(root.offset, root.size)?;
        if by != 0 && root.size == 2 {
            // As they are extended before anything is added to them, words that begin anew do not follow each other.
            let most = u32::try_from(0x1_0000 - root.lanes).map_err(|_| NoTemplate)?;
            self.asm.extend(EAX, 2, there);
            self.asm.cmp(EAX, most);
            self.asm.jump_if(Condition::Above, otherwise);
        }
        self.v2(c, broadcast, 0, there);
        let bytes = 4 * c.lanes;
        for (chunk, part) in root.bytes().step_by(bytes).enumerate() {
            let before = chunk * bytes / root.size;
            let number = |element: usize| by * u32::try_from(before + element).unwrap_or(0);
            let there = self.file(part, bytes)?;
            self.load_bytes(1, there, bytes)?;
            if by != 0 {
                let steps = match root.size {
                    2 => self.each_dword(|n| number(2 * n) | number(2 * n + 1) << 16),
                    _ => self.each_dword(number),
                };
                self.v3m(c, subtract, 1, 1, steps);
            }
            if chunk == 0 {
                self.v3(c, ops::XOR, differ, 1, 0);
            } else {
                self.v3(c, ops::XOR, 1, 1, 0);
                self.v3(c, ops::OR, differ, differ, 1);
            }
        }
        if c.zmm {
            let differ = c.register(differ);
            let test = ops::MASK_OF_BITS_D;
            self.asm.v3(test, Mask::K2, differ, differ);
            self.asm.mask_any(Mask::K2);
        } else {
            self.asm.v2(ops::TEST, ymm(differ), ymm(differ));
        }
        self.asm.jump_if(Condition::NotEqual, otherwise);
        Ok(())
    }

    /// The address of the first lane in `rax`. Goes to `slow` where lanes do not follow each other, as numbers of 32 bits
    /// begin anew in between. Clobbers `rcx`.
    pub(crate) fn first_of(&mut self, recipe: &Recipe, slow: Label) -> Done {
        let root = &recipe.root;
        let first = self.file(root.offset, root.size)?;
        let size = if root.size == 2 { 2 } else { 4 };
        self.asm.extend(EAX, size, first);
        for term in &recipe.words {
            let number = self.number(term.at, 4)?;
            match term.negative {
                true => self.asm.sub(EAX, number),
                false => self.asm.add(EAX, number),
            }
        }
        let last = u32::try_from(root.lanes - 1).map_err(|_| NoTemplate)?;
        let signed = recipe.signed == Some(true);
        self.asm.mov(ECX, EAX);
        self.asm.add(ECX, last);
        let beyond = match signed {
            true => Condition::Overflow,
            false => Condition::Below,
        };
        self.asm.jump_if(beyond, slow);
        if signed {
            self.asm.extend_signed(RAX, 4, EAX);
        }
        if recipe.shift != 0 {
            self.asm.shl(RAX, recipe.shift);
        }
        for at in &recipe.longs {
            let number = self.number(*at, 8)?;
            self.asm.add(RAX, number);
        }
        Ok(())
    }

    /// Writes all addresses to the register file.
    fn addresses(&mut self, recipe: &Recipe, to: usize) -> Done {
        let root = &recipe.root;
        let c = Chunks::new(self.features, 8, root.lanes);
        let dwords = c.halved();
        for chunk in 0..c.count {
            let from = self.place(
                root.offset + chunk * c.lanes * root.size,
                c.lanes * root.size,
            )?;
            let load = match root.size {
                2 => ops::WIDEN_UW_D,
                _ => ops::MOVE,
            };
            if c.zmm {
                self.asm.v2(load, ymm(0), from);
            } else {
                // Half of a vector, no byte more.
                self.load_bytes(0, from, c.lanes * root.size)?;
                if root.size == 2 {
                    self.asm.v2(load, ymm(0), xmm(0));
                }
            }
            for term in &recipe.words {
                let number = self.place(term.at, 4)?;
                self.v2(dwords, ops::BROADCAST_D, 1, number);
                let add = if term.negative {
                    ops::SUB_D
                } else {
                    ops::ADD_D
                };
                self.v3(dwords, add, 0, 0, 1);
            }
            let half = if c.zmm { ymm(0) } else { xmm(0) };
            let ty = match recipe.signed {
                Some(true) => DataType::D,
                _ => DataType::Ud,
            };
            let extend = widening(ty, 8).ok_or(NoTemplate)?;
            self.v2(c, extend, 0, half);
            if recipe.shift != 0 {
                self.v2i(c, ops::SHL_Q_IMM, 0, c.register(0), recipe.shift);
            }
            for at in &recipe.longs {
                let number = self.place(*at, 8)?;
                self.v2(c, ops::BROADCAST_Q, 1, number);
                self.v3(c, ops::ADD_Q, 0, 0, 1);
            }
            let bytes = 8 * c.lanes;
            let there = self.place(to + chunk * bytes, bytes)?;
            self.store_bytes(there, 0, bytes)?;
        }
        Ok(())
    }

    /// A number of the register file: in `rcx`, if a vector register holds it.
    pub(crate) fn number(&mut self, offset: usize, bytes: usize) -> Result<Operand, NoTemplate> {
        let one = Chunks::new(self.features, bytes, 1);
        let content = Content::Bytes { offset, bytes };
        let Some(n) = self.find(one, content) else {
            self.reads(one, content);
            return Ok(self.file(offset, bytes)?.into());
        };
        if bytes == 4 {
            self.asm.v2(ops::STORE_D, ECX, xmm(n));
            return Ok(ECX.into());
        }
        self.asm.v2(ops::TO_Q, RCX, xmm(n));
        Ok(RCX.into())
    }
}
