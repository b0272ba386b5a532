//! Forms that only new compilers write, each accepted on its platforms, refused on the others, and accepted without a
//! platform.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use crate::common;
use visakit_isa::{Platform, Platforms};

const SINCE_DG2: Platforms = Platforms::since(Platform::Dg2);
const SINCE_PVC: Platforms = Platforms::since(Platform::Pvc);
const SINCE_XE2: Platforms = Platforms::since(Platform::Xe2);
const SINCE_XE3P: Platforms = Platforms::since(Platform::Xe3pCri);

/// Variables as compilers for registers of 64 bytes declare them.
const DECLARATIONS: &str = "\
.decl PAYLOAD v_type=G type=ud num_elts=16 align=wordx32
.decl BASE v_type=G type=uq num_elts=1 align=qword
.decl SIZE v_type=G type=d num_elts=1 align=dword
.decl PLACES v_type=G type=d num_elts=32 align=wordx32
.decl FAR v_type=G type=uq num_elts=16 align=wordx32
.decl BYTES v_type=G type=ub num_elts=256 align=wordx32
.decl WORDS v_type=G type=w num_elts=512 align=wordx32
.decl DWORDS v_type=G type=d num_elts=128 align=wordx32
.decl WEIGHTS v_type=G type=ud num_elts=128 align=wordx32
.decl ROWS v_type=G type=ud num_elts=64 align=wordx32
.decl SUMS v_type=G type=f num_elts=128 align=wordx32
.decl HALVES v_type=G type=hf num_elts=256 align=wordx32
.decl BRAIN v_type=G type=bf num_elts=256 align=wordx32
.decl FOURS v_type=G type=ud num_elts=128 align=wordx32
.decl SCALES v_type=G type=ub num_elts=128 align=wordx32
";

/// Variables of types that only the newest version has.
const NEWEST: &str = "\
.decl SMALL v_type=G type=bf8 num_elts=16 align=wordx32
.decl TENSOR v_type=G type=tf32 num_elts=16 align=wordx32
.decl EIGHTS v_type=G type=hf8 num_elts=16 align=wordx32
";

