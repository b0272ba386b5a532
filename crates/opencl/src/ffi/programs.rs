//! Programs.

use super::context::devices;
use super::{Pointer, User, answer, api, get, get_all, list, make, put, text};
use opencl_sys as cl;
use std::ffi::{CStr, c_char};
use std::sync::Arc;
use visakit_driver::compiler::Input;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
use visakit_driver::error::{Code, Result, ensure, fail};
use visakit_driver::handle::{export, release, retain};
use visakit_driver::program::Program;

/// Is called when a program was built, or ends.
type Notify = Option<unsafe extern "C" fn(Pointer, Pointer)>;

/// Calls a callback when building has ended.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn notified(
    result: Result<()>,
    program: Pointer,
    notify: Notify,
    user: Pointer,
) -> Result<()> {
    if let Some(notify) = notify {
        // SAFETY: the caller's function, with the caller's data.
        unsafe { notify(program, user) };
    }
    result
}

make! {
    fn clCreateProgramWithSource(
        context: Pointer, count: u32, strings: *const *const c_char, lengths: *const usize,
    ) {
        let context = get::<Context>(context)?;
        ensure(count > 0 && !strings.is_null(), cl::CL_INVALID_VALUE)?;
        let count = usize::try_from(count).unwrap_or(0);
        let strings = list(strings, count);
        ensure(strings.iter().all(|s| !s.is_null()), cl::CL_INVALID_VALUE)?;
        let lengths = list(lengths, count);
        let mut source = Vec::new();
        for (index, string) in strings.into_iter().enumerate() {
            match lengths.get(index) {
                Some(length) if *length > 0 => source.extend(list(string.cast::<u8>(), *length)),
                _ => source.extend(CStr::from_ptr(string).to_bytes()),
            }
        }
        // Some hosts count the zero at the end.
        while source.last() == Some(&0) {
            source.pop();
        }
        Ok(export(&Program::from_input(&context, Input::Text(source))))
    }

    fn clCreateProgramWithIL(context: Pointer, code: Pointer, length: usize) {
        let context = get::<Context>(context)?;
        ensure(!code.is_null() && length > 0, cl::CL_INVALID_VALUE)?;
        let code = list(code.cast::<u8>().cast_const(), length);
        let magic = code.first_chunk::<4>();
        let spirv = magic.is_some_and(|m| [0x0723_0203, 0x0302_2307].contains(&u32::from_le_bytes(*m)));
        ensure(spirv, cl::CL_INVALID_VALUE)?;
        Ok(export(&Program::from_input(&context, Input::Spirv(code))))
    }

    fn clCreateProgramWithBinary(
        context: Pointer, count: u32, on: *const Pointer, lengths: *const usize, binaries: *const *const u8,
        status: *mut i32,
    ) {
        let context = get::<Context>(context)?;
        let on = get_all::<Device>(on, count)?;
        ensure(!on.is_empty() && !lengths.is_null() && !binaries.is_null(), cl::CL_INVALID_VALUE)?;
        ensure(on.iter().all(|d| context.has(d)), cl::CL_INVALID_DEVICE)?;
        let (lengths, binaries) = (list(lengths, on.len()), list(binaries, on.len()));
        let mut all = Vec::new();
        let mut missing = false;
        for (index, (device, (length, binary))) in on.into_iter().zip(lengths.into_iter().zip(binaries)).enumerate() {
            let good = length > 0 && !binary.is_null();
            if !status.is_null() {
                put(status.add(index), if good { cl::CL_SUCCESS } else { cl::CL_INVALID_VALUE });
            }
            missing |= !good;
            all.push((device, list(binary, length)));
        }
        ensure(!missing, cl::CL_INVALID_VALUE)?;
        let (program, good) = Program::from_binaries(&context, all);
        for (index, good) in good.iter().enumerate() {
            if !status.is_null() {
                put(status.add(index), if *good { cl::CL_SUCCESS } else { cl::CL_INVALID_BINARY });
            }
        }
        ensure(good.iter().all(|g| *g), cl::CL_INVALID_BINARY)?;
        Ok(export(&program))
    }

    fn clCreateProgramWithBuiltInKernels(context: Pointer, count: u32, on: *const Pointer, _names: *const c_char) {
        get::<Context>(context)?;
        get_all::<Device>(on, count)?;
        fail(cl::CL_INVALID_VALUE)
    }
}

