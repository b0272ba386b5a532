//! How the work for an input grows. A limit in seconds says more of a machine and of what else it does: here two inputs are
//! compared on one thread, by the processor time that the thread has had.

use std::time::{Duration, Instant};

/// The processor time that some work takes on this thread; on systems other than Linux, the time of a clock.
pub fn spent(work: impl FnOnce()) -> Duration {
    // Nanoseconds on a processor are the first number.
    let had = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let first = text.split_whitespace().next()?.parse().ok()?;
        Some(Duration::from_nanos(first))
    };
    let (begun, before) = (Instant::now(), had());
    work();
    match (before, had()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => begun.elapsed(),
    }
}

/// Checks that work grows no faster than its input: `work` of an input 8 times as large takes less than 32 times as long,
/// where work that grows with the square takes 64 times. Times below a hundredth of a second are not told apart.
///
/// # Panics
/// If it takes longer.
pub fn is_linear(small: impl FnOnce(), eight_times: impl FnOnce()) {
    let (few, many) = (spent(small), spent(eight_times));
    let shortest = Duration::from_millis(10);
    assert!(many < few.max(shortest) * 32, "{few:?}, then {many:?}");
}
