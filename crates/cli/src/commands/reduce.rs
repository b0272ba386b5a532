//! `visakit reduce`: the smallest object for which a command still succeeds.

use crate::output::Failure;
use crate::{Status, input, render};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
    /// The object, or - for standard input.
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
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let limit = Duration::try_from_secs_f64(args.timeout)
        .map_err(|error| Failure::Other(format!("--timeout: {error}")))?;
    if !args.test.contains("{}") {
        let message = "--test: put {} where the name of the candidate goes";
        return Err(Failure::Other(message.to_owned()));
    }
    let bytes = input::read(&args.file).map_err(Failure::Other)?;
    let candidate = Candidate::new(&args.output)?;
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    let mut trouble = None;
    let mut test = |bytes: &[u8]| {
        if trouble.is_some() {
            return false;
        }
        match candidate.succeeds(&args.test, bytes, limit) {
            Ok(yes) => yes,
            Err(error) => {
                trouble = Some(error);
                false
            }
        }
    };
    let mut count = 0;
    let reduced = visakit_reduce::reduce(&bytes, &mut test, &mut |progress| {
        count = progress.tests;
        bar.set_message(format!(
            "{} bytes after {} tests, now {}",
            progress.bytes, progress.tests, progress.step
        ));
        bar.tick();
    });
    bar.finish_and_clear();
    if let Some(error) = trouble {
        return Err(Failure::Other(error));
    }
    let small = match reduced {
        Ok(small) => small,
        Err(error) => {
            return Err(Failure::Other(format!(
                "{}: {error}",
                input::name(&args.file)
            )));
        }
    };
    fs::write(&args.output, &small)
        .map_err(|error| Failure::Other(format!("{}: {error}", input::name(&args.output))))?;
    render::note(&format!(
        "{} bytes of {} are left after {count} tests",
        small.len(),
        bytes.len()
    ));
    Ok(Status::Clean)
}

/// The file that the command looks at, beside the output; gone at the end.
struct Candidate(PathBuf);

impl Candidate {
    fn new(output: &Path) -> Result<Self, Failure> {
        let mut name = output
            .file_name()
            .ok_or_else(|| Failure::Other("-o: expected the name of a file".to_owned()))?
            .to_owned();
        name.push(format!(".candidate-{}.isa", std::process::id()));
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
                Ok(Some(status)) => return Ok(status.success()),
                Ok(None) if start.elapsed() < limit => std::thread::sleep(pause),
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
