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
        self.line(&format!("L{label}:"));
    }
}
