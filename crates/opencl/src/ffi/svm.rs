//! Memory with one address for host and device: SVM of OpenCL 2.0, and Intel's unified shared memory.

use super::{Pointer, User, Wait, answer, api, enqueue, get, list, make, properties};
use opencl_sys as cl;
use std::sync::Arc;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
use visakit_driver::error::{Code, Result, ensure, fail};
use visakit_driver::handle::Object;
use visakit_driver::info::Answer;
use visakit_driver::kernel::{Arg, Kernel};
use visakit_driver::queue::Queue;
use visakit_driver::stream::{Action, action, when_idle};
use visakit_host::Span;

/// Frees memory whose release was enqueued.
type Free = Option<unsafe extern "C" fn(Pointer, u32, *mut Pointer, Pointer)>;

/// Checks the arguments; returns the alignment.
fn alignment(context: &Context, size: usize, align: u32) -> Result<usize> {
    ensure(align == 0 || align.is_power_of_two(), cl::CL_INVALID_VALUE)?;
    let most = context.devices.iter().map(|d| d.max_allocation()).max();
    ensure(size as u64 <= most.unwrap_or(0), cl::CL_INVALID_BUFFER_SIZE)?;
    Ok(usize::try_from(align).unwrap_or(usize::MAX))
}

/// Frees an allocation. Running launches keep what they use.
fn freed(context: &Context, pointer: Pointer) -> Result<()> {
    ensure(
        pointer.is_null() || context.free(pointer.addr()),
        cl::CL_INVALID_VALUE,
    )
}

/// `clSVMAlloc`: returns no error code.
///
/// # Safety
/// None of the arguments is dereferenced.
#[allow(non_snake_case, reason = "OpenCL's name")]
pub(super) unsafe extern "C" fn clSVMAlloc(
    context: Pointer,
    flags: u64,
    size: usize,
    align: u32,
) -> Pointer {
    let address = super::call("clSVMAlloc", || {
        let context = get::<Context>(context)?;
        let known = cl::CL_MEM_READ_WRITE
            | cl::CL_MEM_WRITE_ONLY
            | cl::CL_MEM_READ_ONLY
            | cl::CL_MEM_SVM_FINE_GRAIN_BUFFER
            | cl::CL_MEM_SVM_ATOMICS;
        let fine = flags & cl::CL_MEM_SVM_FINE_GRAIN_BUFFER != 0;
        let ways = cl::CL_MEM_READ_WRITE | cl::CL_MEM_WRITE_ONLY | cl::CL_MEM_READ_ONLY;
        let is_known = flags & !known == 0 && (flags & ways).count_ones() <= 1;
        ensure(
            is_known && (fine || flags & cl::CL_MEM_SVM_ATOMICS == 0),
            cl::CL_INVALID_VALUE,
        )?;
        let align = alignment(&context, size, align)?;
        context.allocate(size, align, (cl::CL_MEM_TYPE_UNKNOWN_INTEL, flags, 0))
    });
    std::ptr::with_exposed_provenance_mut(address.unwrap_or(0))
}

/// `clSVMFree`: returns nothing.
///
/// # Safety
/// None of the arguments is dereferenced.
#[allow(non_snake_case, reason = "OpenCL's name")]
pub(super) unsafe extern "C" fn clSVMFree(context: Pointer, pointer: Pointer) {
    let _ = super::call("clSVMFree", || {
        get::<Context>(context)?.free(pointer.addr());
        Ok(())
    });
}

/// Allocates unified shared memory of a kind.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn usm(
    context: Pointer,
    device: Option<Pointer>,
    with: *const u64,
    (size, align): (usize, u32),
    kind: u32,
) -> Result<usize> {
    let context = get::<Context>(context)?;
    let device = match device {
        Some(handle) if !handle.is_null() => Some(get::<Device>(handle)?),
        Some(_) if kind == cl::CL_MEM_TYPE_DEVICE_INTEL => return fail(cl::CL_INVALID_DEVICE),
        _ => None,
    };
    ensure(
        device.as_ref().is_none_or(|d| context.has(d)),
        cl::CL_INVALID_DEVICE,
    )?;
    // SAFETY: the caller's promise.
    let list = unsafe { properties(with) };
    let mut flags = 0;
    for pair in list.chunks_exact(2) {
        match pair {
            [name, value] if *name == cl::CL_MEM_ALLOC_FLAGS_INTEL => flags = *value,
            _ => return fail(cl::CL_INVALID_PROPERTY),
        }
    }
    let align = alignment(&context, size, align)?;
    let device = device.map_or(0, |d| d.handle().get());
    context.allocate(size, align, (kind, flags, device))
}

