//! Platforms: the families of GPUs that vISA is compiled for, and their features.

use crate::device::Device;
use crate::enums::native_platform as native;
use crate::types::DataType;
use bitflags::bitflags;
use core::fmt;
use core::str::FromStr;

/// One row of the list of platforms.
struct Row {
    name: &'static str,
    summary: &'static str,
    aliases: &'static [&'static str],
    native: Option<u8>,
    has: Has,
}

/// Names of platform features, for display.
const NAMES: [(Has, &str); 9] = [
    (Has::DF, "df"),
    (Has::QWORDS, "q"),
    (Has::BF, "bf"),
    (Has::INTEGER_DIVISION, "integer division"),
    (Has::LSC, "load/store cache"),
    (Has::DATA_PORT, "data port"),
    (Has::DPAS, "systolic arrays"),
    (Has::FUSED, "fused units"),
    (Has::SAMPLERS, "samplers"),
];

bitflags! {
    /// Features in which platforms differ.
    #[derive(Clone, Copy, Debug)]
    struct Has: u16 {
        /// Registers of 64 bytes; otherwise of 32.
        const WIDE_REGISTERS = 1 << 0;
        /// 64-bit floats.
        const DF = 1 << 1;
        /// 64-bit integers.
        const QWORDS = 1 << 2;
        /// Brain floats.
        const BF = 1 << 3;
        /// Division of integers by one instruction.
        const INTEGER_DIVISION = 1 << 4;
        /// Messages of the load/store cache.
        const LSC = 1 << 5;
        /// Messages older than the load/store cache.
        const DATA_PORT = 1 << 6;
        /// Systolic arrays.
        const DPAS = 1 << 7;
        /// Execution units that work in pairs.
        const FUSED = 1 << 8;
        /// Samplers, without which there are no images.
        const SAMPLERS = 1 << 9;
    }
}

macro_rules! platforms {
    ($(
        #[doc = $summary:literal]
        $variant:ident $constant:ident $name:literal [$($alias:literal),*] $native:expr, [$($has:ident)*];
    )*) => {
        /// A platform, the oldest first. Comparison is by age.
        /// The data are those of the public compiler's list of platforms and capabilities. Names are matched in either
        /// case, with or without `_` and `-`; names of single products are accepted too.
        ///
        /// ```
        /// use visakit_isa::{DataType, Platform};
        ///
        /// let platform: Platform = "bmg".parse().unwrap();
        /// assert_eq!(platform, Platform::Xe2);
        /// assert_eq!(platform.grf_bytes(), 64);
        /// assert!(Platform::Dg2 < platform && !Platform::Dg2.has_type(DataType::Df));
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Platform {
            $(#[doc = $summary] $variant,)*
        }

        impl Platform {
            const fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => &const {
                        Row {
                            name: $name,
                            summary: $summary.trim_ascii(),
                            aliases: &[$($alias),*],
                            native: $native,
                            has: Has::empty()$(.union(Has::$has))*,
                        }
                    },)*
                }
            }

            /// Every platform, the oldest first.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
        }

        bitflags! {
            /// A set of platforms.
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
            pub struct Platforms: u32 {
                $(#[doc = $summary] const $constant = 1 << Platform::$variant as u32;)*
            }
        }
    };
}

