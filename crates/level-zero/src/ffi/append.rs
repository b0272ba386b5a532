//! Commands of lists: launches, barriers, events.

use super::lists::computes;
use super::memory::memory;
use super::types::{Groups, Switch, Timestamps};
use super::{Handle, api, chain, events, get, get_all, get_some, list, take};
use crate::error::{Error, Result, ensure};
use crate::objects::event::Event;
use crate::objects::kernel::Kernel;
use crate::objects::list::{Launched, List, Sets};
use opencl_sys as cl;
use std::ffi::c_void;
use std::sync::Arc;
use visakit_driver::device::Device;
use visakit_driver::error::{Code, fail};
use visakit_driver::kernel::Takes;
use visakit_driver::queue::simulates;
use visakit_driver::stream::{Action, Command};
use visakit_host::Span;

/// `ZE_STRUCTURE_TYPE_COMMAND_LIST_APPEND_PARAM_COOPERATIVE_DESC`.
const COOPERATIVE: u32 = 0x2_0036;

/// The arguments of an entry point for the event that a command signals, and those it waits for.
#[derive(Clone, Copy)]
pub(super) struct Wait(pub(super) Handle, pub(super) u32, pub(super) *const Handle);

/// What a command sets that gets an event now.
pub(super) fn signal(event: Option<&Event>) -> Result<Sets> {
    let Some(event) = event else {
        return Ok(Sets::default());
    };
    Ok(Sets {
        signal: Some(event.for_command()?),
        is_renewed: event.counter.is_some(),
        is_timed: is_timed(event),
    })
}

fn is_timed(event: &Event) -> bool {
    event.is_timed && simulates()
}

/// A command that does nothing but wait and signal.
///
/// # Safety
/// The array of events has as many as were said.
pub(super) unsafe fn command(wait: &Wait) -> Result<Command> {
    let Wait(signal, count, from) = *wait;
    ensure(count == 0 || !from.is_null(), Error::INVALID_SIZE)?;
    // SAFETY: the caller's promise.
    let waits = unsafe { get_all::<Event>(from, count)? };
    Ok(Command {
        // Before the signal, which a counter-based event renews.
        waits: waits.iter().map(|event| event.signal()).collect(),
        sets: self::signal(get_some::<Event>(signal)?.as_deref())?.signal,
        ..Command::default()
    })
}

/// Whether all that a command waits for has ended.
///
/// # Safety
/// As of [`command`].
pub(super) unsafe fn all_set(wait: &Wait) -> Result<bool> {
    let Wait(_, count, from) = *wait;
    ensure(count == 0 || !from.is_null(), Error::INVALID_SIZE)?;
    // SAFETY: the caller's promise.
    let waits = unsafe { get_all::<Event>(from, count)? };
    Ok(waits.iter().all(|event| event.signal().ended().is_some()))
}

/// Appends a command; `make` makes its action, and is told whether its time is asked for.
///
/// # Safety
/// As of [`command`].
pub(super) unsafe fn append(
    list: Handle,
    wait: Wait,
    make: impl FnOnce(&List, bool) -> Result<Option<Action>>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        append_some(list, wait, |list, is_timed| {
            Ok((make(list, is_timed)?, None))
        })
    }
}

/// Appends a command whose launch can be changed.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn append_some(
    list: Handle,
    wait: Wait,
    make: impl FnOnce(&List, bool) -> Result<(Option<Action>, Option<Launched>)>,
) -> Result<()> {
    let list = get::<List>(list)?;
    let event = get_some::<Event>(wait.0)?;
    let is_timed = event.as_deref().is_some_and(is_timed);
    let (action, launch) = make(&list, is_timed)?;
    // SAFETY: the caller's promise.
    let command = unsafe { command(&wait)? };
    let is_renewed = event.is_some_and(|event| event.counter.is_some());
    let command = Command { action, ..command };
    list.append(command, is_renewed, launch.as_ref())
}

