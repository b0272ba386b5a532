//! Listings of messages.

use super::Message;
use super::addresses::{Addresses, Width};
use super::atomics::{AtomicAccess, AtomicData, AtomicWidth};
use super::block::{BlockAccess, Edge};
use super::block2d::Block2d;
use super::data::Data;
use super::lanes::LaneAccess;
use super::media::{FieldRows, MediaAccess};
use super::reach::{Index, Reach, SamplerReach};
use super::texture::{Parameter, Query, Texture};
use super::typed::Coordinates;
use super::unit::UnitKind;
use crate::operands::{Lanes, Scalar};
use std::fmt::{self, Display, Formatter, Write};
use visakit_isa::DataType;

impl Message {
    /// Writes what the message does, which storage it reaches and what it moves, its lanes, then its operands:
    /// `load.global.d32x2(16) r512..640 = [r256..384:uq + 0x8]`.
    ///
    /// Data are `r` and their bytes in the register file, up to the one after `..`, with a `!` if they leave their
    /// variable. Distances in bytes follow where lanes, or the vectors of their elements, are not packed: between
    /// lanes, then between elements. Within brackets is the address in bytes, with the bits of it that count if they are
    /// not all that the storage has; the power of two that it must be a multiple of comes last.
    pub(crate) fn list(&self, lanes: Lanes, f: &mut dyn Write) -> fmt::Result {
        match self {
            Self::Lanes(m) => m.list(lanes, f),
            Self::Block(m) => m.list(lanes, f),
            Self::Media(m) => m.list(lanes, f),
            Self::Block2d(m) => m.list(lanes, f),
            Self::Atomic(m) => m.list(lanes, f),
            Self::Counter(m) => {
                write!(f, "atomic.counter.{}.{}{lanes}", m.reach, m.data)?;
                own_lanes(m.lanes, lanes, f)?;
                m.data.operands("", f)
            }
            Self::Status(m) => {
                write!(f, "status.{}.{}{lanes}", m.reach, m.bytes)?;
                own_lanes(m.lanes, lanes, f)?;
                result(m.dst.as_ref(), f)?;
                write!(f, " {}", address(&m.addresses, m.reach)?)?;
                align(m.addresses.align, f)
            }
            Self::Typed(m) => {
                let verb = verb(m.data.as_ref(), m.store);
                write!(f, "{verb}.{}.{}{lanes}", m.reach, Channels(m.channels))?;
                own_lanes(m.coordinates.lanes, lanes, f)?;
                let packed = m.coordinates.lanes * 4;
                let pitch = Pitch(m.channel_pitch, packed);
                transfer(m.data.as_ref(), pitch, m.store, &m.coordinates, f)
            }
            Self::TypedAtomic(m) => {
                write!(f, "atomic.{}.{}{lanes}", m.reach, m.data)?;
                own_lanes(m.coordinates.lanes, lanes, f)?;
                m.data.operands(&m.coordinates.to_string(), f)
            }
            Self::TypedStatus(m) => {
                write!(f, "status.{}{lanes}", m.reach)?;
                own_lanes(m.coordinates.lanes, lanes, f)?;
                result(m.dst.as_ref(), f)?;
                write!(f, " {}", m.coordinates)
            }
            Self::Texture(m) => m.list(lanes, f),
            Self::Fence {
                local,
                beyond_group,
            } => {
                let scope = match (local, beyond_group) {
                    (true, _) => "local",
                    (false, true) => "all",
                    (false, false) => "group",
                };
                write!(f, "fence.{scope}{lanes}")
            }
            Self::Nothing => write!(f, "nothing{lanes}"),
        }
    }
}

