//! Commands that move bytes.

use super::memory::of;
use super::{Pointer, Wait, api, enqueue, get, list, put};
use opencl_sys as cl;
use std::ffi::c_void;
use std::sync::Arc;
use visakit_driver::context::Context;
use visakit_driver::error::{Code, Result, ensure, fail};
use visakit_driver::memory::Mem;
use visakit_driver::queue::Queue;
use visakit_driver::region::{Piece, are_apart, boxed, copy, extent, of_image, overlap};
use visakit_driver::stream::{Action, action};
use visakit_host::Span;
use visakit_launch::ImageKind;

fn copying(to: Piece, from: Piece, size: [usize; 3]) -> Action {
    action(move || copy(&to, &from, size).ok_or(Code(cl::CL_INVALID_VALUE)))
}

/// An action on an object, which exists until it has ended.
fn reading(mem: &Arc<Mem>, act: Action) -> Action {
    let mem = Arc::clone(mem);
    Arc::new(move || {
        let _held = &mem;
        act()
    })
}

/// An action that writes into an object, which is considered written from then on.
fn writing(mem: &Arc<Mem>, act: Action) -> Action {
    let mem = Arc::clone(mem);
    Arc::new(move || {
        mem.write();
        act()
    })
}

/// A box in a buffer or in memory beside one: slices are whole rows apart.
fn rect(
    origin: [usize; 3],
    (row, slice): (usize, usize),
    size: [usize; 3],
    make: impl FnOnce(usize) -> Result<Span>,
) -> Result<Piece> {
    let pitch = if row == 0 { size[0] } else { row };
    ensure(
        pitch == 0 || slice.is_multiple_of(pitch) || size[2] == 1,
        cl::CL_INVALID_VALUE,
    )?;
    ensure(are_apart((row, slice), size), cl::CL_INVALID_VALUE)?;
    boxed(origin, (row, slice), size, make)
}

/// Three numbers.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn three(from: *const usize) -> Result<[usize; 3]> {
    // SAFETY: the caller's promise: null, or three numbers.
    let list = unsafe { list(from, 3) };
    list.try_into().map_err(|_| Code(cl::CL_INVALID_VALUE))
}

/// Whether the host may read (or write) an object.
fn host_may(mem: &Mem, writes: bool) -> Result<()> {
    let other = if writes {
        cl::CL_MEM_HOST_READ_ONLY
    } else {
        cl::CL_MEM_HOST_WRITE_ONLY
    };
    ensure(
        mem.flags & (other | cl::CL_MEM_HOST_NO_ACCESS) == 0,
        cl::CL_INVALID_OPERATION,
    )
}

/// Memory of the caller in which an image's box lies.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn beside(
    pointer: Pointer,
    (row, slice): (usize, usize),
    size: [usize; 3],
) -> Result<Piece> {
    ensure(
        !pointer.is_null() && are_apart((row, slice), size),
        cl::CL_INVALID_VALUE,
    )?;
    // SAFETY: the caller's promise: memory of that size until the command has ended.
    boxed([0; 3], (row, slice), size, |bytes| {
        Ok(unsafe { Span::host(pointer, bytes) })
    })
}

fn context_of(queue: Pointer) -> Result<(Arc<Queue>, Arc<Context>)> {
    let queue = get::<Queue>(queue)?;
    let context = Arc::clone(&queue.context);
    Ok((queue, context))
}

fn buffer_of(context: &Arc<Context>, mem: Pointer) -> Result<Arc<Mem>> {
    let mem = of(context, mem)?;
    ensure(mem.is_buffer(), cl::CL_INVALID_MEM_OBJECT)?;
    Ok(mem)
}

fn image_of(context: &Arc<Context>, mem: Pointer) -> Result<Arc<Mem>> {
    let mem = of(context, mem)?;
    ensure(mem.shape.is_some(), cl::CL_INVALID_MEM_OBJECT)?;
    Ok(mem)
}

/// A command on bytes in a row.
fn line(to: Span, from: Span, bytes: usize) -> Action {
    action(move || {
        to.copy_from(0, &from, 0, bytes)
            .ok_or(Code(cl::CL_INVALID_VALUE))
    })
}

