//! Ranges of addresses that the host reserves, and memory that it maps into them.
//!
//! A range is zeroed pages from its beginning on; mapping puts other pages there. So no access of a kernel, nor of the
//! host, ends the program: what is written where nothing is mapped is lost with the next mapping, as in the scratch page
//! of Intel's driver. Kernels find a range from its beginning to the end of the last mapping.

use crate::addresses::What;
use crate::context::{Context, lock};
use crate::error::{Code, Result, ensure};
use opencl_sys as cl;
use std::collections::BTreeMap;
use std::sync::Arc;
use visakit_exec::memory::Storage;
use visakit_host::{Block, Pages};

/// Bytes of a page, of which ranges and mappings have whole ones.
pub const PAGE: usize = 1 << 16;

const INVALID: Code = Code(cl::CL_INVALID_VALUE);

/// Values of bytes: each holds from its place to the next one.
#[derive(Debug)]
struct Values(BTreeMap<usize, u32>);

impl Values {
    fn at(&self, place: usize) -> u32 {
        let before = self.0.range(..=place).next_back();
        before.map_or(0, |(_, value)| *value)
    }

    fn set(&mut self, start: usize, end: usize, value: u32) {
        let after = self.at(end);
        self.0.retain(|place, _| !(start..=end).contains(place));
        self.0.insert(start, value);
        self.0.insert(end, after);
    }

    /// The value at a place, and how many bytes from there on have it, of so many.
    fn run(&self, place: usize, end: usize) -> (u32, usize) {
        let value = self.at(place);
        let mut later = self.0.range(place..end);
        let other = later.find(|(_, other)| **other != value);
        (value, other.map_or(end, |(at, _)| *at) - place)
    }
}

/// What is mapped in a range.
#[derive(Debug)]
struct Mapping {
    bytes: usize,
    pages: Arc<Pages>,
    /// The place in the pages.
    from: usize,
}

/// A range of addresses.
#[derive(Debug)]
pub(crate) struct Reservation {
    block: Arc<Block>,
    /// What is mapped, by places.
    mapped: BTreeMap<usize, Mapping>,
    /// `ZE_MEMORY_ACCESS_ATTRIBUTE_…`
    access: Values,
}

impl Reservation {
    fn new(bytes: usize) -> Option<Self> {
        Some(Self {
            block: Block::at_address(bytes)?,
            mapped: BTreeMap::new(),
            access: Values(BTreeMap::from([(0, 0)])),
        })
    }

    fn bytes(&self) -> usize {
        self.block.bytes()
    }

    /// The place of bytes that are whole pages of it.
    fn place(&self, address: usize, bytes: usize) -> Result<usize> {
        let place = address.checked_sub(self.block.address()).ok_or(INVALID)?;
        let whole = place.is_multiple_of(PAGE) && bytes.is_multiple_of(PAGE) && bytes > 0;
        let end = place.checked_add(bytes).ok_or(INVALID)?;
        ensure(whole && end <= self.bytes(), INVALID.0)?;
        Ok(place)
    }

    fn is_mapped(&self, place: usize, bytes: usize) -> bool {
        let before = self.mapped.range(..place + bytes).next_back();
        before.is_some_and(|(start, mapping)| start + mapping.bytes > place)
    }

    fn map(
        &mut self,
        place: usize,
        bytes: usize,
        from: (&Arc<Pages>, usize),
        access: u32,
    ) -> Result<()> {
        ensure(!self.is_mapped(place, bytes), INVALID.0)?;
        let (pages, offset) = from;
        let done = self.block.map(place, pages, offset, bytes);
        done.ok_or(Code(cl::CL_OUT_OF_RESOURCES))?;
        let mapping = Mapping {
            bytes,
            pages: Arc::clone(pages),
            from: offset,
        };
        self.mapped.insert(place, mapping);
        self.access.set(place, place + bytes, access);
        Ok(())
    }

    /// Ends the mappings of bytes, which must be whole ones, if there are any.
    fn unmap(&mut self, place: usize, bytes: usize) -> Result<()> {
        let end = place + bytes;
        let inside = self.mapped.range(place..end);
        let inside: Vec<_> = inside
            .map(|(start, mapping)| (*start, mapping.bytes))
            .collect();
        let whole = inside
            .last()
            .is_none_or(|(start, length)| start + length <= end);
        let before = self.mapped.range(..place).next_back();
        let cut = before.is_some_and(|(start, mapping)| start + mapping.bytes > place);
        ensure(whole && !cut, INVALID.0)?;
        let done = self.block.clear(place, bytes);
        done.ok_or(Code(cl::CL_OUT_OF_RESOURCES))?;
        for (start, _) in inside {
            self.mapped.remove(&start);
        }
        self.access.set(place, end, 0);
        Ok(())
    }

    /// What kernels find there.
    fn storage(&self) -> Option<Storage> {
        let (start, mapping) = self.mapped.last_key_value()?;
        Some(self.block.first(start + mapping.bytes))
    }
}

