//! Buffers, and what images share with them.

use crate::addresses::{Held, What};
use crate::context::{Context, Later, lock};
use crate::error::{Code, Result, ensure, fail};
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use opencl_sys as cl;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use visakit_exec::memory::Storage;
use visakit_host::{Block, Span};
use visakit_launch::Shared;

mod image;

pub use image::Shape;

/// A mapping by the host.
#[derive(Clone, Debug)]
pub struct Map {
    /// The address that the host got.
    pub pointer: usize,
    /// The first byte of the buffer.
    pub offset: usize,
    /// Number of bytes.
    pub bytes: usize,
    /// Whether the host may write.
    pub writes: bool,
}

/// A buffer or an image.
pub struct Mem {
    handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    kind: u32,
    /// `CL_MEM_…`
    pub flags: u64,
    /// The storage of its bytes.
    pub storage: Storage,
    /// First byte in the storage.
    pub offset: usize,
    /// Number of bytes.
    pub size: usize,
    /// Address of the storage.
    pub address: u64,
    /// Keeps the address; `None` if somebody else does.
    _held: Option<Held>,
    /// Whether its bytes are memory that the host shares by address.
    is_shared: bool,
    host: usize,
    /// The host's memory where the bytes could not be that.
    shadow: Option<Span>,
    /// The buffer that it is a part of.
    pub parent: Option<Arc<Mem>>,
    /// Its shape if it is an image.
    pub shape: Option<Shape>,
    properties: Vec<u64>,
    maps: Mutex<Vec<Map>>,
    /// Whether anybody has written to it; sub-buffers share this.
    written: Arc<AtomicBool>,
    destructors: Mutex<Vec<Later>>,
}

