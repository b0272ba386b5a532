//! Intel's offline compiler, and what it compiled before.

use crate::model::binary::{self, Module, Pieces};
use crate::model::cache::Cache;
use crate::model::device::Device;
use crate::model::includes;
use crate::model::watch::wants_lines;
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::SystemTime;

/// What a program is made of.
#[derive(Clone, Debug)]
pub enum Input {
    /// OpenCL C.
    Text(Vec<u8>),
    /// SPIR-V.
    Spirv(Vec<u8>),
}

/// What is asked of the compiler.
#[derive(Clone, Copy, Debug)]
pub enum Task<'a> {
    /// A program for the device; calls of what is not in it are an error.
    Build(&'a Input),
    /// Source is made SPIR-V, with these headers by their names, for `#include`.
    Compile(&'a [u8], &'a [(String, Vec<u8>)]),
    /// A program for the device, of several parts.
    Link(&'a [Module]),
}

/// How a compilation ended.
#[derive(Debug)]
pub struct Compiled {
    /// The container, or the SPIR-V of [`Task::Compile`]; `None` if it failed.
    pub container: Option<Vec<u8>>,
    /// What the compiler said.
    pub log: String,
}

/// What is compiled, and how.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// What is to be done.
    pub task: Task<'a>,
    /// Options as the host gave them.
    pub options: &'a str,
    /// For which device.
    pub device: &'a Device,
}

/// Where the compiler is, and what distinguishes it from others.
fn ocloc() -> &'static Option<(PathBuf, String)> {
    static FOUND: OnceLock<Option<(PathBuf, String)>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let path = match std::env::var_os("VISAKIT_OCLOC") {
            Some(path) => PathBuf::from(path),
            None => {
                let folders = std::env::var_os("PATH")?;
                let mut folders = std::env::split_paths(&folders);
                folders.find_map(|f| Some(f.join("ocloc")).filter(|p| p.is_file()))?
            }
        };
        // Its parts are libraries of their own: what changes with an update are their files.
        let mut identity = String::new();
        let real = fs::canonicalize(&path).ok()?;
        let mut parts = vec![real];
        for folder in [
            "/usr/lib/x86_64-linux-gnu",
            "/usr/local/lib",
            "/usr/lib64",
            "/usr/lib",
        ] {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            parts.extend(entries.map(|e| e.path()).filter(|p| {
                let name = p.file_name().map(|n| n.to_string_lossy().into_owned());
                name.is_some_and(|n| {
                    n.starts_with("libigc.so")
                        || n.starts_with("libigdfcl.so")
                        || n.starts_with("libocloc")
                })
            }));
        }
        parts.sort();
        for part in parts {
            if let Ok(facts) = fs::metadata(&part) {
                let time = facts
                    .modified()
                    .ok()
                    .and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok());
                let time = time.map_or(0, |t| t.as_secs());
                let _ = writeln!(identity, "{} {} {time}", part.display(), facts.len());
            }
        }
        Some((path, identity))
    })
}

/// Lets texts say of which lines of the source they are, without a change to the code.
const LINES: &str = " -gline-tables-only";

/// What is to be done where there is no compiler.
const MISSING: &str = "visakit needs Intel's offline compiler `ocloc` to build programs from source, and there is none on \
the path. Debian and Ubuntu: apt-get install intel-opencl-icd (newer releases: intel-ocloc). Or set VISAKIT_OCLOC to its \
path.";

/// Compiles, or takes what was compiled before.
pub fn compile(job: &Job<'_>) -> Compiled {
    let Some((path, identity)) = ocloc() else {
        return Compiled {
            container: None,
            log: MISSING.to_owned(),
        };
    };
    // Asked before and after: a file that changes meanwhile may have been read in either state.
    let key = || Some(key(job, identity, &included(job)?));
    let cache = Cache::open().and_then(|cache| Some((cache, key()?)));
    if let Some((cache, key)) = &cache
        && let Some(pieces) = cache.get(key).as_deref().and_then(binary::unpack)
    {
        let piece = |name: &str| pieces.iter().find(|p| p.0 == name).map(|p| p.1.as_slice());
        return Compiled {
            container: piece(MADE).map(<[u8]>::to_vec),
            log: String::from_utf8_lossy(piece(LOG).unwrap_or_default()).into_owned(),
        };
    }
    match run(path, job) {
        Ok(compiled) => {
            if let (Some((cache, first)), Some(container)) = (cache, &compiled.container)
                && key().as_ref() == Some(&first)
            {
                let log = (LOG.to_owned(), compiled.log.clone().into_bytes());
                cache.put(
                    &first,
                    &binary::pack(&vec![(MADE.to_owned(), container.clone()), log]),
                );
            }
            compiled
        }
        Err(message) => Compiled {
            container: None,
            log: message,
        },
    }
}

