//! Runs segments until all that is assumed where they begin holds where they end.

use super::Ask;
use super::affine::Ways;
use super::cuts::Cuts;
use super::effects;
use super::events::Loads;
use super::layout::Layout;
use super::owners::owners;
use super::partition::Partition;
use super::segment::{self, Segment};
use crate::decide::Decisions;
use crate::machine::{Budget, Failed, Machine};
use crate::side::Side;
use crate::term::{Deep, Node, Shapes, Term, Terms, Variable};
use crate::thread::{LANES, Mask, Thread};
use crate::unknown::Unknown;
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeSet;
use visakit_exec::Limits;
use visakit_launch::Prepared;

/// Numbers of variables: those of classes begin with 0, these of cells of which nothing is known, of lanes that run, and of
/// cells that nothing has written when a thread begins.
const ALONE: u32 = 1 << 24;
const LANE: u32 = 1 << 25;
const UNWRITTEN: u32 = 1 << 26;

/// Cells of a register file at most.
const MOST_CELLS: u32 = 1 << 22;

/// Times that each segment is run at most.
const MOST_ROUNDS: usize = 64;

/// For each lane, whether it runs, if that is known.
type Lanes = [Option<bool>; LANES];

/// One of two programs.
pub(super) struct One<'a> {
    launch: &'a Prepared,
    cuts: Cuts,
    pub(super) layout: Layout,
    /// The lane that each cell belongs to: what is known of it at a cutpoint is so while the lane is there.
    owners: Vec<Option<u8>>,
    /// For each cell that a thread does not begin with, the number of its variable.
    unwritten: Vec<Option<u32>>,
}

impl<'a> One<'a> {
    pub(super) fn new(launch: &'a Prepared, cuts: Cuts, layout: Layout) -> Self {
        Self {
            owners: owners(launch.program(), &layout),
            launch,
            cuts,
            layout,
            unwritten: Vec::new(),
        }
    }

    /// For each byte of the registers, whether a thread begins with it.
    pub(super) fn defined(&self) -> Vec<bool> {
        let mut defined = vec![false; self.layout.bytes()];
        for range in self.launch.program().defined() {
            if let Some(part) = defined.get_mut(range) {
                part.fill(true);
            }
        }
        defined
    }

    /// For each byte of the registers, whether it may be read again from a cutpoint on; all are, if that is not known.
    pub(super) fn live(&self, cut: usize, side: &Side<'_>) -> Vec<bool> {
        let code = self.launch.program().code();
        let place = self.cuts.places().get(cut).copied().unwrap_or(0);
        let walk = side.live().and_then(|live| {
            let mut walk = live.walk(code, place)?;
            walk.go(place);
            Some((walk, live.anywhere()))
        });
        let is_live = |byte: usize| match &walk {
            Some((walk, anywhere)) => {
                let byte = byte..byte + 1;
                walk.live().any(&byte) || anywhere.any(&byte)
            }
            None => true,
        };
        (0..self.layout.bytes()).map(is_live).collect()
    }

    /// The lane that a cell belongs to.
    pub(super) fn owner(&self, cell: usize) -> Option<usize> {
        let owner = self.owners.get(cell).copied().flatten();
        owner.map(usize::from)
    }
}

/// Both programs, and what is known of them.
pub(super) struct Induction<'a> {
    sides: [One<'a>; 2],
    terms: Terms,
    decisions: Decisions,
    budget: Budget,
    ask: &'a Ask<'a>,
    /// What is equal at each cutpoint.
    partitions: Vec<Partition>,
    /// What is computed from other cells at each cutpoint.
    relations: Vec<Vec<Ways>>,
    /// At which others lanes may wait when lanes run at a cutpoint.
    waiting: Vec<BTreeSet<usize>>,
    /// The lanes that threads begin with.
    first: Lanes,
    loads: Loads,
}

