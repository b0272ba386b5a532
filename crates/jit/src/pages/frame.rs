//! What machine code and host promise each other of the data that they share.

use super::ahead::{Follower, Pair};
use super::place::*;
use super::{Context, Own, PATHS as PATHS_BYTES, State};
use crate::x64::{Field, Frame};
use visakit_exec::memory::Region;

/// What machine code may do with the context, and with the register files of a program.
pub(crate) fn frame(file_bytes: usize, full: u32) -> Frame {
    use Field::{Closed, Code, Companion, File, Function, Lanes, Plain};
    let function = |keeps_file, returns_code| Function {
        keeps_file,
        returns_code,
        parts: false,
    };
    let split = Function {
        keeps_file: false,
        returns_code: true,
        parts: true,
    };
    let mut fields = vec![Closed; size_of::<Context<'_>>() / 8];
    let mut set = |at: i64, bytes: usize, field: Field| {
        let at = usize::try_from(at).unwrap_or(usize::MAX) / 8;
        let words = fields.iter_mut().skip(at).take(bytes.div_ceil(8));
        words.for_each(|word| *word = field);
    };
    for at in [LEFT, LANE_OPERATIONS, FAULT, PLACE, GRANTED] {
        set(at, 8, Plain);
    }
    for (at, bytes) in [
        (STATE, size_of::<State>()),
        (pair::FILE, size_of::<Pair>()),
        (FLUSHED_F, 64),
        (FLUSHED_DF, 64),
        (PATHS, PATHS_BYTES),
        (PRODUCTS, PRODUCTS_BYTES),
        (OWN, size_of::<Own>()),
    ] {
        set(at, bytes, Plain);
    }
    for at in [FILE, pair::FILE] {
        set(at, 8, File);
    }
    for (at, field) in [
        (RUNNING, Lanes { of_both: true }),
        (PARKED, Lanes { of_both: true }),
        (pair::RUNNING, Lanes { of_both: false }),
        (TARGET, Code),
        (COMPANION, Companion),
        (REPEATS, Field::ReadOnly),
        (CONSTANTS, Field::Constants),
        (STEP, function(false, false)),
        (BRANCH, function(true, true)),
        (AGAIN, function(true, false)),
        (SPLIT, split),
        (GIVE_UP, function(false, false)),
        (LOCAL, Field::Local),
        (LOCAL_BYTES, Field::LocalBytes),
        (STORAGE, Field::Storage),
        (STORAGE_MASK, Field::StorageMask),
        (SURFACES, Field::Surfaces),
        (SURFACE_COUNT, Field::SurfaceCount),
        (FOLLOWER, Field::Follower),
        (FOLLOWERS_END, Field::FollowersEnd),
    ] {
        set(at, 8, field);
    }
    set(LANES, LANES_BYTES, Field::Offsets);
    let mut follower_fields = vec![Closed; size_of::<Follower>() / 8];
    for (at, words, field) in [
        (follower::FILE, 1, File),
        (follower::RUNNING, 1, Lanes { of_both: false }),
        (follower::TARGET, 1, Code),
        (follower::PLACE, 1, Plain),
        (follower::STATE, 4, Plain),
        (follower::OWN, 3, Plain),
        (follower::OWN, 1, Lanes { of_both: false }),
        (follower::OWN + 24, 1, Companion),
        (follower::AHEAD, 1, Plain),
        (follower::LANE_OPERATIONS, 1, Plain),
    ] {
        let at = usize::try_from(at - follower::FILE).unwrap_or(usize::MAX) / 8;
        let words = follower_fields.iter_mut().skip(at).take(words);
        words.for_each(|word| *word = field);
    }
    Frame {
        fields,
        follower: follower::FILE,
        follower_fields,
        region_shift: REGION_SHIFT,
        region: Region::LAYOUT,
        most_local: MOST_BYTES.into(),
        lanes: full.into(),
        file_bytes,
    }
}
