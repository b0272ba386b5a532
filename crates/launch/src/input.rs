//! One way from files of any kind to an object.

use crate::content::{Content, TELLING, members};
use crate::dump::Dump;
use crate::error::LaunchError;
use crate::source::{Source, grf_bytes_of, unpacked};
use crate::zebin::Zebin;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use visakit_isa::object::Object;
use visakit_isa::{Dialect, Version};
use visakit_parse::ReadOptions;
use visakit_text::asm::{self, Assembled, Diagnostic, SourceMap};

/// Offsets in an object have 32 bits.
pub(crate) const LARGEST: u64 = u32::MAX as u64;

/// A file, opened: the objects and texts in it.
#[derive(Clone, Debug)]
pub struct Input {
    /// The path it was read from.
    pub path: PathBuf,
    /// Objects and texts. A zebin may hold several texts.
    pub sources: Vec<Source>,
    /// The remaining content of the file, if it is a zebin.
    pub zebin: Option<Zebin>,
}

/// How to build an object from sources.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Continue after faults in binary objects.
    pub lenient: bool,
    /// The dialect. [default: found out]
    pub dialect: Option<Dialect>,
    /// The version that texts are assembled for. [default: the one they state]
    pub version: Option<Version>,
    /// Bytes of a register. [default: what texts, native code and inputs state]
    pub grf_bytes: Option<u32>,
}

/// The object that sources make.
#[derive(Clone, Debug)]
pub struct Linked<'s> {
    /// The object.
    pub object: Object<'s>,
    /// Faults that lenient reading passed over, with the number of the source.
    pub faults: Vec<(usize, visakit_parse::Error)>,
    /// Warnings about texts, with the number of the source.
    pub warnings: Vec<(usize, Diagnostic)>,
    /// The source map of the text, if there is one source, and it is text.
    pub source_map: Option<SourceMap>,
    /// Bytes of a register, as far as it is known.
    pub grf_bytes: Option<u32>,
}

impl Input {
    /// Opens a file, or a folder that a compiler dumped into, with all its kernels.
    ///
    /// # Errors
    /// [`LaunchError::Read`], [`LaunchError::NotAProgram`] if the file contains no vISA, and [`LaunchError::NoDump`] if
    /// the folder does not.
    pub fn open(path: &Path) -> Result<Self, LaunchError> {
        if path.is_dir() {
            return Dump::open(path)?.input(path);
        }
        let file = File::open(path).map_err(|source| cannot_read(path, source))?;
        Self::of(path, file)
    }

