//! Findings.

use std::fmt;

/// A group of checks that is switched on or off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    /// Accesses outside of objects, null and misaligned addresses, writes to constants.
    pub memory: bool,
    /// Undefined bits that reach a branch, an address, a predicate or an output.
    pub uninitialized: bool,
    /// Conflicting accesses without an order.
    pub race: bool,
    /// Barriers that not all work-items reach.
    pub sync: bool,
    /// Values that are rarely intended: NaN, infinity, division by zero.
    pub arithmetic: bool,
    /// Conflicts in local memory that are ordered only by the lockstep of a thread's lanes, even if a kernel requires a
    /// size of sub-groups and thus may rely on it.
    pub lockstep: bool,
}

impl Checks {
    /// The checks that find errors; `arithmetic` and `lockstep` have to be requested by name.
    pub const ALL: Self = Self {
        memory: true,
        uninitialized: true,
        race: true,
        sync: true,
        arithmetic: false,
        lockstep: false,
    };
    /// None.
    pub const NONE: Self = Self {
        memory: false,
        uninitialized: false,
        race: false,
        sync: false,
        arithmetic: false,
        lockstep: false,
    };
    /// Names that [`Self::with`] accepts.
    pub const NAMES: [&'static str; 7] = [
        "all",
        "memory",
        "uninitialized",
        "race",
        "sync",
        "arithmetic",
        "lockstep",
    ];

    /// Switches on the checks of that name; `None` for a name that there is not.
    #[must_use]
    pub fn with(mut self, name: &str) -> Option<Self> {
        match name {
            "all" => {
                self.memory = true;
                self.uninitialized = true;
                self.race = true;
                self.sync = true;
            }
            "memory" => self.memory = true,
            "uninitialized" => self.uninitialized = true,
            "race" => self.race = true,
            "sync" => self.sync = true,
            "arithmetic" => self.arithmetic = true,
            "lockstep" => {
                self.race = true;
                self.lockstep = true;
            }
            _ => return None,
        }
        Some(self)
    }
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident $name:literal $level:ident;)*) => {
        /// What is wrong.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Kind {
            $($(#[doc = $doc])* $kind,)*
        }

        impl Kind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// How bad it is.
            #[must_use]
            pub const fn level(self) -> Level {
                match self {
                    $(Self::$kind => Level::$level,)*
                }
            }

            /// What it means, in a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!($($doc),*),)*
                }
            }
        }
    };
}

kinds! {
    /// An access outside of every object that the program may access there.
    OutOfBounds "out-of-bounds" Error;
    /// An access through a null pointer.
    Null "null" Error;
    /// An access through a pointer to a buffer that was released.
    Dangling "dangling" Error;
    /// An address that is not a multiple of what the message or the type demands.
    Misaligned "misaligned" Error;
    /// A write to constant memory.
    WriteToConstant "write-to-constant" Error;
    /// An access outside of an image or block surface, which the hardware drops.
    Dropped "dropped" Note;
    /// Bits that nobody wrote reach a branch, an address, a predicate or an output.
    Uninitialized "uninitialized" Error;
    /// Conflicting accesses without an order.
    Race "race" Error;
    /// Writes of the same value without an order.
    RaceSameValue "race-same-value" Warning;
    /// A barrier that not all work-items of a group reach.
    BarrierDivergence "barrier-divergence" Error;
    /// A named barrier whose threads do not agree, or that others come to than it is for.
    NamedBarrier "named-barrier" Error;
    /// The executor could not go on.
    Fault "fault" Error;
    /// A NaN or infinity made of numbers.
    NotANumber "not-a-number" Warning;
    /// An integer division by zero.
    DivisionByZero "division-by-zero" Warning;
    /// A shift by more than the width of the value.
    Shift "shift" Warning;
    /// A sum or product that becomes an address and is too large for its register.
    AddressOverflow "address-overflow" Warning;
}

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Rarely meant.
    Warning,
    /// Wrong.
    Error,
}

