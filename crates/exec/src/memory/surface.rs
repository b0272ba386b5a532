//! Surfaces and samplers: what a state named by a message refers to.

use super::BufferId;
use super::format::Format;

/// The surface of a binding-table entry or a bindless handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surface {
    /// Consecutive bytes of a buffer.
    Buffer {
        /// The buffer.
        buffer: BufferId,
        /// First byte of the surface in the buffer.
        offset: u64,
        /// Number of bytes; anything past the end of the buffer is out of bounds.
        size: u64,
    },
    /// An image, its rows at a constant distance.
    Image2d(Image),
    /// The scratch memory of the thread that asks.
    Scratch,
}

impl Surface {
    /// A whole buffer.
    #[must_use]
    pub const fn whole(buffer: BufferId) -> Self {
        Self::Buffer {
            buffer,
            offset: 0,
            size: u64::MAX,
        }
    }
}

/// How the coordinates of an image are interpreted. The sampler needs this, messages with integer
/// coordinates do not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ImageShape {
    /// One dimension: V and R are ignored.
    Line,
    /// An array of lines, which are the rows: V is the number of a line.
    LineArray,
    /// Two dimensions, or an array of such images: R is the number of a slice.
    #[default]
    Plane,
    /// Three dimensions.
    Volume,
}

/// An image of one, two or three dimensions in a buffer, with linear layout.
///
/// A 1D image has height 1. Slices are the third dimension or the entries of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Image {
    /// The buffer.
    pub buffer: BufferId,
    /// First byte of the image in the buffer.
    pub offset: u64,
    /// Texels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Slices, at least 1.
    pub depth: u32,
    /// Bytes from row to row.
    pub pitch: u32,
    /// Bytes from slice to slice.
    pub slice_pitch: u64,
    /// How the sampler interprets the coordinates.
    pub shape: ImageShape,
    /// The texels.
    pub format: Format,
    /// First byte, in the buffer, of the plane with interleaved U and V, for block messages that
    /// name a plane. It has the same pitch and half as many rows.
    pub chroma: Option<u64>,
}

impl Image {
    /// A 2D image from the start of a buffer.
    #[must_use]
    pub const fn new_2d(
        buffer: BufferId,
        width: u32,
        height: u32,
        pitch: u32,
        format: Format,
    ) -> Self {
        Self {
            buffer,
            offset: 0,
            width,
            height,
            depth: 1,
            pitch,
            slice_pitch: pitch as u64 * height as u64,
            shape: ImageShape::Plane,
            format,
            chroma: None,
        }
    }

    /// Place of a texel in the buffer, `None` outside of the image.
    pub(crate) fn texel(&self, x: i64, y: i64, z: i64) -> Option<u64> {
        let inside = |v: i64, size: u32| u32::try_from(v).ok().filter(|v| *v < size);
        let (x, y, z) = (
            inside(x, self.width)?,
            inside(y, self.height)?,
            inside(z, self.depth)?,
        );
        let in_slice =
            u64::from(y) * u64::from(self.pitch) + u64::from(x) * self.format.bytes() as u64;
        self.slice_pitch
            .checked_mul(z.into())?
            .checked_add(in_slice)?
            .checked_add(self.offset)
    }
}

/// How a coordinate outside an image is handled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Addressing {
    /// The program promises that none is outside. One that is gets the nearest texel of the edge.
    Unchecked,
    /// The nearest texel of the edge.
    ClampToEdge,
    /// The border colour: zero, alpha one where the format has none.
    ClampToBorder,
    /// The image repeats.
    Repeat,
    /// The image repeats, every other time mirrored.
    Mirror,
}

/// How texels around a coordinate are combined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Filter {
    /// The texel that holds the coordinate.
    Nearest,
    /// Interpolation between the nearest texels of each dimension.
    Linear,
}

/// A sampler state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampler {
    /// Coordinates 0 to 1 span the image; else they count texels.
    pub normalized: bool,
    /// How coordinates outside are handled.
    pub addressing: Addressing,
    /// How texels are combined.
    pub filter: Filter,
}
