//! Events, their pools, and fences.

use super::types::{EventDescriptor, Flags, Number, PoolDescriptor, TimestampResults, Timestamps};
use super::{Handle, api, chain, destroy, get, get_all, give, limit, pointer, put, take};
use crate::error::{Error, Result, ensure, waited};
use crate::objects::event::{COUNTER_TIMESTAMPS, Event, Fence, Pool, Scopes};
use crate::objects::list::Queue;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
use visakit_driver::handle::Object;
use visakit_driver::signal::{Ended, Signal};

/// `ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC`.
const COUNTER_BASED: u32 = 0x2_0014;

/// What the host learns of a signal that it has waited for.
fn state(ended: Option<Ended>) -> Result<()> {
    waited(ended.ok_or(Error::NOT_READY)?.result)
}

/// The times of a command as the host reads them.
pub(super) fn timestamps(signal: &Signal) -> Option<Timestamps> {
    let times = signal.ended()?.times;
    let both = [times.started, times.ended];
    Some(Timestamps {
        global: both,
        context: both,
    })
}

fn scopes(descriptor: &EventDescriptor) -> Scopes {
    Scopes {
        signal: descriptor.signal,
        wait: descriptor.wait,
    }
}

/// The times of an event's command.
fn times(event: Handle) -> Result<Timestamps> {
    let event = get::<Event>(event)?;
    timestamps(&event.signal()).ok_or(Error::NOT_READY)
}

/// Gives the times of the one packet that commands have.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn one(count: *mut u32, to: *mut Timestamps, times: Timestamps) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { super::enumerate(count, to, std::iter::once(times)) }
}

api! {
    fn zeEventPoolCreate(
        context: Handle, descriptor: *const PoolDescriptor, count: u32, devices: *const Handle, to: *mut Handle,
    ) {
        let context = get::<Context>(context)?;
        let descriptor = take(descriptor)?;
        get_all::<Device>(devices, count)?;
        ensure(descriptor.count > 0, Error::INVALID_SIZE)?;
        ensure(descriptor.flags & !0xf == 0, Error::INVALID_ENUMERATION)?;
        let mut counter = None;
        for (_, place) in chain(descriptor.next).into_iter().filter(|(kind, _)| *kind == COUNTER_BASED) {
            counter = Some(take(place.cast::<Number>())?.number);
        }
        give(to, Pool::new(&context, descriptor.flags, descriptor.count, counter))
    }

    fn zeEventPoolDestroy(pool: Handle) {
        destroy::<Pool>(pool)
    }

    fn zeEventPoolGetContextHandle(pool: Handle, to: *mut Handle) {
        put(to, pointer(get::<Pool>(pool)?.context.handle().get()))
    }

    fn zeEventPoolGetFlags(pool: Handle, to: *mut u32) {
        put(to, get::<Pool>(pool)?.flags)
    }

    fn zeEventCreate(pool: Handle, descriptor: *const EventDescriptor, to: *mut Handle) {
        let pool = get::<Pool>(pool)?;
        let descriptor = take(descriptor)?;
        give(to, Event::new(&pool, descriptor.index, scopes(&descriptor)))
    }

    fn zeEventCounterBasedCreate(
        context: Handle, device: Handle, descriptor: *const EventDescriptor, to: *mut Handle,
    ) {
        get::<Context>(context)?;
        get::<Device>(device)?;
        let descriptor = take(descriptor)?;
        let flags = descriptor.index;
        let is_timed = flags & COUNTER_TIMESTAMPS != 0;
        give(to, Ok(Event::with(None, Some(flags), is_timed, scopes(&descriptor))))
    }

    fn zeEventDestroy(event: Handle) {
        destroy::<Event>(event)
    }

    fn zeEventHostSignal(event: Handle) {
        get::<Event>(event)?.set();
        Ok(())
    }

    fn zeEventHostReset(event: Handle) {
        let event = get::<Event>(event)?;
        // One that is counter-based is reset by the next command.
        if event.counter.is_none() {
            event.signal().reset();
        }
        Ok(())
    }

    fn zeEventHostSynchronize(event: Handle, timeout: u64) {
        state(get::<Event>(event)?.signal().wait(limit(timeout)))
    }

    fn zeEventQueryStatus(event: Handle) {
        state(get::<Event>(event)?.signal().ended())
    }

    fn zeEventQueryKernelTimestamp(event: Handle, to: *mut Timestamps) {
        put(to, times(event)?)
    }

    fn zeEventQueryTimestampsExp(event: Handle, device: Handle, count: *mut u32, to: *mut Timestamps) {
        get::<Device>(device)?;
        one(count, to, times(event)?)
    }

    fn zeEventQueryKernelTimestampsExt(event: Handle, device: Handle, count: *mut u32, to: *mut TimestampResults) {
        get::<Device>(device)?;
        let times = times(event)?;
        let places = if to.is_null() { [std::ptr::null_mut(); 2] } else {
            let results = take(to)?;
            [results.timestamps, results.synchronized]
        };
        let given = take(count)?;
        for place in places {
            let mut room = given;
            one(&raw mut room, place, times)?;
        }
        put(count, 1)
    }

    fn zeEventGetEventPool(event: Handle, to: *mut Handle) {
        let event = get::<Event>(event)?;
        put(to, event.pool.as_ref().map_or(std::ptr::null_mut(), |pool| pointer(pool.handle().get())))
    }

    fn zeEventGetSignalScope(event: Handle, to: *mut u32) {
        put(to, get::<Event>(event)?.scopes.signal)
    }

    fn zeEventGetWaitScope(event: Handle, to: *mut u32) {
        put(to, get::<Event>(event)?.scopes.wait)
    }

    fn zeEventGetCounterBasedFlags(event: Handle, to: *mut u32) {
        put(to, get::<Event>(event)?.counter.ok_or(Error::INVALID_ARGUMENT)?)
    }

    fn zeFenceCreate(queue: Handle, descriptor: *const Flags, to: *mut Handle) {
        get::<Queue>(queue)?;
        let flags = take(descriptor)?.flags;
        ensure(flags & !1 == 0, Error::INVALID_ENUMERATION)?;
        give(to, Ok(Fence::new(flags & 1 != 0)))
    }

    fn zeFenceDestroy(fence: Handle) {
        destroy::<Fence>(fence)
    }

    fn zeFenceHostSynchronize(fence: Handle, timeout: u64) {
        state(get::<Fence>(fence)?.signal.wait(limit(timeout)))
    }

    fn zeFenceQueryStatus(fence: Handle) {
        state(get::<Fence>(fence)?.signal.ended())
    }

    fn zeFenceReset(fence: Handle) {
        get::<Fence>(fence)?.signal.reset();
        Ok(())
    }
}
