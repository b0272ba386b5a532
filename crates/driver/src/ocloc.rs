//! Calls of Intel's offline compiler. Results are cached, and identical calls are answered from the cache.
//!
//! The cache contains the compiler's output verbatim, under a key derived from all of its inputs: nothing that this
//! crate derives from either is in it, so that entries stay valid whatever changes in this crate.

use crate::binary::{self, Pieces};
use crate::cache::Cache;
use crate::watch::wants_lines;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::SystemTime;
use visakit_launch::REPRESENTATION;

/// Counts up when other files are kept, or under other names: [`SAID`], [`OUT`], [`TEXT`], [`REPRESENTATION`].
const LAYOUT: &[u8] = b"calls 2";

/// The compiler's messages.
const SAID: &str = "said";
/// Folder of the files that it was asked for, inside of that of the call.
pub(super) const OUT: &str = "out";
/// Folder of its dumps.
const DUMP: &str = "dump";
/// How the names of dumps end that are kept: texts in vISA.
pub(super) const TEXT: &str = ".visaasm";

/// A compiler.
#[derive(Debug)]
pub(super) struct Ocloc {
    path: PathBuf,
    /// Distinguishes it from other versions.
    identity: String,
}

/// The compiler of this machine, `None` if there is none.
pub(super) fn installed() -> Option<&'static Ocloc> {
    static FOUND: OnceLock<Option<Ocloc>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let path = match std::env::var_os("VISAKIT_OCLOC") {
            Some(path) => PathBuf::from(path),
            None => {
                let folders = std::env::var_os("PATH")?;
                let mut folders = std::env::split_paths(&folders);
                folders.find_map(|f| Some(f.join("ocloc")).filter(|p| p.is_file()))?
            }
        };
        let identity = identity(&fs::canonicalize(&path).ok()?);
        Some(Ocloc { path, identity })
    });
    found.as_ref()
}

/// The files that make up a compiler, with their sizes and times: it and its libraries, which an update changes. A
/// script runs one with libraries of its own: they are in folders that it names.
fn identity(compiler: &Path) -> String {
    let mut folders: Vec<PathBuf> = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/local/lib",
        "/usr/lib64",
        "/usr/lib",
    ]
    .map(PathBuf::from)
    .into();
    let mut parts = vec![compiler.to_owned()];
    for named in named_by_script(compiler) {
        match named.is_dir() {
            true => folders.push(named),
            false => parts.push(named),
        }
    }
    for folder in folders {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        parts.extend(entries.map(|e| e.path()).filter(|p| {
            let name = p.file_name().map(|n| n.to_string_lossy().into_owned());
            name.is_some_and(|n| {
                ["libigc.so", "libigdfcl.so", "libocloc", "ocloc"]
                    .iter()
                    .any(|known| n.starts_with(known))
            })
        }));
    }
    parts.sort();
    parts.dedup();
    let mut identity = String::new();
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
    identity
}

/// The absolute paths in a script, each with the folder that it is in: the name of a file may be a pattern. Empty if the
/// file is no script.
fn named_by_script(file: &Path) -> Vec<PathBuf> {
    /// Scripts are short, and programs are not read to their ends.
    const MOST: u64 = 1 << 16;
    let mut bytes = Vec::new();
    let read = fs::File::open(file).and_then(|f| f.take(MOST).read_to_end(&mut bytes));
    if read.is_err() || !bytes.starts_with(b"#!") {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let ends = |c: char| c.is_whitespace() || "\"'=:;#!".contains(c);
    let paths = text.split(ends).filter(|word| word.starts_with('/'));
    let both = paths.flat_map(|word| {
        let path = Path::new(word);
        [Some(path), path.parent()]
    });
    let mut paths: Vec<PathBuf> = both.flatten().map(PathBuf::from).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// All that decides on an answer, besides the compiler.
pub(super) struct Call<'a> {
    /// Arguments. They get the folder of the call, which differs each time.
    pub(super) arguments: &'a dyn Fn(&Path) -> Vec<OsString>,
    /// Files in that folder, by their names.
    pub(super) inputs: &'a [(String, &'a [u8])],
    /// A hash of the other files that it may read, in their current state; `None` if that cannot be determined, in
    /// which case nothing is cached.
    pub(super) included: &'a dyn Fn() -> Option<Vec<u8>>,
}

/// The compiler's results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Whether it succeeded.
    pub(super) good: bool,
    /// Its messages.
    pub(super) said: String,
    /// Files by their names: `out/` and all that is in that folder, `dump/` and the texts.
    pub(super) files: Pieces,
}

impl Answer {
    /// A file by its name.
    pub(super) fn file(&self, name: &str) -> Option<&[u8]> {
        let found = self.files.iter().find(|f| f.0 == name);
        found.map(|f| f.1.as_slice())
    }

