//! Errors.

use visakit_launch::LaunchError;

/// Why a request was not carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DebugError {
    /// A place that is not in the program.
    #[error(
        "there is no place `{text}`; places are N (an instruction), ROUTINE, ROUTINE:N, a label, FILE:LINE and :LINE"
    )]
    NoPlace {
        /// The input.
        text: String,
    },
    /// A source line without code.
    #[error("no code of {file} belongs to line {line} or a later one")]
    NoCode {
        /// The file.
        file: String,
        /// The line.
        line: u32,
    },
    /// An expression that cannot be read.
    #[error("`{text}`: {message} at byte {at}")]
    Syntax {
        /// The expression.
        text: String,
        /// What is wrong.
        message: String,
        /// The position.
        at: usize,
    },
    /// A name that nothing has.
    #[error(
        "nothing is named `{0}`; `info variables` lists names, `help expressions` what can be asked"
    )]
    NoName(String),
    /// A source variable that is in no register or memory here.
    #[error(
        "`{0}` has no value here: the compiler keeps it nowhere, or not yet (`-g -cl-opt-disable` keeps every variable)"
    )]
    NoValue(String),
    /// A member or an element of something that has none: its name, its type.
    #[error("`{0}` is of type {1}, which has no such part")]
    NoMember(String, String),
    /// A part of an expression that is no number: its name, its type.
    #[error("`{0}` is of type {1}: name a member or an element")]
    NoNumber(String, String),
    /// An element that a variable or memory does not have.
    #[error("{name} has {count} elements, there is no {index}")]
    NoElement {
        /// The name.
        name: String,
        /// The index.
        index: i128,
        /// Elements that there are.
        count: u64,
    },
    /// No memory is at that address.
    #[error("{0}")]
    NoMemory(String),
    /// Values that are not available in conditions, while the program runs.
    #[error("{0} cannot be used in a condition")]
    NotInCondition(&'static str),
    /// Something that is no variable cannot be set.
    #[error("`{0}` cannot be set")]
    NotAssignable(String),
    /// A number that does not fit.
    #[error("{0}")]
    Number(String),
    /// There is no such thread, lane or breakpoint.
    #[error("there is no {0}")]
    Missing(String),
    /// A request that is not understood.
    #[error("{0}")]
    Usage(String),
    /// A group could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}
