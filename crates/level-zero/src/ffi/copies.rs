//! Commands of lists that move bytes.

use super::append::{Wait, action, all_set, append, done};
use super::device::{COMPUTES, PATTERN, QUEUE_GROUPS};
use super::memory::memory;
use super::types::Region;
use super::{Handle, api, get, take};
use crate::error::{Error, Result, ensure};
use crate::objects::list::List;
use opencl_sys as cl;
use std::ffi::c_void;
use std::sync::Arc;
use visakit_driver::context::Context;
use visakit_driver::memory::{Mem, Shape};
use visakit_driver::region::{Piece, boxed, copy, of_image, overlap};
use visakit_driver::stream::Action;

fn wide(numbers: [u32; 3]) -> [usize; 3] {
    numbers.map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}

/// Sizes of which those that do not count may be given as zero.
fn size(numbers: [u32; 3]) -> [usize; 3] {
    let [width, height, depth] = wide(numbers);
    [width, height.max(1), depth.max(1)]
}

/// A box in memory that has rows and slices. As in Intel's driver, rows may reach into each other, and the pitch of a single
/// row does not count.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn piece(
    context: &Context,
    pointer: *const c_void,
    origin: [usize; 3],
    (row, slice): (u32, u32),
    size: [usize; 3],
) -> Result<Piece> {
    let [row, slice, _] = wide([row, slice, 0]);
    ensure(!pointer.is_null(), Error::INVALID_NULL_POINTER)?;
    let made = boxed(origin, (row, slice), size, |bytes| {
        // SAFETY: the caller's promise.
        let span = unsafe { memory(context, pointer, bytes) };
        span.map_err(|_| visakit_driver::error::Code(opencl_sys::CL_INVALID_VALUE))
    });
    made.map_err(|_| Error::INVALID_SIZE)
}

/// Whether nothing is to be copied.
const fn is_empty(size: [usize; 3]) -> bool {
    size[0] == 0
}

fn between(to: Piece, from: Piece, size: [usize; 3]) -> Result<Option<Action>> {
    ensure(!overlap(&to, &from, size), Error::OVERLAPPING_REGIONS)?;
    Ok(action(move || done(copy(&to, &from, size))))
}

/// Origin and size of a part of an image, or all of it; `None` if it is empty.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn extent(image: &Mem, region: *const Region) -> Result<Option<[[usize; 3]; 2]>> {
    let whole = image.shape.as_ref().map_or([0; 3], Shape::region);
    if region.is_null() {
        return Ok(Some([[0; 3], whole]));
    }
    // SAFETY: the caller's promise.
    let region = unsafe { take(region)? };
    let (mut origin, mut size) = (wide(region.origin), size(region.size));
    // Numbers of dimensions that an image does not have do not count.
    let sizes = image.shape.as_ref().map_or(3, |shape| shape.kind.sizes());
    origin.iter_mut().skip(sizes).for_each(|n| *n = 0);
    size.iter_mut().skip(sizes).for_each(|n| *n = 1);
    Ok((!is_empty(size)).then_some([origin, size]))
}

/// A part of an image that is not empty, or all of it.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn part(image: &Mem, region: *const Region) -> Result<(Piece, [usize; 3])> {
    // SAFETY: the caller's promise.
    let extent = unsafe { extent(image, region)? };
    let [origin, size] = extent.ok_or(Error::INVALID_SIZE)?;
    Ok(of_image(image, origin, size)?)
}

