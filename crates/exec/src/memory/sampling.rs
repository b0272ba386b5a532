//! Texels of an image, one at a time or filtered.

use super::format::ChannelClass;
use super::space::{Shared, Space};
use super::surface::{Addressing, Filter, Image, Sampler};

/// An image and the storage of its buffer.
#[derive(Debug)]
pub(crate) struct Texels<'a> {
    pub(crate) image: Image,
    pub(crate) space: Shared<'a>,
}

impl Texels<'_> {
    /// The bytes of a texel in the buffer, `None` outside of image or buffer.
    pub(crate) fn place(&self, x: i64, y: i64, z: i64) -> Option<usize> {
        let at = usize::try_from(self.image.texel(x, y, z)?).ok()?;
        let end = at.checked_add(self.image.format.bytes())?;
        (end <= self.space.len()).then_some(at)
    }

    /// A texel, `None` outside.
    pub(crate) fn load(&self, x: i64, y: i64, z: i64) -> Option<[u32; 4]> {
        let at = self.place(x, y, z)?;
        let mut bytes = [0; 16];
        let texel = bytes.get_mut(..self.image.format.bytes())?;
        self.space.read(at, texel);
        Some(self.image.format.decode(texel))
    }

    /// Replaces the channels of `keep` of a texel; outside nothing happens.
    pub(crate) fn store(&mut self, x: i64, y: i64, z: i64, rgba: [u32; 4], keep: u8) {
        let Some(at) = self.place(x, y, z) else {
            return;
        };
        let mut bytes = [0; 16];
        if let Some(texel) = bytes.get_mut(..self.image.format.bytes()) {
            self.space.read(at, texel);
            self.image.format.encode(rgba, keep, texel);
            self.space.write(at, texel);
        }
    }
}