/// The action of a copy from buffer to buffer.
pub(super) fn copy_buffer(
    context: &Arc<Context>,
    (source, from): (Pointer, usize),
    (target, to): (Pointer, usize),
    size: usize,
) -> Result<Action> {
    let (source, target) = (buffer_of(context, source)?, buffer_of(context, target)?);
    let (a, b) = (source.span(from, size)?, target.span(to, size)?);
    ensure(
        a.address().abs_diff(b.address()) >= size,
        cl::CL_MEM_COPY_OVERLAP,
    )?;
    Ok(writing(&target, reading(&source, line(b, a, size))))
}

/// A box of a buffer as the host names it: origin, pitches of rows and slices.
pub(super) type Rect = (Pointer, *const usize, (usize, usize));

/// The action of a copy of a box from buffer to buffer.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn copy_rect(
    context: &Arc<Context>,
    (source, from, source_pitches): Rect,
    (target, to, target_pitches): Rect,
    region: *const usize,
) -> Result<Action> {
    let (source, target) = (buffer_of(context, source)?, buffer_of(context, target)?);
    // SAFETY: the caller's promise.
    let (region, from, to) = unsafe { (three(region)?, three(from)?, three(to)?) };
    let a = rect(from, source_pitches, region, |end| source.span(0, end))?;
    let b = rect(to, target_pitches, region, |end| target.span(0, end))?;
    let skewed = a.row != b.row && a.slice != b.slice;
    ensure(
        !(skewed && Arc::ptr_eq(&source, &target)),
        cl::CL_INVALID_VALUE,
    )?;
    ensure(!overlap(&a, &b, region), cl::CL_MEM_COPY_OVERLAP)?;
    Ok(writing(&target, reading(&source, copying(b, a, region))))
}

/// The action of a fill of a buffer.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn fill_buffer(
    context: &Arc<Context>,
    mem: Pointer,
    (pattern, each): (*const c_void, usize),
    (offset, size): (usize, usize),
) -> Result<Action> {
    let mem = buffer_of(context, mem)?;
    let good = !pattern.is_null() && each.is_power_of_two() && each <= 128;
    ensure(good, cl::CL_INVALID_VALUE)?;
    ensure(
        offset.is_multiple_of(each) && size.is_multiple_of(each),
        cl::CL_INVALID_VALUE,
    )?;
    // SAFETY: the caller's promise.
    let pattern = unsafe { list(pattern.cast::<u8>(), each) };
    let span = mem.span(offset, size)?;
    let fill = action(move || {
        span.fill(0, size, &pattern)
            .ok_or(Code(cl::CL_INVALID_VALUE))
    });
    Ok(writing(&mem, fill))
}

/// The action of a copy from image to image.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn copy_image(
    context: &Arc<Context>,
    (source, from): (Pointer, *const usize),
    (target, to): (Pointer, *const usize),
    region: *const usize,
) -> Result<Action> {
    let (source, target) = (image_of(context, source)?, image_of(context, target)?);
    let format = |m: &Mem| m.shape.as_ref().map(|s| s.format);
    ensure(
        format(&source) == format(&target),
        cl::CL_IMAGE_FORMAT_MISMATCH,
    )?;
    // SAFETY: the caller's promise.
    let (region, from, to) = unsafe { (three(region)?, three(from)?, three(to)?) };
    let (a, size) = of_image(&source, from, region)?;
    let (b, _) = of_image(&target, to, region)?;
    ensure(!overlap(&a, &b, size), cl::CL_MEM_COPY_OVERLAP)?;
    Ok(writing(&target, reading(&source, copying(b, a, size))))
}

/// The action of a copy from image to buffer.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn copy_to_buffer(
    context: &Arc<Context>,
    (source, from): (Pointer, *const usize),
    (target, offset): (Pointer, usize),
    region: *const usize,
) -> Result<Action> {
    let (source, target) = (image_of(context, source)?, buffer_of(context, target)?);
    // SAFETY: the caller's promise.
    let (a, size) = unsafe { of_image(&source, three(from)?, three(region)?)? };
    let b = rect([0; 3], (0, 0), size, |bytes| target.span(offset, bytes))?;
    Ok(writing(&target, reading(&source, copying(b, a, size))))
}

