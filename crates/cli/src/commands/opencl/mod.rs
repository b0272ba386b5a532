//! `visakit opencl`: other programs on the OpenCL device that runs kernels here.

#[cfg(all(target_os = "linux", feature = "hunt"))]
mod answer;
mod place;
mod run;

use crate::Status;
use crate::installed::named_or_found;
use crate::output::{self, Failure, stdout};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use visakit_files::TemporaryFolder;

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
    ///
    /// Programs that use Level Zero see it, too, if `libze_visakit.so` is beside the library.
    #[command(after_long_help = run::VARIABLES)]
    Run(Box<run::Args>),
    /// Tell the findings of programs that ran with VISAKIT_CHECK_REPORT: as SARIF, as annotations, by the exit code.
    Report(run::ReportArgs),
    /// Build and run what a request of `visakit hunt --with` asks for.
    #[cfg(all(target_os = "linux", feature = "hunt"))]
    #[command(hide = true)]
    Answer {
        /// The library of the driver.
        driver: String,
        /// The folder of the request.
        folder: PathBuf,
    },
    /// Run a program, and each of its launches once more on another OpenCL driver; say where the results differ.
    ///
    /// Kernels are built there from the program's source. Floats may differ by the tolerance, everything else is
    /// compared bit by bit. A launch that differs is kept as a case, with what the other driver computed as what is
    /// expected: `visakit run --case` shows the difference again.
    Compare {
        /// The other driver: its library, or a part of the name of a file in /etc/OpenCL/vendors.
        #[arg(long = "with", value_name = "DRIVER", default_value = "pocl")]
        other: String,
        /// How far 32-bit floats may be apart, relative to their size. Half floats may be 100 times as far apart,
        /// 64-bit floats a hundred-thousandth of it.
        #[arg(long, value_name = "NUMBER", default_value_t = 1e-4)]
        tolerance: f64,
        /// Where launches that differ are kept as cases.
        #[arg(long, value_name = "DIR", default_value = "visakit-differences")]
        cases: PathBuf,
        /// Print the report as JSON, on standard error: standard output is the program's.
        #[arg(long)]
        json: bool,
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
    let library = || named_or_found(args.library.as_deref(), LIBRARY, "--library");
    match &args.action {
        Action::Install { system } => {
            let folder = if *system {
                PathBuf::from("/etc/OpenCL/vendors")
            } else {
                own_folder()?
            };
            let file = write(&folder, &library()?)?;
            let mut out = stdout();
            writeln!(out, "wrote {}", file.display())?;
            if !system {
                writeln!(out, "export OCL_ICD_VENDORS={}", folder.display())?;
            }
            out.flush()?;
            Ok(Status::Clean)
        }
        Action::Run(args) => run::run(args, &library()?),
        Action::Report(args) => run::report(args),
        #[cfg(all(target_os = "linux", feature = "hunt"))]
        Action::Answer { driver, folder } => {
            answer::run(driver, folder)?;
            Ok(Status::Clean)
        }
        Action::Compare {
            other,
            tolerance,
            cases,
            json,
            program,
        } => {
            let folder = own_folder()?;
            write(&folder, &library()?)?;
            let place = TemporaryFolder::new(&std::env::temp_dir(), "visakit-compare")?;
            let report = place.path().join("report");
            let settings = [
                ("VISAKIT_COMPARE", OsString::from(driver(other)?)),
                ("VISAKIT_TOLERANCE", tolerance.to_string().into()),
                ("VISAKIT_COMPARE_CASES", cases.into()),
                ("VISAKIT_COMPARE_REPORT", report.clone().into()),
            ];
            let status = start(program, &folder, &settings);
            // A program that launches nothing reports nothing.
            let text = fs::read_to_string(&report).unwrap_or_default();
            let status = status?;
            compared(&text, *json, status)
        }
    }
}

