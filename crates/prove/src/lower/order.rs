//! The order of two factors or summands of floats: it shows in which of two NaNs is passed on, and nowhere else.

use super::samples::Answers;
use super::{bits, directed, floats::mantissa};
use crate::term::{Node, Term, Terms, ones};
use visakit_exec::LaneFunction;
use visakit_exec::code::{Lane, Operation};
use visakit_isa::DataType;

/// Whether the order makes no difference.
static KNOWN: Answers<LaneFunction, bool> = Answers::new();

/// Choices that are looked into for the numbers that an operand may be.
const MOST_CHOICES: u32 = 16;

/// Third operands of samples.
const THIRD: usize = 7;

/// The function and its sources in an order that does not depend on theirs, where one of the first two is never a NaN. `None` if
/// they are in that order, or if it counts.
pub(super) fn ordered(
    terms: &Terms,
    function: &LaneFunction,
    elements: &[Term],
) -> Option<(LaneFunction, Vec<Term>)> {
    let commutes = matches!(
        function.operation,
        Operation::Add | Operation::Mul | Operation::Mad
    );
    let floats = matches!(function.lane, Lane::F32 | Lane::F64);
    let ([a, b, ..], [first, second, ..]) = (elements, &function.sources) else {
        return None;
    };
    let key = |term: &Term, modify| (*term, format!("{modify:?}"));
    let turned = a > b || a == b && key(a, first.1) > key(b, second.1);
    let fits = commutes && floats && turned && first.0 == second.0;
    (fits && (is_number(terms, *a, first.0)? || is_number(terms, *b, second.0)?)).then_some(())?;
    let other = exchanged(function);
    let same = KNOWN.of(*function, || is_same(function, &other) == Some(true));
    same.then(|| {
        let mut elements = elements.to_vec();
        elements.swap(0, 1);
        (other, elements)
    })
}

/// The function whose first two sources are in the other order.
fn exchanged(function: &LaneFunction) -> LaneFunction {
    let mut other = *function;
    other.sources.swap(0, 1);
    other
}

/// Whether a float is never a NaN, as it is a choice of numbers; `None` for other types.
fn is_number(terms: &Terms, term: Term, data_type: DataType) -> Option<bool> {
    mantissa(data_type)?;
    let (mut todo, mut left) = (vec![term], MOST_CHOICES);
    while let Some(next) = todo.pop() {
        match terms.node(next) {
            Node::Constant(value) if !is_nan(*value, data_type) => {}
            Node::Choice(_, yes, no) if left > 0 => {
                left -= 1;
                todo.extend([*yes, *no]);
            }
            _ => return Some(false),
        }
    }
    Some(true)
}

/// Whether the bits of a float are those of a NaN.
fn is_nan(value: u64, data_type: DataType) -> bool {
    let width = bits(data_type);
    let infinity = mantissa(data_type).map(|digits| ones(width - 1) >> digits << digits);
    infinity.is_some_and(|infinity| value & ones(width - 1) > infinity)
}

/// Whether two functions have the same results for samples of sources in the other order, of which one is no NaN.
fn is_same(function: &LaneFunction, other: &LaneFunction) -> Option<bool> {
    let [(data_type, _), _, (third, _), _] = function.sources;
    let all = directed(bits(data_type), true);
    let thirds = match function.operation {
        Operation::Mad => {
            let list = directed(bits(third), third.is_float());
            let step = (list.len() / THIRD).max(1);
            list.into_iter().step_by(step).collect()
        }
        _ => vec![0],
    };
    for (place, a) in all.iter().enumerate() {
        for (number, b) in all.iter().enumerate() {
            if is_nan(*a, data_type) && is_nan(*b, data_type) {
                continue;
            }
            let third = thirds.get((place + number) % thirds.len().max(1));
            let third = third.copied().unwrap_or(0);
            let old = function.evaluate([*a, *b, third, 0], false)?;
            let new = other.evaluate([*b, *a, third, 0], false)?;
            if old != new {
                return Some(false);
            }
        }
    }
    Some(true)
}
