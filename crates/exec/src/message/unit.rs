//! Elements of messages: their size in memory and in a register.

use super::plain::Element;
use crate::memory::space::Space;
use bytemuck::{Pod, bytes_of, pod_read_unaligned};

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
    /// The element in memory.
    type Memory: Pod;
    /// The element in a register.
    type Register: Pod;
    /// Bytes in memory.
    const MEMORY: usize = size_of::<Self::Memory>();
    /// Bytes in a register.
    const REGISTER: usize = size_of::<Self::Register>();
    /// An element from memory as it is in a register.
    fn widened(element: Self::Memory) -> Self::Register;
    /// The part of an element in a register that memory has.
    fn narrowed(element: Self::Register) -> Self::Memory;
}

macro_rules! units {
    ($($name:ident $memory:ident $register:ident $low:literal;)*) => {$(
        #[derive(Debug)]
        pub(crate) struct $name;
        impl Unit for $name {
            type Memory = $memory;
            type Register = $register;

            #[cfg_attr(not(debug_assertions), inline(always))]
            fn widened(element: $memory) -> $register {
                $register::from(element) << $low
            }

            #[cfg_attr(not(debug_assertions), inline(always))]
            #[allow(clippy::cast_possible_truncation, reason = "the part that memory has")]
            fn narrowed(element: $register) -> $memory {
                (element >> $low) as $memory
            }
        }
    )*};
}

units! {
    D8 u8 u8 0;
    D16 u16 u16 0;
    D32 u32 u32 0;
    D64 u64 u64 0;
    D8In32 u8 u32 0;
    D16In32 u16 u32 0;
    D16High u16 u32 16;
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
    let element = U::widened(space.element(at));
    if let Some(out) = out.get_mut(..U::REGISTER) {
        out.copy_from_slice(bytes_of(&element));
    }
}

/// Stores an element from `from`, which has the unit's register size.
#[inline]
pub(crate) fn store<U: Unit, S: Space>(space: &mut S, at: usize, from: &[u8]) {
    if let Some(from) = from.get(..U::REGISTER) {
        space.set_element(at, U::narrowed(pod_read_unaligned(from)));
    }
}

/// Loads consecutive elements into consecutive register elements.
#[inline]
pub(crate) fn load_run<U: Unit, S: Space>(space: &S, at: usize, out: &mut [u8]) {
    if U::MEMORY == U::REGISTER {
        // Of known sizes they are words, not loops.
        return match out.len() {
            4 => read::<4, S>(space, at, out),
            8 => read::<8, S>(space, at, out),
            16 => read::<16, S>(space, at, out),
            _ => space.read(at, out),
        };
    }
    let places = (at..).step_by(U::MEMORY);
    for (at, out) in places.zip(out.chunks_exact_mut(U::REGISTER)) {
        load::<U, S>(space, at, out);
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn read<const N: usize, S: Space>(space: &S, at: usize, out: &mut [u8]) {
    if let Some(out) = out.first_chunk_mut::<N>() {
        space.read(at, out);
    }
}

/// Stores consecutive register elements to consecutive places.
#[inline]
pub(crate) fn store_run<U: Unit, S: Space>(space: &mut S, at: usize, from: &[u8]) {
    if U::MEMORY == U::REGISTER {
        return space.write(at, from);
    }
    let places = (at..).step_by(U::MEMORY);
    for (at, from) in places.zip(from.chunks_exact(U::REGISTER)) {
        store::<U, S>(space, at, from);
    }
}
