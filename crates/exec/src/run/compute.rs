//! Computations that follow each other: the loop in which most steps run.

use super::mask::enabled;
use crate::fault::Outcome;
use crate::machine::Registers;
use crate::machine::simd::Kernel;
use crate::program::{Loaded, Work};

/// The lanes of a thread that computations work on.
#[derive(Clone, Copy)]
pub(super) enum Lanes {
    /// Those that run; masks and predicates of the steps say which are enabled.
    Running(u32),
    /// The enabled lanes of each step.
    Enabled(u32),
}

/// What was done.
pub(super) struct Done {
    /// Steps, with one that had a fault.
    pub(super) steps: usize,
    /// Enabled lanes of all of them.
    pub(super) lane_operations: u64,
    pub(super) outcome: Outcome,
}

/// Runs steps up to the first one that is no computation.
pub(super) fn steps(steps: &[Loaded], lanes: Lanes, registers: &mut Registers) -> Done {
    let simd = registers.simd;
    simd.run(Computations {
        steps,
        lanes,
        registers,
    })
}

struct Computations<'a> {
    steps: &'a [Loaded],
    lanes: Lanes,
    registers: &'a mut Registers,
}

impl Kernel for Computations<'_> {
    type Output = Done;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(self) -> Done {
        let Self {
            steps,
            lanes,
            registers,
        } = self;
        let simd = registers.simd;
        let mut lane_operations = 0;
        let mut outcome = Ok(());
        let mut done = 0;
        while let Some(step) = steps.get(done) {
            let mask = match lanes {
                Lanes::Running(running) => enabled(&step.masking, running, registers),
                Lanes::Enabled(mask) => mask,
            };
            let mut count = 1;
            match &step.work {
                Work::Hot(_) => {
                    // None of these changes which lanes the next one works on.
                    let alike = steps.get(done..).unwrap_or_default();
                    let alike = alike.get(..step.alike.into()).unwrap_or(alike);
                    count = alike.len();
                    if mask != 0 {
                        let file = registers.file.as_mut_slice();
                        for step in alike {
                            if let Work::Hot(hot) = &step.work {
                                hot.run(simd, file, mask);
                            }
                        }
                    }
                }
                Work::Compute(bound) => {
                    if mask != 0 {
                        outcome = bound.run(step.masking.count, registers, mask);
                    }
                }
                _ => break,
            }
            lane_operations += count as u64 * u64::from(mask.count_ones());
            done += count;
            if outcome.is_err() {
                break;
            }
        }
        Done {
            steps: done,
            lane_operations,
            outcome,
        }
    }
}
