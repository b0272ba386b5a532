//! Findings, one for each cause.

#[cfg(test)]
mod tests;

use crate::finding::{Class, Finding, Kind};
use hashbrown::{HashMap, HashSet};

/// The key of a finding: findings with the same cause are counted as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Cause {
    pub(crate) kind: Kind,
    pub(crate) step: u32,
    pub(crate) other: u32,
    pub(crate) object: usize,
    pub(crate) detail: u8,
    pub(crate) class: Class,
    /// The step of a read of what another work-item changes by an atomic: the finding holds unless the value that this step
    /// reads becomes the one that is compared with.
    pub(crate) tried: Option<u32>,
}

/// No step or object.
pub(crate) const NONE: u32 = u32::MAX;

impl Cause {
    /// One without anything that distinguishes it from others of this kind at this step.
    pub(crate) const fn new(kind: Kind, step: u32) -> Self {
        Self {
            kind,
            step,
            other: NONE,
            object: 0,
            detail: 0,
            class: Class {
                between: None,
                accesses: [None; 2],
            },
            tried: None,
        }
    }
}

/// When: the group, counted from 0, and how many instructions its threads had run before.
type Moment = (u64, u64);

/// Findings by their causes. Neither what is kept nor its order depends on the order in which findings are added.
#[derive(Debug, Default)]
pub(crate) struct Found {
    all: HashMap<Cause, Finding>,
    /// Steps whose reads are followed by a compare and exchange with the value read.
    exchanged: HashSet<u32>,
}

impl Found {
    /// Whether something was found with this cause.
    pub(crate) fn has(&self, cause: &Cause) -> bool {
        self.all.contains_key(cause)
    }

    /// The causes so far.
    pub(crate) fn causes(&self) -> impl Iterator<Item = &Cause> {
        self.all.keys()
    }

    /// Counts another occurrence of a known cause. Returns false if its details are to be [`Self::put`]: those of the
    /// earliest one are kept.
    pub(crate) fn counts(&mut self, cause: &Cause, moment: Moment) -> bool {
        let Some(known) = self.all.get_mut(cause) else {
            return false;
        };
        if moment < known.moment {
            return false;
        }
        known.count += 1;
        true
    }

    /// Adds the details of an occurrence that [`Self::counts`] did not count.
    pub(crate) fn put(&mut self, cause: Cause, finding: Finding) {
        match self.all.get_mut(&cause) {
            Some(known) => {
                let count = known.count.saturating_add(finding.count);
                *known = Finding { count, ..finding };
            }
            None => {
                self.all.insert(cause, finding);
            }
        }
    }

    /// A compare and exchange has compared with what a step had read.
    pub(crate) fn exchanged(&mut self, read: u32) {
        self.exchanged.insert(read);
    }

    /// All of them, the worst first: see [`Finding::severity`]. Left out are writes of the same value where others wrote a
    /// different one, and reads whose values are compared with.
    pub(crate) fn sorted(self) -> Vec<(Cause, Finding)> {
        let Self { all, exchanged } = self;
        let mut left = Self::default();
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_key(|(cause, _)| *cause);
        for (cause, finding) in all {
            if cause.tried.is_some_and(|read| exchanged.contains(&read)) {
                continue;
            }
            left.merge(
                Cause {
                    tried: None,
                    ..cause
                },
                finding,
            );
        }
        let worse = |cause: &Cause| {
            left.all.keys().any(|other| {
                other.kind == Kind::Race
                    && (other.step, other.other, other.object)
                        == (cause.step, cause.other, cause.object)
                    && other.class.between <= cause.class.between
            })
        };
        let kept = |cause: &Cause| cause.kind != Kind::RaceSameValue || !worse(cause);
        let causes: Vec<Cause> = left.all.keys().copied().filter(kept).collect();
        let mut all: Vec<_> = causes
            .into_iter()
            .filter_map(|cause| Some((cause, left.all.remove(&cause)?)))
            .collect();
        all.sort_by(|(a, of_a), (b, of_b)| {
            let order = of_a.severity().cmp(&of_b.severity());
            order.then_with(|| a.cmp(b))
        });
        all
    }

    fn merge(&mut self, cause: Cause, finding: Finding) {
        match self.all.get_mut(&cause) {
            Some(known) => {
                let count = known.count.saturating_add(finding.count);
                if finding.moment < known.moment {
                    *known = finding;
                }
                known.count = count;
            }
            None => {
                self.all.insert(cause, finding);
            }
        }
    }
}
