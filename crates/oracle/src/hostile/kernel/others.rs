//! Messages that machine code leaves to the interpreter: what they read and write among steps that it does not leave.

use super::{DATA, Writer};
use crate::hostile::launch::{IMAGES, SURFACES};

impl Writer<'_> {
    /// Puts an index into the surface variable.
    fn surface(&mut self, index: u8) {
        self.line(&format!("movs (M1_NM, 1) T6(0) {index:#x}:ud"));
    }

    fn image(&mut self) -> u8 {
        match self.rng.u8(..8) {
            0 => SURFACES[0],
            _ => IMAGES[self.rng.usize(..IMAGES.len())],
        }
    }

    pub(super) fn other(&mut self) {
        match self.rng.u8(..6) {
            0 | 1 => self.rectangle(),
            2 => self.typed(),
            3 => self.sampled(),
            4 => self.blocks(),
            _ => self.special(),
        }
    }

    /// Rectangles of memory.
    fn rectangle(&mut self) {
        let data = self.one(&DATA);
        let scalar = |writer: &mut Self| match writer.rng.u8(..4) {
            0 => writer.one(&["S0", "S1", "S2", "S3"]).to_owned(),
            _ => format!("{:#x}", writer.rng.u8(..64)),
        };
        let place = match self.rng.bool() {
            true => {
                let base = self.one(&["B0", "B1", "B2", "B3"]);
                let all: Vec<String> = (0..5).map(|_| scalar(self)).collect();
                format!("flat[{base}, {}]", all.join(", "))
            }
            false => {
                let (image, x, y) = (self.image(), scalar(self), scalar(self));
                let line = match self.rng.bool() {
                    true => format!(
                        "lsc_load_block2d.tgm (M1_NM, 1) {data}:8x2 bti({image:#x})[{x}, {y}]"
                    ),
                    false => format!(
                        "lsc_store_block2d.tgm (M1_NM, 1) bti({image:#x})[{x}, {y}] {data}:8x2"
                    ),
                };
                return self.line(&line);
            }
        };
        let exec = self.one(&["(M1_NM, 1)", "(M1, 1)"]);
        let line = match self.rng.bool() {
            true => {
                let shape = self.one(&[
                    "d8.4x2nn",
                    "d16.2x8x4nt",
                    "d32.8x2nn",
                    "d8.3x2nn",
                    "d32.16x8nn",
                ]);
                format!("lsc_load_block2d.ugm {exec} {data}:{shape} {place}")
            }
            false => {
                let shape = self.one(&["d8.4x2nn", "d8.3x2nn", "d32.8x2nn", "d16.8x4nn"]);
                format!("lsc_store_block2d.ugm {exec} {place} {data}:{shape}")
            }
        };
        self.line(&line);
    }

    /// Texels at coordinates.
    fn typed(&mut self) {
        let (image, data) = (self.image(), self.one(&DATA));
        let predicate = self.predicate();
        let channels = self.one(&["x", "xy", "xz", "yw", "xyz", "xyzw"]);
        let old = self.one(&["R", "RG", "RB", "RGBA"]);
        if self.rng.bool() {
            self.surface(image);
        }
        let line = match self.rng.u8(..6) {
            0 => format!(
                "{predicate}lsc_load_quad.tgm (M1, 8) {data}:d32.{channels} bti({image:#x})[X0,X1]:a32"
            ),
            1 => format!(
                "{predicate}lsc_store_quad.tgm (M1, 8) bti({image:#x})[X0,X1]:a32 {data}:d32.{channels}"
            ),
            2 => format!(
                "{predicate}lsc_atomic_iadd.tgm (M1, 8) {data}:d32 bti({image:#x})[X0,X1]:a32 D1 %null"
            ),
            3 => format!("gather4_typed.{old} (M1, 8) T6 X0.0 V0.0 %null.0 %null.0 {data}.0"),
            4 => format!("scatter4_typed.{old} (M1, 8) T6 X0.0 V0.0 %null.0 %null.0 {data}.0"),
            _ => format!(
                "typed_atomic.add (M1, 8) T6 X0.0 V0.0 %null.0 %null.0 D1.0 %null.0 {data}.0"
            ),
        };
        self.line(&line);
    }

    /// Texels by a sampler.
    fn sampled(&mut self) {
        let (image, data) = (self.image(), self.one(&["D0F", "D1F", "D2F"]));
        self.surface(image);
        let channels = self.one(&["R", "RG", "RA", "RGBA"]);
        let line = match self.rng.u8(..5) {
            0 => format!("sample_lz.{channels} (M1, 8) 0x0:uw SM T6 {data}.0 VF0.0 VF1.0"),
            1 => {
                format!("sample_l.{channels} (M1, 8) 0x0:uw SM T6 {data}.0 VF0.0 VF0.0 VF1.0 VF1.0")
            }
            2 => format!("load_lz.{channels} (M1, 8) 0x0:uw T6 {data}.0 X0.0 X1.0"),
            3 => format!("resinfo.{channels} (M1, 8) T6 X0.0 {data}.0"),
            _ => format!("sample_lz.{channels} (M1, 16) 0x0:uw SM T6 {data}.0 VF0.0 VF1.0"),
        };
        self.line(&line);
    }

    /// Blocks of surfaces and of images.
    fn blocks(&mut self) {
        let data = self.one(&DATA);
        let surface = self.one(&["T6", "T6", "%slm"]);
        let size = self.one(&["1", "2", "4", "8"]);
        let offset = self.one(&[
            "0x0:ud",
            "0x10:ud",
            "0x40:ud",
            "N(0,2)<0;1,0>",
            "X0(0,3)<0;1,0>",
        ]);
        if self.rng.u8(..3) == 0 {
            let image = self.image();
            self.surface(image);
            let (x, y) = (
                self.one(&["0x0:ud", "N(0,1)<0;1,0>", "0x4:ud"]),
                self.one(&["0x0:ud", "N(0,2)<0;1,0>"]),
            );
            let line = match self.rng.bool() {
                true => format!("media_ld.nomod (5,2) T6 0 {x} {y} {data}.0"),
                false => format!("media_st.nomod (8,2) T6 {x} {y} {data}.0"),
            };
            return self.line(&line);
        }
        let index = SURFACES[self.rng.usize(..SURFACES.len())];
        self.surface(index);
        let name = self.one(&["oword_ld", "oword_ld_unaligned", "oword_st"]);
        self.line(&format!("{name} ({size}) {surface} {offset} {data}.0"));
    }

    /// Messages with addresses of other kinds.
    fn special(&mut self) {
        let data = self.one(&DATA);
        let index = SURFACES[self.rng.usize(..SURFACES.len())];
        let line = match self.rng.u8(..9) {
            0 => format!("lsc_load_strided.ugm (M1, 8) {data}:d32 flat[A0+0x4,0x8]:a64"),
            1 => format!("lsc_load_strided.ugm (M1, 8) {data}:d32 flat[A1,0x4]:a64"),
            2 => format!("lsc_load_status.ugm (M1, 8) {data}:d32x2 flat[A0]:a64"),
            3 => format!("lsc_load.slm (M1, 8) {data}:d8c32 flat(S0)[0x2*X0+0x4]:a32"),
            4 => format!("lsc_apndctr_atomic_add.ugm (M1, 8) {data}:d32 bti({index:#x}) D1"),
            5 => format!("lsc_store.ugm (M1, 8) ss(N(0,0))[X0]:a32 {data}:d32"),
            6 => format!("lsc_load.ugm (M1, 8) {data}:d32 ss(N(0,0))[X1]:a32"),
            7 => format!("lsc_load.ugm (M1, 8) {data}:d32x2t flat[A0]:a64"),
            _ => format!("dword_atomic.cmpxchg (M1, 8) %slm X0.0 D0.0 D1.0 {data}.0"),
        };
        self.line(&line);
    }
}
