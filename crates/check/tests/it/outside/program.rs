//! The programs.

use std::fmt::Write;

/// Numbers that follow from a seed (xorshift64*).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % end
    }

    pub(crate) fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }
}

/// A form of message.
#[derive(Debug)]
pub(crate) struct Form {
    line: &'static str,
    /// Bytes from the address of a lane to that of the next; 0 for messages without lanes.
    pitch: usize,
    /// Sizes of the buffer for which the first element of each lane is inside, but not all that is read.
    sizes: std::ops::Range<usize>,
    /// Vectors of 16 dwords that are loaded.
    rows: usize,
}

/// `FLAT` and `SURFACE` are addresses of the lanes, `BASE` is that of the buffer.
const fn form(
    line: &'static str,
    pitch: usize,
    sizes: std::ops::Range<usize>,
    rows: usize,
) -> Form {
    Form {
        line,
        pitch,
        sizes,
        rows,
    }
}

pub(crate) const FORMS: &[Form] = &[
    form("lsc_load.ugm (M1, 16) D:d32x2 flat[FLAT]:a64", 4, 64..68, 2),
    form(
        "lsc_load.ugm (M1, 16) D:d32x2 flat[FLAT]:a64",
        8,
        124..128,
        2,
    ),
    form(
        "lsc_load.ugm (M1, 16) D:d32x3 flat[FLAT]:a64",
        12,
        184..192,
        3,
    ),
    form(
        "lsc_load.ugm (M1, 16) D:d32x4 bti(0x0)[SURFACE]:a32",
        16,
        244..256,
        4,
    ),
    form(
        "lsc_load.ugm (M1, 16) D:d32x8 bti(0x0)[SURFACE]:a32",
        4,
        64..92,
        8,
    ),
    form(
        "lsc_load.ugm (M1, 16) D:d64x2 flat[FLAT]:a64",
        8,
        128..136,
        4,
    ),
    form("lsc_load.ugm (M1, 16) D:d32 flat[FLAT]:a64", 4, 61..64, 1),
    form(
        "lsc_load.ugm (M1_NM, 1) D:d32x16t flat[BASE]:a64",
        0,
        1..64,
        1,
    ),
    form(
        "lsc_load.ugm (M1_NM, 1) D:d32x64t flat[BASE]:a64",
        0,
        1..256,
        4,
    ),
    form(
        "lsc_load.ugm (M1_NM, 1) D:d64x8t flat[BASE]:a64",
        0,
        1..64,
        1,
    ),
    form(
        "lsc_load_quad.ugm (M1, 16) D:d32.xyzw flat[FLAT]:a64",
        16,
        244..256,
        4,
    ),
    form(
        "lsc_load_quad.ugm (M1, 16) D:d32.xz flat[FLAT]:a64",
        4,
        64..72,
        2,
    ),
    form(
        "gather4_scaled.RGBA (M1, 16) T6 0x0:ud SURFACE.0 D.0",
        4,
        64..76,
        4,
    ),
    form(
        "gather4_scaled.RG (M1, 16) T6 0x0:ud SURFACE.0 D.0",
        8,
        124..128,
        2,
    ),
    form(
        "svm_gather4scaled.RGB (M1, 16) 0x0:uq FLAT.0 D.0",
        4,
        64..72,
        3,
    ),
    form("svm_gather.4.2 (M1, 16) FLAT.0 D.0", 4, 64..68, 2),
    form("oword_ld (8) T6 0x0:ud D.0", 0, 1..128, 2),
    form("oword_ld_unaligned (4) T6 0x0:ud D.0", 0, 1..64, 1),
    form("svm_block_ld (8) BASE(0,0)<0;1,0> D.0", 0, 1..128, 2),
    form(
        "lsc_load_block2d.ugm (M1_NM, 1) D:d32.16x4nn flat[BASE,0x3F,0x7,0x3F,0x0,0x0]",
        0,
        1..256,
        4,
    ),
    form(
        "lsc_load_block2d.ugm (M1_NM, 1) D:d16.16x8nt flat[BASE,0x3F,0x7,0x3F,0x0,0x0]",
        0,
        1..480,
        4,
    ),
    form(
        "lsc_load_block2d.ugm (M1_NM, 1) D:d32.4x8tn flat[BASE,0x3F,0x7,0x3F,0x0,0x0]",
        0,
        1..464,
        2,
    ),
    form(
        "lsc_load_block2d.ugm (M1_NM, 1) D:d8.2x16x8nn flat[BASE,0x3F,0x7,0x3F,0x0,0x0]",
        0,
        1..480,
        4,
    ),
];

