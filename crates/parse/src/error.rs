//! Errors of reading.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use thiserror::Error as ThisError;
use visakit_isa::object::{RoutineId, RoutineKind};
use visakit_isa::wire::Undescribed;
use visakit_isa::{InstructionDef, Version};

/// What is wrong, without a place.
#[derive(Clone, Copy, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file does not begin with `CISA`.
    #[error("not a vISA object: expected the magic \"CISA\" (43 49 53 41), found {}", Hex(*.found))]
    NotAnObject {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// The version has no binary form, or no known one.
    #[error("version {0} has no known binary layout")]
    UnsupportedVersion(Version),
    /// The input ends where more is needed.
    #[error("input ends, at least {needed} more {} expected", bytes(*needed))]
    UnexpectedEnd {
        /// Bytes that are missing at least.
        needed: u32,
    },
    /// The routine ends inside of its tables.
    #[error("the routine ends inside of its tables, at least {needed} more {} expected", bytes(*needed))]
    UnexpectedEndOfRoutine {
        /// Bytes that are missing at least.
        needed: u32,
    },
    /// The routine's instructions end inside of one.
    #[error("the instructions end inside of this one, at least {needed} more {} expected", bytes(*needed))]
    UnexpectedEndOfCode {
        /// Bytes that are missing at least.
        needed: u32,
    },
    /// A first byte without a meaning in this version.
    #[error("unknown opcode {opcode:#04x}{}", Elsewhere(*.elsewhere))]
    UnknownOpcode {
        /// The byte.
        opcode: u8,
        /// The instruction of that number in another version, if any.
        elsewhere: Option<&'static str>,
    },
    /// A second byte that is not a known sub-operation.
    #[error("unknown sub-operation {sub_op:#04x} of opcode {opcode:#04x}")]
    UnknownSubOp {
        /// First byte.
        opcode: u8,
        /// Second byte.
        sub_op: u8,
    },
    /// A vector operand of an unknown class.
    #[error("operand tag {0:#04x} names no operand class (class {class}, expected 0-3, 5 or 6)", class = .0 & 7)]
    OperandClass(u8),
    /// An immediate of type `bool`.
    #[error("immediate of type bool, which has no immediate form")]
    BoolImmediate,
    /// Modifier bits without a meaning.
    #[error("operand tag {0:#04x} has an unknown modifier or reserved bits set")]
    Modifier(u8),
    /// Region bits without a meaning.
    #[error("region word {0:#06x} has an unknown code or reserved bits set")]
    Region(u16),
    /// An unknown execution size or mask.
    #[error("execution-size byte {0:#04x}: size code above 5, or a mask that this version lacks")]
    ExecSize(u8),
    /// An unknown lane count or mask.
    #[error("element-count byte {0:#04x}: count code above 2, or a mask that this version lacks")]
    ElementCount(u8),
    /// Predicate bits without a meaning.
    #[error("predicate word {0:#06x} has reserved bits set")]
    Predicate(u32),
    /// Sampler bits without a meaning.
    #[error("sampler operation {0:#06x} has reserved bits set")]
    SamplerOp(u16),
    /// The high nibble of an immediate's type byte is set.
    #[error("immediate type byte {0:#04x} has reserved bits set")]
    ImmediateType(u8),
    /// A state operand that is neither surface nor sampler.
    #[error("state operand of class {0}, expected 0 (surface) or 1 (sampler)")]
    StateClass(u8),
    /// An index beyond the end of its table.
    #[error("{table} {index} does not exist, the table ends at {end}")]
    IndexOutOfRange {
        /// The table.
        table: &'static str,
        /// The index.
        index: u32,
        /// First index that does not exist.
        end: u32,
    },
    /// A number that must be zero.
    #[error("{found} where only 0 has a meaning")]
    NotZero {
        /// The number.
        found: u32,
    },
    /// A number that contradicts the content.
    #[error("stated as {stated:#x}, but {expected:#x} follows from the content")]
    Inconsistent {
        /// The number in the file.
        stated: u32,
        /// The number derived from the content.
        expected: u32,
    },
    /// A routine whose instructions are not in the file.
    #[error("the instructions of the routine were removed{}", Removed(*.stated))]
    CodeRemoved {
        /// Bytes of instructions that the routine still states.
        stated: u32,
    },
    /// A piece outside of the file.
    #[error("place {offset:#x}, {size:#x} bytes, is not inside of the file ({length:#x} bytes)")]
    OutsideOfFile {
        /// Stated offset.
        offset: u32,
        /// Stated size.
        size: u32,
        /// Size of the file.
        length: u64,
    },
    /// Two pieces that share bytes.
    #[error("place {offset:#x}, {size:#x} bytes, overlaps another part of the file")]
    Overlap {
        /// Stated offset.
        offset: u32,
        /// Stated size.
        size: u32,
    },
    /// Bytes that belong to no piece.
    #[error("{length} {} to no part of the object", if *length == 1 { "byte belongs" } else { "bytes belong" })]
    Uncovered {
        /// How many.
        length: u64,
    },
}