platforms! {
    /// Broadwell
    Bdw BDW "BDW" ["gen8"] Some(native::BDW), [DF QWORDS INTEGER_DIVISION DATA_PORT SAMPLERS];
    /// Cherryview
    Chv CHV "CHV" ["gen8lp"] Some(native::CHV), [DF QWORDS INTEGER_DIVISION DATA_PORT SAMPLERS];
    /// Skylake
    Skl SKL "SKL" ["gen9", "kbl", "cfl"] Some(native::SKL), [DF QWORDS INTEGER_DIVISION DATA_PORT SAMPLERS];
    /// Broxton
    Bxt BXT "BXT" ["gen9lp", "apl", "glk"] Some(native::BXT), [DF QWORDS INTEGER_DIVISION DATA_PORT SAMPLERS];
    /// Cannon Lake
    Cnl CNL "CNL" ["gen10"] Some(native::CNL), [DF QWORDS INTEGER_DIVISION DATA_PORT SAMPLERS];
    /// Ice Lake LP
    Icllp ICLLP "ICLLP" ["icl", "gen11", "gen11lp", "ehl", "jsl"] Some(native::ICLLP), [INTEGER_DIVISION DATA_PORT SAMPLERS];
    /// Tiger Lake LP
    Tgllp TGLLP "TGLLP" ["tgl", "gen12lp", "xe-lp", "dg1", "rkl", "adl", "adl-s", "adl-p", "adl-n", "rpl-s", "rpl-p"] Some(native::TGLLP), [INTEGER_DIVISION DATA_PORT FUSED SAMPLERS];
    /// Xe HP SDV
    XeHpSdv XEHP_SDV "XeHP_SDV" ["xehp", "ats"] Some(native::XEHP_SDV), [DF QWORDS BF DATA_PORT DPAS FUSED SAMPLERS];
    /// Arc (DG2, Alchemist)
    Dg2 DG2 "DG2" ["acm", "acm-g10", "acm-g11", "acm-g12", "dg2-g10", "dg2-g11", "dg2-g12", "ats-m", "ats-m75", "ats-m150", "xe-hpg"] Some(native::DG2), [BF LSC DATA_PORT DPAS FUSED SAMPLERS];
    /// Meteor Lake
    Mtl MTL "MTL" ["mtl-u", "mtl-m", "mtl-h", "mtl-s", "mtl-p", "arl-u", "arl-s", "xe-lpg"] None, [DF BF LSC DATA_PORT FUSED SAMPLERS];
    /// Arrow Lake
    Arl ARL "ARL" ["arl-h", "xe-lpgplus"] None, [DF BF LSC DATA_PORT DPAS FUSED SAMPLERS];
    /// Ponte Vecchio
    Pvc PVC "PVC" ["pvc-xl", "pvc-sdv", "xe-hpc"] Some(native::PVC), [WIDE_REGISTERS DF QWORDS BF LSC DPAS];
    /// Ponte Vecchio XT
    PvcXt PVC_XT "PVC_XT" ["pvc-vg", "pvc-xt-c0-vg", "xe-hpc-vg"] Some(native::PVC_XT), [WIDE_REGISTERS DF QWORDS BF LSC DPAS];
    /// Xe2 (Lunar Lake, Battlemage)
    Xe2 XE2 "XE2" ["lnl", "lnl-m", "bmg", "bmg-g21", "bmg-g31", "xe2-hpg", "xe2-lpg"] None, [WIDE_REGISTERS DF QWORDS BF LSC DPAS SAMPLERS];
    /// Xe3 (Panther Lake, Wildcat Lake, Nova Lake S and U)
    Xe3 XE3 "XE3" ["ptl", "ptl-h", "ptl-u", "wcl", "nvl-s", "nvl-u", "nvl-ul", "nvl-h", "nvl-hx", "xe3-lpg"] None, [WIDE_REGISTERS DF QWORDS BF LSC DPAS SAMPLERS];
    /// Xe3P for computation (Crescent Island)
    Xe3pCri XE3P_CRI "XE3P_CRI" ["cri", "xe3p", "xe3p-xpc"] None, [WIDE_REGISTERS DF QWORDS BF LSC DPAS];
    /// Xe3P with graphics (Nova Lake P)
    Xe3p XE3P_GRAPHICS "XE3P_GRAPHICS" ["nvl", "nvl-p", "xe3p-lpg"] None, [WIDE_REGISTERS DF QWORDS BF LSC DPAS SAMPLERS];
}

/// The name does not belong to a known platform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownPlatform;

impl core::error::Error for UnknownPlatform {}

impl fmt::Display for UnknownPlatform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no platform has this name; known are ")?;
        for (i, platform) in Platform::ALL.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{platform}")?;
        }
        Ok(())
    }
}

/// The part before `-a0`, `_B1` or `-a0p`.
fn without_stepping(name: &str) -> Option<&str> {
    let (product, last) = name.rsplit_once(['-', '_'])?;
    match *last.as_bytes() {
        [letter, digit] | [letter, digit, b'p' | b'P'] => {
            (letter.is_ascii_alphabetic() && digit.is_ascii_digit()).then_some(product)
        }
        _ => None,
    }
}

pub(crate) fn plain(name: &str) -> impl Iterator<Item = u8> {
    name.bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|b| b.to_ascii_lowercase())
}

impl FromStr for Platform {
    type Err = UnknownPlatform;

    fn from_str(name: &str) -> Result<Self, UnknownPlatform> {
        Self::from_name(name).ok_or(UnknownPlatform)
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Platform {
    fn has(self, what: Has) -> bool {
        self.row().has.contains(what)
    }

    /// The platform with this name, or of the product with this name, also as it is sold ([`Device::from_name`]). A
    /// stepping such as `-b0` may follow the product: all steppings have the same instructions.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let named = |name: &str| {
            let is = |known: &str| plain(known).eq(plain(name));
            let mut all = Self::ALL.iter().copied();
            all.find(|p| is(p.name()) || p.aliases().iter().any(|alias| is(alias)))
        };
        named(name)
            .or_else(|| named(without_stepping(name)?))
            .or_else(|| named(Device::from_name(name)?.name))
    }

    /// The platform of a native binary's code.
    #[must_use]
    pub fn from_native(code: u8) -> Option<Self> {
        let code = if code == native::ICL {
            native::ICLLP
        } else {
            code
        };
        let mut all = Self::ALL.iter().copied();
        all.find(|p| p.native_code() == Some(code))
    }

