//! The storage compared with plain bytes, and what threads observe of each other's accesses. Under Miri the counts are
//! small and accesses of one place have one width.

#![allow(clippy::unwrap_used, reason = "tests fail that way")]

use proptest::prelude::*;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::fence;
use std::sync::{Arc, Barrier};
use std::thread;
use visakit_storage::{PAGE, Storage, U8, U16, U32, U64, Word};

const ROUNDS: u64 = if cfg!(miri) { 20 } else { 20_000 };

fn bytes(storage: &Storage) -> Vec<u8> {
    let mut all = vec![0xcc; storage.len()];
    assert!(storage.read(0, &mut all));
    all
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Any sequence of writes and reads has the same effect as on plain bytes.
    #[test]
    fn as_plain_bytes(
        size in 0..80usize,
        steps in prop::collection::vec((0..90usize, prop::collection::vec(any::<u8>(), 0..40)), 0..12),
    ) {
        let storage = Storage::zeroed(size).unwrap();
        let mut plain = vec![0; size];
        for (at, data) in steps {
            let inside = at <= size && data.len() <= size - at;
            prop_assert_eq!(storage.write(at, &data), inside);
            if inside {
                plain[at..at + data.len()].copy_from_slice(&data);
            }
            let mut out = vec![0xcc; data.len()];
            prop_assert_eq!(storage.read(at, &mut out), inside);
            prop_assert_eq!(&out, &if inside { data } else { vec![0xcc; out.len()] });
            prop_assert_eq!(bytes(&storage), plain.clone());
        }
        storage.fill(7);
        prop_assert_eq!(bytes(&storage), vec![7; size]);
    }

    #[test]
    fn words_lie_inside_and_are_aligned(size in 0..40usize, at in 0..60usize, count in 0..12usize) {
        fn check<W: Word>(storage: &Storage, at: usize, count: usize) {
            let size = size_of::<W>();
            let expected = at.is_multiple_of(size) && at + count * size <= storage.len();
            let words = storage.words::<W>(at, count);
            assert_eq!(words.is_some(), expected);
            assert_eq!(words.map_or(0, <[W]>::len), if expected { count } else { 0 });
        }
        let storage = Storage::zeroed(size).unwrap();
        check::<U8>(&storage, at, count);
        check::<U16>(&storage, at, count);
        check::<U32>(&storage, at, count);
        check::<U64>(&storage, at, count);
        prop_assert!(storage.words::<U64>(at & !7, usize::MAX).is_none());
        prop_assert!(storage.words::<U8>(usize::MAX, 1).is_none());
    }
}

#[test]
fn aligned_and_zero() {
    for size in [0, 1, 7, 4096, 70_000] {
        let storage = Storage::zeroed(size).unwrap();
        assert_eq!(storage.address() % PAGE, 0);
        assert_eq!(storage.len(), size);
        assert_eq!(storage.is_empty(), size == 0);
        assert!(bytes(&storage).iter().all(|byte| *byte == 0));
    }
    assert!(Storage::zeroed(usize::MAX).is_none());
    assert!(Storage::zeroed(usize::MAX / 2).is_none());
}

/// Runs both at once, many times, on a storage of 64 zeroes each time; both get the round.
fn race<A: Send + 'static, B: Send + 'static>(
    one: fn(&Storage) -> A,
    two: fn(&Storage) -> B,
    mut check: impl FnMut(A, B, &Storage),
) {
    let storages: Arc<Vec<Storage>> =
        Arc::new((0..ROUNDS).map(|_| Storage::zeroed(64).unwrap()).collect());
    let barrier = Arc::new(Barrier::new(2));
    let (other, other_barrier) = (Arc::clone(&storages), Arc::clone(&barrier));
    let first = thread::spawn(move || {
        let run = |storage: &Storage| {
            other_barrier.wait();
            one(storage)
        };
        other.iter().map(run).collect::<Vec<A>>()
    });
    let second: Vec<B> = storages
        .iter()
        .map(|storage| {
            barrier.wait();
            two(storage)
        })
        .collect();
    for ((a, b), storage) in first
        .join()
        .unwrap()
        .into_iter()
        .zip(second)
        .zip(&*storages)
    {
        check(a, b, storage);
    }
}

fn word<W: Word>(storage: &Storage, at: usize) -> &W {
    storage.word(at).unwrap()
}

/// Message passing: who sees the flag after a fence sees the data.
#[test]
fn message_passing() {
    race(
        |s| {
            s.write(0, &[0x11; 8]);
            fence(SeqCst);
            word::<U32>(s, 32).store(1, Relaxed);
        },
        |s| {
            let flag = word::<U32>(s, 32).load(Relaxed);
            fence(SeqCst);
            (flag, word::<U64>(s, 0).load(Relaxed))
        },
        |(), (flag, data), _| assert!(flag == 0 || data == 0x1111_1111_1111_1111),
    );
}

/// Store buffering: with a fence between, not both read the old value.
#[test]
fn store_buffering() {
    race(
        |s| {
            word::<U32>(s, 0).store(1, Relaxed);
            fence(SeqCst);
            word::<U32>(s, 32).load(Relaxed)
        },
        |s| {
            word::<U32>(s, 32).store(1, Relaxed);
            fence(SeqCst);
            word::<U32>(s, 0).load(Relaxed)
        },
        |a, b, _| assert!(a == 1 || b == 1),
    );
}

/// Copies in are never seen half written, element by element.
#[test]
fn elements_do_not_tear() {
    race(
        |s| assert!(s.write(4, &[0xff; 44])),
        |s| {
            let mut out = [0; 44];
            s.read(4, &mut out);
            out
        },
        |(), out, _| {
            let whole = |bytes: &[u8]| bytes.iter().all(|b| *b == bytes[0]);
            assert!(whole(&out[..4]) && out[4..].chunks(8).all(whole));
        },
    );
}

/// Neighbours below a dword keep their values.
#[test]
fn neighbours_are_left_alone() {
    race(
        |s| {
            for i in 1..=100u8 {
                s.write(1, &[i]);
                s.write(4, &[i, i]);
            }
        },
        |s| {
            for i in 1..=100u8 {
                s.write(2, &[i]);
                s.write(6, &[i, i]);
            }
        },
        |(), (), s| assert_eq!(bytes(s)[..8], [0, 100, 100, 0, 100, 100, 100, 100]),
    );
}

/// Additions of 64 bits against additions to the upper half.
#[test]
#[cfg_attr(miri, ignore = "accesses of different widths")]
fn wide_against_narrow() {
    race(
        |s| {
            for _ in 0..20 {
                word::<U64>(s, 8).fetch_add(0x1_0000_0001, Relaxed);
            }
        },
        |s| {
            for _ in 0..20 {
                word::<U32>(s, 12).fetch_add(1, Relaxed);
            }
        },
        |(), (), s| assert_eq!(word::<U64>(s, 8).load(Relaxed), 40 << 32 | 20),
    );
}
