//! The cost of an instruction's executions.

use crate::cost::{LINE_BYTES, Work};
use crate::data::{Messages, Waits, scaled};

/// Facts about the executions of an instruction that affect its cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Price {
    pub(crate) executions: u64,
    /// Cycles in which a unit issues it.
    pub(crate) issue: u32,
    /// Cycles until its result is available.
    pub(crate) latency: u32,
    /// Cache lines that it transfers if it was not sampled.
    pub(crate) likely_lines: u64,
    /// For a message: its observations.
    pub(crate) seen: Option<Messages>,
    /// For a barrier: its observations.
    pub(crate) waits: Option<Waits>,
}

impl Price {
    /// A sum over all executions, estimated from those that were sampled.
    pub(crate) fn expected(&self, sum: impl Fn(&Messages) -> u64) -> u64 {
        self.seen.as_ref().map_or(0, |seen| {
            scaled(sum(seen), self.executions, seen.executions)
        })
    }

    /// Cycles that all threads waited at this barrier, estimated from those that were sampled.
    pub(crate) fn waited(&self) -> u64 {
        self.waits
            .map_or(0, |w| scaled(w.cycles, self.executions, w.arrivals))
    }

    /// Cycles in which units issue it.
    pub(crate) fn issue_cycles(&self) -> u64 {
        self.executions.saturating_mul(self.issue.into())
    }

    fn was_seen(&self) -> bool {
        self.seen.is_some_and(|seen| seen.executions > 0)
    }

    /// Cycles of the data port, of all executions.
    pub(crate) fn message_cycles(&self, line_cycles: u32) -> u64 {
        if self.was_seen() {
            return self.expected(|seen| seen.cycles);
        }
        let lines = self.executions.saturating_mul(self.likely_lines);
        lines.saturating_mul(line_cycles.into())
    }

    /// Cache lines that come from memory.
    fn fetched_lines(&self) -> u64 {
        if self.was_seen() {
            return self.expected(|seen| seen.fetched_lines);
        }
        self.executions.saturating_mul(self.likely_lines)
    }
}

/// The demands of instructions on the device.
pub(crate) fn work(prices: impl Iterator<Item = Price>, line_cycles: u32, threads: u64) -> Work {
    let mut work = Work {
        threads,
        ..Work::default()
    };
    for price in prices {
        let issue = price.issue_cycles();
        let wait = price.executions.saturating_mul(price.latency.into());
        let moves = price.message_cycles(line_cycles);
        work.issue_cycles = work.issue_cycles.saturating_add(issue);
        work.message_cycles = work.message_cycles.saturating_add(moves);
        work.latency_cycles = work
            .latency_cycles
            .saturating_add(issue)
            .saturating_add(wait)
            .saturating_add(moves)
            .saturating_add(price.waited());
        let fetched = price.fetched_lines().saturating_mul(LINE_BYTES);
        work.fetched_bytes = work.fetched_bytes.saturating_add(fetched);
    }
    work
}
