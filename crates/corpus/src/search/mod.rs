//! Patterns of instructions.
//!
//! A pattern is a line of text: steps, with arrows between them.
//!
//! ```text
//! lsc_load.ugm data_size=d64 dst=$x mask=$m ->4 * reads=$x mask!=$m
//! ```
//!
//! * A step begins with a mnemonic, in which `*` matches any letters and `?` a single one. It is compared with the
//!   mnemonic of text, with that and the shared function (`lsc_load.ugm`), and with the name of the row of the
//!   instruction table (`LSC_LOAD`), ignoring case.
//! * Conditions follow: `KEY=VALUE`, `KEY!=VALUE`, and for numbers `<`, `>`, `<=`, `>=`. All must hold.
//! * `->` means the next instruction to run, `->N` one of the next N on some path of control flow, `->any` any that can
//!   be reached. Labels and debug information are ignored.
//! * `->N without(STEP) STEP`: no instruction in between matches.
//! * `$x` is a variable of the pattern: its first occurrence sets the value, later ones must have the same value (`=`)
//!   or a different one (`!=`).
//!
//! What no instruction can match is rejected: names without a row, and words that a key never has.
//!
//! | key | value |
//! |---|---|
//! | `group` | group of the row: `arithmetic`, `lsc`, … |
//! | `flow` | `next`, `jump`, `goto`, `call`, `return`, … as in column `flow` |
//! | `exec` | execution size |
//! | `mask` | `M1` to `M8`, `M1_NM` to `M8_NM` |
//! | `pred` | predicate variable, `none` if there is none |
//! | `type` | type of the destination, or of the first source |
//! | `memory`, `space`, `layout` | as in the columns of that name |
//! | `bytes`, `elements`, `address` | bytes of an element, elements, bits of an address |
//! | `reads`, `writes` | a variable, by its name; variables that share storage are equal |
//! | `imm` | a constant among the sources; floats by value (`0.5`), or by their bits |
//! | a field of the row, such as `dst`, `src0`, `data_size` | the variable, constant, name or number in it |
//!
//! ```
//! use visakit_corpus::search::{Pattern, search};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let bytes = include_bytes!("../../../../fixtures/objects/subgroups_skl_v36.isa");
//! let object = visakit_parse::read(bytes)?;
//! let pattern: Pattern = "mul dst=$x ->8 add reads=$x".parse()?;
//! for found in search(&object, &pattern).matches {
//!     println!("{:?}: instructions {:?}", found.routine, found.instructions);
//! }
//! # Ok(())
//! # }
//! ```

mod facts;
mod known;
mod pattern;

pub use pattern::{Pattern, PatternError};

use facts::{Fact, Facts};
use hashbrown::HashSet;
use pattern::{Condition, Distance, Relation, Step, Wanted};
use std::collections::VecDeque;
use visakit_isa::Format;
use visakit_isa::object::{Body, Item, Object, RoutineId};
use visakit_isa::semantics::Flow;
use visakit_rewrite::graph::Cfg;

/// At most this many instructions are examined per routine: patterns with several `->any` would take forever.
const WORK: usize = 20_000_000;

/// Steps between instructions hold what they have seen at the same time: together this many times the instructions of
/// the routine.
const HELD: usize = 16;

/// What a search may still do in a routine.
struct Budget {
    /// Instructions to examine.
    work: usize,
    /// Instructions to hold as seen.
    room: usize,
}

impl Budget {
    /// Takes an instruction that a step has not seen before; false if there is nothing left.
    fn take(&mut self) -> bool {
        self.work = self.work.saturating_sub(1);
        if self.room == 0 {
            self.work = 0;
        }
        self.room = self.room.saturating_sub(1);
        self.work > 0
    }
}

/// A place where a pattern fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Which routine.
    pub routine: RoutineId,
    /// The instruction of each step, by its number as in the columns.
    pub instructions: Vec<usize>,
    /// Variables of the pattern with their values.
    pub bound: Vec<(String, String)>,
}

/// The matches found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// For each instruction that a match begins with the first one, in order of the code.
    pub matches: Vec<Match>,
    /// Routines that were abandoned as too expensive; some of their matches are missing.
    pub given_up: Vec<RoutineId>,
}

/// All matches of a pattern in an object.
#[must_use]
pub fn search(object: &Object<'_>, pattern: &Pattern) -> Found {
    let mut found = Found::default();
    for (id, routine) in object.routines() {
        if let Some(body) = routine.body() {
            let search = Search::new(body, object.format(), pattern);
            search.routine(id, &mut found);
        }
    }
    found
}

/// Variables of the pattern and their values.
type Bindings = Vec<(String, Fact)>;

struct Search<'a> {
    facts: Facts<'a>,
    pattern: &'a Pattern,
    /// What can run after each instruction, skipping labels and markers.
    successors: Vec<Vec<usize>>,
}

impl<'a> Search<'a> {
    fn new(body: &'a Body<'a>, format: Format, pattern: &'a Pattern) -> Self {
        let facts = Facts::new(body, format);
        // One step needs no flow.
        let successors = if pattern.steps.len() > 1 {
            successors(body)
        } else {
            Vec::new()
        };
        Self {
            facts,
            pattern,
            successors,
        }
    }

    fn routine(&self, id: RoutineId, found: &mut Found) {
        let Some((first, rest)) = self.pattern.steps.split_first() else {
            return;
        };
        let room = self.facts.len().saturating_mul(HELD);
        let mut budget = Budget { work: WORK, room };
        for start in 0..self.facts.len() {
            for bindings in self.fits(start, &first.step, &Vec::new()) {
                let mut places = vec![start];
                budget.room = room;
                if let Some(bound) = self.rest(start, rest, bindings, &mut places, &mut budget) {
                    let show = |(name, fact): (String, Fact)| (name, self.facts.show(&fact));
                    found.matches.push(Match {
                        routine: id,
                        instructions: places
                            .iter()
                            .filter_map(|i| self.facts.number(*i))
                            .collect(),
                        bound: bound.into_iter().map(show).collect(),
                    });
                    break;
                }
            }
            if budget.work == 0 {
                found.given_up.push(id);
                return;
            }
        }
    }