impl Context {
    /// Reserves a range of addresses, on which nothing else will be.
    ///
    /// # Errors
    /// Bytes that are no whole pages, or for which there are no addresses.
    pub fn reserve(&self, bytes: usize) -> Result<usize> {
        ensure(bytes > 0 && bytes.is_multiple_of(PAGE), INVALID.0)?;
        let made = Reservation::new(bytes).ok_or(Code(cl::CL_OUT_OF_RESOURCES))?;
        let address = made.block.address();
        lock(&self.reservations).insert(address, made);
        Ok(address)
    }

    /// Gives a range back, with what is mapped there.
    ///
    /// # Errors
    /// What is no range.
    pub fn unreserve(&self, address: usize, bytes: usize) -> Result<()> {
        let mut all = lock(&self.reservations);
        let there = all.get(&address).is_some_and(|r| r.bytes() == bytes);
        ensure(there, INVALID.0)?;
        all.remove(&address);
        self.addresses.end(address);
        Ok(())
    }

    /// Calls something with the range that has bytes, and their place in it.
    fn in_range<T>(
        &self,
        address: usize,
        bytes: usize,
        call: impl FnOnce(&mut Reservation, usize) -> Result<T>,
    ) -> Result<T> {
        let mut all = lock(&self.reservations);
        let (start, range) = all.range_mut(..=address).next_back().ok_or(INVALID)?;
        let place = range.place(address, bytes)?;
        let before = range.storage().map(|s| s.bytes());
        let done = call(range, place)?;
        match range.storage() {
            Some(storage) if before != Some(storage.bytes()) => {
                self.addresses.add(*start as u64, &storage, What::Range);
            }
            None if before.is_some() => self.addresses.end(*start),
            _ => {}
        }
        Ok(done)
    }

    /// Maps a part of pages into a part of a range.
    ///
    /// # Errors
    /// Parts that are not whole pages or not inside, and where something is mapped already.
    pub fn map(
        &self,
        address: usize,
        bytes: usize,
        from: (&Arc<Pages>, usize),
        access: u32,
    ) -> Result<()> {
        ensure(from.1.is_multiple_of(PAGE), INVALID.0)?;
        let end = from.1.checked_add(bytes).ok_or(INVALID)?;
        ensure(end <= from.0.bytes(), INVALID.0)?;
        self.in_range(address, bytes, |range, place| {
            range.map(place, bytes, from, access)
        })
    }

    /// Ends mappings, if there are any.
    ///
    /// # Errors
    /// Bytes that have a part of a mapping.
    pub fn unmap(&self, address: usize, bytes: usize) -> Result<()> {
        self.in_range(address, bytes, |range, place| range.unmap(place, bytes))
    }

    /// Notes which accesses the host wants to allow.
    ///
    /// # Errors
    /// Bytes that are not whole pages of a range.
    pub fn set_access(&self, address: usize, bytes: usize, access: u32) -> Result<()> {
        self.in_range(address, bytes, |range, place| {
            range.access.set(place, place + bytes, access);
            Ok(())
        })
    }

    /// The pages that are mapped at an address, and the place in them; `None` if nothing is mapped there.
    pub(crate) fn mapped(&self, address: usize) -> Option<(Arc<Pages>, usize)> {
        let all = lock(&self.reservations);
        let (start, range) = all.range(..=address).next_back()?;
        let place = address - start;
        let (begin, mapping) = range.mapped.range(..=place).next_back()?;
        let at = place - begin;
        (at < mapping.bytes).then(|| (Arc::clone(&mapping.pages), mapping.from + at))
    }

