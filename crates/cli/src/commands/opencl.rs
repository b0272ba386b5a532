//! `visakit opencl`: other programs on the OpenCL device that runs kernels here.

use crate::Status;
use crate::output::{Failure, stdout};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file that the library is in.
const LIBRARY: &str = "libvisakit_opencl.so";

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
    /// The library, if it is not beside `visakit`.
    #[arg(long, value_name = "FILE", global = true)]
    library: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Write the file by which OpenCL's loader finds the device, and say how to use it.
    Install {
        /// Write it for all users, to /etc/OpenCL/vendors.
        #[arg(long)]
        system: bool,
    },
    /// Run a program that sees this device alone.
    Run {
        /// The program and its arguments.
        #[arg(
            required = true,
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "PROGRAM"
        )]
        program: Vec<OsString>,
    },
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let library = library(args.library.as_deref())?;
    match &args.action {
        Action::Install { system } => {
            let folder = if *system {
                PathBuf::from("/etc/OpenCL/vendors")
            } else {
                own_folder()?
            };
            let file = write(&folder, &library)?;
            let mut out = stdout();
            writeln!(out, "wrote {}", file.display())?;
            if !system {
                writeln!(out, "export OCL_ICD_VENDORS={}", folder.display())?;
            }
            out.flush()?;
            Ok(Status::Clean)
        }
        Action::Run { program } => {
            let folder = own_folder()?;
            write(&folder, &library)?;
            start(program, &folder)
        }
    }
}

/// The library: what was asked for, or what stands where builds and packages put it.
fn library(asked: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(asked) = asked {
        return fs::canonicalize(asked)
            .map_err(|error| Failure::Other(format!("{}: {error}", asked.display())));
    }
    let tool = std::env::current_exe()?;
    let folder = tool.parent().unwrap_or(Path::new("."));
    let places = [folder.join(LIBRARY), folder.join("../lib").join(LIBRARY)];
    let found = places.iter().find_map(|p| fs::canonicalize(p).ok());
    found.ok_or_else(|| {
        Failure::Other(format!(
            "{LIBRARY} is not beside visakit: build it with `cargo build --release -p visakit-opencl`, or name it with \
             --library"
        ))
    })
}

/// The folder of the user's own file.
fn own_folder() -> Result<PathBuf, Failure> {
    let base = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share"));
    let base = base.or_else(home);
    let base =
        base.ok_or_else(|| Failure::Other("neither XDG_DATA_HOME nor HOME is set".to_owned()))?;
    Ok(base.join("visakit/OpenCL/vendors"))
}

/// Writes the file that names the library. It appears whole: other processes may be reading it.
fn write(folder: &Path, library: &Path) -> Result<PathBuf, Failure> {
    let file = folder.join("visakit.icd");
    let text = format!("{}\n", library.display());
    if fs::read_to_string(&file).is_ok_and(|old| old == text) {
        return Ok(file);
    }
    let fresh = folder.join(format!(".visakit.{}", std::process::id()));
    let done = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&fresh, text))
        .and_then(|()| fs::rename(&fresh, &file));
    done.map_err(|error| Failure::Other(format!("{}: {error}", file.display())))?;
    Ok(file)
}

/// Runs the program; its exit code is ours.
fn start(program: &[OsString], folder: &Path) -> Result<Status, Failure> {
    let Some((name, arguments)) = program.split_first() else {
        return Err(Failure::Other("no program was named".to_owned()));
    };
    let mut command = Command::new(name);
    command.args(arguments).env("OCL_ICD_VENDORS", folder);
    let status = command
        .status()
        .map_err(|error| Failure::Other(format!("{}: {error}", Path::new(name).display())))?;
    std::process::exit(status.code().unwrap_or(1));
}
