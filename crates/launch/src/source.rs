//! Programs from files: objects and vISA texts.

use crate::error::LaunchError;
use std::io::Read;
use std::path::{Path, PathBuf};
use visakit_isa::Version;
use visakit_isa::object::{Body, InputKind, Object, Routine, RoutineId, RoutineKind};
use visakit_parse::{MAGIC, ReadOptions};
use visakit_text::asm;

/// Programs are not larger than this, unpacked.
const LARGEST: u64 = 1 << 30;

/// A program with constants comes with a kernel that only carries their symbols.
const SYMBOLS: &[u8] = b"Intel_Symbol_Table_Void_Program";

/// First bytes of a file packed by gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// So many bytes tell a text from a binary file.
const TELLING: usize = 4096;

/// How ELF files begin.
const ELF: &[u8] = b"\x7fELF";

/// The bytes of an object or a text.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where they come from.
    pub path: PathBuf,
    /// The bytes, unpacked.
    pub bytes: Vec<u8>,
}

impl Source {
    /// Reads a file, which may be packed by gzip.
    ///
    /// # Errors
    /// [`LaunchError::Read`].
    pub fn open(path: &Path) -> Result<Self, LaunchError> {
        let read = || {
            let bytes = std::fs::read(path)?;
            Self::unpacked(bytes)
        };
        let bytes = read().map_err(|source| LaunchError::Read {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            path: path.to_owned(),
            bytes,
        })
    }

    /// Unpacks bytes that are packed by gzip.
    fn unpacked(bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
        if !bytes.starts_with(&GZIP) {
            return Ok(bytes);
        }
        let mut out = Vec::new();
        let packed = flate2::read::GzDecoder::new(bytes.as_slice());
        packed.take(LARGEST + 1).read_to_end(&mut out)?;
        if out.len() as u64 > LARGEST {
            return Err(std::io::Error::other("unpacks to more than 1 GiB"));
        }
        Ok(out)
    }

    /// Whether it is an object; otherwise it is taken for text.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.bytes.starts_with(&MAGIC)
    }

    /// Decodes the object or assembles the text. The size of a register matters to texts only.
    ///
    /// # Errors
    /// [`LaunchError::Decode`], [`LaunchError::Assemble`] and [`LaunchError::NotAProgram`].
    pub fn object(&self, grf_bytes: u32) -> Result<Object<'_>, LaunchError> {
        self.object_with(grf_bytes, ReadOptions::default(), None)
    }

    fn object_with(
        &self,
        grf_bytes: u32,
        options: ReadOptions,
        version: Option<Version>,
    ) -> Result<Object<'_>, LaunchError> {
        if self.is_object() {
            let decoded = visakit_parse::read_with(&self.bytes, options);
            return decoded
                .map(|d| d.object)
                .map_err(|error| LaunchError::Decode {
                    path: self.path.clone(),
                    error: Box::new(error),
                });
        }
        if self.bytes.iter().take(TELLING).any(|&byte| byte == 0) {
            return Err(LaunchError::NotAProgram {
                path: self.path.clone(),
                hint: if self.bytes.starts_with(ELF) {
                    ": an ELF file is given with --zebin"
                } else {
                    ""
                },
            });
        }
        let options = asm::Options {
            version,
            dialect: options.dialect,
            grf_bytes: Some(grf_bytes),
        };
        let made = asm::assemble_in_any_dialect(&self.bytes, &options);
        made.map(|made| made.object)
            .map_err(|faults| LaunchError::Assemble {
                path: self.path.clone(),
                faults,
            })
    }

    /// Puts the routines of several sources into one object: a kernel and the functions that it calls.
    ///
    /// # Errors
    /// As [`Self::object`]; [`LaunchError::Mismatch`] for sources of different versions.
    pub fn link(sources: &[Self], grf_bytes: u32) -> Result<Object<'_>, LaunchError> {
        Self::link_with(sources, grf_bytes, ReadOptions::default())
    }

    /// [`Self::link`] with options for reading objects.
    ///
    /// # Errors
    /// As [`Self::link`].
    pub fn link_with(
        sources: &[Self],
        grf_bytes: u32,
        options: ReadOptions,
    ) -> Result<Object<'_>, LaunchError> {
        let linked = Self::link_as(sources, grf_bytes, options, None);
        // What one text needs decides for all.
        if let Err(LaunchError::Assemble { .. }) = linked
            && let Ok(linked) = Self::link_as(sources, grf_bytes, options, Some(Version::V4_2))
        {
            return Ok(linked);
        }
        linked
    }

    fn link_as(
        sources: &[Self],
        grf_bytes: u32,
        options: ReadOptions,
        version: Option<Version>,
    ) -> Result<Object<'_>, LaunchError> {
        let mut whole: Option<Object<'_>> = None;
        for source in sources {
            let version = whole.as_ref().map(|w| w.version).or(version);
            let object = source.object_with(grf_bytes, options, version)?;
            match &mut whole {
                None => whole = Some(object),
                Some(whole) if whole.version == object.version => {
                    whole.kernels.extend(object.kernels);
                    whole.functions.extend(object.functions);
                }
                Some(whole) => {
                    return Err(LaunchError::Mismatch(format!(
                        "{} is of version {}, what stands before it of {}",
                        source.path.display(),
                        object.version,
                        whole.version
                    )));
                }
            }
        }
        whole.ok_or_else(|| LaunchError::Mismatch("no program was given".to_owned()))
    }
}

