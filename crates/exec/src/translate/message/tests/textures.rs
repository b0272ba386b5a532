//! Typed messages of the data port, and sampler messages.

use super::Machine;
use crate::fault::FaultKind;
use crate::memory::{
    Addressing, BufferId, ChannelOrder, ChannelType, Filter, Format, Image, Sampler, Surface,
};
use visakit_isa::{ExecSize, FieldName, Value};

const RGBA8: Format = Format {
    order: ChannelOrder::Rgba,
    channel: ChannelType::Unorm8,
};
const R32F: Format = Format {
    order: ChannelOrder::R,
    channel: ChannelType::Float32,
};

fn image<T: bytemuck::Pod>(m: &mut Machine, format: Format, data: &[T], width: u32) -> BufferId {
    let bytes: &[u8] = bytemuck::cast_slice(data);
    let buffer = m.surface(bytes);
    let pitch = width * u32::try_from(format.bytes()).unwrap();
    let height = u32::try_from(bytes.len()).unwrap() / pitch;
    let image = Image::new_2d(buffer, width, height, pitch, format);
    m.memory.bind(3, Surface::Image2d(image)).unwrap();
    buffer
}

fn sampler(m: &mut Machine, normalized: bool, addressing: Addressing, filter: Filter) {
    m.set("SM", &[2u32]);
    m.memory.bind_sampler(
        2,
        Sampler {
            normalized,
            addressing,
            filter,
        },
    );
}

#[test]
fn gather4_typed() {
    let mut m = Machine::new("gather4_typed.RA (M1, 8) T6 U.0 U2.0 %null.0 %null.0 F.0");
    image(&mut m, RGBA8, &[0u8, 51, 102, 153, 204, 255, 0, 51], 1);
    m.set("U", &[0u32, 0, 1]).set("U2", &[0u32, 1, 0]);
    m.run(0b111);
    let f: Vec<f32> = m.get("F", 16);
    assert_eq!([f[0], f[1], f[2]], [0.0, 0.8, 0.0]);
    // Alpha outside of the image is one.
    assert_eq!([f[8], f[9], f[10]], [0.6, 0.2, 1.0]);
}

#[test]
fn scatter4_typed() {
    let mut m = Machine::new("scatter4_typed.RGBA (M1, 8) T6 U.0 U2.0 %null.0 %null.0 F.0");
    let buffer = image(&mut m, RGBA8, &[7u8; 8], 1);
    m.set("U", &[0u32, 1]).set("U2", &[1u32, 0]);
    let mut f = [0f32; 32];
    (f[0], f[8], f[16], f[24]) = (1.0, 0.5, -1.0, 7.0);
    m.set("F", &f).run(0b11);
    assert_eq!(m.read::<u8>(buffer), [7, 7, 7, 7, 255, 128, 0, 255]);
}

#[test]
fn typed_atomics() {
    let mut m =
        Machine::new("typed_atomic.cmpxchg (M1, 8) T6 U.0 U2.0 %null.0 %null.0 D2.0 D3.0 D.0");
    let format = Format {
        order: ChannelOrder::R,
        channel: ChannelType::Uint32,
    };
    let buffer = image(&mut m, format, &[1u32, 2, 3, 4], 2);
    m.set("U", &[1u32, 0]).set("U2", &[1u32, 0]);
    m.set("D2", &[40u32, 10]).set("D3", &[4u32, 4]).run(0b11);
    assert_eq!(m.read::<u32>(buffer), [1, 2, 3, 40]);
    assert_eq!(m.get::<u32>("D", 2), [4, 1]);
}

#[test]
fn sampled() {
    let texels = [0f32, 10.0, 20.0, 30.0];
    let mut m = Machine::new("sample_lz.R (M1, 8) 0x0:uw SM T6 F.0 F2.0 F2.32");
    image(&mut m, R32F, &texels, 2);
    assert_eq!(m.fault(1).0, FaultKind::UnknownSampler(0));
    sampler(&mut m, true, Addressing::ClampToEdge, Filter::Linear);
    let mut at = [0f32; 16];
    at[..4].copy_from_slice(&[0.25, 0.5, 0.5, 2.0]);
    at[8..12].copy_from_slice(&[0.25, 0.25, 0.5, 0.75]);
    m.set("F2", &at).set("F", &[-1f32; 8]).run(0b1111);
    assert_eq!(m.get::<f32>("F", 5), [0.0, 5.0, 15.0, 30.0, -1.0]);
    sampler(&mut m, false, Addressing::ClampToBorder, Filter::Nearest);
    m.run(0b1111);
    assert_eq!(m.get::<f32>("F", 4), [0.0, 0.0, 0.0, 0.0]);
    at[..4].copy_from_slice(&[1.25, 0.5, -0.5, 2.0]);
    m.set("F2", &at).run(0b1111);
    assert_eq!(m.get::<f32>("F", 4), [10.0, 0.0, 0.0, 0.0]);
}