    /// Finds the remaining steps after `from`; breadth first, so that near instructions come first.
    fn rest(
        &self,
        from: usize,
        steps: &[pattern::Arrow],
        bindings: Bindings,
        places: &mut Vec<usize>,
        budget: &mut Budget,
    ) -> Option<Bindings> {
        let Some((arrow, rest)) = steps.split_first() else {
            return Some(bindings);
        };
        let most = match arrow.distance {
            Distance::Within(most) => most,
            Distance::Any => usize::MAX,
        };
        let mut seen = HashSet::new();
        let mut queue = VecDeque::from([(from, 0usize)]);
        while let Some((place, distance)) = queue.pop_front() {
            for next in self.successors.get(place).into_iter().flatten().copied() {
                if !seen.insert(next) {
                    continue;
                }
                if !budget.take() {
                    return None;
                }
                for bindings in self.fits(next, &arrow.step, &bindings) {
                    places.push(next);
                    if let Some(bound) = self.rest(next, rest, bindings, places, budget) {
                        return Some(bound);
                    }
                    places.pop();
                }
                let blocked = arrow.without.as_ref();
                let blocked =
                    blocked.is_some_and(|step| !self.fits(next, step, &bindings).is_empty());
                if !blocked && distance + 1 < most {
                    queue.push_back((next, distance + 1));
                }
            }
        }
        budget.room = budget.room.saturating_add(seen.len());
        None
    }

    /// The ways in which an instruction matches a step: the resulting values of the variables.
    fn fits(&self, place: usize, step: &Step, bindings: &Bindings) -> Vec<Bindings> {
        if !self.facts.is_code(place) || !self.facts.is_called(place, &step.mnemonic) {
            return Vec::new();
        }
        let mut ways = vec![bindings.clone()];
        for condition in &step.conditions {
            let facts = self.facts.of(place, &condition.key);
            ways = ways
                .iter()
                .flat_map(|bindings| self.holds(condition, &facts, bindings))
                .collect();
            if ways.is_empty() {
                break;
            }
        }
        ways
    }

    fn holds(&self, condition: &Condition, facts: &[Fact], bindings: &Bindings) -> Vec<Bindings> {
        let same = |holds: bool| {
            if holds {
                vec![bindings.clone()]
            } else {
                Vec::new()
            }
        };
        match &condition.wanted {
            Wanted::Variable(name) => {
                let bound = bindings.iter().find(|(known, _)| known == name);
                let number = bound.and_then(|(_, fact)| fact.number());
                match (bound, number, condition.relation) {
                    (Some((_, fact)), _, Relation::NotEqual) => same(!facts.contains(fact)),
                    (_, Some(wanted), relation) => {
                        same(facts.iter().any(|fact| fact.compares(relation, wanted)))
                    }
                    (Some((_, fact)), None, Relation::Equal) => same(facts.contains(fact)),
                    (None, _, Relation::Equal) => {
                        let bind = |fact: &Fact| {
                            let mut bindings = bindings.clone();
                            bindings.push((name.clone(), fact.clone()));
                            bindings
                        };
                        facts.iter().map(bind).collect()
                    }
                    _ => Vec::new(),
                }
            }
            Wanted::Text(glob) => {
                let any = facts.iter().any(|fact| self.facts.fits(fact, glob));
                same(any == (condition.relation == Relation::Equal))
            }
            Wanted::Number(wanted) => match condition.relation {
                Relation::NotEqual => same(
                    !facts
                        .iter()
                        .any(|fact| fact.compares(Relation::Equal, *wanted)),
                ),
                relation => same(facts.iter().any(|fact| fact.compares(relation, *wanted))),
            },
        }
    }
}

/// What can run after each item of the code, skipping labels and markers.
fn successors(body: &Body<'_>) -> Vec<Vec<usize>> {
    let cfg = Cfg::of(body);
    let mut direct: Vec<Vec<usize>> = vec![Vec::new(); body.code.len()];
    for node in cfg.graph.node_indices() {
        let Some(block) = cfg.graph.node_weight(node) else {
            continue;
        };
        for place in block.code.clone() {
            let Some(list) = direct.get_mut(place) else {
                continue;
            };
            if place + 1 < block.code.end {
                list.push(place + 1);
            } else {
                let blocks = cfg.graph.neighbors(node);
                let starts = blocks.filter_map(|next| cfg.graph.node_weight(next));
                list.extend(starts.filter(|b| !b.code.is_empty()).map(|b| b.code.start));
            }
        }
    }
    let passed = |place: usize| match body.code.get(place) {
        Some(Item::Instruction(i)) => matches!(i.def().flow, Flow::Marker | Flow::Label { .. }),
        _ => false,
    };
    // From the end: except in loops, what follows a label is known before the label is visited.
    let mut resolved: Vec<Vec<usize>> = Vec::with_capacity(direct.len());
    for list in &direct {
        let mut real = Vec::new();
        let mut seen: HashSet<usize> = HashSet::new();
        let mut open: Vec<usize> = list.clone();
        while let Some(place) = open.pop() {
            if !seen.insert(place) {
                continue;
            }
            if passed(place) {
                open.extend(direct.get(place).into_iter().flatten());
            } else {
                real.push(place);
            }
        }
        real.sort_unstable();
        resolved.push(real);
    }
    resolved
}
