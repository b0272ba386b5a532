//! Ranges of addresses, and memory to map into them.

use super::types::{PhysicalDescriptor, PhysicalProperties};
use super::{Handle, api, change, destroy, get, get_some, give, put, take};
use crate::error::{Error, Result, ensure};
use crate::objects::physical::Physical;
use std::ffi::c_void;
use std::sync::Arc;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
use visakit_driver::reservation::PAGE;

/// `ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST`.
const ON_HOST: u32 = 2;

/// The largest `ZE_MEMORY_ACCESS_ATTRIBUTE_…`
const LAST_ACCESS: u32 = 2;

fn whole(from: *const c_void, bytes: usize) -> Result<()> {
    ensure(!from.is_null(), Error::INVALID_NULL_POINTER)?;
    ensure(bytes > 0, Error::UNSUPPORTED_SIZE)?;
    let is_whole = from.addr().is_multiple_of(PAGE) && bytes.is_multiple_of(PAGE);
    ensure(is_whole, Error::UNSUPPORTED_ALIGNMENT)
}

fn allowed(access: u32) -> Result<()> {
    ensure(access <= LAST_ACCESS, Error::INVALID_ENUMERATION)
}

api! {
    // The wish for an address is one: no address is used twice.
    fn zeVirtualMemReserve(context: Handle, _at: *const c_void, size: usize, to: *mut *mut c_void) {
        let context = get::<Context>(context)?;
        ensure(!to.is_null(), Error::INVALID_NULL_POINTER)?;
        ensure(size > 0 && size.is_multiple_of(PAGE), Error::UNSUPPORTED_SIZE)?;
        put(to, super::pointer(context.reserve(size)?))
    }

    fn zeVirtualMemFree(context: Handle, from: *const c_void, size: usize) {
        let context = get::<Context>(context)?;
        whole(from, size)?;
        Ok(context.unreserve(from.addr(), size)?)
    }

    fn zeVirtualMemQueryPageSize(context: Handle, device: Handle, _size: usize, to: *mut usize) {
        get::<Context>(context)?;
        get::<Device>(device)?;
        put(to, PAGE)
    }

    fn zePhysicalMemCreate(
        context: Handle, device: Handle, descriptor: *const PhysicalDescriptor, to: *mut Handle,
    ) {
        let context = get::<Context>(context)?;
        let descriptor = take(descriptor)?;
        ensure(descriptor.flags <= ON_HOST, Error::INVALID_ENUMERATION)?;
        if descriptor.flags == ON_HOST {
            get_some::<Device>(device)?;
        } else {
            ensure(context.has(&get::<Device>(device)?), Error::INVALID_ARGUMENT)?;
        }
        ensure(!to.is_null(), Error::INVALID_NULL_POINTER)?;
        give(to, Physical::new(&context, descriptor.size))
    }

    fn zePhysicalMemDestroy(context: Handle, memory: Handle) {
        get::<Context>(context)?;
        destroy::<Physical>(memory)
    }

    fn zePhysicalMemGetProperties(context: Handle, memory: Handle, to: *mut PhysicalProperties) {
        get::<Context>(context)?;
        let memory = get::<Physical>(memory)?;
        change(to, |properties| {
            (properties.id, properties.size) = (memory.id, memory.pages.bytes() as u64);
        })
    }

    fn zeVirtualMemMap(
        context: Handle, at: *const c_void, size: usize, memory: Handle, offset: usize, access: u32,
    ) {
        let (context, memory) = (get::<Context>(context)?, get::<Physical>(memory)?);
        ensure(Arc::ptr_eq(&context, &memory.context), Error::INVALID_ARGUMENT)?;
        whole(at, size)?;
        ensure(offset.is_multiple_of(PAGE), Error::UNSUPPORTED_ALIGNMENT)?;
        allowed(access)?;
        Ok(context.map(at.addr(), size, (&memory.pages, offset), access)?)
    }

    fn zeVirtualMemUnmap(context: Handle, at: *const c_void, size: usize) {
        let context = get::<Context>(context)?;
        whole(at, size)?;
        Ok(context.unmap(at.addr(), size)?)
    }

    fn zeVirtualMemSetAccessAttribute(context: Handle, at: *const c_void, size: usize, access: u32) {
        let context = get::<Context>(context)?;
        whole(at, size)?;
        allowed(access)?;
        Ok(context.set_access(at.addr(), size, access)?)
    }

    fn zeVirtualMemGetAccessAttribute(
        context: Handle, at: *const c_void, size: usize, access: *mut u32, bytes: *mut usize,
    ) {
        let context = get::<Context>(context)?;
        whole(at, size)?;
        let (value, run) = context.access(at.addr(), size)?;
        put(access, value)?;
        put(bytes, run)
    }
}
