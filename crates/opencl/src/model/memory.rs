//! Buffers, images and samplers.

use crate::error::{Code, Result, ensure, fail};
use crate::ffi::host::{Block, Span};
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use crate::model::context::{Context, Later, lock};
use opencl_sys as cl;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use visakit_exec::memory::{
    Addressing, ChannelOrder, ChannelType, Filter, Format, Sampler as State, Storage,
};
use visakit_launch::{Image as LaunchImage, ImageKind, Shared};

/// What a host has mapped.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    pub(crate) pointer: usize,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    pub(crate) writes: bool,
}

/// What an image is besides its bytes.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The kind.
    pub kind: ImageKind,
    /// The pixels.
    pub format: Format,
    /// `cl_image_format`, as it was given.
    pub numbers: (u32, u32),
    /// Pixels, rows, slices as they were given, and entries of an array.
    pub sizes: [usize; 4],
    /// Bytes from row to row and from slice to slice.
    pub pitches: [usize; 2],
    /// The buffer that it shows.
    pub source: Option<Arc<Mem>>,
}

impl Shape {
    /// Pixels, rows and slices, as origins and regions count them.
    #[must_use]
    pub const fn region(&self) -> [usize; 3] {
        let [width, height, depth, entries] = self.sizes;
        match self.kind {
            ImageKind::Image1d | ImageKind::Image1dBuffer => [width, 1, 1],
            ImageKind::Image1dArray => [width, entries, 1],
            ImageKind::Image2d => [width, height, 1],
            ImageKind::Image2dArray => [width, height, entries],
            ImageKind::Image3d => [width, height, depth],
        }
    }
}

/// A buffer or an image.
pub struct Mem {
    handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    kind: u32,
    /// `CL_MEM_…`
    pub flags: u64,
    /// Where its bytes are.
    pub storage: Storage,
    /// First byte in the storage.
    pub offset: usize,
    /// Number of bytes.
    pub size: usize,
    /// Address of the storage, if it has one for good.
    pub address: Option<u64>,
    host: usize,
    /// The host's memory where the bytes could not be that.
    shadow: Option<Span>,
    /// The buffer that it is a part of.
    pub parent: Option<Arc<Mem>>,
    /// What it is if it is an image.
    pub shape: Option<Shape>,
    properties: Vec<u64>,
    maps: Mutex<Vec<Map>>,
    /// Whether anybody has written something into it; parts of buffers share it.
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

/// Where the bytes of a new object are.
struct Place {
    storage: Storage,
    offset: usize,
    address: Option<u64>,
    shadow: Option<Span>,
    written: bool,
}

/// Finds room for so many bytes; `host` is what the caller gave, `words` the same as storage where that can be.
fn place(
    context: &Context,
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
            if offset
                .checked_add(size)
                .is_some_and(|end| end <= svm.storage.bytes())
            {
                return Ok(Place {
                    storage: svm.storage,
                    offset,
                    address: Some(svm.address as u64),
                    shadow: None,
                    written: true,
                });
            }
        }
        if let Some(storage) = words {
            return Ok(Place {
                storage,
                offset: 0,
                address: None,
                shadow: None,
                written: true,
            });
        }
    }
    let most = context.devices.iter().map(|d| d.max_allocation()).max();
    ensure(
        (size as u64) <= most.unwrap_or(0),
        cl::CL_INVALID_BUFFER_SIZE,
    )?;
    let block = Block::new(size).ok_or(Code(cl::CL_MEM_OBJECT_ALLOCATION_FAILURE))?;
    let storage = block.storage();
    if let (Some(host), Some(all)) = (host, Span::of(&storage, 0, size)) {
        all.copy_from(0, host, 0, size)
            .ok_or(Code(cl::CL_INVALID_HOST_PTR))?;
    }
    Ok(Place {
        storage,
        offset: 0,
        address: None,
        shadow: host.filter(|_| uses).cloned(),
        written: wants,
    })
}

impl Mem {
    /// A buffer. `host` is memory of the caller of that size, `words` the same as storage where that can be.
    ///
    /// # Errors
    /// Flags that contradict each other, sizes that cannot be.
    pub(crate) fn buffer(
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
        let place = place(context, flags, size, host, words)?;
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
        mem.written = Arc::clone(&self.written);
        Ok(Arc::new(mem))
    }

