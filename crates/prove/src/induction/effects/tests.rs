//! Where all pairs are equal, stores leave the same in memory: random stores, and the same ones in other orders and shapes.

use super::super::events::{Event, Kind, Space};
use super::{by_lanes, in_order};
use crate::term::{Term, Terms, Values, Variable};
use std::collections::BTreeMap;
use visakit_exec::Extent;
use visakit_testing::layouts::Random;

/// A store before it is an event: of a lane, at a sum of a variable and a number, of bytes that variables or numbers are.
#[derive(Clone, Debug)]
struct Store {
    space: Space,
    lane: Option<usize>,
    base: u32,
    add: u64,
    bytes: Vec<u64>,
    condition: Option<u32>,
    group: usize,
}

/// Variables of addresses, then those of conditions.
const BASES: u32 = 3;
const CONDITIONS: u32 = 3;

/// Surfaces that overlap, one that is apart, and one at the end of flat memory.
fn spaces() -> [Space; 6] {
    let surface = |base, bytes| Space::Surface(Extent { base, bytes });
    [
        Space::Global,
        Space::Local,
        surface(0x40, 0x30),
        surface(0x60, 0x20),
        surface(0x100, 0x10),
        surface(u64::MAX - 0x1f, 0x20),
    ]
}

fn pick<T: Copy, const N: usize>(random: &mut Random, among: [T; N]) -> T {
    among[random.below(N)]
}

fn stores(random: &mut Random) -> Vec<Store> {
    let [first, second] = [(); 2].map(|()| pick(random, spaces()));
    let mut group = 1;
    let count = 1 + random.below(6);
    let mut store = |random: &mut Random| {
        group += usize::from(random.below(6) == 0);
        let near = random.below(24) as u64;
        Store {
            space: pick(random, [first, first, second]),
            lane: (random.below(8) != 0).then(|| random.below(3)),
            base: u32::try_from(random.below(BASES as usize + 1)).unwrap(),
            add: pick(random, [near, near, near.wrapping_sub(12), 0x60 + near]),
            bytes: (0..pick(random, [1, 2, 4]))
                .map(|_| random.below(3) as u64)
                .collect(),
            condition: (random.below(3) == 0)
                .then(|| BASES + u32::try_from(random.below(CONDITIONS as usize)).unwrap()),
            group,
        }
    };
    std::iter::repeat_with(|| store(&mut *random))
        .take(count)
        .collect()
}

/// The same stores in another order and of other shapes, and sometimes not the same.
fn changed(random: &mut Random, stores: &[Store]) -> Vec<Store> {
    let mut new: Vec<Store> = Vec::new();
    for store in stores {
        if store.bytes.len() > 1 && random.below(3) == 0 {
            let (low, high) = store.bytes.split_at(store.bytes.len() / 2);
            let add = store.add.wrapping_add(low.len() as u64);
            new.push(Store {
                bytes: low.to_vec(),
                ..store.clone()
            });
            new.push(Store {
                bytes: high.to_vec(),
                add,
                ..store.clone()
            });
        } else {
            new.push(store.clone());
        }
    }
    for _ in 0..random.below(4) {
        let (a, b) = (random.below(new.len()), random.below(new.len()));
        if new[a].group == new[b].group {
            new.swap(a, b);
        }
    }
    if random.below(4) == 0 {
        let at = random.below(new.len());
        let store = &mut new[at];
        match random.below(5) {
            0 => store.add = store.add.wrapping_add(1),
            1 => store.bytes[0] += 1,
            2 => store.condition = None,
            3 => store.base = 0,
            _ => store.lane = Some(0),
        }
    }
    new
}

fn events(terms: &mut Terms, stores: &[Store]) -> Vec<Event> {
    let event = |store: &Store| {
        let width = if store.space == Space::Global { 64 } else { 32 };
        let base = match store.base {
            0 => terms.constant(0, width),
            number => {
                let base = terms.variable(Variable::Free(number - 1), 32);
                terms.zero_extend(base, width)
            }
        };
        let add = terms.constant(store.add, width);
        let mut operands = vec![terms.add(base, add)];
        operands.extend(store.bytes.iter().map(|byte| terms.constant(*byte, 8)));
        let condition = match store.condition {
            None => terms.constant(1, 1),
            Some(number) => terms.variable(Variable::Free(number), 1),
        };
        Event {
            kind: Kind::Store(store.space, store.lane),
            operands,
            condition,
            group: store.group,
        }
    };
    stores.iter().map(event).collect()
}

/// What is in memory after events, for a choice of variables.
fn after(terms: &Terms, events: &[Event], chosen: &[u64]) -> BTreeMap<(bool, u64), u64> {
    let mut memory = BTreeMap::new();
    let mut values = Values::new(terms, |variable| value(variable, chosen));
    for event in events {
        let Kind::Store(space, _) = event.kind else {
            continue;
        };
        if values.of(event.condition) == Some(0) {
            continue;
        }
        let (address, bytes) = event.operands.split_first().unwrap();
        let width = terms.width(*address);
        let address = values.of(*address).unwrap();
        for (further, byte) in (0..).zip(bytes) {
            let address = address.wrapping_add(further) & crate::term::ones(width);
            let byte = values.of(*byte).unwrap();
            match space {
                Space::Global => memory.insert((false, address), byte),
                Space::Local => memory.insert((true, address), byte),
                Space::Surface(extent) if address < extent.bytes => {
                    memory.insert((false, extent.base + address), byte)
                }
                Space::Surface(_) => None,
            };
        }
    }
    memory
}

fn value(variable: Variable, chosen: &[u64]) -> u64 {
    match variable {
        Variable::Free(number) => chosen[number as usize],
        _ => 0,
    }
}

fn hold(terms: &Terms, pairs: &[(Term, Term)], chosen: &[u64]) -> bool {
    let mut values = Values::new(terms, |variable| value(variable, chosen));
    pairs.iter().all(|(a, b)| values.of(*a) == values.of(*b))
}

#[test]
fn stores_that_are_taken_for_equal_leave_the_same() {
    let (mut equal, mut told) = ([0; 2], 0);
    for seed in 0..20_000 {
        let mut random = Random::of_seed(seed);
        let old = stores(&mut random);
        let new = changed(&mut random, &old);
        let mut terms = Terms::new();
        let [first, second] = [&old, &new].map(|stores| events(&mut terms, stores));
        let asked = [
            in_order([&first, &second]),
            by_lanes(&mut terms, [&first, &second]),
        ];
        for _ in 0..6 {
            // Addresses that are near each other, or near the end of what 32 bits count.
            let chosen: Vec<u64> = (0..BASES + CONDITIONS)
                .map(|number| match number < BASES {
                    true => {
                        (random.below(24) as u64).wrapping_sub(random.below(2) as u64 * 12)
                            & 0xffff_ffff
                    }
                    false => random.below(2) as u64,
                })
                .collect();
            let same = after(&terms, &first, &chosen) == after(&terms, &second, &chosen);
            told += u32::from(!same);
            for (pairs, equal) in asked.iter().zip(&mut equal) {
                if pairs
                    .as_ref()
                    .is_some_and(|pairs| hold(&terms, pairs, &chosen))
                {
                    assert!(same, "{seed}: {chosen:x?} {old:#x?} {new:#x?}");
                    *equal += 1;
                }
            }
        }
    }
    // Most stores are in other orders or shapes, and some are others.
    let [in_order, by_lanes] = equal;
    assert!(
        by_lanes > 10_000 && told > 10_000,
        "{in_order} {by_lanes} {told}"
    );
}
