//! Messages without lanes.

use super::Machine;
use crate::fault::FaultKind;
use crate::memory::{ChannelOrder, ChannelType, Format, Image, Surface};

fn bytes(count: u32) -> Vec<u8> {
    (0..count).map(|i| i.to_le_bytes()[0]).collect()
}

#[test]
fn owords() {
    // In units of OWords.
    let mut m = Machine::new("oword_ld (2) T6 U(0,0)<0;1,0> D.0");
    m.surface(&bytes(64));
    m.set("U", &[1u32]).set("D", &[0x7777_7777u32; 9]);
    // Without a lane: block messages ignore the mask.
    m.run(0);
    assert_eq!(m.get::<u8>("D", 32), bytes(48)[16..]);
    assert_eq!(m.get::<u32>("D", 9)[8], 0x7777_7777);
    // Anything outside is zero, dword by dword.
    m.set("U", &[3u32]).run(1);
    assert_eq!(m.get::<u8>("D", 16), bytes(64)[48..]);
    assert_eq!(m.get_at::<u8>("D", 16, 16), [0; 16]);
    assert_eq!((m.events()[0].bytes, m.events()[0].lane), (32, None));

    // In bytes, dword-aligned.
    let mut m = Machine::new("oword_ld_unaligned (1) T6 U(0,0)<0;1,0> D.0");
    m.surface(&bytes(64));
    m.set("U", &[20u32]).run(1);
    assert_eq!(m.get::<u8>("D", 16), bytes(36)[20..]);
    m.set("U", &[22u32]);
    assert_eq!(m.fault(1).0, FaultKind::Misaligned);

    let mut m = Machine::new("oword_st (1) T6 0x1:ud D.0");
    let buffer = m.surface(&[0u32; 7]);
    m.set("D", &[1u32, 2, 3, 4]).run(1);
    // The fourth dword is outside.
    assert_eq!(m.read::<u32>(buffer), [0, 0, 0, 0, 1, 2, 3]);

    let mut m = Machine::new("oword_ld (1) %slm 0x1:ud D.0");
    m.slm[16..20].copy_from_slice(&[1, 2, 3, 4]);
    m.run(1);
    assert_eq!(m.get::<u32>("D", 2), [0x0403_0201, 0]);
}

#[test]
fn svm_blocks() {
    let mut m = Machine::new("svm_block_ld (2) UQ(0,0)<0;1,0> D.0");
    let (_, base) = m.buffer(&bytes(64));
    m.set("UQ", &[base + 16]).run(1);
    assert_eq!(m.get::<u8>("D", 32), bytes(48)[16..]);
    // A dword-aligned address is taken as it is, with or without `.unaligned`.
    m.set("UQ", &[base + 20]).run(1);
    assert_eq!(m.get::<u8>("D", 32), bytes(52)[20..]);
    // Compilers load dwords this way. The minimum size of a load may extend past the end.
    m.set("UQ", &[base + 44]).run(1);
    assert_eq!(m.get::<u8>("D", 20), bytes(64)[44..]);
    assert_eq!(m.get_at::<u8>("D", 20, 12), [0; 12]);
    m.set("UQ", &[base + 2]);
    assert_eq!(m.fault(1), (FaultKind::Misaligned, Some(0), Some(base + 2)));
    m.set("UQ", &[base + 48]);
    let outside = FaultKind::MemoryOutOfBounds {
        write: false,
        bytes: 4,
    };
    assert_eq!(m.fault(1), (outside, Some(0), Some(base + 64)));

    let mut m = Machine::new("svm_block_ld.unaligned (1) UQ(0,0)<0;1,0> D.0");
    let (_, base) = m.buffer(&bytes(64));
    m.set("UQ", &[base + 4]).run(1);
    assert_eq!(m.get::<u8>("D", 16), bytes(20)[4..]);

    let mut m = Machine::new("svm_block_st (1) UQ(0,0)<0;1,0> D.0");
    let (buffer, base) = m.buffer(&[0u32; 8]);
    m.set("UQ", &[base + 16]).set("D", &[1u32, 2, 3, 4]).run(1);
    assert_eq!(m.read::<u32>(buffer), [0, 0, 0, 0, 1, 2, 3, 4]);
}

