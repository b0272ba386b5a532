//! Who accessed shared memory last: 20 bytes for every four bytes that were touched.
//!
//! A cell represents four bytes. It records the last write and two reads, as numbers of records that all accesses of
//! one message share, with the bytes and lanes of each. The reads are of two threads; or of two lanes of one, if no
//! other thread has a read that the writes of this one could conflict with: of two lanes a writer can only be one. What
//! does not fit into a cell (an atomic beside a plain write) is stored beside the cells.

use hashbrown::HashMap;

/// Cells of a page.
const CELLS: usize = 256;

/// Most records that a slot can name.
const MOST_RECORDS: usize = 1 << 24;

/// A message of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Record {
    /// Number of the group plus one; 0 for none.
    pub(crate) group: u32,
    /// The thread's message count.
    pub(crate) time: u32,
    pub(crate) step: u32,
    pub(crate) thread: u16,
}

impl Record {
    /// Whether both are of one thread.
    pub(crate) const fn same_thread(&self, other: &Self) -> bool {
        self.group == other.group && self.thread == other.thread
    }
}

/// The lane of a message that is shared by several lanes, or unknown.
pub(crate) const LANES: u8 = 255;

/// Which lane accessed each byte of a cell: one for all, or lanes that follow each other byte by byte or two by two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lanes {
    first: u8,
    pattern: u8,
}

/// Lanes of bytes that follow no pattern.
const UNKNOWN: Lanes = Lanes {
    first: 0,
    pattern: 3,
};

impl Lanes {
    const fn step(pattern: u8, byte: u8) -> u8 {
        match pattern {
            1 => byte,
            2 => byte / 2,
            _ => 0,
        }
    }

    const fn of(lane: u8) -> Self {
        if lane == LANES {
            return UNKNOWN;
        }
        Self {
            first: lane & 63,
            pattern: 0,
        }
    }

    const fn lane(self, byte: u8) -> u8 {
        if self.pattern == 3 {
            return LANES;
        }
        self.first.wrapping_add(Self::step(self.pattern, byte)) & 63
    }

    /// With bytes that another lane of the same message accessed.
    fn with(self, bytes: u8, lane: u8, more: u8) -> Self {
        let first_byte = u8::try_from(more.trailing_zeros()).unwrap_or(0);
        let fits = |candidate: &Self| {
            each(bytes).all(|b| candidate.lane(b) == self.lane(b))
                && each(more).all(|b| candidate.lane(b) == lane)
        };
        if lane == LANES || self.pattern == 3 {
            return UNKNOWN;
        }
        (0..3)
            .map(|pattern| Self {
                first: lane.wrapping_sub(Self::step(pattern, first_byte)) & 63,
                pattern,
            })
            .find(fits)
            .unwrap_or(UNKNOWN)
    }
}

/// The set bits of the bytes of a cell.
fn each(bytes: u8) -> impl Iterator<Item = u8> {
    (0..4).filter(move |b| bytes >> b & 1 != 0)
}

/// A number of a record, and lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Slot(u32);

impl Slot {
    fn new(record: u32, lanes: Lanes) -> Self {
        Self(record | u32::from(lanes.first) << 24 | u32::from(lanes.pattern) << 30)
    }

    const fn record(self) -> u32 {
        self.0 & 0xff_ffff
    }

    const fn lanes(self) -> Lanes {
        let [.., high] = self.0.to_le_bytes();
        Lanes {
            first: high & 63,
            pattern: high >> 6,
        }
    }
}

/// Bytes of a write and of two reads, four bits each, and the kind of the write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Facts(u32);

const ATOMIC: u32 = 1 << 12;
/// Nobody knows what was written.
const OPAQUE: u32 = 1 << 13;

impl Facts {
    fn bytes(self, slot: u32) -> u8 {
        u8::try_from(self.0 >> (4 * slot) & 15).unwrap_or(0)
    }

    fn set_bytes(&mut self, slot: u32, bytes: u8) {
        self.0 = self.0 & !(15 << (4 * slot)) | u32::from(bytes & 15) << (4 * slot);
    }

