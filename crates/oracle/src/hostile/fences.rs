//! Memory for buffers, between pages that nobody may access where the host has such.

use std::sync::atomic::Ordering::Relaxed;
use visakit_exec::memory::Word;

/// What is around a buffer.
const CANARY: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// Words between fences.
#[derive(Debug)]
pub(super) struct Fences {
    all: Vec<&'static [Word]>,
}

/// What words between fences hold, in their order.
pub(super) type Words = Vec<u64>;

impl Fences {
    /// Some with so many pages each.
    pub(super) fn new(pages: &[usize]) -> Self {
        Self {
            all: pages.iter().map(|pages| fenced(*pages)).collect(),
        }
    }

    /// The words of a buffer of so many bytes that ends where its fence ends, or else begins where it begins.
    pub(super) fn part(&self, number: usize, bytes: usize, last: bool) -> &'static [Word] {
        let words = self.all[number];
        let count = bytes.div_ceil(8);
        match last {
            true => &words[words.len() - count..],
            false => &words[..count],
        }
    }

    /// What is around the buffers, where nothing else is.
    pub(super) fn empty(&self) -> Vec<Words> {
        let words = self.all.iter();
        words.map(|words| vec![CANARY; words.len()]).collect()
    }

    /// Writes all words.
    pub(super) fn fill(&self, content: &[Words]) {
        for (to, from) in self.all.iter().zip(content) {
            for (to, from) in to.iter().zip(from) {
                to.store(*from, Relaxed);
            }
        }
    }

    /// All words.
    pub(super) fn content(&self) -> Vec<Words> {
        let of = |words: &&[Word]| words.iter().map(|word| word.load(Relaxed)).collect();
        self.all.iter().map(of).collect()
    }

    /// The first word that is not as expected: the number of its fence, its place, and what it is.
    pub(super) fn different(&self, expected: &[Words]) -> Option<(usize, usize, u64)> {
        let mut all = self.all.iter().zip(expected).enumerate();
        all.find_map(|(number, (words, expected))| {
            let differ = |(word, expected): (&Word, &u64)| word.load(Relaxed) != *expected;
            let at = words
                .iter()
                .zip(expected)
                .position(|(word, expected)| differ((word, expected)))?;
            Some((number, at, words[at].load(Relaxed)))
        })
    }
}

/// Words between pages that nobody may access, or else between others.
fn fenced(pages: usize) -> &'static [Word] {
    #[cfg(unix)]
    if let Some(words) = visakit_storage::fenced(pages) {
        return words;
    }
    let words = (0..pages * visakit_storage::PAGE / 8).map(|_| Word::new(0));
    Vec::leak(words.collect())
}