    /// The compiler's name for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The common name.
    #[must_use]
    pub fn summary(self) -> &'static str {
        self.row().summary
    }

    /// Further names: of products, and older ones.
    #[must_use]
    pub fn aliases(self) -> &'static [&'static str] {
        self.row().aliases
    }

    /// The code in native binaries; `None` for platforms newer than the binary format.
    #[must_use]
    pub fn native_code(self) -> Option<u8> {
        self.row().native
    }

    /// The set containing only this platform.
    #[must_use]
    pub const fn set(self) -> Platforms {
        Platforms::from_bits_truncate(1 << self as u32)
    }

    /// The column of the written specification that applies to the platform: its own, or the last one before it.
    #[must_use]
    pub const fn column(self) -> Platforms {
        let until = Platforms::SPECIFIED.bits() & (u32::MAX >> (31 - self as u32));
        match until.checked_ilog2() {
            Some(last) => Platforms::from_bits_retain(1 << last),
            None => Platforms::BDW,
        }
    }

    /// Bytes of a general register.
    #[must_use]
    pub fn grf_bytes(self) -> u32 {
        if self.has(Has::WIDE_REGISTERS) {
            64
        } else {
            32
        }
    }

    /// Elements of 16 bits that the address register holds.
    #[must_use]
    pub fn address_elements(self) -> u32 {
        if Platforms::MANY_ADDRESSES.contains(self.set()) {
            32
        } else {
            16
        }
    }

    /// Its features, as text.
    pub fn features(self) -> impl Iterator<Item = &'static str> {
        let had = NAMES.into_iter().filter(move |(what, _)| self.has(*what));
        had.map(|(_, name)| name)
    }

    /// Whether arithmetic supports the type.
    #[must_use]
    pub fn has_type(self, ty: DataType) -> bool {
        match ty {
            DataType::Df => self.has(Has::DF),
            DataType::Q | DataType::Uq => self.has(Has::QWORDS),
            DataType::Bf => self.has(Has::BF),
            _ => true,
        }
    }

    /// Whether integers are divided by a single instruction.
    #[must_use]
    pub fn divides_integers(self) -> bool {
        self.has(Has::INTEGER_DIVISION)
    }

    /// Whether memory is accessed by messages of the load/store cache.
    #[must_use]
    pub fn has_lsc(self) -> bool {
        self.has(Has::LSC)
    }

    /// Whether the platform has the messages older than the load/store cache.
    #[must_use]
    pub fn has_data_port(self) -> bool {
        self.has(Has::DATA_PORT)
    }

    /// Whether the platform has systolic arrays.
    #[must_use]
    pub fn has_dpas(self) -> bool {
        self.has(Has::DPAS)
    }

    /// Whether there are samplers, without which there are no images: not on accelerators for computing alone.
    #[must_use]
    pub fn has_samplers(self) -> bool {
        self.has(Has::SAMPLERS)
    }

    /// Whether execution units work in pairs.
    #[must_use]
    pub fn is_fused(self) -> bool {
        self.has(Has::FUSED)
    }
}

impl Platforms {
    /// The columns of the written specification.
    pub const SPECIFIED: Self = Self::BDW
        .union(Self::SKL)
        .union(Self::BXT)
        .union(Self::ICLLP)
        .union(Self::TGLLP);

    /// Flat addresses may have a base of 64 bits, offsets any scale, stores of channels gaps, and caches have three
    /// levels.
    pub const BASED_ADDRESSES: Self = Self::since(Platform::Xe3pCri);

    /// Rectangles have up to 64 rows, and a prefetch may fetch rows of 256 bytes.
    pub const LARGE_BLOCKS: Self = Self::since(Platform::Xe3pCri);

    /// Messages to images and to memory across devices have caching controls, and there are more of these.
    pub const CACHED_IMAGES: Self = Self::since(Platform::Xe2);

    /// Atomic operations on images add floats.
    pub const FLOAT_SUMS_OF_IMAGES: Self = Self::since(Platform::Xe2);

    /// Atomic operations in shared local memory add floats.
    pub const LOCAL_FLOAT_SUMS: Self = Self::since(Platform::Xe3pCri);

    /// Atomic operations across devices add floats.
    pub const GLOBAL_FLOAT_SUMS: Self = Self::before(Platform::Xe3pCri);

    /// Systolic products have 16 lanes, and accumulate narrow floats; the others have 8.
    pub const WIDE_PRODUCTS: Self = Self::since(Platform::Pvc);

    /// `tf32` is moved.
    pub const TENSOR_FLOATS: Self = Self::since(Platform::PvcXt);

    /// `bf8` is moved.
    pub const BF8: Self = Self::since(Platform::Pvc);

    /// `hf8` is moved.
    pub const HF8: Self = Self::since(Platform::Xe3);

    /// The address register has more than 16 elements.
    pub const MANY_ADDRESSES: Self = Self::since(Platform::Xe3pCri);

    /// The platforms of the set, the oldest first.
    pub fn platforms(self) -> impl Iterator<Item = Platform> {
        Platform::ALL
            .iter()
            .copied()
            .filter(move |p| self.contains(p.set()))
    }

    /// Every platform from this one onwards.
    #[must_use]
    pub const fn since(first: Platform) -> Self {
        Self::from_bits_truncate(u32::MAX << first as u32)
    }

    /// Every platform before this one.
    #[must_use]
    pub const fn before(first: Platform) -> Self {
        Self::since(first).complement()
    }
}
