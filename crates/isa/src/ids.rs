//! Indices into the symbol tables of a routine, one type for each table.

use core::fmt;

macro_rules! ids {
    ($( $(#[$meta:meta])* $name:ident($int:ty) $prefix:literal; )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
        pub struct $name(pub $int);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}

ids! {
    /// A general variable: predefined ones first (`V0` to `V31`, to `V15` in version 2.4), then
    /// the routine's own in table order. `V0` is the null operand.
    VarId(u32) "V";
    /// An address variable; the table starts at `A0`.
    AddressId(u16) "A";
    /// A predicate variable; `P0` means "no predicate", the table starts at `P1`.
    PredicateId(u16) "P";
    /// A label; the table starts at 0.
    LabelId(u16) "L";
    /// A surface: predefined ones first (`T0` to `T5`, to `T4` up to version 3.0), then the
    /// routine's own.
    SurfaceId(u8) "T";
    /// A sampler; the table starts at `S0`, `S31` is the bindless sampler.
    SamplerId(u8) "S";
    /// An entry of the routine's string pool; the first is 0.
    StringId(u32) "string ";
}

impl VarId {
    /// The null operand.
    pub const NULL: Self = Self(0);
}

impl SamplerId {
    /// The bindless sampler, legal without a declaration.
    pub const BINDLESS: Self = Self(31);
}
