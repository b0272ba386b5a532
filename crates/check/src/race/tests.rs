use super::{Cells, Conflict, Now, OfGroup, Order, Record};
use crate::finding::Between;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Threads of one group that access one cell of local memory, a message after the other.
#[derive(Default)]
struct Group {
    order: Order,
    cells: Cells,
}

impl Group {
    fn new() -> Self {
        let mut group = Self::default();
        group.order.start(1, [0; 3]);
        group
    }

    fn access(&mut self, thread: u16, lane: u8, writes: bool) -> Option<Conflict> {
        self.access_as(thread, lane, (writes, false))
    }

    fn access_as(
        &mut self,
        thread: u16,
        lane: u8,
        (writes, atomic): (bool, bool),
    ) -> Option<Conflict> {
        let record = Record {
            group: 1,
            time: self.order.message(thread.into()),
            step: 0,
            thread,
        };
        let now = Now {
            record,
            lane,
            bytes: 15,
            writes,
            atomic,
            value: Some(u32::from(lane)),
        };
        let mut found = Vec::new();
        self.order
            .access(&mut self.cells, (true, 7), &now, &mut found);
        found
            .into_iter()
            .map(|(conflict, _)| conflict)
            .min_by_key(|c| c.between)
    }

    fn read(&mut self, thread: u16, lane: u8) {
        assert!(self.access(thread, lane, false).is_none());
    }

    fn write(&mut self, thread: u16, lane: u8) -> Option<Conflict> {
        self.access(thread, lane, true)
    }
}

/// `a[i] = a[i + 1] + a[i]`: the writer read the element last, after another lane.
#[test]
fn two_readers_of_a_thread_are_both_remembered() {
    for (reads, writer, other) in [
        (&[1, 2][..], 2, 1),
        (&[1, 2], 1, 2),
        (&[1, 2, 1], 2, 1),
        (&[1, 2, 3], 3, 2),
        (&[1, 2, 2], 2, 1),
    ] {
        let mut group = Group::new();
        for lane in reads {
            group.read(0, *lane);
        }
        let conflict = group.write(0, writer).unwrap();
        assert_eq!(conflict.between, Between::Lockstep);
        assert_eq!(conflict.other.lane, other, "{reads:?}");
    }
}

#[test]
fn a_lane_has_the_order_of_the_program_with_itself() {
    let mut group = Group::new();
    group.read(0, 4);
    group.read(0, 4);
    assert!(group.write(0, 4).is_none());
}

#[test]
fn what_is_before_a_barrier_is_forgotten() {
    let mut group = Group::new();
    group.read(0, 1);
    group.read(1, 9);
    for thread in [0, 1] {
        group.order.fence(thread, true, false);
        group.order.arrive(thread, 0);
    }
    for thread in [0, 1] {
        group.order.leave(thread, 0);
    }
    group.read(0, 2);
    assert!(group.write(0, 2).is_none());
    // The read of the other thread is ordered, so that it makes room for one of this thread.
    let mut group = Group::new();
    group.read(1, 9);
    for thread in [0, 1] {
        group.order.arrive(thread, 0);
    }
    for thread in [0, 1] {
        group.order.leave(thread, 0);
    }
    group.read(0, 1);
    group.read(0, 2);
    assert_eq!(group.write(0, 2).unwrap().between, Between::Lockstep);
}

#[test]
fn a_reader_of_another_thread_is_kept() {
    let mut group = Group::new();
    group.read(1, 9);
    group.read(0, 1);
    group.read(0, 2);
    let conflict = group.write(0, 2).unwrap();
    assert_eq!(conflict.between, Between::Threads);
    assert_eq!(conflict.other.record.thread, 1);
}

