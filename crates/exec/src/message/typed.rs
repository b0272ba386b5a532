//! Messages that address texels of an image.

use super::addresses::{LaneAddresses, Width};
use super::atomics::AtomicData;
use super::data::Data;
use super::reach::Reach;
use crate::fault::{FaultKind, Outcome, Trap};
use crate::machine::Registers;
use crate::memory::target::Window;
use crate::memory::{Memory, Texels};
use crate::observe::{MemoryAccess, MissedTexel, Observer, Space};

/// Integer texel coordinates of the lanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Coordinates {
    /// U, V and R; absent ones are 0.
    pub(crate) sources: [Option<Data>; 3],
    pub(crate) width: Width,
    /// Added to each.
    pub(crate) offsets: [i64; 3],
    pub(crate) lanes: usize,
}

/// The coordinates of each lane.
pub(crate) type LaneCoordinates = [[i64; 3]; 32];

impl Coordinates {
    pub(crate) fn fill(&self, registers: &Registers) -> Result<LaneCoordinates, Box<Trap>> {
        let mut out = [[0; 3]; 32];
        for (axis, (source, offset)) in self.sources.iter().zip(self.offsets).enumerate() {
            let bytes = source.as_ref().map(|s| s.read(registers)).transpose()?;
            let mut elements = bytes.map(|b| b.chunks_exact(self.width.bytes()));
            for lane in out.iter_mut().take(self.lanes) {
                let mut word = [0; 8];
                if let Some(element) = elements.as_mut().and_then(Iterator::next) {
                    for (to, from) in word.iter_mut().zip(element) {
                        *to = *from;
                    }
                }
                let value = i64::try_from(u64::from_le_bytes(word)).unwrap_or(i64::MAX / 2);
                if let Some(place) = lane.get_mut(axis) {
                    *place = value.saturating_add(offset);
                }
            }
        }
        Ok(out)
    }
}

/// A load or store of texels, one for each lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TypedAccess {
    pub(crate) reach: Reach,
    pub(crate) coordinates: Coordinates,
    /// Bit 0 red to bit 3 alpha.
    pub(crate) channels: u8,
    /// Bytes from channel to channel in the data operand.
    pub(crate) channel_pitch: usize,
    pub(crate) data: Option<Data>,
    pub(crate) store: bool,
}

/// Reports the texel of a lane to an observer; `access` is told where it is. One that is not there is missed, with the border's
/// color for what it reads if it is `bordered`.
pub(super) fn report_texel<O: Observer>(
    observer: &mut O,
    (registers, memory): (&Registers, &Memory),
    (texels, surface): (&Texels<'_>, u32),
    (lane, [x, y, z]): (u8, [i64; 3]),
    bordered: bool,
    access: impl FnOnce(Space, u64) -> MemoryAccess,
) {
    let place = texels.place(x, y, z);
    let at = place.map_or(0, |at| (at as u64).saturating_sub(texels.image.offset));
    let access = MemoryAccess {
        lane: Some(lane),
        extent: texels.extent(memory),
        texel: true,
        ..access(Space::Surface(surface), at)
    };
    if place.is_some() {
        observer.memory(&access, &registers.file);
    } else {
        observer.missed(&MissedTexel {
            write: access.write,
            bordered,
            ..texels.missed(memory, lane, [x, y, z])
        });
    }
}

/// The first places in registers of the elements of a lane.
pub(super) fn operands(
    data: Option<&Data>,
    places: impl Iterator<Item = usize>,
) -> [Option<usize>; 4] {
    let mut operands = [None; 4];
    if let Some(first) = data.and_then(Data::place) {
        for (to, place) in operands.iter_mut().zip(places) {
            *to = Some(first + place);
        }
    }
    operands
}

/// The lanes of a mask with their coordinates.
fn enabled(
    coordinates: &LaneCoordinates,
    lanes: usize,
    mask: u32,
) -> impl Iterator<Item = (u8, [i64; 3])> {
    let all = (0u8..).zip(coordinates.iter().copied()).take(lanes);
    all.filter(move |(lane, _)| mask >> lane & 1 != 0)
}

impl TypedAccess {
    pub(crate) fn run<O: Observer>(
        &self,
        registers: &mut Registers,
        memory: &Memory,
        mask: u32,
        observer: &mut O,
    ) -> Outcome {
        let Some(data) = &self.data else {
            return Ok(());
        };
        let coordinates = self.coordinates.fill(registers)?;
        let (mut texels, surface) = self.reach.image(registers, memory)?;
        if O::MEMORY {
            let bytes = u32::try_from(texels.image.format.bytes()).unwrap_or(0);
            for (lane, at) in enabled(&coordinates, self.coordinates.lanes, mask) {
                // What texels do not store goes nowhere.
                let format = texels.image.format;
                let places = self.places(lane).zip(self.enabled_channels());
                let places = places.filter(|(_, c)| !self.store || format.stores(*c));
                let access = |space, at| MemoryAccess {
                    operands: operands(Some(data), places.map(|(place, _)| place)),
                    ..MemoryAccess::plain(space, at, bytes, self.store)
                };
                let (of, image) = ((&*registers, memory), (&texels, surface));
                report_texel(observer, of, image, (lane, at), false, access);
            }
        }
        let enabled = enabled(&coordinates, self.coordinates.lanes, mask);
        if self.store {
            let from = data.read(registers)?;
            for (lane, [x, y, z]) in enabled {
                let mut rgba = [0; 4];
                for (at, channel) in self.places(lane).zip(self.enabled_channels()) {
                    if let (Some(bytes), Some(value)) = (
                        from.get(at..).and_then(|b| b.first_chunk()),
                        rgba.get_mut(channel),
                    ) {
                        *value = u32::from_le_bytes(*bytes);
                    }
                }
                texels.store(x, y, z, rgba, self.channels);
            }
        } else {
            let out = data.write(registers)?;
            let nothing = [0, 0, 0, texels.image.format.one()];
            for (lane, [x, y, z]) in enabled {
                let rgba = texels.load(x, y, z).unwrap_or(nothing);
                for (at, channel) in self.places(lane).zip(self.enabled_channels()) {
                    if let (Some(bytes), Some(value)) = (
                        out.get_mut(at..).and_then(|b| b.first_chunk_mut()),
                        rgba.get(channel),
                    ) {
                        *bytes = value.to_le_bytes();
                    }
                }
            }
        }
        Ok(())
    }

    fn enabled_channels(&self) -> impl Iterator<Item = usize> {
        let channels = self.channels;
        (0..4usize).filter(move |c| channels >> c & 1 != 0)
    }

    /// Places of the enabled channels of a lane: they follow each other.
    fn places(&self, lane: u8) -> impl Iterator<Item = usize> {
        let pitch = self.channel_pitch;
        (0..4usize).map(move |slot| slot * pitch + usize::from(lane) * 4)
    }
}

/// An atomic operation on texels of one channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TypedAtomic {
    pub(crate) reach: Reach,
    pub(crate) coordinates: Coordinates,
    pub(crate) data: AtomicData,
}

