//! What single lanes and single messages do, for those who reason about programs instead of running them.
//!
//! The answers are computed by the code that runs programs, so that there is no second definition of any operation.

use crate::code::{AtomicOp, Destination, Flag, Region, Target};
use crate::code::{
    Compute, Lane, LaneMessage, LaneSpace, Message, Modify, Operation, Precision, Source,
};
use crate::fault::{FaultKind, Trap};
use crate::kernels::Bound;
use crate::lanes::mode::{FloatMode, MODE_BITS, USUAL_MODE};
use crate::machine::{Aligned, Registers};
use crate::memory::atomic::AtomicElement;
use crate::memory::{BufferId, Format, Image, Local, Memory, Sampler, Texels};
use crate::message;
use crate::message::data::Data;
use crate::message::reach::Reach;
use crate::message::texture::{Parameter, Query, Texture};
use crate::message::typed::TypedAccess;
use crate::observe::{Extent, LanesAccess, MemoryAccess, MissedTexel, Observer};
use crate::program::Program;
use std::ops::Range;
use std::sync::Arc;
use visakit_isa::DataType;

/// Places in the register file of [`LaneFunction::evaluate`]: a line for each operand.
const LINE: usize = 64;
const RESULT: usize = 4 * LINE;
const SECOND: usize = 5 * LINE;
const FLAG: u32 = 6 * 64;
const SETS: u32 = 7 * 64;
/// Bodies of computations read past the end of short operands.
const FILE: usize = 8 * LINE + 1024;

/// What a computation computes in a lane: everything that its results depend on except for the sources themselves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LaneFunction {
    /// The operation.
    pub operation: Operation,
    /// In which type.
    pub lane: Lane,
    /// Whose rounding and denormals floats follow.
    pub precision: Precision,
    /// Type and modifier of each source; those that the operation does not have are dwords without one.
    pub sources: [(DataType, Modify); 4],
    /// Type of the destination, and whether it saturates. `None` if only a predicate is written.
    pub destination: Option<(DataType, bool)>,
    /// Likewise of the second destination.
    pub second: Option<(DataType, bool)>,
    /// Whether a predicate is written.
    pub sets: bool,
    /// The content of `%cr0` as far as it matters: integers do not depend on it.
    pub cr0: u32,
}

/// The results of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LaneResult {
    /// The element of the destination.
    pub value: u64,
    /// That of the second destination.
    pub second: u64,
    /// The bit of the predicate.
    pub flag: bool,
}

impl LaneFunction {
    /// The function of a computation in the float mode of that content of `%cr0`; `None` for operations that look at other
    /// lanes, or at predicates as a whole.
    #[must_use]
    pub fn of(compute: &Compute, cr0: u32) -> Option<Self> {
        let operation = compute.operation;
        // Those look at their own lane only, in spite of what else they do.
        let steps = matches!(
            operation,
            Operation::QuotientStep | Operation::RsqrtStep | Operation::ScaleDown(_)
        );
        if !(operation.is_by_lane() || steps) {
            return None;
        }
        let used = operation.sources();
        let mut sources = [(DataType::Ud, Modify::None); 4];
        for (to, source) in sources.iter_mut().zip(&compute.sources).take(used) {
            *to = (source.data_type, source.modify);
        }
        let to = |d: &Destination| (d.target != Target::Null).then_some((d.data_type, d.saturate));
        let destination = to(&compute.destination);
        let second = compute.second.as_ref().and_then(to);
        let types = sources.iter().map(|(ty, _)| *ty);
        let results = [destination, second].into_iter().flatten();
        let mut types = types.chain(results.map(|(ty, _)| ty));
        let floats = matches!(compute.lane, Lane::F32 | Lane::F64)
            || matches!(operation, Operation::Convert(_) | Operation::IntegerToFloat)
            || types.any(DataType::is_float);
        Some(Self {
            operation,
            lane: compute.lane,
            precision: compute.precision,
            sources,
            destination,
            second,
            sets: compute.sets.is_some(),
            cr0: if floats { cr0 & MODE_BITS } else { USUAL_MODE },
        })
    }

