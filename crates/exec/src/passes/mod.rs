//! Passes that optimise translated code, each a function from code to code.
//!
//! None of them changes what a program computes, which instructions its steps come from, or how many there are. In
//! debug builds the code is verified after each.

mod fold;
mod fuse;
mod order;
mod scalars;
mod share;
mod values;

pub(crate) use share::Moves;

use crate::code::Code;
use std::ops::Range;

/// A pass over translated code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Pass {
    /// Computations of constants become copies of their results, and sources that hold a constant read it.
    Fold,
    /// Sources that read a copy of one element for each lane read that element.
    Scalars,
    /// Sources of bitwise functions get an order in which equal functions have equal tables of truth.
    Order,
    /// Compiler variables that live within a basic block share places in the register file. Their contents cannot be
    /// queried by name afterwards.
    Share,
    /// Comparisons are marked on whose outcome the next step branches.
    Fuse,
}

impl Pass {
    /// All passes, in the order in which they run.
    pub const ALL: [Self; 5] = [
        Self::Fold,
        Self::Scalars,
        Self::Order,
        Self::Share,
        Self::Fuse,
    ];

    /// Those after which steps read and write what their instructions name, so that they cannot be noticed by observing
    /// a program.
    pub const UNNOTICED: [Self; 2] = [Self::Order, Self::Fuse];

    /// Those after which every variable has a place of its own, so that it can be queried.
    pub const IN_PLACE: [Self; 4] = [Self::Fold, Self::Scalars, Self::Order, Self::Fuse];

    /// Its name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fold => "fold",
            Self::Scalars => "scalars",
            Self::Order => "order",
            Self::Share => "share",
            Self::Fuse => "fuse",
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
            Pass::Fold => fold::fold(code),
            Pass::Scalars => scalars::scalars(code),
            Pass::Order => order::order(code),
            Pass::Share => moves = share::share(code, variables),
            Pass::Fuse => fuse::fuse(code),
        }
        debug_assert_eq!(code.verify(), Ok(()), "after {}", pass.name());
    }
    moves
}
