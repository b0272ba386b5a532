//! The driver and its contexts.

use super::types::{DriverProperties, Extension, Flags, text_of};
use super::{
    Handle, api, change, destroy, enumerate, get, get_all, give, last_error, pointer, put, take,
    text,
};
use crate::error::{Error, Result, ensure};
use std::ffi::{c_char, c_void};
use std::sync::{Arc, OnceLock};
use visakit_driver::context::Context;
use visakit_driver::device::{Device, Platform, platform};
use visakit_driver::handle::{Object, export};
use visakit_driver::memory::Mem;
use visakit_host::lend_process_memory;

/// The version of the specification.
const VERSION: u32 = 1 << 16 | 14;

/// What hosts compare with releases of Intel's driver, from 1.3 on: a release that has what is here.
const RELEASE: u32 = 1 << 24 | 6 << 16 | 33_578;

/// Lists whose commands can be changed, their kernels, too.
const MUTABLE_LISTS: &str = "ZE_experimental_mutable_command_list";

/// Extensions, all of version 1.0, but for mutable lists.
const EXTENSIONS: [&str; 17] = [
    "ZE_experimental_event_pool_counter_based",
    "ZE_experimental_event_query_timestamps",
    "ZE_experimental_global_offset",
    "ZE_experimental_image_view",
    "ZE_experimental_immediate_command_list_append",
    "ZE_experimental_module_program",
    MUTABLE_LISTS,
    "ZE_experimental_relaxed_allocation_limits",
    "ZE_extension_device_ip_version",
    "ZE_extension_eu_count",
    "ZE_extension_event_query_kernel_timestamps",
    "ZE_extension_float_atomics",
    "ZE_extension_image_copy",
    "ZE_extension_image_view",
    "ZE_extension_kernel_max_group_size_properties",
    "ZE_extension_memory_free_policies",
    "ZE_extension_pci_properties",
];

/// Whether kernels may access what `malloc` gave, stacks and variables.
const SYSTEM_MEMORY: &str = "VISAKIT_SYSTEM_MEMORY";

/// `ZE_INIT_FLAG_GPU_ONLY` and `ZE_INIT_DRIVER_TYPE_FLAG_GPU`.
pub(super) const GPU: u32 = 1;

/// `ZE_INIT_FLAG_VPU_ONLY`.
const VPU: u32 = 2;

/// Whether `ZE_AFFINITY_MASK` has a device with this number; all if it is empty. There are no sub-devices but the first one,
/// which is the device itself.
fn is_in(mask: &str, number: usize) -> bool {
    let mut entries = mask
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty());
    let whole = |entry: &str| entry.strip_suffix(".0").unwrap_or(entry).parse() == Ok(number);
    mask.trim().is_empty() || entries.any(whole)
}

/// The devices that the host is shown.
pub(super) fn devices() -> Vec<Arc<Device>> {
    let mask = std::env::var("ZE_AFFINITY_MASK").unwrap_or_default();
    let all = platform().devices.iter().enumerate();
    let shown = all.filter(|(number, _)| is_in(&mask, *number));
    shown.map(|(_, device)| Arc::clone(device)).collect()
}

pub(super) fn drivers() -> impl ExactSizeIterator<Item = Handle> {
    let count = usize::from(!devices().is_empty());
    std::iter::repeat_n(pointer(platform().handle().get()), count)
}

/// Lets kernels reach all memory of the program, if it says so.
///
/// # Safety
/// As of [`lend_process_memory`].
unsafe fn lend() {
    if lends() {
        // SAFETY: who sets the variable promises that kernels access what the program keeps for them.
        unsafe { lend_process_memory() };
    }
}

/// Whether kernels may access all memory of the program: with `VISAKIT_SYSTEM_MEMORY=1`.
pub(super) fn lends() -> bool {
    std::env::var_os(SYSTEM_MEMORY).is_some_and(|value| value == "1")
}

/// Whether what was asked for is here.
pub(super) fn initialized(wanted: bool) -> Result<()> {
    ensure(wanted && !devices().is_empty(), Error::UNINITIALIZED)
}

fn context_of(devices: Vec<Arc<Device>>) -> Result<Arc<Context>> {
    Ok(Context::joined(devices)?)
}

