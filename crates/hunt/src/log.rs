//! The log of a campaign: a line of JSON for the settings, and one for each batch.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// What came of a batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Batch {
    pub(crate) batch: u64,
    pub(crate) programs: u64,
    pub(crate) launches: u64,
    pub(crate) dropped: BTreeMap<String, u64>,
    pub(crate) differences: Vec<Difference>,
    /// Compiling and running, checking, reducing.
    pub(crate) seconds: [f64; 3],
    /// Seconds of processor time, with that of compilers and second opinions; 0 where the system does not tell.
    #[serde(default)]
    pub(crate) processor: f64,
}

/// A program that does not compute the same everywhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Difference {
    pub(crate) seed: u64,
    pub(crate) kind: String,
    /// Those that are wrong.
    pub(crate) configurations: Vec<String>,
    /// The signature of the bug.
    pub(crate) bug: Option<String>,
    /// Why there is none.
    #[serde(default)]
    pub(crate) note: String,
    /// The part of the language that stands for the cause of the bug.
    #[serde(default)]
    pub(crate) part: Option<String>,
    /// Whether a known cause explains it.
    #[serde(default)]
    pub(crate) explained: bool,
}

impl Difference {
    /// What it looks like: the kind and where it is.
    pub(crate) fn alike(&self) -> String {
        format!("{}: {}", self.kind, self.configurations.join(", "))
    }
}

impl Batch {
    /// Counts a reason why something does not count.
    pub(crate) fn drop(&mut self, reason: &str) {
        let reason = reason.trim().lines().next().unwrap_or_default();
        let reason: String = reason.chars().take(120).collect();
        *self.dropped.entry(reason).or_default() += 1;
    }
}

/// What a log has.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Its complete lines.
    text: String,
    batches: Vec<Batch>,
}

/// The first line of a log, and the others with their batches.
type Lines = (Option<String>, Vec<(String, Batch)>);

/// A log that grows.
#[derive(Debug)]
pub(crate) struct Log(PathBuf);

impl Log {
    /// Reads what a log has, if there is one. An incomplete last line is of a process that was stopped: it is left out.
    pub(crate) fn read(
        path: &Path,
        identity: &serde_json::Value,
        resume: bool,
    ) -> io::Result<Opened> {
        let failed = |message: &str| io::Error::other(format!("{}: {message}", path.display()));
        let mut opened = Opened {
            text: format!("{identity}\n"),
            batches: Vec::new(),
        };
        if !path.exists() {
            return Ok(opened);
        }
        if !resume {
            return Err(failed(
                "there is a campaign: go on with --resume, or name another folder",
            ));
        }
        let (first, batches) = Self::lines(path)?;
        let known = |line: &str| serde_json::from_str::<serde_json::Value>(line).ok();
        if let Some(first) = first
            && known(&first).as_ref() != Some(identity)
        {
            return Err(failed(&format!("the campaign has other settings: {first}")));
        }
        for (line, batch) in batches {
            opened.batches.push(batch);
            opened.text.push_str(&line);
            opened.text.push('\n');
        }
        Ok(opened)
    }

    /// The first line, and those of batches. An incomplete last line is left out.
    fn lines(path: &Path) -> io::Result<Lines> {
        let old = std::fs::read_to_string(path)?;
        let complete = old.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = old.get(..complete).unwrap_or_default().lines();
        let first = lines.next().map(str::to_owned);
        let batches = lines.map(|line| {
            let batch = serde_json::from_str(line).map_err(|error| {
                let path = path.display();
                io::Error::other(format!("{path}: is no log of a campaign: {error}"))
            })?;
            Ok((line.to_owned(), batch))
        });
        Ok((first, batches.collect::<io::Result<_>>()?))
    }

    /// The batches of all shares in a folder.
    pub(crate) fn of_all_shares(folder: &Path) -> io::Result<Vec<Batch>> {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("log-") && name.ends_with(".jsonl") {
                all.extend(Self::lines(&path)?.1.into_iter().map(|(_, batch)| batch));
            }
        }
        Ok(all)
    }

    /// Opens a log with what it had.
    pub(crate) fn open(path: &Path, opened: Opened) -> io::Result<(Self, Vec<Batch>)> {
        visakit_files::write(path, &opened.text)?;
        Ok((Self(path.to_owned()), opened.batches))
    }

    /// Adds a line.
    pub(crate) fn add(&self, batch: &Batch) -> io::Result<()> {
        visakit_files::append(&self.0, &serde_json::to_string(batch)?)
    }
}
