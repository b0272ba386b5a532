//! Shared local memory: what devices allot to a group.

/// Most local memory of a group; devices have 64 to 384 KiB.
pub(crate) const MOST: u64 = 1 << 20;

/// Bytes between arguments that are to be kept apart.
pub(crate) const GUARD: u64 = 256;

/// Sizes besides powers of two, in KiB, on devices with registers of 64 bytes.
const BETWEEN: [u64; 5] = [24, 48, 96, 192, 384];

/// The bytes that a device with registers of this size allots to a group that asks for some: whole KiB, and a power of
/// two of them or a size in between. Programs rely on it: oneMKL's Cholesky factorization uses a row more than it asks for.
///
/// Sizes are those of Mesa's `intel_compute_slm.c`.
pub(crate) fn allotted(bytes: u64, grf_bytes: u32) -> u64 {
    if bytes == 0 || bytes > MOST {
        return bytes;
    }
    let power = bytes.next_power_of_two().max(1 << 10);
    let mut between = BETWEEN
        .iter()
        .map(|size| size << 10)
        .filter(|_| grf_bytes >= 64);
    between
        .find(|size| bytes <= *size && *size < power)
        .unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes with registers of 32 bytes, and of 64.
    #[test]
    fn sizes() {
        for (bytes, small, large) in [
            (0, 0, 0),
            (1, 1, 1),
            (1 << 10, 1, 1),
            (1025, 2, 2),
            (6272, 8, 8),
            (16 << 10, 16, 16),
            (17 << 10, 32, 24),
            (25 << 10, 32, 32),
            (40 << 10, 64, 48),
            (64 << 10, 64, 64),
            (65 << 10, 128, 96),
            (100 << 10, 128, 128),
            (130 << 10, 256, 192),
        ] {
            assert_eq!(allotted(bytes, 32), small << 10, "{bytes}");
            assert_eq!(allotted(bytes, 64), large << 10, "{bytes}");
        }
    }
}
