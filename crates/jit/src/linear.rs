//! Addresses that grow by the same number from lane to lane, because of how they are computed: sums, shifts and
//! extensions of one vector of numbers that follow each other, such as local identifiers, and of numbers that are the
//! same in all lanes, such as the first element of a row.
//!
//! A segment with messages at such addresses has a further form for full masks, which begins with looking at those
//! vectors (`addresses.rs`). In it the address of the first lane is computed as a number, and vectors that nothing but
//! such messages reads are not computed at all, except where the interpreter runs a message.

use crate::elements::stride_of;
use crate::origin::Origins;
use crate::pending::meet;
use crate::run::row_of;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use visakit_exec::code::{
    Action, Code, Compute, Lane, LaneMessage, LaneSpace, Liveness, Modify, Operation, Region,
    Source, Step, Target,
};

/// A vector that addresses are computed from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Root {
    pub(crate) offset: usize,
    /// Bytes of an element: 2 or 4.
    pub(crate) size: usize,
    pub(crate) lanes: usize,
}

impl Root {
    pub(crate) fn bytes(&self) -> Range<usize> {
        self.offset..self.offset + self.size * self.lanes
    }
}

/// A number that is added to each element of 32 bits, or subtracted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Term {
    pub(crate) at: usize,
    pub(crate) negative: bool,
}

/// How a vector is computed from a vector of numbers that follow each other: with numbers that are added to elements of
/// 32 bits, then extended, then shifted, then with numbers that are added to elements of 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) root: Root,
    pub(crate) words: Vec<Term>,
    /// Vectors that must have the same number in all lanes: some of the numbers are made of their first elements.
    uniform: Vec<Root>,
    /// Whether they are extended, and with their sign.
    pub(crate) signed: Option<bool>,
    pub(crate) shift: u32,
    pub(crate) longs: Vec<usize>,
    /// The steps that compute it, in order.
    pub(crate) steps: Vec<usize>,
}

impl Recipe {
    /// Whether some of the numbers that are added are rows.
    pub(crate) const fn has_rows(&self) -> bool {
        !self.uniform.is_empty()
    }

    /// The numbers that are added.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = Range<usize>> {
        let words = self.words.iter().map(|term| term.at..term.at + 4);
        words.chain(self.longs.iter().map(|at| *at..at + 8))
    }
}

/// What is known of a segment.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    /// Vectors of numbers that follow each other, at the start of the segment.
    pub(crate) roots: Vec<Root>,
    /// Vectors that have the same number in all lanes there.
    pub(crate) uniform: Vec<Root>,
    /// The messages, by their steps, and their addresses.
    pub(crate) messages: BTreeMap<usize, Recipe>,
    /// Steps that are not computed.
    pub(crate) deferred: BTreeSet<usize>,
}

/// Most steps of a segment that is looked at: each is compared with those after it.
const MOST_STEPS: usize = 128;

/// Most vectors with one number in all lanes that an address is made of.
const MOST_ROWS: usize = 4;

/// Most vectors that the form of a segment looks at: each costs some ten instructions.
const MOST_VECTORS: usize = 8;

/// The messages of a segment whose addresses are known to follow each other if a vector does.
pub(crate) fn linear<'o>(
    code: &Code,
    live: &Liveness,
    full: u32,
    steps: Range<usize>,
    origins: impl FnOnce() -> &'o Origins,
) -> Option<Linear> {
    if live.includes_end() || steps.len() > MOST_STEPS {
        return None;
    }
    let lanes = full.count_ones() as usize;
    let mut search = Search {
        code,
        lanes,
        known: Vec::new(),
        uniform: Vec::new(),
        written: Vec::new(),
    };
    let mut messages = BTreeMap::new();
    for place in steps.clone() {
        let step = code.steps.get(place)?;
        if let Action::Message(message) = &step.action
            && step.predicate.is_none()
            && let Some(message) = message.lanes()
            && let Some(recipe) = search.message(&message)
        {
            messages.insert(place, recipe);
        }
        search.step(place, step)?;
    }
    let mut plan = Linear {
        roots: Vec::new(),
        uniform: Vec::new(),
        messages,
        deferred: BTreeSet::new(),
    };
    plan.choose(code, steps.start, origins);
    if plan.messages.is_empty() {
        return None;
    }
    let mut walk = live.walk(code, steps.start)?;
    walk.go(steps.end);
    let is_live = |bytes: &Range<usize>| walk.live().any(bytes) || live.anywhere().any(bytes);
    // At a systolic product the interpreter may take over, for which all results have to be there.
    let of_segment = code.steps.get(steps.clone()).unwrap_or_default();
    let is_product = |step: &Step| matches!(step.action, Action::Systolic(_));
    if !of_segment.iter().any(is_product) {
        plan.deferred = deferred(code, &steps, &plan.messages, live, is_live);
    }
    Some(plan)
}

