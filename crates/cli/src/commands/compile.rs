//! `visakit compile`: from OpenCL C or SPIR-V to vISA, with Intel's offline compiler.

use crate::input::read_any;
use crate::output::{self, Failure, count, printable};
use crate::{Status, input, render};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use visakit_launch::{Content, Dump, DumpedKernel};

#[derive(clap::Args)]
#[command(
    after_help = "Writes the text of each kernel (KERNEL.visaasm, functions as KERNEL_f0.visaasm), and the compiled \
program (NAME.zebin) with its launch metadata (NAME.zeinfo). `visakit run DIR` takes them as they are.

The compiler is `ocloc` of the package intel-opencl-icd of Debian and Ubuntu, or of
https://github.com/intel/compute-runtime; its devices are listed by `ocloc compile --help`.

Examples:
  visakit compile add.cl --device dg2 -o add
  visakit compile add.cl --device pvc --options '-cl-std=CL3.0 -DN=4' -o add
  visakit run add --routine add --global 1024 --arg zeros:4096 --arg f32:1.5"
)]
pub(crate) struct Args {
    /// OpenCL C or a SPIR-V module, or - for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Device to compile for, such as dg2, pvc or tgllp.
    #[arg(long, value_name = "NAME")]
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
    fs::create_dir_all(folder).map_err(|error| output::at(folder, &error))?;
    let work = Temporary::new(folder)?;
    let options = args.options.as_deref();
    compile(
        &args.file,
        &args.device,
        options,
        args.ocloc.as_deref(),
        work.path(),
    )?;
    let dump = Dump::open(work.path())?;
    let mut written = Vec::new();
    let mut write = |name: String, bytes: &[u8]| {
        let path = folder.join(name);
        written.push(input::name(&path));
        output::file(&path, bytes)
    };
    let kernels = dump.kernels();
    let mut has_locals = false;
    for name in &kernels {
        let DumpedKernel {
            sources, locals, ..
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
    }
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let stem = if stem == "-" { "program".into() } else { stem };
    if let Some(metadata) = dump.metadata().iter().find(|m| m.zebin.is_some()) {
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
        output::json(&serde_json::json!({ "kernels": kernels, "files": written }))?;
    } else {
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

/// Whether a file is something that has to be compiled.
pub(crate) fn is_source(path: &Path) -> bool {
    let content = Content::of_file(path);
    matches!(content, Ok(Content::OpenCl | Content::SpirV))
}

/// Compiles into a folder that is gone with the value.
pub(crate) fn to_temporary(
    path: &Path,
    device: Option<&str>,
    options: Option<&str>,
) -> Result<Temporary, Failure> {
    let Some(device) = device else {
        let name = input::name(path);
        return Err(Failure::Other(format!(
            "{name}: is to be compiled first: name a device with --device, such as dg2 or pvc"
        )));
    };
    let work = Temporary::new(&std::env::temp_dir())?;
    compile(path, device, options, None, work.path())?;
    Ok(work)
}

/// Runs the compiler, which dumps into the folder.
fn compile(
    file: &Path,
    device: &str,
    options: Option<&str>,
    ocloc: Option<&Path>,
    folder: &Path,
) -> Result<(), Failure> {
    let bytes = read_any(file).map_err(Failure::Other)?;
    let content = Content::of(&bytes);
    let input = match content {
        Content::SpirV => "input.spv",
        // Any text may be OpenCL C.
        Content::OpenCl | Content::Text => own_name(file).unwrap_or("input.cl"),
        _ => {
            let name = input::name(file);
            return Err(Failure::Other(format!(
                "{name}: is {content}, expected OpenCL C or a SPIR-V module"
            )));
        }
    };
    let source = folder.join(input);
    let mut text = line_of(file, content).unwrap_or_default();
    text.extend_from_slice(&bytes);
    output::file(&source, &text)?;
    let mut dumps =
        OsString::from(std::path::absolute(folder).map_err(|e| output::at(folder, &e))?);
    dumps.push("/");
    let named = std::env::var_os("VISAKIT_OCLOC").map(PathBuf::from);
    let program = ocloc
        .or(named.as_deref())
        .unwrap_or_else(|| Path::new("ocloc"));
    let mut command = Command::new(program);
    command.args([
        "compile",
        "-device",
        device,
        "-output_no_suffix",
        "-output",
        "program",
        "-file",
    ]);
    command.arg(&source).arg("-out_dir").arg(folder);
    let given = options.unwrap_or_default();
    if content == Content::SpirV {
        command.arg("-spirv_input");
        if !given.is_empty() {
            command.args(["-options", given]);
        }
    } else {
        command.args(["-options", &source_options(file, given)]);
    }
    // Makes the compiler dump vISA, and write a zebin if that is not the default yet.
    command.env("IGC_ShaderDumpEnable", "1");
    command.env("IGC_DumpToCustomDir", &dumps);
    command.env("IGC_EnableZEBinary", "1");
    let done = command.output().map_err(|error| {
        if error.kind() != std::io::ErrorKind::NotFound {
            return output::at(program, &error);
        }
        render::failure_with_help(
            &format!(
                "Intel's offline compiler {} was not found",
                input::name(program)
            ),
            "install the package intel-opencl-icd (Debian, Ubuntu), or a release of \
             https://github.com/intel/compute-runtime, or name the program with --ocloc",
        );
        Failure::Told(Status::Unusable)
    })?;
    if done.status.success() {
        return Ok(());
    }
    let said = [done.stdout, done.stderr].concat();
    let said =
        String::from_utf8_lossy(&said).replace(&*source.to_string_lossy(), &input::name(file));
    let said: Vec<_> = said
        .lines()
        .map(|line| printable(line.as_bytes()))
        .collect();
    render::failure(&format!("the compiler says\n{}", said.join("\n")));
    Err(Failure::Told(Status::Findings))
}

/// Options for a source: the user's, and before them a table of lines, which leaves the code as it is; after them the
/// folder of the source, for files that it includes.
fn source_options(file: &Path, given: &str) -> String {
    let folder = file.parent().filter(|_| file.as_os_str() != "-");
    let folder = folder.and_then(|folder| std::path::absolute(folder).ok());
    // The compiler splits its options at blanks.
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '\'' | '\\');
    let folder = folder.as_deref().and_then(Path::to_str);
    let folder = folder.filter(|folder| !folder.is_empty() && folder.chars().all(plain));
    let folder = folder.map_or_else(String::new, |folder| format!(" -I {folder}"));
    format!("-gline-tables-only {given}{folder}")
}

/// Makes debug information refer to the user's file instead of a copy.
fn line_of(file: &Path, content: Content) -> Option<Vec<u8>> {
    let plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\');
    let path = file.to_str().filter(|path| path.chars().all(plain))?;
    let is_text = matches!(content, Content::OpenCl | Content::Text);
    (is_text && path != "-").then(|| format!("#line 1 \"{path}\"\n").into_bytes())
}

/// The name of a source for debug information, if the compiler accepts such a name.
fn own_name(file: &Path) -> Option<&str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name = file.file_name()?.to_str()?;
    (name.ends_with(".cl") && !name.starts_with('-') && name.chars().all(plain)).then_some(name)
}

/// A folder for work, gone with the value.
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    fn new(parent: &Path) -> Result<Self, Failure> {
        let mut number = 0;
        loop {
            let path = parent.join(format!(".visakit-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(output::at(&path, &error)),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
