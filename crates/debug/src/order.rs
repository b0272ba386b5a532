//! Moments counted through the whole run: in the order in which instructions ran, whichever thread they were of.
//!
//! Front ends that show a run as one line of instructions go along it in both directions.

use crate::error::DebugError;
use crate::history::Time;
use crate::listing::Place;
use crate::run::{Flow, Follow, Replay};
use crate::session::{Session, Stop};
use crate::watch::Ends;
use std::ops::ControlFlow;
use visakit_exec::{InstructionEvent, MemoryAccess, Observer, Thread, ThreadState};
use visakit_isa::object::RoutineId;

/// Accesses of an instruction that are shown.
const MOST_ACCESSES: usize = 64;

/// Instructions between two checks of the budget of a run to a place.
const PIECE: u64 = 1 << 16;

/// The effects of the last instruction.
#[derive(Clone, Debug)]
pub struct Deed {
    /// The thread of the group.
    pub thread: usize,
    /// The instruction.
    pub place: Place,
    /// Lanes of the thread that it ran for: bit 0 is the first lane of the thread.
    pub lanes: u32,
    /// Its first accesses to memory, 64 at most.
    pub accesses: Vec<MemoryAccess>,
}

impl Session {
    /// Instructions that have run since the beginning, in all groups and threads.
    #[must_use]
    pub fn ran(&self) -> u64 {
        let before = self.history.before_group(self.time.group);
        before.saturating_add(self.time.step)
    }

    /// Goes to the moment at which this many instructions have run since the beginning, forward or back, and returns
    /// the effects of the last of them. The run stops there, or earlier at a fault or at its end. Breakpoints do not
    /// stop it.
    ///
    /// # Errors
    /// [`DebugError::Launch`]: a group cannot be started.
    pub fn seek(&mut self, instructions: u64) -> Result<Option<Deed>, DebugError> {
        self.leave();
        let Some(before) = instructions.checked_sub(1) else {
            self.jump(Time::default())?;
            self.look_at_runner();
            self.stop = Stop::Start;
            return Ok(None);
        };
        let mut flow = Flow::Arrived;
        if before < self.ran() {
            let time = self.history.moment(before, self.time);
            flow = self.jump(time)?;
        }
        // The beginning of later groups is known only when the previous ones have ended.
        while matches!(flow, Flow::Arrived) && self.ran() < before {
            let step = self.time.step.saturating_add(before - self.ran());
            flow = self.jump(Time { step, ..self.time })?;
        }
        if !matches!(flow, Flow::Arrived) {
            // The changes of a single instruction are shown, not those of a whole run.
            self.earlier = None;
            self.arrive(flow, None);
            return Ok(None);
        }
        self.once()
    }

    /// Runs to a place, for at most this many instructions, and then the instruction there; returns its effects.
    /// Breakpoints stop the run before.
    ///
    /// # Errors
    /// As [`Self::seek`].
    pub fn run_through(&mut self, place: Place, most: u64) -> Result<Option<Deed>, DebugError> {
        self.leave();
        if self.ended {
            self.stop = Stop::Ended;
            return Ok(None);
        }
        let end = self.ran().saturating_add(most);
        let routine = self.listing.routines.get(place.routine).map(|r| r.id);
        let mut here = |event: &InstructionEvent<'_>, _: Time, _: &_| {
            let here = Some(event.routine) == routine && event.instruction == place.instruction;
            if here { Ends::Yes } else { Ends::No }
        };
        // Being stopped before the place counts as having arrived.
        let next = self.group.next_thread().and_then(|t| self.position(t));
        if next.is_some_and(|(at, _)| at == place) {
            return self.once();
        }
        let (flow, hit) = self.watched(&mut here, None, PIECE.min(most.max(1)), |session| {
            session.ran() >= end
        })?;
        let arrived = hit.as_ref().is_some_and(|hit| hit.point.is_none());
        self.arrive(flow, hit);
        if arrived { self.once() } else { Ok(None) }
    }

    /// Runs one instruction: that of the thread whose turn it is.
    fn once(&mut self) -> Result<Option<Deed>, DebugError> {
        let mut witness = Witness::default();
        let flow = loop {
            let flow = Self::advance(
                &self.target,
                &self.interrupt,
                &mut self.history,
                (&mut self.group, &mut self.time, &mut self.applied),
                &mut witness,
                None,
                1,
            )?;
            // A group may end, or its threads pass a barrier, before another instruction runs.
            if !matches!(flow, Flow::Piece) || witness.seen.is_some() {
                break flow;
            }
        };
        let Some(seen) = witness.seen.filter(|_| !matches!(flow, Flow::Fault(_))) else {
            self.arrive(flow, None);
            return Ok(None);
        };
        let place = Place {
            routine: self.listing.routine_of(seen.routine),
            instruction: seen.instruction,
        };
        let first = self.listing.row(place).map_or(0, |row| row.first_lane);
        self.earlier = Some((seen.thread, seen.registers));
        let running = self.group.threads().iter();
        let all_ended = running.map(Thread::state).all(|s| s == ThreadState::Ended);
        let last = self.time.group + 1 >= self.target.groups();
        let flow = if all_ended && last { Flow::Ended } else { flow };
        self.arrive(flow, None);
        self.focus.0 = seen.thread;
        Ok(Some(Deed {
            thread: seen.thread,
            place,
            lanes: seen.mask.checked_shl(first).unwrap_or(0),
            accesses: seen.accesses,
        }))
    }
}

/// Records the effects of one instruction.
#[derive(Default)]
struct Witness {
    replay: Replay,
    seen: Option<Seen>,
}

struct Seen {
    thread: usize,
    routine: RoutineId,
    instruction: usize,
    mask: u32,
    /// Before it ran.
    registers: Vec<u8>,
    accesses: Vec<MemoryAccess>,
}

impl Observer for Witness {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = true;

    fn before(&mut self, event: &InstructionEvent<'_>) -> ControlFlow<()> {
        self.seen = Some(Seen {
            thread: event.thread,
            routine: event.routine,
            instruction: event.instruction,
            mask: event.mask,
            registers: event.registers.to_vec(),
            accesses: Vec::new(),
        });
        self.replay.before(event)
    }

    fn after(&mut self, event: &InstructionEvent<'_>) {
        self.replay.after(event);
    }

    fn memory(&mut self, access: &MemoryAccess, _: &[u8]) {
        if let Some(seen) = &mut self.seen
            && seen.accesses.len() < MOST_ACCESSES
        {
            seen.accesses.push(*access);
        }
    }
}

impl Follow for Witness {
    fn is_open(&self) -> bool {
        self.replay.is_open()
    }
}