impl TypedAtomic {
    pub(crate) fn run<O: Observer>(
        &self,
        registers: &mut Registers,
        memory: &Memory,
        mask: u32,
        observer: &mut O,
    ) -> Outcome {
        let coordinates = self.coordinates.fill(registers)?;
        let (texels, surface) = self.reach.image(registers, memory)?;
        if texels.image.format.bytes() < self.data.width.memory() {
            return Err(Trap::new(FaultKind::WrongSurface {
                surface,
                wanted: "an image with texels of the size of the operation",
            }));
        }
        let mut addresses: LaneAddresses = [u64::MAX; 32];
        for (lane, (address, [x, y, z])) in (0u8..).zip(addresses.iter_mut().zip(coordinates)) {
            if let Some(at) = texels.place(x, y, z) {
                *address = at as u64;
                let unit = self.data.width.memory() as u64;
                if *address % unit != 0 && mask >> lane & 1 != 0 {
                    return Err(Trap::at(FaultKind::Misaligned, lane, *address));
                }
            }
        }
        let addresses = addresses.get(..self.coordinates.lanes).unwrap_or_default();
        let mut target = Window::whole(texels.space);
        if O::MEMORY {
            let failing = self.data.failing(registers, &mut target, addresses, mask)?;
            for (lane, at) in enabled(&coordinates, self.coordinates.lanes, mask) {
                let access = |space, at| MemoryAccess {
                    fails: failing >> lane & 1 != 0,
                    ..self.data.access(space, lane, at)
                };
                let image = (&texels, surface);
                let of = (&*registers, memory);
                report_texel(observer, of, image, (lane, at), false, access);
            }
        }
        self.data.apply(registers, &mut target, addresses, mask)
    }
}

/// A bit for each lane: whether its texel exists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TypedStatus {
    pub(crate) reach: Reach,
    pub(crate) coordinates: Coordinates,
    pub(crate) dst: Option<Data>,
}

impl TypedStatus {
    pub(crate) fn run(&self, registers: &mut Registers, memory: &Memory, mask: u32) -> Outcome {
        let coordinates = self.coordinates.fill(registers)?;
        let (texels, _) = self.reach.image(registers, memory)?;
        let mut bits = 0u32;
        for (lane, [x, y, z]) in (0u32..).zip(coordinates).take(self.coordinates.lanes) {
            bits |= u32::from(texels.place(x, y, z).is_some()) << lane;
        }
        if let Some(dst) = &self.dst {
            let out = dst.write(registers)?;
            if let Some(out) = out.first_chunk_mut() {
                *out = (bits & mask).to_le_bytes();
            }
        }
        Ok(())
    }
}
