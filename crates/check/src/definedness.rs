//! How undefined bits flow through a computation.
//!
//! Bitwise operations, shifts, moves, selections, bit fields and comparisons of integers are tracked bit by bit; sums
//! and products propagate undefined bits upwards; everything else makes the whole result undefined.

use crate::shadow::{OriginId, Shadow, element, low_bytes};
use std::ops::Range;
use visakit_exec::code::{
    Bits, Compute, Destination, Flag, Lane, Modify, Operation, Relation, Source, Systolic,
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
            origin: OriginId::ITSELF,
        }
    }

    /// The largest and the smallest value that it may have.
    const fn bounds(self, sign: u64) -> (u64, u64) {
        let (value, undefined) = (self.value ^ sign, self.undefined);
        (value & !undefined, value | undefined)
    }

    /// The same with undefined bits, unknown which, if those of another one are.
    fn with(mut self, other: Self) -> Self {
        if other.undefined != 0 {
            let origin = other.origin.changed();
            self.origin = match self.undefined {
                0 => origin,
                _ => self.origin.changed().or(origin),
            };
            self.undefined = u64::MAX;
        }
        self
    }
}

/// Bytes of the register file that a source reads for this many lanes, if that does not depend on addresses.
pub(crate) fn bounds(source: &Source, lanes: usize) -> Option<Range<usize>> {
    if source.constant.is_some() {
        return Some(source.offset..source.offset);
    }
    (!source.region.is_indirect()).then(|| source.extent(lanes))
}

/// Lanes whose elements of a source a lane's result depends on.
fn lanes_of(operation: Operation, source: usize, lane: usize) -> Range<usize> {
    let group = |size: usize| lane / size * size..(lane / size + 1) * size;
    match (operation, source) {
        (Operation::Differences | Operation::DifferencesAdd, 0 | 1) => group(2),
        (Operation::DotProduct(_), _) => group(4),
        (Operation::Line | Operation::Plane, 0) => 0..4,
        (Operation::ShuffleNibbles(_), 0) => 0..16,
        _ => lane..lane + 1,
    }
}

/// How many elements of a source an operation on this many lanes reads.
pub(crate) fn lanes_read(operation: Operation, source: usize, lanes: usize) -> usize {
    lanes_of(operation, source, lanes.saturating_sub(1)).end
}

fn sign_extend(bits: u64, bytes: usize) -> u64 {
    let unused = 64 - 8 * u32::try_from(bytes.clamp(1, 8)).unwrap_or(8);
    ((bits << unused).cast_signed() >> unused).cast_unsigned()
}

/// What a computation finds.
#[derive(Clone, Copy)]
struct State<'a> {
    registers: &'a [u8],
    shadow: &'a Shadow,
    beside: Beside,
}

/// What bytes count as that are beside those outside of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Undefined,
    /// Defined bits, all of which are this.
    All(bool),
}