api! {
    fn clRetainProgram(program: Pointer) {
        retain::<Program>(program.addr())
    }

    fn clReleaseProgram(program: Pointer) {
        release::<Program>(program.addr())
    }

    fn clBuildProgram(
        program: Pointer, count: u32, on: *const Pointer, options: *const c_char, notify: Notify, user: Pointer,
    ) {
        let found = get::<Program>(program)?;
        ensure(notify.is_some() || user.is_null(), cl::CL_INVALID_VALUE)?;
        let result = found.build(&devices(count, on)?, &text(options));
        notified(result, program, notify, user)
    }

    fn clCompileProgram(
        program: Pointer, count: u32, on: *const Pointer, options: *const c_char, headers: u32,
        with: *const Pointer, names: *const *const c_char, notify: Notify, user: Pointer,
    ) {
        let found = get::<Program>(program)?;
        ensure(notify.is_some() || user.is_null(), cl::CL_INVALID_VALUE)?;
        ensure(with.is_null() == names.is_null(), cl::CL_INVALID_VALUE)?;
        let with = get_all::<Program>(with, headers)?;
        let names = list(names, with.len());
        let headers: Vec<_> = names.into_iter().map(|n| text(n)).zip(with).collect();
        let result = found.compile(&devices(count, on)?, &text(options), &headers);
        notified(result, program, notify, user)
    }

    fn clGetProgramInfo(program: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        let program = get::<Program>(program)?;
        if name != cl::CL_PROGRAM_BINARIES {
            return answer(&program.info(name)?, room, to, size);
        }
        // An array of pointers, which are filled.
        let binaries = program.binaries();
        let bytes = size_of::<Pointer>() * binaries.len();
        if !to.is_null() {
            ensure(room >= bytes, cl::CL_INVALID_VALUE)?;
            let places = list(to.cast::<*mut u8>().cast_const(), binaries.len());
            for (place, binary) in places.into_iter().zip(&binaries) {
                if !place.is_null() {
                    std::ptr::copy_nonoverlapping(binary.as_ptr(), place, binary.len());
                }
            }
        }
        put(size, bytes);
        Ok(())
    }

    fn clGetProgramBuildInfo(
        program: Pointer, device: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize,
    ) {
        let program = get::<Program>(program)?;
        answer(&program.build_info(&get(device)?, name)?, room, to, size)
    }

    fn clSetProgramReleaseCallback(program: Pointer, _notify: Notify, _user: Pointer) {
        get::<Program>(program)?;
        fail(cl::CL_INVALID_OPERATION)
    }

    fn clSetProgramSpecializationConstant(program: Pointer, id: u32, size: usize, value: Pointer) {
        let program = get::<Program>(program)?;
        ensure(!value.is_null() && size <= 8, cl::CL_INVALID_VALUE)?;
        program.specialize(id, &list(value.cast::<u8>().cast_const(), size))
    }
}

/// The only entry point that returns a program together with an error.
#[allow(
    non_snake_case,
    clippy::too_many_arguments,
    reason = "OpenCL's names and signatures"
)]
/// Its function of that name.
/// # Safety
/// The pointers are those of the caller: null, or valid for what they are said to have.
pub(super) unsafe extern "C" fn clLinkProgram(
    context: Pointer,
    count: u32,
    on: *const Pointer,
    options: *const c_char,
    parts: u32,
    with: *const Pointer,
    notify: Notify,
    user: Pointer,
    error: *mut i32,
) -> Pointer {
    // SAFETY: what the specification requires of the caller; see the module.
    let result = super::call("clLinkProgram", || unsafe {
        let context = get::<Context>(context)?;
        ensure(notify.is_some() || user.is_null(), cl::CL_INVALID_VALUE)?;
        let with: Vec<Arc<Program>> = get_all(with, parts)?;
        let (linked, failed) =
            Program::link(&context, &devices(count, on)?, &text(options), &with)?;
        Ok((export(&linked), failed))
    });
    let (handle, code) = match result {
        Ok((handle, false)) => (handle, cl::CL_SUCCESS),
        Ok((handle, true)) => (handle, cl::CL_LINK_PROGRAM_FAILURE),
        Err(Code(code)) => (0, code),
    };
    let handle: Pointer = std::ptr::with_exposed_provenance_mut(handle);
    // SAFETY: null or a place for the code; the caller's function and data.
    unsafe {
        put(error, code);
        if let (Some(_), false) = (notify, handle.is_null()) {
            let _ = notified(Ok(()), handle, notify, User(user).get());
        }
    }
    handle
}
