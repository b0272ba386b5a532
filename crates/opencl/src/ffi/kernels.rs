//! Kernels and launches.

use super::memory::of;
use super::{Pointer, Wait, answer, api, enqueue, get, list, make, put, text};
use opencl_sys as cl;
use std::ffi::c_char;
use std::sync::Arc;
use visakit_driver::device::Device;
use visakit_driver::error::{Code, Result, ensure, fail};
use visakit_driver::handle::{export, release, retain};
use visakit_driver::kernel::{Arg, Kernel, Takes};
use visakit_driver::launch::{Grid, command, most_groups, suggested_local};
use visakit_driver::memory::Mem;
use visakit_driver::program::Program;
use visakit_driver::queue::Queue;
use visakit_driver::sampler::Sampler;

// `cl_intel_concurrent_dispatch`: whether groups of a kernel wait for each other. It is not announced, as compilers do not
// offer its functions of OpenCL C.
const DISPATCH_TYPE: u32 = 0x4257;
const CONCURRENT: u32 = 1;

/// A function of the host as a command.
type Native = Option<unsafe extern "C" fn(Pointer)>;

fn device(handle: Pointer) -> Result<Option<Arc<Device>>> {
    if handle.is_null() {
        Ok(None)
    } else {
        get(handle).map(Some)
    }
}

/// A grid as an entry point is given it.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn grid(
    dimensions: u32,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
) -> Result<Grid> {
    ensure((1..=3).contains(&dimensions), cl::CL_INVALID_WORK_DIMENSION)?;
    let count = usize::try_from(dimensions).unwrap_or(0);
    // Since OpenCL 2.1 nothing is to be done without a size. SAFETY: the caller's promise: null, or
    // a number for each dimension.
    unsafe {
        Ok(Grid {
            global: if global.is_null() {
                vec![0; count]
            } else {
                list(global, count)
            },
            local: (!local.is_null()).then(|| list(local, count)),
            offset: list(offset, count),
        })
    }
}

/// Sets an argument from what the caller has at a place.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn set(kernel: &Kernel, index: u32, size: usize, value: Pointer) -> Result<()> {
    // SAFETY: the caller's promise: null, or a value of that size.
    unsafe {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let handle = size_of::<Pointer>();
        let takes = kernel.takes(index)?;
        let named = || -> Pointer {
            if value.is_null() {
                std::ptr::null_mut()
            } else {
                value.cast::<Pointer>().read_unaligned()
            }
        };
        let arg = match takes {
            Takes::Local => {
                ensure(value.is_null(), cl::CL_INVALID_ARG_VALUE)?;
                ensure(size > 0, cl::CL_INVALID_ARG_SIZE)?;
                Arg::Local(size)
            }
            Takes::Buffer => {
                ensure(size == handle, cl::CL_INVALID_ARG_SIZE)?;
                let mem = named();
                if mem.is_null() {
                    Arg::Mem(None)
                } else {
                    Arg::Mem(Some(
                        of(&kernel.program.context, mem)
                            .map_err(|_| Code(cl::CL_INVALID_MEM_OBJECT))?,
                    ))
                }
            }
            Takes::Image => {
                ensure(size == handle, cl::CL_INVALID_ARG_SIZE)?;
                ensure(!value.is_null(), cl::CL_INVALID_ARG_VALUE)?;
                Arg::Mem(Some(get::<Mem>(named())?))
            }
            Takes::Sampler => {
                ensure(size == handle, cl::CL_INVALID_ARG_SIZE)?;
                Arg::Sampler(get::<Sampler>(named())?)
            }
            Takes::Value(_) => {
                ensure(!value.is_null(), cl::CL_INVALID_ARG_VALUE)?;
                ensure(size > 0 && size <= 1 << 16, cl::CL_INVALID_ARG_SIZE)?;
                Arg::Value(list(value.cast::<u8>().cast_const(), size))
            }
        };
        kernel.set(index, arg)
    }
}

