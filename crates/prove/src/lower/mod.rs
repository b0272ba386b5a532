//! Operations of the executor as terms.
//!
//! What is known here of integers only makes terms that the solver and the normal forms understand: an operation that is
//! not listed, or listed wrongly, remains a symbol of the executor. Each function is compared with the executor on
//! directed and random sources before it is used, in every build.

mod floats;
mod integers;
mod mixed;
mod order;
mod pieces;
mod reals;
mod samples;
mod signs;

pub(crate) use reals::Reals;

use crate::term::{Function, Output, Term, Terms, Values, Variable, ones};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use samples::Answers;
use visakit_exec::LaneFunction;
use visakit_isa::DataType;

/// The results of a lane as terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LaneTerms {
    /// The element of the destination.
    pub(crate) value: Option<Term>,
    /// That of the second destination.
    pub(crate) second: Option<Term>,
    /// The bit of the predicate.
    pub(crate) flag: Option<Term>,
}

/// Random samples of each function, besides the directed ones.
const SAMPLES: usize = 64;

/// A way to state the results of a function.
type Stated = fn(&mut Terms, &LaneFunction, &[Term], Option<Term>) -> Option<LaneTerms>;

/// The ways, those for all uses first.
const WAYS: [Stated; 3] = [integers::understood, floats::whole, floats::flushed];

/// Whether a way is what the executor computes; `None` if that computes nothing.
static KNOWN: Answers<(LaneFunction, usize), Option<bool>> = Answers::new();

fn is_right(function: &LaneFunction, way: usize) -> Option<bool> {
    KNOWN.of((*function, way), || agrees(function, *WAYS.get(way)?))
}

/// The results of a function for these elements, and that bit of the predicate it reads. `None` for operations in a type
/// that they do not have.
pub(crate) fn apply(
    terms: &mut Terms,
    function: &LaneFunction,
    elements: &[Term],
    flag: Option<Term>,
) -> Option<LaneTerms> {
    let floats = mixed::of_floats(terms, function, elements);
    let (function, elements) = together(&floats, (function, elements));
    // Where products are contracted, signs of sources say which of them are subtracted.
    let plain = (!terms.contracted).then(|| signs::of_bits(terms, function, elements));
    let plain = plain.flatten();
    let (function, elements) = together(&plain, (function, elements));
    let ordered = order::ordered(terms, function, elements);
    let (function, elements) = together(&ordered, (function, elements));
    if is_right(function, 0)?
        && let Some(found) = integers::understood(terms, function, elements, flag)
    {
        return Some(found);
    }
    if terms.contracted
        && let Some(value) = floats::contracted(terms, function, elements)
    {
        return Some(LaneTerms {
            value: Some(value),
            ..LaneTerms::default()
        });
    }
    Some(symbols(terms, function, elements, flag))
}

/// A function and its sources as others, if there are some.
fn together<'f>(
    others: &'f Option<(LaneFunction, Vec<Term>)>,
    own: (&'f LaneFunction, &'f [Term]),
) -> (&'f LaneFunction, &'f [Term]) {
    match others {
        Some((function, elements)) => (function, elements),
        None => own,
    }
}

/// What a function computes for these sources in terms without it, where that is known: too large a term for most uses.
#[cfg(feature = "sat")]
pub(crate) fn expanded(terms: &mut Terms, function: &Function, sources: &[Term]) -> Option<Term> {
    let Function::Lane(function, Output::Flag) = function else {
        return None;
    };
    let mut ways = (1..WAYS.len()).filter(|way| is_right(function, *way) == Some(true));
    let stated = *WAYS.get(ways.next()?)?;
    stated(terms, function, sources, None)?.flag
}

/// Bits of a type.
pub(crate) fn bits(data_type: DataType) -> u8 {
    data_type.size() * 8
}

