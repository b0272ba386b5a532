//! What is undefined of a result, if some bits of the sources are.

use super::{Element, OriginId};
use visakit_exec::code::{Compute, Lane, Operation, Relation};

/// All bits from the lowest set one on.
pub(super) const fn upwards(bits: u64) -> u64 {
    bits | bits.wrapping_neg()
}

pub(super) const fn all(bits: u64) -> u64 {
    if bits == 0 { 0 } else { u64::MAX }
}

/// Bits of a lane.
const fn width(lane: Lane) -> u32 {
    match lane {
        Lane::U8 => 8,
        Lane::U16 => 16,
        Lane::U32 | Lane::I32 | Lane::F32 => 32,
        Lane::U64 | Lane::I64 | Lane::F64 | Lane::I128 => 64,
    }
}

pub(super) const fn is_float(lane: Lane) -> bool {
    matches!(lane, Lane::F32 | Lane::F64)
}

fn product(a: Element, b: Element) -> u64 {
    if a.undefined | b.undefined == 0 {
        return 0;
    }
    let zero = |e: Element| e.undefined == 0 && e.value == 0;
    if zero(a) || zero(b) {
        return 0;
    }
    let lowest = |e: Element| (e.value | e.undefined).trailing_zeros();
    let of = |x: Element, other: Element| {
        if x.undefined == 0 {
            64
        } else {
            x.undefined.trailing_zeros() + lowest(other)
        }
    };
    let first = of(a, b).min(of(b, a));
    u64::MAX.checked_shl(first).unwrap_or(0)
}

/// A bitwise function of three values by its table of truth.
fn truth(table: u8, [a, b, c]: [u64; 3]) -> u64 {
    let mut out = 0;
    for row in 0..8u32 {
        if table >> row & 1 != 0 {
            let a = if row & 1 != 0 { a } else { !a };
            let b = if row & 2 != 0 { b } else { !b };
            let c = if row & 4 != 0 { c } else { !c };
            out |= a & b & c;
        }
    }
    out
}

/// Undefined bits of such a function.
fn boolean(table: u8, elements: [Element; 3]) -> u64 {
    let (mut some, mut every) = (0, u64::MAX);
    for choice in 0..8u32 {
        let mut number = 0;
        let picked = elements.map(|e| {
            let set = choice >> number & 1 != 0;
            number += 1;
            if set {
                e.value | e.undefined
            } else {
                e.value & !e.undefined
            }
        });
        let out = truth(table, picked);
        some |= out;
        every &= out;
    }
    some & !every
}

/// The result of a lane: undefined bits, whether they belong to the second destination, and the bit for a predicate.
#[derive(Clone, Copy)]
pub(super) struct Outcome {
    pub(super) undefined: u64,
    pub(super) second: u64,
    pub(super) flag: bool,
}

pub(super) fn outcome(
    compute: &Compute,
    [a, b, c, d]: [Element; 4],
    selected: Option<(bool, bool)>,
) -> Outcome {
    let any = all(a.undefined | b.undefined | c.undefined | d.undefined);
    let union = a.undefined | b.undefined | c.undefined;
    let mut flag = any != 0;
    let bits = width(compute.lane);
    let count = |e: Element| u32::try_from(e.value & u64::from(bits.max(32) - 1)).unwrap_or(0);
    let integer = !is_float(compute.lane);
    let undefined = match compute.operation {
        Operation::Copy | Operation::Convert(_) => a.undefined,
        Operation::Not => a.undefined,
        Operation::And => {
            (a.undefined | b.undefined) & (a.value | a.undefined) & (b.value | b.undefined)
        }
        Operation::Or => {
            (a.undefined | b.undefined) & (!a.value | a.undefined) & (!b.value | b.undefined)
        }
        Operation::Xor => a.undefined | b.undefined,
        Operation::Boolean(table) => boolean(table, [a, b, c]),
        Operation::Shl if b.undefined == 0 => a.undefined.checked_shl(count(b)).unwrap_or(0),
        Operation::Shr if b.undefined == 0 => {
            // The sign was extended to 64 bits where the lane has one.
            (a.undefined.cast_signed() >> count(b).min(63)).cast_unsigned()
        }
        Operation::Add | Operation::Add3 if integer => upwards(union),
        Operation::Mul if integer => product(a, b),
        Operation::Mad if integer => upwards(product(a, b) | c.undefined),
        Operation::ExtractUnsigned | Operation::ExtractSigned if a.undefined | b.undefined == 0 => {
            let mask = field(a.value);
            let part = c.undefined >> (b.value & 31) & mask;
            let top = mask & !(mask >> 1);
            if compute.operation == Operation::ExtractSigned && part & top != 0 {
                part | !mask
            } else {
                part
            }
        }
        Operation::Insert if a.undefined | b.undefined == 0 => {
            let mask = field(a.value) << (b.value & 31);
            (c.undefined << (b.value & 31)) & mask | d.undefined & !mask
        }
        Operation::Compare(relation) => {
            flag = if integer {
                undecided(relation, a, b, compute.lane)
            } else {
                any != 0
            };
            if flag { u64::MAX } else { 0 }
        }
        Operation::Select => match selected {
            Some((true, true)) => a.undefined,
            Some((true, false)) => b.undefined,
            _ => a.undefined | b.undefined | (a.value ^ b.value),
        },
        _ => any,
    };
    Outcome {
        undefined,
        second: match compute.operation {
            Operation::AddCarry | Operation::SubBorrow => u64::from(any != 0),
            _ => any,
        },
        flag,
    }
}

