//! Queues and events.

use super::{Pointer, User, Wait, answer, api, enqueue, get, get_all, make, properties};
use opencl_sys as cl;
use std::sync::Arc;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
use visakit_driver::error::{Code, ensure, fail};
use visakit_driver::event::Event;
use visakit_driver::handle::{export, release, retain};
use visakit_driver::memory::Mem;
use visakit_driver::queue::Queue;

/// Is called at a status of an event.
type Notify = Option<unsafe extern "C" fn(Pointer, i32, Pointer)>;

make! {
    fn clCreateCommandQueue(context: Pointer, device: Pointer, bits: u64) {
        let context = get::<Context>(context)?;
        let device = get::<Device>(device)?;
        let known = cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | cl::CL_QUEUE_PROFILING_ENABLE;
        ensure(bits & !known == 0, cl::CL_INVALID_VALUE)?;
        let queue = Queue::with_bits(&context, &device, bits)?;
        Ok(export(&queue))
    }

    fn clCreateCommandQueueWithProperties(context: Pointer, device: Pointer, with: *const u64) {
        let context = get::<Context>(context)?;
        let device = get::<Device>(device)?;
        Ok(export(&Queue::new(&context, &device, properties(with))?))
    }

    fn clCreateUserEvent(context: Pointer) {
        Ok(export(&Event::user(&get::<Context>(context)?)))
    }
}

api! {
    fn clRetainCommandQueue(queue: Pointer) {
        retain::<Queue>(queue.addr())
    }

    fn clReleaseCommandQueue(queue: Pointer) {
        release::<Queue>(queue.addr())
    }

    fn clGetCommandQueueInfo(queue: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&get::<Queue>(queue)?.info(name)?, room, to, size)
    }

    fn clSetCommandQueueProperty(queue: Pointer, _bits: u64, _on: u32, _old: *mut u64) {
        get::<Queue>(queue)?;
        fail(cl::CL_INVALID_OPERATION)
    }

    fn clSetDefaultDeviceCommandQueue(context: Pointer, device: Pointer, _queue: Pointer) {
        get::<Context>(context)?;
        get::<Device>(device)?;
        // There is no queue on a device that could be meant.
        fail(cl::CL_INVALID_OPERATION)
    }

    fn clFlush(queue: Pointer) {
        // Nothing is held back.
        get::<Queue>(queue).map(drop)
    }

    fn clFinish(queue: Pointer) {
        get::<Queue>(queue)?.finish()
    }

    fn clWaitForEvents(count: u32, from: *const Pointer) {
        let events = get_all::<Event>(from, count)?;
        let first = events.first().ok_or(Code(cl::CL_INVALID_VALUE))?;
        let same = events.iter().all(|e| Arc::ptr_eq(&e.context, &first.context));
        ensure(same, cl::CL_INVALID_CONTEXT)?;
        let failed = events.iter().filter(|e| e.wait() < 0).count();
        ensure(failed == 0, cl::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    }

    fn clGetEventInfo(event: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&get::<Event>(event)?.info(name)?, room, to, size)
    }

    fn clGetEventProfilingInfo(event: Pointer, name: u32, room: usize, to: Pointer, size: *mut usize) {
        answer(&get::<Event>(event)?.profile(name)?, room, to, size)
    }

    fn clRetainEvent(event: Pointer) {
        retain::<Event>(event.addr())
    }

    fn clReleaseEvent(event: Pointer) {
        release::<Event>(event.addr())
    }

    fn clSetUserEventStatus(event: Pointer, status: i32) {
        get::<Event>(event)?.end(status)
    }

    fn clSetEventCallback(event: Pointer, status: i32, notify: Notify, user: Pointer) {
        let found = get::<Event>(event)?;
        let Some(notify) = notify else {
            return fail(cl::CL_INVALID_VALUE);
        };
        ensure((cl::CL_COMPLETE..=cl::CL_SUBMITTED).contains(&status), cl::CL_INVALID_VALUE)?;
        let (event, user) = (User(event), User(user));
        found.at(status, Box::new(move |status| notify(event.get(), status, user.get())));
        Ok(())
    }

    fn clEnqueueMarkerWithWaitList(queue: Pointer, count: u32, from: *const Pointer, event: *mut Pointer) {
        let queue = get::<Queue>(queue)?;
        enqueue(&queue, cl::CL_COMMAND_MARKER, Wait(count, from, event), false, None)
    }

    fn clEnqueueBarrierWithWaitList(queue: Pointer, count: u32, from: *const Pointer, event: *mut Pointer) {
        let queue = get::<Queue>(queue)?;
        enqueue(&queue, cl::CL_COMMAND_BARRIER, Wait(count, from, event), false, None)
    }

    fn clEnqueueMarker(queue: Pointer, event: *mut Pointer) {
        let queue = get::<Queue>(queue)?;
        ensure(!event.is_null(), cl::CL_INVALID_VALUE)?;
        let wait = Wait(0, std::ptr::null(), event);
        enqueue(&queue, cl::CL_COMMAND_MARKER, wait, false, None)
    }

    fn clEnqueueBarrier(queue: Pointer) {
        let queue = get::<Queue>(queue)?;
        let wait = Wait(0, std::ptr::null(), std::ptr::null_mut());
        enqueue(&queue, cl::CL_COMMAND_BARRIER, wait, false, None)
    }

    fn clEnqueueWaitForEvents(queue: Pointer, count: u32, from: *const Pointer) {
        let queue = get::<Queue>(queue)?;
        ensure(count > 0, cl::CL_INVALID_VALUE)?;
        let wait = Wait(count, from, std::ptr::null_mut());
        let done = enqueue(&queue, cl::CL_COMMAND_BARRIER, wait, false, None);
        done.map_err(|code| if code.0 == cl::CL_INVALID_EVENT_WAIT_LIST { Code(cl::CL_INVALID_EVENT) } else { code })
    }

    fn clEnqueueMigrateMemObjects(
        queue: Pointer, mems: u32, list: *const Pointer, flags: u64,
        count: u32, from: *const Pointer, event: *mut Pointer,
    ) {
        let queue = get::<Queue>(queue)?;
        let mems = get_all::<Mem>(list, mems)?;
        ensure(!mems.is_empty() && flags & !3 == 0, cl::CL_INVALID_VALUE)?;
        ensure(mems.iter().all(|m| Arc::ptr_eq(&m.context, &queue.context)), cl::CL_INVALID_CONTEXT)?;
        enqueue(&queue, cl::CL_COMMAND_MIGRATE_MEM_OBJECTS, Wait(count, from, event), false, None)
    }
}
