//! The targets of handles: `cl_context`, `ze_device_handle_t` and so on.
//!
//! A handle is the address of a cell that holds the address of the dispatch table, as OpenCL's loader requires, and a magic
//! number. Objects
//! are looked up by address in a table: a handle that was never valid, is of another kind or was released long ago is
//! not found, and no pointer of a caller is dereferenced. Cells are reused, but never freed.

use crate::error::{Code, Result};
use std::any::Any;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

/// Released cells are reused only after this many others were released.
const REST: usize = 4096;

/// The content of a cell after the dispatch table, to be recognised in memory dumps.
const MAGIC: u64 = u64::from_le_bytes(*b"visakit\0");

/// What the loader finds at a handle.
#[repr(C)]
struct Cell {
    dispatch: usize,
    magic: u64,
}

/// An object that the host has handles of.
pub trait Object: Any + Send + Sync {
    /// The error code for an invalid handle.
    const INVALID: Code;
    /// What it is, for people; empty for what the host need not release.
    const NAME: &'static str = "";
    /// Its handle.
    fn handle(&self) -> &Handle;
}

/// The place of an object's handle; it ends with the object.
#[derive(Debug, Default)]
pub struct Handle(OnceLock<usize>);

impl Handle {
    /// The handle as a number, 0 if the host never saw it.
    #[must_use]
    pub fn get(&self) -> usize {
        self.0.get().copied().unwrap_or(0)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(address) = self.0.get() {
            let mut table = write();
            table.objects.remove(address);
            table.resting.push_back(*address);
        }
    }
}

struct Entry {
    object: Weak<dyn Any + Send + Sync>,
    /// As long as the host has references.
    held: Option<Arc<dyn Any + Send + Sync>>,
    references: u32,
    name: &'static str,
}

#[derive(Default)]
struct Table {
    objects: HashMap<usize, Entry>,
    resting: VecDeque<usize>,
}

/// The address at which the loader finds the entry points; 0 where it needs none.
static DISPATCH: OnceLock<usize> = OnceLock::new();

/// Says at which address the loader finds the entry points. Handles that were created before do not have it.
pub fn dispatch(address: usize) {
    let _ = DISPATCH.set(address);
}

static TABLE: OnceLock<RwLock<Table>> = OnceLock::new();

fn read() -> RwLockReadGuard<'static, Table> {
    let table = TABLE.get_or_init(RwLock::default);
    table.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Table> {
    let table = TABLE.get_or_init(RwLock::default);
    table.write().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a handle for the host, with one reference.
pub fn export<T: Object>(object: &Arc<T>) -> usize {
    let mut table = write();
    let address = *object.handle().0.get_or_init(|| {
        let rested = if table.resting.len() > REST {
            table.resting.pop_front()
        } else {
            None
        };
        rested.unwrap_or_else(|| {
            let cell = Box::leak(Box::new(Cell {
                dispatch: DISPATCH.get().copied().unwrap_or(0),
                magic: MAGIC,
            }));
            std::ptr::from_ref(cell).expose_provenance()
        })
    });
    let held: Arc<dyn Any + Send + Sync> = Arc::<T>::clone(object);
    let entry = table.objects.entry(address).or_insert_with(|| Entry {
        object: Arc::downgrade(&held),
        held: None,
        references: 0,
        name: T::NAME,
    });
    entry.references = entry.references.saturating_add(1);
    entry.held = Some(held);
    address
}

/// What the host still has references of, by name, with how many.
#[must_use]
pub fn unreleased() -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for entry in read().objects.values() {
        if entry.held.is_some() && !entry.name.is_empty() {
            *counts.entry(entry.name).or_insert(0) += 1;
        }
    }
    counts
}

/// The object of a handle. One that the host has released, but other objects need, is found, too.
///
/// # Errors
/// [`Object::INVALID`].
pub fn find<T: Object>(address: usize) -> Result<Arc<T>> {
    let found = read()
        .objects
        .get(&address)
        .and_then(|entry| entry.object.upgrade());
    found.and_then(|o| o.downcast().ok()).ok_or(T::INVALID)
}

/// The object of a handle that the host has not released.
///
/// # Errors
/// [`Object::INVALID`].
pub fn held<T: Object>(address: usize) -> Result<Arc<T>> {
    let table = read();
    let entry = table.objects.get(&address);
    let held = entry.and_then(|entry| entry.held.clone());
    held.and_then(|o| o.downcast().ok()).ok_or(T::INVALID)
}

/// One reference more.
///
/// # Errors
/// [`Object::INVALID`].
pub fn retain<T: Object>(address: usize) -> Result<()> {
    let object = find::<T>(address)?;
    export(&object);
    Ok(())
}

/// One reference less.
///
/// # Errors
/// [`Object::INVALID`], also where the host has none left.
pub fn release<T: Object>(address: usize) -> Result<()> {
    // Dropped after the table is free again: objects take themselves out of it.
    let _object = find::<T>(address)?;
    let mut table = write();
    let entry = table.objects.get_mut(&address).ok_or(T::INVALID)?;
    entry.references = entry.references.checked_sub(1).ok_or(T::INVALID)?;
    if entry.references == 0 {
        let held = entry.held.take();
        drop(table);
        drop(held);
    }
    Ok(())
}

/// References that the host has.
pub fn references<T: Object>(object: &T) -> u32 {
    let table = read();
    let entry = table.objects.get(&object.handle().get());
    entry.map_or(0, |entry| entry.references)
}
