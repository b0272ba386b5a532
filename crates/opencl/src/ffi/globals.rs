//! Variables and functions of programs by their names, and queues' access to the former
//! (`cl_intel_global_variable_access`; the functions for addresses have no extension, but Intel's driver has them).

use super::svm::copying;
use super::{Pointer, Wait, api, enqueue, get, put, text};
use opencl_sys as cl;
use std::ffi::c_char;
use std::sync::Arc;
use visakit_driver::binary::Binary;
use visakit_driver::device::Device;
use visakit_driver::error::{Code, Result, ensure};
use visakit_driver::program::Program;
use visakit_driver::queue::Queue;

/// `CL_COMMAND_READ_GLOBAL_VARIABLE_INTEL` and `CL_COMMAND_WRITE_GLOBAL_VARIABLE_INTEL`.
const READ: u32 = 0x418e;
const WRITE: u32 = 0x418f;

/// What a program was built to for a device.
fn built(program: &Program, device: &Arc<Device>) -> Result<Arc<Binary>> {
    program
        .binary(device)
        .ok_or(Code(cl::CL_INVALID_PROGRAM_EXECUTABLE))
}

/// The part of a variable that a command reads or writes.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn part(
    queue: &Queue,
    program: Pointer,
    name: *const c_char,
    (size, offset): (usize, usize),
) -> Result<Pointer> {
    ensure(!name.is_null(), cl::CL_INVALID_VALUE)?;
    let binary = built(&*get::<Program>(program)?, &queue.device)?;
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) };
    let address = binary.part_of_variable(&name, offset, size)?;
    Ok(std::ptr::with_exposed_provenance_mut(address))
}

api! {
    fn clGetDeviceGlobalVariablePointerINTEL(
        device: Pointer, program: Pointer, name: *const c_char, size: *mut usize, to: *mut Pointer,
    ) {
        let program = get::<Program>(program)?;
        let device = get::<Device>(device)?;
        ensure(!name.is_null() && !to.is_null(), cl::CL_INVALID_ARG_VALUE)?;
        let variable = built(&program, &device)?.variable(&text(name));
        let (address, bytes) = variable.ok_or(Code(cl::CL_INVALID_ARG_VALUE))?;
        put(size, usize::try_from(bytes).unwrap_or(0));
        put(to, std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0)));
        Ok(())
    }

    fn clGetDeviceFunctionPointerINTEL(device: Pointer, program: Pointer, name: *const c_char, to: *mut u64) {
        let program = get::<Program>(program)?;
        let device = get::<Device>(device)?;
        ensure(!name.is_null() && !to.is_null(), cl::CL_INVALID_ARG_VALUE)?;
        let address = built(&program, &device)?.function(&text(name))?;
        put(to, address.ok_or(Code(cl::CL_INVALID_ARG_VALUE))?);
        Ok(())
    }

    fn clEnqueueReadGlobalVariableINTEL(
        queue: Pointer, program: Pointer, name: *const c_char, blocking: u32, size: usize, offset: usize, to: Pointer,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        let work = copying(&queue.context, to, part(&queue, program, name, (size, offset))?, size)?;
        enqueue(&queue, READ, Wait(count, from, event), blocking != 0, Some(work))
    }

    fn clEnqueueWriteGlobalVariableINTEL(
        queue: Pointer, program: Pointer, name: *const c_char, blocking: u32, size: usize, offset: usize, source: Pointer,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        let work = copying(&queue.context, part(&queue, program, name, (size, offset))?, source, size)?;
        enqueue(&queue, WRITE, Wait(count, from, event), blocking != 0, Some(work))
    }
}
