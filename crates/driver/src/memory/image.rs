//! Images.

use super::{ACCESS, HOST_FLAGS, Mem, Place, check_flags, place};
use crate::addresses::What;
use crate::context::Context;
use crate::error::{Code, Result, ensure, fail};
use crate::handle::Object;
use crate::info::Answer;
use opencl_sys as cl;
use std::sync::Arc;
use visakit_exec::memory::{Format, Storage};
use visakit_host::Span;
use visakit_launch::{Image as LaunchImage, ImageKind};

/// The description of an image.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The kind.
    pub kind: ImageKind,
    /// The pixels.
    pub format: Format,
    /// `cl_image_format`, as it was given.
    pub numbers: (u32, u32),
    /// Pixels, rows, slices as they were given, and entries of an array.
    pub sizes: [usize; 4],
    /// Bytes from row to row and from slice to slice.
    pub pitches: [usize; 2],
    /// The buffer that it shows.
    pub source: Option<Arc<Mem>>,
}

impl Shape {
    /// Pixels, rows and slices, as origins and regions count them.
    #[must_use]
    pub const fn region(&self) -> [usize; 3] {
        let [width, height, depth, entries] = self.sizes;
        match self.kind {
            ImageKind::Image1d | ImageKind::Image1dBuffer => [width, 1, 1],
            ImageKind::Image1dArray => [width, entries, 1],
            ImageKind::Image2d => [width, height, 1],
            ImageKind::Image2dArray => [width, height, entries],
            ImageKind::Image3d => [width, height, depth],
        }
    }
}

impl Mem {
    /// Creates an image. Pitches of zero mean contiguous rows.
    ///
    /// # Errors
    /// Formats and sizes that are not supported.
    pub fn image(
        context: &Arc<Context>,
        (flags, properties): (u64, Vec<u64>),
        kind: u32,
        mut shape: Shape,
        host: Option<(&Span, Option<Storage>)>,
    ) -> Result<Arc<Self>> {
        check_flags(flags)?;
        ensure(
            properties.first().is_none_or(|p| *p == 0),
            cl::CL_INVALID_PROPERTY,
        )?;
        ensure(
            context.devices.iter().any(|d| d.has_images()),
            cl::CL_INVALID_OPERATION,
        )?;
        let texel = shape.format.bytes();
        let [width, height, depth, entries] = shape.sizes;
        let rows = match shape.kind {
            ImageKind::Image2d | ImageKind::Image2dArray | ImageKind::Image3d => height,
            _ => 1,
        };
        let slices = match shape.kind {
            ImageKind::Image3d => depth,
            ImageKind::Image1dArray | ImageKind::Image2dArray => entries,
            _ => 1,
        };
        let most = if shape.kind == ImageKind::Image1dBuffer {
            1 << 27
        } else {
            16384
        };
        ensure(
            width > 0 && rows > 0 && slices > 0,
            cl::CL_INVALID_IMAGE_DESCRIPTOR,
        )?;
        ensure(
            width <= most && rows <= 16384 && slices <= 16384,
            cl::CL_INVALID_IMAGE_SIZE,
        )?;
        let [row, slice] = &mut shape.pitches;
        let given = host.is_some() || shape.source.is_some();
        ensure(
            given || (*row == 0 && *slice == 0),
            cl::CL_INVALID_IMAGE_DESCRIPTOR,
        )?;
        if *row == 0 {
            *row = width * texel;
        }
        ensure(
            *row >= width * texel && row.is_multiple_of(texel),
            cl::CL_INVALID_IMAGE_DESCRIPTOR,
        )?;
        let least = *row * rows;
        if *slice == 0 || slices == 1 {
            *slice = least;
        }
        ensure(
            *slice >= least && slice.is_multiple_of(*row),
            cl::CL_INVALID_IMAGE_DESCRIPTOR,
        )?;
        let size = *slice * slices;
        if let Some(source) = shape.source.clone() {
            ensure(size <= source.size, cl::CL_INVALID_IMAGE_DESCRIPTOR)?;
            let place = Place {
                storage: source.storage.clone(),
                offset: source.offset,
                address: source.address,
                held: None,
                shadow: None,
                written: true,
            };
            let flags = if flags & ACCESS == 0 {
                flags | source.flags & ACCESS
            } else {
                flags
            };
            let flags = flags | source.flags & HOST_FLAGS;
            let mut mem = Self::plain(context, kind, (flags, properties), size, None, place);
            mem.host = source.host;
            mem.is_shared = source.is_shared;
            mem.written = Arc::clone(&source.written);
            mem.parent = Some(source);
            mem.shape = Some(shape);
            return Ok(Arc::new(mem));
        }
        let whole = host.as_ref().map(|(span, _)| (*span).clone());
        let span = match &whole {
            Some(span) => Some(span.part(0, size).ok_or(Code(cl::CL_INVALID_HOST_PTR))?),
            None => None,
        };
        let words = host.and_then(|(_, words)| words);
        let place = place((context, What::Image), flags, size, span.as_ref(), words)?;
        let uses = flags & cl::CL_MEM_USE_HOST_PTR != 0;
        let span = span.filter(|_| uses);
        let mut mem = Self::plain(
            context,
            kind,
            (flags, properties),
            size,
            span.as_ref(),
            place,
        );
        mem.shape = Some(shape);
        Ok(Arc::new(mem))
    }

