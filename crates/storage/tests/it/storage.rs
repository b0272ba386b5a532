//! The storage compared with plain bytes. Under Miri there are few cases.

#![allow(clippy::unwrap_used, reason = "tests fail that way")]
#![allow(unsafe_code, reason = "words of somebody else")]

use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use visakit_storage::{Lent, PAGE, Storage, U8, U16, U32, U64, Word};

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

/// Words of somebody else are used where they are, and kept for as long as the storage.
#[test]
fn lent_words_are_kept() {
    let owner: Arc<Vec<U64>> = Arc::new((0..5).map(U64::new).collect());
    let first = std::ptr::NonNull::new(owner.as_ptr().cast_mut()).unwrap();
    // SAFETY: words of the vector that is their owner.
    let lent = unsafe { Lent::new(first.add(1), 4, Arc::<Vec<U64>>::clone(&owner)) };
    let storage = Storage::lent(lent);
    assert_eq!(storage.len(), 32);
    assert!(storage.write(8, &[9; 8]));
    assert!(!storage.write(32, &[9]));
    let values: Vec<u64> = owner.iter().map(|word| word.load(Relaxed)).collect();
    assert_eq!(values, [0, 1, u64::from_ne_bytes([9; 8]), 3, 4]);
    let kept = Arc::downgrade(&owner);
    drop(owner);
    assert!(kept.upgrade().is_some());
    let storage = storage.into_bytes().unwrap_err();
    drop(storage);
    assert!(kept.upgrade().is_none());
}

/// What threads wrote is there when the sharing ends; lent storage stays its owner's.
#[test]
fn bytes_are_those_that_were_shared() {
    for size in [0, 1, 8, 4096, 10_000] {
        let storage = Storage::zeroed(size).unwrap();
        let written: Vec<u8> = (0..=250).cycle().take(size).collect();
        assert!(storage.write(0, &written));
        assert_eq!(*storage.into_bytes().unwrap(), *written);
    }
}
