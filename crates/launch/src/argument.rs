//! Arguments of a kernel.

use visakit_exec::memory::{
    Addressing, ChannelOrder, ChannelType, Filter, Format, ImageShape, Sampler, Storage,
};

/// A part of storage that outlives a launch.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The storage. Arguments with the same storage share a buffer.
    pub storage: Storage,
    /// Its address, if it is fixed across launches.
    pub address: Option<u64>,
    /// First byte of the part.
    pub offset: u64,
    /// Bytes of the part.
    pub size: u64,
    /// Bytes of the storage before the part that belong to it all the same, as of a pointer into an allocation: negative
    /// indices reach them.
    pub before: u64,
}

impl Shared {
    /// Whether both refer to the same storage.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.storage.host_address() == other.storage.host_address()
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        let place = |s: &Self| (s.address, s.offset, s.size);
        self.same(other) && place(self) == place(other)
    }
}

/// An argument as passed by the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A buffer in global memory with this content.
    Buffer(Vec<u8>),
    /// The buffer of an earlier argument.
    SameAs(usize),
    /// A null pointer.
    Null,
    /// A value: its bytes, little endian.
    Value(Vec<u8>),
    /// This many bytes of local memory.
    Local(usize),
    /// An image.
    Image(Image),
    /// A buffer in storage that outlives the launch.
    Shared(Shared),
    /// A pointer into a buffer that the memory has anyway.
    Pointer(u64),
    /// An image whose bytes are in storage that outlives the launch.
    SharedImage(Image, Shared),
    /// A sampler.
    Sampler(Sampler),
}

impl Argument {
    /// This argument without the bytes of a buffer or an image, which memory has.
    pub(crate) fn without_content(&self) -> Self {
        match self {
            Self::Buffer(_) => Self::Buffer(Vec::new()),
            Self::Image(image) => Self::Image(Image {
                bytes: Vec::new(),
                ..*image
            }),
            other => other.clone(),
        }
    }

    /// The image that it is.
    pub(crate) const fn image(&self) -> Option<&Image> {
        match self {
            Self::Image(image) | Self::SharedImage(image, _) => Some(image),
            _ => None,
        }
    }

    /// A description for messages.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Buffer(_) | Self::SameAs(_) | Self::Shared(_) => "buffer",
            Self::Pointer(_) => "pointer",
            Self::Null => "null pointer",
            Self::Value(_) => "value",
            Self::Local(_) => "size of local memory",
            Self::Image(_) | Self::SharedImage(..) => "image",
            Self::Sampler(_) => "sampler",
        }
    }
}

/// The types of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageKind {
    /// `image1d_t`
    Image1d,
    /// `image1d_buffer_t`
    Image1dBuffer,
    /// `image1d_array_t`
    Image1dArray,
    /// `image2d_t`
    Image2d,
    /// `image2d_array_t`
    Image2dArray,
    /// `image3d_t`
    Image3d,
}

/// Their names, without `_t`.
const KINDS: [(ImageKind, &str); 6] = [
    (ImageKind::Image1d, "image1d"),
    (ImageKind::Image1dBuffer, "image1d_buffer"),
    (ImageKind::Image1dArray, "image1d_array"),
    (ImageKind::Image2d, "image2d"),
    (ImageKind::Image2dArray, "image2d_array"),
    (ImageKind::Image3d, "image3d"),
];

impl ImageKind {
    /// The kind of that name, which is that of the OpenCL type without `_t`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        KINDS.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The number of its dimensions, including the number of entries of an array.
    #[must_use]
    pub const fn sizes(self) -> usize {
        match self {
            Self::Image1d | Self::Image1dBuffer => 1,
            Self::Image1dArray | Self::Image2d => 2,
            Self::Image2dArray | Self::Image3d => 3,
        }
    }

    /// How the sampler interprets coordinates.
    pub(crate) const fn shape(self) -> ImageShape {
        match self {
            Self::Image1d | Self::Image1dBuffer => ImageShape::Line,
            Self::Image1dArray => ImageShape::LineArray,
            Self::Image2d | Self::Image2dArray => ImageShape::Plane,
            Self::Image3d => ImageShape::Volume,
        }
    }
}

/// An image.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The kind of image.
    pub kind: ImageKind,
    /// Pixels of a row.
    pub width: u32,
    /// Rows; the entries of an array of lines; 1 for a line.
    pub height: u32,
    /// Slices of a volume, entries of an array of planes, else 1.
    pub depth: u32,
    /// Bytes from one row, or line of an array, to the next.
    pub row_pitch: u32,
    /// Bytes from one slice to the next.
    pub slice_pitch: u64,
    /// The pixels.
    pub format: Format,
    /// The rows.
    pub bytes: Vec<u8>,
}

