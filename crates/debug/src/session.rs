//! A controlled run: its position, and reading and changing its state.

use crate::error::DebugError;
use crate::expression::{Expression, Scope, Spot, bytes_of};
use crate::history::{Edit, History, Time};
use crate::listing::{Listing, Place, SourceLine};
use crate::point::{Point, PointKind};
use crate::run::Flow;
use crate::symbols::Symbols;
use crate::target::Target;
use crate::watch::{Accessed, Hit};
use visakit_exec::{Fault, Group, Interrupt, Position, Thread, ThreadState};
use visakit_isa::DataType;

/// Why the run has stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// Nothing has run yet.
    Start,
    /// A step or a run to a place has come to its end.
    Step,
    /// A breakpoint.
    Breakpoint(u32),
    /// A variable that is watched has changed.
    Changed {
        /// The watchpoint.
        point: u32,
        /// The previous content.
        old: Vec<u8>,
        /// The current content.
        new: Vec<u8>,
    },
    /// Memory that is watched was accessed.
    Accessed {
        /// The watchpoint.
        point: u32,
        /// How, and by which instruction.
        access: Accessed,
    },
    /// The condition of a breakpoint has no answer.
    Condition {
        /// The breakpoint.
        point: u32,
        /// Why.
        message: String,
    },
    /// The next instruction is a fault. It has not run.
    Fault(Box<Fault>),
    /// The thread that was stepped has ended.
    ThreadEnded,
    /// All groups have ended.
    Ended,
    /// Going back came to the beginning.
    Beginning,
    /// It was interrupted.
    Interrupted,
}

/// The extent of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// One instruction of the thread.
    Instruction,
    /// One instruction; its callees run to their end.
    OverInstruction,
    /// To another source line, including in callees.
    Line,
    /// To another source line; callees run to their end.
    OverLine,
    /// To the end of the routine.
    Out,
    /// One instruction of every thread of the group that can run.
    Group,
}

/// A run under control.
#[derive(Debug)]
pub struct Session {
    pub(crate) target: Target,
    pub(crate) listing: Listing,
    pub(crate) symbols: Option<Symbols>,
    pub(crate) group: Group,
    pub(crate) time: Time,
    /// Changes from outside that the state has in it.
    pub(crate) applied: usize,
    pub(crate) ended: bool,
    pub(crate) history: History,
    pub(crate) points: Vec<Point>,
    next_point: u32,
    pub(crate) focus: (usize, u32),
    frame: usize,
    pub(crate) stop: Stop,
    /// The selected thread and its registers when the run went on the last time.
    pub(crate) earlier: Option<(usize, Vec<u8>)>,
    pub(crate) interrupt: Interrupt,
}

impl Session {
    /// A session before the first instruction.
    ///
    /// # Errors
    /// [`DebugError::Launch`]: the first group cannot be started.
    pub fn new(target: Target, listing: Listing) -> Result<Self, DebugError> {
        let group = target.start(0)?;
        let mut session = Self {
            target,
            listing,
            symbols: None,
            group,
            time: Time::default(),
            applied: 0,
            ended: false,
            history: History::default(),
            points: Vec::new(),
            next_point: 1,
            focus: (0, 0),
            frame: 0,
            stop: Stop::Start,
            earlier: None,
            interrupt: Interrupt::default(),
        };
        session.snapshot();
        session.look_at_runner();
        Ok(session)
    }

    /// Makes source variables known.
    #[must_use]
    pub fn with_symbols(mut self, symbols: Option<Symbols>) -> Self {
        self.symbols = symbols;
        self
    }

    /// The target of the session.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// The program's text.
    #[must_use]
    pub const fn listing(&self) -> &Listing {
        &self.listing
    }

    /// The group that runs.
    #[must_use]
    pub const fn group(&self) -> &Group {
        &self.group
    }

    /// The current position of the run.
    #[must_use]
    pub const fn time(&self) -> Time {
        self.time
    }

    /// Why it has stopped.
    #[must_use]
    pub const fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Whether all groups have ended.
    #[must_use]
    pub const fn is_ended(&self) -> bool {
        self.ended
    }

    /// Stops a run from another thread of the host.
    #[must_use]
    pub const fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// The selected thread and lane.
    #[must_use]
    pub const fn focus(&self) -> (usize, u32) {
        self.focus
    }

    /// The selected call; 0 is the innermost.
    #[must_use]
    pub const fn frame(&self) -> usize {
        self.frame
    }

    /// Selects another thread.
    ///
    /// # Errors
    /// [`DebugError::Missing`].
    pub fn look_at(&mut self, thread: usize, lane: u32) -> Result<(), DebugError> {
        if thread >= self.group.threads().len() {
            return Err(DebugError::Missing(format!("thread {thread}")));
        }
        if lane >= 32 {
            return Err(DebugError::Missing(format!("lane {lane}")));
        }
        self.focus = (thread, lane);
        self.frame = 0;
        Ok(())
    }