/// Says what memory a kernel reaches besides its arguments.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
pub(super) unsafe fn inform(kernel: &Kernel, name: u32, size: usize, value: Pointer) -> Result<()> {
    let list = [
        cl::CL_KERNEL_EXEC_INFO_SVM_PTRS,
        cl::CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL,
    ];
    if value.is_null() && size == 0 && list.contains(&name) {
        kernel.reach_more(false);
        return Ok(());
    }
    ensure(!value.is_null() && size > 0, cl::CL_INVALID_VALUE)?;
    match name {
        // Kernels reach all shared memory of their context.
        cl::CL_KERNEL_EXEC_INFO_SVM_PTRS
        | cl::CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL
        | cl::CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL
        | cl::CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL
        | cl::CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL => {
            kernel.reach_more(true);
            Ok(())
        }
        DISPATCH_TYPE => {
            ensure(size == size_of::<u32>(), cl::CL_INVALID_VALUE)?;
            // SAFETY: the caller's promise: a value of that size.
            let kind = unsafe { value.cast::<u32>().read_unaligned() };
            ensure(kind <= CONCURRENT, cl::CL_INVALID_VALUE)?;
            kernel.set_together(kind == CONCURRENT);
            Ok(())
        }
        cl::CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM => {
            // SAFETY: the caller's promise: a value of that size.
            let wanted =
                size == size_of::<u32>() && unsafe { value.cast::<u32>().read_unaligned() } != 0;
            ensure(!wanted, cl::CL_INVALID_OPERATION)
        }
        _ => fail(cl::CL_INVALID_VALUE),
    }
}

make! {
    fn clCreateKernel(program: Pointer, name: *const c_char) {
        let program = get::<Program>(program)?;
        ensure(!name.is_null(), cl::CL_INVALID_VALUE)?;
        Ok(export(&Kernel::new(&program, &text(name))?))
    }

    fn clCloneKernel(kernel: Pointer) {
        Ok(export(&get::<Kernel>(kernel)?.copy()))
    }
}

