//! Campaigns: batches of programs, compiled by every configuration, run, compared, sorted out.

mod progress;
mod sorting;

pub use progress::Progress;

use crate::ast::Program;
use crate::cause::Causes;
use crate::compiler::Compiler;
use crate::configuration::{Bench, Configuration, Made, Need};
use crate::evaluate::evaluate;
use crate::features::Feature;
use crate::finalizer::Finalizer;
use crate::generate::{Options, generate};
use crate::kernels::{Reference, Subject, Variant, Variants, subjects};
use crate::log::{Batch, Difference, Log};
use crate::machine::{self, Memory};
use crate::objects::Objects;
use crate::probe::probed;
use crate::process::processor_time;
use crate::second::Second;
use crate::smaller::Smaller;
use crate::through::Through;
use crate::transform::transformed;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// What a campaign does.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The compilers with their names in reports; none if only finalizers are hunted.
    pub compilers: Vec<(String, Compiler)>,
    /// Finalizers with their names in reports, which get objects of `visakit smith`.
    pub finalizers: Vec<(String, Finalizer)>,
    /// Other implementations of OpenCL with their names in reports.
    pub seconds: Vec<(String, Second)>,
    /// Programs that change modules of SPIR-V, with their names in reports: each is a way to configurations of its own.
    pub throughs: Vec<(String, Through)>,
    /// A folder of kernels that are changed without changing what they compute.
    pub kernels: Option<PathBuf>,
    /// The devices.
    pub devices: Vec<String>,
    /// Options for OpenCL C, each for a configuration of its own, besides none and `-cl-opt-disable`.
    pub options: Vec<String>,
    /// The first seed.
    pub seed: u64,
    /// Features that programs may have.
    pub features: Vec<Feature>,
    /// Transformations of a program at most, which do not change what it computes.
    pub transformations: usize,
    /// Programs that are compiled together.
    pub batch: usize,
    /// This campaign makes each `share.1`th batch, from number `share.0` on.
    pub share: (u64, u64),
    /// Ends after so many programs.
    pub programs: Option<u64>,
    /// Ends after so long.
    pub time: Option<Duration>,
    /// Programs that a reduction tests at most.
    pub reduction: usize,
    /// What makes reduced programs smaller still.
    pub smaller: Option<Smaller>,
}

/// Causes that are looked for in one program at most.
const CAUSES: usize = 4;

/// Changes of a kernel of the folder at most.
const VARIED: usize = 6;

/// A campaign in its folder.
#[derive(Debug)]
pub struct Campaign {
    settings: Settings,
    folder: PathBuf,
    bench: Bench,
    objects: Objects,
    /// What each compiler has for each device.
    has: Vec<(Configuration, BTreeSet<Need>)>,
    /// Kernels of the folder, and why others are left out.
    subjects: Vec<Subject>,
    left_out: Vec<(String, String)>,
    /// What each of them computes, or why that is unknown, once it was asked for.
    references: Vec<OnceLock<Result<Reference, String>>>,
    log: Log,
    progress: Progress,
    bugs: BTreeSet<String>,
    /// Differences so far by what they look like, without those that a known cause explains.
    alike: BTreeMap<String, usize>,
    causes: Mutex<Causes>,
}

impl Campaign {
    /// Begins a campaign in a folder, or goes on with the one that is there.
    ///
    /// # Errors
    /// The folder has a campaign and `resume` is false; a compiler cannot be run; none of them has any of the devices.
    pub fn open(folder: &Path, settings: Settings, resume: bool) -> io::Result<Self> {
        let (part, parts) = settings.share;
        let path = folder.join(format!("log-{part}-of-{parts}.jsonl"));
        let opened = Log::read(&path, &settings.identity(), resume)?;
        let seconds = settings.seconds.iter().map(|(_, s)| s.clone()).collect();
        let throughs = settings.throughs.iter().map(|(_, t)| t.clone()).collect();
        let bench = Bench {
            compilers: settings.compilers.clone(),
            seconds,
            throughs,
            smaller: settings.smaller.clone(),
        };
        let objects = Objects::new(settings.finalizers.clone(), &settings.devices)?;
        let has = match settings.compilers.is_empty() {
            true => Vec::new(),
            false => probed(&bench, &settings)?,
        };
        let (subjects, left_out) = match &settings.kernels {
            Some(folder) => subjects(folder)?,
            None => (Vec::new(), Vec::new()),
        };
        let causes = Causes::new(&settings.options());
        std::fs::create_dir_all(folder)?;
        let (log, batches) = Log::open(&path, opened)?;
        let mut campaign = Self {
            bench,
            objects,
            folder: folder.to_owned(),
            has,
            settings,
            references: subjects.iter().map(|_| OnceLock::new()).collect(),
            subjects,
            left_out,
            log,
            progress: Progress::default(),
            bugs: BTreeSet::new(),
            alike: BTreeMap::new(),
            causes: Mutex::new(causes),
        };
        for batch in &batches {
            campaign.count(batch);
        }
        Ok(campaign)
    }

