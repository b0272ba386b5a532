//! Registers that are computed from others: where one program counts, the other may add to an address.
//!
//! A relation says that an element is a multiple of another one and a third one, `y = a * x + z`. It is guessed from a few
//! visits to a cutpoint: `x` changes as long as a thread goes round, `y` changes with it, and what is left is what some other
//! register has all the time.

use super::partition::Partition;
use super::seen::{Seen, Visit};
use super::solve::One;
use crate::decide::Decisions;
use crate::term::{Term, Terms};
use hashbrown::HashMap;

/// Factors at most.
const MOST: u64 = 1 << 16;

/// Elements of a cutpoint that are computed from others, and ways to do so, at most.
const MOST_RELATIONS: usize = 512;
const MOST_WAYS: usize = 8;

/// How an element is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Dword,
    Qword,
    /// A dword as a qword.
    Signed,
    Unsigned,
}

impl Shape {
    const fn bytes(self) -> usize {
        match self {
            Self::Qword => 8,
            Self::Dword | Self::Signed | Self::Unsigned => 4,
        }
    }

    /// Whether it is an element as it is.
    const fn is_whole(self) -> bool {
        matches!(self, Self::Dword | Self::Qword)
    }

    /// The bits of the result.
    const fn width(self) -> u8 {
        match self {
            Self::Dword => 32,
            Self::Qword | Self::Signed | Self::Unsigned => 64,
        }
    }
}

/// An element of one of both register files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    side: usize,
    cell: usize,
    shape: Shape,
}

impl Place {
    /// Its value at a visit.
    fn value(self, visit: [&Visit; 2]) -> Option<u64> {
        let registers = &visit.get(self.side)?.registers;
        let bytes = registers.get(self.cell..self.cell + self.shape.bytes())?;
        let value = bytes
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | u64::from(*byte));
        Some(match self.shape {
            Shape::Signed => {
                let low = u32::try_from(value).ok()?.cast_signed();
                i64::from(low).cast_unsigned()
            }
            Shape::Dword | Shape::Qword | Shape::Unsigned => value,
        })
    }

    /// Its term; `None` where it makes no difference.
    fn term(self, terms: &mut Terms, cells: impl Fn(usize, usize) -> Option<Term>) -> Option<Term> {
        let all = (0..self.shape.bytes()).map(|byte| cells(self.side, self.cell + byte));
        let all: Vec<Term> = all.collect::<Option<_>>()?;
        let value = terms.concat(&all);
        Some(match self.shape {
            Shape::Signed => terms.sign_extend(value, 64),
            Shape::Unsigned => terms.zero_extend(value, 64),
            Shape::Dword | Shape::Qword => value,
        })
    }
}

/// What is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Base {
    Number(u64),
    Place(Place),
}

/// `of` is `times` times `by` and a base, modulo its width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Relation {
    of: Place,
    times: u64,
    by: Place,
    base: Base,
}

impl Relation {
    /// What it says that its element is.
    fn result(
        &self,
        terms: &mut Terms,
        cells: impl Fn(usize, usize) -> Option<Term> + Copy,
    ) -> Option<Term> {
        let by = self.by.term(terms, cells)?;
        let base = match self.base {
            Base::Number(number) => terms.constant(number, self.of.shape.width()),
            Base::Place(place) => place.term(terms, cells)?,
        };
        let product = terms.scale(by, self.times);
        Some(terms.add(product, base))
    }

    /// Puts what it says into the cells of its element, where its lane runs.
    pub(super) fn assume(
        &self,
        terms: &mut Terms,
        cells: &mut [Vec<Term>; 2],
        runs: impl Fn(usize, usize) -> Option<Term>,
    ) {
        // What it is computed from is known where the lane runs.
        let own = runs(self.of.side, self.of.cell);
        let mut known: HashMap<(usize, usize), Term> = HashMap::new();
        let base = match self.base {
            Base::Number(_) => None,
            Base::Place(place) => Some(place),
        };
        for place in [Some(self.by), base].into_iter().flatten() {
            for cell in place.cell..place.cell + place.shape.bytes() {
                let term = cells.get(place.side).and_then(|all| all.get(cell)).copied();
                let Some(term) = term else { return };
                let term = own.map_or(term, |lane| terms.under(term, lane));
                known.insert((place.side, cell), term);
            }
        }
        let found = self.result(terms, |side, cell| known.get(&(side, cell)).copied());
        let Some(found) = found else { return };
        let own = cells.get_mut(self.of.side);
        let own = own.and_then(|all| all.get_mut(self.of.cell..));
        for (low, (byte, to)) in (0..).step_by(8).zip(own.into_iter().flatten().enumerate()) {
            if byte >= self.of.shape.bytes() {
                break;
            }
            let value = terms.extract(found, low, 8);
            *to = match runs(self.of.side, self.of.cell + byte) {
                Some(lane) => terms.choice(lane, value, *to),
                None => value,
            };
        }
    }

    /// Whether it holds for these cells, of which those without a term make no difference.
    pub(super) fn holds(
        &self,
        (terms, decisions): (&mut Terms, &mut Decisions),
        cells: &[Vec<Option<Term>>; 2],
    ) -> bool {
        let at = |side: usize, cell: usize| cells.get(side)?.get(cell).copied().flatten();
        let Some(own) = self.of.term(terms, at) else {
            // The lane does not come here.
            return true;
        };
        let Some(found) = self.result(terms, at) else {
            return false;
        };
        own == found || decisions.are_equal(terms, own, found)
    }
}

/// Relations of one element, of which the first is assumed until it does not hold.
pub(super) type Ways = Vec<Relation>;

