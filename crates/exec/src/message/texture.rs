//! Sampler messages: filtered and unfiltered texels, and properties of images.

use super::data::Data;
use super::reach::Reach;
use super::reach::SamplerReach;
use super::typed::{operands, report_texel};
use crate::fault::{Outcome, Trap};
use crate::machine::Registers;
use crate::memory::{
    Addressing, ChannelClass, Filter, Image, ImageShape, Memory, Sampler, Texels, sample, texel_at,
};
use crate::observe::{MemoryAccess, Observer};
use crate::operands::Scalar;
use half::f16;

/// What a sampler message queries.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Query {
    /// Filtered texels at float coordinates.
    Sample,
    /// Texels at integer coordinates.
    Load,
    /// One channel (0 red to 3 alpha) of the four texels that a bilinear filter would blend.
    Gather(u8),
    /// Width, height, depth and number of levels.
    Size,
    /// Number of samples.
    Samples,
}

/// A parameter of the lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Parameter {
    pub(crate) data: Data,
    /// Bytes of an element: 2 or 4.
    pub(crate) size: usize,
}

/// A sampler message. All images have one level: a level of detail is ignored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Texture {
    pub(crate) reach: Reach,
    pub(crate) query: Query,
    pub(crate) sampler: Option<SamplerReach>,
    /// U, V and R.
    pub(crate) coordinates: [Option<Parameter>; 3],
    /// Texel offsets: bits 8-11 U, 4-7 V, 0-3 R, each signed.
    pub(crate) offsets: Scalar,
    pub(crate) lanes: usize,
    /// Bit 0 red to bit 3 alpha.
    pub(crate) channels: u8,
    pub(crate) dst: Option<Data>,
    /// Bytes of an element of the destination: 2 or 4.
    pub(crate) size: usize,
    /// Bytes from channel to channel.
    pub(crate) channel_pitch: usize,
    /// Whether a mask of the lanes with resident texels follows the channels.
    pub(crate) null_mask: bool,
}

fn nibble(word: u64, shift: u32) -> i64 {
    let value = i64::try_from(word >> shift & 0xf).unwrap_or(0);
    if value >= 8 { value - 16 } else { value }
}

impl Parameter {
    /// The bits of a lane's element.
    fn bits(&self, registers: &Registers, lane: usize) -> Result<u32, Box<Trap>> {
        let bytes = self.data.read(registers)?;
        let mut word = [0; 4];
        let element = bytes.chunks_exact(self.size).nth(lane).unwrap_or_default();
        for (to, from) in word.iter_mut().zip(element) {
            *to = *from;
        }
        Ok(u32::from_le_bytes(word))
    }

    fn float(&self, registers: &Registers, lane: usize) -> Result<f32, Box<Trap>> {
        let bits = self.bits(registers, lane)?;
        Ok(match (self.size, u16::try_from(bits)) {
            (2, Ok(half)) => f16::from_bits(half).to_f32(),
            _ => f32::from_bits(bits),
        })
    }
}

impl Texture {
    pub(crate) fn run<O: Observer>(
        &self,
        registers: &mut Registers,
        memory: &Memory,
        mask: u32,
        observer: &mut O,
    ) -> Outcome {
        let Some(dst) = &self.dst else {
            return Ok(());
        };
        let (texels, surface) = self.reach.image(registers, memory)?;
        let sampler = self.sampler(registers, memory)?;
        let offsets = self.offsets(registers);
        let class = match self.query {
            Query::Size | Query::Samples => ChannelClass::Unsigned,
            _ => texels.image.format.channel.class(),
        };
        for lane in (0..self.lanes).filter(|lane| mask >> lane & 1 != 0) {
            let rgba = match self.query {
                Query::Size | Query::Samples => self.property(&texels.image),
                Query::Load => {
                    let at = self.integers(registers, lane)?;
                    let [x, y, z] = std::array::from_fn(|i| sum(at, offsets, i));
                    if O::MEMORY {
                        let image = (&texels, surface);
                        self.report(observer, (registers, memory), image, lane, [x, y, z]);
                    }
                    texels.load(x, y, z).unwrap_or(texels.image.format.border())
                }
                Query::Sample | Query::Gather(_) => {
                    let at = self.floats(registers, lane)?;
                    if O::MEMORY && sampler.addressing == Addressing::Unchecked {
                        let (at, inside) = texel_at(&texels.image, sampler, at, offsets);
                        if !inside {
                            let lane = u8::try_from(lane).unwrap_or(0);
                            observer.missed(&texels.missed(memory, lane, at));
                        }
                    }
                    self.sampled(&texels, sampler, at, offsets)
                }
            };
            self.put(dst.write(registers)?, lane, rgba, class);
        }
        if self.null_mask {
            // All texels are resident.
            let at = self.channels.count_ones() as usize * self.channel_pitch;
            let out = dst.write(registers)?;
            if let Some(out) = out.get_mut(at..).and_then(|o| o.first_chunk_mut()) {
                *out = u32::MAX.to_le_bytes();
            }
        }
        Ok(())
    }