/// The action of a copy from buffer to image.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn copy_to_image(
    context: &Arc<Context>,
    (source, offset): (Pointer, usize),
    (target, to): (Pointer, *const usize),
    region: *const usize,
) -> Result<Action> {
    let (source, target) = (buffer_of(context, source)?, image_of(context, target)?);
    // SAFETY: the caller's promise.
    let (b, size) = unsafe { of_image(&target, three(to)?, three(region)?)? };
    let a = rect([0; 3], (0, 0), size, |bytes| source.span(offset, bytes))?;
    Ok(writing(&target, reading(&source, copying(b, a, size))))
}

/// The action of a fill of an image.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn fill_image(
    context: &Arc<Context>,
    mem: Pointer,
    color: *const c_void,
    (origin, region): (*const usize, *const usize),
) -> Result<Action> {
    let mem = image_of(context, mem)?;
    ensure(!color.is_null(), cl::CL_INVALID_VALUE)?;
    // SAFETY: the caller's promise: four numbers.
    let color = unsafe { list(color.cast::<u32>(), 4) };
    // SAFETY: the caller's promise.
    let (to, size) = unsafe { of_image(&mem, three(origin)?, three(region)?)? };
    let Ok(color) = <[u32; 4]>::try_from(color) else {
        return fail(cl::CL_INVALID_VALUE);
    };
    let texel = mem
        .shape
        .as_ref()
        .map(|s| s.format.texel(color))
        .unwrap_or_default();
    let fill = action(move || {
        for z in 0..size[2] {
            for y in 0..size[1] {
                let at = to.start + y * to.row + z * to.slice;
                to.span
                    .fill(at, size[0], &texel)
                    .ok_or(Code(cl::CL_INVALID_VALUE))?;
            }
        }
        Ok(())
    });
    Ok(writing(&mem, fill))
}

