//! Texts of hostile kernels.
//!
//! All variables are parts of one, `BIG`: data may lie over addresses, numbers over both, at any distance.

mod declare;
mod flow;
mod messages;
mod others;

use fastrand::Rng;

/// Most lanes.
pub(super) const LANES: usize = 32;

/// Bytes of all variables together.
pub(super) const BYTES: usize = 6144;

/// Places in them: two vectors of addresses of 64 bits, and two of 32.
pub(super) const FLAT: [usize; 2] = [0, 256];
pub(super) const WINDOWS: [usize; 2] = [512, 640];
/// Vectors of numbers that follow each other, of 16 bits and of 32.
pub(super) const WORDS: [usize; 2] = [4608, 4672];
pub(super) const DWORDS: [usize; 2] = [4096, 4224];
/// What vectors become before they are addresses.
const QWORDS: usize = 4352;
/// Numbers of 32 bits, and addresses of buffers, of which the first ones are plain.
pub(super) const NUMBERS_AT: usize = 4736;
pub(super) const NUMBERS: usize = 16;
pub(super) const BASES_AT: usize = 4800;
pub(super) const BASES: usize = 8;
pub(super) const PLAIN_BASES: usize = 4;
/// What loops count with.
pub(super) const COUNTERS: usize = 4864;
/// Turns of each lane, beyond the data of every message, so that each of them ends.
pub(super) const LIMITS: usize = 5760;
/// Vectors with the same number in all lanes, of 16 bits and of 32.
pub(super) const ROWS: [usize; 2] = [5056, 5120];

/// Types of scalars that are compared and counted, with suffixes of their numbers.
const COUNTED: [&str; 11] = ["b", "ub", "w", "uw", "d", "ud", "q", "uq", "f", "df", "hf"];

const RELATIONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

/// Data operands.
const DATA: [&str; 3] = ["D0", "D1", "D2"];

/// Bytes of each.
const DATA_BYTES: usize = 1024;

/// Their places, if they lie over nothing else.
const OWN: [usize; DATA.len()] = [1024, 2048, 3072];

/// How registers get their first content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    /// They are set.
    Set,
    /// Each thread loads them: groups differ in their headers alone.
    Loaded,
    /// They are set, and threads come to a loop without accessing memory.
    Pairs,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its text.
    pub text: String,
    /// Lanes of a thread.
    pub lanes: u32,
    /// Bytes of a register.
    pub grf_bytes: u32,
    pub(super) start: Start,
}

/// What a kernel has most of.
#[derive(Clone, Copy, Debug)]
enum Favourite {
    Messages,
    Chains,
    Atomics,
    Branches,
    Others,
    Computations,
}

/// Writes a kernel.
struct Writer<'r> {
    rng: &'r mut Rng,
    favourite: Favourite,
    /// Whether no limit would end a loop that does not end by itself.
    endless: bool,
    text: String,
    lanes: u32,
    labels: u32,
}

impl Kernel {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let start = match rng.u8(..8) {
            0 | 1 => Start::Loaded,
            2 => Start::Pairs,
            _ => Start::Set,
        };
        let lanes = match start {
            Start::Pairs => [8, 16, 16][rng.usize(..3)],
            _ => [8, 16, 16, 32, 32, 32][rng.usize(..6)],
        };
        let grf_bytes = if rng.bool() { 32 } else { 64 };
        let favourites = [
            Favourite::Messages,
            Favourite::Chains,
            Favourite::Chains,
            Favourite::Atomics,
            Favourite::Branches,
            Favourite::Others,
            Favourite::Computations,
        ];
        let favourite = favourites[rng.usize(..favourites.len())];
        let data = match start {
            Start::Pairs => OWN,
            _ => places(grf_bytes as usize, rng),
        };
        let mut writer = Writer {
            rng,
            favourite,
            endless: start == Start::Pairs,
            text: String::new(),
            lanes,
            labels: 0,
        };
        writer.declare(data, grf_bytes);
        match start {
            Start::Set => {}
            Start::Loaded => writer.load(),
            Start::Pairs => writer.pairs(),
        }
        let statements = [1, 1, 2, 2, 3, 4, 6, 9][writer.rng.usize(..8)];
        for _ in 0..statements {
            writer.statement(2);
        }
        writer.results();
        Self {
            text: writer.text,
            lanes,
            grf_bytes,
            start,
        }
    }
}

/// Places of the data operands: of their own, or over something else.
fn places(grf: usize, rng: &mut Rng) -> [usize; DATA.len()] {
    let over = [
        FLAT[0], FLAT[1], WINDOWS[0], WINDOWS[1], NUMBERS_AT, BASES_AT, WORDS[0], DWORDS[0],
    ];
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
            true => (target + shift).min(BYTES - DATA_BYTES),
            false => target.saturating_sub(shift),
        };
    }
    places
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn one<'s>(&mut self, all: &[&'s str]) -> &'s str {
        all[self.rng.usize(..all.len())]
    }

    fn statement(&mut self, depth: u32) {
        if self.rng.bool() {
            return match self.favourite {
                Favourite::Messages => self.message(),
                Favourite::Chains => self.chain(),
                Favourite::Atomics => self.atomic(),
                Favourite::Branches if depth > 0 && self.rng.bool() => self.skip(depth),
                Favourite::Branches if depth > 0 => self.turns(depth),
                Favourite::Branches | Favourite::Computations => self.compute(),
                Favourite::Others => self.other(),
            };
        }
        match self.rng.u8(..if depth == 0 { 22 } else { 32 }) {
            0..=6 => self.message(),
            7 | 8 => self.legacy(),
            9 => self.other(),
            10 | 11 => self.chain(),
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
                    "xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud",
                ]);
                self.line(line);
            }
            20 => self.advance(),
            21 => self.float(),
            22 | 23 => self.skip(depth),
            24 | 25 => self.turns(depth),
            26 | 27 => self.long_turns(),
            28 => self.squares(),
            29 => self.over(depth),
            _ => self.part(depth),
        }
    }
}
