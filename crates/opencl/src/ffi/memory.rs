//! Buffers, images, samplers.

use super::{Pointer, User, answer, api, get, make, properties, put};
use opencl_sys as cl;
use std::sync::Arc;
use visakit_driver::context::Context;
use visakit_driver::error::{Code, Result, ensure, fail};
use visakit_driver::format::{format, formats};
use visakit_driver::handle::{Object, export, release, retain};
use visakit_driver::memory::{Mem, Shape};
use visakit_driver::sampler::Sampler;
use visakit_host::Span;
use visakit_launch::ImageKind;

/// Is called when an object ends.
type AtEnd = Option<unsafe extern "C" fn(Pointer, Pointer)>;

/// Memory of the caller, and the same as storage where it is used in place and can be.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn host(
    flags: u64,
    from: Pointer,
    size: usize,
) -> Option<(Span, Option<visakit_exec::memory::Storage>)> {
    if from.is_null() {
        return None;
    }
    // SAFETY: the caller's memory has that size; where it is used in place, it stays as long as the object.
    unsafe {
        let span = Span::host(from, size);
        let words = if flags & cl::CL_MEM_USE_HOST_PTR == 0 {
            None
        } else {
            span.storage()
        };
        Some((span, words))
    }
}

/// A buffer as an entry point describes it.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn buffer(
    context: Pointer,
    with: Vec<u64>,
    flags: u64,
    size: usize,
    from: Pointer,
) -> Result<usize> {
    let context = get::<Context>(context)?;
    // SAFETY: the caller's promise.
    let host = unsafe { host(flags, from, size) };
    let (span, words) = host.map_or((None, None), |(span, words)| (Some(span), words));
    let mem = Mem::buffer(&context, (flags, with), size, span.as_ref(), words)?;
    Ok(export(&mem))
}

/// An image as an entry point describes it.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn image(
    context: Pointer,
    with: Vec<u64>,
    flags: u64,
    pixels: *const cl::cl_image_format,
    desc: &cl::cl_image_desc,
    from: Pointer,
) -> Result<usize> {
    let context = get::<Context>(context)?;
    ensure(!pixels.is_null(), cl::CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)?;
    // SAFETY: the caller's promise.
    let pixels = unsafe { pixels.read() };
    let numbers = (pixels.image_channel_order, pixels.image_channel_data_type);
    let kind = match desc.image_type {
        cl::CL_MEM_OBJECT_IMAGE1D => ImageKind::Image1d,
        cl::CL_MEM_OBJECT_IMAGE1D_BUFFER => ImageKind::Image1dBuffer,
        cl::CL_MEM_OBJECT_IMAGE1D_ARRAY => ImageKind::Image1dArray,
        cl::CL_MEM_OBJECT_IMAGE2D => ImageKind::Image2d,
        cl::CL_MEM_OBJECT_IMAGE2D_ARRAY => ImageKind::Image2dArray,
        cl::CL_MEM_OBJECT_IMAGE3D => ImageKind::Image3d,
        _ => return fail(cl::CL_INVALID_IMAGE_DESCRIPTOR),
    };
    ensure(
        desc.num_mip_levels == 0 && desc.num_samples == 0,
        cl::CL_INVALID_IMAGE_DESCRIPTOR,
    )?;
    let may = matches!(kind, ImageKind::Image1dBuffer | ImageKind::Image2d);
    let source = match desc.buffer.is_null() {
        true => None,
        false if may => Some(get::<Mem>(desc.buffer)?),
        false => return fail(cl::CL_INVALID_IMAGE_DESCRIPTOR),
    };
    ensure(
        source.is_some() || kind != ImageKind::Image1dBuffer,
        cl::CL_INVALID_IMAGE_DESCRIPTOR,
    )?;
    let shape = Shape {
        kind,
        format: format(numbers.0, numbers.1)?,
        numbers,
        sizes: [
            desc.image_width,
            desc.image_height,
            desc.image_depth,
            desc.image_array_size,
        ],
        pitches: [desc.image_row_pitch, desc.image_slice_pitch],
        source,
    };
    let wants = flags & (cl::CL_MEM_USE_HOST_PTR | cl::CL_MEM_COPY_HOST_PTR) != 0;
    ensure(wants != from.is_null(), cl::CL_INVALID_HOST_PTR)?;
    let size = Mem::image_bytes(&shape).ok_or(Code(cl::CL_INVALID_IMAGE_SIZE))?;
    // SAFETY: the caller's promise.
    let host = unsafe { host(flags, from, size) };
    let host = host.as_ref().map(|(span, words)| (span, words.clone()));
    let mem = Mem::image(&context, (flags, with), desc.image_type, shape, host)?;
    Ok(export(&mem))
}