/// Copies between images, whose texels have one size.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn images(
    (to, to_region): (Handle, *const Region),
    (from, from_region): (Handle, *const Region),
) -> Result<Option<Action>> {
    let (to, from) = (get::<Mem>(to)?, get::<Mem>(from)?);
    let texel = |image: &Mem| image.shape.as_ref().map(|shape| shape.format.bytes());
    ensure(texel(&to) == texel(&from), Error::UNSUPPORTED_IMAGE_FORMAT)?;
    // SAFETY: the caller's promise.
    if unsafe { extent(&to, to_region)?.is_none() && extent(&from, from_region)?.is_none() } {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let ((to_piece, to_size), (from_piece, from_size)) =
        unsafe { (part(&to, to_region)?, part(&from, from_region)?) };
    ensure(to_size == from_size, Error::INVALID_SIZE)?;
    to.write();
    between(to_piece, from_piece, to_size)
}

/// Copies between an image and memory.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn image(
    context: &Context,
    (handle, region): (Handle, *const Region),
    (pointer, pitches): (*const c_void, (u32, u32)),
    writes: bool,
) -> Result<Option<Action>> {
    let image: Arc<Mem> = get(handle)?;
    // SAFETY: the caller's promise.
    if unsafe { extent(&image, region)?.is_none() } {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let (there, beside, size) = unsafe {
        let (there, size) = part(&image, region)?;
        let beside = piece(context, pointer, [0; 3], pitches, size)?;
        (there, beside, size)
    };
    if writes {
        image.write();
        return between(there, beside, size);
    }
    between(beside, there, size)
}

/// Copies bytes that follow each other.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn straight(
    list: Handle,
    to: *const c_void,
    (from, of): (*const c_void, Option<Handle>),
    size: usize,
    wait: Wait,
) -> Result<()> {
    let of = of.map(get::<Context>).transpose()?;
    // SAFETY: the caller's promise.
    let is_awaited = unsafe {
        let list = get::<List>(list)?;
        is_at_once(&list, (to, from), size) && all_set(&wait)?
    };
    // SAFETY: the caller's promise.
    unsafe {
        append(list, wait, |list, _| {
            let of = of.as_deref().unwrap_or(&list.context);
            let (to, from) = (memory(&list.context, to, size)?, memory(of, from, size)?);
            Ok(action(move || done(to.copy_from(0, &from, 0, size))))
        })?;
    }
    if is_awaited && let Ok(queue) = get::<List>(list)?.queue() {
        queue.catch_up();
    }
    Ok(())
}

/// Whether a copy ends before the call returns, if what it waits for has ended: as with Intel's driver, small copies of
/// immediate lists between memory of a device and what is memory of the host alone, which programs change or free then.
fn is_at_once(list: &List, (to, from): (*const c_void, *const c_void), size: usize) -> bool {
    let kind = |pointer: *const c_void| match list.context.span(pointer.addr(), 0) {
        Some(_) => list.context.allocation(pointer.addr()).map(|svm| svm.kind),
        None => Some(0),
    };
    let (to_host, to_device) = list.device.model.copied_at_once();
    let most = match (kind(to), kind(from)) {
        (Some(0), Some(cl::CL_MEM_TYPE_DEVICE_INTEL)) => to_host,
        (Some(cl::CL_MEM_TYPE_DEVICE_INTEL), Some(0)) => to_device,
        _ => 0,
    };
    list.queue().is_ok() && size <= most
}

/// Repeats a pattern.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn filling(
    list: &List,
    to: *const c_void,
    (pattern, each): (*const u8, usize),
    size: usize,
) -> Result<Option<Action>> {
    // A queue that computes fills with patterns of any length.
    let most = match QUEUE_GROUPS.get(list.ordinal as usize) {
        Some((flags, _)) if flags & COMPUTES != 0 => size.max(PATTERN),
        _ => PATTERN,
    };
    ensure(each.is_power_of_two() && each <= most, Error::INVALID_SIZE)?;
    let count = u32::try_from(each).map_err(|_| Error::INVALID_SIZE)?;
    // SAFETY: the caller's promise.
    let (to, pattern) = unsafe {
        let to = memory(&list.context, to, size)?;
        (to, super::list(pattern, count)?)
    };
    Ok(action(move || done(to.fill(0, size, &pattern))))
}

