//! Continuing, stepping, going back.

use crate::error::DebugError;
use crate::history::{Edit, Time};
use crate::listing::{Listing, Place, SourceLine};
use crate::run::{Flow, Replay};
use crate::session::{Session, Step, Stop};
use crate::watch::{Ends, Hit, Until, Watcher};
use visakit_exec::{InstructionEvent, Thread, ThreadState};

impl Session {
    /// Runs until something stops it.
    ///
    /// # Errors
    /// [`DebugError::Launch`]: a group cannot be started.
    pub fn go_on(&mut self) -> Result<&Stop, DebugError> {
        self.forward(&mut |_, _, _| Ends::No)
    }

    /// Runs until a thread comes to a place.
    ///
    /// # Errors
    /// As [`Self::go_on`].
    pub fn run_to(&mut self, places: &[Place]) -> Result<&Stop, DebugError> {
        let places: Vec<_> = places
            .iter()
            .filter_map(|p| Some((self.listing.routines.get(p.routine)?.id, p.instruction)))
            .collect();
        self.forward(&mut |event, _, _| {
            let here = places.contains(&(event.routine, event.instruction));
            if here { Ends::Yes } else { Ends::No }
        })
    }

    fn forward(&mut self, until: Until<'_>) -> Result<&Stop, DebugError> {
        self.leave();
        if self.ended {
            self.stop = Stop::Ended;
            return Ok(&self.stop);
        }
        let (flow, hit) = self.watched(until, None, u64::MAX, |_| false)?;
        self.arrive(flow, hit);
        Ok(&self.stop)
    }

    /// Makes a step of the selected thread. If it can run, it runs next, whatever the order of threads would
    /// be.
    ///
    /// # Errors
    /// As [`Self::go_on`].
    pub fn step(&mut self, step: Step) -> Result<&Stop, DebugError> {
        self.leave();
        let (thread, _) = self.focus();
        if self.ended {
            self.stop = Stop::Ended;
            return Ok(&self.stop);
        }
        if step == Step::Group {
            return self.step_group();
        }
        if self.group.thread(thread).map(Thread::state) == Some(ThreadState::Ready)
            && self.group.next_thread() != Some(thread)
        {
            self.edit(Edit::Turn(thread))?;
        }
        let mut ends = self.end_of(step, thread);
        let group = self.time.group;
        let (flow, hit) = self.watched(&mut ends, None, 1, |session| {
            let found = session.group.thread(thread);
            session.time.group != group || found.map(Thread::state) == Some(ThreadState::Ended)
        })?;
        match flow {
            Flow::Piece => {
                self.look_at_runner();
                self.stop = Stop::ThreadEnded;
            }
            flow => self.arrive(flow, hit),
        }
        Ok(&self.stop)
    }

    /// When a step of a thread ends that begins here.
    fn end_of(
        &self,
        step: Step,
        thread: usize,
    ) -> impl FnMut(&InstructionEvent<'_>, Time, &Listing) -> Ends + use<> {
        let calls = self.group.thread(thread).map_or(0, |t| t.calls().len());
        let here = self.position(thread).map(|(place, _)| place);
        let line = here.and_then(|place| self.source(place));
        let has_lines = here.is_some_and(|place| {
            let routine = self.listing.routines.get(place.routine);
            routine.is_some_and(|r| r.rows.iter().any(|row| row.source.is_some()))
        });
        let step = match step {
            Step::Line if !has_lines => Step::Instruction,
            Step::OverLine if !has_lines => Step::OverInstruction,
            step => step,
        };
        move |event, _, listing| {
            if event.thread != thread {
                return Ends::No;
            }
            let row = listing.row(Place {
                routine: listing.routine_of(event.routine),
                instruction: event.instruction,
            });
            if row.is_some_and(|row| row.marker) {
                return Ends::No;
            }
            let source = row.and_then(|row| row.source);
            let other_line = source.is_some() && (source != line || event.calls < calls);
            let ends = match step {
                Step::Instruction | Step::Group => true,
                Step::OverInstruction => event.calls <= calls,
                Step::Line => other_line,
                Step::OverLine => other_line && event.calls <= calls,
                Step::Out => event.calls < calls,
            };
            if ends { Ends::Yes } else { Ends::No }
        }
    }

    fn step_group(&mut self) -> Result<&Stop, DebugError> {
        let group = self.time.group;
        for thread in 0..self.group.threads().len() {
            let state = self.group.thread(thread).map(Thread::state);
            if state != Some(ThreadState::Ready) {
                continue;
            }
            self.edit(Edit::Turn(thread))?;
            let step = self.time.step;
            let (flow, hit) = self.watched(&mut |_, _, _| Ends::No, None, 1, |session| {
                session.time.group != group || session.time.step > step
            })?;
            if !matches!(flow, Flow::Piece) {
                self.arrive(flow, hit);
                return Ok(&self.stop);
            }
            if self.time.group != group {
                break;
            }
        }
        self.stop = Stop::Step;
        if self.time.group != group {
            self.look_at_runner();
        }
        Ok(&self.stop)
    }

    /// Goes back to where something would have stopped the run.
    ///
    /// # Errors
    /// As [`Self::go_on`].
    pub fn go_back(&mut self) -> Result<&Stop, DebugError> {
        self.backward(&mut |_, _, _| Ends::No, true)
    }

