//! From an edited text to native code, with the finalizer that Intel ships as a program, `GenX_IR`, and into a compiled
//! program in the place of the compiler's code. The compiler's own listing (`*.asm`) has the options that it gave.

use crate::error::CompileError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use visakit_files::TemporaryFolder;

/// The variable that names the finalizer.
pub const FINALIZER: &str = "VISAKIT_GENX_IR";

/// Options for dumps, which the finalizer makes beside the code, and the one that switches its checks off.
const DROPPED: [&str; 4] = ["-output", "-dumpvisa", "-dumpcommonisa", "-noverifyCISA"];

/// Bytes of zeroes after the code, as hardware fetches ahead, and the multiple that sections have.
const AHEAD: usize = 128;
const MULTIPLE: usize = 64;

/// How a compiler called its finalizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalizerOptions {
    /// The platform, as the finalizer calls it.
    pub platform: String,
    /// The other options.
    pub options: Vec<String>,
}

impl FinalizerOptions {
    /// Those that a listing of native code begins with.
    #[must_use]
    pub fn of_listing(listing: &str) -> Option<Self> {
        let after = |start: &str| {
            let mut lines = listing
                .lines()
                .take_while(|line| line.starts_with("//") || line.is_empty());
            lines.find_map(|line| line.strip_prefix(start))
        };
        let given = after("//.full_options ")?.trim();
        let given = given.strip_prefix('"')?.strip_suffix('"')?;
        let mut options: Vec<String> = Vec::new();
        for word in given.split_whitespace() {
            if word == "\"\"" {
                // The option of an empty name.
                options.pop();
            } else if !DROPPED.contains(&word) {
                options.push(word.to_owned());
            }
        }
        Some(Self {
            platform: after("//.platform ")?.trim().to_owned(),
            options,
        })
    }
}

/// The native code of a text.
///
/// # Errors
/// [`CompileError::NoFinalizer`], [`CompileError::Refused`] with its messages, [`CompileError::Io`].
pub fn finalize(
    text: &[u8],
    how: &FinalizerOptions,
    finalizer: Option<&Path>,
) -> Result<Vec<u8>, CompileError> {
    let failed = |path: &Path, source| CompileError::Io {
        path: path.to_owned(),
        source,
    };
    let temporary = std::env::temp_dir();
    let folder = TemporaryFolder::new(&temporary, "visakit-finalize")
        .map_err(|error| failed(&temporary, error))?;
    let input = folder.path().join("kernel.visaasm");
    visakit_files::scratch(&input, text).map_err(|error| failed(&input, error))?;
    let named = std::env::var_os(FINALIZER).filter(|name| !name.is_empty());
    let program = finalizer.map(PathBuf::from).or(named.map(PathBuf::from));
    let program = program.unwrap_or_else(|| PathBuf::from("GenX_IR"));
    let mut command = Command::new(&program);
    command.arg(&input).args(["-platform", &how.platform]);
    command.args(&how.options).current_dir(folder.path());
    let called = crate::found(command.output()).map_err(|error| failed(&program, error))?;
    let Some(output) = called else {
        return Err(CompileError::NoFinalizer { finalizer: program });
    };
    let entries = std::fs::read_dir(folder.path()).map_err(|error| failed(folder.path(), error))?;
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut code = files.filter(|path| path.extension() == Some(OsStr::new("dat")));
    match code.next() {
        Some(path) if output.status.success() => {
            visakit_files::read(&path, u64::MAX).map_err(|error| failed(&path, error))
        }
        _ => Err(CompileError::Refused {
            said: String::from_utf8_lossy(&[output.stdout, output.stderr].concat())
                .lines()
                .filter(|line| !line.starts_with("GenX_IR "))
                .collect::<Vec<_>>()
                .join("\n"),
        }),
    }
}

/// A compiled program with other native code for a kernel. The code before `fixed` bytes, which loads the arguments, must be
/// the same.
///
/// # Errors
/// A description of why the program cannot have it.
pub fn with_native_code(
    program: &[u8],
    kernel: &str,
    code: &[u8],
    fixed: u64,
) -> Result<Vec<u8>, String> {
    let elf = Elf::read(program).ok_or("it is no compiled program of 64 bits")?;
    let name = format!(".text.{kernel}");
    let section = elf
        .section(&name)
        .ok_or_else(|| format!("it has no native code of {kernel}"))?;
    for relocations in [format!(".rel{name}"), format!(".rela{name}")] {
        if elf
            .section(&relocations)
            .is_some_and(|found| found.size > 0)
        {
            return Err(format!(
                "the native code of {kernel} has relocations (it uses functions or variables of the program), which are \
                 those of the old code"
            ));
        }
    }
    let range = |offset: u64, size: u64| {
        let start = usize::try_from(offset).ok()?;
        program.get(start..start.checked_add(usize::try_from(size).ok()?)?)
    };
    let old = range(section.offset, section.size).ok_or("it is cut")?;
    let fixed = usize::try_from(fixed).unwrap_or(usize::MAX);
    if old
        .get(..fixed)
        .is_none_or(|start| code.get(..fixed) != Some(start))
    {
        return Err(
            "the finalizer loads the arguments in another way than the compiler did".to_owned(),
        );
    }
    let mut out = program.to_vec();
    out.resize(out.len().next_multiple_of(MULTIPLE), 0);
    let offset = out.len() as u64;
    out.extend_from_slice(code);
    out.resize((out.len() + AHEAD).next_multiple_of(MULTIPLE), 0);
    let size = out.len() as u64 - offset;
    for (at, value) in [(24, offset), (32, size)] {
        let place = section
            .header
            .checked_add(at)
            .and_then(|at| out.get_mut(at..)?.first_chunk_mut());
        *place.ok_or("it is cut")? = value.to_le_bytes();
    }
    Ok(out)
}

/// The sections of an ELF file of 64 bits.
struct Elf<'b> {
    bytes: &'b [u8],
    sections: Vec<Section>,
    names: u64,
}

#[derive(Clone, Copy)]
struct Section {
    /// Where its header is.
    header: usize,
    name: u32,
    offset: u64,
    size: u64,
}

impl<'b> Elf<'b> {
    fn read(bytes: &'b [u8]) -> Option<Self> {
        if bytes.get(..6)? != b"\x7fELF\x02\x01" {
            return None;
        }
        let table = usize::try_from(long(bytes, 0x28)?).ok()?;
        let (each, count, names) = (
            short(bytes, 0x3a)?,
            short(bytes, 0x3c)?,
            short(bytes, 0x3e)?,
        );
        let mut sections = Vec::new();
        for number in 0..usize::from(count) {
            let header = table.checked_add(number.checked_mul(each.into())?)?;
            let name = bytes.get(header..)?.first_chunk::<4>()?;
            sections.push(Section {
                header,
                name: u32::from_le_bytes(*name),
                offset: long(bytes, header.checked_add(24)?)?,
                size: long(bytes, header.checked_add(32)?)?,
            });
        }
        let names = sections.get(usize::from(names))?.offset;
        Some(Self {
            bytes,
            sections,
            names,
        })
    }

    fn section(&self, wanted: &str) -> Option<Section> {
        let is = |section: &&Section| {
            let start = self.names.checked_add(section.name.into());
            let start = start.and_then(|start| usize::try_from(start).ok());
            let rest = start
                .and_then(|start| self.bytes.get(start..))
                .unwrap_or(&[]);
            rest.strip_prefix(wanted.as_bytes())
                .is_some_and(|rest| rest.first() == Some(&0))
        };
        self.sections.iter().find(is).copied()
    }
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
