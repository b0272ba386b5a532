//! Why an object cannot be changed as wanted.

use crate::place::{Place, Reference, Table};
use std::fmt;
use thiserror::Error as ThisError;
use visakit_isa::object::RoutineId;
use visakit_isa::{DataType, Format};

/// What is wrong, without a place.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The object has no such routine.
    #[error("there is no {kind} {index}", kind = .0.kind.name(), index = .0.index)]
    NoRoutine(RoutineId),
    /// The object has no routine of that name.
    #[error("there is no routine {0:?}")]
    NoRoutineNamed(String),
    /// A table has no entry of that name.
    #[error("there is no {table} {1:?}", table = .0.name())]
    NoSymbol(Table, String),
    /// More than one thing has the name.
    #[error("the name {0:?} is ambiguous")]
    Ambiguous(String),
    /// The name is in use.
    #[error("the name {0:?} is taken")]
    NameTaken(String),
    /// The routine, or a part of its code, could not be decoded; what it refers to is not known.
    #[error("undecoded bytes may refer to anything")]
    Undecoded,
    /// A table has no such entry.
    #[error("{0} is not declared")]
    NotDeclared(Reference),
    /// Predefined entries cannot be changed.
    #[error("{0} is predefined")]
    Predefined(Reference),
    /// An entry cannot be removed while something refers to it.
    #[error("{0} is still used {1}")]
    InUse(Reference, Uses),
    /// Something refers to an entry that does not exist yet, and would get hold of the new one.
    #[error("{0} is not declared, but used {1}: the new entry would take its place")]
    Captured(Reference, Uses),
    /// A table is full.
    #[error("the table has no room for another {name}: {limit} is the most", name = .0.name(), limit = .1)]
    Full(Table, usize),
    /// An index is beyond the end of a list.
    #[error("there is no {0} {1}")]
    NoEntry(&'static str, usize),
    /// A label would be placed twice.
    #[error("{0} is placed already, at instruction {1}")]
    PlacedTwice(Reference, usize),
    /// A variable has no whole number of elements of the type.
    #[error("{bytes} bytes are no whole number of elements of type {ty}")]
    NotWhole {
        /// Size of the variable, or place inside of it.
        bytes: u32,
        /// The type.
        ty: DataType,
    },
    /// Only kernels have it.
    #[error("a function has no {0}")]
    KernelsOnly(&'static str),
    /// The format cannot express it.
    #[error("{0}")]
    Encode(#[from] visakit_encode::Error),
    /// Something has no counterpart in the format.
    #[error("{0}")]
    Inexpressible(String),
    /// A definition exists twice.
    #[error("{what} {name:?} is defined twice")]
    Duplicate {
        /// Kernel, function or file variable.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Objects of different formats cannot be put together.
    #[error("version {} ({}) where the first object is of version {} ({})",
        .found.version(), .found.dialect(), .first.version(), .first.dialect())]
    FormatsDiffer {
        /// Format of the object.
        found: Format,
        /// Format of the first one.
        first: Format,
    },
}

impl ErrorKind {
    /// What the user can do.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NoRoutine(_) | Self::NoRoutineNamed(_) => "`visakit info` lists the routines",
            Self::Ambiguous(_) => "say which one by its number",
            Self::NameTaken(_) => "choose another name",
            Self::NoSymbol(..) => "`visakit dis` lists what is declared",
            Self::Undecoded => "decode the object strictly to see what is wrong with it",
            Self::NotDeclared(_) => "declare it first, or name another one",
            Self::Predefined(_) => "only declared entries can be changed",
            Self::InUse(..) => "remove or change what uses it first",
            Self::Captured(..) => "change what uses it first",
            Self::Full(..) => "remove entries that are not used, or choose a newer version",
            Self::PlacedTwice(..) => "place another label",
            Self::NotWhole { .. } => "choose a type whose size divides it",
            Self::Inexpressible(_) => "choose another version or dialect, or change what uses it",
            Self::Encode(_) => "choose a version or dialect that has room for it",
            Self::Duplicate { .. } => "rename or remove one of the two",
            Self::FormatsDiffer { .. } => "bring the objects to one version with `visakit convert`",
            Self::NoEntry(..) | Self::KernelsOnly(_) => "change the edit",
        }
    }
}

/// Where something is used: how often, and the first place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    /// How often.
    pub count: usize,
    /// The first place.
    pub first: Place,
}

impl fmt::Display for Uses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "by {}", self.first),
            count => write!(f, "{count} times, first by {}", self.first),
        }
    }
}

/// What is wrong and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The routine, and its name.
    pub routine: Option<(RoutineId, String)>,
    /// Where in the routine.
    pub place: Option<Place>,
}

impl Error {
    pub(crate) fn at(kind: impl Into<ErrorKind>, place: Place) -> Self {
        Self {
            kind: kind.into(),
            routine: None,
            place: Some(place),
        }
    }

    pub(crate) fn in_routine(mut self, id: RoutineId, name: &[u8]) -> Self {
        self.routine = Some((id, String::from_utf8_lossy(name).into_owned()));
        self
    }

    /// What the user can do.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.kind.help()
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Self {
        Self {
            kind: kind.into(),
            routine: None,
            place: None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((id, name)) = &self.routine {
            write!(f, "{} {} {name:?}", id.kind.name(), id.index)?;
        }
        if let Some(place) = &self.place {
            let separator = if self.routine.is_some() { ", " } else { "" };
            write!(f, "{separator}{place}")?;
        }
        if self.routine.is_some() || self.place.is_some() {
            f.write_str(": ")?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for Error {}
