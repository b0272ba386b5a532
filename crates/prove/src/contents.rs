//! Generated contents of buffers: kernels look at numbers of different sizes, and decide at some of them.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng;

/// Kinds of contents.
pub(crate) const KINDS: u64 = 16;

/// Dwords at which results change: the least and largest numbers, floats that are special.
const CORNERS: [u32; 12] = [
    0,
    1,
    0xffff_ffff,
    0x8000_0000,
    0x7fff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0x7fc0_0000,
    0x0000_0001,
    0x0080_0000,
    0x4000_0000,
];

/// Words of this kind: the least and largest numbers, half floats that are special.
const HALVES: [u16; 12] = [
    0, 1, 0xffff, 0x8000, 0x7fff, 0x3c00, 0xbc00, 0x7c00, 0x7e00, 0x0400, 0x00ff, 0x0080,
];

/// Upper dwords of this kind: the least and largest numbers, doubles that are special.
const UPPERS: [u32; 8] = [
    0,
    0xffff_ffff,
    0x8000_0000,
    0x7fff_ffff,
    0x3ff0_0000,
    0xbff0_0000,
    0x7ff0_0000,
    0x7ff8_0000,
];

/// One of several.
fn pick<T: Copy + Default>(random: &mut SplitMix64, all: &[T]) -> T {
    let place = u64::from(random.next_u32()) % (all.len() as u64).max(1);
    let found = usize::try_from(place).ok().and_then(|n| all.get(n));
    found.copied().unwrap_or_default()
}

/// The upper dword of a float whose mantissa has so many bits there: the first digits are random, the others all clear or
/// all set. Half of them are of about the size of one.
fn few_digits(random: &mut SplitMix64, mantissa: u32, exponents: u32) -> u32 {
    let (any, shape) = (random.next_u32(), random.next_u32());
    let rest = ((1_u32 << mantissa) - 1) >> (shape % 8);
    let digits = match shape >> 8 & 3 {
        0 => any | rest,
        1 => (any & !rest).wrapping_add(1),
        _ => any & !rest,
    };
    let one = exponents >> 1 & exponents;
    let exponent = match shape >> 10 & 1 {
        0 => any & exponents,
        _ => one
            .wrapping_add((any >> mantissa & 15) << mantissa)
            .wrapping_sub(8 << mantissa),
    };
    digits & !exponents & 0x7fff_ffff | exponent & exponents | any & 0x8000_0000
}

/// Fills bytes. The seed decides which kind of numbers they are; `numbers` are those of the programs.
pub(crate) fn generate(bytes: &mut [u8], seed: u64, random: &mut SplitMix64, numbers: &[u32]) {
    match seed % KINDS {
        0 => return random.fill_bytes(bytes),
        3 => return bytes.fill(if seed.is_multiple_of(4) { 0xff } else { 0 }),
        6 => {
            let (words, _) = bytes.as_chunks_mut::<2>();
            for word in words {
                let [kind, low, high, _] = random.next_u32().to_le_bytes();
                *word = match kind % 4 {
                    0 => [low, high],
                    1 => [low % 8, 0],
                    _ => pick(random, &HALVES).to_le_bytes(),
                };
            }
            return;
        }
        7 => {
            // Characters, and small numbers of a byte.
            for byte in bytes {
                let [kind, any, ..] = random.next_u32().to_le_bytes();
                *byte = match kind % 3 {
                    0 => any % 4,
                    1 => b' ' + any % 95,
                    _ => any,
                };
            }
            return;
        }
        _ => {}
    }
    let few: [u32; 3] = match seed % KINDS {
        9 => std::array::from_fn(|_| random.next_u32() % 16),
        _ => [0; 3],
    };
    let (words, rest) = bytes.as_chunks_mut::<4>();
    for (place, word) in words.iter_mut().enumerate() {
        let number = match seed % KINDS {
            1 => random.next_u32() % 64,
            2 => {
                let number = (random.next_u32() >> 8).cast_signed() - (1 << 23);
                (number as f32 / 4096.0).to_bits()
            }
            // What is given, with other bits here and there.
            4 if !random.next_u64().is_multiple_of(4) => continue,
            4 => random.next_u32(),
            // Numbers of the programs, and those beside them.
            8 => pick(random, numbers)
                .wrapping_add(random.next_u32() % 3)
                .wrapping_sub(1),
            // Few different numbers, so that many are equal.
            9 => pick(random, &few),
            // Numbers of 64 bits, and doubles.
            10 if place.is_multiple_of(2) => match random.next_u32() % 2 {
                0 => 0,
                _ => pick(random, &CORNERS),
            },
            10 => pick(random, &UPPERS),
            // NaNs that differ, of any type, and few other numbers: which operand is passed on shows.
            12 => match random.next_u32() % 8 {
                0 => pick(random, &CORNERS),
                1 => 0x7e00_7e00 | random.next_u32() & 0x81ff_81ff,
                2 | 3 => 0x7ff8_0000 | random.next_u32() & 0x8007_ffff,
                _ => 0x7fc0_0000 | random.next_u32() & 0x803f_ffff,
            },
            // Floats about one, most of them positive: what programs that compute with floats are made for.
            13 => {
                let negative = u32::from(random.next_u32().is_multiple_of(8));
                (0x3e80_0000 + random.next_u32() % 0x0280_0000) | negative << 31
            }
            // Floats of all sizes with few digits, and their neighbours: where functions of floats look into a table, or
            // take another way.
            14 => few_digits(random, 23, 0xff << 23),
            15 if place.is_multiple_of(2) => match random.next_u32() % 4 {
                0 => 1,
                1 => 0xffff_ffff,
                _ => 0,
            },
            15 => few_digits(random, 20, 0x7ff << 20),
            // Floats of all sizes, and denormal ones.
            11 => random.next_u32() << (random.next_u32() % 2 * 8),
            _ => pick(random, &CORNERS),
        };
        *word = number.to_le_bytes();
    }
    random.fill_bytes(rest);
}
