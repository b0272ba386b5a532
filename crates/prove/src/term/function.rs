//! Functions of the executor that terms do not look into.

use super::{Node, Term, Terms};
use std::fmt;
use visakit_exec::code::AtomicOp;
use visakit_exec::{LaneFunction, atomic};

/// A function of the executor: equal sources give equal results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// A result of a computation: the sources are its elements, and the bit of a predicate if it reads one.
    Lane(LaneFunction, Output),
    /// The element after an atomic operation, or what the message returns: the sources are the element before and two
    /// operands.
    Atomic(AtomicOp, Output),
}

/// Which of the results of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Output {
    /// The first.
    Value,
    /// The second.
    Second,
    /// The bit of a predicate.
    Flag,
}

impl Function {
    /// Its result for numbers; `width` is that of the result.
    #[must_use]
    pub fn evaluate(&self, sources: &[u64], width: u8) -> Option<u64> {
        match self {
            Self::Lane(function, output) => {
                let used = function.operation.sources();
                let mut elements = [0; 4];
                for (to, from) in elements.iter_mut().zip(sources).take(used) {
                    *to = *from;
                }
                let flag = sources.get(used).is_some_and(|bit| *bit != 0);
                let result = function.evaluate(elements, flag)?;
                Some(match output {
                    Output::Value => result.value,
                    Output::Second => result.second,
                    Output::Flag => result.flag.into(),
                })
            }
            Self::Atomic(op, output) => {
                let [old, a, b] = *sources else { return None };
                let (new, returned) = atomic(*op, usize::from(width / 8), old, [a, b])?;
                Some(match output {
                    Output::Value => new,
                    _ => returned,
                })
            }
        }
    }
}

impl Terms {
    /// The result of a function.
    pub fn symbol(&mut self, function: Function, sources: &[Term], width: u8) -> Term {
        let numbers: Option<Vec<u64>> = sources.iter().map(|term| self.number(*term)).collect();
        if let Some(value) = numbers.and_then(|numbers| function.evaluate(&numbers, width)) {
            return self.constant(value, width);
        }
        self.intern(Node::Symbol(function, sources.into()), width)
    }
}

impl fmt::Display for Function {
    /// The operation, without types.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lane(function, _) => f.write_str(function.operation.name()),
            Self::Atomic(op, _) => write!(f, "atomic {op:?}"),
        }
    }
}
