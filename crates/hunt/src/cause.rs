//! Causes that are known: what they explain is not reduced again.
//!
//! The rarest part of the language that a reduced program needs stands for the cause. Another program with that part that is
//! right without it most likely has the same cause; if it is still wrong, what is left of it has another one.

use crate::ast::Program;
use crate::generate::{Options, generate};
use crate::log::Difference;
use crate::shape::{parts, without};
use std::collections::{BTreeMap, BTreeSet};

/// Programs that tell how rare a part is.
const SAMPLE: u64 = 64;

/// A part that more of these have is in too many programs to stand for a cause.
const MOST: u64 = SAMPLE * 2 / 3;

/// The parts that stand for known causes.
#[derive(Debug)]
pub(crate) struct Causes {
    /// How many programs of the sample have a part.
    common: BTreeMap<String, u64>,
    known: Vec<Known>,
}

#[derive(Debug, PartialEq)]
struct Known {
    kind: String,
    /// Compilers that are wrong.
    releases: BTreeSet<String>,
    part: String,
}

/// The compilers of some configurations, by their names.
fn releases(difference: &Difference) -> BTreeSet<String> {
    let names = difference.configurations.iter();
    let releases = names.filter_map(|name| name.split(' ').next());
    releases.map(str::to_owned).collect()
}

impl Causes {
    pub(crate) fn new(options: &Options) -> Self {
        let mut common: BTreeMap<String, u64> = BTreeMap::new();
        for seed in 0..SAMPLE {
            for part in parts(&generate(seed, options)) {
                *common.entry(part).or_default() += 1;
            }
        }
        Self {
            common,
            known: Vec::new(),
        }
    }

    /// The part that stands for the cause of a reduced program.
    pub(crate) fn part(&self, program: &Program) -> Option<String> {
        let count = |part: &String| self.common.get(part).copied().unwrap_or(0);
        let rarest = parts(program).into_iter().min_by_key(count)?;
        (count(&rarest) <= MOST).then_some(rarest)
    }

    /// Keeps the cause of a bug.
    pub(crate) fn learn(&mut self, difference: &Difference) {
        if let (Some(_), Some(part)) = (&difference.bug, &difference.part) {
            let known = Known {
                kind: difference.kind.clone(),
                releases: releases(difference),
                part: part.clone(),
            };
            if !self.known.contains(&known) {
                self.known.push(known);
            }
        }
    }

    /// The program without the parts of known causes of the compilers that are wrong, and which parts these are; `None` if it has
    /// none of them.
    pub(crate) fn without_known(
        &self,
        program: &Program,
        difference: &Difference,
    ) -> Option<(Program, String)> {
        let wrong = releases(difference);
        let has = parts(program);
        let known = self.known.iter().filter(|known| {
            known.kind == difference.kind
                && has.contains(&known.part)
                && !known.releases.is_disjoint(&wrong)
        });
        let known: BTreeSet<String> = known.map(|known| known.part.clone()).collect();
        if known.is_empty() {
            return None;
        }
        let named: Vec<&str> = known.iter().map(String::as_str).collect();
        let named = named.join(", ");
        Some((without(program, &known), named))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "helpers of tests")]

    use super::*;
    use crate::ast::{Builtin, Expr, Node};
    use crate::types::{Scalar, Type};

    /// A part that is rare stands for a cause, and is known for the compilers that had it.
    #[test]
    fn what_is_known_is_left_out() {
        let mut causes = Causes::new(&Options::default());
        let ty = Type::scalar(Scalar::Long);
        let zero = || Expr::zero(ty);
        let node = Node::Call(Builtin::SubSat, vec![zero(), zero()]);
        let program = Program {
            groups: 1,
            local: 32,
            outputs: vec![Expr { ty, node }],
            ..Program::default()
        };
        let part = causes.part(&program);
        assert_eq!(part.as_deref(), Some("sub_sat long"));
        let of = |name: &str| Difference {
            kind: "miscompile".to_owned(),
            configurations: vec![name.to_owned()],
            bug: Some("bug".to_owned()),
            part: part.clone(),
            ..Difference::default()
        };
        assert!(causes.without_known(&program, &of("2.40 dg2")).is_none());
        causes.learn(&of("2.40 dg2"));
        let (less, named) = causes.without_known(&program, &of("2.40 bmg")).unwrap();
        assert_eq!(named, "sub_sat long");
        assert_eq!(less.outputs, [zero()]);
        assert!(causes.without_known(&program, &of("1.0 dg2")).is_none());
        assert!(causes.without_known(&less, &of("2.40 bmg")).is_none());
    }
}
