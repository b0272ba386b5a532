//! Texels of an image, one at a time or filtered.

use super::Memory;
use super::format::ChannelClass;
use super::space::{Shared, Space};
use super::surface::{Addressing, Filter, Image, ImageShape, Sampler};
use crate::observe::{Extent, MissedTexel};

/// An image and the storage of its buffer.
#[derive(Debug)]
pub(crate) struct Texels<'a> {
    pub(crate) image: Image,
    pub(crate) space: Shared<'a>,
}

impl Texels<'_> {
    /// The bytes of the image, for an observer.
    pub(crate) fn extent(&self, memory: &Memory) -> Option<Extent> {
        let room = (self.space.len() as u64).saturating_sub(self.image.offset);
        Some(Extent {
            base: memory.address(self.image.buffer) + self.image.offset,
            bytes: room,
        })
    }

    /// An access by a lane to a texel that does not exist, for an observer.
    pub(crate) fn missed(&self, memory: &Memory, lane: u8, at: [i64; 3]) -> MissedTexel {
        MissedTexel {
            extent: self.extent(memory),
            lane,
            at,
            size: [self.image.width, self.image.height, self.image.depth],
            write: false,
            bordered: false,
        }
    }

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

    /// Replaces the channels in `keep` of a texel; no effect outside.
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
        Addressing::Unchecked | Addressing::ClampToEdge => Some(at.clamp(0, size - 1)),
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

/// The two texels that a filter blends in one dimension, `None` for the border, and the weight of the second.
#[derive(Clone, Copy)]
struct Taps {
    at: [Option<i64>; 2],
    weight: f32,
}

impl Taps {
    const fn one(at: Option<i64>) -> Self {
        Self {
            at: [at, None],
            weight: 0.0,
        }
    }

    /// The texels around a coordinate of a dimension that is filtered.
    fn filtered(c: f32, size: u32, offset: i64, sampler: Sampler, filter: Filter) -> Self {
        let (c, offset) = if sampler.normalized {
            // Whole repetitions are removed before multiplying by the size: a value just below the end of one must not
            // be rounded to the beginning of the next.
            let (c, offset) = match sampler.addressing {
                Addressing::Repeat => (c - c.floor(), offset),
                Addressing::Mirror => {
                    let turned = c - 2.0 * (0.5 * c).round_ties_even();
                    let offset = if turned < 0.0 { -offset } else { offset };
                    (turned.abs(), offset)
                }
                Addressing::Unchecked | Addressing::ClampToEdge | Addressing::ClampToBorder => {
                    (c, offset)
                }
            };
            #[expect(clippy::cast_precision_loss, reason = "sizes are below 2^24")]
            let size = size as f32;
            (c * size, offset)
        } else {
            (c, offset)
        };
        let texel = |at| wrap(at, size, sampler.addressing);
        if filter == Filter::Nearest {
            return Self::one(texel(floor(c) + offset));
        }
        let c = c - 0.5;
        let first = floor(c) + offset;
        Self {
            at: [texel(first), texel(first + 1)],
            weight: c - c.floor(),
        }
    }

    /// The entry of an array: the nearest one inside of it, of two the even one, as OpenCL's `rint` rounds.
    fn entry(c: f32, size: u32, offset: i64) -> Self {
        Self::one(Some(
            (floor(c.round_ties_even()) + offset).clamp(0, i64::from(size.max(1)) - 1),
        ))
    }

    fn weighted(self) -> [(Option<i64>, f32); 2] {
        let [first, second] = self.at;
        [(first, 1.0 - self.weight), (second, self.weight)]
    }
}

/// Samples an image at `u`, `v`, `r`, interpreted according to its shape, plus offsets in texels. Returns the channels
/// in the form of their [`ChannelClass`].
pub(crate) fn sample(
    texels: &Texels<'_>,
    sampler: Sampler,
    [u, v, r]: [f32; 3],
    [du, dv, dr]: [i64; 3],
) -> [u32; 4] {
    let image = &texels.image;
    // Integers cannot be blended.
    let filter = match image.format.channel.class() {
        ChannelClass::Float => sampler.filter,
        _ => Filter::Nearest,
    };
    let filtered = |c, size, offset| Taps::filtered(c, size, offset, sampler, filter);
    let x = filtered(u, image.width, du);
    let (y, z) = match image.shape {
        ImageShape::Line => (Taps::one(Some(0)), Taps::one(Some(0))),
        ImageShape::LineArray => (Taps::entry(v, image.height, dv), Taps::one(Some(0))),
        ImageShape::Plane => (
            filtered(v, image.height, dv),
            Taps::entry(r, image.depth, dr),
        ),
        ImageShape::Volume => (filtered(v, image.height, dv), filtered(r, image.depth, dr)),
    };
    let fetch = |x: Option<i64>, y: Option<i64>, z: Option<i64>| {
        let inside = x.zip(y).zip(z);
        inside
            .and_then(|((x, y), z)| texels.load(x, y, z))
            .unwrap_or(image.format.border())
    };
    if filter == Filter::Nearest {
        let first = |taps: Taps| taps.at.first().copied().flatten();
        return fetch(first(x), first(y), first(z));
    }
    let mut out = [0f32; 4];
    for (z, depth) in z.weighted() {
        for (y, height) in y.weighted() {
            for (x, width) in x.weighted() {
                let weight = width * height * depth;
                // A texel without weight must not spread its NaN or infinity.
                if weight == 0.0 {
                    continue;
                }
                for (sum, channel) in out.iter_mut().zip(fetch(x, y, z)) {
                    *sum += f32::from_bits(channel) * weight;
                }
            }
        }
    }
    out.map(f32::to_bits)
}

