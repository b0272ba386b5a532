//! The command-line tool: a thin shell around the `visakit` library.
//!
//! Exit codes: 0 clean, 1 findings or differences, 2 unusable input or usage.

mod commands;
mod input;
mod installed;
mod names;
mod output;
mod reading;
mod render;
mod sarif;
mod signals;
mod sources;
mod table;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Read, write, check, run and explain Intel's vISA: binary objects (.isa) and text (.visaasm).
#[derive(Parser)]
#[command(
    name = "visakit",
    version,
    max_term_width = 100,
    after_help = "Examples:
  visakit info kernel.isa             what the object holds
  visakit dis kernel.isa --routine 0  the first kernel as text
  visakit asm k.visaasm -o k.isa      text into an object
  visakit run k.cl --global 1024      a kernel, with generated arguments
  visakit check k.cl --global 1024    races, wrong accesses, undefined values
  visakit profile k.cl --global 1024  hot lines, lanes, messages, time
  visakit opencl run -- ./program     an OpenCL or SYCL program, without a GPU
  visakit validate objects/           what is wrong with all below a folder

A file is an object, a text, OpenCL C, SPIR-V, or a folder of dumps, whatever
its name, or `-` for standard input.
Exit codes: 0 clean, 1 findings or differences, 2 unusable input or usage."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Colours: when standard output is a terminal, never, or always.
    #[arg(long, global = true, value_enum, default_value_t)]
    color: output::Color,
}

#[derive(Subcommand)]
enum Command {
    /// Assemble vISA text into an object.
    Asm(commands::asm::Args),
    /// Format texts as the printer does; comments are kept.
    Fmt(commands::fmt::Args),
    /// Print routines as vISA text.
    Dis(commands::dis::Args),
    /// Show what objects hold: routines, inputs, attributes, native code.
    Info(commands::info::Args),
    /// Show every byte range with its field name and value.
    Dump(commands::dump::Args),
    /// Count instructions, operands and bytes of many objects.
    Stats(commands::stats::Args),
    /// Read objects, write them again, compare every byte.
    Roundtrip(commands::roundtrip::Args),
    /// Compile OpenCL C or SPIR-V to vISA, with Intel's offline compiler.
    Compile(commands::compile::Args),
    /// Put an edited text back into a compiled program, for real hardware.
    Inject(commands::inject::Args),
    /// Run kernels on the CPU: OpenCL kernels, media kernels, bare routines, cases.
    Run(Box<commands::run::Args>),
    /// Run kernels and look for wrong accesses, undefined values, races, barriers.
    Check(Box<commands::check::CheckArgs>),
    /// Run kernels and count what runs: hot lines, lanes, messages, simulated time.
    Profile(Box<commands::profile::Args>),
    /// Debug kernels on the CPU: breakpoints, steps forward and back, state by lane.
    Debug(Box<commands::debug::Args>),
    /// Speak the Debug Adapter Protocol with an editor, on standard input and output.
    #[cfg(feature = "debugger")]
    Dap(commands::debug::DapArgs),
    /// Convert an object to another version, newer or older.
    Convert(commands::convert::Args),
    /// Remove debug locations, names, native code and what nothing uses.
    Strip(commands::strip::Args),
    /// Keep some routines and what they need.
    Extract(commands::extract::Args),
    /// Link objects into one.
    Merge(commands::merge::Args),
    /// Give routines and symbols other names.
    Rename(commands::rename::Args),
    /// Compare two objects by routine, declaration and instruction.
    Diff(commands::diff::Args),
    /// Compare what two compilers made of the same kernels: profiles side by side, and what they do.
    CompareCompilers(commands::compare::Args),
    /// Prove that two kernels compute the same, or find inputs that tell them apart.
    Prove(Box<commands::prove::ProveArgs>),
    /// Estimate how many registers are in use at each instruction.
    Pressure(commands::pressure::Args),
    /// Draw the control flow of routines, for Graphviz or as SVG.
    Cfg(commands::graph::Flow),
    /// Draw the call graph, for Graphviz or as SVG.
    Callgraph(commands::graph::Calls),
    /// Check objects and texts, and report everything that is wrong.
    Validate(commands::validate::Args),
    /// Explain a rule of the validator, or list all of them.
    Explain(commands::explain::Args),
    /// Look at objects and texts in the browser.
    Explore(commands::explore::Args),
    /// Generate valid objects from seeds.
    Smith(commands::smith::Args),
    /// Hunt for faults of Intel's compiler: generated programs with known results.
    #[cfg(feature = "hunt")]
    Hunt(commands::hunt::Args),
    /// Make an object smaller while a command still succeeds.
    Reduce(commands::reduce::Args),
    /// Write what objects hold as tables: Parquet files for DuckDB, Spark and others.
    #[cfg(feature = "table")]
    Table(commands::table::Args),
    /// Search code for patterns of instructions.
    Search(commands::search::Args),
    /// Find the routines of an object again: the same, renamed, or compiled anew.
    Similar(commands::similar::Args),
    /// Print the completions for a shell.
    Completions(commands::shell::Completions),
    /// Write manual pages.
    Man(commands::shell::Man),
    /// Look up instructions: fields, versions, platforms.
    Isa(commands::isa::Args),
    /// Look up platforms: names, size of a register, what they have.
    Platforms(commands::platforms::Args),
    /// Run OpenCL programs on the device that executes kernels here.
    Opencl(commands::opencl::Args),
    /// Answer editors: problems, names, instructions and completions of vISA text.
    #[cfg(feature = "lsp")]
    Lsp(commands::lsp::Args),
}