/// An 8 x 4 image of bytes, its rows 16 bytes apart, its texels 10 * row + column.
fn image(m: &mut Machine, format: Format) -> crate::memory::BufferId {
    let mut data = vec![0xee; 64];
    for y in 0..4u8 {
        for x in 0..8u8 {
            data[usize::from(y) * 16 + usize::from(x)] = 10 * y + x;
        }
    }
    let buffer = m.surface(&data);
    let width = u32::try_from(8 / format.bytes()).unwrap();
    m.memory
        .bind(
            3,
            Surface::Image2d(Image::new_2d(buffer, width, 4, 16, format)),
        )
        .unwrap();
    buffer
}

#[test]
fn media_load() {
    // Rows of 3 bytes lie 4 bytes apart in registers.
    let mut m = Machine::new("media_ld.nomod (3,2) T6 0x2:ud 0x1:ud D.0");
    image(&mut m, Format::R8_UINT);
    m.set("D", &[u32::MAX; 3]).run(1);
    assert_eq!(m.get::<u8>("D", 8), [12, 13, 14, 255, 22, 23, 24, 255]);
    // 5 bytes: 8 apart.
    let mut m = Machine::new("media_ld.nomod (5,2) T6 0x0:ud 0x0:ud D.0");
    image(&mut m, Format::R8_UINT);
    m.run(1);
    assert_eq!(m.get_at::<u8>("D", 8, 5), [10, 11, 12, 13, 14]);
}

/// Outside of the image the nearest texel is loaded, and nothing is stored.
#[test]
fn media_edges() {
    let mut m = Machine::new("media_ld.nomod (4,3) T6 U(0,0)<0;1,0> U(0,1)<0;1,0> D.0");
    image(&mut m, Format::R8_UINT);
    m.set("U", &[(-2i32).cast_unsigned(), (-1i32).cast_unsigned()])
        .run(1);
    assert_eq!(
        m.get::<u8>("D", 12),
        [0, 0, 0, 1, 0, 0, 0, 1, 10, 10, 10, 11]
    );
    m.set("U", &[6u32, 3]).run(1);
    assert_eq!(
        m.get::<u8>("D", 12),
        [36, 37, 37, 37, 36, 37, 37, 37, 36, 37, 37, 37]
    );
    // A texel of four bytes is repeated as a whole.
    let rgba = Format {
        order: ChannelOrder::Rgba,
        channel: ChannelType::Uint8,
    };
    image(&mut m, rgba);
    m.set("U", &[(-4i32).cast_unsigned(), 0]).run(1);
    assert_eq!(m.get::<u8>("D", 4), [0, 1, 2, 3]);
    m.set("U", &[8u32, 0]).run(1);
    assert_eq!(m.get::<u8>("D", 4), [4, 5, 6, 7]);

    let mut m = Machine::new("media_st.nomod (4,2) T6 U(0,0)<0;1,0> U(0,1)<0;1,0> D.0");
    let buffer = image(&mut m, Format::R8_UINT);
    m.set("U", &[6u32, 3])
        .set("D", &[0x6463_6261u32, 0x7473_7271])
        .run(1);
    let data: Vec<u8> = m.read(buffer);
    assert_eq!(data[54..58], [0x61, 0x62, 0xee, 0xee]);
    assert_eq!(data[6..10], [6, 7, 0xee, 0xee]);
}

