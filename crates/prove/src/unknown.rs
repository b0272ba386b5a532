//! Why nothing can be said.

use crate::term::Model;
use std::fmt;

/// What is not understood, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    /// The reason.
    pub why: String,
    /// Routine and instruction.
    pub place: Option<(String, u32)>,
    /// Whether threads may race: what they compute is not defined then.
    pub(crate) is_race: bool,
    /// Values of variables for which it comes to this, if it is known that there are some.
    pub(crate) values: Option<Model>,
}

impl Unknown {
    /// Somewhere.
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            place: None,
            is_race: false,
            values: None,
        }
    }

    /// Threads may race.
    pub(crate) fn race(why: impl Into<String>) -> Self {
        Self {
            is_race: true,
            ..Self::new(why)
        }
    }

    /// At an instruction, if it is not known yet.
    pub(crate) fn at(mut self, routine: &str, instruction: u32) -> Self {
        self.place
            .get_or_insert_with(|| (routine.to_owned(), instruction));
        self
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some((routine, instruction)) => {
                write!(f, "{} ({routine}, instruction {instruction})", self.why)
            }
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for Unknown {}
