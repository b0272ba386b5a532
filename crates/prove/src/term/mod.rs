//! Terms: values of 1 to 64 bits as expressions over unknown bytes.
//!
//! Terms are made once: equal expressions are the same number, whichever of the two kernels they come from. The functions
//! that make them (`build.rs`) bring them into a normal form by rules that hold for all bits. What a rule knows nothing of
//! stays as it is; a [`Node::Symbol`] is a function of the executor that equal sources give equal results.

mod build;
mod deep;
mod function;
mod possible;
mod shape;
mod smt;
mod tables;
mod value;

pub use deep::Deep;
pub use function::{Function, Output};
pub use shape::{Shape, Shapes};
pub use smt::{Model, Question};
pub use value::Values;

use hashbrown::HashMap;
use std::fmt;

/// A term of a [`Terms`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(u32);

impl Term {
    /// Its number: terms that it is made of have smaller ones.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// A byte, or bits, that nobody knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Variable {
    /// A dword of the buffer that an argument is, before the kernel runs, or a byte of what is left at its end.
    Input {
        /// The argument.
        argument: u32,
        /// Place in the buffer.
        offset: u64,
    },
    /// A byte that was never written: registers, local, private and scratch memory. Each has its own number; those of two
    /// kernels differ.
    Undefined(u32),
    /// For tests.
    Free(u32),
}

/// What a term is. Lists of terms have the lowest bits first, or are sorted where the order makes no difference.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// A number.
    Constant(u64),
    /// Unknown.
    Variable(Variable),
    /// Bits from a place on; as many as the term has.
    Extract(Term, u8),
    /// Terms one after the other, the lowest bits first.
    Concat(Box<[Term]>),
    /// A number and products of a number and a term, modulo the width.
    Sum(u64, Box<[(u64, Term)]>),
    /// Product, modulo the width.
    Product(Box<[Term]>),
    /// Bits that are set in a number and in all terms.
    And(u64, Box<[Term]>),
    /// Bits that are set in a number or in some term.
    Or(u64, Box<[Term]>),
    /// Bits that are set in an odd number of them.
    Xor(u64, Box<[Term]>),
    /// The second where the first, a bit, is set, else the third.
    Choice(Term, Term, Term),
    /// Whether both are the same.
    Equal(Term, Term),
    /// Whether the first is less, without signs.
    Less(Term, Term),
    /// Whether the first is less, with signs.
    LessSigned(Term, Term),
    /// Shift left; zero where the count is the width or more.
    Left(Term, Term),
    /// Shift right with zeros.
    Right(Term, Term),
    /// Shift right with the sign; the sign alone where the count is the width or more.
    RightSigned(Term, Term),
    /// A result of a function of the executor.
    Symbol(Function, Box<[Term]>),
}

impl Node {
    /// Calls a function with each term that it is made of.
    pub fn each(&self, mut to: impl FnMut(Term)) {
        match self {
            Self::Constant(_) | Self::Variable(_) => {}
            Self::Extract(of, _) => to(*of),
            Self::Sum(_, terms) => terms.iter().for_each(|(_, term)| to(*term)),
            Self::Concat(terms)
            | Self::Product(terms)
            | Self::And(_, terms)
            | Self::Or(_, terms)
            | Self::Xor(_, terms)
            | Self::Symbol(_, terms) => terms.iter().for_each(|term| to(*term)),
            Self::Choice(a, b, c) => [*a, *b, *c].into_iter().for_each(to),
            Self::Equal(a, b)
            | Self::Less(a, b)
            | Self::LessSigned(a, b)
            | Self::Left(a, b)
            | Self::Right(a, b)
            | Self::RightSigned(a, b) => [*a, *b].into_iter().for_each(to),
        }
    }
}

/// The bits of a width.
#[must_use]
pub const fn ones(width: u8) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// A number of that width, extended by its sign.
#[must_use]
pub const fn signed(value: u64, width: u8) -> i64 {
    let unused = 64 - width as u32;
    (value << unused).cast_signed() >> unused
}

