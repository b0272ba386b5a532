//! Memory and events that several processes of the machine have.
//!
//! A handle says which file has the bytes: its number in the process that made the handle, that process, and what tells the
//! file from all others. So it can be given to another process as it is, or with the number replaced by the descriptor which
//! the other one received through a socket. Programs know that Intel's handles begin with a descriptor, and some give no more
//! than that one: then it counts alone. Nothing in a handle is trusted: a file that is not the one it names, or whose size
//! could change, is refused.

use super::memory::KINDS;
use super::{Handle, api, destroy, get, give, pointer, put};
use crate::error::{Error, Result, ensure};
use crate::objects::event::{Event, Pool};
use crate::objects::physical::Physical;
use crate::objects::shared::{Place, Watched};
use opencl_sys::CL_MEM_TYPE_DEVICE_INTEL as DEVICE;
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, IntoRawFd};
use std::sync::Arc;
use visakit_driver::context::Context;
use visakit_driver::device::Device;
use visakit_driver::handle::Object;
use visakit_host::{Pages, duplicate, identity};

/// `ze_ipc_mem_handle_t`, and the handles of events, which have the pages of a board and no kind.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct IpcMemory {
    file: i32,
    process: u32,
    device: u64,
    node: u64,
    /// The place in the file; of an event, the slot of the board.
    offset: u64,
    kind: u32,
    /// The generation of an event, low half first.
    generation: [u32; 2],
    rest: [u32; 3],
    /// [`MAGIC`] if the handle is more than a descriptor.
    magic: [u8; 8],
}

const MAGIC: [u8; 8] = *b"visakit\0";

/// No kind of memory.
const EVENTS: u32 = 0;

impl IpcMemory {
    fn of(pages: &Pages, offset: usize, kind: u32) -> Option<Self> {
        let (device, node) = pages.identity()?;
        Some(Self {
            file: pages.as_fd().as_raw_fd(),
            process: std::process::id(),
            device,
            node,
            offset: offset as u64,
            kind,
            generation: [0; 2],
            rest: [0; 3],
            magic: MAGIC,
        })
    }

    /// The handle with the file alone, if it was nothing else.
    fn whole(self) -> Self {
        if self.magic == MAGIC {
            return self;
        }
        Self {
            process: 0,
            offset: 0,
            kind: DEVICE,
            ..self
        }
    }

    fn pages(&self) -> Result<Pages> {
        let alone = self.magic != MAGIC;
        let named = Some((self.device, self.node));
        let wanted = |file: &File| alone || identity(file) == named;
        let here = duplicate(self.file).filter(wanted);
        let there = || {
            if alone {
                return None;
            }
            let path = format!("/proc/{}/fd/{}", self.process, self.file);
            let file = File::options().read(true).write(true).open(path);
            file.ok().filter(wanted)
        };
        let pages = here.or_else(there).and_then(Pages::of);
        pages.ok_or(Error::INVALID_ARGUMENT)
    }
}

/// Gives the host the handle of an allocation, of what is mapped at an address, or of memory without one.
///
/// # Safety
/// The pointers are those of the caller of the entry point: null, or valid for what they are said to have.
unsafe fn share(context: Handle, memory: *const c_void, to: *mut IpcMemory) -> Result<()> {
    let context = get::<Context>(context)?;
    ensure(!memory.is_null(), Error::INVALID_NULL_POINTER)?;
    ensure(!to.is_null(), Error::INVALID_NULL_POINTER)?;
    let made = if let Ok(physical) = get::<Physical>(memory.cast_mut()) {
        IpcMemory::of(&physical.pages, 0, DEVICE)
    } else {
        let found = context.allocation(memory.addr());
        let kind = found.map_or(DEVICE, |found| found.kind);
        context.share(memory.addr(), |pages, at| IpcMemory::of(pages, at, kind))?
    };
    // SAFETY: the caller's promise.
    unsafe { put(to, made.ok_or(Error::OUT_OF_HOST_MEMORY)?) }
}

/// The handle of a counter-based event as it is now.
fn of_generation(place: &Place) -> Result<IpcMemory> {
    let pages = place.shared.pages_to_read();
    let made = pages.and_then(|pages| IpcMemory::of(pages, 0, EVENTS));
    let (offset, generation) = place.numbers();
    let [low, high] = [generation, generation >> 32];
    let half = |number: u64| u32::try_from(number & 0xffff_ffff).unwrap_or(0);
    Ok(IpcMemory {
        offset,
        generation: [half(low), half(high)],
        ..made.ok_or(Error::OUT_OF_HOST_MEMORY)?
    })
}

/// The handle of events.
fn of_events(shared: &Arc<Watched>) -> Result<IpcMemory> {
    let made = shared
        .pages()
        .and_then(|pages| IpcMemory::of(pages, 0, EVENTS));
    made.ok_or(Error::OUT_OF_HOST_MEMORY)
}