/// The texel coordinate that `at` means, `None` for the border.
fn wrap(at: i64, size: u32, addressing: Addressing) -> Option<i64> {
    let size = i64::from(size.max(1));
    match addressing {
        Addressing::ClampToEdge => Some(at.clamp(0, size - 1)),
        Addressing::ClampToBorder => (0..size).contains(&at).then_some(at),
        Addressing::Repeat => Some(at.rem_euclid(size)),
        Addressing::Mirror => {
            let at = at.rem_euclid(2 * size);
            Some(if at < size { at } else { 2 * size - 1 - at })
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and a NaN becomes 0"
)]
fn floor(v: f32) -> i64 {
    // Far outside is far outside; the limit keeps sums of it in range.
    (v.floor() as i64).clamp(-(1 << 40), 1 << 40)
}

/// Samples an image at `u`, `v` of slice `r`, with offsets in texels added. Gives the channels as
/// [`ChannelClass`] says.
pub(crate) fn sample(
    texels: &Texels<'_>,
    sampler: Sampler,
    [u, v, r]: [f32; 3],
    [du, dv, dr]: [i64; 3],
) -> [u32; 4] {
    let image = &texels.image;
    #[expect(clippy::cast_precision_loss, reason = "sizes are below 2^24")]
    let scale = |c: f32, size: u32| {
        if sampler.normalized {
            c * size as f32
        } else {
            c
        }
    };
    let fetch = |x: i64, y: i64, z: i64| {
        let x = wrap(x, image.width, sampler.addressing);
        let y = wrap(y, image.height, sampler.addressing);
        x.zip(y)
            .and_then(|(x, y)| texels.load(x, y, z))
            .unwrap_or(image.format.border())
    };
    let (x, y) = (scale(u, image.width), scale(v, image.height));
    // The slice of an array is the nearest one inside of it.
    let z = (floor(r + 0.5) + dr).clamp(0, i64::from(image.depth.max(1)) - 1);
    // Integers cannot be blended.
    if sampler.filter == Filter::Nearest || image.format.channel.class() != ChannelClass::Float {
        return fetch(floor(x) + du, floor(y) + dv, z);
    }
    let (x, y) = (x - 0.5, y - 0.5);
    let (x0, y0) = (floor(x), floor(y));
    let (fx, fy) = (x - x.floor(), y - y.floor());
    let (x0, y0) = (x0 + du, y0 + dv);
    let corners = [
        (fetch(x0, y0, z), (1.0 - fx) * (1.0 - fy)),
        (fetch(x0 + 1, y0, z), fx * (1.0 - fy)),
        (fetch(x0, y0 + 1, z), (1.0 - fx) * fy),
        (fetch(x0 + 1, y0 + 1, z), fx * fy),
    ];
    let mut out = [0f32; 4];
    for (texel, weight) in corners {
        // A corner without weight must not spread its NaN or infinity.
        if weight != 0.0 {
            for (sum, channel) in out.iter_mut().zip(texel) {
                *sum += f32::from_bits(channel) * weight;
            }
        }
    }
    out.map(f32::to_bits)
}

#[cfg(test)]
mod tests {
    use super::super::{ChannelOrder, ChannelType, Format, Memory};
    use super::*;

    fn check(sampler: Sampler, at: [f32; 2], expected: f32) {
        let mut memory = Memory::new(1000);
        let data: Vec<u8> = [1f32, 2., 3., 4., 5., 6., 7., 8.]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        let buffer = memory.add_buffer(&data).unwrap();
        let format = Format {
            order: ChannelOrder::R,
            channel: ChannelType::Float32,
        };
        // 1 2 3 4
        // 5 6 7 8
        let texels = Texels {
            image: Image::new_2d(buffer, 4, 2, 16, format),
            space: memory.shared(buffer).unwrap(),
        };
        let [red, _, _, alpha] = sample(&texels, sampler, [at[0], at[1], 0.0], [0; 3]);
        assert_eq!(f32::from_bits(red), expected, "{sampler:?} {at:?}");
        assert_eq!(f32::from_bits(alpha), 1.0);
    }

    const fn sampler(normalized: bool, addressing: Addressing, filter: Filter) -> Sampler {
        Sampler {
            normalized,
            addressing,
            filter,
        }
    }

    #[test]
    fn nearest() {
        let edge = sampler(false, Addressing::ClampToEdge, Filter::Nearest);
        check(edge, [0.0, 0.0], 1.0);
        check(edge, [1.999, 1.0], 6.0);
        check(edge, [-3.0, 7.0], 5.0);
        check(edge, [f32::INFINITY, -f32::INFINITY], 4.0);
        check(edge, [f32::NAN, 0.0], 1.0);
        let border = sampler(false, Addressing::ClampToBorder, Filter::Nearest);
        check(border, [-0.1, 0.0], 0.0);
        check(border, [3.5, 1.5], 8.0);
        let repeat = sampler(true, Addressing::Repeat, Filter::Nearest);
        check(repeat, [1.3, 0.0], 2.0);
        check(repeat, [-0.1, 0.6], 8.0);
        let mirror = sampler(true, Addressing::Mirror, Filter::Nearest);
        check(mirror, [1.1, 0.0], 4.0);
        check(mirror, [-0.1, 0.0], 1.0);
        check(mirror, [2.1, 0.0], 1.0);
    }

    #[test]
    fn linear() {
        let edge = sampler(false, Addressing::ClampToEdge, Filter::Linear);
        check(edge, [0.5, 0.5], 1.0);
        check(edge, [1.0, 0.5], 1.5);
        check(edge, [1.0, 1.0], 3.5);
        check(edge, [0.0, 0.0], 1.0);
        let border = sampler(false, Addressing::ClampToBorder, Filter::Linear);
        check(border, [0.0, 0.0], 0.25);
        let repeat = sampler(true, Addressing::Repeat, Filter::Linear);
        check(repeat, [0.0, 0.25], 2.5);
    }
}
