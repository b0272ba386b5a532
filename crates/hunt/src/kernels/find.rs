//! Variants of kernels in all configurations, and what they tell.

use super::change::Change;
use super::reference::Reference;
use super::subject::Subject;
use crate::configuration::{Bench, Configuration, Made};
use crate::log::{Batch, Difference};
use crate::machine::{self, Launching, Memory};
use crate::replay::Replay;
use crate::report;
use crate::smaller::Bug;
use crate::switches::{Effect, Switch, avoiding};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use visakit_launch::Element;

/// Compilations to find the switches that avoid a bug.
const MOST_SWITCHES: usize = 60;

/// A subject with changes.
#[derive(Clone, Debug)]
pub(crate) struct Variant<'s> {
    pub(crate) subject: &'s Subject,
    pub(crate) seed: u64,
    pub(crate) changes: Vec<Change>,
}

impl Variant<'_> {
    /// The source and the launch: without changes those of the subject.
    fn task(&self) -> Option<(String, Launching)> {
        match self.changes.is_empty() {
            true => {
                let source = self.subject.source().to_owned();
                Some((source, self.subject.launching.clone()))
            }
            false => {
                let source = self.subject.variant(&self.changes)?;
                Some((source, self.subject.launching_of_variant()))
            }
        }
    }
}

/// Runs variants.
pub(crate) struct Variants<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) configurations: Vec<Configuration>,
    /// Where bugs are reported.
    pub(crate) folder: &'a Path,
}

