//! Why an object cannot be changed as wanted.

use crate::location::{Location, Reference, Table};
use std::fmt;
use thiserror::Error as ThisError;
use visakit_isa::object::RoutineId;
use visakit_isa::{DataType, Format};

/// The kind of error, without a place.
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
    /// The routine, or a part of its code, could not be decoded; its references are not known.
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
    /// Something refers to an entry that does not exist, and would then mean the new one.
    #[error("{0} is not declared, but used {1}: the new entry would get its uses")]
    Captured(Reference, Uses),
    /// A number does not fit its field.
    #[error("there is no room for {0} here")]
    TooLarge(Reference),
    /// An error of a rewriter that the caller has written.
    #[error("{0}")]
    Refused(String),
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
    #[error("{bytes} bytes are not a whole number of elements of type {ty}")]
    NotWhole {
        /// Size of the variable, or offset in it.
        bytes: u32,
        /// The type.
        ty: DataType,
    },
    /// A variable without elements holds nothing.
    #[error("a variable has at least one element")]
    NoElements,
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
    pub fn help(&self) -> &'static str {
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
            Self::NoElements => "give it one or more",
            Self::Inexpressible(_) => "choose another version or dialect, or change what uses it",
            Self::Encode(error) => error.help(),
            Self::Duplicate { .. } => "rename or remove one of the two",
            Self::FormatsDiffer { .. } => "bring the objects to one version with `visakit convert`",
            Self::TooLarge(_) => "choose a smaller number, or a newer version",
            Self::NoEntry(..) | Self::KernelsOnly(_) | Self::Refused(_) => "change the edit",
        }
    }
}

/// The number of uses, and the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    /// The number.
    pub count: usize,
    /// The first use.
    pub first: Location,
}

impl fmt::Display for Uses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "by {}", self.first),
            count => write!(f, "{count} times, first by {}", self.first),
        }
    }
}

/// An error and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The routine, and its name.
    pub routine: Option<(RoutineId, String)>,
    /// The place in the routine.
    pub location: Option<Location>,
}

impl Error {
    /// Creates the error of a custom rewriter: one sentence that states what cannot be changed. The
    /// walk adds the place.
    #[must_use]
    pub fn refused(message: impl Into<String>) -> Self {
        ErrorKind::Refused(message.into()).into()
    }

    /// An error with its location.
    #[must_use]
    pub fn at(kind: impl Into<ErrorKind>, location: Location) -> Self {
        Self::from(kind.into()).or_at(location)
    }

    /// With a location, unless it has one.
    pub(crate) fn or_at(mut self, location: Location) -> Self {
        self.location.get_or_insert(location);
        self
    }

    /// With a routine, unless it has one.
    pub(crate) fn within(mut self, id: RoutineId, name: &[u8]) -> Self {
        let name = || (id, String::from_utf8_lossy(name).into_owned());
        self.routine.get_or_insert_with(name);
        self
    }

    /// What the user can do.
    #[must_use]
    pub fn help(&self) -> &'static str {
        self.kind.help()
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Self {
        Self {
            kind: kind.into(),
            routine: None,
            location: None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((id, name)) = &self.routine {
            write!(f, "{} {} {name:?}", id.kind.name(), id.index)?;
        }
        if let Some(location) = &self.location {
            let separator = if self.routine.is_some() { ", " } else { "" };
            write!(f, "{separator}{location}")?;
        }
        if self.routine.is_some() || self.location.is_some() {
            f.write_str(": ")?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for Error {}
