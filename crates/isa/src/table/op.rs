//! Operations: the names of the rows of the table.

use super::{InstructionDef, lookup};

/// Codes of operations. High byte: opcode. Low byte: sub-operation; 0x80 for the older of two
/// instructions that share a number.
mod code {
    pub(super) const fn plain(opcode: u8) -> u16 {
        (opcode as u16) << 8
    }

    pub(super) const fn sub(opcode: u8, sub_op: u8) -> u16 {
        (opcode as u16) << 8 | sub_op as u16
    }

    pub(super) const fn reused(opcode: u8) -> u16 {
        (opcode as u16) << 8 | 0x80
    }
}

/// Calls a macro with the name of every row, in the order of the table.
///
/// The macro receives one entry per row: the documentation, the name (the variant of [`Op`]), the code
/// (`plain(opcode)`, `sub(opcode, sub_operation)` or `reused(opcode)` for the older of two rows that share a
/// number), and the mnemonics.
///
/// ```
/// use visakit_isa::Op;
///
/// macro_rules! names {
///     ($($(#[doc = $doc:literal])+ $name:ident $kind:ident($($code:expr),+) [$($mnemonic:literal),+];)*) => {
///         &[$((Op::$name, stringify!($name), [$($mnemonic),+][0])),*]
///     };
/// }
/// const NAMES: &[(Op, &str, &str)] = visakit_isa::for_each_op!(names);
/// assert_eq!(NAMES[0], (Op::ADD, "ADD", "add"));
/// assert_eq!(NAMES.len(), visakit_isa::table::rows().count());
/// ```
#[macro_export]
macro_rules! for_each_op {
    ($($then:tt)+) => {
        $crate::__arith_rows! {
            [$crate::__collect_ops]
            [$($then)+] []
            [__logic_rows __mov_rows __flow_rows __dataport_rows __svm_rows __sampler_rows
             __va_rows __misc_rows __lsc_rows __probe_rows]
        }
    };
}

/// Extracts the names from the rows of one group and continues with the next group.
#[doc(hidden)]
#[macro_export]
macro_rules! __collect_ops {
    (
        $then:tt [$($done:tt)*] $groups:tt
        $(
            #[doc = $summary:literal]
            $name:ident = $kind:ident($($code:expr),+) $mnemonics:tt $(.$setter:ident($($value:tt)*))*
                => $fields:expr;
        )*
    ) => {
        $crate::__next_ops! {
            $then
            [$($done)* $(#[doc = $summary] $name $kind($($code),+) $mnemonics;)*]
            $groups
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __next_ops {
    ([$($then:tt)+] [$($done:tt)*] []) => {
        $($then)+! { $($done)* }
    };
    ($then:tt $done:tt [$group:ident $($groups:ident)*]) => {
        $crate::$group! { [$crate::__collect_ops] $then $done [$($groups)*] }
    };
}

macro_rules! declare {
    ($(#[doc = $summary:literal] $name:ident $kind:ident($($code:expr),+) $mnemonics:tt;)*) => {
        /// An operation: the opcode, the sub-operation if the opcode has any, and which of the instructions
        /// that have shared the number is meant.
        ///
        /// The variants are the rows of the table. A `match` without a wildcard therefore covers every row,
        /// and does not compile when a row is added that it does not name.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u16)]
        pub enum Op {
            $(#[doc = $summary] $name = code::$kind($($code),+),)*
        }

        impl Op {
            /// Every operation, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

for_each_op!(declare);

impl Op {
    /// The first byte of the instruction.
    #[inline]
    #[must_use]
    pub const fn opcode(self) -> u8 {
        (self as u16 >> 8) as u8
    }

    /// The second byte, for opcodes whose layout depends on it.
    #[must_use]
    pub fn sub_op(self) -> Option<u8> {
        self.def().sub_op
    }

    /// The row of the table.
    #[inline]
    #[must_use]
    pub fn def(self) -> &'static InstructionDef {
        lookup::by_op(self)
    }

    /// Name of the row, such as `LSC_LOAD` or `BFI`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.def().name
    }
}