api! {
    fn zeCommandListAppendMemoryCopy(
        list: Handle, to: *const c_void, from: *const c_void, size: usize, signal: Handle, waits: u32,
        events: *const Handle,
    ) {
        straight(list, to, (from, None), size, Wait(signal, waits, events))
    }

    fn zeCommandListAppendMemoryCopyWithParameters(
        list: Handle, to: *const c_void, from: *const c_void, size: usize, _next: *const c_void, signal: Handle,
        waits: u32, events: *const Handle,
    ) {
        straight(list, to, (from, None), size, Wait(signal, waits, events))
    }

    fn zeCommandListAppendMemoryCopyFromContext(
        list: Handle, to: *const c_void, context: Handle, from: *const c_void, size: usize, signal: Handle, waits: u32,
        events: *const Handle,
    ) {
        straight(list, to, (from, Some(context)), size, Wait(signal, waits, events))
    }

    fn zeCommandListAppendMemoryFill(
        list: Handle, to: *const c_void, pattern: *const u8, each: usize, size: usize, signal: Handle, waits: u32,
        events: *const Handle,
    ) {
        append(list, Wait(signal, waits, events), |list, _| filling(list, to, (pattern, each), size))
    }

    fn zeCommandListAppendMemoryFillWithParameters(
        list: Handle, to: *const c_void, pattern: *const u8, each: usize, size: usize, _next: *const c_void,
        signal: Handle, waits: u32, events: *const Handle,
    ) {
        append(list, Wait(signal, waits, events), |list, _| filling(list, to, (pattern, each), size))
    }

    fn zeCommandListAppendMemoryCopyRegion(
        list: Handle, to: *const c_void, to_region: *const Region, to_row: u32, to_slice: u32, from: *const c_void,
        from_region: *const Region, from_row: u32, from_slice: u32, signal: Handle, waits: u32, events: *const Handle,
    ) {
        let (there, here) = (take(to_region)?, take(from_region)?);
        ensure(size(there.size) == size(here.size), Error::INVALID_SIZE)?;
        append(list, Wait(signal, waits, events), |list, _| {
            let extent = size(there.size);
            if is_empty(extent) {
                return Ok(None);
            }
            let to = piece(&list.context, to, wide(there.origin), (to_row, to_slice), extent)?;
            let from = piece(&list.context, from, wide(here.origin), (from_row, from_slice), extent)?;
            between(to, from, extent)
        })
    }

    fn zeCommandListAppendImageCopy(
        list: Handle, to: Handle, from: Handle, signal: Handle, waits: u32, events: *const Handle,
    ) {
        let whole = std::ptr::null();
        append(list, Wait(signal, waits, events), |_, _| images((to, whole), (from, whole)))
    }

    fn zeCommandListAppendImageCopyRegion(
        list: Handle, to: Handle, from: Handle, to_region: *const Region, from_region: *const Region, signal: Handle,
        waits: u32, events: *const Handle,
    ) {
        append(list, Wait(signal, waits, events), |_, _| images((to, to_region), (from, from_region)))
    }

    fn zeCommandListAppendImageCopyToMemory(
        list: Handle, to: *const c_void, from: Handle, region: *const Region, signal: Handle, waits: u32,
        events: *const Handle,
    ) {
        append(list, Wait(signal, waits, events), |list, _| {
            image(&list.context, (from, region), (to, (0, 0)), false)
        })
    }

    fn zeCommandListAppendImageCopyFromMemory(
        list: Handle, to: Handle, from: *const c_void, region: *const Region, signal: Handle, waits: u32,
        events: *const Handle,
    ) {
        append(list, Wait(signal, waits, events), |list, _| {
            image(&list.context, (to, region), (from, (0, 0)), true)
        })
    }

    fn zeCommandListAppendImageCopyToMemoryExt(
        list: Handle, to: *const c_void, from: Handle, region: *const Region, row: u32, slice: u32, signal: Handle,
        waits: u32, events: *const Handle,
    ) {
        append(list, Wait(signal, waits, events), |list, _| {
            image(&list.context, (from, region), (to, (row, slice)), false)
        })
    }

    fn zeCommandListAppendImageCopyFromMemoryExt(
        list: Handle, to: Handle, from: *const c_void, region: *const Region, row: u32, slice: u32, signal: Handle,
        waits: u32, events: *const Handle,
    ) {
        append(list, Wait(signal, waits, events), |list, _| {
            image(&list.context, (to, region), (from, (row, slice)), true)
        })
    }
}
