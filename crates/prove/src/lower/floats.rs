//! Comparisons of floats by their bits: for solvers, which else would know only that equal floats compare equally.

use super::{LaneTerms, bits};
use crate::term::{Function, Output, Term, Terms};
use visakit_exec::LaneFunction;
use visakit_exec::code::{Modify, Operation, Relation};
use visakit_isa::DataType;

/// A float: its sign, and the rest of its bits as a number, which has the order of absolute values.
struct Float {
    sign: Term,
    rest: Term,
    /// Whether it is a NaN.
    nan: Term,
}

/// The bits of the mantissa of a type.
pub(super) const fn mantissa(data_type: DataType) -> Option<u8> {
    match data_type {
        DataType::Hf => Some(10),
        DataType::F => Some(23),
        DataType::Df => Some(52),
        _ => None,
    }
}

fn float(
    terms: &mut Terms,
    element: Term,
    (data_type, modify): (DataType, Modify),
    flushed: bool,
) -> Option<Float> {
    let (width, mantissa) = (bits(data_type), mantissa(data_type)?);
    let sign = terms.extract(element, width - 1, 1);
    let sign = match modify {
        Modify::None => sign,
        Modify::Neg => terms.not(sign),
        Modify::Abs => terms.constant(0, 1),
        Modify::NegAbs => terms.constant(1, 1),
        Modify::Not => return None,
    };
    let mut rest = terms.extract(element, 0, width - 1);
    if flushed {
        let exponent = terms.extract(element, mantissa, width - 1 - mantissa);
        let none = terms.constant(0, width - 1 - mantissa);
        let denormal = terms.equal(exponent, none);
        let zero = terms.constant(0, width - 1);
        rest = terms.choice(denormal, zero, rest);
    }
    // All bits of the exponent, and none of the mantissa.
    let infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa;
    let infinity = terms.constant(infinity, width - 1);
    let nan = terms.less(infinity, rest);
    Some(Float { sign, rest, nan })
}

/// A comparison of two floats of one type; with `flushed`, denormals are zeros.
fn compared(
    terms: &mut Terms,
    function: &LaneFunction,
    elements: &[Term],
    flushed: bool,
) -> Option<LaneTerms> {
    let Operation::Compare(relation) = function.operation else {
        return None;
    };
    let ([first, second, ..], [a, b, ..]) = (&function.sources, elements) else {
        return None;
    };
    if first.0 != second.0 {
        return None;
    }
    let (a, b) = (
        float(terms, *a, *first, flushed)?,
        float(terms, *b, *second, flushed)?,
    );
    let unordered = terms.or(a.nan, b.nan);
    let ordered = terms.not(unordered);
    let zero = terms.constant(0, terms.width(a.rest));
    let either = terms.or(a.rest, b.rest);
    let zeros = terms.equal(either, zero);
    let (signs, rests) = (terms.equal(a.sign, b.sign), terms.equal(a.rest, b.rest));
    let same = terms.and(signs, rests);
    let equal = terms.or(zeros, same);
    let (smaller, larger) = (terms.less(a.rest, b.rest), terms.less(b.rest, a.rest));
    let not_zeros = terms.not(zeros);
    let no = terms.constant(0, 1);
    let of_negative = terms.choice(b.sign, larger, not_zeros);
    let of_positive = terms.choice(b.sign, no, smaller);
    let less = terms.choice(a.sign, of_negative, of_positive);
    let holds = match relation {
        Relation::Equal => equal,
        Relation::Less => less,
        Relation::LessEqual => terms.or(less, equal),
        Relation::NotEqual => return None,
    };
    Some(LaneTerms {
        flag: Some(terms.and(ordered, holds)),
        ..LaneTerms::default()
    })
}

/// A product, a sum, or both in one, as a function of products and sums alone that does not depend on the order of operands:
/// what is computed with one rounding less, or another NaN, is the same. `None` for everything else.
pub(super) fn contracted(
    terms: &mut Terms,
    function: &LaneFunction,
    elements: &[Term],
) -> Option<Term> {
    let (data_type, saturate) = function.destination?;
    let used = function.sources.get(..function.operation.sources())?;
    let plain = mantissa(data_type).is_some() && used.iter().all(|(ty, _)| *ty == data_type);
    if !plain || saturate || function.sets || function.second.is_some() {
        return None;
    }
    let width = bits(data_type);
    if terms.reals.is_some() {
        let signed = used.iter().zip(elements).map(|((_, modify), element)| {
            let negative = *modify == Modify::Neg;
            (negative || *modify == Modify::None).then_some((*element, negative))
        });
        let operands = signed.collect::<Option<Vec<_>>>();
        let how = (function, data_type, width);
        if let Some(found) = operands.and_then(|all| super::reals::value(terms, how, &all)) {
            return Some(found);
        }
    }
    let mut operands = Vec::new();
    for ((_, modify), element) in used.iter().zip(elements) {
        let sign = terms.constant(1 << (width - 1), width);
        let rest = terms.not(sign);
        operands.push(match modify {
            Modify::None => *element,
            Modify::Neg => terms.xor(*element, sign),
            Modify::Abs => terms.and(*element, rest),
            Modify::NegAbs => terms.or(*element, sign),
            Modify::Not => return None,
        });
    }
    let mut of = |operation, a: Term, b: Term| {
        let plain = (data_type, Modify::None);
        let function = LaneFunction {
            operation,
            sources: [plain; 4],
            ..*function
        };
        terms.symbol(
            Function::Lane(function, Output::Value),
            &[a.min(b), a.max(b)],
            width,
        )
    };
    match (function.operation, operands.as_slice()) {
        (Operation::Add | Operation::Mul, [a, b]) => Some(of(function.operation, *a, *b)),
        (Operation::Mad, [a, b, c]) => {
            let product = of(Operation::Mul, *a, *b);
            Some(of(Operation::Add, product, *c))
        }
        _ => None,
    }
}

/// Where denormals keep their value.
pub(super) fn whole(
    terms: &mut Terms,
    function: &LaneFunction,
    elements: &[Term],
    _: Option<Term>,
) -> Option<LaneTerms> {
    compared(terms, function, elements, false)
}

/// Where denormals are zeros.
pub(super) fn flushed(
    terms: &mut Terms,
    function: &LaneFunction,
    elements: &[Term],
    _: Option<Term>,
) -> Option<LaneTerms> {
    compared(terms, function, elements, true)
}