/// Lines, and the platforms that take them.
const FORMS: &[(&str, Platforms)] = &[
    // Rectangles, by operands and by one payload, loaded, transformed, transposed, prefetched and stored.
    (
        "lsc_load_block2d.ugm (M1, 1) WORDS:d16.2x16x8nn flat[BASE,SIZE,SIZE,SIZE,SIZE,SIZE]",
        SINCE_DG2,
    ),
    (
        "lsc_load_block2d.ugm (M1, 1) WORDS:d16.2x16x16nn flat[PAYLOAD + (0,0)]",
        SINCE_DG2,
    ),
    (
        "lsc_load_block2d.ugm (M1, 1) WEIGHTS:d16.16x16nt flat[PAYLOAD + (16,-8)]",
        SINCE_DG2,
    ),
    (
        "lsc_load_block2d.ugm (M1, 1) WEIGHTS:d32.8x16tn flat[PAYLOAD + (0,0)]",
        SINCE_DG2,
    ),
    (
        "lsc_load_block2d.ugm (M1, 1) BYTES:d8.32x8nn flat[PAYLOAD + (0,0)]",
        SINCE_DG2,
    ),
    (
        "lsc_load_block2d.ugm.ca.ca (M1, 1) %null:d16.16x8nn flat[PAYLOAD + (0,0)]",
        SINCE_DG2,
    ),
    (
        "lsc_store_block2d.ugm (M1, 1) flat[PAYLOAD + (0,0)] DWORDS:d32.16x8nn",
        SINCE_DG2,
    ),
    (
        "lsc_store_block2d.ugm (M1, 1) flat[PAYLOAD + (0,0)] SIZE:d8.4x1nn",
        SINCE_DG2,
    ),
    (
        "lsc_load_block2d.ugm (M1, 1) DWORDS:d32.2x1x64nn flat[PAYLOAD + (0,0)]",
        SINCE_XE3P,
    ),
    (
        "lsc_load_block2d.ugm (M1, 1) %null:d64.4x8x8nn flat[PAYLOAD + (0,0)]",
        SINCE_XE3P,
    ),
    (
        "lsc_load_block2d.tgm (M1, 1) BYTES:64x4 bti(0x4)[SIZE,SIZE]",
        SINCE_DG2,
    ),
    // Flat addresses with a base of their own, of any scale, and channels with gaps.
    (
        "lsc_store.ugm (M1, 32) flat(BASE)[0x4*PLACES]:a32s DWORDS:d32",
        SINCE_XE3P,
    ),
    (
        "lsc_load.ugm (M1, 16) DWORDS:d32 flat(BASE)[0x3*PLACES]:a32u",
        SINCE_XE3P,
    ),
    (
        "lsc_store_quad.ugm (M1, 16) flat[FAR]:a64 DWORDS:d32.xz",
        SINCE_XE3P,
    ),
    (
        "lsc_load.ugm.ca.ca.ca (M1, 16) DWORDS:d32 flat[FAR]:a64",
        SINCE_XE3P,
    ),
    // Units that add floats, and that have caching controls.
    (
        "lsc_atomic_fadd.slm (M1, 16) SUMS:d32 flat[PLACES]:a32 SUMS %null",
        SINCE_XE3P,
    ),
    (
        "lsc_load_quad.tgm.uc.uc (M1, 16) DWORDS:d32.x bti(0x4)[PLACES]:a32",
        SINCE_XE2,
    ),
    (
        "lsc_load.ugm.ri.ri (M1, 16) DWORDS:d32 flat[FAR]:a64",
        SINCE_XE2,
    ),
    // Products.
    (
        "dpas.hf.hf.8.8 (M1, 16) SUMS.0 SUMS.0 WEIGHTS.0 ROWS(0,0)",
        SINCE_PVC,
    ),
    (
        "dpas.bf.bf.8.4 (M1, 16) BRAIN.0 BRAIN.0 WEIGHTS.0 ROWS(0,8)",
        SINCE_PVC,
    ),
    (
        "dpas.s8.u8.8.1 (M1, 16) DWORDS.64 DWORDS.128 WEIGHTS.0 ROWS(1,0)",
        SINCE_PVC,
    ),
    (
        "dpas.tf32.tf32.8.8 (M1, 16) SUMS.0 %null.0 WEIGHTS.0 ROWS(0,0)",
        SINCE_PVC,
    ),
    (
        "bdpas.bf.bf.8.8 (M1, 16) SUMS.0 SUMS.0 BRAIN.0 BRAIN.0 SCALES(0,48) SCALES(0,56)",
        SINCE_XE3P,
    ),
    (
        "bdpas.bf8.hf8.8.8 (M1, 16) SUMS.0 %null.0 FOURS.0 FOURS.0 SCALES(0,16) %null(0,0)",
        SINCE_XE3P,
    ),
    (
        "bdpas.e2m1.e2m1.8.8 (M1, 16) SUMS.0 SUMS.0 FOURS.0 FOURS.0 SCALES(0,16) SCALES(1,24)",
        SINCE_XE3P,
    ),
    // Moves of floats that nothing computes with.
    (
        "mov (M1_NM, 16) SMALL(0,0)<1> HALVES(0,0)<1;1,0>",
        SINCE_PVC,
    ),
    (
        "mov (M1, 16) SUMS(0,0)<1> TENSOR(0,0)<1;1,0>",
        Platforms::since(Platform::PvcXt),
    ),
    (
        "mov.sat (M1_NM, 16) EIGHTS(0,0)<1> HALVES(0,0)<1;1,0>",
        Platforms::since(Platform::Xe3),
    ),
];

/// What no platform takes, although it takes each part.
const NOWHERE: &[&str] = &[
    // Eight lanes of products are older than narrow accumulators.
    "dpas.hf.hf.8.8 (M1, 8) HALVES.0 HALVES.0 WEIGHTS.0 ROWS(0,0)",
    // Atomic operations across devices no longer add floats where addresses have a base.
    "lsc_atomic_fadd.ugml (M1, 16) SUMS:d32 flat(BASE)[PLACES]:a32s SUMS %null",
    "lsc_load_block2d.ugm (M1, 1) %null:d32.2x32x65nn flat[PAYLOAD + (0,0)]",
    "lsc_load_block2d.ugm (M1, 1) DWORDS:d32.16x8nn flat[%null(0,0) + (0,0)]",
    "bdpas.bf.bf.8.8 (M1, 16) SUMS.0 SUMS.0 BRAIN.0 BRAIN.0 SCALES(0,24) SCALES(0,56)",
    "bdpas.bf.bf.8.8 (M1, 16) SUMS.0 SUMS.0 BRAIN.0 BRAIN.0 SCALES(0,32) SCALES(0,4)",
    "bdpas.e2m1.e2m1.8.8 (M1, 16) SUMS.0 SUMS.0 FOURS.0 FOURS.0 SCALES(0,32) SCALES(0,0)",
    "(P1) mov (M1_NM, 16) SMALL(0,0)<1> HALVES(0,0)<1;1,0>",
    "mov (M1, 16) SMALL(0,0)<1> SUMS(0,0)<1;1,0>",
    "mov.sat (M1, 16) TENSOR(0,0)<1> SUMS(0,0)<1;1,0>",
    "mov (M1, 16) SUMS(0,0)<1> (-)EIGHTS(0,0)<1;1,0>",
    "mad.sat (M1, 16) D0(0,0)<1> D0(0,0)<1;1,0> D1(0,0)<1;1,0> D1(0,0)<1;1,0>",
    "lsc_load.ugm (M1, 16) DWORDS:d32 flat[PLACES]:a64",
    "lsc_load.ugm (M1, 16) DWORDS:d32 flat[SUMS]:a32",
];

