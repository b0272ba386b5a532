//! Counts what runs: steps inserted into translated code, one for each basic block and one for each predicate.
//!
//! All steps of a block run equally often and with the same running lanes, so that few counters give the executions and
//! the enabled lanes of every step. Counters are words of 64 bits after everything else in the register file of a
//! thread, where the interpreter and machine code reach them alike.

use super::{Action, Code, Flag, Lanes, Origin, Step};
use std::ops::Range;

/// What a counting step counts, each in 64 bits in the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// How often it is reached.
    pub times: Option<usize>,
    /// Enabled lanes.
    pub lanes: Option<usize>,
    /// How often some of the running lanes are enabled and others are not.
    pub parts: Option<usize>,
}

/// The counts of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StepCounts {
    /// Executions.
    pub times: u64,
    /// Enabled lanes of all of them; of a branch the lanes that run.
    pub lanes: u64,
    /// Of a branch, call or return of lanes: lanes that take it.
    pub taken: Option<u64>,
    /// Of the same: executions that part the lanes, because some take it and others do not.
    pub parted: Option<u64>,
}

/// How the counts of a step are computed: indices of counters.
#[derive(Clone, Copy, Debug)]
struct Tally {
    times: usize,
    lanes: Sum,
    taken: Option<usize>,
    parted: Option<usize>,
}

/// Enabled lanes of a step.
#[derive(Clone, Copy, Debug)]
enum Sum {
    /// A fixed number each time.
    Each(u64),
    /// As a counter says.
    Counter(usize),
}

/// How the counts of the steps are computed from the counters.
#[derive(Clone, Debug)]
pub(crate) struct Tallies {
    /// The counters in the register file.
    pub(crate) counters: Range<usize>,
    /// A row for each step that is an instruction.
    steps: Vec<Option<Tally>>,
}

impl Tallies {
    /// The counts of each step, from the values of the counters.
    pub(crate) fn expand(&self, counters: &[u64]) -> Vec<StepCounts> {
        let at = |number: usize| counters.get(number).copied().unwrap_or(0);
        let counts = |tally: &Tally| StepCounts {
            times: at(tally.times),
            lanes: match tally.lanes {
                Sum::Each(lanes) => at(tally.times).saturating_mul(lanes),
                Sum::Counter(number) => at(number),
            },
            taken: tally.taken.map(at),
            parted: tally.parted.map(at),
        };
        let steps = self.steps.iter();
        steps
            .map(|tally| tally.as_ref().map(counts).unwrap_or_default())
            .collect()
    }
}

/// Allocates places for counters.
struct Cells {
    base: usize,
    count: usize,
}

impl Cells {
    /// A new counter: its number, and its place in the register file.
    fn next(&mut self) -> (usize, usize) {
        let number = self.count;
        self.count += 1;
        (number, self.base + 8 * number)
    }
}

/// Whether the lanes of a step are the execution mask filtered by its predicate.
const fn is_masked(action: &Action) -> bool {
    matches!(
        action,
        Action::Compute(_) | Action::Message(_) | Action::Systolic(_)
    )
}

/// The predicate of lanes that leave the others at this step.
fn leaving(step: &Step) -> Option<Option<Flag>> {
    match step.action {
        Action::Goto { inverted, .. } => Some(step.predicate.map(|flag| Flag {
            invert: flag.invert != inverted,
            ..flag
        })),
        Action::Call { uniform, .. }
        | Action::CallAddress { uniform, .. }
        | Action::Return { uniform } => (!uniform).then_some(step.predicate),
        _ => None,
    }
}

