//! Which bits nobody has written, and their origin.

use hashbrown::HashMap;

/// Number of an origin; 0 is the place itself, which was never written. A number with [`REGISTER`] is a place in the
/// register file that was never written, from where the bits were carried on.
pub(crate) type OriginId = u32;

/// Marks an origin that is a byte of the register file.
const REGISTER: OriginId = 1 << 31;

/// The byte of the register file that an origin represents.
pub(crate) fn register_of(origin: OriginId) -> Option<usize> {
    (origin & REGISTER != 0).then_some((origin & !REGISTER) as usize)
}

/// Bytes of a page of shadow.
const PAGE: usize = 1024;

/// Pages that are examined for all lanes of a message at once.
const MOST_PAGES: u64 = 8;

/// Shadow of some bytes: a set bit is undefined. Every four bytes share an origin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shadow {
    undefined: Vec<u8>,
    origin: Vec<OriginId>,
    /// Whether it is that of a register file.
    registers: bool,
}

impl Shadow {
    /// Bytes that are all defined or all undefined.
    pub(crate) fn new(bytes: usize, undefined: bool) -> Self {
        Self {
            undefined: vec![if undefined { 0xff } else { 0 }; bytes],
            origin: vec![0; bytes.div_ceil(4)],
            registers: false,
        }
    }

    /// A register file that is all defined or all undefined.
    pub(crate) fn of_registers(bytes: usize, undefined: bool) -> Self {
        Self {
            registers: true,
            ..Self::new(bytes, undefined)
        }
    }

    /// Whether all of these bytes are defined.
    #[inline]
    pub(crate) fn is_defined(&self, at: usize, bytes: usize) -> bool {
        let Some(bytes) = self.undefined.get(at..at.saturating_add(bytes)) else {
            return true;
        };
        let (chunks, rest) = bytes.as_chunks::<8>();
        let chunks = chunks.iter().fold(0, |all, c| all | u64::from_ne_bytes(*c));
        chunks == 0 && rest.iter().all(|byte| *byte == 0)
    }

    /// Undefined bits of an element of at most 8 bytes.
    #[inline]
    pub(crate) fn element(&self, at: usize, bytes: usize) -> u64 {
        element(&self.undefined, at, bytes)
    }

    /// Sets the undefined bits of an element.
    #[inline]
    pub(crate) fn set_element(&mut self, at: usize, bytes: usize, bits: u64, origin: OriginId) {
        if let Some(to) = self.undefined.get_mut(at..at.saturating_add(bytes)) {
            for (to, from) in to.iter_mut().zip(bits.to_le_bytes()) {
                *to = from;
            }
        }
        if bits != 0 {
            let last = at.saturating_add(bytes).saturating_sub(1) / 4;
            if let Some(to) = self.origin.get_mut(at / 4..=last) {
                to.fill(origin);
            }
        }
    }

    /// Marks bytes as defined.
    #[inline]
    pub(crate) fn define(&mut self, at: usize, bytes: usize) {
        if let Some(to) = self.undefined.get_mut(at..at.saturating_add(bytes)) {
            to.fill(0);
        }
    }

    /// The origin of the first undefined byte.
    pub(crate) fn origin(&self, at: usize, bytes: usize) -> OriginId {
        let found = self
            .undefined
            .get(at..at.saturating_add(bytes))
            .and_then(|b| b.iter().position(|byte| *byte != 0));
        let place = at.saturating_add(found.unwrap_or(0));
        match self.origin.get(place / 4).copied().unwrap_or(0) {
            0 if self.registers => u32::try_from(place).map_or(0, |place| place | REGISTER),
            origin => origin,
        }
    }

    /// Sets the origin of bytes that have none.
    pub(crate) fn set_origin(&mut self, at: usize, bytes: usize, origin: OriginId) {
        let last = at.saturating_add(bytes).saturating_sub(1) / 4;
        for to in self.origin.get_mut(at / 4..=last).unwrap_or_default() {
            if *to == 0 {
                *to = origin;
            }
        }
    }
}

