//! Folders that a compiler dumped into: texts of kernels and functions, and the metadata of the same compilation.

use crate::content::Content;
use crate::error::LaunchError;
use crate::input::{Input, LARGEST};
use crate::locals::{LocalVariable, local_variables};
use crate::source::Source;
use crate::zebin::Zebin;
use crate::zeinfo::{KernelInfo, ZeInfo};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A program with constants comes with a kernel that only carries their symbols, and functions that are called by their
/// address are its functions.
const SYMBOLS: &str = "Intel_Symbol_Table_Void_Program";

/// Suffix of the dumps that contain places in local memory ([`local_variables`]).
pub const REPRESENTATION: &str = "_codegen.ll";

/// Longer dumps are ignored.
const LARGEST_REPRESENTATION: u64 = 256 << 20;

/// Folders are searched down to this depth.
const DEPTH: usize = 3;

/// Bytes of texts that are kept from when they are examined; those of larger dumps are read again.
const KEPT: usize = 64 << 20;

/// Registers of 32 bytes that may be before the arguments.
const MOST_BEFORE: u32 = 32;

/// A folder of dumps.
///
/// The compiler may try several SIMD widths for a kernel, and a width again, and writes a text for each attempt; the one
/// that agrees with the metadata is used. Functions called with a stack have separate texts, whose names begin with that of
/// their kernel's.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    folder: PathBuf,
    texts: Vec<Text>,
    metadata: Vec<Metadata>,
    /// Files with the places of variables in local memory.
    representations: Vec<PathBuf>,
}

/// A text of one routine.
#[derive(Clone, Debug)]
struct Text {
    path: PathBuf,
    /// The content, if it was already read.
    bytes: Option<Vec<u8>>,
    name: String,
    is_kernel: bool,
    simd: Option<u32>,
}

/// What is needed to launch the kernels of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// The path of its file.
    pub path: PathBuf,
    /// The metadata.
    pub zeinfo: ZeInfo,
    /// Constants and device, where a zebin was found.
    pub zebin: Option<Zebin>,
}

/// A kernel of a dump, with all that it needs.
#[derive(Clone, Debug)]
pub struct DumpedKernel {
    /// Its name.
    pub name: String,
    /// Its text, and those of functions.
    pub sources: Vec<Source>,
    /// Its metadata, if there are some.
    pub metadata: Option<Metadata>,
    /// Its variables in local memory, if the compiler dumped their names.
    pub locals: Vec<LocalVariable>,
    /// What debuggers need, if it was compiled with `-g`.
    pub debug: Option<DebugFiles>,
}

/// What the compiler dumps beside the text of a kernel for debuggers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugFiles {
    /// An ELF file with DWARF (`KERNEL.elf`): source variables, as places in the native code's registers.
    pub dwarf: Vec<u8>,
    /// The finalizer's table (`KERNEL.dbg`): which native instructions and registers are which of vISA.
    pub table: Vec<u8>,
}

impl DebugFiles {
    /// The files beside a text, if both are there.
    fn beside(text: &Path) -> Option<Self> {
        let stem = stem(text);
        let read = |extension: &str| {
            let path = text.with_file_name(format!("{stem}.{extension}"));
            visakit_files::read(&path, LARGEST_REPRESENTATION).ok()
        };
        Some(Self {
            dwarf: read("elf")?,
            table: read("dbg")?,
        })
    }
}

impl Text {
    /// How many of the arguments that the metadata name are inputs of this text, with their sizes. The compiler tries a
    /// kernel again that spills much, and takes the better one: the metadata are of that attempt.
    fn agreement(&self, info: Option<&KernelInfo>) -> usize {
        let Some((info, source)) = info.zip(self.source().ok()) else {
            return 0;
        };
        let inputs: BTreeSet<(u32, u32)> = String::from_utf8_lossy(&source.bytes)
            .lines()
            .filter_map(input)
            .collect();
        // Arguments begin in a register behind the header and the ids.
        let bases = (0..MOST_BEFORE).map(|register| register * 32);
        let agree = bases.map(|base| {
            let arguments = info.payload_arguments.iter();
            let places = arguments.map(|a| (a.offset.saturating_add(base), a.size));
            places.filter(|place| inputs.contains(place)).count()
        });
        agree.max().unwrap_or(0)
    }

    fn source(&self) -> Result<Source, LaunchError> {
        match &self.bytes {
            Some(bytes) => Ok(Source {
                path: self.path.clone(),
                bytes: bytes.clone(),
            }),
            None => Source::open(&self.path),
        }
    }
}

