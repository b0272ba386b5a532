//! Command queues, and command lists without their commands.

use super::append::{Wait, command};
use super::device::{COMPUTES, QUEUE_GROUPS};
use super::types::{ListDescriptor, QueueDescriptor};
use super::{Handle, api, chain, destroy, get, get_all, get_some, give, limit, pointer, put, take};
use crate::error::{Error, Result, ensure};
use crate::objects::event::Fence;
use crate::objects::list::{List, Order, Queue};
use std::ffi::c_void;
use std::sync::Arc;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
use visakit_driver::handle::Object;
use visakit_driver::stream::Command;

/// `ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC`.
const MUTABLE: u32 = 0x2_0016;

/// The context and the device of a new object.
fn place(context: Handle, device: Handle) -> Result<(Arc<Context>, Arc<Device>)> {
    let (context, device) = (get::<Context>(context)?, get::<Device>(device)?);
    ensure(context.has(&device), Error::INVALID_ARGUMENT)?;
    Ok((context, device))
}

/// Flags and number of the queues of a group.
fn group(ordinal: u32) -> Result<(u32, u32)> {
    let group = usize::try_from(ordinal).ok();
    let group = group.and_then(|group| QUEUE_GROUPS.get(group));
    group.copied().ok_or(Error::INVALID_ARGUMENT)
}

/// That commands of a list may run kernels.
pub(super) fn computes(list: &List) -> Result<()> {
    let (flags, _) = group(list.ordinal)?;
    ensure(flags & COMPUTES != 0, Error::INVALID_COMMAND_LIST_TYPE)
}

fn order(descriptor: &QueueDescriptor) -> Result<Order> {
    let (_, queues) = group(descriptor.ordinal)?;
    ensure(descriptor.index < queues, Error::INVALID_ARGUMENT)?;
    ensure(
        descriptor.mode <= 2 && descriptor.priority <= 2,
        Error::INVALID_ENUMERATION,
    )?;
    Ok(Order {
        ordinal: descriptor.ordinal,
        index: descriptor.index,
        flags: descriptor.flags,
        mode: descriptor.mode,
        priority: descriptor.priority,
    })
}

/// The commands of closed lists for queues of a group.
///
/// # Safety
/// The array has as many lists as were said.
unsafe fn commands(from: *const Handle, count: u32, ordinal: u32) -> Result<Vec<Command>> {
    ensure(count > 0, Error::INVALID_SIZE)?;
    // SAFETY: the caller's promise.
    let lists = unsafe { get_all::<List>(from, count)? };
    let fits = lists.iter().all(|list| list.ordinal == ordinal);
    ensure(fits, Error::INVALID_COMMAND_LIST_TYPE)?;
    let mut all = Vec::new();
    for list in lists {
        all.extend(list.commands()?);
    }
    Ok(all)
}

/// Executes closed lists from an immediate one.
///
/// # Safety
/// The arrays have as many lists and events as were said.
unsafe fn execute(list: Handle, count: u32, lists: *const Handle, wait: Wait) -> Result<()> {
    let list = get::<List>(list)?;
    let queue = list.queue()?;
    // SAFETY: the caller's promise.
    let (commands, last) = unsafe { (commands(lists, count, list.ordinal)?, command(&wait)?) };
    let first = Command {
        waits: last.waits,
        ..Command::default()
    };
    let last = Command {
        sets: last.sets,
        ..Command::default()
    };
    queue.push([first].into_iter().chain(commands).chain([last]))
}

