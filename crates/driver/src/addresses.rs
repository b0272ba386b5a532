//! Where the buffers of a context are on its devices.
//!
//! A buffer, an image, the variables of a program, and memory that the host shares by its pointers get an address when
//! they are created and keep it for their lives, so that pointers in memory mean the same in every launch. No address
//! is given out twice in a process, except for shared memory, whose addresses are the host's: there, the one that has been
//! free for the longest time is used again when there is no other. Hence a pointer to what was released is recognised.

use crate::context::lock;
use opencl_sys as cl;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};
use visakit_exec::Memory;
use visakit_exec::memory::{Reachable, Reached, Storage};
use visakit_host::Block;

/// The region of the first buffer whose address is not the host's: 128 TiB, or 256 TiB on AArch64. The program has no memory
/// there, so that no pointer of the host is taken for the address of a buffer.
const FIRST_REGION: u32 = if cfg!(target_arch = "aarch64") {
    1 << 16
} else {
    1 << 15
};

/// The region after the last one: compilers put tags into bits 61 and up.
const END_REGION: u32 = 1 << 28;

/// The regions of the memory that the drivers allot: below and above, programs may have theirs.
const SHARED: std::ops::Range<u64> =
    visakit_host::FIRST_SHARED as u64..visakit_host::END_SHARED as u64;

/// Released buffers that are remembered, to be named in reports.
const MOST_RELEASED: usize = 1 << 14;

static NEXT: AtomicU32 = AtomicU32::new(FIRST_REGION);

/// An address that nothing has had; `None` if there is none left.
fn fresh(bytes: usize) -> Option<u64> {
    let count = Memory::regions_of(bytes)?;
    let after = |next: u32| next.checked_add(count).filter(|end| *end <= END_REGION);
    let region = NEXT.fetch_update(Relaxed, Relaxed, after).ok()?;
    Some(u64::from(region) << 32 | Memory::FIRST)
}

/// What is at an address.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A buffer.
    Buffer,
    /// An image.
    Image,
    /// A section of program-scope variables.
    Variables(String),
    /// What is mapped into a range that the host reserved.
    Range,
    /// Memory with the host's address.
    Shared {
        /// `CL_MEM_TYPE_…_INTEL`, or `CL_MEM_TYPE_UNKNOWN_INTEL` for an allocation of `clSVMAlloc`.
        kind: u32,
        /// Flags as they were given.
        flags: u64,
        /// The device, if it is of one.
        device: usize,
        /// Its pages.
        block: Weak<Block>,
        /// Bytes of the first pages that are not the host's, so that the others are aligned.
        skip: usize,
    },
}

/// Something that has an address, or had it.
#[derive(Clone, Debug)]
struct Known {
    /// Its bytes; `None` if it was released.
    storage: Option<Storage>,
    bytes: usize,
    what: What,
    /// How many were created before in the context.
    number: u64,
}

impl Known {
    fn name(&self) -> String {
        let kind = match &self.what {
            What::Buffer => "buffer",
            What::Image => "image",
            What::Variables(section) => return format!("the variables in {section}"),
            What::Range => "range",
            What::Shared { .. } => "allocation",
        };
        format!("{kind} {} of {} bytes", self.number, self.bytes)
    }
}

#[derive(Debug, Default)]
struct State {
    known: BTreeMap<u64, Known>,
    /// Those that were released, the first one first.
    released: VecDeque<u64>,
    created: u64,
}

/// The memory of a context by address.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    state: Mutex<State>,
    /// Whether the memory of all contexts that say so is that of each, except for freeing it.
    is_joined: bool,
}

/// The memory of contexts that is joined.
static JOINED: Mutex<Vec<Weak<Addresses>>> = Mutex::new(Vec::new());

/// Bytes of what the contexts hold whose memory is joined.
pub(crate) fn allocated() -> u64 {
    let all: Vec<_> = lock(&JOINED).iter().filter_map(Weak::upgrade).collect();
    let of = |one: &Arc<Addresses>| {
        let state = lock(&one.state);
        let live = state.known.values().filter(|known| known.storage.is_some());
        live.map(|known| known.bytes as u64).sum::<u64>()
    };
    all.iter().map(of).sum()
}

