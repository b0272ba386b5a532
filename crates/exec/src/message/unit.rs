//! Elements of messages: their size in memory and in a register.

use crate::code::Element;
use crate::memory::space::Space;

/// The kinds of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnitKind {
    /// A byte, packed.
    D8,
    /// A word, packed.
    D16,
    /// A dword.
    D32,
    /// A qword.
    D64,
    /// A byte in memory, zero-extended to a dword in the register.
    D8In32,
    /// A word in memory, zero-extended to a dword in the register.
    D16In32,
    /// A word in memory, the upper half of a dword in the register; the lower half is zero.
    D16High,
}

impl UnitKind {
    /// Bytes in memory.
    pub(crate) const fn memory(self) -> usize {
        match self {
            Self::D8 | Self::D8In32 => 1,
            Self::D16 | Self::D16In32 | Self::D16High => 2,
            Self::D32 => 4,
            Self::D64 => 8,
        }
    }

    /// Sizes in memory and in a register.
    pub(crate) const fn element(self) -> Element {
        Element {
            memory: self.memory(),
            register: self.register(),
            low: match self {
                Self::D16High => 2,
                _ => 0,
            },
        }
    }

    /// Bytes in a register.
    pub(crate) const fn register(self) -> usize {
        match self {
            Self::D8 => 1,
            Self::D16 => 2,
            Self::D32 | Self::D8In32 | Self::D16In32 | Self::D16High => 4,
            Self::D64 => 8,
        }
    }
}

/// An element as a type, so that loops know its sizes.
pub(crate) trait Unit {
    /// Bytes in memory.
    const MEMORY: usize;
    /// Bytes in a register.
    const REGISTER: usize;
    /// First byte of the element in the register that memory has.
    const LOW: usize = 0;
}

macro_rules! units {
    ($($name:ident $memory:literal $register:literal $low:literal)*) => {$(
        #[derive(Debug)]
        pub(crate) struct $name;
        impl Unit for $name {
            const MEMORY: usize = $memory;
            const REGISTER: usize = $register;
            const LOW: usize = $low;
        }
    )*};
}

units! {
    D8 1 1 0
    D16 2 2 0
    D32 4 4 0
    D64 8 8 0
    D8In32 1 4 0
    D16In32 2 4 0
    D16High 2 4 2
}

/// Runs an expression with the type of a kind of elements.
macro_rules! with_unit {
    ($kind:expr, |$unit:ident| $body:expr) => {{
        use $crate::message::unit::{self, UnitKind};
        match $kind {
            UnitKind::D8 => {
                type $unit = unit::D8;
                $body
            }
            UnitKind::D16 => {
                type $unit = unit::D16;
                $body
            }
            UnitKind::D32 => {
                type $unit = unit::D32;
                $body
            }
            UnitKind::D64 => {
                type $unit = unit::D64;
                $body
            }
            UnitKind::D8In32 => {
                type $unit = unit::D8In32;
                $body
            }
            UnitKind::D16In32 => {
                type $unit = unit::D16In32;
                $body
            }
            UnitKind::D16High => {
                type $unit = unit::D16High;
                $body
            }
        }
    }};
}
pub(crate) use with_unit;

/// Loads an element into `out`, which has the unit's register size.
#[inline]
pub(crate) fn load<U: Unit, S: Space>(space: &S, at: usize, out: &mut [u8]) {
    if U::MEMORY == 4 {
        if let Some(out) = out.first_chunk_mut() {
            *out = space.load32(at).to_le_bytes();
        }
        return;
    }
    if U::MEMORY != U::REGISTER {
        out.fill(0);
    }
    if let Some(out) = out.get_mut(U::LOW..U::LOW + U::MEMORY) {
        space.read(at, out);
    }
}

/// Zero in the place of an element that is out of bounds.
#[inline]
pub(crate) fn zero(out: &mut [u8]) {
    out.fill(0);
}

/// Stores an element from `from`, which has the unit's register size.
#[inline]
pub(crate) fn store<U: Unit, S: Space>(space: &mut S, at: usize, from: &[u8]) {
    if U::MEMORY == 4 {
        if let Some(from) = from.first_chunk() {
            space.store32(at, u32::from_le_bytes(*from));
        }
    } else if let Some(from) = from.get(U::LOW..U::LOW + U::MEMORY) {
        space.write(at, from);
    }
}

/// Loads consecutive elements into consecutive register elements.
#[inline]
pub(crate) fn load_run<U: Unit, S: Space>(space: &S, at: usize, out: &mut [u8]) {
    if U::MEMORY == U::REGISTER {
        return space.read(at, out);
    }
    let mut packed = [0u8; 64];
    let count = out.len() / U::REGISTER;
    let Some(packed) = packed.get_mut(..count * U::MEMORY) else {
        return;
    };
    space.read(at, packed);
    for (out, from) in out
        .chunks_exact_mut(U::REGISTER)
        .zip(packed.chunks_exact(U::MEMORY))
    {
        out.fill(0);
        if let Some(out) = out.get_mut(U::LOW..U::LOW + U::MEMORY) {
            out.copy_from_slice(from);
        }
    }
}

/// Stores consecutive register elements to consecutive places.
#[inline]
pub(crate) fn store_run<U: Unit, S: Space>(space: &mut S, at: usize, from: &[u8]) {
    if U::MEMORY == U::REGISTER {
        return space.write(at, from);
    }
    let mut packed = [0u8; 64];
    let count = from.len() / U::REGISTER;
    let Some(packed) = packed.get_mut(..count * U::MEMORY) else {
        return;
    };
    for (out, from) in packed
        .chunks_exact_mut(U::MEMORY)
        .zip(from.chunks_exact(U::REGISTER))
    {
        if let Some(from) = from.get(U::LOW..U::LOW + U::MEMORY) {
            out.copy_from_slice(from);
        }
    }
    space.write(at, packed);
}
