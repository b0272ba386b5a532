//! Functions of the executor that terms do not look into.

use super::{Node, Term, Terms};
use std::fmt;
use visakit_exec::code::AtomicOp;
use visakit_exec::memory::Format;
use visakit_exec::{LaneFunction, Sampling, atomic};

/// A function of the executor: equal sources give equal results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// A result of a computation: the sources are its elements, and the bit of a predicate if it reads one.
    Lane(LaneFunction, Output),
    /// The element after an atomic operation, or what the message returns: the sources are the element before and two
    /// operands.
    Atomic(AtomicOp, Output),
    /// A channel, red first, of what a sampler makes of the image of an argument that nobody writes: the sources are the
    /// coordinates.
    Sampled(Sampling, u32, u8),
    /// A channel, red first, of a texel: the sources are its bytes.
    Decoded(Format, u8),
    /// A byte of a texel: the sources are its channels.
    Encoded(Format, u8),
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
            // The texels are not known.
            Self::Sampled(..) => None,
            Self::Decoded(format, channel) => {
                let bytes = sources.iter().map(|byte| u8::try_from(*byte).ok());
                let texel: Vec<u8> = bytes.collect::<Option<_>>()?;
                let rgba = format.decode(&texel);
                rgba.get(usize::from(*channel)).map(|bits| (*bits).into())
            }
            Self::Encoded(format, byte) => {
                let mut rgba = [0; 4];
                for (to, from) in rgba.iter_mut().zip(sources) {
                    *to = u32::try_from(*from).ok()?;
                }
                let texel = format.texel(rgba);
                texel.get(usize::from(*byte)).map(|byte| (*byte).into())
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
            Self::Sampled(_, argument, channel) => {
                write!(f, "channel {channel} of the image of argument {argument}")
            }
            Self::Decoded(_, channel) => write!(f, "channel {channel} of a texel"),
            Self::Encoded(_, byte) => write!(f, "byte {byte} of a texel"),
        }
    }
}
