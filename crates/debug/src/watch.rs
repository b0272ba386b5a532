//! Watching the run, instruction by instruction.

use crate::expression::Scope;
use crate::history::Time;
use crate::listing::{Listing, Place};
use crate::point::{Point, PointKind, WatchedSpace};
use crate::symbols::Symbols;
use crate::target::Target;
use std::collections::HashMap;
use std::ops::ControlFlow;
use visakit_exec::{InstructionEvent, MemoryAccess, Observer, Space};
use visakit_isa::object::RoutineId;

/// An instruction's access to watched memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// The instruction.
    pub place: Place,
    /// Its lane, `None` for a whole block.
    pub lane: Option<u8>,
    /// Whether it wrote; otherwise it read.
    pub write: bool,
    /// First byte: an address, or an offset in the surface, local memory or scratch.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u32,
}

/// Why and where to stop the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The breakpoint; `None` where a step or a run ends.
    pub(crate) point: Option<u32>,
    pub(crate) thread: usize,
    pub(crate) accessed: Option<Accessed>,
    /// The previous and the current content of a variable.
    pub(crate) change: Option<(Vec<u8>, Vec<u8>)>,
    /// A condition that could not be answered.
    pub(crate) error: Option<String>,
}

/// Whether a step ends before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ends {
    No,
    Yes,
    /// It depends on what ran before.
    Unknown,
}

/// Examines every instruction, with the time before it.
pub(crate) type Until<'u> = &'u mut dyn FnMut(&InstructionEvent<'_>, Time, &Listing) -> Ends;

pub(crate) struct Watcher<'w> {
    pub(crate) target: &'w Target,
    pub(crate) listing: &'w Listing,
    pub(crate) symbols: Option<&'w Symbols>,
    points: &'w [Point],
    places: HashMap<(RoutineId, usize), Vec<usize>>,
    moments: HashMap<Time, usize>,
    registers: Vec<usize>,
    memory: Vec<usize>,
    until: Until<'w>,
    /// Instructions have run up to here.
    pub(crate) time: Time,
    /// Nothing stops the run here, where it was continued.
    pub(crate) start: Option<Time>,
    /// Whether an instruction has begun and not ended.
    pub(crate) open: bool,
    /// The hit during the last instruction.
    pub(crate) pending: Option<Hit>,
    pub(crate) hit: Option<Hit>,
    /// Collects the last hit instead of stopping at the first.
    record: bool,
    pub(crate) last: Option<(Time, Hit)>,
    /// The first time at which the step may or may not end.
    pub(crate) unknown: Option<(Time, usize)>,
    current: (usize, Place),
    before: Vec<(usize, Vec<u8>)>,
}

impl<'w> Watcher<'w> {
    pub(crate) fn new(
        target: &'w Target,
        listing: &'w Listing,
        points: &'w [Point],
        until: Until<'w>,
        time: Time,
        record: bool,
    ) -> Self {
        let mut places: HashMap<_, Vec<usize>> = HashMap::new();
        let (mut registers, mut memory) = (Vec::new(), Vec::new());
        let mut moments = HashMap::new();
        for (number, point) in points.iter().enumerate().filter(|(_, p)| p.enabled) {
            match &point.what {
                PointKind::Code(at) => {
                    for place in at {
                        if let Some(routine) = listing.routines.get(place.routine) {
                            let key = (routine.id, place.instruction);
                            places.entry(key).or_default().push(number);
                        }
                    }
                }
                PointKind::Findings(found) => {
                    moments.extend(found.iter().map(|(at, _)| (*at, number)));
                }
                PointKind::Register { .. } => registers.push(number),
                PointKind::Memory { .. } => memory.push(number),
            }
        }
        Self {
            target,
            listing,
            symbols: None,
            points,
            places,
            moments,
            registers,
            memory,
            until,
            time,
            start: None,
            open: false,
            pending: None,
            hit: None,
            record,
            last: None,
            unknown: None,
            current: (
                0,
                Place {
                    routine: 0,
                    instruction: 0,
                },
            ),
            before: Vec::new(),
        }
    }

    /// Evaluates a condition at an instruction; one that cannot be evaluated stops the run, too.
    fn holds(&self, point: &Point, event: &InstructionEvent<'_>) -> Result<bool, String> {
        let Some(condition) = &point.condition else {
            return Ok(true);
        };
        let routine = self.listing.routine_of(event.routine);
        let place = Place {
            routine,
            instruction: event.instruction,
        };
        let row = self.listing.row(place);
        let scope = Scope {
            target: self.target,
            listing: self.listing,
            symbols: self.symbols,
            place,
            registers: event.registers,
            slm: None,
            scratch: None,
            group: self.time.group,
            step: self.time.step,
            thread: event.thread,
            lane: event.mask.trailing_zeros().min(31),
            running: event.mask,
            enabled: event.mask,
            first_lane: row.map_or(0, |row| row.first_lane),
        };
        let value = condition.value(&scope).map_err(|e| e.to_string())?;
        Ok(value.is_true())
    }

