//! Where undefined bits come from, as far as a word does not say it.

use super::{Checker, small};
use crate::finding::Space;
use crate::objects::Known;
use crate::shadow::{OriginId, Source};
use hashbrown::HashMap;
use std::hash::Hash;

/// Memory that was never written, read by a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Unwritten {
    pub(super) space: Space,
    pub(super) step: u32,
    pub(super) object: Option<usize>,
}

/// What an access that misses it was meant for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Area {
    /// An object in flat memory.
    Object(usize),
    /// Local memory.
    Local,
    /// A variable whose address is taken, in registers.
    Variable(usize),
}

impl Area {
    /// Its number in the key of a finding.
    pub(super) const fn key(self) -> usize {
        match self {
            Self::Object(object) => object,
            Self::Local => usize::MAX - 1,
            Self::Variable(of) => usize::MAX - 2 - of,
        }
    }
}

/// A read of which some bytes are outside of what it was meant for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Missed {
    pub(super) step: u32,
    pub(super) area: Area,
    /// The first byte: its place in an object or a variable, or its address in local memory.
    pub(super) offset: i64,
    pub(super) bytes: u32,
}

/// Entries with numbers.
#[derive(Debug)]
struct Table<T> {
    entries: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            numbers: HashMap::new(),
        }
    }
}

impl<T: Copy + Eq + Hash> Table<T> {
    fn number(&mut self, entry: T) -> u32 {
        *self.numbers.entry(entry).or_insert_with(|| {
            self.entries.push(entry);
            small(self.entries.len() - 1)
        })
    }

    fn get(&self, number: u32) -> Option<T> {
        self.entries.get(number as usize).copied()
    }
}

/// All origins that have numbers.
#[derive(Debug, Default)]
pub(super) struct Origins {
    unwritten: Table<Unwritten>,
    missed: Table<Missed>,
}

impl Origins {
    pub(super) fn unwritten(&mut self, origin: Unwritten) -> OriginId {
        OriginId::known(self.unwritten.number(origin))
    }

    pub(super) fn missed(&mut self, origin: Missed) -> OriginId {
        OriginId::outside(self.missed.number(origin))
    }
}

/// An origin, for a finding.
pub(super) enum Origin {
    /// A byte of the register file that was never written.
    Register(usize),
    Unwritten(Unwritten),
    Missed(Missed),
    Beside,
}

impl Checker {
    /// What an origin is; `at` is the place of the bits in the register file.
    pub(super) fn origin(&self, origin: OriginId, at: usize) -> Origin {
        let found = match origin.source() {
            Source::Itself => None,
            Source::Register(place) => Some(Origin::Register(place)),
            Source::Memory { step, address, .. } => {
                let object = self.objects.find(address).map(|(object, _)| object);
                let known = object.and_then(|object| self.objects.get(object));
                let space = known.map_or(Space::Global, Known::space);
                Some(Origin::Unwritten(Unwritten {
                    space,
                    step,
                    object,
                }))
            }
            Source::Known(number) => self.origins.unwritten.get(number).map(Origin::Unwritten),
            Source::Outside(number) => self.origins.missed.get(number).map(Origin::Missed),
            Source::Beside => Some(Origin::Beside),
        };
        found.unwrap_or(Origin::Register(at))
    }
}
