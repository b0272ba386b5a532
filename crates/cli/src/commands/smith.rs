//! `visakit smith`: valid objects out of seeds.

use crate::output::Failure;
use crate::{Status, input, render};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs;
use std::path::{Path, PathBuf};
use visakit::isa::{Dialect, Version};
use visakit_smith::{Classes, Config, Platform, from_seed};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit smith --seed 1 -o out                           one object, out/1.isa
  visakit smith --seed 1 --count 1000 --platform pvc -o out
  visakit smith --seed 7 --without memory,indirect -o out
  visakit dis out/7.isa                                   look at it")]
pub(crate) struct Args {
    /// First seed; the same seed and switches give the same object.
    #[arg(long, value_name = "N")]
    seed: u64,
    /// Number of seeds, counting up from the first.
    #[arg(long, value_name = "K", default_value_t = 1)]
    count: u64,
    /// Platform whose instructions and register size are used.
    #[arg(long, value_name = "NAME", default_value = "skl")]
    platform: Platform,
    /// Version of the objects.
    #[arg(long, value_name = "VERSION", value_parser = super::asm::version)]
    target_version: Option<Version>,
    /// Dialect of the objects, for layouts that share a version.
    #[arg(long, value_name = "NAME", value_parser = super::dialect)]
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
    /// Folder for the objects, named SEED.isa; created if missing.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
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
    fs::create_dir_all(&args.output).map_err(|error| at(&args.output, &error))?;
    let bar = progress(args.count);
    for seed in (args.seed..).take(usize::try_from(args.count).unwrap_or(usize::MAX)) {
        let object = from_seed(seed, &config);
        let bytes = visakit::encode::write(&object)
            .map_err(|error| Failure::Other(format!("seed {seed}: {error}")))?;
        let path = args.output.join(format!("{seed}.isa"));
        fs::write(&path, bytes).map_err(|error| at(&path, &error))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let objects = if args.count == 1 { "object" } else { "objects" };
    render::note(&format!(
        "{} {objects} in {}",
        args.count,
        args.output.display()
    ));
    Ok(Status::Clean)
}

fn at(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Other(format!("{}: {error}", input::name(path)))
}

/// Shown on a terminal only, and only where there is something to wait for.
fn progress(count: u64) -> ProgressBar {
    if count < 1000 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta}");
    ProgressBar::new(count).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