    /// An image. Pitches of zero stand for rows that follow each other.
    ///
    /// # Errors
    /// Formats and sizes that are not supported.
    pub(crate) fn image(
        context: &Arc<Context>,
        (flags, properties): (u64, Vec<u64>),
        kind: u32,
        mut shape: Shape,
        host: Option<(&Span, Option<Storage>)>,
    ) -> Result<Arc<Self>> {
        check_flags(flags)?;
        ensure(
            properties.first().is_none_or(|p| *p == 0),
            cl::CL_INVALID_PROPERTY,
        )?;
        ensure(
            context.devices.iter().any(|d| d.model.images),
            cl::CL_INVALID_OPERATION,
        )?;
        let texel = shape.format.bytes();
        let [width, height, depth, entries] = shape.sizes;
        let rows = match shape.kind {
            ImageKind::Image2d | ImageKind::Image2dArray | ImageKind::Image3d => height,
            _ => 1,
        };
        let slices = match shape.kind {
            ImageKind::Image3d => depth,
            ImageKind::Image1dArray | ImageKind::Image2dArray => entries,
            _ => 1,
        };
        let most = if shape.kind == ImageKind::Image1dBuffer {
            1 << 27
        } else {
            16384
        };
        ensure(
            width > 0 && rows > 0 && slices > 0,
            cl::CL_INVALID_IMAGE_DESCRIPTOR,
        )?;
        ensure(
            width <= most && rows <= 16384 && slices <= 16384,
            cl::CL_INVALID_IMAGE_SIZE,
        )?;
        let [row, slice] = &mut shape.pitches;
        let given = host.is_some() || shape.source.is_some();
        ensure(
            given || (*row == 0 && *slice == 0),
            cl::CL_INVALID_IMAGE_DESCRIPTOR,
        )?;
        if *row == 0 {
            *row = width * texel;
        }
        ensure(
            *row >= width * texel && row.is_multiple_of(texel),
            cl::CL_INVALID_IMAGE_DESCRIPTOR,
        )?;
        let least = *row * rows;
        if *slice == 0 || slices == 1 {
            *slice = least;
        }
        ensure(
            *slice >= least && slice.is_multiple_of(*row),
            cl::CL_INVALID_IMAGE_DESCRIPTOR,
        )?;
        let size = *slice * slices;
        if let Some(source) = shape.source.clone() {
            ensure(size <= source.size, cl::CL_INVALID_IMAGE_DESCRIPTOR)?;
            let place = Place {
                storage: source.storage.clone(),
                offset: source.offset,
                address: source.address,
                shadow: None,
                written: true,
            };
            let flags = if flags & ACCESS == 0 {
                flags | source.flags & ACCESS
            } else {
                flags
            };
            let flags = flags | source.flags & HOST_FLAGS;
            let mut mem = Self::plain(context, kind, (flags, properties), size, None, place);
            mem.host = source.host;
            mem.written = Arc::clone(&source.written);
            mem.parent = Some(source);
            mem.shape = Some(shape);
            return Ok(Arc::new(mem));
        }
        let whole = host.as_ref().map(|(span, _)| (*span).clone());
        let span = match &whole {
            Some(span) => Some(span.part(0, size).ok_or(Code(cl::CL_INVALID_HOST_PTR))?),
            None => None,
        };
        let words = host.and_then(|(_, words)| words);
        let place = place(context, flags, size, span.as_ref(), words)?;
        let uses = flags & cl::CL_MEM_USE_HOST_PTR != 0;
        let span = span.filter(|_| uses);
        let mut mem = Self::plain(
            context,
            kind,
            (flags, properties),
            size,
            span.as_ref(),
            place,
        );
        mem.shape = Some(shape);
        Ok(Arc::new(mem))
    }

    /// Bytes that an image of this shape has, for those who must know before it is made.
    #[must_use]
    pub(crate) fn image_bytes(shape: &Shape) -> Option<usize> {
        let [width, height, depth, entries] = shape.sizes;
        let texel = shape.format.bytes();
        let row = match shape.pitches {
            [0, _] => width.checked_mul(texel)?,
            [row, _] => row,
        };
        let (rows, slices) = match shape.kind {
            ImageKind::Image2d => (height, 1),
            ImageKind::Image2dArray => (height, entries),
            ImageKind::Image3d => (height, depth),
            ImageKind::Image1dArray => (1, entries),
            _ => (1, 1),
        };
        let slice = match shape.pitches {
            [_, slice] if slice > 0 && slices > 1 => slice,
            _ => row.checked_mul(rows)?,
        };
        slice.checked_mul(slices)
    }