    /// Reads from a reader; `path` is for messages. If the content is of no use, only its beginning is read, so that a
    /// device or a disk image given by mistake is rejected at once.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn of(path: &Path, mut reader: impl Read) -> Result<Self, LaunchError> {
        let mut bytes = Vec::new();
        let mut read = |limit: u64, bytes: &mut Vec<u8>| {
            let read = reader.by_ref().take(limit).read_to_end(bytes);
            read.map_err(|source| cannot_read(path, source))
        };
        read(TELLING as u64, &mut bytes)?;
        let content = Content::of(&bytes);
        if content.may_hold_visa() {
            read(LARGEST, &mut bytes)?;
            if bytes.len() as u64 > LARGEST {
                let large = std::io::Error::other("is larger than 4 GiB, which no object is");
                return Err(cannot_read(path, large));
            }
        }
        Self::of_bytes(path, bytes)
    }

    fn of_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, LaunchError> {
        let unpacked = unpacked(bytes).map_err(|source| cannot_read(path, source))?;
        let content = Content::of(&unpacked);
        let refuse = |holds: String| LaunchError::NotAProgram {
            path: path.to_owned(),
            content,
            holds,
        };
        let mut input = Self {
            path: path.to_owned(),
            sources: Vec::new(),
            zebin: None,
        };
        match content {
            // For content of an unknown kind the parser reports what is wrong with it, and where.
            Content::Object | Content::Text | Content::Unknown | Content::Empty => {
                input.sources.push(Source {
                    path: path.to_owned(),
                    bytes: unpacked,
                });
            }
            Content::Zebin => {
                let mut zebin = Zebin::parse(&unpacked)?;
                if zebin.texts.is_empty() {
                    return Err(refuse(zebin.holds()));
                }
                let texts = std::mem::take(&mut zebin.texts).into_iter();
                input.sources = texts
                    .map(|(module, bytes)| Source {
                        path: member(path, &module),
                        bytes,
                    })
                    .collect();
                input.zebin = Some(zebin);
            }
            Content::FatBinary => {
                let mut held = Vec::new();
                for (name, bytes) in members(&unpacked) {
                    // The archive is padded with members of this name.
                    if name.starts_with("pad_") {
                        continue;
                    }
                    let inner = Self::of_bytes(&member(path, &name), bytes.to_vec());
                    match inner {
                        Ok(inner) if input.sources.is_empty() => input = inner,
                        _ => held.push(format!("{name} ({})", Content::of(bytes))),
                    }
                }
                if input.sources.is_empty() {
                    return Err(refuse(held.join(", ")));
                }
                input.path = path.to_owned();
            }
            _ => return Err(refuse(String::new())),
        }
        Ok(input)
    }

    /// The bytes, if it is one object or one text.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self.sources.as_slice() {
            [source] => &source.bytes,
            _ => &[],
        }
    }

    /// Whether it is one binary object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        matches!(self.sources.as_slice(), [source] if source.is_object())
    }

    /// The object in the file; see [`link`].
    ///
    /// # Errors
    /// Those of [`link`].
    pub fn object(&self, how: &Reading) -> Result<Linked<'_>, Vec<LaunchError>> {
        let grf_bytes = self.zebin.as_ref().and_then(|zebin| zebin.grf_bytes);
        let how = Reading {
            grf_bytes: how.grf_bytes.or(grf_bytes),
            ..*how
        };
        link(&self.sources, &how)
    }
}

fn cannot_read(path: &Path, source: std::io::Error) -> LaunchError {
    LaunchError::Read {
        path: path.to_owned(),
        source,
    }
}

/// The name of a part of a file.
fn member(path: &Path, name: &str) -> PathBuf {
    match name {
        "" => path.to_owned(),
        name => PathBuf::from(format!("{}({name})", path.display())),
    }
}

/// One source, decoded or assembled.
enum Made<'s> {
    Object(visakit_parse::Decoded<'s>),
    Text(Assembled<'s>),
}

impl<'s> Made<'s> {
    const fn object(&self) -> &Object<'s> {
        match self {
            Self::Object(decoded) => &decoded.object,
            Self::Text(made) => &made.object,
        }
    }

    /// Bytes of a register, as the source says itself.
    fn stated_grf(&self) -> Option<u32> {
        match self {
            Self::Object(_) => None,
            Self::Text(made) => made.platform.map(visakit_isa::Platform::grf_bytes),
        }
    }

    const fn undecided(&self) -> Option<&Diagnostic> {
        match self {
            Self::Object(_) => None,
            Self::Text(made) => made.undecided.as_ref(),
        }
    }
}

