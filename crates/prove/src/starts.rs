//! What is so in all threads of launches.

use crate::facts::{Facts, Number, Writers};
use hashbrown::HashMap;
use std::ops::Range;
use std::time::Instant;
use visakit_exec::code::{Compute, Flag, Step};
use visakit_exec::{Limits, Program};
use visakit_launch::{LaunchError, Prepared};

/// Threads whose first steps are followed.
const MOST_THREADS: u64 = 512;

/// What is so in all threads.
#[derive(Default)]
pub(crate) struct Starts {
    /// Bytes of the register file that have the same number in all threads, from the start or from a step on.
    numbers: Vec<Option<Number>>,
    /// Bytes that steps of the beginning read, if they are the same in all threads.
    read: HashMap<(usize, usize), u8>,
    /// Lanes that start in all threads.
    pub(crate) lanes: u32,
    /// Lanes that may come to each step in one of them.
    reached: Vec<u32>,
}

impl Starts {
    /// Of launches of a program; nothing is known after the deadline.
    pub(crate) fn of<'l>(
        program: &Program,
        launches: impl Iterator<Item = &'l Prepared>,
        deadline: Option<Instant>,
    ) -> Result<Self, LaunchError> {
        let limits = Limits::default();
        let launches: Vec<&Prepared> = launches.collect();
        let mut threads = 0;
        for launch in &launches {
            let group = launch.start(0, &limits)?.threads().len() as u64;
            threads += group.saturating_mul(launch.group_count());
        }
        let writers = Writers::of(program, threads <= MOST_THREADS);
        let mut defined = vec![false; program.register_bytes()];
        for range in program.defined() {
            if let Some(part) = defined.get_mut(range) {
                part.fill(true);
            }
        }
        let mut found: Option<Self> = None;
        for launch in launches {
            for number in 0..launch.group_count() {
                if deadline.is_some_and(|end| Instant::now() > end) {
                    return Ok(Self::default());
                }
                for thread in launch.start(number, &limits)?.threads() {
                    let bytes = thread.registers().iter().zip(&defined);
                    let bytes = bytes.map(|(byte, defined)| Some(*byte).filter(|_| *defined));
                    let running = thread.position(program).running;
                    let facts = Facts::of(program, &writers, bytes, running);
                    let Some(starts) = &mut found else {
                        found = Some(Self {
                            numbers: facts.numbers,
                            read: facts.read,
                            lanes: running,
                            reached: facts.lanes,
                        });
                        continue;
                    };
                    starts.lanes &= running;
                    starts
                        .read
                        .retain(|place, byte| facts.read.get(place) == Some(byte));
                    for (all, one) in starts.reached.iter_mut().zip(facts.lanes) {
                        *all |= one;
                    }
                    for (all, one) in starts.numbers.iter_mut().zip(facts.numbers) {
                        *all = all.filter(|all| Some(*all) == one);
                    }
                }
            }
        }
        Ok(found.unwrap_or_default())
    }

    /// The number in a byte whenever a step runs.
    pub(crate) fn number(&self, byte: usize, step: usize) -> Option<u8> {
        if let Some(number) = self.read.get(&(step, byte)) {
            return Some(*number);
        }
        let (number, since) = self.numbers.get(byte).copied().flatten()?;
        (since <= step).then_some(number)
    }

    /// Lanes that may come to a step.
    pub(crate) fn reached(&self, step: usize) -> u32 {
        self.reached.get(step).copied().unwrap_or(u32::MAX)
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
