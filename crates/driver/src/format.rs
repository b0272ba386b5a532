//! Formats of images.

use crate::error::{Code, Result, ensure};
use opencl_sys as cl;
use visakit_exec::memory::{ChannelOrder, ChannelType, Format};

const ORDERS: [(u32, ChannelOrder); 10] = [
    (cl::CL_R, ChannelOrder::R),
    (cl::CL_A, ChannelOrder::A),
    (cl::CL_RG, ChannelOrder::Rg),
    (cl::CL_RA, ChannelOrder::Ra),
    (cl::CL_RGB, ChannelOrder::Rgb),
    (cl::CL_RGBA, ChannelOrder::Rgba),
    (cl::CL_BGRA, ChannelOrder::Bgra),
    (cl::CL_ARGB, ChannelOrder::Argb),
    (cl::CL_INTENSITY, ChannelOrder::Intensity),
    (cl::CL_LUMINANCE, ChannelOrder::Luminance),
];

const TYPES: [(u32, ChannelType); 12] = [
    (cl::CL_SNORM_INT8, ChannelType::Snorm8),
    (cl::CL_SNORM_INT16, ChannelType::Snorm16),
    (cl::CL_UNORM_INT8, ChannelType::Unorm8),
    (cl::CL_UNORM_INT16, ChannelType::Unorm16),
    (cl::CL_SIGNED_INT8, ChannelType::Sint8),
    (cl::CL_SIGNED_INT16, ChannelType::Sint16),
    (cl::CL_SIGNED_INT32, ChannelType::Sint32),
    (cl::CL_UNSIGNED_INT8, ChannelType::Uint8),
    (cl::CL_UNSIGNED_INT16, ChannelType::Uint16),
    (cl::CL_UNSIGNED_INT32, ChannelType::Uint32),
    (cl::CL_HALF_FLOAT, ChannelType::Float16),
    (cl::CL_FLOAT, ChannelType::Float32),
];

/// Formats that images of Intel's devices have: pairs of order and type.
pub fn formats() -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    for (order, meaning) in ORDERS {
        for (channel, kind) in TYPES {
            use ChannelType::{Float16, Float32, Sint8, Snorm8, Snorm16, Uint8, Unorm8, Unorm16};
            let fits = match meaning {
                ChannelOrder::R | ChannelOrder::Rg | ChannelOrder::Rgba => true,
                ChannelOrder::A => matches!(kind, Unorm8 | Unorm16 | Float16 | Float32),
                ChannelOrder::Bgra | ChannelOrder::Argb => {
                    matches!(kind, Unorm8 | Snorm8 | Sint8 | Uint8)
                }
                ChannelOrder::Intensity | ChannelOrder::Luminance => {
                    matches!(
                        kind,
                        Unorm8 | Unorm16 | Snorm8 | Snorm16 | Float16 | Float32
                    )
                }
                ChannelOrder::Ra | ChannelOrder::Rgb => false,
            };
            if fits && !(meaning == ChannelOrder::Argb) {
                all.push((order, channel));
            }
        }
    }
    all
}

/// The format of that order and type.
///
/// # Errors
/// `CL_INVALID_IMAGE_FORMAT_DESCRIPTOR` of what is no order or type, and `CL_IMAGE_FORMAT_NOT_SUPPORTED`.
pub fn format(order: u32, channel: u32) -> Result<Format> {
    // Up to `CL_ABGR`, and up to the packed types of extensions.
    let is_one =
        (cl::CL_R..=0x10c3).contains(&order) && (cl::CL_SNORM_INT8..=0x10ef).contains(&channel);
    ensure(is_one, cl::CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)?;
    let no = Code(cl::CL_IMAGE_FORMAT_NOT_SUPPORTED);
    ensure(formats().contains(&(order, channel)), no.0)?;
    let order = ORDERS.iter().find(|row| row.0 == order).ok_or(no)?.1;
    let channel = TYPES.iter().find(|row| row.0 == channel).ok_or(no)?.1;
    Ok(Format { order, channel })
}

/// OpenCL's names of a format's order and type, without `CL_`.
pub(crate) const fn names(format: Format) -> (&'static str, &'static str) {
    let order = match format.order {
        ChannelOrder::R => "R",
        ChannelOrder::A => "A",
        ChannelOrder::Rg => "RG",
        ChannelOrder::Ra => "RA",
        ChannelOrder::Rgb => "RGB",
        ChannelOrder::Rgba => "RGBA",
        ChannelOrder::Bgra => "BGRA",
        ChannelOrder::Argb => "ARGB",
        ChannelOrder::Intensity => "INTENSITY",
        ChannelOrder::Luminance => "LUMINANCE",
    };
    let channel = match format.channel {
        ChannelType::Unorm8 => "UNORM_INT8",
        ChannelType::Unorm16 => "UNORM_INT16",
        ChannelType::Snorm8 => "SNORM_INT8",
        ChannelType::Snorm16 => "SNORM_INT16",
        ChannelType::Uint8 => "UNSIGNED_INT8",
        ChannelType::Uint16 => "UNSIGNED_INT16",
        ChannelType::Uint32 => "UNSIGNED_INT32",
        ChannelType::Sint8 => "SIGNED_INT8",
        ChannelType::Sint16 => "SIGNED_INT16",
        ChannelType::Sint32 => "SIGNED_INT32",
        ChannelType::Float16 => "HALF_FLOAT",
        ChannelType::Float32 => "FLOAT",
    };
    (order, channel)
}
