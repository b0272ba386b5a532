//! Pixel formats: decoding and encoding a texel's bytes.

use half::f16;

/// Which channels a texel has, in memory order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChannelOrder {
    /// Red.
    R,
    /// Alpha.
    A,
    /// Red, green.
    Rg,
    /// Red, alpha.
    Ra,
    /// Red, green, blue.
    Rgb,
    /// Red, green, blue, alpha.
    Rgba,
    /// Blue, green, red, alpha.
    Bgra,
    /// Alpha, red, green, blue.
    Argb,
    /// One value for all four channels.
    Intensity,
    /// One value for red, green and blue.
    Luminance,
}

impl ChannelOrder {
    /// Number of stored channels.
    #[must_use]
    pub const fn channels(self) -> usize {
        match self {
            Self::R | Self::A | Self::Intensity | Self::Luminance => 1,
            Self::Rg | Self::Ra => 2,
            Self::Rgb => 3,
            Self::Rgba | Self::Bgra | Self::Argb => 4,
        }
    }

    /// Whether alpha is stored.
    #[must_use]
    pub const fn has_alpha(self) -> bool {
        !matches!(self, Self::R | Self::Rg | Self::Rgb | Self::Luminance)
    }

    /// For red, green, blue and alpha the stored channel they come from.
    const fn sources(self) -> [Source; 4] {
        use Source::{One, Stored as S, Zero};
        match self {
            Self::R => [S(0), Zero, Zero, One],
            Self::A => [Zero, Zero, Zero, S(0)],
            Self::Rg => [S(0), S(1), Zero, One],
            Self::Ra => [S(0), Zero, Zero, S(1)],
            Self::Rgb => [S(0), S(1), S(2), One],
            Self::Rgba => [S(0), S(1), S(2), S(3)],
            Self::Bgra => [S(2), S(1), S(0), S(3)],
            Self::Argb => [S(1), S(2), S(3), S(0)],
            Self::Intensity => [S(0), S(0), S(0), S(0)],
            Self::Luminance => [S(0), S(0), S(0), One],
        }
    }
}

#[derive(Clone, Copy)]
enum Source {
    Stored(u8),
    Zero,
    One,
}

/// How a stored channel is encoded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChannelType {
    /// 8 bits, 0 to 255 represent 0 to 1.
    Unorm8,
    /// 16 bits, 0 to 65535 represent 0 to 1.
    Unorm16,
    /// 8 bits, -127 to 127 represent -1 to 1.
    Snorm8,
    /// 16 bits, -32767 to 32767 represent -1 to 1.
    Snorm16,
    /// Unsigned integer.
    Uint8,
    /// Unsigned integer.
    Uint16,
    /// Unsigned integer.
    Uint32,
    /// Signed integer.
    Sint8,
    /// Signed integer.
    Sint16,
    /// Signed integer.
    Sint32,
    /// 16-bit float.
    Float16,
    /// 32-bit float.
    Float32,
}

/// The type of a channel in a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ChannelClass {
    /// A 32-bit float.
    Float,
    /// An unsigned 32-bit integer.
    Unsigned,
    /// A signed 32-bit integer.
    Signed,
}