/// The origin of the undefined bits of a result. Bits that are moved as they are, to whatever byte, keep the place that
/// they come from.
pub(super) fn origin(compute: &Compute, elements: &[Element; 4], undefined: u64) -> OriginId {
    let mut all = elements
        .iter()
        .enumerate()
        .filter(|(_, e)| e.undefined != 0);
    let Some((number, from)) = all.next() else {
        return OriginId::ITSELF;
    };
    if let Some((_, other)) = all.next() {
        let two = from.origin.changed().or(other.origin.changed());
        return all.fold(two, |all, (_, e)| all.or(e.origin.changed()));
    }
    let [a, b, c, _] = elements;
    let bytes = |bits: u64| {
        i64::try_from(bits / 8)
            .ok()
            .filter(|_| bits.is_multiple_of(8))
    };
    let after = match (compute.operation, number) {
        (Operation::Copy, 0) => {
            let [source, ..] = &compute.sources;
            let wider = compute.destination.data_type.size() > source.data_type.size();
            (!(wider && source.data_type.is_signed())).then_some(0)
        }
        (Operation::And | Operation::Or | Operation::Select, _) => Some(0),
        (Operation::Xor, _) => ((a.value ^ b.value ^ from.value) & undefined == 0).then_some(0),
        (Operation::Boolean(table), _) => {
            let [a, b, c] = [a.value, b.value, c.value];
            let result = truth(table, [a, b, c]);
            ((result ^ from.value) & undefined == 0).then_some(0)
        }
        (Operation::Shl, 0) => bytes(b.value & 63).map(|n| -n),
        (Operation::Shr, 0) => bytes(b.value & 63),
        (Operation::ExtractUnsigned, 2) => bytes(b.value & 31),
        (Operation::Insert, 2) => bytes(b.value & 31).map(|n| -n),
        (Operation::Insert, 3) => Some(0),
        _ => None,
    };
    after.map_or(from.origin.changed(), |bytes| from.origin.after(bytes))
}

const fn field(width: u64) -> u64 {
    let width = width & 31;
    (1 << width) - 1
}

/// Whether a comparison may have either result.
fn undecided(relation: Relation, a: Element, b: Element, lane: Lane) -> bool {
    if a.undefined | b.undefined == 0 {
        return false;
    }
    let signed = matches!(lane, Lane::I32 | Lane::I64 | Lane::I128);
    let sign = if signed { 1 << 63 } else { 0 };
    let (a_low, a_high) = a.bounds(sign);
    let (b_low, b_high) = b.bounds(sign);
    match relation {
        Relation::Equal | Relation::NotEqual => {
            (a.value ^ b.value) & !a.undefined & !b.undefined == 0
        }
        Relation::Less => !(a_high < b_low || a_low >= b_high),
        Relation::LessEqual => !(a_high <= b_low || a_low > b_high),
    }
}

/// Whether each bit of the result may depend on each of the sources.
pub(super) fn is_arithmetic(compute: &Compute) -> bool {
    let [first, ..] = &compute.sources;
    let to = &compute.destination;
    match compute.operation {
        Operation::Copy | Operation::Select => false,
        Operation::Convert(_) if first.data_type.is_float() || to.data_type.is_float() => true,
        Operation::IntegerToFloat => true,
        _ => to.saturate || is_float(compute.lane),
    }
}
