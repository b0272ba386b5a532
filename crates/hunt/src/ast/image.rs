//! Images.

use crate::types::{Scalar, Type, Value};

/// Pixels of a row.
pub const ROW: usize = 16;

/// An image of pixels with four channels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    /// The type of a channel: an integer of at most 32 bits, `half` or `float`.
    pub channel: Scalar,
    /// The pixels as they are stored, row by row; the number of rows is a power of two if it is read.
    pub data: Vec<Value>,
}

impl Image {
    /// The type of a pixel as it is stored.
    #[must_use]
    pub const fn stored(&self) -> Type {
        Type {
            scalar: self.channel,
            lanes: 4,
        }
    }

    /// The type of a pixel as it is read and written.
    #[must_use]
    pub const fn pixel(&self) -> Type {
        let scalar = match self.channel {
            channel if channel.is_float() => Scalar::Float,
            channel if channel.is_signed() => Scalar::Int,
            _ => Scalar::Uint,
        };
        Type { scalar, lanes: 4 }
    }

    /// The end of the names of functions that read and write it.
    #[must_use]
    pub const fn suffix(&self) -> &'static str {
        match self.pixel().scalar {
            Scalar::Float => "f",
            Scalar::Int => "i",
            _ => "ui",
        }
    }

    /// Rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.data.len() / ROW
    }

    /// The name of the type of its channels.
    #[must_use]
    pub const fn channel_name(&self) -> &'static str {
        match self.channel {
            Scalar::Char => "SIGNED_INT8",
            Scalar::Short => "SIGNED_INT16",
            Scalar::Uchar => "UNSIGNED_INT8",
            Scalar::Ushort => "UNSIGNED_INT16",
            Scalar::Half => "HALF_FLOAT",
            channel if channel.is_float() => "FLOAT",
            channel if channel.is_signed() => "SIGNED_INT32",
            _ => "UNSIGNED_INT32",
        }
    }
}

/// A pixel that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pixel {
    /// The image.
    pub image: usize,
    /// Whether coordinates may be outside, where the nearest pixel is read; otherwise they are taken modulo
    /// the size.
    pub clamped: bool,
}

/// How far coordinates may be below zero.
pub const MARGIN: u64 = 8;

/// What clamped coordinates are taken modulo, less one, before [`MARGIN`] is subtracted.
pub const OUTSIDE: u64 = 31;