    /// The results for these elements, each in the low bits of a word, and that bit of the predicate that is read; `None`
    /// for operations in a type that they do not have.
    #[must_use]
    pub fn evaluate(&self, elements: [u64; 4], flag: bool) -> Option<LaneResult> {
        let mut registers = Registers::default();
        registers.file.zero(FILE).ok()?;
        registers.mode = FloatMode::from_cr0(self.cr0);
        let mut sources = [(); 4].map(|()| Source::default());
        let operands = sources.iter_mut().zip(&self.sources).zip(elements);
        for (number, ((source, (data_type, modify)), element)) in operands.enumerate() {
            if number >= self.operation.sources() {
                break;
            }
            *source = Source {
                modify: *modify,
                region: Region::Packed,
                ..Source::scalar(number * LINE, *data_type)
            };
            registers.set_element(number * LINE, element);
        }
        let one = |offset| Flag {
            offset,
            window: 1,
            ..Flag::default()
        };
        registers.write_u32(FLAG as usize, flag.into());
        let to = |offset, kind: Option<(DataType, bool)>| match kind {
            Some((data_type, saturate)) => Destination {
                offset,
                data_type,
                saturate,
                target: Target::Packed,
            },
            None => Destination::default(),
        };
        let compute = Compute {
            operation: self.operation,
            lane: self.lane,
            precision: self.precision,
            destination: to(RESULT, self.destination),
            second: self.second.map(|kind| to(SECOND, Some(kind))),
            sets: self.sets.then(|| one(SETS)),
            sources,
            flags: [one(FLAG); 2],
        };
        Bound::new(&Arc::new(compute))
            .run(1, &mut registers, 1)
            .ok()?;
        Some(LaneResult {
            value: registers.element(RESULT),
            second: registers.element(SECOND),
            flag: registers.read_u32(SETS as usize) & 1 != 0,
        })
    }
}

/// The value that replaces an element of 2, 4 or 8 bytes in an atomic operation, and what the message returns; `None` for
/// elements of another size.
#[must_use]
pub fn atomic(op: AtomicOp, bytes: usize, old: u64, [a, b]: [u64; 2]) -> Option<(u64, u64)> {
    macro_rules! of {
        ($ty:ty) => {{
            let [old, a, b] = [old, a, b].map(|value| {
                let mut bytes = [0; size_of::<$ty>()];
                for (to, from) in bytes.iter_mut().zip(value.to_le_bytes()) {
                    *to = from;
                }
                <$ty>::from_le_bytes(bytes)
            });
            let new = <$ty>::apply(op, old, a, b);
            Some((new.into(), <$ty>::returned(op, old, new).into()))
        }};
    }
    match bytes {
        2 => of!(u16),
        4 => of!(u32),
        8 => of!(u64),
        _ => None,
    }
}

/// Determines what messages access, by running them.
#[derive(Debug)]
pub struct Probe {
    registers: Registers,
    slm: Aligned,
    scratch: Aligned,
}

/// What a message accesses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Accesses {
    /// All accesses, in order.
    pub all: Vec<MemoryAccess>,
    /// Whether parts of it were left out, as memory does not have them.
    pub partial: bool,
}

impl Probe {
    /// For messages of a program whose groups and threads have that much memory.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(program: &Program, slm: usize, scratch: usize) -> Result<Self, FaultKind> {
        let mut probe = Self {
            registers: Registers::default(),
            slm: Aligned::default(),
            scratch: Aligned::default(),
        };
        let bytes = program.register_bytes();
        let file = probe.registers.file.zero(bytes);
        file.and_then(|()| probe.slm.zero(slm))
            .and_then(|()| probe.scratch.zero(scratch))
            .map_err(|_| FaultKind::OutOfMemory((bytes + slm + scratch) as u64))?;
        Ok(probe)
    }

    /// The register file that messages find.
    pub fn registers(&mut self) -> &mut [u8] {
        &mut self.registers.file
    }

    /// Runs a message in these lanes: registers and memory are as they are, or will be anything. The accesses do not depend
    /// on more registers than those of the addresses and scalars among [`Message::operands`].
    ///
    /// # Errors
    /// The fault of the message.
    pub fn run(
        &mut self,
        message: &Message,
        memory: &Memory,
        mask: u32,
    ) -> Result<Accesses, FaultKind> {
        let mut found = Accesses::default();
        let mut local = Local {
            slm: &mut self.slm,
            scratch: &mut self.scratch,
        };
        let registers = &mut self.registers;
        let message = &message.0;
        match message.run_observed(registers, &mut local, memory, mask, &mut found) {
            Ok(()) => Ok(found),
            Err(trap) => Err(trap.kind),
        }
    }
}

/// A message as an access of each lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reached {
    /// The access.
    pub message: LaneMessage,
    /// The surface that it reaches, if it does reach one.
    pub surface: Option<Extent>,
    /// What addresses in registers are multiplied with.
    pub scale: u64,
    /// Whether it is a message of the thread, whatever lanes are enabled: its only lane.
    pub whole: bool,
}

impl Probe {
    /// The message as an access of each lane; `None` if it is another message. It does not depend on more registers
    /// than those of the scalars among [`Message::operands`] that name a surface.
    #[must_use]
    pub fn lanes(&self, message: &Message, memory: &Memory) -> Option<Reached> {
        let reach = message.0.reach()?;
        let (space, surface) = match reach {
            Reach::Flat => (LaneSpace::Global, None),
            Reach::Local => (LaneSpace::Local, None),
            Reach::Arguments(_) | Reach::Scratch => return None,
            surface => {
                let extent = surface.extent(&self.registers, memory)?;
                let space = LaneSpace::Surface {
                    place: None,
                    add: 0,
                };
                (space, Some(extent))
            }
        };
        let (message, scale, whole) = match &message.0 {
            message::Message::Block(block) => {
                let (message, scale) = block.plain(space)?;
                (message, scale, true)
            }
            other => (other.plain_in(space)?, 1, false),
        };
        Some(Reached {
            message,
            surface,
            scale,
            whole,
        })
    }
}

