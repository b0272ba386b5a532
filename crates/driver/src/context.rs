//! Contexts, and the memory that host and devices share by address.

use crate::addresses::{Addresses, Svm, What};
use crate::device::{Device, platform};
use crate::error::{Code, Result, ensure, fail};
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use opencl_sys as cl;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use visakit_exec::memory::Reachable as _;
use visakit_host::{Block, Span};

/// A mutex whose data is whole after every statement: a panic elsewhere does not spoil it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something to be called later.
pub type Later = Box<dyn FnOnce() + Send>;

/// Called with the errors of a context.
pub type Notifier = Box<dyn Fn(&str) + Send + Sync>;

/// A context.
pub struct Context {
    handle: Handle,
    /// Its devices.
    pub devices: Vec<Arc<Device>>,
    properties: Vec<isize>,
    /// Called with faults.
    notify: Option<Notifier>,
    /// Where everything is.
    pub(crate) addresses: Arc<Addresses>,
    destructors: Mutex<Vec<Later>>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Context");
        out.field("devices", &self.devices).finish_non_exhaustive()
    }
}

impl Object for Context {
    const INVALID: Code = Code(cl::CL_INVALID_CONTEXT);
    const NAME: &'static str = "context";
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let last = std::mem::take(&mut *lock(&self.destructors));
        last.into_iter().rev().for_each(|later| later());
    }
}

impl Context {
    /// A context of devices; `properties` is a list with a zero at its end, or empty.
    ///
    /// # Errors
    /// Properties that are not known.
    pub fn new(
        devices: Vec<Arc<Device>>,
        properties: Vec<isize>,
        notify: Option<Notifier>,
    ) -> Result<Arc<Self>> {
        for (index, pair) in properties.chunks(2).enumerate() {
            let mut before = properties.chunks(2).take(index);
            ensure(
                before.all(|p| p.first() != pair.first()),
                cl::CL_INVALID_PROPERTY,
            )?;
            match pair {
                [0, ..] => break,
                [name, value] if *name == cl::CL_CONTEXT_PLATFORM => {
                    let known = platform().handle().get().cast_signed();
                    ensure(*value == known, cl::CL_INVALID_PLATFORM)?;
                }
                [name, 0 | 1] if *name == cl::CL_CONTEXT_INTEROP_USER_SYNC => {}
                _ => return fail(cl::CL_INVALID_PROPERTY),
            }
        }
        ensure(!devices.is_empty(), cl::CL_INVALID_VALUE)?;
        Ok(Arc::new(Self {
            handle: Handle::default(),
            devices,
            properties,
            notify,
            addresses: Arc::default(),
            destructors: Mutex::default(),
        }))
    }

    /// Reports an error: on standard error, and to the context's callback.
    pub fn complain(&self, message: &str) {
        crate::say(message);
        if let Some(notify) = &self.notify {
            notify(message);
        }
    }

    /// Calls something when the context ends.
    pub fn at_end(&self, later: Later) {
        lock(&self.destructors).push(later);
    }

    /// Whether a device belongs to this context.
    #[must_use]
    pub fn has(&self, device: &Arc<Device>) -> bool {
        self.devices.iter().any(|d| Arc::ptr_eq(d, device))
    }

    /// `clGetContextInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        Ok(match name {
            cl::CL_CONTEXT_REFERENCE_COUNT => references(self).answer(),
            cl::CL_CONTEXT_NUM_DEVICES => u32::try_from(self.devices.len()).unwrap_or(0).answer(),
            cl::CL_CONTEXT_DEVICES => {
                let devices = self.devices.iter().map(|d| d.handle().get());
                devices.collect::<Vec<_>>().answer()
            }
            cl::CL_CONTEXT_PROPERTIES => self.properties.clone().answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }

    /// Allocates memory that has the same address for host and device.
    ///
    /// # Errors
    /// If there is no space.
    pub fn allocate(
        &self,
        size: usize,
        align: usize,
        (kind, flags, device): (u32, u64, usize),
    ) -> Result<usize> {
        ensure(size > 0, cl::CL_INVALID_BUFFER_SIZE)?;
        ensure(align <= 0x1_0000, cl::CL_INVALID_VALUE)?;
        let block = Block::at_address(size).ok_or(Code(cl::CL_OUT_OF_RESOURCES))?;
        let what = What::Shared {
            kind,
            flags,
            device,
        };
        self.addresses
            .add(block.address() as u64, &block.storage(), what);
        Ok(block.address())
    }

    /// Forgets an allocation; launches that have reached it keep its bytes.
    pub fn free(&self, address: usize) -> bool {
        self.addresses.free(address)
    }

    /// Bytes that have an address on the devices: of shared memory, or of variables. `None` if nothing is there.
    ///
    /// # Errors
    /// Bytes that go beyond its end.
    #[must_use]
    pub fn span(&self, address: usize, bytes: usize) -> Option<Result<Span>> {
        let reached = self.addresses.find(address as u64)?;
        let offset = usize::try_from(address as u64 - reached.address).ok()?;
        if offset > reached.bytes.try_into().ok()? {
            return None;
        }
        let span = Span::of(&reached.storage?, offset, bytes);
        Some(span.ok_or(Code(cl::CL_INVALID_VALUE)))
    }

    /// The allocation that has an address.
    #[must_use]
    pub fn allocation(&self, address: usize) -> Option<Svm> {
        self.addresses.shared(address)
    }
}
