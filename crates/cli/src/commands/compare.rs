//! `visakit compare-compilers`: compares what two compilers made of the same kernels.

use super::diff::{Trial, print_trials, status_of_trials};
use crate::input::Wanted;
use crate::output::{self, Failure, count, heading, printable, stdout};
use crate::reading::{Reading, not_found, tell_faults, told};
use crate::table::{Align, Columns};
use crate::{Status, input};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use visakit::analysis::{Profile, match_kernels};
use visakit::isa::object::{Object, RoutineId, RoutineKind};
use visakit::rewrite::{extract, rename_routine};
use visakit_launch::{Dump, KernelInfo, LaunchError, TrialOptions, ZeInfo, link, trial};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit compare-compilers dumps-2.30 dumps-2.40
      kernels of two folders of dumps, side by side
  visakit compare-compilers old.visaasm new.isa --run
      and whether they do the same on generated inputs

Kernels are matched by name. Estimated registers are those of `visakit pressure`; registers of a thread, memory and
spills are the compilers' own, where a folder or a source has their metadata. The exit code is 1 where anything
differs, 2 where --run could not run a kernel and for input that cannot be used, else 0.")]
pub(crate) struct Args {
    /// A folder of dumps, an object or a text: what the first compiler made.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// What the second compiler made.
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Only the kernel of this name.
    #[arg(long, value_name = "NAME")]
    routine: Option<String>,
    /// Runs the kernels on the same generated inputs and compares the memory that they leave.
    #[arg(long)]
    run: bool,
    /// How many inputs are generated for each kernel.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "run")]
    seeds: u64,
    #[command(flatten)]
    reading: Reading,
}

/// A kernel with everything it needs, as the only one in its object.
struct Kernel {
    name: String,
    id: RoutineId,
    object: Object<'static>,
    grf_bytes: u32,
    /// What the compiler decided, where its metadata are there.
    facts: Option<KernelInfo>,
}

/// A number of both kernels.
struct Row {
    /// In documents.
    key: String,
    /// In tables.
    what: String,
    old: u64,
    new: u64,
}

