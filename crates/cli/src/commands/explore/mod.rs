//! `visakit explore`: the explorer in the browser, served only to this machine.
//!
//! The server has the page, the files named on the command line, and a compiler for sources that are opened in the page.
//! It listens on the loopback interface; every address begins with a secret token that only the printed one has, and
//! requests that name another host are rejected, so that no other page in the browser has access.

mod made;
mod site;

use crate::installed::named_or_found;
use crate::output::{Failure, stdout};
use crate::sources::Building;
use crate::{Status, input};
use site::{Served, Site};
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use visakit_compile::is_source;
use visakit_launch::Content;

/// The folder of the page, where it is installed.
const PAGE: &str = "explorer";
/// Requests that are answered at the same time.
const MOST_REQUESTS: usize = 64;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  visakit explore kernel.isa
      prints the address to open in a browser
  visakit explore kernel.isa kernel.zeinfo
      with what is needed to run it on a grid
  visakit explore old.isa new.isa           two files side by side
  visakit explore k.cl --device a770
      what Intel's compiler makes of a source
  visakit explore dump
      a folder that a compiler dumped into

It listens on this machine alone, on a free port; the address has a token that other pages do not know.")]
pub(crate) struct Args {
    /// Objects, texts, zebins and what belongs to them (.zeinfo, sources), or folders of them; a source alone is compiled;
    /// none opens an example.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    building: Building,
    /// Serve the page from this folder instead of the one that is installed.
    #[arg(long, value_name = "FOLDER")]
    web: Option<PathBuf>,
    /// Listen on this port instead of a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let mut files = Vec::new();
    for file in &args.files {
        if file.is_dir() {
            files.extend(made::folder(file)?);
        } else if file.is_file() {
            files.push(Served::at(file.clone()));
        } else {
            return Err(Failure::Other(format!(
                "{}: no such file or folder",
                input::name(file)
            )));
        }
    }
    if let Some(web) = &args.web
        && !web.join("index.html").is_file()
    {
        return Err(Failure::Other(format!(
            "{}: has no index.html; `cargo xtask web` makes web/dist",
            input::name(web)
        )));
    }
    let web = named_or_found(args.web.as_deref(), PAGE, "--web")?;
    if let [only] = args.files.as_slice()
        && Content::of_file(only).is_ok_and(is_source)
    {
        let bytes = input::read_any(only).map_err(Failure::Other)?;
        let made = made::files(only, &bytes, args.building)?;
        files.splice(0..0, made);
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))?;
    let site = Arc::new(Site {
        token: token()?,
        port: listener.local_addr()?.port(),
        files,
        web,
        building: args.building,
        compiling: Mutex::new(()),
    });
    let mut out = stdout();
    writeln!(out, "{}", site.address())?;
    writeln!(
        out,
        "Open this address in a browser on this machine. Ctrl+C ends."
    )?;
    out.flush()?;
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        // One reference is the listener's own.
        if Arc::strong_count(&site) > MOST_REQUESTS {
            continue;
        }
        let site = Arc::clone(&site);
        thread::spawn(move || drop(site.answer(&stream)));
    }
    Ok(Status::Clean)
}

/// A token that nobody can guess.
fn token() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| Failure::Other(format!("no random numbers: {e}")))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}