    /// Names of the texts, without folder and extension, and their content.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().filter_map(|(name, bytes)| {
            let name = name.strip_prefix(DUMP)?.strip_prefix('/')?;
            let name = name.strip_suffix(TEXT)?;
            Some((name, bytes.as_slice()))
        })
    }

    /// The last dumps of the intermediate representation, which are kept for those who watch launches.
    pub(super) fn representations(&self) -> impl Iterator<Item = &[u8]> {
        let all = self.files.iter();
        let own = all.filter(|(name, _)| name.starts_with(DUMP) && name.ends_with(REPRESENTATION));
        own.map(|(_, bytes)| bytes.as_slice())
    }
}

/// Variables that affect the compiler, and that users may have set.
fn is_key(name: &str) -> bool {
    name.starts_with("IGC_") || name == "OverrideDefaultFP64Settings"
}

impl Ocloc {
    /// Calls the compiler, or returns the result of an earlier identical call.
    ///
    /// # Errors
    /// Errors outside the compiler itself.
    pub(super) fn call(&self, call: &Call<'_>, cache: Option<&Cache>) -> Result<Answer, String> {
        // Asked before and after: a file that changes meanwhile may have been read in either state.
        let name = || Some(self.name(call, &(call.included)()?));
        let kept = cache.and_then(|cache| Some((cache, name()?)));
        if let Some((cache, name)) = &kept
            && let Some(mut files) = cache.get(name).as_deref().and_then(binary::unpack)
            && let Some(said) = files.iter().position(|f| f.0 == SAID)
        {
            let said = files.remove(said).1;
            return Ok(Answer {
                good: true,
                said: String::from_utf8_lossy(&said).into_owned(),
                files,
            });
        }
        let answer = self.run(call)?;
        if let Some((cache, first)) = kept
            && answer.good
            && name().as_ref() == Some(&first)
        {
            let mut pieces = answer.files.clone();
            pieces.push((SAID.to_owned(), answer.said.clone().into_bytes()));
            cache.put(&first, &binary::pack(&pieces));
        }
        Ok(answer)
    }