impl Row {
    /// How much more or less it is, in percent.
    #[allow(clippy::cast_precision_loss)] // a share of three digits
    fn change(&self) -> String {
        match (self.old, self.new) {
            (old, new) if old == new => String::new(),
            (0, _) => "new".to_owned(),
            (old, new) => format!("{:+.0}%", 100.0 * (new as f64 - old as f64) / old as f64),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let (old, new) = (kernels(&args.old, args)?, kernels(&args.new, args)?);
    let names = |side: &[Kernel]| -> Vec<(RoutineId, String)> {
        side.iter().map(|k| (k.id, k.name.clone())).collect()
    };
    let pairs = match_kernels(&names(&old), &names(&new));
    let mut documents = Vec::new();
    let mut trials = Vec::new();
    let mut different = false;
    let mut compared = 0;
    let mut out = stdout();
    for (one, other) in pairs {
        let one = one.and_then(|n| old.get(n));
        let other = other.and_then(|n| new.get(n));
        let name = one
            .or(other)
            .map_or_else(String::new, |k| printable(k.name.as_bytes()));
        let (Some(one), Some(other)) = (one, other) else {
            different = true;
            let side = if one.is_some() { "old" } else { "new" };
            if args.reading.json {
                documents.push(json!({ "kernel": name, "only_in": side }));
            } else {
                writeln!(
                    out,
                    "{}\n  only in the {side} one",
                    heading(&format!("kernel {name}"))
                )?;
            }
            continue;
        };
        compared += 1;
        let name = match printable(other.name.as_bytes()) {
            new if new == name => name,
            // The only kernels of both sides.
            new => format!("{name} (old), {new} (new)"),
        };
        let (before, after) = (profile(one), profile(other));
        let mut rows = rows(&before, &after);
        let decided = decided(one.facts.as_ref(), other.facts.as_ref());
        different |= before != after || decided.iter().any(|row| row.old != row.new);
        rows.splice(1..1, decided);
        if args.reading.json {
            let numbers = rows.iter().map(|r| (r.key.clone(), json!([r.old, r.new])));
            let numbers: Map<String, Value> = numbers.collect();
            documents.push(json!({ "kernel": name, "numbers": numbers }));
        } else {
            writeln!(out, "{}", heading(&format!("kernel {name}")))?;
            let mut table = Columns::new(&[
                ("", Align::Left),
                ("old", Align::Right),
                ("new", Align::Right),
                ("change", Align::Right),
            ]);
            for row in rows {
                let change = row.change();
                table.row([row.what, row.old.to_string(), row.new.to_string(), change]);
            }
            write!(out, "{table}")?;
        }
        if args.run {
            let mut options = TrialOptions::default();
            options.seeds = args.seeds.max(1);
            options.grf_bytes = Some(one.grf_bytes);
            let mut new = other.object.clone();
            // Trials go by name.
            if other.name != one.name {
                let renamed = rename_routine(&mut new, other.id, &one.name);
                renamed.map_err(|error| Failure::Other(error.to_string()))?;
            }
            trials.extend(trial(&one.object, &new, &options));
        }
    }
    let mut status = if different {
        Status::Findings
    } else {
        Status::Clean
    };
    if args.reading.json {
        let runs: Vec<Trial> = trials.iter().map(Trial::of).collect();
        output::json(&json!({ "kernels": documents, "runs": runs }))?;
    } else {
        writeln!(out, "{} compared", count(compared, "kernel"))?;
        out.flush()?;
        if args.run {
            print_trials(&trials)?;
        }
    }
    if args.run {
        status = status.max(status_of_trials(&trials));
    }
    Ok(status)
}

/// The kernels of a folder or file.
fn kernels(path: &Path, args: &Args) -> Result<Vec<Kernel>, Failure> {
    let reading = args.reading;
    let mut found = Vec::new();
    if input::is_folder(path) {
        match Dump::open(path) {
            Ok(dump) => {
                for name in dump.kernels() {
                    let dumped = dump.kernel(Some(&name)).map_err(|e| told(&[e], &[]))?;
                    let linked = link(&dumped.sources, &reading.how(None));
                    let linked = linked.map_err(|errors| told(&errors, &dumped.sources))?;
                    tell_faults(&linked, &dumped.sources);
                    let zeinfo = dumped.metadata.map(|metadata| metadata.zeinfo);
                    found.extend(alone(linked.object, linked.grf_bytes, zeinfo.as_ref()));
                }
            }
            Err(LaunchError::NoDump { .. }) => {
                for file in input::find(&[path.to_owned()], Wanted::Programs).files {
                    found.extend(of_file(&file, reading)?);
                }
            }
            Err(error) => return Err(told(&[error], &[])),
        }
    } else {
        found = of_file(path, reading)?;
    }
    let names: Vec<_> = found.iter().map(|kernel| kernel.name.clone()).collect();
    if let Some(wanted) = &args.routine {
        found.retain(|kernel| kernel.name == *wanted);
    }
    if found.is_empty() {
        return Err(match &args.routine {
            Some(wanted) => not_found(path, "no kernel", wanted, names.iter()),
            None => Failure::Other(format!("{}: has no kernel", input::name(path))),
        });
    }
    Ok(found)
}

fn of_file(path: &Path, reading: Reading) -> Result<Vec<Kernel>, Failure> {
    let input = reading.open(path)?;
    let linked = reading.object(&input)?;
    let zeinfo = input.zebin.as_ref().map(|z| ZeInfo::parse(&z.zeinfo));
    let zeinfo = zeinfo.transpose()?;
    Ok(alone(linked.object, linked.grf_bytes, zeinfo.as_ref()))
}

/// Each kernel of an object with the functions that it calls.
fn alone(object: Object<'_>, grf_bytes: Option<u32>, zeinfo: Option<&ZeInfo>) -> Vec<Kernel> {
    let kernels = object
        .routines()
        .filter(|(id, _)| id.kind == RoutineKind::Kernel);
    let kernels: Vec<(RoutineId, String)> = kernels
        .map(|(id, routine)| (id, routine.display_name().into_owned()))
        .collect();
    let object = object.into_owned();
    let only = |(id, name): (RoutineId, String)| {
        let mut object = object.clone();
        extract(&mut object, &[id]).ok()?;
        Some(Kernel {
            facts: zeinfo.and_then(|info| info.kernel(&name).ok().cloned()),
            name,
            id: RoutineId::new(RoutineKind::Kernel, 0),
            object,
            grf_bytes: grf_bytes.unwrap_or(32),
        })
    };
    kernels.into_iter().filter_map(only).collect()
}

/// The kernel and its functions together.
fn profile(kernel: &Kernel) -> Profile {
    let bodies = kernel
        .object
        .routines()
        .filter_map(|(_, routine)| routine.body());
    let mut profiles = bodies.map(|body| Profile::of(&kernel.object, body, kernel.grf_bytes));
    let mut whole = profiles.next().unwrap_or_default();
    profiles.for_each(|profile| whole += &profile);
    whole
}

/// A number of a profile: its name in documents, and in tables.
type Number = (&'static str, &'static str, fn(&Profile) -> usize);

/// What the compilers decided, as far as both metadata are there.
fn decided(old: Option<&KernelInfo>, new: Option<&KernelInfo>) -> Vec<Row> {
    type Fact = (&'static str, &'static str, fn(&KernelInfo) -> u64);
    let facts: [Fact; 4] = [
        ("thread_registers", "registers of a thread", |k| {
            k.execution_env.grf_count.into()
        }),
        ("local_bytes", "local memory, bytes", |k| {
            k.execution_env.slm_size.into()
        }),
        (
            "private_bytes",
            "private memory, bytes",
            KernelInfo::private_bytes,
        ),
        ("spill_bytes", "spilled, bytes", KernelInfo::spill_bytes),
    ];
    let (Some(old), Some(new)) = (old, new) else {
        return Vec::new();
    };
    let rows = facts.into_iter().map(|(key, what, of)| Row {
        key: key.to_owned(),
        what: what.to_owned(),
        old: of(old),
        new: of(new),
    });
    rows.filter(|row| row.old != 0 || row.new != 0).collect()
}

fn rows(old: &Profile, new: &Profile) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |key: String, what: &str, old: u64, new: u64| {
        if old != 0 || new != 0 {
            let what = what.to_owned();
            rows.push(Row {
                key,
                what,
                old,
                new,
            });
        }
    };
    let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let simd = |profile: &Profile| profile.simd.unwrap_or(0);
    row("simd".into(), "SIMD width", simd(old), simd(new));
    let one: [Number; 2] = [
        ("registers", "registers, estimated", |p| p.registers),
        ("instructions", "instructions", |p| p.instructions),
    ];
    for (key, what, of) in one {
        row(key.into(), what, wide(of(old)), wide(of(new)));
    }
    let groups: BTreeSet<_> = old.groups.keys().chain(new.groups.keys()).collect();
    for group in groups {
        let of = |profile: &Profile| wide(profile.groups.get(group).copied().unwrap_or(0));
        let key = format!("instructions.{}", group.name());
        row(key, &format!("  {}", group.name()), of(old), of(new));
    }
    let one: [Number; 4] = [
        ("jumps", "jumps", |p| p.jumps),
        ("jumps.by_lane", "  by lane", |p| p.divergent),
        ("calls", "calls", |p| p.calls),
        ("barriers", "barriers", |p| p.barriers),
    ];
    for (key, what, of) in one {
        row(key.into(), what, wide(of(old)), wide(of(new)));
    }
    let kinds: BTreeSet<_> = old.messages.keys().chain(new.messages.keys()).collect();
    for kind in kinds {
        let of = |profile: &Profile| profile.messages.get(kind).copied().unwrap_or_default();
        let ((verb, space), before, after) = (kind, of(old), of(new));
        let (key, what) = (format!("{verb}.{space}"), format!("{verb}, {space}"));
        row(key.clone(), &what, wide(before.count), wide(after.count));
        row(
            format!("{key}.bytes"),
            "  bytes at most",
            before.bytes,
            after.bytes,
        );
    }
    rows
}