    /// Goes back by a step of the selected thread: to its instruction before, to the begin of the line before
    /// (or of this line, from its middle), or to where the routine was called.
    ///
    /// # Errors
    /// As [`Self::go_on`].
    pub fn step_back(&mut self, step: Step) -> Result<&Stop, DebugError> {
        let (thread, _) = self.focus();
        let calls = self.group.thread(thread).map_or(0, |t| t.calls().len());
        let over = matches!(step, Step::OverInstruction | Step::OverLine);
        let lines = matches!(step, Step::Line | Step::OverLine) && !self.listing.files.is_empty();
        // The thread's line before, and the group that it was in.
        let mut line: Option<(Time, Option<SourceLine>)> = None;
        self.backward(
            &mut |event, time, listing| {
                if event.thread != thread && step != Step::Group {
                    return Ends::No;
                }
                let row = listing.row(Place {
                    routine: listing.routine_of(event.routine),
                    instruction: event.instruction,
                });
                if row.is_some_and(|row| row.marker) {
                    return Ends::No;
                }
                if over && event.calls > calls {
                    return Ends::No;
                }
                if step == Step::Out {
                    return if event.calls < calls {
                        Ends::Yes
                    } else {
                        Ends::No
                    };
                }
                if !lines {
                    return Ends::Yes;
                }
                let now = row.and_then(|row| row.source);
                if now.is_none() {
                    return Ends::No;
                }
                // A hit in a later part of the run is not what ran before.
                let before = line.replace((time, now)).filter(|(at, _)| *at < time);
                match before {
                    _ if time.step == 0 => Ends::Yes,
                    None => Ends::Unknown,
                    Some((at, before)) if at.group == time.group && before == now => Ends::No,
                    Some(_) => Ends::Yes,
                }
            },
            false,
        )
    }

    fn backward(&mut self, until: Until<'_>, points: bool) -> Result<&Stop, DebugError> {
        self.leave();
        let now = self.time;
        // The end of the part being examined, and whether a hit at its end counts.
        let mut end = now;
        let mut found = None;
        let armed = if points {
            self.points.clone()
        } else {
            Vec::new()
        };
        while found.is_none() {
            let index = self.history.snapshots.partition_point(|s| s.time < end);
            let Some(index) = index.checked_sub(1) else {
                break;
            };
            self.restore(index);
            let begin = self.time;
            let mut watcher = Watcher::new(
                &self.target,
                &self.listing,
                &armed,
                &mut *until,
                self.time,
                true,
            );
            watcher.symbols = self.symbols.as_ref();
            let flow = Self::advance(
                &self.target,
                &self.interrupt,
                &mut self.history,
                (&mut self.group, &mut self.time, &mut self.applied),
                &mut watcher,
                Some(end),
                u64::MAX,
            )?;
            let (last, unknown, pending) = (watcher.last, watcher.unknown, watcher.pending);
            if matches!(flow, Flow::Interrupted) {
                self.arrive(Flow::Interrupted, None);
                return Ok(&self.stop);
            }
            found = match (last, pending) {
                // The effects of the last instruction of an earlier part.
                (_, Some(pending)) if end < now => Some((end, pending)),
                (last, _) => last.filter(|(time, _)| *time < now),
            };
            if found.is_none() {
                end = begin;
                if let Some((time, thread)) = unknown {
                    if index == 0 {
                        let hit = Hit {
                            point: None,
                            thread,
                            accessed: None,
                            change: None,
                            error: None,
                        };
                        found = Some((time, hit));
                    } else if time < now {
                        // Seen again from further back.
                        end = Time {
                            step: time.step + 1,
                            ..time
                        };
                        self.history.snapshots.truncate(index);
                    }
                }
            }
        }
        match found {
            Some((time, hit)) => {
                self.jump(time)?;
                self.arrive(Flow::Hit, Some(hit));
            }
            None => {
                self.jump(Time::default())?;
                self.look_at_runner();
                self.stop = Stop::Beginning;
            }
        }
        Ok(&self.stop)
    }

    /// Goes to a moment, forward or back.
    ///
    /// # Errors
    /// As [`Self::go_on`].
    pub fn go_to(&mut self, time: Time) -> Result<&Stop, DebugError> {
        self.leave();
        let flow = self.jump(time)?;
        match flow {
            Flow::Arrived => {
                self.look_at_runner();
                self.stop = Stop::Step;
            }
            flow => self.arrive(flow, None),
        }
        Ok(&self.stop)
    }

    pub(crate) fn jump(&mut self, time: Time) -> Result<Flow, DebugError> {
        let newest = self.history.before(time);
        let snapshot = self.history.snapshots.get(newest).map(|s| s.time);
        if self.time > time || snapshot.is_some_and(|s| s > self.time) {
            self.restore(newest);
        }
        Self::advance(
            &self.target,
            &self.interrupt,
            &mut self.history,
            (&mut self.group, &mut self.time, &mut self.applied),
            &mut Replay::default(),
            Some(time),
            u64::MAX,
        )
    }

    fn restore(&mut self, index: usize) {
        let Some(snapshot) = self.history.snapshots.get(index) else {
            return;
        };
        snapshot.restore(self.target.memory());
        self.group.clone_from(&snapshot.group);
        self.time = snapshot.time;
        self.applied = snapshot.edits;
        self.ended = false;
    }

    pub(crate) fn snapshot(&mut self) {
        if self.history.is_due(self.time) {
            let memory = self.target.memory();
            self.history
                .take(self.time, self.applied, &self.group, memory);
        }
    }
}
