//! What code may rely on, and may do with the data that it shares with the host.

/// What eight bytes of shared data are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    /// Nothing that code touches.
    Closed,
    /// Any number.
    Plain,
    /// A number that only the host changes.
    ReadOnly,
    /// The address of a register file.
    File,
    /// The address of the constants of the code.
    Constants,
    /// Lanes that run or wait, no others than the program has.
    Lanes {
        /// Whether they may be those of two threads, until a function parts these.
        of_both: bool,
    },
    /// The address of code that begins as all code does which the host enters.
    Code,
    /// The address of such code, or null. If it is not null there is a thread that follows.
    Companion,
    /// Lanes that wait, two numbers and a companion, as they are moved together.
    Own,
    /// A function of the host.
    Function {
        /// Whether the register file stays where it is.
        keeps_file: bool,
        /// Whether it returns the address of code that the host may enter.
        returns_code: bool,
        /// Whether it parts two threads.
        parts: bool,
    },
    /// Shared local memory, and its bytes.
    Local,
    LocalBytes,
    /// Regions of memory by the lowest bits of their numbers, and which bits these are.
    Storage,
    StorageMask,
    /// Regions of memory by their numbers, and how many there are.
    Surfaces,
    SurfaceCount,
    /// The end of the thread that runs, as an offset among the shared data: another thread begins there, unless it is the end of all
    /// of them.
    Follower,
    FollowersEnd,
    /// Room for the offsets of lanes.
    Offsets,
}

/// Data that code shares with the host.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// What each eight bytes are.
    pub(crate) fields: Vec<Field>,
    /// Where the first thread is, and what each eight of its bytes are.
    pub(crate) follower: i64,
    pub(crate) follower_fields: Vec<Field>,
    /// The size of a region of memory, as a shift, and where its address, its bytes and its storage are.
    pub(crate) region_shift: u32,
    pub(crate) region: [usize; 3],
    /// Most bytes of shared local memory.
    pub(crate) most_local: u64,
    /// Lanes of the program.
    pub(crate) lanes: u64,
    /// Bytes of a register file.
    pub(crate) file_bytes: usize,
}

impl Frame {
    /// What bytes of shared data are; `None` if code must not touch them.
    pub(super) fn field(&self, at: i64, bytes: usize) -> Option<Field> {
        part(&self.fields, at, bytes)
    }

    /// What bytes of a thread are, from its offset on.
    pub(super) fn of_thread(&self, at: i64, bytes: usize) -> Option<Field> {
        part(&self.follower_fields, at.checked_sub(self.follower)?, bytes)
    }

    /// Bytes of a thread.
    pub(super) fn thread_bytes(&self) -> i64 {
        i64::try_from(8 * self.follower_fields.len()).unwrap_or(i64::MAX)
    }

    /// Lanes of two threads, those of the second one above those of the first.
    pub(super) fn lanes_of_both(&self) -> u64 {
        let second = self.lanes.checked_shl(self.lanes.count_ones());
        self.lanes | second.unwrap_or(0)
    }
}

fn part(fields: &[Field], at: i64, bytes: usize) -> Option<Field> {
    let at = usize::try_from(at).ok()?;
    let end = at.checked_add(bytes)?.div_ceil(8);
    let all = fields.get(at / 8..end)?;
    let first = *all.first()?;
    let is_same = |field: &Field| *field == first;
    match (first, all) {
        (Field::Closed, _) => None,
        (Field::Plain | Field::Offsets, _) => all.iter().all(is_same).then_some(first),
        (Field::Lanes { .. }, [_, Field::Plain, Field::Plain, Field::Companion]) => {
            (at.is_multiple_of(8) && bytes == 32).then_some(Field::Own)
        }
        _ => (at.is_multiple_of(8) && bytes <= 8).then_some(first),
    }
}