/// Steps that only move bits, on `E` and `F`, 16 dwords each (`EB`, `FB` as bytes). Numbers are chosen anew.
const MOVES: &[&str] = &[
    "and (M1, 16) E(0,0)<1> E(0,0)<1;1,0> WORD:ud",
    "or (M1, 16) E(0,0)<1> E(0,0)<1;1,0> WORD:ud",
    "xor (M1, 16) E(0,0)<1> E(0,0)<1;1,0> WORD:ud",
    "shl (M1, 16) E(0,0)<1> E(0,0)<1;1,0> COUNT:ud",
    "shr (M1, 16) E(0,0)<1> E(0,0)<1;1,0> COUNT:ud",
    "bfn.x96 (M1, 16) E(0,0)<1> E(0,0)<1;1,0> WORD:ud WORD:ud",
    "bfe (M1, 16) E(0,0)<1> 0x9:ud COUNT:ud E(0,0)<1;1,0>",
    "bfi (M1, 16) E(0,0)<1> 0x7:ud COUNT:ud E(0,0)<1;1,0> WORD:ud",
    "not (M1, 16) E(0,0)<1> E(0,0)<1;1,0>",
    "mov (M1, 16) EB(0,BYTE)<4> EB(0,BYTE)<4;1,0>",
    "mov (M1, 16) EB(0,BYTE)<4> 0x0:ub",
    "mov (M1, 8) E(0,HALF)<1> E(0,HALF)<1;1,0>",
    "mov (M1, 8) E(0,HALF)<1> 0x5:ud",
    "mov (M1, 16) E(0,0)<1> E(0,LANE)<0;1,0>",
    "mov (M1, 16) F(0,0)<1> E(0,0)<1;1,0>",
    "mov (M1, 16) E(0,0)<1> F(0,0)<1;1,0>",
    "(P1) sel (M1, 16) E(0,0)<1> E(0,0)<1;1,0> F(0,0)<1;1,0>",
    "(P1) mov (M1, 16) E(0,0)<1> F(0,0)<1;1,0>",
    "addr_add (M1, 1) A0(0)<1> &E AFTER:uw; mov (M1, 8) F(0,0)<1> r[A0(0),0]<1;1,0>:ud",
    "lsc_store.slm (M1, 16) flat[LOCAL]:a32 E:d32; lsc_load.slm (M1, 16) E:d32 flat[LOCAL]:a32",
];

/// Steps of which only the whole result is known to be undefined.
const SUMS: &[&str] = &[
    "add (M1, 16) E(0,0)<1> E(0,0)<1;1,0> WORD:ud",
    "add (M1, 16) E(0,0)<1> E(0,0)<1;1,0> F(0,0)<1;1,0>",
    "mul (M1, 16) E(0,0)<1> E(0,0)<1;1,0> 0x6:ud",
    "mad (M1, 16) EF(0,0)<1> EF(0,0)<1;1,0> 0x3f000000:f 0x3f800000:f",
    "mul (M1, 16) EF(0,0)<1> EF(0,0)<1;1,0> 0x40000000:f",
    "min (M1, 16) E(0,0)<1> E(0,0)<1;1,0> WORD:ud",
    "cbit (M1, 16) E(0,0)<1> E(0,0)<1;1,0>",
    "bfrev (M1, 16) E(0,0)<1> E(0,0)<1;1,0>",
    "rol (M1, 16) E(0,0)<1> E(0,0)<1;1,0> COUNT:ud",
    "dp4a (M1, 16) ED(0,0)<1> ED(0,0)<1;1,0> WORD:d WORD:d",
    "cmp.lt (M1, 16) P2 E(0,0)<1;1,0> WORD:ud; (P2) sel (M1, 16) E(0,0)<1> WORD:ud WORD:ud",
    "cmp.eq (M1, 16) P2 E(0,0)<1;1,0> WORD:ud; (P2) mov (M1, 16) E(0,0)<1> F(0,0)<1;1,0>",
    "mov (M1, 16) EF(0,0)<1> E(0,0)<1;1,0>",
    "and (M1, 1) W(0,0)<1> E(0,LANE)<0;1,0> 0x1c:ud; addr_add (M1, 1) A0(0)<1> &E W(0,0)<0;1,0>; \
     mov (M1, 8) F(0,0)<1> r[A0(0),0]<1;1,0>:ud; mov (M1, 8) E(0,0)<1> F(0,0)<1;1,0>",
    "and (M1, 16) F(0,0)<1> E(0,0)<1;1,0> 0x1c:ud; lsc_load.slm (M1, 16) E:d32 flat[F]:a32",
    "dpas.s8.s8.8.1 (M1, 16) G.0 G.0 H.0 E(0,0); mov (M1, 16) E(0,0)<1> G(0,0)<1;1,0>",
    "mov (M1, 16) H(HROW,0)<1> E(0,0)<1;1,0>; dpas.s8.s8.8.1 (M1, 16) G.0 G.0 H.0 K(0,0); \
     mov (M1, 16) E(0,0)<1> G(0,0)<1;1,0>",
];