impl LaneAccess {
    fn list(&self, lanes: Lanes, f: &mut dyn Write) -> fmt::Result {
        let verb = verb(self.data.as_ref(), self.store);
        write!(f, "{verb}.{}.{}", self.reach, self.unit)?;
        let (size, element) = (self.unit.memory(), self.unit.register());
        // Usually the elements follow each other in memory, and in registers vector by vector.
        let one_by_one = (0..).zip(&*self.parts).all(|(i, p)| p.memory == i * size);
        if self.parts.len() != 1 || !one_by_one {
            write!(f, "x{}", self.parts.len())?;
        }
        if !one_by_one {
            f.write_str("@")?;
            list(self.parts.iter().map(|p| p.memory), f)?;
        }
        write!(f, "{lanes}")?;
        own_lanes(self.lanes, lanes, f)?;
        let vectors = |pitch| {
            (0..)
                .zip(&*self.parts)
                .all(|(i, p)| p.register == i * pitch)
        };
        let pitch = self.parts.get(1).map_or(0, |p| p.register);
        let mut distances = String::new();
        if self.lane_pitch != element || !vectors(self.lanes * element) {
            write!(distances, "<{}; ", self.lane_pitch)?;
            if vectors(pitch) {
                write!(distances, "{pitch}")?;
            } else {
                list(self.parts.iter().map(|p| p.register), &mut distances)?;
            }
            distances.push('>');
        }
        let address = address(&self.addresses, self.reach)?;
        transfer(self.data.as_ref(), distances, self.store, address, f)?;
        align(self.addresses.align, f)
    }
}

impl BlockAccess {
    fn list(&self, lanes: Lanes, f: &mut dyn Write) -> fmt::Result {
        let verb = verb(self.data.as_ref(), self.store);
        write!(f, "{verb}.block.{}.{}", self.reach, self.bytes)?;
        if self.unit != self.bytes {
            write!(f, "/{}", self.unit)?;
        }
        write!(f, "{lanes}")?;
        let mut address = format!("[{}", self.address);
        if self.scale != 1 {
            write!(address, " * {}", self.scale)?;
        }
        mask(self.mask, self.reach, &mut address)?;
        address.push(']');
        transfer(self.data.as_ref(), "", self.store, address, f)?;
        align(self.align, f)
    }
}

impl MediaAccess {
    fn list(&self, lanes: Lanes, f: &mut dyn Write) -> fmt::Result {
        let verb = verb(self.data.as_ref(), self.store);
        let (width, height) = (self.width, self.height);
        write!(f, "{verb}.media.{}.{width}x{height}", self.reach)?;
        match self.rows {
            FieldRows::All => {}
            FieldRows::Top => f.write_str(".top")?,
            FieldRows::Bottom => f.write_str(".bottom")?,
        }
        if self.plane != 0 {
            write!(f, ".plane{}", self.plane)?;
        }
        if self.clamps {
            f.write_str(".clamped")?;
        }
        write!(f, "{lanes}")?;
        let pitch = Pitch(self.pitch, width);
        let at = format!("[{}, {}]", self.x, self.y);
        transfer(self.data.as_ref(), pitch, self.store, at, f)
    }
}

impl Block2d {
    fn list(&self, lanes: Lanes, f: &mut dyn Write) -> fmt::Result {
        let verb = verb(self.data.as_ref(), self.store);
        let shape = &self.shape;
        let (blocks, width, height) = (shape.blocks, shape.width, shape.height);
        let bits = shape.element * 8;
        write!(f, "{verb}.block2d.d{bits}.{blocks}x{width}x{height}")?;
        if shape.transpose {
            f.write_str(".transposed")?;
        }
        if shape.vnni {
            f.write_str(".vnni")?;
        }
        write!(f, ".grf{}{lanes}", shape.grf)?;
        let at = format!(
            "[{}; {}, {}, {}; {}, {}]",
            self.base, self.surface_width, self.surface_height, self.surface_pitch, self.x, self.y
        );
        transfer(self.data.as_ref(), "", self.store, at, f)
    }
}