/// In the cache: what was made.
const MADE: &str = "made";
/// In the cache: what the compiler said.
const LOG: &str = "log";

/// What the files are like that a job includes; `None` if that cannot be told.
fn included(job: &Job<'_>) -> Option<Vec<u8>> {
    match job.task {
        Task::Build(Input::Text(text)) => includes::fingerprint(text, &[], job.options),
        Task::Compile(text, headers) => includes::fingerprint(text, headers, job.options),
        Task::Build(Input::Spirv(_)) | Task::Link(_) => Some(Vec::new()),
    }
}

/// A name for all that decides on the result.
fn key(job: &Job<'_>, identity: &str, included: &[u8]) -> String {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(env!("CARGO_PKG_VERSION").as_bytes());
    add(identity.as_bytes());
    add(job.device.model.name.as_bytes());
    add(job.options.as_bytes());
    add(&[wants_lines(), job.device.emulates_doubles()].map(u8::from));
    add(included);
    match job.task {
        Task::Build(Input::Text(text)) => {
            add(b"build");
            add(text);
        }
        Task::Build(Input::Spirv(code)) => {
            add(b"spirv");
            add(code);
        }
        Task::Compile(text, headers) => {
            add(b"compile");
            add(text);
            for (name, header) in headers {
                add(name.as_bytes());
                add(header);
            }
        }
        Task::Link(modules) => {
            add(b"link");
            add(&binary::pack(&binary::pieces_of(modules)));
        }
    }
    // Keys of the compiler, which users may have set.
    let mut keys: Vec<_> = std::env::vars_os().collect();
    keys.retain(|(name, _)| name.to_string_lossy().starts_with("IGC_"));
    keys.sort();
    for (name, value) in keys {
        add(name.as_encoded_bytes());
        add(value.as_encoded_bytes());
    }
    hash.finalize()
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// What went wrong around the compiler.
fn failed(what: &str, error: &std::io::Error) -> String {
    format!("visakit: {what}: {error}")
}

/// A run of the compiler, in a temporary folder.
struct Run<'a> {
    path: &'a Path,
    device: &'a Device,
    folder: tempfile::TempDir,
}