    /// Where it is.
    #[must_use]
    pub const fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The compilers and devices, with what each of them has.
    pub fn targets(&self) -> impl Iterator<Item = (&Configuration, &BTreeSet<Need>)> {
        self.has.iter().map(|(c, needs)| (c, needs))
    }

    /// The kernels of the folder that are left out, with the reasons; those that no configuration runs come later.
    #[must_use]
    pub fn left_out(&self) -> &[(String, String)] {
        &self.left_out
    }

    fn count(&mut self, batch: &Batch) {
        for difference in &batch.differences {
            if !difference.explained {
                *self.alike.entry(difference.alike()).or_default() += 1;
            }
            self.bugs.extend(difference.bug.clone());
            self.causes().learn(difference);
        }
        self.progress.add(batch, self.bugs.len());
    }

    /// Runs batches until it is done. `watch` hears of each batch, and may end the campaign by answering false.
    ///
    /// # Errors
    /// Files cannot be written, or compilers not be run.
    pub fn run(&mut self, watch: &mut dyn FnMut(&Progress) -> bool) -> io::Result<()> {
        let started = Instant::now();
        let (part, parts) = self.settings.share;
        loop {
            let settings = &self.settings;
            let enough = |programs| self.progress.programs >= programs;
            if settings.programs.is_some_and(enough)
                || settings.time.is_some_and(|time| started.elapsed() >= time)
            {
                return Ok(());
            }
            let number = (part - 1) + self.progress.batches * parts;
            let before = processor_time();
            let mut batch = self.batch(number)?;
            batch.processor = processor_time().saturating_sub(before).as_secs_f64();
            self.log.add(&batch)?;
            self.count(&batch);
            if !watch(&self.progress) {
                return Ok(());
            }
        }
    }

    /// The configurations of a batch: sizes of sub-groups take turns.
    fn configurations(&self, number: u64) -> Vec<(Configuration, &BTreeSet<Need>)> {
        let mut all = Vec::new();
        for (target, has) in &self.has {
            if !target.is_tested() {
                all.push((target.clone(), has));
                continue;
            }
            let with = |options: &str, sub_group| Configuration {
                options: options.to_owned(),
                sub_group,
                ..target.clone()
            };
            all.push((with("-cl-opt-disable", None), has));
            all.push((with("", None), has));
            for options in &self.settings.options {
                all.push((with(options, None), has));
            }
            let sizes = [8, 16, 32].into_iter();
            let sizes: Vec<u32> = sizes
                .filter(|size| has.contains(&Need::SubGroup(*size)))
                .collect();
            let turn = number % (sizes.len().max(1) as u64);
            let turn = usize::try_from(turn).unwrap_or(0);
            if let Some(size) = sizes.get(turn) {
                all.push((with("", Some(*size)), has));
            }
            let ways = self.settings.throughs.len();
            let turn = usize::try_from(number).unwrap_or(0) % ways.max(1);
            all.extend(self.settings.throughs.get(turn).map(|(name, _)| {
                let way = Configuration {
                    through: Some((turn, name.clone())),
                    ..target.clone()
                };
                (way, has)
            }));
        }
        // Options may be given twice, or be those that every campaign has.
        let mut names = BTreeSet::new();
        all.retain(|(configuration, _)| names.insert(configuration.name()));
        all
    }

    /// The seeds of a batch.
    fn seeds(&self, number: u64) -> Vec<u64> {
        let count = self.settings.batch.max(1) as u64;
        let first = self.settings.seed.wrapping_add(number.wrapping_mul(count));
        (0..count).map(|n| first.wrapping_add(n)).collect()
    }