/// Visits of the same threads at the same time.
fn together([old, new]: [&Seen; 2]) -> Vec<[&Visit; 2]> {
    let others: HashMap<_, &Visit> = new.kept.iter().map(|visit| (visit.of, visit)).collect();
    let pairs = old
        .kept
        .iter()
        .map(|visit| Some([visit, *others.get(&visit.of)?]));
    pairs.flatten().collect()
}

/// The values of an element at all visits with its lane.
fn values(place: Place, visits: &[[&Visit; 2]]) -> Option<Vec<u64>> {
    visits.iter().map(|visit| place.value(*visit)).collect()
}

/// Whether values change while a thread goes round.
fn changes(values: &[u64], visits: &[[&Visit; 2]]) -> bool {
    let of = |visit: &[&Visit; 2]| (visit[0].of.0, visit[0].of.1);
    let mut pairs = values.windows(2).zip(visits.windows(2));
    pairs.any(|(values, visits)| match (values, visits) {
        ([a, b], [first, second]) => of(first) == of(second) && a != b,
        _ => false,
    })
}

/// Relations of what is not equal to anything of the other program at a cutpoint.
pub(super) fn relations(
    seen: &[&Seen; 2],
    (sides, live): (&[One<'_>; 2], &[Vec<bool>; 2]),
    partition: &Partition,
) -> Vec<Ways> {
    let all = together(*seen);
    let common = partition.common();
    // What is not read again is computed from whatever it happens to be.
    let cells = live.iter().zip(&common);
    let known = cells.map(|(live, common)| {
        let known = live.iter().zip(common);
        known
            .map(|(live, common)| live.then_some(*common))
            .collect()
    });
    let known: Vec<Vec<Option<bool>>> = known.collect();
    let mut found = Vec::new();
    for lane in std::iter::once(None).chain((0..32).map(Some)) {
        let visits: Vec<[&Visit; 2]> = all
            .iter()
            .filter(|[old, new]| {
                lane.is_none_or(|lane| (old.running & new.running) >> lane & 1 != 0)
            })
            .copied()
            .collect();
        if visits.len() < 3 {
            continue;
        }
        for shapes in [
            &[Shape::Dword][..],
            &[Shape::Qword, Shape::Signed, Shape::Unsigned],
        ] {
            found.extend(of_lane((lane, shapes), &visits, sides, &known));
            if found.len() > MOST_RELATIONS {
                return Vec::new();
            }
        }
    }
    found
}

/// Relations of elements of a lane, or of none.
fn of_lane(
    (lane, shapes): (Option<usize>, &[Shape]),
    visits: &[[&Visit; 2]],
    sides: &[One<'_>; 2],
    common: &[Vec<Option<bool>>],
) -> Vec<Ways> {
    let (mut known, mut counts, mut wanted) = (HashMap::new(), Vec::new(), Vec::new());
    for (side, (one, common)) in sides.iter().zip(common).enumerate() {
        for shape in shapes {
            for cell in (0..one.layout.bytes()).step_by(shape.bytes()) {
                let range = cell..cell + shape.bytes();
                let owner = one.owner(cell);
                let is_own = range.clone().all(|cell| one.owner(cell) == owner);
                if !is_own || owner.is_some() && owner != lane {
                    continue;
                }
                let place = Place {
                    side,
                    cell,
                    shape: *shape,
                };
                let known_cells = common.get(range).unwrap_or_default();
                if known_cells.contains(&None) {
                    continue;
                }
                let is_common = !known_cells.contains(&Some(false));
                let Some(values) = values(place, visits) else {
                    continue;
                };
                match (is_common, changes(&values, visits)) {
                    (true, true) => counts.push((place, values)),
                    (true, false) => {
                        known.entry(values).or_insert(place);
                    }
                    (false, true) if owner == lane && shape.is_whole() => {
                        wanted.push((place, values));
                    }
                    _ => {}
                }
            }
        }
    }
    let find = |(of, values): &(Place, Vec<u64>)| {
        let mut relations = counts.iter().filter_map(|(by, counts)| {
            let width = of.shape.width();
            let (times, rest) = factor(values, counts, width)?;
            let number = rest.first().copied()?;
            let base = match known.get(&rest) {
                Some(place) => Base::Place(*place),
                None if rest.iter().all(|other| *other == number) => Base::Number(number),
                None => return None,
            };
            Some(Relation {
                of: *of,
                times,
                by: *by,
                base,
            })
        });
        relations.by_ref().take(MOST_WAYS).collect::<Ways>()
    };
    let all = wanted.iter().map(find);
    all.filter(|ways| !ways.is_empty()).collect()
}

/// A factor by which values change with others, and what is left of them.
fn factor(values: &[u64], counts: &[u64], width: u8) -> Option<(u64, Vec<u64>)> {
    let mask = crate::term::ones(width);
    let mut pairs = values.windows(2).zip(counts.windows(2));
    let times = pairs.find_map(|(values, counts)| match (values, counts) {
        ([a, b], [c, d]) if c != d => {
            let (change, step) = (b.wrapping_sub(*a) & mask, d.wrapping_sub(*c) & mask);
            let signed = |value| crate::term::signed(value, width);
            let (change, step) = (signed(change), signed(step));
            let times = change.checked_div(step)?;
            Some(times).filter(|times| *times != 0 && times * step == change)
        }
        _ => None,
    })?;
    let times = Some(times).filter(|times| times.unsigned_abs() < MOST)?;
    let times = times.cast_unsigned();
    let rest = values.iter().zip(counts);
    let rest = rest.map(|(value, count)| value.wrapping_sub(times.wrapping_mul(*count)) & mask);
    Some((times, rest.collect()))
}