api! {
    fn zeCommandQueueCreate(context: Handle, device: Handle, descriptor: *const QueueDescriptor, to: *mut Handle) {
        let (_, device) = place(context, device)?;
        give(to, Ok(Queue::new(&device, order(&take(descriptor)?)?)))
    }

    fn zeCommandQueueDestroy(queue: Handle) {
        destroy::<Queue>(queue)
    }

    fn zeCommandQueueExecuteCommandLists(queue: Handle, count: u32, lists: *const Handle, fence: Handle) {
        let queue = get::<Queue>(queue)?;
        let fence = get_some::<Fence>(fence)?;
        let last = fence.map(|fence| Command { sets: Some(Arc::clone(&fence.signal)), ..Command::default() });
        queue.push(commands(lists, count, queue.order.ordinal)?.into_iter().chain(last))
    }

    fn zeCommandQueueSynchronize(queue: Handle, timeout: u64) {
        get::<Queue>(queue)?.wait(limit(timeout))
    }

    fn zeCommandQueueGetOrdinal(queue: Handle, to: *mut u32) {
        put(to, get::<Queue>(queue)?.order.ordinal)
    }

    fn zeCommandQueueGetIndex(queue: Handle, to: *mut u32) {
        put(to, get::<Queue>(queue)?.order.index)
    }

    fn zeCommandQueueGetFlags(queue: Handle, to: *mut u32) {
        put(to, get::<Queue>(queue)?.order.flags)
    }

    fn zeCommandQueueGetMode(queue: Handle, to: *mut u32) {
        put(to, get::<Queue>(queue)?.order.mode)
    }

    fn zeCommandQueueGetPriority(queue: Handle, to: *mut u32) {
        put(to, get::<Queue>(queue)?.order.priority)
    }

    fn zeCommandListCreate(context: Handle, device: Handle, descriptor: *const ListDescriptor, to: *mut Handle) {
        let (context, device) = place(context, device)?;
        let descriptor = take(descriptor)?;
        group(descriptor.ordinal)?;
        ensure(descriptor.flags & !0x3f == 0, Error::INVALID_ENUMERATION)?;
        let is_mutable = chain(descriptor.next).iter().any(|(kind, _)| *kind == MUTABLE);
        let kind = (descriptor.ordinal, descriptor.flags);
        give(to, Ok(List::regular(&context, &device, kind, is_mutable)))
    }

    fn zeCommandListCreateImmediate(
        context: Handle, device: Handle, descriptor: *const QueueDescriptor, to: *mut Handle,
    ) {
        let (context, device) = place(context, device)?;
        give(to, Ok(List::immediate(&context, &device, order(&take(descriptor)?)?)))
    }

    fn zeCommandListCreateCloneExp(list: Handle, to: *mut Handle) {
        give(to, get::<List>(list)?.copy())
    }

    fn zeCommandListDestroy(list: Handle) {
        destroy::<List>(list)
    }

    fn zeCommandListClose(list: Handle) {
        get::<List>(list)?.close();
        Ok(())
    }

    fn zeCommandListReset(list: Handle) {
        get::<List>(list)?.reset();
        Ok(())
    }

    fn zeCommandListHostSynchronize(list: Handle, timeout: u64) {
        get::<List>(list)?.queue()?.wait(limit(timeout))
    }

    fn zeCommandListGetDeviceHandle(list: Handle, to: *mut Handle) {
        put(to, pointer(get::<List>(list)?.device.handle().get()))
    }

    fn zeCommandListGetContextHandle(list: Handle, to: *mut Handle) {
        put(to, pointer(get::<List>(list)?.context.handle().get()))
    }

    fn zeCommandListGetOrdinal(list: Handle, to: *mut u32) {
        put(to, get::<List>(list)?.ordinal)
    }

    fn zeCommandListGetFlags(list: Handle, to: *mut u32) {
        put(to, get::<List>(list)?.flags)
    }

    fn zeCommandListIsImmediate(list: Handle, to: *mut u8) {
        put(to, u8::from(get::<List>(list)?.queue().is_ok()))
    }

    fn zeCommandListImmediateGetIndex(list: Handle, to: *mut u32) {
        put(to, get::<List>(list)?.queue()?.order.index)
    }

    fn zeCommandListImmediateGetFlags(list: Handle, to: *mut u32) {
        put(to, get::<List>(list)?.queue()?.order.flags)
    }

    fn zeCommandListImmediateGetMode(list: Handle, to: *mut u32) {
        put(to, get::<List>(list)?.queue()?.order.mode)
    }

    fn zeCommandListImmediateGetPriority(list: Handle, to: *mut u32) {
        put(to, get::<List>(list)?.queue()?.order.priority)
    }

    fn zeCommandListImmediateAppendCommandListsExp(
        list: Handle, count: u32, lists: *const Handle, signal: Handle, waits: u32, events: *const Handle,
    ) {
        execute(list, count, lists, Wait(signal, waits, events))
    }

    fn zeCommandListImmediateAppendCommandListsWithParameters(
        list: Handle, count: u32, lists: *const Handle, _next: *const c_void, signal: Handle, waits: u32,
        events: *const Handle,
    ) {
        execute(list, count, lists, Wait(signal, waits, events))
    }
}
