//! `visakit smith`: valid objects out of seeds.

use crate::output::{self, Failure};
use crate::{Status, names, render};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs;
use std::path::PathBuf;
use visakit::isa::{Dialect, Version};
use visakit_smith::{Classes, Config, Platform, from_seed};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit smith --seed 1 -o 1.isa                         one object
  visakit smith --seed 1 --count 1000 --platform pvc --output-dir out
  visakit smith --seed 7 --without memory,indirect -o 7.isa
  visakit dis 7.isa                                       look at it")]
pub(crate) struct Args {
    /// First seed; the same seed and switches give the same object.
    #[arg(long, value_name = "N")]
    seed: u64,
    /// Number of seeds, counting up from the first.
    #[arg(long, value_name = "K", default_value_t = 1)]
    count: u64,
    /// Platform whose instructions and register size are used.
    #[arg(long, value_name = "NAME", default_value = "skl", value_parser = names::platform())]
    platform: Platform,
    /// Version of the objects.
    #[arg(long, value_name = "VERSION", value_parser = names::version())]
    target_version: Option<Version>,
    /// Dialect of the objects, for layouts that share a version.
    #[arg(long, value_name = "NAME", value_parser = names::dialect())]
    dialect: Option<Dialect>,
    /// Most statements of an object; a statement is one to about six instructions.
    #[arg(long, value_name = "N", default_value_t = 40)]
    statements: usize,
    /// Kinds of statements to leave out.
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = class)]
    without: Vec<Classes>,
    /// Also generate objects that may run forever or have undefined results.
    #[arg(long)]
    not_executable: bool,
    /// The object, where it is one. [default: standard output, unless that is a terminal]
    #[arg(short, long, value_name = "OUT.isa", conflicts_with = "output_dir")]
    output: Option<PathBuf>,
    /// Folder for the objects, named SEED.isa; created if missing.
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// Print one JSON document (docs/json.md).
    #[arg(long)]
    json: bool,
}

fn class(text: &str) -> Result<Classes, String> {
    Classes::from_name(&text.to_ascii_uppercase()).ok_or_else(|| {
        let names: Vec<_> = Classes::all()
            .iter_names()
            .map(|(name, _)| name.to_ascii_lowercase())
            .collect();
        format!("known kinds: {}", names.join(", "))
    })
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut config = Config::default();
    config.platform = args.platform;
    config.statements = args.statements;
    config.executable = !args.not_executable;
    config.version = args.target_version.unwrap_or(config.version);
    config.dialect = args.dialect.unwrap_or(config.dialect);
    for class in &args.without {
        config.classes.remove(*class);
    }
    let written = |seed: u64| {
        visakit::encode::write(&from_seed(seed, &config))
            .map_err(|error| Failure::Other(format!("seed {seed}: {error}")))
    };
    let after = args.seed.checked_add(args.count.saturating_sub(1));
    let Some(last) = after.filter(|_| args.count > 0) else {
        let message = "--seed and --count go beyond the last seed, or to none: give a smaller seed, or a count from 1 on";
        return Err(Failure::Other(message.to_owned()));
    };
    let Some(folder) = &args.output_dir else {
        if args.count != 1 {
            let message = "more than one object goes to a folder: name it with --output-dir";
            return Err(Failure::Other(message.to_owned()));
        }
        output::needs_place(args.output.as_deref())?;
        output::object(args.output.as_deref(), &written(args.seed)?)?;
        return Ok(Status::Clean);
    };
    fs::create_dir_all(folder).map_err(|error| output::at(folder, &error))?;
    let bar = progress(args.count);
    for seed in args.seed..=last {
        output::file(&folder.join(format!("{seed}.isa")), &written(seed)?)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let objects = output::count(args.count, "object");
    render::note(&format!("{objects} in {}", folder.display()));
    Ok(Status::Clean)
}

/// Shown only on a terminal, and only if it takes a while.
fn progress(count: u64) -> ProgressBar {
    if count < 1000 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta}");
    ProgressBar::new(count).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
