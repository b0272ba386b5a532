//! Which bits nobody has written, and their origin.

use hashbrown::HashMap;

/// Where the undefined bits of a byte come from, in one word. Bytes of an element that was loaded have origins that
/// follow each other, as their addresses do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct OriginId(u64);

/// What an [`OriginId`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// The byte itself was never written.
    Itself,
    /// A byte of the register file that was never written.
    Register(usize),
    /// A byte of flat memory that was never written, read by a step; and whether the bits are as they were there.
    Memory {
        step: u32,
        address: u64,
        unchanged: bool,
    },
    /// An entry of a table.
    Known(u32),
    /// An entry of the table of reads outside of objects.
    Outside(u32),
    /// Inside of an object, but read as zero with the rest of an element that is not: no fault by itself.
    Beside,
}

/// The upper four bits are the kind, the lower 40 an address or number, those between a step.
const KIND: u32 = 60;
const ADDRESS: u32 = 40;
const REGISTER: u64 = 1;
const UNCHANGED: u64 = 2;
const CHANGED: u64 = 3;
const KNOWN: u64 = 4;
const OUTSIDE: u64 = 5;
const BESIDE: u64 = 6;

impl OriginId {
    /// The byte itself.
    pub(crate) const ITSELF: Self = Self(0);
    /// [`Source::Beside`].
    pub(crate) const BESIDE: Self = Self::of(BESIDE, 0);

    const fn of(kind: u64, number: u64) -> Self {
        Self(kind << KIND | number)
    }

    fn register(place: usize) -> Self {
        Self::of(REGISTER, place as u64)
    }

    /// A byte of memory as a step read it; `None` for those that do not fit into a word.
    pub(crate) fn memory(step: u32, address: u64) -> Option<Self> {
        let fits = step >> (KIND - ADDRESS) == 0 && address >> ADDRESS == 0;
        fits.then(|| Self::of(UNCHANGED, u64::from(step) << ADDRESS | address))
    }

    /// An entry of the table of origins.
    pub(crate) fn known(number: u32) -> Self {
        Self::of(KNOWN, number.into())
    }

    /// An entry of the table of reads outside of objects.
    pub(crate) fn outside(number: u32) -> Self {
        Self::of(OUTSIDE, number.into())
    }

    /// What it is.
    pub(crate) fn source(self) -> Source {
        let number = u32::try_from(self.0 & u64::from(u32::MAX)).unwrap_or(0);
        let kind = self.0 >> KIND;
        match kind {
            REGISTER => Source::Register(number as usize),
            UNCHANGED | CHANGED => Source::Memory {
                step: u32::try_from(self.0 >> ADDRESS & 0xf_ffff).unwrap_or(0),
                address: self.0 & ((1 << ADDRESS) - 1),
                unchanged: kind == UNCHANGED,
            },
            KNOWN => Source::Known(number),
            OUTSIDE => Source::Outside(number),
            BESIDE => Source::Beside,
            _ => Source::Itself,
        }
    }

    /// Whether it is a read outside of an object.
    pub(crate) const fn is_outside(self) -> bool {
        self.0 >> KIND == OUTSIDE
    }

    const fn is_place(self) -> bool {
        self.0 >> KIND == UNCHANGED
    }

    /// That of a byte further on in the same element.
    pub(crate) const fn after(self, bytes: i64) -> Self {
        if !self.is_place() {
            return self;
        }
        let number = self.0.wrapping_add_signed(bytes);
        if number >> ADDRESS == self.0 >> ADDRESS {
            Self(number)
        } else {
            self.changed()
        }
    }

    /// That of bits computed from these.
    pub(crate) const fn changed(self) -> Self {
        if self.is_place() {
            Self(self.0 & !(0xf << KIND) | CHANGED << KIND)
        } else {
            self
        }
    }

    /// The one to report of two: a read outside of an object is always a fault.
    pub(crate) fn or(self, other: Self) -> Self {
        let beside = self == Self::BESIDE;
        if beside || other.is_outside() && !self.is_outside() {
            other
        } else {
            self
        }
    }
}

/// Bytes of a page of shadow.
const PAGE: usize = 1024;

/// Pages that are examined for all lanes of a message at once.
const MOST_PAGES: u64 = 8;

/// Shadow of some bytes: a set bit is undefined, and each byte has an origin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shadow {
    undefined: Vec<u8>,
    /// Empty as long as each byte is its own origin.
    origin: Vec<OriginId>,
    /// Whether it is that of a register file.
    registers: bool,
    /// Whether some byte ever was [`Source::Beside`].
    beside: bool,
}