impl Level {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Where memory or a value is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// Buffers and images.
    Global,
    /// Shared local memory.
    Local,
    /// Private memory of work-items, wherever the compiler put it.
    Private,
    /// Scratch memory of a thread.
    Scratch,
    /// Registers.
    Register,
    /// Constants.
    Constant,
}

impl Space {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Local => "local",
            Self::Private => "private",
            Self::Scratch => "scratch",
            Self::Register => "register",
            Self::Constant => "constant",
        }
    }
}

/// What an access does, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Access {
    /// It writes.
    Write,
    /// It is an atomic operation.
    Atomic,
    /// It reads.
    Read,
}

impl Access {
    /// That of an access to memory.
    pub(crate) const fn new(writes: bool, atomic: bool) -> Self {
        match (writes, atomic) {
            (_, true) => Self::Atomic,
            (true, false) => Self::Write,
            (false, false) => Self::Read,
        }
    }

    /// Its name, as programs have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Atomic => "atomic",
            Self::Read => "read",
        }
    }

    pub(crate) const fn article(self) -> &'static str {
        match self {
            Self::Atomic => "an",
            Self::Write | Self::Read => "a",
        }
    }

    /// Its name, in a sentence.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Atomic => "atomic operation",
            Self::Read => "read",
        }
    }
}

/// Whose accesses are in conflict, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Between {
    /// Those of two groups.
    Groups,
    /// Those of two threads of a group.
    Threads,
    /// Those of lanes of one instruction.
    Lanes,
    /// Those of lanes of a thread, which only their lockstep orders.
    Lockstep,
}

impl Between {
    /// Its name, as programs have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Groups => "groups",
            Self::Threads => "threads",
            Self::Lanes => "lanes",
            Self::Lockstep => "lockstep",
        }
    }

    /// Who the other one is, in a sentence.
    #[must_use]
    pub const fn by(self) -> &'static str {
        match self {
            Self::Groups => "by another group",
            Self::Threads => "by another thread of the group",
            Self::Lanes => "by another lane of the same instruction",
            Self::Lockstep => "by another lane of the thread, which only lockstep orders",
        }
    }
}

/// What happened, as far as it distinguishes findings of one kind at one place: for races the accesses of both sides, the
/// worse one first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Class {
    pub(crate) between: Option<Between>,
    pub(crate) accesses: [Option<Access>; 2],
}

/// An instruction, and the source it was compiled from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Name of the routine.
    pub routine: String,
    /// Place of the instruction in the routine's code.
    pub instruction: usize,
    /// Its text.
    pub text: String,
    /// Source file, where the compiler wrote it down.
    pub file: Option<String>,
    /// Line of the source, from 1.
    pub line: Option<u32>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(file), Some(line)) = (&self.file, self.line) {
            write!(f, "\n  --> {file}:{line}")?;
        }
        let (routine, number) = (&self.routine, self.instruction);
        write!(f, "\n  --> {routine}, instruction {number}: {}", self.text)
    }
}

/// A work-item, or a thread if an instruction has no lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    /// The group.
    pub group: [u32; 3],
    /// Global id of the work-item.
    pub global: Option<[u32; 3]>,
    /// Local id of the work-item.
    pub local: Option<[u32; 3]>,
    /// Thread of the group.
    pub thread: u32,
    /// Lane of the thread.
    pub lane: Option<u8>,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let three = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
        match (self.global, self.local) {
            (Some(global), Some(local)) => write!(
                f,
                "work-item {} (local {}, group {})",
                three(global),
                three(local),
                three(self.group)
            ),
            _ => write!(f, "thread {} of group {}", self.thread, three(self.group)),
        }
    }
}

/// An object in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Its name: that of the argument if the compiler recorded it.
    pub name: String,
    /// The argument.
    pub argument: Option<usize>,
    /// Its size in bytes.
    pub bytes: u64,
    /// Where in it, in bytes; negative before its start.
    pub offset: i64,
}

/// A second place: the other side of a race, or the origin of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Other {
    /// What happened there.
    pub what: String,
    /// The instruction.
    pub place: Option<Place>,
    /// Who.
    pub item: Option<Item>,
    /// Of a race: what it does.
    pub access: Option<Access>,
}