impl<'a> Induction<'a> {
    pub(super) fn new(
        (sides, partitions, relations): ([One<'a>; 2], Vec<Partition>, Vec<Vec<Ways>>),
        (terms, decisions): (Terms, Decisions),
        (budget, ask): (Budget, &'a Ask<'a>),
        names_alike: bool,
    ) -> Self {
        Self {
            sides,
            terms,
            decisions,
            budget,
            ask,
            waiting: vec![BTreeSet::new(); partitions.len()],
            partitions,
            relations,
            first: [None; LANES],
            loads: Loads::new(names_alike),
        }
    }

    /// Numbers the variables for what nothing has written when a thread begins. The old program leaves open what is there, so
    /// that it may be what the new one finds: of the storage that is equal most often.
    pub(super) fn choose(&mut self, storage: &[Side<'_>; 2]) {
        let mut next = UNWRITTEN;
        let Some(start) = self.partitions.first() else {
            return;
        };
        for (side, one) in self.sides.iter_mut().enumerate() {
            let defined = one.defined();
            for cell in 0..one.layout.len() {
                let byte = one.layout.byte(cell).and_then(|byte| defined.get(byte));
                let is_unwritten = byte == Some(&false) && start.class(side, cell) == 0;
                next += 1;
                one.unwritten.push(is_unwritten.then_some(next));
            }
        }
        let pairs = self.corresponding(storage);
        let [old, new] = &mut self.sides;
        for (from, to) in pairs {
            for (cell, other) in from.zip(to) {
                let other = new.unwritten.get(other).copied().flatten();
                if let (Some(Some(own)), Some(other)) = (old.unwritten.get_mut(cell), other) {
                    *own = other;
                }
            }
        }
    }

    /// Finds what the old program has not written where the new one has something else that nobody has written: that may be
    /// it. Whether there is some.
    fn choose_alike(&mut self, ends: &[Segment; 2]) -> bool {
        let [old, new] = ends;
        let mut pairs: Vec<(Term, Term)> = Vec::new();
        for (a, b) in old.events.iter().zip(&new.events) {
            let operands = a.operands.iter().copied().zip(b.operands.iter().copied());
            pairs.extend(operands.chain([(a.condition, b.condition)]));
        }
        for (a, b) in old.lanes.values().zip(new.lanes.values()) {
            pairs.extend(a.iter().copied().zip(b.iter().copied()));
        }
        pairs.retain(|(a, b)| a != b);
        let (mut shapes, mut chosen) = (Shapes::default(), HashMap::new());
        for pair in pairs {
            for variables in shapes.corresponding(&self.terms, pair) {
                let [own, other] = variables.map(|term| match self.terms.node(term) {
                    Node::Variable(Variable::Free(number)) => *number,
                    _ => 0,
                });
                chosen.entry(own).or_insert(other);
            }
        }
        let [old, new] = &mut self.sides;
        let others: HashSet<u32> = new.unwritten.iter().flatten().copied().collect();
        let mut changed = false;
        for own in old.unwritten.iter_mut().flatten() {
            let free = !others.contains(own);
            if let Some(other) = chosen
                .get(own)
                .filter(|other| free && others.contains(*other))
            {
                (*own, changed) = (*other, true);
            }
        }
        changed
    }

    /// Storage of the old program, and that of the new one that is equal to it most often.
    fn corresponding(
        &self,
        [old, new]: &[Side<'_>; 2],
    ) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
        let mut votes: HashMap<(usize, usize), u32> = HashMap::new();
        for partition in self.partitions.iter().skip(1) {
            let of = |side: usize, byte: usize| {
                let class = partition.class(side, byte);
                Some(class).filter(|class| *class != 0 && !partition.is_number(*class))
            };
            let mut members: HashMap<(u32, usize), Vec<usize>> = HashMap::new();
            for (number, storage) in new.storage.iter().enumerate() {
                for (place, byte) in storage.clone().enumerate() {
                    if let Some(class) = of(1, byte) {
                        members.entry((class, place)).or_default().push(number);
                    }
                }
            }
            for (number, storage) in old.storage.iter().enumerate() {
                for (place, byte) in storage.clone().enumerate() {
                    let others = of(0, byte).and_then(|class| members.get(&(class, place)));
                    for other in others.into_iter().flatten() {
                        *votes.entry((number, *other)).or_default() += 1;
                    }
                }
            }
        }
        let mut votes: Vec<_> = votes.into_iter().collect();
        votes.sort_unstable_by_key(|(pair, count)| (std::cmp::Reverse(*count), *pair));
        let mut seen = HashSet::new();
        votes.retain(|((number, _), _)| seen.insert(*number));
        let storage = |((number, other), _)| {
            let (from, to): (usize, usize) = (number, other);
            Some((old.storage.get(from)?.clone(), new.storage.get(to)?.clone()))
        };
        votes.into_iter().filter_map(storage).collect()
    }

    /// Runs segments until all that is assumed where they begin holds where they end.
    pub(super) fn solve(&mut self) -> Result<(), Failed> {
        if self
            .sides
            .iter()
            .any(|one| one.layout.len() >= MOST_CELLS as usize)
        {
            return Err(Unknown::new("too many registers").into());
        }
        self.first = self.first()?;
        let mut todo = BTreeSet::from([0]);
        let mut reached = todo.clone();
        let mut rounds = 0;
        while let Some(cut) = todo.pop_first() {
            rounds += 1;
            if rounds > MOST_ROUNDS * self.partitions.len() {
                return Err(Unknown::new("too many rounds of an induction").into());
            }
            self.loads.clear();
            let running = self.lanes(cut)?;
            let starts = self.starts(cut, &running);
            let [old, new] = &starts;
            let ends = [
                self.segment(0, cut, (old, running))?,
                self.segment(1, cut, (new, running))?,
            ];
            if cut == 0 && self.choose_alike(&ends) {
                todo.insert(cut);
                continue;
            }
            self.compare(&ends)?;
            if self.shares(&starts, &ends, &running) {
                todo.extend(&reached);
                continue;
            }
            todo.extend(self.come(cut, &ends, &mut reached)?);
        }
        Ok(())
    }

    /// Lanes come from a cutpoint to the next ones: those at which less is assumed than before, or more may wait.
    fn come(
        &mut self,
        cut: usize,
        ends: &[Segment; 2],
        reached: &mut BTreeSet<usize>,
    ) -> Result<Vec<usize>, Failed> {
        let none = [self.terms.constant(0, 1); LANES];
        let waited = self.waiting.get(cut).cloned().unwrap_or_default();
        let mut all = waited.clone();
        let [_, new] = ends;
        let came = new
            .lanes
            .iter()
            .filter(|(_, mask)| Thread::may(&self.terms, mask));
        all.extend(came.map(|(next, _)| *next));
        if all.contains(&0) {
            return Err(Unknown::new("a loop from where the kernel begins").into());
        }
        let (mut changed, mut again) = (Vec::new(), false);
        for next in &all {
            let mask = new.lanes.get(next).copied().unwrap_or(none);
            let waits = waited.contains(next);
            let cells = [0, 1].map(|side| self.coming(side, ends, (&mask, waits)));
            let mut is_changed = reached.insert(*next);
            if let Some(partition) = self.partitions.get_mut(*next) {
                let cells = cells.each_ref().map(|cells| &cells[..]);
                is_changed |= partition.divide(cells, (&mut self.terms, &mut self.decisions));
            }
            for ways in self.relations.get_mut(*next).into_iter().flatten() {
                let (terms, decisions) = (&mut self.terms, &mut self.decisions);
                if let Some(relation) = ways.first()
                    && !relation.holds((terms, decisions), &cells)
                {
                    // Whoever comes here has not been asked about the next one.
                    ways.remove(0);
                    (is_changed, again) = (true, true);
                }
            }
            if let Some(waiting) = self.waiting.get_mut(*next) {
                let before = waiting.len();
                waiting.extend(all.range(next + 1..));
                is_changed |= waiting.len() != before;
            }
            if is_changed {
                changed.push(*next);
            }
        }
        if again {
            changed.extend(reached.iter().copied());
        }
        Ok(changed)
    }

    /// Cells when lanes come to a cutpoint: those of other lanes make no difference. Unless some wait there, one of these comes.
    fn coming(
        &mut self,
        side: usize,
        ends: &[Segment; 2],
        (mask, waits): (&Mask, bool),
    ) -> Vec<Option<Term>> {
        let (Some(one), Some(end)) = (self.sides.get(side), ends.get(side)) else {
            return Vec::new();
        };
        let any = match waits {
            true => self.terms.constant(1, 1),
            false => Thread::any(&mut self.terms, mask),
        };
        let mut cells = Vec::with_capacity(end.cells.len());
        for (cell, term) in end.cells.iter().enumerate() {
            let lane = one.owner(cell).and_then(|lane| mask.get(lane));
            cells.push(match lane {
                None => Some(self.terms.under(*term, any)),
                Some(lane) if self.terms.number(*lane) == Some(0) => None,
                Some(lane) => Some(self.terms.under(*term, *lane)),
            });
        }
        cells
    }

    /// Finds cells that change although the lane to which they belong does not run: they are nobody's. Whether there are some.
    fn shares(&mut self, starts: &[Vec<Term>; 2], ends: &[Segment; 2], running: &Mask) -> bool {
        let zero = self.terms.constant(0, 1);
        // All terms where a lane does not run.
        let mut without: HashMap<Term, Deep> = HashMap::new();
        let mut shared = false;
        for (one, (start, end)) in self.sides.iter_mut().zip(starts.iter().zip(ends)) {
            let cells = start.iter().zip(&end.cells);
            for (owner, (before, after)) in one.owners.iter_mut().zip(cells) {
                let lane = owner.and_then(|lane| running.get(usize::from(lane)));
                let Some(lane) = lane.filter(|_| before != after) else {
                    continue;
                };
                if self.terms.number(*lane) == Some(1) {
                    continue;
                }
                let without = without.entry(*lane).or_insert_with(|| {
                    let mut without = Deep::default();
                    without.set(*lane, zero);
                    without
                });
                let before = without.of(&mut self.terms, *before);
                if before != without.of(&mut self.terms, *after) {
                    (*owner, shared) = (None, true);
                }
            }
        }
        shared
    }

    /// Cells of both programs at a cutpoint where these lanes run.
    fn starts(&mut self, cut: usize, running: &Mask) -> [Vec<Term>; 2] {
        let mut cells = [0, 1].map(|side| self.cells(side, cut, running));
        let relations = self.relations.get(cut).into_iter().flatten();
        for relation in relations.filter_map(|ways| ways.first()) {
            let owner = |side: usize, cell: usize| self.sides.get(side)?.owner(cell);
            relation.assume(&mut self.terms, &mut cells, |side, cell| {
                owner(side, cell)
                    .and_then(|lane| running.get(lane))
                    .copied()
            });
        }
        cells
    }

    /// Cells of a program, but for those that are computed from others.
    fn cells(&mut self, side: usize, cut: usize, running: &Mask) -> Vec<Term> {
        let (Some(one), Some(partition)) = (self.sides.get(side), self.partitions.get(cut)) else {
            return Vec::new();
        };
        let mut cells = Vec::with_capacity(one.layout.len());
        for (cell, number) in (0..one.layout.len()).zip(0_u32..) {
            let unwritten = one.unwritten.get(cell).copied().flatten();
            let own = match (unwritten.filter(|_| cut == 0), side) {
                (Some(number), _) => number,
                (None, 0) => ALONE + number,
                (None, _) => ALONE + MOST_CELLS + number,
            };
            let own = self.terms.variable(Variable::Free(own), 8);
            let own = match one.layout.is_bit(cell) {
                true => {
                    let bit = self.terms.extract(own, 0, 1);
                    self.terms.zero_extend(bit, 8)
                }
                false => own,
            };
            let class = partition.class(side, cell);
            if class == 0 {
                cells.push(own);
                continue;
            }
            let known = self.terms.variable(Variable::Free(class), 8);
            let known = partition.bits(class).of(&mut self.terms, known);
            let lane = one.owner(cell).and_then(|lane| running.get(lane));
            cells.push(match lane {
                Some(lane) => self.terms.choice(*lane, known, own),
                None => known,
            });
        }
        cells
    }

    /// Runs the segment of a program from a cutpoint on.
    fn segment(
        &mut self,
        side: usize,
        cut: usize,
        (cells, running): (&[Term], Mask),
    ) -> Result<Segment, Failed> {
        let Some(one) = self.sides.get(side) else {
            return Err(Unknown::new("no such program").into());
        };
        let place = one.cuts.places().get(cut).copied().unwrap_or(0);
        let file = one.layout.join(&mut self.terms, cells);
        let mut machine = Machine::new(
            (&mut self.terms, &mut self.decisions),
            one.launch,
            (&HashSet::new(), None),
            self.budget,
        )?;
        let thread = Thread::new(file, (place, running));
        let found = segment::run(&mut machine, one, thread, &mut self.loads);
        let which = if side == 0 { "old" } else { "new" };
        found.map_err(|mut unknown| {
            unknown.why = format!("{which}: {}", unknown.why);
            unknown.into()
        })
    }

    /// The lanes that run when a segment begins: of those that a thread begins with, as none is added.
    fn lanes(&mut self, cut: usize) -> Result<Mask, Failed> {
        let known = self
            .first
            .map(|known| known.filter(|runs| cut == 0 || !runs));
        let mut mask = [self.terms.constant(0, 1); LANES];
        for ((lane, to), known) in (0..).zip(&mut mask).zip(known) {
            *to = match known {
                Some(runs) => self.terms.constant(runs.into(), 1),
                None => self.terms.variable(Variable::Free(LANE + lane), 1),
            };
        }
        Ok(mask)
    }

    /// The lanes with which all threads begin, and those with which none does.
    fn first(&self) -> Result<Lanes, Failed> {
        let [old, _] = &self.sides;
        let limits = Limits::default();
        let mut all: Option<Lanes> = None;
        for group in 0..old.launch.group_count() {
            for thread in old.launch.start(group, &limits)?.threads() {
                let running = thread.position(old.launch.program()).running;
                if running == 0 {
                    return Err(Unknown::new("a thread without lanes").into());
                }
                let lanes: [bool; LANES] = std::array::from_fn(|lane| running >> lane & 1 != 0);
                let known = all.get_or_insert_with(|| lanes.map(Some));
                for (to, runs) in known.iter_mut().zip(lanes) {
                    *to = to.filter(|to| *to == runs);
                }
            }
        }
        Ok(all.unwrap_or([None; LANES]))
    }

    /// Checks that both segments do the same, and that the same lanes come to each cutpoint.
    fn compare(&mut self, ends: &[Segment; 2]) -> Result<(), Failed> {
        let [old, new] = ends;
        let (first, second) = (&old.events[..], &new.events[..]);
        let in_order = match effects::in_order([first, second]) {
            Some(pairs) => self.are_equal(pairs)?,
            None => false,
        };
        if !in_order {
            let pairs = effects::by_lanes(&mut self.terms, [first, second]);
            let pairs = pairs.ok_or_else(|| Unknown::new("memory is accessed otherwise"))?;
            if !self.are_equal(pairs)? {
                return Err(
                    Unknown::new("memory is accessed at other places, or otherwise").into(),
                );
            }
        }
        let mut pairs = Vec::new();
        let zero = self.terms.constant(0, 1);
        let none = [zero; LANES];
        let cuts: BTreeSet<usize> = old.lanes.keys().chain(new.lanes.keys()).copied().collect();
        for cut in cuts {
            let lanes = |of: &Segment| of.lanes.get(&cut).copied().unwrap_or(none);
            pairs.extend(lanes(old).into_iter().zip(lanes(new)));
        }
        // What the new program loads, the old one loads as well: if it is inside of buffers, so is the new one.
        let mut loaded: HashMap<u32, Term> = HashMap::new();
        for (number, condition) in &old.loaded {
            let any = loaded.entry(*number).or_insert(zero);
            *any = self.terms.or(*any, *condition);
        }
        for (number, condition) in new.loaded.difference(&old.loaded) {
            let any = loaded.get(number).copied().unwrap_or(zero);
            let other = self.terms.not(any);
            pairs.push((self.terms.and(*condition, other), zero));
        }
        match self.are_equal(pairs)? {
            true => Ok(()),
            false => Err(Unknown::new("other lanes go on, or load").into()),
        }
    }

    fn are_equal(&mut self, mut pairs: Vec<(Term, Term)>) -> Result<bool, Failed> {
        pairs.retain(|(a, b)| a != b);
        Ok((self.ask)(&mut self.terms, pairs)?)
    }
}

impl One<'_> {
    pub(super) const fn cuts(&self) -> &Cuts {
        &self.cuts
    }
}
