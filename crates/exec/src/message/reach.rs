//! Which storage a message addresses.

use crate::fault::{FaultKind, Trap};
use crate::machine::Registers;
use crate::memory::space::{Plain, Shared};
use crate::memory::target::{Flat, Window};
use crate::memory::{Bound, Image, Local, Memory, Sampler, Surface, Texels};
use crate::observe::{Extent, Space};
use crate::operands::Scalar;
use visakit_isa::DataType;

/// A binding-table index, a handle or an offset into the surface-state heap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Index {
    pub(crate) base: Scalar,
    pub(crate) add: u32,
}

impl Index {
    #[expect(clippy::cast_possible_truncation, reason = "indices have 32 bits")]
    pub(crate) fn read(&self, registers: &Registers) -> u32 {
        let base = match self.base {
            Scalar::Register {
                offset,
                data_type: DataType::Ud,
            } => registers.read_u32(offset),
            base => base.read(registers) as u32,
        };
        base.wrapping_add(self.add)
    }
}

/// Which storage a message addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// 64-bit addresses.
    Flat,
    /// Addresses from the base of the indirect kernel arguments on, and from the place in them that the first
    /// dword of the thread's header says.
    Arguments(Scalar),
    /// Shared local memory of the group.
    Local,
    /// Scratch memory of the thread.
    Scratch,
    /// Offsets into the surface of a binding-table entry.
    Table(Index),
    /// Offsets into the surface of a bindless handle.
    Bindless(Index),
    /// Offsets into the surface at an offset of the surface-state heap; an unknown one is the
    /// scratch memory of the thread.
    State(Index),
    /// Offsets into the surface whose state is at this address: that of a handle, or the scratch memory
    /// of the thread.
    Surface(Index),
}

/// Bits of the first dword of a thread's header that belong to no place.
const HEADER_FLAGS: u64 = 0x3f;