    /// Selects another call of the thread; 0 is the innermost.
    ///
    /// # Errors
    /// [`DebugError::Missing`].
    pub fn look_at_frame(&mut self, frame: usize) -> Result<(), DebugError> {
        if frame >= self.backtrace(self.focus.0).len() {
            return Err(DebugError::Missing(format!("frame {frame}")));
        }
        self.frame = frame;
        Ok(())
    }

    /// The selected thread.
    #[must_use]
    pub fn thread(&self) -> Option<&Thread> {
        self.group.thread(self.focus.0)
    }

    /// The registers of the selected thread when the run went on the last time.
    #[must_use]
    pub fn earlier_registers(&self) -> Option<&[u8]> {
        let (thread, registers) = self.earlier.as_ref()?;
        (*thread == self.focus.0).then_some(registers.as_slice())
    }

    /// The place of a thread, with its lanes.
    #[must_use]
    pub fn position(&self, thread: usize) -> Option<(Place, Position)> {
        let position = self.group.thread(thread)?.position(self.target.program());
        Some((self.place_of(position.step)?, position))
    }

    /// The instruction that a step of the code was translated from.
    #[must_use]
    pub fn place_of(&self, step: usize) -> Option<Place> {
        let origin = self.target.program().code().steps.get(step)?.origin;
        Some(Place {
            routine: usize::try_from(origin.routine).ok()?,
            instruction: usize::try_from(origin.instruction).ok()?,
        })
    }

    /// The places of a thread's calls, the innermost first. A thread that has ended has none.
    #[must_use]
    pub fn backtrace(&self, thread: usize) -> Vec<Place> {
        let Some(found) = self.group.thread(thread) else {
            return Vec::new();
        };
        if found.state() == ThreadState::Ended {
            return Vec::new();
        }
        let innermost = self.position(thread).map(|(place, _)| place);
        let calls = found.calls().rev();
        // The call is before the step that runs after it.
        let callers = calls.filter_map(|c| self.place_of(c.return_to.checked_sub(1)?));
        innermost.into_iter().chain(callers).collect()
    }

