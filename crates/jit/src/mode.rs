//! Float modes, and the forms of code for them.
//!
//! A segment that computes floats has code for the usual mode, and a further form for each kind of mode that it may
//! well be entered in ([`visakit_exec::code::Modes`]). It is left to the interpreter in all others.

/// Float modes that code is written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// The host's usual one.
    Usual,
    /// Modes that flush denormals, which is done by separate instructions.
    Flushing,
    /// Modes with directed rounding. The host's rounding is set while such code runs.
    Directed,
}

/// Control words of the host's vector instructions, indexed by the rounding mode of `%cr0`: to nearest, up, down,
/// towards zero. All exceptions are masked.
pub(crate) const CONTROL: [u32; 4] = [0x1f80, 0x5f80, 0x3f80, 0x7f80];

/// The control word of a mode that rounds to one side.
pub(crate) fn control(rounding: u8) -> u32 {
    by_rounding(CONTROL, rounding.into())
}

/// The entry of a table for a rounding mode.
pub(crate) fn by_rounding(table: [u32; 4], n: usize) -> u32 {
    table.get(n % 4).copied().unwrap_or(0)
}