/// The level of detail comes before the coordinates; texel offsets are signed nibbles.
#[test]
fn sample_with_level_and_offset() {
    let mut m = Machine::new("sample_l.RA (M1, 8) 0xf10:uw SM T6 F.0 F2.0 F2.32 F2.64");
    image(&mut m, R32F, &[0f32, 10.0, 20.0, 30.0], 2);
    sampler(&mut m, false, Addressing::ClampToEdge, Filter::Nearest);
    let mut at = [0f32; 24];
    at[0] = 5.0;
    at[8] = 1.5;
    at[16] = 0.5;
    m.set("F2", &at).run(1);
    // One to the left, one down.
    let f: Vec<f32> = m.get("F", 9);
    assert_eq!([f[0], f[8]], [20.0, 1.0]);
}

#[test]
fn half_results() {
    let mut m = Machine::new("sample_lz.RG (M1, 16) 0x0:uw SM T6 H.0 F2.0 F2.64");
    image(&mut m, RGBA8, &[255u8, 51, 0, 0], 1);
    sampler(&mut m, true, Addressing::ClampToEdge, Filter::Nearest);
    m.run(0xffff);
    let h: Vec<half::f16> = m.get("H", 32);
    assert_eq!(h[0].to_f32(), 1.0);
    // Green starts at the next register.
    assert_eq!(h[16], half::f16::from_f32(0.2));
}

/// An access is as large as a texel: the last one of an image of bytes ends where the image does.
#[test]
fn loads_report_whole_texels() {
    for (channel, bytes) in [
        (ChannelType::Uint8, 1),
        (ChannelType::Uint16, 2),
        (ChannelType::Uint32, 4),
    ] {
        for order in [ChannelOrder::R, ChannelOrder::Rgba] {
            let mut m = Machine::new("load_lz.RGBA (M1, 8) 0x0:uw T6 D.0 U.0 U2.0");
            let format = Format { order, channel };
            image(&mut m, format, &[7u8; 3 * 16], 3);
            m.set("U", &[2u32]).set("U2", &[0u32]).run(1);
            let [access] = m.events() else {
                panic!("{:?}", m.events());
            };
            let texel = if order == ChannelOrder::R { 1 } else { 4 } * bytes;
            assert_eq!(
                (access.address, access.bytes),
                (u64::from(2 * texel), texel)
            );
        }
    }
}

#[test]
fn loaded() {
    let mut m = Machine::new("load_lz.RGBA (M1, 8) 0x0:uw T6 D.0 U.0 U2.0");
    let format = Format {
        order: ChannelOrder::Rgba,
        channel: ChannelType::Uint8,
    };
    image(&mut m, format, &[1u8, 2, 3, 4, 5, 6, 7, 8], 2);
    m.set("U", &[1u32, 0, (-1i32).cast_unsigned()]).run(0b111);
    let d: Vec<u32> = m.get("D", 32);
    assert_eq!([d[0], d[8], d[16], d[24]], [5, 6, 7, 8]);
    assert_eq!([d[1], d[9], d[17], d[25]], [1, 2, 3, 4]);
    assert_eq!([d[2], d[10], d[18], d[26]], [0, 0, 0, 0]);
    // LD has the level between V and R.
    let mut m = Machine::new("load_3d.G (M1, 8) 0x0:uw T6 D.0 U.0 U2.0 U3.0");
    image(&mut m, format, &[1u8, 2, 3, 4, 5, 6, 7, 8], 1);
    m.set("U2", &[1u32]).run(1);
    assert_eq!(m.get::<u32>("D", 1), [6]);
}

/// R is the lower left, G the lower right, B the upper right, A the upper left texel.
#[test]
fn four_texels() {
    let mut m = Machine::new("sample4.R (M1, 8) 0x0:uw SM T6 F.0 F2.0 F2.32");
    image(&mut m, R32F, &[1f32, 2.0, 3.0, 4.0], 2);
    sampler(&mut m, true, Addressing::ClampToEdge, Filter::Linear);
    m.set("F2", &[0.5f32; 16]).run(1);
    let f: Vec<f32> = m.get("F", 32);
    assert_eq!([f[0], f[8], f[16], f[24]], [3.0, 4.0, 2.0, 1.0]);
}

