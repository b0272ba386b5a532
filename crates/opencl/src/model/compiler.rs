//! Intel's offline compiler, and what it compiled before.

use crate::model::binary::{self, Pieces};
use crate::model::device::Device;
use crate::model::watch::wants_lines;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::SystemTime;

/// What is compiled.
#[derive(Clone, Debug)]
pub enum Input {
    /// OpenCL C.
    Text(Vec<u8>),
    /// SPIR-V.
    Spirv(Vec<u8>),
}

/// How a compilation ended.
#[derive(Debug)]
pub struct Compiled {
    /// The container; `None` if it failed.
    pub container: Option<Vec<u8>>,
    /// What the compiler said.
    pub log: String,
}

/// What is compiled, and how.
#[derive(Debug)]
pub struct Job<'a> {
    /// The program.
    pub input: &'a Input,
    /// Headers by their names, for `#include`.
    pub headers: &'a [(String, Vec<u8>)],
    /// Options as the host gave them.
    pub options: &'a str,
    /// For which device.
    pub device: &'a Device,
    /// Whether the source is only checked: it may call what is defined elsewhere.
    pub check: bool,
}

/// Where the compiler is, and what tells it from others.
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
    let key = key(job, identity);
    let cache = Cache::open();
    // What files a program includes is not known: those are compiled each time.
    let includes = match job.input {
        Input::Text(text) => text.windows(8).any(|w| w == b"#include"),
        Input::Spirv(_) => false,
    };
    let own = !job.headers.is_empty() && !job.options.contains("-I");
    let cache = cache.filter(|_| (!includes || own) && !job.options.contains("-include"));
    if let Some(container) = cache.as_ref().and_then(|c| c.get(&key)) {
        let pieces = binary::unpack(&container).unwrap_or_default();
        let log = pieces.iter().find(|p| p.0 == "log");
        let log = log.map_or_else(String::new, |l| String::from_utf8_lossy(&l.1).into_owned());
        return Compiled {
            container: Some(container),
            log,
        };
    }
    match run(path, job) {
        Ok(compiled) => {
            if let (Some(cache), Some(container)) = (cache, &compiled.container) {
                cache.put(&key, container);
            }
            compiled
        }
        Err(message) => Compiled {
            container: None,
            log: message,
        },
    }
}

