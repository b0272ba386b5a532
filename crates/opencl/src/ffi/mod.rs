//! The C boundary.
//!
//! Entry points are made by [`api`] and [`make`]: they catch panics, and their bodies run in the one `unsafe` block that
//! the macro has. What a body relies on is what the OpenCL specification asks of the caller: pointers are null or valid for
//! as many elements as the call says, memory of commands stays until they have ended, callbacks can be called from any
//! thread. Handles are no pointers here ([`crate::handle`]): a wrong one is answered, not followed.

mod context;
mod events;
pub(crate) mod foreign;
pub(crate) mod host;
mod kernels;
mod memory;
mod programs;
pub(crate) mod stdio;
mod svm;
mod table;
mod transfer;

pub(crate) use table::DISPATCH;
pub use table::{clGetExtensionFunctionAddress, clGetPlatformInfo, clIcdGetPlatformIDsKHR};

use crate::error::{Code, Result, ensure, fail};
use crate::handle::{Object, find};
use crate::model::context::Context;
use crate::model::event::{Event, Work};
use crate::model::queue::Queue;
use opencl_sys as cl;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// A handle or a pointer of the caller.
type Pointer = *mut c_void;

/// A pointer of the caller that a callback gets back.
#[derive(Clone, Copy)]
struct User(Pointer);

// SAFETY: callbacks may be called from any thread, with the pointer that was given for them.
unsafe impl Send for User {}
// SAFETY: as above.
unsafe impl Sync for User {}

impl User {
    fn get(self) -> Pointer {
        self.0
    }
}

/// Calls a function when the program ends.
pub(crate) fn at_exit(function: fn()) {
    static FUNCTION: OnceLock<fn()> = OnceLock::new();
    extern "C" fn end() {
        if let Some(function) = FUNCTION.get() {
            let _ = catch_unwind(function);
        }
    }
    if FUNCTION.set(function).is_ok() {
        // SAFETY: the function takes and gives nothing.
        unsafe { libc::atexit(end) };
    }
}

fn traces() -> bool {
    static TRACES: OnceLock<bool> = OnceLock::new();
    *TRACES.get_or_init(|| {
        std::env::var_os("VISAKIT_TRACE").is_some_and(|v| !v.is_empty() && v != "0")
    })
}

/// Runs an entry point.
fn call<T>(name: &str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    let result = catch_unwind(AssertUnwindSafe(body));
    let result = result.unwrap_or(fail(cl::CL_OUT_OF_HOST_MEMORY));
    if traces() {
        let code = result.as_ref().map_or_else(|code| code.0, |_| 0);
        crate::say(&format!("{name} -> {code}"));
    }
    result
}

/// Entry points that give back an error code.
macro_rules! api {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        #[allow(non_snake_case, unused_unsafe, clippy::too_many_arguments, reason = "OpenCL's names and signatures")]
        pub(super) unsafe extern "C" fn $name($($arg: $ty),*) -> i32 {
            // SAFETY: what the specification asks of the caller; see the module.
            let result = $crate::ffi::call(stringify!($name), || unsafe { $body });
            result.map_or_else(|code: $crate::error::Code| code.0, |()| 0)
        }
    )*};
}

/// Entry points that give back a handle or a pointer; their last argument takes the error code.
macro_rules! make {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        #[allow(non_snake_case, unused_unsafe, clippy::too_many_arguments, reason = "OpenCL's names and signatures")]
        pub(super) unsafe extern "C" fn $name($($arg: $ty,)* error: *mut i32) -> *mut std::ffi::c_void {
            // SAFETY: what the specification asks of the caller; see the module.
            let result: $crate::error::Result<usize> = $crate::ffi::call(stringify!($name), || unsafe { $body });
            let code = result.map_or_else(|code| code.0, |_| 0);
            // SAFETY: null, or a place for the code.
            unsafe { $crate::ffi::put(error, code) };
            std::ptr::with_exposed_provenance_mut(result.unwrap_or(0))
        }
    )*};
}

pub(crate) use {api, make};

