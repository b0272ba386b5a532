//! Signs of the sources of float operations: they are bits.

use super::bits;
use super::samples::{Answers, is_same};
use crate::term::{Term, Terms};
use visakit_exec::LaneFunction;
use visakit_exec::code::Modify;
use visakit_isa::DataType;

/// Whether signs of sources are bits of them.
static KNOWN: Answers<LaneFunction, bool> = Answers::new();

/// The function without changes of the signs of its float sources, and these with other signs. `None` if there are none, or if the
/// executor computes something else.
pub(super) fn of_bits(
    terms: &mut Terms,
    function: &LaneFunction,
    elements: &[Term],
) -> Option<(LaneFunction, Vec<Term>)> {
    let mut other = *function;
    let used = function.operation.sources();
    for source in other.sources.iter_mut().take(used) {
        if source.0.is_float() && source.1 != Modify::Not {
            source.1 = Modify::None;
        }
    }
    (other != *function).then_some(())?;
    let changed = |number: usize| {
        let (old, new) = (function.sources.get(number)?, other.sources.get(number)?);
        (old != new).then_some(*old)
    };
    let same = KNOWN.of(*function, || {
        let pair = |number: usize, any: u64| match changed(number) {
            Some((ty, modify)) => [any, number_with(any, ty, modify)],
            None => [any, any],
        };
        is_same([function, &other], [false; 4], pair) == Some(true)
    });
    same.then(|| {
        let mut all = elements.to_vec();
        for (number, element) in all.iter_mut().enumerate() {
            if let Some((ty, modify)) = changed(number) {
                *element = with(terms, *element, ty, modify);
            }
        }
        (other, all)
    })
}

/// The highest bit of a type.
fn sign(ty: DataType) -> u64 {
    1 << (bits(ty) - 1)
}

fn number_with(number: u64, ty: DataType, modify: Modify) -> u64 {
    match modify {
        Modify::Neg => number ^ sign(ty),
        Modify::Abs => number & !sign(ty),
        Modify::NegAbs => number | sign(ty),
        Modify::None | Modify::Not => number,
    }
}

fn with(terms: &mut Terms, term: Term, ty: DataType, modify: Modify) -> Term {
    let sign = terms.constant(sign(ty), bits(ty));
    match modify {
        Modify::Neg => terms.xor(term, sign),
        Modify::Abs => {
            let others = terms.not(sign);
            terms.and(term, others)
        }
        Modify::NegAbs => terms.or(term, sign),
        Modify::None | Modify::Not => term,
    }
}
