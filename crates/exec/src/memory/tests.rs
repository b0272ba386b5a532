//! Buffers and where they are.

use super::*;

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
    let storage = Storage::lent(words, 13, std::sync::Arc::new(()));
    let mut memory = Memory::new(0);
    let at = 0x40_0001_0000;
    let a = memory.add_storage(&storage, Some(at)).unwrap();
    let b = memory.add_storage(&storage, None).unwrap();
    assert_eq!((memory.address(a), memory.address(b)), (at, 0x1_0001_0000));
    assert_eq!(memory.at(at).unwrap().0, at);
    assert!(memory.at(0x30_0001_0000).is_none());
    memory.write(a, 11, &[1, 2, 3]);
    assert_eq!(memory.read(b)[10..], [0, 1, 2]);
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
