//! Contexts, and the memory that host and devices share by address.

use crate::addresses::{self, Addresses, Svm, What};
use crate::device::{Device, platform};
use crate::error::{Code, Result, ensure, fail};
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use crate::reservation::Reservation;
use opencl_sys as cl;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use visakit_host::{Block, Pages, Span};

/// A mutex whose data is whole after every statement: a panic elsewhere does not spoil it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes to which all allocations are aligned.
const ALIGNED: usize = 1 << 16;

/// Bytes to which an allocation can be aligned.
pub const MOST_ALIGNED: usize = 1 << 30;

/// Bytes of what all contexts hold that share their memory ([`Context::joined`]).
#[must_use]
pub fn allocated() -> u64 {
    addresses::allocated()
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
    /// Ranges of addresses that the host reserved, by their beginnings.
    pub(crate) reservations: Mutex<BTreeMap<usize, Reservation>>,
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
        let place = (Arc::default(), properties, notify);
        Self::with(devices, place)
    }

    /// A context whose commands find the memory of all contexts made so, as those of Level Zero do: addresses are the
    /// process'.
    ///
    /// # Errors
    /// No devices.
    pub fn joined(devices: Vec<Arc<Device>>) -> Result<Arc<Self>> {
        Self::with(devices, (Addresses::joined(), Vec::new(), None))
    }

    fn with(
        devices: Vec<Arc<Device>>,
        (addresses, properties, notify): (Arc<Addresses>, Vec<isize>, Option<Notifier>),
    ) -> Result<Arc<Self>> {
        ensure(!devices.is_empty(), cl::CL_INVALID_VALUE)?;
        Ok(Arc::new(Self {
            handle: Handle::default(),
            devices,
            properties,
            notify,
            addresses,
            reservations: Mutex::default(),
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
        ensure(align <= ALIGNED, cl::CL_INVALID_VALUE)?;
        self.allocate_aligned(size, align, (kind, flags, device))
    }

    /// Allocates memory, for alignments of up to [`MOST_ALIGNED`] bytes.
    ///
    /// # Errors
    /// If there is no space.
    pub fn allocate_aligned(
        &self,
        size: usize,
        align: usize,
        what: (u32, u64, usize),
    ) -> Result<usize> {
        ensure(size > 0, cl::CL_INVALID_BUFFER_SIZE)?;
        ensure(align <= MOST_ALIGNED, cl::CL_INVALID_VALUE)?;
        // Addresses of pages are `ALIGNED` behind multiples of more.
        let skip = align.saturating_sub(ALIGNED);
        let whole = size.checked_add(skip);
        let block = whole.and_then(Block::at_address);
        let block = block.ok_or(Code(cl::CL_OUT_OF_RESOURCES))?;
        Ok(self.add(&block, skip, what))
    }

    fn add(
        &self,
        block: &Arc<Block>,
        skip: usize,
        (kind, flags, device): (u32, u64, usize),
    ) -> usize {
        let what = What::Shared {
            kind,
            flags,
            device,
            block: Arc::downgrade(block),
            skip,
        };
        self.addresses
            .add(block.address() as u64, &block.storage(), what);
        block.address() + skip
    }

    /// The pages of the allocation that has an address, or of what is mapped there, for other processes, and the place of the address in them.
    ///
    /// # Errors
    /// Where there is no allocation, or the host has no pages for it.
    pub fn share<T>(&self, address: usize, call: impl FnOnce(&Pages, usize) -> T) -> Result<T> {
        if let Some((pages, at)) = self.mapped(address) {
            return Ok(call(&pages, at));
        }
        let block = self.addresses.block(address);
        let block = block.ok_or(Code(cl::CL_INVALID_VALUE))?;
        let pages = block.share().ok_or(Code(cl::CL_OUT_OF_RESOURCES))?;
        Ok(call(pages, address - block.address()))
    }

    /// An allocation of pages that another process shares.
    ///
    /// # Errors
    /// If there are no addresses for it.
    pub fn adopt(&self, pages: Pages, kind: u32, device: usize) -> Result<usize> {
        let block = Block::of(pages).ok_or(Code(cl::CL_OUT_OF_RESOURCES))?;
        Ok(self.add(&block, 0, (kind, 0, device)))
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
        let reached = self.addresses.made(address as u64)?;
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::models::MODELS;
    use proptest::prelude::*;
    use std::os::fd::{AsFd, AsRawFd};
    use visakit_host::duplicate;

    fn context() -> Arc<Context> {
        let device = Device::of(MODELS.first().unwrap()).unwrap();
        Context::new(vec![Arc::new(device)], Vec::new(), None).unwrap()
    }

    const DEVICE: (u32, u64, usize) = (cl::CL_MEM_TYPE_DEVICE_INTEL, 0, 0);

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        /// An allocation is as aligned as was asked for, has its bytes, and is freed by its address alone.
        #[test]
        fn allocations_are_aligned(size in 1..1_usize << 20, align in 0..=30_u32) {
            let context = context();
            let align = 1 << align;
            let address = context.allocate_aligned(size, align, DEVICE).unwrap();
            prop_assert!(address.is_multiple_of(align));
            let svm = context.allocation(address + size - 1).unwrap();
            prop_assert_eq!(svm.address + svm.skip, address);
            prop_assert_eq!(svm.storage.bytes() - svm.skip, size);
            prop_assert!(context.span(address, size).unwrap().is_ok());
            prop_assert!(context.span(address, size + 1).unwrap().is_err());
            prop_assert!(!context.free(address + 1));
            prop_assert!(svm.skip == 0 || !context.free(svm.address));
            prop_assert!(context.free(address));
            prop_assert!(!context.free(address));
        }

        /// What one of those who share an allocation writes, the others read, before the first handle and after it.
        #[test]
        fn bytes_are_shared(
            size in 1..300_000_usize, align in 0..=21_u32,
            writes in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<u8>()), 1..16),
        ) {
            let (one, other) = (context(), context());
            let address = one.allocate_aligned(size, 1 << align, DEVICE).unwrap();
            let byte = |context: &Context, at: usize| context.span(at, 1).unwrap().unwrap();
            let before = size / 2;
            byte(&one, address + before).put(0, &[77]).unwrap();
            let file = |context: &Context, address| {
                let made = context.share(address, |pages, at| (duplicate(pages.as_fd().as_raw_fd()), at));
                let (file, at) = made.unwrap();
                (file.unwrap(), at)
            };
            let (first, at) = file(&one, address);
            let there = other.adopt(Pages::of(first).unwrap(), cl::CL_MEM_TYPE_DEVICE_INTEL, 0).unwrap() + at;
            prop_assert_eq!(byte(&other, there + before).read::<1>(0), Some([77]));
            // The second handle is of the first file.
            let (second, _) = file(&one, address);
            let again = other.adopt(Pages::of(second).unwrap(), cl::CL_MEM_TYPE_DEVICE_INTEL, 0).unwrap() + at;
            for (place, by_other, value) in writes {
                let place = place.index(size);
                let (writer, start) = if by_other { (&other, there) } else { (&one, address) };
                byte(writer, start + place).put(0, &[value]).unwrap();
                for (reader, start) in [(&one, address), (&other, there), (&other, again)] {
                    prop_assert_eq!(byte(reader, start + place).read::<1>(0), Some([value]));
                }
            }
            // What one process frees, the others keep.
            prop_assert!(one.free(address));
            prop_assert!(byte(&other, there).read::<1>(0).is_some());
        }
    }

    /// Files that are no pages, or whose size can change, are refused.
    #[test]
    fn other_files_are_no_pages() {
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        assert!(Pages::of(file).is_none());
        assert!(Pages::of(std::fs::File::open("/dev/null").unwrap()).is_none());
        assert!(duplicate(-1).is_none());
    }
}