    const fn is(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    fn set_write(&mut self, bytes: u8, atomic: bool, opaque: bool) {
        let kind = if atomic { ATOMIC } else { 0 } | if opaque { OPAQUE } else { 0 };
        self.0 = self.0 & 0xff0 | u32::from(bytes & 15) | kind;
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Slot,
    reads: [Slot; 2],
    facts: Facts,
    /// What the last write wrote, at its bytes.
    value: u32,
}

// As the documentation says.
const _: () = assert!(size_of::<Cell>() == 20);

impl Cell {
    /// Whether the last write wrote the same value, as far as both write.
    fn holds(&self, now: &Now) -> bool {
        let known = now.writes && !now.atomic && !self.facts.is(ATOMIC | OPAQUE);
        let both = mask(self.facts.bytes(0) & now.bytes);
        known
            && now
                .value
                .is_some_and(|value| (self.value ^ value) & both == 0)
    }

    /// A write; bytes in `also` had been written by the lanes of its message before.
    fn set_write(&mut self, now: &Now, also: u8) {
        let stays = also & !now.bytes;
        let opaque = now.value.is_none() || stays != 0 && self.facts.is(OPAQUE);
        self.facts.set_write(also | now.bytes, now.atomic, opaque);
        let value = now.value.unwrap_or(0);
        self.value = self.value & mask(stays) | value & mask(now.bytes);
    }
}

/// The bits of bytes of a cell.
const fn mask(bytes: u8) -> u32 {
    // Each of the four bits goes to the lowest one of its byte.
    let spread = (bytes & 15) as u32 * 0x0020_4081;
    (spread & 0x0101_0101) * 0xff
}

/// The current access to a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) record: Record,
    pub(crate) lane: u8,
    /// Bytes of the cell, a bit each.
    pub(crate) bytes: u8,
    pub(crate) writes: bool,
    pub(crate) atomic: bool,
    /// The value written, at its place in the cell, where it is known.
    pub(crate) value: Option<u32>,
}

/// An access recorded in a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    pub(crate) record: Record,
    /// The lane of the first byte that both access.
    pub(crate) lane: u8,
    pub(crate) writes: bool,
    pub(crate) atomic: bool,
    /// It wrote the same value, or read that.
    pub(crate) same_value: bool,
    /// The same lane accessed all bytes that both access.
    pub(crate) same_lane: bool,
}

type Page = Box<[Cell; CELLS]>;

/// What is stored beside cells.
type Beside = HashMap<u64, (Slot, u8)>;

/// Cells of a memory, created when it is touched.
#[derive(Debug)]
pub(crate) struct Cells {
    pages: Vec<Page>,
    numbers: HashMap<u64, usize>,
    /// The most recently used page.
    last: (u64, usize),
    records: Vec<Record>,
    /// Records at which those that no cell names are thrown away.
    limit: usize,
    /// Cells of which the current message has accessed parts, in their earlier state: its lanes are handled one by one.
    before: Vec<(u64, Cell)>,
    /// The numbers of a read and of a write that happened before the current message: its lanes ask for the same ones.
    ordered: [u32; 2],
    /// Atomics to cells that record a plain write: with their bytes.
    atomics: Beside,
    /// The last atomic read of a cell, with its bytes.
    atomic_reads: Beside,
}

impl Default for Cells {
    fn default() -> Self {
        Self {
            pages: Vec::new(),
            numbers: HashMap::new(),
            last: (u64::MAX, 0),
            records: vec![Record::default()],
            limit: 1 << 12,
            before: Vec::new(),
            ordered: [0; 2],
            atomics: HashMap::new(),
            atomic_reads: HashMap::new(),
        }
    }
}