api! {
    fn zeInit(flags: u32) {
        ensure(flags & !(GPU | VPU) == 0, Error::INVALID_ENUMERATION)?;
        initialized(flags == 0 || flags & GPU != 0)
    }

    fn zeInitDrivers(count: *mut u32, to: *mut Handle, descriptor: *const Flags) {
        let flags = take(descriptor)?.flags;
        ensure(flags != 0, Error::INVALID_ENUMERATION)?;
        initialized(flags & GPU != 0)?;
        enumerate(count, to, drivers())
    }

    fn zeDriverGet(count: *mut u32, to: *mut Handle) {
        enumerate(count, to, drivers())
    }

    fn zeDriverGetApiVersion(driver: Handle, to: *mut u32) {
        get::<Platform>(driver)?;
        put(to, VERSION)
    }

    fn zeDriverGetProperties(driver: Handle, to: *mut DriverProperties) {
        get::<Platform>(driver)?;
        change(to, |properties| {
            properties.uuid = *b"visakit\0\0\0\0\0\0\0\0\0";
            properties.version = RELEASE;
        })
    }

    fn zeDriverGetIpcProperties(driver: Handle, to: *mut Flags) {
        get::<Platform>(driver)?;
        // `ZE_IPC_PROPERTY_FLAG_MEMORY` and `…_EVENT_POOL`
        change(to, |properties| properties.flags = 3)
    }

    fn zeDriverGetExtensionProperties(driver: Handle, count: *mut u32, to: *mut Extension) {
        get::<Platform>(driver)?;
        let version = |extension: &str| 1 << 16 | u32::from(extension == MUTABLE_LISTS);
        let all = EXTENSIONS.iter().map(|it| Extension { name: text_of(it), version: version(it) });
        enumerate(count, to, all)
    }

    fn zeDriverGetExtensionFunctionAddress(driver: Handle, wanted: *const c_char, to: *mut *const ()) {
        get::<Platform>(driver)?;
        let found = super::table::by_name(&text(wanted)?);
        put(to, found.ok_or(Error::INVALID_ARGUMENT)?)
    }

    fn zeDriverGetLastErrorDescription(driver: Handle, to: *mut *const c_char) {
        get::<Platform>(driver)?;
        put(to, last_error())
    }

    fn zeContextCreate(driver: Handle, descriptor: *const Flags, to: *mut Handle) {
        get::<Platform>(driver)?;
        take(descriptor)?;
        lend();
        give(to, context_of(devices()))
    }

    fn zeContextCreateEx(
        driver: Handle, descriptor: *const Flags, count: u32, some: *const Handle, to: *mut Handle,
    ) {
        get::<Platform>(driver)?;
        take(descriptor)?;
        let named = get_all::<Device>(some, count)?;
        lend();
        give(to, context_of(if named.is_empty() { devices() } else { named }))
    }

    fn zeContextDestroy(context: Handle) {
        destroy::<Context>(context)
    }

    fn zeContextGetStatus(context: Handle) {
        get::<Context>(context).map(drop)
    }

    fn zeContextSystemBarrier(context: Handle, device: Handle) {
        get::<Context>(context)?;
        get::<Device>(device).map(drop)
    }

    fn zeContextMakeMemoryResident(context: Handle, device: Handle, memory: *const c_void, _size: usize) {
        get::<Context>(context)?;
        get::<Device>(device)?;
        ensure(!memory.is_null(), Error::INVALID_NULL_POINTER)
    }

    fn zeContextEvictMemory(context: Handle, device: Handle, memory: *const c_void, _size: usize) {
        get::<Context>(context)?;
        get::<Device>(device)?;
        ensure(!memory.is_null(), Error::INVALID_NULL_POINTER)
    }

    fn zeContextMakeImageResident(context: Handle, device: Handle, image: Handle) {
        get::<Context>(context)?;
        get::<Device>(device)?;
        get::<Mem>(image).map(drop)
    }

    fn zeContextEvictImage(context: Handle, device: Handle, image: Handle) {
        get::<Context>(context)?;
        get::<Device>(device)?;
        get::<Mem>(image).map(drop)
    }
}

/// The handle of the context that all parts of a program share.
///
/// # Safety
/// Nothing but what [`lend_process_memory`] requires where it is asked for.
pub(super) unsafe fn default_context() -> Result<Handle> {
    static CONTEXT: OnceLock<Option<Arc<Context>>> = OnceLock::new();
    // SAFETY: as there.
    unsafe { lend() };
    let context = CONTEXT.get_or_init(|| {
        let made = context_of(devices()).ok()?;
        export(&made);
        Some(made)
    });
    let context = context.as_ref().ok_or(Error::OUT_OF_HOST_MEMORY)?;
    Ok(pointer(context.handle().get()))
}

/// `zeDriverGetDefaultContext`: returns the context, or null.
///
/// # Safety
/// As of [`default_context`].
#[allow(non_snake_case, reason = "Level Zero's name")]
pub(super) unsafe extern "C" fn zeDriverGetDefaultContext(driver: Handle) -> Handle {
    let mut found = std::ptr::null_mut();
    super::call("zeDriverGetDefaultContext", || {
        get::<Platform>(driver)?;
        // SAFETY: the caller's promise.
        found = unsafe { default_context() }?;
        Ok(())
    });
    found
}

#[cfg(test)]
mod tests {
    use super::is_in;

    #[test]
    fn masks() {
        let shown = |mask: &str| (0..4).filter(|n| is_in(mask, *n)).collect::<Vec<_>>();
        assert_eq!(shown(""), [0, 1, 2, 3]);
        assert_eq!(shown("0"), [0]);
        assert_eq!(shown(" 3, 1.0 ,2.1"), [1, 3]);
        assert!(shown("4").is_empty());
        assert!(shown("x").is_empty());
    }
}