impl Linear {
    /// Keeps messages whose vectors may well all be as they must be, and lists these: a form in which one of them is not
    /// is of no use.
    fn choose<'o>(&mut self, code: &Code, start: usize, origins: impl FnOnce() -> &'o Origins) {
        let plain = |recipe: &&Recipe| recipe.uniform.is_empty();
        let first = self.messages.values().find(plain);
        let first = first.map(|recipe| recipe.root.clone());
        if !self.messages.values().all(|recipe| plain(&recipe)) {
            let origins = origins();
            // Each is looked for once, and only so many.
            let mut found: Vec<(Root, Option<usize>)> = Vec::new();
            let mut origin = |root: &Root| {
                if let Some((_, origin)) = found.iter().find(|(one, _)| one == root) {
                    return *origin;
                }
                if found.len() == MOST_VECTORS {
                    return None;
                }
                let origin = origins.of(code, start, root.bytes());
                found.push((root.clone(), origin));
                origin
            };
            // Rows: columns come before rows among the arguments of a thread.
            let mut columns = first.as_ref().map(&mut origin);
            self.messages.retain(|_, recipe| {
                if recipe.uniform.is_empty() {
                    return true;
                }
                let column = origin(&recipe.root);
                column.is_some()
                    && column == *columns.get_or_insert(column)
                    && recipe.uniform.iter().all(|row| origin(row) > column)
            });
        }
        self.messages
            .retain(|_, recipe| !recipe.uniform.is_empty() || Some(&recipe.root) == first.as_ref());
        for recipe in self.messages.values() {
            if !self.roots.contains(&recipe.root) {
                self.roots.push(recipe.root.clone());
            }
            for row in &recipe.uniform {
                if !self.uniform.contains(row) {
                    self.uniform.push(row.clone());
                }
            }
        }
    }

    /// The addresses of a message.
    pub(crate) fn message(&self, place: usize) -> Option<&Recipe> {
        self.messages.get(&place)
    }
}

/// What a computation writes, if it is all of a vector.
pub(crate) fn whole(step: &Step) -> Option<Range<usize>> {
    let Action::Compute(compute) = &step.action else {
        return None;
    };
    let to = &compute.destination;
    let is_whole = step.predicate.is_none()
        && to.target == Target::Packed
        && !to.saturate
        && !to.data_type.is_float()
        && compute.second.is_none()
        && compute.sets.is_none();
    let bytes = usize::from(step.lanes.count) * usize::from(to.data_type.size());
    is_whole.then_some(to.offset..to.offset + bytes)
}

/// Whether a step without a predicate writes each of these bytes, if all lanes run.
///
/// [`Step::written`] does not tell that: it lists all bytes that a step may write.
fn overwrites(step: &Step, bytes: &Range<usize>) -> bool {
    let covers = |start: usize, size: usize| start <= bytes.start && bytes.end <= start + size;
    match &step.action {
        Action::Message(message) => message.lanes().is_some_and(|m| {
            let size = m.element.register * m.lanes;
            let loads = !m.store && m.atomic.is_none();
            let mut parts = m.parts.iter();
            loads && parts.any(|(_, register)| covers(m.data + *register as usize, size))
        }),
        _ => whole(step).is_some_and(|written| covers(written.start, written.len())),
    }
}

/// The steps of recipes whose results nothing but these messages needs.
fn deferred(
    code: &Code,
    steps: &Range<usize>,
    messages: &BTreeMap<usize, Recipe>,
    live: &Liveness,
    is_live: impl Fn(&Range<usize>) -> bool,
) -> BTreeSet<usize> {
    let candidates: BTreeSet<usize> = messages
        .values()
        .flat_map(|recipe| recipe.steps.iter().copied())
        .collect();
    let mut deferred = BTreeSet::new();
    for place in candidates.into_iter().rev() {
        let Some(result) = code.steps.get(place).and_then(whole) else {
            continue;
        };
        // Steps that have an address may read it.
        if live.is_addressed(&result) {
            continue;
        }
        // One of its elements may be a number that is added.
        let mut numbers = messages.values().flat_map(Recipe::numbers);
        if numbers.any(|number| meet(&number, &result)) {
            continue;
        }
        let mut replaced = false;
        let needed = (place + 1..steps.end).any(|other| {
            let Some(step) = code.steps.get(other).filter(|_| !replaced) else {
                return false;
            };
            let own = match messages.get(&other) {
                // It reads its addresses as what they are.
                Some(_) => match &step.action {
                    Action::Message(message) => message.lanes().map(|message| message.addresses),
                    _ => None,
                },
                None => None,
            };
            let mut reads = step.read();
            reads.retain(|bytes| Some(bytes.start) != own);
            if !deferred.contains(&other) && reads.iter().any(|bytes| meet(bytes, &result)) {
                return true;
            }
            if step.written().is_none() {
                return true;
            }
            replaced = step.predicate.is_none() && overwrites(step, &result);
            false
        });
        if !needed && (replaced || !is_live(&result)) {
            deferred.insert(place);
        }
    }
    deferred
}

