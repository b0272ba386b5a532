//! `visakit opencl run`: a program on the device, with what is asked of its launches.

use super::{own_folder, start, write};
use crate::Status;
use crate::commands::check::{Failing, sarif, told, write as write_document};
use crate::commands::checking::{Format, level_or_kind};
use crate::output::{self, Failure};
use crate::sources::known_device;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use visakit_files::TemporaryFolder;

#[derive(clap::Args)]
pub(super) struct Args {
    /// The device, by the name it is sold under or the compiler's; several with commas, or `all`.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Run every launch under checks: memory, race, uninitialized, sync, arithmetic, lockstep, with commas, or all.
    #[arg(long, value_name = "KINDS")]
    check: Option<String>,
    #[command(flatten)]
    telling: Telling,
    /// Write the profile of all launches: a page, or JSON if the name ends with .json.
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    profile: Option<PathBuf>,
    /// Keep every launch as a case in this folder, for `visakit run --case`.
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    program: Vec<OsString>,
}

/// What `--help` says of the environment.
pub(super) const VARIABLES: &str =
    "Options set variables, which programs that start others inherit:
  VISAKIT_DEVICE        devices (--device)
  VISAKIT_CHECK         kinds of checks (--check)
  VISAKIT_CHECK_REPORT  file that each process adds its findings to, a line of JSON
  VISAKIT_PROFILE       file for the profile (--profile)
  VISAKIT_DUMP          folder for launches as cases (--dump)
  VISAKIT_OCLOC         Intel's offline compiler, if not `ocloc` in the path
  VISAKIT_CACHE         folder of compiled programs; empty for none
  VISAKIT_CACHE_MB      limit of that folder, 512 by default
  VISAKIT_JIT           when machine code is made: always, never
  VISAKIT_DPAS=1        report matrix engines
  VISAKIT_TIME          whose time events report: device, host
  VISAKIT_TRACE=1       every call and its error code on standard error
  VISAKIT_COMPARE, VISAKIT_COMPARE_CASES, VISAKIT_COMPARE_REPORT, VISAKIT_TOLERANCE
                        what `visakit opencl compare` sets

Examples:
  visakit opencl run -- python3 program.py
  visakit opencl run --device b580 --check all --fail --sarif found.sarif \\
      -- ./tests
  visakit opencl run --profile page.html -- ./program";

/// What becomes of findings.
#[derive(clap::Args)]
struct Telling {
    /// Findings decide on the exit code: 1 if there are any, and if a launch did not run to its end, though the program
    /// itself succeeded.
    #[arg(long)]
    fail: bool,
    /// Findings that make the command fail: error, warning, note, or kinds. [default: warning]
    #[arg(
        long,
        value_name = "LEVEL|KIND",
        value_delimiter = ',',
        value_parser = level_or_kind,
        requires = "fail"
    )]
    fail_on: Vec<String>,
    /// Write the findings as a SARIF log.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write the findings as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print the findings as annotations of GitHub Actions as well, on standard output.
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t,
        hide_default_value = true
    )]
    format: Format,
}

impl Telling {
    fn is_asked(&self) -> bool {
        self.fail || self.sarif.is_some() || self.json.is_some() || self.format != Format::Text
    }

    /// Writes what is asked for. The exit code if findings decide.
    fn tell(&self, report: &str) -> Result<Status, Failure> {
        let failing = Failing::new(&self.fail_on)?;
        let cases = cases(report)?;
        // What launched nothing has no verdict.
        if self.fail && launches(report)? == 0 {
            return Err(Failure::Other("the program launched nothing".to_owned()));
        }
        if let Some(path) = &self.sarif {
            write_document(path, &sarif::log(&cases))?;
        }
        if let Some(path) = &self.json {
            write_document(path, &json!({ "cases": cases }))?;
        }
        if self.format == Format::Github {
            let mut out = output::stdout();
            told::annotate(&mut out, &cases)?;
            std::io::Write::flush(&mut out)?;
        }
        let fails = self.fail && cases.iter().any(|case| failing.fails(case));
        Ok(Status::of_run(true, fails))
    }
}

/// The file that programs added their findings to, and what becomes of them.
#[derive(clap::Args)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    telling: Telling,
    /// The file. [default: that of VISAKIT_CHECK_REPORT]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Tells what programs found that ran before.
pub(super) fn report(args: &ReportArgs) -> Result<Status, Failure> {
    let named = std::env::var_os("VISAKIT_CHECK_REPORT").map(PathBuf::from);
    let Some(file) = args.file.clone().or(named) else {
        return Err(Failure::Other(
            "name the file that VISAKIT_CHECK_REPORT named where the programs ran".to_owned(),
        ));
    };
    match visakit_files::read_any(&file, crate::input::LARGEST) {
        Ok(text) => args.telling.tell(&String::from_utf8_lossy(&text)),
        // No program launched anything: that is no verdict.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Failure::Other(format!(
            "{}: no program wrote it: did one launch a kernel on the device?",
            crate::input::name(&file)
        ))),
        Err(error) => Err(output::at(&file, &error)),
    }
}

