//! Types of source variables.

use visakit_isa::DataType;

/// The type of a source variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceType {
    /// A number.
    Number {
        /// Its name in the source.
        name: String,
        /// How it is stored.
        data_type: DataType,
    },
    /// A pointer of so many bytes.
    Pointer {
        /// Its size.
        bytes: u64,
        /// What it points to; no type is described more than a few pointers deep.
        to: Box<Self>,
    },
    /// An array or a vector.
    Array {
        /// The type of its elements.
        element: Box<Self>,
        /// Their number.
        count: u64,
    },
    /// A structure or a union.
    Record {
        /// Its name.
        name: String,
        /// Its size in bytes.
        bytes: u64,
        /// Names of members, their first bytes, and types.
        members: Vec<(String, u64, Self)>,
    },
    /// Anything else.
    Other {
        /// Its name.
        name: String,
        /// Its size in bytes; 0 if it is not known.
        bytes: u64,
    },
}

impl SourceType {
    /// Its size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Number { data_type, .. } => data_type.size().into(),
            Self::Array { element, count } => element.bytes().saturating_mul(*count),
            Self::Pointer { bytes, .. }
            | Self::Record { bytes, .. }
            | Self::Other { bytes, .. } => *bytes,
        }
    }

    /// Its name, as C has it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Number { name, .. } | Self::Record { name, .. } | Self::Other { name, .. } => {
                name.clone()
            }
            Self::Pointer { to, .. } => format!("{}*", to.name()),
            Self::Array { .. } => {
                let (mut inner, mut counts) = (self, String::new());
                while let Self::Array { element, count } = inner {
                    counts.push_str(&format!("[{count}]"));
                    inner = element;
                }
                format!("{}{counts}", inner.name())
            }
        }
    }

    /// The number that is stored, if it is one: pointers are addresses.
    pub(crate) fn number(&self) -> Option<DataType> {
        match self {
            Self::Number { data_type, .. } => Some(*data_type),
            Self::Pointer { bytes: 4, .. } => Some(DataType::Ud),
            Self::Pointer { bytes: 8, .. } => Some(DataType::Uq),
            _ => None,
        }
    }
}
