//! `visakit hunt`: finds faults of Intel's compiler.

use crate::output::{self, Failure, count, stdout};
use crate::signals::on_stop;
use crate::{Status, render};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use visakit_hunt::{
    Campaign, Compiler, Feature, Finalizer, Limits, Need, Options, Progress, Second, Settings,
    Smaller, Through, plant,
};

#[derive(clap::Args)]
#[command(
    after_help = "Generates programs of OpenCL C whose results are known, compiles each with every compiler, for every \
device, with and without optimisation and with several sizes of sub-groups, runs what the compilers wrote, and compares. \
Programs that are wrong somewhere are reduced; each bug gets a folder below DIR/bugs with the program, cases for \
`visakit run --case` and report.md. See docs/hunting.md.

Examples:
  visakit hunt --output farm --device dg2,skl --minutes 60
  visakit hunt --output farm --device dg2,skl --minutes 60 --resume
  visakit hunt --output farm --compiler old=/usr/bin/ocloc \\
      --compiler new=./ocloc-new --device dg2 --programs 10000
  visakit hunt --output farm --device pvc --share 3/100 --minutes 600"
)]
pub(crate) struct Args {
    /// Folder of the campaign; created if missing.
    #[arg(long, value_name = "DIR", required_unless_present_any = ["planted", "shows", "total"])]
    output: Option<PathBuf>,
    /// Instead of a campaign: plant N faults in what the first compiler makes of programs for the first device, and tell
    /// how many of them the results show.
    #[arg(long, value_name = "N", conflicts_with_all = ["output", "programs", "minutes", "resume", "kernels", "with", "through", "finalizer"])]
    planted: Option<u64>,
    /// Instead of a campaign: tell whether SOURCE still shows the bug of the folder DIR, which a campaign wrote: 0 if it does,
    /// 1 if not. Compilers have the names of the campaign. C-Reduce asks so, and so may you.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["planted", "output", "programs", "minutes", "resume", "kernels", "with", "through", "finalizer"])]
    shows: Option<PathBuf>,
    /// Instead of a campaign: the numbers of all its shares in the folder DIR together.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["planted", "shows", "output", "programs", "minutes", "resume", "kernels", "with", "through", "finalizer"])]
    total: Option<PathBuf>,
    /// What --shows compiles. [default: program.cl or variant.cl of the folder]
    #[arg(value_name = "SOURCE", requires = "shows")]
    source: Option<PathBuf>,
    /// A compiler, with its name in reports; a script may run one elsewhere. [default: that of VISAKIT_OCLOC, or ocloc
    /// in the path]
    #[arg(long, value_name = "[NAME=]OCLOC")]
    compiler: Vec<String>,
    /// A finalizer, GenX_IR, with its name in reports: it gets objects that smith generates, and its crashes are reported.
    /// Without --compiler only finalizers are hunted.
    #[arg(long, value_name = "[NAME=]GENX_IR")]
    finalizer: Vec<String>,
    /// Another implementation of OpenCL, whose results join the vote: its library, or a part of the name of a file in
    /// /etc/OpenCL/vendors, such as pocl; with its name in reports. It runs in processes of its own.
    #[arg(long, value_name = "[NAME=]DRIVER")]
    with: Vec<String>,
    /// A program that changes a module of SPIR-V without changing what it computes, such as "spirv-opt -O": it is called with
    /// the module, -o and a file to write. What becomes of programs that way is one more configuration; several take turns.
    #[arg(long, value_name = "[NAME=]COMMAND")]
    through: Vec<String>,
    /// A folder of kernels (.cl) on integers, which are changed without changing what they compute; a case.json beside a
    /// source or in a folder there has the arguments, which are generated otherwise.
    #[arg(long, value_name = "DIR")]
    kernels: Option<PathBuf>,
    /// Devices to compile for; a compiler that does not know one does not take part for it.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "dg2,skl"
    )]
    device: Vec<String>,
    /// Options for one more configuration of each compiler and device, besides none and -cl-opt-disable. They must not
    /// change what programs compute.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    options: Vec<String>,
    /// Ends after that time.
    #[arg(long, value_name = "N", conflicts_with = "programs")]
    minutes: Option<u64>,
    /// Ends after that many programs.
    #[arg(long, value_name = "N")]
    programs: Option<u64>,
    /// First seed; the same seed and switches give the same programs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Go on with the campaign in the folder.
    #[arg(long)]
    resume: bool,
    /// Make the Kth of N parts of the campaign; N machines with one folder, or with one each, do not meet.
    #[arg(long, value_name = "K/N", value_parser = share, default_value = "1/1")]
    share: (u64, u64),
    /// Parts of the language that programs may have, or with a dash that they may not have. [default: all]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    features: Vec<String>,
    /// Most transformations of a program that do not change what it computes: dead code, loops peeled, variables through
    /// memory, expressions rewritten and outlined.
    #[arg(long, value_name = "N", default_value_t = 3)]
    transformations: u16,
    /// Programs that are compiled at once.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=256))]
    batch: u16,
    /// Programs that a reduction tests at most.
    #[arg(long, value_name = "N", default_value_t = 1500)]
    reduction: u32,
    /// Minutes for which C-Reduce or C-Vise goes on with each reduced program, if one of them is in the path; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 5)]
    smaller: u32,
    /// Seconds of processor time that the compiler may take for a program.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    compile_time: u64,
    /// Bytes of address space that the compiler may take.
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 30)]
    compile_memory: u64,
    /// Print one JSON document (docs/json.md).
    #[arg(long)]
    json: bool,
}

