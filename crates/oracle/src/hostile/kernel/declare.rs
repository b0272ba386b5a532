//! Declarations, how registers get their first content, and what they are in the end.

use super::{
    BASES, BASES_AT, BYTES, COUNTED, COUNTERS, DATA, DWORDS, FLAT, LANES, LIMITS, NUMBERS,
    NUMBERS_AT, QWORDS, ROWS, WINDOWS, WORDS, Writer,
};
use crate::hostile::launch::{RESULT, THREADS};
use std::fmt::Write;

impl Writer<'_> {
    pub(super) fn declare(&mut self, data: [usize; DATA.len()], grf_bytes: u32) {
        let mut text = format!(
            ".version 4.1\n.kernel \"hostile\"\n\
             .decl BIG v_type=G type=ud num_elts={} align=GRF\n\
             .decl OA v_type=G type=uq num_elts=1 align=GRF\n\
             .decl IN v_type=G type=uq num_elts=2 align=GRF\n\
             .decl GI v_type=G type=ud num_elts=1 align=GRF\n\
             .decl GQ v_type=G type=uq num_elts=1 align=GRF\n\
             .decl I v_type=G type=ud num_elts=1 align=GRF\n\
             .decl AD v_type=A num_elts=2\n\
             .decl T6 v_type=T num_elts=1\n\
             .decl SM v_type=S num_elts=1\n",
            BYTES / 4
        );
        for n in 1..7 {
            let _ = writeln!(text, ".decl P{n} v_type=P num_elts=32");
        }
        let mut alias = |name: &str, ty: &str, elements: usize, at: usize| {
            let _ = writeln!(
                text,
                ".decl {name} v_type=G type={ty} num_elts={elements} align=GRF alias=<BIG, {at}>"
            );
        };
        for n in 0..2 {
            alias(&format!("A{n}"), "uq", LANES, FLAT[n]);
            alias(&format!("X{n}"), "ud", LANES, WINDOWS[n]);
            alias(&format!("L{n}"), "uw", LANES, WORDS[n]);
            alias(&format!("V{n}"), "ud", LANES, DWORDS[n]);
            alias(&format!("VD{n}"), "d", LANES, DWORDS[n]);
            alias(&format!("VF{n}"), "f", LANES, DWORDS[n]);
        }
        for (name, at) in DATA.iter().zip(data) {
            alias(name, "ud", 256, at);
            for (suffix, ty) in [
                ("Q", "uq"),
                ("B", "ub"),
                ("W", "uw"),
                ("F", "f"),
                ("D", "df"),
            ] {
                alias(&format!("{name}{suffix}"), ty, 128, at);
            }
        }
        alias("Q", "uq", LANES, QWORDS);
        alias("N", "ud", NUMBERS, NUMBERS_AT);
        alias("NW", "uw", 32, NUMBERS_AT);
        alias("NQ", "uq", BASES, BASES_AT);
        alias("E", "ud", LANES, LIMITS);
        alias("R0", "uw", LANES, ROWS[0]);
        alias("R1", "ud", LANES, ROWS[1]);
        for n in 0..4 {
            alias(&format!("B{n}"), "uq", 1, BASES_AT + 8 * n);
            alias(&format!("S{n}"), "ud", 1, NUMBERS_AT + 4 * n);
        }
        for ty in COUNTED {
            alias(&format!("C{ty}"), ty, 8, COUNTERS);
        }
        let _ = writeln!(
            text,
            ".input IN offset={grf_bytes} size=16\n.kernel_attr SimdSize={}",
            self.lanes
        );
        self.text = text;
    }

    /// Loads what registers begin with; numbers depend on the group.
    pub(super) fn load(&mut self) {
        // Without what nothing is made of.
        for (first, bytes) in [
            (0, 1536),
            (2048, 512),
            (3072, 512),
            (4096, 1280),
            (5632, 256),
        ] {
            for at in (first..first + bytes).step_by(256) {
                self.text += &format!(
                    ".decl BIG{at} v_type=G type=ud num_elts=64 align=GRF alias=<BIG, {at}>\n"
                );
                self.line(&format!(
                    "lsc_load.ugm (M1_NM, 1) BIG{at}:d32x64t flat[IN+{at:#x}]:a64"
                ));
            }
        }
        let results = RESULT * THREADS;
        self.line(&format!(
            "and (M1_NM, 1) GI(0,0)<1> %r0(0,1)<0;1,0> 0x1:ud\n\
             mov (M1_NM, 1) GQ(0,0)<1> GI(0,0)<0;1,0>\n\
             mul (M1_NM, 1) GI(0,0)<1> GI(0,0)<0;1,0> {results:#x}:ud\n\
             mov (M1_NM, 1) OA(0,0)<1> GI(0,0)<0;1,0>\n\
             add (M1_NM, 1) OA(0,0)<1> OA(0,0)<0;1,0> IN(0,1)<0;1,0>\n\
             add (M1_NM, 1) N(0,5)<1> N(0,5)<0;1,0> %r0(0,1)<0;1,0>\n\
             shl (M1_NM, 1) GQ(0,0)<1> GQ(0,0)<0;1,0> 0x5:uq\n\
             add (M1_NM, 1) NQ(0,1)<1> NQ(0,1)<0;1,0> GQ(0,0)<0;1,0>"
        ));
        if self.rng.bool() {
            // Vectors are looked at where a block begins.
            self.line(
                "cmp.eq (M1_NM, 1) P6 N(0,5)<0;1,0> 0x7:ud\n(P6) jmp (M1, 1) LOADED\nLOADED:",
            );
        }
    }

    /// What the data are in the end.
    pub(super) fn results(&mut self) {
        for (n, name) in DATA.iter().enumerate() {
            let at = n * RESULT / DATA.len();
            self.line(&format!(
                "lsc_store.ugm (M1_NM, 1) flat[OA+{at:#x}]:a64 {name}:d32x64t"
            ));
        }
        self.line("ret (M1, 1)");
    }
}