make! {
    fn clHostMemAllocINTEL(context: Pointer, with: *const u64, size: usize, align: u32) {
        usm(context, None, with, (size, align), cl::CL_MEM_TYPE_HOST_INTEL)
    }

    fn clDeviceMemAllocINTEL(context: Pointer, device: Pointer, with: *const u64, size: usize, align: u32) {
        usm(context, Some(device), with, (size, align), cl::CL_MEM_TYPE_DEVICE_INTEL)
    }

    fn clSharedMemAllocINTEL(context: Pointer, device: Pointer, with: *const u64, size: usize, align: u32) {
        usm(context, Some(device), with, (size, align), cl::CL_MEM_TYPE_SHARED_INTEL)
    }
}

/// Memory that a command works on: variables of a program, which have addresses of their own, or memory of the caller.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn memory(context: &Context, pointer: Pointer, bytes: usize) -> Result<Span> {
    match context.span(pointer.addr(), bytes) {
        Some(span) if context.allocation(pointer.addr()).is_none() => span,
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { Span::host(pointer, bytes) }),
    }
}

/// Copies memory that has addresses.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn copying(
    context: &Context,
    to: Pointer,
    from: Pointer,
    size: usize,
) -> Result<Action> {
    ensure(
        size == 0 || (!to.is_null() && !from.is_null()),
        cl::CL_INVALID_VALUE,
    )?;
    ensure(
        size == 0 || to.addr().abs_diff(from.addr()) >= size,
        cl::CL_MEM_COPY_OVERLAP,
    )?;
    // SAFETY: the caller's promise.
    let (to, from) = unsafe { (memory(context, to, size)?, memory(context, from, size)?) };
    Ok(action(move || {
        to.copy_from(0, &from, 0, size)
            .ok_or(Code(cl::CL_INVALID_VALUE))
    }))
}

/// Fills memory that has addresses.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn filling(
    context: &Context,
    to: Pointer,
    pattern: Pointer,
    each: usize,
    size: usize,
) -> Result<Action> {
    ensure(!to.is_null() && !pattern.is_null(), cl::CL_INVALID_VALUE)?;
    ensure(each.is_power_of_two() && each <= 128, cl::CL_INVALID_VALUE)?;
    ensure(
        to.addr().is_multiple_of(each) && size.is_multiple_of(each),
        cl::CL_INVALID_VALUE,
    )?;
    // SAFETY: the caller's promise.
    let (pattern, to) = unsafe {
        (
            list(pattern.cast::<u8>().cast_const(), each),
            memory(context, to, size)?,
        )
    };
    Ok(action(move || {
        to.fill(0, size, &pattern).ok_or(Code(cl::CL_INVALID_VALUE))
    }))
}