/// The word after a number of bytes.
fn bytes(count: u32) -> &'static str {
    if count == 1 { "byte" } else { "bytes" }
}

/// The size that removed code has left.
struct Removed(u32);

impl fmt::Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            size => write!(f, ", it states {size:#x} {}", bytes(size)),
        }
    }
}

/// The meaning of a number in other versions.
struct Elsewhere(Option<&'static str>);

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(mnemonic) => write!(f, " ({mnemonic} in other versions)"),
            None => Ok(()),
        }
    }
}

/// Four bytes as hex, and as text if they are printable.
struct Hex([u8; 4]);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.0;
        write!(f, "{a:02x} {b:02x} {c:02x} {d:02x}")?;
        match core::str::from_utf8(&self.0) {
            Ok(text) if text.chars().all(|c| c.is_ascii_graphic()) => write!(f, " ({text:?})"),
            _ => Ok(()),
        }
    }
}

impl ErrorKind {
    /// Whether the input ends too early, as opposed to saying something wrong.
    #[must_use]
    pub const fn is_end_of_input(&self) -> bool {
        matches!(
            self,
            Self::UnexpectedEnd { .. }
                | Self::UnexpectedEndOfRoutine { .. }
                | Self::UnexpectedEndOfCode { .. }
        )
    }

    /// Whether the bytes have a layout and only their meaning is wrong. Lenient reading keeps such
    /// values.
    #[must_use]
    pub const fn is_legality(&self) -> bool {
        matches!(
            self,
            Self::Modifier(_)
                | Self::Region(_)
                | Self::ExecSize(_)
                | Self::ElementCount(_)
                | Self::Predicate(_)
                | Self::SamplerOp(_)
                | Self::ImmediateType(_)
                | Self::StateClass(_)
                | Self::IndexOutOfRange { .. }
        )
    }

    /// What the user can do.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotAnObject { .. } => {
                "give a compiled vISA object; text (.visaasm) and ELF containers are something else"
            }
            Self::UnsupportedVersion(Version::V4_2) => {
                "4.2 exists as text only: its data types do not fit the binary form"
            }
            Self::UnsupportedVersion(_) => {
                "known are 2.4, 3.0 to 3.8, 4.0, 4.1 and 4.8; the file may be damaged"
            }
            Self::UnexpectedEnd { .. } | Self::UnexpectedEndOfRoutine { .. } => {
                "the file is truncated, or a count before this place is wrong; lenient reading keeps what is there"
            }
            Self::UnexpectedEndOfCode { .. } => {
                "the object is damaged, or cut by a faulty writer (IGC of 2022-09 to 2022-12 cuts instructions); lenient reading keeps the rest as raw bytes"
            }
            Self::UnknownOpcode {
                elsewhere: Some(_), ..
            } => "the number is in use in other versions only; check the version in the header",
            Self::UnknownOpcode { .. } | Self::UnknownSubOp { .. } => {
                "the object is damaged or newer than this tool; lenient reading keeps the rest as raw bytes"
            }
            Self::OperandClass(_) | Self::BoolImmediate => {
                "the object is damaged, or written in another dialect (try to force one)"
            }
            Self::OutsideOfFile { .. } => "the file is truncated or its header damaged",
            Self::CodeRemoved { .. } => {
                "only native code and tables are left; lenient reading accepts them"
            }
            Self::Inconsistent { .. } | Self::Overlap { .. } | Self::Uncovered { .. } => {
                "the file was edited or damaged; lenient reading accepts it and keeps the bytes"
            }
            _ => {
                "the object is damaged, cut by a faulty writer (IGC of 2022-09 to 2022-12 cuts instructions), or in an unknown dialect; lenient reading keeps the value"
            }
        }
    }
}

