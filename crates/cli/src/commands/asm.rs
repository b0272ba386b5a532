//! `visakit asm`: text into objects.

use super::change;
use crate::output::{self, Failure, count};
use crate::reading::{Reading, told};
use crate::render;
use crate::{Status, input, names};
use std::path::PathBuf;
use visakit::isa::Version;
use visakit::snippets::one_byte_each;
use visakit_launch::{Content, Input, LaunchError, ZeInfo, Zebin, link};

#[derive(clap::Args)]
#[command(
    after_help = "Whether registers have 32 or 64 bytes matters to an address-of operand with an offset and to %sizeof(GRF). \
The platform is taken from --platform, --zebin, --zeinfo, `//Platform:` lines and attributes of the text; where the \
text needs it and nothing tells, that is an error.

Examples:
  visakit asm k.visaasm -o k.isa
  visakit asm k.visaasm k_f0.visaasm --platform pvc -o k.isa"
)]
pub(crate) struct Args {
    /// Texts, whose routines become one object, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The object. [default: standard output, unless that is a terminal]
    #[arg(short, long, value_name = "OUT.isa")]
    output: Option<PathBuf>,
    /// Version of the object. [default: what the text says, 4.1 for 4.2]
    #[arg(long, value_name = "VERSION", value_parser = names::version())]
    target_version: Option<Version>,
    /// Metadata of the same compilation, which tell the size of a register.
    #[arg(long, value_name = "FILE", conflicts_with = "zebin")]
    zeinfo: Option<PathBuf>,
    /// The compiled program (zebin) of the same compilation, which gives the size of a register.
    #[arg(long, value_name = "FILE")]
    zebin: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    output::needs_place(args.output.as_deref())?;
    let mut sources = Vec::new();
    for path in &args.files {
        let input = args.reading.open(path)?;
        text_expected(&input)?;
        sources.extend(input.sources);
    }
    let mut how = args.reading.how(args.target_version);
    how.grf_bytes = match how.grf_bytes {
        Some(bytes) => Some(bytes),
        None => told_grf(args)?,
    };
    let linked = match link(&sources, &how) {
        Ok(linked) => linked,
        Err(errors) => {
            let failure = told(&errors, &sources);
            let faults = errors.iter().map(|error| match error {
                LaunchError::Assemble { faults, .. } => faults.len(),
                _ => 1,
            });
            let faults = count(faults.sum::<usize>(), "fault");
            render::note(&format!("{faults}, nothing was written"));
            return Err(failure);
        }
    };
    for (number, warning) in &linked.warnings {
        if let Some(source) = sources.get(*number) {
            render::text_warning(&source.path, &one_byte_each(&source.bytes), warning);
        }
    }
    let first = args.files.first().map_or("-".as_ref(), PathBuf::as_path);
    change::write(args.output.as_deref(), first, &linked.object)
}

/// Rejects files that are not text.
pub(super) fn text_expected(input: &Input) -> Result<(), Failure> {
    let name = input::name(&input.path);
    let is = match input.sources.as_slice() {
        [source] if source.is_object() => "an object already".to_owned(),
        [source] if !source.is_text() => Content::of(&source.bytes).to_string(),
        _ => return Ok(()),
    };
    Err(Failure::Other(format!(
        "{name}: is {is}, expected vISA text"
    )))
}

/// Bytes of a register, according to the metadata.
fn told_grf(args: &Args) -> Result<Option<u32>, Failure> {
    let bytes_of = |path: &PathBuf| input::read_any(path).map_err(Failure::Other);
    let failed = |path: &PathBuf, error: LaunchError| {
        Failure::Other(format!("{}: {error}", input::name(path)))
    };
    if let Some(path) = &args.zebin {
        let zebin = Zebin::parse(&bytes_of(path)?).map_err(|e| failed(path, e))?;
        return Ok(zebin.grf_bytes);
    }
    let Some(path) = &args.zeinfo else {
        return Ok(None);
    };
    let text = bytes_of(path)?;
    let zeinfo = ZeInfo::parse(&String::from_utf8_lossy(&text)).map_err(|e| failed(path, e))?;
    Ok(zeinfo.grf_bytes())
}
