//! How a run ended.

use std::fmt;
use visakit_exec::code::Code;
use visakit_exec::{Fault, FaultKind, Group, Program, ThreadState};
use visakit_isa::object::RoutineId;

/// Most threads of which a stopped run says where they were.
const MOST_THREADS: usize = 1 << 12;

/// How a run ended.
#[derive(Clone, Debug, Default)]
pub enum End {
    /// All groups ran to their ends.
    #[default]
    Complete,
    /// Some did not: memory holds what was computed so far.
    Stopped(Box<Stopped>),
}

/// A run of which some groups did not reach their ends.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// Why.
    pub reason: Reason,
    /// Groups that reached their ends.
    pub ended: u64,
    /// Groups of the launch.
    pub groups: u64,
    /// Where threads of the groups that had begun were, at most some thousand.
    pub threads: Vec<Standing>,
}

/// Why a run did not reach its end.
#[derive(Clone, Debug)]
pub enum Reason {
    /// The interrupt was raised.
    Interrupted,
    /// All groups together ran this many instructions, their limit.
    Steps(u64),
    /// A group could not continue, and whoever watched it let the others run.
    Fault(Box<Fault>),
}

impl Reason {
    /// Its name: `interrupted`, `steps`, `deadlock` or `fault`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::Steps(_) => "steps",
            Self::Fault(fault) => match fault.kind {
                FaultKind::StepLimit(_) => "steps",
                FaultKind::BarrierDivergence { .. } => "deadlock",
                _ => "fault",
            },
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("it was interrupted"),
            Self::Steps(most) => write!(f, "its groups ran more than {most} instructions"),
            Self::Fault(fault) => write!(f, "a group could not continue: {}", fault.kind),
        }
    }
}

/// Where a thread was when its run was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Its group.
    pub group: [u32; 3],
    /// Its place in the group.
    pub thread: usize,
    /// The routine.
    pub routine: RoutineId,
    /// Place of the instruction that it would run next, or at which it waits, in the routine's code.
    pub instruction: usize,
    /// Whether it waits for other threads of its group.
    pub waits: bool,
}

impl End {
    /// Whether all groups ran to their ends.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        matches!(self, Self::Complete)
    }

    /// What stopped it.
    #[must_use]
    pub fn stopped(&self) -> Option<&Stopped> {
        match self {
            Self::Complete => None,
            Self::Stopped(stopped) => Some(stopped),
        }
    }

    /// The end of a run of one group, which could not continue.
    #[must_use]
    pub fn of_fault(fault: Box<Fault>) -> Self {
        Self::new(Some(Reason::Fault(fault)), (0, 1), Vec::new())
    }

    pub(crate) fn new(
        reason: Option<Reason>,
        (ended, groups): (u64, u64),
        threads: Vec<Standing>,
    ) -> Self {
        reason.map_or(Self::Complete, |reason| {
            Self::Stopped(Box::new(Stopped {
                reason,
                ended,
                groups,
                threads,
            }))
        })
    }
}

/// The place of a step, or of the first one before it that is an instruction.
fn place(code: &Code, step: usize) -> Option<(RoutineId, usize)> {
    let before = code.steps.get(..=step)?.iter();
    let step = before.rev().find(|step| step.action.is_instruction())?;
    let routine = code.routines.get(step.origin.routine as usize)?;
    Some((routine.id, step.origin.instruction as usize))
}

/// Adds where the threads of a group are that have not ended.
pub(crate) fn standing(to: &mut Vec<Standing>, at: [u32; 3], group: &Group, program: &Program) {
    let room = MOST_THREADS.saturating_sub(to.len());
    let threads = group.threads().iter().enumerate();
    let threads = threads.filter_map(|(thread, of)| {
        let waits = match of.state() {
            ThreadState::Ended => return None,
            state => state != ThreadState::Ready,
        };
        // One that waits is after its barrier.
        let step = of.position(program).step.checked_sub(usize::from(waits))?;
        let (routine, instruction) = place(program.code(), step)?;
        Some(Standing {
            group: at,
            thread,
            routine,
            instruction,
            waits,
        })
    });
    to.extend(threads.take(room));
}
