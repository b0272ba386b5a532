//! The string pool of a routine under construction.

use super::routine::Draft;
use crate::language::pool::{Pool, each_string, in_pool, initial};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use visakit_isa::object::Item;
use visakit_isa::table::FieldKind;
use visakit_isa::{StringId, Value};

/// A string pool that the text states.
#[derive(Debug, Default)]
pub(super) struct StatedPool<'t> {
    stated: Pool<'t>,
    /// The pool contains the routine's name, so no more strings can be stated.
    named: bool,
    /// Indices past the stated strings that the text gives as numbers.
    beyond: Vec<u32>,
}

/// The placeholder of the first index past a stated pool; no pool is large enough to reach it.
const BEYOND: u32 = 0xf800_0000;

impl<'t> Draft<'t> {
    /// Adds a string to the pool, repeating strings as Intel's assembler does.
    pub(super) fn string(&mut self, text: Cow<'t, [u8]>) -> StringId {
        self.claim_name();
        if let Some(pool) = &mut self.pool {
            if let Some(id) = pool.stated.take(&text) {
                return id;
            }
            return self.body.add_string(text);
        }
        self.body.add_string(text)
    }

    /// Adds strings to the pool that the text states. The first call replaces the pool that assemblers begin with.
    pub(super) fn state_strings(&mut self, strings: Vec<Cow<'t, [u8]>>) {
        let pool = match &mut self.pool {
            Some(pool) => pool,
            None => {
                self.body.strings.clear();
                self.pool.insert(StatedPool::default())
            }
        };
        for text in strings {
            pool.stated.state(text.clone());
            self.body.strings.push(text);
        }
    }

    /// Assigns the routine's name its string in the stated pool, if there is one. The strings are complete from then
    /// on.
    pub(super) fn claim_name(&mut self) {
        let unclaimed = self
            .pool
            .as_mut()
            .is_some_and(|p| !core::mem::replace(&mut p.named, true));
        if unclaimed {
            self.body.name = self.string(in_pool(self.name.clone()));
        }
    }

    /// Whether names have already taken strings of the stated pool.
    pub(super) fn pool_is_closed(&self) -> bool {
        self.pool.as_ref().is_some_and(|p| p.named)
    }

    /// The placeholder for an index that the text gives as a number, until the pool is complete: an index past the
    /// stated strings must not be mistaken for one of the added strings.
    pub(super) fn kept_index(&mut self, index: u32) -> u32 {
        let Some(pool) = self.pool.as_mut().filter(|pool| index >= pool.stated.len()) else {
            return index;
        };
        let number = u32::try_from(pool.beyond.len()).ok();
        let Some(kept) = number.and_then(|number| BEYOND.checked_add(number)) else {
            return index;
        };
        pool.beyond.push(index);
        kept
    }

    /// Moves the strings that instructions name by 16 bits before all others, after those that every pool begins with,
    /// if one of them does not fit. The order of the others is kept.
    pub(super) fn put_narrow_strings_first(&mut self) {
        if self.pool.is_some() || self.body.strings.len() <= usize::from(u16::MAX) + 1 {
            return;
        }
        let first = initial(self.name.clone(), self.format).count();
        let mut is_narrow = alloc::vec![false; self.body.strings.len()];
        let mut fits = true;
        for item in &self.body.code {
            let Item::Instruction(instruction) = item else {
                continue;
            };
            let def = instruction.def();
            for field in &instruction.fields {
                let kind = def.field(field.name).map(|f| f.kind);
                if let (Value::String(id), Some(FieldKind::StringIndex16)) = (&field.value, kind) {
                    fits &= id.0 <= u16::MAX.into();
                    let place = usize::try_from(id.0).ok().filter(|place| *place >= first);
                    if let Some(mark) = place.and_then(|place| is_narrow.get_mut(place)) {
                        *mark = true;
                    }
                }
            }
        }
        if fits {
            return;
        }
        let rank = |place: usize| match is_narrow.get(place) {
            _ if place < first => 0,
            Some(true) => 1,
            _ => 2,
        };
        let mut order: Vec<usize> = (0..self.body.strings.len()).collect();
        order.sort_by_key(|place| rank(*place));
        let mut numbers = alloc::vec![0; order.len()];
        for (number, place) in (0u32..).zip(&order) {
            if let Some(to) = numbers.get_mut(*place) {
                *to = number;
            }
        }
        each_string(&mut self.body, &mut |id| {
            let place = usize::try_from(id.0).ok();
            if let Some(number) = place.and_then(|place| numbers.get(place)) {
                *id = StringId(*number);
            }
        });
        let mut strings = core::mem::take(&mut self.body.strings);
        let take = |place: usize| strings.get_mut(place).map(core::mem::take);
        self.body.strings = order.into_iter().filter_map(take).collect();
    }

    /// Drops strings that were added to a stated pool for names that were later given another string.
    pub(super) fn drop_unused_strings(&mut self) {
        self.claim_name();
        let Some(pool) = &self.pool else { return };
        let beyond = |id: StringId| {
            let number = id.0.checked_sub(BEYOND)?;
            pool.beyond.get(usize::try_from(number).ok()?).copied()
        };
        let first = pool.stated.len() as usize;
        let mut used = alloc::vec![false; self.body.strings.len().saturating_sub(first)];
        let (len, place) = (pool.stated.len(), |id: StringId| {
            (id.0 as usize).checked_sub(first)
        });
        each_string(&mut self.body, &mut |id| {
            if let Some(used) = place(*id).and_then(|i| used.get_mut(i)) {
                *used = true;
            }
        });
        let mut next = len;
        let numbers: Vec<u32> = used
            .iter()
            .map(|used| {
                next += u32::from(*used);
                next - u32::from(*used)
            })
            .collect();
        each_string(&mut self.body, &mut |id| {
            if let Some(number) = place(*id).and_then(|i| numbers.get(i)) {
                *id = StringId(*number);
            } else if let Some(index) = beyond(*id) {
                *id = StringId(index);
            }
        });
        let mut keep = core::iter::repeat_n(true, first).chain(used);
        self.body.strings.retain(|_| keep.next().unwrap_or(true));
    }
}
