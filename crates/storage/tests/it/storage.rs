//! The storage compared with plain bytes. Under Miri there are few cases.

#![allow(clippy::unwrap_used, reason = "tests fail that way")]

use proptest::prelude::*;
use visakit_storage::{PAGE, Storage, U8, U16, U32, U64, Word};

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
