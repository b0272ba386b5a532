//! Rows that no compiler knows: an operation that computes, a message and a field, for the test that a row is all an
//! instruction needs (`tests/rows`). They exist only with the feature `probe`, which nothing else uses.

#[cfg(feature = "probe")]
use super::Group;
#[cfg(feature = "probe")]
use super::field::short::*;
use super::instructions;

#[cfg(feature = "probe")]
const GROUP: Group = Group::Arithmetic;

#[cfg(feature = "probe")]
const WITH_FIELD: &[Part] = &[
    Part::Predicate,
    Part::Mnemonic,
    Part::Text("."),
    Part::Number(F::Probe),
    Part::Text(" "),
    Part::ExecSize,
    Part::Operands,
];

/// Passes the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[cfg(feature = "probe")]
#[doc(hidden)]
#[macro_export]
macro_rules! __probe_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Computes what no compiler knows.
    PROBE = plain(0xe0) ["probe"] .spec(SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, dst(GI, DWORDS), src(F::Src0, GIM, DWORDS), src(F::Src1, GIM, DWORDS),
        ];

    /// An atomic operation that no compiler knows.
    LSC_ATOMIC_PROBE = sub(0x89, 0x3f) ["lsc_atomic_probe"] .group(Group::Lsc)
        .memory(super::lsc::atomic(AtomicOp::Xor)) .text(super::lsc_text::ATOMIC) .lsc()
        => super::lsc::UNTYPED;

    /// Computes with a field that no compiler knows.
    PROBE_FIELD = plain(0xe1) ["probe_field"] .text(WITH_FIELD) .spec(SAT, ARITH_MODS, ALL)
        => &[
            EXEC, PRED, u8(F::Probe).when(since(Features::SINCE_3_6)), dst(GI, DWORDS),
            src(F::Src0, GIM, DWORDS),
        ];
        }
    };
}

/// Passes no rows to a macro: this group exists only for a test.
#[cfg(not(feature = "probe"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __probe_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! { $($state)* }
    };
}
__probe_rows! { [instructions] }