/// The file of an allocation, as a descriptor that the host closes.
pub(super) fn exported(context: &Context, address: usize) -> Result<i32> {
    let copy = |pages: &Pages, _| duplicate(pages.as_fd().as_raw_fd());
    let file = context.share(address, copy)?;
    Ok(file.ok_or(Error::OUT_OF_HOST_MEMORY)?.into_raw_fd())
}

api! {
    fn zeMemGetIpcHandle(context: Handle, memory: *const c_void, to: *mut IpcMemory) {
        share(context, memory, to)
    }

    fn zeMemGetIpcHandleWithProperties(
        context: Handle, memory: *const c_void, _next: *const c_void, to: *mut IpcMemory,
    ) {
        share(context, memory, to)
    }

    fn zeMemOpenIpcHandle(
        context: Handle, device: Handle, handle: IpcMemory, flags: u32, to: *mut *mut c_void,
    ) {
        let (context, device) = (get::<Context>(context)?, get::<Device>(device)?);
        ensure(context.has(&device), Error::INVALID_ARGUMENT)?;
        ensure(flags & !3 == 0, Error::INVALID_ENUMERATION)?;
        ensure(!to.is_null(), Error::INVALID_NULL_POINTER)?;
        let handle = handle.whole();
        let known = KINDS.iter().any(|kind| kind.0 == handle.kind);
        ensure(known, Error::INVALID_ARGUMENT)?;
        let pages = handle.pages()?;
        let offset = usize::try_from(handle.offset).unwrap_or(usize::MAX);
        ensure(offset < pages.bytes(), Error::INVALID_ARGUMENT)?;
        let start = context.adopt(pages, handle.kind, device.handle().get())?;
        put(to, pointer(start + offset))
    }

    fn zeMemCloseIpcHandle(context: Handle, memory: *const c_void) {
        let context = get::<Context>(context)?;
        ensure(!memory.is_null(), Error::INVALID_NULL_POINTER)?;
        let found = context.allocation(memory.addr()).ok_or(Error::INVALID_ARGUMENT)?;
        ensure(context.free(found.address + found.skip), Error::INVALID_ARGUMENT)
    }

    // The file ends with the allocation.
    fn zeMemPutIpcHandle(context: Handle, _handle: IpcMemory) {
        get::<Context>(context).map(drop)
    }

    fn zeMemGetFileDescriptorFromIpcHandleExp(context: Handle, handle: IpcMemory, to: *mut u64) {
        get::<Context>(context)?;
        put(to, u64::try_from(handle.file).map_err(|_| Error::INVALID_ARGUMENT)?)
    }

    fn zeMemGetIpcHandleFromFileDescriptorExp(context: Handle, number: u64, to: *mut IpcMemory) {
        get::<Context>(context)?;
        let number = i32::try_from(number).map_err(|_| Error::INVALID_ARGUMENT)?;
        let pages = duplicate(number).and_then(Pages::of).ok_or(Error::INVALID_ARGUMENT)?;
        let made = IpcMemory::of(&pages, 0, DEVICE).ok_or(Error::INVALID_ARGUMENT)?;
        put(to, IpcMemory { file: number, ..made })
    }

    fn zeEventPoolGetIpcHandle(pool: Handle, to: *mut IpcMemory) {
        let pool = get::<Pool>(pool)?;
        put(to, of_events(pool.shared.as_ref().ok_or(Error::INVALID_ARGUMENT)?)?)
    }

    // The file ends with the pool.
    fn zeEventPoolPutIpcHandle(context: Handle, _handle: IpcMemory) {
        get::<Context>(context).map(drop)
    }

    fn zeEventPoolOpenIpcHandle(context: Handle, handle: IpcMemory, to: *mut Handle) {
        let context = get::<Context>(context)?;
        give(to, Ok(Pool::open(&context, Watched::open(handle.pages()?)?)))
    }

    fn zeEventPoolCloseIpcHandle(pool: Handle) {
        destroy::<Pool>(pool)
    }

    fn zeEventCounterBasedGetIpcHandle(event: Handle, to: *mut IpcMemory) {
        ensure(!to.is_null(), Error::INVALID_NULL_POINTER)?;
        put(to, of_generation(&get::<Event>(event)?.shared()?)?)
    }

    fn zeEventCounterBasedOpenIpcHandle(context: Handle, handle: IpcMemory, to: *mut Handle) {
        get::<Context>(context)?;
        let [low, high] = handle.generation.map(u64::from);
        let shared = Watched::open(handle.pages()?)?;
        give(to, Ok(Event::open(shared.generation(handle.offset, high << 32 | low)?)))
    }

    fn zeEventCounterBasedCloseIpcHandle(event: Handle) {
        destroy::<Event>(event)
    }
}
