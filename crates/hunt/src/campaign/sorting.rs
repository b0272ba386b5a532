//! Sorting out what differs: reduced programs, each cause once.

use super::Campaign;
use crate::ast::Program;
use crate::cause::Causes;
use crate::configuration::{Bench, Configuration, Made};
use crate::evaluate::evaluate;
use crate::find::{Find, Finder};
use crate::log::{Batch, Difference};
use crate::machine;
use rayon::prelude::*;
use std::io;
use std::sync::{MutexGuard, PoisonError};

/// Reductions of differences that look alike before they are reduced.
const ALIKE: usize = 4;

impl Campaign {
    pub(super) fn causes(&self) -> MutexGuard<'_, Causes> {
        self.causes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether few enough differences that look like this one were reduced: one of many may still be another one.
    pub(super) fn looks_new(&self, difference: &Difference, batch: &Batch) -> bool {
        let before = self.alike.get(&difference.alike()).copied().unwrap_or(0);
        let now = batch.differences.iter();
        let now = now.filter(|d| !d.explained && d.alike() == difference.alike());
        let before = before + now.count();
        before < ALIKE || (before + 1).is_power_of_two()
    }

    /// Reduces a program, or what is left of it without the parts of known causes. Returns the configurations whose results
    /// that does not explain.
    pub(super) fn sort_out(
        &self,
        program: &Program,
        wrong: &[Configuration],
        made: &[(Configuration, Made)],
        difference: &mut Difference,
        batch: &Batch,
    ) -> io::Result<Vec<Configuration>> {
        if !self.looks_new(difference, batch) {
            difference.note = "not reduced: others look alike".to_owned();
            return Ok(Vec::new());
        }
        let known = self.causes().without_known(program, difference);
        let Some((less, parts)) = known else {
            return self.reduce(program, wrong, made, difference);
        };
        let (Ok(buffers), Some(failing)) = (evaluate(&less), wrong.first()) else {
            return self.reduce(program, wrong, made, difference);
        };
        let expected = machine::memory(&buffers);
        let still = wrong.par_iter().map(|configuration| {
            let made = self.bench.make(configuration, &[&less])?;
            let kind = made.first().and_then(|made| made.wrong(&expected));
            let is_wrong = kind == Some(difference.kind.as_str());
            Ok(is_wrong.then(|| configuration.clone()))
        });
        let still: Vec<_> = still.collect::<io::Result<_>>()?;
        let still: Vec<Configuration> = still.into_iter().flatten().collect();
        if still.contains(failing) {
            return self.reduce(&less, &still, made, difference);
        }
        difference.explained = true;
        difference.note = format!("not reduced: right without {parts}");
        Ok(still)
    }

    fn reduce(
        &self,
        program: &Program,
        wrong: &[Configuration],
        made: &[(Configuration, Made)],
        difference: &mut Difference,
    ) -> io::Result<Vec<Configuration>> {
        let right = made.iter().filter(|(c, _)| !wrong.contains(c));
        let right: Vec<&Configuration> = right.map(|(c, _)| c).collect();
        // What fails only beside other programs with one compiler may fail alone with another one.
        let mut releases = Vec::new();
        let mut reduced = None;
        for failing in wrong {
            if releases.contains(&&failing.release) {
                continue;
            }
            releases.push(&failing.release);
            let finder = Finder {
                bench: &self.bench,
                kind: &difference.kind,
                failing,
                most: self.settings.reduction,
            };
            reduced = finder.reduce(program, &right)?.map(|it| (failing, it));
            if reduced.is_some() {
                break;
            }
        }
        let Some((failing, reduced)) = reduced else {
            difference.note = "not seen again in a source of its own".to_owned();
            return Ok(Vec::new());
        };
        let all: Vec<Configuration> = made.iter().map(|(c, _)| c.clone()).collect();
        let find = Find::of(&self.bench, &difference.kind, program.seed, reduced, &all)?;
        match find.doubt() {
            Some(doubt) => {
                difference.note = doubt.to_owned();
                // Nobody has to read it before it is known to be a bug.
                let bench = Bench {
                    smaller: None,
                    ..self.bench.clone()
                };
                find.write(&self.folder.join("doubts"), &bench)?;
                Ok(Vec::new())
            }
            None => {
                difference.bug = Some(find.signature());
                let mut causes = self.causes();
                difference.part = causes.part(&find.program);
                causes.learn(difference);
                drop(causes);
                find.write(&self.folder.join("bugs"), &self.bench)?;
                let explained: Vec<&Configuration> = find.wrong().map(|(c, _)| c).collect();
                let left = wrong
                    .iter()
                    .filter(|c| *c != failing && !explained.contains(c));
                Ok(left.cloned().collect())
            }
        }
    }
}