impl Cells {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        for page in &mut self.pages {
            page.fill(Cell::default());
        }
        self.records.truncate(1);
        self.before.clear();
        self.atomics.clear();
        self.atomic_reads.clear();
    }

    fn number(&mut self, now: &Record) -> u32 {
        if self.records.last() != Some(now) {
            if self.records.len() >= self.limit && self.limit < MOST_RECORDS {
                self.collect();
            }
            if self.records.len() >= MOST_RECORDS {
                return 0;
            }
            self.records.push(*now);
            self.before.clear();
            self.ordered = [0; 2];
        }
        u32::try_from(self.records.len() - 1).unwrap_or(0)
    }

    /// Throws away the records that no cell names.
    fn collect(&mut self) {
        let mut numbers = vec![0u32; self.records.len()];
        let slots = || {
            let cells = self.pages.iter().flat_map(|page| page.iter());
            let slots = cells.flat_map(|cell| [cell.write, cell.reads[0], cell.reads[1]]);
            let beside = self.atomics.values().chain(self.atomic_reads.values());
            slots.chain(beside.map(|a| a.0))
        };
        for slot in slots() {
            if let Some(number) = numbers.get_mut(slot.record() as usize) {
                *number = 1;
            }
        }
        let mut kept = vec![Record::default()];
        for (number, record) in numbers.iter_mut().zip(&self.records).skip(1) {
            if *number != 0 {
                *number = u32::try_from(kept.len()).unwrap_or(0);
                kept.push(*record);
            }
        }
        if let Some(none) = numbers.first_mut() {
            *none = 0;
        }
        let renumber = |slot: &mut Slot| {
            let new = numbers.get(slot.record() as usize).copied().unwrap_or(0);
            *slot = Slot::new(new, slot.lanes());
        };
        for cell in self.pages.iter_mut().flat_map(|page| page.iter_mut()) {
            renumber(&mut cell.write);
            cell.reads.iter_mut().for_each(renumber);
        }
        let beside = self.atomics.values_mut();
        for (slot, _) in beside.chain(self.atomic_reads.values_mut()) {
            renumber(slot);
        }
        self.limit = (2 * kept.len()).clamp(1 << 12, MOST_RECORDS);
        self.records = kept;
    }

    fn page(&mut self, number: u64) -> usize {
        if self.last.0 == number {
            return self.last.1;
        }
        let next = self.pages.len();
        let index = *self.numbers.entry(number).or_insert(next);
        if index == next {
            self.pages.push(Box::new([Cell::default(); CELLS]));
        }
        self.last = (number, index);
        index
    }

    /// Records an access to a whole cell, as [`Cells::access`] does, if it can conflict with none that is recorded.
    /// Returns whether it did. `precedes` says of an access, and of whether it wrote, whether it happened before.
    pub(crate) fn access_ordered(
        &mut self,
        cell: u64,
        now: &Now,
        precedes: impl Fn(&Record, bool) -> bool,
    ) -> bool {
        let has = |beside: &Beside| !beside.is_empty() && beside.contains_key(&cell);
        if now.atomic || now.bytes != 15 || has(&self.atomics) || has(&self.atomic_reads) {
            return false;
        }
        let number = self.number(&now.record);
        let page = self.page(cell / CELLS as u64);
        let inside = usize::try_from(cell % CELLS as u64).unwrap_or(0);
        let Some(place) = self.pages.get_mut(page).and_then(|p| p.get_mut(inside)) else {
            return false;
        };
        let (records, [read, write]) = (&self.records, &mut self.ordered);
        let record = |slot: Slot| records.get(slot.record() as usize);
        let is_ordered = |slot: Slot, writes: bool, known: &mut u32| {
            let number = slot.record();
            let ordered = number == 0
                || number == *known
                || record(slot).is_some_and(|record| precedes(record, writes));
            *known = if ordered && number != 0 {
                number
            } else {
                *known
            };
            ordered
        };
        let facts = place.facts;
        if !is_ordered(place.write, true, write) {
            return false;
        }
        let slot = Slot::new(number, Lanes::of(now.lane));
        if now.writes {
            let [one, two] = place.reads;
            let after_atomic = facts.is(ATOMIC) && place.write.record() != 0;
            if after_atomic || !is_ordered(one, false, read) || !is_ordered(two, false, read) {
                return false;
            }
            place.write = slot;
            place.set_write(now, 0);
            return true;
        }
        let [first, _] = place.reads;
        let same_thread = || record(first).is_some_and(|r| r.same_thread(&now.record));
        if first.record() == number && number != 0 {
            if first != slot {
                // Several lanes read it.
                place.reads[0] = Slot::new(number, UNKNOWN);
            }
        } else if !same_thread() {
            place.reads = [slot, first];
            place.facts.set_bytes(2, facts.bytes(1));
        } else if each(facts.bytes(1)).all(|b| first.lanes().lane(b) == now.lane) {
            place.reads[0] = slot;
        } else {
            return false;
        }
        place.facts.set_bytes(1, 15);
        true
    }

    /// Records an access to a cell. `look` is first called with the recorded accesses to the same bytes. `ordered` says
    /// of a read whether it happened before everything that the current thread does from now on.
    pub(crate) fn access(
        &mut self,
        cell: u64,
        now: &Now,
        mut look: impl FnMut(&Earlier),
        ordered: impl Fn(&Record) -> bool,
    ) {
        let number = self.number(&now.record);
        let page = self.page(cell / CELLS as u64);
        let inside = usize::try_from(cell % CELLS as u64).unwrap_or(0);
        let Self {
            pages,
            records,
            atomics,
            atomic_reads,
            before,
            ..
        } = self;
        let Some(place) = pages.get_mut(page).and_then(|p| p.get_mut(inside)) else {
            return;
        };
        let record = |slot: Slot| records.get(slot.record() as usize).copied();
        let mut tell = |slot: Slot, bytes: u8, (writes, atomic, same)| {
            let both = bytes & now.bytes;
            if both == 0 || slot.record() == 0 {
                return;
            }
            let lanes = slot.lanes();
            let first = u8::try_from(both.trailing_zeros()).unwrap_or(0);
            look(&Earlier {
                record: record(slot).unwrap_or_default(),
                lane: lanes.lane(first),
                writes,
                atomic,
                same_value: same,
                same_lane: each(both).all(|b| lanes.lane(b) == now.lane),
            });
        };
        let facts = place.facts;
        let beside = if atomics.is_empty() {
            None
        } else {
            atomics.get(&cell).copied()
        };
        let kind = (true, facts.is(ATOMIC), place.holds(now));
        tell(place.write, facts.bytes(0), kind);
        if let Some((slot, bytes)) = beside {
            tell(slot, bytes, (true, true, false));
        }
        if now.writes {
            // The lane that wrote the value read it afterwards, and would read the same now.
            let write = place.write;
            let wrote = record(write).filter(|_| place.holds(now));
            let reads_it = |read: Slot| {
                let lanes = read.lanes();
                lanes == write.lanes()
                    && lanes != UNKNOWN
                    && wrote
                        .zip(record(read))
                        .is_some_and(|(w, r)| w.same_thread(&r) && w.time < r.time)
            };
            for (at, read) in (1..).zip(place.reads) {
                tell(read, facts.bytes(at), (false, false, reads_it(read)));
            }
            if let Some((slot, bytes)) = atomic_reads.get(&cell).filter(|_| !now.atomic) {
                tell(*slot, *bytes, (false, true, false));
            }
        }
        if now.bytes != 15 {
            match before.iter().find(|(of, _)| *of == cell) {
                Some((_, old)) => {
                    let facts = old.facts;
                    let kind = (true, facts.is(ATOMIC), old.holds(now));
                    tell(old.write, facts.bytes(0), kind);
                    for (at, read) in (1..).zip(old.reads).filter(|_| now.writes) {
                        tell(read, facts.bytes(at), (false, false, false));
                    }
                }
                None => before.push((cell, *place)),
            }
        }
        // The record of this access, merged with what other lanes of the same message did to other bytes.
        let merged = |slot: Slot, bytes: u8| {
            if slot.record() == number && bytes & now.bytes == 0 && bytes != 0 {
                let lanes = slot.lanes().with(bytes, now.lane, now.bytes);
                (Slot::new(number, lanes), bytes | now.bytes)
            } else {
                (Slot::new(number, Lanes::of(now.lane)), now.bytes)
            }
        };
        if now.atomic && !now.writes {
            let (slot, bytes) = atomic_reads.get(&cell).copied().unwrap_or_default();
            let read = merged(slot, bytes);
            atomic_reads.insert(cell, read);
        } else if now.writes {
            let plain = place.write.record() != 0 && !facts.is(ATOMIC);
            if now.atomic && plain {
                let (slot, bytes) = beside.unwrap_or_default();
                let (slot, bytes) = merged(slot, bytes);
                atomics.insert(cell, (slot, bytes));
                return;
            }
            let (slot, bytes) = merged(place.write, facts.bytes(0));
            if !now.atomic && facts.is(ATOMIC) && place.write.record() != 0 {
                let of = (place.write, facts.bytes(0));
                atomics.insert(cell, of);
                place.write = Slot::new(number, Lanes::of(now.lane));
                place.set_write(now, 0);
                return;
            }
            place.write = slot;
            place.set_write(now, bytes);
        } else {
            let [first, second] = place.reads;
            let of_first = record(first).unwrap_or_default();
            // Another lane of the thread, in another message, whose read stays unless that of another thread has to.
            let other_lane = || {
                let lanes = first.lanes();
                let same = each(facts.bytes(1)).all(|b| lanes.lane(b) == now.lane);
                let of_second = record(second).unwrap_or_default();
                first.record() != number
                    && !same
                    && (second.record() == 0
                        || of_second.same_thread(&now.record)
                        || ordered(&of_second))
            };
            if !of_first.same_thread(&now.record) || other_lane() {
                place.reads = [Slot::new(number, Lanes::of(now.lane)), first];
                let moved = facts.bytes(1);
                place.facts.set_bytes(2, moved);
                place.facts.set_bytes(1, now.bytes);
            } else {
                let (slot, bytes) = merged(first, facts.bytes(1));
                // Lanes of one message that read the same bytes count as one reader.
                let slot =
                    if first.record() == number && facts.bytes(1) & now.bytes != 0 && slot != first
                    {
                        Slot::new(number, UNKNOWN)
                    } else {
                        slot
                    };
                place.reads[0] = slot;
                let all = if first.record() == number {
                    facts.bytes(1) | now.bytes
                } else {
                    bytes
                };
                place.facts.set_bytes(1, all);
            }
        }
    }
}
