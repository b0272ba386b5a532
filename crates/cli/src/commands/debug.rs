//! `visakit debug` and `visakit dap`.

use super::run;
use crate::Status;
use crate::output::{self, Failure, stdout};
use crate::signals::on_stop;
use serde_json::json;
use std::io::{BufRead, Read as _, Write};
use std::path::PathBuf;
use visakit_debug::{Console, Sources, Stop};

#[derive(clap::Args)]
#[group(skip)]
#[command(after_long_help = "Examples:
  visakit debug --case cases/vecadd/skl
  visakit debug k.visaasm --zeinfo k.zeinfo --global 64 --local 16 \\
      --arg zeros:256 --source src
  visakit debug k.visaasm --bare --set V32=1,2,3 -ex 'break 4' \\
      -ex continue -ex 'print V33'
  visakit debug --case cases/lreduce/skl --batch session.txt")]
pub(crate) struct Args {
    #[command(flatten)]
    run: run::Args,
    /// Carry out commands from a file (`-` for standard input), print what comes of them, and end.
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    /// Carry out a command, after those of --batch; `-ex` will do, too. `help` lists commands.
    #[arg(long, value_name = "CMD", allow_hyphen_values = true)]
    ex: Vec<String>,
}

#[cfg(feature = "debugger")]
#[derive(clap::Args)]
#[command(
    after_long_help = "The editor's launch request says what is debugged: its `args` are the words that
`visakit debug` would be given, or `case` is the folder of a case."
)]
pub(crate) struct DapArgs {}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let console = console(&args.run)?;
    if args.batch.is_none() && args.ex.is_empty() {
        return interactive(console);
    }
    stop_with_signals(&console)?;
    let mut commands = Vec::new();
    if let Some(path) = &args.batch {
        let text = crate::input::read_text(path).map_err(Failure::Other)?;
        commands.extend(text.lines().map(ToOwned::to_owned));
    }
    commands.extend(args.ex.iter().cloned());
    let goes_on = args.batch.is_none();
    script(
        console,
        commands.into_iter().map(Ok),
        output::is_json(),
        goes_on,
    )
}

/// The console for these arguments. `break finding` runs the same launch under all checks.
fn console(args: &run::Args) -> Result<Console, Failure> {
    let mut args = args.clone();
    args.for_debugger();
    let mut console = Console::new(session(&args)?, Sources::new(args.folders()));
    console.find_with(move || {
        let found = super::check::find(&args).map_err(|failure| match failure {
            Failure::Other(message) => message,
            _ => "the program cannot be run under checks".to_owned(),
        })?;
        let moment = |finding: &visakit_check::Finding| {
            let (group, step) = finding.moment;
            let time = visakit_debug::Time { group, step };
            (
                time,
                format!("{}: {}", finding.kind.name(), finding.message),
            )
        };
        Ok(found.iter().map(moment).collect())
    });
    Ok(console)
}

/// Ctrl-C stops a long run, and the session continues; a second one, before the first took effect, ends it.
fn stop_with_signals(console: &Console) -> Result<(), Failure> {
    let interrupt = console.session.interrupt().clone();
    let handler = move || {
        if interrupt.is_raised() {
            std::process::exit(130);
        }
        interrupt.raise();
    };
    on_stop(handler)
}

/// The session for these arguments, set up for one worker: groups run one after the other.
fn session(args: &run::Args) -> Result<visakit_debug::Session, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| Failure::Other(error.to_string()))?;
    pool.install(|| run::session(args))
}

#[cfg(feature = "debugger")]
fn interactive(console: Console) -> Result<Status, Failure> {
    use std::io::IsTerminal;
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        let mut handled = Ok(());
        // Ctrl-C is a key there; signals say that the terminal has gone, or that the tool shall end.
        visakit_debug::tui::run(console, |ender| {
            handled = on_stop(move || ender.end());
        })?;
        return handled.map(|()| Status::Clean);
    }
    stop_with_signals(&console)?;
    script(console, commands(), output::is_json(), false)
}

