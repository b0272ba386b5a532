//! Branches of all lanes, loops that count in any type, and lanes that part.

use super::{COUNTED, RELATIONS, Writer};

impl Writer<'_> {
    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// Sets a predicate variable.
    pub(super) fn decide(&mut self) {
        let (exec, _) = self.exec();
        let relation = self.one(&RELATIONS);
        let to = self.one(&["P1", "P2"]);
        let from = self.one(&["V0", "VD0", "D0", "L0"]);
        let with = self.one(&["0x8:ud", "0x10:d", "N(0,2)<0;1,0>"]);
        self.line(&format!(
            "cmp.{relation} {exec} {to} {from}(0,0)<1;1,0> {with}"
        ));
    }

    /// Two scalars of a type.
    fn scalars(&mut self) -> (&'static str, String, String) {
        let ty = self.one(&COUNTED);
        let b = self.rng.u8(..8);
        let a = format!("C{ty}(0,{})<0;1,0>", self.rng.u8(..8));
        let b = match (ty, self.rng.bool()) {
            ("w" | "uw" | "d" | "ud" | "q" | "uq", true) => {
                let number = match self.rng.u8(..4) {
                    0 => self.rng.u64(..8),
                    1 => u64::MAX - self.rng.u64(..8),
                    2 => 0x7fff_ffff_ffff_ffff + self.rng.u64(..3),
                    _ => self.rng.u64(..),
                };
                let number = match ty {
                    "w" | "uw" => number >> 48,
                    "d" | "ud" => number >> 32,
                    _ => number,
                };
                format!("{number:#x}:{ty}")
            }
            _ => format!("C{ty}(0,{b})<0;1,0>"),
        };
        (ty, a, b)
    }

    /// A branch of all lanes.
    fn uniform(&mut self, predicate: &str, label: u32) {
        let sign = self.one(&["", "", "!"]);
        let branch = self.one(&["goto", "jmp"]);
        self.line(&format!("({sign}{predicate}) {branch} (M1, 1) L{label}"));
    }

    /// Steps that all lanes run, or none.
    pub(super) fn skip(&mut self, depth: u32) {
        let (_, a, b) = self.scalars();
        let (relation, label) = (self.one(&RELATIONS), self.label());
        let predicate = self.one(&["P3", "P3", "P4", "P1"]);
        let exec = self.one(&["(M1_NM, 1)", "(M1_NM, 1)", "(M1, 1)"]);
        self.line(&format!("cmp.{relation} {exec} {predicate} {a} {b}"));
        self.uniform(predicate, label);
        self.statement(depth - 1);
        self.line(&format!("L{label}:"));
    }

    /// A loop that counts in some type.
    pub(super) fn turns(&mut self, depth: u32) {
        if self.endless {
            return self.message();
        }
        let ty = self.one(&COUNTED);
        let (n, label) = (self.rng.u8(..4), self.label());
        let is_float = matches!(ty, "f" | "df" | "hf");
        let (start, by, limit) = match ty {
            "f" => ("0x0:f".into(), "0x3f800000:f", "0x40a00000:f".to_owned()),
            "df" => (
                "0x0:df".into(),
                "0x3ff0000000000000:df",
                "0x4014000000000000:df".into(),
            ),
            "hf" => ("0x0:hf".into(), "0x3c00:hf", "0x4500:hf".into()),
            "b" | "ub" => (
                format!("{:#x}:w", self.rng.u8(..8)),
                "0x1:w",
                "0x6:w".into(),
            ),
            _ => {
                let start = match self.rng.u8(..3) {
                    0 => self.rng.u64(..6),
                    1 => u64::MAX - self.rng.u64(..4),
                    _ => 0x7fff_ffff_ffff_ffff - self.rng.u64(..4),
                };
                let number = |all: u64| match ty {
                    "w" | "uw" => all & 0xffff,
                    "d" | "ud" => all & 0xffff_ffff,
                    _ => all,
                };
                let limit = start.wrapping_add(self.rng.u64(..6));
                (
                    format!("{:#x}:{ty}", number(start)),
                    "",
                    format!("{:#x}:{ty}", number(limit)),
                )
            }
        };
        let by = match by {
            "" => format!("0x1:{ty}"),
            by => by.to_owned(),
        };
        self.line(&format!("mov (M1_NM, 1) C{ty}(0,{n})<1> {start}"));
        self.line(&format!("L{label}:"));
        for _ in 0..self.rng.usize(1..4) {
            self.statement(depth - 1);
        }
        self.line(&format!(
            "add (M1_NM, 1) C{ty}(0,{n})<1> C{ty}(0,{n})<0;1,0> {by}"
        ));
        let relation = match is_float {
            true => self.one(&["lt", "le", "ne"]),
            false => self.one(&["lt", "lt", "le", "ne", "ne", "gt", "ge", "eq"]),
        };
        self.line(&format!(
            "cmp.{relation} (M1_NM, 1) P4 C{ty}(0,{n})<0;1,0> {limit}"
        ));
        let branch = self.one(&["goto", "jmp"]);
        self.line(&format!("(P4) {branch} (M1, 1) L{label}"));
    }

    /// Lanes that part.
    pub(super) fn part(&mut self, depth: u32) {
        let (lanes, label) = (self.lanes, self.label());
        self.decide();
        let predicate = self.one(&["P1", "!P1", "P2"]);
        self.line(&format!("({predicate}) goto (M1, {lanes}) L{label}"));
        for _ in 0..self.rng.usize(1..3) {
            self.statement(depth - 1);
        }
        if self.rng.bool() {
            // What the others run instead.
            self.line(&format!("goto (M1, {lanes}) O{label}\nL{label}:"));
            self.statement(depth - 1);
            return self.line(&format!("O{label}:"));
        }
        self.line(&format!("L{label}:"));
    }

    /// Lanes that part, and those that go on jump over the place where the others wait.
    pub(super) fn over(&mut self, depth: u32) {
        let (lanes, label) = (self.lanes, self.label());
        self.decide();
        let predicate = self.one(&["P1", "!P1", "P2"]);
        self.line(&format!("({predicate}) goto (M1, {lanes}) L{label}"));
        let (_, a, b) = self.scalars();
        let relation = self.one(&RELATIONS);
        let over = self.label();
        self.line(&format!("cmp.{relation} (M1_NM, 1) P3 {a} {b}"));
        self.uniform("P3", over);
        self.statement(depth - 1);
        self.line(&format!("L{label}:"));
        self.statement(depth - 1);
        self.line(&format!("L{over}:"));
    }

    /// A loop of which most computes, and whose addresses go on.
    pub(super) fn long_turns(&mut self) {
        let label = self.label();
        let turns = [2, 5, 40][self.rng.usize(..3)];
        self.line("mov (M1_NM, 1) I(0,0)<1> 0x0:ud");
        self.line(&format!("L{label}:"));
        for _ in 0..self.rng.usize(7..12) {
            self.compute();
        }
        match self.rng.u8(..4) {
            0 => self.atomic(),
            1 => self.chain(),
            _ => self.message(),
        }
        if self.rng.bool() {
            let lanes = self.lanes;
            self.line(&format!(
                "cmp.gt (M1, {lanes}) P5 I(0,0)<0;1,0> E(0,0)<1;1,0>\n(P5) goto (M1, {lanes}) M{label}"
            ));
            self.compute();
        }
        self.advance();
        self.line("add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud");
        self.line(&format!(
            "cmp.lt (M1_NM, 1) P4 I(0,0)<0;1,0> {turns:#x}:ud\n(P4) jmp (M1, 1) L{label}\nM{label}:"
        ));
    }

    /// Numbers that addresses are made of go on.
    pub(super) fn advance(&mut self) {
        let lanes = self.lanes;
        let by = self.one(&["0x4", "0x10", "0x40", "0x80", "0xfffffffc"]);
        let (n, number) = (self.rng.u8(..2), self.rng.usize(..4));
        let line = match self.rng.u8(..5) {
            0 => format!("add (M1_NM, 1) N(0,{number})<1> N(0,{number})<0;1,0> {by}:ud"),
            1 => format!("add (M1_NM, 1) NQ(0,{number})<1> NQ(0,{number})<0;1,0> {by}:d"),
            2 => format!("add (M1, {lanes}) A{n}(0,0)<1> A{n}(0,0)<1;1,0> {by}:d"),
            _ => format!("add (M1, {lanes}) X{n}(0,0)<1> X{n}(0,0)<1;1,0> {by}:ud"),
        };
        self.line(&line);
    }

    /// A loop of squares: products by powers of two of sums.
    pub(super) fn squares(&mut self) {
        let (lanes, label) = (self.lanes, self.label());
        let operand = |name: &str| format!("{name}(0,0)<1;1,0>");
        let [x, y, t, c] = ["D0F", "D1F", "D2F", "VF1"].map(operand);
        let factor = self.one(&["0x40000000", "0x40800000", "0x3f000000", "0x40400000"]);
        let mut lines = vec![
            format!("mul (M1, {lanes}) D2F(0,0)<1> {y} (-){y}"),
            format!("mad (M1, {lanes}) D2F(0,0)<1> {x} {x} {t}"),
            format!("add (M1, {lanes}) VF0(0,0)<1> {t} {c}"),
            format!("mul (M1, {lanes}) D2F(0,32)<1> {x} {factor}:f"),
            format!("mad (M1, {lanes}) D1F(0,0)<1> D2F(0,32)<1;1,0> {y} {c}"),
        ];
        if self.rng.u8(..3) == 0 {
            lines.push(format!(
                "cmp.eq (M1, {lanes}) P5 E(0,0)<1;1,0> I(0,0)<0;1,0>\n(P5) goto (M1, {lanes}) M{label}"
            ));
        }
        lines.push(format!("mov (M1, {lanes}) D0F(0,0)<1> VF0(0,0)<1;1,0>"));
        if self.rng.bool() {
            // Not only numbers that follow each other.
            self.line(&format!("mov (M1, {lanes}) V1(0,0)<1> D1(0,64)<1;1,0>"));
        }
        self.line(&format!("mov (M1_NM, 1) I(0,0)<1> 0x0:ud\nL{label}:"));
        self.line(&lines.join("\n"));
        self.line(&format!(
            "add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud\n\
             cmp.lt (M1_NM, 1) P4 I(0,0)<0;1,0> 0x9:ud\n(P4) jmp (M1, 1) L{label}\nM{label}:"
        ));
    }

    /// A step of a loop in which two threads may run side by side.
    fn of_dwords(&mut self) -> String {
        let lanes = self.lanes;
        let all = ["D0", "D1", "D2", "V0", "V1"];
        let [a, b, c] = [(); 3].map(|()| self.one(&all));
        let float = |name: &str| match name.strip_prefix('V') {
            Some(number) => format!("VF{number}"),
            None => format!("{name}F"),
        };
        let [fa, fb, fc] = [a, b, c].map(float);
        match self.rng.u8(..9) {
            0 | 1 => format!("add (M1, {lanes}) {a}(0,0)<1> {b}(0,0)<1;1,0> {c}(0,0)<1;1,0>"),
            2 => format!("xor (M1, {lanes}) {a}(0,0)<1> {b}(0,0)<1;1,0> I(0,0)<0;1,0>"),
            3 => format!(
                "mad (M1, {lanes}) {fa}(0,0)<1> {fb}(0,0)<1;1,0> {fc}(0,0)<1;1,0> {fb}(0,0)<1;1,0>"
            ),
            4 => format!("mul (M1, {lanes}) {fa}(0,0)<1> {fb}(0,0)<1;1,0> 0x40000000:f"),
            5 => format!("mov (M1, {lanes}) {a}(0,0)<1> N(0,1)<0;1,0>"),
            6 => format!("add (M1_NM, 1) N(0,1)<1> N(0,1)<0;1,0> {b}(0,2)<0;1,0>"),
            7 => format!(
                "cmp.lt (M1, {lanes}) P3 {a}(0,0)<1;1,0> {b}(0,0)<1;1,0>\n\
                 (P3) sel (M1, {lanes}) {c}(0,0)<1> {a}(0,0)<1;1,0> {b}(0,0)<1;1,0>"
            ),
            _ => format!("shl (M1, {lanes}) {a}(0,0)<1> {b}(0,0)<1;1,0> 0x3:ud"),
        }
    }

    /// A loop in which two threads may run side by side, at the start of the kernel.
    pub(super) fn pairs(&mut self) {
        let (lanes, label) = (self.lanes, self.label());
        let steps = |writer: &mut Self, count: usize| {
            for _ in 0..writer.rng.usize(..count) {
                let line = writer.of_dwords();
                writer.line(&line);
            }
        };
        steps(self, 3);
        match self.rng.u8(..8) {
            0 => self.line(&format!(
                "cmp.lt (M1, {lanes}) P5 E(0,0)<1;1,0> 0x2:ud\n(P5) goto (M1, {lanes}) S{label}\n\
                 add (M1, {lanes}) D1(0,0)<1> D1(0,0)<1;1,0> 0x7:ud\nS{label}:"
            )),
            1 => self.line(&format!(
                "cmp.gt (M1_NM, 1) P5 N(0,0)<0;1,0> 0x6:ud\n(P5) jmp (M1, 1) M{label}"
            )),
            2 => self.message(),
            3 => self.line("xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud"),
            _ => {}
        }
        self.line(&format!("mov (M1_NM, 1) I(0,0)<1> 0x0:ud\nL{label}:"));
        steps(self, 6);
        self.line(&format!(
            "add (M1_NM, 1) I(0,0)<1> I(0,0)<0;1,0> 0x1:ud\n\
             cmp.gt (M1, {lanes}) P5 I(0,0)<0;1,0> E(0,0)<1;1,0>"
        ));
        steps(self, 2);
        let back = match self.rng.bool() {
            true => format!("goto (M1, {lanes})"),
            false => "jmp (M1, 1)".into(),
        };
        self.line(&format!("(P5) goto (M1, {lanes}) M{label}"));
        steps(self, 3);
        self.line(&format!("{back} L{label}\nM{label}:"));
    }
}
