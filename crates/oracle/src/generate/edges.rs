//! Values at the edges of types.

use fastrand::Rng;
use visakit_isa::DataType;

/// Numbers of each format that break implementations: zeroes, ones, the largest and smallest
/// normal and denormal ones, infinities, NaNs, ties of rounding, edges of integer types.
const HALF: &[u64] = &[
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x0400, 0x8400, 0x0001, 0x8001, 0x03ff, 0x83ff,
    0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x3800, 0xb800, 0x3e00, 0x4100, 0x3c01, 0x3555, 0x5800,
    0x57f8, 0xd7f8, 0x6800, 0x7800,
];
const BRAIN: &[u64] = &[
    0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x0080, 0x8080, 0x7f80, 0xff80, 0x7fc0, 0xffc1,
    0x3f00, 0xbf00, 0x3fc0, 0x4020, 0x3f81, 0x3eab, 0x4300, 0xc2ff,
];
const SINGLE: &[u64] = &[
    0x0000_0000,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x0000_0001,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_1234,
    0x7f80_0001,
    0x3f00_0000,
    0xbf00_0000,
    0x3fc0_0000,
    0xc020_0000,
    0x3f80_0001,
    0x3f7f_ffff,
    0x3eaa_aaab,
    0x4f00_0000,
    0xcf00_0000,
    0x4f7f_ffff,
    0x4f80_0000,
    0x5f00_0000,
    0xdf00_0000,
    0x5f80_0000,
    0x4b00_0001,
    0x4b80_0000,
    0x477f_e000,
    0x477f_f000,
    0x477f_efff,
    0x3380_0000,
    0x3300_0000,
    0x3300_0001,
    0x3880_0000,
    0x387f_c000,
    0x437f_8000,
    0x42ff_0000,
    0xc300_0000,
    0x0040_0000,
    0x3f80_1000,
    0x3f80_3000,
    0x3f80_8000,
    0x3f81_8000,
];
const DOUBLE: &[u64] = &[
    0x0000_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x8010_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x8000_0000_0000_0001,
    0x000f_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff8_0000_0000_0123,
    0x7ff0_0000_0000_0001,
    0x3fe0_0000_0000_0000,
    0xbfe0_0000_0000_0000,
    0x3ff8_0000_0000_0000,
    0x4004_0000_0000_0000,
    0x3ff0_0000_0000_0001,
    0x3fef_ffff_ffff_ffff,
    0x3fd5_5555_5555_5555,
    0x41df_ffff_ffc0_0000,
    0x41e0_0000_0000_0000,
    0xc1e0_0000_0000_0000,
    0x41ef_ffff_ffe0_0000,
    0x43e0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0x43f0_0000_0000_0000,
    0x4330_0000_0000_0001,
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_f000_0000,
    0x36a0_0000_0000_0000,
    0x3690_0000_0000_0000,
    0x3810_0000_0000_0000,
    0x380f_ffff_f000_0000,
    0x40ef_fc00_0000_0000,
    0x40ef_fe00_0000_0000,
    0x3ff0_0000_1000_0000,
    0x3ff0_0000_3000_0000,
    0x3ff0_0200_0000_0000,
    0x3ff0_0600_0000_0000,
    0x3ff0_0200_0000_0001,
];

/// Bits of a type, often at an edge.
pub fn bits(rng: &mut Rng, ty: DataType) -> u64 {
    let width = u32::from(ty.size()) * 8;
    let mask = u64::MAX >> (64 - width);
    let pick =
        |rng: &mut Rng, list: &[u64]| list.get(rng.usize(..list.len())).copied().unwrap_or(0);
    if rng.u8(..8) == 0 {
        return rng.u64(..) & mask;
    }
    match ty {
        DataType::Hf if rng.bool() => pick(rng, HALF),
        DataType::Bf if rng.bool() => pick(rng, BRAIN),
        DataType::F if rng.bool() => pick(rng, SINGLE),
        DataType::Df if rng.bool() => pick(rng, DOUBLE),
        DataType::Hf => ordinary(rng, 10, 15, 6),
        DataType::Bf => ordinary(rng, 7, 127, 12),
        DataType::F => ordinary(rng, 23, 127, 24),
        DataType::Df => ordinary(rng, 52, 1023, 40),
        _ => {
            let top = 1u64 << (width - 1);
            let value = match rng.u8(..10) {
                0 => 0,
                1 => 1,
                2 => mask,
                3 => top,
                4 => top - 1,
                5 => rng.u64(..40),
                6 => (1u64 << rng.u32(..width)).wrapping_sub(u64::from(rng.bool())),
                7 => rng.u64(..40).wrapping_neg(),
                _ => rng.u64(..),
            };
            value & mask
        }
    }
}

/// A number whose exponent is near that of one, often with few digits.
fn ordinary(rng: &mut Rng, mantissa: u32, bias: u64, spread: u64) -> u64 {
    let exponent = bias + rng.u64(..spread * 2) - spread;
    let digits = rng.u64(..) & ((1 << mantissa) - 1);
    let digits = if rng.bool() {
        digits >> (mantissa / 2) << (mantissa / 2)
    } else {
        digits
    };
    let width = if mantissa == 10 {
        5
    } else if mantissa == 52 {
        11
    } else {
        8
    };
    u64::from(rng.bool()) << (mantissa + width) | exponent << mantissa | digits
}

/// Bytes full of edges of a type.
pub fn fill(rng: &mut Rng, ty: DataType, bytes: usize) -> Vec<u8> {
    let size = usize::from(ty.size());
    let mut all = Vec::with_capacity(bytes + size);
    while all.len() < bytes {
        all.extend_from_slice(&bits(rng, ty).to_le_bytes()[..size]);
    }
    all.truncate(bytes);
    all
}

/// Bytes that are ordinary numbers whether they are read as `hf`, `f` or `df`.
pub fn gentle(rng: &mut Rng, bytes: usize) -> Vec<u8> {
    let mut all = Vec::with_capacity(bytes + 4);
    while all.len() < bytes {
        let mut half = || 0x3800 | rng.u16(..0x1000) | u16::from(rng.bool()) << 15;
        all.extend_from_slice(&half().to_le_bytes());
    }
    all.truncate(bytes);
    all
}
