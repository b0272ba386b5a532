//! Writes of `%cr0`, and the rounding of the host.

use crate::flow::Compiler;
use crate::kept::Content;
use crate::mode::{CONTROL, by_rounding};
use crate::pages::place as fields;
use crate::vector::{Chunks, field};
use crate::x64::{Condition, EAX, ECX, Label, Memory, RAX, RCX, Width, ops, xmm};
use visakit_exec::code::Modes;
use visakit_exec::{MODE_BITS, ROUNDING_BITS, USUAL_MODE};

impl Compiler<'_> {
    /// Sets the host's rounding from the mode.
    pub(crate) fn round_as_mode(&mut self) {
        let control = field(fields::CONTROL);
        self.writer.asm.load_control(control);
    }

    /// The host rounds to nearest from here on.
    pub(crate) fn round_as_usual(&mut self) {
        let [usual, ..] = CONTROL;
        let usual = self.writer.dwords(usual);
        self.writer.asm.load_control(usual);
    }

    /// `%cr0` was written, at this place, and has these contents. Modes that flush denormals or round to integers are the
    /// interpreter's from there on, and so are others than the expected one.
    pub(crate) fn update_mode(&mut self, offset: usize, modes: Modes, otherwise: Label) {
        let one = Chunks::new(self.writer.features, 4, 1);
        let held = self.writer.find(one, Content::Bytes { offset, bytes: 4 });
        let word = match held {
            Some(_) => self.writer.place(offset, 4),
            None => self.writer.file(offset, 4),
        };
        let Ok(word) = word else {
            self.writer.asm.jump(otherwise);
            return;
        };
        let asm = &mut self.writer.asm;
        match held {
            Some(n) => asm.v2(ops::STORE_D, EAX, xmm(n)),
            None => asm.mov(EAX, word),
        }
        let directed = fields::DIRECTED;
        let names = [fields::USUAL, directed, directed, directed];
        let expected = modes.only();
        if let Some(bits) = expected.filter(|bits| bits & !ROUNDING_BITS == USUAL_MODE) {
            let rounding = ((bits & ROUNDING_BITS) >> ROUNDING_BITS.trailing_zeros()) as usize;
            asm.and(EAX, MODE_BITS);
            asm.cmp(EAX, bits);
            asm.jump_if(Condition::NotEqual, otherwise);
            for (to, number) in [
                (fields::CR0, bits),
                (fields::CONTROL, by_rounding(CONTROL, rounding)),
                (fields::MODE, by_rounding(names, rounding)),
            ] {
                asm.store_number(field(to), number);
            }
            return;
        }
        let control = self.writer.each_dword(|n| by_rounding(CONTROL, n));
        let mode = self.writer.each_dword(|n| by_rounding(names, n));
        let of_rounding = |table: Memory| table.indexed(RCX, Width::Dword);
        let asm = &mut self.writer.asm;
        asm.mov(ECX, EAX);
        asm.and(EAX, MODE_BITS & !ROUNDING_BITS);
        asm.cmp(EAX, USUAL_MODE);
        asm.jump_if(Condition::NotEqual, otherwise);
        asm.and(ECX, ROUNDING_BITS);
        asm.or(EAX, ECX);
        asm.store(field(fields::CR0), RAX);
        asm.shr(ECX, ROUNDING_BITS.trailing_zeros());
        asm.mov(EAX, of_rounding(control));
        asm.store(field(fields::CONTROL), EAX);
        asm.mov(EAX, of_rounding(mode));
        asm.store(field(fields::MODE), EAX);
    }
}
