//! From OpenCL C and SPIR-V to vISA with Intel's offline compiler, `ocloc`.
//!
//! [`compile`] runs the compiler on a program and returns the folder that it dumped into, which
//! [`visakit_launch::Dump`] reads. Devices have the names they are sold under ([`visakit_isa::Device`]). Errors say which
//! package has a compiler that is missing or does not know the device.
//!
//! ```no_run
//! use visakit_compile::Program;
//! use visakit_launch::{Argument, Config, NdRange};
//!
//! let source = b"kernel void k(global int *out) { out[get_global_id(0)] = 1; }";
//! let program = Program { device: "Arc A770", ..Program::new("k.cl".as_ref(), source) };
//! let kernel = program.kernel(None)?;
//! let outcome = kernel.run(&NdRange::new(&[8], &[8], &[])?, &[Argument::array(&[0_i32; 8])], &Config::default())?;
//! assert_eq!(outcome.array(0), Some(vec![1_i32; 8]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod device;
mod error;
mod finalizer;
mod source;

pub use device::{DEFAULT_DEVICE, compiler_name, like};
pub use error::CompileError;
pub use finalizer::{FINALIZER, FinalizerOptions, finalize, with_native_code};

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use visakit_files::TemporaryFolder;
use visakit_launch::{Content, Dump, Kernel};

/// The SIMD widths that kernels can have.
pub const WIDTHS: [u32; 3] = [8, 16, 32];

/// The variable that names the compiler.
pub const VARIABLE: &str = "VISAKIT_OCLOC";

/// A program to compile, and how.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// Its path: for debug information, messages, and the folder that it includes files from.
    pub path: &'a Path,
    /// OpenCL C or a module of SPIR-V.
    pub bytes: &'a [u8],
    /// The device, by one of its names.
    pub device: &'a str,
    /// Options for the compiler of OpenCL C.
    pub options: &'a str,
    /// Whether debuggers shall know the variables of OpenCL C; the code may be another then.
    pub debug: bool,
    /// The SIMD width, one of [`WIDTHS`]. [default: the compiler's choice; what a kernel requires goes before both]
    pub simd: Option<u32>,
    /// The compiler. [default: that of [`VARIABLE`], or `ocloc` in the path]
    pub compiler: Option<&'a Path>,
}

impl<'a> Program<'a> {
    /// A program for the default device, without options.
    #[must_use]
    pub const fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self {
            path,
            bytes,
            device: DEFAULT_DEVICE,
            options: "",
            debug: false,
            simd: None,
            compiler: None,
        }
    }

    /// Compiles it, and makes a kernel of it ready to be launched; the only one where no name is given.
    ///
    /// # Errors
    /// As [`compile`]; [`CompileError::Launch`] where there is no such kernel.
    pub fn kernel(&self, name: Option<&str>) -> Result<Kernel<'static>, CompileError> {
        let folder = compile(self)?;
        let dumped = Dump::open(folder.path())?.kernel(name)?;
        Ok(Kernel::from_dump(&dumped)?)
    }
}

/// Whether content has to be compiled before there is vISA.
#[must_use]
pub const fn is_source(content: Content) -> bool {
    matches!(content, Content::OpenCl | Content::SpirV)
}

/// Compiles a program; returns the folder that the compiler dumped into, which is gone with the value. A text that is
/// nothing else is taken for OpenCL C.
///
/// # Errors
/// [`CompileError`]: the bytes are no source, there is no compiler, it does not know the device, or it refuses the source.
pub fn compile(program: &Program<'_>) -> Result<TemporaryFolder, CompileError> {
    let content = Content::of(program.bytes);
    if !is_source(content) && content != Content::Text {
        return Err(CompileError::NotSource {
            path: program.path.to_owned(),
            content,
        });
    }
    if let Some(width) = program.simd.filter(|width| !WIDTHS.contains(width)) {
        return Err(CompileError::Width(width));
    }
    let temporary = std::env::temp_dir();
    let failed = |path: &Path, source: std::io::Error| CompileError::Io {
        path: path.to_owned(),
        source,
    };
    let folder = TemporaryFolder::new(&temporary, "visakit-compile")
        .map_err(|error| failed(&temporary, error))?;
    let input = folder.path().join(source::file_name(program.path, content));
    let text = source::text(program.path, program.bytes, content);
    visakit_files::scratch(&input, &text).map_err(|error| failed(&input, error))?;
    let compiler = compiler(program.compiler);
    let device = compiler_name(program.device);
    let called = call(&compiler, program, &device, content, &input, folder.path());
    let called = found(called).map_err(|error| failed(&compiler, error))?;
    let Some(output) = called else {
        return Err(CompileError::NoCompiler { compiler });
    };
    if output.status.success() {
        return Ok(folder);
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    if device::is_unknown(&said) {
        return Err(CompileError::UnknownDevice {
            given: program.device.to_owned(),
            known: device::known_to(&compiler),
            compiler,
        });
    }
    let name = program.path.to_string_lossy();
    let noise = |line: &&str| {
        !line.starts_with("Command was:") && !line.starts_with("Build failed with error code")
    };
    let said = said.replace(&*input.to_string_lossy(), &name);
    let lines: Vec<_> = said.lines().filter(noise).collect();
    Err(CompileError::Refused {
        said: lines.join("\n").trim().to_owned(),
    })
}

/// The compiler that is used where this one was asked for.
fn compiler(asked: Option<&Path>) -> PathBuf {
    let named = std::env::var_os(VARIABLE).filter(|name| !name.is_empty());
    let named = asked.map(PathBuf::from).or(named.map(PathBuf::from));
    named.unwrap_or_else(|| PathBuf::from("ocloc"))
}

/// What a program said, unless there is none. Where processes are imitated that is told by the exit code alone; with a message
/// it is of a program that is there, such as a library that it lacks.
fn found(output: std::io::Result<Output>) -> std::io::Result<Option<Output>> {
    const NO_SUCH_PROGRAM: i32 = 127;
    match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Ok(output)
            if output.status.code() == Some(NO_SUCH_PROGRAM)
                && output.stdout.is_empty()
                && output.stderr.is_empty() =>
        {
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// Runs the compiler, which dumps into the folder.
fn call(
    compiler: &Path,
    program: &Program<'_>,
    device: &str,
    content: Content,
    input: &Path,
    folder: &Path,
) -> std::io::Result<Output> {
    let mut command = Command::new(compiler);
    command.args(["compile", "-device", device, "-output_no_suffix"]);
    command.args(["-output", "program", "-file"]).arg(input);
    command.arg("-out_dir").arg(folder);
    if content == Content::SpirV {
        command.arg("-spirv_input");
        if !program.options.is_empty() {
            command.args(["-options", program.options]);
        }
    } else {
        command.args([
            "-options",
            &source::options(program.path, program.options, program.debug),
        ]);
    }
    let mut dumps = OsString::from(std::path::absolute(folder)?);
    dumps.push("/");
    // Makes the compiler dump vISA, and write a zebin if that is not the default yet.
    command.env("IGC_ShaderDumpEnable", "1");
    command.env("IGC_DumpToCustomDir", &dumps);
    command.env("IGC_EnableZEBinary", "1");
    if let Some(width) = program.simd {
        command.env("IGC_ForceOCLSIMDWidth", width.to_string());
    }
    command.output()
}