/// The library of the selected driver.
pub(super) fn driver(asked: &str) -> Result<String, Failure> {
    if asked.contains(".so") {
        return Ok(asked.to_owned());
    }
    let entries = fs::read_dir("/etc/OpenCL/vendors").into_iter().flatten();
    let mut files: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "icd"));
    files.sort();
    let named = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.to_lowercase().contains(&asked.to_lowercase())
    };
    let found = files
        .iter()
        .find(named)
        .and_then(|p| fs::read_to_string(p).ok());
    found.map(|text| text.trim().to_owned()).ok_or_else(|| {
        Failure::Other(format!(
            "no file in /etc/OpenCL/vendors has `{asked}` in its name: install that driver, or name its library with --with"
        ))
    })
}

/// Reports the results: a line of JSON for each process that launched something.
fn compared(text: &str, json: bool, status: std::process::ExitStatus) -> Result<Status, Failure> {
    let mut sums = [0; 3];
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let mut with = String::new();
    for line in text.lines() {
        let one: Value =
            serde_json::from_str(line).map_err(|error| Failure::Other(error.to_string()))?;
        if json {
            output::say(&one.to_string());
        }
        for (sum, name) in sums.iter_mut().zip(["launches", "compared", "different"]) {
            *sum += one.get(name).and_then(Value::as_u64).unwrap_or(0);
        }
        let name = one.get("with").and_then(Value::as_str);
        name.unwrap_or_default().clone_into(&mut with);
        let list = one.get("not_compared").and_then(Value::as_object);
        for (reason, count) in list.into_iter().flatten() {
            *reasons.entry(reason.clone()).or_default() += count.as_u64().unwrap_or(0);
        }
    }
    let [launches, compared, different] = sums;
    // A program that launched nothing may not have opened the other driver either.
    if !json && launches > 0 {
        output::say(&format!(
            "visakit: {}, {compared} compared with {with}, {different} {}",
            output::count(launches, "launch"),
            if different == 1 { "differs" } else { "differ" }
        ));
        for (reason, count) in &reasons {
            output::say(&format!("visakit: {count} not compared: {reason}"));
        }
    }
    if !status.success() {
        return Err(Failure::Other(format!("the program ended with {status}")));
    }
    if launches == 0 {
        return Err(Failure::Other("the program launched nothing".to_owned()));
    }
    Ok(if different > 0 {
        Status::Findings
    } else {
        Status::Clean
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
    let done = fs::create_dir_all(folder).and_then(|()| visakit_files::write(&file, text));
    done.map_err(|error| Failure::Other(format!("{}: {error}", file.display())))?;
    Ok(file)
}

/// Runs the program, which sees only this device.
fn start(
    program: &[OsString],
    folder: &Path,
    settings: &[(&str, OsString)],
) -> Result<std::process::ExitStatus, Failure> {
    let Some((name, arguments)) = program.split_first() else {
        return Err(Failure::Other("no program was named".to_owned()));
    };
    let mut command = Command::new(name);
    command
        .args(arguments)
        .env("OCL_ICD_VENDORS", folder)
        .envs(settings.iter().cloned());
    command
        .status()
        .map_err(|error| Failure::Other(format!("{}: {error}", Path::new(name).display())))
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    /// What a comparison says of processes that reported these lines and ended with this code.
    fn outcome(text: &str, code: i32) -> Result<Status, String> {
        // The code is in the second byte of what the system reports.
        let status = ExitStatus::from_raw(code << 8);
        compared(text, false, status).map_err(|failure| match failure {
            Failure::Other(message) => message,
            _ => String::from("another failure"),
        })
    }

    #[test]
    fn a_comparison_of_nothing_is_no_success() {
        let nothing = r#"{"launches": 0, "compared": 0, "different": 0, "with": "pocl"}"#;
        for text in ["", nothing] {
            let message = outcome(text, 0).err();
            assert_eq!(message.as_deref(), Some("the program launched nothing"));
        }
        let same = r#"{"launches": 2, "compared": 2, "different": 0, "with": "pocl"}"#;
        let differs = r#"{"launches": 3, "compared": 2, "different": 1, "with": "pocl"}"#;
        assert!(outcome(same, 0) == Ok(Status::Clean));
        assert!(outcome(&format!("{nothing}\n{same}\n{differs}"), 0) == Ok(Status::Findings));
        let failed = outcome(same, 3).err().unwrap();
        assert!(failed.contains("exit status: 3"), "{failed}");
        assert!(outcome("{", 0).is_err());
    }
}