/// Storage that is ready to be accessed.
pub(crate) enum Open<'a> {
    Flat(Flat<'a>),
    Buffer(Window<Shared<'a>>),
    Own(Window<Plain<'a>>),
}

/// An opened storage, the offset to add to each address, and how it is reported to an observer.
pub(crate) struct Opened<'a> {
    pub(crate) target: Open<'a>,
    pub(crate) base: u64,
    pub(crate) space: Space,
}

/// Runs an expression with whatever kind of target was opened.
macro_rules! with_target {
    ($open:expr, |$target:ident| $body:expr) => {
        match $open {
            $crate::message::reach::Open::Flat(mut $target) => $body,
            $crate::message::reach::Open::Buffer(mut $target) => $body,
            $crate::message::reach::Open::Own(mut $target) => $body,
        }
    };
}
pub(crate) use with_target;

enum Found<'m> {
    Bound(&'m Bound, u32),
    Scratch,
    Local,
}

impl Reach {
    /// Address bits that count.
    pub(crate) const fn mask(self) -> u64 {
        match self {
            Self::Local => Local::SLM_MASK,
            _ => u64::MAX,
        }
    }

    fn find<'m>(self, registers: &Registers, memory: &'m Memory) -> Result<Found<'m>, Box<Trap>> {
        let (bound, index) = match self {
            Self::Flat | Self::Arguments(_) | Self::Scratch => return Ok(Found::Scratch),
            Self::Local => return Ok(Found::Local),
            Self::Table(index) => {
                let index = index.read(registers);
                match memory.bti(index) {
                    Some(bound) => (Some(bound), index),
                    // The entries that the hardware keeps for itself.
                    None if index == 254 => return Ok(Found::Local),
                    None if matches!(index, 253 | 255) => return Ok(Found::Scratch),
                    None => (None, index),
                }
            }
            Self::Bindless(index) => {
                let index = index.read(registers);
                (memory.handle(index), index)
            }
            Self::Surface(index) => {
                let index = index.read(registers);
                if index == Memory::SCRATCH_STATE {
                    return Ok(Found::Scratch);
                }
                (memory.handle(index), index)
            }
            Self::State(index) => {
                let index = index.read(registers);
                match memory.state(index) {
                    Some(bound) => (Some(bound), index),
                    None => return Ok(Found::Scratch),
                }
            }
        };
        let bound = bound.ok_or_else(|| Trap::new(FaultKind::UnknownSurface(index)))?;
        Ok(match bound.surface {
            Surface::Scratch => Found::Scratch,
            _ => Found::Bound(bound, index),
        })
    }

    /// Opens the storage; `first` is one of the addresses.
    #[inline]
    pub(crate) fn open<'a>(
        self,
        registers: &Registers,
        local: &'a mut Local<'_>,
        memory: &'a Memory,
        first: u64,
    ) -> Result<Opened<'a>, Box<Trap>> {
        match self {
            Self::Flat => Ok(Opened {
                target: Open::Flat(Flat::new(memory, first)),
                base: 0,
                space: Space::Global,
            }),
            Self::Arguments(header) => {
                let place = header.read(registers) & !HEADER_FLAGS;
                let base = memory.argument_base().wrapping_add(place);
                Ok(Opened {
                    base,
                    target: Open::Flat(Flat::new(memory, first.wrapping_add(base))),
                    space: Space::Global,
                })
            }
            Self::Local => Ok(Opened {
                target: Open::Own(Window::whole(local.slm())),
                base: 0,
                space: Space::Local,
            }),
            _ => self.open_window(registers, local, memory),
        }
    }

    /// The surface as a window, if it is a buffer: without a structure that is moved, for which hosts wait.
    #[inline]
    pub(crate) fn buffer<'a>(
        self,
        registers: &Registers,
        memory: &'a Memory,
    ) -> Option<Window<Shared<'a>>> {
        let bound = match self {
            Self::Table(index) => memory.bti(index.read(registers)),
            Self::Bindless(index) => memory.handle(index.read(registers)),
            _ => None,
        };
        match bound?.surface {
            Surface::Buffer {
                buffer,
                offset,
                size,
            } => memory.window(buffer, offset, size),
            _ => None,
        }
    }

    fn open_window<'a>(
        self,
        registers: &Registers,
        local: &'a mut Local<'_>,
        memory: &'a Memory,
    ) -> Result<Opened<'a>, Box<Trap>> {
        let found = match self.find(registers, memory) {
            Err(trap) if memory.is_lenient() => {
                let FaultKind::UnknownSurface(index) = trap.kind else {
                    return Err(trap);
                };
                return Ok(Opened {
                    target: Open::Buffer(Window::whole(memory.nothing())),
                    base: 0,
                    space: Space::Surface(index),
                });
            }
            found => found?,
        };
        let (target, space) = match found {
            Found::Scratch => (Open::Own(Window::whole(local.scratch())), Space::Scratch),
            Found::Local => (Open::Own(Window::whole(local.slm())), Space::Local),
            Found::Bound(bound, index) => {
                let (buffer, offset, size) = match bound.surface {
                    Surface::Buffer {
                        buffer,
                        offset,
                        size,
                    } => (buffer, offset, size),
                    // As a buffer an image is its bytes.
                    Surface::Image2d(image) => (
                        image.buffer,
                        image.offset,
                        image.slice_pitch.saturating_mul(image.depth.into()),
                    ),
                    Surface::Scratch => return Err(Trap::new(FaultKind::UnknownSurface(index))),
                };
                let window = memory
                    .window(buffer, offset, size)
                    .ok_or_else(|| Trap::new(FaultKind::UnknownSurface(index)))?;
                (Open::Buffer(window), Space::Surface(index))
            }
        };
        Ok(Opened {
            target,
            base: 0,
            space,
        })
    }

    /// The part of flat memory that a surface covers, for an observer.
    pub(crate) fn extent(self, registers: &Registers, memory: &Memory) -> Option<Extent> {
        let Ok(Found::Bound(bound, _)) = self.find(registers, memory) else {
            return None;
        };
        let (buffer, offset, size) = match bound.surface {
            Surface::Buffer {
                buffer,
                offset,
                size,
            } => (buffer, offset, size),
            Surface::Image2d(image) => (image.buffer, image.offset, u64::MAX),
            Surface::Scratch => return None,
        };
        let window = memory.window(buffer, offset, size)?;
        Some(Extent {
            base: memory.address(buffer).wrapping_add(offset),
            bytes: window.bytes as u64,
        })
    }

    /// Opens the surface as an image.
    pub(crate) fn image<'a>(
        self,
        registers: &Registers,
        memory: &'a Memory,
    ) -> Result<(Texels<'a>, u32), Box<Trap>> {
        let (bound, index) = match self.find(registers, memory)? {
            Found::Bound(bound, index) => (bound, index),
            Found::Scratch | Found::Local => {
                return Err(Trap::new(FaultKind::WrongSurface {
                    surface: 0,
                    wanted: "an image",
                }));
            }
        };
        let wrong = || {
            Trap::new(FaultKind::WrongSurface {
                surface: index,
                wanted: "an image",
            })
        };
        let Surface::Image2d(image) = bound.surface else {
            return Err(wrong());
        };
        let space = memory.shared(image.buffer).ok_or_else(wrong)?;
        Ok((Texels { image, space }, index))
    }

    /// The append counter of the surface: its buffer and the place in it.
    pub(crate) fn counter<'a>(
        self,
        registers: &Registers,
        memory: &'a Memory,
    ) -> Result<(Window<Shared<'a>>, u32), Box<Trap>> {
        let Found::Bound(bound, index) = self.find(registers, memory)? else {
            return Err(Trap::new(FaultKind::WrongSurface {
                surface: 0,
                wanted: "a surface with an append counter",
            }));
        };
        let counter = bound
            .counter
            .and_then(|(buffer, offset)| memory.window(buffer, offset, 8));
        let counter = counter.ok_or_else(|| {
            Trap::new(FaultKind::WrongSurface {
                surface: index,
                wanted: "a surface with an append counter",
            })
        })?;
        Ok((counter, index))
    }
}

/// Bytes of an image as block messages see them: rows of one plane.
pub(crate) fn plane(image: &Image, plane: u8) -> Option<(u64, u32)> {
    match (plane, image.chroma) {
        (0, _) => Some((image.offset, image.height)),
        (_, Some(chroma)) => Some((chroma, image.height.div_ceil(2))),
        (_, None) => None,
    }
}

/// Which sampler a message uses: an entry of the table, or the one of a bindless handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SamplerReach {
    Table(Index),
    Handle(Index),
}

impl SamplerReach {
    pub(crate) fn find(self, registers: &Registers, memory: &Memory) -> Result<Sampler, Box<Trap>> {
        let (index, sampler) = match self {
            Self::Table(index) => {
                let index = index.read(registers);
                (index, memory.sampler(index))
            }
            Self::Handle(index) => {
                let handle = index.read(registers);
                (handle, memory.sampler_handle(handle))
            }
        };
        sampler.ok_or_else(|| Trap::new(FaultKind::UnknownSampler(index)))
    }
}