fn read(source: &Source, lane: usize, state: State<'_>) -> Element {
    let State {
        registers, shadow, ..
    } = state;
    let Some(at) = source.place(lane, registers) else {
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
    let mut value = element(registers, at, bytes);
    let mut undefined = match source.constant {
        Some(_) => 0,
        None => shadow.element(at, bytes),
    };
    if let Beside::All(set) = state.beside
        && undefined != 0
    {
        let beside = shadow.beside(at, bytes);
        undefined &= !beside;
        value = if set { value | beside } else { value & !beside };
    }
    let mut found = Element::defined(extend(value));
    if undefined != 0 {
        found.undefined = extend(undefined);
        found.origin = shadow.origin(at, bytes);
    }
    match source.modify {
        Modify::None => {}
        Modify::Not => {
            found.value = !found.value;
            found.origin = found.origin.changed();
        }
        Modify::Neg if !source.data_type.is_float() => {
            found.value = found.value.wrapping_neg();
            found.undefined = upwards(found.undefined);
            found.origin = found.origin.changed();
        }
        _ => {
            found.undefined = all(found.undefined);
            found.origin = found.origin.changed();
        }
    }
    match source.address(lane) {
        // Which element it is is undefined.
        Some(at) => found.with(at_place(at, 2, shadow)),
        None => found,
    }
}

/// The undefined bits of some bytes.
fn at_place(at: usize, bytes: usize, shadow: &Shadow) -> Element {
    match shadow.element(at, bytes) {
        0 => Element::default(),
        undefined => Element {
            value: 0,
            undefined,
            origin: shadow.origin(at, bytes),
        },
    }
}

/// What a lane's result depends on of a source.
fn read_all(
    compute: &Compute,
    number: usize,
    source: &Source,
    lane: usize,
    state: State<'_>,
) -> Element {
    let own = read(source, lane, state);
    if compute.operation.is_by_lane() {
        return own;
    }
    let others = lanes_of(compute.operation, number, lane);
    let others = others.filter(|other| *other != lane);
    others.fold(own, |all, other| all.with(read(source, other, state)))
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

/// The origin of the undefined bits of a result. Bits that are moved as they are, to whatever byte, keep the place that
/// they come from.
fn origin(compute: &Compute, elements: &[Element; 4], undefined: u64) -> OriginId {
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

/// Undefined bits of the word of a predicate variable.
pub(crate) fn flag_word(flag: &Flag, shadow: &Shadow) -> u32 {
    u32::try_from(shadow.element(flag.offset as usize, 4)).unwrap_or(0)
}

/// Lanes of an instruction whose predicate is undefined, each for itself.
pub(crate) fn undefined_lanes(flag: &Flag, shadow: &Shadow) -> u32 {
    flag_word(flag, shadow) >> flag.first & flag.window
}

/// Lanes that a step may run in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enabled {
    /// Those enabled.
    pub(crate) mask: u32,
    /// Those whose predicate is undefined.
    pub(crate) unsure: u32,
    /// The origin of that.
    pub(crate) predicate: OriginId,
}

impl Enabled {
    /// Lanes that run for sure.
    pub(crate) const fn all(mask: u32) -> Self {
        Self {
            mask,
            unsure: 0,
            predicate: OriginId::ITSELF,
        }
    }
}

/// What is undefined of the result of a lane.
#[derive(Clone, Copy, Default)]
struct Undefined {
    /// Bits of both destinations.
    all: [u64; 2],
    /// Those that are a fault by themselves.
    faulty: [u64; 2],
    /// The origin of the latter.
    origin: OriginId,
}

impl Undefined {
    /// Notes it for an element of a destination.
    fn note(&self, number: usize, (at, bytes): (usize, usize), shadow: &mut Shadow) {
        let of = |bits: &[u64; 2]| bits.get(number).copied().unwrap_or(0) & low_bytes(bytes);
        let (all, faulty) = (of(&self.all), of(&self.faulty));
        shadow.set_element(at, bytes, all, self.origin);
        if all != faulty {
            for byte in 0..bytes {
                let of = |bits: u64| bits >> (8 * byte) & 0xff;
                if of(faulty) == 0 && of(all) != 0 {
                    shadow.set_element(at + byte, 1, of(all), OriginId::BESIDE);
                }
            }
        }
    }
}

/// Tracks a computation in the enabled lanes and in those whose predicate is undefined. `registers` is the state before
/// the computation.
pub(crate) fn follow(
    compute: &Compute,
    lanes: usize,
    enabled: Enabled,
    registers: &[u8],
    shadow: &mut Shadow,
) {
    let write = enabled.mask | enabled.unsure;
    let mut results = [Undefined::default(); 32];
    let mut set = 0u32;
    for (lane, result) in results.iter_mut().enumerate().take(lanes) {
        if write >> lane & 1 == 0 {
            continue;
        }
        let (found, flag) = if enabled.unsure >> lane & 1 != 0 {
            let all = [u64::MAX; 2];
            let origin = enabled.predicate.changed();
            (
                Undefined {
                    all,
                    faulty: all,
                    origin,
                },
                true,
            )
        } else {
            both_outcomes(compute, lane, registers, shadow)
        };
        *result = found;
        set |= u32::from(flag) << lane;
    }
    let destinations = std::iter::once(&compute.destination).chain(&compute.second);
    for (number, to) in destinations.enumerate() {
        let bytes = usize::from(to.data_type.size());
        let address = to.address().map(|at| at_place(at, 2, shadow));
        for (lane, result) in results.iter().enumerate().take(lanes) {
            if write >> lane & 1 != 0
                && let Some(at) = to.place(lane, registers)
            {
                match address.filter(|address| address.undefined != 0) {
                    // Nobody knows where it is written.
                    Some(address) => {
                        let origin = address.origin.changed().or(result.origin);
                        shadow.set_element(at, bytes, u64::MAX, origin);
                    }
                    None => result.note(number, (at, bytes), shadow),
                }
            }
        }
    }
    if let Some(flag) = &compute.sets {
        let at = flag.offset as usize;
        let keep = flag_word(flag, shadow) & !((write & flag.window) << flag.first);
        let word = keep | (set & write & flag.window) << flag.first;
        let before = (keep != 0).then(|| shadow.origin(at, 4));
        let lanes = (0..32).filter(|lane| set >> lane & 1 != 0);
        let origins = lanes.filter_map(|lane| results.get(lane).map(|r| r.origin));
        let origin = origins.chain(before).reduce(OriginId::or);
        shadow.set_element(at, 4, word.into(), origin.unwrap_or_default());
    }
}

/// What is undefined of a lane's result, and whether its bit for a predicate is.
fn both_outcomes(
    compute: &Compute,
    lane: usize,
    registers: &[u8],
    shadow: &Shadow,
) -> (Undefined, bool) {
    let with = |beside| {
        let state = State {
            registers,
            shadow,
            beside,
        };
        lane_outcome(compute, lane, state)
    };
    let (all, mut origin) = with(Beside::Undefined);
    let mut faulty = [all.undefined, all.second];
    if shadow.has_beside() {
        let (zeros, first) = with(Beside::All(false));
        let (ones, second) = with(Beside::All(true));
        faulty = [zeros.undefined | ones.undefined, zeros.second | ones.second];
        let is_faulty = |o: Outcome| o.undefined | o.second != 0 || o.flag;
        origin = match (is_faulty(zeros), is_faulty(ones)) {
            (false, false) => OriginId::BESIDE,
            (true, false) => first,
            (false, true) => second,
            (true, true) => first.or(second),
        };
    }
    let found = Undefined {
        all: [all.undefined, all.second],
        faulty,
        origin,
    };
    (found, all.flag)
}

/// What is undefined of a lane's result, and the origin.
fn lane_outcome(compute: &Compute, lane: usize, state: State<'_>) -> (Outcome, OriginId) {
    let State {
        registers, shadow, ..
    } = state;
    let used = compute.operation.sources();
    let mut elements = [Element::default(); 4];
    let sources = compute.sources.iter().enumerate().take(used);
    for (to, (number, source)) in elements.iter_mut().zip(sources) {
        *to = read_all(compute, number, source, lane, state);
    }
    if let Some(found) = predicate_outcome(compute, &elements, lane, registers, shadow) {
        return found;
    }
    // Equal to itself, whatever the value.
    let itself = matches!(compute.operation, Operation::Compare(_) | Operation::Xor);
    if itself && !is_float(compute.lane) && compute.sources[0] == compute.sources[1] {
        let nothing = Outcome {
            undefined: 0,
            second: 0,
            flag: false,
        };
        return (nothing, OriginId::ITSELF);
    }
    let [flag, _] = &compute.flags;
    let mut of_flag = None;
    let selected = (compute.operation.flags() > 0).then(|| {
        let at = flag.offset as usize;
        let bit = |word: u32| word >> flag.first >> lane & 1 != 0;
        let word = u32::try_from(element(registers, at, 4)).unwrap_or(0);
        let defined = !bit(flag_word(flag, shadow));
        of_flag = (!defined).then(|| shadow.origin(at, 4));
        (defined, bit(word) != flag.invert)
    });
    let mut found = outcome(compute, elements, selected);
    if is_arithmetic(compute) {
        found.undefined = all(found.undefined);
    }
    let from = match selected {
        // The other one does not matter.
        Some((true, first)) => elements
            .get(usize::from(!first))
            .map_or(OriginId::ITSELF, |e| e.origin),
        _ => origin(compute, &elements, found.undefined),
    };
    let from = match of_flag {
        Some(flag) if from == OriginId::ITSELF => flag,
        Some(flag) => from.changed().or(flag),
        None => from,
    };
    (found, from)
}

/// Whether each bit of the result may depend on each of the sources.
fn is_arithmetic(compute: &Compute) -> bool {
    let [first, ..] = &compute.sources;
    let to = &compute.destination;
    match compute.operation {
        Operation::Copy | Operation::Select => false,
        Operation::Convert(_) if first.data_type.is_float() || to.data_type.is_float() => true,
        Operation::IntegerToFloat => true,
        _ => to.saturate || is_float(compute.lane),
    }
}

/// The same for operations on predicates; `None` for others.
fn predicate_outcome(
    compute: &Compute,
    elements: &[Element; 4],
    lane: usize,
    registers: &[u8],
    shadow: &Shadow,
) -> Option<(Outcome, OriginId)> {
    let used = compute.operation.flags();
    let words = compute.flags.map(|flag| {
        let word = element(registers, flag.offset as usize, 4) >> flag.first;
        (word, u64::from(flag_word(&flag, shadow)) >> flag.first)
    });
    let [(first, first_undefined), (second, second_undefined)] = words;
    let (a, b) = (first >> lane & 1, second >> lane & 1);
    let (ua, ub) = (first_undefined >> lane & 1, second_undefined >> lane & 1);
    let [bits, ..] = elements;
    let (undefined, flag) = match compute.operation {
        Operation::FlagAnd => (0, (ua | ub) & (a | ua) & (b | ub)),
        Operation::FlagOr => (0, (ua | ub) & (!a | ua) & (!b | ub)),
        Operation::FlagXor => (0, ua | ub),
        Operation::FlagNot => (0, ua),
        Operation::FlagToNumber(elements) => {
            let kept = u64::MAX >> (64 - u32::from(elements.clamp(1, 32)));
            (first_undefined & kept, 0)
        }
        Operation::FlagFromBits => (0, bits.undefined >> lane & 1),
        Operation::FlagFromLanes => (0, bits.undefined & 1),
        _ => return None,
    };
    let flags = compute.flags.iter().take(used);
    let origins = flags.filter(|flag| flag_word(flag, shadow) != 0);
    let origins = origins.map(|flag| shadow.origin(flag.offset as usize, 4));
    let origin = origins.reduce(OriginId::or).unwrap_or(bits.origin);
    let found = Outcome {
        undefined,
        second: 0,
        flag: flag & 1 != 0,
    };
    Some((found, origin))
}

/// Tracks a systolic product in the enabled lanes. A product with zero is zero.
pub(crate) fn follow_systolic(
    systolic: &Systolic,
    (lanes, mask): (usize, u32),
    registers: &[u8],
    shadow: &mut Shadow,
) {
    let scales = systolic.scales();
    let scales = scales.map(|range| at_place_of(range, shadow));
    let scale = scales.fold(Element::default(), Element::with);
    let of_bits = |bits: Bits| {
        let mask = u64::MAX >> (64 - bits.count.clamp(1, 32));
        let (at, shift) = (bits.first / 8, bits.first % 8);
        let bytes = (shift + bits.count).div_ceil(8);
        let undefined = shadow.element(at, bytes) >> shift & mask;
        Element {
            value: element(registers, at, bytes) >> shift & mask,
            undefined,
            origin: match undefined {
                0 => OriginId::ITSELF,
                _ => shadow.origin(at, bytes),
            },
        }
    };
    let mut results = Vec::new();
    for row in 0..systolic.rows() {
        for lane in (0..lanes).filter(|lane| mask >> lane & 1 != 0) {
            let (result, accumulator) = systolic.element(row, lane);
            let added = accumulator.map(|range| at_place_of(range, shadow));
            let mut found = scale.with(added.unwrap_or_default());
            for [weight, activation] in systolic.products(row, lane) {
                let (weight, activation) = (of_bits(weight), of_bits(activation));
                let zero = |e: Element| e.value | e.undefined == 0;
                if !zero(weight) && !zero(activation) {
                    found = found.with(weight).with(activation);
                }
            }
            results.push((result, found));
        }
    }
    for (result, found) in results {
        let bits = found.undefined & low_bytes(result.len());
        shadow.set_element(result.start, result.len(), bits, found.origin);
    }
}

/// The undefined bits of a range, of at most eight bytes each time.
fn at_place_of(range: Range<usize>, shadow: &Shadow) -> Element {
    let parts = range.clone().step_by(8);
    let parts = parts.map(|at| at_place(at, (range.end - at).min(8), shadow));
    parts.fold(Element::default(), Element::with)
}
