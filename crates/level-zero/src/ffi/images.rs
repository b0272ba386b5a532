//! Images and samplers.

use super::types::{Flags, ImageDescriptor, ImageMemory, Large, SamplerDescriptor};
use super::{Handle, api, change, destroy, get, give, take};
use crate::error::{Error, Result, ensure};
use opencl_sys as cl;
use std::sync::Arc;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
use visakit_driver::format::format;
use visakit_driver::memory::{Mem, Shape};
use visakit_driver::sampler::Sampler;
use visakit_launch::ImageKind;

/// The order of the channels of a layout: `ZE_IMAGE_FORMAT_LAYOUT_…`, and the swizzle.
fn order(layout: u32, swizzles: [u32; 4]) -> Result<u32> {
    Ok(match (layout, swizzles) {
        (0..=2, [3, ..]) => cl::CL_A,
        (0..=2, _) => cl::CL_R,
        (3 | 5 | 7, _) => cl::CL_RG,
        (4 | 6 | 8, [0, 1, 2, _]) => cl::CL_RGBA,
        (4, [2, 1, 0, _]) => cl::CL_BGRA,
        _ => return Err(Error::UNSUPPORTED_IMAGE_FORMAT),
    })
}

/// The type of the channels: `ZE_IMAGE_FORMAT_TYPE_…` for bits that the layout says.
fn channel(layout: u32, kind: u32) -> Result<u32> {
    let bits = match layout {
        0 | 3 | 4 => 8,
        1 | 5 | 6 => 16,
        _ => 32,
    };
    Ok(match (kind, bits) {
        (0, 8) => cl::CL_UNSIGNED_INT8,
        (0, 16) => cl::CL_UNSIGNED_INT16,
        (0, _) => cl::CL_UNSIGNED_INT32,
        (1, 8) => cl::CL_SIGNED_INT8,
        (1, 16) => cl::CL_SIGNED_INT16,
        (1, _) => cl::CL_SIGNED_INT32,
        (2, 8) => cl::CL_UNORM_INT8,
        (2, 16) => cl::CL_UNORM_INT16,
        (3, 8) => cl::CL_SNORM_INT8,
        (3, 16) => cl::CL_SNORM_INT16,
        (4, 16) => cl::CL_HALF_FLOAT,
        (4, 32) => cl::CL_FLOAT,
        (5.., _) => return Err(Error::INVALID_ENUMERATION),
        _ => return Err(Error::UNSUPPORTED_IMAGE_FORMAT),
    })
}

/// The kind of an image, and OpenCL's number of it.
fn kind(number: u32) -> Result<(ImageKind, u32)> {
    Ok(match number {
        0 => (ImageKind::Image1d, cl::CL_MEM_OBJECT_IMAGE1D),
        1 => (ImageKind::Image1dArray, cl::CL_MEM_OBJECT_IMAGE1D_ARRAY),
        2 => (ImageKind::Image2d, cl::CL_MEM_OBJECT_IMAGE2D),
        3 => (ImageKind::Image2dArray, cl::CL_MEM_OBJECT_IMAGE2D_ARRAY),
        4 => (ImageKind::Image3d, cl::CL_MEM_OBJECT_IMAGE3D),
        5 => (ImageKind::Image1dBuffer, cl::CL_MEM_OBJECT_IMAGE1D_BUFFER),
        _ => return Err(Error::INVALID_ENUMERATION),
    })
}

fn shape(descriptor: &ImageDescriptor) -> Result<(Shape, u32)> {
    ensure(descriptor.levels == 0, Error::UNSUPPORTED_FEATURE)?;
    let (kind, number) = kind(descriptor.kind)?;
    let order = order(descriptor.layout, descriptor.swizzles)?;
    let channel = channel(descriptor.layout, descriptor.channel)?;
    let size = |n: u64| usize::try_from(n).map_err(|_| Error::UNSUPPORTED_SIZE);
    let shape = Shape {
        kind,
        format: format(order, channel)?,
        numbers: (order, channel),
        sizes: [
            size(descriptor.width)?,
            size(descriptor.height.into())?,
            size(descriptor.depth.into())?,
            size(descriptor.entries.into())?,
        ],
        pitches: [0; 2],
        source: None,
    };
    Ok((shape, number))
}

fn image(context: &Arc<Context>, descriptor: &ImageDescriptor) -> Result<Arc<Mem>> {
    let (mut shape, number) = shape(descriptor)?;
    let flags = || (cl::CL_MEM_READ_WRITE, Vec::new());
    if shape.kind == ImageKind::Image1dBuffer {
        let size = Mem::image_bytes(&shape).ok_or(Error::UNSUPPORTED_SIZE)?;
        shape.source = Some(Mem::buffer(context, flags(), size, None, None)?);
    }
    Ok(Mem::image(context, flags(), number, shape, None)?)
}

