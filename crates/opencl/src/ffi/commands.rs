//! Command buffers: `cl_khr_command_buffer` in its version 0.9.7.

use super::kernels::grid;
use super::{
    Pointer, answer, api, get, get_all, list, make, properties, put, svm, transfer, waits,
};
use opencl_sys as cl;
use std::ffi::c_void;
use std::sync::Arc;
use visakit_driver::commands::CommandBuffer;
use visakit_driver::context::Context;
use visakit_driver::error::{Result, ensure};
use visakit_driver::handle::{export, release, retain};
use visakit_driver::kernel::Kernel;
use visakit_driver::launch::command;
use visakit_driver::queue::Queue;
use visakit_driver::stream::Action;

/// `CL_INVALID_SYNC_POINT_WAIT_LIST_KHR`.
const INVALID_SYNC_POINT_WAIT_LIST: i32 = -1139;

/// The arguments of an entry point for where a command is recorded: the command buffer, a queue and properties, of which
/// there are none.
#[derive(Clone, Copy)]
struct Where(Pointer, Pointer, *const u64);

/// Those for the synchronization points that a command waits for, for its own, and for its handle, of which there is none.
#[derive(Clone, Copy)]
struct Points(u32, *const u32, *mut u32, *mut Pointer);

/// Records a command.
///
/// # Safety
/// The pointers are those of the caller.
unsafe fn record(
    place: Where,
    points: Points,
    make: impl FnOnce(&CommandBuffer, &Arc<Context>) -> Result<Option<Action>>,
) -> Result<()> {
    let Where(buffer, queue, with) = place;
    let Points(count, from, point, handle) = points;
    let buffer = get::<CommandBuffer>(buffer)?;
    ensure(queue.is_null(), cl::CL_INVALID_COMMAND_QUEUE)?;
    // SAFETY: the caller's promise.
    let with = unsafe { properties(with) };
    let plain = with.first().is_none_or(|name| *name == 0) && handle.is_null();
    ensure(plain, cl::CL_INVALID_VALUE)?;
    ensure((count == 0) == from.is_null(), INVALID_SYNC_POINT_WAIT_LIST)?;
    // SAFETY: the caller's promise.
    let waits = unsafe { list(from, usize::try_from(count).unwrap_or(0)) };
    let action = make(&buffer, &buffer.queue.context)?;
    let made = buffer.record(&waits, action)?;
    // SAFETY: the caller's promise.
    unsafe { put(point, made) };
    Ok(())
}

make! {
    fn clCreateCommandBufferKHR(count: u32, queues: *const Pointer, with: *const u64) {
        // Several queues are another extension.
        ensure(count == 1 && !queues.is_null(), cl::CL_INVALID_VALUE)?;
        let queue = get::<Queue>(queues.read_unaligned())?;
        Ok(export(&CommandBuffer::new(&queue, properties(with))?))
    }
}

api! {
    fn clRetainCommandBufferKHR(buffer: Pointer) {
        retain::<CommandBuffer>(buffer.addr())
    }

    fn clReleaseCommandBufferKHR(buffer: Pointer) {
        release::<CommandBuffer>(buffer.addr())
    }

    fn clFinalizeCommandBufferKHR(buffer: Pointer) {
        get::<CommandBuffer>(buffer)?.finalize()
    }

    fn clGetCommandBufferInfoKHR(buffer: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&get::<CommandBuffer>(buffer)?.info(name)?, room, to, size)
    }

    fn clEnqueueCommandBufferKHR(
        number: u32, queues: *mut Pointer, buffer: Pointer, count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let buffer = get::<CommandBuffer>(buffer)?;
        let queues = get_all::<Queue>(queues.cast_const(), number)?;
        ensure(queues.len() <= 1, cl::CL_INVALID_VALUE)?;
        let made = buffer.enqueue(queues.first(), &waits(&buffer.queue.context, count, from)?)?;
        if !event.is_null() {
            put(event, std::ptr::with_exposed_provenance_mut(export(&made)));
        }
        Ok(())
    }

    fn clCommandBarrierWithWaitListKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, count: u32, from: *const u32, point: *mut u32,
        handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, _| Ok(None))
    }

    fn clCommandCopyBufferKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, source: Pointer, target: Pointer, from_offset: usize,
        to_offset: usize, size: usize, count: u32, from: *const u32, point: *mut u32, handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, context| {
            transfer::copy_buffer(context, (source, from_offset), (target, to_offset), size).map(Some)
        })
    }

    fn clCommandCopyBufferRectKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, source: Pointer, target: Pointer,
        source_origin: *const usize, target_origin: *const usize, region: *const usize, source_row: usize,
        source_slice: usize, target_row: usize, target_slice: usize, count: u32, from: *const u32, point: *mut u32,
        handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, context| {
            let source = (source, source_origin, (source_row, source_slice));
            let target = (target, target_origin, (target_row, target_slice));
            transfer::copy_rect(context, source, target, region).map(Some)
        })
    }

    fn clCommandCopyBufferToImageKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, source: Pointer, target: Pointer, offset: usize,
        origin: *const usize, region: *const usize, count: u32, from: *const u32, point: *mut u32, handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, context| {
            transfer::copy_to_image(context, (source, offset), (target, origin), region).map(Some)
        })
    }

    fn clCommandCopyImageKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, source: Pointer, target: Pointer,
        source_origin: *const usize, target_origin: *const usize, region: *const usize, count: u32, from: *const u32,
        point: *mut u32, handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, context| {
            transfer::copy_image(context, (source, source_origin), (target, target_origin), region).map(Some)
        })
    }

    fn clCommandCopyImageToBufferKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, source: Pointer, target: Pointer, origin: *const usize,
        region: *const usize, offset: usize, count: u32, from: *const u32, point: *mut u32, handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, context| {
            transfer::copy_to_buffer(context, (source, origin), (target, offset), region).map(Some)
        })
    }

    fn clCommandFillBufferKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, mem: Pointer, pattern: *const c_void, each: usize,
        offset: usize, size: usize, count: u32, from: *const u32, point: *mut u32, handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, context| {
            transfer::fill_buffer(context, mem, (pattern, each), (offset, size)).map(Some)
        })
    }

    fn clCommandFillImageKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, mem: Pointer, color: *const c_void, origin: *const usize,
        region: *const usize, count: u32, from: *const u32, point: *mut u32, handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, context| {
            transfer::fill_image(context, mem, color, (origin, region)).map(Some)
        })
    }

    fn clCommandSVMMemcpyKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, to: Pointer, source: Pointer, size: usize, count: u32,
        from: *const u32, point: *mut u32, handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, _| {
            svm::copying(to, source, size).map(Some)
        })
    }

    fn clCommandSVMMemFillKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, to: Pointer, pattern: Pointer, each: usize, size: usize,
        count: u32, from: *const u32, point: *mut u32, handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, _| {
            svm::filling(to, pattern, each, size).map(Some)
        })
    }

    fn clCommandNDRangeKernelKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, kernel: Pointer, dimensions: u32, offset: *const usize,
        global: *const usize, local: *const usize, count: u32, from: *const u32, point: *mut u32, handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |buffer, context| {
            let kernel = get::<Kernel>(kernel)?;
            ensure(Arc::ptr_eq(context, &kernel.program.context), cl::CL_INVALID_CONTEXT)?;
            command(&buffer.queue, &kernel, &grid(dimensions, offset, global, local)?).map(Some)
        })
    }
}
