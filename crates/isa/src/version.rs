//! Versions, dialects and the conditions that layouts depend on.
//!
//! The version in the file header decides most widths. Five layout changes happened while the
//! number stayed 4.1; no byte distinguishes them, so they are modelled as [`Dialect`]s.

use bitflags::bitflags;
use core::fmt;

/// Version number of an object, stored in bytes 4 and 5 of the file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    /// Major number.
    pub major: u8,
    /// Minor number.
    pub minor: u8,
}

impl Version {
    /// 2.4, the oldest version found in real objects.
    pub const V2_4: Self = Self::new(2, 4);
    /// 3.0: relocation tables, functions and file-scope variables appear.
    pub const V3_0: Self = Self::new(3, 0);
    /// 3.1: the final execution-mask table, WAIT gets an operand.
    pub const V3_1: Self = Self::new(3, 1);
    /// 3.2: typed gather and scatter get a predicate and a LOD.
    pub const V3_2: Self = Self::new(3, 2);
    /// 3.3: the predefined variable `group_id_z`.
    pub const V3_3: Self = Self::new(3, 3);
    /// 3.4: variable and string indices grow to 32 bits.
    pub const V3_4: Self = Self::new(3, 4);
    /// 3.5: the input count grows to 32 bits.
    pub const V3_5: Self = Self::new(3, 5);
    /// 3.6: RAW_SENDS carries the shared-function id.
    pub const V3_6: Self = Self::new(3, 6);
    /// 3.7: routine names may be longer than 255 bytes.
    pub const V3_7: Self = Self::new(3, 7);
    /// 3.8: number 0x60 becomes NBARRIER.
    pub const V3_8: Self = Self::new(3, 8);
    /// 4.0: the sampler sub-operation grows to 16 bits.
    pub const V4_0: Self = Self::new(4, 0);
    /// 4.1, the last version with a binary form.
    pub const V4_1: Self = Self::new(4, 1);
    /// 4.2 exists as text only: its data types no longer fit the four bits of the binary form.
    pub const V4_2: Self = Self::new(4, 2);
    /// 4.8, stamped for five weeks of early 2022; laid out like 4.0.
    pub const V4_8: Self = Self::new(4, 8);

    /// Every version with a binary form that this crate supports, in order of their layouts.
    pub const SUPPORTED: [Self; 13] = [
        Self::V2_4,
        Self::V3_0,
        Self::V3_1,
        Self::V3_2,
        Self::V3_3,
        Self::V3_4,
        Self::V3_5,
        Self::V3_6,
        Self::V3_7,
        Self::V3_8,
        Self::V4_0,
        Self::V4_8,
        Self::V4_1,
    ];

    /// Builds a version; it need not be a supported one.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }

    /// Whether the binary layout of this version is known.
    #[must_use]
    pub const fn is_supported(self) -> bool {
        matches!(
            (self.major, self.minor),
            (2, 4) | (3, 0..=8) | (4, 0 | 1 | 8)
        )
    }

    /// Whether this version has the layout of `other` or a later one.
    ///
    /// This is not the order of the numbers: 4.8 is laid out like 4.0 and sorts before 4.1.
    #[must_use]
    pub const fn at_least(self, other: Self) -> bool {
        self.rank() >= other.rank()
    }

