//! The run itself, in pieces, with who watches it.

#![allow(clippy::result_large_err, reason = "as the executor's")]

use crate::error::DebugError;
use crate::history::{History, Time};
use crate::session::{Session, Stop};
use crate::target::Target;
use crate::watch::{Hit, Until, Watcher};
use std::ops::ControlFlow;
use visakit_exec::{Fault, FaultKind, Group, InstructionEvent, Interrupt, Observer, Progress};

/// How a part of a run ended.
pub(crate) enum Flow {
    /// At the time that was asked for.
    Arrived,
    /// The watcher stopped it.
    Hit,
    /// After the piece that was asked for.
    Piece,
    Ended,
    Interrupted,
    Fault(Box<Fault>),
}

impl Session {
    /// Runs with a watcher, in pieces, until `enough` after a piece.
    pub(crate) fn watched(
        &mut self,
        until: Until<'_>,
        end: Option<Time>,
        piece: u64,
        enough: impl Fn(&Self) -> bool,
    ) -> Result<(Flow, Option<Hit>), DebugError> {
        let points = std::mem::take(&mut self.points);
        // Nothing stops the run again where it was stopped, but at the beginning nothing has been reported yet. Steps
        // continue.
        let start = (self.stop != Stop::Start || piece < u64::MAX).then_some(self.time);
        let mut pending = None;
        let outcome = loop {
            let time = self.time;
            let mut watcher = Watcher::new(
                &self.target,
                &self.listing,
                &points,
                &mut *until,
                time,
                false,
            );
            watcher.symbols = self.symbols.as_ref();
            watcher.start = start;
            watcher.pending = pending.take();
            let flow = Self::advance(
                &self.target,
                &self.interrupt,
                &mut self.history,
                (&mut self.group, &mut self.time, &mut self.applied),
                &mut watcher,
                end,
                piece,
            );
            let (hit, left) = (watcher.hit.take(), watcher.pending.take());
            match flow {
                Ok(Flow::Piece) if enough(self) => break Ok((Flow::Piece, left)),
                Ok(Flow::Piece) => pending = left,
                // The effects of the very last instruction are reported, too.
                Ok(flow) => break Ok((flow, hit.or(left))),
                Err(error) => break Err(error),
            }
        };
        self.points = points;
        outcome
    }

    pub(crate) fn advance(
        target: &Target,
        interrupt: &Interrupt,
        history: &mut History,
        (group, time, applied): (&mut Group, &mut Time, &mut usize),
        watcher: &mut impl Follow,
        end: Option<Time>,
        piece: u64,
    ) -> Result<Flow, DebugError> {
        loop {
            if history.is_due(*time) {
                history.take(*time, *applied, group, target.memory());
            }
            while let Some((at, edit)) = history.edits.get(*applied)
                && at == time
            {
                edit.apply(target, group);
                *applied += 1;
            }
            let mut fuel = history.interval().min(piece);
            let mut cut = |until: Time| {
                if until.group == time.group {
                    fuel = fuel.min(until.step.saturating_sub(time.step));
                }
            };
            if let Some(end) = end {
                if *time >= end {
                    return Ok(Flow::Arrived);
                }
                cut(end);
            }
            if let Some((at, _)) = history.edits.get(*applied) {
                cut(*at);
            }
            let progress = watcher.advance(group, target, fuel, interrupt);
            time.step = group.counters().instructions;
            match progress {
                Ok(Progress::OutOfFuel) if piece < u64::MAX => return Ok(Flow::Piece),
                Ok(Progress::OutOfFuel) => {}
                Ok(Progress::Interrupted) => {
                    interrupt.lower();
                    return Ok(Flow::Interrupted);
                }
                Ok(Progress::Ended) => {
                    history.ended(*time);
                    if time.group + 1 >= target.groups() {
                        return Ok(Flow::Ended);
                    }
                    *time = Time {
                        group: time.group + 1,
                        step: 0,
                    };
                    *group = target.start(time.group)?;
                    watcher.enter(*time);
                    if piece < u64::MAX {
                        return Ok(Flow::Piece);
                    }
                }
                Err(fault) if fault.kind == FaultKind::Stopped => return Ok(Flow::Hit),
                Err(fault) => {
                    // The instruction counts, but has not run to its end: back to before it.
                    let open = u64::from(watcher.is_open());
                    let at = Time {
                        step: time.step.saturating_sub(open),
                        ..*time
                    };
                    if open > 0 {
                        let index = history.before(at);
                        if let Some(snapshot) = history.snapshots.get(index) {
                            snapshot.restore(target.memory());
                            group.clone_from(&snapshot.group);
                            (*time, *applied) = (snapshot.time, snapshot.edits);
                        }
                        Self::advance(
                            target,
                            interrupt,
                            history,
                            (group, time, applied),
                            &mut Replay::default(),
                            Some(at),
                            u64::MAX,
                        )?;
                    }
                    return Ok(Flow::Fault(Box::new(fault)));
                }
            }
        }
    }
}

/// Who goes along with a run.
pub(crate) trait Follow: Observer + Sized {
    fn advance(
        &mut self,
        group: &mut Group,
        target: &Target,
        fuel: u64,
        interrupt: &Interrupt,
    ) -> Result<Progress, Fault> {
        let (program, memory, limits) = (target.program(), target.memory(), target.limits());
        group.advance(program, memory, limits, fuel, Some(interrupt), self)
    }

    /// Another group begins.
    fn enter(&mut self, _: Time) {}

    /// Whether an instruction has begun but not ended.
    fn is_open(&self) -> bool;
}

/// Only sees whether an instruction ends.
#[derive(Default)]
pub(crate) struct Replay {
    open: bool,
}

impl Observer for Replay {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = false;

    fn before(&mut self, _: &InstructionEvent<'_>) -> ControlFlow<()> {
        self.open = true;
        ControlFlow::Continue(())
    }

    fn after(&mut self, _: &InstructionEvent<'_>) {
        self.open = false;
    }
}

impl Follow for Replay {
    fn is_open(&self) -> bool {
        self.open
    }
}

impl Follow for Watcher<'_> {
    fn enter(&mut self, time: Time) {
        self.time = time;
    }

    fn is_open(&self) -> bool {
        self.open
    }
}