impl ChannelType {
    /// Bytes of a stored channel.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Unorm8 | Self::Snorm8 | Self::Uint8 | Self::Sint8 => 1,
            Self::Unorm16 | Self::Snorm16 | Self::Uint16 | Self::Sint16 | Self::Float16 => 2,
            Self::Uint32 | Self::Sint32 | Self::Float32 => 4,
        }
    }

    /// The type of the channel in a register.
    #[must_use]
    pub const fn class(self) -> ChannelClass {
        match self {
            Self::Uint8 | Self::Uint16 | Self::Uint32 => ChannelClass::Unsigned,
            Self::Sint8 | Self::Sint16 | Self::Sint32 => ChannelClass::Signed,
            _ => ChannelClass::Float,
        }
    }

    /// The register form of a stored channel, given zero-extended: bits of a float, or an integer
    /// extended by its sign.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the channel is as wide as its type says, and a normalised one exact in a float"
    )]
    fn decode(self, stored: u32) -> u32 {
        match self {
            Self::Unorm8 => (stored as f32 / 255.0).to_bits(),
            Self::Unorm16 => (stored as f32 / 65535.0).to_bits(),
            Self::Snorm8 => (f32::from((stored as u8).cast_signed()) / 127.0)
                .max(-1.0)
                .to_bits(),
            Self::Snorm16 => (f32::from((stored as u16).cast_signed()) / 32767.0)
                .max(-1.0)
                .to_bits(),
            Self::Uint8 | Self::Uint16 | Self::Uint32 | Self::Sint32 | Self::Float32 => stored,
            Self::Sint8 => i32::from((stored as u8).cast_signed()).cast_unsigned(),
            Self::Sint16 => i32::from((stored as u16).cast_signed()).cast_unsigned(),
            Self::Float16 => f16::from_bits(stored as u16).to_f32().to_bits(),
        }
    }

    /// The stored form of a register channel: floats are rounded to even and clamped, integers
    /// clamped to what the channel can hold.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the values are clamped before"
    )]
    fn encode(self, value: u32) -> u32 {
        let float = f32::from_bits(value);
        // A NaN becomes 0: the float-to-integer casts say so.
        let unorm = |max: f32| (float.clamp(0.0, 1.0) * max).round_ties_even() as u32;
        let snorm = |max: f32| (float.clamp(-1.0, 1.0) * max).round_ties_even() as i32;
        let signed = |min: i32, max: i32| value.cast_signed().clamp(min, max).cast_unsigned();
        match self {
            Self::Unorm8 => unorm(255.0),
            Self::Unorm16 => unorm(65535.0),
            Self::Snorm8 => snorm(127.0).cast_unsigned() & 0xff,
            Self::Snorm16 => snorm(32767.0).cast_unsigned() & 0xffff,
            Self::Uint8 => value.min(0xff),
            Self::Uint16 => value.min(0xffff),
            Self::Uint32 | Self::Sint32 | Self::Float32 => value,
            Self::Sint8 => signed(-128, 127) & 0xff,
            Self::Sint16 => signed(-32768, 32767) & 0xffff,
            Self::Float16 => f16::from_f32(float).to_bits().into(),
        }
    }
}

/// A pixel format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Format {
    /// The channels, in memory order.
    pub order: ChannelOrder,
    /// The encoding of each.
    pub channel: ChannelType,
}

impl Format {
    /// One uninterpreted byte: the format of media surfaces in block messages.
    pub const R8_UINT: Self = Self {
        order: ChannelOrder::R,
        channel: ChannelType::Uint8,
    };