    const fn rank(self) -> u32 {
        match (self.major, self.minor) {
            (4, 8) => 40_001,
            (major, minor) => major as u32 * 10_000 + minor as u32 * 10,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

bitflags! {
    /// Everything a layout may depend on: version thresholds and unmarked features.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Features: u32 {
        /// Version 3.0 or later.
        const SINCE_3_0 = 1 << 0;
        /// Version 3.1 or later.
        const SINCE_3_1 = 1 << 1;
        /// Version 3.2 or later.
        const SINCE_3_2 = 1 << 2;
        /// Version 3.3 or later.
        const SINCE_3_3 = 1 << 3;
        /// Version 3.4 or later: 32-bit variable and string indices.
        const SINCE_3_4 = 1 << 4;
        /// Version 3.5 or later: 32-bit input count.
        const SINCE_3_5 = 1 << 5;
        /// Version 3.6 or later.
        const SINCE_3_6 = 1 << 6;
        /// Version 3.7 or later: 16-bit name length.
        const SINCE_3_7 = 1 << 7;
        /// Version 3.8 or later.
        const SINCE_3_8 = 1 << 8;
        /// Version 4.0 or later.
        const SINCE_4_0 = 1 << 9;
        /// Version 4.1 or later.
        const SINCE_4_1 = 1 << 10;
        /// Version 4.2: features that only text can express.
        const SINCE_4_2 = 1 << 11;
        /// A surface index follows the LSC surface operand, an immediate each typed coordinate
        /// (writers and readers since 2023-07).
        const LSC_SURFACE_INDEX = 1 << 16;
        /// A flags byte precedes the address of IFCALL (writer since 2023-08).
        const IFCALL_FLAGS = 1 << 17;
        /// A paired surface follows the destination of 3D sampler operations of version 3.8 and
        /// later (readers since 2024-02, no public writer).
        const PAIRED_SURFACE = 1 << 18;
        /// NBARRIER carries type, producers and consumers (readers since 2024-09, no public
        /// writer).
        const NBARRIER_GENERAL = 1 << 19;
        /// DPAS and DPASW carry a predicate (readers since 2026-04, no public writer).
        const DPAS_PREDICATE = 1 << 20;
    }
}

impl Features {
    /// The features not marked by a version number.
    pub const UNMARKED: Self = Self::LSC_SURFACE_INDEX
        .union(Self::IFCALL_FLAGS)
        .union(Self::PAIRED_SURFACE)
        .union(Self::NBARRIER_GENERAL)
        .union(Self::DPAS_PREDICATE);

    /// The thresholds, each with its version.
    pub const THRESHOLDS: [(Self, Version); 12] = [
        (Self::SINCE_3_0, Version::V3_0),
        (Self::SINCE_3_1, Version::V3_1),
        (Self::SINCE_3_2, Version::V3_2),
        (Self::SINCE_3_3, Version::V3_3),
        (Self::SINCE_3_4, Version::V3_4),
        (Self::SINCE_3_5, Version::V3_5),
        (Self::SINCE_3_6, Version::V3_6),
        (Self::SINCE_3_7, Version::V3_7),
        (Self::SINCE_3_8, Version::V3_8),
        (Self::SINCE_4_0, Version::V4_0),
        (Self::SINCE_4_1, Version::V4_1),
        (Self::SINCE_4_2, Version::V4_2),
    ];

    const fn of_version(version: Version) -> Self {
        let mut features = Self::empty();
        let mut i = 0;
        while i < Self::THRESHOLDS.len() {
            #[allow(clippy::indexing_slicing)] // a bound that the loop checks, in a const fn
            let (feature, since) = Self::THRESHOLDS[i];
            if version.at_least(since) {
                features = features.union(feature);
            }
            i += 1;
        }
        features
    }
}

/// One of the layouts that share the version number 4.1 (or claim an older one).
///
/// The order is the order of preference when several fit an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// Every public writer up to 2023-07.
    #[default]
    Writer2018,
    /// The public writer from 2023-07-26 to 2023-08-21.
    Writer2023_07,
    /// The last public writer, 2023-08-21 to 2023-09-25.
    Writer2023_08,
    /// What public readers of 2024-02 to 2024-09 accept.
    Reader2024_02,
    /// What public readers of 2024-09 to 2026-04 accept.
    Reader2024_09,
    /// What public readers accept since 2026-04.
    Reader2026_04,
}

impl Dialect {
    /// All dialects, in order of preference.
    pub const ALL: [Self; 6] = [
        Self::Writer2018,
        Self::Writer2023_07,
        Self::Writer2023_08,
        Self::Reader2024_02,
        Self::Reader2024_09,
        Self::Reader2026_04,
    ];

