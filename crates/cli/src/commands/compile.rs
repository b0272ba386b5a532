//! `visakit compile`: from OpenCL C or SPIR-V to vISA, with Intel's offline compiler.

use super::info::Kernels;
use crate::input::{LARGEST_SOURCE, read_within};
use crate::output::{self, Failure, count, printable, stdout};
use crate::{Status, input, render, sources};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use visakit_compile::{DEFAULT_DEVICE, Program, compile};
use visakit_launch::{DebugFiles, DumpedKernel};

#[derive(clap::Args)]
#[command(
    after_help = "Writes the text of each kernel (KERNEL.visaasm, functions as KERNEL_f0.visaasm), and the compiled \
program (NAME.zebin) with its launch metadata (NAME.zeinfo). `visakit run DIR` takes them as they are. With --options=-g,
KERNEL.elf and KERNEL.dbg have the variables of the source for `visakit debug DIR`.

The compiler is `ocloc` of the package intel-opencl-icd (Debian 12, Ubuntu 22.04) or intel-ocloc (newer ones), or of
https://github.com/intel/compute-runtime; its devices are listed by `ocloc compile --help`. The table that is printed has
what it decided for each kernel: SIMD width, registers, bytes of local memory, of private memory, spilled; barriers.

Examples:
  visakit compile add.cl --device dg2 -o add
  visakit compile add.cl --device pvc --options '-cl-std=CL3.0 -DN=4' -o add
  visakit run add --routine add --global 1024 --arg zeros:4096 --arg f32:1.5"
)]
pub(crate) struct Args {
    /// OpenCL C or a SPIR-V module, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Device to compile for, such as dg2, pvc, a770 or b580.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_DEVICE)]
    device: String,
    /// Options for the compiler of OpenCL C.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    options: Option<String>,
    /// Folder for what is made; created if missing.
    #[arg(short = 'o', long, alias = "output", value_name = "DIR")]
    output_dir: PathBuf,
    /// The compiler. [default: that of VISAKIT_OCLOC, or ocloc in the path]
    #[arg(long, value_name = "PATH")]
    ocloc: Option<PathBuf>,
    /// Print one JSON document (docs/json.md).
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let folder = &args.output_dir;
    if folder.as_os_str() == input::STDIN {
        return Err(Failure::Other(
            "several files are made: name a folder with -o".to_owned(),
        ));
    }
    let bytes = read_within(&args.file, LARGEST_SOURCE).map_err(Failure::Other)?;
    let program = Program {
        device: &args.device,
        options: args.options.as_deref().unwrap_or_default(),
        compiler: args.ocloc.as_deref(),
        ..Program::new(&args.file, &bytes)
    };
    sources::may_have_kernel(&args.file, &bytes)?;
    let work = compile(&program).map_err(|error| sources::refused(&error))?;
    let dump = sources::dumped(&args.file, work.path())?;
    fs::create_dir_all(folder).map_err(|error| output::at(folder, &error))?;
    let mut written = Vec::new();
    let mut write = |name: String, bytes: &[u8]| {
        let path = folder.join(name);
        written.push(input::name(&path));
        output::file(&path, bytes)
    };
    let kernels = dump.kernels();
    let mut has_locals = false;
    let mut facts = Kernels::default();
    for name in &kernels {
        let DumpedKernel {
            sources,
            locals,
            debug,
            ..
        } = dump.kernel(Some(name))?;
        has_locals |= !locals.is_empty();
        let plain: String = name
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect();
        for (number, source) in sources.iter().enumerate() {
            let end = number
                .checked_sub(1)
                .map_or_else(String::new, |n| format!("_f{n}"));
            write(format!("{plain}{end}.visaasm"), &source.bytes)?;
        }
        if let Some(DebugFiles { dwarf, table }) = debug {
            write(format!("{plain}.elf"), &dwarf)?;
            write(format!("{plain}.dbg"), &table)?;
        }
    }
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let stem = if stem == "-" { "program".into() } else { stem };
    if let Some(metadata) = dump.metadata().iter().find(|m| m.zebin.is_some()) {
        facts = Kernels::of(&metadata.zeinfo);
        facts.retain(&kernels);
        let bytes = visakit_files::read(&metadata.path, u64::MAX)
            .map_err(|e| output::at(&metadata.path, &e))?;
        write(format!("{stem}.zebin"), &bytes)?;
        let text = metadata
            .zebin
            .as_ref()
            .map_or("", |zebin| zebin.zeinfo.as_str());
        write(
            format!("{stem}.zeinfo"),
            text.trim_end_matches('\0').as_bytes(),
        )?;
    }
    // The checkers name variables in local memory by it.
    let telling = dump.representations().iter().filter(|_| has_locals);
    for (number, path) in telling.enumerate() {
        let bytes = visakit_files::read(path, u64::MAX).map_err(|e| output::at(path, &e))?;
        let end = if number == 0 {
            String::new()
        } else {
            format!("_{number}")
        };
        write(format!("{stem}{end}_codegen.ll"), &bytes)?;
    }
    if args.json {
        output::json(
            &serde_json::json!({ "kernels": kernels, "files": written, "metadata": facts }),
        )?;
    } else {
        let mut out = stdout();
        facts.write(&mut out)?;
        out.flush()?;
        let names: Vec<_> = kernels
            .iter()
            .map(|name| printable(name.as_bytes()))
            .collect();
        let (kernels, files) = (count(kernels.len(), "kernel"), count(written.len(), "file"));
        render::note(&format!(
            "{kernels} ({}), {files} in {}",
            names.join(", "),
            input::name(folder)
        ));
    }
    Ok(Status::Clean)
}
