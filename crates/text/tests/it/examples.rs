//! The examples of the written specification: each one assembles, can be written and read, prints,
//! and prints again as the same text. Intel's assembler refuses or crashes on some of them.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use visakit_isa::object::{Item, Object};
use visakit_isa::{Dialect, FieldName as F, Instruction, Op, Value, VectorOperand};
use visakit_text::asm::{Options, assemble};
use visakit_text::{Options as PrintOptions, Printer};

const HEAD: &str = ".version 4.1
.kernel \"examples\"
.decl VOFF v_type=G type=uq num_elts=32 align=GRF
.decl VVAL v_type=G type=ud num_elts=256 align=GRF
.decl VOLD v_type=G type=ud num_elts=32 align=GRF
.decl VADDEND v_type=G type=f num_elts=32 align=GRF
.decl VCMP v_type=G type=ud num_elts=32 align=GRF
.decl VIFEQ v_type=G type=ud num_elts=32 align=GRF
.decl V13 v_type=G type=ud num_elts=32 align=GRF
.decl BSSO v_type=G type=ud num_elts=1
.decl VDATA v_type=G type=ub num_elts=2048 align=GRF
.decl VSURF_BASE v_type=G type=uq num_elts=1
.decl VSURF_W v_type=G type=ud num_elts=1
.decl V_SURF_H v_type=G type=ud num_elts=1
.decl SURF_P v_type=G type=ud num_elts=1
.decl OFF_X v_type=G type=d num_elts=1
.decl OFF_Y v_type=G type=d num_elts=1
.decl Q v_type=G type=q num_elts=32 align=GRF
.decl P1 v_type=P num_elts=16
.decl T6 v_type=T num_elts=1
.kernel_attr Target=\"cm\"
";

/// The example, its operation, and fields with their values as numbers.
type Example = (&'static str, Op, &'static [(F, i64)]);

const EXAMPLES: &[Example] = &[
    (
        "lsc_load.ugm.uc.uc  (M1,32) VVAL:d32    flat[VOFF+0x100]:a64",
        Op::LSC_LOAD,
        &[
            (F::AddrOffset, 0x100),
            (F::AddrScale, 1),
            (F::CacheL1, 1),
            (F::AddrSize, 3),
        ],
    ),
    (
        "lsc_load.ugm  (M1,32) %null:d32  flat[VOFF]:a64",
        Op::LSC_LOAD,
        &[(F::CacheL1, 0), (F::CacheL3, 0), (F::DataSize, 3)],
    ),
    (
        "lsc_load.slm   (M1,32) VVAL:d32x4  flat[0x4*VOFF-0x10]:a32",
        Op::LSC_LOAD,
        &[
            (F::AddrScale, 4),
            (F::AddrOffset, -0x10),
            (F::Sfid, 3),
            (F::DataElems, 4),
        ],
    ),
    (
        "lsc_load.ugm (M1_NM, 1)  VVAL:d32t  arg[VOFF]:a32",
        Op::LSC_LOAD,
        &[(F::AddrType, 5), (F::DataOrder, 2), (F::DataElems, 1)],
    ),
    (
        "lsc_store.ugm     (M1,32) flat[VOFF]:a64  VVAL:d32",
        Op::LSC_STORE,
        &[(F::AddrType, 1)],
    ),
    (
        "lsc_store.slm     (M1,32) flat[VOFF]:a32  VVAL:d32x4",
        Op::LSC_STORE,
        &[(F::DataElems, 4), (F::AddrSize, 2)],
    ),
    (
        "lsc_atomic_iinc.ugm.uc.uc  (M1,32) %null:d32  flat[VOFF]:a64 %null %null",
        Op::LSC_ATOMIC_IINC,
        &[(F::CacheL3, 1)],
    ),
    (
        "lsc_atomic_fadd.slm  (M1,32) VOLD:d32  flat[VOFF]:a32 VADDEND %null",
        Op::LSC_ATOMIC_FADD,
        &[(F::Sfid, 3)],
    ),
    (
        "lsc_atomic_icas.ugm.uc.wb  (M1,32) VOLD:d32  flat[VOFF]:a64 VCMP VIFEQ",
        Op::LSC_ATOMIC_ICAS,
        &[(F::CacheL1, 1), (F::CacheL3, 3)],
    ),
    (
        "lsc_load.ugm.uc.uc (M1,32) V13:d32 bss(BSSO(0,0))[VOFF]:a64",
        Op::LSC_LOAD,
        &[(F::AddrType, 2)],
    ),
    (
        "lsc_load.ugm.uc.uc (M1,32) V13:d32 ss(BSSO(0,0))[VOFF]:a64",
        Op::LSC_LOAD,
        &[(F::AddrType, 3)],
    ),
    (
        "lsc_load.ugm          (M1_NM,1)  V13:d32x16t  bti(0x4)[VOFF]:a32",
        Op::LSC_LOAD,
        &[
            (F::AddrType, 4),
            (F::Surface, 4),
            (F::DataElems, 6),
            (F::DataOrder, 2),
        ],
    ),
    (
        "lsc_load_strided.ugm (M1,32) VVAL:d32 flat[0x2*VOFF+0x10, 0x8]:a64",
        Op::LSC_LOAD_STRIDED,
        &[
            (F::AddrScale, 2),
            (F::AddrOffset, 0x10),
            (F::Src0AddrPitch, 8),
        ],
    ),
    (
        "lsc_load_block2d.ugm  (M1_NM,1)  VDATA:d8.2x16x32nn    \
         flat[VSURF_BASE,VSURF_W,V_SURF_H,SURF_P,OFF_X,OFF_Y]",
        Op::LSC_LOAD_BLOCK2D,
        &[
            (F::Blocks, 2),
            (F::BlockWidth, 16),
            (F::BlockHeight, 32),
            (F::DataOrder, 1),
            (F::Vnni, 0),
        ],
    ),
    (
        "lsc_load_block2d.ugm  (M1_NM,1) VDATA:d16.1x32x16tn   \
         flat[VSURF_BASE,VSURF_W,V_SURF_H,SURF_P,OFF_X,OFF_Y]",
        Op::LSC_LOAD_BLOCK2D,
        &[
            (F::Blocks, 1),
            (F::BlockWidth, 32),
            (F::BlockHeight, 16),
            (F::DataOrder, 2),
            (F::Vnni, 0),
        ],
    ),
    (
        "lsc_load_block2d.ugm  (M1_NM,1) VDATA:d16.1x16x32nt   \
         flat[VSURF_BASE,VSURF_W,V_SURF_H,SURF_P,OFF_X,OFF_Y]",
        Op::LSC_LOAD_BLOCK2D,
        &[(F::DataOrder, 1), (F::Vnni, 1)],
    ),
    (
        "lsc_store_block2d.ugm (M1_NM,1)  \
         flat[VSURF_BASE,VSURF_W,V_SURF_H,SURF_P,OFF_X,OFF_Y]  VDATA:d16.16x32nn",
        Op::LSC_STORE_BLOCK2D,
        &[(F::Blocks, 1), (F::BlockWidth, 16), (F::BlockHeight, 32)],
    ),
    (
        "lsc_apndctr_atomic_add.ugm  (M1,32) VDATA:d32 bti(0xA0) VADDEND:d32",
        Op::LSC_APNDCTR_ATOMIC_ADD,
        &[(F::AddrType, 4), (F::Surface, 0xa0), (F::DataSize, 3)],
    ),
    (
        "lsc_apndctr_atomic_add.ugm.uc.uc (M1, 32) VDATA:d32 bss(BSSO(0,0)) VADDEND:d32",
        Op::LSC_APNDCTR_ATOMIC_ADD,
        &[(F::AddrType, 2), (F::CacheL1, 1), (F::CacheL3, 1)],
    ),
    (
        "(P1) BFI (16) VVAL(0,0)<1> 4:ud VOLD(0,0)<1;1,0> VCMP(0,0)<1;1,0> VVAL(2,0)<1;1,0>",
        Op::BFI,
        &[(F::Src0, 4)],
    ),
    (
        "(P1) QW_GATHER.1 (16) T6 VVAL.0 Q.0",
        Op::QW_GATHER,
        &[(F::NumBlocks, 0)],
    ),
];