/// The texel that coordinates are in, whatever filter there is, and whether an image has it. Only dimensions that have
/// no entry of an array count, as those are clamped.
pub(crate) fn texel_at(
    image: &Image,
    sampler: Sampler,
    [u, v, r]: [f32; 3],
    [du, dv, dr]: [i64; 3],
) -> ([i64; 3], bool) {
    #[expect(clippy::cast_precision_loss, reason = "sizes are below 2^24")]
    let texel = |c: f32, size: u32, offset| {
        let scale = if sampler.normalized { size as f32 } else { 1.0 };
        floor(c * scale) + offset
    };
    let at = [
        texel(u, image.width, du),
        texel(v, image.height, dv),
        texel(r, image.depth, dr),
    ];
    let sizes = [image.width, image.height, image.depth];
    let dimensions = match image.shape {
        ImageShape::Line | ImageShape::LineArray => 1,
        ImageShape::Plane => 2,
        ImageShape::Volume => 3,
    };
    let mut all = at.iter().zip(sizes).take(dimensions);
    let inside = all.all(|(at, size)| (0..i64::from(size)).contains(at));
    (at, inside)
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
        check(mirror, [-1.1, 0.0], 4.0);
    }

    /// 1.8 is a little less as a float, and so is four fifths of it; times five it would be rounded to nine.
    #[test]
    fn repetitions_are_taken_off_first() {
        let at = |addressing| {
            let sampler = sampler(true, addressing, Filter::Nearest);
            Taps::filtered(4.0 * 0.45, 5, 0, sampler, Filter::Nearest).at
        };
        assert_eq!(at(Addressing::Repeat), [Some(3), None]);
        assert_eq!(at(Addressing::Mirror), [Some(1), None]);
        let mirror = sampler(true, Addressing::Mirror, Filter::Nearest);
        let next = Taps::filtered(1.3, 4, 1, mirror, Filter::Nearest);
        assert_eq!(next.at, [Some(1), None], "one further is one back");
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

    /// A texture of 2 by 2 by 2 texels, 1 to 8, in each shape.
    fn shaped(shape: ImageShape, sampler: Sampler, at: [f32; 3]) -> f32 {
        let mut memory = Memory::new(1000);
        let data: Vec<u8> = (1..9u8).flat_map(|v| f32::from(v).to_le_bytes()).collect();
        let buffer = memory.add_buffer(&data).unwrap();
        let format = Format {
            order: ChannelOrder::R,
            channel: ChannelType::Float32,
        };
        let mut image = Image::new_2d(buffer, 2, 2, 8, format);
        (image.shape, image.depth) = (shape, 2);
        let texels = Texels {
            image,
            space: memory.shared(buffer).unwrap(),
        };
        let [red, ..] = sample(&texels, sampler, at, [0; 3]);
        f32::from_bits(red)
    }

    #[test]
    fn the_shape_says_what_coordinates_mean() {
        let nearest = sampler(false, Addressing::ClampToBorder, Filter::Nearest);
        let linear = sampler(false, Addressing::ClampToBorder, Filter::Linear);
        let repeat = sampler(true, Addressing::Repeat, Filter::Linear);
        // A line has no second dimension that could leave the image or be blended.
        assert_eq!(shaped(ImageShape::Line, nearest, [1.5, 9.0, 9.0]), 2.0);
        assert_eq!(shaped(ImageShape::Line, linear, [1.0, 0.0, 0.0]), 1.5);
        // The number of a line is rounded and clamped, neither blended nor normalized.
        assert_eq!(shaped(ImageShape::LineArray, linear, [1.0, 0.6, 0.0]), 3.5);
        assert_eq!(shaped(ImageShape::LineArray, repeat, [0.25, 7.0, 0.0]), 3.0);
        // So is that of a plane,
        assert_eq!(shaped(ImageShape::Plane, nearest, [0.5, 0.5, 0.6]), 5.0);
        assert_eq!(shaped(ImageShape::Plane, nearest, [0.5, 0.5, -3.0]), 1.0);
        assert_eq!(shaped(ImageShape::Plane, nearest, [0.5, 0.5, 0.5]), 1.0);
        // but the third dimension of a volume is one like the others.
        assert_eq!(shaped(ImageShape::Volume, nearest, [0.5, 0.5, 0.6]), 1.0);
        assert_eq!(shaped(ImageShape::Volume, nearest, [0.5, 0.5, 2.0]), 0.0);
        assert_eq!(shaped(ImageShape::Volume, linear, [1.0, 1.0, 1.0]), 4.5);
        assert_eq!(shaped(ImageShape::Volume, linear, [1.0, 1.0, 0.0]), 1.25);
        assert_eq!(shaped(ImageShape::Volume, repeat, [0.25, 0.25, 1.75]), 5.0);
    }
}