/// The address of something for as long as it lives.
#[derive(Debug)]
pub(crate) struct Held {
    addresses: Arc<Addresses>,
    /// The address.
    pub(crate) address: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.addresses.release(self.address);
    }
}

/// Memory that has the same address for host and device.
#[derive(Clone, Debug)]
pub struct Svm {
    /// Its bytes.
    pub storage: Storage,
    /// Its address.
    pub address: usize,
    /// Bytes at its beginning that the host does not know of: what it got is aligned to more than a page.
    pub skip: usize,
    /// `CL_MEM_TYPE_…_INTEL`, or `CL_MEM_TYPE_UNKNOWN_INTEL` for an allocation of `clSVMAlloc`.
    pub kind: u32,
    /// Flags as they were given.
    pub flags: u64,
    /// The device, if it is of one.
    pub device: usize,
}

impl Addresses {
    /// Memory that is joined with that of all others made so.
    pub(crate) fn joined() -> Arc<Self> {
        let made = Arc::new(Self {
            is_joined: true,
            ..Self::default()
        });
        let mut joined = lock(&JOINED);
        joined.retain(|other| other.strong_count() > 0);
        joined.push(Arc::downgrade(&made));
        made
    }

    /// What this memory answers, or else the first that is joined with it.
    fn first<T>(&self, ask: impl Fn(&Self) -> Option<T>) -> Option<T> {
        let own = ask(self);
        if own.is_some() || !self.is_joined {
            return own;
        }
        let others: Vec<_> = lock(&JOINED).iter().filter_map(Weak::upgrade).collect();
        let mut others = others
            .iter()
            .filter(|other| !std::ptr::eq(&raw const ***other, self));
        others.find_map(|other| ask(other))
    }

    /// Gives storage an address; `None` if there is none left.
    pub(crate) fn place(self: &Arc<Self>, storage: &Storage, what: What) -> Option<Held> {
        let address = fresh(storage.bytes())?;
        self.add(address, storage, what);
        Some(Held {
            addresses: Arc::clone(self),
            address,
        })
    }

    /// Addresses for sections of variables of these sizes, before they have storage; see [`Self::hold`].
    pub(crate) fn reserve(bytes: usize) -> Option<u64> {
        fresh(bytes)
    }

    /// Holds a reserved address.
    pub(crate) fn hold(self: &Arc<Self>, address: u64, storage: &Storage, what: What) -> Held {
        self.add(address, storage, what);
        Held {
            addresses: Arc::clone(self),
            address,
        }
    }

    /// Notes that something is at an address.
    pub(crate) fn add(&self, address: u64, storage: &Storage, what: What) {
        let mut state = lock(&self.state);
        state.created += 1;
        let known = Known {
            storage: Some(storage.clone()),
            bytes: storage.bytes(),
            what,
            number: state.created,
        };
        if state.known.insert(address, known).is_some() {
            state.released.retain(|other| *other != address);
        }
    }

    fn release(&self, address: u64) {
        let mut state = lock(&self.state);
        if let Some(known) = state.known.get_mut(&address) {
            known.storage = None;
            state.released.push_back(address);
        }
        if state.released.len() > MOST_RELEASED
            && let Some(first) = state.released.pop_front()
        {
            state.known.remove(&first);
        }
    }

    /// Releases shared memory; false if there is none that the host got at the address.
    pub(crate) fn free(&self, address: usize) -> bool {
        let start = {
            let state = lock(&self.state);
            let before = state.known.range(..=address as u64).next_back();
            before.and_then(|(start, known)| match known.what {
                What::Shared { skip, .. } if known.storage.is_some() => {
                    (*start + skip as u64 == address as u64).then_some(*start)
                }
                _ => None,
            })
        };
        if let Some(start) = start {
            self.release(start);
        }
        start.is_some()
    }

    /// Forgets a range, if anything was mapped there.
    pub(crate) fn end(&self, address: usize) {
        let mut state = lock(&self.state);
        if state
            .known
            .remove(&(address as u64))
            .is_some_and(|known| known.storage.is_none())
        {
            state.released.retain(|other| *other != address as u64);
        }
    }

