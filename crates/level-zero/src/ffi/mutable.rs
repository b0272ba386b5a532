//! Changes of commands that are in a list.

use super::append::{signal, sizes};
use super::kernels::argument;
use super::types::{Flags, MutableArgument, MutableCount, MutableSizes};
use super::{Handle, api, chain, get, get_all, get_some, list, put, take};
use crate::error::{Error, Result, ensure};
use crate::objects::event::Event;
use crate::objects::kernel::Kernel;
use crate::objects::list::{Draft, List};
use std::ffi::c_void;

// Kinds of structures in chains.
const ARGUMENT: u32 = 0x2_0019;
const GROUP_COUNT: u32 = 0x2_001a;
const GROUP_SIZE: u32 = 0x2_001b;
const OFFSET: u32 = 0x2_001c;

/// `ZE_MUTABLE_COMMAND_EXP_FLAG_…`: arguments, count and size of groups, offset, event that is set, events that are
/// waited for, the kernel.
pub(super) const CHANGES: u32 = 0x7f;

/// Gives the next command a number.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn number(list: Handle, descriptor: *const Flags, to: *mut u64) -> Result<()> {
    let list = get::<List>(list)?;
    // SAFETY: the caller's promise.
    unsafe {
        let flags = take(descriptor)?.flags;
        ensure(flags & !0xff == 0, Error::INVALID_ENUMERATION)?;
        ensure(flags & !CHANGES == 0, Error::UNSUPPORTED_FEATURE)?;
        ensure(!to.is_null(), Error::INVALID_NULL_POINTER)?;
        put(to, list.number_next()?)
    }
}

/// A change of one launch, as a structure says it.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn change(draft: &mut Draft<'_>, kind: u32, place: *mut c_void) -> Result<()> {
    // SAFETY: the caller's promise: the structure is of its kind.
    unsafe {
        match kind {
            ARGUMENT => {
                let it = take(place.cast::<MutableArgument>())?;
                let kernel = &draft.launch(it.command)?.kernel;
                let argument = argument(kernel.takes(it.index)?, it.size, it.value)?;
                kernel.set(it.index, argument)
            }
            GROUP_COUNT => {
                let it = take(place.cast::<MutableCount>())?;
                let groups = sizes(&take(it.groups)?);
                draft.launch(it.command)?.groups = groups;
                Ok(())
            }
            GROUP_SIZE => {
                let it = take(place.cast::<MutableSizes>())?;
                draft.launch(it.command)?.kernel.set_group(it.sizes)
            }
            OFFSET => {
                let it = take(place.cast::<MutableSizes>())?;
                draft.launch(it.command)?.kernel.set_offset(it.sizes);
                Ok(())
            }
            _ => Err(Error::INVALID_ENUMERATION),
        }
    }
}

api! {
    fn zeCommandListGetNextCommandIdExp(list: Handle, descriptor: *const Flags, to: *mut u64) {
        number(list, descriptor, to)
    }

    fn zeCommandListGetNextCommandIdWithKernelsExp(
        list: Handle, descriptor: *const Flags, count: u32, kernels: *const Handle, to: *mut u64,
    ) {
        get_all::<Kernel>(kernels, count)?;
        number(list, descriptor, to)
    }

    fn zeCommandListUpdateMutableCommandsExp(list: Handle, descriptor: *const Flags) {
        let changes = chain(take(descriptor)?.next);
        get::<List>(list)?.change(|draft| {
            changes.into_iter().try_for_each(|(kind, place)| change(draft, kind, place))
        })
    }

    fn zeCommandListUpdateMutableCommandKernelsExp(
        list: Handle, count: u32, commands: *const u64, kernels: *const Handle,
    ) {
        let to = get::<List>(list)?;
        let kernels = get_all::<Kernel>(kernels, count)?;
        let commands = self::list(commands, count)?;
        to.change(|draft| {
            for (number, kernel) in commands.into_iter().zip(kernels) {
                draft.launch(number)?.kernel = kernel.copy();
            }
            Ok(())
        })
    }

    fn zeCommandListUpdateMutableCommandSignalEventExp(list: Handle, number: u64, event: Handle) {
        let list = get::<List>(list)?;
        let event = get_some::<Event>(event)?;
        list.change(|draft| draft.set_signal(number, || signal(event.as_deref())))
    }

    fn zeCommandListUpdateMutableCommandWaitEventsExp(
        list: Handle, number: u64, count: u32, events: *const Handle,
    ) {
        let to = get::<List>(list)?;
        // An event that is null is not waited for, and another one may take its place later.
        let waits = self::list(events, count)?.into_iter().map(|event| {
            Ok(match get_some::<Event>(event)? {
                Some(event) => event.signal(),
                None => Event::passed(),
            })
        });
        let waits = waits.collect::<Result<_>>()?;
        to.change(|draft| draft.set_waits(number, waits))
    }

    fn zeCommandListIsMutableExp(list: Handle, to: *mut u8) {
        put(to, u8::from(get::<List>(list)?.is_mutable))
    }
}