    /// The programs of a batch, with what they compute.
    fn programs(&self, number: u64, batch: &mut Batch) -> Vec<(Program, Memory)> {
        if self.has.is_empty() {
            return Vec::new();
        }
        let options = self.settings.options();
        let made = self.seeds(number).into_par_iter().map(|seed| {
            let program = generate(seed, &options);
            let program = transformed(&program, seed, self.settings.transformations);
            let memory = evaluate(&program).map(|b| machine::memory(&b));
            (program, memory)
        });
        let mut programs = Vec::new();
        for (program, memory) in made.collect::<Vec<_>>() {
            match memory {
                Ok(memory) => programs.push((program, memory)),
                Err(error) => batch.drop(&error.to_string()),
            }
        }
        programs
    }

    fn batch(&self, number: u64) -> io::Result<Batch> {
        let mut batch = Batch {
            batch: number,
            ..Batch::default()
        };
        let programs = self.programs(number, &mut batch);
        batch.programs = programs.len() as u64;
        let started = Instant::now();
        let configurations = self.configurations(number);
        let all = configurations.par_iter().map(|(configuration, has)| {
            let fits = |p: &Program| configuration.fits(has, p);
            let fitting = programs.iter().enumerate();
            let fitting: Vec<_> = fitting.filter(|(_, (p, _))| fits(p)).collect();
            let sources: Vec<&Program> = fitting.iter().map(|(_, (p, _))| p).collect();
            let made = self.bench.make(configuration, &sources)?;
            let numbers = fitting.iter().map(|(number, _)| *number);
            Ok(numbers.zip(made).collect::<Vec<_>>())
        });
        let all: Vec<Vec<(usize, Made)>> = all.collect::<io::Result<_>>()?;
        let mut by_program: Vec<Vec<(Configuration, Made)>> =
            programs.iter().map(|_| Vec::new()).collect();
        for ((configuration, _), made) in configurations.iter().zip(all) {
            for (program, made) in made {
                if let Some(list) = by_program.get_mut(program) {
                    list.push((configuration.clone(), made));
                }
            }
        }
        batch.seconds[0] = started.elapsed().as_secs_f64();
        for ((program, expected), made) in programs.iter().zip(by_program) {
            self.judge(program, expected, &made, &mut batch)?;
        }
        self.variants(number, &mut batch)?;
        let reduces = |difference: &Difference, batch: &Batch| self.looks_new(difference, batch);
        let (seeds, most) = (self.seeds(number), self.settings.reduction);
        let started = Instant::now();
        self.objects
            .judge(&seeds, &self.folder, most, &reduces, &mut batch)?;
        batch.seconds[0] += started.elapsed().as_secs_f64();
        Ok(batch)
    }

