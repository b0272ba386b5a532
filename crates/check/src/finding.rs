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
}

/// Something that is wrong, as often as it happened by the same cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What is wrong.
    pub kind: Kind,
    /// Where.
    pub space: Space,
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
