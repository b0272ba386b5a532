//! Computations that follow each other: the loop in which most steps run, and nothing else, so that what it works with
//! stays in registers of the host.

use super::common::Lanes;
use super::mask::enabled;
use crate::fault::Outcome;
use crate::machine::Registers;
use crate::machine::simd::Kernel;
use crate::program::{Loaded, Work};

/// What was done.
pub(super) struct Done {
    /// Steps, including one that had a fault.
    pub(super) steps: usize,
    /// Enabled lanes of all of them.
    pub(super) lane_operations: u64,
    pub(super) outcome: Outcome,
}

/// Runs steps up to the first one that is no computation.
pub(super) fn steps(
    steps: &[Loaded],
    lanes: Lanes,
    running: u32,
    registers: &mut Registers,
) -> Done {
    let simd = registers.simd;
    simd.run(Computations {
        steps,
        lanes,
        running,
        registers,
    })
}

struct Computations<'a> {
    steps: &'a [Loaded],
    lanes: Lanes,
    running: u32,
    registers: &'a mut Registers,
}

impl Kernel for Computations<'_> {
    type Output = Done;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(self) -> Done {
        let Self {
            steps,
            lanes,
            running,
            registers,
        } = self;
        let simd = registers.simd;
        let mut lane_operations = 0;
        let mut outcome = Ok(());
        let mut done = 0;
        while let Some(step) = steps.get(done) {
            let mask = match lanes {
                Lanes::Running => enabled(&step.masking, running, registers),
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
                        let file = &mut *registers.file;
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
