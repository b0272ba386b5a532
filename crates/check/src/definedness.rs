//! How undefined bits flow through a computation.
//!
//! Bitwise operations, shifts, moves, selections, bit fields and comparisons of integers are tracked bit by bit; sums
//! and products propagate undefined bits upwards; everything else makes the whole result undefined.

use crate::shadow::{OriginId, Shadow, element, low_bytes};
use visakit_exec::code::{
    Compute, Destination, Flag, Lane, Modify, Operation, Region, Relation, Source, Target,
};

/// An element of a lane: its value and its undefined bits, extended to 64 bits.
#[derive(Clone, Copy, Debug, Default)]
struct Element {
    value: u64,
    undefined: u64,
    origin: OriginId,
}

impl Element {
    const fn defined(value: u64) -> Self {
        Self {
            value,
            undefined: 0,
            origin: 0,
        }
    }

    /// The largest and the smallest value that it may have.
    const fn bounds(self, sign: u64) -> (u64, u64) {
        let (value, undefined) = (self.value ^ sign, self.undefined);
        (value & !undefined, value | undefined)
    }
}

/// Place of a lane's element of a source in the register file.
pub(crate) fn place(source: &Source, lane: usize, registers: &[u8]) -> Option<usize> {
    let size = usize::from(source.data_type.size());
    Some(match &source.region {
        Region::Packed => source.offset + lane * size,
        Region::Scalar => source.offset,
        Region::Strided(stride) => source.offset + lane * usize::from(*stride),
        Region::Offsets(offsets) => source.offset + usize::from(*offsets.get(lane)?),
        Region::Indirect { immediate, offsets } => {
            let base = element(registers, source.offset, 2);
            let base = i64::try_from(base).ok()? + i64::from(*immediate);
            usize::try_from(base + i64::from(*offsets.get(lane)?)).ok()?
        }
        Region::Rows {
            immediate,
            width,
            stride,
        } => {
            let width = usize::from(*width).max(1);
            let row = element(registers, source.offset + lane / width * 2, 2);
            let row = i64::try_from(row).ok()? + i64::from(*immediate);
            usize::try_from(row).ok()? + lane % width * usize::from(*stride)
        }
    })
}

/// Place of a lane's element of a destination.
pub(crate) fn target(destination: &Destination, lane: usize, registers: &[u8]) -> Option<usize> {
    let size = usize::from(destination.data_type.size());
    match destination.target {
        Target::Null => None,
        Target::Packed => Some(destination.offset + lane * size),
        Target::Strided(stride) => Some(destination.offset + lane * usize::from(stride)),
        Target::Indirect { immediate, stride } => {
            let base = element(registers, destination.offset, 2);
            let base = i64::try_from(base).ok()? + i64::from(immediate);
            Some(usize::try_from(base).ok()? + lane * usize::from(stride))
        }
    }
}

/// First byte and number of bytes that an operation writes; empty if an address determines them.
pub(crate) fn written(compute: &Compute, lanes: usize) -> (usize, usize) {
    let written = compute.destination.range(lanes).unwrap_or_default();
    (written.start, written.len())
}

/// Bytes of the register file that a source reads for this many lanes, if that does not depend on addresses.
pub(crate) fn bounds(source: &Source, lanes: usize) -> Option<(usize, usize)> {
    if source.constant.is_some() {
        return Some((source.offset, 0));
    }
    let size = usize::from(source.data_type.size());
    let last = lanes.saturating_sub(1);
    Some(match &source.region {
        Region::Packed => (source.offset, size * lanes),
        Region::Scalar => (source.offset, size),
        Region::Strided(stride) => (source.offset, last * usize::from(*stride) + size),
        Region::Offsets(offsets) => {
            let most = offsets.iter().take(lanes).max().copied().unwrap_or(0);
            (source.offset, usize::from(most) + size)
        }
        Region::Indirect { .. } | Region::Rows { .. } => return None,
    })
}

