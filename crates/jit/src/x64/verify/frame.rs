//! What code may rely on, and may do with the data that it shares with the host.

/// What eight bytes of shared data are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    /// Nothing that code touches.
    Closed,
    /// Any number.
    Plain,
    /// The address of a register file.
    File,
    /// The address of the constants of the code.
    Constants,
    /// Lanes that run or wait, no others than the program has.
    Lanes,
    /// The address of code that begins as all code does which the host enters.
    Code,
    /// Lanes that wait, two numbers and code, as they are moved together.
    Own,
    /// A function of the host.
    Function {
        /// Whether the register file stays where it is.
        keeps_file: bool,
        /// Whether it returns the address of code that the host may enter.
        returns_code: bool,
    },
    /// Shared local memory, and its bytes, below 2 GiB.
    Local,
    LocalBytes,
    /// Regions of memory by the lowest bits of their numbers, and which bits these are.
    Storage,
    StorageMask,
    /// Regions of memory by their numbers, and how many there are.
    Surfaces,
    SurfaceCount,
    /// The offset of the thread that follows, among the shared data.
    Follower,
    /// Room for the offsets of lanes.
    Offsets,
}

/// Data that code shares with the host.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// What each eight bytes are.
    pub(crate) fields: Vec<Field>,
    /// Where the first follower is, its bytes, and what each eight of them are.
    pub(crate) follower: i64,
    pub(crate) follower_fields: Vec<Field>,
    /// The size of a region of memory, as a shift, and where its address, its bytes and its storage are.
    pub(crate) region_shift: u32,
    pub(crate) region: [usize; 3],
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

    /// What bytes of a follower are, from its offset on or from that of the one before it.
    pub(super) fn of_follower(&self, at: i64, bytes: usize) -> Option<Field> {
        let size = i64::try_from(8 * self.follower_fields.len()).ok()?;
        let at = at.checked_sub(self.follower)?;
        part(
            &self.follower_fields,
            if at < 0 { at + size } else { at },
            bytes,
        )
    }
}

fn part(fields: &[Field], at: i64, bytes: usize) -> Option<Field> {
    let at = usize::try_from(at).ok()?;
    let end = at.checked_add(bytes)?.div_ceil(8);
    let all = fields.get(at / 8..end)?;
    let first = *all.first()?;
    let is_same = |field: &Field| *field == first;
    match first {
        Field::Closed => None,
        Field::Plain | Field::Offsets => all.iter().all(is_same).then_some(first),
        _ if *all == [Field::Lanes, Field::Plain, Field::Plain, Field::Code] => {
            (at % 8 == 0 && bytes == 32).then_some(Field::Own)
        }
        _ => (at % 8 == 0 && bytes <= 8).then_some(first),
    }
}
