//! Programs from files: objects and vISA texts.

use crate::content::Content;
use crate::error::LaunchError;
use crate::input::{LARGEST, Reading, link};
use std::io::Read;
use std::path::{Path, PathBuf};
use visakit_isa::object::{Body, InputKind, Object, Routine, RoutineId, RoutineKind};
use visakit_parse::MAGIC;

/// A file may unpack to this many times its size; compilers' texts, to 15 times.
const MOST_PACKED: u64 = 64;

/// Every file may unpack to this many bytes.
const LEAST_UNPACKED: u64 = 16 << 20;

/// A program with constants comes with a kernel that only carries their symbols.
const SYMBOLS: &[u8] = b"Intel_Symbol_Table_Void_Program";

/// First bytes of a file packed by gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The bytes of an object or a text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path it was read from.
    pub path: PathBuf,
    /// The bytes, unpacked.
    pub bytes: Vec<u8>,
}

/// Unpacks bytes that are packed by gzip.
pub(crate) fn unpacked(bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let mut out = Vec::new();
    let packed = flate2::read::GzDecoder::new(bytes.as_slice());
    let limit = (bytes.len() as u64).saturating_mul(MOST_PACKED);
    let limit = limit.clamp(LEAST_UNPACKED, LARGEST);
    packed.take(limit + 1).read_to_end(&mut out)?;
    if out.len() as u64 > limit {
        let message = format!(
            "unpacks to more than {limit} bytes, and programs do not: unpack it with gzip first"
        );
        return Err(std::io::Error::other(message));
    }
    Ok(out)
}

impl Source {
    /// Reads a regular file, which may be packed by gzip.
    ///
    /// # Errors
    /// [`LaunchError::Read`], also for pipes and devices.
    pub fn open(path: &Path) -> Result<Self, LaunchError> {
        let read = || {
            let bytes = visakit_files::read(path, LARGEST)?;
            unpacked(bytes)
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

    /// Whether it is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.bytes.starts_with(&MAGIC)
    }

    /// Whether it is treated as text.
    #[must_use]
    pub fn is_text(&self) -> bool {
        Content::of(&self.bytes) == Content::Text
    }

    /// Decodes the object or assembles the text. The size of a register matters to texts only.
    ///
    /// # Errors
    /// [`LaunchError::Decode`], [`LaunchError::Assemble`] and [`LaunchError::NotAProgram`].
    pub fn object(&self, grf_bytes: u32) -> Result<Object<'_>, LaunchError> {
        Self::link(std::slice::from_ref(self), grf_bytes)
    }

    /// Puts the routines of several sources into one object: a kernel and the functions that it calls.
    ///
    /// # Errors
    /// The first one of [`link`].
    pub fn link(sources: &[Self], grf_bytes: u32) -> Result<Object<'_>, LaunchError> {
        let how = Reading {
            grf_bytes: Some(grf_bytes),
            ..Reading::default()
        };
        match link(sources, &how) {
            Ok(linked) => Ok(linked.object),
            Err(errors) => {
                let none = || LaunchError::Mismatch("no program was given".to_owned());
                Err(errors.into_iter().next().unwrap_or_else(none))
            }
        }
    }
}

/// Of the texts that a zebin carries, which are one for each kernel, that of the kernel that is named.
pub fn texts_of_kernel<'s>(sources: &'s [Source], name: Option<&str>) -> &'s [Source] {
    let module = name.map(|name| format!("({name})"));
    let of_name = |source: &Source| {
        let path = source.path.to_string_lossy();
        module.as_ref().is_some_and(|module| path.ends_with(module))
    };
    match sources.iter().position(of_name) {
        Some(at) => sources.get(at..=at).unwrap_or(sources),
        None => sources,
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
        Some(name) => kernels
            .clone()
            .find(|(_, k)| k.name.as_ref() == name.as_bytes())
            .or_else(|| kernels.nth(name.parse().ok()?)),
        None => {
            let mut real = kernels.filter(|(_, k)| real(k));
            let first = real.next();
            if real.next().is_some() { None } else { first }
        }
    };
    found.map_or_else(
        || {
            // The table of symbols is not a kernel to choose.
            let known = object.kernels.iter().filter(|kernel| real(kernel));
            let known: Vec<_> = known.map(Routine::display_name).collect();
            Err(LaunchError::NoSuchKernel {
                name: name.unwrap_or_default().to_owned(),
                place: "the object",
                known: known.join(", "),
            })
        },
        |(index, kernel)| Ok((RoutineId::new(RoutineKind::Kernel, index), kernel)),
    )
}

/// Bytes of a register of the machine that a kernel was compiled for, as far as the object says: by its native code,
/// by inputs that only fit one of the sizes. `None` where both would do.
#[must_use]
pub fn grf_bytes_of(kernel: &Routine<'_>) -> Option<u32> {
    if let Some(binary) = kernel.binaries.first() {
        return Some(binary.platform.grf_bytes());
    }
    let body = kernel.body()?;
    // The first register, the thread header, has no part of the payload.
    let general = body
        .inputs
        .iter()
        .filter(|i| i.kind.class() == InputKind::GENERAL);
    let offsets = general.filter_map(|i| u32::try_from(i.offset).ok());
    if offsets.min().is_some_and(|first| first < 64) {
        return Some(32);
    }
    // Compilers align anything larger than one register to registers.
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
