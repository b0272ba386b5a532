//! Platforms, devices, contexts.

use super::table::DISPATCH;
use super::{Pointer, User, answer, api, get, get_all, list, make, properties, put};
use opencl_sys as cl;
use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;
use visakit_driver::context::Context;
use visakit_driver::device::{self, Device, Platform};
use visakit_driver::error::{ensure, fail};
use visakit_driver::event::now;
use visakit_driver::handle::{Object, dispatch, export, release, retain};

/// Called with faults.
type Notify = Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, Pointer)>;
/// Is called when a context ends.
type AtEnd = Option<unsafe extern "C" fn(Pointer, Pointer)>;

/// The platform, whose handles and all others lead the loader to the entry points.
fn platform() -> &'static Arc<Platform> {
    dispatch((&raw const DISPATCH).expose_provenance());
    device::platform()
}

fn pointer(handle: usize) -> Pointer {
    std::ptr::with_exposed_provenance_mut(handle)
}

/// Whether a device has one of the requested types.
fn is_of(kinds: u64) -> bool {
    kinds & (cl::CL_DEVICE_TYPE_GPU | cl::CL_DEVICE_TYPE_DEFAULT) != 0
}

fn check_kinds(kinds: u64) -> visakit_driver::error::Result<()> {
    let known = cl::CL_DEVICE_TYPE_GPU
        | cl::CL_DEVICE_TYPE_DEFAULT
        | cl::CL_DEVICE_TYPE_CPU
        | cl::CL_DEVICE_TYPE_ACCELERATOR
        | cl::CL_DEVICE_TYPE_CUSTOM;
    ensure(
        kinds != 0 && (kinds == cl::CL_DEVICE_TYPE_ALL || kinds & !known == 0),
        cl::CL_INVALID_DEVICE_TYPE,
    )
}

fn the_platform(handle: Pointer) -> visakit_driver::error::Result<Arc<Platform>> {
    if handle.is_null() {
        return Ok(Arc::clone(platform()));
    }
    get(handle)
}

fn notifier(notify: Notify, user: Pointer) -> Option<visakit_driver::context::Notifier> {
    let notify = notify?;
    let user = User(user);
    Some(Box::new(move |message: &str| {
        let message = CString::new(message).unwrap_or_default();
        // SAFETY: the caller's function, with the caller's data.
        unsafe { notify(message.as_ptr(), std::ptr::null(), 0, user.get()) };
    }))
}

api! {
    fn clGetPlatformIDs(room: u32, to: *mut Pointer, count: *mut u32) {
        ensure(!(to.is_null() && count.is_null()) && (room > 0 || to.is_null()), cl::CL_INVALID_VALUE)?;
        ensure(!platform().devices.is_empty(), cl::CL_PLATFORM_NOT_FOUND_KHR)?;
        put(to, pointer(platform().handle().get()));
        put(count, 1);
        Ok(())
    }

    fn clGetPlatformInfo(from: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&the_platform(from)?.info(name)?, room, to, size)
    }

    fn clGetDeviceIDs(from: Pointer, kinds: u64, room: u32, to: *mut Pointer, count: *mut u32) {
        let platform = the_platform(from)?;
        check_kinds(kinds)?;
        ensure(!(to.is_null() && count.is_null()) && (room > 0 || to.is_null()), cl::CL_INVALID_VALUE)?;
        ensure(is_of(kinds), cl::CL_DEVICE_NOT_FOUND)?;
        let only = kinds == cl::CL_DEVICE_TYPE_DEFAULT;
        let devices = platform.devices.iter().take(if only { 1 } else { usize::MAX });
        let devices: Vec<_> = devices.map(|d| pointer(d.handle().get())).collect();
        ensure(!devices.is_empty(), cl::CL_DEVICE_NOT_FOUND)?;
        if !to.is_null() {
            let room = usize::try_from(room).unwrap_or(0);
            for (place, device) in devices.iter().take(room).enumerate() {
                put(to.add(place), *device);
            }
        }
        put(count, u32::try_from(devices.len()).unwrap_or(0));
        Ok(())
    }

    fn clGetDeviceInfo(device: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&get::<Device>(device)?.info(name)?, room, to, size)
    }

    fn clCreateSubDevices(device: Pointer, properties: *const isize, _room: u32, _to: *mut Pointer, _count: *mut u32) {
        get::<Device>(device)?;
        let _ = properties;
        fail(cl::CL_INVALID_VALUE)
    }

    fn clRetainDevice(device: Pointer) {
        get::<Device>(device).map(drop)
    }

    fn clReleaseDevice(device: Pointer) {
        get::<Device>(device).map(drop)
    }

    fn clRetainContext(context: Pointer) {
        retain::<Context>(context.addr())
    }

    fn clReleaseContext(context: Pointer) {
        release::<Context>(context.addr())
    }

    fn clGetContextInfo(context: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&get::<Context>(context)?.info(name)?, room, to, size)
    }

    fn clSetContextDestructorCallback(context: Pointer, at_end: AtEnd, user: Pointer) {
        let found = get::<Context>(context)?;
        let Some(at_end) = at_end else {
            return fail(cl::CL_INVALID_VALUE);
        };
        let (context, user) = (User(context), User(user));
        found.at_end(Box::new(move || at_end(context.get(), user.get())));
        Ok(())
    }

    fn clGetDeviceAndHostTimer(device: Pointer, on_device: *mut u64, on_host: *mut u64) {
        let device = get::<Device>(device)?;
        ensure(!on_device.is_null() && !on_host.is_null(), cl::CL_INVALID_VALUE)?;
        put(on_device, device.clock());
        put(on_host, now());
        Ok(())
    }

    fn clGetHostTimer(device: Pointer, on_host: *mut u64) {
        get::<Device>(device)?;
        ensure(!on_host.is_null(), cl::CL_INVALID_VALUE)?;
        put(on_host, now());
        Ok(())
    }

    fn clUnloadCompiler() {
        Ok(())
    }

    fn clUnloadPlatformCompiler(from: Pointer) {
        get::<Platform>(from).map(drop)
    }
}

make! {
    fn clCreateContext(
        with: *const isize, count: u32, devices: *const Pointer, notify: Notify, user: Pointer,
    ) {
        ensure(notify.is_some() || user.is_null(), cl::CL_INVALID_VALUE)?;
        ensure(count > 0 && !devices.is_null(), cl::CL_INVALID_VALUE)?;
        let devices = get_all::<Device>(devices, count)?;
        let context = Context::new(devices, properties(with), notifier(notify, user))?;
        Ok(export(&context))
    }

    fn clCreateContextFromType(with: *const isize, kinds: u64, notify: Notify, user: Pointer) {
        ensure(notify.is_some() || user.is_null(), cl::CL_INVALID_VALUE)?;
        check_kinds(kinds)?;
        ensure(is_of(kinds), cl::CL_DEVICE_NOT_FOUND)?;
        let devices = platform().devices.clone();
        let context = Context::new(devices, properties(with), notifier(notify, user))?;
        Ok(export(&context))
    }
}

/// Devices of an array, or none.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn devices(
    count: u32,
    from: *const Pointer,
) -> visakit_driver::error::Result<Vec<Arc<Device>>> {
    ensure((count == 0) == from.is_null(), cl::CL_INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    let handles = unsafe { list(from, usize::try_from(count).unwrap_or(0)) };
    handles.into_iter().map(get).collect()
}