#[cfg(not(feature = "debugger"))]
fn interactive(console: Console) -> Result<Status, Failure> {
    stop_with_signals(&console)?;
    script(console, commands(), output::is_json(), false)
}

/// The commands on standard input, which may be a device without end.
fn commands() -> impl Iterator<Item = std::io::Result<String>> {
    let input = std::io::stdin().lock().take(crate::input::LARGEST_TEXT);
    input.lines()
}

/// Executes commands, one after the other. A fault at which the run is stopped at the end is a finding. A command that
/// fails ends a script; those of the command line go on after one.
fn script(
    mut console: Console,
    commands: impl Iterator<Item = std::io::Result<String>>,
    json: bool,
    goes_on: bool,
) -> Result<Status, Failure> {
    let mut replies = Vec::new();
    let mut status = Status::Clean;
    for command in commands {
        let command = command?;
        if command.trim().is_empty() {
            continue;
        }
        let mut out = stdout();
        if !json {
            // Printed before the command is executed, which may take long.
            writeln!(out, "(visakit) {}", output::printable(command.as_bytes()))?;
            out.flush()?;
        }
        match console.run(&command) {
            Ok(reply) => {
                if json {
                    replies.push(
                        json!({ "command": command, "text": reply.text, "state": state(&console) }),
                    );
                } else {
                    for line in reply.text.lines() {
                        writeln!(out, "{}", output::printable(line.as_bytes()))?;
                    }
                    out.flush()?;
                }
                if reply.quit {
                    break;
                }
            }
            Err(error) => {
                out.flush()?;
                if json {
                    replies.push(json!({ "command": command, "error": error.to_string() }));
                }
                crate::render::failure(&error.to_string());
                status = Status::Unusable;
                if !goes_on {
                    break;
                }
            }
        }
    }
    if json {
        output::json(&json!({ "replies": replies }))?;
    }
    if status == Status::Clean && matches!(console.session.stop(), Stop::Fault(_)) {
        status = Status::Findings;
    }
    Ok(status)
}

/// Where the run is stopped, as data.
fn state(console: &Console) -> serde_json::Value {
    let session = &console.session;
    let (thread, lane) = session.focus();
    let time = session.time();
    let place = session.place();
    let listing = session.listing();
    let source = place.and_then(|place| session.source(place));
    let position = session.position(thread).map(|(_, position)| position);
    let row = place.and_then(|place| listing.row(place));
    let routine = place.and_then(|place| listing.routines.get(place.routine));
    json!({
        "why": console.stop_text(),
        "ended": session.is_ended(),
        "group": time.group,
        "step": time.step,
        "thread": thread,
        "lane": lane,
        "running": position.map(|p| p.running),
        "enabled": position.map(|p| p.enabled),
        "routine": routine.map(|r| &r.name),
        "instruction": place.map(|p| p.instruction),
        "text": row.map(|row| &row.text),
        "file": source.and_then(|s| listing.files.get(s.file)),
        "line": source.map(|s| s.line),
    })
}

/// Speaks with an editor.
#[cfg(feature = "debugger")]
pub(crate) fn dap(_: &DapArgs) -> Result<Status, Failure> {
    use clap::{CommandFactory as _, FromArgMatches as _};
    let launch = |words: &[String]| -> Result<Console, String> {
        let parsed = || -> Result<Args, clap::Error> {
            let mut command = crate::Cli::command();
            let words = ["visakit", "debug"]
                .into_iter()
                .chain(words.iter().map(String::as_str));
            let matches = command.try_get_matches_from_mut(words)?;
            let Some((verb, matches)) = matches.subcommand() else {
                return Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand));
            };
            run::effect::check(&mut command, verb, matches)?;
            Args::from_arg_matches(matches)
        };
        let args = parsed().map_err(|error| error.to_string())?;
        console(&args.run).map_err(|failure| match failure {
            Failure::Other(message) => message,
            _ => "the program cannot be started; standard error says why".to_owned(),
        })
    };
    crate::input::lend_stdin();
    visakit_debug::dap::serve(std::io::stdin(), std::io::stdout(), launch)?;
    Ok(Status::Clean)
}