impl Run<'_> {
    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
        let place = self.place(name);
        let made = place.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&place, bytes))
            .map_err(|e| failed("cannot write for the compiler", &e))?;
        Ok(place)
    }

    /// Runs the compiler with arguments. Tells whether it succeeded, and what it said.
    fn call(&self, arguments: &[&OsStr]) -> Result<(bool, String), String> {
        let dump = self.place("dump");
        fs::create_dir_all(&dump).map_err(|e| failed("no temporary folder", &e))?;
        let mut command = Command::new(self.path);
        command
            .args(arguments)
            .env("IGC_EnableZEBinary", "1")
            .env("IGC_ShaderDumpEnable", "1")
            .env("IGC_DumpToCustomDir", &dump)
            // The loader's preloads are for the program, not for its compiler.
            .env_remove("LD_PRELOAD");
        let Output {
            status,
            stdout,
            stderr,
        } = command
            .output()
            .map_err(|e| failed(&format!("cannot run {}", self.path.display()), &e))?;
        let said = [stdout, stderr].map(|t| String::from_utf8_lossy(&t).into_owned());
        let noise = |line: &&str| {
            !(line.starts_with("Build succeeded")
                || line.starts_with("Command was:")
                || line.starts_with("Compilation from IR")
                || line.starts_with("Linker execution has succeeded")
                || line.contains("Build failed with error code"))
        };
        let log: Vec<_> = said.iter().flat_map(|t| t.lines()).filter(noise).collect();
        let mut log = log.join("\n").trim().to_owned();
        if !status.success() && log.is_empty() {
            log = format!("visakit: {} ended with {status}", self.path.display());
        }
        Ok((status.success(), log))
    }

    /// Compiles a file to `out`, where it is called `program`.
    fn compile(&self, file: &Path, options: &str, more: &[&str]) -> Result<(bool, String), String> {
        let mut options = options.trim().to_owned();
        if !options.contains("-cl-kernel-arg-info") {
            options.push_str(" -cl-kernel-arg-info");
        }
        if wants_lines() {
            options.push_str(LINES);
        }
        let out = self.place("out");
        let mut arguments: Vec<&OsStr> = vec!["compile".as_ref(), "-file".as_ref(), file.as_ref()];
        let device = self.device.model.name;
        let fixed = ["-device", device, "-output", "program", "-output_no_suffix"];
        arguments.extend(fixed.map(OsStr::new));
        arguments.extend(["-out_dir".as_ref(), out.as_os_str()]);
        arguments.extend(["-options", options.trim_start()].map(OsStr::new));
        if self.device.emulates_doubles() {
            let doubles = ["-internal_options", "-cl-ext=+cl_khr_fp64,+__opencl_c_fp64"];
            arguments.extend(doubles.map(OsStr::new));
        }
        arguments.extend(more.iter().map(OsStr::new));
        self.call(&arguments)
    }

    /// The first of these files of `out`.
    fn made(&self, names: &[&str]) -> Option<Vec<u8>> {
        let mut places = names.iter().map(|n| self.place("out").join(n));
        places.find_map(|p| fs::read(p).ok())
    }

    /// One module of several, in the compiler's own format.
    fn link(&self, modules: &[Module]) -> Result<(bool, String, PathBuf), String> {
        let linked = self.place("linked.bc");
        let mut files = Vec::new();
        for (index, module) in modules.iter().enumerate() {
            files.push(self.write(&format!("part{index}.spv"), &module.code)?);
        }
        let mut arguments: Vec<&OsStr> = vec!["link".as_ref()];
        for file in &files {
            arguments.extend(["-file".as_ref(), file.as_os_str()]);
        }
        arguments.extend(["-out".as_ref(), linked.as_os_str()]);
        arguments.extend(["-out_format", "LLVM_BC"].map(OsStr::new));
        let (good, log) = self.call(&arguments)?;
        Ok((good && linked.is_file(), log, linked))
    }
}

/// Runs the compiler.
fn run(path: &Path, job: &Job<'_>) -> Result<Compiled, String> {
    let folder = tempfile::Builder::new().prefix("visakit-").tempdir();
    let folder = folder.map_err(|e| failed("no temporary folder", &e))?;
    let run = Run {
        path,
        device: job.device,
        folder,
    };
    let gave_up = |log| {
        Ok(Compiled {
            container: None,
            log,
        })
    };
    let (good, log) = match job.task {
        Task::Build(Input::Text(text)) => {
            run.compile(&run.write("program.cl", text)?, job.options, &[])?
        }
        Task::Build(Input::Spirv(code)) => {
            let file = run.write("program.spv", code)?;
            run.compile(&file, job.options, &["-spirv_input"])?
        }
        Task::Compile(text, headers) => {
            let mut options = job.options.to_owned();
            for (name, header) in headers {
                // Names are those of the program; they stay inside of the folder.
                let mut parts = Path::new(name).components();
                if !parts.all(|c| matches!(c, std::path::Component::Normal(_))) {
                    return Err(format!("visakit: a header cannot be called `{name}`"));
                }
                run.write(&format!("headers/{name}"), header)?;
            }
            if !headers.is_empty() {
                let _ = write!(options, " -I {}", run.place("headers").display());
            }
            let file = run.write("program.cl", text)?;
            let (good, log) = run.compile(&file, &options, &["-spv_only"])?;
            let module = run.made(&["program.spv", "program"]);
            return Ok(Compiled {
                container: module.filter(|_| good),
                log,
            });
        }
        Task::Link([only]) => {
            let file = run.write("program.spv", &only.code)?;
            run.compile(&file, job.options, &["-spirv_input"])?
        }
        Task::Link(modules) => {
            let (good, log, file) = run.link(modules)?;
            if !good {
                return gave_up(log);
            }
            run.compile(&file, job.options, &["-llvm_input"])?
        }
    };
    let zebin = run.made(&["program.bin", "program"]);
    let (true, Some(zebin)) = (good, zebin) else {
        return gave_up(log);
    };
    if let Ok(zebin) = visakit_launch::Zebin::parse(&zebin) {
        let undefined = zebin.undefined.iter().filter(|n| !n.starts_with("__"));
        let mut lines = undefined.map(|name| format!("error: undefined reference to `{name}`"));
        if let Some(first) = lines.next() {
            let lines: Vec<_> = [log, first].into_iter().chain(lines).collect();
            return gave_up(lines.join("\n").trim().to_owned());
        }
    }
    let mut pieces: Pieces = vec![
        (binary::DEVICE.to_owned(), job.device.model.name.into()),
        (binary::OPTIONS.to_owned(), job.options.into()),
        (binary::ZEBIN.to_owned(), zebin),
    ];
    match job.task {
        Task::Build(Input::Text(text)) => pieces.push((binary::SOURCE.to_owned(), text.clone())),
        Task::Link(modules) => {
            // What it was made of, without the code.
            let parts = binary::pieces_of(modules).into_iter();
            pieces.extend(parts.filter(|p| p.0 != binary::MODULE));
        }
        Task::Build(Input::Spirv(_)) | Task::Compile(..) => {}
    }
    collect(&run.place("dump"), &mut pieces)?;
    Ok(Compiled {
        container: Some(binary::pack(&pieces)),
        log,
    })
}