#[test]
fn info() {
    let mut m = Machine::new("resinfo.RGBA (M1, 8) T6 U2.0 U.0");
    image(&mut m, RGBA8, &[0u8; 24], 3);
    m.run(1);
    let u: Vec<u32> = m.get("U", 32);
    assert_eq!([u[0], u[8], u[16], u[24]], [3, 2, 0, 1]);
    let mut m = Machine::new("sampleinfo.RGBA (M1, 8) T6 U.0");
    image(&mut m, RGBA8, &[0u8; 24], 3);
    m.run(1);
    assert_eq!(m.get::<u32>("U", 1), [1]);
}

/// Before 3.2 the size code 0 of typed messages means 8 lanes.
#[test]
fn old_typed() {
    let text = "gather4_typed.R (8) T6 U.0 U2.0 %null.0 %null.0 F.0";
    let mut m = Machine::edited("3.1", text, |instruction| {
        // As compilers of that time wrote it; a set bit of the mask disables its channel.
        *instruction.get_mut(FieldName::ExecSize).unwrap() =
            Value::ExecSize(ExecSize::from_bits(0));
        *instruction.get_mut(FieldName::ChannelsInv).unwrap() = Value::U8(0b1110);
    });
    image(&mut m, R32F, &[0f32, 10.0, 20.0, 30.0], 2);
    m.set("U", &[0u32, 1, 0, 1, 0, 0, 0, 1]);
    m.set("U2", &[0u32, 0, 1, 1, 0, 0, 0, 1]).run(0xff);
    let f: Vec<f32> = m.get("F", 8);
    assert_eq!(f, [0.0, 10.0, 20.0, 30.0, 0.0, 0.0, 0.0, 30.0]);
}

/// Observers get places in the surface, wherever it is in its buffer.
#[test]
fn events_of_an_image_inside_of_a_buffer() {
    for text in [
        "gather4_typed.R (M1, 8) T6 U.0 U2.0 %null.0 %null.0 F.0",
        "load_lz.R (M1, 8) 0x0:uw T6 F.0 U.0 U2.0",
        "media_ld.nomod (4,1) T6 0x4:ud 0x1:ud F.0",
    ] {
        let mut m = Machine::new(text);
        let buffer = m.surface(&[0f32, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let mut image = Image::new_2d(buffer, 2, 2, 8, R32F);
        image.offset = 8;
        m.memory.bind(3, Surface::Image2d(image)).unwrap();
        m.set("U", &[1u32]).set("U2", &[1u32]).run(1);
        assert_eq!(m.get::<f32>("F", 1), [5.0], "{text}");
        assert_eq!(m.events()[0].address, 12, "{text}");
    }
}

/// The sampler of a handle, whose lower bits are flags; both states may be in variables.
#[test]
fn bindless_samplers() {
    for (version, operands, state) in [
        ("4.1", "S31 T6", "S31"),
        ("4.2", "U2 T6", "U2"),
        ("4.2", "(U2, 0x40) UQ", "U2"),
    ] {
        let text = format!("sample_lz.R (M1, 8) 0x0:uw {operands} F.0 %null.0 F2.0 F2.32");
        let mut m = Machine::old(version, &text);
        let buffer = image(&mut m, R32F, &[1f32, 2.0, 4.0, 8.0], 2);
        let shown = Image::new_2d(buffer, 2, 2, 8, R32F);
        m.memory
            .bind_handle(0x100, Surface::Image2d(shown))
            .unwrap();
        let nearest = Sampler {
            normalized: true,
            addressing: Addressing::ClampToEdge,
            filter: Filter::Nearest,
        };
        m.memory.bind_sampler_handle(0x80, nearest);
        let handle = if operands.contains('(') {
            0x41
        } else {
            0x81u32
        };
        m.set("UQ", &[0x100u64]).set(state, &[handle]);
        let mut at = [0f32; 16];
        (at[0], at[1], at[8], at[9]) = (0.9, 0.1, 0.1, 0.9);
        m.set("F2", &at).run(0b11);
        assert_eq!(m.get::<f32>("F", 2), [2.0, 4.0], "{operands}");
        m.set(state, &[0x51u32]);
        assert!(matches!(m.fault(1).0, FaultKind::UnknownSampler(_)));
    }
}
