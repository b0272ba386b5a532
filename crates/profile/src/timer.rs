//! Times of launches on a device, without a profile of each.

use crate::code::Kind;
use crate::price::{Price, work};
use crate::watch::Seen;
use crate::{DeviceTime, KernelCode, Ran, Watched, executions, run_watched};
use hashbrown::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use visakit_launch::{Config, LaunchError, Outcome, Prepared};

/// Work-groups of a launch from which one is sampled: it runs in the interpreter, and its share of the launch should be
/// small.
const FROM_GROUPS: u64 = 32;

/// Times launches of a kernel on its device.
///
/// One work-group of the first launch that has many is sampled, as a [`Profile`](crate::Profile) does in each launch:
/// the accesses of its messages represent all launches. Until then, addresses of a message are assumed to be
/// consecutive.
#[derive(Debug)]
pub struct Timer {
    code: KernelCode,
    /// The observations of each instruction, by its place.
    seen: OnceLock<HashMap<usize, Seen>>,
    /// Launches of one program share its counters.
    counting: Mutex<()>,
}

impl Timer {
    /// A timer of launches of that code.
    #[must_use]
    pub fn new(code: KernelCode) -> Self {
        Self {
            code,
            seen: OnceLock::new(),
            counting: Mutex::new(()),
        }
    }

    /// Runs a launch that was prepared with [`config`](crate::config) of the program that the code is of, and returns
    /// how long it would take on the device. Launches of the same code run one after the other.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn run(
        &self,
        launch: Prepared,
        config: &Config<'_>,
    ) -> Result<(DeviceTime, Outcome), LaunchError> {
        // It guards nothing that a panic could leave inconsistent.
        let _alone = self.counting.lock().unwrap_or_else(PoisonError::into_inner);
        let new = self.seen.get().is_none() && launch.group_count() >= FROM_GROUPS;
        let watched = if new {
            Watched::Groups(1)
        } else {
            Watched::None
        };
        let (outcome, seen, ran) = run_watched(&self.code, launch, config, watched)?;
        if new {
            let _ = self.seen.set(seen);
        }
        let counts = outcome.counts.as_deref().unwrap_or(&[]);
        let time = self.time(&executions(&self.code, counts), ran);
        Ok((time, outcome))
    }

    /// The time of a launch, by how often each instruction ran.
    fn time(&self, executions: &[u64], ran: Ran) -> DeviceTime {
        let device = self.code.device();
        let instructions = self.code.instructions.iter().zip(executions).enumerate();
        let prices = instructions.map(|(place, (known, executions))| {
            let seen = self.seen.get().and_then(|seen| seen.get(&place));
            Price {
                executions: *executions,
                issue: known.issue,
                latency: known.latency_of(device, seen),
                likely_lines: known.likely_lines(),
                seen: seen.map(|s| s.messages).filter(|_| known.is_message()),
                waits: seen
                    .filter(|_| known.kind == Kind::Barrier)
                    .map(Seen::waits),
            }
        });
        device.time(&work(prices, device.line_cycles, ran.threads))
    }
}
