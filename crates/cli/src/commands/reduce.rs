//! `visakit reduce`: the smallest object for which a command still succeeds.

use crate::output::{self, Failure, count, printable};
use crate::reading::Reading;
use crate::signals::on_stop;
use crate::{Status, input, render};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use visakit_rewrite::{Answer, Progress};

#[derive(clap::Args)]
#[command(
    after_help = "The command is given to the shell, with the name of a candidate in place \
of {}; it succeeds if it exits with 0. What it prints is shown only if it does not succeed for \
the input itself.

Examples:
  visakit reduce bad.isa --test '! visakit validate {}' -o small.isa
  visakit reduce bad.isa --test 'visakit dis {} | grep -q bfi' -o small.isa
  visakit reduce bad.isa --test '! finalizer {}' --timeout 5 -o small.isa"
)]
pub(crate) struct Args {
    /// The object or text, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Command that succeeds for what is to be kept.
    #[arg(long, value_name = "'COMMAND {}'")]
    test: String,
    /// The smallest object that was found.
    #[arg(short, long, value_name = "OUT.isa")]
    output: PathBuf,
    /// Seconds after which a run of the command counts as failed.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    timeout: f64,
    /// How many candidates are tested at once, each in a file of its own. The result is the same.
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    #[command(flatten)]
    reading: Reading,
}

/// Ctrl-C, or the signal that ends programs.
static STOPPED: AtomicBool = AtomicBool::new(false);

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let limit = Duration::try_from_secs_f64(args.timeout)
        .map_err(|error| Failure::Other(format!("--timeout: {error}")))?;
    if !args.test.contains("{}") {
        let message = "--test: put {} where the name of the candidate goes";
        return Err(Failure::Other(message.to_owned()));
    }
    let opened = args.reading.open(&args.file)?;
    // Damaged input is reduced as it is.
    let bytes = args.reading.binary(&opened)?;
    let jobs = usize::from(args.jobs);
    let candidates = (0..jobs).map(|number| Candidate::new(&args.output, number));
    let candidates = candidates.collect::<Result<Vec<_>, _>>()?;
    let stop = || {
        if STOPPED.swap(true, Ordering::Relaxed) {
            // The first one has had no effect.
            std::process::exit(130);
        }
    };
    on_stop(stop)?;
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    let mut trouble = None;
    // The first run, on the input itself: its output and its exit status.
    let mut log = Some(Log::new(&args.output)?);
    let mut refused = None;
    let mut first = |files: &[Vec<u8>]| {
        let found = match log.take() {
            None => first(&candidates, &args.test, files, limit),
            Some(log) => of_input(&candidates, &args.test, files, limit, log).map(|told| {
                refused = told;
                refused.is_none().then_some(0)
            }),
        };
        match found {
            _ if STOPPED.load(Ordering::Relaxed) => Answer::Stop,
            Ok(found) => Answer::of(found),
            Err(error) => {
                trouble = Some(error);
                Answer::Stop
            }
        }
    };
    let mut state = Progress::default();
    let reduced = visakit_rewrite::reduce_at_once(&bytes, jobs, &mut first, &mut |progress| {
        state = progress;
        bar.set_message(format!(
            "{} bytes after {} tests, now {}",
            progress.bytes, progress.tests, progress.step
        ));
        bar.tick();
    });
    bar.finish_and_clear();
    drop(candidates);
    let stopped = STOPPED.load(Ordering::Relaxed);
    let small = match (reduced, trouble) {
        (_, Some(error)) if state.kept == 0 => return Err(Failure::Other(error)),
        (Ok(small), _) => small,
        (Err(_), _) if stopped => {
            let message = "stopped before the test was known to pass: nothing was written";
            render::failure(message);
            return Ok(Status::Findings);
        }
        (Err(error), _) => {
            let name = input::name(&args.file);
            render::failure(&format!("{name}: {error}"));
            if let Some(told) = refused {
                render::note(&told);
            }
            return Ok(Status::Unusable);
        }
    };
    output::file(&args.output, &small)?;
    let tests = count(state.tests, "test");
    let left = format!(
        "{} of {} are left after {tests}",
        small.len(),
        count(bytes.len(), "byte")
    );
    if stopped {
        let name = input::name(&args.output);
        render::failure(&format!(
            "stopped: {left}; {name} has the smallest object so far"
        ));
        return Ok(Status::Findings);
    }
    render::note(&left);
    Ok(Status::Clean)
}

/// Tests the input itself; if the command fails, how it ended and what it printed.
fn of_input(
    candidates: &[Candidate],
    command: &str,
    files: &[Vec<u8>],
    limit: Duration,
    log: Log,
) -> Result<Option<String>, String> {
    let (Some(candidate), Some(file)) = (candidates.first(), files.first()) else {
        return Ok(None);
    };
    let end = candidate.test(command, file, limit, Some(&log))?;
    let command = printable(command.as_bytes());
    Ok((end != End::Success).then(|| format!("`{command}`: {end}{}", log.tail())))
}