api! {
    fn clEnqueueSVMFree(
        queue: Pointer, number: u32, pointers: *mut Pointer, free: Free, user: Pointer,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let found = get::<Queue>(queue)?;
        ensure((number == 0) == pointers.is_null(), cl::CL_INVALID_VALUE)?;
        let all: Vec<User> = list(pointers.cast_const(), usize::try_from(number).unwrap_or(0))
            .into_iter().map(User).collect();
        let (queue, user) = (User(queue), User(user));
        let context = Arc::clone(&found.context);
        let work = action(move || {
            let mut all: Vec<Pointer> = all.iter().map(|user| user.get()).collect();
            match free {
                Some(free) => free(queue.get(), number, all.as_mut_ptr(), user.get()),
                None => all.into_iter().for_each(|p| {
                    context.free(p.addr());
                }),
            }
            Ok(())
        });
        enqueue(&found, cl::CL_COMMAND_SVM_FREE, Wait(count, from, event), false, Some(work))
    }

    fn clEnqueueSVMMemcpy(
        queue: Pointer, blocking: u32, to: Pointer, source: Pointer, size: usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        let work = copying(&queue.context, to, source, size)?;
        enqueue(&queue, cl::CL_COMMAND_SVM_MEMCPY, Wait(count, from, event), blocking != 0, Some(work))
    }

    fn clEnqueueSVMMemFill(
        queue: Pointer, to: Pointer, pattern: Pointer, each: usize, size: usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        let work = filling(&queue.context, to, pattern, each, size)?;
        enqueue(&queue, cl::CL_COMMAND_SVM_MEMFILL, Wait(count, from, event), false, Some(work))
    }

    fn clEnqueueSVMMap(
        queue: Pointer, blocking: u32, flags: u64, pointer: Pointer, size: usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        ensure(!pointer.is_null() && size > 0 && flags & !7 == 0, cl::CL_INVALID_VALUE)?;
        enqueue(&queue, cl::CL_COMMAND_SVM_MAP, Wait(count, from, event), blocking != 0, None)
    }

    fn clEnqueueSVMUnmap(
        queue: Pointer, pointer: Pointer, count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        ensure(!pointer.is_null(), cl::CL_INVALID_VALUE)?;
        enqueue(&queue, cl::CL_COMMAND_SVM_UNMAP, Wait(count, from, event), false, None)
    }

    fn clEnqueueSVMMigrateMem(
        queue: Pointer, number: u32, pointers: *const Pointer, _sizes: *const usize, flags: u64,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        ensure(number > 0 && !pointers.is_null() && flags & !3 == 0, cl::CL_INVALID_VALUE)?;
        let all = list(pointers, usize::try_from(number).unwrap_or(0));
        ensure(all.iter().all(|p| queue.context.allocation(p.addr()).is_some()), cl::CL_INVALID_VALUE)?;
        enqueue(&queue, cl::CL_COMMAND_SVM_MIGRATE_MEM, Wait(count, from, event), false, None)
    }

    fn clMemFreeINTEL(context: Pointer, pointer: Pointer) {
        freed(&*get::<Context>(context)?, pointer)
    }

    fn clMemBlockingFreeINTEL(context: Pointer, pointer: Pointer) {
        let context = get::<Context>(context)?;
        when_idle(true, || {});
        freed(&context, pointer)
    }

    fn clGetMemAllocInfoINTEL(
        context: Pointer, pointer: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize,
    ) {
        let context = get::<Context>(context)?;
        let svm = context.allocation(pointer.addr()).filter(|s| s.kind != cl::CL_MEM_TYPE_UNKNOWN_INTEL);
        let bytes = match name {
            cl::CL_MEM_ALLOC_TYPE_INTEL => svm.map_or(cl::CL_MEM_TYPE_UNKNOWN_INTEL, |s| s.kind).answer(),
            cl::CL_MEM_ALLOC_BASE_PTR_INTEL => svm.map_or(0, |s| s.address).answer(),
            cl::CL_MEM_ALLOC_SIZE_INTEL => svm.map_or(0, |s| s.storage.bytes()).answer(),
            cl::CL_MEM_ALLOC_DEVICE_INTEL => svm.map_or(0, |s| s.device).answer(),
            name if u64::from(name) == cl::CL_MEM_ALLOC_FLAGS_INTEL => svm.map_or(0, |s| s.flags).answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        };
        answer(&bytes, room, to, size)
    }

    fn clSetKernelArgMemPointerINTEL(kernel: Pointer, index: u32, value: Pointer) {
        let kernel = get::<Kernel>(kernel)?;
        kernel.set(usize::try_from(index).unwrap_or(usize::MAX), Arg::Pointer(value.addr()))
    }

    fn clEnqueueMemsetINTEL(
        queue: Pointer, to: Pointer, value: i32, size: usize, count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        let byte = [value.to_le_bytes()[0]];
        ensure(!to.is_null(), cl::CL_INVALID_VALUE)?;
        let span = memory(&queue.context, to, size)?;
        let work = action(move || span.fill(0, size, &byte).ok_or(Code(cl::CL_INVALID_VALUE)));
        enqueue(&queue, cl::CL_COMMAND_MEMFILL_INTEL, Wait(count, from, event), false, Some(work))
    }

    fn clEnqueueMemFillINTEL(
        queue: Pointer, to: Pointer, pattern: Pointer, each: usize, size: usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        let work = filling(&queue.context, to, pattern, each, size)?;
        enqueue(&queue, cl::CL_COMMAND_MEMFILL_INTEL, Wait(count, from, event), false, Some(work))
    }

    fn clEnqueueMemcpyINTEL(
        queue: Pointer, blocking: u32, to: Pointer, source: Pointer, size: usize,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        let work = copying(&queue.context, to, source, size)?;
        enqueue(&queue, cl::CL_COMMAND_MEMCPY_INTEL, Wait(count, from, event), blocking != 0, Some(work))
    }

    fn clEnqueueMigrateMemINTEL(
        queue: Pointer, _pointer: Pointer, _size: usize, _flags: u64,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        enqueue(&queue, cl::CL_COMMAND_MIGRATEMEM_INTEL, Wait(count, from, event), false, None)
    }

    fn clEnqueueMemAdviseINTEL(
        queue: Pointer, _pointer: Pointer, _size: usize, _advice: u32,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        enqueue(&queue, cl::CL_COMMAND_MEMADVISE_INTEL, Wait(count, from, event), false, None)
    }
}
