//! Memory with one address for host and devices.

use super::driver::lends;
use super::ipc::exported;
use super::types::{AllocationProperties, ExportedFile, Flags};
use super::{Handle, api, chain, change, get, get_some, pointer, put, take};
use crate::error::{Error, Result, ensure};
use opencl_sys as cl;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Mutex;
use visakit_driver::context::{Context, MOST_ALIGNED, lock};
use visakit_driver::device::Device;
use visakit_driver::handle::Object;
use visakit_driver::stream::when_idle;
use visakit_host::Span;

/// `ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC` and `…_EXT_DESC`.
const RELAXED: [u32; 2] = [0x2_0001, 0x1_0016];

/// `ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE`: when no command is left.
const BLOCKING: u32 = 1;

/// `ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE`: the same, without waiting.
const DEFERRED: u32 = 2;

/// `ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD`.
const EXPORT_FILE: u32 = 0x1a;

/// Bytes of a page.
const PAGE: u64 = 1 << 16;

/// The kinds of memory, and their numbers here.
pub(super) const KINDS: [(u32, u32); 3] = [
    (cl::CL_MEM_TYPE_HOST_INTEL, 1),
    (cl::CL_MEM_TYPE_DEVICE_INTEL, 2),
    (cl::CL_MEM_TYPE_SHARED_INTEL, 3),
];

/// All `ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_…`.
const ATOMICS: u32 = 0x7f;

/// What the host said of atomics on memory: by its address and the device. All atomics work whatever that is.
static ATOMICS_SAID: Mutex<BTreeMap<(usize, usize), u32>> = Mutex::new(BTreeMap::new());

/// The memory of which atomics can be spoken: what host and devices share, or memory of the program that kernels may access.
fn of_atomics(context: Handle, device: Handle, memory: *const c_void) -> Result<(usize, usize)> {
    let (context, device) = (get::<Context>(context)?, get::<Device>(device)?);
    ensure(context.has(&device), Error::INVALID_ARGUMENT)?;
    ensure(!memory.is_null(), Error::INVALID_NULL_POINTER)?;
    let address = match context.allocation(memory.addr()) {
        Some(svm) => (svm.kind == cl::CL_MEM_TYPE_SHARED_INTEL).then_some(svm.address),
        None => lends().then_some(memory.addr()),
    };
    Ok((
        address.ok_or(Error::INVALID_ARGUMENT)?,
        device.handle().get(),
    ))
}

/// Memory that a command works on: an allocation, variables of a module, or memory of the host.
///
/// # Safety
/// Memory of the host is valid for this many bytes until the command has ended.
pub(super) unsafe fn memory(
    context: &Context,
    pointer: *const c_void,
    bytes: usize,
) -> Result<Span> {
    ensure(!pointer.is_null(), Error::INVALID_NULL_POINTER)?;
    match context.span(pointer.addr(), bytes) {
        Some(span) => span.map_err(|_| Error::INVALID_SIZE),
        // SAFETY: the caller's promise.
        None => Ok(unsafe { Span::host(pointer, bytes) }),
    }
}

/// Allocates memory of a kind.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn allocate(
    context: Handle,
    device: Option<Handle>,
    (size, align): (usize, usize),
    kind: u32,
    descriptor: *const Flags,
    to: *mut *mut c_void,
) -> Result<()> {
    let context = get::<Context>(context)?;
    let device = match device {
        Some(handle) if kind == cl::CL_MEM_TYPE_DEVICE_INTEL => Some(get::<Device>(handle)?),
        Some(handle) => get_some::<Device>(handle)?,
        None => None,
    };
    ensure(
        device.as_ref().is_none_or(|d| context.has(d)),
        Error::INVALID_ARGUMENT,
    )?;
    ensure(!to.is_null(), Error::INVALID_NULL_POINTER)?;
    // SAFETY: the caller's promise.
    let next = unsafe { super::chain(take(descriptor)?.next) };
    let relaxed = next.iter().any(|(kind, _)| RELAXED.contains(kind));
    let most = context.devices.iter().map(|d| d.max_allocation()).max();
    ensure(
        size > 0 && (relaxed || size as u64 <= most.unwrap_or(0)),
        Error::UNSUPPORTED_SIZE,
    )?;
    ensure(align <= MOST_ALIGNED, Error::UNSUPPORTED_ALIGNMENT)?;
    // Intel's driver takes other numbers, too.
    let align = if align == 0 {
        0
    } else {
        align.next_power_of_two()
    };
    let device = device.map_or(0, |d| d.handle().get());
    let address = context.allocate_aligned(size, align, (kind, 0, device))?;
    // SAFETY: the caller's promise.
    unsafe { put(to, pointer(address)) }
}