fn share(text: &str) -> Result<(u64, u64), String> {
    let wrong = || "expected K/N with K from 1 to N".to_owned();
    let (part, parts) = text.split_once('/').ok_or_else(wrong)?;
    let (part, parts) = (part.parse(), parts.parse());
    match (part, parts) {
        (Ok(part), Ok(parts)) if 0 < part && part <= parts => Ok((part, parts)),
        _ => Err(wrong()),
    }
}

static STOPPED: AtomicBool = AtomicBool::new(false);

/// Plants faults, and tells how many of each kind the results show.
fn planted(args: &Args, faults: u64) -> Result<Status, Failure> {
    let compiler = compilers(args)?.into_iter().next();
    let (Some((_, compiler)), Some(device)) = (compiler, args.device.first()) else {
        return Err(Failure::Other(
            "there is no compiler or no device".to_owned(),
        ));
    };
    let options = Options {
        features: features(&args.features)?,
        ..Options::default()
    };
    let told = plant(compiler, device, &options, args.seed, faults)
        .map_err(|error| Failure::Other(error.to_string()))?;
    let [mut all, mut missed, mut silent] = [0; 3];
    for told in told.values() {
        all += told.all();
        missed += told.missed + told.unreached;
        silent += told.silent;
    }
    if args.json {
        let kinds = told.iter().map(|(kind, told)| {
            json!({
                "kind": kind.name(), "results": told.results, "faults": told.faults, "missed": told.missed,
                "unreached": told.unreached, "silent": told.silent,
            })
        });
        output::json(&json!({
            "planted": all, "told": all - missed - silent, "silent": silent, "kinds": kinds.collect::<Vec<_>>(),
        }))?;
    } else {
        let mut out = stdout();
        for (kind, told) in &told {
            writeln!(
                out,
                "{:<10} {} planted, {} told by results, {} by faults, {} missed, {} not reached, {} that no inputs show",
                kind.name(),
                told.all(),
                told.results,
                told.faults,
                told.missed,
                told.unreached,
                told.silent
            )?;
        }
        writeln!(
            out,
            "{} of {} told that other inputs or these show, of {}",
            all - missed - silent,
            count(all - silent, "fault"),
            count(all, "planted fault")
        )?;
        out.flush()?;
    }
    Ok(Status::Clean)
}