/// Puts the texts of all kernels to the pieces: the text with the lanes that the metadata name, and its functions.
fn collect(dump: &Path, pieces: &mut Pieces) -> Result<(), String> {
    let zebin = pieces.iter().find(|p| p.0 == binary::ZEBIN);
    let zebin = zebin.map(|p| visakit_launch::Zebin::parse(&p.1));
    let zeinfo = match zebin {
        Some(Ok(zebin)) => visakit_launch::ZeInfo::parse(&zebin.zeinfo),
        Some(Err(error)) => return Err(format!("visakit: the compiler's output: {error}")),
        None => return Ok(()),
    };
    let zeinfo = zeinfo.map_err(|e| format!("visakit: the compiler's metadata: {e}"))?;
    let entries = fs::read_dir(dump).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|e| e.path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "visaasm"));
    files.sort();
    let texts = files.into_iter().filter_map(|path| {
        let stem = path.file_stem()?.to_string_lossy().into_owned();
        Some((stem, fs::read(&path).ok()?))
    });
    let texts: Vec<_> = texts.collect();
    // `PREFIX_f0`, `PREFIX_f1`, … are functions of `PREFIX`.
    let functions = |of: &str| -> Vec<Vec<u8>> {
        let own = texts.iter().filter(|(stem, _)| {
            let rest = stem.strip_prefix(of).and_then(|r| r.strip_prefix("_f"));
            rest.is_some_and(|r| !r.is_empty() && r.bytes().all(|b| b.is_ascii_digit()))
        });
        own.map(|t| t.1.clone()).collect()
    };
    let kernel = |name: &str, simd: u32| {
        texts.iter().find(|(_, text)| {
            binary::kernel_name(text).is_some_and(|k| k == name)
                && (simd == 0 || binary::simd_size(text).is_none_or(|s| s == simd))
        })
    };
    let by_address = kernel(binary::SYMBOLS, 0).map_or_else(Vec::new, |(stem, _)| functions(stem));
    for info in zeinfo.kernels.iter().filter(|k| k.name != binary::SYMBOLS) {
        let found =
            kernel(&info.name, info.execution_env.simd_size).or_else(|| kernel(&info.name, 0));
        let Some((stem, text)) = found else {
            return Err(format!(
                "visakit: the compiler wrote no vISA text of kernel `{}`; IGC_ShaderDumpEnable may be off in this release",
                info.name
            ));
        };
        let name = format!("{}{}", binary::TEXT, info.name);
        pieces.push((name.clone(), text.clone()));
        for function in functions(stem)
            .into_iter()
            .chain(by_address.iter().cloned())
        {
            pieces.push((name.clone(), function));
        }
    }
    Ok(())
}