impl Code {
    /// Inserts counting steps into the code, and reserves places for their counters at the end of its register file.
    pub(crate) fn count(&mut self) -> Tallies {
        let blocks = self.blocks();
        let base = self.register_bytes.next_multiple_of(8);
        let mut cells = Cells { base, count: 0 };
        let all = self.steps.iter().map(|s| s.lanes.first + s.lanes.count);
        let running = Lanes {
            count: all.max().unwrap_or(1).clamp(1, 32),
            first: 0,
            no_mask: false,
        };
        let old = std::mem::take(&mut self.steps);
        let mut places = vec![0; old.len()];
        let mut tallies = Vec::new();
        for block in blocks {
            let steps = old.get(block.steps.clone()).unwrap_or(&[]);
            let mut steps = block.steps.clone().zip(steps).peekable();
            if let Some(place) = places.get_mut(block.steps.start) {
                *place = self.steps.len();
            }
            // Lanes that wait come first: they run with the block.
            if let Some((_, step)) = steps.next_if(|(_, step)| matches!(step.action, Action::Join))
            {
                self.steps.push(step.clone());
                tallies.push(None);
            }
            let Some((_, first)) = steps.peek() else {
                continue;
            };
            let origin = Origin {
                op: None,
                ..first.origin
            };
            let (times, cell) = cells.next();
            // A sum of running lanes for each window that steps have.
            let mut sums: Vec<(Lanes, usize)> = Vec::new();
            let mut counts: Vec<Step> = Vec::new();
            let mut sum = |lanes: Lanes, cells: &mut Cells| {
                if let Some((_, number)) = sums.iter().find(|(of, _)| *of == lanes) {
                    return *number;
                }
                let (number, place) = cells.next();
                let count = Count {
                    times: counts.is_empty().then_some(cell),
                    lanes: Some(place),
                    parts: None,
                };
                counts.push(counting(count, lanes, None, origin));
                sums.push((lanes, number));
                number
            };
            let mut rows: Vec<(Step, Option<Tally>)> = Vec::new();
            for (_, step) in steps {
                let mut tally = Tally {
                    times,
                    lanes: Sum::Each(1),
                    taken: None,
                    parted: None,
                };
                if is_masked(&step.action) {
                    if step.predicate.is_some() {
                        let (number, place) = cells.next();
                        let count = Count {
                            lanes: Some(place),
                            ..Count::default()
                        };
                        rows.push((
                            counting(count, step.lanes, step.predicate, step.origin),
                            None,
                        ));
                        tally.lanes = Sum::Counter(number);
                    } else if step.lanes.no_mask {
                        tally.lanes = Sum::Each(step.lanes.count.into());
                    } else {
                        tally.lanes = Sum::Counter(sum(step.lanes, &mut cells));
                    }
                } else if let Some(predicate) = leaving(step) {
                    let ((taken, taken_at), (parted, parted_at)) = (cells.next(), cells.next());
                    let count = Count {
                        times: None,
                        lanes: Some(taken_at),
                        parts: Some(parted_at),
                    };
                    let lanes = Lanes {
                        no_mask: false,
                        ..step.lanes
                    };
                    rows.push((counting(count, lanes, predicate, step.origin), None));
                    tally.taken = Some(taken);
                    tally.parted = Some(parted);
                    if matches!(step.action, Action::Goto { .. }) {
                        tally.lanes = Sum::Counter(sum(running, &mut cells));
                    }
                }
                let tally = step.action.is_instruction().then_some(tally);
                // A branch is counted between the two.
                let fused = false;
                let step = step.clone();
                rows.push((Step { fused, ..step }, tally));
            }
            if counts.is_empty() {
                let count = Count {
                    times: Some(cell),
                    ..Count::default()
                };
                counts.push(counting(count, Lanes::ONE, None, origin));
            }
            tallies.extend(counts.iter().map(|_| None));
            self.steps.append(&mut counts);
            for (step, tally) in rows {
                self.steps.push(step);
                tallies.push(tally);
            }
        }
        let moved = |target: &mut usize| *target = places.get(*target).copied().unwrap_or(*target);
        for step in &mut self.steps {
            match &mut step.action {
                Action::Jump { target, .. }
                | Action::Goto { target, .. }
                | Action::Call { target, .. } => moved(target),
                Action::Switch { targets, .. } => targets.iter_mut().for_each(moved),
                _ => {}
            }
        }
        for routine in &mut self.routines {
            moved(&mut routine.entry);
        }
        let counters = base..base + 8 * cells.count;
        self.register_bytes = counters.end;
        Tallies {
            counters,
            steps: tallies,
        }
    }
}

fn counting(count: Count, lanes: Lanes, predicate: Option<Flag>, origin: Origin) -> Step {
    Step {
        lanes,
        predicate,
        action: Action::Count(Box::new(count)),
        origin: Origin { op: None, ..origin },
        fused: false,
    }
}
