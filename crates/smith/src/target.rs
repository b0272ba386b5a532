//! What a platform has, as far as the choice of instructions and types depends on it.

use visakit_isa::DataType;
use visakit_isa::table::{InstructionDef, Op, Platforms};

/// A platform that objects are generated for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
#[non_exhaustive]
pub enum Platform {
    /// Skylake.
    #[default]
    Skl,
    /// Ice Lake LP.
    Icllp,
    /// Tiger Lake LP.
    Tgllp,
    /// Xe HP SDV.
    XeHpSdv,
    /// Arc (DG2).
    Dg2,
    /// Ponte Vecchio.
    Pvc,
}

impl Platform {
    /// All platforms, the oldest first.
    pub const ALL: [Self; 6] = [
        Self::Skl,
        Self::Icllp,
        Self::Tgllp,
        Self::XeHpSdv,
        Self::Dg2,
        Self::Pvc,
    ];

    /// Name used on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skl => "skl",
            Self::Icllp => "icllp",
            Self::Tgllp => "tgllp",
            Self::XeHpSdv => "xehp",
            Self::Dg2 => "dg2",
            Self::Pvc => "pvc",
        }
    }

    /// The platform of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }

    /// Name that the finalizer's `-platform` takes.
    #[must_use]
    pub const fn finalizer_name(self) -> &'static str {
        match self {
            Self::Skl => "SKL",
            Self::Icllp => "ICLLP",
            Self::Tgllp => "TGLLP",
            Self::XeHpSdv => "XeHP_SDV",
            Self::Dg2 => "DG2",
            Self::Pvc => "PVC",
        }
    }

    /// The column of the instruction table.
    #[must_use]
    pub const fn column(self) -> Platforms {
        match self {
            Self::Skl => Platforms::SKL,
            Self::Icllp => Platforms::ICLLP,
            Self::Tgllp => Platforms::TGLLP,
            Self::XeHpSdv => Platforms::XEHP_SDV,
            Self::Dg2 => Platforms::DG2,
            Self::Pvc => Platforms::PVC,
        }
    }

    /// Bytes of a register.
    #[must_use]
    pub const fn grf_bytes(self) -> u16 {
        match self {
            Self::Pvc => 64,
            _ => 32,
        }
    }

    /// Whether arithmetic has the type. Ice Lake to DG2 lack 64-bit types, in whole or in part.
    #[must_use]
    pub const fn has_type(self, ty: DataType) -> bool {
        match ty {
            DataType::Df | DataType::Q | DataType::Uq => matches!(self, Self::Skl | Self::Pvc),
            DataType::Bf | DataType::Bool => false,
            _ => true,
        }
    }

    /// Whether integers are divided by one instruction.
    #[must_use]
    pub const fn divides_integers(self) -> bool {
        matches!(self, Self::Skl | Self::Icllp | Self::Tgllp)
    }

    /// Whether memory is reached by load/store cache messages.
    #[must_use]
    pub const fn has_lsc(self) -> bool {
        matches!(self, Self::Dg2 | Self::Pvc)
    }

    /// Whether the data port has the older messages.
    #[must_use]
    pub const fn has_data_port(self) -> bool {
        !matches!(self, Self::Pvc)
    }

    /// Whether the instruction is there, by the columns of the written specification and by the
    /// first platform that sources name. The specification ends with Tiger Lake: what that has, its
    /// successors have too.
    #[must_use]
    pub fn has(self, def: &InstructionDef) -> bool {
        // The sources bind these to the first platform of the release that brought them.
        let first = match def.op {
            Op::ADD3 | Op::BFN => Platforms::XEHP_SDV,
            Op::ADD3O => Platforms::PVC,
            Op::MADW => Platforms::TGLLP,
            _ => def.since_platform,
        };
        if !first.is_empty() {
            return self.column().bits() >= first.bits();
        }
        let column = if self.column().bits() > Platforms::TGLLP.bits() {
            Platforms::TGLLP
        } else {
            self.column()
        };
        def.platforms.contains(column)
    }
}
