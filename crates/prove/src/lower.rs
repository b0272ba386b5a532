//! Operations of the executor as terms.
//!
//! What is known here of integers only makes terms that the solver and the normal forms understand: an operation that is
//! not listed, or listed wrongly, remains a symbol of the executor. Each function is compared with the executor on
//! directed and random sources before it is used (see [`Lowering`]), in every build.

use crate::term::{Function, Output, Term, Terms, Values, Variable, ones};
use hashbrown::HashMap;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use visakit_exec::LaneFunction;
use visakit_exec::code::{Lane, Modify, Operation, Relation};
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

/// Which functions of the executor are understood.
#[derive(Debug, Default)]
pub(crate) struct Lowering {
    known: HashMap<LaneFunction, bool>,
}

impl Lowering {
    /// The results of a function for these elements, and that bit of the predicate it reads. `None` for operations in a
    /// type that they do not have.
    pub(crate) fn apply(
        &mut self,
        terms: &mut Terms,
        function: &LaneFunction,
        elements: &[Term],
        flag: Option<Term>,
    ) -> Option<LaneTerms> {
        let known = match self.known.get(function) {
            Some(known) => *known,
            None => {
                let known = agrees(function)?;
                self.known.insert(*function, known);
                known
            }
        };
        if known && let Some(found) = understood(terms, function, elements, flag) {
            return Some(found);
        }
        Some(symbols(terms, function, elements, flag))
    }
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
fn agrees(function: &LaneFunction) -> Option<bool> {
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
    let Some(found) = understood(&mut terms, function, &elements, flag) else {
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

/// Bits of a lane, and whether it has a sign.
const fn lane(lane: Lane) -> (u8, bool) {
    match lane {
        Lane::U8 => (8, false),
        Lane::U16 => (16, false),
        Lane::U32 => (32, false),
        Lane::I32 => (32, true),
        Lane::U64 => (64, false),
        Lane::I64 => (64, true),
        Lane::I128 => (128, true),
        Lane::F32 | Lane::F64 => (0, true),
    }
}

/// The sources of a function.
struct Sources<'t, 'f> {
    terms: &'t mut Terms,
    function: &'f LaneFunction,
    elements: &'f [Term],
}

impl Sources<'_, '_> {
    /// A source with its modifier, as many bits of it. The bits of a sum are right whatever its width; those of an absolute
    /// value are those of the lane only.
    fn get(&mut self, number: usize, width: u8) -> Option<Term> {
        let element = *self.elements.get(number)?;
        let (data_type, modify) = *self.function.sources.get(number)?;
        if data_type.is_float() {
            return None;
        }
        let value = match data_type.is_signed() {
            true => self.terms.sign_extend(element, width),
            false => self.terms.zero_extend(element, width),
        };
        Some(match modify {
            Modify::None => value,
            Modify::Neg => self.terms.negate(value),
            Modify::Not => self.terms.not(value),
            Modify::Abs | Modify::NegAbs => {
                let (own, _) = lane(self.function.lane);
                if width != own && !(own > 64 && width > bits(data_type)) {
                    return None;
                }
                let sign = self.terms.extract(value, width - 1, 1);
                let negative = self.terms.negate(value);
                let (first, second) = match modify {
                    Modify::Abs => (negative, value),
                    _ => (value, negative),
                };
                self.terms.choice(sign, first, second)
            }
        })
    }

    /// Whether all sources have at most that many bits and a sign, as exact numbers.
    fn at_most(&self, most: u8) -> bool {
        let used = self.function.operation.sources();
        self.function.sources.iter().take(used).all(|(ty, modify)| {
            let grows = matches!(modify, Modify::Neg | Modify::Abs | Modify::NegAbs);
            let own = bits(*ty) + u8::from(!ty.is_signed()) + u8::from(grows);
            !ty.is_float() && own <= most
        })
    }
}

/// The results of a function as terms; `None` if nothing is known of it.
fn understood(
    terms: &mut Terms,
    function: &LaneFunction,
    elements: &[Term],
    flag: Option<Term>,
) -> Option<LaneTerms> {
    if let Some(found) = copied(terms, function, elements, flag) {
        return Some(found);
    }
    if let Operation::Compare(relation) = function.operation {
        return compared(terms, function, elements, relation);
    }
    if function.second.is_some() || function.sets {
        return two_results(terms, function, elements);
    }
    let (data_type, saturate) = function.destination?;
    let (own, signed) = lane(function.lane);
    if data_type.is_float() || own == 0 {
        return None;
    }
    let to = bits(data_type);
    // What the lane holds: modular results need only the bits that are stored.
    let modular = !saturate && (own > 64 || to <= own);
    let width = if modular { to } else { own };
    let mut sources = Sources {
        terms,
        function,
        elements,
    };
    let value = match modular {
        true => sum_like(&mut sources, width, flag),
        // Exact results of numbers that are small enough.
        false if own > 64 => match sources.at_most(30) && function.operation != Operation::Shl {
            true => sum_like(&mut sources, 64, flag),
            false => None,
        },
        false => sum_like(&mut sources, own, flag),
    };
    let value = match value {
        Some(value) => value,
        None => ordered(&mut sources, flag)?,
    };
    let value = match saturate {
        true => clamped(terms, value, signed, data_type)?,
        false if signed => terms.sign_extend(value, to),
        false => terms.zero_extend(value, to),
    };
    Some(LaneTerms {
        value: Some(value),
        ..LaneTerms::default()
    })
}

/// Copies and selections of elements that keep their type: floats, too, as long as nothing treats denormals as zero.
fn copied(
    terms: &mut Terms,
    function: &LaneFunction,
    elements: &[Term],
    flag: Option<Term>,
) -> Option<LaneTerms> {
    let (data_type, saturate) = function.destination?;
    let own = matches!(
        (function.lane, data_type),
        (Lane::F32, DataType::F) | (Lane::F64, DataType::Df)
    );
    if saturate || function.sets || function.second.is_some() || !own {
        return None;
    }
    let used = match function.operation {
        Operation::Convert(to) if to == function.lane => 1,
        Operation::Select => 2,
        _ => return None,
    };
    let mut values = Vec::new();
    for ((ty, modify), element) in function.sources.iter().zip(elements).take(used) {
        if *ty != data_type {
            return None;
        }
        let width = bits(*ty);
        let sign = terms.constant(1 << (width - 1), width);
        let rest = terms.not(sign);
        values.push(match modify {
            Modify::None => *element,
            Modify::Neg => terms.xor(*element, sign),
            Modify::Abs => terms.and(*element, rest),
            Modify::NegAbs => terms.or(*element, sign),
            Modify::Not => terms.not(*element),
        });
    }
    let value = match (values.as_slice(), flag) {
        ([only], _) => *only,
        ([first, second], Some(flag)) => terms.choice(flag, *first, *second),
        _ => return None,
    };
    Some(LaneTerms {
        value: Some(value),
        ..LaneTerms::default()
    })
}

/// Operations whose low bits depend on the low bits of their sources.
fn sum_like(of: &mut Sources<'_, '_>, width: u8, flag: Option<Term>) -> Option<Term> {
    let operation = of.function.operation;
    let (own, signed) = lane(of.function.lane);
    let dwords = of.function.lane == Lane::U32;
    let pair = |of: &mut Sources<'_, '_>| Some((of.get(0, width)?, of.get(1, width)?));
    Some(match operation {
        Operation::Copy => of.get(0, width)?,
        Operation::Not => {
            let value = of.get(0, width)?;
            of.terms.not(value)
        }
        Operation::Add => {
            let (a, b) = pair(of)?;
            of.terms.add(a, b)
        }
        Operation::Add3 => {
            let (a, b) = pair(of)?;
            let c = of.get(2, width)?;
            let sum = of.terms.add(a, b);
            of.terms.add(sum, c)
        }
        // Exact products of large numbers are not modular.
        Operation::Mul if own <= 64 || of.at_most(60) => {
            let (a, b) = pair(of)?;
            of.terms.multiply(a, b)
        }
        Operation::Mad if own <= 64 || of.at_most(60) => {
            let (a, b) = pair(of)?;
            let c = of.get(2, width)?;
            let product = of.terms.multiply(a, b);
            of.terms.add(product, c)
        }
        Operation::And => {
            let (a, b) = pair(of)?;
            of.terms.and(a, b)
        }
        Operation::Or => {
            let (a, b) = pair(of)?;
            of.terms.or(a, b)
        }
        Operation::Xor => {
            let (a, b) = pair(of)?;
            of.terms.xor(a, b)
        }
        Operation::Boolean(table) if dwords => {
            let (a, b) = pair(of)?;
            let c = of.get(2, width)?;
            boolean(of.terms, table, [a, b, c])
        }
        Operation::Shl => {
            let a = of.get(0, width)?;
            let most = if own > 64 || own == 64 && !signed {
                63
            } else {
                31
            };
            let count = count(of, 1, most, width.max(8))?;
            if width < 8 {
                return None;
            }
            of.terms.left(a, count)
        }
        Operation::Select => {
            let (a, b) = pair(of)?;
            of.terms.choice(flag?, a, b)
        }
        Operation::DotBytes => dot_bytes(of, width)?,
        _ => return None,
    })
}

/// An accumulator and four products of bytes.
fn dot_bytes(of: &mut Sources<'_, '_>, width: u8) -> Option<Term> {
    let [accumulator, x, y, _] = of.function.sources;
    let dword = |(ty, modify): (DataType, Modify)| {
        bits(ty) == 32 && !ty.is_float() && modify == Modify::None
    };
    let (to, saturate) = of.function.destination?;
    if ![accumulator, x, y].into_iter().all(dword) || saturate || bits(to) > width {
        return None;
    }
    let mut sum = of.get(0, width)?;
    for byte in 0..4 {
        let factors = [(1, x.0), (2, y.0)].map(|(number, ty)| {
            let element = *of.elements.get(number)?;
            let byte = of.terms.extract(element, 8 * byte, 8);
            Some(match ty.is_signed() {
                true => of.terms.sign_extend(byte, width),
                false => of.terms.zero_extend(byte, width),
            })
        });
        let [Some(a), Some(b)] = factors else {
            return None;
        };
        let product = of.terms.multiply(a, b);
        sum = of.terms.add(sum, product);
    }
    Some(sum)
}

/// A count of a shift, at most that number, as a term of that width.
fn count(of: &mut Sources<'_, '_>, number: usize, most: u64, width: u8) -> Option<Term> {
    let low = of.get(number, 32)?;
    let most = of.terms.constant(most, 32);
    let count = of.terms.and(low, most);
    Some(of.terms.zero_extend(count, width))
}

/// Operations that depend on all bits of their sources: in the width of the lane, or in 64 bits if that is exact.
fn ordered(of: &mut Sources<'_, '_>, flag: Option<Term>) -> Option<Term> {
    let operation = of.function.operation;
    let (own, signed) = lane(of.function.lane);
    let dwords = of.function.lane == Lane::U32;
    let width = match own {
        128 if of.at_most(64) => 64,
        128 => return None,
        own => own,
    };
    Some(match operation {
        Operation::Shr => {
            let a = of.get(0, width)?;
            let count = count(of, 1, if own >= 64 { 63 } else { 31 }, width)?;
            match signed {
                true => of.terms.right_signed(a, count),
                false => of.terms.right(a, count),
            }
        }
        Operation::Min | Operation::Max => {
            let (a, b) = (of.get(0, width)?, of.get(1, width)?);
            let less = match signed {
                true => of.terms.less_signed(a, b),
                false => of.terms.less(a, b),
            };
            match operation {
                Operation::Min => of.terms.choice(less, a, b),
                _ => of.terms.choice(less, b, a),
            }
        }
        Operation::Avg if own <= 64 => {
            let (a, b) = (of.get(0, width)?, of.get(1, width)?);
            let (all, odd) = (of.terms.or(a, b), of.terms.xor(a, b));
            let one = of.terms.constant(1, width);
            let half = match signed {
                true => of.terms.right_signed(odd, one),
                false => of.terms.right(odd, one),
            };
            of.terms.subtract(all, half)
        }
        Operation::Rol | Operation::Ror if own <= 64 => {
            let (a, by) = (of.get(0, width)?, of.get(1, width)?);
            let by = match of.terms.number(by) {
                Some(by) => by & (u64::from(width) - 1),
                None => return rotated(of, a, by, operation == Operation::Rol),
            };
            let by = u8::try_from(by).unwrap_or(0);
            let left = match operation {
                Operation::Rol => by,
                _ => (width - by) % width,
            };
            if left == 0 {
                return Some(a);
            }
            let low = of.terms.extract(a, width - left, left);
            let high = of.terms.extract(a, 0, width - left);
            of.terms.concat(&[low, high])
        }
        Operation::MulHigh if of.function.lane == Lane::U64 => {
            let (a, b) = (of.get(0, 64)?, of.get(1, 64)?);
            let product = of.terms.multiply(a, b);
            let high = of.terms.extract(product, 32, 32);
            of.terms.zero_extend(high, 64)
        }
        Operation::ExtractUnsigned | Operation::ExtractSigned if dwords => field(of)?,
        Operation::Insert if dwords => inserted(of)?,
        Operation::ReverseBits if dwords => {
            let a = of.get(0, 32)?;
            let parts: Vec<Term> = (0..32)
                .rev()
                .map(|bit| of.terms.extract(a, bit, 1))
                .collect();
            of.terms.concat(&parts)
        }
        Operation::Select => {
            let (a, b) = (of.get(0, width)?, of.get(1, width)?);
            of.terms.choice(flag?, a, b)
        }
        Operation::Copy | Operation::Add | Operation::Mul | Operation::Mad
            if own == 128 && of.at_most(31) =>
        {
            sum_like(of, 64, flag)?
        }
        Operation::Copy if own == 128 => of.get(0, width)?,
        Operation::Add if own == 128 && of.at_most(63) => sum_like(of, 64, flag)?,
        Operation::Mul if own == 128 && of.at_most(32) => sum_like(of, 64, flag)?,
        _ => return None,
    })
}

/// A rotation by a count that is no number.
fn rotated(of: &mut Sources<'_, '_>, a: Term, by: Term, left: bool) -> Option<Term> {
    let width = of.terms.width(a);
    let most = of.terms.constant(u64::from(width) - 1, width);
    let by = of.terms.and(by, most);
    let other = of.terms.negate(by);
    let other = of.terms.and(other, most);
    let (up, down) = if left { (by, other) } else { (other, by) };
    let (high, low) = (of.terms.left(a, up), of.terms.right(a, down));
    Some(of.terms.or(high, low))
}

/// A bit field whose place and width are numbers.
fn field(of: &mut Sources<'_, '_>) -> Option<Term> {
    let (width, offset, value) = (of.get(0, 32)?, of.get(1, 32)?, of.get(2, 32)?);
    let number = |term| {
        of.terms
            .number(term)
            .and_then(|n| u8::try_from(n & 31).ok())
    };
    let (width, offset) = (number(width)?, number(offset)?);
    let bits = width.min(32 - offset);
    if bits == 0 {
        return Some(of.terms.constant(0, 32));
    }
    let field = of.terms.extract(value, offset, bits);
    let field = of.terms.zero_extend(field, width);
    Some(match of.function.operation {
        Operation::ExtractSigned => of.terms.sign_extend(field, 32),
        _ => of.terms.zero_extend(field, 32),
    })
}

/// A value with another bit field, whose place and width are numbers.
fn inserted(of: &mut Sources<'_, '_>) -> Option<Term> {
    let (width, offset) = (of.get(0, 32)?, of.get(1, 32)?);
    let (insert, base) = (of.get(2, 32)?, of.get(3, 32)?);
    let number = |terms: &Terms, term| terms.number(term).map(|n| n & 31);
    let (width, offset) = (number(of.terms, width)?, number(of.terms, offset)?);
    let mask = (((1_u64 << width) - 1) << offset) & ones(32);
    let (mask, offset) = (of.terms.constant(mask, 32), of.terms.constant(offset, 32));
    let other = of.terms.not(mask);
    let moved = of.terms.left(insert, offset);
    let (inside, outside) = (of.terms.and(moved, mask), of.terms.and(base, other));
    Some(of.terms.or(inside, outside))
}

/// A bitwise function of three: bit n of the table is the result for bits n of the sources, the first the lowest.
fn boolean(terms: &mut Terms, table: u8, [a, b, c]: [Term; 3]) -> Term {
    let of_two = |terms: &mut Terms, table: u8| {
        let width = terms.width(a);
        let of_one = |terms: &mut Terms, table: u8| match table & 3 {
            0 => terms.constant(0, width),
            1 => terms.not(a),
            2 => a,
            _ => terms.constant(u64::MAX, width),
        };
        let (low, high) = (of_one(terms, table), of_one(terms, table >> 2));
        mixed(terms, b, low, high)
    };
    let (low, high) = (of_two(terms, table), of_two(terms, table >> 4));
    mixed(terms, c, low, high)
}

/// Bits of `high` where `by` is set, else of `low`.
fn mixed(terms: &mut Terms, by: Term, low: Term, high: Term) -> Term {
    if low == high {
        return low;
    }
    if high == terms.not(low) {
        return terms.xor(low, by);
    }
    let other = terms.not(by);
    let (low_zero, low_ones) = (terms.number(low) == Some(0), terms.is_ones(low));
    let (high_zero, high_ones) = (terms.number(high) == Some(0), terms.is_ones(high));
    if low_zero {
        return terms.and(by, high);
    }
    if low_ones {
        return terms.or(other, high);
    }
    if high_zero {
        return terms.and(other, low);
    }
    if high_ones {
        return terms.or(by, low);
    }
    let (x, y) = (terms.and(by, high), terms.and(other, low));
    terms.or(x, y)
}

/// A number of a lane in the range of a type.
fn clamped(terms: &mut Terms, value: Term, signed: bool, data_type: DataType) -> Option<Term> {
    let (own, to) = (terms.width(value), bits(data_type));
    // In 64 bits with sign, if the number fits there.
    let (value, signed) = match (own, signed) {
        (64, signed) => (value, signed),
        (_, true) => (terms.sign_extend(value, 64), true),
        (_, false) => (terms.zero_extend(value, 64), true),
    };
    let (low, high) = match (data_type.is_signed(), to) {
        (true, _) => (ones(64) << (to - 1), ones(to - 1)),
        (false, _) => (0, ones(to)),
    };
    let mut value = value;
    let (low_term, high_term) = (terms.constant(low, 64), terms.constant(high, 64));
    if signed {
        let below = terms.less_signed(value, low_term);
        value = terms.choice(below, low_term, value);
        if to != 64 || data_type.is_signed() {
            let above = terms.less_signed(high_term, value);
            value = terms.choice(above, high_term, value);
        }
    } else {
        let above = terms.less(high_term, value);
        value = terms.choice(above, high_term, value);
    }
    Some(terms.extract(value, 0, to))
}

/// A comparison: of integers as terms, of floats as a symbol that all forms share.
fn compared(
    terms: &mut Terms,
    function: &LaneFunction,
    elements: &[Term],
    relation: Relation,
) -> Option<LaneTerms> {
    let (own, signed) = lane(function.lane);
    let mut sources = Sources {
        terms,
        function,
        elements,
    };
    let holds = if own == 0 {
        let relation = match relation {
            Relation::NotEqual => Relation::Equal,
            other => other,
        };
        let shared = LaneFunction {
            operation: Operation::Compare(relation),
            destination: None,
            second: None,
            sets: true,
            ..*function
        };
        terms.symbol(Function::Lane(shared, Output::Flag), elements, 1)
    } else {
        let width = match own {
            128 if sources.at_most(64) => 64,
            128 => return None,
            own => own,
        };
        let (a, b) = (sources.get(0, width)?, sources.get(1, width)?);
        let less = |terms: &mut Terms, a, b| match signed {
            true => terms.less_signed(a, b),
            false => terms.less(a, b),
        };
        match relation {
            Relation::Equal | Relation::NotEqual => terms.equal(a, b),
            Relation::Less => less(terms, a, b),
            Relation::LessEqual => {
                let greater = less(terms, b, a);
                terms.not(greater)
            }
        }
    };
    let holds = match relation {
        Relation::NotEqual => terms.not(holds),
        _ => holds,
    };
    if function.sets {
        return Some(LaneTerms {
            flag: Some(holds),
            ..LaneTerms::default()
        });
    }
    let (data_type, saturate) = function.destination?;
    if saturate || data_type.is_float() {
        return None;
    }
    Some(LaneTerms {
        value: Some(terms.repeat(holds, bits(data_type))),
        ..LaneTerms::default()
    })
}

/// Sums with carries, and wide products, of dwords.
fn two_results(terms: &mut Terms, function: &LaneFunction, elements: &[Term]) -> Option<LaneTerms> {
    let dwords = function.sources.iter().take(function.operation.sources());
    let plain = dwords
        .clone()
        .all(|(ty, modify)| *ty == DataType::Ud && *modify == Modify::None);
    let stored = |to: Option<(DataType, bool)>| {
        to.is_none_or(|(ty, saturate)| bits(ty) == 32 && !ty.is_float() && !saturate)
    };
    if !plain || function.sets || !stored(function.destination) || !stored(function.second) {
        return None;
    }
    let wide: Vec<Term> = elements
        .iter()
        .map(|element| terms.zero_extend(*element, 64))
        .collect();
    let (value, second) = match (function.operation, wide.as_slice()) {
        (Operation::AddCarry, [a, b]) => {
            let sum = terms.add(*a, *b);
            (sum, terms.extract(sum, 32, 32))
        }
        (Operation::SubBorrow, [a, b]) => {
            let difference = terms.subtract(*a, *b);
            let borrow = terms.less(*a, *b);
            (difference, terms.zero_extend(borrow, 32))
        }
        (Operation::MadWide, [a, b, c]) => {
            let product = terms.multiply(*a, *b);
            let sum = terms.add(product, *c);
            (sum, terms.extract(sum, 32, 32))
        }
        _ => return None,
    };
    let value = match (function.operation, elements) {
        // The low half is a sum of dwords.
        (Operation::AddCarry, [a, b]) => terms.add(*a, *b),
        (Operation::SubBorrow, [a, b]) => terms.subtract(*a, *b),
        _ => terms.extract(value, 0, 32),
    };
    Some(LaneTerms {
        value: function.destination.map(|_| value),
        second: function.second.map(|_| second),
        flag: None,
    })
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod tests;