/// All terms of a proof.
#[derive(Debug, Default)]
pub struct Terms {
    nodes: Vec<(Node, u8)>,
    known: HashMap<(Node, u8), Term>,
    /// Whether products and sums of floats may be contracted, and their operands exchanged.
    pub(crate) contracted: bool,
    /// Which terms are polynomials of others, if floats count as real numbers.
    pub(crate) reals: Option<crate::lower::Reals>,
    /// Bits as functions of others.
    tables: tables::Tables,
    /// Undefined bytes so far.
    undefined: u32,
    /// Terms where a bit is known to be set.
    under: HashMap<(Term, Term), Term>,
    /// Bits of choices: each is looked into once, however many terms share it.
    extracts: HashMap<(Term, u8, u8), Term>,
    /// Choices of one condition after each other as one, if they are.
    joins: HashMap<(Term, Term), Option<Term>>,
    /// How deep [`Self::met`] is in itself.
    meeting: u8,
    /// Bits from the parts of any term.
    pushed: HashMap<(Term, u8, u8), Term>,
}

impl Terms {
    /// No terms.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.nodes.len()
    }

    /// How many terms and other results are kept: what memory they take.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.nodes.len()
            + self.under.len()
            + self.extracts.len()
            + self.joins.len()
            + self.pushed.len()
            + self.tables.count()
    }

    /// What a term is.
    #[must_use]
    pub fn node(&self, term: Term) -> &Node {
        const NOTHING: &Node = &Node::Constant(0);
        self.nodes
            .get(term.0 as usize)
            .map_or(NOTHING, |(node, _)| node)
    }

    /// Its bits.
    #[must_use]
    pub fn width(&self, term: Term) -> u8 {
        self.nodes
            .get(term.0 as usize)
            .map_or(1, |(_, width)| *width)
    }

    /// Its value, if it is a number.
    #[must_use]
    pub fn number(&self, term: Term) -> Option<u64> {
        match self.node(term) {
            Node::Constant(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether it is a number of which all bits are set.
    #[must_use]
    pub fn is_ones(&self, term: Term) -> bool {
        self.number(term) == Some(ones(self.width(term)))
    }

    /// The term that is this.
    fn intern(&mut self, node: Node, width: u8) -> Term {
        let entry = (node, width);
        if let Some(term) = self.known.get(&entry) {
            return *term;
        }
        let term = Term(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(entry.clone());
        self.known.insert(entry, term);
        term
    }

    /// A number.
    pub fn constant(&mut self, value: u64, width: u8) -> Term {
        self.intern(Node::Constant(value & ones(width)), width)
    }

    /// An unknown value.
    pub fn variable(&mut self, variable: Variable, width: u8) -> Term {
        self.intern(Node::Variable(variable), width)
    }

    /// A byte that was never written: not equal to any other term.
    pub fn undefined(&mut self) -> Term {
        self.undefined += 1;
        self.variable(Variable::Undefined(self.undefined), 8)
    }

    /// How many bytes that were never written there are: their numbers end with this one.
    pub(crate) const fn undefined_bytes(&self) -> u32 {
        self.undefined
    }

    /// The next of the terms to do whose parts are all known, from the last one on; it has to be known before the next call.
    pub(crate) fn ready(
        &self,
        todo: &mut Vec<Term>,
        is_known: impl Fn(Term) -> bool,
    ) -> Option<Term> {
        while let Some(next) = todo.last().copied() {
            if is_known(next) {
                todo.pop();
                continue;
            }
            let before = todo.len();
            self.node(next).each(|part| {
                if !is_known(part) {
                    todo.push(part);
                }
            });
            if todo.len() == before {
                todo.pop();
                return Some(next);
            }
        }
        None
    }

    /// The variables that a term depends on.
    #[must_use]
    pub fn variables(&self, terms: &[Term]) -> Vec<(Term, Variable)> {
        let mut seen = hashbrown::HashSet::new();
        let mut todo = terms.to_vec();
        let mut found = Vec::new();
        while let Some(term) = todo.pop() {
            if !seen.insert(term) {
                continue;
            }
            if let Node::Variable(variable) = self.node(term) {
                found.push((term, *variable));
            }
            self.node(term).each(|of| todo.push(of));
        }
        found.sort_unstable_by_key(|(term, _)| *term);
        found
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input { argument, offset } => write!(f, "argument {argument} from byte {offset}"),
            Self::Undefined(number) => write!(f, "undefined {number}"),
            Self::Free(number) => write!(f, "free {number}"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests;
