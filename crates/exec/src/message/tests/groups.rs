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
