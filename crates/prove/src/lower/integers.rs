//! Operations on integers, and copies of floats.

use super::pieces::{boolean, clamped, count, dot_bytes, field, inserted, rotated};
use super::{LaneTerms, bits};
use crate::term::{Function, Output, Term, Terms};
use visakit_exec::LaneFunction;
use visakit_exec::code::{Lane, Modify, Operation, Relation};
use visakit_isa::DataType;

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
pub(super) struct Sources<'t, 'f> {
    pub(super) terms: &'t mut Terms,
    pub(super) function: &'f LaneFunction,
    pub(super) elements: &'f [Term],
}

impl Sources<'_, '_> {
    /// A source with its modifier, as many bits of it. The bits of a sum are right whatever its width; those of an absolute
    /// value are those of the lane only.
    pub(super) fn get(&mut self, number: usize, width: u8) -> Option<Term> {
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
pub(super) fn understood(
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
    let unsigned = [DataType::Ud, DataType::Uw, DataType::Ub];
    let plain = dwords
        .clone()
        .all(|(ty, modify)| unsigned.contains(ty) && *modify == Modify::None);
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
    let narrow: Vec<Term> = elements
        .iter()
        .map(|element| terms.zero_extend(*element, 32))
        .collect();
    let value = match (function.operation, narrow.as_slice()) {
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
