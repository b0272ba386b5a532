//! Counts of outcomes.

use super::{Outcome, Style};
use std::collections::BTreeMap;
use std::fmt;

/// Outcomes of pairs of a style.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Row {
    pairs: u64,
    proven: u64,
    refuted: u64,
    unknown: u64,
}

impl Row {
    const fn compared(&self) -> u64 {
        self.proven + self.refuted + self.unknown
    }
}

/// Outcomes by style, and reasons why nothing is known.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    rows: BTreeMap<Style, Row>,
    reasons: BTreeMap<String, u64>,
}

impl Tally {
    /// Counts an outcome.
    pub fn add(&mut self, style: Style, outcome: &Outcome) {
        let row = self.rows.entry(style).or_default();
        row.pairs += 1;
        match outcome {
            Outcome::Proven => row.proven += 1,
            Outcome::Refuted => row.refuted += 1,
            Outcome::Unknown(unknown) => {
                row.unknown += 1;
                let why = unknown.why.trim_start_matches("old: ");
                let why = why.trim_start_matches("new: ");
                // Numbers in a reason do not make another one.
                let why = why.replace(|c: char| c.is_ascii_digit(), "");
                *self.reasons.entry(why).or_default() += 1;
            }
            Outcome::Skipped | Outcome::Wrong(_) | Outcome::Missed | Outcome::Failed(_) => {}
        }
    }

    /// Pairs that were compared: the prover had an answer.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.rows.values().map(Row::compared).sum()
    }

    /// Pairs that were proven.
    #[must_use]
    pub fn proven(&self) -> u64 {
        self.rows.values().map(|row| row.proven).sum()
    }

    /// Pairs that were refuted.
    #[must_use]
    pub fn refuted(&self) -> u64 {
        self.rows.values().map(|row| row.refuted).sum()
    }

    /// The reasons why nothing is known, the most frequent first.
    #[must_use]
    pub fn reasons(&self) -> Vec<(&str, u64)> {
        let mut all: Vec<_> = self.reasons.iter().map(|(w, n)| (w.as_str(), *n)).collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| style | compared | proven | refuted | unknown |")?;
        writeln!(f, "|---|---|---|---|---|")?;
        for (style, row) in &self.rows {
            let name = format!("{style:?}").to_lowercase();
            let compared = row.compared();
            writeln!(
                f,
                "| {name} | {compared} | {} | {} | {} |",
                row.proven, row.refuted, row.unknown
            )?;
        }
        Ok(())
    }
}