/// What the commands are for, as the README has them.
const GROUPS: [(&str, &str); 7] = [
    (
        "Look",
        "info dis dump cfg callgraph stats pressure isa platforms",
    ),
    ("Write", "compile asm fmt"),
    (
        "Run and check",
        "run check profile debug prove opencl validate explain roundtrip",
    ),
    (
        "Change and compare",
        "convert strip extract merge rename diff compare-compilers inject",
    ),
    ("Test other tools", "smith hunt reduce"),
    ("Many objects", "search similar table"),
    (
        "Browser, editor, shell",
        "explore lsp dap completions man help",
    ),
];

/// The command line, whose help lists the commands by what they are for.
fn command() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    let heading = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let mut listed = String::new();
    for (title, verbs) in GROUPS {
        listed.push_str(&format!("{heading}{title}:{heading:#}\n"));
        for verb in verbs.split(' ') {
            let Some(about) = command
                .find_subcommand(verb)
                .and_then(clap::Command::get_about)
            else {
                continue;
            };
            let lines = table::wrap(&about.to_string(), table::prose().saturating_sub(INDENT));
            for (number, line) in lines.iter().enumerate() {
                let name = if number == 0 { verb } else { "" };
                let gap = " ".repeat(INDENT - 2 - name.len());
                listed.push_str(&format!("  {literal}{name}{literal:#}{gap}{line}\n"));
            }
        }
        listed.push('\n');
    }
    Cli::command().help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}{heading}Options:{heading:#}\n{{options}}{{after-help}}"
    ))
}

/// Where the descriptions of the commands begin.
const INDENT: usize = 21;

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    Clean = 0,
    Findings = 1,
    Unusable = 2,
}

impl Status {
    /// That of commands that run programs: one that did not run to its end is not clean, whatever was found in it.
    const fn of_run(complete: bool, found: bool) -> Self {
        if complete && !found {
            Self::Clean
        } else {
            Self::Findings
        }
    }
}

/// Whether something was found that the status of the command does not show.
static FOUND: AtomicBool = AtomicBool::new(false);

/// The command will not end clean.
fn found_something() {
    FOUND.store(true, Ordering::Relaxed);
}

fn main() -> ExitCode {
    let cli = match arguments() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    cli.color.apply();
    let result = run(&cli.command).and_then(|status| output::finish().map(|()| status));
    let status = result.unwrap_or_else(|failure| {
        let status = match failure {
            // The reader of the output has gone: nobody is left to notify.
            output::Failure::Closed => return Status::Clean,
            output::Failure::Told(status) => status,
            output::Failure::Other(error) => {
                render::failure(&error);
                Status::Unusable
            }
        };
        // If the document could not be written, its reader is gone too.
        let _ = output::finish();
        status
    });
    let found = FOUND.load(Ordering::Relaxed);
    let least = if found {
        Status::Findings
    } else {
        Status::Clean
    };
    ExitCode::from(status.max(least) as u8)
}

/// Parses the command line. From here on it is known whether JSON was requested.
fn arguments() -> Result<Cli, clap::Error> {
    // As other debuggers have it: one dash, two letters.
    let words = std::env::args_os().map(|word| match word.to_str() {
        Some("-ex") => "--ex".into(),
        _ => word,
    });
    let mut command = command();
    let matches = command.try_get_matches_from_mut(words)?;
    if let Some((verb, matches)) = matches.subcommand() {
        if asks_for_json(matches) {
            output::use_json(verb);
        }
        commands::run::effect::check(&mut command, verb, matches)?;
    }
    Cli::from_arg_matches(&matches)
}

