//! Lanes whose addresses lie together in some way, against lane by lane.

use super::{Machine, SIZES};

/// Rows that are shorter than a thread, the same place for many lanes, and anything between, whatever lanes are
/// enabled.
#[test]
fn groups_of_lanes() {
    type Place = fn(u64) -> u64;
    let patterns: [Place; 6] = [
        |lane| lane % 16,
        |lane| lane / 16 * 40,
        |lane| 7 + lane / 8 * 3,
        |lane| if lane < 8 { 3 } else { lane },
        |lane| 31 - lane,
        |lane| lane * 2,
    ];
    for (data, size, register) in SIZES {
        let text = format!("lsc_load.ugm (M1, 32) D:{data} flat[UQ]:a64");
        let mut load = Machine::with_grf(&text, 64);
        let text = format!("lsc_store.ugm (M1, 32) flat[UQ]:a64 D:{data}");
        let mut store = Machine::with_grf(&text, 64);
        let contents = (0..640u32).map(|i| i.to_le_bytes()[0]).collect::<Vec<u8>>();
        let (_, from) = load.buffer(&contents);
        let (buffer, to) = store.buffer(&vec![0xccu8; 640]);
        let width = usize::try_from(size).unwrap();
        // Where a shorter element is in its register.
        let low = if data == "d16c32h" { 2 } else { 0 };
        for pattern in patterns {
            for mask in [u32::MAX, 0x00ff_ff7f, 0xff00_0001] {
                let at = |base: u64| {
                    (0..32)
                        .map(|l| base + pattern(l) * size)
                        .collect::<Vec<_>>()
                };
                load.set("D", &vec![0x77u8; 32 * register]);
                load.set("UQ", &at(from)).run(mask);
                store.memory.clear(buffer);
                store.set("D", &contents[..32 * register]);
                store.set("UQ", &at(to)).run(mask);
                let (mut loaded, mut stored) = (vec![0x77u8; 32 * register], vec![0u8; 640]);
                for lane in (0..32usize).filter(|lane| mask >> lane & 1 != 0) {
                    let place = usize::try_from(pattern(lane as u64)).unwrap() * width;
                    let element = lane * register;
                    loaded[element..element + register].fill(0);
                    let inside = element + low..element + low + width;
                    loaded[inside.clone()].copy_from_slice(&contents[place..place + width]);
                    stored[place..place + width].copy_from_slice(&contents[inside]);
                }
                assert_eq!(
                    load.get::<u8>("D", 32 * register),
                    loaded,
                    "{data} {mask:#x}"
                );
                assert_eq!(store.read::<u8>(buffer), stored, "{data} {mask:#x}");
            }
        }
    }
}

/// Where lanes store to one place, the last element counts, and of its lanes the last one: in one buffer, and where a lane
/// is in another one.
#[test]
fn lanes_that_store_to_one_place() {
    let patterns: [fn(u64) -> u64; 4] = [
        |lane| lane,
        |lane| lane * 2 % 5,
        |lane| 14_u64.saturating_sub(lane),
        |lane| lane / 4,
    ];
    for elements in [2, 3, 4] {
        let text = format!("lsc_store.ugm (M1, 16) flat[UQ]:a64 D:d32x{elements}");
        let mut m = Machine::new(&text);
        let (buffer, base) = m.buffer(&[0u32; 32]);
        let (other, apart) = m.buffer(&[0u32; 4]);
        let data: Vec<u32> = (1..=16 * elements).collect();
        for pattern in patterns {
            for last in [base + 28 * 4, apart] {
                m.memory.clear(buffer);
                m.memory.clear(other);
                let mut addresses: Vec<u64> = (0..16).map(|l| base + pattern(l) * 4).collect();
                addresses[15] = last;
                m.set("D", &data).set("UQ", &addresses).run(0xffff);
                let mut expected = [0; 32];
                for (element, lanes) in data.chunks(16).enumerate() {
                    for (address, value) in addresses.iter().zip(lanes) {
                        let at = usize::try_from(address.wrapping_sub(base) / 4).unwrap();
                        if let Some(place) = expected.get_mut(at + element) {
                            *place = *value;
                        }
                    }
                }
                assert_eq!(m.read::<u32>(buffer), expected, "{text} {addresses:x?}");
            }
        }
    }
}

/// Dwords at addresses of 32 bits have code of their own. Observed runs do not use it, and [`Machine::try_run`] compares
/// the two: registers, memory and faults.
#[test]
fn addresses_of_32_bits() {
    let patterns: [fn(u32) -> u32; 10] = [
        |lane| lane * 4,
        |lane| lane % 16 * 4,
        |lane| lane / 8 * 16,
        |_| 20,
        |lane| 124 - lane * 4,
        |lane| lane.wrapping_mul(2_654_435_761) >> 24 & !3,
        // Over the end, for some lanes and for all, and around the last address.
        |lane| 200 + lane * 4,
        |lane| 4096 + lane * 4,
        |lane| (lane * 4).wrapping_sub(16),
        // Not aligned.
        |lane| lane * 4 + u32::from(lane == 13),
    ];
    let spaces = [
        ("slm", "flat[U]"),
        ("slm", "flat[U-0x10]"),
        ("ugm", "bti(0x3)[U]"),
        ("ugm", "bti(0x3)[U+0x8]"),
    ];
    let masks = [
        0xfffe_ffff,
        0x00ff_ff7f,
        0xff00_0001,
        0x8000_0000,
        0x5555_5555,
    ];
    let contents: Vec<u8> = (0..=255).collect();
    let data: Vec<u32> = (0..128).map(|i| 0x0101_0101 * (255 - i)).collect();
    let mut ran = 0;
    for (cache, at) in spaces {
        for lanes in [8, 16, 32] {
            for size in ["d32", "d32x4"] {
                for message in [
                    format!("lsc_load.{cache} (M1, {lanes}) D:{size} {at}:a32"),
                    format!("lsc_store.{cache} (M1, {lanes}) {at}:a32 D:{size}"),
                ] {
                    let mut m = Machine::with_grf(&message, 64);
                    let buffer = m.surface(&contents);
                    for pattern in patterns {
                        for mask in masks.into_iter().chain([u32::MAX]) {
                            let addresses: Vec<u32> = (0..lanes).map(pattern).collect();
                            m.slm.copy_from_slice(&contents);
                            m.memory.write(buffer, 0, &contents);
                            m.set("D", &data).set("U", &addresses);
                            let outcome = m.try_run(mask & (u32::MAX >> (32 - lanes)));
                            ran += u32::from(outcome.is_ok());
                        }
                    }
                }
            }
        }
    }
    assert!(ran > 2000, "{ran}");
}