/// An element of at most 8 bytes; 0 outside.
#[inline]
pub(crate) fn element(from: &[u8], at: usize, bytes: usize) -> u64 {
    let get = |n: usize| from.get(at..at.saturating_add(n));
    match bytes {
        4 => get(4)
            .and_then(|b| b.first_chunk())
            .map_or(0, |b| u32::from_le_bytes(*b).into()),
        8 => get(8)
            .and_then(|b| b.first_chunk())
            .map_or(0, |b| u64::from_le_bytes(*b)),
        2 => get(2)
            .and_then(|b| b.first_chunk())
            .map_or(0, |b| u16::from_le_bytes(*b).into()),
        _ => {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(get(bytes.min(8)).unwrap_or(&[])) {
                *to = *from;
            }
            u64::from_le_bytes(word)
        }
    }
}

/// Shadow of memory, created when it is touched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    pages: HashMap<u64, Shadow>,
}

impl Pages {
    /// Undefined bits of at most 8 bytes, and their origin. `fresh` states whether bytes that nobody has written are
    /// undefined.
    pub(crate) fn element(&self, at: u64, bytes: usize, fresh: bool) -> (u64, OriginId) {
        let (mut bits, mut origin) = (0, 0);
        let mut done = 0;
        while done < bytes {
            let place = at.wrapping_add(done as u64);
            let (number, inside) = split(place);
            let count = (bytes - done).min(PAGE - inside);
            let (part, from) = match self.pages.get(&number) {
                Some(page) => match page.element(inside, count) {
                    0 => (0, 0),
                    part => (part, page.origin(inside, count)),
                },
                None if fresh => (low_bytes(count), 0),
                None => (0, 0),
            };
            if part != 0 {
                origin = from;
            }
            bits |= part << (8 * done);
            done += count;
        }
        (bits, origin)
    }

    /// Sets the undefined bits of at most 8 bytes.
    pub(crate) fn set(&mut self, at: u64, bytes: usize, bits: u64, origin: OriginId, fresh: bool) {
        let mut done = 0;
        while done < bytes {
            let place = at.wrapping_add(done as u64);
            let (number, inside) = split(place);
            let count = (bytes - done).min(PAGE - inside);
            let part = bits >> (8 * done) & low_bytes(count);
            match self.pages.get_mut(&number) {
                Some(page) => page.set_element(inside, count, part, origin),
                // What is defined anyway needs no page.
                None if part == 0 && !fresh => {}
                None => {
                    let mut page = Shadow::new(PAGE, fresh);
                    page.set_element(inside, count, part, origin);
                    self.pages.insert(number, page);
                }
            }
            done += count;
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.pages.clear();
    }

    /// Whether anything is known about some of these bytes.
    pub(crate) fn has(&self, at: u64, bytes: u64) -> bool {
        let (first, last) = (split(at).0, split(at.saturating_add(bytes)).0);
        if last - first > self.pages.len() as u64 {
            return self.pages.keys().any(|page| (first..=last).contains(page));
        }
        (first..=last).any(|page| self.pages.contains_key(&page))
    }

    /// Whether all of these bytes are defined; `fresh` states whether those that nobody has written are undefined. May
    /// return false for more than a few pages.
    pub(crate) fn is_defined(&self, at: u64, bytes: u64, fresh: bool) -> bool {
        if self.pages.is_empty() {
            return !fresh || bytes == 0;
        }
        if bytes > MOST_PAGES * PAGE as u64 {
            return false;
        }
        let mut done = 0;
        while done < bytes {
            let (number, inside) = split(at.wrapping_add(done));
            let rest = usize::try_from(bytes - done).unwrap_or(PAGE);
            let count = rest.min(PAGE - inside);
            let defined = match self.pages.get(&number) {
                Some(page) => page.is_defined(inside, count),
                None => !fresh,
            };
            if !defined {
                return false;
            }
            done += count as u64;
        }
        true
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }
}

fn split(at: u64) -> (u64, usize) {
    let page = PAGE as u64;
    (at / page, usize::try_from(at % page).unwrap_or(0))
}

/// The bits of the low bytes.
pub(crate) const fn low_bytes(bytes: usize) -> u64 {
    if bytes >= 8 {
        u64::MAX
    } else {
        (1 << (8 * bytes)) - 1
    }
}
