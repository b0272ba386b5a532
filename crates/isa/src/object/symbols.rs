//! The records of the header and of a routine's symbol tables.

use crate::enums;
use crate::ids::{StringId, VarId};
use crate::platform::Platform;
use crate::types::DataType;
use crate::wire::Number;
use alloc::borrow::Cow;
use alloc::vec::Vec;

macro_rules! byte_types {
    ($( $(#[$meta:meta])* $name:ident named by $enumeration:ident; )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
        pub struct $name(pub u8);

        impl $name {
            /// The name of the value, if it is known.
            #[must_use]
            pub fn name(self) -> Option<&'static str> {
                enums::$enumeration.name_of(self.0)
            }
        }

        impl Number for $name {
            fn from_wire(number: u32) -> Self {
                Self(u8::from_wire(number))
            }
            fn to_wire(self) -> u32 {
                self.0.into()
            }
        }
    )*};
}

byte_types! {
    /// Kind of a label.
    LabelKind named by LABEL_KIND;
    /// Linkage of a function or file-scope variable. Writers store 0 for functions since 2019.
    Linkage named by LINKAGE;
    /// Platform of a native binary.
    NativePlatform named by NATIVE_PLATFORM;
    /// Kind of an input: class in bits 0-2, implicit kind in bits 3-7.
    InputKind named by INPUT_CLASS;
}

/// Type (bits 0-3) and alignment (bits 4-7) of a variable, and bit 4 of the types of 4.2 (bit 8), which no binary form
/// has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct VariableProperties(pub u16);

impl Number for VariableProperties {
    fn from_wire(number: u32) -> Self {
        Self(u8::from_wire(number).into())
    }
    fn to_wire(self) -> u32 {
        self.0.into()
    }
}

impl NativePlatform {
    /// The platform, if vISA is compiled for the platform of this code.
    #[must_use]
    pub fn platform(self) -> Option<Platform> {
        Platform::from_native(self.0)
    }

    /// Bytes of a register; 32 for unknown codes, which belong to older platforms.
    #[must_use]
    pub fn grf_bytes(self) -> u32 {
        self.platform().map_or(32, Platform::grf_bytes)
    }
}

impl LabelKind {
    /// Begins a fast composite.
    pub const FAST_COMPOSITE: Self = Self(enums::label_kind::FAST_COMPOSITE);
    /// Begins a block.
    pub const BLOCK: Self = Self(enums::label_kind::BLOCK);
    /// Begins a subroutine.
    pub const SUBROUTINE: Self = Self(enums::label_kind::SUBROUTINE);
}

impl InputKind {
    /// A general variable.
    pub const GENERAL: Self = Self(0);
    /// A sampler.
    pub const SAMPLER: Self = Self(1);
    /// A surface.
    pub const SURFACE: Self = Self(2);

    /// The table that the index points into, without the implicit kind.
    #[must_use]
    pub const fn class(self) -> Self {
        Self(self.0 & 7)
    }

    /// Code of the implicit input, 0 for an explicit one.
    #[must_use]
    pub const fn implicit_kind(self) -> u8 {
        self.0 >> 3
    }

    /// Name of the implicit input, `explicit` for an explicit one.
    #[must_use]
    pub fn implicit_name(self) -> Option<&'static str> {
        enums::IMPLICIT_INPUT.name_of(self.0)
    }
}

/// Alignment of a variable, the code of bits 4-7 of its properties.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Alignment(pub u8);

impl Alignment {
    /// To a register.
    pub const GRF: Self = Self(enums::alignment::GRF);

    /// Name, `None` for unknown codes.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        enums::ALIGNMENT.name_of(self.0 << 4)
    }

    /// Alignment in bytes for registers of `grf_bytes` bytes; `None` for unknown codes.
    #[must_use]
    pub const fn bytes(self, grf_bytes: u32) -> Option<u32> {
        match self.0 {
            0 => Some(1),
            1 => Some(2),
            2 => Some(4),
            3 => Some(8),
            4 => Some(16),
            5 => Some(grf_bytes),
            6 => Some(grf_bytes.saturating_mul(2)),
            7 => Some(32),
            8 => Some(64),
            9 => Some(128),
            _ => None,
        }
    }
}

impl VariableProperties {
    /// Properties of a type and an alignment code.
    #[must_use]
    pub const fn new(ty: DataType, alignment: Alignment) -> Self {
        let code = ty.code() as u16;
        Self(code & 0xf | (alignment.0 as u16 & 0xf) << 4 | (code & 0x10) << 4)
    }

