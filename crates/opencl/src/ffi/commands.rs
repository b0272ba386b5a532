//! Command buffers: `cl_khr_command_buffer` in its version 0.9.7, whose launches can be changed
//! (`cl_khr_command_buffer_mutable_dispatch` 0.9.4).

use super::kernels::{grid, inform, set};
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
use visakit_driver::kernel::{Arg, Kernel};
use visakit_driver::mutable::{Change, Command, Drafts};
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

/// A command buffer that a command is recorded in, and the synchronization points that the command waits for.
///
/// # Safety
/// The pointers are those of the caller.
unsafe fn opened(
    buffer: Pointer,
    queue: Pointer,
    count: u32,
    from: *const u32,
) -> Result<(Arc<CommandBuffer>, Vec<u32>)> {
    let buffer = get::<CommandBuffer>(buffer)?;
    ensure(queue.is_null(), cl::CL_INVALID_COMMAND_QUEUE)?;
    ensure((count == 0) == from.is_null(), INVALID_SYNC_POINT_WAIT_LIST)?;
    // SAFETY: the caller's promise.
    let waits = unsafe { list(from, usize::try_from(count).unwrap_or(0)) };
    Ok((buffer, waits))
}

/// Notes new arguments of a launch, and what else is to be changed of it.
///
/// # Safety
/// The pointers are those of the caller.
unsafe fn change(drafts: &mut Drafts, config: &cl::cl_mutable_dispatch_config_khr) -> Result<()> {
    let command = get::<Command>(config.command)?;
    let draft = drafts.of(&command);
    let dimensions = usize::try_from(config.work_dim).unwrap_or(0);
    ensure(
        [0, command.dimensions()].contains(&dimensions),
        cl::CL_INVALID_VALUE,
    )?;
    let count = |number: u32| usize::try_from(number).unwrap_or(0);
    // SAFETY: the caller's promise: null, or as many elements as are said.
    unsafe {
        for (number, from) in [
            (config.num_args, config.arg_list),
            (config.num_svm_args, config.arg_svm_list),
        ] {
            ensure((number == 0) == from.is_null(), cl::CL_INVALID_VALUE)?;
        }
        for arg in list(config.arg_list, count(config.num_args)) {
            let kernel = draft.kernel_for(cl::CL_MUTABLE_DISPATCH_ARGUMENTS_KHR)?;
            set(
                kernel,
                arg.arg_index,
                arg.arg_size,
                arg.arg_value.cast_mut(),
            )?;
        }
        for arg in list(config.arg_svm_list, count(config.num_svm_args)) {
            let kernel = draft.kernel_for(cl::CL_MUTABLE_DISPATCH_ARGUMENTS_KHR)?;
            let index = usize::try_from(arg.arg_index).unwrap_or(usize::MAX);
            kernel.set(index, Arg::Pointer(arg.arg_value.addr()))?;
        }
        for info in list(config.exec_info_list, count(config.num_exec_infos)) {
            let kernel = draft.kernel_for(cl::CL_MUTABLE_DISPATCH_EXEC_INFO_KHR)?;
            inform(
                kernel,
                info.param_name,
                info.param_value_size,
                info.param_value.cast_mut(),
            )?;
        }
        let sizes = |from: *const usize| (!from.is_null()).then(|| list(from, dimensions));
        let change = Change {
            global: sizes(config.global_work_size),
            local: sizes(config.local_work_size),
            offset: sizes(config.global_work_offset),
        };
        let is_any = change.global.is_some() || change.local.is_some() || change.offset.is_some();
        ensure(dimensions > 0 || !is_any, cl::CL_INVALID_VALUE)?;
        draft.change(change)
    }
}

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
    // SAFETY: the caller's promise.
    let (buffer, waits) = unsafe { opened(buffer, queue, count, from)? };
    // SAFETY: the caller's promise.
    let with = unsafe { properties(with) };
    let plain = with.first().is_none_or(|name| *name == 0) && handle.is_null();
    ensure(plain, cl::CL_INVALID_VALUE)?;
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
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, context| {
            svm::copying(context, to, source, size).map(Some)
        })
    }

    fn clCommandSVMMemFillKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, to: Pointer, pattern: Pointer, each: usize, size: usize,
        count: u32, from: *const u32, point: *mut u32, handle: *mut Pointer,
    ) {
        record(Where(buffer, queue, with), Points(count, from, point, handle), |_, context| {
            svm::filling(context, to, pattern, each, size).map(Some)
        })
    }

    fn clCommandNDRangeKernelKHR(
        buffer: Pointer, queue: Pointer, with: *const u64, kernel: Pointer, dimensions: u32, offset: *const usize,
        global: *const usize, local: *const usize, count: u32, from: *const u32, point: *mut u32, handle: *mut Pointer,
    ) {
        let (buffer, waits) = opened(buffer, queue, count, from)?;
        let kernel = get::<Kernel>(kernel)?;
        ensure(Arc::ptr_eq(&buffer.queue.context, &kernel.program.context), cl::CL_INVALID_CONTEXT)?;
        let grid = grid(dimensions, offset, global, local)?;
        let (made, command) = buffer.record_launch(&waits, (&kernel, &grid), properties(with))?;
        put(point, made);
        // Its handle ends with the command buffer.
        if !handle.is_null() {
            put(handle, std::ptr::with_exposed_provenance_mut(export(&command)));
        }
        Ok(())
    }

    fn clGetMutableCommandInfoKHR(command: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&get::<Command>(command)?.info(name)?, room, to, size)
    }

    fn clUpdateMutableCommandsKHR(
        buffer: Pointer, number: u32, kinds: *const u32, configs: *const *const cl::cl_mutable_dispatch_config_khr,
    ) {
        let buffer = get::<CommandBuffer>(buffer)?;
        let number = usize::try_from(number).unwrap_or(0);
        ensure((number == 0) == kinds.is_null() && (number == 0) == configs.is_null(), cl::CL_INVALID_VALUE)?;
        let is_known = |kind: &u32| *kind == cl::CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR;
        ensure(list(kinds, number).iter().all(is_known), cl::CL_INVALID_VALUE)?;
        buffer.may_change()?;
        let mut drafts = Drafts::default();
        for config in list(configs, number) {
            ensure(!config.is_null(), cl::CL_INVALID_VALUE)?;
            change(&mut drafts, &config.read_unaligned())?;
        }
        buffer.change(drafts)
    }
}
