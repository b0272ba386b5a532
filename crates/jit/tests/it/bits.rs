//! Counts, searches and reversals of bits, in every rounding mode.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use super::{Random, ended, forms, words};
use visakit_exec::ThreadStart;

const TEXT: &str = "\
.version 4.1
.kernel \"k\"
.decl A v_type=G type=ud num_elts=32 align=GRF
.decl S v_type=G type=d num_elts=32 align=GRF alias=<A, 0>
.decl LZD v_type=G type=ud num_elts=32 align=GRF
.decl CBIT v_type=G type=ud num_elts=32 align=GRF
.decl FBL v_type=G type=ud num_elts=32 align=GRF
.decl FBH v_type=G type=ud num_elts=32 align=GRF
.decl FBHS v_type=G type=d num_elts=32 align=GRF
.decl BFREV v_type=G type=ud num_elts=32 align=GRF
.kernel_attr SimdSize=LANES
mov (M1_NM, 1) %cr0(0,0)<1> MODE:ud
lzd (M1, LANES) LZD(0,0)<1> A(0,0)<1;1,0>
cbit (M1, LANES) CBIT(0,0)<1> A(0,0)<1;1,0>
fbl (M1, LANES) FBL(0,0)<1> A(0,0)<1;1,0>
fbh (M1, LANES) FBH(0,0)<1> A(0,0)<1;1,0>
fbh (M1, LANES) FBHS(0,0)<1> S(0,0)<1;1,0>
bfrev (M1, LANES) BFREV(0,0)<1> A(0,0)<1;1,0>
ret (M1, 1)
";

/// What each variable holds for a source.
fn expected(a: u32) -> [u32; 6] {
    let of = |n: u32, bits: u32| if bits == 0 { u32::MAX } else { n };
    let differing = if a >> 31 == 0 { a } else { !a };
    [
        a.leading_zeros(),
        a.count_ones(),
        of(a.trailing_zeros(), a),
        of(a.leading_zeros(), a),
        of(differing.leading_zeros(), differing),
        a.reverse_bits(),
    ]
}

#[test]
fn as_the_processor_counts() {
    let mut random = Random(5);
    // To nearest, up, down, towards zero; denormals flushed or not.
    let modes = [0x4c0, 0x4d0, 0x4e0, 0x4f0, 0];
    let shapes = [1, 8, 16, 32].map(|lanes| modes.map(|mode| (lanes, mode)));
    for (lanes, mode) in shapes.into_iter().flatten() {
        let text = TEXT.replace("LANES", &lanes.to_string());
        let text = text.replace("MODE", &format!("{mode:#x}"));
        let (interpreted, mut programs) = forms(&text);
        programs.push(interpreted);
        for round in 0..40 {
            let full = u32::MAX >> (32 - lanes);
            let mask = if round % 2 == 0 {
                full
            } else {
                random.next() & full | 1
            };
            let number = |lane: u32| match (round, lane) {
                (0, _) => 1 << lane,
                (1, _) => u32::MAX << lane,
                (2, _) => u32::MAX >> lane,
                (_, 0) => 0,
                (_, 1) => u32::MAX,
                _ => random.next() >> (random.next() % 32),
            };
            let a: Vec<u32> = (0..32).map(number).collect();
            for program in &programs {
                let bytes = a.iter().flat_map(|x| x.to_le_bytes()).collect();
                let start = ThreadStart {
                    mask,
                    sets: vec![(program.variable("A").unwrap(), bytes)],
                    ..ThreadStart::default()
                };
                let group = ended(program, &start);
                let names = ["LZD", "CBIT", "FBL", "FBH", "FBHS", "BFREV"];
                for (n, name) in names.into_iter().enumerate() {
                    let found = words(program, &group, name);
                    for (lane, (a, found)) in a.iter().zip(found).enumerate() {
                        let same = mask >> lane & 1 == 0 || found == expected(*a)[n];
                        assert!(same, "{name} of {a:#x}: {found:#x}");
                    }
                }
            }
        }
    }
}