fn description(kind: u32, sizes: [usize; 3], pitches: [usize; 2]) -> cl::cl_image_desc {
    cl::cl_image_desc {
        image_type: kind,
        image_width: sizes[0],
        image_height: sizes[1],
        image_depth: sizes[2],
        image_array_size: 0,
        image_row_pitch: pitches[0],
        image_slice_pitch: pitches[1],
        num_mip_levels: 0,
        num_samples: 0,
        buffer: std::ptr::null_mut(),
    }
}

make! {
    fn clCreateBuffer(context: Pointer, flags: u64, size: usize, from: Pointer) {
        buffer(context, Vec::new(), flags, size, from)
    }

    fn clCreateBufferWithProperties(context: Pointer, with: *const u64, flags: u64, size: usize, from: Pointer) {
        buffer(context, properties(with), flags, size, from)
    }

    fn clCreateSubBuffer(whole: Pointer, flags: u64, kind: u32, region: *const cl::cl_buffer_region) {
        let whole = get::<Mem>(whole)?;
        ensure(kind == cl::CL_BUFFER_CREATE_TYPE_REGION && !region.is_null(), cl::CL_INVALID_VALUE)?;
        let region = region.read();
        Ok(export(&whole.part(flags, region.origin, region.size)?))
    }

    fn clCreateImage(
        context: Pointer, flags: u64, pixels: *const cl::cl_image_format, desc: *const cl::cl_image_desc, from: Pointer,
    ) {
        ensure(!desc.is_null(), cl::CL_INVALID_IMAGE_DESCRIPTOR)?;
        image(context, Vec::new(), flags, pixels, &desc.read(), from)
    }

    fn clCreateImageWithProperties(
        context: Pointer, with: *const u64, flags: u64, pixels: *const cl::cl_image_format,
        desc: *const cl::cl_image_desc, from: Pointer,
    ) {
        ensure(!desc.is_null(), cl::CL_INVALID_IMAGE_DESCRIPTOR)?;
        image(context, properties(with), flags, pixels, &desc.read(), from)
    }

    fn clCreateImage2D(
        context: Pointer, flags: u64, pixels: *const cl::cl_image_format, width: usize, height: usize, pitch: usize,
        from: Pointer,
    ) {
        let desc = description(cl::CL_MEM_OBJECT_IMAGE2D, [width, height, 1], [pitch, 0]);
        image(context, Vec::new(), flags, pixels, &desc, from)
    }

    fn clCreateImage3D(
        context: Pointer, flags: u64, pixels: *const cl::cl_image_format, width: usize, height: usize, depth: usize,
        row: usize, slice: usize, from: Pointer,
    ) {
        let desc = description(cl::CL_MEM_OBJECT_IMAGE3D, [width, height, depth], [row, slice]);
        image(context, Vec::new(), flags, pixels, &desc, from)
    }

    fn clCreateSampler(context: Pointer, normalized: u32, addressing: u32, filter: u32) {
        let context = get::<Context>(context)?;
        Ok(export(&Sampler::new(&context, (normalized != 0, addressing, filter), Vec::new())?))
    }

    fn clCreateSamplerWithProperties(context: Pointer, with: *const u64) {
        let context = get::<Context>(context)?;
        let list = properties(with);
        let (mut normalized, mut addressing, mut filter) = (true, cl::CL_ADDRESS_CLAMP, cl::CL_FILTER_NEAREST);
        for pair in list.chunks_exact(2) {
            let [name, value] = pair else { break };
            let value = u32::try_from(*value).map_err(|_| Code(cl::CL_INVALID_VALUE))?;
            match u32::try_from(*name).unwrap_or(0) {
                cl::CL_SAMPLER_NORMALIZED_COORDS => normalized = value != 0,
                cl::CL_SAMPLER_ADDRESSING_MODE => addressing = value,
                cl::CL_SAMPLER_FILTER_MODE => filter = value,
                _ => return fail(cl::CL_INVALID_VALUE),
            }
        }
        Ok(export(&Sampler::new(&context, (normalized, addressing, filter), list)?))
    }

    fn clCreatePipe(context: Pointer, _flags: u64, _packet: u32, _packets: u32, _with: *const isize) {
        get::<Context>(context)?;
        fail(cl::CL_INVALID_OPERATION)
    }
}

