//! The addresses of the lanes of a message.

use super::fields::Data;
use crate::code::Scalar;
use crate::fault::Trap;
use crate::machine::Registers;

/// Addresses of at most 32 lanes.
pub(crate) type LaneAddresses = [u64; 32];

/// Where the addresses of a message come from.
///
/// The address of a lane is `(scalar * scalar_scale + scale * element + add) & mask`.
#[derive(Clone, Debug)]
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
    /// Computes the addresses of all lanes, enabled or not.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn fill(
        &self,
        registers: &Registers,
        lanes: usize,
        out: &mut LaneAddresses,
    ) -> Result<(), Box<Trap>> {
        let bytes = self.elements.read(registers)?;
        let base = self.scalar.read(registers);
        let base = base.wrapping_mul(self.scalar_scale).wrapping_add(self.add);
        let out = out.get_mut(..lanes).unwrap_or_default();
        let (scale, mask) = (self.scale, self.mask);
        if let Some(pitch) = &self.pitch {
            let mut element = [0; 8];
            for (to, from) in element.iter_mut().zip(bytes) {
                *to = *from;
            }
            let pitch = pitch.read(registers);
            let mut next = u64::from_le_bytes(element)
                .wrapping_mul(scale)
                .wrapping_add(base);
            for address in out {
                *address = next & mask;
                next = next.wrapping_add(pitch);
            }
            return Ok(());
        }
        match (self.width, scale) {
            (Width::W32, 1) => {
                for (to, from) in out.iter_mut().zip(bytes.as_chunks().0) {
                    *to = u64::from(u32::from_le_bytes(*from)).wrapping_add(base) & mask;
                }
            }
            (Width::W64, 1) => {
                for (to, from) in out.iter_mut().zip(bytes.as_chunks().0) {
                    *to = u64::from_le_bytes(*from).wrapping_add(base) & mask;
                }
            }
            (Width::W16, _) => {
                for (to, from) in out.iter_mut().zip(bytes.as_chunks().0) {
                    let element = u64::from(u16::from_le_bytes(*from));
                    *to = element.wrapping_mul(scale).wrapping_add(base) & mask;
                }
            }
            (Width::W32, _) => {
                for (to, from) in out.iter_mut().zip(bytes.as_chunks().0) {
                    let element = u64::from(u32::from_le_bytes(*from));
                    *to = element.wrapping_mul(scale).wrapping_add(base) & mask;
                }
            }
            (Width::S32, _) => {
                for (to, from) in out.iter_mut().zip(bytes.as_chunks().0) {
                    let element = i64::from(i32::from_le_bytes(*from)).cast_unsigned();
                    *to = element.wrapping_mul(scale).wrapping_add(base) & mask;
                }
            }
            (Width::W64, _) => {
                for (to, from) in out.iter_mut().zip(bytes.as_chunks().0) {
                    let element = u64::from_le_bytes(*from);
                    *to = element.wrapping_mul(scale).wrapping_add(base) & mask;
                }
            }
        }
        Ok(())
    }

    /// The first address, if each is `step` bytes after the one before.
    ///
    /// Looks at the elements as they are: most messages of most programs are such a run, and for
    /// them the other addresses need not be computed.
    #[inline]
    pub(crate) fn run(
        &self,
        registers: &Registers,
        lanes: usize,
        step: usize,
    ) -> Result<Option<u64>, Box<Trap>> {
        if self.scale != 1 || self.pitch.is_some() {
            return Ok(None);
        }
        let bytes = self.elements.read(registers)?;
        let first = match self.width {
            Width::W32 => {
                let elements = bytes.as_chunks().0;
                let step = u32::try_from(step).unwrap_or(0);
                let first = elements.first().map_or(0, |e| u32::from_le_bytes(*e));
                let (mut expected, mut differ) = (first, 0);
                for element in elements {
                    differ |= u32::from_le_bytes(*element) ^ expected;
                    expected = expected.wrapping_add(step);
                }
                // A run that wraps is none.
                if differ != 0 || expected < first {
                    return Ok(None);
                }
                first.into()
            }
            Width::W64 => {
                let elements = bytes.as_chunks().0;
                let first = elements.first().map_or(0, |e| u64::from_le_bytes(*e));
                let (mut expected, mut differ) = (first, 0);
                for element in elements {
                    differ |= u64::from_le_bytes(*element) ^ expected;
                    expected = expected.wrapping_add(step as u64);
                }
                if differ != 0 {
                    return Ok(None);
                }
                first
            }
            Width::W16 | Width::S32 => return Ok(None),
        };
        let base = self.scalar.read(registers);
        let base = base.wrapping_mul(self.scalar_scale).wrapping_add(self.add);
        let address = first.wrapping_add(base) & self.mask;
        let last = address.wrapping_add((step * (lanes - 1)) as u64);
        // The mask may cut nothing off in between, and all are aligned if one is and the step.
        Ok((last & self.mask == last
            && last >= address
            && (lanes == 1 || self.align <= step as u64))
            .then_some(address)
            .filter(|a| a & (self.align - 1) == 0))
    }

    /// The first enabled lane whose address is not aligned.
    #[inline]
    pub(crate) fn misaligned(&self, addresses: &[u64], mask: u32) -> Option<(u8, u64)> {
        // Mostly none is, whatever the mask.
        let bits = addresses.iter().fold(0, |bits, address| bits | address);
        if self.align <= 1 || bits & (self.align - 1) == 0 {
            return None;
        }
        enabled(mask, addresses).find(|(_, address)| address & (self.align - 1) != 0)
    }
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

/// How the addresses of the lanes of a group lie to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Group {
    /// Each a number of bytes after the one before.
    Run,
    /// All are the same.
    Same,
    /// Anyhow.
    Other,
}

/// How the addresses of each eight lanes lie to each other. Rows of a two-dimensional grid that are shorter than a thread
/// are runs, and what all items of a row read is the same.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn groups(addresses: &[u64], mask: u32, step: u64) -> [Group; 4] {
    let mut groups = [Group::Other; 4];
    let of_lanes = addresses.as_chunks::<GROUP>().0.iter();
    for (number, (group, addresses)) in groups.iter_mut().zip(of_lanes).enumerate() {
        if mask >> (number * GROUP) & 0xff != 0xff {
            continue;
        }
        let first = addresses[0];
        let (mut run, mut same) = (0, 0);
        for (expected, address) in (0..).zip(addresses) {
            run |= address ^ first.wrapping_add(expected * step);
            same |= address ^ first;
        }
        *group = match (run, same) {
            (0, _) => Group::Run,
            (_, 0) => Group::Same,
            _ => Group::Other,
        };
    }
    groups
}
