//! Messages, and what their addresses are computed from.

use super::{BASES, BYTES, DATA, DWORDS, FLAT, NUMBERS, PLAIN_BASES, QWORDS, Writer};
use crate::hostile::launch::SURFACES;

impl Writer<'_> {
    /// The lanes of a step: all, some, or one.
    pub(super) fn exec(&mut self) -> (String, u32) {
        let lanes = self.lanes;
        match self.rng.u8(..12) {
            0 => (format!("(M1_NM, {lanes})"), lanes),
            1 if lanes == 32 => ("(M1, 16)".into(), 16),
            2 if lanes == 32 => ("(M5, 16)".into(), 16),
            3 if lanes >= 16 => ("(M3, 8)".into(), 8),
            4 => ("(M1_NM, 1)".into(), 1),
            _ => (format!("(M1, {lanes})"), lanes),
        }
    }

    pub(super) fn predicate(&mut self) -> &'static str {
        self.one(&["", "", "", "", "(P1) ", "(!P2) ", "(P2) "])
    }

    /// Where a message goes: its cache, and its address.
    fn place(&mut self) -> (&'static str, String) {
        let n = self.rng.u8(..2);
        let add = match self.rng.u8(..12) {
            0 => "+0x4",
            1 => "+0x40",
            2 => "-0x8",
            3 => "+0x1",
            4 => self.one(&["+0x7ffffff8", "-0x7ffffff8", "-0x1000", "+0xfff"]),
            _ => "",
        };
        match self.rng.u8(..32) / 3 {
            10 => ("slm", format!("flat[L{n}{add}]:a16")),
            0..=4 => ("ugm", format!("flat[A{n}{add}]:a64")),
            5..=7 => ("slm", format!("flat[X{n}{add}]:a32")),
            8 => {
                let index = match self.rng.u8(..6) {
                    0 => self.rng.u8(..),
                    _ => SURFACES[self.rng.usize(..SURFACES.len())],
                };
                ("ugm", format!("bti({index:#x})[X{n}{add}]:a32"))
            }
            _ => {
                let number = self.rng.usize(..NUMBERS);
                ("ugm", format!("bss(N(0,{number}))[X{n}{add}]:a32"))
            }
        }
    }

    /// What is loaded or stored, mostly a data operand.
    fn operand(&mut self) -> &'static str {
        self.one(&["D0", "D0", "D1", "D1", "D2", "D2", "A0", "X0", "V0", "N"])
    }

    pub(super) fn message(&mut self) {
        let (memory, address) = self.place();
        let ((exec, lanes), predicate) = (self.exec(), self.predicate());
        let data = self.operand();
        match self.rng.u8(..18) {
            0 | 1 => return self.atomic(),
            2 => return self.quad(predicate, &exec, memory, &address),
            _ => {}
        }
        let (exec, element) = match self.rng.u8(..12) {
            0 | 1 => {
                let sizes = [
                    "d32", "d32x2t", "d32x4t", "d32x8t", "d32x16t", "d64", "d64x4t", "d64x8t",
                    "d32x3t", "d32x64t",
                ];
                ("(M1_NM, 1)".to_owned(), self.one(&sizes))
            }
            _ if lanes == 1 => (
                exec,
                self.one(&["d8u32", "d16u32", "d32", "d64", "d32x2", "d64x3"]),
            ),
            _ => {
                let sizes = [
                    "d8u32", "d8u32", "d16u32", "d16u32", "d32", "d32", "d32", "d32", "d64", "d64",
                    "d32x2", "d32x3", "d32x4", "d64x2", "d64x3", "d64x4", "d16c32h",
                ];
                (exec, self.one(&sizes))
            }
        };
        let line = match self.rng.u8(..5) {
            0 | 1 => format!("{predicate}lsc_store.{memory} {exec} {address} {data}:{element}"),
            _ => format!("{predicate}lsc_load.{memory} {exec} {data}:{element} {address}"),
        };
        self.line(&line);
    }

    fn quad(&mut self, predicate: &str, exec: &str, memory: &str, address: &str) {
        let (data, channels) = (
            self.one(&DATA),
            self.one(&["x", "xy", "xz", "yw", "xyz", "xyzw"]),
        );
        let line = match self.rng.bool() {
            true => {
                format!("{predicate}lsc_load_quad.{memory} {exec} {data}:d32.{channels} {address}")
            }
            false => {
                format!("{predicate}lsc_store_quad.{memory} {exec} {address} {data}:d32.{channels}")
            }
        };
        self.line(&line);
    }

    pub(super) fn atomic(&mut self) {
        let (memory, address) = self.place();
        let ((exec, _), predicate) = (self.exec(), self.predicate());
        let operation = self.one(&[
            "load", "store", "iinc", "idec", "iadd", "isub", "smin", "smax", "umin", "umax",
            "icas", "and", "or", "xor", "fadd", "fsub", "fmin", "fmax", "fcas",
        ]);
        let sources = match operation {
            "load" | "iinc" | "idec" => "%null %null".into(),
            "icas" | "fcas" => format!("{} {}", self.one(&DATA), self.one(&DATA)),
            _ => format!("{} %null", self.one(&DATA)),
        };
        let result = match operation {
            "store" => "%null",
            _ => self.one(&["D0", "D1", "D2", "X0", "%null"]),
        };
        let element = self.one(&["d16u32", "d32", "d32", "d64"]);
        self.line(&format!(
            "{predicate}lsc_atomic_{operation}.{memory} {exec} {result}:{element} {address} {sources}"
        ));
    }

    /// Messages of objects before the load/store cache.
    pub(super) fn legacy(&mut self) {
        let predicate = self.predicate();
        let data = self.one(&DATA);
        let n = self.rng.u8(..2);
        let lanes = self.one(&["8", "16"]);
        let surface = self.one(&["%slm", "T6", "T6", "%scratch"]);
        if surface == "T6" {
            let index = SURFACES[self.rng.usize(..SURFACES.len())];
            self.line(&format!("movs (M1_NM, 1) T6(0) {index:#x}:ud"));
        }
        let by = self.one(&["0x0:ud", "0x4:ud", "0x40:ud", "0x100:ud", "N(0,3)<0;1,0>"]);
        let line = match self.rng.u8(..9) {
            0 => format!(
                "{predicate}svm_gather.{} (M1, 8) A{n}.0 {data}.0",
                self.one(&["1.4", "4.1", "8.1", "8.2", "4.2"])
            ),
            1 => format!(
                "{predicate}svm_scatter.{} (M1, 8) A{n}.0 {data}.0",
                self.one(&["1.4", "4.1", "8.1", "4.4"])
            ),
            2 => format!(
                "gather.{} (M1, {lanes}) {surface} {by} X{n}.0 {data}.0",
                self.one(&["1", "2", "4"])
            ),
            3 => format!(
                "scatter.{} (M1, {lanes}) {surface} {by} X{n}.0 {data}.0",
                self.one(&["1", "2", "4"])
            ),
            4 => format!(
                "{predicate}gather_scaled.{} (M1, {lanes}) {surface} {by} X{n}.0 {data}.0",
                self.one(&["1", "2", "4"])
            ),
            5 => format!(
                "{predicate}scatter_scaled.{} (M1, {lanes}) {surface} {by} X{n}.0 {data}.0",
                self.one(&["1", "2", "4"])
            ),
            6 => format!(
                "{predicate}gather4_scaled.{} (M1, {lanes}) {surface} {by} X{n}.0 {data}.0",
                self.one(&["R", "RG", "RGBA"])
            ),
            7 => format!(
                "{predicate}scatter4_scaled.{} (M1, {lanes}) {surface} {by} X{n}.0 {data}.0",
                self.one(&["R", "RG", "RGBA"])
            ),
            _ => {
                let block = self.one(&["svm_block_ld", "svm_block_st"]);
                format!(
                    "{block} ({}) A{n}(0,0)<0;1,0> {data}.0",
                    self.one(&["1", "2", "4", "8"])
                )
            }
        };
        self.line(&line);
    }

    /// Addresses that follow each other if numbers do, as compilers write them.
    pub(super) fn chain(&mut self) {
        let lanes = self.lanes;
        let n = self.rng.u8(..2);
        let from = self.one(&["L0", "L0", "L1", "V1", "VD1", "D0W", "D0B"]);
        if from == "L1" && self.rng.bool() {
            let by = self.rng.u16(..);
            let by = if self.rng.bool() { by | 0xffc0 } else { by };
            self.line(&format!(
                "add (M1, {lanes}) L1(0,0)<1> L0(0,0)<1;1,0> {by:#x}:uw"
            ));
        }
        self.line(&format!("mov (M1, {lanes}) V0(0,0)<1> {from}(0,0)<1;1,0>"));
        if self.rng.u8(..3) == 0 {
            self.row();
        }
        let number = self.rng.usize(..NUMBERS);
        match self.rng.u8(..6) {
            0 => self.line(&format!(
                "add (M1, {lanes}) V0(0,0)<1> V0(0,0)<1;1,0> N(0,{number})<0;1,0>"
            )),
            1 => self.line(&format!(
                "add (M1, {lanes}) V0(0,0)<1> V0(0,0)<1;1,0> (-)N(0,{number})<0;1,0>"
            )),
            2 => self.line(&format!(
                "add3 (M1, {lanes}) V0(0,0)<1> N(0,1)<0;1,0> V0(0,0)<1;1,0> N(0,{number})<0;1,0>"
            )),
            _ => {}
        }
        let shift = self.rng.u8(..5);
        if self.rng.u8(..4) == 0 {
            self.line(&format!(
                "shl (M1, {lanes}) X{n}(0,0)<1> V0(0,0)<1;1,0> {shift:#x}:ud"
            ));
            self.line(&format!(
                "add (M1, {lanes}) X{n}(0,0)<1> X{n}(0,0)<1;1,0> N(0,{number})<0;1,0>"
            ));
            return self.message();
        }
        let extended = self.one(&["V0", "VD0"]);
        // One that suits the shift, if numbers begin anew.
        let base = match self.rng.bool() {
            true => usize::from(shift) + PLAIN_BASES,
            false => self.rng.usize(..PLAIN_BASES),
        };
        let base = base % BASES;
        self.line(&format!(
            "mov (M1, {lanes}) Q(0,0)<1> {extended}(0,0)<1;1,0>"
        ));
        self.line(&format!(
            "shl (M1, {lanes}) Q(0,0)<1> Q(0,0)<1;1,0> {shift:#x}:uq"
        ));
        self.line(&format!(
            "add (M1, {lanes}) A{n}(0,0)<1> Q(0,0)<1;1,0> NQ(0,{base})<0;1,0>"
        ));
        let element = match (shift, self.rng.bool()) {
            (0, _) => "d8u32",
            (1, _) => "d16u32",
            (2, _) => "d32",
            (3, false) => "d64",
            (3, true) => "d32x2",
            (_, false) => "d64x2",
            (_, true) => "d32x4",
        };
        let predicate = self.one(&["", "", "", "", "", "(P1) "]);
        let data = match self.rng.u8(..8) {
            0 => ["A0", "A1"][usize::from(n)],
            _ => self.one(&DATA),
        };
        if self.rng.u8(..5) == 0 {
            self.disturb(from, number, base);
        }
        let line = match self.rng.bool() {
            true => {
                format!("{predicate}lsc_load.ugm (M1, {lanes}) {data}:{element} flat[A{n}]:a64")
            }
            false => {
                format!("{predicate}lsc_store.ugm (M1, {lanes}) flat[A{n}]:a64 {data}:{element}")
            }
        };
        self.line(&line);
        match self.rng.u8(..16) {
            0 => self.indirect(),
            1 => {
                // An address reads the vector, before something else is written there.
                let place = [QWORDS, FLAT[usize::from(n)]][self.rng.usize(..2)];
                self.line(&format!(
                    "addr_add (M1_NM, 1) AD(0)<1> &BIG {place:#x}:uw\n\
                     mov (M1, {lanes}) {data}(0,0)<1> r[AD(0),0]<1;1,0>:ud\n\
                     mov (M1, {lanes}) Q(0,0)<1> V0(0,0)<1;1,0>\n\
                     mov (M1, {lanes}) A{n}(0,0)<1> V0(0,0)<1;1,0>"
                ));
            }
            _ => {}
        }
    }

    /// Changes what addresses were computed from.
    fn disturb(&mut self, from: &str, number: usize, base: usize) {
        let lanes = self.lanes;
        let line = match self.rng.u8(..5) {
            0 | 1 => format!("add (M1, {lanes}) {from}(0,0)<1> {from}(0,0)<1;1,0> 0x2:uw"),
            2 => format!("add (M1_NM, 1) N(0,{number})<1> N(0,{number})<0;1,0> 0x4:ud"),
            3 => format!("add (M1_NM, 1) NQ(0,{base})<1> NQ(0,{base})<0;1,0> 0x8:d"),
            _ => format!("add (M1, {lanes}) V0(0,0)<1> V0(0,0)<1;1,0> 0x2:uw"),
        };
        self.line(&line);
    }

    /// Adds the place of a row.
    fn row(&mut self) {
        let lanes = self.lanes;
        let from = self.one(&["R0", "R0", "R1", "R1", "L1"]);
        let by = self.one(&["N(0,0)<0;1,0>", "N(0,4)<0;1,0>", "0x20:ud", "0x8:ud"]);
        let number = self.rng.usize(..NUMBERS);
        self.line(&format!(
            "mov (M1, {lanes}) V1(0,0)<1> {from}(0,0)<1;1,0>\n\
             mul (M1, {lanes}) V1(0,0)<1> V1(0,0)<1;1,0> {by}"
        ));
        let line = match self.rng.u8(..3) {
            0 => format!(
                "add3 (M1, {lanes}) V0(0,0)<1> V0(0,0)<1;1,0> V1(0,0)<1;1,0> N(0,{number})<0;1,0>"
            ),
            1 => format!(
                "add3 (M1, {lanes}) V0(0,0)<1> V1(0,0)<1;1,0> V0(0,0)<1;1,0> N(0,{number})<0;1,0>"
            ),
            _ => format!("add (M1, {lanes}) V0(0,0)<1> V0(0,0)<1;1,0> V1(0,0)<1;1,0>"),
        };
        self.line(&line);
    }

    /// Addresses from what was loaded.
    pub(super) fn loaded_addresses(&mut self) {
        let lanes = self.lanes;
        let (n, data) = (self.rng.u8(..2), self.one(&DATA));
        let mask = self.one(&["0xff", "0x7f8", "0x1fff", "0x3c", "0xffffffff"]);
        self.line(&format!(
            "and (M1, {lanes}) V0(0,0)<1> {data}(0,0)<1;1,0> {mask}:ud"
        ));
        if self.rng.bool() {
            return self.line(&format!("mov (M1, {lanes}) X{n}(0,0)<1> V0(0,0)<1;1,0>"));
        }
        let base = self.rng.usize(..BASES);
        self.line(&format!("mov (M1, {lanes}) A{n}(0,0)<1> V0(0,0)<1;1,0>"));
        self.line(&format!(
            "add (M1, {lanes}) A{n}(0,0)<1> A{n}(0,0)<1;1,0> NQ(0,{base})<0;1,0>"
        ));
    }

    /// Addresses at the same distance from others, and messages at both.
    pub(super) fn beside(&mut self) {
        let lanes = self.lanes;
        let by = self.one(&[
            "0x40:q",
            "0xffffffffffffff00:q",
            "0x8:q",
            "0x100000000:q",
            "0x1:q",
            "NQ(0,7)<0;1,0>",
        ]);
        let element = self.one(&["d32", "d32", "d64", "d8u32", "d16u32"]);
        let message = |writer: &mut Self, n: u8| {
            let data = writer.one(&DATA);
            let line = match writer.rng.u8(..3) {
                0 => format!("lsc_store.ugm (M1, {lanes}) flat[A{n}]:a64 {data}:{element}"),
                _ => format!("lsc_load.ugm (M1, {lanes}) {data}:{element} flat[A{n}]:a64"),
            };
            writer.line(&line);
        };
        let before = self.rng.bool();
        if before {
            message(self, 0);
        }
        self.line(&format!("add (M1, {lanes}) A1(0,0)<1> A0(0,0)<1;1,0> {by}"));
        match self.rng.u8(..6) {
            0 => self.loaded_addresses(),
            1 => {
                // One of them is another one.
                let lane = self.rng.u32(..lanes);
                self.line(&format!(
                    "add (M1_NM, 1) A1(0,{lane})<1> A1(0,{lane})<0;1,0> 0x20:q"
                ));
            }
            _ => {}
        }
        if before || self.rng.bool() {
            let n = self.rng.u8(..4).min(1);
            message(self, n);
        }
    }

    pub(super) fn compute(&mut self) {
        let (exec, _) = self.exec();
        let predicate = self.predicate();
        let (a, b, c) = (
            self.one(&DATA),
            self.one(&DATA),
            self.one(&["D0", "D1", "V0", "X0"]),
        );
        if self.rng.u8(..4) == 0 {
            return self.float();
        }
        let operation = self.one(&["add", "xor", "mul", "and", "or"]);
        self.line(&format!(
            "{predicate}{operation} {exec} {c}(0,0)<1> {a}(0,0)<1;1,0> {b}(0,0)<1;1,0>"
        ));
    }

    /// Floats, of any kind.
    pub(super) fn float(&mut self) {
        let (exec, _) = self.exec();
        let predicate = self.predicate();
        let all = ["D0F", "D1F", "D2F", "VF0", "VF1"];
        let [a, b, c] = [(); 3].map(|()| self.one(&all));
        let line = match self.rng.u8(..6) {
            0 => format!("{predicate}add {exec} {c}(0,0)<1> {a}(0,0)<1;1,0> {b}(0,0)<1;1,0>"),
            1 => format!("{predicate}mul {exec} {c}(0,0)<1> {a}(0,0)<1;1,0> {b}(0,0)<1;1,0>"),
            2 => format!(
                "{predicate}mad {exec} {c}(0,0)<1> {a}(0,0)<1;1,0> {b}(0,0)<1;1,0> {c}(0,0)<1;1,0>"
            ),
            3 => format!("min {exec} {c}(0,0)<1> {a}(0,0)<1;1,0> {b}(0,0)<1;1,0>"),
            4 => format!("{predicate}inv {exec} {c}(0,0)<1> {a}(0,0)<1;1,0>"),
            _ => format!("{predicate}mov {exec} {c}(0,0)<1> D0(0,0)<1;1,0>"),
        };
        self.line(&line);
    }

    /// Registers that an address names.
    pub(super) fn indirect(&mut self) {
        let offset = match self.rng.u8(..16) {
            0 => "NW(0,4)<0;1,0>".to_owned(),
            1 => format!("{:#x}:uw", self.rng.u16(..)),
            // Vectors that addresses are computed from, and addresses.
            4..=7 => {
                let places = [FLAT[0], FLAT[1], DWORDS[0], DWORDS[1], QWORDS];
                format!("{:#x}:uw", places[self.rng.usize(..places.len())])
            }
            // The last bytes of all variables.
            2 | 3 => format!("{:#x}:uw", BYTES - self.rng.usize(..256)),
            _ => format!("{:#x}:uw", self.rng.u16(..512) * 4),
        };
        self.line(&format!("addr_add (M1_NM, 1) AD(0)<1> &BIG {offset}"));
        let (exec, lanes) = self.exec();
        let by = self.one(&["0", "0", "0", "0", "4", "32", "508", "-32"]);
        let data = self.one(&DATA);
        let line = match self.rng.u8(..3) {
            0 => format!("mov {exec} {data}(0,0)<1> r[AD(0),{by}]<0;1,0>:ud"),
            1 if lanes > 1 => format!("mov {exec} r[AD(0),{by}]<1>:ud {data}(0,0)<1;1,0>"),
            _ => format!("mov {exec} {data}(0,0)<1> r[AD(0),{by}]<1;1,0>:ud"),
        };
        self.line(&line);
    }
}