api! {
    fn clCreateKernelsInProgram(program: Pointer, room: u32, to: *mut Pointer, count: *mut u32) {
        let program = get::<Program>(program)?;
        let binary = program.any_binary()?;
        let names = binary.names();
        if !to.is_null() {
            ensure(usize::try_from(room).unwrap_or(0) >= names.len(), cl::CL_INVALID_VALUE)?;
            for (place, name) in names.iter().enumerate() {
                let kernel = Kernel::new(&program, name)?;
                put(to.add(place), std::ptr::with_exposed_provenance_mut(export(&kernel)));
            }
        }
        put(count, u32::try_from(names.len()).unwrap_or(0));
        Ok(())
    }

    fn clRetainKernel(kernel: Pointer) {
        retain::<Kernel>(kernel.addr())
    }

    fn clReleaseKernel(kernel: Pointer) {
        release::<Kernel>(kernel.addr())
    }

    fn clSetKernelArg(kernel: Pointer, index: u32, size: usize, value: Pointer) {
        set(&*get::<Kernel>(kernel)?, index, size, value)
    }

    fn clSetKernelArgSVMPointer(kernel: Pointer, index: u32, value: Pointer) {
        let kernel = get::<Kernel>(kernel)?;
        kernel.set(usize::try_from(index).unwrap_or(usize::MAX), Arg::Pointer(value.addr()))
    }

    fn clSetKernelExecInfo(kernel: Pointer, name: u32, size: usize, value: Pointer) {
        inform(&*get::<Kernel>(kernel)?, name, size, value)
    }

    fn clGetKernelInfo(kernel: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&get::<Kernel>(kernel)?.info(name)?, room, to, size)
    }

    fn clGetKernelArgInfo(kernel: Pointer, index: u32, name: u32, room: usize, to: Pointer, size: *mut usize) {
        let kernel = get::<Kernel>(kernel)?;
        answer(&kernel.arg_info(usize::try_from(index).unwrap_or(usize::MAX), name)?, room, to, size)
    }

    fn clGetKernelWorkGroupInfo(
        kernel: Pointer, on: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize,
    ) {
        answer(&get::<Kernel>(kernel)?.group_info(device(on)?.as_ref(), name)?, room, to, size)
    }

    fn clGetKernelSubGroupInfo(
        kernel: Pointer, on: Pointer, name: u32, given: usize, input: *const usize, room: usize, to: Pointer,
        size: *mut usize,
    ) {
        let kernel = get::<Kernel>(kernel)?;
        let input = list(input, given / size_of::<usize>());
        answer(&kernel.subgroup_info(device(on)?.as_ref(), name, &input, room)?, room, to, size)
    }

    fn clGetKernelSuggestedLocalWorkSizeKHR(
        queue: Pointer, kernel: Pointer, dimensions: u32, offset: *const usize, global: *const usize, to: *mut usize,
    ) {
        let (queue, kernel) = (get::<Queue>(queue)?, get::<Kernel>(kernel)?);
        ensure(!global.is_null(), cl::CL_INVALID_GLOBAL_WORK_SIZE)?;
        ensure(!to.is_null(), cl::CL_INVALID_VALUE)?;
        let grid = grid(dimensions, offset, global, std::ptr::null())?;
        kernel.arguments()?;
        let info = kernel.metadata(kernel.binary(&queue.device)?)?;
        ensure(!grid.global.contains(&0), cl::CL_INVALID_GLOBAL_WORK_SIZE)?;
        for (place, size) in suggested_local(info, &grid.global)?.into_iter().enumerate() {
            put(to.add(place), size);
        }
        Ok(())
    }

    fn clGetKernelMaxConcurrentWorkGroupCountINTEL(
        queue: Pointer, kernel: Pointer, dimensions: u32, _offset: *const usize, local: *const usize, to: *mut usize,
    ) {
        let (queue, kernel) = (get::<Queue>(queue)?, get::<Kernel>(kernel)?);
        ensure((1..=3).contains(&dimensions), cl::CL_INVALID_WORK_DIMENSION)?;
        ensure(!local.is_null(), cl::CL_INVALID_WORK_GROUP_SIZE)?;
        ensure(!to.is_null(), cl::CL_INVALID_VALUE)?;
        let mut sizes = [1; 3];
        for (to, from) in sizes.iter_mut().zip(list(local, usize::try_from(dimensions).unwrap_or(0))) {
            *to = u32::try_from(from).map_err(|_| Code(cl::CL_INVALID_WORK_GROUP_SIZE))?;
        }
        ensure(!sizes.contains(&0), cl::CL_INVALID_WORK_GROUP_SIZE)?;
        let most = most_groups(&queue.device, &kernel, &kernel.arguments()?, sizes)?;
        put(to, usize::try_from(most).unwrap_or(usize::MAX));
        Ok(())
    }

    fn clEnqueueNDRangeKernel(
        queue: Pointer, kernel: Pointer, dimensions: u32, offset: *const usize, global: *const usize,
        local: *const usize, count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let (queue, kernel) = (get::<Queue>(queue)?, get::<Kernel>(kernel)?);
        ensure(Arc::ptr_eq(&queue.context, &kernel.program.context), cl::CL_INVALID_CONTEXT)?;
        let grid = grid(dimensions, offset, global, local)?;
        let launch = command(&queue, &kernel, &grid)?;
        enqueue(&queue, cl::CL_COMMAND_NDRANGE_KERNEL, Wait(count, from, event), false, Some(launch))
    }

    fn clEnqueueTask(queue: Pointer, kernel: Pointer, count: u32, from: *const Pointer, event: *mut Pointer) {
        let (queue, kernel) = (get::<Queue>(queue)?, get::<Kernel>(kernel)?);
        ensure(Arc::ptr_eq(&queue.context, &kernel.program.context), cl::CL_INVALID_CONTEXT)?;
        let grid = Grid { global: vec![1], local: Some(vec![1]), offset: Vec::new() };
        let launch = command(&queue, &kernel, &grid)?;
        enqueue(&queue, cl::CL_COMMAND_TASK, Wait(count, from, event), false, Some(launch))
    }

    fn clEnqueueNativeKernel(
        queue: Pointer, _function: Native, _args: Pointer, _size: usize, _mems: u32, _list: *const Pointer,
        _places: *const Pointer, _count: u32, _from: *const Pointer, _event: *mut Pointer,
    ) {
        get::<Queue>(queue)?;
        fail(cl::CL_INVALID_OPERATION)
    }
}
