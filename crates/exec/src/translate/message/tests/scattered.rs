//! Gathers, scatters and atomics that are not LSC.

use super::Machine;
use crate::fault::FaultKind;
use crate::memory::Surface;
use crate::observe::Space;

fn numbers(count: u32) -> Vec<u32> {
    (0..count).map(|i| 0x1000 + i).collect()
}

#[test]
fn gather4_scaled() {
    // GRF 32: 8 lanes of a channel fill a register, 16 two of them.
    let mut m = Machine::new("gather4_scaled.RB (M1, 8) T6 0x10:ud U.0 D.0");
    m.surface(&numbers(64));
    // Byte offsets; the lowest two bits do not count.
    m.set("U", &[0u32, 16, 33, 4, 8, 12, 20, 24]);
    m.set("D", &[7u32; 24]);
    m.run(0b1011_0111);
    let d: Vec<u32> = m.get("D", 24);
    assert_eq!(
        d[..8],
        [0x1004, 0x1008, 0x100c, 7, 0x1006, 0x1007, 7, 0x100a]
    );
    // B skips one dword of memory but no register.
    assert_eq!(
        d[8..16],
        [0x1006, 0x100a, 0x100e, 7, 0x1008, 0x1009, 7, 0x100c]
    );
    assert_eq!(d[16..], [7; 8]);
    // Two accesses for each of six lanes.
    assert_eq!(m.events().len(), 12);
    assert_eq!(m.events()[0].space, Space::Surface(3));
    assert_eq!((m.events()[1].address, m.events()[1].bytes), (0x18, 4));
}

#[test]
fn channels_start_at_a_register() {
    let mut m = Machine::new("gather4_scaled.RG (M1, 1) T6 0x0:ud U.0 D.0");
    m.surface(&numbers(4));
    m.run(1);
    assert_eq!(m.get::<u32>("D", 9)[8], 0x1001);
    let mut m = Machine::with_grf("gather4_scaled.RG (M1, 8) T6 0x0:ud U.0 D.0", 64);
    m.surface(&numbers(4));
    m.run(1);
    assert_eq!(m.get::<u32>("D", 17)[16], 0x1001);
}

/// Elements of the only lane that follow each other move at once: from the first one on, which may be another channel.
#[test]
fn only_lane() {
    let mut m = Machine::new("scatter4_scaled.G (M1, 1) T6 0x10:ud U.0 D.0");
    let buffer = m.surface(&numbers(8));
    m.set("D", &[7u32, 8]).run(1);
    let mut expected = numbers(8);
    expected[5] = 7;
    assert_eq!(m.read::<u32>(buffer), expected);
    let mut m = Machine::new("gather4_scaled.B (M1, 1) T6 0x0:ud U.0 D.0");
    m.surface(&numbers(8));
    m.set("U", &[20u32]).run(1);
    assert_eq!(m.get::<u32>("D", 1), [0x1007]);
    // Outside of the surface is nothing, of memory a fault.
    assert_eq!(m.set("U", &[24u32]).run(1).get::<u32>("D", 1), [0]);
    for (size, elements) in [
        ("d32", 1),
        ("d32x2t", 2),
        ("d32x3t", 3),
        ("d32x4t", 4),
        ("d32x8t", 8),
    ] {
        let mut m = Machine::new(&format!("lsc_load.ugm (M1, 1) D:{size} flat[UQ]:a64"));
        let (_, address) = m.buffer(&numbers(16));
        m.set("UQ", &[address + 12]).run(1);
        assert_eq!(m.get::<u32>("D", elements), numbers(16)[3..3 + elements]);
        m.set("UQ", &[address + 0x1_0000_0000]);
        assert!(matches!(
            m.fault(1).0,
            FaultKind::MemoryOutOfBounds { write: false, .. }
        ));
    }
}