    /// Variants of kernels of the folder: they take turns.
    fn variants(&self, number: u64, batch: &mut Batch) -> io::Result<()> {
        let kernels = self.subjects.len() as u64;
        if kernels == 0 {
            return Ok(());
        }
        let configurations = self.configurations(number).into_iter().map(|(c, _)| c);
        let variants = Variants {
            bench: &self.bench,
            configurations: configurations.filter(|c| c.sub_group.is_none()).collect(),
            folder: &self.folder,
        };
        let count = (self.settings.batch / 4).max(1) as u64;
        for turn in 0..count {
            let turn = number.wrapping_mul(count).wrapping_add(turn);
            let at = usize::try_from(turn % kernels).unwrap_or(0);
            let (Some(subject), Some(reference)) = (self.subjects.get(at), self.references.get(at))
            else {
                continue;
            };
            let started = Instant::now();
            if reference.get().is_none() {
                let _ = reference.set(variants.reference(subject)?);
            }
            match reference.get() {
                Some(Ok(expected)) => {
                    let seed = self.settings.seed.wrapping_add(turn / kernels);
                    let changes = subject.changes(seed, VARIED);
                    let variant = Variant {
                        subject,
                        seed,
                        changes,
                    };
                    variants.judge(&variant, expected, batch)?;
                }
                Some(Err(reason)) => batch.drop(&format!("{}: {reason}", subject.name)),
                None => {}
            }
            batch.seconds[0] += started.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Compares what configurations made of a program.
    fn judge(
        &self,
        program: &Program,
        expected: &Memory,
        made: &[(Configuration, Made)],
        batch: &mut Batch,
    ) -> io::Result<()> {
        for (configuration, made) in made {
            match made {
                Made::Not(reason) => {
                    batch.drop(&format!("not run by {}: {reason}", configuration.release));
                }
                Made::Refused(said) => {
                    let error = said.lines().find(|line| line.contains("error:"));
                    let error = error.and_then(|line| line.split("error:").nth(1));
                    batch.drop(&format!("refused:{}", error.unwrap_or_default()));
                }
                Made::Memory(..) | Made::Fault(..) | Made::Second(_) => batch.launches += 1,
                Made::Crash(_) | Made::Endless => {}
            }
            if !configuration.is_tested()
                && let Some(kind) = made.wrong(expected)
            {
                batch.drop(&format!("{kind} by {}", configuration.name()));
            }
        }
        if !made
            .iter()
            .any(|(configuration, _)| configuration.is_tested())
        {
            batch.drop("no compiler has a device for it");
            return Ok(());
        }
        let started = Instant::now();
        let defined = is_defined(program, expected, made);
        batch.seconds[1] += started.elapsed().as_secs_f64();
        if let Err(reason) = &defined {
            batch.drop(reason);
        }
        let wrong = made.iter().filter_map(|(configuration, made)| {
            let kind = made.wrong(expected)?;
            let tested = configuration.is_tested();
            tested.then(|| (configuration.clone(), kind))
        });
        let wrong: Vec<_> = wrong.collect();
        let mut kinds: Vec<&str> = wrong.iter().map(|(_, kind)| *kind).collect();
        kinds.dedup();
        for kind in kinds.into_iter().collect::<BTreeSet<_>>() {
            if defined.is_err() && !matches!(kind, "crash" | "endless") {
                continue;
            }
            let of_kind = wrong.iter().filter(|(_, k)| *k == kind);
            let mut left: Vec<Configuration> = of_kind.map(|(c, _)| c.clone()).collect();
            // What explains one configuration need not explain another one.
            for _ in 0..CAUSES {
                if left.is_empty() {
                    break;
                }
                let mut difference = Difference {
                    seed: program.seed,
                    kind: kind.to_owned(),
                    configurations: left.iter().map(Configuration::name).collect(),
                    ..Difference::default()
                };
                let started = Instant::now();
                left = self.sort_out(program, &left, made, &mut difference, batch)?;
                batch.seconds[2] += started.elapsed().as_secs_f64();
                batch.differences.push(difference);
            }
        }
        Ok(())
    }
}

impl Settings {
    fn options(&self) -> Options {
        Options {
            features: self.features.clone(),
            ..Options::default()
        }
    }

    /// What results depend on, besides the machine.
    fn identity(&self) -> serde_json::Value {
        let compilers = self.compilers.iter().map(|(name, _)| name);
        let mut identity = serde_json::json!({
            "compilers": compilers.collect::<Vec<_>>(),
            "with": self.seconds.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "through": self.throughs.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "devices": self.devices,
            "options": self.options,
            "seed": self.seed,
            "features": self.features.iter().map(|f| f.name()).collect::<Vec<_>>(),
            "kernels": self.kernels.is_some(),
            "transformations": self.transformations,
            "batch": self.batch,
            "share": [self.share.0, self.share.1],
            "reduction": self.reduction,
        });
        // Campaigns that were begun before there were any go on.
        if let Some(fields) = identity.as_object_mut()
            && !self.finalizers.is_empty()
        {
            let names = self.finalizers.iter().map(|(name, _)| name.as_str());
            fields.insert("finalizers".to_owned(), names.collect());
        }
        identity
    }
}

/// Whether some build that computes what is expected has no findings. A wrong build may have findings because it is
/// wrong. If there is no build that is right, a second opinion that agrees with the evaluator is enough: nothing in
/// programs is undefined by construction.
fn is_defined(
    program: &Program,
    expected: &Memory,
    made: &[(Configuration, Made)],
) -> Result<(), String> {
    let right = made
        .iter()
        .filter(|(_, made)| made.wrong(expected).is_none());
    let mut reason = None;
    // Builds without optimisation do most of what the source says.
    let mut right: Vec<_> = right.collect();
    right.sort_by_key(|(configuration, _)| !configuration.is_plain());
    for (configuration, made) in right {
        let Some(kernel) = made.kernel() else {
            continue;
        };
        match machine::check_program(kernel, program) {
            Ok(findings) => match findings.first() {
                None => return Ok(()),
                Some(first) => {
                    reason.get_or_insert(format!("check: {first}, {}", configuration.name()));
                }
            },
            Err(error) => {
                reason.get_or_insert(format!("check: {error}"));
            }
        }
    }
    let agrees = |made: &Made| matches!(made, Made::Second(memory) if memory == expected);
    if reason.is_none() && made.iter().any(|(_, made)| agrees(made)) {
        return Ok(());
    }
    Err(reason.unwrap_or_else(|| "no configuration computes what is expected".to_owned()))
}
