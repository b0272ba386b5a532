//! Texts of hostile kernels.
//!
//! All variables are parts of one, `BIG`: data may lie over addresses, numbers over both, at any distance.

mod flow;
mod messages;

use super::launch::{BASES, NUMBERS, RESULT};
use fastrand::Rng;
use std::fmt::Write;

/// Most lanes.
pub(super) const LANES: usize = 32;

/// Bytes of all variables together.
const BYTES: usize = 8192;

/// Types of scalars that are compared and counted, with suffixes of their numbers.
const COUNTED: [&str; 11] = ["b", "ub", "w", "uw", "d", "ud", "q", "uq", "f", "df", "hf"];

const RELATIONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

/// Data operands.
const DATA: [&str; 3] = ["D0", "D1", "D2"];

/// Places of data operands that lie over nothing else.
const OWN: [usize; DATA.len()] = [1024, 2048, 3072];

/// A kernel, and where its variables are.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its text.
    pub text: String,
    /// Lanes of a thread.
    pub lanes: u32,
    /// Bytes of a register.
    pub grf_bytes: u32,
    /// Bytes of all variables.
    pub(super) bytes: usize,
    /// Vectors of addresses of 64 bits, and of 32.
    pub(super) flat: [usize; 2],
    pub(super) windows: [usize; 2],
    /// Vectors of numbers that follow each other.
    pub(super) words: [usize; 2],
    pub(super) dwords: [usize; 2],
    /// Numbers of 32 bits, addresses of buffers, and counters.
    pub(super) numbers: usize,
    pub(super) bases: usize,
    pub(super) counters: usize,
}

/// What a kernel has most of.
#[derive(Clone, Copy, Debug)]
enum Favourite {
    Messages,
    Chains,
    Atomics,
    Branches,
}

/// Writes a kernel.
struct Writer<'r> {
    rng: &'r mut Rng,
    favourite: Favourite,
    text: String,
    lanes: u32,
    labels: u32,
}

impl Kernel {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let lanes = [8, 16, 16, 32, 32, 32][rng.usize(..6)];
        let grf_bytes = if rng.bool() { 32 } else { 64 };
        let mut kernel = Self {
            text: String::new(),
            lanes,
            grf_bytes,
            bytes: BYTES,
            flat: [0, 256],
            windows: [512, 640],
            words: [4608, 4672],
            dwords: [4096, 4224],
            numbers: 4736,
            bases: 4800,
            counters: 4864,
        };
        let data = kernel.data(rng);
        let favourites = [
            Favourite::Messages,
            Favourite::Chains,
            Favourite::Chains,
            Favourite::Atomics,
            Favourite::Branches,
        ];
        let favourite = favourites[rng.usize(..favourites.len())];
        let mut writer = Writer {
            rng,
            favourite,
            text: String::new(),
            lanes,
            labels: 0,
        };
        writer.declare(&kernel, data);
        for _ in 0..writer.rng.usize(3..12) {
            writer.statement(2);
        }
        writer.results();
        kernel.text = writer.text;
        kernel
    }

    /// Places of the data operands: of their own, or over something else.
    fn data(&self, rng: &mut Rng) -> [usize; DATA.len()] {
        let over = [
            self.flat[0],
            self.flat[1],
            self.windows[0],
            self.windows[1],
            self.numbers,
            self.bases,
            self.words[0],
            self.dwords[0],
        ];
        let grf = self.grf_bytes as usize;
        let mut places = OWN;
        for place in &mut places {
            if rng.bool() {
                continue;
            }
            let target = match rng.u8(..3) {
                0 => OWN[0],
                1 => over[rng.usize(..4)],
                _ => over[rng.usize(..over.len())],
            };
            let unit = if rng.u8(..8) == 0 { 8 } else { grf };
            let shift = rng.usize(..6) * unit;
            *place = match rng.bool() {
                true => target + shift,
                false => target.saturating_sub(shift),
            };
        }
        places
    }
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn one<'s>(&mut self, all: &[&'s str]) -> &'s str {
        all[self.rng.usize(..all.len())]
    }

    fn declare(&mut self, kernel: &Kernel, data: [usize; DATA.len()]) {
        let mut text = format!(
            ".version 4.1\n.kernel \"hostile\"\n\
             .decl BIG v_type=G type=ud num_elts={} align=GRF\n\
             .decl OA v_type=G type=uq num_elts=1 align=GRF\n\
             .decl AD v_type=A num_elts=2\n\
             .decl T6 v_type=T num_elts=1\n",
            BYTES / 4
        );
        for n in 1..5 {
            let _ = writeln!(text, ".decl P{n} v_type=P num_elts=32");
        }
        let mut alias = |name: &str, ty: &str, elements: usize, at: usize| {
            let _ = writeln!(
                text,
                ".decl {name} v_type=G type={ty} num_elts={elements} align=GRF alias=<BIG, {at}>"
            );
        };
        for n in 0..2 {
            alias(&format!("A{n}"), "uq", LANES, kernel.flat[n]);
            alias(&format!("X{n}"), "ud", LANES, kernel.windows[n]);
            alias(&format!("L{n}"), "uw", LANES, kernel.words[n]);
            alias(&format!("V{n}"), "ud", LANES, kernel.dwords[n]);
            alias(&format!("VD{n}"), "d", LANES, kernel.dwords[n]);
        }
        for (name, at) in DATA.iter().zip(data) {
            alias(name, "ud", 256, at);
            alias(&format!("{name}Q"), "uq", 128, at);
            alias(&format!("{name}B"), "ub", 128, at);
            alias(&format!("{name}W"), "uw", 128, at);
        }
        alias("Q", "uq", LANES, 4352);
        alias("N", "ud", NUMBERS, kernel.numbers);
        alias("NW", "uw", 32, kernel.numbers);
        alias("NQ", "uq", BASES, kernel.bases);
        for ty in COUNTED {
            alias(&format!("C{ty}"), ty, 8, kernel.counters);
        }
        let _ = writeln!(text, ".kernel_attr SimdSize={}", kernel.lanes);
        self.text = text;
    }

    /// What the data are in the end.
    fn results(&mut self) {
        for (n, name) in DATA.iter().enumerate() {
            let at = n * RESULT / 4;
            self.line(&format!(
                "lsc_store.ugm (M1_NM, 1) flat[OA+{at:#x}]:a64 {name}:d32x64t"
            ));
        }
        self.line("ret (M1, 1)");
    }

    fn statement(&mut self, depth: u32) {
        if self.rng.bool() {
            return match self.favourite {
                Favourite::Messages => self.message(),
                Favourite::Chains => self.chain(),
                Favourite::Atomics => self.atomic(),
                Favourite::Branches if depth > 0 && self.rng.bool() => self.skip(depth),
                Favourite::Branches if depth > 0 => self.turns(depth),
                Favourite::Branches => self.compute(),
            };
        }
        match self.rng.u8(..if depth == 0 { 20 } else { 27 }) {
            0..=8 => self.message(),
            9 => self.legacy(),
            10 | 11 | 26 => self.chain(),
            12 | 13 => self.loaded_addresses(),
            14 => self.beside(),
            15 | 16 => self.compute(),
            17 => self.indirect(),
            18 => self.decide(),
            19 => {
                let line = self.one(&[
                    "barrier",
                    "lsc_fence.ugm.none.group",
                    "lsc_fence.slm.none.group",
                ]);
                self.line(line);
            }
            20 | 21 => self.skip(depth),
            22 | 23 => self.turns(depth),
            _ => self.part(depth),
        }
    }
}