/// Follows the vectors that addresses are computed from.
struct Search<'c> {
    code: &'c Code,
    lanes: usize,
    known: Vec<(Range<usize>, Recipe)>,
    /// Vectors with the same number in all lanes, if those that are listed have that.
    uniform: Vec<(Range<usize>, Vec<Root>)>,
    /// What the segment has written so far.
    written: Vec<Range<usize>>,
}

impl Search<'_> {
    /// The addresses of a message, if they are known and elements follow each other.
    fn message(&self, m: &LaneMessage) -> Option<Recipe> {
        let addresses = m.addresses..m.addresses + 8 * m.lanes;
        let (_, recipe) = self.known.iter().find(|(bytes, _)| *bytes == addresses)?;
        let is_row = m.space == LaneSpace::Global
            && m.width == 8
            && m.lanes == self.lanes
            && m.mask == u64::MAX
            && 1usize.checked_shl(recipe.shift)
                == row_of(m).map_or(stride_of(m), |_| Some(m.element.memory));
        // Its own data are not its addresses.
        let data = |(_, register): &(u32, u32)| {
            let start = m.data + *register as usize;
            start..start + m.element.register * m.lanes
        };
        let is_own = |part| meet(&data(part), &addresses);
        (is_row && !m.parts.iter().any(is_own)).then(|| recipe.clone())
    }

    /// `None` if it is not known what a step writes.
    fn step(&mut self, place: usize, step: &Step) -> Option<()> {
        let recipe = self.recipe(place, step);
        let uniform = self.uniform(step);
        for bytes in step.written()? {
            self.known.retain(|(known, recipe)| {
                !meet(known, &bytes)
                    && !meet(&recipe.root.bytes(), &bytes)
                    && !recipe.numbers().any(|number| meet(&number, &bytes))
            });
            self.uniform.retain(|(known, _)| !meet(known, &bytes));
            self.written.push(bytes);
        }
        let Some(to) = whole(step) else {
            return Some(());
        };
        if let Some(recipe) = recipe {
            // It is computed again from these.
            let is_changed = meet(&recipe.root.bytes(), &to)
                || recipe.numbers().any(|number| meet(&number, &to));
            if !is_changed {
                self.known.push((to, recipe));
            }
        } else if let Some(of) = uniform {
            self.uniform.push((to, of));
        }
        Some(())
    }

    /// The sources of a step that writes all of a vector, if it is an operation lane by lane on numbers of 32 or 64 bits.
    fn sources<'s>(&self, step: &'s Step) -> Option<(&'s Compute, &'s [Source])> {
        let Action::Compute(compute) = &step.action else {
            return None;
        };
        whole(step)?;
        if usize::from(step.lanes.count) != self.lanes || step.lanes.first != 0 {
            return None;
        }
        let sources = compute.sources.get(..compute.operation.sources())?;
        Some((compute, sources))
    }

    /// How a step computes its result from a vector.
    fn recipe(&self, place: usize, step: &Step) -> Option<Recipe> {
        let (compute, sources) = self.sources(step)?;
        let size = usize::from(compute.destination.data_type.size());
        // One vector, and numbers.
        let mut vector = None;
        let mut numbers = Vec::new();
        let mut rows = Vec::new();
        for source in sources {
            match self.row(source) {
                Some(of) => {
                    numbers.push(source);
                    rows.extend_from_slice(of);
                }
                None if source.region != Region::Packed => numbers.push(source),
                None if vector.is_none() => vector = Some(source),
                None => return None,
            }
        }
        let vector = vector?;
        let mut recipe = self.of(vector)?;
        for row in rows {
            if !recipe.uniform.contains(&row) {
                recipe.uniform.push(row);
            }
        }
        if recipe.uniform.len() > MOST_ROWS {
            return None;
        }
        let from = usize::from(vector.data_type.size());
        match (compute.operation, compute.lane) {
            (Operation::Copy, Lane::U32) if size == 4 => {}
            (Operation::Add | Operation::Add3, Lane::U32)
                if size == 4 && from == 4 && recipe.signed.is_none() =>
            {
                for number in numbers {
                    recipe.words.push(Term {
                        at: added(number, 4)?,
                        negative: number.modify == Modify::Neg,
                    });
                }
            }
            (Operation::Copy, Lane::U64) if size == 8 && from == 4 && recipe.signed.is_none() => {
                recipe.signed = Some(vector.data_type.is_signed());
            }
            (Operation::Shl, Lane::U64)
                if size == 8 && from == 8 && recipe.signed.is_some() && recipe.longs.is_empty() =>
            {
                recipe.shift += self.count(compute)?;
            }
            (Operation::Add, Lane::U64) if size == 8 && from == 8 && recipe.signed.is_some() => {
                for number in numbers {
                    let at = added(number, 8).filter(|_| number.modify == Modify::None)?;
                    recipe.longs.push(at);
                }
            }
            _ => return None,
        }
        recipe.steps.push(place);
        Some(recipe)
    }

    /// If a source is a vector with the same number of 32 bits in all lanes: the vectors of which this is assumed.
    fn row(&self, source: &Source) -> Option<&[Root]> {
        if source.region != Region::Packed
            || source.data_type.size() != 4
            || source.data_type.is_float()
        {
            return None;
        }
        let bytes = source.offset..source.offset + 4 * self.lanes;
        let (_, of) = self.uniform.iter().find(|(known, _)| *known == bytes)?;
        Some(of)
    }

    /// Of a step whose result is the same in all lanes, if some vectors are: these. A product with a number is the place
    /// of a row, so that its other factor is taken for such a vector.
    fn uniform(&self, step: &Step) -> Option<Vec<Root>> {
        let (compute, sources) = self.sources(step)?;
        if compute.lane != Lane::U32 || compute.destination.data_type.size() != 4 {
            return None;
        }
        let mut vectors = sources
            .iter()
            .filter(|source| source.region == Region::Packed)
            .peekable();
        vectors.peek()?;
        if sources
            .iter()
            .any(|source| !matches!(source.region, Region::Packed | Region::Scalar))
        {
            return None;
        }
        let is_product = compute.operation == Operation::Mul;
        if !is_product
            && !matches!(
                compute.operation,
                Operation::Copy | Operation::Add | Operation::Add3
            )
        {
            return None;
        }
        let mut all = Vec::new();
        for vector in vectors {
            match self.row(vector) {
                Some(of) => all.extend_from_slice(of),
                None if is_product => {
                    let recipe = self.of(vector).filter(|recipe| recipe.signed.is_none())?;
                    all.push(recipe.root);
                    all.extend(recipe.uniform);
                }
                None => return None,
            }
        }
        (all.len() <= MOST_ROWS).then_some(all)
    }

    /// How a vector is computed; from itself, if the segment has not written it.
    fn of(&self, vector: &Source) -> Option<Recipe> {
        if vector.modify != Modify::None || vector.data_type.is_float() || vector.constant.is_some()
        {
            return None;
        }
        let size = usize::from(vector.data_type.size());
        let bytes = vector.offset..vector.offset + size * self.lanes;
        if let Some((_, recipe)) = self.known.iter().find(|(known, _)| *known == bytes) {
            return Some(recipe.clone());
        }
        // Words are extended with zeros, as they are read.
        let is_number = size == 4 || size == 2 && !vector.data_type.is_signed();
        let is_root = is_number
            && matches!(self.lanes, 16 | 32)
            && !self.written.iter().any(|written| meet(written, &bytes));
        is_root.then(|| Recipe {
            root: Root {
                offset: vector.offset,
                size,
                lanes: self.lanes,
            },
            words: Vec::new(),
            uniform: Vec::new(),
            signed: None,
            shift: 0,
            longs: Vec::new(),
            steps: Vec::new(),
        })
    }

    /// The number of bits of a shift that is part of the program.
    fn count(&self, compute: &Compute) -> Option<u32> {
        let [_, count, ..] = &compute.sources;
        count.constant?;
        let (_, bytes) = self
            .code
            .constants
            .iter()
            .find(|(at, _)| *at == count.offset)?;
        let count = u64::from_le_bytes(*bytes.first_chunk()?);
        u32::try_from(count).ok().filter(|count| *count < 8)
    }
}

/// The place of a number with this many bytes that is added to each element, or subtracted: of a vector with the same
/// number in all lanes the first one.
fn added(source: &Source, bytes: usize) -> Option<usize> {
    let is_plain = matches!(source.region, Region::Scalar | Region::Packed)
        && matches!(source.modify, Modify::None | Modify::Neg)
        && !source.data_type.is_float()
        && (source.constant.is_some() || usize::from(source.data_type.size()) == bytes);
    is_plain.then_some(source.offset)
}