/// The results as symbols.
fn symbols(
    terms: &mut Terms,
    function: &LaneFunction,
    elements: &[Term],
    flag: Option<Term>,
) -> LaneTerms {
    let sources: Vec<Term> = elements.iter().copied().chain(flag).collect();
    let mut of = |output, width| terms.symbol(Function::Lane(*function, output), &sources, width);
    LaneTerms {
        value: function
            .destination
            .map(|(ty, _)| of(Output::Value, bits(ty))),
        second: function.second.map(|(ty, _)| of(Output::Second, bits(ty))),
        flag: function.sets.then(|| of(Output::Flag, 1)),
    }
}

/// Numbers at which functions change what they do.
fn directed(width: u8, is_float: bool) -> Vec<u64> {
    let high = 1 << (width - 1);
    let mut all = vec![
        0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256,
    ];
    all.extend([high, high - 1, high + 1, ones(width), ones(width) - 1]);
    all.extend([
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
    ]);
    if is_float {
        // Infinities, quiet and signalling NaNs, denormals, one and a half of both signs, by format.
        let (exponent, mantissa): (u64, u32) = match width {
            16 => (0x1f, 10),
            32 => (0xff, 23),
            _ => (0x7ff, 52),
        };
        for e in [0, 1, exponent / 2, exponent - 1, exponent] {
            for m in [0, 1, 1 << (mantissa - 1), (1 << mantissa) - 1] {
                all.extend([e << mantissa | m, high | e << mantissa | m]);
            }
        }
    }
    for value in &mut all {
        *value &= ones(width);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether the terms of a function are what the executor computes, on samples; `None` if it computes nothing.
fn agrees(function: &LaneFunction, stated: Stated) -> Option<bool> {
    let mut terms = Terms::new();
    let used = function.operation.sources();
    let types: Vec<DataType> = function
        .sources
        .iter()
        .take(used)
        .map(|(ty, _)| *ty)
        .collect();
    let elements: Vec<Term> = (0..)
        .zip(&types)
        .map(|(number, ty)| terms.variable(Variable::Free(number), bits(*ty)))
        .collect();
    let flag = (function.operation.flags() > 0).then(|| terms.variable(Variable::Free(9), 1));
    function.evaluate([0; 4], false)?;
    let Some(found) = stated(&mut terms, function, &elements, flag) else {
        return Some(false);
    };
    let lists: Vec<Vec<u64>> = types
        .iter()
        .map(|ty| directed(bits(*ty), ty.is_float()))
        .collect();
    let mut random = SplitMix64::seed_from_u64(0x5eed);
    let longest = lists.iter().map(Vec::len).max().unwrap_or(1);
    let pairs = if used > 1 { longest * longest } else { longest };
    for sample in 0..pairs + SAMPLES {
        let mut sources = [0; 4];
        for (number, (to, list)) in sources.iter_mut().zip(&lists).enumerate() {
            let pick = match number {
                0 => sample,
                1 => sample / longest,
                _ => usize::try_from(random.next_u64() & 0xffff).unwrap_or(0),
            };
            *to = match list.get(pick % list.len().max(1)) {
                Some(value) if sample < pairs => *value,
                _ => random.next_u64() & ones(bits(*types.get(number)?)),
            };
        }
        let bit = random.next_u64() & 1;
        let wanted = function.evaluate(sources, bit != 0)?;
        let mut values = Values::new(&terms, |variable| match variable {
            Variable::Free(9) => bit,
            Variable::Free(number) => sources.get(number as usize).copied().unwrap_or(0),
            _ => 0,
        });
        let mut same = |term: Option<Term>, wanted: u64, width: u8| {
            term.is_none_or(|term| values.of(term) == Some(wanted & ones(width)))
        };
        let width = |to: Option<(DataType, bool)>| to.map_or(1, |(ty, _)| bits(ty));
        if !(same(found.value, wanted.value, width(function.destination))
            && same(found.second, wanted.second, width(function.second))
            && same(found.flag, wanted.flag.into(), 1))
        {
            return Some(false);
        }
    }
    Some(true)
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "tests")]
mod tests;
