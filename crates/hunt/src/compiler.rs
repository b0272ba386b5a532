//! Intel's offline compiler as a process, with limits.

use crate::process::{Limits, ended};
use crate::switches::Switch;
use crate::through::Through;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use visakit_launch::{Dump, Source};

/// A compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The program, or a script that runs one.
    pub path: PathBuf,
    /// Limits of a call.
    pub limits: Limits,
}

/// How a call ended.
#[derive(Clone, Debug)]
pub(crate) enum Compiled {
    /// The texts and the metadata of the kernels.
    Done(Box<Dump>),
    /// It cannot be compiled that way, for this reason.
    Not(&'static str),
    /// The source was refused, with this message.
    Refused(String),
    /// It crashed, or failed without a reason in the source.
    Crashed(String),
    /// It was stopped after its time.
    Endless,
}

/// What a call is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) source: &'a str,
    pub(crate) device: &'a str,
    pub(crate) options: &'a str,
    pub(crate) switches: &'a [Switch],
    /// Programs in the source.
    pub(crate) programs: usize,
    /// What changes its SPIR-V.
    pub(crate) through: Option<&'a Through>,
}

impl Compiler {
    /// Compiles a source.
    ///
    /// # Errors
    /// The compiler cannot be run, or files cannot be written.
    pub(crate) fn compile(&self, call: &Call<'_>) -> io::Result<Compiled> {
        let folder = tempfile::Builder::new().prefix("visakit-hunt-").tempdir()?;
        let at = |name: &str| folder.path().join(name);
        for name in ["out", "dump"] {
            fs::create_dir(at(name))?;
        }
        visakit_files::scratch(&at("program.cl"), call.source)?;
        visakit_files::scratch(&at("said"), "")?;
        let said = fs::File::options().write(true).open(at("said"))?;
        let mut dumps = at("dump").into_os_string();
        dumps.push("/");
        let run = |source: &str, more: &[&str], dumping: bool| {
            let mut command = self.limits.command(&self.path, call.programs);
            command
                .args(["compile", "-device", call.device, "-options", call.options])
                .args(["-output_no_suffix", "-output", "program"])
                .args(more)
                .arg("-file")
                .arg(at(source))
                .arg("-out_dir")
                .arg(at("out"))
                .env("IGC_EnableZEBinary", "1")
                .envs(call.switches.iter().filter_map(|switch| switch.key()))
                .stdin(Stdio::null())
                .stdout(said.try_clone()?)
                .stderr(said.try_clone()?);
            if dumping {
                command
                    .env("IGC_ShaderDumpEnable", "1")
                    .env("IGC_DumpToCustomDir", &dumps);
            }
            ended(command, self.limits.time(call.programs))
        };
        let status = run("program.cl", &[], call.through.is_none())?;
        let (status, through) = match (status, call.through) {
            (Some(status), Some(through)) if status.success() => {
                let module = at("out").join("program.spv");
                if !module.is_file() {
                    return Ok(Compiled::Not("the compiler writes no SPIR-V"));
                }
                if !through.change(&module, &at("changed.spv"), call.programs)? {
                    return Ok(Compiled::Not("its SPIR-V is not changed"));
                }
                (run("changed.spv", &["-spirv_input"], true)?, true)
            }
            (status, _) => (status, false),
        };
        // A compiler need not know what another program writes.
        if through && !status.is_some_and(|status| status.success()) {
            return Ok(Compiled::Not("the changed SPIR-V is not compiled"));
        }
        let Some(status) = status else {
            return Ok(Compiled::Endless);
        };
        let said = String::from_utf8_lossy(&fs::read(at("said"))?).into_owned();
        if !status.success() {
            return Ok(failed(status, &said, folder.path()));
        }
        let mut files = Vec::new();
        for (folder, texts) in [(at("out"), false), (at("dump"), true)] {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                // Of the dumps only texts, which are a tenth of them; releases name the program differently.
                if path.is_file() && (!texts || path.extension().is_some_and(|e| e == "visaasm")) {
                    let bytes = fs::read(&path)?;
                    let path = path.file_name().map(PathBuf::from).unwrap_or_default();
                    files.push(Source { path, bytes });
                }
            }
        }
        Ok(match Dump::of(files) {
            Ok(dump) => Compiled::Done(Box::new(dump)),
            Err(_) if through => Compiled::Not("the changed SPIR-V gives no kernels"),
            Err(error) => Compiled::Crashed(error.to_string()),
        })
    }
}

/// Refusals name an error in the source; all else is a fault of the compiler.
fn failed(status: ExitStatus, said: &str, folder: &Path) -> Compiled {
    let said = said.replace(&*folder.to_string_lossy(), "");
    // What it was called with differs each time.
    let lines = said
        .lines()
        .filter(|line| !line.starts_with("Command was:") && !line.trim().is_empty());
    let mut said: String = lines.collect::<Vec<_>>().join("\n");
    let internal = [
        "internal compiler error",
        "assert",
        "segmentation",
        "backtrace",
    ];
    let lower = said.to_lowercase();
    if lower.contains("error:") && !internal.iter().any(|word| lower.contains(word)) {
        return Compiled::Refused(said);
    }
    if said.is_empty() {
        said = status.to_string();
    }
    Compiled::Crashed(said)
}