/// One thread writes, another one tells a third: the write is before the third one's read if the fences on the way reach as
/// far as the threads are apart. A fence of all groups carries what its thread knows, too.
#[test]
fn fences_reach_as_far_as_their_scope() {
    #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
    enum Fence {
        No,
        Group,
        All,
    }
    /// How the second thread learns of the first one.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum By {
        Atomic,
        /// An atomic operation in local memory, behind a fence for that as well.
        Local,
        Barrier,
    }
    let fences = [Fence::No, Fence::Group, Fence::All];
    let mut cases = 0;
    for first in fences {
        for second in fences {
            for (groups, by) in [
                ([1, 1, 1], By::Atomic),
                ([1, 1, 1], By::Local),
                ([1, 1, 1], By::Barrier),
                ([1, 1, 2], By::Atomic),
                ([1, 1, 2], By::Local),
                ([1, 1, 2], By::Barrier),
                ([1, 2, 1], By::Atomic),
                ([1, 2, 2], By::Atomic),
                ([1, 2, 3], By::Atomic),
            ] {
                let mut order = Order::default();
                let mut cells = Cells::default();
                let mut aside: Vec<(u32, OfGroup)> = Vec::new();
                let mut current = 0;
                let mut turn = |order: &mut Order, group: u32| {
                    if group != current {
                        aside.push((current, order.put_aside()));
                        current = group;
                        match aside.iter().position(|(group, _)| *group == current) {
                            Some(at) => order.take_up(aside.swap_remove(at).1),
                            None => order.start(current, [current, 0, 0]),
                        }
                    }
                };
                let fence = |order: &mut Order, thread, fence| {
                    if fence != Fence::No {
                        order.fence(thread, false, fence == Fence::All);
                    }
                };
                let mut access = |order: &mut Order, group, thread: u16, writes| {
                    let time = order.message(thread.into());
                    let record = Record {
                        group,
                        time,
                        step: 0,
                        thread,
                    };
                    let now = Now {
                        record,
                        lane: 0,
                        bytes: 15,
                        writes,
                        atomic: false,
                        value: None,
                    };
                    let mut found = Vec::new();
                    order.access(&mut cells, (false, 7), &now, &mut found);
                    found.is_empty()
                };
                let [writer, teller, reader] = groups;
                turn(&mut order, writer);
                assert!(access(&mut order, writer, 0, true));
                fence(&mut order, 0, first);
                match by {
                    By::Barrier => {
                        order.arrive(0, 0);
                        order.arrive(1, 0);
                        order.leave(1, 0);
                    }
                    By::Local => {
                        order.fence(0, true, false);
                        order.synchronize(0, true, 100);
                        order.synchronize(1, true, 100);
                    }
                    By::Atomic => {
                        order.synchronize(0, false, 100);
                        turn(&mut order, teller);
                        order.synchronize(1, false, 100);
                    }
                }
                turn(&mut order, teller);
                fence(&mut order, 1, second);
                order.synchronize(1, false, 200);
                turn(&mut order, reader);
                order.synchronize(2, false, 200);
                let ordered = access(&mut order, reader, 2, false);
                // A fence for local memory counts for all in the group.
                let in_group = first >= Fence::Group || by == By::Local;
                let expected = match (teller == writer, reader == writer) {
                    // What a thread of another group knows it tells as it is.
                    (false, _) => first == Fence::All,
                    (true, true) => in_group && second >= Fence::Group,
                    (true, false) => {
                        first == Fence::All && second >= Fence::Group
                            || in_group && second == Fence::All
                    }
                };
                assert_eq!(ordered, expected, "{first:?} {second:?} {groups:?} {by:?}");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 81);
}

/// A read or write of one element of memory, by a lane of a thread of a group.
#[derive(Clone, Copy, Debug)]
struct Access {
    group: u32,
    thread: u16,
    lane: u8,
    writes: bool,
}

/// The conflicts between accesses of groups that take turns, in this order.
fn conflicts(accesses: &[Access]) -> BTreeSet<Between> {
    let mut order = Order::default();
    let mut cells = Cells::default();
    let mut aside: Vec<(u32, OfGroup)> = Vec::new();
    let mut current = 0;
    let mut found = Vec::new();
    for access in accesses {
        if access.group != current {
            aside.push((current, order.put_aside()));
            current = access.group;
            match aside.iter().position(|(group, _)| *group == current) {
                Some(at) => order.take_up(aside.swap_remove(at).1),
                None => order.start(current, [current, 0, 0]),
            }
        }
        let now = Now {
            record: Record {
                group: access.group,
                time: order.message(access.thread.into()),
                step: 0,
                thread: access.thread,
            },
            lane: access.lane,
            bytes: 15,
            writes: access.writes,
            atomic: false,
            value: Some(0),
        };
        order.access(&mut cells, (false, 7), &now, &mut found);
    }
    found.iter().map(|(conflict, _)| conflict.between).collect()
}

proptest! {
    /// A write and two reads that are not in order: each pair is found, in every order of the three and of the groups'
    /// turns.
    #[test]
    fn conflicts_do_not_depend_on_who_comes_first(readers in prop::collection::vec((1..4u32, 0..3u16, 0..4u8), 2)) {
        let writer = Access { group: 2, thread: 1, lane: 1, writes: true };
        let reader = |(group, thread, lane)| Access { group, thread, lane, writes: false };
        let [first, second] = [reader(readers[0]), reader(readers[1])];
        let between = |other: Access| match other {
            Access { group, .. } if group != writer.group => Some(Between::Groups),
            Access { thread, .. } if thread != writer.thread => Some(Between::Threads),
            Access { lane, .. } if lane != writer.lane => Some(Between::Lockstep),
            _ => None,
        };
        let wanted: BTreeSet<_> = [first, second].into_iter().filter_map(between).collect();
        for order in [
            [writer, first, second], [first, writer, second], [first, second, writer],
            [writer, second, first], [second, writer, first], [second, first, writer],
        ] {
            prop_assert_eq!(&conflicts(&order), &wanted, "{:?}", order);
        }
    }
}

/// A compare and exchange that fails is an atomic read: it is in conflict with plain writes, and with nothing else.
#[test]
fn atomic_reads() {
    const FAILS: (bool, bool) = (false, true);
    const SUCCEEDS: (bool, bool) = (true, true);
    const READS: (bool, bool) = (false, false);
    const WRITES: (bool, bool) = (true, false);
    for (other, conflicts) in [
        (READS, false),
        (FAILS, false),
        (SUCCEEDS, false),
        (WRITES, true),
    ] {
        for pair in [[FAILS, other], [other, FAILS]] {
            for lanes in [[(0, 1), (0, 2)], [(0, 1), (1, 1)]] {
                let mut group = Group::new();
                let found = pair
                    .iter()
                    .zip(lanes)
                    .filter_map(|(kind, (thread, lane))| group.access_as(thread, lane, *kind));
                let found: Vec<_> = found.collect();
                assert_eq!(found.len(), usize::from(conflicts), "{pair:?} {lanes:?}");
            }
        }
    }
    // Neither hides an earlier access, nor what is written before it.
    let mut group = Group::new();
    group.read(0, 1);
    assert!(group.access_as(1, 1, FAILS).is_none());
    assert!(group.access_as(1, 1, SUCCEEDS).is_some());
    let mut group = Group::new();
    assert!(group.access_as(0, 1, SUCCEEDS).is_none());
    assert!(group.access_as(1, 1, FAILS).is_none());
    assert!(group.access_as(2, 1, READS).is_some());
}

/// What happens in a launch of up to three groups of two threads.
#[derive(Clone, Debug)]
enum Event {
    /// A message: its group, thread, kind (whether it writes, whether it is atomic), and cell, lane, bytes and value of
    /// each part.
    Message(u32, u16, (bool, bool), Vec<(u64, u8, u8, Option<u32>)>),
    /// The threads of a group meet.
    Barrier(u32),
}

fn event() -> impl Strategy<Value = Event> {
    let bytes = prop_oneof![4 => Just(15u8), 1 => prop::sample::select(vec![1, 2, 4, 8, 3, 12])];
    let parts = prop::collection::vec(
        (0..3u64, 0..3u8, bytes, prop::option::weighted(0.8, 0..2u32)),
        1..5,
    );
    let kind = prop_oneof![6 => (any::<bool>(), Just(false)), 1 => (any::<bool>(), Just(true))];
    let message = (1..4u32, 0..2u16, kind, parts);
    prop_oneof![
        6 => message.prop_map(|(group, thread, kind, parts)| Event::Message(group, thread, kind, parts)),
        1 => (1..4u32).prop_map(Event::Barrier),
    ]
}

proptest! {
    /// What is recorded without an examination is what an examination would have recorded: whatever follows has the
    /// same conflicts.
    #[test]
    fn ordered_accesses_need_no_examination(
        local: bool,
        events in prop::collection::vec(event(), 1..40),
    ) {
        let mut order = Order::default();
        let [mut cells, mut examined] = [Cells::default(), Cells::default()];
        let mut aside: Vec<(u32, OfGroup)> = Vec::new();
        let mut current = 0;
        for event in events {
            let (Event::Message(group, ..) | Event::Barrier(group)) = event;
            if group != current {
                aside.push((current, order.put_aside()));
                current = group;
                match aside.iter().position(|(group, _)| *group == current) {
                    Some(at) => order.take_up(aside.swap_remove(at).1),
                    None => order.start(current, [current, 0, 0]),
                }
            }
            let Event::Message(_, thread, (writes, atomic), parts) = event else {
                for thread in [0, 1] {
                    order.fence(thread, true, false);
                    order.fence(thread, false, true);
                    order.arrive(thread, 0);
                }
                for thread in [0, 1] {
                    order.leave(thread, 0);
                }
                order.forget(0);
                continue;
            };
            let record = Record { group, time: order.message(thread.into()), step: 0, thread };
            for (cell, lane, bytes, value) in parts {
                let now = Now { record, lane, bytes, writes, atomic, value };
                let [mut found, mut wanted] = [Vec::new(), Vec::new()];
                order.access(&mut cells, (local, cell), &now, &mut found);
                order.examine(&mut examined, (local, cell), &now, &mut wanted);
                prop_assert_eq!(format!("{found:?}"), format!("{wanted:?}"));
            }
        }
    }
}

proptest! {
    /// Two threads that write without an order write the same if they do in each byte that both write, whatever the sizes
    /// of their writes. A cell has room for all of a value. What nobody knows is not equal to anything.
    #[test]
    fn equal_values_are_equal_in_common_bytes(
        parts in prop::collection::vec((1..16u8, prop::array::uniform4(prop::sample::select(vec![0u8, 1, 0x80, 0xff]))), 2),
        known in prop::collection::vec(prop::bool::weighted(0.9), 2),
    ) {
        let mut group = Group::new();
        let mut found = Vec::new();
        for ((thread, (bytes, value)), known) in (0u16..).zip(&parts).zip(&known) {
            let record = Record { group: 1, time: group.order.message(thread.into()), step: 0, thread };
            let value = known.then_some(u32::from_le_bytes(*value));
            let now = Now { record, lane: 0, bytes: *bytes, writes: true, atomic: false, value };
            group.order.access(&mut group.cells, (true, 7), &now, &mut found);
        }
        let [(a, first), (b, second)] = [parts[0], parts[1]];
        let common: Vec<_> = (0..4).filter(|at| a & b & 1 << at != 0).collect();
        let equal = known == [true; 2] && common.iter().all(|at| first[*at] == second[*at]);
        let wanted = if common.is_empty() { vec![] } else { vec![equal] };
        let found: Vec<_> = found.iter().map(|(conflict, _)| conflict.other.same_value).collect();
        prop_assert_eq!(found, wanted);
    }
}