#[test]
fn media_fields() {
    let mut m = Machine::new("media_ld.top (4,3) T6 0x0:ud 0x0:ud D.0");
    image(&mut m, Format::R8_UINT);
    m.run(1);
    // Rows 0, 2, and the last of that field again.
    assert_eq!(
        m.get::<u8>("D", 12),
        [0, 1, 2, 3, 20, 21, 22, 23, 20, 21, 22, 23]
    );
    let mut m = Machine::new("media_st.bottom (4,2) T6 0x0:ud 0x0:ud D.0");
    let buffer = image(&mut m, Format::R8_UINT);
    m.set("D", &[1u32, 2]).run(1);
    let data: Vec<u8> = m.read(buffer);
    assert_eq!(data[16..20], [1, 0, 0, 0]);
    assert_eq!(data[32..36], [20, 21, 22, 23]);
    assert_eq!(data[48..52], [2, 0, 0, 0]);
}

#[test]
fn media_planes() {
    let mut m = Machine::new("media_ld.nomod (4,2) T6 1 0x2:ud 0x0:ud D.0");
    let buffer = m.surface(&bytes(96));
    let mut image = Image::new_2d(buffer, 8, 4, 16, Format::R8_UINT);
    m.memory.bind(3, Surface::Image2d(image)).unwrap();
    assert!(matches!(m.fault(1).0, FaultKind::WrongSurface { .. }));
    image.chroma = Some(64);
    m.memory.bind(3, Surface::Image2d(image)).unwrap();
    m.run(1);
    assert_eq!(m.get::<u8>("D", 8), [66, 67, 68, 69, 82, 83, 84, 85]);
}

#[test]
fn media_needs_an_image() {
    let mut m = Machine::new("media_ld.nomod (4,2) T6 0x0:ud 0x0:ud D.0");
    m.surface(&bytes(64));
    assert_eq!(
        m.fault(1).0,
        FaultKind::WrongSurface {
            surface: 3,
            wanted: "an image"
        }
    );
}

/// Immediate offsets of a block, and one payload in place of six operands.
#[test]
fn blocks_with_offsets() {
    let surface: Vec<u8> = (0..64).collect();
    let expected = [18u8, 19, 20, 21, 26, 27, 28, 29];
    let text = "lsc_load_block2d.ugm (M1, 1) D:d8.4x2nn flat[UQ, 0x7, 0x7, 0x7, U+0x1, U2-0x2]";
    let mut m = Machine::old("4.2", text);
    let (_, base) = m.buffer(&surface);
    m.set("UQ", &[base]).set("U", &[1u32]).set("U2", &[4u32]);
    m.run(1);
    assert_eq!(m.get::<u8>("D", 8), expected);

    let text = "lsc_load_block2d.ugm (M1, 1) D:d8.4x2nn flat[U + (1,-2)]";
    let mut m = Machine::old("4.2", text);
    let (_, base) = m.buffer(&surface);
    let low = |n: u64| u32::try_from(n & 0xffff_ffff).unwrap();
    m.set("U", &[low(base), low(base >> 32), 7, 7, 7, 1, 4])
        .run(1);
    assert_eq!(m.get::<u8>("D", 8), expected);
}

#[test]
fn stores_without_data_are_refused() {
    for line in [
        "lsc_store.ugm (M1, 8) flat[UQ]:a64 %null:d32",
        "lsc_store_quad.tgm (M1, 8) bti(0x3)[U,U2]:a32 %null:d32.yw",
        "lsc_store_block2d.ugm (M1_NM, 1) flat[UQ,U,U2,U3,D2,D3] %null:d8.3x2nn",
        "lsc_store_block2d.tgm (M1_NM, 1) bti(0x3)[D2,D3] %null:8x2",
        "media_st.nomod (4,2) T6 0x0:ud 0x0:ud %null.0",
        "oword_st (1) T6 0x1:ud %null.0",
        "scatter4_typed.RGBA (M1, 8) T6 U.0 U2.0 %null.0 %null.0 %null.0",
    ] {
        let Err(refused) = super::build("4.1", line, 32) else {
            panic!("{line} is translated");
        };
        assert!(refused.to_string().contains("no data"), "{line}: {refused}");
    }
}