impl Metadata {
    /// Reads a zebin or the text of its metadata.
    ///
    /// # Errors
    /// [`LaunchError::Read`], [`LaunchError::Zebin`], [`LaunchError::ZeInfo`].
    pub fn open(path: &Path) -> Result<Self, LaunchError> {
        let bytes = visakit_files::read(path, LARGEST).map_err(|source| LaunchError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::read(path.to_owned(), &bytes)
    }

    fn read(path: PathBuf, bytes: &[u8]) -> Result<Self, LaunchError> {
        if Content::of(bytes) == Content::ZeInfo {
            return Ok(Self {
                path,
                zeinfo: ZeInfo::parse(&String::from_utf8_lossy(bytes))?,
                zebin: None,
            });
        }
        Self::of(path, Zebin::parse(bytes)?)
    }

    /// The metadata that a zebin has.
    ///
    /// # Errors
    /// [`LaunchError::ZeInfo`].
    pub fn of(path: PathBuf, zebin: Zebin) -> Result<Self, LaunchError> {
        Ok(Self {
            path,
            zeinfo: ZeInfo::parse(&zebin.zeinfo)?,
            zebin: Some(zebin),
        })
    }

    fn simd(&self, kernel: &str) -> Option<u32> {
        let mut kernels = self.zeinfo.kernels.iter();
        Some(kernels.find(|k| k.name == kernel)?.execution_env.simd_size)
    }
}

impl Dump {
    /// Scans a folder.
    ///
    /// # Errors
    /// [`LaunchError::Read`]; [`LaunchError::NoDump`] where there are no texts of kernels in it. Metadata that cannot
    /// be read are passed over.
    pub fn open(folder: &Path) -> Result<Self, LaunchError> {
        let mut dump = Self {
            folder: folder.to_owned(),
            ..Self::default()
        };
        let mut files = Vec::new();
        list(folder, DEPTH, &mut files)?;
        files.sort();
        let mut room = KEPT;
        for path in files {
            if path.to_string_lossy().ends_with(REPRESENTATION) {
                dump.representations.push(path);
            } else if is_text(&path) {
                let source = Source::open(&path).ok();
                let source = source.filter(|s| Content::of(&s.bytes) == Content::Text);
                let Some((mut text, source)) = source.and_then(|s| Some((text(&s)?, s))) else {
                    continue;
                };
                if let Some(left) = room.checked_sub(source.bytes.len()) {
                    room = left;
                    text.bytes = Some(source.bytes);
                }
                dump.texts.push(text);
            } else if let Ok(Content::Elf | Content::Zebin | Content::ZeInfo) =
                Content::of_file(&path)
            {
                dump.metadata.extend(Metadata::open(&path).ok());
            }
        }
        dump.found()
    }

    /// Examines files that were already read, with their paths in the folder; texts are uncompressed.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn of(mut files: Vec<Source>) -> Result<Self, LaunchError> {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut dump = Self::default();
        for source in files {
            match Content::of(&source.bytes) {
                Content::Text if is_text(&source.path) => {
                    dump.texts.extend(text(&source).map(|text| Text {
                        bytes: Some(source.bytes),
                        ..text
                    }));
                }
                Content::Elf | Content::Zebin | Content::ZeInfo => {
                    let metadata = Metadata::read(source.path, &source.bytes);
                    dump.metadata.extend(metadata.ok());
                }
                _ => {}
            }
        }
        dump.found()
    }

    fn found(self) -> Result<Self, LaunchError> {
        if self.texts.iter().any(|text| text.is_kernel) {
            Ok(self)
        } else {
            Err(LaunchError::NoDump { path: self.folder })
        }
    }

    /// The names of the kernels, each once.
    #[must_use]
    pub fn kernels(&self) -> Vec<String> {
        let kernels = self
            .texts
            .iter()
            .filter(|t| t.is_kernel && t.name != SYMBOLS);
        let mut names: Vec<_> = kernels.map(|t| t.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The metadata in the folder.
    #[must_use]
    pub fn metadata(&self) -> &[Metadata] {
        &self.metadata
    }

    /// The files that say where variables are in local memory.
    #[must_use]
    pub fn representations(&self) -> &[PathBuf] {
        &self.representations
    }

    /// A kernel; the only one where no name is given.
    ///
    /// # Errors
    /// [`LaunchError::NoSuchKernel`] names those that there are.
    pub fn kernel(&self, name: Option<&str>) -> Result<DumpedKernel, LaunchError> {
        let known = self.kernels();
        let found = match (name, known.as_slice()) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(name), all) => all.iter().find(|known| *known == name),
        };
        let Some(name) = found else {
            return Err(LaunchError::NoSuchKernel {
                name: name.unwrap_or_default().to_owned(),
                place: "the program",
                known: known.join(", "),
            });
        };
        let mut of_name = self
            .metadata
            .iter()
            .filter_map(|m| Some((m, m.simd(name)?)));
        let metadata = of_name.next();
        let simd = metadata.map(|(_, simd)| simd);
        let tried = || self.texts.iter().filter(|t| t.is_kernel && t.name == *name);
        let fits = |text: &&Text| simd.is_none() || text.simd == simd;
        let mut attempts: Vec<_> = tried().filter(fits).collect();
        if attempts.is_empty() {
            attempts.extend(tried().next_back());
        }
        let chosen = match attempts.as_slice() {
            [only] => Some(*only),
            all => {
                let kernels = metadata.iter().flat_map(|(m, _)| &m.zeinfo.kernels);
                let info = kernels.clone().find(|info| info.name == *name);
                let agreement = |text: &&&Text| (text.agreement(info), attempt(&text.path));
                all.iter().max_by_key(agreement).copied()
            }
        };
        let Some(chosen) = chosen else {
            return Err(LaunchError::NoDump {
                path: self.folder.clone(),
            });
        };
        let mut sources = vec![chosen.source()?];
        let symbols = self
            .texts
            .iter()
            .filter(|t| t.is_kernel && t.name == SYMBOLS);
        let owners: Vec<_> = std::iter::once(chosen)
            .chain(symbols)
            .map(|t| stem(&t.path))
            .collect();
        let functions = || self.texts.iter().filter(|t| !t.is_kernel);
        let owned = |text: &&Text| {
            let stem = stem(&text.path);
            owners.iter().any(|owner| is_function_of(&stem, owner))
        };
        let mut taken: Vec<&Text> = functions().filter(owned).collect();
        if taken.is_empty() && functions().count() > 0 {
            // Renamed files: all functions of that width.
            taken = functions()
                .filter(|text| text.simd.is_none() || text.simd == chosen.simd)
                .collect();
        }
        let mut names = Vec::new();
        for text in taken {
            if !names.contains(&&text.name) {
                names.push(&text.name);
                sources.push(text.source()?);
            }
        }
        Ok(DumpedKernel {
            name: name.clone(),
            sources,
            metadata: metadata.map(|(metadata, _)| metadata.clone()),
            locals: self.locals(name),
            debug: DebugFiles::beside(&chosen.path),
        })
    }