impl AtomicAccess {
    fn list(&self, lanes: Lanes, f: &mut dyn Write) -> fmt::Result {
        write!(f, "atomic.{}.{}{lanes}", self.reach, self.data)?;
        own_lanes(self.lanes, lanes, f)?;
        self.data
            .operands(&address(&self.addresses, self.reach)?, f)?;
        align(self.addresses.align, f)
    }
}

impl Texture {
    fn list(&self, lanes: Lanes, f: &mut dyn Write) -> fmt::Result {
        match self.query {
            Query::Sample => f.write_str("sample")?,
            Query::Load => f.write_str("load")?,
            Query::Gather(channel) => write!(f, "gather.{}", Channels(1 << channel.min(3)))?,
            Query::Size => f.write_str("size")?,
            Query::Samples => f.write_str("samples")?,
        }
        write!(f, ".{}", self.reach)?;
        if let Some(sampler) = &self.sampler {
            write!(f, ".{sampler}")?;
        }
        write!(f, ".{}.d{}", Channels(self.channels), self.size * 8)?;
        if self.null_mask {
            f.write_str(".resident")?;
        }
        write!(f, "{lanes}")?;
        own_lanes(self.lanes, lanes, f)?;
        let mut at = String::from("[");
        for parameter in &self.coordinates {
            match parameter {
                Some(parameter) => write!(at, "{parameter}, ")?,
                None => at.push_str("0, "),
            }
        }
        write!(at, "offsets {}]", self.offsets)?;
        let pitch = Pitch(self.channel_pitch, self.lanes * self.size);
        transfer(self.dst.as_ref(), pitch, false, at, f)
    }
}

impl AtomicData {
    /// The result, the address and what memory is combined with.
    fn operands(&self, address: &str, f: &mut dyn Write) -> fmt::Result {
        result(self.dst.as_ref(), f)?;
        let mut separator = " ";
        if !address.is_empty() {
            write!(f, "{separator}{address}")?;
            separator = ", ";
        }
        match (&self.a, &self.b) {
            (None, None) => Ok(()),
            (Some(a), None) => write!(f, "{separator}{a}"),
            (Some(a), Some(b)) => write!(f, "{separator}{a}, {b}"),
            (None, Some(b)) => write!(f, "{separator}0, {b}"),
        }
    }
}

/// What a message with these data does. Stores have some; without any a load is one into a cache.
fn verb(data: Option<&Data>, store: bool) -> &'static str {
    match (data, store) {
        (_, true) => "store",
        (Some(_), false) => "load",
        (None, false) => "prefetch",
    }
}

/// A result, if there is one.
fn result(data: Option<&Data>, f: &mut dyn Write) -> fmt::Result {
    data.map_or(Ok(()), |data| write!(f, " {data} ="))
}

/// Data of these distances, and the address that they come from or go to.
fn transfer(
    data: Option<&Data>,
    distances: impl Display,
    store: bool,
    address: impl Display,
    f: &mut dyn Write,
) -> fmt::Result {
    match data {
        Some(data) if store => write!(f, " {address} = {data}{distances}"),
        Some(data) => write!(f, " {data}{distances} = {address}"),
        None => write!(f, " {address}{distances}"),
    }
}

/// The number of lanes of the message, if it is not that of the step.
fn own_lanes(own: usize, lanes: Lanes, f: &mut dyn Write) -> fmt::Result {
    if own == usize::from(lanes.count) {
        return Ok(());
    }
    write!(f, " lanes {own}")
}

/// The bits of an address that count, if they are not all that the storage has.
fn mask(mask: u64, reach: Reach, f: &mut dyn Write) -> fmt::Result {
    if mask == reach.mask() {
        return Ok(());
    }
    write!(f, " & 0x{mask:x}")
}

/// An address of each lane.
fn address(addresses: &Addresses, reach: Reach) -> Result<String, fmt::Error> {
    let mut text = format!("[{addresses}");
    mask(addresses.mask, reach, &mut text)?;
    text.push(']');
    Ok(text)
}