api! {
    fn clEnqueueReadBuffer(
        queue: Pointer, mem: Pointer, blocking: u32, offset: usize, size: usize, to: Pointer,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let mem = buffer_of(&context, mem)?;
        ensure(!to.is_null(), cl::CL_INVALID_VALUE)?;
        host_may(&mem, false)?;
        let work = line(Span::host(to, size), mem.span(offset, size)?, size);
        enqueue(&queue, cl::CL_COMMAND_READ_BUFFER, Wait(count, from, event), blocking != 0, Some(reading(&mem, work)))
    }

    fn clEnqueueWriteBuffer(
        queue: Pointer, mem: Pointer, blocking: u32, offset: usize, size: usize, data: Pointer,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let mem = buffer_of(&context, mem)?;
        ensure(!data.is_null(), cl::CL_INVALID_VALUE)?;
        host_may(&mem, true)?;
        let work = line(mem.span(offset, size)?, Span::host(data, size), size);
        enqueue(&queue, cl::CL_COMMAND_WRITE_BUFFER, Wait(count, from, event), blocking != 0, Some(writing(&mem, work)))
    }

    fn clEnqueueReadBufferRect(
        queue: Pointer, mem: Pointer, blocking: u32, origin: *const usize, host_origin: *const usize,
        region: *const usize, row: usize, slice: usize, host_row: usize, host_slice: usize, to: Pointer,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let mem = buffer_of(&context, mem)?;
        ensure(!to.is_null(), cl::CL_INVALID_VALUE)?;
        host_may(&mem, false)?;
        let region = three(region)?;
        let ours = rect(three(origin)?, (row, slice), region, |end| mem.span(0, end))?;
        let theirs = rect(three(host_origin)?, (host_row, host_slice), region, |end| Ok(Span::host(to, end)))?;
        let work = copying(theirs, ours, region);
        enqueue(&queue, cl::CL_COMMAND_READ_BUFFER_RECT, Wait(count, from, event), blocking != 0, Some(reading(&mem, work)))
    }

    fn clEnqueueWriteBufferRect(
        queue: Pointer, mem: Pointer, blocking: u32, origin: *const usize, host_origin: *const usize,
        region: *const usize, row: usize, slice: usize, host_row: usize, host_slice: usize, data: Pointer,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let mem = buffer_of(&context, mem)?;
        ensure(!data.is_null(), cl::CL_INVALID_VALUE)?;
        host_may(&mem, true)?;
        let region = three(region)?;
        let ours = rect(three(origin)?, (row, slice), region, |end| mem.span(0, end))?;
        let theirs = rect(three(host_origin)?, (host_row, host_slice), region, |end| Ok(Span::host(data, end)))?;
        let work = copying(ours, theirs, region);
        enqueue(&queue, cl::CL_COMMAND_WRITE_BUFFER_RECT, Wait(count, from, event), blocking != 0, Some(writing(&mem, work)))
    }

    fn clEnqueueCopyBuffer(
        queue: Pointer, source: Pointer, target: Pointer, from_offset: usize, to_offset: usize, size: usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let work = copy_buffer(&context, (source, from_offset), (target, to_offset), size)?;
        enqueue(&queue, cl::CL_COMMAND_COPY_BUFFER, Wait(count, from, event), false, Some(work))
    }

    fn clEnqueueCopyBufferRect(
        queue: Pointer, source: Pointer, target: Pointer, source_origin: *const usize, target_origin: *const usize,
        region: *const usize, source_row: usize, source_slice: usize, target_row: usize, target_slice: usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let work = copy_rect(
            &context,
            (source, source_origin, (source_row, source_slice)),
            (target, target_origin, (target_row, target_slice)),
            region,
        )?;
        enqueue(&queue, cl::CL_COMMAND_COPY_BUFFER_RECT, Wait(count, from, event), false, Some(work))
    }

    fn clEnqueueFillBuffer(
        queue: Pointer, mem: Pointer, pattern: Pointer, pattern_size: usize, offset: usize, size: usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let work = fill_buffer(&context, mem, (pattern.cast_const(), pattern_size), (offset, size))?;
        enqueue(&queue, cl::CL_COMMAND_FILL_BUFFER, Wait(count, from, event), false, Some(work))
    }

    fn clEnqueueReadImage(
        queue: Pointer, mem: Pointer, blocking: u32, origin: *const usize, region: *const usize,
        row: usize, slice: usize, to: Pointer, count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let mem = image_of(&context, mem)?;
        host_may(&mem, false)?;
        let (ours, size) = of_image(&mem, three(origin)?, three(region)?)?;
        let theirs = beside(to, pitches(&mem, row, slice), size)?;
        enqueue(&queue, cl::CL_COMMAND_READ_IMAGE, Wait(count, from, event), blocking != 0, Some(reading(&mem, copying(theirs, ours, size))))
    }

    fn clEnqueueWriteImage(
        queue: Pointer, mem: Pointer, blocking: u32, origin: *const usize, region: *const usize,
        row: usize, slice: usize, data: Pointer, count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let mem = image_of(&context, mem)?;
        host_may(&mem, true)?;
        let (ours, size) = of_image(&mem, three(origin)?, three(region)?)?;
        let theirs = beside(data, pitches(&mem, row, slice), size)?;
        enqueue(&queue, cl::CL_COMMAND_WRITE_IMAGE, Wait(count, from, event), blocking != 0, Some(writing(&mem, copying(ours, theirs, size))))
    }

    fn clEnqueueCopyImage(
        queue: Pointer, source: Pointer, target: Pointer, source_origin: *const usize, target_origin: *const usize,
        region: *const usize, count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let work = copy_image(&context, (source, source_origin), (target, target_origin), region)?;
        enqueue(&queue, cl::CL_COMMAND_COPY_IMAGE, Wait(count, from, event), false, Some(work))
    }

    fn clEnqueueCopyImageToBuffer(
        queue: Pointer, source: Pointer, target: Pointer, origin: *const usize, region: *const usize, offset: usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let work = copy_to_buffer(&context, (source, origin), (target, offset), region)?;
        enqueue(&queue, cl::CL_COMMAND_COPY_IMAGE_TO_BUFFER, Wait(count, from, event), false, Some(work))
    }

    fn clEnqueueCopyBufferToImage(
        queue: Pointer, source: Pointer, target: Pointer, offset: usize, origin: *const usize, region: *const usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let work = copy_to_image(&context, (source, offset), (target, origin), region)?;
        enqueue(&queue, cl::CL_COMMAND_COPY_BUFFER_TO_IMAGE, Wait(count, from, event), false, Some(work))
    }

    fn clEnqueueFillImage(
        queue: Pointer, mem: Pointer, color: Pointer, origin: *const usize, region: *const usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let work = fill_image(&context, mem, color.cast_const(), (origin, region))?;
        enqueue(&queue, cl::CL_COMMAND_FILL_IMAGE, Wait(count, from, event), false, Some(work))
    }

    fn clEnqueueUnmapMemObject(
        queue: Pointer, mem: Pointer, pointer: Pointer, count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let mem = of(&context, mem)?;
        let map = mem.unmap(pointer.addr())?;
        let work = action(move || {
            mem.take_from_host(&map);
            Ok(())
        });
        enqueue(&queue, cl::CL_COMMAND_UNMAP_MEM_OBJECT, Wait(count, from, event), false, Some(work))
    }
}