/// Writes a value, if the caller wants it.
///
/// # Safety
/// `to` is null or can be written.
unsafe fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: the caller's promise.
        unsafe { to.write_unaligned(value) };
    }
}

/// Elements of an array; none where it is null.
///
/// # Safety
/// `from` is null or has so many elements.
unsafe fn list<T: Copy>(from: *const T, count: usize) -> Vec<T> {
    if from.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    (0..count)
        .map(|i| unsafe { from.add(i).read_unaligned() })
        .collect()
}

/// A list of pairs that ends with a zero, which is kept; empty where it is null.
///
/// # Safety
/// `from` is null or such a list.
unsafe fn properties<T: Copy + Default + PartialEq>(from: *const T) -> Vec<T> {
    let mut all = Vec::new();
    if from.is_null() {
        return all;
    }
    loop {
        // SAFETY: the list has not ended.
        let name = unsafe { from.add(all.len()).read() };
        all.push(name);
        if name == T::default() {
            return all;
        }
        // SAFETY: a name has a value.
        all.push(unsafe { from.add(all.len()).read() });
    }
}

/// A C string; empty where it is null.
///
/// # Safety
/// `from` is null or ends with a zero.
unsafe fn text(from: *const c_char) -> String {
    if from.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(from) }
        .to_string_lossy()
        .into_owned()
}

/// Answers a question about an object.
///
/// # Safety
/// `to` is null or has `room` bytes; `size` is null or can be written.
unsafe fn answer(bytes: &[u8], room: usize, to: Pointer, size: *mut usize) -> Result<()> {
    if !to.is_null() {
        ensure(room >= bytes.len(), cl::CL_INVALID_VALUE)?;
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
    }
    // SAFETY: the caller's promise.
    unsafe { put(size, bytes.len()) };
    Ok(())
}

/// The object of a handle.
fn get<T: Object>(handle: Pointer) -> Result<Arc<T>> {
    find(handle.addr())
}

/// The objects of an array of handles.
///
/// # Safety
/// As of [`list`].
unsafe fn get_all<T: Object>(from: *const Pointer, count: u32) -> Result<Vec<Arc<T>>> {
    ensure((count == 0) == from.is_null(), cl::CL_INVALID_VALUE)?;
    // SAFETY: the caller's promise.
    let handles = unsafe { list(from, usize::try_from(count).unwrap_or(0)) };
    handles.into_iter().map(get).collect()
}

/// The events of a wait list.
///
/// # Safety
/// As of [`list`].
unsafe fn waits(
    context: &Arc<Context>,
    count: u32,
    from: *const Pointer,
) -> Result<Vec<Arc<Event>>> {
    // SAFETY: the caller's promise.
    let events = unsafe { get_all::<Event>(from, count) };
    let events = events.map_err(|_| Code(cl::CL_INVALID_EVENT_WAIT_LIST))?;
    let same = events.iter().all(|e| Arc::ptr_eq(&e.context, context));
    ensure(same, cl::CL_INVALID_CONTEXT)?;
    Ok(events)
}

/// Where an entry point says what a command waits for and wants its event.
#[derive(Clone, Copy)]
struct Wait(u32, *const Pointer, *mut Pointer);

/// Enqueues a command; a blocking one is waited for.
///
/// # Safety
/// The pointers of `wait` are those of the caller.
unsafe fn enqueue(
    queue: &Arc<Queue>,
    kind: u32,
    wait: Wait,
    blocking: bool,
    work: Work,
) -> Result<()> {
    let Wait(count, list, event) = wait;
    // SAFETY: the caller's promise.
    let waits = unsafe { waits(&queue.context, count, list) }?;
    if blocking {
        // A command that cannot start is one that the host has not made able to.
        let failed = waits.iter().any(|e| e.status() < 0);
        ensure(!failed, cl::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)?;
    }
    let made = queue.enqueue(kind, waits, work);
    if !event.is_null() {
        let handle = std::ptr::with_exposed_provenance_mut(crate::handle::export(&made));
        // SAFETY: the caller's promise.
        unsafe { put(event, handle) };
    }
    if blocking {
        let status = made.wait();
        ensure(status >= 0, status)?;
    }
    Ok(())
}