/// Runs the program; its exit code is that of the command unless findings decide.
pub(super) fn run(args: &Args, library: &Path) -> Result<Status, Failure> {
    if args.check.is_none() && args.telling.is_asked() {
        return Err(Failure::Other(
            "findings need checks: say which with --check, such as --check all".to_owned(),
        ));
    }
    let place = TemporaryFolder::new(&std::env::temp_dir(), "visakit-opencl")?;
    let report = place.path().join("report");
    let folder = own_folder()?;
    write(&folder, library)?;
    let mut settings = settings(args, &report)?;
    settings.extend(level_zero(library, place.path())?);
    let status = start(&args.program, &folder, &settings)?;
    let text = fs::read_to_string(&report).unwrap_or_default();
    drop(place);
    if status.success() {
        if args.telling.fail && text.is_empty() {
            return Err(Failure::Other(UNREPORTED.to_owned()));
        }
        return args.telling.tell(&text);
    }
    if !text.is_empty() {
        // What the program says by its end counts more.
        args.telling.tell(&text).or_else(Failure::tell)?;
    }
    std::process::exit(ended(status))
}

/// Why there are no findings to decide by.
const UNREPORTED: &str = "the program left no report: it did not use the device, or ended without its report, as by _exit";

/// The exit code of a program that failed, which shells make of a signal by adding 128.
fn ended(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        output::say(&format!("visakit: the program was ended by {status}"));
        return 128 + signal;
    }
    status.code().unwrap_or(1)
}

/// How many launches the processes reported.
fn launches(report: &str) -> Result<u64, Failure> {
    let mut all = 0;
    for line in report.lines() {
        let process: Value =
            serde_json::from_str(line).map_err(|error| Failure::Other(error.to_string()))?;
        all += process.get("launches").and_then(Value::as_u64).unwrap_or(0);
    }
    Ok(all)
}

/// How Level Zero's loader finds the driver that is beside a library, if it is there: the loader of the system, and the one
/// inside the runtime of SYCL, which opens a library of the loader's name, for which the driver stands in.
fn level_zero(library: &Path, folder: &Path) -> Result<Vec<(&'static str, OsString)>, Failure> {
    let driver = library.with_file_name("libze_visakit.so");
    let mut settings: Vec<(&'static str, OsString)> = Vec::new();
    if !driver.exists() {
        return Ok(settings);
    }
    #[cfg(not(unix))]
    let _ = folder;
    #[cfg(unix)]
    {
        let loader = folder.join("libze_loader.so.1");
        std::os::unix::fs::symlink(&driver, &loader)
            .map_err(|error| output::at(&loader, &error))?;
        settings.push(("ZEL_LIBRARY_PATH", folder.into()));
    }
    settings.push(("ZE_ENABLE_ALT_DRIVERS", driver.into()));
    Ok(settings)
}

/// The environment that options ask for.
fn settings(args: &Args, report: &Path) -> Result<Vec<(&'static str, OsString)>, Failure> {
    let mut settings: Vec<(&'static str, OsString)> = Vec::new();
    if let Some(device) = &args.device {
        for name in device.split(',').filter(|name| *name != "all") {
            known_device(name)?;
        }
        settings.push(("VISAKIT_DEVICE", device.into()));
    }
    if let Some(kinds) = &args.check {
        let names: Vec<_> = kinds.split(',').map(str::to_owned).collect();
        crate::commands::check::checks(&names)?;
        settings.push(("VISAKIT_CHECK", kinds.into()));
        settings.push(("VISAKIT_CHECK_REPORT", report.into()));
        // Its binaries of runs without checks have no lines.
        settings.push(("PYOPENCL_NO_CACHE", "1".into()));
    }
    for (name, path) in [
        ("VISAKIT_PROFILE", &args.profile),
        ("VISAKIT_DUMP", &args.dump),
    ] {
        if let Some(path) = path {
            // The program may change its folder.
            let path = std::path::absolute(path).map_err(|error| output::at(path, &error))?;
            settings.push((name, path.into()));
        }
    }
    Ok(settings)
}

/// The launches that processes reported, a line for each process. Places in programs without a file get the file below
/// the current folder that contains the program's source.
fn cases(report: &str) -> Result<Vec<Value>, Failure> {
    let mut cases = Vec::new();
    for line in report.lines() {
        let process: Value =
            serde_json::from_str(line).map_err(|error| Failure::Other(error.to_string()))?;
        let unchecked = process
            .get("unchecked")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        if unchecked > 0 {
            let error = format!("{} could not be run", output::count(unchecked, "launch"));
            cases.push(json!({ "case": "program", "findings": [], "error": error }));
        }
        cases.extend(
            process
                .get("cases")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .cloned(),
        );
    }
    let mut sources = super::place::Sources::default();
    for case in &mut cases {
        let Value::Object(case) = case else { continue };
        let Some(Value::String(source)) = case.remove("source") else {
            continue;
        };
        let Some((file, before)) = sources.find(&source) else {
            continue;
        };
        for finding in case["findings"].as_array_mut().into_iter().flatten() {
            place(finding, &file, before);
            if let Some(other) = finding.get_mut("other") {
                place(other, &file, before);
            }
        }
    }
    Ok(cases)
}

/// Gives a line of a program without a file its place in the file that has the program's source.
fn place(of: &mut Value, file: &str, before: u64) {
    if of["file"].is_null()
        && let Some(line) = of["line"].as_u64()
    {
        of["file"] = file.into();
        of["line"] = (line + before).into();
    }
}