/// Frees the allocation at an address, if there is one. Commands keep what they use.
fn free(context: &Context, address: usize) -> bool {
    let start = context.allocation(address).map(|svm| svm.address);
    let freed = context.free(address);
    if freed {
        lock(&ATOMICS_SAID).retain(|(said, _), _| Some(*said) != start);
    }
    freed
}

api! {
    fn zeMemAllocShared(
        context: Handle, on_device: *const Flags, on_host: *const Flags, size: usize, align: usize, device: Handle,
        to: *mut *mut c_void,
    ) {
        take(on_host)?;
        allocate(context, Some(device), (size, align), cl::CL_MEM_TYPE_SHARED_INTEL, on_device, to)
    }

    fn zeMemAllocDevice(
        context: Handle, on_device: *const Flags, size: usize, align: usize, device: Handle, to: *mut *mut c_void,
    ) {
        allocate(context, Some(device), (size, align), cl::CL_MEM_TYPE_DEVICE_INTEL, on_device, to)
    }

    fn zeMemAllocHost(context: Handle, on_host: *const Flags, size: usize, align: usize, to: *mut *mut c_void) {
        allocate(context, None, (size, align), cl::CL_MEM_TYPE_HOST_INTEL, on_host, to)
    }

    fn zeMemFree(context: Handle, memory: *const c_void) {
        let context = get::<Context>(context)?;
        ensure(!memory.is_null(), Error::INVALID_NULL_POINTER)?;
        ensure(free(&context, memory.addr()), Error::INVALID_ARGUMENT)
    }

    fn zeMemFreeExt(context: Handle, descriptor: *const Flags, memory: *const c_void) {
        let policy = take(descriptor)?.flags;
        ensure(policy & !(BLOCKING | DEFERRED) == 0, Error::INVALID_ENUMERATION)?;
        let (context, address) = (get::<Context>(context)?, memory.addr());
        ensure(!memory.is_null(), Error::INVALID_NULL_POINTER)?;
        if policy == 0 {
            return ensure(free(&context, address), Error::INVALID_ARGUMENT);
        }
        let found = context.allocation(address).filter(|svm| svm.address + svm.skip == address);
        ensure(found.is_some(), Error::INVALID_ARGUMENT)?;
        when_idle(policy & BLOCKING != 0, move || {
            free(&context, address);
        });
        Ok(())
    }

    fn zeMemGetAllocProperties(
        context: Handle, memory: *const c_void, to: *mut AllocationProperties, device: *mut Handle,
    ) {
        let context = get::<Context>(context)?;
        ensure(!memory.is_null(), Error::INVALID_NULL_POINTER)?;
        let found = context.allocation(memory.addr());
        let known = found.as_ref().and_then(|svm| KINDS.iter().find(|kind| kind.0 == svm.kind));
        change(to, |properties| {
            properties.kind = known.map_or(0, |kind| kind.1);
            // No address is used twice while anything may hold it.
            properties.id = found.as_ref().map_or(0, |svm| svm.address as u64 >> 16);
            properties.page = if known.is_some() { PAGE } else { 0 };
        })?;
        for (_, place) in chain(take(to)?.next).into_iter().filter(|(kind, _)| *kind == EXPORT_FILE) {
            let file = exported(&context, memory.addr())?;
            change(place.cast::<ExportedFile>(), |export| export.file = file)?;
        }
        if !device.is_null() {
            put(device, found.map_or(std::ptr::null_mut(), |svm| pointer(svm.device)))?;
        }
        Ok(())
    }

    fn zeMemGetAddressRange(context: Handle, memory: *const c_void, base: *mut *mut c_void, size: *mut usize) {
        let context = get::<Context>(context)?;
        ensure(!memory.is_null(), Error::INVALID_NULL_POINTER)?;
        let found = context.allocation(memory.addr()).ok_or(Error::ADDRESS_NOT_FOUND)?;
        if !base.is_null() {
            put(base, pointer(found.address + found.skip))?;
        }
        if !size.is_null() {
            put(size, found.storage.bytes() - found.skip)?;
        }
        Ok(())
    }

    fn zeMemSetAtomicAccessAttributeExp(
        context: Handle, device: Handle, memory: *const c_void, _size: usize, attributes: u32,
    ) {
        let of = of_atomics(context, device, memory)?;
        ensure(attributes & !ATOMICS == 0, Error::INVALID_ENUMERATION)?;
        lock(&ATOMICS_SAID).insert(of, attributes);
        Ok(())
    }

    fn zeMemGetAtomicAccessAttributeExp(
        context: Handle, device: Handle, memory: *const c_void, _size: usize, to: *mut u32,
    ) {
        let of = of_atomics(context, device, memory)?;
        put(to, lock(&ATOMICS_SAID).get(&of).copied().ok_or(Error::INVALID_ARGUMENT)?)
    }
}
