//! Changes of commands that are in a list.

use super::append::{Wait, command, sizes};
use super::kernels::argument;
use super::types::{Flags, MutableArgument, MutableCount, MutableSizes};
use super::{Handle, api, chain, get, get_all, get_some, list, put, take};
use crate::error::{Error, Result, ensure};
use crate::objects::event::Event;
use crate::objects::kernel::Kernel;
use crate::objects::list::{Launched, List};
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
unsafe fn change(list: &List, kind: u32, place: *mut c_void) -> Result<()> {
    // SAFETY: the caller's promise: the structure is of its kind.
    unsafe {
        match kind {
            ARGUMENT => {
                let it = take(place.cast::<MutableArgument>())?;
                list.change_launch(it.command, |launch| {
                    let takes = launch.kernel.takes(it.index)?;
                    launch
                        .kernel
                        .set(it.index, argument(takes, it.size, it.value)?)
                })
            }
            GROUP_COUNT => {
                let it = take(place.cast::<MutableCount>())?;
                let groups = sizes(&take(it.groups)?);
                list.change_launch(it.command, |launch| {
                    launch.groups = groups;
                    Ok(())
                })
            }
            GROUP_SIZE => {
                let it = take(place.cast::<MutableSizes>())?;
                list.change_launch(it.command, |launch| launch.kernel.set_group(it.sizes))
            }
            OFFSET => {
                let it = take(place.cast::<MutableSizes>())?;
                list.change_launch(it.command, |launch| {
                    launch.kernel.set_offset(it.sizes);
                    Ok(())
                })
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
        let list = get::<List>(list)?;
        for (kind, place) in chain(take(descriptor)?.next) {
            change(&list, kind, place)?;
        }
        Ok(())
    }

    fn zeCommandListUpdateMutableCommandKernelsExp(
        list: Handle, count: u32, commands: *const u64, kernels: *const Handle,
    ) {
        let to = get::<List>(list)?;
        let kernels = get_all::<Kernel>(kernels, count)?;
        for (number, kernel) in self::list(commands, count)?.into_iter().zip(kernels) {
            to.change_launch(number, |launch: &mut Launched| {
                launch.kernel = kernel.copy();
                Ok(())
            })?;
        }
        Ok(())
    }

    fn zeCommandListUpdateMutableCommandSignalEventExp(list: Handle, number: u64, event: Handle) {
        let list = get::<List>(list)?;
        let event = get_some::<Event>(event)?;
        list.change_command(number, |command| {
            command.sets = event.map(|event| event.for_command());
            Ok(())
        })
    }

    fn zeCommandListUpdateMutableCommandWaitEventsExp(
        list: Handle, number: u64, count: u32, events: *const Handle,
    ) {
        let list = get::<List>(list)?;
        let waits = command(&Wait(std::ptr::null_mut(), count, events))?.waits;
        list.change_command(number, |command| {
            ensure(command.waits.len() == waits.len(), Error::INVALID_SIZE)?;
            command.waits = waits;
            Ok(())
        })
    }

    fn zeCommandListIsMutableExp(list: Handle, to: *mut u8) {
        put(to, u8::from(get::<List>(list)?.is_mutable))
    }
}
