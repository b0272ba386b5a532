//! Accesses beyond the end of a buffer, in its last page.

use super::*;

const PAGE: u64 = Memory::PAGE;

/// Three lanes read three floats each, as four: the last one begins inside and ends outside. Many ways to read.
#[test]
fn reads_give_zeroes() {
    let last = [7u32, 8, 9];
    let three: Vec<u32> = (1..=9).collect();
    for (text, lanes, expected) in [
        (
            "lsc_load.ugm (M1, 4) D:d32x4t flat[UQ]:a64",
            1,
            vec![7, 8, 9, 0],
        ),
        (
            "lsc_load.ugm (M1, 1) D:d32x4t flat[UQ]:a64",
            1,
            vec![7, 8, 9, 0],
        ),
        (
            "lsc_load.ugm (M1, 1) D:d64x8t flat[UQ]:a64",
            1,
            [&last[..], &[0; 13]].concat(),
        ),
        (
            "svm_block_ld (4) UQ(0,0)<0;1,0> D.0",
            1,
            vec![7, 8, 9, 0, 0, 0, 0, 0],
        ),
    ] {
        let Ok(mut m) = build("4.1", text, 32) else {
            panic!("{text}");
        };
        let (_, base) = m.buffer(&three);
        m.set("UQ", &[base + 24; 4]).set("D", &[0x55u32; 32]);
        assert!(
            matches!(m.fault(lanes).0, FaultKind::MemoryOutOfBounds { .. }),
            "{text}"
        );
        m.memory.set_exact(false);
        m.run(lanes);
        assert_eq!(m.get::<u32>("D", expected.len()), expected, "{text}");
    }
}

/// Each lane for itself, and all of them as one run of bytes.
#[test]
fn lanes_read_up_to_the_page() {
    let mut m = Machine::new("lsc_load.ugm (M1, 8) D:d32 flat[UQ]:a64");
    m.memory.set_exact(false);
    let (_, base) = m.buffer(&[1u32, 2, 3]);
    let (_, full) = m.buffer(&[6u32; 1024]);
    let run: Vec<u64> = (0..8).map(|lane| base + 4 * lane).collect();
    m.set("UQ", &run).run(0xff);
    assert_eq!(m.get::<u32>("D", 8), [1, 2, 3, 0, 0, 0, 0, 0]);
    let apart = [
        base + 8,
        base + PAGE - 4,
        base,
        base + 12,
        base,
        base,
        base,
        base,
    ];
    m.set("UQ", &apart).run(0xff);
    assert_eq!(m.get::<u32>("D", 8), [3, 0, 1, 0, 1, 1, 1, 1]);
    // Beyond the page, across its end, before the buffer, and after a buffer that fills its page.
    for outside in [
        base + PAGE,
        base + PAGE - 2,
        base - 4,
        full + PAGE,
        full + PAGE - 1,
        0,
    ] {
        let mut addresses = apart;
        addresses[5] = outside;
        let found = m.set("UQ", &addresses).fault(0xff);
        let kind = FaultKind::MemoryOutOfBounds {
            write: false,
            bytes: 4,
        };
        assert_eq!(found, (kind, Some(5), Some(outside)));
    }
    // A buffer without a byte has no page.
    let (_, empty) = m.buffer::<u32>(&[]);
    m.set("UQ", &[empty]);
    assert!(m.try_run(1).is_err());
}

/// Writes and atomics reach the page, which is no part of the buffer; where ends are exact, they are faults.
#[test]
fn changes_up_to_the_page() {
    for text in [
        "lsc_store.ugm (M1, 4) flat[UQ]:a64 D:d32",
        "lsc_store.ugm (M1, 4) flat[UQ]:a64 D:d32x2",
        "lsc_store.ugm (M1, 1) flat[UQ]:a64 D:d32x4t",
        "lsc_atomic_iadd.ugm (M1, 4) D:d32 flat[UQ]:a64 U %null",
        "lsc_atomic_load.ugm (M1, 4) D:d32 flat[UQ]:a64 %null %null",
        "svm_block_st (4) UQ(0,0)<0;1,0> D.0",
    ] {
        let Ok(mut m) = build("4.1", text, 32) else {
            panic!("{text}");
        };
        let (buffer, base) = m.buffer(&[1u32, 2, 3]);
        for (exact, at, allowed) in [
            (true, base + 12, false),
            (false, base + PAGE, false),
            (false, base + 12, true),
        ] {
            m.memory.set_exact(exact);
            m.set("UQ", &[at; 8]).set("D", &[5u32; 8]);
            let outcome = m.try_run(1);
            assert_eq!(outcome.is_ok(), allowed, "{text} {exact} {at:#x}");
            assert_eq!(m.read::<u32>(buffer), [1, 2, 3], "{text}");
        }
    }
}

/// At the end of a surface each element counts by itself, not in pairs: at an odd dword, too.
#[test]
fn blocks_end_with_the_surface() {
    for (text, expected) in [
        (
            "lsc_load.ugm (M1, 1) D:d32x4t bti(0x3)[U]:a32",
            [5, 6, 7, 0],
        ),
        (
            "lsc_load.ugm (M1, 1) D:d32x3t bti(0x3)[U]:a32",
            [5, 6, 7, 9],
        ),
    ] {
        let mut m = Machine::new(text);
        m.surface(&[0u32, 1, 2, 3, 4, 5, 6, 7]);
        m.set("U", &[20u32]).set("D", &[9u32; 4]).run(1);
        assert_eq!(m.get::<u32>("D", 4), expected, "{text}");
    }
    let mut m = Machine::new("lsc_store.ugm (M1, 1) bti(0x3)[U]:a32 D:d32x4t");
    let buffer = m.surface(&[0u32; 4]);
    m.set("U", &[4u32]).set("D", &[5u32, 6, 7, 8]).run(1);
    assert_eq!(m.memory.read(buffer)[4..], numbers_of(&[5, 6, 7]));
}

fn numbers_of(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}