/// A field as a number; constants are their values.
fn number(instruction: &Instruction, name: F) -> Option<i64> {
    match instruction.get(name)? {
        Value::Vector(VectorOperand::Immediate(constant)) => Some(constant.bits().cast_signed()),
        value => value.as_number(),
    }
}

fn printed(object: &Object<'_>) -> String {
    let mut text = Vec::new();
    let printer = Printer::new(object, PrintOptions::default());
    for (id, _) in object.routines() {
        let Ok(()) = printer.routine(id, &mut text);
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn every_example_is_an_instruction() {
    let lines: String = EXAMPLES
        .iter()
        .map(|(line, _, _)| format!("{line}\n"))
        .collect();
    let text = format!("{HEAD}{lines}");
    for dialect in Dialect::ALL {
        let options = Options {
            dialect: Some(dialect),
            ..Options::default()
        };
        let object = assemble(text.as_bytes(), &options).unwrap_or_else(|f| panic!("{}", f[0]));
        let code = &object.kernels[0].body().unwrap().code;
        assert_eq!(code.len(), EXAMPLES.len());
        for (item, (line, op, fields)) in code.iter().zip(EXAMPLES) {
            let Item::Instruction(instruction) = item else {
                panic!("{line}")
            };
            assert_eq!(instruction.op, *op, "{line}");
            for (name, value) in *fields {
                assert_eq!(number(instruction, *name), Some(*value), "{name} of {line}");
            }
        }
        let bytes = visakit_encode::write(&object).unwrap();
        let reading = visakit_parse::ReadOptions {
            lenient: false,
            dialect: Some(dialect),
        };
        let read = visakit_parse::read_with(&bytes, reading).unwrap().object;
        assert_eq!(read.kernels[0].body(), object.kernels[0].body());
        let once = printed(&read);
        let again = assemble(once.as_bytes(), &options).unwrap_or_else(|f| panic!("{}", f[0]));
        assert_eq!(&again.kernels[0].body().unwrap().code, code);
        assert_eq!(printed(&again), once);
    }
}
