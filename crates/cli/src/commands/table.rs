//! `visakit table`: objects as Parquet files.

use crate::output::{self, Failure, count, stdout};
use crate::reading::{Reading, Rejected};
use crate::{Status, input, render};
use rayon::prelude::*;
use serde_json::json;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use visakit_corpus::parquet::{SHARD_BYTES, ShardWriter, written};
use visakit_corpus::{Select, Source, fill_file, key_of, sha256_hex};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit table drivers/ -o columns
      all programs below a folder; run it again to go on
  visakit table drivers/ -o columns --tables objects,routines
  visakit table drivers/ -o columns --share 3/10  on the third of ten machines
  duckdb -c \"SELECT mnemonic, count(*) FROM 'columns/part-*/instructions.parquet' GROUP BY 1\"
  visakit table --schema                   the tables and their columns")]
pub(crate) struct Args {
    /// Objects, texts, folders that are searched for *.isa and *.visaasm, or - for standard input.
    #[arg(required_unless_present = "schema", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Folder for the tables, created if missing. Files that its tables hold already are skipped, so
    /// that an interrupted run goes on; many processes may write into it.
    #[arg(short, long, value_name = "DIR", required_unless_present = "schema")]
    output: Option<PathBuf>,
    /// Write these tables only; `objects` is always written.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    tables: Vec<String>,
    /// Begin a new shard after so many megabytes of columns, before compression.
    #[arg(long, value_name = "MB", default_value_t = SHARD_BYTES >> 20)]
    shard_size: usize,
    /// Take this share of the files only, such as 3/10 for the third of ten. Processes and machines that share a folder
    /// and are given the same paths write each file once.
    #[arg(long, value_name = "K/N")]
    share: Option<Share>,
    #[command(flatten)]
    reading: Reading,
    /// Print the tables and their columns in Markdown.
    #[arg(long, conflicts_with_all = ["paths", "output"])]
    schema: bool,
}

/// One of a number of shares of the files, counted from 1.
#[derive(Clone, Copy)]
struct Share {
    number: u64,
    of: u64,
}

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('/');
        let parsed = parts.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err("expected K/N, with K from 1 to N"),
        }
    }
}

impl Share {
    /// Whether a file belongs to it. This depends only on the path as given, so that no process reads the files of
    /// others.
    fn has(self, path: &Path) -> bool {
        let hash = Source::new("", path.as_os_str().as_encoded_bytes()).sha256;
        key_of(&hash).cast_unsigned() % self.of == self.number - 1
    }
}

/// The results of the files.
#[derive(Default)]
struct Outcome {
    written: u64,
    skipped: u64,
    rejected: Vec<String>,
    unread: Vec<String>,
}

/// State shared by the threads.
struct Work<'a> {
    files: &'a [PathBuf],
    reading: Reading,
    next: AtomicUsize,
    /// Hashes of files that are in the folder, or that a thread has claimed.
    known: Mutex<HashSet<String>>,
    progress: indicatif::ProgressBar,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    if args.schema {
        output::text(None, visakit_corpus::page().as_bytes())?;
        return Ok(Status::Clean);
    }
    let folder = args.output.as_deref().unwrap_or(Path::new("."));
    let select = if args.tables.is_empty() {
        Select::ALL
    } else {
        Select::of(args.tables.iter().map(String::as_str))
            .map_err(|e| Failure::Other(e.to_string()))?
    };
    std::fs::create_dir_all(folder)
        .map_err(|e| Failure::Other(format!("{}: {e}", input::name(folder))))?;
    let mut found = input::find(&args.paths, input::Wanted::Programs);
    if let Some(share) = args.share {
        found.files.retain(|path| share.has(path));
    }
    let known = written(folder, select).map_err(|error| {
        match error.help() {
            Some(help) => render::failure_with_help(&error.to_string(), help),
            None => render::failure(&error.to_string()),
        }
        Failure::Told(Status::Unusable)
    })?;
    let work = Work {
        files: &found.files,
        reading: args.reading,
        next: AtomicUsize::new(0),
        known: Mutex::new(known.into_iter().collect()),
        progress: super::roundtrip::progress(found.files.len()),
    };
    let limit = args.shard_size.saturating_mul(1 << 20);
    let outcomes: Result<Vec<Outcome>, String> = (0..rayon::current_num_threads())
        .into_par_iter()
        .map(|_| work.run(ShardWriter::new(folder, select, limit)))
        .collect();
    work.progress.finish_and_clear();
    let mut total = Outcome {
        unread: found.errors,
        ..Outcome::default()
    };
    for mut outcome in outcomes.map_err(Failure::Other)? {
        total.written += outcome.written;
        total.skipped += outcome.skipped;
        total.rejected.append(&mut outcome.rejected);
        total.unread.append(&mut outcome.unread);
    }
    for message in total.unread.iter().chain(&total.rejected) {
        render::failure(message);
    }
    if args.reading.json {
        output::json(&json!({
            "written": total.written,
            "skipped": total.skipped,
            "rejected": total.rejected,
            "unread": total.unread,
        }))?;
    } else {
        let mut out = stdout();
        writeln!(
            out,
            "{} written, {} there already, {} of them cannot be read",
            count(
                usize::try_from(total.written).unwrap_or(usize::MAX),
                "object"
            ),
            total.skipped,
            total.rejected.len()
        )?;
        out.flush()?;
    }
    Ok(if !total.unread.is_empty() {
        Status::Unusable
    } else if !total.rejected.is_empty() {
        Status::Findings
    } else {
        Status::Clean
    })
}

impl Work<'_> {
    /// Processes files until none is left.
    fn run(&self, mut writer: ShardWriter) -> Result<Outcome, String> {
        let mut outcome = Outcome::default();
        let how = self.reading.how(None);
        let mut bytes = Vec::new();
        while let Some(path) = self.files.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            self.progress.inc(1);
            if let Err(error) = input::read_into(path, &mut bytes) {
                outcome.unread.push(error);
                continue;
            }
            let name = path.to_string_lossy();
            let source = Source::new(&name, &bytes);
            let new = self
                .known
                .lock()
                .map(|mut known| known.insert(sha256_hex(&source.sha256)));
            if !new.unwrap_or(true) {
                outcome.skipped += 1;
                continue;
            }
            let added = writer.add_with(&source, |select, tables| {
                if let Err(errors) = fill_file(&source, &how, select, tables) {
                    let rejected = Rejected::new(path, &errors, &[]).to_string();
                    outcome.rejected.push(rejected);
                }
            });
            added.map_err(|error| error.to_string())?;
            outcome.written += 1;
        }
        writer.finish().map_err(|error| error.to_string())?;
        Ok(outcome)
    }
}
