//! What machine code and host promise each other of the data that they share.

use super::ahead::{Follower, Pair};
use super::place::*;
use super::{Context, Own, PATHS as PATHS_BYTES, State};
use crate::x64::{Field, Frame};
use visakit_exec::memory::Region;

/// What machine code may do with the context, and with the register files of a program.
pub(crate) fn frame(file_bytes: usize, full: u32) -> Frame {
    use Field::{Closed, Code, File, Function, Lanes, Plain};
    let function = |keeps_file, returns_code| Function {
        keeps_file,
        returns_code,
    };
    let mut fields = vec![Closed; size_of::<Context<'_>>() / 8];
    let mut set = |at: i64, bytes: usize, field: Field| {
        let at = usize::try_from(at).unwrap_or(usize::MAX) / 8;
        let words = fields.iter_mut().skip(at).take(bytes.div_ceil(8));
        words.for_each(|word| *word = field);
    };
    for at in [
        LEFT,
        LANE_OPERATIONS,
        FAULT,
        PLACE,
        GRANTED,
        FOLLOWERS_END,
        REPEATS,
    ] {
        set(at, 8, Plain);
    }
    for (at, bytes) in [
        (STATE, size_of::<State>()),
        (pair::FILE, size_of::<Pair>()),
        (FLUSHED_F, 64),
        (FLUSHED_DF, 64),
        (PATHS, PATHS_BYTES),
        (OWN, size_of::<Own>()),
    ] {
        set(at, bytes, Plain);
    }
    for at in [FILE, pair::FILE] {
        set(at, 8, File);
    }
    for at in [RUNNING, PARKED, pair::RUNNING] {
        set(at, 8, Lanes);
    }
    for at in [TARGET, COMPANION] {
        set(at, 8, Code);
    }
    for (at, field) in [
        (CONSTANTS, Field::Constants),
        (STEP, function(false, false)),
        (BRANCH, function(true, true)),
        (AGAIN, function(true, false)),
        (SPLIT, function(false, true)),
        (GIVE_UP, function(false, false)),
        (LOCAL, Field::Local),
        (LOCAL_BYTES, Field::LocalBytes),
        (STORAGE, Field::Storage),
        (STORAGE_MASK, Field::StorageMask),
        (SURFACES, Field::Surfaces),
        (SURFACE_COUNT, Field::SurfaceCount),
        (FOLLOWER, Field::Follower),
    ] {
        set(at, 8, field);
    }
    set(LANES, LANES_BYTES, Field::Offsets);
    let mut follower_fields = vec![Closed; size_of::<Follower>() / 8];
    for (at, words, field) in [
        (follower::FILE, 1, File),
        (follower::RUNNING, 1, Lanes),
        (follower::TARGET, 1, Code),
        (follower::PLACE, 1, Plain),
        (follower::STATE, 4, Plain),
        (follower::OWN, 3, Plain),
        (follower::OWN, 1, Lanes),
        (follower::OWN + 24, 1, Code),
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
        region_shift: size_of::<Region>().trailing_zeros(),
        region: Region::LAYOUT,
        lanes: full.into(),
        file_bytes,
    }
}
