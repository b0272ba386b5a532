//! The floating-point mode that `%cr0` selects.

use super::exact::Rounding;

/// Bits of `%cr0` that choose the float mode.
pub const MODE_BITS: u32 = 0x14f0;

/// Those of [`MODE_BITS`] that choose how results are rounded: 0 to nearest even, 1 up, 2 down, 3 towards zero.
pub const ROUNDING_BITS: u32 = 0x30;

/// The value of [`MODE_BITS`] when the float mode is the host's usual one.
pub const USUAL_MODE: u32 = 0x4c0;

/// Float modes as machine code distinguishes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NativeMode {
    /// The host's usual one: rounds to nearest even, keeps denormals.
    #[default]
    Usual,
    /// Rounds to nearest even; denormals are treated as zero.
    Flushing(Flushed),
    /// The usual one with directed rounding, as in [`ROUNDING_BITS`]: 1 to 3.
    Directed(u8),
    /// Any other.
    Other,
}

/// The precisions in which denormals are treated as zero. (A mode of two bytes is passed in registers.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flushed {
    /// Half only.
    Neither,
    /// Single.
    Singles,
    /// Double.
    Doubles,
    /// Single and double.
    Both,
}

/// Rounding and denormals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct FloatMode {
    pub(crate) rounding: Rounding,
    /// Denormals are flushed to zero: double, float, half.
    pub(crate) flush_df: bool,
    pub(crate) flush_f: bool,
    pub(crate) flush_hf: bool,
    /// Conversions from float to integer use the rounding mode instead of truncation.
    pub(crate) round_to_int: bool,
    /// Whether arithmetic in that type differs from the host's.
    pub(crate) slow_df: bool,
    pub(crate) slow_f: bool,
    pub(crate) slow_hf: bool,
    /// The mode as machine code names it.
    pub(crate) native: NativeMode,
}

impl FloatMode {
    /// The mode of a content of `%cr0`.
    pub(crate) fn from_cr0(cr0: u32) -> Self {
        let rounding = match cr0 >> 4 & 3 {
            0 => Rounding::NearestEven,
            1 => Rounding::Up,
            2 => Rounding::Down,
            _ => Rounding::Zero,
        };
        let flush = |bit: u32| cr0 & (1 << bit) == 0;
        let directed = rounding != Rounding::NearestEven;
        let (flush_df, flush_f, flush_hf) = (flush(6), flush(7), flush(10));
        let mode = Self {
            rounding,
            flush_df,
            flush_f,
            flush_hf,
            round_to_int: cr0 & 1 << 12 != 0,
            slow_df: directed || flush_df,
            slow_f: directed || flush_f,
            slow_hf: directed || flush_hf,
            native: NativeMode::Usual,
        };
        Self {
            native: mode.named(),
            ..mode
        }
    }

    fn named(self) -> NativeMode {
        if !self.is_slow() {
            NativeMode::Usual
        } else if self.rounding == Rounding::NearestEven && !self.round_to_int {
            NativeMode::Flushing(match (self.flush_f, self.flush_df) {
                (false, false) => Flushed::Neither,
                (true, false) => Flushed::Singles,
                (false, true) => Flushed::Doubles,
                (true, true) => Flushed::Both,
            })
        } else if !(self.round_to_int || self.flush_df || self.flush_f || self.flush_hf) {
            let rounding = match self.rounding {
                Rounding::NearestEven => 0,
                Rounding::Up => 1,
                Rounding::Down => 2,
                Rounding::Zero => 3,
            };
            NativeMode::Directed(rounding)
        } else {
            NativeMode::Other
        }
    }

    /// Whether any conversion differs from the host's.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_slow(self) -> bool {
        self.slow_df || self.slow_f || self.slow_hf || self.round_to_int
    }
}

/// Which arithmetic of the host matches a float mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HostFloats {
    pub(crate) single: bool,
    pub(crate) double: bool,
    /// Conversions from, to and between floats of any type.
    pub(crate) conversions: bool,
}

impl HostFloats {
    /// Number of different ones.
    pub(crate) const COUNT: usize = 8;

    /// All of it, as for most programs.
    pub(crate) const ALL: Self = Self {
        single: true,
        double: true,
        conversions: true,
    };

    /// A number below [`Self::COUNT`], 0 for [`Self::ALL`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn number(self) -> usize {
        usize::from(!self.single)
            | usize::from(!self.double) << 1
            | usize::from(!self.conversions) << 2
    }
}

impl FloatMode {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn host_floats(self) -> HostFloats {
        HostFloats {
            single: !self.slow_f,
            double: !self.slow_df,
            conversions: !self.is_slow(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mode that compilers assume matches what is derived from `%cr0`.
    #[test]
    fn usual_mode() {
        for cr0 in 0..1 << 16 {
            let mode = FloatMode::from_cr0(cr0);
            let usual = cr0 & MODE_BITS == USUAL_MODE;
            assert_eq!(mode.is_slow(), !usual, "{cr0:#x}");
            let rounding = cr0 & ROUNDING_BITS;
            if rounding != 0 {
                let directed = (cr0 & MODE_BITS) ^ rounding == USUAL_MODE;
                let native = if directed {
                    NativeMode::Directed((rounding >> ROUNDING_BITS.trailing_zeros()) as u8)
                } else {
                    NativeMode::Other
                };
                assert_eq!(mode.native, native, "{cr0:#x}");
            }
            if usual {
                assert_eq!(mode, FloatMode::from_cr0(USUAL_MODE), "{cr0:#x}");
            }
        }
    }
}