    /// `CL_MEM_OBJECT_…`
    pub(crate) const fn kind(&self) -> u32 {
        self.kind
    }

    /// Notes that something is written into it.
    pub(crate) fn write(&self) {
        self.written.store(true, Relaxed);
    }

    /// Whether anybody has written something into it.
    pub(crate) fn is_written(&self) -> bool {
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
    pub(crate) fn span(&self, offset: usize, bytes: usize) -> Result<Span> {
        let end = offset.checked_add(bytes);
        ensure(
            end.is_some_and(|end| end <= self.size),
            cl::CL_INVALID_VALUE,
        )?;
        Span::of(&self.storage, self.offset + offset, bytes).ok_or(Code(cl::CL_INVALID_VALUE))
    }

    /// All of its bytes as an argument.
    #[must_use]
    pub fn shared(&self) -> Shared {
        Shared {
            storage: self.storage.clone(),
            address: self.address,
            offset: self.offset as u64,
            size: self.size as u64,
        }
    }

    /// The image as an argument.
    ///
    /// # Errors
    /// Buffers.
    pub fn launch_image(&self) -> Result<LaunchImage> {
        let shape = self.shape.as_ref().ok_or(Code(cl::CL_INVALID_ARG_VALUE))?;
        let small = |n: usize| u32::try_from(n).map_err(|_| Code(cl::CL_INVALID_IMAGE_SIZE));
        let [width, height, depth, entries] = shape.sizes;
        let [row, slice] = shape.pitches;
        let line = shape.kind == ImageKind::Image1dArray;
        Ok(LaunchImage {
            kind: shape.kind,
            width: small(width)?,
            height: small(match shape.kind {
                ImageKind::Image1dArray => entries,
                ImageKind::Image1d | ImageKind::Image1dBuffer => 1,
                _ => height,
            })?,
            depth: small(match shape.kind {
                ImageKind::Image3d => depth,
                ImageKind::Image2dArray => entries,
                _ => 1,
            })?,
            // The lines of an array are as far from each other as its slices.
            row_pitch: small(if line { slice } else { row })?,
            slice_pitch: if line {
                (slice * entries) as u64
            } else {
                slice as u64
            },
            format: shape.format,
            bytes: Vec::new(),
        })
    }

    /// Maps bytes: gives where the host finds them. What a shadow holds is brought up to date when the command runs.
    ///
    /// # Errors
    /// Bytes outside.
    pub(crate) fn map(&self, offset: usize, bytes: usize, writes: bool) -> Result<usize> {
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
    pub(crate) fn to_host(&self, offset: usize, bytes: usize) {
        if let (Some(shadow), Ok(span)) = (&self.shadow, self.span(offset, bytes)) {
            shadow.copy_from(offset, &span, 0, bytes);
        }
    }

    /// What a pointer has mapped, which it no longer has.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` where it has nothing.
    pub(crate) fn unmap(&self, pointer: usize) -> Result<Map> {
        let mut maps = lock(&self.maps);
        let at = maps.iter().position(|m| m.pointer == pointer);
        at.map(|at| maps.swap_remove(at))
            .ok_or(Code(cl::CL_INVALID_VALUE))
    }

    /// Takes over what the host wrote into its copy.
    pub(crate) fn take_from_host(&self, map: &Map) {
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
    /// `CL_INVALID_VALUE` for what is not known.
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
                (self.address.is_some() && self.flags & cl::CL_MEM_USE_HOST_PTR != 0).answer()
            }
            cl::CL_MEM_PROPERTIES => self.properties.clone().answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }

    /// `clGetImageInfo`.
    ///
    /// # Errors
    /// Buffers, and `CL_INVALID_VALUE` for what is not known.
    pub fn image_info(&self, name: u32) -> Result<Vec<u8>> {
        let shape = self.shape.as_ref().ok_or(Code(cl::CL_INVALID_MEM_OBJECT))?;
        let [width, height, depth, entries] = shape.sizes;
        let kind = shape.kind;
        let flat = matches!(
            kind,
            ImageKind::Image1d | ImageKind::Image1dBuffer | ImageKind::Image1dArray
        );
        let sliced = matches!(
            kind,
            ImageKind::Image1dArray | ImageKind::Image2dArray | ImageKind::Image3d
        );
        Ok(match name {
            cl::CL_IMAGE_FORMAT => [shape.numbers.0, shape.numbers.1].answer(),
            cl::CL_IMAGE_ELEMENT_SIZE => shape.format.bytes().answer(),
            cl::CL_IMAGE_ROW_PITCH => shape.pitches[0].answer(),
            cl::CL_IMAGE_SLICE_PITCH => if sliced { shape.pitches[1] } else { 0 }.answer(),
            cl::CL_IMAGE_WIDTH => width.answer(),
            cl::CL_IMAGE_HEIGHT => if flat { 0 } else { height }.answer(),
            cl::CL_IMAGE_DEPTH => if kind == ImageKind::Image3d { depth } else { 0 }.answer(),
            cl::CL_IMAGE_ARRAY_SIZE => {
                let array = matches!(kind, ImageKind::Image1dArray | ImageKind::Image2dArray);
                if array { entries } else { 0 }.answer()
            }
            cl::CL_IMAGE_BUFFER => shape
                .source
                .as_ref()
                .map_or(0, |b| b.handle().get())
                .answer(),
            cl::CL_IMAGE_NUM_MIP_LEVELS | cl::CL_IMAGE_NUM_SAMPLES => 0_u32.answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }
}

const ORDERS: [(u32, ChannelOrder); 10] = [
    (cl::CL_R, ChannelOrder::R),
    (cl::CL_A, ChannelOrder::A),
    (cl::CL_RG, ChannelOrder::Rg),
    (cl::CL_RA, ChannelOrder::Ra),
    (cl::CL_RGB, ChannelOrder::Rgb),
    (cl::CL_RGBA, ChannelOrder::Rgba),
    (cl::CL_BGRA, ChannelOrder::Bgra),
    (cl::CL_ARGB, ChannelOrder::Argb),
    (cl::CL_INTENSITY, ChannelOrder::Intensity),
    (cl::CL_LUMINANCE, ChannelOrder::Luminance),
];

const TYPES: [(u32, ChannelType); 12] = [
    (cl::CL_SNORM_INT8, ChannelType::Snorm8),
    (cl::CL_SNORM_INT16, ChannelType::Snorm16),
    (cl::CL_UNORM_INT8, ChannelType::Unorm8),
    (cl::CL_UNORM_INT16, ChannelType::Unorm16),
    (cl::CL_SIGNED_INT8, ChannelType::Sint8),
    (cl::CL_SIGNED_INT16, ChannelType::Sint16),
    (cl::CL_SIGNED_INT32, ChannelType::Sint32),
    (cl::CL_UNSIGNED_INT8, ChannelType::Uint8),
    (cl::CL_UNSIGNED_INT16, ChannelType::Uint16),
    (cl::CL_UNSIGNED_INT32, ChannelType::Uint32),
    (cl::CL_HALF_FLOAT, ChannelType::Float16),
    (cl::CL_FLOAT, ChannelType::Float32),
];

/// Formats that images of Intel's devices have: pairs of order and type.
pub fn formats() -> Vec<(u32, u32)> {
    let mut all = Vec::new();
    for (order, meaning) in ORDERS {
        for (channel, kind) in TYPES {
            use ChannelType::{Float16, Float32, Sint8, Snorm8, Snorm16, Uint8, Unorm8, Unorm16};
            let fits = match meaning {
                ChannelOrder::R | ChannelOrder::Rg | ChannelOrder::Rgba => true,
                ChannelOrder::A => matches!(kind, Unorm8 | Unorm16 | Float16 | Float32),
                ChannelOrder::Bgra | ChannelOrder::Argb => {
                    matches!(kind, Unorm8 | Snorm8 | Sint8 | Uint8)
                }
                ChannelOrder::Intensity | ChannelOrder::Luminance => {
                    matches!(
                        kind,
                        Unorm8 | Unorm16 | Snorm8 | Snorm16 | Float16 | Float32
                    )
                }
                ChannelOrder::Ra | ChannelOrder::Rgb => false,
            };
            if fits && !(meaning == ChannelOrder::Argb) {
                all.push((order, channel));
            }
        }
    }
    all
}

/// The format of that order and type.
///
/// # Errors
/// `CL_IMAGE_FORMAT_NOT_SUPPORTED`.
pub fn format(order: u32, channel: u32) -> Result<Format> {
    let no = Code(cl::CL_IMAGE_FORMAT_NOT_SUPPORTED);
    ensure(formats().contains(&(order, channel)), no.0)?;
    let order = ORDERS.iter().find(|row| row.0 == order).ok_or(no)?.1;
    let channel = TYPES.iter().find(|row| row.0 == channel).ok_or(no)?.1;
    Ok(Format { order, channel })
}

/// A sampler.
#[derive(Debug)]
pub struct Sampler {
    handle: Handle,
    context: Arc<Context>,
    /// What it does.
    pub state: State,
    normalized: bool,
    addressing: u32,
    filter: u32,
    properties: Vec<u64>,
}

impl Object for Sampler {
    const INVALID: Code = Code(cl::CL_INVALID_SAMPLER);
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Sampler {
    /// A sampler.
    ///
    /// # Errors
    /// Modes that are not known.
    pub fn new(
        context: &Arc<Context>,
        (normalized, addressing, filter): (bool, u32, u32),
        properties: Vec<u64>,
    ) -> Result<Arc<Self>> {
        ensure(
            context.devices.iter().any(|d| d.model.images),
            cl::CL_INVALID_OPERATION,
        )?;
        let state = State {
            normalized,
            addressing: match addressing {
                cl::CL_ADDRESS_NONE | cl::CL_ADDRESS_CLAMP_TO_EDGE => Addressing::ClampToEdge,
                cl::CL_ADDRESS_CLAMP => Addressing::ClampToBorder,
                cl::CL_ADDRESS_REPEAT => Addressing::Repeat,
                cl::CL_ADDRESS_MIRRORED_REPEAT => Addressing::Mirror,
                _ => return fail(cl::CL_INVALID_VALUE),
            },
            filter: match filter {
                cl::CL_FILTER_NEAREST => Filter::Nearest,
                cl::CL_FILTER_LINEAR => Filter::Linear,
                _ => return fail(cl::CL_INVALID_VALUE),
            },
        };
        Ok(Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            state,
            normalized,
            addressing,
            filter,
            properties,
        }))
    }

    /// Whether coordinates are normalized, the addressing mode and the filter.
    pub(crate) const fn modes(&self) -> (bool, u32, u32) {
        (self.normalized, self.addressing, self.filter)
    }

    /// `clGetSamplerInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for what is not known.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        Ok(match name {
            cl::CL_SAMPLER_REFERENCE_COUNT => references(self).answer(),
            cl::CL_SAMPLER_CONTEXT => self.context.handle().get().answer(),
            cl::CL_SAMPLER_NORMALIZED_COORDS => self.normalized.answer(),
            cl::CL_SAMPLER_ADDRESSING_MODE => self.addressing.answer(),
            cl::CL_SAMPLER_FILTER_MODE => self.filter.answer(),
            cl::CL_SAMPLER_PROPERTIES => self.properties.clone().answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }
}

/// OpenCL's names of a format's order and type, without `CL_`.
pub(crate) const fn names(format: Format) -> (&'static str, &'static str) {
    let order = match format.order {
        ChannelOrder::R => "R",
        ChannelOrder::A => "A",
        ChannelOrder::Rg => "RG",
        ChannelOrder::Ra => "RA",
        ChannelOrder::Rgb => "RGB",
        ChannelOrder::Rgba => "RGBA",
        ChannelOrder::Bgra => "BGRA",
        ChannelOrder::Argb => "ARGB",
        ChannelOrder::Intensity => "INTENSITY",
        ChannelOrder::Luminance => "LUMINANCE",
    };
    let channel = match format.channel {
        ChannelType::Unorm8 => "UNORM_INT8",
        ChannelType::Unorm16 => "UNORM_INT16",
        ChannelType::Snorm8 => "SNORM_INT8",
        ChannelType::Snorm16 => "SNORM_INT16",
        ChannelType::Uint8 => "UNSIGNED_INT8",
        ChannelType::Uint16 => "UNSIGNED_INT16",
        ChannelType::Uint32 => "UNSIGNED_INT32",
        ChannelType::Sint8 => "SIGNED_INT8",
        ChannelType::Sint16 => "SIGNED_INT16",
        ChannelType::Sint32 => "SIGNED_INT32",
        ChannelType::Float16 => "HALF_FLOAT",
        ChannelType::Float32 => "FLOAT",
    };
    (order, channel)
}