    /// Name used on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Writer2018 => "writer-2018",
            Self::Writer2023_07 => "writer-2023-07",
            Self::Writer2023_08 => "writer-2023-08",
            Self::Reader2024_02 => "reader-2024-02",
            Self::Reader2024_09 => "reader-2024-09",
            Self::Reader2026_04 => "reader-2026-04",
        }
    }

    /// The dialect of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }

    /// The unmarked features that the dialect has.
    #[must_use]
    pub const fn features(self) -> Features {
        match self {
            Self::Writer2018 => Features::empty(),
            Self::Writer2023_07 => Features::LSC_SURFACE_INDEX,
            Self::Writer2023_08 => Features::LSC_SURFACE_INDEX.union(Features::IFCALL_FLAGS),
            Self::Reader2024_02 => Features::LSC_SURFACE_INDEX.union(Features::PAIRED_SURFACE),
            Self::Reader2024_09 => Features::LSC_SURFACE_INDEX
                .union(Features::PAIRED_SURFACE)
                .union(Features::NBARRIER_GENERAL),
            Self::Reader2026_04 => Features::UNMARKED,
        }
    }

    /// Whether objects of `version` were ever written, or can be read, in this dialect.
    #[must_use]
    pub const fn applies_to(self, version: Version) -> bool {
        match self {
            Self::Writer2023_07 | Self::Writer2023_08 => version.at_least(Version::V4_1),
            _ => true,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A version together with a dialect, which determine how bytes are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Format {
    features: Features,
    version: Version,
    dialect: Dialect,
}

impl Format {
    /// The layout rules of `version` in `dialect`.
    #[must_use]
    pub const fn new(version: Version, dialect: Dialect) -> Self {
        Self {
            features: Features::of_version(version).union(dialect.features()),
            version,
            dialect,
        }
    }

    /// All features of this format.
    #[inline]
    #[must_use]
    pub const fn features(self) -> Features {
        self.features
    }

    /// The version.
    #[must_use]
    pub const fn version(self) -> Version {
        self.version
    }

    /// The dialect.
    #[must_use]
    pub const fn dialect(self) -> Dialect {
        self.dialect
    }

    /// Whether variable and string indices are 32 bits wide (else 16).
    #[inline]
    #[must_use]
    pub const fn wide_indices(self) -> bool {
        self.features.contains(Features::SINCE_3_4)
    }

    /// Whether execution masks use the code table of 3.1 and later.
    #[inline]
    #[must_use]
    pub const fn final_masks(self) -> bool {
        self.features.contains(Features::SINCE_3_1)
    }
}

/// When a row or a field of the table is present: the features that must hold and those that must
/// not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    mask: Features,
    want: Features,
}

impl Condition {
    /// Always holds.
    pub const ALWAYS: Self = Self {
        mask: Features::empty(),
        want: Features::empty(),
    };

    /// Holds if all of `features` do.
    #[must_use]
    pub const fn with(features: Features) -> Self {
        Self {
            mask: features,
            want: features,
        }
    }

    /// Holds if none of `features` does.
    #[must_use]
    pub const fn without(features: Features) -> Self {
        Self {
            mask: features,
            want: Features::empty(),
        }
    }

    /// Holds if both do.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            mask: self.mask.union(other.mask),
            want: self.want.union(other.want),
        }
    }

    /// Whether the condition holds for every format.
    #[must_use]
    pub const fn is_always(self) -> bool {
        self.mask.is_empty()
    }

    /// Whether the condition holds for `format`.
    #[inline]
    #[must_use]
    pub const fn holds(self, format: Format) -> bool {
        format.features.bits() & self.mask.bits() == self.want.bits()
    }

    /// The features that must hold.
    #[must_use]
    pub const fn required(self) -> Features {
        self.want
    }

    /// The features that must not hold.
    #[must_use]
    pub const fn excluded(self) -> Features {
        self.mask.difference(self.want)
    }

    /// Every feature that the condition tests.
    #[must_use]
    pub const fn depends_on(self) -> Features {
        self.mask
    }
}

impl fmt::Display for Condition {
    /// `since 3.4`, `before 3.8`, `with lsc_surface_index`, several joined by `, `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let parts = [
            (self.required(), "since", "with"),
            (self.excluded(), "before", "without"),
        ];
        for (features, versioned, unmarked) in parts {
            for (name, feature) in features.iter_names() {
                f.write_str(separator)?;
                separator = ", ";
                match Features::THRESHOLDS.iter().find(|(t, _)| *t == feature) {
                    Some((_, version)) => write!(f, "{versioned} {version}")?,
                    None => {
                        write!(f, "{unmarked} ")?;
                        for c in name.chars() {
                            write!(f, "{}", c.to_ascii_lowercase())?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