#[test]
fn stateful_bounds() {
    let mut m = Machine::new("gather4_scaled.RG (M1, 8) T6 0x0:ud U.0 D.0");
    m.surface(&numbers(4));
    m.set("D", &[7u32; 16]);
    m.set("U", &[12u32, 16, 8, u32::MAX, 0, 0, 0, 0]);
    m.run(0b1111);
    let d: Vec<u32> = m.get("D", 16);
    assert_eq!(d[..5], [0x1003, 0, 0x1002, 0, 7]);
    assert_eq!(d[8..13], [0, 0, 0x1003, 0, 7]);

    let mut m = Machine::new("scatter4_scaled.RG (M1, 8) T6 0x0:ud U.0 D.0");
    let buffer = m.surface(&numbers(4));
    m.set("D", &(0..16).collect::<Vec<u32>>());
    m.set("U", &[12u32, 16, 0, u32::MAX]);
    m.run(0b1111);
    assert_eq!(m.read::<u32>(buffer), [2, 10, 0x1002, 0]);
}

/// A surface that is a part of a buffer ends where it ends.
#[test]
fn part_of_a_buffer() {
    let mut m = Machine::new("gather4_scaled.R (M1, 4) T6 0x0:ud U.0 D.0");
    let buffer = m.surface(&numbers(8));
    m.memory
        .bind(
            3,
            Surface::Buffer {
                buffer,
                offset: 8,
                size: 8,
            },
        )
        .unwrap();
    m.set("U", &[0u32, 4, 8, 12]);
    m.run(0xf);
    assert_eq!(m.get::<u32>("D", 4), [0x1002, 0x1003, 0, 0]);
}

#[test]
fn unknown_surface() {
    let mut m = Machine::new("gather4_scaled.R (M1, 4) T6 0x0:ud U.0 D.0");
    m.set("T6", &[9u32]);
    assert_eq!(m.fault(1).0, FaultKind::UnknownSurface(9));
    let mut m = Machine::new("gather4_scaled.R (M1, 4) %bss 0x0:ud U.0 D.0");
    m.set("%bss", &[0x4000u32]);
    assert_eq!(m.fault(1).0, FaultKind::UnknownSurface(0x4000));
    let (buffer, _) = m.buffer(&[5u32]);
    m.memory
        .bind_handle(0x4000, Surface::whole(buffer))
        .unwrap();
    m.run(1);
    assert_eq!(m.get::<u32>("D", 1), [5]);
}

