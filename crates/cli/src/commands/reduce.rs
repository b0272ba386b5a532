//! `visakit reduce`: the smallest object for which a command still succeeds.

use crate::output::{self, Failure, count};
use crate::reading::{Reading, open};
use crate::{Status, input, render};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use visakit_reduce::{Answer, Progress};

#[derive(clap::Args)]
#[command(
    after_help = "The command is given to the shell, with the name of a candidate in place \
of {}; it succeeds if it exits with 0. What it prints is not shown.

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
    let opened = open(&args.file)?;
    // What is damaged is reduced as it is.
    let bytes = args.reading.binary(&opened)?;
    let jobs = usize::from(args.jobs);
    let candidates = (0..jobs).map(|number| Candidate::new(&args.output, number));
    let candidates = candidates.collect::<Result<Vec<_>, _>>()?;
    let stop = || {
        if STOPPED.swap(true, Ordering::Relaxed) {
            // Nothing has come of the first one.
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(stop).map_err(|error| Failure::Other(error.to_string()))?;
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    let mut trouble = None;
    let mut first = |files: &[Vec<u8>]| match first(&candidates, &args.test, files, limit) {
        _ if STOPPED.load(Ordering::Relaxed) => Answer::Stop,
        Ok(found) => Answer::of(found),
        Err(error) => {
            trouble = Some(error);
            Answer::Stop
        }
    };
    let mut state = Progress::default();
    let reduced = visakit_reduce::reduce_at_once(&bytes, jobs, &mut first, &mut |progress| {
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
            return Err(Failure::Other(format!("{name}: {error}")));
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

/// The first file for which the command succeeds; they are tested side by side.
fn first(
    candidates: &[Candidate],
    command: &str,
    files: &[Vec<u8>],
    limit: Duration,
) -> Result<Option<usize>, String> {
    let passed: Vec<_> = std::thread::scope(|scope| {
        let pairs = candidates.iter().zip(files);
        let tests = pairs.map(|(c, file)| scope.spawn(move || c.succeeds(command, file, limit)));
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

/// The file that the command looks at, beside the output; gone at the end.
struct Candidate(PathBuf);

impl Candidate {
    fn new(output: &Path, number: usize) -> Result<Self, Failure> {
        let mut name = output
            .file_name()
            .ok_or_else(|| Failure::Other("-o: expected the name of a file".to_owned()))?
            .to_owned();
        name.push(format!(".candidate-{}-{number}.isa", std::process::id()));
        Ok(Self(output.with_file_name(name)))
    }

    fn succeeds(&self, command: &str, bytes: &[u8], limit: Duration) -> Result<bool, String> {
        let name = self.0.display();
        fs::write(&self.0, bytes).map_err(|error| format!("{name}: {error}"))?;
        let quoted = format!("'{}'", name.to_string().replace('\'', r"'\''"));
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(command.replace("{}", &quoted))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("the shell could not be started: {error}"))?;
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match child.try_wait() {
                // A signal that stops us may have ended the command, too.
                Ok(Some(status)) => {
                    return Ok(status.success() && !STOPPED.load(Ordering::Relaxed));
                }
                Ok(None) if !STOPPED.load(Ordering::Relaxed) && start.elapsed() < limit => {
                    std::thread::sleep(pause);
                }
                Ok(None) => {
                    // Gone already is as good.
                    let _ = child.kill();
                    let _ = child.wait();
                    return Ok(false);
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
