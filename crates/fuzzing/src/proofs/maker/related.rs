//! Instructions that belong together: what the launch decides, what branches and bounds say of numbers.

use super::{Maker, RELATIONS};

impl Maker<'_, '_> {
    /// Numbers and a predicate that follow from ids: small ones, of which many are zero.
    pub(super) fn launch(&mut self) -> Vec<String> {
        let exec = self.exec();
        let number = |n: usize, maker: &mut Self| match maker.below(3) {
            0 => format!(
                "and {exec} K{n}(0,0)<1> LD(0,0)<1;1,0> {:#x}:ud",
                1 + maker.below(15)
            ),
            1 => format!(
                "shr {exec} K{n}(0,0)<1> LD(0,0)<1;1,0> {:#x}:ud",
                maker.below(5)
            ),
            _ => format!(
                "mul {exec} K{n}(0,0)<1> LD(0,0)<1;1,0> {:#x}:ud",
                1 + maker.below(3)
            ),
        };
        let mut lines: Vec<String> = (0..2).map(|n| number(n, self)).collect();
        lines.push(self.decided());
        lines
    }

    /// Sets the predicate that ids decide.
    fn decided(&mut self) -> String {
        let (exec, relation) = (self.exec(), self.pick(&RELATIONS));
        let source = self.pick(&["LD", "K0", "K1"]);
        let number = self.below(20);
        format!("cmp.{relation} {exec} P4 {source}(0,0)<1;1,0> {number:#x}:ud")
    }

    /// An instruction with a number that the launch decides, or one that writes something else there.
    pub(super) fn of_launch(&mut self) -> String {
        let (exec, guard, known) = (self.exec(), self.guard(), self.pick(&["K0", "K1"]));
        let register = self.register();
        match self.below(9) {
            0 => format!("{guard}mov {exec} {known}(0,0)<1> UD{register}(0,0)<1;1,0>"),
            1 => self.decided(),
            8 => format!("cmp.lt {exec} P4 D{register}(0,0)<1;1,0> {known}(0,0)<1;1,0>"),
            2 => format!("(P4) add {exec} UD{register}(0,0)<1> UD{register}(0,0)<1;1,0> 0x5:ud"),
            3 | 4 => {
                let op = self.pick(&["shl", "mul", "and", "add"]);
                let (to, number) = (self.to("ud"), self.number("ud"));
                format!("{guard}{op} {exec} {to} {known}(0,0)<1;1,0> {number}")
            }
            _ => {
                let op = self.pick(&["shl", "shr", "mul", "and", "xor"]);
                let (to, source) = (self.to("ud"), self.plain("ud"));
                format!("{guard}{op} {exec} {to} {source} {known}(0,0)<1;1,0>")
            }
        }
    }

    /// A number and one of which some bits are the same, or complements. Which of them is less counts where another
    /// predicate is set, too, which may be so for few numbers only.
    pub(super) fn related(&mut self) -> Vec<String> {
        let exec = self.exec();
        let (from, other) = (self.register(), self.register());
        let relation = self.pick(&RELATIONS);
        let change = match self.below(3) {
            0 => self.choices.number() & 0xffff_ffff,
            _ => self.choices.number() & self.choices.number() & 0x7fff_ffff,
        };
        let made = format!("xor {exec} UD{other}(0,0)<1> UD{from}(0,0)<1;1,0> {change:#x}:ud");
        let ty = self.pick(&["UD", "UD", "D"]);
        let [a, b] = [from, other].map(|n| format!("{ty}{n}(0,0)<1;1,0>"));
        if self.below(4) == 0 {
            return vec![made, format!("add {exec} {} {a} {b}", self.to("ud"))];
        }
        let (flags, number) = (self.pick(&["P1 P1 P2", "P1 P2 P1"]), self.register());
        let number = format!("UD{number}(0,0)");
        vec![
            made,
            format!("cmp.{relation} {exec} P1 {a} {b}"),
            format!("and {exec} {flags}"),
            format!("(P1) add {exec} {number}<1> {number}<1;1,0> 0x1:ud"),
        ]
    }

    /// A number of few bits, in some lanes, and what reads it in these or others: numbers with other bits that it does not
    /// have make no difference, if it is read where it was written.
    pub(super) fn bounded(&mut self) -> Vec<String> {
        let (few, from, to) = (self.register(), self.register(), self.register());
        let lanes = |maker: &mut Self| match maker.below(4) {
            0 => format!("(M1_NM, {})", maker.frame.lanes),
            1 => "(M1, 8)".to_owned(),
            _ => maker.exec(),
        };
        let (guard, exec) = (self.guard(), lanes(self));
        let bits = self.pick(&["0xf", "0xff", "0xff0"]);
        let mut lines = vec![format!(
            "{guard}and {exec} UD{few}(0,0)<1> UD{from}(0,0)<1;1,0> {bits}:ud"
        )];
        if self.below(3) == 0 {
            lines.push(match self.below(3) {
                // Other numbers, in some lanes.
                0 => format!(
                    "{}mov {} UW{few}(0,0)<2> UW{from}(0,1)<2;1,0>",
                    self.guard(),
                    lanes(self)
                ),
                1 => format!("mov (M1_NM, 1) UD{few}(0,0)<1> P1"),
                _ => format!(
                    "lsc_load.ugm {} UD{few}:d32 bti(0x0)[ADDR]:a32",
                    lanes(self)
                ),
            });
        }
        let read = match self.below(3) {
            0 => format!("UD{few}(0,{})<0;1,0>", self.below(self.frame.items.min(8))),
            _ => format!("UD{few}(0,0)<1;1,0>"),
        };
        let (exec, number) = (lanes(self), self.pick(&["0x3f", "0x7f0", "0xf0f"]));
        lines.push(match self.below(3) {
            0 => format!("cmp.lt {exec} P1 {read} {number}0:ud"),
            1 => format!("add {exec} UD{to}(0,0)<1> {read} {number}:ud"),
            _ => format!("and {exec} UD{to}(0,0)<1> {read} {number}:ud"),
        });
        lines
    }

    /// A predicate that lanes mostly read only after they have set it: its bits in other lanes make no difference then.
    pub(super) fn tested(&mut self) -> Vec<String> {
        let exec = self.exec();
        let relation = self.pick(&RELATIONS);
        let ty = self.pick(&["d", "ud", "f"]);
        let (first, second) = (self.plain(ty), self.source(ty));
        let mut lines = vec![format!("cmp.{relation} {exec} P5 {first} {second}")];
        if self.below(6) == 0 {
            lines.clear();
        }
        if self.below(2) == 0 {
            let flags = self.pick(&["P5 P5 P1", "P5 P5 P2", "P5 P1 P2", "P1 P5 P2"]);
            let op = self.pick(&["and", "or", "xor"]);
            lines.push(format!("{op} {exec} {flags}"));
        }
        let register = self.register();
        let (to, flag) = (format!("UD{register}(0,0)"), self.pick(&["(P5)", "(!P5)"]));
        lines.push(match self.below(6) {
            0 => format!("mov (M1_NM, 1) {to}<1> P5"),
            1 => format!("{flag} sel {exec} {to}<1> {to}<1;1,0> 0x3:ud"),
            2 => format!("{flag} mov (M1_NM, 8) {to}<1> 0x3:ud"),
            _ => format!("{flag} add {exec} {to}<1> {to}<1;1,0> 0x1:ud"),
        });
        lines
    }
}