impl Shadow {
    /// Bytes that are all defined or all undefined.
    pub(crate) fn new(bytes: usize, undefined: bool) -> Self {
        Self {
            undefined: vec![if undefined { 0xff } else { 0 }; bytes],
            origin: Vec::new(),
            registers: false,
            beside: false,
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

    /// Whether some byte ever was [`Source::Beside`].
    pub(crate) const fn has_beside(&self) -> bool {
        self.beside
    }

    /// Bits of an element whose bytes are [`Source::Beside`].
    pub(crate) fn beside(&self, at: usize, bytes: usize) -> u64 {
        let is = |byte: &usize| self.origin.get(at + byte) == Some(&OriginId::BESIDE);
        let all = (0..bytes.min(8)).filter(is);
        all.fold(0, |bits, byte| bits | 0xff << (8 * byte))
    }

    /// Sets the undefined bits of an element. The origin is that of its first byte.
    #[inline]
    pub(crate) fn set_element(&mut self, at: usize, bytes: usize, bits: u64, origin: OriginId) {
        if let Some(to) = self.undefined.get_mut(at..at.saturating_add(bytes)) {
            for (to, from) in to.iter_mut().zip(bits.to_le_bytes()) {
                *to = from;
            }
        }
        if bits != 0 {
            self.set_origins(at, bytes, origin);
        }
    }

    /// Sets the origins of bytes that follow each other.
    #[cold]
    fn set_origins(&mut self, at: usize, bytes: usize, origin: OriginId) {
        if self.origin.is_empty() {
            if origin == OriginId::ITSELF {
                return;
            }
            self.origin = vec![OriginId::ITSELF; self.undefined.len()];
        }
        self.beside |= origin == OriginId::BESIDE;
        let to = self.origin.get_mut(at..at.saturating_add(bytes));
        for (to, byte) in to.unwrap_or_default().iter_mut().zip(0..) {
            *to = origin.after(byte);
        }
    }

    /// Marks bytes as defined.
    #[inline]
    pub(crate) fn define(&mut self, at: usize, bytes: usize) {
        if let Some(to) = self.undefined.get_mut(at..at.saturating_add(bytes)) {
            to.fill(0);
        }
    }

    /// The origin of an undefined byte.
    pub(crate) fn origin_of(&self, at: usize) -> OriginId {
        match self.origin.get(at).copied().unwrap_or_default() {
            OriginId::ITSELF if self.registers => OriginId::register(at),
            origin => origin,
        }
    }

    /// The origin of an element with undefined bits, as that of its first byte. Bytes that come from different places
    /// have none of these places.
    pub(crate) fn origin(&self, at: usize, bytes: usize) -> OriginId {
        let undefined = self.undefined.get(at..at.saturating_add(bytes));
        let places = undefined.unwrap_or_default().iter().zip(at..);
        let mut places = places
            .filter(|(bits, _)| **bits != 0)
            .map(|(_, place)| place);
        let Some(first) = places.next() else {
            return self.origin_of(at);
        };
        let first_byte = |place: usize| {
            let bytes = i64::try_from(place - at).unwrap_or(0);
            self.origin_of(place).after(-bytes)
        };
        let one = first_byte(first);
        places.map(first_byte).fold(one, |all, other| {
            if all == other {
                all
            } else {
                all.changed().or(other.changed())
            }
        })
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
    /// Undefined bits of at most 8 bytes, and the origin of the first of them. `fresh` states whether bytes that nobody has written are
    /// undefined.
    pub(crate) fn element(&self, at: u64, bytes: usize, fresh: bool) -> (u64, OriginId) {
        let (mut bits, mut origin) = (0, OriginId::ITSELF);
        let mut done = 0;
        while done < bytes {
            let place = at.wrapping_add(done as u64);
            let (number, inside) = split(place);
            let count = (bytes - done).min(PAGE - inside);
            let (part, from) = match self.pages.get(&number) {
                Some(page) => match page.element(inside, count) {
                    0 => (0, OriginId::ITSELF),
                    part => (part, page.origin(inside, count)),
                },
                None if fresh => (low_bytes(count), OriginId::ITSELF),
                None => (0, OriginId::ITSELF),
            };
            if part != 0 {
                origin = from.after(-i64::try_from(done).unwrap_or(0));
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
            let origin = origin.after(i64::try_from(done).unwrap_or(0));
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
