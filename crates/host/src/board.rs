//! Boards: states that several processes of the machine post and read, in shared pages.

use crate::memory::Block;
use crate::pages::Pages;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::time::Duration;

/// What the first word of a board says.
const MAGIC: u64 = u64::from_le_bytes(*b"visaboa1");

/// Words before the slots: what it is, how many slots there are, a number of the maker, how often something was posted.
const HEAD: usize = 8;
const COUNT: usize = 1;
const NOTE: usize = 2;
const POSTED: usize = 3;

/// Words of a slot: its state, and two numbers that belong to that.
const SLOT: usize = 4;

/// Bits of a state that its posts are counted above.
const STATE_BITS: u32 = 8;

/// What a slot says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Post {
    /// The state.
    pub state: u8,
    /// Numbers that belong to it.
    pub numbers: [u64; 2],
    /// Differs from post to post of a slot.
    pub mark: u64,
}

/// Slots that several processes post to.
#[derive(Debug)]
pub struct Board {
    block: Arc<Block>,
    slots: usize,
}

impl Board {
    fn bytes(slots: usize) -> Option<usize> {
        let words = slots.checked_mul(SLOT)?.checked_add(HEAD)?;
        words.checked_mul(size_of::<u64>())
    }

    /// A board with this many slots of state 0, and a number that others can read.
    pub fn new(slots: usize, note: u64) -> Option<Self> {
        let bytes = Self::bytes(slots)?.checked_next_multiple_of(1 << 16)?;
        let block = Block::of(Pages::new(bytes)?)?;
        let board = Self { block, slots };
        board
            .word(COUNT)?
            .store(u64::try_from(slots).ok()?, Relaxed);
        board.word(NOTE)?.store(note, Relaxed);
        board.word(0)?.store(MAGIC, Release);
        Some(board)
    }

    /// The board that another process made in these pages; `None` if it is none.
    pub fn of(pages: Pages) -> Option<Self> {
        let bytes = pages.bytes();
        (bytes >= Self::bytes(0)?).then_some(())?;
        let block = Block::of(pages)?;
        let mut board = Self { block, slots: 0 };
        (board.word(0)?.load(Acquire) == MAGIC).then_some(())?;
        let slots = usize::try_from(board.word(COUNT)?.load(Relaxed)).ok()?;
        (Self::bytes(slots)? <= bytes).then_some(())?;
        board.slots = slots;
        Some(board)
    }

    /// Its pages, for other processes.
    pub fn pages(&self) -> Option<&Pages> {
        self.block.share()
    }

    /// Number of slots.
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// The number of its maker.
    pub fn note(&self) -> u64 {
        self.word(NOTE).map_or(0, |word| word.load(Relaxed))
    }

    fn word(&self, index: usize) -> Option<&AtomicU64> {
        (index < Self::bytes(self.slots)? / size_of::<u64>()).then_some(())?;
        let first = std::ptr::with_exposed_provenance::<AtomicU64>(self.block.address());
        // SAFETY: inside the mapped pages, whose number was compared with that of the slots, and aligned; every content is a
        // value, and all accesses are atomic.
        Some(unsafe { &*first.wrapping_add(index) })
    }

    /// Posts to a slot. Returns the mark of the post.
    pub fn post(&self, slot: usize, state: u8, numbers: [u64; 2]) -> Option<u64> {
        (slot < self.slots).then_some(())?;
        let first = HEAD + slot * SLOT;
        for (place, number) in (first + 1..).zip(numbers) {
            self.word(place)?.store(number, Relaxed);
        }
        let next = |now: u64| (((now >> STATE_BITS) + 1) << STATE_BITS) | u64::from(state);
        let place = self.word(first)?;
        let before = place.fetch_update(AcqRel, Acquire, |now| Some(next(now)));
        self.ring();
        before.ok().map(next)
    }

    /// What a slot says.
    pub fn read(&self, slot: usize) -> Option<Post> {
        (slot < self.slots).then_some(())?;
        let first = HEAD + slot * SLOT;
        let place = self.word(first)?;
        loop {
            let mark = place.load(Acquire);
            let numbers = [
                self.word(first + 1)?.load(Acquire),
                self.word(first + 2)?.load(Acquire),
            ];
            if place.load(Relaxed) == mark {
                let [state, ..] = mark.to_le_bytes();
                return Some(Post {
                    state,
                    numbers,
                    mark,
                });
            }
        }
    }

    /// The half word that [`Self::ring`] changes.
    fn bell(&self) -> Option<&AtomicU32> {
        let word = std::ptr::from_ref(self.word(POSTED)?);
        // SAFETY: the lower half of a word, of which nothing else is used.
        Some(unsafe { &*word.cast::<AtomicU32>() })
    }

    /// How often somebody posted or rang.
    pub fn rung(&self) -> u32 {
        self.bell().map_or(0, |bell| bell.load(Acquire))
    }

    /// Wakes all who wait, in every process.
    pub fn ring(&self) {
        if let Some(bell) = self.bell() {
            bell.fetch_add(1, AcqRel);
            // SAFETY: the address is valid; the call reads and writes nothing.
            unsafe { libc::syscall(libc::SYS_futex, bell.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
        }
    }

    /// Waits until somebody posts after [`Self::rung`] had this value, or for so long.
    pub fn wait(&self, rung: u32, most: Duration) {
        let Some(bell) = self.bell() else { return };
        let limit = libc::timespec {
            tv_sec: libc::time_t::try_from(most.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: most.subsec_nanos().into(),
        };
        let limit = &raw const limit;
        // SAFETY: the address and the limit are valid.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                bell.as_ptr(),
                libc::FUTEX_WAIT,
                rung,
                limit,
            )
        };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::pages::duplicate;
    use std::os::fd::{AsFd, AsRawFd};

    #[test]
    fn both_sides_see_posts() {
        let one = Board::new(3, 77).unwrap();
        let file = duplicate(one.pages().unwrap().as_fd().as_raw_fd()).unwrap();
        let other = Board::of(Pages::of(file).unwrap()).unwrap();
        assert_eq!((other.slots(), other.note()), (3, 77));
        assert_eq!(one.read(2), Some(Post::default()));
        let mark = other.post(2, 5, [6, 7]).unwrap();
        let post = one.read(2).unwrap();
        assert_eq!((post.state, post.numbers, post.mark), (5, [6, 7], mark));
        assert!(one.post(2, 5, [6, 7]).unwrap() > mark);
        assert_eq!(one.post(3, 1, [0; 2]), None);
        assert_eq!(one.read(3), None);
        assert_eq!(one.read(0), Some(Post::default()));
    }

    #[test]
    fn posts_wake() {
        let board = Board::new(1, 0).unwrap();
        let rung = board.rung();
        std::thread::scope(|scope| {
            scope.spawn(|| board.post(0, 1, [0; 2]));
            while board.read(0).unwrap().state == 0 {
                board.wait(rung, Duration::from_secs(60));
            }
        });
        // Somebody has posted since.
        board.wait(rung, Duration::from_secs(60));
    }

    #[test]
    fn other_pages_are_no_boards() {
        assert!(Board::of(Pages::new(1 << 16).unwrap()).is_none());
        assert!(Board::of(Pages::new(1).unwrap()).is_none());
        let block = Block::of(Pages::new(1 << 16).unwrap()).unwrap();
        let many = block.storage();
        many.write(0, &MAGIC.to_le_bytes());
        many.write(8, &u64::MAX.to_le_bytes());
        let file = duplicate(block.share().unwrap().as_fd().as_raw_fd()).unwrap();
        assert!(Board::of(Pages::of(file).unwrap()).is_none());
    }
}
