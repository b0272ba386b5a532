//! Interprets a fuzzer's bytes as a configuration, an object, and damage to it.

use crate::choice::Choices;
use crate::config::{Classes, Config};
use crate::{PLATFORMS, Platform, bytes_of_seed, generate};
use visakit_isa::object::Object;

/// Bytes in front of the object's: platform, classes, number of edits.
const HEAD: usize = 4;

/// Bytes of one edit: kind, place, value.
const EDIT: usize = 8;

/// Most edits of one input.
const MOST_EDITS: usize = 6;

/// An input of a fuzz target: a valid object, and edits of its encoded bytes.
///
/// Any bytes are valid. The first four choose platform, classes and the number of edits, then come the edits,
/// eight bytes each, and the rest is passed to [`generate`]. So when a fuzzer changes a byte, it changes one
/// of these and leaves the others as they were.
#[derive(Clone, PartialEq, Debug)]
pub struct FuzzInput {
    /// The configuration of the object.
    pub config: Config,
    /// The object, undamaged.
    pub object: Object<'static>,
    edits: Vec<Edit>,
}

/// One edit. Places are taken modulo the length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Edit {
    Set {
        at: usize,
        value: u8,
    },
    Flip {
        at: usize,
        bit: u8,
    },
    Remove {
        at: usize,
        count: usize,
    },
    Insert {
        at: usize,
        value: u8,
    },
    /// All ones, as counts and offsets that are much too large.
    Fill {
        at: usize,
        count: usize,
    },
    /// Bytes from elsewhere in the object.
    Copy {
        at: usize,
        from: usize,
        count: usize,
    },
    /// A number by one too large or too small.
    Step {
        at: usize,
        up: bool,
    },
    Cut {
        at: usize,
    },
}

impl FuzzInput {
    /// Interprets `data`.
    #[must_use]
    pub fn new(data: &[u8]) -> Self {
        let (head, rest) = data.split_at(data.len().min(HEAD));
        let mut byte = head.iter().copied();
        let mut next = || byte.next().unwrap_or(0);
        let platforms = PLATFORMS;
        let platform = platforms.get(usize::from(next()) % platforms.len());
        let mut config = Config::for_platform(platform.copied().unwrap_or(Platform::Skl));
        let classes = Classes::from_bits_truncate(u16::from_le_bytes([next(), next()]).into());
        if !classes.is_empty() {
            config.classes = classes;
        }
        let wanted = usize::from(next()) % (2 * MOST_EDITS);
        // Half of the inputs stay whole.
        let count = wanted.saturating_sub(MOST_EDITS - 1);
        let (edits, rest) = rest.split_at(rest.len().min(count * EDIT));
        Self {
            config,
            object: generate(rest, &config),
            edits: edits.chunks(EDIT).map(Edit::new).collect(),
        }
    }

    /// Whether nothing is damaged.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.edits.is_empty()
    }

    /// The encoded object with the edits done.
    #[must_use]
    pub fn damage(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        for edit in &self.edits {
            edit.apply(&mut bytes);
        }
        bytes
    }
}

/// An input for [`FuzzInput::new`] that yields the object of a seed, undamaged: a starting point for fuzzers.
#[must_use]
pub fn input_of_seed(seed: u64) -> Vec<u8> {
    let platforms = PLATFORMS;
    let index = u8::try_from(seed % platforms.len() as u64).unwrap_or(0);
    let platform = platforms.get(usize::from(index)).copied();
    let config = Config::for_platform(platform.unwrap_or(Platform::Skl));
    let mut input = vec![index, 0, 0, 0];
    input.extend(bytes_of_seed(seed, &config));
    input
}

impl Edit {
    fn new(bytes: &[u8]) -> Self {
        let mut choices = Choices::new(bytes);
        let kind = choices.u8() % 8;
        let at = usize::try_from(choices.u32()).unwrap_or(0);
        let value = choices.u8();
        let count = 1 + usize::from(value) % 16;
        match kind {
            0 => Self::Set { at, value },
            1 => Self::Flip { at, bit: value % 8 },
            2 => Self::Remove { at, count },
            3 => Self::Insert { at, value },
            4 => Self::Fill {
                at,
                count: if value.is_multiple_of(2) { 2 } else { 4 },
            },
            5 => Self::Copy {
                at,
                from: at / 2 + usize::from(choices.u8()),
                count,
            },
            6 => Self::Step {
                at,
                up: value.is_multiple_of(2),
            },
            _ => Self::Cut { at },
        }
    }

    fn apply(self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        if length == 0 {
            return;
        }
        let range = |at: usize, count: usize| {
            let start = at % length;
            start..(start + count).min(length)
        };
        let one = |at: usize| at % length;
        match self {
            Self::Set { at, value } => {
                if let Some(byte) = bytes.get_mut(one(at)) {
                    *byte = value;
                }
            }
            Self::Flip { at, bit } => {
                if let Some(byte) = bytes.get_mut(one(at)) {
                    *byte ^= 1 << bit;
                }
            }
            Self::Step { at, up } => {
                if let Some(byte) = bytes.get_mut(one(at)) {
                    *byte = if up {
                        byte.wrapping_add(1)
                    } else {
                        byte.wrapping_sub(1)
                    };
                }
            }
            Self::Remove { at, count } => drop(bytes.drain(range(at, count))),
            Self::Insert { at, value } => bytes.insert(one(at), value),
            Self::Fill { at, count } => {
                if let Some(part) = bytes.get_mut(range(at, count)) {
                    part.fill(0xff);
                }
            }
            Self::Copy { at, from, count } => {
                let part = bytes.get(range(from, count)).unwrap_or(&[]).to_vec();
                for (to, from) in bytes.iter_mut().skip(one(at)).zip(part) {
                    *to = from;
                }
            }
            Self::Cut { at } => bytes.truncate(one(at)),
        }
    }
}
