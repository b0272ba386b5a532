//! Which routines are the same code.
//!
//! Instructions and pairs of them are compared, ignoring variables, execution sizes and the kind of memory message
//! ([`Fingerprint::features`]). What most routines of a collection contain is boilerplate and gets a low weight: a
//! feature that `d` of `n` routines have weighs the square of `ln(1 + n / d)`. The score of two routines is the weight of the
//! features they share divided by the weight of those either has.

use crate::fingerprint::Fingerprint;
use hashbrown::HashMap;

/// How two routines are related.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Relation {
    /// Code, names and numbers are the same.
    Exact,
    /// The code is the same, names and numbers are not.
    Renamed,
    /// The score indicates that they come from the same source.
    Recompiled,
    /// Nothing indicates that.
    Unrelated,
}

impl Relation {
    /// Name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Renamed => "renamed",
            Self::Recompiled => "recompiled",
            Self::Unrelated => "unrelated",
        }
    }
}

/// Routines with at least this score are considered to have the same source; see `docs/corpus.md` for measurements.
pub const THRESHOLD: f64 = 0.30;

/// A routine that resembles another one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Similar {
    /// Its number in the collection.
    pub entry: usize,
    /// From 0 for nothing in common to 1 for the same features.
    pub score: f64,
    /// Whether the graphs of blocks are the same.
    pub same_flow: bool,
    /// How they are related.
    pub relation: Relation,
}

/// A collection of routines.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    entries: Vec<Fingerprint>,
    /// The routines that have a feature.
    holders: HashMap<u64, Vec<u32>>,
}

impl Collection {
    /// Adds a routine and returns its number.
    pub fn add(&mut self, fingerprint: Fingerprint) -> usize {
        let entry = self.entries.len();
        let number = u32::try_from(entry).unwrap_or(u32::MAX);
        for feature in &fingerprint.features {
            self.holders.entry(*feature).or_default().push(number);
        }
        self.entries.push(fingerprint);
        entry
    }

    /// Number of routines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[allow(clippy::cast_precision_loss)] // a weight of few digits
    fn weight(&self, holders: usize) -> f64 {
        (1.0 + self.entries.len() as f64 / holders.max(1) as f64)
            .ln()
            .powi(2)
    }

    fn total(&self, features: &[u64]) -> f64 {
        let holders = |feature| self.holders.get(feature).map_or(1, Vec::len);
        features
            .iter()
            .map(|feature| self.weight(holders(feature)))
            .sum()
    }

    /// The routines that have something in common with one, most similar first. `threshold` is the
    /// least score of [`Relation::Recompiled`].
    #[must_use]
    pub fn similar_to(&self, wanted: &Fingerprint, threshold: f64) -> Vec<Similar> {
        let mut shared = vec![0.0; self.entries.len()];
        for feature in &wanted.features {
            let Some(holders) = self.holders.get(feature) else {
                continue;
            };
            let weight = self.weight(holders.len());
            for holder in holders {
                let entry = usize::try_from(*holder).unwrap_or(usize::MAX);
                if let Some(sum) = shared.get_mut(entry) {
                    *sum += weight;
                }
            }
        }
        let own = self.total(&wanted.features);
        let mut found: Vec<Similar> = self
            .entries
            .iter()
            .zip(shared)
            .enumerate()
            .filter_map(|(entry, (other, shared))| {
                let same = other.text == wanted.text;
                if shared == 0.0 && !same {
                    return None;
                }
                let all = own + self.total(&other.features) - shared;
                let score = if all > 0.0 {
                    (shared / all).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let relation = if other.exact == wanted.exact {
                    Relation::Exact
                } else if same {
                    Relation::Renamed
                } else if score >= threshold {
                    Relation::Recompiled
                } else {
                    Relation::Unrelated
                };
                Some(Similar {
                    entry,
                    score,
                    same_flow: other.flow == wanted.flow,
                    relation,
                })
            })
            .collect();
        found.sort_by(|a, b| {
            let order = a
                .relation
                .min(Relation::Recompiled)
                .cmp(&b.relation.min(Relation::Recompiled));
            order
                .then(b.score.total_cmp(&a.score))
                .then(a.entry.cmp(&b.entry))
        });
        found
    }
}