impl From<Undescribed> for ErrorKind {
    fn from(what: Undescribed) -> Self {
        match what {
            Undescribed::OperandClass(tag) => Self::OperandClass(tag),
            Undescribed::BoolImmediate => Self::BoolImmediate,
        }
    }
}

/// The error type of the nom functions: what is wrong, and how many bytes of the input were left at
/// that point.
///
/// It holds no input and has no lifetime, so that results stay small. Input that ends early is not
/// a fault but [`nom::Err::Incomplete`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NomError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Bytes from the wrong place to the end of the input.
    pub remaining: usize,
}

impl<'a> nom::error::ParseError<&'a [u8]> for NomError {
    fn from_error_kind(input: &'a [u8], _: nom::error::ErrorKind) -> Self {
        Self {
            kind: ErrorKind::UnexpectedEnd { needed: 1 },
            remaining: input.len(),
        }
    }

    fn append(_: &'a [u8], _: nom::error::ErrorKind, other: Self) -> Self {
        other
    }
}

/// Number of bytes of a routine's name kept in an error.
const MAX_NAME: usize = 120;

/// Where in the object something is.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Context {
    /// The routine; a long name is cut.
    pub routine: Option<(RoutineId, String)>,
    /// Tables and entries, outermost first.
    pub path: Vec<(&'static str, Option<u32>)>,
    /// Number of the instruction in its routine.
    pub instruction: Option<u32>,
    /// The instruction's row.
    pub def: Option<&'static InstructionDef>,
    /// The field, of a record or of an instruction.
    pub field: Option<&'static str>,
}

impl fmt::Display for Context {
    /// `kernel 0 "name", instruction 117 (lsc_load), src1`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some((id, name)) = &self.routine {
            let kind = match id.kind {
                RoutineKind::Kernel => "kernel",
                RoutineKind::Function => "function",
            };
            write!(f, "{kind} {} {name:?}", id.index)?;
            separator = ", ";
        }
        for (name, index) in &self.path {
            f.write_str(separator)?;
            separator = ", ";
            match index {
                Some(index) => write!(f, "{name}[{index}]")?,
                None => f.write_str(name)?,
            }
        }
        if let Some(number) = self.instruction {
            write!(f, "{separator}instruction {number}")?;
            separator = ", ";
            if let Some(def) = self.def {
                write!(f, " ({})", def.mnemonic())?;
            }
        }
        if let Some(field) = self.field {
            write!(f, "{separator}field {field}")?;
        }
        Ok(())
    }
}

/// What is wrong, where, and what to do about it. One word wide.
#[derive(Clone, Debug, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    kind: ErrorKind,
    offset: u64,
    context: Context,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, offset: u64, context: Context) -> Self {
        Self(Box::new(Inner {
            kind,
            offset,
            context,
        }))
    }

    pub(crate) fn in_routine(mut self, id: RoutineId, name: &str) -> Self {
        // A routine may have thousands of faults: a long name must not be stored with each.
        let mut cut = name.len().min(MAX_NAME);
        while !name.is_char_boundary(cut) {
            cut -= 1;
        }
        let mut kept = String::from(name.get(..cut).unwrap_or_default());
        if cut < name.len() {
            kept.push('…');
        }
        self.0.context.routine = Some((id, kept));
        self
    }

    /// For input that ends early: states more precisely what ended.
    pub(crate) fn map_end(mut self, kind: impl FnOnce(u32) -> ErrorKind) -> Self {
        if let ErrorKind::UnexpectedEnd { needed } = self.0.kind {
            self.0.kind = kind(needed);
        }
        self
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Offset of the wrong byte, from the start of the file. For input that ends: the end.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// Where in the object it is.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Whether the input ends too early, as opposed to saying something wrong.
    #[must_use]
    pub fn is_end_of_input(&self) -> bool {
        self.0.kind.is_end_of_input()
    }

    /// What the user can do.
    #[must_use]
    pub fn help(&self) -> &'static str {
        self.0.kind.help()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at offset {:#x}", self.0.kind, self.0.offset)?;
        if self.0.context != Context::default() {
            write!(f, ", in {}", self.0.context)?;
        }
        Ok(())
    }
}

impl core::error::Error for Error {}
