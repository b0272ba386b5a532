//! Command queues, and command lists without their commands.

use super::append::{Wait, command};
use super::types::{ListDescriptor, QueueDescriptor};
use super::{Handle, api, destroy, get, get_all, get_some, give, limit, pointer, put, take};
use crate::error::{Error, Result, ensure};
use crate::objects::event::Fence;
use crate::objects::list::{List, Order, Queue};
use std::ffi::c_void;
use std::sync::Arc;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
use visakit_driver::handle::Object;
use visakit_driver::stream::Command;

/// The context and the device of a new object.
fn place(context: Handle, device: Handle) -> Result<(Arc<Context>, Arc<Device>)> {
    let (context, device) = (get::<Context>(context)?, get::<Device>(device)?);
    ensure(context.has(&device), Error::INVALID_ARGUMENT)?;
    Ok((context, device))
}

fn order(descriptor: &QueueDescriptor) -> Result<Order> {
    ensure(
        descriptor.ordinal == 0 && descriptor.index == 0,
        Error::INVALID_ARGUMENT,
    )?;
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

/// The commands of closed lists.
unsafe fn commands(from: *const Handle, count: u32) -> Result<Vec<Command>> {
    ensure(count > 0, Error::INVALID_SIZE)?;
    // SAFETY: the caller's promise.
    let lists = unsafe { get_all::<List>(from, count)? };
    let mut all = Vec::new();
    for list in lists {
        all.extend(list.commands()?);
    }
    Ok(all)
}

/// Executes closed lists from an immediate one.
unsafe fn execute(list: Handle, count: u32, lists: *const Handle, wait: Wait) -> Result<()> {
    let list = get::<List>(list)?;
    let queue = list.queue()?;
    // SAFETY: the caller's promise.
    let (commands, last) = unsafe { (commands(lists, count)?, command(&wait)?) };
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
        queue.push(commands(lists, count)?.into_iter().chain(last))
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
        ensure(descriptor.ordinal == 0, Error::INVALID_ARGUMENT)?;
        ensure(descriptor.flags & !0x3f == 0, Error::INVALID_ENUMERATION)?;
        give(to, Ok(List::regular(&context, &device, descriptor.ordinal, descriptor.flags)))
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