impl Image {
    /// Creates an image with this many pixels in each direction (entries of an array come last), with this row pitch in
    /// bytes (by default rows are contiguous) and no padding between slices.
    ///
    /// # Errors
    /// The dimensions that the kind has.
    pub fn new(
        kind: ImageKind,
        sizes: &[u32],
        row_pitch: Option<u32>,
        format: Format,
        bytes: Vec<u8>,
    ) -> Result<Self, String> {
        if sizes.len() != kind.sizes() {
            let name = KINDS.iter().find(|row| row.0 == kind);
            return Err(format!(
                "an {} has {} {}, not {}",
                name.map_or("image", |row| row.1),
                kind.sizes(),
                if kind.sizes() == 1 { "size" } else { "sizes" },
                sizes.len()
            ));
        }
        let size = |dimension: usize| sizes.get(dimension).copied().unwrap_or(1);
        let row = size(0).saturating_mul(u32::try_from(format.bytes()).unwrap_or(u32::MAX));
        let row_pitch = row_pitch.unwrap_or(row);
        Ok(Self {
            kind,
            width: size(0),
            height: size(1),
            depth: size(2),
            row_pitch,
            slice_pitch: u64::from(row_pitch) * u64::from(size(1)),
            format,
            bytes,
        })
    }

    /// Bytes from the first pixel to the end of the last row of the last slice.
    #[must_use]
    pub fn span(&self) -> u64 {
        let rows = u64::from(self.row_pitch) * u64::from(self.height);
        self.slice_pitch
            .saturating_mul(u64::from(self.depth.max(1)) - 1)
            .saturating_add(rows)
    }

    /// Entries of an array; 1 otherwise.
    pub(crate) const fn entries(&self) -> u32 {
        match self.kind {
            ImageKind::Image1dArray => self.height,
            ImageKind::Image2dArray => self.depth,
            _ => 1,
        }
    }

    /// Slices of a volume; 1 otherwise.
    pub(crate) const fn slices(&self) -> u32 {
        match self.kind {
            ImageKind::Image3d => self.depth,
            _ => 1,
        }
    }
}

/// Names and numbers of channel orders: those of OpenCL's constants, without `CL_`.
const ORDERS: [(ChannelOrder, &str, u32); 10] = [
    (ChannelOrder::R, "R", 0x10b0),
    (ChannelOrder::A, "A", 0x10b1),
    (ChannelOrder::Rg, "RG", 0x10b2),
    (ChannelOrder::Ra, "RA", 0x10b3),
    (ChannelOrder::Rgb, "RGB", 0x10b4),
    (ChannelOrder::Rgba, "RGBA", 0x10b5),
    (ChannelOrder::Bgra, "BGRA", 0x10b6),
    (ChannelOrder::Argb, "ARGB", 0x10b7),
    (ChannelOrder::Intensity, "INTENSITY", 0x10b8),
    (ChannelOrder::Luminance, "LUMINANCE", 0x10b9),
];

/// Names and numbers of channel types, as above.
const TYPES: [(ChannelType, &str, u32); 12] = [
    (ChannelType::Snorm8, "SNORM_INT8", 0x10d0),
    (ChannelType::Snorm16, "SNORM_INT16", 0x10d1),
    (ChannelType::Unorm8, "UNORM_INT8", 0x10d2),
    (ChannelType::Unorm16, "UNORM_INT16", 0x10d3),
    (ChannelType::Sint8, "SIGNED_INT8", 0x10d7),
    (ChannelType::Sint16, "SIGNED_INT16", 0x10d8),
    (ChannelType::Sint32, "SIGNED_INT32", 0x10d9),
    (ChannelType::Uint8, "UNSIGNED_INT8", 0x10da),
    (ChannelType::Uint16, "UNSIGNED_INT16", 0x10db),
    (ChannelType::Uint32, "UNSIGNED_INT32", 0x10dc),
    (ChannelType::Float16, "HALF_FLOAT", 0x10dd),
    (ChannelType::Float32, "FLOAT", 0x10de),
];

/// Names of addressing modes: those of OpenCL, then those of the zebin specification; and the number that the payload
/// has for it.
const ADDRESSING: [(Addressing, &str, u32); 8] = [
    (Addressing::Unchecked, "NONE", 0),
    (Addressing::ClampToBorder, "CLAMP", 1),
    (Addressing::ClampToBorder, "CLAMP_BORDER", 1),
    (Addressing::ClampToEdge, "CLAMP_TO_EDGE", 2),
    (Addressing::ClampToEdge, "CLAMP_EDGE", 2),
    (Addressing::Repeat, "REPEAT", 3),
    (Addressing::Mirror, "MIRRORED_REPEAT", 4),
    (Addressing::Mirror, "MIRROR", 4),
];