api! {
    fn clRetainMemObject(mem: Pointer) {
        retain::<Mem>(mem.addr())
    }

    fn clReleaseMemObject(mem: Pointer) {
        release::<Mem>(mem.addr())
    }

    fn clGetMemObjectInfo(mem: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&get::<Mem>(mem)?.info(name)?, room, to, size)
    }

    fn clGetImageInfo(mem: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&get::<Mem>(mem)?.image_info(name)?, room, to, size)
    }

    fn clGetPipeInfo(mem: Pointer, _name: u32, _room: usize, _to: Pointer, _size: *mut usize) {
        get::<Mem>(mem)?;
        fail(cl::CL_INVALID_MEM_OBJECT)
    }

    fn clSetMemObjectDestructorCallback(mem: Pointer, at_end: AtEnd, user: Pointer) {
        let found = get::<Mem>(mem)?;
        let Some(at_end) = at_end else {
            return fail(cl::CL_INVALID_VALUE);
        };
        let (mem, user) = (User(mem), User(user));
        found.at_end(Box::new(move || at_end(mem.get(), user.get())));
        Ok(())
    }

    fn clGetSupportedImageFormats(
        context: Pointer, flags: u64, kind: u32, room: u32, to: *mut cl::cl_image_format, count: *mut u32,
    ) {
        let context = get::<Context>(context)?;
        let _ = flags;
        let known = (cl::CL_MEM_OBJECT_IMAGE2D..=cl::CL_MEM_OBJECT_IMAGE1D_BUFFER).contains(&kind);
        ensure(known && (room > 0 || to.is_null()), cl::CL_INVALID_VALUE)?;
        let images = context.devices.iter().any(|d| d.has_images());
        let all = if images { formats() } else { Vec::new() };
        if !to.is_null() {
            let room = usize::try_from(room).unwrap_or(0);
            for (place, (order, channel)) in all.iter().take(room).enumerate() {
                put(to.add(place), cl::cl_image_format {
                    image_channel_order: *order,
                    image_channel_data_type: *channel,
                });
            }
        }
        put(count, u32::try_from(all.len()).unwrap_or(0));
        Ok(())
    }

    fn clRetainSampler(sampler: Pointer) {
        retain::<Sampler>(sampler.addr())
    }

    fn clReleaseSampler(sampler: Pointer) {
        release::<Sampler>(sampler.addr())
    }

    fn clGetSamplerInfo(sampler: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&get::<Sampler>(sampler)?.info(name)?, room, to, size)
    }
}

/// A buffer of the queue's context.
pub(super) fn of(context: &Arc<Context>, mem: Pointer) -> Result<Arc<Mem>> {
    let mem = get::<Mem>(mem)?;
    ensure(Arc::ptr_eq(&mem.context, context), cl::CL_INVALID_CONTEXT)?;
    let _ = mem.handle();
    Ok(mem)
}