    /// Bytes of a texel.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.order.channels() * self.channel.bytes()
    }

    /// Red, green, blue and alpha of a texel, each as [`ChannelType::class`] says. Channels that
    /// are not stored are zero, alpha is one.
    #[must_use]
    pub fn decode(self, texel: &[u8]) -> [u32; 4] {
        let mut stored = [0u32; 4];
        for (to, bytes) in stored
            .iter_mut()
            .zip(texel.chunks_exact(self.channel.bytes()))
        {
            let mut word = [0; 4];
            for (w, b) in word.iter_mut().zip(bytes) {
                *w = *b;
            }
            *to = self.channel.decode(u32::from_le_bytes(word));
        }
        self.order.sources().map(|source| match source {
            Source::Stored(i) => stored.get(usize::from(i)).copied().unwrap_or(0),
            Source::Zero => 0,
            Source::One => self.one(),
        })
    }

    /// The bytes of a texel of that colour: red, green, blue and alpha, each as [`ChannelType::class`] says.
    #[must_use]
    pub fn texel(self, rgba: [u32; 4]) -> Vec<u8> {
        let mut texel = vec![0; self.bytes()];
        self.encode(rgba, 0xf, &mut texel);
        texel
    }

    /// Writes a texel; `keep` has the channels (bit 0 red to bit 3 alpha) that are written, the
    /// bytes of others stay.
    pub(crate) fn encode(self, rgba: [u32; 4], keep: u8, texel: &mut [u8]) {
        for (i, (source, value)) in self.order.sources().into_iter().zip(rgba).enumerate() {
            let Source::Stored(place) = source else {
                continue;
            };
            if keep >> i & 1 == 0 || !self.stores(i) {
                continue;
            }
            let size = self.channel.bytes();
            let bytes = self.channel.encode(value).to_le_bytes();
            let place = usize::from(place) * size;
            for (to, from) in texel.iter_mut().skip(place).take(size).zip(bytes) {
                *to = from;
            }
        }
    }

    /// Whether texels store a channel (0 red to 3 alpha).
    pub(crate) fn stores(self, channel: usize) -> bool {
        let sources = self.order.sources();
        let is_stored = matches!(sources.get(channel), Some(Source::Stored(_)));
        // Intensity and luminance are stored once, from red.
        let is_once = self.order.channels() == 1 && self.order != ChannelOrder::A;
        is_stored && (channel == 0 || !is_once)
    }

    /// Whether these channels (bit 0 red to bit 3 alpha) are all that a texel stores.
    #[must_use]
    pub fn is_whole(self, channels: u8) -> bool {
        let over = |byte| {
            let mut texel = vec![byte; self.bytes()];
            self.encode([0; 4], channels, &mut texel);
            texel
        };
        over(0) == over(0xff)
    }

    /// One, as a register channel of this format.
    pub(crate) const fn one(self) -> u32 {
        match self.channel.class() {
            ChannelClass::Float => 1f32.to_bits(),
            _ => 1,
        }
    }

    /// A texel outside an image: zero, with an alpha of one if none is stored.
    pub(crate) const fn border(self) -> [u32; 4] {
        let alpha = if self.order.has_alpha() {
            0
        } else {
            self.one()
        };
        [0, 0, 0, alpha]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn format(order: ChannelOrder, channel: ChannelType) -> Format {
        Format { order, channel }
    }

    #[test]
    fn sizes() {
        assert_eq!(format(ChannelOrder::Rgba, ChannelType::Unorm8).bytes(), 4);
        assert_eq!(format(ChannelOrder::Rg, ChannelType::Float16).bytes(), 4);
        assert_eq!(format(ChannelOrder::Rgba, ChannelType::Float32).bytes(), 16);
    }

    #[test]
    fn channels_find_their_place() {
        let f = |order| format(order, ChannelType::Uint8);
        let texel = [1, 2, 3, 4];
        assert_eq!(f(ChannelOrder::Rgba).decode(&texel), [1, 2, 3, 4]);
        assert_eq!(f(ChannelOrder::Bgra).decode(&texel), [3, 2, 1, 4]);
        assert_eq!(f(ChannelOrder::Argb).decode(&texel), [2, 3, 4, 1]);
        assert_eq!(f(ChannelOrder::Rg).decode(&texel), [1, 2, 0, 1]);
        assert_eq!(f(ChannelOrder::A).decode(&texel), [0, 0, 0, 1]);
        assert_eq!(f(ChannelOrder::Intensity).decode(&[7]), [7; 4]);
        assert_eq!(f(ChannelOrder::Luminance).decode(&[7]), [7, 7, 7, 1]);
        for order in [ChannelOrder::Rgba, ChannelOrder::Bgra, ChannelOrder::Argb] {
            let mut out = [0; 4];
            f(order).encode(f(order).decode(&texel), 15, &mut out);
            assert_eq!(out, texel);
        }
        let mut out = [9; 4];
        f(ChannelOrder::Bgra).encode([1, 2, 3, 4], 0b0101, &mut out);
        assert_eq!(out, [3, 9, 1, 9]);
        let mut out = [9];
        f(ChannelOrder::Luminance).encode([1, 2, 3, 4], 15, &mut out);
        assert_eq!(out, [1]);
    }

    #[test]
    fn normalised_and_clamped() {
        let bits = f32::to_bits;
        let unorm = ChannelType::Unorm8;
        assert_eq!(unorm.decode(255), bits(1.0));
        assert_eq!(unorm.decode(51), bits(0.2));
        assert_eq!(unorm.encode(bits(2.0)), 255);
        assert_eq!(unorm.encode(bits(-1.0)), 0);
        assert_eq!(unorm.encode(bits(f32::NAN)), 0);
        // 0.5 * 255 = 127.5 goes to the even neighbour.
        assert_eq!(unorm.encode(bits(0.5)), 128);
        assert_eq!(ChannelType::Snorm8.decode(0x80), bits(-1.0));
        assert_eq!(ChannelType::Snorm8.decode(0x81), bits(-1.0));
        assert_eq!(ChannelType::Snorm8.encode(bits(-1.0)), 0x81);
        assert_eq!(ChannelType::Snorm16.encode(bits(1.0)), 32767);
        assert_eq!(ChannelType::Sint8.decode(0xff), u32::MAX);
        assert_eq!(ChannelType::Sint8.encode((-200i32).cast_unsigned()), 0x80);
        assert_eq!(ChannelType::Uint8.encode(300), 255);
        assert_eq!(ChannelType::Uint16.encode(70000), 65535);
        assert_eq!(ChannelType::Float16.decode(0x3c00), bits(1.0));
        assert_eq!(ChannelType::Float16.encode(bits(-2.0)), 0xc000);
    }

    #[test]
    fn borders() {
        assert_eq!(
            format(ChannelOrder::Rgba, ChannelType::Float32).border(),
            [0; 4]
        );
        assert_eq!(
            format(ChannelOrder::R, ChannelType::Uint32).border(),
            [0, 0, 0, 1]
        );
    }
}
