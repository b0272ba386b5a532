//! What two threads observe of each other's accesses: with shuttle in every order of them, otherwise in those that
//! happen. Under Miri the counts are small and accesses of one place have one width.

#![allow(clippy::unwrap_used, reason = "tests fail that way")]

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::fence;
use visakit_storage::{Storage, U32, U64, Word};

/// Turns of loops.
const TIMES: u8 = if cfg!(visakit_shuttle) { 2 } else { 100 };

/// Runs both at once, many times, on a storage of 64 zeroes each time.
#[cfg(not(visakit_shuttle))]
fn race<A: Send + 'static, B: Send + 'static>(
    one: fn(&Storage) -> A,
    two: fn(&Storage) -> B,
    check: fn(A, B, &Storage),
) {
    use std::{sync::Barrier, thread};
    let rounds = if cfg!(miri) { 20 } else { 20_000 };
    let storages: Arc<Vec<Storage>> =
        Arc::new((0..rounds).map(|_| Storage::zeroed(64).unwrap()).collect());
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
    let first = first.join().unwrap();
    for ((a, b), storage) in first.into_iter().zip(second).zip(&*storages) {
        check(a, b, storage);
    }
}

/// Runs both on a storage of 64 zeroes, at least once in each order of their accesses.
#[cfg(visakit_shuttle)]
fn race<A: Send + 'static, B: Send + 'static>(
    one: fn(&Storage) -> A,
    two: fn(&Storage) -> B,
    check: fn(A, B, &Storage),
) {
    let all = shuttle::scheduler::DfsScheduler::new(None, false);
    let orders = shuttle::Runner::new(all, shuttle::Config::default()).run(move || {
        let storage = Arc::new(Storage::zeroed(64).unwrap());
        let other = Arc::clone(&storage);
        let first = shuttle::thread::spawn(move || one(&other));
        let second = two(&storage);
        check(first.join().unwrap(), second, &storage);
    });
    assert!(orders > 1, "one order of accesses");
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
            for i in 1..=TIMES {
                s.write(1, &[i]);
                s.write(4, &[i, i]);
            }
        },
        |s| {
            for i in 1..=TIMES {
                s.write(2, &[i]);
                s.write(6, &[i, i]);
            }
        },
        |(), (), s| {
            let mut all = [0; 8];
            s.read(0, &mut all);
            assert_eq!(all, [0, TIMES, TIMES, 0, TIMES, TIMES, TIMES, TIMES]);
        },
    );
}

/// Additions of 64 bits against additions to the upper half.
#[test]
#[cfg_attr(miri, ignore = "accesses of different widths")]
fn wide_against_narrow() {
    race(
        |s| {
            for _ in 0..TIMES {
                word::<U64>(s, 8).fetch_add(0x1_0000_0001, Relaxed);
            }
        },
        |s| {
            for _ in 0..TIMES {
                word::<U32>(s, 12).fetch_add(1, Relaxed);
            }
        },
        |(), (), s| {
            let times = u64::from(TIMES);
            assert_eq!(word::<U64>(s, 8).load(Relaxed), (2 * times) << 32 | times);
        },
    );
}