    /// The selected place.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.backtrace(self.focus.0).get(self.frame).copied()
    }

    /// The source line of a place: that of the next instruction that does something.
    #[must_use]
    pub fn source(&self, place: Place) -> Option<SourceLine> {
        let place = self.listing.after_markers(place).unwrap_or(place);
        self.listing.row(place)?.source
    }

    // Breakpoints.

    /// The breakpoints and watchpoints.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Adds a breakpoint or watchpoint and returns its number.
    pub fn add(&mut self, what: PointKind, condition: Option<Expression>, text: &str) -> u32 {
        let id = self.next_point;
        self.next_point += 1;
        self.points.push(Point {
            id,
            what,
            condition,
            enabled: true,
            hits: 0,
            text: text.to_owned(),
        });
        id
    }

    /// Removes a breakpoint.
    ///
    /// # Errors
    /// [`DebugError::Missing`].
    pub fn remove(&mut self, id: u32) -> Result<(), DebugError> {
        let count = self.points.len();
        self.points.retain(|p| p.id != id);
        if self.points.len() == count {
            return Err(DebugError::Missing(format!("breakpoint {id}")));
        }
        Ok(())
    }

    /// Switches a breakpoint on or off.
    ///
    /// # Errors
    /// [`DebugError::Missing`].
    pub fn enable(&mut self, id: u32, enabled: bool) -> Result<(), DebugError> {
        let found = self.points.iter_mut().find(|p| p.id == id);
        let found = found.ok_or_else(|| DebugError::Missing(format!("breakpoint {id}")))?;
        found.enabled = enabled;
        Ok(())
    }

    /// Called before the run continues.
    pub(crate) fn leave(&mut self) {
        let (thread, _) = self.focus;
        let registers = self.group.thread(thread).map(|t| t.registers().to_vec());
        self.earlier = registers.map(|registers| (thread, registers));
        self.frame = 0;
    }

    pub(crate) fn arrive(&mut self, flow: Flow, hit: Option<Hit>) {
        self.ended = matches!(flow, Flow::Ended);
        self.look_at_runner();
        if let Some(hit) = &hit {
            self.focus.0 = hit.thread.min(self.group.threads().len().saturating_sub(1));
            if let Some(lane) = hit.accessed.as_ref().and_then(|a| a.lane) {
                self.focus.1 = lane.into();
            }
            if let Some(point) = self.points.iter_mut().find(|p| Some(p.id) == hit.point) {
                point.hits += 1;
            }
        }
        self.stop = match (flow, hit) {
            (Flow::Fault(fault), _) => {
                if let Some(thread) = fault.thread {
                    self.focus.0 = thread;
                }
                if let Some(lane) = fault.lane {
                    let place = Place {
                        routine: self.listing.routine_of(fault.routine),
                        instruction: fault.instruction,
                    };
                    // Lanes of the thread, not of the instruction.
                    let first = self.listing.row(place).map_or(0, |row| row.first_lane);
                    self.focus.1 = (first + u32::from(lane)).min(31);
                }
                Stop::Fault(fault)
            }
            (_, Some(hit)) => stop_of(hit),
            (Flow::Ended, None) => Stop::Ended,
            (Flow::Interrupted, None) => Stop::Interrupted,
            _ => Stop::Step,
        };
    }

    /// Selects the thread that runs next, and a running lane.
    pub(crate) fn look_at_runner(&mut self) {
        let (thread, lane) = self.focus;
        let alive = self.group.thread(thread).map(Thread::state) == Some(ThreadState::Ready);
        let next = self.group.next_thread().unwrap_or(thread);
        let thread = if alive && self.group.next_thread().is_none() {
            thread
        } else {
            next
        };
        self.focus.0 = thread.min(self.group.threads().len().saturating_sub(1));
        if let Some((_, position)) = self.position(self.focus.0)
            && position.running != 0
            && position.running.checked_shr(lane).unwrap_or(0) & 1 == 0
        {
            self.focus.1 = position.running.trailing_zeros();
        }
    }

    // Inspecting and changing.

    /// The state that expressions are about.
    pub(crate) fn scope(&self) -> Scope<'_> {
        let (thread, lane) = self.focus;
        let position = self.position(thread);
        let found = self.group.thread(thread);
        Scope {
            target: &self.target,
            listing: &self.listing,
            symbols: self.symbols.as_ref(),
            place: self.place().unwrap_or_default(),
            registers: found.map_or(&[], Thread::registers),
            slm: Some(self.group.slm()),
            scratch: Some(found.map_or(&[], Thread::scratch)),
            group: self.time.group,
            step: self.time.step,
            thread,
            lane,
            running: position.map_or(0, |(_, p)| p.running),
            enabled: position.map_or(0, |(_, p)| p.enabled),
            first_lane: 0,
        }
    }

    /// The value of an expression, in the selected thread and lane.
    ///
    /// # Errors
    /// Names and places that there are not.
    pub fn evaluate(&self, expression: &Expression) -> Result<crate::Number, DebugError> {
        expression.value(&self.scope())
    }

    /// Sets what an expression names. The known future is discarded.
    ///
    /// # Errors
    /// Those of [`Self::evaluate`], targets that cannot be set, and numbers that do not fit.
    pub fn set(&mut self, what: &Expression, value: &Expression) -> Result<(), DebugError> {
        let scope = self.scope();
        let (spot, ty) = what.spot(&scope)?;
        let number = value.value(&scope)?;
        let (thread, _) = self.focus;
        let edit = match spot {
            Spot::Bit(word, bit) => {
                let at = word + usize::try_from(bit / 8).unwrap_or(0);
                let byte = scope.registers.get(at).copied().unwrap_or(0);
                let mask = 1_u8 << (bit % 8);
                let byte = if number.is_true() {
                    byte | mask
                } else {
                    byte & !mask
                };
                Edit::Register(thread, at, vec![byte])
            }
            Spot::Register(at) => Edit::Register(thread, at, bytes_of(number, ty)?),
            Spot::Slm(at) => Edit::Slm(at, bytes_of(number, ty)?),
            Spot::Scratch(at) => Edit::Scratch(thread, at, bytes_of(number, ty)?),
            Spot::Global(buffer, at) => Edit::Global(buffer, at, bytes_of(number, ty)?),
            Spot::Value(_) => return Err(DebugError::NotAssignable(what.text().to_owned())),
        };
        self.edit(edit)
    }

    /// The place that an expression names and the type there, for watchpoints.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn type_of(&self, what: &Expression) -> Result<DataType, DebugError> {
        Ok(what.spot(&self.scope())?.1)
    }

    pub(crate) fn edit(&mut self, edit: Edit) -> Result<(), DebugError> {
        if self.ended {
            return Err(DebugError::Usage(
                "the run has ended: go back to change something".to_owned(),
            ));
        }
        if !edit.apply(&self.target, &mut self.group) {
            return Err(DebugError::Missing("such place".to_owned()));
        }
        self.history.record(self.time, edit);
        self.applied = self.history.edits.len();
        Ok(())
    }
}

fn stop_of(hit: Hit) -> Stop {
    let Some(point) = hit.point else {
        return Stop::Step;
    };
    match (hit.error, hit.change, hit.accessed) {
        (Some(message), _, _) => Stop::Condition { point, message },
        (_, Some((old, new)), _) => Stop::Changed { point, old, new },
        (_, _, Some(access)) => Stop::Accessed { point, access },
        _ => Stop::Breakpoint(point),
    }
}