/// The power of two that addresses must be a multiple of.
fn align(align: u64, f: &mut dyn Write) -> fmt::Result {
    match align {
        1 => Ok(()),
        align => write!(f, " align {align}"),
    }
}

fn list(numbers: impl Iterator<Item = usize>, f: &mut dyn Write) -> fmt::Result {
    for (place, number) in numbers.enumerate() {
        write!(f, "{}{number}", if place == 0 { "" } else { " " })?;
    }
    Ok(())
}

/// A distance in bytes, if it is not the usual one, which follows it.
struct Pitch(usize, usize);

impl Display for Pitch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0 == self.1 {
            return Ok(());
        }
        write!(f, "<{}>", self.0)
    }
}

/// The letters of channels: bit 0 is red, bit 3 alpha.
struct Channels(u8);

impl Display for Channels {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        "rgba"
            .chars()
            .enumerate()
            .filter(|(bit, _)| self.0 >> bit & 1 != 0)
            .try_for_each(|(_, letter)| f.write_char(letter))
    }
}

impl Display for UnitKind {
    /// Its name in texts.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::D8 => "d8",
            Self::D16 => "d16",
            Self::D32 => "d32",
            Self::D64 => "d64",
            Self::D8In32 => "d8c32",
            Self::D16In32 => "d16c32",
            Self::D16High => "d16c32h",
        })
    }
}

impl Display for Addresses {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.elements, self.width)?;
        if self.scale != 1 {
            write!(f, " * {}", self.scale)?;
        }
        if let Some(pitch) = &self.pitch {
            write!(f, " + lane * {pitch}")?;
        }
        if self.scalar != Scalar::Constant(0) {
            write!(f, " + {}", self.scalar)?;
            if self.scalar_scale != 1 {
                write!(f, " * {}", self.scalar_scale)?;
            }
        }
        if self.add != 0 {
            write!(f, " + 0x{:x}", self.add)?;
        }
        Ok(())
    }
}

impl Display for Width {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ty = match self {
            Self::W16 => DataType::Uw,
            Self::W32 => DataType::Ud,
            Self::S32 => DataType::D,
            Self::W64 => DataType::Uq,
        };
        write!(f, "{ty}")
    }
}

impl Display for Coordinates {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (place, (source, offset)) in self.sources.iter().zip(self.offsets).enumerate() {
            f.write_str(if place == 0 { "[" } else { ", " })?;
            match source {
                Some(source) if offset == 0 => write!(f, "{source}")?,
                Some(source) => write!(f, "{source}{offset:+}")?,
                None => write!(f, "{offset}")?,
            }
        }
        write!(f, "]:{}", self.width)
    }
}

impl Display for Parameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.data, self.size * 8)
    }
}

impl Display for AtomicData {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let width = match self.width {
            AtomicWidth::W16 => "d16c32",
            AtomicWidth::W32 => "d32",
            AtomicWidth::W64 => "d64",
        };
        write!(f, "{:?}.{width}", self.op)
    }
}

impl Display for Edge {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.add {
            0 => write!(f, "{}", self.at),
            add => write!(f, "{}{add:+}", self.at),
        }
    }
}

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.add {
            0 => write!(f, "{}", self.base),
            add => write!(f, "{}+0x{add:x}", self.base),
        }
    }
}

impl Display for Reach {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat => f.write_str("global"),
            Self::Arguments(header) => write!(f, "arguments({header})"),
            Self::Local => f.write_str("slm"),
            Self::Scratch => f.write_str("scratch"),
            Self::Table(index) => write!(f, "bti({index})"),
            Self::Bindless(index) => write!(f, "bindless({index})"),
            Self::State(index) => write!(f, "state({index})"),
            Self::Surface(index) => write!(f, "surface({index})"),
        }
    }
}

impl Display for SamplerReach {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(index) => write!(f, "sampler({index})"),
            Self::Handle(handle) => write!(f, "sampler_handle({handle})"),
        }
    }
}