/// Appends a command that runs kernels.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn append_launch(
    list: Handle,
    wait: Wait,
    make: impl FnOnce(&List, bool) -> Result<Option<Action>>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        append(list, wait, |list, is_timed| {
            computes(list)?;
            make(list, is_timed)
        })
    }
}

/// Appends a launch of a kernel as it is now.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn launch(
    list: Handle,
    (kernel, groups, is_cooperative): (Arc<Kernel>, [u32; 3], bool),
    wait: Wait,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        append_some(list, wait, |list, is_timed| {
            computes(list)?;
            let launched = Launched {
                kernel,
                groups,
                is_timed,
                is_cooperative,
            };
            Ok((Some(launched.action()?), Some(launched)))
        })
    }
}

/// An action that does not say how long it takes.
pub(super) fn action(
    act: impl Fn() -> visakit_driver::error::Result<()> + Send + Sync + 'static,
) -> Option<Action> {
    Some(visakit_driver::stream::action(act))
}

/// What a copy, or another access to a span, answers where it does not fit.
pub(super) fn done(fits: Option<()>) -> visakit_driver::error::Result<()> {
    fits.ok_or(Code(cl::CL_INVALID_VALUE))
}

pub(super) const fn sizes(groups: &Groups) -> [u32; 3] {
    [groups.x, groups.y, groups.z]
}

/// Whether parameters of a launch say that its groups wait for each other.
///
/// # Safety
/// A chain, whose structures are of their kinds.
unsafe fn is_cooperative(next: *const c_void) -> Result<bool> {
    // SAFETY: the caller's promise.
    unsafe {
        let found = chain(next)
            .into_iter()
            .find(|(kind, _)| *kind == COOPERATIVE);
        let Some((_, place)) = found else {
            return Ok(false);
        };
        Ok(take(place.cast::<Switch>())?.is_on != 0)
    }
}

/// Number of groups, as memory has it when the command runs.
fn counts(span: &Span, at: usize) -> Option<[u32; 3]> {
    let word = |n: usize| span.read::<4>(at + 4 * n).map(u32::from_le_bytes);
    Some([word(0)?, word(1)?, word(2)?])
}

/// Runs a kernel with as many groups as memory says.
fn launch_from(
    kernel: &Kernel,
    span: &Span,
    at: usize,
    is_timed: bool,
) -> (visakit_driver::error::Result<()>, Option<f64>) {
    let Some(groups) = counts(span, at) else {
        return (fail(cl::CL_INVALID_VALUE), None);
    };
    match kernel.launch(groups, is_timed, false) {
        Ok(launch) => launch.run(),
        Err(_) => (fail(cl::CL_INVALID_WORK_GROUP_SIZE), None),
    }
}

/// Sets all arguments from an array of pointers to their values.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn arguments(kernel: &Kernel, values: *const *const c_void) -> Result<()> {
    let count = u32::try_from(kernel.model.count()).unwrap_or(0);
    // SAFETY: the caller's promise: a pointer for each argument.
    let values = unsafe { list(values, count)? };
    for (index, value) in (0..count).zip(values) {
        let takes = kernel.takes(index)?;
        // SAFETY: the caller's promise: values have the sizes of their arguments; of local memory the value is its size.
        let argument = unsafe {
            let size = match takes {
                Takes::Local => take(value.cast::<usize>())?,
                Takes::Value(size) => size,
                _ => size_of::<Handle>(),
            };
            super::kernels::argument(takes, size, value)?
        };
        kernel.set(index, argument)?;
    }
    Ok(())
}

/// A pointer of the caller that its function gets back.
#[derive(Clone, Copy)]
struct User(*mut c_void);

// SAFETY: the function may be called from any thread, with the pointer that was given for it.
unsafe impl Send for User {}
// SAFETY: as above.
unsafe impl Sync for User {}

impl User {
    const fn get(self) -> *mut c_void {
        self.0
    }
}

/// A function of the host that a command calls.
type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;

