//! How many registers the values of a routine occupy.

use crate::live::{LiveRange, Liveness};

/// What is live at one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Registers.
    pub registers: usize,
    /// Variables.
    pub variables: usize,
}

/// The estimated number of registers that are in use, instruction by instruction.
///
/// Variables of a register or more occupy whole registers, smaller ones are packed. What the finalizer adds, such as
/// payloads of messages, headers and reserved registers, is not counted: real demand is higher.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// One for each instruction of the routine.
    pub points: Vec<Point>,
}

impl Pressure {
    /// Sums up what is live, in registers of this size.
    #[must_use]
    pub fn of(liveness: &Liveness, grf_bytes: u32) -> Self {
        let grf = grf_bytes as usize;
        // Changes at each instruction: whole registers, bytes below a register, variables.
        let mut changes = vec![[0isize; 3]; liveness.instructions + 1];
        for LiveRange { bytes, code, .. } in &liveness.ranges {
            let amount = if *bytes >= grf {
                [signed(bytes.div_ceil(grf)), 0, 1]
            } else {
                [0, signed(*bytes), 1]
            };
            for range in code {
                for (at, sign) in [(range.start, 1), (range.end, -1)] {
                    if let Some(change) = changes.get_mut(at) {
                        for (change, amount) in change.iter_mut().zip(amount) {
                            *change += sign * amount;
                        }
                    }
                }
            }
        }
        let mut now = [0isize; 3];
        let points = changes.iter().take(liveness.instructions).map(|change| {
            for (now, change) in now.iter_mut().zip(change) {
                *now += change;
            }
            let [whole, small, variables] = now.map(isize::unsigned_abs);
            Point {
                registers: whole + small.div_ceil(grf),
                variables,
            }
        });
        Self {
            points: points.collect(),
        }
    }

    /// The first instruction at which most registers are in use, and how many. `None` for a routine without code.
    #[must_use]
    pub fn peak(&self) -> Option<(usize, Point)> {
        let points = self.points.iter().copied().enumerate().rev();
        points.max_by_key(|(_, point)| point.registers)
    }
}

fn signed(n: usize) -> isize {
    isize::try_from(n).unwrap_or(isize::MAX)
}