    /// Which accesses the host allowed, and for how many bytes in a row.
    ///
    /// # Errors
    /// Bytes that are not whole pages of a range.
    pub fn access(&self, address: usize, bytes: usize) -> Result<(u32, usize)> {
        self.in_range(address, bytes, |range, place| {
            Ok(range.access.run(place, range.bytes()))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use crate::device::Device;
    use crate::models::MODELS;
    use proptest::prelude::*;
    use visakit_host::Span;

    /// What a host does with a range: places and lengths in pages.
    #[derive(Clone, Debug)]
    enum Step {
        Map(usize, usize, usize, u32),
        Unmap(usize, usize),
        Access(usize, usize, u32),
        Write(usize, u8),
    }

    const PAGES: usize = 6;

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let part = || (0..PAGES + 1, 0..PAGES + 1);
        let step = prop_oneof![
            3 => (part(), 0..PAGES, 0..3_u32).prop_map(|((a, n), from, v)| Step::Map(a, n, from, v)),
            2 => part().prop_map(|(a, n)| Step::Unmap(a, n)),
            1 => (part(), 0..3_u32).prop_map(|((a, n), v)| Step::Access(a, n, v)),
            3 => (0..PAGES, 1..=u8::MAX).prop_map(|(a, v)| Step::Write(a, v)),
        ];
        prop::collection::vec(step, 1..24)
    }

    /// The range page by page: the number of the mapping that has a page with the page of memory behind it, the access, and
    /// what is in memory.
    #[derive(Default)]
    struct Model {
        behind: [Option<(usize, usize)>; PAGES],
        access: [u32; PAGES],
        memory: [u8; PAGES],
        unmapped: [u8; PAGES],
        mappings: usize,
    }

    impl Model {
        fn byte(&mut self, page: usize) -> &mut u8 {
            match self.behind[page] {
                Some((_, at)) => &mut self.memory[at],
                None => &mut self.unmapped[page],
            }
        }

        /// Whether a step is possible; then it is done.
        fn step(&mut self, step: &Step) -> bool {
            let inside = |a: usize, n: usize| n > 0 && a + n <= PAGES;
            match *step {
                Step::Map(a, n, from, access) => {
                    let free = inside(a, n) && self.behind[a..a + n].iter().all(Option::is_none);
                    if !free || from + n > PAGES {
                        return false;
                    }
                    self.mappings += 1;
                    for k in 0..n {
                        self.behind[a + k] = Some((self.mappings, from + k));
                        self.access[a + k] = access;
                    }
                }
                Step::Unmap(a, n) => {
                    if !inside(a, n) {
                        return false;
                    }
                    let number = |page: Option<(usize, usize)>| page.map(|p| p.0);
                    let mine: Vec<_> = self.behind[a..a + n]
                        .iter()
                        .filter_map(|p| number(*p))
                        .collect();
                    let rest = self.behind[..a].iter().chain(&self.behind[a + n..]);
                    let cut = rest.filter_map(|p| number(*p)).any(|m| mine.contains(&m));
                    if cut {
                        return false;
                    }
                    for page in a..a + n {
                        (self.behind[page], self.access[page], self.unmapped[page]) = (None, 0, 0);
                    }
                }
                Step::Access(a, n, access) => {
                    if !inside(a, n) {
                        return false;
                    }
                    self.access[a..a + n].fill(access);
                }
                Step::Write(page, value) => *self.byte(page) = value,
            }
            true
        }
    }

    /// A byte of a page, as the host has it.
    fn byte(context: &Context, start: usize, page: usize) -> Span {
        let all = lock(&context.reservations)[&start]
            .block
            .first(PAGES * PAGE);
        Span::of(&all, page * PAGE + 7, 1).unwrap()
    }

    proptest! {
        /// Mappings are what a host reads and writes, in any order of calls; wrong calls change nothing.
        #[test]
        fn ranges(steps in steps()) {
            let device = Arc::new(Device::of(&MODELS[0]).unwrap());
            let context = Context::new(vec![device], Vec::new(), None).unwrap();
            let start = context.reserve(PAGES * PAGE).unwrap();
            let pages = Arc::new(Pages::new(PAGES * PAGE).unwrap());
            let mut model = Model::default();
            for step in steps {
                let done = match step {
                    Step::Map(a, n, from, access) => {
                        let from = (&pages, from * PAGE);
                        context.map(start + a * PAGE, n * PAGE, from, access).is_ok()
                    }
                    Step::Unmap(a, n) => context.unmap(start + a * PAGE, n * PAGE).is_ok(),
                    Step::Access(a, n, v) => context.set_access(start + a * PAGE, n * PAGE, v).is_ok(),
                    Step::Write(page, value) => {
                        byte(&context, start, page).put(0, &[value]).is_some()
                    }
                };
                prop_assert_eq!(done, model.step(&step), "{:?}", step);
                for page in 0..PAGES {
                    let there = byte(&context, start, page).read::<1>(0).unwrap();
                    prop_assert_eq!(there, [*model.byte(page)], "{:?}, page {}", step, page);
                    let found = context.mapped(start + page * PAGE + 7).map(|found| found.1);
                    let behind = model.behind[page].map(|(_, at)| at * PAGE + 7);
                    prop_assert_eq!(found, behind);
                    let (access, bytes) = context.access(start + page * PAGE, PAGE).unwrap();
                    let same = model.access[page..].iter().take_while(|a| **a == access);
                    prop_assert_eq!((model.access[page], same.count() * PAGE), (access, bytes));
                }
                let end = model.behind.iter().rposition(Option::is_some).map(|last| (last + 1) * PAGE);
                let found = context.span(start, PAGE).is_some();
                prop_assert_eq!(found, end.is_some());
                let over = end.is_some_and(|end| context.span(start, end).unwrap().is_ok()
                    && context.span(start, end + 1).unwrap().is_err());
                prop_assert_eq!(over, end.is_some());
            }
            prop_assert!(!context.free(start));
            prop_assert!(context.unreserve(start, PAGE).is_err());
            prop_assert!(context.unreserve(start, PAGES * PAGE).is_ok());
            prop_assert!(context.span(start, 1).is_none());
        }
    }
}