/// The kernel of that name; without a name, the only kernel there is.
///
/// # Errors
/// [`LaunchError::NoSuchKernel`] names those that there are.
pub fn find_kernel<'o, 'a>(
    object: &'o Object<'a>,
    name: Option<&str>,
) -> Result<(RoutineId, &'o Routine<'a>), LaunchError> {
    let real = |r: &Routine<'_>| r.name.as_ref() != SYMBOLS;
    let mut kernels = object.kernels.iter().enumerate();
    let found = match name {
        Some(name) => kernels.find(|(_, k)| k.name.as_ref() == name.as_bytes()),
        None => {
            let mut real = kernels.filter(|(_, k)| real(k));
            let first = real.next();
            if real.next().is_some() { None } else { first }
        }
    };
    found.map_or_else(
        || {
            let known: Vec<_> = object.kernels.iter().map(Routine::display_name).collect();
            Err(LaunchError::NoSuchKernel {
                name: name.unwrap_or("(the only one)").to_owned(),
                place: "the object",
                known: known.join(", "),
            })
        },
        |(index, kernel)| Ok((RoutineId::new(RoutineKind::Kernel, index), kernel)),
    )
}

/// Bytes of a register of the machine that a kernel was compiled for, as far as the object tells: by its native code,
/// by inputs that only fit one of the sizes. `None` where both would do.
#[must_use]
pub fn grf_bytes_of(kernel: &Routine<'_>) -> Option<u32> {
    if let Some(binary) = kernel.binaries.first() {
        return Some(binary.platform.grf_bytes());
    }
    let body = kernel.body()?;
    // Nothing of the payload stands in the first register, the thread header.
    let general = body
        .inputs
        .iter()
        .filter(|i| i.kind.class() == InputKind::GENERAL);
    let offsets = general.filter_map(|i| u32::try_from(i.offset).ok());
    if offsets.min().is_some_and(|first| first < 64) {
        return Some(32);
    }
    // Compilers align to registers what is larger than one.
    let narrow = count(body, 32);
    let wide = count(body, 64);
    (narrow + wide > 0).then_some(if wide > narrow { 64 } else { 32 })
}

/// Variables with that alignment, where it is stated in bytes and not in registers.
fn count(body: &Body<'_>, bytes: u32) -> usize {
    let variables = body.variables.iter().map(|v| v.properties.alignment());
    variables
        .filter(|a| a.bytes(32) == Some(bytes) && a.bytes(64) == Some(bytes))
        .count()
}