fn sign_extend(bits: u64, bytes: usize) -> u64 {
    let unused = 64 - 8 * u32::try_from(bytes.clamp(1, 8)).unwrap_or(8);
    ((bits << unused).cast_signed() >> unused).cast_unsigned()
}

fn read(source: &Source, lane: usize, registers: &[u8], shadow: &Shadow) -> Element {
    let Some(at) = place(source, lane, registers) else {
        return Element::default();
    };
    let bytes = usize::from(source.data_type.size());
    let signed = source.data_type.is_signed();
    let extend = |bits| {
        if signed {
            sign_extend(bits, bytes)
        } else {
            bits
        }
    };
    let mut found = Element::defined(extend(element(registers, at, bytes)));
    if source.constant.is_none() {
        let undefined = shadow.element(at, bytes);
        if undefined != 0 {
            found.undefined = extend(undefined);
            found.origin = shadow.origin(at, bytes);
        }
    }
    match source.modify {
        Modify::None => {}
        Modify::Not => found.value = !found.value,
        Modify::Neg if !source.data_type.is_float() => {
            found.value = found.value.wrapping_neg();
            found.undefined = upwards(found.undefined);
        }
        _ => found.undefined = all(found.undefined),
    }
    found
}

/// All bits from the lowest set one on.
const fn upwards(bits: u64) -> u64 {
    bits | bits.wrapping_neg()
}