    /// A name for all that decides on the answer.
    fn name(&self, call: &Call<'_>, included: &[u8]) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(LAYOUT);
        add(&[wants_lines().into()]);
        add(self.identity.as_bytes());
        let arguments = (call.arguments)(Path::new(""));
        add(&(arguments.len() as u64).to_le_bytes());
        for argument in arguments {
            add(argument.as_encoded_bytes());
        }
        for (name, bytes) in call.inputs {
            add(name.as_bytes());
            add(bytes);
        }
        add(included);
        let mut keys: Vec<_> = std::env::vars_os().collect();
        keys.retain(|(name, _)| is_key(&name.to_string_lossy()));
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

    fn run(&self, call: &Call<'_>) -> Result<Answer, String> {
        let folder = tempfile::Builder::new().prefix("visakit-").tempdir();
        let folder = folder.map_err(|e| failed("no temporary folder", &e))?;
        let place = |name: &str| folder.path().join(name);
        for (name, bytes) in call.inputs {
            let file = place(name);
            let made = file.parent().map_or(Ok(()), fs::create_dir_all);
            made.and_then(|()| visakit_files::scratch(&file, bytes))
                .map_err(|e| failed("cannot write for the compiler", &e))?;
        }
        for name in [OUT, DUMP] {
            fs::create_dir_all(place(name)).map_err(|e| failed("no temporary folder", &e))?;
        }
        let arguments = (call.arguments)(folder.path());
        let mut command = Command::new(&self.path);
        if arguments.iter().any(exports) {
            // All functions are called by their addresses, so that none is left out.
            command.env("IGC_FunctionControl", "4");
        }
        command
            .args(arguments)
            .env("IGC_EnableZEBinary", "1")
            .env("IGC_ShaderDumpEnable", "1")
            .env("IGC_DumpToCustomDir", place(DUMP))
            // The loader's preloads are for the program, not for its compiler.
            .env_remove("LD_PRELOAD");
        let Output {
            status,
            stdout,
            stderr,
        } = command
            .output()
            .map_err(|e| failed(&format!("cannot run {}", self.path.display()), &e))?;
        let mut said = String::from_utf8_lossy(&stdout).into_owned();
        if !said.is_empty() && !said.ends_with('\n') {
            said.push('\n');
        }
        said.push_str(&String::from_utf8_lossy(&stderr));
        if !status.success() && said.trim().is_empty() {
            said = format!("visakit: {} ended with {status}", self.path.display());
        }
        let mut files = Pieces::new();
        let is_kept = |folder: &str, name: &str| {
            let is_representation = wants_lines() && name.ends_with(REPRESENTATION);
            folder == OUT || name.ends_with(TEXT) || is_representation
        };
        for folder in [OUT, DUMP] {
            let entries = fs::read_dir(place(folder)).into_iter().flatten().flatten();
            for entry in entries {
                let name = entry.file_name().to_string_lossy().into_owned();
                if !is_kept(folder, &name) {
                    continue;
                }
                if let Ok(bytes) = fs::read(entry.path()) {
                    files.push((format!("{folder}/{name}"), bytes));
                }
            }
        }
        files.sort();
        Ok(Answer {
            good: status.success(),
            said,
            files,
        })
    }
}

/// The internal option for code whose functions others call.
pub(super) const LIBRARY: &str = "-library-compilation";

/// Whether an argument has that option.
fn exports(argument: &OsString) -> bool {
    argument
        .to_str()
        .is_some_and(|text| text.ends_with(LIBRARY))
}

/// An error outside the compiler itself.
fn failed(what: &str, error: &std::io::Error) -> String {
    format!("visakit: {what}: {error}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A compiler that counts its calls, and derives its output from the arguments and the input.
    fn stub(folder: &Path) -> Ocloc {
        let path = folder.join("compiler");
        let script = "#!/bin/sh\n\
            echo called >> \"$0.calls\"\n\
            echo \"warning $2\"\n\
            cp \"$1/in\" \"$1/out/program\"\n\
            echo text > \"$IGC_DumpToCustomDir/a.visaasm\"\n\
            echo other > \"$IGC_DumpToCustomDir/a.ll\"\n\
            [ \"$2\" != bad ]\n";
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Ocloc {
            path,
            identity: "stub".to_owned(),
        }
    }

    #[test]
    fn calls_are_kept_as_they_were_answered() {
        let folder = tempfile::tempdir().unwrap();
        let mut compiler = stub(folder.path());
        let cache = Cache::at(folder.path().join("cache"), 1 << 20).unwrap();
        let calls = folder.path().join("compiler.calls");
        let count = || fs::read_to_string(&calls).map_or(0, |t| t.lines().count());
        let call = |compiler: &Ocloc, option: &str, input: &str, included: Option<&str>| {
            let call = Call {
                arguments: &|at| vec![at.into(), option.into()],
                inputs: &[("in".to_owned(), input.as_bytes())],
                included: &|| included.map(|i| i.as_bytes().to_vec()),
            };
            compiler.call(&call, Some(&cache)).unwrap()
        };
        let first = call(&compiler, "-a", "x", Some(""));
        // Nothing but the compiler's output.
        let names: Vec<_> = first.files.iter().map(|f| f.0.as_str()).collect();
        assert_eq!(names, ["dump/a.visaasm", "out/program"]);
        assert_eq!(first.file("out/program"), Some(b"x".as_slice()));
        assert_eq!(
            first.texts().collect::<Vec<_>>(),
            [("a", b"text\n".as_slice())]
        );
        assert_eq!((first.good, first.said.as_str()), (true, "warning -a\n"));
        assert_eq!(call(&compiler, "-a", "x", Some("")), first);
        assert_eq!(count(), 1);
        // Whatever it is given makes another call.
        call(&compiler, "-b", "x", Some(""));
        call(&compiler, "-a", "y", Some(""));
        call(&compiler, "-a", "x", Some("z"));
        assert_eq!(count(), 4);
        compiler.identity.push('2');
        call(&compiler, "-a", "x", Some(""));
        assert_eq!(count(), 5);
        // Failures are not cached, and neither are indistinguishable calls.
        for _ in 0..2 {
            assert!(!call(&compiler, "bad", "x", Some("")).good);
            call(&compiler, "-a", "x", None);
        }
        assert_eq!(count(), 9);
    }

    /// An entry that is damaged anywhere, or is no entry of this version, is compiled again, once.
    #[test]
    fn damaged_entries_are_compiled_again() {
        let folder = tempfile::tempdir().unwrap();
        let compiler = stub(folder.path());
        let entries = folder.path().join("cache");
        let cache = Cache::at(entries.clone(), 1 << 20).unwrap();
        let count = || {
            let calls = fs::read_to_string(folder.path().join("compiler.calls"));
            calls.unwrap().lines().count()
        };
        let call = || {
            let call = Call {
                arguments: &|at| vec![at.into(), "-a".into()],
                inputs: &[("in".to_owned(), b"x")],
                included: &|| Some(Vec::new()),
            };
            compiler.call(&call, Some(&cache)).unwrap()
        };
        let good = call();
        let entry = fs::read_dir(&entries).unwrap().next().unwrap().unwrap();
        let bytes = fs::read(entry.path()).unwrap();
        let mut damaged = vec![Vec::new(), bytes[..bytes.len() / 2].to_vec()];
        damaged.extend((0..bytes.len()).step_by(7).map(|at| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << (at % 8);
            bytes
        }));
        for damaged in damaged {
            let before = count();
            fs::write(entry.path(), damaged).unwrap();
            assert_eq!(call(), good);
            assert_eq!(call(), good);
            assert_eq!(count(), before + 1);
        }
    }
}
