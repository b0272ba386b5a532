//! Passes that optimise translated code, each a function from code to code.
//!
//! None of them changes what a program computes, which instructions its steps come from, or how many there are. In
//! debug builds the code is verified after each.

mod order;
mod share;

pub(crate) use share::Moves;

use crate::code::Code;
use std::ops::Range;

/// A pass over translated code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Pass {
    /// Sources of bitwise functions get an order in which equal functions have equal tables of truth.
    Order,
    /// Compiler variables that live within a basic block share places in the register file. Their contents cannot be
    /// queried by name afterwards.
    Share,
}

impl Pass {
    /// All passes, in the order in which they run.
    pub const ALL: [Self; 2] = [Self::Order, Self::Share];

    /// Those that cannot be noticed by observing a program.
    pub const UNNOTICED: [Self; 1] = [Self::Order];

    /// Its name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Share => "share",
        }
    }
}

/// Runs passes. `variables` are the parts of the register file that may move, ascending, each one variable that is
/// neither given to the program nor reached by an address. Returns where everything is afterwards.
pub(crate) fn run(code: &mut Code, passes: &[Pass], variables: &[Range<usize>]) -> Moves {
    let mut moves = Moves::default();
    for pass in Pass::ALL {
        if !passes.contains(&pass) {
            continue;
        }
        match pass {
            Pass::Order => order::order(code),
            Pass::Share => moves = share::share(code, variables),
        }
        debug_assert_eq!(code.verify(), Ok(()), "after {}", pass.name());
    }
    moves
}