/// The first file for which the command succeeds; they are tested side by side.
fn first(
    candidates: &[Candidate],
    command: &str,
    files: &[Vec<u8>],
    limit: Duration,
) -> Result<Option<usize>, String> {
    let passed: Vec<_> = std::thread::scope(|scope| {
        let pairs = candidates.iter().zip(files);
        let tests = pairs.map(|(c, file)| {
            scope.spawn(move || Ok(c.test(command, file, limit, None)? == End::Success))
        });
        let tests: Vec<_> = tests.collect();
        let lost = || Err("a test was lost".to_owned());
        let ended = tests
            .into_iter()
            .map(|test| test.join().unwrap_or_else(|_| lost()));
        ended.collect()
    });
    for (number, passed) in passed.into_iter().enumerate() {
        if passed? {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// How a run of the command ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Success,
    Failure(ExitStatus),
    /// It was ended after so long.
    Timeout(Duration),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success => f.write_str("succeeded"),
            // For example "exit status: 1" or "signal: 11".
            Self::Failure(status) => write!(f, "{status}"),
            Self::Timeout(limit) => write!(
                f,
                "was ended after {} s, see --timeout",
                limit.as_secs_f64()
            ),
        }
    }
}

/// The output of a command: a file beside the result, removed at the end.
struct Log {
    path: PathBuf,
    file: fs::File,
}

impl Log {
    /// At most this many bytes are shown, the last ones.
    const SHOWN: u64 = 4096;

    fn new(output: &Path) -> Result<Self, Failure> {
        let path = beside(output, "log")?;
        let failed = |error| Failure::Other(format!("{}: {error}", input::name(&path)));
        let mut options = fs::OpenOptions::new();
        options.read(true).append(true).create_new(true);
        let file = options.open(&path).map_err(failed)?;
        Ok(Self { path, file })
    }

    /// The destination of one of the two streams of a command.
    fn stream(log: Option<&Self>) -> Result<Stdio, String> {
        match log.map(|log| log.file.try_clone()) {
            None => Ok(Stdio::null()),
            Some(Ok(file)) => Ok(file.into()),
            Some(Err(error)) => Err(format!("the output of the command has no place: {error}")),
        }
    }

    /// The last lines, each indented.
    fn tail(mut self) -> String {
        let size = self.file.metadata().map_or(0, |m| m.len());
        let mut bytes = Vec::new();
        let start = SeekFrom::Start(size.saturating_sub(Self::SHOWN));
        let read = self.file.seek(start).is_ok() && self.file.read_to_end(&mut bytes).is_ok();
        if !read || bytes.is_empty() {
            return ", and printed nothing".to_owned();
        }
        let mut out = String::from(", and printed");
        for line in bytes.trim_ascii_end().split(|b| *b == b'\n') {
            out.push_str("\n  ");
            out.push_str(&printable(line));
        }
        out
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A file of this process beside the output.
fn beside(output: &Path, what: &str) -> Result<PathBuf, Failure> {
    let mut name = output
        .file_name()
        .ok_or_else(|| Failure::Other("-o: expected the name of a file".to_owned()))?
        .to_owned();
    name.push(format!(".candidate-{}-{what}", std::process::id()));
    Ok(output.with_file_name(name))
}

/// The file that the command examines, beside the output; removed at the end.
struct Candidate(PathBuf);

impl Candidate {
    fn new(output: &Path, number: usize) -> Result<Self, Failure> {
        beside(output, &format!("{number}.isa")).map(Self)
    }

    /// Runs the command on a file. Its output goes to the log, if there is one.
    fn test(
        &self,
        command: &str,
        bytes: &[u8],
        limit: Duration,
        log: Option<&Log>,
    ) -> Result<End, String> {
        let name = self.0.display();
        visakit_files::scratch(&self.0, bytes).map_err(|error| format!("{name}: {error}"))?;
        let quoted = format!("'{}'", name.to_string().replace('\'', r"'\''"));
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(command.replace("{}", &quoted))
            .stdin(Stdio::null())
            .stdout(Log::stream(log)?)
            .stderr(Log::stream(log)?)
            .spawn()
            .map_err(|error| format!("the shell could not be started: {error}"))?;
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match child.try_wait() {
                Ok(Some(status)) => {
                    // A signal that stops us may have ended the command, too.
                    let stopped = STOPPED.load(Ordering::Relaxed);
                    return Ok(match status.success() && !stopped {
                        true => End::Success,
                        false => End::Failure(status),
                    });
                }
                Ok(None) if !STOPPED.load(Ordering::Relaxed) && start.elapsed() < limit => {
                    std::thread::sleep(pause);
                }
                Ok(None) => {
                    // Gone already is as good.
                    let _ = child.kill();
                    let _ = child.wait();
                    return Ok(End::Timeout(limit));
                }
                Err(error) => return Err(format!("the command was lost: {error}")),
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }
}

impl Drop for Candidate {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