/// Whether JSON was requested of a verb or of one of its subcommands.
fn asks_for_json(matches: &clap::ArgMatches) -> bool {
    let inner = matches.subcommand().is_some_and(|(_, m)| asks_for_json(m));
    inner || matches!(matches.try_get_one::<bool>("json"), Ok(Some(true)))
}

/// Prints help, or reports what is wrong with the command line, as JSON if requested.
fn usage(error: &clap::Error) -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if !error.use_stderr() || !words.any(|word| word == "--json") {
        // A closed stream is not an error here.
        let _ = error.print();
        let help = !error.use_stderr();
        return ExitCode::from(if help {
            Status::Clean
        } else {
            Status::Unusable
        } as u8);
    }
    let verb = std::env::args_os().nth(1).unwrap_or_default();
    output::use_json(&verb.to_string_lossy());
    let text = error.to_string();
    render::failure(text.trim_end().strip_prefix("error: ").unwrap_or(&text));
    let _ = output::finish();
    ExitCode::from(Status::Unusable as u8)
}

fn run(command: &Command) -> Result<Status, output::Failure> {
    match command {
        Command::Asm(args) => commands::asm::run(args),
        Command::Fmt(args) => commands::fmt::run(args),
        Command::Dis(args) => commands::dis::run(args),
        Command::Info(args) => commands::info::run(args),
        Command::Dump(args) => commands::dump::run(args),
        Command::Stats(args) => commands::stats::run(args),
        Command::Roundtrip(args) => commands::roundtrip::run(args),
        Command::Compile(args) => commands::compile::run(args),
        Command::Inject(args) => commands::inject::run(args),
        Command::Run(args) if args.kinds().is_empty() => commands::run::run(args),
        Command::Run(args) => commands::check::of_run(args),
        Command::Check(args) => commands::check::run(args),
        Command::Profile(args) => commands::profile::run(args),
        Command::Debug(args) => commands::debug::run(args),
        #[cfg(feature = "debugger")]
        Command::Dap(args) => commands::debug::dap(args),
        Command::Convert(args) => commands::convert::run(args),
        Command::Strip(args) => commands::strip::run(args),
        Command::Extract(args) => commands::extract::run(args),
        Command::Merge(args) => commands::merge::run(args),
        Command::Rename(args) => commands::rename::run(args),
        Command::Diff(args) => commands::diff::run(args),
        Command::Cfg(args) => commands::graph::flow(args),
        Command::Callgraph(args) => commands::graph::calls(args),
        Command::Validate(args) => commands::validate::run(args),
        Command::Explain(args) => commands::explain::run(args),
        Command::Explore(args) => commands::explore::run(args),
        Command::Smith(args) => commands::smith::run(args),
        #[cfg(feature = "hunt")]
        Command::Hunt(args) => commands::hunt::run(args),
        Command::Reduce(args) => commands::reduce::run(args),
        #[cfg(feature = "table")]
        Command::Table(args) => commands::table::run(args),
        Command::Search(args) => commands::search::run(args),
        Command::Similar(args) => commands::similar::run(args),
        Command::Completions(args) => commands::shell::completions(args),
        Command::Man(args) => commands::shell::man(args),
        Command::Isa(args) => commands::isa::run(args),
        Command::CompareCompilers(args) => commands::compare::run(args),
        Command::Prove(args) => commands::prove::run(args),
        Command::Pressure(args) => commands::pressure::run(args),
        Command::Platforms(args) => commands::platforms::run(args),
        Command::Opencl(args) => commands::opencl::run(args),
        #[cfg(feature = "lsp")]
        Command::Lsp(args) => commands::lsp::run(args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_has_every_command_and_fits() {
        let mut all: Vec<_> = Cli::command()
            .get_subcommands()
            .map(|c| c.get_name().to_owned())
            .collect();
        all.push("help".to_owned());
        let grouped = GROUPS.iter().flat_map(|(_, verbs)| verbs.split(' '));
        let mut grouped: Vec<_> = grouped
            .filter(|verb| all.iter().any(|known| known == verb))
            .collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
        for verb in Cli::command().get_subcommands() {
            let after = verb.get_after_long_help().or(verb.get_after_help());
            let after = after.map(ToString::to_string).unwrap_or_default();
            let Some((_, examples)) = after.split_once("Examples:\n") else {
                continue;
            };
            for line in examples.lines().take_while(|line| !line.is_empty()) {
                // What does not fit is broken in the middle of a comment.
                let commented = line.trim_start().contains("  ");
                assert!(
                    !commented || line.len() <= 80,
                    "{}: {line}",
                    verb.get_name()
                );
            }
        }
    }
}