    /// The shared memory that has an address in its pages.
    pub(crate) fn shared(&self, address: usize) -> Option<Svm> {
        self.first(|one| one.own_shared(address))
    }

    fn own_shared(&self, address: usize) -> Option<Svm> {
        let state = lock(&self.state);
        let (start, known) = state.known.range(..=address as u64).next_back()?;
        let start = usize::try_from(*start).ok()?;
        let storage = known.storage.clone()?;
        let (kind, flags, device, skip) = match known.what {
            What::Shared {
                kind,
                flags,
                device,
                skip,
                ..
            } => (kind, flags, device, skip),
            What::Range => (cl::CL_MEM_TYPE_DEVICE_INTEL, 0, 0, 0),
            _ => return None,
        };
        (address - start < storage.room()).then_some(Svm {
            storage,
            address: start,
            skip,
            kind,
            flags,
            device,
        })
    }

    /// The pages of the shared memory that has an address.
    pub(crate) fn block(&self, address: usize) -> Option<Arc<Block>> {
        self.first(|one| one.own_block(address))
    }

    fn own_block(&self, address: usize) -> Option<Arc<Block>> {
        let start = self.own_shared(address)?.address as u64;
        match &lock(&self.state).known.get(&start)?.what {
            What::Shared { block, .. } => block.upgrade(),
            _ => None,
        }
    }

    /// Whether there is shared memory.
    pub(crate) fn has_shared(&self) -> bool {
        let state = lock(&self.state);
        let mut known = state.known.values();
        known.any(|k| k.storage.is_some() && matches!(k.what, What::Shared { .. } | What::Range))
    }

    /// How many things have an address.
    pub(crate) fn count(&self) -> usize {
        let state = lock(&self.state);
        state.known.len() - state.released.len()
    }
}

/// Memory of the program itself, if kernels may access it.
fn of_host(address: u64) -> Option<Reached> {
    let theirs = !SHARED.contains(&(address >> 32));
    let (start, storage) =
        visakit_host::process_memory(usize::try_from(address).ok().filter(|_| theirs)?)?;
    Some(Reached {
        address: start as u64,
        bytes: storage.bytes() as u64,
        name: "memory of the host".into(),
        storage: Some(storage),
    })
}

impl Addresses {
    /// What has an address, or had it, of what was made for devices.
    pub(crate) fn made(&self, address: u64) -> Option<Reached> {
        self.first(|one| one.own(address).filter(|reached| reached.storage.is_some()))
            .or_else(|| self.own(address))
    }

    fn own(&self, address: u64) -> Option<Reached> {
        let state = lock(&self.state);
        let (start, known) = state.known.range(..=address).next_back()?;
        let end = start.checked_add(known.bytes as u64)?;
        (address >> 32 <= end >> 32).then(|| Reached {
            address: *start,
            bytes: known.bytes as u64,
            name: known.name(),
            storage: known.storage.clone(),
        })
    }
}

impl Reachable for Addresses {
    fn find(&self, address: u64) -> Option<Reached> {
        self.made(address).or_else(|| of_host(address))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use proptest::prelude::*;

    /// The last address at which a program can have memory.
    const HIGHEST_OF_HOSTS: u64 = ((FIRST_REGION as u64) << 32) - 1;

    proptest! {
        /// What is at an address of its own is not where the program may have memory, and no address is given out twice.
        #[test]
        fn addresses_are_not_the_hosts(sizes in prop::collection::vec(1..1_usize << 34, 1..8)) {
            let addresses = Arc::new(Addresses::default());
            let mut last = HIGHEST_OF_HOSTS;
            for size in sizes {
                let address = Addresses::reserve(size).unwrap();
                prop_assert!(address > last && address >= 1 << 47);
                last = address + size as u64;
                let storage = Block::new(64).unwrap().storage();
                let held = addresses.hold(address, &storage, What::Buffer);
                prop_assert_eq!(addresses.made(address).map(|found| found.address), Some(held.address));
                prop_assert!(addresses.made(HIGHEST_OF_HOSTS).is_none());
            }
        }
    }
}
