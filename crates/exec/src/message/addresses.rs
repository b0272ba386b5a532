//! The addresses of the lanes of a message.

use super::data::Data;
use crate::fault::Trap;
use crate::machine::Registers;
use crate::machine::file::{array, element};
use crate::operands::{Scalar, full};
use bytemuck::Pod;

/// Addresses of at most 32 lanes.
pub(crate) type LaneAddresses = [u64; 32];

/// Where the addresses of a message come from.
///
/// The address of a lane is `(scalar * scalar_scale + scale * element + add) & mask`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Addresses {
    /// Elements, one for each lane, or one for all with a pitch.
    pub(crate) elements: Data,
    /// Size of an element.
    pub(crate) width: Width,
    /// Distance between lanes; `None` if every lane has its element.
    pub(crate) pitch: Option<Scalar>,
    /// Added to all, multiplied by the following.
    pub(crate) scalar: Scalar,
    /// Multiplies the scalar.
    pub(crate) scalar_scale: u64,
    /// Multiplies the elements.
    pub(crate) scale: u64,
    /// Added to all.
    pub(crate) add: u64,
    /// Bits that count.
    pub(crate) mask: u64,
    /// The address must be a multiple of this power of two.
    pub(crate) align: u64,
}

/// Size of an address element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Width {
    W16,
    W32,
    /// 32 bits, sign-extended.
    S32,
    W64,
}

impl Width {
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::W16 => 2,
            Self::W32 | Self::S32 => 4,
            Self::W64 => 8,
        }
    }
}

impl Addresses {
    /// Computes the addresses of the enabled lanes. All others, to the end of the last group, get that of the first
    /// enabled lane, so that what holds for all addresses holds for those of enabled lanes. Returns that address.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn fill(
        &self,
        registers: &Registers,
        lanes: usize,
        mask: u32,
        out: &mut LaneAddresses,
    ) -> Result<u64, Box<Trap>> {
        let base = self.scalar.read(registers);
        let base = base.wrapping_mul(self.scalar_scale).wrapping_add(self.add);
        let (scale, bits) = (self.scale, self.mask);
        let out = out.get_mut(..padded(lanes)).unwrap_or_default();
        if let Some(pitch) = &self.pitch {
            let mut element = [0; 8];
            for (to, from) in element.iter_mut().zip(self.elements.read(registers)?) {
                *to = *from;
            }
            let pitch = pitch.read(registers);
            let mut next = u64::from_le_bytes(element)
                .wrapping_mul(scale)
                .wrapping_add(base);
            for address in &mut *out {
                *address = next & bits;
                next = next.wrapping_add(pitch);
            }
        } else {
            self.elements.read(registers)?;
            let (file, at) = (&*registers.file, self.elements.place().unwrap_or(0));
            let whole = |element: u64| element.wrapping_add(base) & bits;
            let scaled = |element: u64| element.wrapping_mul(scale).wrapping_add(base) & bits;
            match (self.width, scale) {
                (Width::W32, 1) => spread(file, at, out, |e: u32| whole(e.into())),
                (Width::W64, 1) => spread(file, at, out, whole),
                (Width::W16, _) => spread(file, at, out, |e: u16| scaled(e.into())),
                (Width::W32, _) => spread(file, at, out, |e: u32| scaled(e.into())),
                (Width::S32, _) => {
                    spread(file, at, out, |e: i32| scaled(i64::from(e).cast_unsigned()));
                }
                (Width::W64, _) => spread(file, at, out, scaled),
            }
        }
        let first = out.get(mask.trailing_zeros() as usize);
        let first = first.copied().unwrap_or(0);
        if mask != full(out.len()) {
            for (lane, address) in (0u32..).zip(&mut *out) {
                // Not a choice: of that the compiler makes masked stores, which some hosts are slow at.
                let enabled = u64::from(mask >> lane & 1).wrapping_neg();
                *address = first ^ ((*address ^ first) & enabled);
            }
        }
        Ok(first)
    }

    /// The address of the only lane.
    #[inline]
    pub(crate) fn only(&self, registers: &Registers) -> Result<u64, Box<Trap>> {
        self.elements.read(registers)?;
        let (file, at) = (&*registers.file, self.elements.place().unwrap_or(0));
        let element = match self.width {
            Width::W16 => element::<u16>(file, at).into(),
            Width::W32 => element::<u32>(file, at).into(),
            Width::S32 => i64::from(element::<i32>(file, at)).cast_unsigned(),
            Width::W64 => element(file, at),
        };
        let base = self.scalar.read(registers);
        let base = base.wrapping_mul(self.scalar_scale).wrapping_add(self.add);
        Ok(element.wrapping_mul(self.scale).wrapping_add(base) & self.mask)
    }

    /// The first enabled lane whose address is not aligned.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn misaligned(&self, addresses: &[u64], mask: u32) -> Option<(u8, u64)> {
        // Mostly none is.
        let bits = addresses.iter().fold(0, |bits, address| bits | address);
        if self.align <= 1 || bits & (self.align - 1) == 0 {
            return None;
        }
        enabled(mask, addresses).find(|(_, address)| address & (self.align - 1) != 0)
    }
}

/// Lanes to the end of the last group.
pub(crate) const fn padded(lanes: usize) -> usize {
    lanes.next_multiple_of(GROUP)
}

/// An address for each element. The register file has elements to the end of the last group, otherwise reads return
/// zeroes.
#[cfg_attr(not(debug_assertions), inline(always))]
fn spread<E: Pod>(file: &[u8], at: usize, out: &mut [u64], address: impl Fn(E) -> u64) {
    let groups = out.as_chunks_mut::<GROUP>().0;
    for (at, group) in (at..).step_by(GROUP * size_of::<E>()).zip(groups) {
        let elements: [E; GROUP] = array(file, at);
        for (to, element) in group.iter_mut().zip(elements) {
            *to = address(element);
        }
    }
}

/// Whether each address is `step` bytes after the previous one.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_run(addresses: &[u64], step: u64) -> bool {
    let (Some(first), Some(last)) = (addresses.first(), addresses.last()) else {
        return false;
    };
    let differ = |(differ, expected): (u64, u64), address: &u64| {
        (differ | address ^ expected, expected.wrapping_add(step))
    };
    // A run that wraps around is not a run.
    last >= first && addresses.iter().fold((0, *first), differ).0 == 0
}

/// Enabled lanes with their addresses.
#[inline]
pub(crate) fn enabled(mask: u32, addresses: &[u64]) -> impl Iterator<Item = (u8, u64)> {
    (0u8..)
        .zip(addresses)
        .filter(move |(lane, _)| mask >> lane & 1 != 0)
        .map(|(lane, address)| (lane, *address))
}

/// Lanes of a group.
pub(crate) const GROUP: usize = 8;

/// How the addresses of a group of lanes are related.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    /// Each a number of bytes after the one before.
    Run,
    /// All are the same.
    Same,
    /// Anyhow.
    Other,
}

impl Relation {
    /// How the addresses of a group are related. Rows of a two-dimensional grid that are shorter than a thread form
    /// runs, and what all items of a row read is the same.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn of(addresses: &[u64; GROUP], step: u64) -> Self {
        let first = addresses[0];
        let mut run = [first; GROUP];
        for (place, address) in (0..).zip(&mut run) {
            *address = first.wrapping_add(place * step);
        }
        if *addresses == run {
            Self::Run
        } else if *addresses == [first; GROUP] {
            Self::Same
        } else {
            Self::Other
        }
    }
}
