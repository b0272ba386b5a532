//! Objects of vISA that `smith` generates, given to Intel's finalizers: what crashes one, or keeps it busy without an end, is
//! reduced while it stays a valid object and does so in the same way.

use crate::finalizer::{Finalized, Finalizer};
use crate::find::{MOST_ENDLESS, hash, steady};
use crate::log::{Batch, Difference};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use visakit_isa::object::{Body, Item, Object};
use visakit_isa::{Op, Platform};
use visakit_rewrite::Answer;
use visakit_smith::{Config, from_seed};

/// The finalizers, and the platforms that objects are generated for.
#[derive(Debug)]
pub(crate) struct Objects {
    pub(crate) finalizers: Vec<(String, Finalizer)>,
    pub(crate) platforms: Vec<Platform>,
}

impl Objects {
    /// Of the platforms of some devices each is there once.
    ///
    /// # Errors
    /// There are finalizers, and none of the devices is known.
    pub(crate) fn new(
        finalizers: Vec<(String, Finalizer)>,
        devices: &[String],
    ) -> io::Result<Self> {
        let mut platforms: Vec<Platform> = Vec::new();
        for platform in devices.iter().filter_map(|name| Platform::from_name(name)) {
            if !platforms.contains(&platform) {
                platforms.push(platform);
            }
        }
        if platforms.is_empty() && !finalizers.is_empty() {
            return Err(io::Error::other(
                "no object is generated for any of the devices",
            ));
        }
        Ok(Self {
            finalizers,
            platforms,
        })
    }

    /// The object of a seed: platforms take turns, and so do objects that could run and others.
    fn object(&self, seed: u64) -> Option<(Platform, Object<'static>)> {
        let platforms = self.platforms.len() as u64;
        let turn = usize::try_from(seed.checked_rem(platforms)?).ok()?;
        let platform = *self.platforms.get(turn)?;
        let mut config = Config::for_platform(platform);
        config.executable = (seed / platforms).is_multiple_of(2);
        Some((platform, from_seed(seed, &config)))
    }

    /// Finalizes the objects of some seeds. `reduces` says whether a fault is to be reduced, by tests of which there are `most`.
    pub(crate) fn judge(
        &self,
        seeds: &[u64],
        folder: &Path,
        most: usize,
        reduces: &dyn Fn(&Difference, &Batch) -> bool,
        batch: &mut Batch,
    ) -> io::Result<()> {
        if self.finalizers.is_empty() {
            return Ok(());
        }
        let made = seeds.par_iter().filter_map(|&seed| {
            let (platform, object) = self.object(seed)?;
            let ended = self.finalized(&text(&object, platform), platform);
            Some(ended.map(|ended| (seed, platform, object, ended)))
        });
        let made: Vec<_> = made.collect::<io::Result<_>>()?;
        for (seed, platform, object, ended) in &made {
            batch.programs += 1;
            for ((name, _), finalized) in self.finalizers.iter().zip(ended) {
                if let Finalized::Refused(said) = finalized {
                    batch.drop(&format!("refused by {name}: {}", steady(said)));
                }
            }
            let at = ended.iter().position(|e| e.fault().is_some());
            let Some((at, kind)) = at.and_then(|at| Some((at, ended.get(at)?.fault()?))) else {
                continue;
            };
            let faulty = self.finalizers.iter().zip(ended);
            let faulty = faulty.filter(|(_, e)| e.fault() == Some(kind));
            let mut difference = Difference {
                seed: *seed,
                kind: kind.to_owned(),
                configurations: faulty
                    .map(|((name, _), _)| format!("{name} {platform}"))
                    .collect(),
                ..Difference::default()
            };
            if reduces(&difference, batch) {
                match self.reduced(object, *platform, (at, kind), most)? {
                    Some(fault) => {
                        difference.bug = Some(fault.signature());
                        fault.write(&folder.join("bugs"), *seed)?;
                    }
                    None => "not seen again, or not valid".clone_into(&mut difference.note),
                }
            } else {
                "not reduced: others look alike".clone_into(&mut difference.note);
            }
            batch.differences.push(difference);
        }
        Ok(())
    }

    /// How each finalizer ends.
    fn finalized(&self, text: &[u8], platform: Platform) -> io::Result<Vec<Finalized>> {
        let all = self.finalizers.par_iter();
        all.map(|(_, finalizer)| finalizer.run(text, platform))
            .collect()
    }

    /// The smallest valid object found at which the finalizer ends in the same way.
    fn reduced(
        &self,
        object: &Object<'_>,
        platform: Platform,
        (at, kind): (usize, &str),
        most: usize,
    ) -> io::Result<Option<Fault<'_>>> {
        let (Some((_, finalizer)), Ok(bytes)) =
            (self.finalizers.get(at), visakit_encode::write(object))
        else {
            return Ok(None);
        };
        let mut expected: Option<Finalized> = None;
        let most = match kind {
            "endless" => most.min(MOST_ENDLESS),
            _ => most,
        };
        let mut tests = 0;
        let mut failure = None;
        let mut first = |candidates: &[Vec<u8>]| {
            for (number, bytes) in candidates.iter().enumerate() {
                if tests == most {
                    return Answer::Stop;
                }
                let Some(text) = valid(bytes, platform) else {
                    continue;
                };
                tests += 1;
                match finalizer.run(&text, platform) {
                    Err(error) => {
                        failure = Some(error);
                        return Answer::Stop;
                    }
                    Ok(ended) if ended.fault().is_some() => {
                        if expected.get_or_insert_with(|| ended.clone()).alike(&ended) {
                            return Answer::First(number);
                        }
                    }
                    Ok(_) => {}
                }
            }
            Answer::None
        };
        let reduced = visakit_rewrite::reduce_at_once(&bytes, 1, &mut first, &mut |_| {});
        if let Some(error) = failure {
            return Err(error);
        }
        let Ok(bytes) = reduced else {
            return Ok(None);
        };
        let Some(text) = valid(&bytes, platform) else {
            return Ok(None);
        };
        Ok(Some(Fault {
            objects: self,
            platform,
            operations: operations(&bytes),
            ended: self.finalized(&text, platform)?,
            text,
        }))
    }
}

