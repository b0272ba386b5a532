//! What all threads of launches start with.

use std::ops::Range;
use std::time::Instant;
use visakit_exec::code::{Action, Compute, Flag, Step};
use visakit_exec::{Limits, Program};
use visakit_launch::{LaunchError, Prepared};

/// What all threads start with.
#[derive(Default)]
pub(crate) struct Starts {
    /// Bytes of the register file that nobody writes and that are the same in all threads.
    pub(crate) known: Vec<Option<u8>>,
    /// Lanes that run in all threads.
    pub(crate) lanes: u32,
    /// Lanes that run in none.
    pub(crate) idle: u32,
}

impl Starts {
    /// Of launches of a program; nothing is known after the deadline.
    pub(crate) fn of<'l>(
        program: &Program,
        launches: impl Iterator<Item = &'l Prepared>,
        deadline: Option<Instant>,
    ) -> Result<Self, LaunchError> {
        let limits = Limits::default();
        let mut found: Option<Self> = None;
        for launch in launches {
            for number in 0..launch.group_count() {
                if deadline.is_some_and(|end| Instant::now() > end) {
                    return Ok(Self::default());
                }
                for thread in launch.start(number, &limits)?.threads() {
                    let (registers, running) =
                        (thread.registers(), thread.position(program).running);
                    let starts = found.get_or_insert_with(|| Self {
                        known: registers.iter().map(|byte| Some(*byte)).collect(),
                        lanes: running,
                        idle: !running,
                    });
                    starts.lanes &= running;
                    starts.idle &= !running;
                    for (known, byte) in starts.known.iter_mut().zip(registers) {
                        *known = known.filter(|known| known == byte);
                    }
                }
            }
        }
        let mut starts = found.unwrap_or_default();
        let mut defined = vec![false; starts.known.len()];
        for range in program.defined() {
            if let Some(part) = defined.get_mut(range) {
                part.fill(true);
            }
        }
        for (known, defined) in starts.known.iter_mut().zip(defined) {
            *known = known.filter(|_| defined);
        }
        let code = program.code();
        for step in &code.steps {
            let ranges: Vec<Range<usize>> = match step.written() {
                Some(written) => written.collect(),
                None => program.addressed().to_vec(),
            };
            // Also where an address decides about one of several.
            let named = match &step.action {
                Action::Compute(compute) => destinations(compute, step),
                _ => Vec::new(),
            };
            for range in ranges.into_iter().chain(named) {
                if let Some(part) = starts.known.get_mut(range) {
                    part.fill(None);
                }
            }
        }
        Ok(starts)
    }
}

/// Destinations of a computation, or their addresses.
pub(crate) fn destinations(compute: &Compute, step: &Step) -> Vec<Range<usize>> {
    let lanes = usize::from(step.lanes.count);
    let destinations = std::iter::once(&compute.destination).chain(&compute.second);
    let all = destinations.map(|to| to.extent(lanes));
    all.chain(compute.sets.as_ref().map(Flag::word_range))
        .collect()
}
