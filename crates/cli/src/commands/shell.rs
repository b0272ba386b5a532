//! `visakit completions` and `visakit man`: made of the definitions of the commands.

use crate::output::Failure;
use crate::{Cli, Status, input, render};
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
    let written = fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder))
        .and_then(|()| fs::read_dir(folder));
    match written {
        Ok(entries) => {
            let pages = entries.filter_map(Result::ok);
            let pages = pages.filter(|e| e.path().extension().is_some_and(|x| x == "1"));
            render::note(&format!("{} pages in {}", pages.count(), folder.display()));
            Ok(Status::Clean)
        }
        Err(error) => Err(Failure::Other(format!("{}: {error}", input::name(folder)))),
    }
}
