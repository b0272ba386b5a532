//! The driver and its contexts.

use super::types::{DriverProperties, Extension, Flags, name};
use super::{
    Handle, api, change, destroy, enumerate, get, get_all, give, pointer, put, take, text,
};
use crate::error::{Error, Result, ensure};
use std::ffi::{c_char, c_void};
use std::sync::{Arc, OnceLock};
use visakit_driver::context::Context;
use visakit_driver::device::{Device, Platform, platform};
use visakit_driver::handle::{Object, export};
use visakit_driver::memory::Mem;

/// The version of the specification.
const VERSION: u32 = 1 << 16 | 14;

/// What hosts compare with releases of Intel's driver, from 1.3 on: a release that has what is here.
const RELEASE: u32 = 1 << 24 | 6 << 16 | 33_578;

/// Extensions, all of version 1.0.
const EXTENSIONS: [&str; 14] = [
    "ZE_experimental_event_pool_counter_based",
    "ZE_experimental_event_query_timestamps",
    "ZE_experimental_global_offset",
    "ZE_experimental_immediate_command_list_append",
    "ZE_experimental_module_program",
    "ZE_experimental_relaxed_allocation_limits",
    "ZE_extension_device_ip_version",
    "ZE_extension_eu_count",
    "ZE_extension_event_query_kernel_timestamps",
    "ZE_extension_float_atomics",
    "ZE_extension_image_copy",
    "ZE_extension_kernel_max_group_size_properties",
    "ZE_extension_memory_free_policies",
    "ZE_extension_pci_properties",
];

/// `ZE_INIT_FLAG_GPU_ONLY` and `ZE_INIT_DRIVER_TYPE_FLAG_GPU`.
const GPU: u32 = 1;

/// `ZE_INIT_FLAG_VPU_ONLY`.
const VPU: u32 = 2;

fn drivers() -> impl ExactSizeIterator<Item = Handle> {
    let platform = platform();
    let count = usize::from(!platform.devices.is_empty());
    std::iter::repeat_n(pointer(platform.handle().get()), count)
}

fn initialized(wanted: bool) -> Result<()> {
    ensure(
        wanted && !platform().devices.is_empty(),
        Error::UNINITIALIZED,
    )
}

fn context_of(devices: Vec<Arc<Device>>) -> Result<Arc<Context>> {
    Ok(Context::new(devices, Vec::new(), None)?)
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
        change(to, |properties| properties.flags = 0)
    }

    fn zeDriverGetExtensionProperties(driver: Handle, count: *mut u32, to: *mut Extension) {
        get::<Platform>(driver)?;
        let all = EXTENSIONS.iter().map(|extension| Extension { name: name(extension), version: 1 << 16 });
        enumerate(count, to, all)
    }

    fn zeDriverGetExtensionFunctionAddress(driver: Handle, wanted: *const c_char, to: *mut *const ()) {
        get::<Platform>(driver)?;
        let found = super::table::by_name(&text(wanted)?);
        put(to, found.ok_or(Error::INVALID_ARGUMENT)?)
    }

    fn zeDriverGetLastErrorDescription(driver: Handle, to: *mut *const c_char) {
        get::<Platform>(driver)?;
        put(to, c"".as_ptr())
    }

    fn zeContextCreate(driver: Handle, descriptor: *const Flags, to: *mut Handle) {
        let platform = get::<Platform>(driver)?;
        take(descriptor)?;
        give(to, context_of(platform.devices.clone()))
    }

    fn zeContextCreateEx(
        driver: Handle, descriptor: *const Flags, count: u32, devices: *const Handle, to: *mut Handle,
    ) {
        let platform = get::<Platform>(driver)?;
        take(descriptor)?;
        let named = get_all::<Device>(devices, count)?;
        give(to, context_of(if named.is_empty() { platform.devices.clone() } else { named }))
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

/// `zeDriverGetDefaultContext`: returns the context, or null.
#[allow(non_snake_case, reason = "Level Zero's name")]
pub(super) unsafe extern "C" fn zeDriverGetDefaultContext(driver: Handle) -> Handle {
    static CONTEXT: OnceLock<Option<Arc<Context>>> = OnceLock::new();
    let mut found = std::ptr::null_mut();
    super::call("zeDriverGetDefaultContext", || {
        let platform = get::<Platform>(driver)?;
        let context = CONTEXT.get_or_init(|| {
            let made = context_of(platform.devices.clone()).ok()?;
            export(&made);
            Some(made)
        });
        let context = context.as_ref().ok_or(Error::OUT_OF_HOST_MEMORY)?;
        found = pointer(context.handle().get());
        Ok(())
    });
    found
}