    fn stops(&mut self, event: &InstructionEvent<'_>) -> Option<Hit> {
        let hit = |point| Hit {
            point,
            thread: event.thread,
            accessed: None,
            change: None,
            error: None,
        };
        if let Some(pending) = self.pending.take() {
            return Some(pending);
        }
        if self.start == Some(self.time) {
            return None;
        }
        if !self.places.is_empty()
            && let Some(points) = self.places.get(&(event.routine, event.instruction))
        {
            for point in points.iter().filter_map(|n| self.points.get(*n)) {
                match self.holds(point, event) {
                    Ok(false) => {}
                    Ok(true) => return Some(hit(Some(point.id))),
                    Err(error) => {
                        return Some(Hit {
                            error: Some(error),
                            ..hit(Some(point.id))
                        });
                    }
                }
            }
        }
        if !self.moments.is_empty()
            && let Some(number) = self.moments.get(&self.time)
            && let Some(point) = self.points.get(*number)
            && self.holds(point, event) != Ok(false)
        {
            return Some(hit(Some(point.id)));
        }
        match (self.until)(event, self.time, self.listing) {
            Ends::No => None,
            Ends::Yes => Some(hit(None)),
            Ends::Unknown => {
                self.unknown.get_or_insert((self.time, event.thread));
                None
            }
        }
    }
}

impl Observer for Watcher<'_> {
    const INSTRUCTIONS: bool = true;
    const MEMORY: bool = true;

    fn before(&mut self, event: &InstructionEvent<'_>) -> ControlFlow<()> {
        if let Some(hit) = self.stops(event) {
            if !self.record {
                self.hit = Some(hit);
                return ControlFlow::Break(());
            }
            self.last = Some((self.time, hit));
        }
        self.time.step += 1;
        self.open = true;
        if !self.registers.is_empty() || !self.memory.is_empty() {
            let place = Place {
                routine: self.listing.routine_of(event.routine),
                instruction: event.instruction,
            };
            self.current = (event.thread, place);
        }
        self.before.clear();
        for number in &self.registers {
            if let Some(Point {
                what:
                    PointKind::Register {
                        routine: _,
                        slot,
                        thread,
                    },
                ..
            }) = self.points.get(*number)
                && thread.is_none_or(|t| t == event.thread)
            {
                let bytes = event.registers.get(slot.offset..slot.offset + slot.bytes);
                self.before.push((*number, bytes.unwrap_or(&[]).to_vec()));
            }
        }
        ControlFlow::Continue(())
    }

    fn after(&mut self, event: &InstructionEvent<'_>) {
        self.open = false;
        if let Some(pending) = &self.pending
            && let Some(point) = self.points.iter().find(|p| Some(p.id) == pending.point)
            && self.holds(point, event) == Ok(false)
        {
            self.pending = None;
        }
        for (number, old) in std::mem::take(&mut self.before) {
            let Some(point) = self.points.get(number) else {
                continue;
            };
            let PointKind::Register { slot, .. } = &point.what else {
                continue;
            };
            let now = event.registers.get(slot.offset..slot.offset + slot.bytes);
            let now = now.unwrap_or(&[]);
            if now != old && self.pending.is_none() && self.holds(point, event) != Ok(false) {
                self.pending = Some(Hit {
                    point: Some(point.id),
                    thread: event.thread,
                    accessed: None,
                    change: Some((old, now.to_vec())),
                    error: None,
                });
            }
        }
    }

    fn memory(&mut self, access: &MemoryAccess, _: &[u8]) {
        if self.memory.is_empty() || self.pending.is_some() {
            return;
        }
        let memory = self.target.memory();
        let (thread, place) = self.current;
        // Lanes of the thread, not of the instruction.
        let first = self.listing.row(place).map_or(0, |row| row.first_lane);
        let first = u8::try_from(first).unwrap_or(0);
        // The place of the access, relative to what is watched.
        let (buffer, start) = match access.space {
            Space::Global => match memory.find(access.address) {
                Some((buffer, offset)) => (Some(buffer), offset),
                None => return,
            },
            Space::Surface(index) => (memory.surface_buffer(index), access.address),
            Space::Local | Space::Scratch => (None, access.address),
        };
        for point in self.memory.iter().filter_map(|n| self.points.get(*n)) {
            let PointKind::Memory {
                space,
                at,
                bytes,
                read,
                write,
            } = point.what
            else {
                continue;
            };
            let same = match (space, access.space) {
                (WatchedSpace::Buffer(watched), Space::Global | Space::Surface(_)) => {
                    buffer == Some(watched)
                }
                (WatchedSpace::Local, Space::Local) => true,
                (WatchedSpace::Scratch(of), Space::Scratch) => of.is_none_or(|t| t == thread),
                _ => false,
            };
            let overlaps =
                start < at.saturating_add(bytes) && at < start.saturating_add(access.bytes.into());
            if same && overlaps && (read && access.read || write && access.write) {
                self.pending = Some(Hit {
                    point: Some(point.id),
                    thread,
                    accessed: Some(Accessed {
                        place,
                        lane: access.lane.map(|lane| lane.saturating_add(first)),
                        write: access.write,
                        address: access.address,
                        bytes: access.bytes,
                    }),
                    change: None,
                    error: None,
                });
                return;
            }
        }
    }
}
