//! `visakit inject`: an edited text back into a compiled program, for real hardware.

use crate::output::{self, Failure, printable};
use crate::reading::Reading;
use crate::sources::{self, Opened};
use crate::{Status, input, render};
use std::path::PathBuf;
use visakit_compile::{FinalizerOptions, finalize, with_native_code};
use visakit_launch::Source;

#[derive(clap::Args)]
#[command(
    after_help = "The program is compiled (or dumped) as usual; the native code of one kernel is replaced by what Intel's
finalizer makes of the text, with the options that the compiler gave it. The finalizer is `GenX_IR` of the package
libigc-tools, of the same release as the compiler. The result is a binary for clCreateProgramWithBinary and
zeModuleCreate (docs/hardware.md).

Examples:
  visakit compile k.cl --device a770 -o out  the text to edit: out/k.visaasm
  visakit inject k.cl out/k.visaasm --device a770 -o new.zebin
  ocloc disasm -file new.zebin -device dg2 -dump shown
      its sections: shown/.text.k is what the GPU will run"
)]
pub(crate) struct Args {
    /// OpenCL C, SPIR-V, or a folder that a compiler dumped into.
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,
    /// The edited text of a kernel.
    #[arg(value_name = "TEXT")]
    text: PathBuf,
    /// The compiled program with the kernel's new code.
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,
    /// The finalizer. [default: that of VISAKIT_GENX_IR, or GenX_IR in the path]
    #[arg(long, value_name = "PATH")]
    finalizer: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let other = |message: String| Failure::Other(message);
    let text = Source::open(&args.text)?;
    let (kernel, width) = named(&text.bytes);
    let kernel =
        kernel.ok_or_else(|| other(format!("{}: names no kernel", input::name(&args.text))))?;
    let Opened::Dump(dumped) = sources::open(&args.program, args.reading)? else {
        let name = input::name(&args.program);
        return Err(other(format!(
            "{name}: does not say how it was compiled: give its source, or the folder of the compiler's dump"
        )));
    };
    let found = dumped.dump.kernel(Some(&kernel))?;
    let shown = printable(kernel.as_bytes());
    let missing = |what: &str| {
        other(format!(
            "{}: has no {what} of {shown}",
            input::name(&args.program)
        ))
    };
    let metadata = found.metadata.ok_or_else(|| missing("compiled program"))?;
    let info = metadata.zeinfo.kernel(&kernel)?;
    if let Some(width) = width.filter(|width| *width != info.execution_env.simd_size) {
        return Err(other(format!(
            "{}: is for SIMD{width}, the program has {shown} for SIMD{}",
            input::name(&args.text),
            info.execution_env.simd_size
        )));
    }
    let dumped_text = found
        .sources
        .first()
        .map(|source| source.path.with_extension("asm"));
    let listing = dumped_text.and_then(|path| visakit_files::read(&path, u64::MAX).ok());
    let listing = listing.ok_or_else(|| missing("listing of native code (*.asm)"))?;
    let how = FinalizerOptions::of_listing(&String::from_utf8_lossy(&listing));
    let how = how.ok_or_else(|| missing("options for the finalizer in the listing"))?;
    let code =
        finalize(&text.bytes, &how, args.finalizer.as_deref()).map_err(|e| sources::refused(&e))?;
    let program = visakit_files::read(&metadata.path, u64::MAX)
        .map_err(|e| output::at(&metadata.path, &e))?;
    let env = &info.execution_env;
    let fixed = env
        .offset_to_skip_per_thread_data_load
        .max(env.offset_to_skip_set_ffid_gp);
    let made = with_native_code(&program, &kernel, &code, fixed.into());
    let made = made.map_err(|why| other(format!("{}: {why}", input::name(&args.program))))?;
    output::file(&args.output, &made)?;
    if args.reading.json {
        output::json(
            &serde_json::json!({ "output": input::name(&args.output), "bytes": made.len() }),
        )?;
        return Ok(Status::Clean);
    }
    render::note(&format!(
        "{shown}: {} bytes of native code for {} from {}",
        code.len(),
        how.platform,
        input::name(&args.text)
    ));
    Ok(Status::Clean)
}

/// The kernel that a text is of, and its width.
fn named(text: &[u8]) -> (Option<String>, Option<u32>) {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().map(str::trim);
    let name = lines.find_map(|line| line.strip_prefix(".kernel "));
    let name = name.map(|name| name.trim().trim_matches('"').to_owned());
    let width = lines.find_map(|line| line.strip_prefix(".kernel_attr SimdSize="));
    (name, width.and_then(|width| width.trim().parse().ok()))
}
