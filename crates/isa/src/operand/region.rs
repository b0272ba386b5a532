//! Regions: which elements of a variable an operand accesses.

use core::fmt;

wire_words! { Region(u16) }

/// One four-bit code of a region word: absent, or a stride or width in elements.
///
/// Codes: 0 absent, 1 to 7 for 0, 1, 2, 4, 8, 16 and 32 elements; 8 to 15 have no meaning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RegionCode(u8);

impl RegionCode {
    /// No value, left empty in text.
    pub const ABSENT: Self = Self(0);

    /// The code for `elements`, which must be 0 or a power of two up to 32.
    #[must_use]
    pub const fn from_elements(elements: u8) -> Option<Self> {
        match elements {
            0 => Some(Self(1)),
            1 | 2 | 4 | 8 | 16 | 32 => {
                #[allow(clippy::cast_possible_truncation)] // at most 5
                let log = elements.trailing_zeros() as u8;
                Some(Self(log + 2))
            }
            _ => None,
        }
    }

    /// The number of elements; `None` if the code is absent or has no meaning.
    #[must_use]
    pub const fn elements(self) -> Option<u8> {
        match self.0 {
            1 => Some(0),
            n @ 2..=7 => Some(1 << (n - 2)),
            _ => None,
        }
    }

    /// The code itself, 0 to 15.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }
}

impl fmt::Display for RegionCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.elements()) {
            (0, _) => Ok(()),
            (_, Some(n)) => write!(f, "{n}"),
            (code, None) => write!(f, "?{code}"),
        }
    }
}

/// The region word of a general or indirect operand.
///
/// Bits 0-3 vertical stride, 4-7 width, 8-11 horizontal stride, 12-15 zero; strides and width
/// in elements. Only the horizontal stride of a destination has a meaning; writers leave the other
/// two absent. An absent vertical stride on an indirect source means one address for each row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Region(u16);

impl Region {
    /// `<0;1,0>`: the same element for every lane.
    pub const SCALAR: Self = Self(0x0121);
    /// `<1;1,0>`: an element for each lane, one after the other.
    pub const PACKED: Self = Self(0x0122);
    /// `<1>`: the same for a destination.
    pub const PACKED_DESTINATION: Self = Self(0x0200);

    /// A source region `<vertical;width,horizontal>`, all in elements.
    #[must_use]
    pub const fn source(vertical: u8, width: u8, horizontal: u8) -> Option<Self> {
        match (
            RegionCode::from_elements(vertical),
            RegionCode::from_elements(width),
            RegionCode::from_elements(horizontal),
        ) {
            (Some(v), Some(w), Some(h)) => Some(Self::of_codes(v, w, h)),
            _ => None,
        }
    }

    /// A destination region `<horizontal>`, in elements.
    #[must_use]
    pub const fn destination(horizontal: u8) -> Option<Self> {
        match RegionCode::from_elements(horizontal) {
            Some(h) => Some(Self::of_codes(RegionCode::ABSENT, RegionCode::ABSENT, h)),
            None => None,
        }
    }

    /// A region made of three codes.
    #[must_use]
    pub const fn of_codes(vertical: RegionCode, width: RegionCode, horizontal: RegionCode) -> Self {
        Self(vertical.0 as u16 | (width.0 as u16) << 4 | (horizontal.0 as u16) << 8)
    }

    /// Step between rows.
    #[must_use]
    pub const fn vertical_stride(self) -> RegionCode {
        RegionCode((self.0 & 0xf) as u8)
    }

    /// Elements in a row.
    #[must_use]
    pub const fn width(self) -> RegionCode {
        RegionCode((self.0 >> 4 & 0xf) as u8)
    }

    /// Step between the elements of a row.
    #[must_use]
    pub const fn horizontal_stride(self) -> RegionCode {
        RegionCode((self.0 >> 8 & 0xf) as u8)
    }

    /// Whether every code has a meaning and the reserved bits are zero.
    #[inline]
    #[must_use]
    pub const fn is_wire_legal(self) -> bool {
        self.0 & 0xf888 == 0
    }
}

impl fmt::Display for Region {
    /// `<v;w,h>`, with absent codes left empty.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "<{};{},{}>",
            self.vertical_stride(),
            self.width(),
            self.horizontal_stride()
        )?;
        match self.0 >> 12 {
            0 => Ok(()),
            reserved => write!(f, "?{reserved:#x}"),
        }
    }
}