const HEAD: &str = "\
.version 4.1
.kernel \"outside\"
.decl BASE v_type=G type=uq num_elts=1 align=qword
.decl OUT v_type=G type=uq num_elts=1 align=qword
.decl LANE v_type=G type=uw num_elts=16 align=GRF
.decl FLAT v_type=G type=uq num_elts=16 align=GRF
.decl TO v_type=G type=uq num_elts=16 align=GRF
.decl SURFACE v_type=G type=ud num_elts=16 align=GRF
.decl LOCAL v_type=G type=ud num_elts=16 align=GRF
.decl D v_type=G type=ud num_elts=128 align=GRF
.decl E v_type=G type=ud num_elts=16 align=GRF
.decl EB v_type=G type=ub num_elts=64 align=GRF alias=<E, 0>
.decl EF v_type=G type=f num_elts=16 align=GRF alias=<E, 0>
.decl ED v_type=G type=d num_elts=16 align=GRF alias=<E, 0>
.decl F v_type=G type=ud num_elts=16 align=GRF
.decl G v_type=G type=d num_elts=16 align=GRF
.decl H v_type=G type=d num_elts=128 align=GRF
.decl K v_type=G type=d num_elts=16 align=GRF
.decl W v_type=G type=uw num_elts=2 align=dword
.decl A0 v_type=A num_elts=1
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.decl T6 v_type=T num_elts=1 v_name=T6
.input BASE offset=64 size=8
.input OUT offset=72 size=8
.kernel_attr Target=\"3d\"
.kernel_attr SimdSize=16
.kernel_attr SLMSize=1
    movs (M1_NM, 1) T6(0) 0x0:ud
    mov (M1, 4) LANE(0,0)<1> 0x3210:v
    mov (M1, 8) LANE(0,0)<1> 0x76543210:v
    add (M1, 8) LANE(0,8)<1> LANE(0,0)<1;1,0> 0x8:uw
    mul (M1, 16) SURFACE(0,0)<1> LANE(0,0)<1;1,0> PITCH:uw
    shl (M1, 16) LOCAL(0,0)<1> LANE(0,0)<1;1,0> 0x2:ud
    add (M1, 16) FLAT(0,0)<1> SURFACE(0,0)<1;1,0> BASE(0,0)<0;1,0>
    add (M1, 16) TO(0,0)<1> LOCAL(0,0)<1;1,0> OUT(0,0)<0;1,0>
    lsc_store.slm (M1, 16) flat[LOCAL]:a32 SURFACE:d32
    mov (M1, 16) F(0,0)<1> LOCAL(0,0)<1;1,0>
    setp (M1, 16) P1 WORD:ud
";

/// A program.
pub(crate) struct Program {
    form: &'static Form,
    /// Bytes of the buffer that it reads.
    pub(crate) size: usize,
    steps: Vec<String>,
}

impl Program {
    pub(crate) fn new(form: &'static Form, exact: bool, rng: &mut Rng) -> Self {
        let sizes = &form.sizes;
        let size = sizes.start + rng.below(sizes.len());
        let mut steps = vec![format!(
            "mov (M1, 16) E(0,0)<1> D({},0)<1;1,0>",
            rng.below(form.rows)
        )];
        for _ in 0..rng.below(6) {
            let all = MOVES.len() + if exact { 0 } else { 2 * SUMS.len() };
            let number = rng.below(all);
            let line = MOVES.get(number);
            let line = line.unwrap_or_else(|| &SUMS[(number - MOVES.len()) % SUMS.len()]);
            steps.extend(line.split("; ").map(|line| filled(line, rng)));
        }
        Self { form, size, steps }
    }

    pub(crate) fn text(&self) -> String {
        let mut rng = Rng::new(self.size as u64);
        let head = HEAD.replace("PITCH", &format!("0x{:x}", self.form.pitch));
        let mut text = head.replace("WORD", &format!("0x{:x}", rng.below(1 << 16)));
        for row in 0..8 {
            writeln!(text, "    mov (M1, 16) D({row},0)<1> 0x1:ud").unwrap();
            writeln!(text, "    mov (M1, 16) H({row},0)<1> 0x{row}020301:d").unwrap();
        }
        for name in ["G", "K"] {
            writeln!(text, "    mov (M1, 16) {name}(0,0)<1> 0x1020103:d").unwrap();
        }
        writeln!(text, "    {}", self.form.line).unwrap();
        for step in &self.steps {
            writeln!(text, "    {}", step.trim()).unwrap();
        }
        text + "    lsc_store.ugm (M1, 16) flat[TO]:a64 E:d32\n    ret (M1, 1)\n"
    }
}

/// A line with numbers in place of names.
fn filled(line: &str, rng: &mut Rng) -> String {
    let mut line = line.to_owned();
    let choices: [(&str, usize, usize, bool); 7] = [
        ("WORD", 1 << 31, 1, true),
        ("COUNT", 20, 1, true),
        ("BYTE", 4, 1, false),
        ("HALF", 2, 8, false),
        ("LANE", 16, 1, false),
        ("AFTER", 8, 4, true),
        ("HROW", 8, 1, false),
    ];
    for (name, end, times, hex) in choices {
        while line.contains(name) {
            let number = rng.below(end) * times;
            let number = if hex {
                format!("0x{number:x}")
            } else {
                number.to_string()
            };
            line = line.replacen(name, &number, 1);
        }
    }
    line
}