fn errors(line: &str, platform: &str) -> Vec<String> {
    let declarations = format!("{DECLARATIONS}{NEWEST}");
    let object = common::assembled(&common::text(&declarations, line));
    let report = common::report(&object.unwrap_or_else(|e| panic!("{line}: {e}")), platform);
    let findings = report.findings.iter();
    let errors = findings.filter(|f| f.rule.severity == visakit_validate::Severity::Error);
    errors.map(ToString::to_string).collect()
}

#[test]
fn new_forms_are_accepted_where_they_are() {
    let mut wrong = Vec::new();
    for (line, platforms) in FORMS {
        let general = errors(line, "");
        if !general.is_empty() {
            wrong.push(format!("{line}: {general:?}"));
        }
        for platform in Platform::ALL {
            let found = errors(line, platform.name());
            if found.is_empty() != platforms.contains(platform.set()) {
                wrong.push(format!("{line} on {platform}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_no_platform_takes_is_refused_without_one() {
    for line in NOWHERE {
        assert!(!errors(line, "").is_empty(), "{line}");
        for platform in Platform::ALL {
            assert!(
                !errors(line, platform.name()).is_empty(),
                "{line} on {platform}"
            );
        }
    }
}

/// Warnings: an operand of every kind that is one byte, or as much as its offset takes, too short.
#[test]
fn operands_without_a_region_have_space() {
    let cases = [
        (
            "lsc_load_block2d.ugm (M1, 1) SHORT:d16.16x8nn flat[PAYLOAD + (0,0)]",
            256,
        ),
        (
            "lsc_store_block2d.ugm (M1, 1) flat[PAYLOAD + (0,0)] SHORT:d32.16x8nn",
            512,
        ),
        (
            "lsc_store_block2d.ugm (M1, 1) flat[PAYLOAD + (0,0)] SHORT:d8.4x3nn",
            12,
        ),
        (
            "lsc_load_block2d.tgm (M1, 1) SHORT:33x2 bti(0x4)[SIZE,SIZE]",
            97,
        ),
        (
            "lsc_load_quad.tgm (M1, 16) SHORT:d32.xyz bti(0x4)[PLACES]:a32",
            192,
        ),
        (
            "lsc_load_quad.tgm (M1, 16) DWORDS:d32.x bti(0x4)[SHORT]:a32",
            64,
        ),
        ("lsc_load.ugm (M1, 16) SHORT:d64x2 flat[FAR]:a64", 256),
        ("lsc_load.ugm (M1, 16) DWORDS:d32 flat[SHORT64]:a64", 128),
        ("lsc_store.ugm (M1, 1) flat[FAR]:a64 SHORT:d32x16t", 64),
        (
            "lsc_atomic_icas.ugm (M1, 16) DWORDS:d32 flat[FAR]:a64 DWORDS SHORT",
            64,
        ),
        (
            "dpas.s8.s8.8.8 (M1, 16) SHORT.0 DWORDS.0 WEIGHTS.0 ROWS(0,0)",
            512,
        ),
        (
            "dpas.s8.s8.8.4 (M1, 16) DWORDS.0 SHORT.0 WEIGHTS.0 ROWS(0,0)",
            256,
        ),
        (
            "dpas.s8.s8.8.8 (M1, 16) DWORDS.0 DWORDS.0 SHORT.0 ROWS(0,0)",
            512,
        ),
        (
            "dpas.s4.s4.8.8 (M1, 16) DWORDS.0 DWORDS.0 WEIGHTS.0 SHORT(0,0)",
            256,
        ),
        (
            "dpas.tf32.tf32.8.2 (M1, 16) SUMS.0 SUMS.0 WEIGHTS.0 SHORT(0,0)",
            64,
        ),
        ("media_ld.nomod (30,4) T6 0x0:ud 0x0:ud SHORT.0", 126),
        (
            "gather4_scaled.RGA (M1, 16) T6 0x0:ud PLACES.0 SHORT.0",
            192,
        ),
        ("gather4_scaled.R (M1, 16) T6 0x0:ud SHORT.0 DWORDS.0", 64),
        ("gather_scaled.1 (M1, 16) T6 0x0:ud PLACES.0 SHORT.0", 64),
        ("svm_gather.8.2 (M1, 8) FAR.0 SHORT.0", 128),
        ("svm_gather4scaled.RG (M1, 16) 0x0:uq FAR.0 SHORT.0", 128),
        // Of the last OWord a byte has to be there.
        ("svm_block_ld (4) BASE(0,0)<0;1,0> SHORT.0", 49),
        ("oword_ld (8) T6 0x0:ud SHORT.0", 113),
        (
            "svm_atomic.add.64 (M1, 8) FAR.0 FAR.0 SHORT64.0 %null.0",
            64,
        ),
        (
            "dword_atomic.add (M1, 16) T6 ROWS.0 SHORT.0 %null.0 DWORDS.0",
            64,
        ),
        (
            "gather4_typed.RG (M1, 8) T6 PLACES.0 %null.0 %null.0 %null.0 SHORT.0",
            64,
        ),
        ("sample_3d.RGB (M1, 16) 0x0:uw S0 T6 SHORT.0 SUMS.0", 192),
        ("sample_3d.RGB (M1, 16) 0x0:uw S0 T6 SUMS.0 SHORT.0", 64),
        ("sample4.R (M1, 16) 0x0:uw S0 T6 SHORT.0 SUMS.0", 256),
        ("resinfo.R (M1, 8) T6 PLACES.0 SHORT.0", 32),
        ("raw_send (M1, 8) 0x5 2 1 0x4100000:ud SHORT.0 DWORDS.0", 64),
        (
            "raw_sends.5.1.2.1 (M1, 8) 0x0:ud 0x0:ud DWORDS.0 SHORT.0 DWORDS.0",
            64,
        ),
    ];
    let id = visakit_validate::rules::RAW_SIZE.id().to_string();
    for (line, bytes) in cases {
        let found = |bytes: u32| {
            // Dwords and qwords that share their storage, so that only the size of that counts.
            let declarations = format!(
                "{DECLARATIONS}.decl ROOT v_type=G type=ub num_elts={bytes} align=wordx32\n\
                 .decl SHORT v_type=G type=ud num_elts={} align=wordx32 alias=<ROOT,0>\n\
                 .decl SHORT64 v_type=G type=uq num_elts={} align=wordx32 alias=<ROOT,0>\n",
                bytes / 4,
                bytes / 8,
            );
            let object = common::assembled(&common::text(&declarations, line));
            let object = object.unwrap_or_else(|e| panic!("{line}: {e}"));
            let report = common::report(&object, "");
            let sizes = report
                .findings
                .iter()
                .filter(|f| f.rule.id().to_string() == id);
            sizes.count()
        };
        assert_eq!((found(bytes), found(bytes - 1)), (0, 1), "{line}");
    }
}

/// What an input is aligned to is its place, whatever its declaration says.
#[test]
fn inputs_of_products_count_by_their_place() {
    let id = visakit_validate::rules::DPAS_ALIGNMENT.id().to_string();
    let line = "dpas.s8.s8.8.8 (M1, 16) DWORDS.0 DWORDS.0 WEIGHTS.0 ROWS(0,0)";
    for (offset, wrong) in [(64, 0), (128, 0), (96, 1)] {
        let declarations = format!("{DECLARATIONS}.input WEIGHTS offset={offset} size=512\n");
        let object = common::assembled(&common::text(&declarations, line)).unwrap();
        let report = common::report(&object, "");
        let found = report
            .findings
            .iter()
            .filter(|f| f.rule.id().to_string() == id);
        assert_eq!(found.count(), wrong, "{offset}");
    }
}
