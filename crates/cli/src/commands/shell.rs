//! `visakit completions` and `visakit man`: generated from the definitions of the commands.

use crate::output::{self, Failure};
use crate::{Cli, Status, render};
use clap::CommandFactory;
use clap_complete::Shell;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit completions bash > ~/.local/share/bash-completion/completions/visakit
  visakit completions fish > ~/.config/fish/completions/visakit.fish")]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(clap::Args)]
#[command(after_help = "Example:
  visakit man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Folder for the pages, one for each command; created if missing.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn completions(args: &Completions) -> Result<Status, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "visakit", &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Status::Clean)
}

pub(crate) fn man(args: &Man) -> Result<Status, Failure> {
    let folder = &args.folder;
    fs::create_dir_all(folder).map_err(|error| output::at(folder, &error))?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut count = 0;
    for page in std::iter::once(&command).chain(command.get_subcommands()) {
        let verb = (page.get_name() != "visakit").then(|| page.get_name());
        let name = verb.map_or_else(|| "visakit".to_owned(), |verb| format!("visakit-{verb}"));
        output::file(
            &folder.join(format!("{name}.1")),
            &self::page(&command, page, &name)?,
        )?;
        count += 1;
    }
    let pages = output::count(count, "page");
    render::note(&format!("{pages} in {}", folder.display()));
    Ok(Status::Clean)
}

/// The page of a command.
fn page(whole: &clap::Command, command: &clap::Command, name: &str) -> Result<Vec<u8>, Failure> {
    let is_whole = command.get_name() == whole.get_name();
    let after = command.get_after_long_help().or(command.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    let plain = command
        .clone()
        .after_help("")
        .after_long_help("")
        .display_name(name.to_owned());
    let manual = clap_mangen::Man::new(plain.version(env!("CARGO_PKG_VERSION")));
    let mut out = Vec::new();
    manual.render_title(&mut out)?;
    manual.render_name_section(&mut out)?;
    manual.render_synopsis_section(&mut out)?;
    manual.render_description_section(&mut out)?;
    manual.render_options_section(&mut out)?;
    if is_whole {
        manual.render_subcommands_section(&mut out)?;
    }
    let (notes, examples) = split(&after);
    if !notes.is_empty() {
        section(&mut out, "NOTES", &notes.join("\n.PP\n"))?;
    }
    let status = [
        ("0", "Clean: everything was done, and nothing is wrong."),
        (
            "1",
            "Findings: faults of a text, findings of a check, differences, a program that was stopped or did wrong.",
        ),
        (
            "2",
            "Unusable: input that is missing, damaged or of another kind, or a wrong command line.",
        ),
    ];
    let status = status.map(|(code, what)| format!(".TP\n.B {code}\n{what}"));
    section(&mut out, "EXIT STATUS", &status.join("\n"))?;
    if !examples.is_empty() {
        let lines: Vec<_> = examples.iter().map(|line| literal(line)).collect();
        section(
            &mut out,
            "EXAMPLES",
            &format!(".nf\n{}\n.fi", lines.join("\n")),
        )?;
    }
    let others = std::iter::once("visakit".to_owned()).chain(
        whole
            .get_subcommands()
            .map(|c| format!("visakit-{}", c.get_name())),
    );
    let others: Vec<_> = others
        .filter(|other| other != name)
        .map(|other| format!(".BR {} (1)", other.replace('-', "\\-")))
        .collect();
    section(&mut out, "SEE ALSO", &others.join("\n"))?;
    Ok(out)
}

fn section(out: &mut Vec<u8>, title: &str, text: &str) -> Result<(), Failure> {
    writeln!(out, ".SH \"{title}\"\n{text}")?;
    Ok(())
}

/// Splits the help after the options into paragraphs and lines of examples.
fn split(after: &str) -> (Vec<String>, Vec<&str>) {
    let (mut notes, mut examples) = (Vec::new(), Vec::new());
    for part in after.split("\n\n").filter(|part| !part.is_empty()) {
        match part
            .strip_prefix("Examples:\n")
            .or(part.strip_prefix("Example:\n"))
        {
            Some(lines) => {
                examples.extend(lines.lines().map(|l| l.strip_prefix("  ").unwrap_or(l)));
            }
            // Lines that are set off keep their ends.
            None if part.contains("\n  ") => {
                let lines: Vec<_> = part.lines().map(literal).collect();
                notes.push(format!(".nf\n{}\n.fi", lines.join("\n")));
            }
            // The exit codes have a section of their own.
            None if part.starts_with("Exit codes:") => {}
            None => notes.push(part.lines().map(literal).collect::<Vec<_>>().join("\n")),
        }
    }
    (notes, examples)
}

/// A literal line, protected from roff.
fn literal(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) {
        format!("\\&{line}")
    } else {
        line
    }
}
