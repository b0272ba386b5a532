//! What is in registers at cutpoints in some runs: what is equal there may always be.

use super::cuts::Cuts;
use super::layout::Layout;
use super::partition::Bits;
use hashbrown::HashMap;
use std::ops::ControlFlow;
use visakit_exec::{InstructionEvent, Limits, Observer, unwatched_runs};
use visakit_launch::{LaunchError, Prepared};

/// Threads of a group that are looked at.
const THREADS: usize = 8;

/// Groups that run.
const GROUPS: u64 = 3;

/// Visits of a thread to a cutpoint that are looked at.
const VISITS: u64 = 24;

/// Visits to a cutpoint whose registers are kept: of a thread, threads, and of all.
const KEPT: u64 = 5;
const KEPT_THREADS: usize = 2;
const MOST_KEPT: usize = 24;

/// Instructions of a group.
const STEPS: u64 = 200_000;

/// What is in registers at a cutpoint.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Of all visits with the lanes that ran: those of two programs are alike if this is the same.
    pub(super) visits: u64,
    /// Of the values of each cell at all visits, and the bits that were the same at all of them.
    pub(super) cells: Vec<(u64, Bits)>,
    /// The registers at some visits.
    pub(super) kept: Vec<Visit>,
}

/// A visit of a thread to a cutpoint.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    /// The run and the group, the thread, and how many visits of its there have been before.
    pub(super) of: (u64, usize, u64),
    pub(super) running: u32,
    /// The bytes of the register file.
    pub(super) registers: Vec<u8>,
}

/// What is seen of a program at each cutpoint.
pub(super) struct Watch<'l> {
    layout: &'l Layout,
    /// The cutpoint of each step at which there is one.
    at: HashMap<usize, usize>,
    unwatched: Vec<u16>,
    /// The run and the group.
    now: u64,
    visits: HashMap<(usize, usize), u64>,
    pub(super) seen: Vec<Seen>,
}

/// A number that hardly any other one leads to.
const fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

impl<'l> Watch<'l> {
    pub(super) fn new(launch: &Prepared, cuts: &Cuts, layout: &'l Layout) -> Self {
        let steps = &launch.program().code().steps;
        let mut at = HashMap::new();
        for (number, place) in cuts.places().iter().enumerate() {
            let rest = steps.iter().enumerate().skip(*place);
            let mut instructions = rest.filter(|(_, step)| step.action.is_instruction());
            if let Some((step, _)) = instructions.next() {
                at.entry(step).or_insert(number);
            }
        }
        let watched: Vec<bool> = (0..steps.len())
            .map(|step| at.contains_key(&step))
            .collect();
        Self {
            layout,
            unwatched: unwatched_runs(watched.into_iter()),
            at,
            now: 0,
            visits: HashMap::new(),
            seen: vec![Seen::default(); cuts.places().len()],
        }
    }

    /// Runs some groups of a launch; what a fault ends is seen up to there.
    pub(super) fn run(&mut self, number: u64, launch: &Prepared) -> Result<(), LaunchError> {
        let limits = Limits {
            max_steps: STEPS,
            ..Limits::default()
        };
        for group in 0..launch.group_count().min(GROUPS) {
            let mut threads = launch.start(group, &limits)?;
            self.now = mix(number << 32 | group);
            self.visits.clear();
            let program = launch.program();
            let ended = threads.run(program, launch.memory(), &limits, self);
            if ended.is_err() {
                break;
            }
        }
        Ok(())
    }
}

impl Observer for Watch<'_> {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = false;

    fn unwatched(&self) -> &[u16] {
        &self.unwatched
    }

    fn before(&mut self, event: &InstructionEvent<'_>) -> ControlFlow<()> {
        let Some(cut) = self.at.get(&event.step) else {
            return ControlFlow::Continue(());
        };
        let visits = self.visits.entry((event.thread, *cut)).or_default();
        *visits += 1;
        let (visit, thread) = (*visits, event.thread);
        let Some(seen) = self.seen.get_mut(*cut) else {
            return ControlFlow::Continue(());
        };
        if visit > VISITS || thread >= THREADS {
            return ControlFlow::Continue(());
        }
        let key = mix(self.now ^ mix(visit << 16 | thread as u64));
        seen.visits = seen
            .visits
            .wrapping_add(mix(key ^ u64::from(event.running)));
        if thread < KEPT_THREADS && visit <= KEPT && seen.kept.len() < MOST_KEPT {
            let bytes = event.registers.get(..self.layout.bytes());
            seen.kept.push(Visit {
                of: (self.now, thread, visit),
                running: event.running,
                registers: bytes.unwrap_or_default().to_vec(),
            });
        }
        let values = self.layout.values(event.registers);
        if seen.cells.is_empty() {
            let first = |value| (0, Bits::number(value));
            seen.cells = self.layout.values(event.registers).map(first).collect();
        }
        for ((sum, always), value) in seen.cells.iter_mut().zip(values) {
            // Zeros are most of the file.
            if value != 0 {
                *sum = sum.wrapping_add(mix(key ^ u64::from(value)));
            }
            *always = always.and(value);
        }
        ControlFlow::Continue(())
    }
}
