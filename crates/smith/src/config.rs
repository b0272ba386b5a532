//! What to generate.

use crate::Platform;
use visakit_isa::{Dialect, Version};

bitflags::bitflags! {
    /// Kinds of statements.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct Classes: u32 {
        /// Arithmetic, logic, moves, selections and comparisons.
        const ARITHMETIC = 1 << 0;
        /// Divergent and uniform branches, loops, subroutines.
        const FLOW = 1 << 1;
        /// Loads, stores and atomics.
        const MEMORY = 1 << 2;
        /// Access through address variables.
        const INDIRECT = 1 << 3;
        /// Barriers and fences.
        const SYNC = 1 << 4;
        /// Uniform jumps by an index, where the platform has them.
        const SWITCH = 1 << 5;
        /// Functions with arguments and results, and calls of them.
        const FUNCTIONS = 1 << 6;
        /// Small matrix products, where the platform has them.
        const SYSTOLIC = 1 << 7;
        /// Rectangles of 2D surfaces, where the platform has them.
        const MEDIA = 1 << 8;
        /// Texels, by messages of the data port or by those of the load/store cache.
        const TYPED = 1 << 9;
        /// Conditionals and loops without labels, where the version has them (before 3.8).
        const STRUCTURED = 1 << 10;
    }
}

/// What to generate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Version of the object.
    pub version: Version,
    /// Dialect of the object.
    pub dialect: Dialect,
    /// Platform whose instructions, types and register size are used.
    pub platform: Platform,
    /// Kinds of statements to choose from.
    pub classes: Classes,
    /// Most statements of the object; a statement is one to about six instructions.
    pub statements: usize,
    /// Whether the object must run to its end with a defined result: loops are counted, memory accesses do not overlap,
    /// inputs that would make instructions undefined are avoided.
    pub executable: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            version: Version::V4_1,
            dialect: Dialect::default(),
            platform: Platform::Skl,
            classes: Classes::all(),
            statements: 40,
            executable: true,
        }
    }
}

impl Config {
    /// The default for another platform.
    #[must_use]
    pub fn for_platform(platform: Platform) -> Self {
        Self {
            platform,
            ..Self::default()
        }
    }

    /// Objects of version 4.2, which exist only as text, with the forms that no older version has: not executable.
    #[must_use]
    pub fn newest() -> Self {
        Self {
            version: Version::V4_2,
            dialect: Dialect::Reader2026_04,
            executable: false,
            // Messages are those of the newest forms.
            classes: Classes::ARITHMETIC | Classes::FLOW | Classes::INDIRECT,
            ..Self::for_platform(Platform::Xe3pCri)
        }
    }
}
