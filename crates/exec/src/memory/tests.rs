//! Buffers and where they are.

use super::*;
use proptest::prelude::*;

#[test]
fn buffers_stand_apart() {
    let mut memory = Memory::new(100);
    let a = memory.add_buffer(&[1, 2, 3, 4, 5]).unwrap();
    let b = memory.add_buffer(&[6; 8]).unwrap();
    assert_eq!(memory.address(a), 0x1_0001_0000);
    assert_eq!(memory.address(b), 0x2_0001_0000);
    assert_eq!(memory.read(a), [1, 2, 3, 4, 5]);
    memory.write(a, 3, &[9; 5]);
    assert_eq!(memory.read(a), [1, 2, 3, 9, 9]);
    memory.write(a, 30, &[9; 5]);
    assert!(memory.at(0).is_none());
    assert!(memory.at(0x1_0000).is_none());
    assert_eq!(memory.at(0x2_0001_0003).unwrap().0, 0x2_0001_0000);
    assert!(memory.at(0x3_0001_0003).is_none());
    assert!(memory.at(u64::MAX).is_none());
    memory.clear(b);
    assert_eq!(memory.read(b), [0; 8]);
}

#[test]
fn storage_stays() {
    let words: &'static [Word] = Box::leak(Box::new([const { Word::new(0) }; 4]));
    let storage = Storage::lent(words, 13);
    let mut memory = Memory::new(0);
    let at = 0x40_0001_0000;
    let a = memory.add_storage(&storage, Some(at)).unwrap();
    let b = memory.add_storage(&storage, None).unwrap();
    assert_eq!((memory.address(a), memory.address(b)), (at, 0x1_0001_0000));
    assert_eq!(memory.at(at).unwrap().0, at);
    assert!(memory.at(0x30_0001_0000).is_none());
    memory.write(a, 11, &[1, 2, 3]);
    assert_eq!(memory.read(b)[10..], [0, 1, 2]);
    // Where a region is taken, there is no place for another buffer.
    for address in [at, at + 1, 0, 0x1_0000, u64::MAX] {
        let refused = memory.add_storage(&storage, Some(address));
        assert_eq!(refused, Err(MemoryError::Address(address)));
    }
    drop(memory);
    let mut bytes = [9; 3];
    storage.read_into(11, &mut bytes);
    assert_eq!(bytes, [1, 2, 9]);
}

#[test]
fn limits() {
    let mut memory = Memory::new(100);
    memory.add_zeroed(60).unwrap();
    assert_eq!(
        memory.add_zeroed(41),
        Err(MemoryError::Limit {
            bytes: 41,
            used: 60,
            limit: 100
        })
    );
    assert!(memory.add_zeroed(u64::MAX).is_err());
    assert!(Memory::new(u64::MAX).add_zeroed(u64::MAX).is_err());
    assert!(Memory::new(u64::MAX).add_zeroed(1 << 62).is_err());
    memory.add_zeroed(40).unwrap();
    assert_eq!(
        memory.bind(3, Surface::whole(BufferId(7))),
        Err(MemoryError::NoBuffer(7))
    );
}

/// A place for buffers that a memory does not hold.
#[derive(Debug)]
struct Others(Vec<(u64, Storage)>);

impl Reachable for Others {
    fn find(&self, address: u64) -> Option<Reached> {
        let inside = |(start, storage): &&(u64, Storage)| {
            (start >> 32..=(start + storage.bytes() as u64) >> 32).contains(&(address >> 32))
        };
        let (start, storage) = self.0.iter().find(inside)?;
        Some(Reached {
            address: *start,
            bytes: storage.bytes() as u64,
            name: String::new(),
            // Every eighth was released.
            storage: (start >> 32 & 7 != 0).then(|| storage.clone()),
        })
    }
}

/// Buffers of which several are in one region.
#[derive(Debug)]
struct Close(Vec<(u64, Storage)>);

impl Reachable for Close {
    fn find(&self, address: u64) -> Option<Reached> {
        let has = |it: &&(u64, Storage)| (it.0..it.0 + it.1.bytes() as u64).contains(&address);
        let (start, storage) = self.0.iter().find(has)?;
        Some(Reached {
            address: *start,
            bytes: storage.bytes() as u64,
            name: String::new(),
            storage: Some(storage.clone()),
        })
    }
}