/// What a message does with texels of an image, apart from where they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageMessage {
    /// Flat addresses of the image.
    pub bytes: Range<u64>,
    /// The encoding of its texels.
    pub format: Format,
    /// Registers of the coordinates of the first lane, and the bytes of each; those of the next lane follow.
    pub coordinates: Vec<(usize, usize)>,
    /// Channels that are moved: bit 0 red to bit 3 alpha.
    pub channels: u8,
    /// The register of the first channel of the first lane.
    pub data: usize,
    /// Bytes of an element of the data.
    pub size: usize,
    /// Bytes from channel to channel of the data.
    pub pitch: usize,
    /// Whether a mask follows the data.
    pub with_mask: bool,
    /// What a sampler makes of texels.
    pub sampling: Option<Sampling>,
    /// Red to alpha for all lanes, where neither texels nor coordinates matter.
    pub property: Option<[u32; 4]>,
}

/// What a sampler makes of texels: the same of equal texels, for equal coordinates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sampling {
    /// Without the buffer.
    image: Image,
    query: Query,
    sampler: Sampler,
    offsets: [i64; 3],
    /// Bytes of each coordinate.
    coordinates: [Option<usize>; 3],
    /// Bytes of a result.
    size: usize,
}

impl Probe {
    /// What a message does with texels; `None` if it is another one, or has no data. It does not depend on more registers
    /// than those of the scalars among [`Message::operands`].
    ///
    /// # Errors
    /// The fault of the message: the surface is no image, or there is no sampler.
    pub fn image(
        &self,
        message: &Message,
        memory: &Memory,
    ) -> Result<Option<ImageMessage>, FaultKind> {
        let found = match &message.0 {
            message::Message::Texture(texture) => self.texture(texture, memory),
            message::Message::Typed(typed) => self.typed(typed, memory),
            _ => Ok(None),
        };
        found.map_err(|trap| trap.kind)
    }

    fn texture(
        &self,
        texture: &Texture,
        memory: &Memory,
    ) -> Result<Option<ImageMessage>, Box<Trap>> {
        let (texels, _) = texture.reach.image(&self.registers, memory)?;
        let Some(data) = &texture.dst else {
            return Ok(None);
        };
        let place = |p: &Parameter| Some((p.data.place()?, p.size));
        let coordinates = texture.coordinates.iter().flatten().map(place);
        let (Some(data), Some(coordinates)) = (data.place(), coordinates.collect()) else {
            return Err(Trap::new(FaultKind::RegisterOutOfBounds));
        };
        let property = matches!(texture.query, Query::Size | Query::Samples);
        let sampling = Sampling {
            image: Image {
                buffer: BufferId(0),
                ..texels.image
            },
            query: texture.query,
            sampler: texture.sampler(&self.registers, memory)?,
            offsets: texture.offsets(&self.registers),
            coordinates: texture.coordinates.map(|p| p.map(|p| p.size)),
            size: texture.size,
        };
        Ok(Some(ImageMessage {
            coordinates,
            channels: texture.channels,
            size: texture.size,
            pitch: texture.channel_pitch,
            with_mask: texture.null_mask,
            sampling: (!property).then_some(sampling),
            property: property.then(|| texture.property(&texels.image)),
            ..Self::texels(&texels, memory, data)
        }))
    }

    fn typed(
        &self,
        typed: &TypedAccess,
        memory: &Memory,
    ) -> Result<Option<ImageMessage>, Box<Trap>> {
        let (texels, _) = typed.reach.image(&self.registers, memory)?;
        let data = typed.data.as_ref().and_then(Data::place);
        Ok(data.map(|data| ImageMessage {
            channels: typed.channels,
            pitch: typed.channel_pitch,
            ..Self::texels(&texels, memory, data)
        }))
    }

    fn texels(texels: &Texels<'_>, memory: &Memory, data: usize) -> ImageMessage {
        let extent = texels.extent(memory);
        let bytes = extent.map(|extent| extent.base..extent.base.saturating_add(extent.bytes));
        ImageMessage {
            bytes: bytes.unwrap_or_default(),
            format: texels.image.format,
            coordinates: Vec::new(),
            channels: 0,
            data,
            size: 4,
            pitch: 0,
            with_mask: false,
            sampling: None,
            property: None,
        }
    }
}

impl Observer for Accesses {
    const INSTRUCTIONS: bool = false;
    const MEMORY: bool = true;

    fn memory(&mut self, access: &MemoryAccess, _: &[u8]) {
        self.all.push(*access);
    }

    fn lanes(&mut self, _: &LanesAccess, _: &[u8]) -> bool {
        false
    }

    fn dropped(&mut self, _: &MemoryAccess) {
        self.partial = true;
    }

    fn missed(&mut self, _: &MissedTexel) {
        self.partial = true;
    }
}
