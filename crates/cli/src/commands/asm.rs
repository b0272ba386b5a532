//! `visakit asm`: text into objects.

use crate::output::{self, Failure};
use crate::{Status, input, render};
use std::path::PathBuf;
use visakit::isa::object::Object;
use visakit::isa::{Dialect, Platform, Version};
use visakit::text::asm::{Options, assemble_in_any_dialect, assemble_with_source_map};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Texts, whose routines become one object, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The object. [default: standard output, unless that is a terminal]
    #[arg(short, long, value_name = "OUT.isa")]
    output: Option<PathBuf>,
    /// Version of the object. [default: what the text says, 4.1 for 4.2]
    #[arg(long, value_name = "VERSION", value_parser = version)]
    target_version: Option<Version>,
    /// Dialect of the object, for layouts that share a version. [default: what the texts say, else
    /// the first that has everything in them]
    #[arg(long, value_name = "NAME", value_parser = super::dialect)]
    dialect: Option<Dialect>,
    /// Platform whose register size the offsets of address-of operands assume. [default: one with
    /// registers of 32 bytes]
    #[arg(long, value_name = "NAME")]
    platform: Option<Platform>,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    output::needs_place(args.output.as_deref())?;
    let texts = args
        .files
        .iter()
        .map(|path| input::read_text(path))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::Other)?;
    let options = Options {
        version: args.target_version,
        dialect: args.dialect,
        grf_bytes: args.platform.map(Platform::grf_bytes),
    };
    let assembled: Vec<_> = texts
        .iter()
        .map(|text| assemble_in_any_dialect(text, &options))
        .collect();
    // All texts become one object, so what one needs decides for all.
    let dialects = assembled.iter().flatten().map(|made| made.object.dialect);
    let dialect = dialects.max().unwrap_or_default();
    let versions = assembled.iter().flatten().map(|made| made.object.version);
    let text_only = versions.into_iter().any(|version| version == Version::V4_2);
    let mut whole: Option<Object<'_>> = None;
    let mut count = 0;
    for ((path, text), first) in args.files.iter().zip(&texts).zip(assembled) {
        let result = match first {
            Ok(made) if made.object.dialect != dialect => {
                let options = Options {
                    dialect: Some(dialect),
                    version: options.version.or(text_only.then_some(Version::V4_2)),
                    ..options
                };
                assemble_with_source_map(text, &options)
            }
            first => first,
        };
        let object = match result {
            Ok(made) => {
                if !made.warnings.is_empty() {
                    let shown = one_byte_each(text);
                    for warning in &made.warnings {
                        render::text_warning(path, &shown, warning);
                    }
                }
                made.object
            }
            Err(faults) => {
                let shown = one_byte_each(text);
                for fault in &faults {
                    render::text_error(path, &shown, fault);
                }
                count += faults.len();
                continue;
            }
        };
        match &mut whole {
            None => whole = Some(object),
            Some(whole) if whole.version == object.version => {
                whole.kernels.extend(object.kernels);
                whole.functions.extend(object.functions);
            }
            Some(whole) => {
                return Err(Failure::Other(format!(
                    "{}: version {} where the text before is of {}: choose one with --target-version",
                    input::name(path),
                    object.version,
                    whole.version
                )));
            }
        }
    }
    if count > 0 {
        let faults = if count == 1 { "fault" } else { "faults" };
        render::note(&format!("{count} {faults}, nothing was written"));
        return Ok(Status::Findings);
    }
    let (Some(object), Some(first)) = (whole, args.files.first()) else {
        return Ok(Status::Unusable);
    };
    let bytes = match visakit::encode::write(&object) {
        Ok(bytes) => bytes,
        Err(error) => {
            let error = visakit::rewrite::ErrorKind::from(error).into();
            return Ok(super::change::refused(first, &[error]));
        }
    };
    output::object(args.output.as_deref(), &bytes)?;
    Ok(Status::Clean)
}

/// The text with every byte that is not UTF-8 replaced by one of equal length.
pub(super) fn one_byte_each(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        shown.push_str(chunk.valid());
        shown.extend(chunk.invalid().iter().map(|_| '?'));
    }
    shown
}

pub(super) fn version(text: &str) -> Result<Version, String> {
    let found = Version::SUPPORTED.into_iter();
    let mut found = found.filter(|v| v.to_string() == text);
    found.next().ok_or_else(|| {
        let names: Vec<_> = Version::SUPPORTED.iter().map(Version::to_string).collect();
        format!("known versions: {}", names.join(", "))
    })
}
