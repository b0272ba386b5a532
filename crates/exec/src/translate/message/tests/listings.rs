//! Listings of messages of each kind.

use super::Machine;
use crate::operands::Lanes;
use std::fmt::Write;

const LINES: [&str; 46] = [
    "lsc_load.ugm (M1, 8) D:d32 flat[UQ]:a64",
    "lsc_load.ugm (M1, 8) D:d32x3 flat[UQ+0x10]:a64",
    "lsc_load.ugm (M1, 8) D:d32x2t flat[UQ]:a64",
    "lsc_load.ugm (M1_NM, 1) D:d32x8t bti(U2(0,0))[U]:a32",
    "lsc_load.ugm (M1, 8) D:d16c32h bss(U2(0,0))[U]:a32",
    "lsc_load.ugm (M1_NM, 1) D:d32t arg[U]:a32",
    "lsc_load.ugm (M1, 8) %null:d32 flat[UQ]:a64",
    "lsc_load.slm (M1, 8) D:d8c32 flat(S)[0x2*U+0x4]:a32",
    "lsc_load_quad.ugm (M1, 8) D:d32.xzw flat[UQ]:a64",
    "lsc_load_strided.ugm (M1, 8) D:d32 flat[UQ+0x4,0x8]:a64",
    "lsc_load_strided.ugm (M1, 8) D:d32 flat[0x2*UQ+0x4,0x8]:a64",
    "lsc_load_status.ugm (M1, 8) D:d32x2 flat[UQ]:a64",
    "lsc_store.ugm (M1, 8) ss(U2(0,0))[U]:a32 D:d32",
    "lsc_store_block2d.ugm (M1_NM, 1) flat[UQ,U,U2,U3,D2,D3] D:d8.3x2nn",
    "lsc_load_block2d.ugm (M1_NM, 1) D:d16.2x8x4nt flat[UQ,U,U2,U3,D2,D3]",
    "lsc_load_block2d.tgm (M1_NM, 1) D:8x2 bti(0x3)[D2,D3]",
    "lsc_load_quad.tgm (M1, 8) D:d32.xzw bti(0x3)[U,U2]:a32",
    "lsc_store_quad.tgm (M1, 8) bti(0x3)[U,U2]:a32 D:d32.yw",
    "lsc_atomic_iadd.ugm (M1, 4) Q:d64 flat[UQ]:a64 D2 %null",
    "lsc_atomic_iadd.slm (M1, 8) %null:d32 flat[U]:a32 D2 %null",
    "lsc_atomic_icas.ugm (M1, 8) D:d16c32 flat[UQ]:a64 D2 D3",
    "lsc_atomic_iadd.tgm (M1, 8) D:d32 bti(0x3)[U,U2]:a32 D2 %null",
    "lsc_apndctr_atomic_add.ugm (M1, 8) D:d32 bti(0x3) D2",
    "lsc_fence.ugm.evict.gpu",
    "lsc_fence.slm.none.group",
    "dword_atomic.cmpxchg (M1, 8) %slm U.0 U2.0 U3.0 D.0",
    "svm_atomic.add.64 (M1, 8) UQ.0 Q.0 Q.64 %null.0",
    "typed_atomic.cmpxchg (M1, 8) T6 U.0 U2.0 %null.0 %null.0 D2.0 D3.0 D.0",
    "gather4_scaled.RB (M1, 8) T6 0x10:ud U.0 D.0",
    "gather4_typed.RA (M1, 8) T6 U.0 U2.0 %null.0 %null.0 F.0",
    "scatter4_scaled.R (M1, 8) %scratch 0x0:ud U.0 D.0",
    "scatter.2 (M1, 8) T6 U2(0,0)<0;1,0> U.0 D.0",
    "svm_gather.1.8 (M1, 8) UQ.0 D.0",
    "svm_gather4scaled.RA (M1, 8) UQ(0,0)<0;1,0> Q.0 D.0",
    "svm_block_st (1) UQ(0,0)<0;1,0> D.0",
    "oword_ld (2) T6 U(0,0)<0;1,0> D.0",
    "media_ld.top (4,3) T6 1 U(0,0)<0;1,0> 0x2:ud D.0",
    "media_st.nomod (5,2) T6 0x0:ud 0x0:ud D.0",
    "sample_l.RA (M1, 8) 0xf10:uw SM T6 F.0 F2.0 F2.32 F2.64",
    "sample_lz.RG (M1, 16) 0x0:uw SM T6 H.0 F2.0 F2.64",
    "sample_lz.RG (M1, 8) 0x0:uw SM T6 H.0 F2.0 F2.64",
    "sample4.R (M1, 8) 0x0:uw SM T6 F.0 F2.0 F2.32",
    "load_lz.RGBA (M1, 8) 0x0:uw T6 D.0 U.0 U2.0",
    "resinfo.RGBA (M1, 8) T6 U2.0 U.0",
    "sampleinfo.RGBA (M1, 8) T6 U.0",
    // Its data leave their variable.
    "gather4_scaled.RGBA (M1, 16) T6 0x0:ud U.0 S.0",
];

#[test]
fn of_each_kind() {
    let mut text = String::new();
    for line in LINES {
        let machine = Machine::new(line);
        let size = line.split_once("(M1, ").and_then(|(_, size)| {
            let (size, _) = size.split_once(')')?;
            size.parse().ok()
        });
        let lanes = Lanes {
            count: size.unwrap_or(1),
            ..Lanes::ONE
        };
        writeln!(text, "{line}").unwrap();
        text.push_str("    ");
        machine.message.list(lanes, &mut text).unwrap();
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}