    /// Element type.
    #[must_use]
    pub const fn data_type(self) -> DataType {
        let code = (self.0 & 0xf) as u8;
        if self.0 & 0x100 != 0 {
            let [tf32, hf8, bf8, e2m1] = DataType::TEXT_ONLY;
            return match code {
                0 => tf32,
                1 => hf8,
                2 => bf8,
                _ => e2m1,
            };
        }
        DataType::from_code(code)
    }

    /// Alignment.
    #[must_use]
    pub const fn alignment(self) -> Alignment {
        Alignment((self.0 >> 4 & 0xf) as u8)
    }
}

/// A named value attached to a routine or to a symbol.
///
/// The wire has no types: only the name shows whether the bytes are a flag, a little-endian number or text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Attribute<'a> {
    /// Name, in the routine's string pool.
    pub name: StringId,
    /// Value, at most 255 bytes.
    pub value: Cow<'a, [u8]>,
}

impl Attribute<'_> {
    /// Names of the attributes of a routine whose value is text: the file that the compiler wrote its code to. All
    /// others are numbers of any size, or flags.
    pub const PATHS: [&'static str; 2] = ["OutputAsmPath", "AsmName"];

    /// The value as a little-endian number of up to 8 bytes, zero-extended; 0 for no bytes.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        if self.value.len() > 8 {
            return None;
        }
        let mut number = 0u64;
        for (i, byte) in self.value.iter().enumerate() {
            number |= u64::from(*byte) << (8 * i);
        }
        Some(number)
    }
}

/// A general variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Variable<'a> {
    /// Name.
    pub name: StringId,
    /// Type and alignment.
    pub properties: VariableProperties,
    /// Number of elements.
    pub elements: u16,
    /// The variable whose storage this one shares; `V0` for none. With a file scope: index of the
    /// file-scope variable, where 0 is a real index.
    pub alias: VarId,
    /// Offset into the aliased storage in bytes.
    pub alias_offset: u16,
    /// 0 local, 1 file scope (3.0 and later).
    pub alias_scope: u8,
    /// Attributes.
    pub attributes: Vec<Attribute<'a>>,
}

impl Variable<'_> {
    /// Size in bytes.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.elements as u32 * self.properties.data_type().size() as u32
    }

    /// Whether the variable shares the storage of another one.
    #[must_use]
    pub const fn is_alias(&self) -> bool {
        self.alias.0 != 0 || self.alias_scope != 0
    }
}

/// An address, predicate, sampler or surface variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Declaration<'a> {
    /// Name.
    pub name: StringId,
    /// Number of elements.
    pub elements: u16,
    /// Attributes.
    pub attributes: Vec<Attribute<'a>>,
}

/// A label.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Label<'a> {
    /// Name.
    pub name: StringId,
    /// Kind.
    pub kind: LabelKind,
    /// Attributes.
    pub attributes: Vec<Attribute<'a>>,
}

/// An input of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Input {
    /// Which table `index` points into, and whether the input is implicit.
    pub kind: InputKind,
    /// The variable, surface or sampler, predefined entries included.
    pub index: u32,
    /// Offset in the register file in bytes.
    pub offset: i16,
    /// Size in bytes.
    pub size: u16,
}

/// A pair of a relocation table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Relocation {
    /// Index that the routine uses.
    pub symbolic: u16,
    /// Index in the file's table.
    pub resolved: u16,
}

/// A variable that all routines of an object share.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileVariable<'a> {
    /// Linkage.
    pub linkage: Linkage,
    /// Name; names may repeat.
    pub name: Cow<'a, [u8]>,
    /// Type and alignment.
    pub properties: VariableProperties,
    /// Number of elements.
    pub elements: u16,
    /// Attributes; no real object has any.
    pub attributes: Vec<FileAttribute<'a>>,
}

/// An attribute of a file-scope variable. There is no string pool for its name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileAttribute<'a> {
    /// Name index, 16 bits in every version.
    pub name: u16,
    /// Value, at most 255 bytes.
    pub value: Cow<'a, [u8]>,
}

/// Native code of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NativeBinary<'a> {
    /// Platform; 2.4 does not store it.
    pub platform: NativePlatform,
    /// The code.
    pub code: NativeCode<'a>,
}

/// Where native code is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NativeCode<'a> {
    /// Embedded machine code.
    Bytes(Cow<'a, [u8]>),
    /// The entry claims a place without code: an empty one, or one inside the file header. The numbers are kept as they
    /// are.
    Placeholder {
        /// Claimed offset.
        offset: u32,
        /// Claimed size.
        size: u32,
    },
}

impl Default for NativeCode<'_> {
    fn default() -> Self {
        Self::Placeholder { offset: 0, size: 0 }
    }
}
