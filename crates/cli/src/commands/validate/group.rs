//! Findings that are reported together.

use super::Checked;
use std::collections::HashMap;
use std::fmt::Write;
use visakit::validate::{Finding, Scope};

/// At most this many findings of one kind are reported individually.
const FEW: usize = 3;

/// At most this many places are named.
const PLACES: usize = 40;

/// A finding, and others of its kind.
#[derive(Debug)]
pub(super) struct Group {
    /// Number of the first one.
    pub(super) first: usize,
    /// Numbers of the others.
    pub(super) others: Vec<usize>,
}

impl Group {
    pub(super) const fn of(first: usize) -> Self {
        Self {
            first,
            others: Vec::new(),
        }
    }
}

/// Findings of one kind break the same rule for the same cause; if no cause is known, they have the same message apart
/// from numbers. A kind with more than [`FEW`] findings becomes one group, placed at the first of them. At most `limit`
/// groups.
pub(super) fn groups(findings: &[Finding], limit: usize) -> Vec<Group> {
    let kinds: Vec<_> = findings
        .iter()
        .map(|finding| {
            let words = match finding.cause {
                Some(_) => String::new(),
                None => wording(&finding.message),
            };
            (finding.rule.number, finding.cause, words)
        })
        .collect();
    let mut counts = HashMap::new();
    for kind in &kinds {
        *counts.entry(kind).or_insert(0_usize) += 1;
    }
    let mut places: HashMap<_, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (n, kind) in kinds.iter().enumerate() {
        let many = counts.get(kind).is_some_and(|count| *count > FEW);
        let known = places.get(kind).copied().filter(|_| many);
        if let Some(group) = known.and_then(|place| groups.get_mut(place)) {
            group.others.push(n);
        } else if groups.len() < limit {
            places.insert(kind, groups.len());
            groups.push(Group::of(n));
        }
    }
    groups
}

/// A message without its numbers.
fn wording(message: &str) -> String {
    message.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Where findings are: lines of a text, instructions and entries of routines.
pub(super) fn places(one: &Checked, numbers: &[usize]) -> String {
    let mut lists: Vec<(String, Vec<usize>)> = Vec::new();
    for n in numbers {
        let Some(finding) = one.report.findings.get(*n) else {
            continue;
        };
        let routine = || {
            let id = finding.location.routine;
            id.map_or_else(String::new, |id| {
                format!("{} {} ", id.kind.name(), id.index)
            })
        };
        let (list, number) = match (one.lines.get(*n).copied().flatten(), finding.location.scope) {
            (Some((line, _)), _) => ("line".to_owned(), line),
            (None, Scope::Instruction { number, .. }) => {
                (format!("{}instruction", routine()), number as usize)
            }
            (None, Scope::Entry { table, index }) => {
                (format!("{}{table}", routine()), index as usize)
            }
            (None, Scope::Whole) => (format!("{}as a whole", routine()), 0),
        };
        match lists.last_mut() {
            Some((last, numbers)) if *last == list => numbers.push(number),
            _ => lists.push((list, vec![number])),
        }
    }
    let mut out = String::new();
    let mut left = PLACES;
    for (list, numbers) in &lists {
        let separator = if out.is_empty() { "" } else { "; " };
        if left == 0 {
            let _ = write!(out, "{separator}and others");
            break;
        }
        let many = numbers.len() > 1 && (list.ends_with("instruction") || list == "line");
        let plural = if many { "s" } else { "" };
        let runs = runs(numbers, &mut left);
        let _ = write!(out, "{separator}{list}{plural} {runs}");
    }
    out
}

/// Numbers in order, neighbours as `3-5`, as many runs as are left.
fn runs(numbers: &[usize], left: &mut usize) -> String {
    let mut numbers = numbers.to_vec();
    numbers.dedup();
    let mut out = Vec::new();
    for run in numbers.chunk_by(|a, b| *b == a.saturating_add(1)) {
        if *left == 0 {
            out.push("…".to_owned());
            break;
        }
        *left -= 1;
        if let (Some(first), Some(last)) = (run.first(), run.last()) {
            out.push(if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            });
        }
    }
    out.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_told_as_runs_and_long_lists_end() {
        let mut left = 3;
        let told = runs(&[1, 2, 3, 3, 7, 9, 10, 12, 14], &mut left);
        assert_eq!((told.as_str(), left), ("1-3, 7, 9-10, …", 0));
    }

    #[test]
    fn wording_has_no_numbers() {
        assert_eq!(
            wording("accesses byte 319 of 192"),
            wording("accesses byte 191 of 128")
        );
    }
}