/// A name for all that decides on the result.
fn key(job: &Job<'_>, identity: &str) -> String {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(env!("CARGO_PKG_VERSION").as_bytes());
    add(identity.as_bytes());
    add(job.device.model.name.as_bytes());
    add(job.options.as_bytes());
    add(&[job.check, wants_lines(), job.device.emulates_doubles()].map(u8::from));
    match job.input {
        Input::Text(text) => add(text),
        Input::Spirv(code) => {
            add(b"spirv");
            add(code);
        }
    }
    for (name, header) in job.headers {
        add(name.as_bytes());
        add(header);
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

/// Runs the compiler in a temporary folder.
fn run(path: &Path, job: &Job<'_>) -> Result<Compiled, String> {
    let failed = |what: &str, error: std::io::Error| format!("visakit: {what}: {error}");
    let folder = tempfile::Builder::new().prefix("visakit-").tempdir();
    let folder = folder.map_err(|e| failed("no temporary folder", e))?;
    let place = |name: &str| folder.path().join(name);
    let (name, bytes) = match job.input {
        Input::Text(text) => ("program.cl", text),
        Input::Spirv(code) => ("program.spv", code),
    };
    fs::write(place(name), bytes).map_err(|e| failed("cannot write the source", e))?;
    let mut options = job.options.to_owned();
    if !job.headers.is_empty() {
        let headers = place("headers");
        for (name, header) in job.headers {
            // Names are those of the program; they stay inside of the folder.
            let inside = Path::new(name)
                .components()
                .all(|c| matches!(c, std::path::Component::Normal(_)));
            if !inside {
                return Err(format!("visakit: a header cannot be called `{name}`"));
            }
            let to = headers.join(name);
            let made = to.parent().map_or(Ok(()), fs::create_dir_all);
            made.and_then(|()| fs::write(&to, header))
                .map_err(|e| failed("cannot write a header", e))?;
        }
        let _ = write!(options, " -I {}", headers.display());
    }
    if !options.contains("-cl-kernel-arg-info") {
        options.push_str(" -cl-kernel-arg-info");
    }
    if wants_lines() {
        options.push_str(LINES);
    }
    let dump = place("dump");
    fs::create_dir_all(&dump).map_err(|e| failed("no temporary folder", e))?;
    let mut command = Command::new(path);
    command
        .arg("compile")
        .args(["-file".as_ref(), place(name).as_os_str()])
        .args([
            "-device",
            job.device.model.name,
            "-output",
            "program",
            "-output_no_suffix",
        ])
        .args(["-out_dir".as_ref(), place("out").as_os_str()])
        .args(["-options", options.trim_start()])
        .env("IGC_EnableZEBinary", "1")
        .env("IGC_ShaderDumpEnable", "1")
        .env("IGC_DumpToCustomDir", &dump)
        // The loader's preloads are for the program, not for its compiler.
        .env_remove("LD_PRELOAD");
    if job.device.emulates_doubles() {
        command.args(["-internal_options", "-cl-ext=+cl_khr_fp64,+__opencl_c_fp64"]);
    }
    if matches!(job.input, Input::Spirv(_)) {
        command.arg("-spirv_input");
    }
    if job.check {
        command.arg("-spv_only");
    }
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .output()
        .map_err(|e| failed(&format!("cannot run {}", path.display()), e))?;
    let mut log = String::from_utf8_lossy(&stdout).into_owned();
    log.push_str(&String::from_utf8_lossy(&stderr));
    let noise = |line: &&str| {
        !(line.starts_with("Build succeeded")
            || line.starts_with("Command was:")
            || line.contains("Build failed with error code"))
    };
    let log = log
        .lines()
        .filter(noise)
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned();
    if job.check && status.success() {
        return Ok(Compiled {
            container: Some(binary::pack(&Pieces::new())),
            log,
        });
    }
    let made = ["program.bin", "program"].map(|n| place("out").join(n));
    let zebin = made.iter().find_map(|p| fs::read(p).ok());
    let (true, Some(zebin)) = (status.success(), zebin) else {
        let log = if log.is_empty() {
            format!("visakit: {} ended with {status}", path.display())
        } else {
            log
        };
        return Ok(Compiled {
            container: None,
            log,
        });
    };
    let mut pieces: Pieces = vec![
        (binary::DEVICE.to_owned(), job.device.model.name.into()),
        (binary::OPTIONS.to_owned(), job.options.into()),
        ("log".to_owned(), log.clone().into_bytes()),
        (binary::ZEBIN.to_owned(), zebin),
    ];
    if let Input::Text(text) = job.input {
        pieces.push((binary::SOURCE.to_owned(), text.clone()));
        let headers = job.headers.iter();
        pieces.extend(headers.map(|(n, h)| (format!("{}{n}", binary::HEADER), h.clone())));
    }
    collect(&dump, &mut pieces)?;
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

/// Containers in a folder, named by their keys. Files appear whole, by renaming, so that processes need no locks.
struct Cache {
    folder: PathBuf,
    limit: u64,
}

impl Cache {
    /// `VISAKIT_CACHE` names the folder; empty for none. `VISAKIT_CACHE_MB` bounds its size.
    fn open() -> Option<Self> {
        let folder = match std::env::var_os("VISAKIT_CACHE") {
            Some(folder) if folder.is_empty() => return None,
            Some(folder) => PathBuf::from(folder),
            None => {
                let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
                let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
                base.or_else(home)?.join("visakit").join("opencl")
            }
        };
        fs::create_dir_all(&folder).ok()?;
        let limit = std::env::var("VISAKIT_CACHE_MB")
            .ok()
            .and_then(|n| n.parse::<u64>().ok());
        Some(Self {
            folder,
            limit: limit.unwrap_or(512).saturating_mul(1 << 20),
        })
    }

    fn get(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.folder.join(key);
        let bytes = fs::read(&path).ok()?;
        // What was used last is thrown away last.
        if let Ok(file) = fs::File::options().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        Some(bytes)
    }

    fn put(&self, key: &str, bytes: &[u8]) {
        let Ok(mut file) = tempfile::NamedTempFile::new_in(&self.folder) else {
            return;
        };
        if std::io::Write::write_all(&mut file, bytes).is_ok()
            && file.persist(self.folder.join(key)).is_ok()
        {
            self.shrink();
        }
    }

    /// Throws the oldest away until the rest fits.
    fn shrink(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut all: Vec<_> = entries
            .filter_map(|e| {
                let facts = e.metadata().ok()?;
                Some((facts.modified().ok()?, facts.len(), e.path()))
            })
            .collect();
        let mut sum: u64 = all.iter().map(|f| f.1).sum();
        all.sort();
        for (_, bytes, path) in all {
            if sum <= self.limit {
                break;
            }
            if fs::remove_file(path).is_ok() {
                sum = sum.saturating_sub(bytes);
            }
        }
    }
}
