//! Modules.

use super::types::{Constants, Flags, ModuleDescriptor, ProgramDescriptor};
use super::{
    Handle, answer, api, chain, change, destroy, enumerate, get, get_all, give, list, put, take,
    text,
};
use crate::error::{Error, Result, ensure};
use crate::objects::module::{BuildLog, Linkage, Module, options, specialize};
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use visakit_driver::compiler::Input;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
use visakit_driver::program::Program;

/// `ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC`.
const PROGRAM: u32 = 0x2_0002;

/// A module's code: memory of the caller.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn code(from: *const u8, size: usize) -> Result<Vec<u8>> {
    ensure(!from.is_null(), Error::INVALID_NULL_POINTER)?;
    ensure(size > 0, Error::INVALID_SIZE)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(from, size) }.to_vec())
}

/// The options of a module, which may be none.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn flags(from: *const c_char) -> Result<String> {
    if from.is_null() {
        return Ok(String::new());
    }
    // SAFETY: the caller's promise.
    Ok(options(&unsafe { text(from) }?))
}

/// A program of SPIR-V with its constants.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn program(
    context: &Arc<Context>,
    code: Vec<u8>,
    constants: *const Constants,
) -> Result<Arc<Program>> {
    let program = Program::from_input(context, Input::Spirv(code));
    if constants.is_null() {
        return Ok(program);
    }
    // SAFETY: the caller's promise: as many values as constants, each of the size of its constant.
    unsafe {
        let constants = take(constants)?;
        let ids = list(constants.ids, constants.count)?;
        let values = list(constants.values, constants.count)?;
        ensure(
            values.iter().all(|v| !v.is_null()),
            Error::INVALID_NULL_POINTER,
        )?;
        specialize(&program, &ids, &|place, bytes| {
            let value = values.get(place).copied().unwrap_or(std::ptr::null());
            (0..bytes).map(|byte| value.add(byte).read()).collect()
        })?;
    }
    Ok(program)
}

/// The parts of a module of several.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn parts(
    context: &Arc<Context>,
    descriptor: *const ProgramDescriptor,
) -> Result<Vec<(Arc<Program>, String)>> {
    // SAFETY: the caller's promise.
    unsafe {
        let all = take(descriptor)?;
        let sizes = list(all.sizes, all.count)?;
        let codes = list(all.codes, all.count)?;
        let optional = |is_null: bool| if is_null { 0 } else { all.count };
        let options = list(all.options, optional(all.options.is_null()))?;
        let constants = list(all.constants, optional(all.constants.is_null()))?;
        ensure(!codes.is_empty(), Error::INVALID_SIZE)?;
        let mut parts = Vec::new();
        for (place, (from, size)) in codes.into_iter().zip(sizes).enumerate() {
            let constants = constants.get(place).copied().unwrap_or(std::ptr::null());
            let made = program(context, code(from, size)?, constants)?;
            parts.push((
                made,
                flags(options.get(place).copied().unwrap_or(std::ptr::null()))?,
            ));
        }
        Ok(parts)
    }
}

/// A module as a descriptor says it, and the compiler's log.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn built(
    context: &Arc<Context>,
    device: &Arc<Device>,
    descriptor: &ModuleDescriptor,
) -> Result<(Result<Arc<Module>>, String)> {
    let place = (context, device);
    // SAFETY: the caller's promise.
    unsafe {
        if descriptor.format == 1 {
            return Ok(Module::native(
                place,
                code(descriptor.code, descriptor.size)?,
            ));
        }
        ensure(descriptor.format == 0, Error::INVALID_ENUMERATION)?;
        let several = chain(descriptor.next)
            .into_iter()
            .find(|(kind, _)| *kind == PROGRAM);
        let parts = match several {
            Some((_, several)) => parts(context, several.cast())?,
            None => {
                let code = code(descriptor.code, descriptor.size)?;
                let made = program(context, code, descriptor.constants)?;
                vec![(made, flags(descriptor.options)?)]
            }
        };
        Ok(Module::build(place, &parts))
    }
}

api! {
    fn zeModuleCreate(
        context: Handle, device: Handle, descriptor: *const ModuleDescriptor, to: *mut Handle, log: *mut Handle,
    ) {
        let (context, device) = (get::<Context>(context)?, get::<Device>(device)?);
        ensure(context.has(&device), Error::INVALID_ARGUMENT)?;
        ensure(!to.is_null(), Error::INVALID_NULL_POINTER)?;
        let (module, said) = built(&context, &device, &take(descriptor)?)?;
        if !log.is_null() {
            give(log, Ok(BuildLog::new(said)))?;
        }
        give(to, module)
    }

    fn zeModuleDestroy(module: Handle) {
        destroy::<Module>(module)
    }

    fn zeModuleBuildLogDestroy(log: Handle) {
        destroy::<BuildLog>(log)
    }

    fn zeModuleBuildLogGetString(log: Handle, size: *mut usize, to: *mut u8) {
        let log = get::<BuildLog>(log)?;
        let mut text = log.text.clone().into_bytes();
        text.push(0);
        answer(&text, size, to)
    }

    fn zeModuleGetNativeBinary(module: Handle, size: *mut usize, to: *mut u8) {
        let module = get::<Module>(module)?;
        answer(&module.program.any_binary()?.bytes, size, to)
    }

    fn zeModuleGetGlobalPointer(module: Handle, wanted: *const c_char, size: *mut usize, to: *mut *mut c_void) {
        let module = get::<Module>(module)?;
        let (address, bytes) = module.global(&text(wanted)?)?;
        if !size.is_null() {
            put(size, usize::try_from(bytes).unwrap_or(0))?;
        }
        if !to.is_null() {
            put(to, super::pointer(usize::try_from(address).unwrap_or(0)))?;
        }
        Ok(())
    }

    fn zeModuleGetFunctionPointer(module: Handle, wanted: *const c_char, to: *mut *mut c_void) {
        let module = get::<Module>(module)?;
        let address = module.function(&text(wanted)?)?;
        put(to, super::pointer(usize::try_from(address).unwrap_or(0)))
    }

    fn zeModuleGetKernelNames(module: Handle, count: *mut u32, to: *mut *const c_char) {
        let module = get::<Module>(module)?;
        let names: Vec<_> = module.names()?.map(std::ffi::CStr::as_ptr).collect();
        enumerate(count, to, names.into_iter())
    }

    fn zeModuleGetProperties(module: Handle, to: *mut Flags) {
        let binary = get::<Module>(module)?.binary()?;
        // `ZE_MODULE_PROPERTY_FLAG_IMPORTS`
        change(to, |properties| properties.flags = u32::from(!binary.imports.is_empty()))
    }

    fn zeModuleDynamicLink(count: u32, modules: *const Handle, log: *mut Handle) {
        let (result, said) = Module::link(&get_all::<Module>(modules, count)?);
        if !log.is_null() {
            give(log, Ok(BuildLog::new(said)))?;
        }
        result
    }

    fn zeModuleInspectLinkageExt(
        descriptor: *const Flags, count: u32, modules: *const Handle, log: *mut Handle,
    ) {
        let flags = take(descriptor)?.flags;
        ensure(flags & !7 == 0, Error::INVALID_ENUMERATION)?;
        ensure(count > 0, Error::INVALID_SIZE)?;
        let modules = get_all::<Module>(modules, count)?;
        // Without a flag, everything.
        let asks = |flag: u32| flags == 0 || flags & flag != 0;
        let wanted = Linkage { imports: asks(1), missing: asks(2), exports: asks(4) };
        give(log, Ok(BuildLog::new(Module::linkage(&modules, wanted)?)))
    }
}
