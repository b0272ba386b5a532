use super::{Cause, Found};
use crate::finding::{Access, Between, Class, Finding, Kind, Other, Place, Space};
use proptest::prelude::*;
use std::collections::BTreeMap;

const ACCESSES: [Access; 3] = [Access::Write, Access::Atomic, Access::Read];
const BETWEEN: [Between; 4] = [
    Between::Groups,
    Between::Threads,
    Between::Lanes,
    Between::Lockstep,
];

/// Something that is wrong at one of two source lines with one of two objects.
#[derive(Clone, Debug)]
struct Occurrence {
    cause: Cause,
    moment: (u64, u64),
}

impl Occurrence {
    fn finding(&self) -> Finding {
        let Class { between, accesses } = self.cause.class;
        let [access, other] = accesses;
        Finding {
            kind: self.cause.kind,
            space: Space::Global,
            access,
            between,
            place: Place::default(),
            message: String::new(),
            target: None,
            item: None,
            address: None,
            bytes: None,
            value: None,
            other: other.map(|access| Other {
                what: String::new(),
                place: None,
                item: None,
                access: Some(access),
            }),
            moment: self.moment,
            count: 1,
        }
    }
}

fn occurrence() -> impl Strategy<Value = Occurrence> {
    let race = (0..2u32, 0..2usize, 0..4usize, 0..2usize, any::<bool>()).prop_map(
        |(step, object, between, other, same)| {
            let kind = if same {
                Kind::RaceSameValue
            } else {
                Kind::Race
            };
            Cause {
                other: step + 1,
                object,
                class: Class {
                    between: Some(BETWEEN[between]),
                    accesses: [
                        Some(Access::Write),
                        Some(if same {
                            Access::Write
                        } else {
                            ACCESSES[2 * other]
                        }),
                    ],
                },
                ..Cause::new(kind, step)
            }
        },
    );
    let tried = (0..2u32, 5..8u32).prop_map(|(step, read)| Cause {
        other: step + 1,
        class: Class {
            between: Some(Between::Threads),
            accesses: [Some(Access::Atomic), Some(Access::Read)],
        },
        tried: Some(read),
        ..Cause::new(Kind::Race, step)
    });
    let outside = (0..2u32, 0..3usize).prop_map(|(step, access)| Cause {
        class: Class {
            between: None,
            accesses: [Some(ACCESSES[access]), None],
        },
        ..Cause::new(Kind::OutOfBounds, step)
    });
    let cause = prop_oneof![3 => race, 1 => tried, 2 => outside];
    (cause, 0..3u64, 0..1000u64).prop_map(|(cause, group, step)| Occurrence {
        cause,
        moment: (group, step),
    })
}

/// Adds them as a checker does.
fn sorted(all: &[Occurrence], exchanged: &[u32]) -> Vec<(Cause, Finding)> {
    let mut found = Found::default();
    for one in all {
        if !found.counts(&one.cause, one.moment) {
            found.put(one.cause, one.finding());
        }
    }
    for read in exchanged {
        found.exchanged(*read);
    }
    found.sorted()
}

proptest! {
    /// Everything that occurred is told of, as often as it occurred, with its first moment, the worst first; whatever
    /// happened first.
    #[test]
    fn nothing_hides_anything(
        all in prop::collection::vec(occurrence(), 0..60),
        exchanged in prop::collection::vec(5..8u32, 0..3),
        seed in any::<u64>(),
    ) {
        let found = sorted(&all, &exchanged);
        let mut other_order = all.clone();
        let mut state = seed | 1;
        other_order.sort_by_cached_key(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 32
        });
        prop_assert_eq!(&found, &sorted(&other_order, &exchanged));

        let mut wanted: BTreeMap<Cause, (u64, (u64, u64))> = BTreeMap::new();
        for one in &all {
            if one.cause.tried.is_some_and(|read| exchanged.contains(&read)) {
                continue;
            }
            let cause = Cause { tried: None, ..one.cause };
            let entry = wanted.entry(cause).or_insert((0, one.moment));
            *entry = (entry.0 + 1, entry.1.min(one.moment));
        }
        let told: BTreeMap<_, _> = found.iter().map(|(c, f)| (*c, (f.count, f.moment))).collect();
        for (cause, of) in &wanted {
            // Writes of the same value are part of a race between those who are not more in order.
            let part = cause.kind == Kind::RaceSameValue && wanted.keys().any(|c| {
                c.kind == Kind::Race
                    && (c.step, c.other, c.object) == (cause.step, cause.other, cause.object)
                    && c.class.between <= cause.class.between
            });
            prop_assert_eq!(told.get(cause), (!part).then_some(of));
        }
        prop_assert!(told.keys().all(|cause| wanted.contains_key(cause)));
        prop_assert!(found.is_sorted_by(|(_, a), (_, b)| a.severity() <= b.severity()));
    }
}

/// What leads: a conflict of threads before one that lockstep orders, a write before a read.
#[test]
fn the_worst_leads() {
    let race = |between, accesses: [Access; 2]| Occurrence {
        cause: Cause {
            class: Class {
                between: Some(between),
                accesses: accesses.map(Some),
            },
            ..Cause::new(Kind::Race, 1)
        },
        moment: (0, 0),
    };
    let [write, atomic, read] = ACCESSES;
    let all = [
        race(Between::Lockstep, [write, write]),
        race(Between::Threads, [write, read]),
        race(Between::Lanes, [write, write]),
        race(Between::Threads, [atomic, read]),
        race(Between::Groups, [write, read]),
        race(Between::Threads, [write, write]),
    ];
    let order: Vec<_> = sorted(&all, &[])
        .iter()
        .map(|(c, _)| (c.class.between.unwrap(), c.class.accesses[1].unwrap()))
        .collect();
    assert_eq!(
        order,
        [
            (Between::Groups, read),
            (Between::Threads, write),
            (Between::Threads, read),
            (Between::Threads, read),
            (Between::Lanes, write),
            (Between::Lockstep, write),
        ]
    );
}