/// Pitches of the host's memory beside an image. The lines of an array are slices to the host.
fn pitches(mem: &Mem, row: usize, slice: usize) -> (usize, usize) {
    let lines = mem
        .shape
        .as_ref()
        .is_some_and(|s| s.kind == ImageKind::Image1dArray);
    if lines {
        (slice.max(row), 0)
    } else {
        (row, slice)
    }
}

/// Flags of a map: whether the host writes.
fn map_writes(mem: &Mem, flags: u64) -> Result<bool> {
    let known = cl::CL_MAP_READ | cl::CL_MAP_WRITE | cl::CL_MAP_WRITE_INVALIDATE_REGION;
    ensure(flags & !known == 0, cl::CL_INVALID_VALUE)?;
    let whole = cl::CL_MAP_WRITE_INVALIDATE_REGION;
    ensure(flags & whole == 0 || flags == whole, cl::CL_INVALID_VALUE)?;
    let writes = flags & (cl::CL_MAP_WRITE | whole) != 0;
    if flags & cl::CL_MAP_READ != 0 {
        host_may(mem, false)?;
    }
    if writes {
        host_may(mem, true)?;
    }
    Ok(writes)
}

/// Enqueues a mapping.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn map(
    queue: &Arc<Queue>,
    mem: &Arc<Mem>,
    (offset, bytes, writes): (usize, usize, bool),
    (kind, blocking, wait): (u32, bool, Wait),
) -> Result<usize> {
    let pointer = mem.map(offset, bytes, writes)?;
    let mapped = Arc::clone(mem);
    let work = action(move || {
        mapped.to_host(offset, bytes);
        if writes {
            mapped.write();
        }
        Ok(())
    });
    // SAFETY: the caller's promise.
    let done = unsafe { enqueue(queue, kind, wait, blocking, Some(work)) };
    if done.is_err() {
        mem.unmap(pointer)?;
    }
    done.map(|()| pointer)
}

super::make! {
    fn clEnqueueMapBuffer(
        queue: Pointer, mem: Pointer, blocking: u32, flags: u64, offset: usize, size: usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let mem = buffer_of(&context, mem)?;
        ensure(size > 0, cl::CL_INVALID_VALUE)?;
        let writes = map_writes(&mem, flags)?;
        let how = (cl::CL_COMMAND_MAP_BUFFER, blocking != 0, Wait(count, from, event));
        map(&queue, &mem, (offset, size, writes), how)
    }

    fn clEnqueueMapImage(
        queue: Pointer, mem: Pointer, blocking: u32, flags: u64, origin: *const usize, region: *const usize,
        row: *mut usize, slice: *mut usize, count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, context) = context_of(queue)?;
        let mem = image_of(&context, mem)?;
        ensure(!row.is_null(), cl::CL_INVALID_VALUE)?;
        let shape = mem.shape.as_ref().ok_or(Code(cl::CL_INVALID_MEM_OBJECT))?;
        let sliced = matches!(shape.kind, ImageKind::Image1dArray | ImageKind::Image2dArray | ImageKind::Image3d);
        ensure(!sliced || !slice.is_null(), cl::CL_INVALID_VALUE)?;
        let writes = map_writes(&mem, flags)?;
        let (piece, size) = of_image(&mem, three(origin)?, three(region)?)?;
        let end = extent(piece.start, piece.row, piece.slice, size).ok_or(Code(cl::CL_INVALID_VALUE))?;
        let how = (cl::CL_COMMAND_MAP_IMAGE, blocking != 0, Wait(count, from, event));
        let pointer = map(&queue, &mem, (piece.start, end - piece.start, writes), how)?;
        put(row, shape.pitches[0]);
        put(slice, if sliced { shape.pitches[1] } else { 0 });
        Ok(pointer)
    }
}