    /// All kernels with their functions, and the first compiled program of the folder.
    ///
    /// # Errors
    /// [`LaunchError::Read`].
    pub fn input(&self, path: &Path) -> Result<Input, LaunchError> {
        let mut sources: Vec<Source> = Vec::new();
        for name in self.kernels() {
            let found = self.kernel(Some(&name))?.sources.into_iter();
            for source in found {
                // Kernels share functions.
                if !sources.iter().any(|known| known.path == source.path) {
                    sources.push(source);
                }
            }
        }
        Ok(Input {
            path: path.to_owned(),
            sources,
            zebin: self.metadata.iter().find_map(|m| m.zebin.clone()),
        })
    }

    /// The variables of a kernel in local memory.
    fn locals(&self, kernel: &str) -> Vec<LocalVariable> {
        let dumps = self.representations.iter();
        let texts = dumps.filter_map(|path| visakit_files::read(path, LARGEST_REPRESENTATION).ok());
        let found = texts.map(|text| {
            let mut all = local_variables(&String::from_utf8_lossy(&text));
            all.retain(|variable| variable.kernel == kernel);
            all
        });
        let mut found = found.filter(|all| !all.is_empty());
        found.next().unwrap_or_default()
    }
}

fn list(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), LaunchError> {
    let failed = |source| LaunchError::Read {
        path: folder.to_owned(),
        source,
    };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            if depth > 1 {
                list(&path, depth - 1, files)?;
            }
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Other texts (LLVM, options, native code) are dumped beside those of vISA.
fn is_text(path: &Path) -> bool {
    stem_and_rest(path).1.starts_with(".visaasm")
}

fn stem_and_rest(path: &Path) -> (String, String) {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let end = name.find(".visaasm").unwrap_or(name.len());
    let (stem, rest) = name.split_at(end);
    (stem.to_owned(), rest.to_owned())
}

fn stem(path: &Path) -> String {
    stem_and_rest(path).0
}

/// Offset and size of a line such as `.input V0034 offset=64 size=12`.
fn input(line: &str) -> Option<(u32, u32)> {
    let mut words = line.trim().strip_prefix(".input ")?.split_whitespace();
    let mut number = |name: &str| words.find_map(|word| word.strip_prefix(name)?.parse().ok());
    Some((number("offset=")?, number("size=")?))
}

/// The number of a further attempt, of a name such as `OCL_asm0123456789abcdef_1_simd32_entry_0001`; 0 for the first.
fn attempt(path: &Path) -> u32 {
    let stem = stem(path);
    let before = stem.rsplit_once("_simd").map_or("", |(before, _)| before);
    let number = before.rsplit('_').next();
    number.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// `KERNEL_f0`: the function's text is named after its kernel's.
fn is_function_of(stem: &str, kernel: &str) -> bool {
    let number = stem
        .strip_prefix(kernel)
        .and_then(|rest| rest.strip_prefix("_f"));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// The properties of a text, taken from its lines.
fn text(source: &Source) -> Option<Text> {
    let mut named = None;
    let mut simd = None;
    for line in source.bytes.split(|b| *b == b'\n') {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            ".kernel" | ".function" | ".global_function" if named.is_none() => {
                named = Some((word == ".kernel", rest.trim().trim_matches('"').to_owned()));
            }
            ".kernel_attr" => {
                if let Some(value) = rest.trim().strip_prefix("SimdSize=") {
                    let digits = value.split(|c: char| !c.is_ascii_digit()).next();
                    simd = simd.or_else(|| digits?.parse().ok());
                }
            }
            _ => {}
        }
        if named.is_some() && simd.is_some() {
            break;
        }
    }
    let (is_kernel, name) = named?;
    Some(Text {
        path: source.path.clone(),
        bytes: None,
        name,
        is_kernel,
        simd,
    })
}