impl Finalized {
    /// Whether another end is this one, but for addresses and numbers of processes.
    fn alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Crashed(said), Self::Crashed(other)) => steady(said) == steady(other),
            _ => self == other,
        }
    }
}

fn text(object: &Object<'_>, platform: Platform) -> Vec<u8> {
    let options = visakit_text::Options {
        grf_bytes: Some(platform.grf_bytes()),
        ..visakit_text::Options::default()
    };
    visakit_text::Printer::new(object, options).for_finalizer()
}

/// The text of an object's bytes, if it obeys the rules of the platform and each routine returns at its end.
fn valid(bytes: &[u8], platform: Platform) -> Option<Vec<u8>> {
    let object = visakit_parse::read(bytes).ok()?;
    let returns = |body: &Body<'_>| {
        let last = body.code.last();
        matches!(last, Some(Item::Instruction(last)) if matches!(last.op, Op::RET | Op::FRET))
    };
    if !object
        .routines()
        .all(|(_, routine)| routine.body().is_some_and(returns))
    {
        return None;
    }
    let options = visakit_validate::Options {
        platform: Some(platform),
        ..visakit_validate::Options::default()
    };
    let report = visakit_validate::object(&object, &options);
    (report.errors == 0).then(|| text(&object, platform))
}

/// The operations of an object, without what each has.
fn operations(bytes: &[u8]) -> BTreeSet<String> {
    let Ok(object) = visakit_parse::read(bytes) else {
        return BTreeSet::new();
    };
    let bodies = object.routines().filter_map(|(_, routine)| routine.body());
    let items = bodies.flat_map(|body| &body.code);
    let operations = items.filter_map(|item| match item {
        Item::Instruction(instruction) => Some(instruction.op),
        Item::Raw(_) => None,
    });
    let operations =
        operations.filter(|op| !matches!(*op, Op::MOV | Op::RET | Op::FRET | Op::LABEL));
    operations
        .map(|op| op.name().to_ascii_lowercase())
        .collect()
}

/// A reduced object with what each finalizer makes of it.
struct Fault<'o> {
    objects: &'o Objects,
    platform: Platform,
    operations: BTreeSet<String>,
    ended: Vec<Finalized>,
    text: Vec<u8>,
}

impl Fault<'_> {
    fn faulty(&self) -> impl Iterator<Item = (&str, &Finalized)> {
        let all = self.objects.finalizers.iter().zip(&self.ended);
        let all = all.map(|((name, _), ended)| (name.as_str(), ended));
        all.filter(|(_, ended)| ended.fault().is_some())
    }

    fn kind(&self) -> &'static str {
        let mut kinds = self.ended.iter().filter_map(Finalized::fault);
        kinds.next().unwrap_or("crash")
    }

    /// What makes it one bug: the finalizers, the message, the operations of the reduced object.
    fn signature(&self) -> String {
        let mut facts: Vec<String> = self.faulty().map(|(name, _)| name.to_owned()).collect();
        facts.extend(self.faulty().map(|(_, ended)| match ended {
            Finalized::Crashed(said) => steady(said),
            _ => String::new(),
        }));
        facts.extend(self.operations.iter().cloned());
        format!("finalizer-{}-{:08x}", self.kind(), hash(&facts) >> 32)
    }

    /// Writes the folder of the fault below another one, unless it is there.
    fn write(&self, folder: &Path, seed: u64) -> io::Result<()> {
        let place = folder.join(self.signature());
        if place.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(folder)?;
        let made = visakit_files::TemporaryFolder::new(folder, "hunt")?;
        visakit_files::scratch(&made.path().join("program.visaasm"), &self.text)?;
        visakit_files::scratch(&made.path().join("report.md"), self.report(seed))?;
        made.commit(&place)
    }

    fn report(&self, seed: u64) -> String {
        let releases: Vec<&str> = self.faulty().map(|(name, _)| name).collect();
        let releases = releases.join(", ");
        let title = match self.kind() {
            "endless" => "The finalizer does not end",
            _ => "The finalizer crashes",
        };
        let names: Vec<&str> = self.operations.iter().map(String::as_str).collect();
        let mut out = format!(
            "# {title}: {releases}\n\nThe object uses: {}. It was reduced from the one that `visakit smith` generates for {} of seed \
             {seed}, and is valid (`visakit validate --platform {} program.visaasm`).\n\n```\n{}```\n\n| finalizer | result |\n|---|---|\n",
            if names.is_empty() {
                "moves".to_owned()
            } else {
                names.join(", ")
            },
            self.platform,
            self.platform,
            String::from_utf8_lossy(&self.text),
        );
        for ((name, _), ended) in self.objects.finalizers.iter().zip(&self.ended) {
            let ended = match ended {
                Finalized::Done => "machine code".to_owned(),
                Finalized::Refused(said) => format!("refused: `{said}`"),
                Finalized::Crashed(said) => format!("**crash**: `{said}`"),
                Finalized::Endless => "**does not end**".to_owned(),
            };
            let _ = writeln!(out, "| {name} | {} |", ended.replace('|', "\\|"));
        }
        let _ = writeln!(
            out,
            "\nTo see it again: `GenX_IR program.visaasm -platform {} -binary`, in this folder.",
            self.platform
        );
        out
    }
}
