//! Places in [`Context`], for machine code.

use super::{Context, offset_of};
use visakit_exec::memory::Region;

/// The size of a [`Region`], as a shift.
pub(crate) const REGION_SHIFT: u32 = size_of::<Region>().trailing_zeros();
const _: () = assert!(size_of::<Region>().is_power_of_two(), "a shift");
/// Most bytes of memory whose offsets are used as numbers of 32 bits with a sign.
pub(crate) const MOST_BYTES: u32 = i32::MAX.cast_unsigned();

/// The float mode is the host's usual one.
pub(crate) const USUAL: u32 = 1;
/// It rounds as the usual one does, and flushes some denormals.
pub(crate) const FLUSHING: u32 = 2;
/// Directed rounding, denormals are kept.
pub(crate) const DIRECTED: u32 = 3;
/// In [`BEHIND`]: the host knows who waits.
pub(crate) const NOT_ALONE: i32 = -2;
/// Of a call of `branch`: lanes join instead.
pub(crate) const NO_TARGET: u32 = u32::MAX;

pub(crate) const FILE: i64 = offset_of!(Context<'_>, file) as i64;
pub(crate) const CONSTANTS: i64 = offset_of!(Context<'_>, constants) as i64;
pub(crate) const RUNNING: i64 = offset_of!(Context<'_>, running) as i64;
pub(crate) const LEFT: i64 = offset_of!(Context<'_>, left) as i64;
pub(crate) const LANE_OPERATIONS: i64 = offset_of!(Context<'_>, lane_operations) as i64;
pub(crate) const WAITING: i64 = offset_of!(Context<'_>, state.waiting) as i64;
pub(crate) const PARKED: i64 = offset_of!(Context<'_>, own.parked) as i64;
pub(crate) const BEHIND: i64 = offset_of!(Context<'_>, own.behind) as i64;
pub(crate) const PLACE: i64 = offset_of!(Context<'_>, place) as i64;
pub(crate) const TARGET: i64 = offset_of!(Context<'_>, target) as i64;
pub(crate) const BRANCH: i64 = offset_of!(Context<'_>, branch) as i64;
pub(crate) const STEP: i64 = offset_of!(Context<'_>, step) as i64;
pub(crate) const LOCAL: i64 = offset_of!(Context<'_>, local) as i64;
pub(crate) const LOCAL_BYTES: i64 = offset_of!(Context<'_>, local_bytes) as i64;
pub(crate) const STORAGE: i64 = offset_of!(Context<'_>, storage) as i64;
pub(crate) const STORAGE_MASK: i64 = offset_of!(Context<'_>, storage_mask) as i64;
pub(crate) const SURFACES: i64 = offset_of!(Context<'_>, surfaces) as i64;
pub(crate) const SURFACE_COUNT: i64 = offset_of!(Context<'_>, surface_count) as i64;
pub(crate) const FAULT: i64 = offset_of!(Context<'_>, fault) as i64;
pub(crate) const MODE: i64 = offset_of!(Context<'_>, state.mode) as i64;
pub(crate) const CONTROL: i64 = offset_of!(Context<'_>, state.control) as i64;
pub(crate) const CR0: i64 = offset_of!(Context<'_>, state.cr0) as i64;
pub(crate) const GRANTED: i64 = offset_of!(Context<'_>, granted) as i64;
pub(crate) const STATE: i64 = offset_of!(Context<'_>, state) as i64;
pub(crate) const OWN: i64 = offset_of!(Context<'_>, own) as i64;
pub(crate) const KNOWN_CR0: i64 = offset_of!(Context<'_>, own.known_cr0) as i64;
pub(crate) const LANES: i64 = offset_of!(Context<'_>, lanes) as i64;
/// Lanes that have a place there, and its bytes.
pub(crate) const MOST_LANES: usize = 32;
pub(crate) const LANES_BYTES: usize = MOST_LANES * size_of::<u64>();
pub(crate) const REPEATS: i64 = offset_of!(Context<'_>, repeats) as i64;
pub(crate) const AGAIN: i64 = offset_of!(Context<'_>, again) as i64;
pub(crate) const FOLLOWER: i64 = offset_of!(Context<'_>, follower) as i64;
pub(crate) const COMPANION: i64 = offset_of!(Context<'_>, own.companion) as i64;
pub(crate) const SPLIT: i64 = offset_of!(Context<'_>, split) as i64;
pub(crate) const GIVE_UP: i64 = offset_of!(Context<'_>, give_up) as i64;
pub(crate) const FOLLOWERS_END: i64 = offset_of!(Context<'_>, followers_end) as i64;
/// Fields of a pair.
pub(crate) mod pair {
    use super::super::Pair;
    use super::{Context, offset_of};

    const FIRST: usize = offset_of!(Context<'_>, pair);
    pub(crate) const FILE: i64 = (FIRST + offset_of!(Pair, file)) as i64;
    pub(crate) const RUNNING: i64 = (FIRST + offset_of!(Pair, running)) as i64;
    pub(crate) const LEFT: i64 = (FIRST + offset_of!(Pair, left)) as i64;
    pub(crate) const LANE_OPERATIONS: i64 = (FIRST + offset_of!(Pair, lane_operations)) as i64;
    pub(crate) const STATE: i64 = (FIRST + offset_of!(Pair, state)) as i64;
    pub(crate) const MODE: i64 = (FIRST + offset_of!(Pair, state.mode)) as i64;
    pub(crate) const KNOWN_CR0: i64 = (FIRST + offset_of!(Pair, known_cr0)) as i64;
    pub(crate) const OTHER_STATE: i64 = (FIRST + offset_of!(Pair, other_state)) as i64;
    pub(crate) const OTHER_USED: i64 = (FIRST + offset_of!(Pair, other_used)) as i64;
    pub(crate) const OTHER_LANE_OPERATIONS: i64 =
        (FIRST + offset_of!(Pair, other_lane_operations)) as i64;
    pub(crate) const STARTED: i64 = (FIRST + offset_of!(Pair, started)) as i64;
}
/// Fields of a follower, relative to its offset in the context.
pub(crate) mod follower {
    use super::super::Follower;
    use super::{Context, offset_of};

    const FIRST: usize = offset_of!(Context<'_>, followers);
    pub(crate) const FILE: i64 = (FIRST + offset_of!(Follower, file)) as i64;
    pub(crate) const RUNNING: i64 = (FIRST + offset_of!(Follower, running)) as i64;
    pub(crate) const TARGET: i64 = (FIRST + offset_of!(Follower, target)) as i64;
    pub(crate) const STATE: i64 = (FIRST + offset_of!(Follower, state)) as i64;
    pub(crate) const PLACE: i64 = (FIRST + offset_of!(Follower, place)) as i64;
    pub(crate) const CR0: i64 = (FIRST + offset_of!(Follower, state.cr0)) as i64;
    pub(crate) const OWN: i64 = (FIRST + offset_of!(Follower, own)) as i64;
    pub(crate) const AHEAD: i64 = (FIRST + offset_of!(Follower, ahead)) as i64;
    pub(crate) const LANE_OPERATIONS: i64 = (FIRST + offset_of!(Follower, lane_operations)) as i64;
    /// Its size.
    pub(crate) const BYTES: i64 = size_of::<Follower>() as i64;
}
/// Ways that were taken, a byte each.
pub(crate) const PATHS: i64 = offset_of!(Context<'_>, paths) as i64;
pub(crate) const PRODUCTS: i64 = offset_of!(Context<'_>, products) as i64;
/// Bytes of activations that are converted: eight rows, of 16 doubles each.
pub(crate) const ACTIVATIONS_BYTES: usize = 8 * 16 * size_of::<f64>();
/// Bytes of weights that are: 16 lanes, of 16 doubles each; and how many places there are for them.
pub(crate) const WEIGHTS_BYTES: usize = 16 * 16 * size_of::<f64>();
pub(crate) const PLACES: usize = 2;
/// Bytes of all.
pub(crate) const PRODUCTS_BYTES: usize = ACTIVATIONS_BYTES + PLACES * WEIGHTS_BYTES;
pub(crate) const FLUSHED_F: i64 = offset_of!(Context<'_>, flushed_f) as i64;
pub(crate) const FLUSHED_DF: i64 = offset_of!(Context<'_>, flushed_df) as i64;