api! {
    fn zeCommandListAppendLaunchKernel(
        list: Handle, kernel: Handle, groups: *const Groups, signal: Handle, waits: u32, events: *const Handle,
    ) {
        let kernel = get::<Kernel>(kernel)?;
        let groups = sizes(&take(groups)?);
        launch(list, (kernel, groups, false), Wait(signal, waits, events))
    }

    fn zeCommandListAppendLaunchKernelWithParameters(
        list: Handle, kernel: Handle, groups: *const Groups, next: *const c_void, signal: Handle, waits: u32,
        events: *const Handle,
    ) {
        let kernel = get::<Kernel>(kernel)?;
        let groups = sizes(&take(groups)?);
        launch(list, (kernel, groups, is_cooperative(next)?), Wait(signal, waits, events))
    }

    fn zeCommandListAppendLaunchKernelWithArguments(
        list: Handle, kernel: Handle, groups: Groups, group: Groups, values: *const *const c_void, next: *const c_void,
        signal: Handle, waits: u32, events: *const Handle,
    ) {
        let kernel = get::<Kernel>(kernel)?;
        kernel.set_group(sizes(&group))?;
        arguments(&kernel, values)?;
        launch(list, (kernel, sizes(&groups), is_cooperative(next)?), Wait(signal, waits, events))
    }

    fn zeCommandListAppendLaunchCooperativeKernel(
        list: Handle, kernel: Handle, groups: *const Groups, signal: Handle, waits: u32, events: *const Handle,
    ) {
        let kernel = get::<Kernel>(kernel)?;
        let groups = sizes(&take(groups)?);
        launch(list, (kernel, groups, true), Wait(signal, waits, events))
    }

    fn zeCommandListAppendLaunchKernelIndirect(
        list: Handle, kernel: Handle, groups: *const c_void, signal: Handle, waits: u32, events: *const Handle,
    ) {
        let kernel = get::<Kernel>(kernel)?.copy();
        append_launch(list, Wait(signal, waits, events), |list, is_timed| {
            let span = memory(&list.context, groups, size_of::<Groups>())?;
            Ok(Some(Arc::new(move || launch_from(&kernel, &span, 0, is_timed))))
        })
    }

    fn zeCommandListAppendLaunchMultipleKernelsIndirect(
        list: Handle, count: u32, kernels: *const Handle, number: *const c_void, groups: *const c_void, signal: Handle,
        waits: u32, events: *const Handle,
    ) {
        let kernels = get_all::<Kernel>(kernels, count)?;
        let kernels: Vec<_> = kernels.iter().map(|kernel| kernel.copy()).collect();
        append_launch(list, Wait(signal, waits, events), |list, is_timed| {
            let number = memory(&list.context, number, size_of::<u32>())?;
            let groups = memory(&list.context, groups, kernels.len() * size_of::<Groups>())?;
            Ok(Some(Arc::new(move || {
                let wanted = number.read::<4>(0).map_or(0, u32::from_le_bytes);
                let mut all = None;
                for (place, kernel) in kernels.iter().enumerate().take(usize::try_from(wanted).unwrap_or(0)) {
                    let (result, time) = launch_from(kernel, &groups, place * size_of::<Groups>(), is_timed);
                    if result.is_err() {
                        return (result, None);
                    }
                    all = time.map_or(all, |time| Some(all.unwrap_or(0.0) + time));
                }
                (Ok(()), all)
            })))
        })
    }

    fn zeCommandListAppendBarrier(list: Handle, signal: Handle, waits: u32, events: *const Handle) {
        append(list, Wait(signal, waits, events), |_, _| Ok(None))
    }

    fn zeCommandListAppendMemoryRangesBarrier(
        list: Handle, count: u32, sizes: *const usize, ranges: *const *const c_void, signal: Handle, waits: u32,
        events: *const Handle,
    ) {
        super::list(sizes, count)?;
        super::list(ranges, count)?;
        append(list, Wait(signal, waits, events), |_, _| Ok(None))
    }

    fn zeCommandListAppendSignalEvent(list: Handle, event: Handle) {
        get::<Event>(event)?;
        append(list, Wait(event, 0, std::ptr::null()), |_, _| Ok(None))
    }

    fn zeCommandListAppendWaitOnEvents(list: Handle, count: u32, events: *const Handle) {
        ensure(!events.is_null(), Error::INVALID_NULL_POINTER)?;
        append(list, Wait(std::ptr::null_mut(), count, events), |_, _| Ok(None))
    }

    fn zeCommandListAppendEventReset(list: Handle, event: Handle) {
        let event = get::<Event>(event)?;
        // One that is counter-based is reset by the next command.
        ensure(event.counter.is_none(), Error::INVALID_ARGUMENT)?;
        append(list, Wait(std::ptr::null_mut(), 0, std::ptr::null()), |_, _| {
            let signal = event.signal();
            Ok(action(move || {
                signal.reset();
                Ok(())
            }))
        })
    }

    fn zeCommandListAppendWriteGlobalTimestamp(
        list: Handle, to: *const c_void, signal: Handle, waits: u32, events: *const Handle,
    ) {
        append(list, Wait(signal, waits, events), |list, _| {
            let span = memory(&list.context, to, size_of::<u64>())?;
            let device = Arc::clone(&list.device);
            Ok(action(move || done(span.put(0, &device.clock().to_le_bytes()))))
        })
    }

    fn zeCommandListAppendQueryKernelTimestamps(
        list: Handle, count: u32, timed: *const Handle, to: *const c_void, offsets: *const usize, signal: Handle,
        waits: u32, events: *const Handle,
    ) {
        let timed = get_all::<Event>(timed, count)?;
        let size = size_of::<Timestamps>();
        let offsets: Vec<usize> = if offsets.is_null() {
            (0..timed.len()).map(|n| n * size).collect()
        } else {
            super::list(offsets, count)?
        };
        append(list, Wait(signal, waits, events), |list, _| {
            let end = offsets.iter().max().map_or(Some(0), |most| most.checked_add(size));
            let span = memory(&list.context, to, end.ok_or(Error::INVALID_SIZE)?)?;
            let signals: Vec<_> = timed.iter().map(|event| event.signal()).collect();
            Ok(action(move || {
                for (signal, offset) in signals.iter().zip(&offsets) {
                    let times = events::timestamps(signal).ok_or(Code(cl::CL_PROFILING_INFO_NOT_AVAILABLE))?;
                    let numbers = times.global.into_iter().chain(times.context);
                    let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
                    done(span.put(*offset, &bytes))?;
                }
                Ok(())
            }))
        })
    }

    fn zeCommandListAppendMemoryPrefetch(list: Handle, from: *const c_void, _size: usize) {
        ensure(!from.is_null(), Error::INVALID_NULL_POINTER)?;
        append(list, Wait(std::ptr::null_mut(), 0, std::ptr::null()), |_, _| Ok(None))
    }

    fn zeCommandListAppendMemAdvise(list: Handle, device: Handle, from: *const c_void, _size: usize, advice: u32) {
        get::<Device>(device)?;
        ensure(!from.is_null(), Error::INVALID_NULL_POINTER)?;
        ensure(advice <= 9, Error::INVALID_ENUMERATION)?;
        append(list, Wait(std::ptr::null_mut(), 0, std::ptr::null()), |_, _| Ok(None))
    }

    fn zeCommandListAppendHostFunction(
        list: Handle, function: HostFunction, user: *mut c_void, _next: *const c_void, signal: Handle, waits: u32,
        events: *const Handle,
    ) {
        let function = function.ok_or(Error::INVALID_NULL_POINTER)?;
        let user = User(user);
        append(list, Wait(signal, waits, events), |_, _| {
            Ok(action(move || {
                // SAFETY: the caller's function, with the caller's data.
                unsafe { function(user.get()) };
                Ok(())
            }))
        })
    }
}
