//! Kernels.

use super::types::{Flags, KernelDescriptor, KernelProperties, Number};
use super::{Handle, answer, api, chain, change, destroy, get, give, put, take, text};
use crate::error::{Error, Result, ensure};
use crate::objects::kernel::Kernel;
use crate::objects::module::Module;
use opencl_sys as cl;
use std::ffi::c_void;
use visakit_driver::kernel::{Arg, Takes};
use visakit_driver::memory::Mem;
use visakit_driver::sampler::Sampler;

// Kinds of structures in chains.
const PREFERRED_MULTIPLE: u32 = 0x21;
const LARGEST_GROUP: u32 = 0x1_0013;

/// A handle that an argument holds.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn handle(size: usize, value: *const c_void) -> Result<Handle> {
    ensure(
        size == size_of::<Handle>(),
        Error::INVALID_KERNEL_ARGUMENT_SIZE,
    )?;
    // SAFETY: the caller's promise: as many bytes as were said.
    unsafe { take(value.cast::<Handle>()) }
}

/// An argument as the host gives it.
///
/// # Safety
/// `value` is null, or has this many bytes.
pub(super) unsafe fn argument(takes: Takes, size: usize, value: *const c_void) -> Result<Arg> {
    // SAFETY: the caller's promise.
    unsafe {
        Ok(match takes {
            Takes::Local => Arg::Local(size),
            Takes::Buffer if value.is_null() => Arg::Mem(None),
            Takes::Buffer => Arg::Pointer(handle(size, value)?.addr()),
            Takes::Image => Arg::Mem(Some(get::<Mem>(handle(size, value)?)?)),
            Takes::Sampler => Arg::Sampler(get::<Sampler>(handle(size, value)?)?),
            Takes::Value(bytes) if value.is_null() => Arg::Value(vec![0; bytes]),
            Takes::Value(_) => {
                Arg::Value(std::slice::from_raw_parts(value.cast::<u8>(), size).to_vec())
            }
        })
    }
}

api! {
    fn zeKernelCreate(module: Handle, descriptor: *const KernelDescriptor, to: *mut Handle) {
        let module = get::<Module>(module)?;
        let name = text(take(descriptor)?.name)?;
        give(to, Kernel::new(&module, &name))
    }

    fn zeKernelDestroy(kernel: Handle) {
        destroy::<Kernel>(kernel)
    }

    fn zeKernelSetGroupSize(kernel: Handle, x: u32, y: u32, z: u32) {
        get::<Kernel>(kernel)?.set_group([x, y, z])
    }

    fn zeKernelSetGlobalOffsetExp(kernel: Handle, x: u32, y: u32, z: u32) {
        get::<Kernel>(kernel)?.set_offset([x, y, z]);
        Ok(())
    }

    fn zeKernelSuggestGroupSize(
        kernel: Handle, x: u32, y: u32, z: u32, to_x: *mut u32, to_y: *mut u32, to_z: *mut u32,
    ) {
        let [group_x, group_y, group_z] = get::<Kernel>(kernel)?.suggested_group([x, y, z])?;
        put(to_x, group_x)?;
        put(to_y, group_y)?;
        put(to_z, group_z)
    }

    fn zeKernelSuggestMaxCooperativeGroupCount(kernel: Handle, to: *mut u32) {
        put(to, get::<Kernel>(kernel)?.most_groups()?)
    }

    fn zeKernelSetArgumentValue(kernel: Handle, index: u32, size: usize, value: *const c_void) {
        let kernel = get::<Kernel>(kernel)?;
        kernel.set(index, argument(kernel.takes(index)?, size, value)?)
    }

    fn zeKernelSetIndirectAccess(kernel: Handle, flags: u32) {
        let kernel = get::<Kernel>(kernel)?;
        ensure(flags & !7 == 0, Error::INVALID_ENUMERATION)?;
        kernel.set_indirect(flags);
        Ok(())
    }

    fn zeKernelGetIndirectAccess(kernel: Handle, to: *mut u32) {
        put(to, get::<Kernel>(kernel)?.indirect())
    }

    fn zeKernelGetSourceAttributes(kernel: Handle, size: *mut u32, to: *mut *mut u8) {
        let kernel = get::<Kernel>(kernel)?;
        let text = kernel.model.info(cl::CL_KERNEL_ATTRIBUTES)?;
        let bytes = u32::try_from(text.len()).unwrap_or(0);
        if !to.is_null() {
            let place = take(to)?;
            let room = take(size)?;
            ensure(!place.is_null(), Error::INVALID_NULL_POINTER)?;
            ensure(room >= bytes, Error::INVALID_SIZE)?;
            std::ptr::copy_nonoverlapping(text.as_ptr(), place, text.len());
        }
        put(size, bytes)
    }

    fn zeKernelSetCacheConfig(kernel: Handle, flags: u32) {
        get::<Kernel>(kernel)?;
        ensure(flags & !3 == 0, Error::INVALID_ENUMERATION)
    }

    fn zeKernelSchedulingHintExp(kernel: Handle, hint: *const Flags) {
        get::<Kernel>(kernel)?;
        take(hint).map(drop)
    }

    fn zeKernelGetProperties(kernel: Handle, to: *mut KernelProperties) {
        let facts = get::<Kernel>(kernel)?.facts()?;
        change(to, |properties| {
            properties.arguments = facts.arguments;
            properties.required = facts.required_group;
            properties.required_subgroups = 0;
            properties.required_subgroup = facts.required_subgroup;
            properties.subgroup = facts.subgroup;
            properties.subgroups = facts.subgroups;
            [properties.local, properties.private, properties.spilled] = facts.memory;
            properties.kernel = [0; 16];
            properties.module = [0; 16];
        })?;
        for (kind, place) in chain(take(to)?.next) {
            let number = match kind {
                PREFERRED_MULTIPLE => facts.subgroup,
                LARGEST_GROUP => facts.group,
                _ => continue,
            };
            change(place.cast::<Number>(), |p| p.number = number)?;
        }
        Ok(())
    }

    fn zeKernelGetName(kernel: Handle, size: *mut usize, to: *mut u8) {
        let name = get::<Kernel>(kernel)?.model.info(cl::CL_KERNEL_FUNCTION_NAME)?;
        answer(&name, size, to)
    }
}
