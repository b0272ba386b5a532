//! Memory that is mapped into ranges of addresses.

use crate::error::{Error, Result, ensure};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use visakit_driver::context::Context;
use visakit_driver::handle::Handle;
use visakit_host::Pages;

/// Smallest pages: those of the host.
const PAGE: usize = 4096;

/// Memory without an address.
#[derive(Debug)]
pub struct Physical {
    pub(super) handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// Its bytes.
    pub pages: Arc<Pages>,
    /// A number that no other has.
    pub id: u64,
}

impl Physical {
    /// Zeroed memory.
    ///
    /// # Errors
    /// Sizes that are not whole pages, or more than the devices have.
    pub fn new(context: &Arc<Context>, bytes: usize) -> Result<Arc<Self>> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let most = context.devices.iter().map(|d| d.max_allocation()).max();
        ensure(
            bytes > 0 && bytes.is_multiple_of(PAGE),
            Error::UNSUPPORTED_SIZE,
        )?;
        ensure(
            bytes as u64 <= most.unwrap_or(0),
            Error::OUT_OF_DEVICE_MEMORY,
        )?;
        Ok(Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            pages: Arc::new(Pages::new(bytes).ok_or(Error::OUT_OF_HOST_MEMORY)?),
            id: NEXT.fetch_add(1, Relaxed),
        }))
    }
}