impl fmt::Debug for Mem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Mem");
        out.field("size", &self.size)
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl Object for Mem {
    const INVALID: Code = Code(cl::CL_INVALID_MEM_OBJECT);
    const NAME: &'static str = "memory object";
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Mem {
    fn drop(&mut self) {
        let last = std::mem::take(&mut *lock(&self.destructors));
        last.into_iter().rev().for_each(|later| later());
    }
}

const HOST_FLAGS: u64 =
    cl::CL_MEM_USE_HOST_PTR | cl::CL_MEM_ALLOC_HOST_PTR | cl::CL_MEM_COPY_HOST_PTR;
const ACCESS: u64 = cl::CL_MEM_READ_WRITE | cl::CL_MEM_WRITE_ONLY | cl::CL_MEM_READ_ONLY;
const HOST_ACCESS: u64 =
    cl::CL_MEM_HOST_WRITE_ONLY | cl::CL_MEM_HOST_READ_ONLY | cl::CL_MEM_HOST_NO_ACCESS;
/// Intel's flag for buffers in host memory.
const FORCE_HOST: u64 = 1 << 20;

fn check_flags(flags: u64) -> Result<()> {
    let known = ACCESS | HOST_FLAGS | HOST_ACCESS | FORCE_HOST | cl::CL_MEM_KERNEL_READ_AND_WRITE;
    ensure(flags & !known == 0, cl::CL_INVALID_VALUE)?;
    ensure((flags & ACCESS).count_ones() <= 1, cl::CL_INVALID_VALUE)?;
    ensure(
        (flags & HOST_ACCESS).count_ones() <= 1,
        cl::CL_INVALID_VALUE,
    )?;
    let uses = flags & cl::CL_MEM_USE_HOST_PTR != 0;
    let others = cl::CL_MEM_ALLOC_HOST_PTR | cl::CL_MEM_COPY_HOST_PTR;
    ensure(!uses || flags & others == 0, cl::CL_INVALID_VALUE)
}

/// The place of a new object's bytes.
struct Place {
    storage: Storage,
    offset: usize,
    address: u64,
    /// Keeps the address of new storage.
    held: Option<Held>,
    shadow: Option<Span>,
    written: bool,
}

impl Place {
    /// Storage that gets an address of its own.
    fn new(
        context: &Context,
        what: What,
        storage: Storage,
        shadow: Option<Span>,
        written: bool,
    ) -> Result<Self> {
        let held = context.addresses.place(&storage, what);
        let held = held.ok_or(Code(cl::CL_MEM_OBJECT_ALLOCATION_FAILURE))?;
        Ok(Self {
            address: held.address,
            storage,
            offset: 0,
            held: Some(held),
            shadow,
            written,
        })
    }
}

/// Finds space for this many bytes; `host` is what the caller passed, `words` the same as storage if possible.
fn place(
    (context, what): (&Context, What),
    flags: u64,
    size: usize,
    host: Option<&Span>,
    words: Option<Storage>,
) -> Result<Place> {
    let uses = flags & cl::CL_MEM_USE_HOST_PTR != 0;
    let wants = uses || flags & cl::CL_MEM_COPY_HOST_PTR != 0;
    ensure(wants == host.is_some(), cl::CL_INVALID_HOST_PTR)?;
    if uses && let Some(host) = host {
        // Memory that has an address already keeps it.
        if let Some(svm) = context.allocation(host.address()) {
            let offset = host.address() - svm.address;
            let end = offset.checked_add(size);
            ensure(
                end.is_some_and(|end| end <= svm.storage.bytes()),
                cl::CL_INVALID_BUFFER_SIZE,
            )?;
            return Ok(Place {
                storage: svm.storage,
                offset,
                address: svm.address as u64,
                held: None,
                shadow: None,
                written: true,
            });
        }
        if let Some(storage) = words {
            return Place::new(context, what, storage, None, true);
        }
    }
    let most = context.devices.iter().map(|d| d.max_allocation()).max();
    ensure(
        (size as u64) <= most.unwrap_or(0),
        cl::CL_INVALID_BUFFER_SIZE,
    )?;
    let block =
        Block::new(size.next_multiple_of(4)).ok_or(Code(cl::CL_MEM_OBJECT_ALLOCATION_FAILURE))?;
    let storage = block.storage();
    if let (Some(host), Some(all)) = (host, Span::of(&storage, 0, size)) {
        all.copy_from(0, host, 0, size)
            .ok_or(Code(cl::CL_INVALID_HOST_PTR))?;
    }
    let shadow = host.filter(|_| uses).cloned();
    Place::new(context, what, storage, shadow, wants)
}

impl Mem {
    /// Creates a buffer. `host` is memory of the caller of that size, `words` the same as storage if possible.
    ///
    /// # Errors
    /// Flags that contradict each other, sizes that cannot be.
    pub fn buffer(
        context: &Arc<Context>,
        (flags, properties): (u64, Vec<u64>),
        size: usize,
        host: Option<&Span>,
        words: Option<Storage>,
    ) -> Result<Arc<Self>> {
        check_flags(flags)?;
        ensure(size > 0, cl::CL_INVALID_BUFFER_SIZE)?;
        ensure(
            properties.first().is_none_or(|p| *p == 0),
            cl::CL_INVALID_PROPERTY,
        )?;
        let place = place((context, What::Buffer), flags, size, host, words)?;
        Ok(Self::at(
            context,
            cl::CL_MEM_OBJECT_BUFFER,
            (flags, properties),
            size,
            host,
            place,
        ))
    }

    fn at(
        context: &Arc<Context>,
        kind: u32,
        (flags, properties): (u64, Vec<u64>),
        size: usize,
        host: Option<&Span>,
        place: Place,
    ) -> Arc<Self> {
        let uses = flags & cl::CL_MEM_USE_HOST_PTR != 0;
        Arc::new(Self::plain(
            context,
            kind,
            (flags, properties),
            size,
            host.filter(|_| uses),
            place,
        ))
    }

    fn plain(
        context: &Arc<Context>,
        kind: u32,
        (flags, properties): (u64, Vec<u64>),
        size: usize,
        host: Option<&Span>,
        place: Place,
    ) -> Self {
        Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            kind,
            flags: if flags & ACCESS == 0 {
                flags | cl::CL_MEM_READ_WRITE
            } else {
                flags
            },
            storage: place.storage,
            offset: place.offset,
            size,
            address: place.address,
            is_shared: place.held.is_none(),
            _held: place.held,
            host: host.map_or(0, Span::address),
            shadow: place.shadow,
            parent: None,
            shape: None,
            properties,
            maps: Mutex::default(),
            written: Arc::new(AtomicBool::new(place.written)),
            destructors: Mutex::default(),
        }
    }

    /// A part of a buffer.
    ///
    /// # Errors
    /// Parts of parts, parts that lie outside, flags that contradict those of the buffer.
    pub fn part(self: &Arc<Self>, flags: u64, origin: usize, size: usize) -> Result<Arc<Self>> {
        ensure(
            self.parent.is_none() && self.is_buffer(),
            cl::CL_INVALID_MEM_OBJECT,
        )?;
        ensure(flags & HOST_FLAGS == 0, cl::CL_INVALID_VALUE)?;
        check_flags(flags)?;
        let read_only = self.flags & cl::CL_MEM_READ_ONLY != 0;
        let write_only = self.flags & cl::CL_MEM_WRITE_ONLY != 0;
        let reads = flags & (cl::CL_MEM_READ_ONLY | cl::CL_MEM_READ_WRITE) != 0;
        let writes = flags & (cl::CL_MEM_WRITE_ONLY | cl::CL_MEM_READ_WRITE) != 0;
        ensure(
            !(write_only && reads || read_only && writes),
            cl::CL_INVALID_VALUE,
        )?;
        let hidden = self.flags & HOST_ACCESS;
        let asked = flags & HOST_ACCESS;
        let wider = |kept: u64, other: u64| hidden & kept != 0 && asked & other != 0;
        ensure(
            !wider(cl::CL_MEM_HOST_WRITE_ONLY, cl::CL_MEM_HOST_READ_ONLY)
                && !wider(cl::CL_MEM_HOST_READ_ONLY, cl::CL_MEM_HOST_WRITE_ONLY)
                && !wider(
                    cl::CL_MEM_HOST_NO_ACCESS,
                    cl::CL_MEM_HOST_READ_ONLY | cl::CL_MEM_HOST_WRITE_ONLY,
                ),
            cl::CL_INVALID_VALUE,
        )?;
        ensure(size > 0, cl::CL_INVALID_BUFFER_SIZE)?;
        let end = origin.checked_add(size).ok_or(Code(cl::CL_INVALID_VALUE))?;
        ensure(end <= self.size, cl::CL_INVALID_VALUE)?;
        ensure(
            origin.is_multiple_of(128),
            cl::CL_MISALIGNED_SUB_BUFFER_OFFSET,
        )?;
        let access = if flags & ACCESS == 0 {
            self.flags & ACCESS
        } else {
            flags & ACCESS
        };
        let seen = if asked == 0 { hidden } else { asked };
        let flags = access | seen | self.flags & HOST_FLAGS;
        let place = Place {
            storage: self.storage.clone(),
            offset: self.offset + origin,
            address: self.address,
            held: None,
            shadow: self.shadow.as_ref().and_then(|s| s.part(origin, size)),
            written: true,
        };
        let mut mem = Self::plain(
            &self.context,
            self.kind,
            (flags, Vec::new()),
            size,
            None,
            place,
        );
        mem.host = if self.host == 0 {
            0
        } else {
            self.host + origin
        };
        mem.parent = Some(Arc::clone(self));
        mem.is_shared = self.is_shared;
        mem.written = Arc::clone(&self.written);
        Ok(Arc::new(mem))
    }

    /// `CL_MEM_OBJECT_…`
    pub const fn kind(&self) -> u32 {
        self.kind
    }

    /// Notes that something is written into it.
    pub fn write(&self) {
        self.written.store(true, Relaxed);
    }

    /// Whether anybody has written to it.
    pub fn is_written(&self) -> bool {
        self.written.load(Relaxed)
    }

    /// Whether it is a buffer.
    #[must_use]
    pub const fn is_buffer(&self) -> bool {
        self.kind == cl::CL_MEM_OBJECT_BUFFER
    }

    /// Some of its bytes.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` where they lie outside.
    pub fn span(&self, offset: usize, bytes: usize) -> Result<Span> {
        let end = offset.checked_add(bytes);
        ensure(
            end.is_some_and(|end| end <= self.size),
            cl::CL_INVALID_VALUE,
        )?;
        Span::of(&self.storage, self.offset + offset, bytes).ok_or(Code(cl::CL_INVALID_VALUE))
    }

    /// All of its bytes as an argument. Surfaces end with a whole dword, as Intel's driver makes them: kernels read the
    /// last bytes with those that follow.
    #[must_use]
    pub fn shared(&self) -> Shared {
        let whole = self.size.next_multiple_of(4);
        let room = self.storage.bytes().saturating_sub(self.offset);
        Shared {
            storage: self.storage.clone(),
            address: Some(self.address),
            before: 0,
            offset: self.offset as u64,
            size: whole.min(room).max(self.size) as u64,
        }
    }

    /// Maps bytes: returns where the host finds them. A shadow copy is updated when the command runs.
    ///
    /// # Errors
    /// Bytes outside.
    pub fn map(&self, offset: usize, bytes: usize, writes: bool) -> Result<usize> {
        let span = self.span(offset, bytes)?;
        let pointer = match &self.shadow {
            Some(shadow) => shadow.address().wrapping_add(offset),
            None => span.address(),
        };
        lock(&self.maps).push(Map {
            pointer,
            offset,
            bytes,
            writes,
        });
        Ok(pointer)
    }

    /// Brings the host's copy up to date, where there is one.
    pub fn to_host(&self, offset: usize, bytes: usize) {
        if let (Some(shadow), Ok(span)) = (&self.shadow, self.span(offset, bytes)) {
            shadow.copy_from(offset, &span, 0, bytes);
        }
    }

    /// Removes and returns the mapping of a pointer.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` if it is not mapped.
    pub fn unmap(&self, pointer: usize) -> Result<Map> {
        let mut maps = lock(&self.maps);
        let at = maps.iter().position(|m| m.pointer == pointer);
        at.map(|at| maps.swap_remove(at))
            .ok_or(Code(cl::CL_INVALID_VALUE))
    }

    /// Copies what the host wrote to its shadow copy.
    pub fn take_from_host(&self, map: &Map) {
        if let (Some(shadow), Ok(span), true) =
            (&self.shadow, self.span(map.offset, map.bytes), map.writes)
        {
            span.copy_from(0, shadow, map.offset, map.bytes);
        }
    }

    /// Calls something when the object ends.
    pub fn at_end(&self, later: Later) {
        lock(&self.destructors).push(later);
    }

    /// `clGetMemObjectInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        let sub = self.parent.is_some() && self.is_buffer();
        Ok(match name {
            cl::CL_MEM_TYPE => self.kind.answer(),
            cl::CL_MEM_FLAGS => self.flags.answer(),
            cl::CL_MEM_SIZE => self.size.answer(),
            cl::CL_MEM_HOST_PTR => self.host.answer(),
            cl::CL_MEM_MAP_COUNT => u32::try_from(lock(&self.maps).len()).unwrap_or(0).answer(),
            cl::CL_MEM_REFERENCE_COUNT => references(self).answer(),
            cl::CL_MEM_CONTEXT => self.context.handle().get().answer(),
            cl::CL_MEM_ASSOCIATED_MEMOBJECT => self
                .parent
                .as_ref()
                .map_or(0, |p| p.handle().get())
                .answer(),
            cl::CL_MEM_OFFSET => match &self.parent {
                Some(parent) if sub => self.offset - parent.offset,
                _ => 0,
            }
            .answer(),
            cl::CL_MEM_USES_SVM_POINTER => {
                (self.is_shared && self.flags & cl::CL_MEM_USE_HOST_PTR != 0).answer()
            }
            cl::CL_MEM_PROPERTIES => self.properties.clone().answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }
}