    /// The sampler, or what does for messages without one.
    pub(crate) fn sampler(
        &self,
        registers: &Registers,
        memory: &Memory,
    ) -> Result<Sampler, Box<Trap>> {
        let found = self.sampler.map(|reach| reach.find(registers, memory));
        Ok(found.transpose()?.unwrap_or(Sampler {
            normalized: false,
            addressing: Addressing::ClampToEdge,
            filter: Filter::Nearest,
        }))
    }

    /// The texel offsets of U, V and R.
    pub(crate) fn offsets(&self, registers: &Registers) -> [i64; 3] {
        let word = self.offsets.read(registers);
        [nibble(word, 8), nibble(word, 4), nibble(word, 0)]
    }

    /// What a query of a property of an image returns, whatever its coordinates are.
    pub(crate) fn property(&self, image: &Image) -> [u32; 4] {
        if self.query == Query::Samples {
            return [1, 0, 0, 0];
        }
        // A plain 2D image has no third dimension.
        let third = image.depth > 1 || image.shape == ImageShape::Volume;
        let depth = if third { image.depth } else { 0 };
        [image.width, image.height, depth, 1]
    }

    /// What a sampler makes of the texels around a place: a texel, or a channel of four of them.
    fn sampled(
        &self,
        texels: &Texels<'_>,
        sampler: Sampler,
        at: [f32; 3],
        offsets: [i64; 3],
    ) -> [u32; 4] {
        let Query::Gather(channel) = self.query else {
            return sample(texels, sampler, at, offsets);
        };
        let corner = |u, v| {
            let [du, dv, dr] = offsets;
            let texel = Self::corner(texels, sampler, at, [du + u, dv + v, dr]);
            texel.get(usize::from(channel)).copied().unwrap_or(0)
        };
        [corner(0, 1), corner(1, 1), corner(1, 0), corner(0, 0)]
    }

    /// Writes the channels of a lane.
    fn put(&self, out: &mut [u8], lane: usize, rgba: [u32; 4], class: ChannelClass) {
        let enabled = (0..4usize).filter(|c| self.channels >> c & 1 != 0);
        for (slot, channel) in enabled.enumerate() {
            let at = slot * self.channel_pitch + lane * self.size;
            let value = rgba.get(channel).copied().unwrap_or(0);
            let value = if self.size == 2 && class == ChannelClass::Float {
                f16::from_f32(f32::from_bits(value)).to_bits().into()
            } else {
                value
            };
            let out = out.iter_mut().skip(at).take(self.size);
            for (to, from) in out.zip(value.to_le_bytes()) {
                *to = from;
            }
        }
    }

    /// Tells an observer of the texel that a lane loads.
    #[cold]
    fn report<O: Observer>(
        &self,
        observer: &mut O,
        of: (&Registers, &Memory),
        image: (&Texels<'_>, u32),
        lane: usize,
        at: [i64; 3],
    ) {
        let places = (0..self.channels.count_ones() as usize)
            .map(|slot| slot * self.channel_pitch + lane * self.size);
        let bytes = u32::try_from(image.0.image.format.bytes()).unwrap_or(0);
        let access = |space, at| MemoryAccess {
            operands: operands(self.dst.as_ref(), places),
            ..MemoryAccess::plain(space, at, bytes, false)
        };
        let bordered = image.0.image.format.channel.class() != ChannelClass::Float;
        let at = (u8::try_from(lane).unwrap_or(0), at);
        report_texel(observer, of, image, at, bordered, access);
    }

    /// The texel at an offset from the upper left one of a bilinear filter.
    fn corner(texels: &Texels<'_>, sampler: Sampler, at: [f32; 3], offsets: [i64; 3]) -> [u32; 4] {
        let [u, v, r] = at;
        let image = &texels.image;
        #[expect(clippy::cast_precision_loss, reason = "sizes are below 2^24")]
        let (width, height) = (image.width as f32, image.height as f32);
        let (x, y) = if sampler.normalized {
            (u * width, v * height)
        } else {
            (u, v)
        };
        let nearest = Sampler {
            normalized: false,
            filter: Filter::Nearest,
            ..sampler
        };
        sample(texels, nearest, [x - 0.5, y - 0.5, r], offsets)
    }

    fn integers(&self, registers: &Registers, lane: usize) -> Result<[i64; 3], Box<Trap>> {
        let mut out = [0; 3];
        for (place, parameter) in out.iter_mut().zip(&self.coordinates) {
            if let Some(parameter) = parameter {
                let bits = parameter.bits(registers, lane)?;
                *place = match (parameter.size, u16::try_from(bits)) {
                    (2, Ok(word)) => word.cast_signed().into(),
                    _ => bits.cast_signed().into(),
                };
            }
        }
        Ok(out)
    }

    fn floats(&self, registers: &Registers, lane: usize) -> Result<[f32; 3], Box<Trap>> {
        let mut out = [0.0; 3];
        for (place, parameter) in out.iter_mut().zip(&self.coordinates) {
            if let Some(parameter) = parameter {
                *place = parameter.float(registers, lane)?;
            }
        }
        Ok(out)
    }
}

fn sum(a: [i64; 3], b: [i64; 3], i: usize) -> i64 {
    a.get(i).zip(b.get(i)).map_or(0, |(a, b)| a + b)
}