const fn all(bits: u64) -> u64 {
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

const fn is_float(lane: Lane) -> bool {
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

/// Undefined bits of a bitwise function of three values by its table of truth.
fn boolean(table: u8, [a, b, c]: [Element; 3]) -> u64 {
    let (mut some, mut every) = (0, u64::MAX);
    for choice in 0..8u32 {
        let pick = |e: Element, bit: u32| {
            if choice >> bit & 1 != 0 {
                e.value | e.undefined
            } else {
                e.value & !e.undefined
            }
        };
        let (a, b, c) = (pick(a, 0), pick(b, 1), pick(c, 2));
        let mut out = 0;
        for row in 0..8u32 {
            if table >> row & 1 != 0 {
                let a = if row & 1 != 0 { a } else { !a };
                let b = if row & 2 != 0 { b } else { !b };
                let c = if row & 4 != 0 { c } else { !c };
                out |= a & b & c;
            }
        }
        some |= out;
        every &= out;
    }
    some & !every
}

/// The result of a lane: undefined bits, whether they belong to the second destination, and the bit for a predicate.
struct Outcome {
    undefined: u64,
    second: u64,
    flag: bool,
}

fn outcome(
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

/// Undefined bits of the word of a predicate variable.
pub(crate) fn flag_word(flag: &Flag, shadow: &Shadow) -> u32 {
    u32::try_from(shadow.element(flag.offset as usize, 4)).unwrap_or(0)
}

/// Lanes of an instruction whose predicate is undefined, each for itself.
pub(crate) fn undefined_lanes(flag: &Flag, shadow: &Shadow) -> u32 {
    flag_word(flag, shadow) >> flag.first & flag.window
}

/// Tracks a computation in the enabled lanes and in those whose predicate is undefined. `registers` is the state before
/// the computation.
pub(crate) fn follow(
    compute: &Compute,
    lanes: usize,
    (mask, unsure): (u32, u32),
    registers: &[u8],
    shadow: &mut Shadow,
) {
    let used = compute.operation.sources();
    let flags = compute.operation.flags();
    let mut results = [(0u64, 0u64, 0u32); 32];
    let mut set = 0u32;
    let words = compute.flags.map(|flag| {
        let word = element(registers, flag.offset as usize, 4) >> flag.first;
        let undefined = u64::from(flag_word(&flag, shadow)) >> flag.first;
        (word, undefined, flag)
    });
    let saturate = compute.destination.saturate
        || is_float(compute.lane)
        || matches!(compute.operation, Operation::IntegerToFloat);
    let plain_copy = matches!(compute.operation, Operation::Copy);
    for (lane, result) in results.iter_mut().enumerate().take(lanes) {
        if (mask | unsure) >> lane & 1 == 0 {
            continue;
        }
        let mut elements = [Element::default(); 4];
        for (to, source) in elements.iter_mut().zip(&compute.sources).take(used) {
            *to = read(source, lane, registers, shadow);
        }
        let origin = elements.iter().find(|e| e.undefined != 0);
        let mut origin = origin.map_or(0, |e| e.origin);
        let [
            (first, first_undefined, flag),
            (second, second_undefined, _),
        ] = words;
        let mut found = match compute.operation {
            Operation::FlagAnd | Operation::FlagOr | Operation::FlagXor | Operation::FlagNot => {
                let (a, b) = (first >> lane & 1, second >> lane & 1);
                let (ua, ub) = (first_undefined >> lane & 1, second_undefined >> lane & 1);
                let undefined = match compute.operation {
                    Operation::FlagAnd => (ua | ub) & (a | ua) & (b | ub),
                    Operation::FlagOr => (ua | ub) & (!a | ua) & (!b | ub),
                    Operation::FlagXor => ua | ub,
                    _ => ua,
                };
                origin = shadow.origin(flag.offset as usize, 4);
                Outcome {
                    undefined: 0,
                    second: 0,
                    flag: undefined & 1 != 0,
                }
            }
            Operation::FlagToNumber(elements) => {
                let kept = u64::MAX >> (64 - u32::from(elements.clamp(1, 32)));
                origin = shadow.origin(flag.offset as usize, 4);
                Outcome {
                    undefined: first_undefined & kept,
                    second: 0,
                    flag: false,
                }
            }
            Operation::FlagFromBits => {
                let [bits, ..] = elements;
                Outcome {
                    undefined: 0,
                    second: 0,
                    flag: bits.undefined >> lane & 1 != 0,
                }
            }
            Operation::FlagFromLanes => {
                let [bits, ..] = elements;
                Outcome {
                    undefined: 0,
                    second: 0,
                    flag: bits.undefined & 1 != 0,
                }
            }
            // Equal to itself, whatever the value.
            Operation::Compare(_) | Operation::Xor
                if !is_float(compute.lane) && compute.sources[0] == compute.sources[1] =>
            {
                Outcome {
                    undefined: 0,
                    second: 0,
                    flag: false,
                }
            }
            _ => {
                let selected = (flags > 0).then(|| {
                    let bit = first >> lane & 1 != 0;
                    (first_undefined >> lane & 1 == 0, bit != flag.invert)
                });
                if let Some((false, _)) = selected
                    && origin == 0
                {
                    origin = shadow.origin(flag.offset as usize, 4);
                }
                outcome(compute, elements, selected)
            }
        };
        if saturate && !plain_copy && compute.operation != Operation::Select {
            found.undefined = all(found.undefined);
        }
        if unsure >> lane & 1 != 0 {
            found = Outcome {
                undefined: u64::MAX,
                second: u64::MAX,
                flag: true,
            };
        }
        *result = (found.undefined, found.second, origin);
        set |= u32::from(found.flag) << lane;
    }
    let write = mask | unsure;
    let mut store = |to: &Destination, second: bool| {
        let bytes = usize::from(to.data_type.size());
        for (lane, (first, other, origin)) in results.iter().enumerate().take(lanes) {
            if write >> lane & 1 != 0
                && let Some(at) = target(to, lane, registers)
            {
                let bits = if second { other } else { first };
                shadow.set_element(at, bytes, bits & low_bytes(bytes), *origin);
            }
        }
    };
    store(&compute.destination, false);
    if let Some(second) = &compute.second {
        store(second, true);
    }
    if let Some(flag) = &compute.sets {
        let keep = !((write & flag.window) << flag.first);
        let word = flag_word(flag, shadow) & keep | (set & write & flag.window) << flag.first;
        let first = set & write;
        let lane = first.trailing_zeros() as usize;
        let origin = results.get(lane).map_or(0, |r| r.2);
        shadow.set_element(flag.offset as usize, 4, word.into(), origin);
    }
}