/// The bytes of an image, or the first of each row, as texels of another format.
fn view(context: &Arc<Context>, descriptor: &ImageDescriptor, image: Arc<Mem>) -> Result<Arc<Mem>> {
    let (mut shape, number) = shape(descriptor)?;
    let of = image.shape.as_ref().ok_or(Error::INVALID_ARGUMENT)?;
    ensure(of.kind == shape.kind, Error::INVALID_ARGUMENT)?;
    let in_bytes = |shape: &Shape| {
        let [width, rows, slices] = shape.region();
        [width.saturating_mul(shape.format.bytes()), rows, slices]
    };
    let mut sizes = in_bytes(&shape).into_iter().zip(in_bytes(of));
    ensure(sizes.all(|(view, all)| view <= all), Error::INVALID_SIZE)?;
    shape.pitches = of.pitches;
    shape.source = Some(image);
    let flags = (cl::CL_MEM_READ_WRITE, Vec::new());
    Ok(Mem::image(context, flags, number, shape, None)?)
}

/// Gives the host a view of an image.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn give_view(
    (context, device): (Handle, Handle),
    descriptor: *const ImageDescriptor,
    image: Handle,
    to: *mut Handle,
) -> Result<()> {
    let context = get::<Context>(context)?;
    get::<Device>(device)?;
    // SAFETY: the caller's promise.
    unsafe {
        let descriptor = take(descriptor)?;
        give(to, view(&context, &descriptor, get::<Mem>(image)?))
    }
}

fn sampler(context: &Arc<Context>, descriptor: &SamplerDescriptor) -> Result<Arc<Sampler>> {
    let addressing = match descriptor.addressing {
        0 => cl::CL_ADDRESS_NONE,
        1 => cl::CL_ADDRESS_REPEAT,
        2 => cl::CL_ADDRESS_CLAMP_TO_EDGE,
        3 => cl::CL_ADDRESS_CLAMP,
        4 => cl::CL_ADDRESS_MIRRORED_REPEAT,
        _ => return Err(Error::INVALID_ENUMERATION),
    };
    let filter = match descriptor.filter {
        0 => cl::CL_FILTER_NEAREST,
        1 => cl::CL_FILTER_LINEAR,
        _ => return Err(Error::INVALID_ENUMERATION),
    };
    let modes = (descriptor.normalized != 0, addressing, filter);
    Ok(Sampler::new(context, modes, Vec::new())?)
}

api! {
    fn zeImageGetProperties(device: Handle, descriptor: *const ImageDescriptor, to: *mut Flags) {
        let device = get::<Device>(device)?;
        shape(&take(descriptor)?)?;
        // Points and linear filters.
        change(to, |properties| properties.flags = if device.has_images() { 3 } else { 0 })
    }

    fn zeImageCreate(context: Handle, device: Handle, descriptor: *const ImageDescriptor, to: *mut Handle) {
        let context = get::<Context>(context)?;
        get::<Device>(device)?;
        let descriptor = take(descriptor)?;
        give(to, image(&context, &descriptor))
    }

    fn zeImageViewCreateExt(
        context: Handle, device: Handle, descriptor: *const ImageDescriptor, image: Handle, to: *mut Handle,
    ) {
        give_view((context, device), descriptor, image, to)
    }

    fn zeImageViewCreateExp(
        context: Handle, device: Handle, descriptor: *const ImageDescriptor, image: Handle, to: *mut Handle,
    ) {
        give_view((context, device), descriptor, image, to)
    }

    fn zeImageGetAllocPropertiesExt(context: Handle, image: Handle, to: *mut Large) {
        get::<Context>(context)?;
        let image = get::<Mem>(image)?;
        // No address is used twice.
        change(to, |properties| properties.number = image.address >> 16)
    }

    fn zeImageGetMemoryPropertiesExp(image: Handle, to: *mut ImageMemory) {
        let image = get::<Mem>(image)?;
        let [row, slice] = image.shape.as_ref().map_or([0; 2], |shape| shape.pitches);
        change(to, |properties| {
            let sizes = [image.size, row, slice].map(|n| n as u64);
            [properties.size, properties.row, properties.slice] = sizes;
        })
    }

    fn zeImageDestroy(image: Handle) {
        destroy::<Mem>(image)
    }

    fn zeSamplerCreate(context: Handle, device: Handle, descriptor: *const SamplerDescriptor, to: *mut Handle) {
        let context = get::<Context>(context)?;
        get::<Device>(device)?;
        let descriptor = take(descriptor)?;
        give(to, sampler(&context, &descriptor))
    }

    fn zeSamplerDestroy(sampler: Handle) {
        destroy::<Sampler>(sampler)
    }
}