impl Variants<'_> {
    fn make(&self, variant: &Variant<'_>, configuration: &Configuration) -> io::Result<Made> {
        let Some((source, launching)) = variant.task() else {
            return Ok(Made::Not("it has no variant".to_owned()));
        };
        let kernel = &variant.subject.kernel;
        self.bench
            .run_one(configuration, &source, kernel, &launching)
    }

    fn all(&self, variant: &Variant<'_>) -> io::Result<Vec<(Configuration, Made)>> {
        let made = self
            .configurations
            .par_iter()
            .map(|configuration| Ok((configuration.clone(), self.make(variant, configuration)?)));
        made.collect()
    }

    /// What a subject computes, if a build of it has no findings: what most configurations say, or with floats what each says.
    ///
    /// # Errors
    /// Compilers cannot be run. The inner error is why there is no such memory.
    pub(crate) fn reference(&self, subject: &Subject) -> io::Result<Result<Reference, String>> {
        let variant = Variant {
            subject,
            seed: 0,
            changes: Vec::new(),
        };
        let made = self.all(&variant)?;
        let count = |memory: &Memory| {
            made.iter()
                .filter(|(_, m)| m.memory() == Some(memory))
                .count()
        };
        let memories = made.iter().filter_map(|(_, made)| made.memory());
        let Some(most) = memories.max_by_key(|memory| count(memory)) else {
            let reason = made.iter().find_map(|(_, made)| match made {
                Made::Refused(said)
                | Made::Not(said)
                | Made::Crash(said)
                | Made::Fault(said, _) => said
                    .lines()
                    .find(|line| !line.trim().is_empty())
                    .map(str::to_owned),
                _ => None,
            });
            return Ok(Err(reason.unwrap_or_else(|| "it does not run".to_owned())));
        };
        let reference = if subject.floats {
            let each = made.iter();
            let each = each.filter_map(|(c, made)| Some((c.name(), made.memory()?.clone())));
            Reference::Each(each.collect())
        } else {
            if count(most) * 2 <= made.len() {
                return Ok(Err("configurations do not agree".to_owned()));
            }
            Reference::All(most.clone())
        };
        Ok(is_clean(&made, &reference, &subject.launching).map(|()| reference))
    }

    /// Compares what configurations make of a variant with what the subject computes.
    ///
    /// # Errors
    /// Compilers cannot be run, or files cannot be written.
    pub(crate) fn judge(
        &self,
        variant: &Variant<'_>,
        expected: &Reference,
        batch: &mut Batch,
    ) -> io::Result<()> {
        let made = self.all(variant)?;
        batch.programs += 1;
        let mut kinds = BTreeSet::new();
        for (configuration, made) in &made {
            match made {
                Made::Not(reason) => batch.drop(&format!("not run: {reason}")),
                Made::Refused(said) => {
                    let error = said
                        .lines()
                        .find(|line| line.contains("error:"))
                        .unwrap_or(said);
                    batch.drop(&format!("refused: {error}"));
                }
                Made::Memory(..) | Made::Fault(..) | Made::Second(_) => batch.launches += 1,
                Made::Crash(_) | Made::Endless => {}
            }
            if let Some(kind) = expected.wrong(configuration, made) {
                match configuration.is_tested() {
                    true => {
                        kinds.insert(kind);
                    }
                    false => batch.drop(&format!("{kind} by {}", configuration.name())),
                }
            }
        }
        for kind in kinds {
            let is_wrong =
                |c: &Configuration, m: &Made| c.is_tested() && expected.wrong(c, m) == Some(kind);
            let wrong = made.iter().filter(|(c, m)| is_wrong(c, m)).map(|(c, _)| c);
            let wrong: Vec<&Configuration> = wrong.collect();
            let mut difference = Difference {
                seed: variant.seed,
                kind: kind.to_owned(),
                configurations: wrong.iter().map(|c| c.name()).collect(),
                ..Difference::default()
            };
            let right = made
                .iter()
                .find(|(c, m)| expected.is_right(c, m))
                .map(|(c, _)| c);
            match (wrong.first(), right) {
                (Some(failing), Some(right)) => {
                    let small = self.reduced(variant, expected, kind, (failing, right))?;
                    self.report(&small, expected, &mut difference)?;
                }
                _ => difference.note = "no configuration computes what the kernel does".to_owned(),
            }
            batch.differences.push(difference);
        }
        Ok(())
    }

    /// Without the changes that are not needed.
    fn reduced<'s>(
        &self,
        variant: &Variant<'s>,
        expected: &Reference,
        kind: &str,
        (failing, right): (&Configuration, &Configuration),
    ) -> io::Result<Variant<'s>> {
        let mut best = variant.clone();
        let mut at = 0;
        while at < best.changes.len() {
            let mut less = best.clone();
            less.changes.remove(at);
            let stays = expected.wrong(failing, &self.make(&less, failing)?) == Some(kind)
                && expected.is_right(right, &self.make(&less, right)?);
            match stays {
                true => best = less,
                false => at += 1,
            }
        }
        Ok(best)
    }

    fn report(
        &self,
        variant: &Variant<'_>,
        reference: &Reference,
        difference: &mut Difference,
    ) -> io::Result<()> {
        let made = self.all(variant)?;
        let Some((source, launching)) = variant.task() else {
            return Ok(());
        };
        if let Err(reason) = is_clean(&made, reference, &launching) {
            difference.note = reason;
            return Ok(());
        }
        let wrong = made
            .iter()
            .filter(|(c, m)| c.is_tested() && reference.wrong(c, m).is_some());
        let wrong: Vec<&Configuration> = wrong.map(|(c, _)| c).collect();
        let failing = wrong.first().and_then(|c| Some((c, reference.of(c)?)));
        let Some((failing, expected)) = failing else {
            difference.note = "not seen again".to_owned();
            return Ok(());
        };
        // Compilations that do not end are not made again and again.
        let most = match difference.kind.as_str() {
            "endless" => 0,
            _ => MOST_SWITCHES,
        };
        let avoided = avoiding(&Switch::all(), most, &mut |switches| {
            let configuration = Configuration {
                switches: switches.to_vec(),
                ..(*failing).clone()
            };
            let made = self.make(variant, &configuration)?;
            Ok::<_, io::Error>(match (made.memory(), reference.is_right(failing, &made)) {
                (_, true) => Effect::Vanishes,
                (Some(_), false) => Effect::Remains,
                (None, false) => Effect::Unknown,
            })
        })?;
        let places = wrong
            .iter()
            .map(|c| format!("{} {}", c.release, c.is_plain()));
        let mut facts: Vec<String> = places.collect::<BTreeSet<_>>().into_iter().collect();
        facts.push(variant.subject.name.clone());
        facts.extend(variant.changes.iter().map(|c| c.what.to_owned()));
        facts.extend(avoided.iter().map(Switch::to_string));
        let name = format!(
            "kernel-{}-{:08x}",
            difference.kind,
            crate::find::hash(&facts) >> 32
        );
        difference.bug = Some(name.clone());
        let place = self.folder.join("bugs").join(&name);
        if place.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(self.folder.join("bugs"))?;
        let folder = visakit_files::TemporaryFolder::new(&self.folder.join("bugs"), "hunt")?;
        let elements = vec![Element::from("uchar".to_owned()); expected.len()];
        let mut text = format!(
            "# A change of a kernel changes its result: {}\n\n",
            variant.subject.name
        );
        let what: Vec<&str> = variant.changes.iter().map(|c| c.what).collect();
        let _ = writeln!(
            text,
            "`variant.cl` is `original.cl` with {}; its last argument is 1. Both compute the same by the rules of \
             OpenCL C. The expected result is that of {}.\n",
            if what.is_empty() {
                "no change".to_owned()
            } else {
                what.join(", ")
            },
            match reference {
                Reference::All(_) => "most configurations for the original",
                Reference::Each(_) => "the same configuration for the original",
            }
        );
        let of = |c: &Configuration| reference.of(c).unwrap_or(expected);
        report::table(&mut text, &made, &of, &elements);
        if most > 0 {
            let _ = writeln!(text, "\n{}", report::avoided(failing, &avoided));
        }
        let file = |name: &str, text: &str| {
            visakit_files::scratch(&folder.path().join(name), text.as_bytes())
        };
        file("original.cl", variant.subject.source())?;
        file("variant.cl", &source)?;
        let replay = Replay {
            name,
            launching: &launching,
            expected,
            elements: &elements,
        };
        // A case has one expected result.
        let same = |c: &Configuration| reference.of(c) == Some(expected);
        let made: Vec<_> = made.iter().filter(|(c, _)| same(c)).cloned().collect();
        let cases = replay.write(&made, folder.path())?;
        // Where each is compared with itself, what a source computes does not tell which is wrong.
        if let Reference::All(_) = reference {
            let bug = Bug {
                kernel: &variant.subject.kernel,
                source: &source,
                launching: &launching,
                elements: &elements,
                made: &made,
                cases: &cases,
                wrong: failing,
                is_right: &|c, made| reference.is_right(c, made),
            };
            bug.write(self.bench, folder.path(), &mut text)?;
        }
        file("report.md", &text)?;
        folder.commit(&place)
    }
}

/// Whether a build that is right has no findings.
fn is_clean(
    made: &[(Configuration, Made)],
    reference: &Reference,
    launching: &Launching,
) -> Result<(), String> {
    let mut reason = "no build computes what is expected".to_owned();
    let right = made
        .iter()
        .filter(|(configuration, made)| reference.is_right(configuration, made));
    for kernel in right.filter_map(|(_, made)| made.kernel()) {
        match machine::check(kernel, launching) {
            Ok(findings) => match findings.first() {
                None => return Ok(()),
                Some(first) => reason = format!("check: {first}"),
            },
            Err(error) => reason = error,
        }
    }
    Err(reason)
}