/// No compilers: finalizers get generated objects, and nothing else is of any use to them.
fn without_compilers(args: &Args) -> Result<Vec<(String, Compiler)>, Failure> {
    let useless = [
        ("--kernels", args.kernels.is_some()),
        ("--with", !args.with.is_empty()),
        ("--through", !args.through.is_empty()),
        ("--options", !args.options.is_empty()),
    ];
    match useless.iter().find(|(_, is_given)| *is_given) {
        None => Ok(Vec::new()),
        Some((name, _)) => Err(Failure::Other(format!(
            "{name} is for compilers, and there are only finalizers: name one with --compiler"
        ))),
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    if let Some(faults) = args.planted {
        return planted(args, faults);
    }
    if let Some(folder) = &args.shows {
        return shows(args, folder);
    }
    if let Some(folder) = &args.total {
        let total = Progress::of_all_shares(folder);
        let total = total.map_err(|error| Failure::Other(error.to_string()))?;
        return tell(args, folder, &total);
    }
    let Some(folder) = &args.output else {
        return Err(Failure::Other("--output is missing".to_owned()));
    };
    let failed = |error: std::io::Error| Failure::Other(error.to_string());
    let settings = Settings {
        compilers: match args.compiler.is_empty() && !args.finalizer.is_empty() {
            true => without_compilers(args)?,
            false => compilers(args)?,
        },
        finalizers: finalizers(args)?,
        seconds: seconds(args)?,
        throughs: throughs(args)?,
        kernels: args.kernels.clone(),
        devices: args.device.clone(),
        options: args.options.clone(),
        seed: args.seed,
        features: features(&args.features)?,
        transformations: args.transformations.into(),
        batch: args.batch.into(),
        share: args.share,
        programs: args.programs,
        time: args.minutes.map(|n| Duration::from_secs(n * 60)),
        reduction: usize::try_from(args.reduction).unwrap_or(usize::MAX),
        smaller: smaller(args)?,
    };
    on_stop(|| {
        if STOPPED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        render::note(
            "it ends after this batch, which may take minutes of reductions; once more to end now, \
                      and --resume makes the batch again",
        );
    })?;
    let mut campaign = Campaign::open(folder, settings, args.resume).map_err(failed)?;
    for (target, has) in campaign.targets() {
        if !target.is_tested() {
            render::note(&format!("{}: a second opinion", target.name()));
            continue;
        }
        let lacks: Vec<_> = Need::ALL
            .iter()
            .filter(|need| !has.contains(need))
            .collect();
        let lacks = match lacks.is_empty() {
            true => String::new(),
            false => format!("; without {lacks:?}"),
        };
        render::note(&format!("{}{lacks}", target.name()));
    }
    for (kernel, reason) in campaign.left_out() {
        render::note(&format!("{kernel} is left out: {reason}"));
    }
    let bar = bar(args);
    let mut watch = |progress: &Progress| {
        if args.programs.is_some() {
            bar.set_position(progress.programs);
        } else {
            bar.tick();
        }
        bar.set_message(format!(
            "{}, {}, {}",
            count(progress.programs, "program"),
            count(progress.differences, "difference"),
            count(progress.bugs, "bug")
        ));
        !STOPPED.load(Ordering::Relaxed)
    };
    campaign.run(&mut watch).map_err(failed)?;
    bar.finish_and_clear();
    tell(args, folder, campaign.progress())
}

fn tell(args: &Args, folder: &Path, progress: &Progress) -> Result<Status, Failure> {
    let [compiling, checking, reducing] = progress.seconds;
    if args.json {
        output::json(&json!({
            "output": crate::input::name(folder),
            "batches": progress.batches,
            "programs": progress.programs,
            "launches": progress.launches,
            "differences": progress.differences,
            "bugs": progress.bugs,
            "dropped": progress.dropped,
            "seconds": {"compile": compiling, "check": checking, "reduce": reducing, "processor": progress.processor},
        }))?;
    } else {
        let mut out = stdout();
        writeln!(
            out,
            "{}, {}, {}, {} in {}",
            count(progress.programs, "program"),
            count(progress.launches, "run"),
            count(progress.differences, "difference"),
            count(progress.bugs, "bug"),
            crate::input::name(&folder.join("bugs")),
        )?;
        writeln!(
            out,
            "{compiling:.0} seconds of compiling and running, {checking:.0} of checks, {reducing:.0} of reductions; \
             {:.0} seconds of processor time",
            progress.processor
        )?;
        for (reason, count) in &progress.dropped {
            writeln!(
                out,
                "dropped {count}: {}",
                output::printable(reason.as_bytes())
            )?;
        }
        out.flush()?;
    }
    Ok(Status::of_run(true, progress.bugs > 0))
}

fn bar(args: &Args) -> ProgressBar {
    let (bar, template) = match args.programs {
        Some(programs) => (ProgressBar::new(programs), "{bar:30} {msg} {eta}"),
        None => (ProgressBar::new_spinner(), "{spinner} {elapsed} {msg}"),
    };
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The compilers with their names, each of which is there once.
fn compilers(args: &Args) -> Result<Vec<(String, Compiler)>, Failure> {
    let limits = limits(args);
    let own = std::env::var("VISAKIT_OCLOC").unwrap_or_else(|_| "ocloc".to_owned());
    let given = match args.compiler.is_empty() {
        true => vec![own],
        false => args.compiler.clone(),
    };
    let compiler = |path| Compiler { path, limits };
    each_once(&given, "compilers", compiler)
}

/// The finalizers with their names, each of which is there once.
fn finalizers(args: &Args) -> Result<Vec<(String, Finalizer)>, Failure> {
    let limits = limits(args);
    let finalizer = |path| Finalizer { path, limits };
    each_once(&args.finalizer, "finalizers", finalizer)
}

/// Programs with names that differ.
fn each_once<T>(
    given: &[String],
    what: &str,
    make: impl Fn(PathBuf) -> T,
) -> Result<Vec<(String, T)>, Failure> {
    let mut all: Vec<(String, T)> = Vec::new();
    for text in given {
        let (name, path) = named(text);
        if all.iter().any(|(known, _)| *known == name) {
            return Err(Failure::Other(format!(
                "two {what} are called {name}: give them names, as NAME=PROGRAM"
            )));
        }
        all.push((name, make(PathBuf::from(path))));
    }
    Ok(all)
}

/// The name that is given, or that of the file.
fn named(text: &str) -> (String, &str) {
    match text.split_once('=') {
        Some((name, path)) => (name.to_owned(), path),
        None => {
            let stem = Path::new(text).file_stem();
            let stem = stem.map(|s| s.to_string_lossy().into_owned());
            (stem.unwrap_or_else(|| text.to_owned()), text)
        }
    }
}

const fn limits(args: &Args) -> Limits {
    Limits {
        seconds: args.compile_time,
        bytes: args.compile_memory,
    }
}

/// The other implementations with their names: this program runs each again as `visakit opencl answer`.
fn seconds(args: &Args) -> Result<Vec<(String, Second)>, Failure> {
    let one = |text: &String| {
        let (name, driver) = named(text);
        let library = super::opencl::driver(driver)?;
        let second = Second {
            program: std::env::current_exe()?,
            arguments: ["opencl", "answer", &library].map(Into::into).into(),
            limits: limits(args),
        };
        Ok((name, second))
    };
    args.with.iter().map(one).collect()
}

/// Whether a source shows the bug of a folder.
fn shows(args: &Args, folder: &Path) -> Result<Status, Failure> {
    let own = ["program.cl", "variant.cl"].map(|name| folder.join(name));
    let source = args
        .source
        .as_ref()
        .or_else(|| own.iter().find(|path| path.is_file()));
    let source = source.unwrap_or(&own[0]);
    let shown = visakit_hunt::shows(folder, source, compilers(args)?)
        .map_err(|error| Failure::Other(error.to_string()))?;
    if args.json {
        output::json(&json!({"source": crate::input::name(source), "shows": shown}))?;
    } else {
        let mut out = stdout();
        let answer = if shown { "shows" } else { "does not show" };
        writeln!(out, "{} {answer} the bug", crate::input::name(source))?;
        out.flush()?;
    }
    Ok(Status::of_run(true, !shown))
}

/// A reducer of text: its tests run this program as `visakit hunt --shows`.
fn smaller(args: &Args) -> Result<Option<Smaller>, Failure> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let reducers = ["creduce", "cvise"].into_iter();
    let mut reducers = reducers.flat_map(|name| {
        let folders: Vec<_> = std::env::split_paths(&folders).collect();
        folders.into_iter().map(move |folder| folder.join(name))
    });
    let reducer = reducers.find(|path| path.is_file());
    let Some(reducer) = reducer.filter(|_| args.smaller > 0) else {
        return Ok(None);
    };
    let mut shows: Vec<OsString> = vec![std::env::current_exe()?.into()];
    shows.push("hunt".into());
    for (name, compiler) in compilers(args)? {
        let mut named = OsString::from(format!("{name}="));
        // A name alone is looked for in the path.
        let is_named = compiler.path.components().count() == 1;
        let path = match is_named {
            true => compiler.path,
            false => std::path::absolute(&compiler.path)?,
        };
        named.push(path);
        shows.extend(["--compiler".into(), named]);
    }
    let limits = [
        ("--compile-time", args.compile_time),
        ("--compile-memory", args.compile_memory),
    ];
    for (name, value) in limits {
        shows.extend([name.into(), value.to_string().into()]);
    }
    shows.push("--shows".into());
    Ok(Some(Smaller {
        reducer,
        shows,
        time: Duration::from_secs(u64::from(args.smaller) * 60),
    }))
}

/// What changes SPIR-V, with names.
fn throughs(args: &Args) -> Result<Vec<(String, Through)>, Failure> {
    let one = |text: &String| {
        let through = Through::parse(text, limits(args));
        through.ok_or_else(|| Failure::Other(format!("`{text}` is no command")))
    };
    args.through.iter().map(one).collect()
}

fn features(names: &[String]) -> Result<Vec<Feature>, Failure> {
    let mut features = match names.iter().any(|name| !name.starts_with('-')) {
        true => Vec::new(),
        false => Feature::all(),
    };
    for name in names {
        let bare = name.trim_start_matches('-');
        let feature = Feature::by_name(bare).ok_or_else(|| {
            let known = Feature::DESCRIPTIONS.iter().map(|(_, name, _)| *name);
            let known = known.collect::<Vec<_>>().join(", ");
            Failure::Other(format!("`{bare}` is no feature; there are {known}"))
        })?;
        if name.starts_with('-') {
            features.retain(|f| *f != feature);
        } else if !features.contains(&feature) {
            features.push(feature);
        }
    }
    Ok(features)
}
