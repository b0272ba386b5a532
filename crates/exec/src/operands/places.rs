//! Where the elements of operands are: the only place that computes it, for machine, machine code and checkers.

use super::{Destination, Region, Source, Target};
use std::ops::Range;

/// Bytes of an address of the register file.
const ADDRESS: usize = 2;

/// An address; 0 outside of the register file.
fn word(file: &[u8], at: usize) -> u16 {
    let bytes = file.get(at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

impl Region {
    /// Bytes from the operand's place to a lane's element of `size` bytes; `None` if an address determines it.
    #[must_use]
    pub fn offset(&self, lane: usize, size: usize) -> Option<usize> {
        match self {
            Self::Packed => Some(lane * size),
            Self::Scalar => Some(0),
            Self::Strided(stride) => Some(lane * usize::from(*stride)),
            Self::Offsets(offsets) => offsets.get(lane).map(|offset| usize::from(*offset)),
            Self::Indirect { .. } | Self::Rows { .. } => None,
        }
    }

    /// Bytes from the operand's place to the address that a lane's element is at, and from there to the element;
    /// `None` without an address.
    #[must_use]
    pub fn address(&self, lane: usize) -> Option<(usize, i64)> {
        match self {
            Self::Indirect { immediate, offsets } => {
                let offset = i64::from(*offsets.get(lane)?);
                Some((0, i64::from(*immediate) + offset))
            }
            Self::Rows {
                immediate,
                width,
                stride,
            } => {
                let width = usize::from(*width).max(1);
                let column = i64::try_from(lane % width).ok()? * i64::from(*stride);
                Some((lane / width * ADDRESS, i64::from(*immediate) + column))
            }
            Self::Packed | Self::Scalar | Self::Strided(_) | Self::Offsets(_) => None,
        }
    }

    /// Bytes from the operand's place to the end of the last of these elements or, if addresses determine where they
    /// are, of the last address.
    #[must_use]
    pub fn extent(&self, lanes: usize, size: usize) -> usize {
        let last = lanes.saturating_sub(1);
        match self {
            Self::Packed => lanes * size,
            Self::Scalar => size,
            Self::Strided(stride) => last * usize::from(*stride) + size,
            Self::Offsets(offsets) => {
                let most = offsets.iter().take(lanes).max().copied().unwrap_or(0);
                usize::from(most) + size
            }
            Self::Indirect { .. } => ADDRESS,
            Self::Rows { width, .. } => lanes.div_ceil(usize::from(*width).max(1)) * ADDRESS,
        }
    }

    /// Whether addresses determine where elements are.
    #[must_use]
    pub const fn is_indirect(&self) -> bool {
        matches!(self, Self::Indirect { .. } | Self::Rows { .. })
    }
}

impl Source {
    /// Bytes of an element.
    fn size(&self) -> usize {
        self.data_type.size().into()
    }

    /// Place of the address that a lane's element is at; `None` without an address.
    #[must_use]
    pub fn address(&self, lane: usize) -> Option<usize> {
        Some(self.offset + self.region.address(lane)?.0)
    }

    /// Place of a lane's element in this register file.
    #[must_use]
    pub fn place(&self, lane: usize, file: &[u8]) -> Option<usize> {
        if let Some(offset) = self.region.offset(lane, self.size()) {
            return Some(self.offset + offset);
        }
        let (at, further) = self.region.address(lane)?;
        usize::try_from(i64::from(word(file, self.offset + at)) + further).ok()
    }

    /// Bytes of the register file from its place to the end of the last element or address.
    #[must_use]
    pub fn extent(&self, lanes: usize) -> Range<usize> {
        self.offset..self.offset + self.region.extent(lanes, self.size())
    }
}

impl Target {
    /// Bytes from element to element of `size` bytes; `None` if nothing is written.
    #[must_use]
    pub fn stride(self, size: usize) -> Option<usize> {
        match self {
            Self::Null => None,
            Self::Packed => Some(size),
            Self::Strided(stride) | Self::Indirect { stride, .. } => Some(stride.into()),
        }
    }
}

impl Destination {
    /// Bytes of an element.
    fn size(&self) -> usize {
        self.data_type.size().into()
    }

    /// Place of the address that the elements are after; `None` without an address.
    #[must_use]
    pub const fn address(&self) -> Option<usize> {
        match self.target {
            Target::Indirect { .. } => Some(self.offset),
            Target::Null | Target::Packed | Target::Strided(_) => None,
        }
    }

    /// Place of a lane's element in this register file; `None` if nothing is written.
    #[must_use]
    pub fn place(&self, lane: usize, file: &[u8]) -> Option<usize> {
        let after = lane * self.target.stride(self.size())?;
        let Target::Indirect { immediate, .. } = self.target else {
            return Some(self.offset + after);
        };
        let base = i64::from(word(file, self.offset)) + i64::from(immediate);
        Some(usize::try_from(base).ok()? + after)
    }

    /// Bytes from its place to the end of the last element or, with an address, of that.
    #[must_use]
    pub fn extent(&self, lanes: usize) -> Range<usize> {
        let size = self.size();
        let bytes = match (self.address(), self.target.stride(size)) {
            (Some(_), _) => ADDRESS,
            (None, Some(stride)) => lanes.saturating_sub(1) * stride + size,
            (None, None) => 0,
        };
        self.offset..self.offset + bytes
    }

    /// Bytes of the register file that a given number of lanes write; `None` if an address determines
    /// them.
    #[must_use]
    pub fn range(&self, lanes: usize) -> Option<Range<usize>> {
        self.address().is_none().then(|| self.extent(lanes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use visakit_isa::DataType;

    fn regions() -> Vec<Region> {
        let mut offsets = Box::new([0; 32]);
        for (lane, offset) in (0u16..).zip(offsets.iter_mut()) {
            *offset = lane / 4 * 40 + lane % 4 * 3;
        }
        vec![
            Region::Packed,
            Region::Scalar,
            Region::Strided(12),
            Region::Offsets(offsets.clone()),
            Region::Indirect {
                immediate: -4,
                offsets,
            },
            Region::Rows {
                immediate: 8,
                width: 4,
                stride: 6,
            },
        ]
    }

    /// Elements and addresses are inside of the extent, and the last one ends with it.
    #[test]
    fn extents_end_with_the_last_element() {
        let file = [7; 1024];
        for region in regions() {
            let source = Source {
                region,
                ..Source::scalar(100, DataType::Ud)
            };
            for lanes in 1..=32 {
                let extent = source.extent(lanes);
                let ends = (0..lanes).map(|lane| match source.address(lane) {
                    Some(at) => at + ADDRESS,
                    None => source.place(lane, &file).unwrap_or(0) + 4,
                });
                assert_eq!(ends.max(), Some(extent.end), "{source:?} {lanes}");
                assert_eq!(extent.start, 100);
            }
        }
    }

    #[test]
    fn addresses_are_read_from_the_file() {
        let mut file = [0; 64];
        file[10..14].copy_from_slice(&[40, 0, 20, 0]);
        let source = Source {
            region: Region::Rows {
                immediate: 8,
                width: 4,
                stride: 6,
            },
            ..Source::scalar(10, DataType::Ud)
        };
        assert_eq!(source.place(1, &file), Some(54));
        assert_eq!(source.place(6, &file), Some(40));
        let destination = Destination {
            offset: 12,
            target: Target::Indirect {
                immediate: -6,
                stride: 8,
            },
            ..Destination::default()
        };
        assert_eq!(destination.place(2, &file), Some(30));
        assert_eq!(destination.range(2), None);
    }
}