fn by_name<T: Copy>(rows: &[(T, &'static str, u32)], name: &str) -> Result<T, String> {
    let short = name.to_ascii_uppercase();
    let short = short.trim_start_matches("CL_");
    let found = rows.iter().find(|row| row.1 == short);
    found.map(|row| row.0).ok_or_else(|| {
        let names: Vec<_> = rows.iter().map(|row| row.1).collect();
        format!("`{name}` is not known; known are {}", names.join(", "))
    })
}

fn number<T: PartialEq>(rows: &[(T, &'static str, u32)], value: &T) -> u32 {
    rows.iter()
        .rev()
        .find(|row| row.0 == *value)
        .map_or(0, |row| row.2)
}

/// A pixel format by the names of OpenCL's constants, such as `RGBA` and `UNORM_INT8`.
///
/// # Errors
/// The names that there are.
pub fn format(order: &str, channel: &str) -> Result<Format, String> {
    Ok(Format {
        order: by_name(&ORDERS, order)?,
        channel: by_name(&TYPES, channel)?,
    })
}

/// The names of a pixel format, as [`format()`] takes them.
#[must_use]
pub fn names(format: Format) -> [&'static str; 2] {
    let order = ORDERS.iter().find(|row| row.0 == format.order);
    let channel = TYPES.iter().find(|row| row.0 == format.channel);
    [
        order.map_or("", |row| row.1),
        channel.map_or("", |row| row.1),
    ]
}

/// A sampler by the names of OpenCL's constants or of the zebin specification, such as `CLAMP` and `LINEAR`.
///
/// # Errors
/// The names that there are.
pub fn sampler(normalized: bool, addressing: &str, filter: &str) -> Result<Sampler, String> {
    const FILTERS: [(Filter, &str, u32); 2] = [
        (Filter::Nearest, "NEAREST", 0),
        (Filter::Linear, "LINEAR", 1),
    ];
    Ok(Sampler {
        normalized,
        addressing: by_name(&ADDRESSING, addressing)?,
        filter: by_name(&FILTERS, filter)?,
    })
}

/// Number of the channel order, as OpenCL has it.
pub(crate) fn order_number(format: Format) -> u32 {
    number(&ORDERS, &format.order)
}

/// Number of the channel type, as OpenCL has it.
pub(crate) fn type_number(format: Format) -> u32 {
    number(&TYPES, &format.channel)
}

/// Number of the addressing mode, as the payload has it.
pub(crate) fn addressing_number(sampler: Sampler) -> u32 {
    number(&ADDRESSING, &sampler.addressing)
}

/// Negative coordinates are to be taken for -1 by the kernel itself: the hardware's border would begin half a pixel
/// too late.
pub(crate) fn snaps(sampler: Sampler) -> bool {
    sampler.addressing == Addressing::ClampToBorder && sampler.filter == Filter::Nearest
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn names() {
        let rgba = format("CL_RGBA", "UNORM_INT8").unwrap();
        assert_eq!(rgba.bytes(), 4);
        assert_eq!(super::names(rgba), ["RGBA", "UNORM_INT8"]);
        assert!(
            format("RGBA", "UNORM_INT9")
                .unwrap_err()
                .contains("UNORM_INT8")
        );
        let border = sampler(false, "clamp", "nearest").unwrap();
        assert!(snaps(border));
        assert_eq!(addressing_number(border), 1);
        assert!(!snaps(sampler(false, "clamp_edge", "nearest").unwrap()));
    }

    #[test]
    fn images_have_the_sizes_of_their_kind() {
        let rgba = format("RGBA", "UNORM_INT8").unwrap();
        let new = |name: &str, sizes: &[u32]| {
            Image::new(
                ImageKind::by_name(name).unwrap(),
                sizes,
                None,
                rgba,
                Vec::new(),
            )
        };
        let volume = new("image3d", &[4, 3, 2]).unwrap();
        assert_eq!((volume.row_pitch, volume.slice_pitch), (16, 48));
        assert_eq!(
            (volume.span(), volume.slices(), volume.entries()),
            (96, 2, 1)
        );
        let planes = new("image2d_array", &[4, 3, 2]).unwrap();
        assert_eq!((planes.slices(), planes.entries()), (1, 2));
        let lines = new("image1d_array", &[4, 3]).unwrap();
        assert_eq!((lines.span(), lines.entries()), (48, 3));
        let line = new("image1d_buffer", &[4]).unwrap();
        assert_eq!((line.height, line.depth, line.span()), (1, 1, 16));
        assert!(new("image2d", &[4]).unwrap_err().contains("2 sizes, not 1"));
        assert_eq!(ImageKind::by_name("image4d"), None);
    }
}
