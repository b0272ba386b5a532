//! How undefined bits flow through a computation.
//!
//! Bitwise operations, shifts, moves, selections, bit fields and comparisons of integers are tracked bit by bit; sums
//! and products propagate undefined bits upwards; everything else makes the whole result undefined.

mod outcome;
mod systolic;

pub(crate) use systolic::follow_systolic;

use crate::shadow::{OriginId, Shadow, element, low_bytes};
use outcome::{Outcome, all, is_arithmetic, is_float, origin, outcome, upwards};
use std::ops::Range;
use visakit_exec::code::{Combine, Compute, Flag, Modify, Operation, Source};

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

    /// These bits with undefined ones, unknown which, if those of another one are.
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
    let others = compute.operation.lanes_of(number, lane);
    let others = others.filter(|other| *other != lane);
    others.fold(own, |all, other| all.with(read(source, other, state)))
}

/// Undefined bits of the word of a predicate variable.
pub(crate) fn flag_word(flag: &Flag, shadow: &Shadow) -> u32 {
    u32::try_from(shadow.element(flag.offset as usize, 4)).unwrap_or(0)
}

/// Lanes of an instruction whose predicate is undefined: each for itself, or all where elements are combined and no defined
/// one decides.
pub(crate) fn undefined_lanes(flag: &Flag, registers: &[u8], shadow: &Shadow) -> u32 {
    let undefined = flag_word(flag, shadow);
    let bits = element(registers, flag.offset as usize, 4);
    let bits = u32::try_from(bits).unwrap_or(0);
    let known = flag.tested & !undefined;
    let decided = match flag.combine {
        Combine::PerLane => return undefined >> flag.first & flag.window,
        Combine::Any => bits & known != 0,
        Combine::All => !bits & known != 0,
    };
    match undefined & flag.tested != 0 && !decided {
        true => flag.window,
        false => 0,
    }
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
        let word = u32::try_from(element(registers, at, 4)).unwrap_or(0);
        let set = match flag.combine {
            Combine::PerLane => word >> flag.first >> lane & 1 != 0,
            Combine::Any => word & flag.tested != 0,
            Combine::All => !word & flag.tested == 0,
        };
        let defined = undefined_lanes(flag, registers, shadow) >> lane & 1 == 0;
        of_flag = (!defined).then(|| shadow.origin(at, 4));
        (defined, set != flag.invert)
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

/// The outcome of operations on predicates; `None` for others.
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