#[test]
fn slm_and_scratch() {
    // The tag of local addresses is cut off.
    let mut m = Machine::new("gather4_scaled.R (M1, 4) %slm 0x4:ud U.0 D.0");
    m.slm[8..12].copy_from_slice(&77u32.to_le_bytes());
    m.set("U", &[0x1000_0004u32, 0x1000_0000, 0x1000_1000, 4]);
    m.set("D", &[9u32; 4]);
    m.run(0b1111);
    assert_eq!(m.get::<u32>("D", 4), [77, 0, 0, 77]);
    assert_eq!(m.events()[0].space, Space::Local);
    assert_eq!(m.events()[0].address, 8);

    let mut m = Machine::new("scatter4_scaled.R (M1, 4) %scratch 0x0:ud U.0 D.0");
    m.set("U", &[4u32, 8, 1000, 0]).set("D", &[1u32, 2, 3, 4]);
    m.run(0b1111);
    assert_eq!(m.scratch[..12], [4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
}

#[test]
fn bytes_and_words() {
    let data: Vec<u8> = (0xf0..=0xff).collect();
    for (text, expected) in [
        ("gather_scaled.1", [0xf3u32, 0xfd, 9, 0xf1]),
        ("gather_scaled.2", [0xf4f3, 0xfefd, 9, 0xf2f1]),
        ("gather_scaled.4", [0xf6f5_f4f3, 0, 9, 0xf4f3_f2f1]),
    ] {
        let mut m = Machine::new(&format!("{text} (M1, 4) T6 0x1:ud U.0 D.0"));
        m.surface(&data);
        m.set("U", &[2u32, 12, 0, 0]).set("D", &[9u32; 4]);
        m.run(0b1011);
        assert_eq!(m.get::<u32>("D", 4), expected, "{text}");
    }
    let mut m = Machine::new("scatter_scaled.2 (M1, 4) T6 0x0:ud U.0 D.0");
    let buffer = m.surface(&[0u8; 8]);
    m.set("U", &[1u32, 3, 5, 7]).set(
        "D",
        &[0x1111_2222u32, 0x3333_4444, 0x5555_6666, 0x7777_8888],
    );
    m.run(0b1111);
    // The last word is half outside.
    assert_eq!(
        m.read::<u8>(buffer),
        [0, 0x22, 0x22, 0x44, 0x44, 0x66, 0x66, 0]
    );
}

/// GATHER counts offsets in elements.
#[test]
fn old_gather() {
    let data: Vec<u8> = (0..64).collect();
    for (text, expected) in [
        ("gather.1", [3u32, 4, 9, 8]),
        ("gather.2", [0x0706, 0x0908, 9, 0x1110]),
        ("gather.4", [0x0f0e_0d0c, 0x1312_1110, 9, 0x2322_2120]),
    ] {
        let mut m = Machine::new(&format!("{text} (M1, 8) T6 0x1:ud U.0 D.0"));
        m.surface(&data);
        m.set("U", &[2u32, 3, 0, 7]).set("D", &[9u32; 8]);
        m.run(0b1011);
        assert_eq!(m.get::<u32>("D", 4), expected, "{text}");
    }
    let mut m = Machine::new("scatter.2 (M1, 8) T6 U2(0,0)<0;1,0> U.0 D.0");
    let buffer = m.surface(&[0u16; 8]);
    m.set("U2", &[2u32]);
    m.set("U", &[0u32, 1, 2, 3]).set("D", &[1u32, 2, 3, 4]);
    m.run(0b1011);
    assert_eq!(m.read::<u16>(buffer), [0, 0, 1, 2, 0, 4, 0, 0]);
}

/// The block of QW_GATHER number j starts j qwords after the lane's byte offset.
#[test]
fn qwords() {
    let data: Vec<u64> = (0..16).map(|i| 100 + i).collect();
    let mut m = Machine::new("qw_gather.2 (M1, 4) T6 U.0 Q.0");
    m.surface(&data);
    m.set("U", &[0u32, 8, 64, 120]).set("Q", &[7u64; 8]);
    m.run(0b1101);
    // dst[j * exec_size + i]; the second qword of lane 3 is outside.
    assert_eq!(m.get::<u64>("Q", 8), [100, 7, 108, 115, 101, 7, 109, 0]);

    let mut m = Machine::new("qw_scatter.2 (M1, 4) T6 U.0 Q.0");
    let buffer = m.surface(&[0u64; 6]);
    m.set("U", &[32u32, 8, 0, 16])
        .set("Q", &(1..=8).collect::<Vec<u64>>());
    m.run(0b1001);
    assert_eq!(m.read::<u64>(buffer), [0, 0, 4, 8, 1, 5]);
}

#[test]
fn svm_gather_of_every_block() {
    let data: Vec<u8> = (0..=255).collect();
    let dword = |at: u32| 0x0302_0100u32.wrapping_add(at * 0x0101_0101);
    let mut m = Machine::new("svm_gather.4.2 (M1, 8) UQ.0 D.0");
    let (_, base) = m.buffer(&data);
    m.set("UQ", &[base, base + 16, base + 32, base + 4]);
    m.run(0b1101);
    let d: Vec<u32> = m.get("D", 16);
    assert_eq!(d[..4], [dword(0), 0, dword(32), dword(4)]);
    assert_eq!(d[8..12], [dword(4), 0, dword(36), dword(8)]);

    let mut m = Machine::new("svm_gather.8.2 (M1, 8) UQ.0 Q.0");
    let (_, base) = m.buffer(&data);
    m.set("UQ", &[base + 8, base + 16]);
    m.run(0b11);
    let q: Vec<u64> = m.get("Q", 16);
    assert_eq!(
        [q[0], q[1], q[8]],
        [
            0x0f0e_0d0c_0b0a_0908,
            0x1716_1514_1312_1110,
            0x1716_1514_1312_1110
        ]
    );

    for (blocks, expected) in [
        (1, [[3u8, 0, 0, 0], [9, 0, 0, 0]]),
        (2, [[3, 4, 0, 0], [9, 10, 0, 0]]),
        (4, [[3, 4, 5, 6], [9, 10, 11, 12]]),
    ] {
        let mut m = Machine::new(&format!("svm_gather.1.{blocks} (M1, 8) UQ.0 D.0"));
        let (_, base) = m.buffer(&data);
        m.set("UQ", &[base + 3, base + 9]);
        m.run(0b11);
        assert_eq!(m.get::<[u8; 4]>("D", 2), expected);
    }
    let mut m = Machine::new("svm_gather.1.8 (M1, 8) UQ.0 D.0");
    let (_, base) = m.buffer(&data);
    m.set("UQ", &[base + 3, base + 9]);
    m.run(0b11);
    assert_eq!(m.get::<u8>("D", 10), [3, 4, 5, 6, 7, 8, 9, 10, 9, 10]);
}

#[test]
fn svm_scatter_of_every_block() {
    let mut m = Machine::new("svm_scatter.4.2 (M1, 8) UQ.0 D.0");
    let (buffer, base) = m.buffer(&[0u32; 8]);
    m.set("UQ", &[base + 16, base])
        .set("D", &(1..=16).collect::<Vec<u32>>());
    m.run(0b11);
    assert_eq!(m.read::<u32>(buffer), [2, 10, 0, 0, 1, 9, 0, 0]);
    let mut m = Machine::new("svm_scatter.1.2 (M1, 8) UQ.0 D.0");
    let (buffer, base) = m.buffer(&[0u8; 8]);
    m.set("UQ", &[base + 5, base + 1])
        .set("D", &[0xaabb_0201u32, 0xccdd_0403]);
    m.run(0b11);
    assert_eq!(m.read::<u8>(buffer), [0, 3, 4, 0, 0, 1, 2, 0]);
}

#[test]
fn svm_gather4() {
    let mut m = Machine::new("svm_gather4scaled.RA (M1, 8) UQ(0,0)<0;1,0> Q.0 D.0");
    let (_, base) = m.buffer(&numbers(16));
    m.set("UQ", &[base + 4]).set("Q", &[0u64, 8]);
    m.run(0b11);
    let d: Vec<u32> = m.get("D", 16);
    assert_eq!([d[0], d[1], d[8], d[9]], [0x1001, 0x1003, 0x1004, 0x1006]);
}

#[test]
fn flat_faults() {
    let mut m = Machine::new("svm_gather.4.1 (M1, 8) UQ.0 D.0");
    let (_, base) = m.buffer(&numbers(4));
    m.set("UQ", &[base, base + 12, base + 16, 0]);
    assert_eq!(
        m.fault(0b111),
        (
            FaultKind::MemoryOutOfBounds {
                write: false,
                bytes: 4
            },
            Some(2),
            Some(base + 16)
        )
    );
    // A disabled lane may have any address.
    m.run(0b0011);
    assert_eq!(m.fault(0b1000).2, Some(0));
    m.set("UQ", &[base, base + 2]);
    assert_eq!(
        m.fault(0b11),
        (FaultKind::Misaligned, Some(1), Some(base + 2))
    );
}

#[test]
fn buffers_of_one_message() {
    let mut m = Machine::new("svm_gather.4.1 (M1, 8) UQ.0 D.0");
    let (_, a) = m.buffer(&[1u32, 2]);
    let (_, b) = m.buffer(&[3u32, 4]);
    m.set("UQ", &[a, b, a + 4, b + 4]);
    m.run(0xf);
    assert_eq!(m.get::<u32>("D", 4), [1, 3, 2, 4]);
}

#[test]
fn dword_atomics() {
    // Lanes on the same address follow each other.
    let mut m = Machine::new("dword_atomic.add (M1, 8) T6 U.0 U2.0 %null.0 D.0");
    let buffer = m.surface(&[10u32, 20]);
    m.set("U", &[0u32, 4, 0, 0, 4, 400, 0, 0]);
    m.set("U2", &[1u32, 2, 3, 4, 5, 6, 7, 8]);
    m.set("D", &[9u32; 8]);
    m.run(0b0011_1111);
    assert_eq!(m.get::<u32>("D", 8), [10, 20, 11, 14, 22, 0, 9, 9]);
    assert_eq!(m.read::<u32>(buffer), [18, 27]);
    assert!(m.events()[0].atomic && m.events()[0].read && m.events()[0].write);

    // cmpxchg: src0 is stored where memory has src1.
    let mut m = Machine::new("dword_atomic.cmpxchg (M1, 8) %slm U.0 U2.0 U3.0 D.0");
    m.slm[..4].copy_from_slice(&5u32.to_le_bytes());
    m.set("U", &[0x1000_0000u32, 0])
        .set("U2", &[6u32, 7])
        .set("U3", &[5u32, 5]);
    m.run(0b11);
    assert_eq!(m.get::<u32>("D", 2), [5, 6]);
    assert_eq!(m.slm[..4], [6, 0, 0, 0]);

    let mut m = Machine::new("dword_atomic.add (M1, 8) T6 U.0 U2.0 %null.0 D.0");
    m.surface(&[10u32, 20]);
    m.set("U", &[2u32]);
    assert_eq!(m.fault(1), (FaultKind::Misaligned, Some(0), Some(2)));
}

#[test]
fn every_dword_operation() {
    let minus = |v: i32| v.cast_unsigned();
    for (op, old, src0, new, returned) in [
        ("add", 5u32, 3u32, 8u32, 5u32),
        ("sub", 5, 7, minus(-2), 5),
        ("inc", 5, 0, 6, 5),
        ("dec", 5, 0, 4, 5),
        ("min", minus(-1), 3, 3, minus(-1)),
        ("max", minus(-1), 3, minus(-1), minus(-1)),
        ("xchg", 5, 3, 3, 5),
        ("and", 6, 3, 2, 6),
        ("or", 6, 3, 7, 6),
        ("xor", 6, 3, 5, 6),
        ("minsint", minus(-1), 3, minus(-1), minus(-1)),
        ("maxsint", minus(-1), 3, 3, minus(-1)),
        ("predec", 5, 0, 4, 4),
        (
            "fmax",
            1f32.to_bits(),
            2f32.to_bits(),
            2f32.to_bits(),
            1f32.to_bits(),
        ),
        (
            "fmin",
            1f32.to_bits(),
            2f32.to_bits(),
            1f32.to_bits(),
            1f32.to_bits(),
        ),
        (
            "fadd",
            1f32.to_bits(),
            2f32.to_bits(),
            3f32.to_bits(),
            1f32.to_bits(),
        ),
        (
            "fsub",
            1f32.to_bits(),
            2f32.to_bits(),
            (-1f32).to_bits(),
            1f32.to_bits(),
        ),
    ] {
        let source = if matches!(op, "inc" | "dec" | "predec") {
            "%null.0"
        } else {
            "U2.0"
        };
        let mut m = Machine::new(&format!(
            "dword_atomic.{op} (M1, 1) T6 U.0 {source} %null.0 D.0"
        ));
        let buffer = m.surface(&[old]);
        m.set("U2", &[src0]);
        m.run(1);
        assert_eq!(m.read::<u32>(buffer), [new], "{op}");
        assert_eq!(m.get::<u32>("D", 1), [returned], "{op}");
    }
    // fcmpwr compares with src0 and writes src1.
    let mut m = Machine::new("dword_atomic.fcmpwr (M1, 1) T6 U.0 F.0 F2.0 D.0");
    let buffer = m.surface(&[-0.0f32]);
    m.set("F", &[0.0f32]).set("F2", &[4.0f32]);
    m.run(1);
    assert_eq!(m.read::<f32>(buffer), [4.0]);
}

#[test]
fn narrow_and_wide_atomics() {
    let mut m = Machine::new("dword_atomic.add.16 (M1, 8) T6 U.0 U2.0 %null.0 D.0");
    let buffer = m.surface(&[0xffffu16, 7, 1, 2]);
    // Only the lower half of a dword of src0 counts.
    m.set("U", &[0u32, 6]).set("U2", &[0x1234_0002u32, 3]);
    m.set("D", &[u32::MAX; 2]);
    m.run(0b11);
    assert_eq!(m.read::<u16>(buffer), [1, 7, 1, 5]);
    assert_eq!(m.get::<u32>("D", 2), [0xffff, 2]);

    let mut m = Machine::new("svm_atomic.add.64 (M1, 8) UQ.0 Q.0 Q.64 %null.0");
    let (buffer, base) = m.buffer(&[u64::MAX, 7]);
    m.set("UQ", &[base, base + 8, base + 8]);
    let mut q = [0u64; 16];
    q[8..11].copy_from_slice(&[2, 3, 1 << 40]);
    m.set("Q", &q);
    m.run(0b111);
    assert_eq!(m.get::<u64>("Q", 3), [u64::MAX, 7, 10]);
    assert_eq!(m.read::<u64>(buffer), [1, 10 + (1 << 40)]);
    m.set("UQ", &[base + 4]);
    assert_eq!(m.fault(1).0, FaultKind::Misaligned);
    m.set("UQ", &[8u64]);
    assert!(matches!(m.fault(1).0, FaultKind::MemoryOutOfBounds { .. }));
}

/// The retired forms count in dwords.
#[test]
fn retired() {
    let mut m = Machine::old("3.2", "gather4.RB (M1, 8) T6 0x1:ud U.0 D.0");
    m.surface(&numbers(16));
    m.set("U", &[0u32, 2, 0]).set("D", &[7u32; 24]).run(0b011);
    let d: Vec<u32> = m.get("D", 24);
    assert_eq!([d[0], d[1], d[2]], [0x1001, 0x1003, 7]);
    assert_eq!([d[8], d[9], d[10]], [0x1003, 0x1005, 7]);
    assert_eq!(d[16], 7);

    let mut m = Machine::old("3.2", "scatter4.RG (M1, 8) T6 0x1:ud U.0 D.0");
    let buffer = m.surface(&[0u32; 6]);
    m.set("U", &[3u32, 0]);
    m.set("D", &[1u32, 2, 0, 0, 0, 0, 0, 0, 3, 4]).run(0b11);
    assert_eq!(m.read::<u32>(buffer), [0, 2, 4, 0, 1, 3]);

    let mut m = Machine::old(
        "3.1",
        "untyped_atomic.add (M1, 8) T6 0x1:ud U.0 U2.0 V0.0 D.0",
    );
    let buffer = m.surface(&[10u32, 20, 30]);
    m.set("U", &[1u32, 0, 1])
        .set("U2", &[1u32, 2, 3])
        .run(0b111);
    assert_eq!(m.get::<u32>("D", 3), [30, 20, 31]);
    assert_eq!(m.read::<u32>(buffer), [10, 22, 34]);
}

#[test]
fn reserved_indices() {
    let mut m = Machine::new("scatter4_scaled.R (M1, 1) T6 0x0:ud U.0 D.0");
    m.set("D", &[5u32]);
    m.set("T6", &[254u32]).run(1);
    assert_eq!((m.slm[0], m.scratch[0]), (5, 0));
    m.set("T6", &[255u32]).run(1);
    assert_eq!(m.scratch[0], 5);
    // A surface bound there takes precedence.
    let (buffer, _) = m.buffer(&[0u32]);
    m.memory.bind(255, Surface::whole(buffer)).unwrap();
    m.run(1);
    assert_eq!(m.read::<u32>(buffer), [5]);
}

#[test]
fn highest_lane_stays() {
    let mut m = Machine::new("scatter4_scaled.R (M1, 4) T6 0x0:ud U.0 D.0");
    let buffer = m.surface(&[0u32]);
    m.set("D", &[1u32, 2, 3, 4]).run(0b0111);
    assert_eq!(m.read::<u32>(buffer), [3]);
}