    /// The size in bytes of an image of this shape, before it is created.
    #[must_use]
    pub fn image_bytes(shape: &Shape) -> Option<usize> {
        let [width, height, depth, entries] = shape.sizes;
        let texel = shape.format.bytes();
        let row = match shape.pitches {
            [0, _] => width.checked_mul(texel)?,
            [row, _] => row,
        };
        let (rows, slices) = match shape.kind {
            ImageKind::Image2d => (height, 1),
            ImageKind::Image2dArray => (height, entries),
            ImageKind::Image3d => (height, depth),
            ImageKind::Image1dArray => (1, entries),
            _ => (1, 1),
        };
        let slice = match shape.pitches {
            [_, slice] if slice > 0 && slices > 1 => slice,
            _ => row.checked_mul(rows)?,
        };
        slice.checked_mul(slices)
    }

    /// The image as an argument.
    ///
    /// # Errors
    /// Buffers.
    pub fn launch_image(&self) -> Result<LaunchImage> {
        let shape = self.shape.as_ref().ok_or(Code(cl::CL_INVALID_ARG_VALUE))?;
        let small = |n: usize| u32::try_from(n).map_err(|_| Code(cl::CL_INVALID_IMAGE_SIZE));
        let [width, height, depth, entries] = shape.sizes;
        let [row, slice] = shape.pitches;
        let line = shape.kind == ImageKind::Image1dArray;
        Ok(LaunchImage {
            kind: shape.kind,
            width: small(width)?,
            height: small(match shape.kind {
                ImageKind::Image1dArray => entries,
                ImageKind::Image1d | ImageKind::Image1dBuffer => 1,
                _ => height,
            })?,
            depth: small(match shape.kind {
                ImageKind::Image3d => depth,
                ImageKind::Image2dArray => entries,
                _ => 1,
            })?,
            // The lines of an array are as far from each other as its slices.
            row_pitch: small(if line { slice } else { row })?,
            slice_pitch: if line {
                (slice * entries) as u64
            } else {
                slice as u64
            },
            format: shape.format,
            bytes: Vec::new(),
        })
    }

    /// `clGetImageInfo`.
    ///
    /// # Errors
    /// Buffers, and `CL_INVALID_VALUE` for an unknown query.
    pub fn image_info(&self, name: u32) -> Result<Vec<u8>> {
        let shape = self.shape.as_ref().ok_or(Code(cl::CL_INVALID_MEM_OBJECT))?;
        let [width, height, depth, entries] = shape.sizes;
        let kind = shape.kind;
        let flat = matches!(
            kind,
            ImageKind::Image1d | ImageKind::Image1dBuffer | ImageKind::Image1dArray
        );
        let sliced = matches!(
            kind,
            ImageKind::Image1dArray | ImageKind::Image2dArray | ImageKind::Image3d
        );
        Ok(match name {
            cl::CL_IMAGE_FORMAT => [shape.numbers.0, shape.numbers.1].answer(),
            cl::CL_IMAGE_ELEMENT_SIZE => shape.format.bytes().answer(),
            cl::CL_IMAGE_ROW_PITCH => shape.pitches[0].answer(),
            cl::CL_IMAGE_SLICE_PITCH => if sliced { shape.pitches[1] } else { 0 }.answer(),
            cl::CL_IMAGE_WIDTH => width.answer(),
            cl::CL_IMAGE_HEIGHT => if flat { 0 } else { height }.answer(),
            cl::CL_IMAGE_DEPTH => if kind == ImageKind::Image3d { depth } else { 0 }.answer(),
            cl::CL_IMAGE_ARRAY_SIZE => {
                let array = matches!(kind, ImageKind::Image1dArray | ImageKind::Image2dArray);
                if array { entries } else { 0 }.answer()
            }
            cl::CL_IMAGE_BUFFER => shape
                .source
                .as_ref()
                .map_or(0, |b| b.handle().get())
                .answer(),
            cl::CL_IMAGE_NUM_MIP_LEVELS | cl::CL_IMAGE_NUM_SAMPLES => 0_u32.answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }
}
