//! The ways that machine code has for the same thing, and which of them were taken: for tests that compare it with the
//! interpreter, and have compared nothing where it was never entered.

#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! paths {
    ($($name:ident: $description:literal,)*) => {
        /// A way through machine code.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[non_exhaustive]
        pub enum Path {
            $(#[doc = $description] $name,)*
        }

        impl Path {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// What it is.
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$name => $description,)*
                }
            }
        }
    };
}

paths! {
    Block: "block of one lane, global memory",
    BlockWindow: "block of one lane, local memory or a surface",
    BlockElements: "elements or atomic operation of one lane",
    Linear: "addresses that are known to follow each other",
    LinearWords: "the same, from numbers of 16 bits",
    LinearRows: "the same, with rows of one number",
    LinearTerms: "the same, with numbers added before they are extended",
    LinearSeveral: "the same, with several elements of each lane",
    LinearDeferred: "addresses that are computed for the interpreter alone",
    Run: "addresses that were found to follow each other",
    RunAgain: "addresses that differ by something uniform from others that do",
    RunExtended: "bytes or words that follow each other, extended",
    Scattered: "lanes anywhere in a buffer",
    ScatteredMasked: "some lanes anywhere in a buffer",
    Large: "lanes anywhere in a buffer of more than two gigabytes",
    Local: "lanes in shared local memory",
    LocalMasked: "some lanes in shared local memory",
    Surface: "lanes in a surface",
    SurfaceMasked: "some lanes in a surface",
    SurfaceIndex: "surface whose index is in a register",
    RowStored: "vector stored at once after a comparison of its places",
    RowsStored: "lanes of several elements that follow each other, stored",
    PairsStored: "pairs of elements stored",
    PairsStoredMasked: "pairs of elements of some lanes stored",
    StoredByLane: "vector stored by lane, or by a scatter",
    StoredMasked: "some lanes of a vector stored",
    Product: "systolic product",
    Near: "lanes within a vector of memory",
    Gathered: "lanes gathered",
    GatheredMasked: "some lanes gathered",
    Rows: "lanes of several elements that follow each other",
    Pairs: "pairs of elements gathered",
    PairsMasked: "pairs of elements of some lanes gathered",
    EachLoaded: "elements loaded one after the other",
    EachStored: "elements stored one after the other",
    EachMasked: "elements of some lanes",
    AtomicInteger: "atomic operation on integers",
    AtomicFloat: "atomic operation on floats",
    AtomicLocal: "atomic operation in shared local memory",
    Detour: "message or number left to the interpreter",
    Call: "step without a template",
    Loop: "turn of a loop with operands in registers",
    LoopSome: "the same, where not all lanes run",
    Scaled: "products that grow by a power of two in a loop",
    PairAhead: "thread that runs before its turn",
    Pair: "two threads side by side",
    PairSplit: "two threads that part",
    PairGivesUp: "thread that does not come to the loop of another one",
    Follower: "thread that follows another one",
    FollowerAtBarrier: "thread that follows at a barrier",
    Group: "group that follows another one",
    FusedNumbers: "comparison of numbers and its branch as one",
    FusedLanes: "comparison of lanes and its branch as one",
    Park: "lanes that wait without the host",
    ParkInTurn: "lanes that wait while others stay in a loop",
    JoinParked: "lanes that join without the host",
    ChangePlaces: "lanes that change places with others",
    Part: "lanes that the host divides or joins",
    Flushing: "segment that flushes denormals",
    Directed: "segment that rounds to one side",
    ModeWritten: "float mode that was written",
    Left: "segment left for the interpreter: fuel, float mode",
    Fault: "fault of a step",
}

/// How many there are.
#[cfg(target_arch = "x86_64")]
pub(crate) const PATHS: usize = Path::ALL.len();

/// How often each was taken, at most once for each time that traced code was entered.
#[cfg(target_arch = "x86_64")]
static TAKEN: [AtomicU64; PATHS] = [const { AtomicU64::new(0) }; PATHS];

/// Counts those whose byte is not zero.
#[cfg(target_arch = "x86_64")]
pub(crate) fn count(bytes: &[u8; PATHS]) {
    for (taken, byte) in TAKEN.iter().zip(bytes) {
        taken.fetch_add(u64::from(*byte), Relaxed);
    }
}

/// How often each way was taken by code of [traced](crate::Jit::traced) compilers in this process, at most once for each
/// time that such code was entered.
#[must_use]
pub fn taken() -> Vec<(Path, u64)> {
    #[cfg(target_arch = "x86_64")]
    let counts = TAKEN.iter().map(|taken| taken.load(Relaxed));
    #[cfg(not(target_arch = "x86_64"))]
    let counts = std::iter::repeat(0);
    Path::ALL.iter().copied().zip(counts).collect()
}
