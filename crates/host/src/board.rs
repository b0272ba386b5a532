//! Boards: states that several processes of the machine post and read, in shared pages.

use crate::memory::Block;
use crate::pages::Pages;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
    fence,
};
use std::time::{Duration, Instant};

/// What the first word of a board says.
const MAGIC: u64 = u64::from_le_bytes(*b"visaboa2");

/// Words before the slots: what it is, how many slots there are, a number of the maker, how often something was posted.
const HEAD: usize = 8;
const COUNT: usize = 1;
const NOTE: usize = 2;
const POSTED: usize = 3;

/// Words of a slot: its mark, and the numbers that belong to that.
const SLOT: usize = 1 + NUMBERS;

/// Numbers of a slot.
const NUMBERS: usize = 3;

// A mark: the state, whether somebody writes the numbers, and above that how often somebody began to.
const BUSY: u64 = 1 << 8;
const ONCE: u64 = 1 << 9;

/// How long somebody may write numbers. Who takes longer has ended meanwhile, and its post is lost.
const PATIENCE: Duration = Duration::from_millis(200);

/// What a slot says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Post {
    /// The state.
    pub state: u8,
    /// Numbers that belong to it.
    pub numbers: [u64; NUMBERS],
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

    /// The numbers of a slot.
    fn numbers(&self, slot: usize) -> Option<[&AtomicU64; NUMBERS]> {
        let first = HEAD + slot * SLOT + 1;
        Some([
            self.word(first)?,
            self.word(first + 1)?,
            self.word(first + 2)?,
        ])
    }

    /// Waits for the mark of a slot whose numbers nobody writes. After [`PATIENCE`] with the same mark it is that one, although
    /// somebody had begun.
    fn quiet(place: &AtomicU64) -> u64 {
        let mut began: Option<(u64, Instant)> = None;
        loop {
            let mark = place.load(Acquire);
            if mark & BUSY == 0 {
                return mark;
            }
            match began {
                Some((same, since)) if same == mark => {
                    if since.elapsed() > PATIENCE {
                        return mark;
                    }
                }
                _ => began = Some((mark, Instant::now())),
            }
            std::thread::yield_now();
        }
    }

    /// Posts to a slot. Returns the mark of the post.
    pub fn post(&self, slot: usize, state: u8, numbers: [u64; NUMBERS]) -> Option<u64> {
        (slot < self.slots).then_some(())?;
        let place = self.word(HEAD + slot * SLOT)?;
        let places = self.numbers(slot)?;
        let mark = loop {
            let before = Self::quiet(place);
            let [old, ..] = before.to_le_bytes();
            // The count tells this one from who had begun before and may go on.
            let count = (before & !(ONCE - 1)).wrapping_add(ONCE);
            let busy = count | BUSY | u64::from(old);
            if place
                .compare_exchange(before, busy, Acquire, Relaxed)
                .is_err()
            {
                continue;
            }
            // Whoever sees a number sees that it is being written.
            fence(Release);
            for (place, number) in places.iter().zip(numbers) {
                place.store(number, Relaxed);
            }
            let mark = count | u64::from(state);
            if place.compare_exchange(busy, mark, Release, Relaxed).is_ok() {
                break mark;
            }
        };
        self.ring();
        Some(mark)
    }

    /// What a slot says; `None` also if whoever writes to it has ended meanwhile.
    pub fn read(&self, slot: usize) -> Option<Post> {
        (slot < self.slots).then_some(())?;
        let place = self.word(HEAD + slot * SLOT)?;
        let places = self.numbers(slot)?;
        loop {
            let mark = Self::quiet(place);
            if mark & BUSY != 0 {
                return None;
            }
            let numbers = places.map(|place| place.load(Relaxed));
            // What is read afterwards is not older than the numbers.
            fence(Acquire);
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
            tv_sec: most.as_secs().try_into().unwrap_or(i32::MAX.into()),
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
        let mark = other.post(2, 5, [6, 7, 8]).unwrap();
        let post = one.read(2).unwrap();
        assert_eq!((post.state, post.numbers, post.mark), (5, [6, 7, 8], mark));
        assert!(one.post(2, 5, [6, 7, 8]).unwrap() > mark);
        assert_eq!(one.post(3, 1, [0; 3]), None);
        assert_eq!(one.read(3), None);
        assert_eq!(one.read(0), Some(Post::default()));
    }

    /// The numbers of a post are those of its state, whoever posts meanwhile.
    #[test]
    fn posts_are_whole() {
        let board = Board::new(2, 0).unwrap();
        let of = |state: u8| [1, 3, 5].map(|by| u64::from(state) * by);
        let posters = 2;
        std::thread::scope(|scope| {
            for first in 0..posters {
                let board = &board;
                scope.spawn(move || {
                    for round in 0..100_000_u32 {
                        let [low, ..] = (round * 2 + first).to_le_bytes();
                        board.post(1, low, of(low)).unwrap();
                    }
                });
            }
            let mut last = 0;
            // The state of the last posts of both.
            while last >> 9 < 200_000 {
                let post = board.read(1).unwrap();
                assert_eq!(post.numbers, of(post.state), "{post:?}");
                assert!(post.mark >= last);
                last = post.mark;
            }
        });
        assert_eq!(board.read(0), Some(Post::default()));
    }

    /// Who began to post and never ended holds nobody up for ever.
    #[test]
    fn posts_of_the_dead_are_lost() {
        let board = Board::new(1, 0).unwrap();
        board.post(0, 1, [1, 2, 3]).unwrap();
        let place = board.word(HEAD).unwrap();
        place.fetch_or(BUSY, Relaxed);
        assert_eq!(board.read(0), None);
        let mark = board.post(0, 2, [4, 5, 6]).unwrap();
        let post = board.read(0).unwrap();
        assert_eq!((post.state, post.numbers, post.mark), (2, [4, 5, 6], mark));
    }

    #[test]
    fn posts_wake() {
        let board = Board::new(1, 0).unwrap();
        let rung = board.rung();
        std::thread::scope(|scope| {
            scope.spawn(|| board.post(0, 1, [0; 3]));
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