/// Decodes objects, assembles texts and puts their routines into one object.
///
/// All texts get the dialect, the version and the size of a register that one of them needs. That size comes from
/// `how`, else from a text (`//Platform:` lines, directives), else from native code, inputs and alignments.
///
/// # Errors
/// One for each source that cannot be used: [`LaunchError::Decode`], [`LaunchError::Assemble`],
/// [`LaunchError::NeedsPlatform`]; [`LaunchError::Mismatch`] for sources of different versions.
pub fn link<'s>(sources: &'s [Source], how: &Reading) -> Result<Linked<'s>, Vec<LaunchError>> {
    let options = asm::Options {
        version: how.version,
        dialect: how.dialect,
        grf_bytes: how.grf_bytes,
    };
    let first: Vec<_> = sources.iter().map(|s| make(s, how, &options)).collect();
    let parts = || first.iter().flatten();
    let texts = || parts().filter(|made| matches!(made, Made::Text(_)));
    // The needs of one text decide for all.
    let dialect = texts().map(|made| made.object().dialect).max();
    let text_only = texts().any(|made| made.object().version == Version::V4_2);
    let stated = how.grf_bytes.or_else(|| parts().find_map(Made::stated_grf));
    let known = stated.or_else(|| {
        let routines = parts().flat_map(|made| made.object().routines());
        routines
            .filter_map(|(_, routine)| grf_bytes_of(routine))
            .next()
    });
    let mut linked: Option<Linked<'s>> = None;
    let mut errors = Vec::new();
    for (number, (source, made)) in sources.iter().zip(first).enumerate() {
        let again = match &made {
            Ok(Made::Text(text)) => {
                let version = text_only && text.object.version != Version::V4_2;
                let register = text.undecided.is_some() && known.is_some_and(|n| n != 32);
                Some(text.object.dialect) != dialect || version || register
            }
            _ => false,
        };
        let made = if again {
            let options = asm::Options {
                version: how.version.or(text_only.then_some(Version::V4_2)),
                dialect: how.dialect.or(dialect),
                grf_bytes: how.grf_bytes.or(known),
            };
            make(source, how, &options)
        } else {
            made
        };
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        if let (Some(fault), None) = (made.undecided(), known) {
            errors.push(LaunchError::NeedsPlatform {
                path: source.path.clone(),
                fault: Box::new(fault.clone()),
            });
        }
        if let Err(error) = add(&mut linked, source, number, made) {
            errors.push(error);
        }
    }
    match linked {
        Some(mut linked) if errors.is_empty() => {
            linked.grf_bytes = known;
            if sources.len() != 1 {
                linked.source_map = None;
            }
            Ok(linked)
        }
        _ if errors.is_empty() => Err(vec![LaunchError::Mismatch(
            "no program was given".to_owned(),
        )]),
        _ => Err(errors),
    }
}

fn make<'s>(
    source: &'s Source,
    how: &Reading,
    options: &asm::Options,
) -> Result<Made<'s>, LaunchError> {
    let path = || source.path.clone();
    let content = Content::of(&source.bytes);
    if matches!(content, Content::Object | Content::Unknown) {
        let options = ReadOptions {
            lenient: how.lenient,
            dialect: how.dialect,
        };
        let decoded = visakit_parse::read_with(&source.bytes, options);
        return decoded
            .map(Made::Object)
            .map_err(|error| LaunchError::Decode {
                path: path(),
                error: Box::new(error),
            });
    }
    if content != Content::Text {
        return Err(LaunchError::NotAProgram {
            path: path(),
            content,
            holds: String::new(),
        });
    }
    let made = asm::assemble_in_any_dialect(&source.bytes, options);
    made.map(Made::Text)
        .map_err(|faults| LaunchError::Assemble {
            path: path(),
            faults,
        })
}

fn add<'s>(
    linked: &mut Option<Linked<'s>>,
    source: &Source,
    number: usize,
    made: Made<'s>,
) -> Result<(), LaunchError> {
    let numbered =
        |list: Vec<Diagnostic>| list.into_iter().map(|d| (number, d)).collect::<Vec<_>>();
    let (object, faults, warnings, source_map) = match made {
        Made::Object(decoded) => {
            let faults: Vec<_> = decoded.errors.into_iter().map(|e| (number, e)).collect();
            (decoded.object, faults, Vec::new(), None)
        }
        Made::Text(made) => (
            made.object,
            Vec::new(),
            numbered(made.warnings),
            Some(made.source_map),
        ),
    };
    match linked {
        None => {
            *linked = Some(Linked {
                object,
                faults,
                warnings,
                source_map,
                grf_bytes: None,
            });
        }
        Some(linked) if linked.object.version == object.version => {
            linked.object.kernels.extend(object.kernels);
            linked.object.functions.extend(object.functions);
            linked.faults.extend(faults);
            linked.warnings.extend(warnings);
        }
        Some(linked) => {
            return Err(LaunchError::Mismatch(format!(
                "{} is of version {}, what precedes it is of {}",
                source.path.display(),
                object.version,
                linked.object.version
            )));
        }
    }
    Ok(())
}