/// Where some threads of a launch were when it was stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stay {
    /// The instruction that would run next, or at which they wait.
    pub place: Place,
    /// How many.
    pub threads: u64,
    /// Whether they wait for other threads of their group.
    pub waits: bool,
    /// One of them.
    pub item: Item,
}

/// Something that is wrong, as often as it happened by the same cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What is wrong.
    pub kind: Kind,
    /// Where.
    pub space: Space,
    /// What is wrong with an access: what it does.
    pub access: Option<Access>,
    /// Of a race: whose accesses these are.
    pub between: Option<Between>,
    /// The instruction.
    pub place: Place,
    /// What happened, in a sentence.
    pub message: String,
    /// The object that was meant to be accessed.
    pub target: Option<Target>,
    /// Who did it first.
    pub item: Option<Item>,
    /// The address, as the instruction had it.
    pub address: Option<u64>,
    /// Bytes of the access.
    pub bytes: Option<u32>,
    /// The value that was written.
    pub value: Option<u64>,
    /// The second place.
    pub other: Option<Other>,
    /// When: the group, counted from 0, and how many instructions its threads had run before.
    pub moment: (u64, u64),
    /// How often.
    pub count: u64,
}

/// Several lines: what is wrong, who did it first, where, and the second place. The last line has no end.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (level, kind) = (self.kind.level().name(), self.kind.name());
        write!(f, "{level}[{kind}]: {}{}", self.message, self.place)?;
        if let Some(item) = &self.item {
            write!(f, "\n  by {item}")?;
        }
        if self.count > 1 {
            write!(f, "\n  {} times", self.count)?;
        }
        let Some(other) = &self.other else {
            return Ok(());
        };
        write!(f, "\nnote: {}", other.what)?;
        if let Some(item) = &other.item {
            write!(f, ", {item}")?;
        }
        other.place.as_ref().map_or(Ok(()), |place| place.fmt(f))
    }
}

impl Finding {
    /// What distinguishes it from others of its kind at its place.
    pub(crate) fn class(&self) -> Class {
        let other = self.other.as_ref().and_then(|other| other.access);
        let mut accesses = [self.access, other];
        accesses.sort_by_key(|access| (access.is_none(), *access));
        Class {
            between: self.between,
            accesses,
        }
    }

    /// Findings are listed in this order: errors before warnings before notes, then in the order of the kinds, of whose
    /// accesses they are, and of what these do.
    #[must_use]
    pub fn severity(&self) -> impl Ord + use<> {
        let kind = self.kind;
        (std::cmp::Reverse(kind.level()), kind, self.class())
    }

    /// Whether another one has the same cause: the same instructions do the same. They may be of two launches.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let place = |f: &Self| f.other.as_ref().and_then(|o| o.place.clone());
        self.kind == other.kind
            && self.class() == other.class()
            && self.place == other.place
            && place(self) == place(other)
    }

    /// Whether it is another aspect of the same race: of the same instructions or source lines, and the same object.
    #[must_use]
    pub fn is_aspect_of(&self, other: &Self) -> bool {
        fn at(place: &Place) -> (&str, Option<u32>, usize) {
            let line = place.line.filter(|_| place.file.is_some());
            let instruction = if line.is_some() { 0 } else { place.instruction };
            let file = place.file.as_deref().filter(|_| line.is_some());
            (file.unwrap_or(&place.routine), line, instruction)
        }
        let sides = |f: &Self| {
            let other = f.other.as_ref().and_then(|o| o.place.as_ref());
            let mut sides =
                [Some(&f.place), other].map(|p| p.map(at).map(|(n, l, i)| (n.to_owned(), l, i)));
            sides.sort();
            sides
        };
        let object = |f: &Self| f.target.as_ref().map(|t| t.name.clone());
        self.between.is_some()
            && other.between.is_some()
            && sides(self) == sides(other)
            && object(self) == object(other)
    }
}