/// What is reached in the region of another buffer is found beside it, and stays.
#[test]
fn regions_are_shared() {
    let starts = [
        0x7_0000_1000,
        0x7_0000_5000,
        0x7_0000_9000,
        0x8_0000_1000_u64,
    ];
    let storage = |n: u8| Storage::new(&[n; 4096]).unwrap();
    let all = starts
        .iter()
        .zip(0..)
        .map(|(start, n)| (*start, storage(n)));
    let mut memory = Memory::new(100);
    memory.reach(Arc::new(Close(all.collect())), 0);
    let mut known = Vec::new();
    for start in [1, 0, 3, 2].map(|n: usize| starts[n]) {
        let (id, at) = memory.find(start + 5).unwrap();
        assert_eq!(at, 5);
        known.push((start, id));
    }
    for (start, id) in known {
        assert_eq!(memory.find(start), Some((id, 0)));
        assert_eq!(memory.find(start + 4095), Some((id, 4095)));
        assert_eq!(memory.at(start + 9).unwrap().0, start);
        assert_eq!(memory.find(start + 4096), None);
        assert_eq!(memory.find(start - 1), None);
    }
}

proptest! {
    /// Buffers anywhere, some added, some only reached, are found by every address of their regions, and nothing else
    /// is; the table agrees for all that are in it.
    #[test]
    fn regions(
        places in prop::collection::btree_set(prop_oneof![1_u64..40, 1_u64..5000, 1_u64..1 << 28], 1..40),
        added in 0_usize..40,
        expected in prop_oneof![Just(0_usize), 0_usize..5000],
        probes in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..100), 1..200),
    ) {
        let storage = |place: u64| {
            let content: Vec<u8> = place.to_le_bytes().into();
            Storage::new(&content).unwrap()
        };
        let all: Vec<_> = places.iter().map(|p| (p << 32 | Memory::FIRST, storage(*p))).collect();
        let (own, others) = all.split_at(added.min(all.len()));
        let mut memory = Memory::new(0);
        for (address, storage) in own {
            memory.add_storage(storage, Some(*address)).unwrap();
        }
        memory.reach(Arc::new(Others(others.to_vec())), expected);
        let places: Vec<_> = places.into_iter().collect();
        for (index, offset) in probes {
            let place = *index.get(&places);
            let address = (place << 32 | Memory::FIRST) + offset;
            let there = own.iter().any(|(a, _)| a >> 32 == place) || place % 8 != 0;
            let found = memory.at(address);
            prop_assert_eq!(found.is_some(), there);
            if let Some((start, shared)) = found {
                prop_assert_eq!(start, address - offset);
                prop_assert_eq!(shared.storage.word::<visakit_storage::U64>(0).unwrap().load(Relaxed), place);
                let (id, at) = memory.find(start).unwrap();
                prop_assert_eq!((at, memory.address(id), memory.read(id)), (0, start, place.to_le_bytes().into()));
            }
            let next = place + 1;
            prop_assert_eq!(memory.at(next << 32).is_some(), places.contains(&next) && (next % 8 != 0 || own.iter().any(|(a, _)| a >> 32 == next)));
        }
        prop_assert!(memory.storage().len().is_power_of_two());
    }
}

/// Threads that reach the same buffers at once find the same ones.
#[test]
fn reached_at_once() {
    let others: Vec<_> = (1..200_u64)
        .map(|n| {
            (
                n << 32 | Memory::FIRST,
                Storage::new(&n.to_le_bytes()).unwrap(),
            )
        })
        .collect();
    let mut memory = Memory::new(0);
    memory.reach(Arc::new(Others(others.clone())), 8);
    let memory = &memory;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (address, _) in &others {
                    let region = address >> 32;
                    let found = memory.find(*address).map(|(id, _)| memory.read(id));
                    let wanted = (region % 8 != 0).then(|| region.to_le_bytes().to_vec());
                    assert_eq!(found, wanted);
                }
            });
        }
    });
}
