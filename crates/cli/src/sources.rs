//! Programs of every kind: sources are compiled first.

use crate::input::STDIN;
use crate::output::Failure;
use crate::reading::{Reading, told};
use crate::{Status, input, render};
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use visakit::isa::{Device, Platform};
use visakit_compile::{CompileError, DEFAULT_DEVICE, Program, compile, is_source};
use visakit_files::TemporaryFolder;
use visakit_launch::{Content, Dump, Input, LaunchError};

/// So much of a file tells what it is.
const TELLING: usize = 64 << 10;

/// How sources are compiled.
#[derive(clap::Args, Clone, Copy, Default)]
pub(crate) struct Building {
    /// Device that OpenCL C and SPIR-V are compiled for, such as dg2, pvc, a770 or b580. [default: that of --platform,
    /// or dg2]
    #[arg(long, value_name = "NAME", value_parser = word)]
    pub(crate) device: Option<&'static str>,
    /// Options for the compiler of OpenCL C, such as -D for macros.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true, value_parser = word)]
    pub(crate) options: Option<&'static str>,
    /// Whether the debugger needs variables of the source.
    #[arg(skip)]
    pub(crate) debug: bool,
    /// The SIMD width, if it is not the compiler's choice.
    #[arg(skip)]
    pub(crate) simd: Option<u32>,
}

/// A word of the command line, which lives as long as the process.
fn word(text: &str) -> Result<&'static str, std::convert::Infallible> {
    Ok(text.to_owned().leak())
}

/// What a compiler dumped, and its folder if that is temporary.
pub(crate) struct Dumped {
    pub(crate) dump: Dump,
    _folder: Option<TemporaryFolder>,
}

/// What a path leads to.
pub(crate) enum Opened {
    /// An object, texts, a compiled program.
    Program(Input),
    /// A folder of dumps, or a source that was compiled into one.
    Dump(Dumped),
}

impl Building {
    /// The device to compile for.
    pub(crate) fn device(self, platform: Option<Platform>) -> &'static str {
        let usual = || Device::of_platform(platform?).map(|device| device.name);
        self.device.or_else(usual).unwrap_or(DEFAULT_DEVICE)
    }

    /// Compiles a source, and says for which device if nothing said it.
    pub(crate) fn compile(
        self,
        path: &Path,
        bytes: &[u8],
        platform: Option<Platform>,
    ) -> Result<Dumped, Unopened> {
        let program = Program {
            device: self.device(platform),
            options: self.options.unwrap_or_default(),
            debug: self.debug,
            simd: self.simd,
            ..Program::new(path, bytes)
        };
        let folder = compile(&program)?;
        if self.device.is_none() && platform.is_none() {
            render::note(&format!(
                "{}: compiled for {DEFAULT_DEVICE}; --device names another",
                input::name(path)
            ));
        }
        Ok(Dumped {
            dump: dumped(path, folder.path())?,
            _folder: Some(folder),
        })
    }
}

/// What a compiler made of a source.
pub(crate) fn dumped(source: &Path, folder: &Path) -> Result<Dump, Unopened> {
    Dump::open(folder).map_err(|error| match error {
        // The folder is nothing that anybody knows of.
        LaunchError::NoDump { .. } => Unopened::NoKernel(source.to_owned()),
        error => error.into(),
    })
}

/// Refuses OpenCL C without a kernel, which nothing but its name tells from other text. Lines of vISA begin with a dot.
pub(crate) fn may_have_kernel(path: &Path, bytes: &[u8]) -> Result<(), Unopened> {
    let is_named = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("cl"));
    let is_plain = matches!(Content::of(bytes), Content::Text | Content::Empty)
        && std::str::from_utf8(bytes).is_ok();
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let is_visa = lines.any(|line| line.trim_ascii_start().starts_with(b"."));
    match is_named && is_plain && !is_visa {
        true => Err(Unopened::NoKernel(path.to_owned())),
        false => Ok(()),
    }
}

/// Refuses a device that nobody sells.
pub(crate) fn known_device(name: &str) -> Result<(), Failure> {
    if Platform::from_name(name).is_some() {
        return Ok(());
    }
    let like = visakit_compile::like(name, &[]);
    let like = like.map_or_else(String::new, |like| format!("; is {like} meant?"));
    Err(Failure::Other(format!(
        "no device is called `{name}`{like} `visakit platforms` lists families"
    )))
}

/// Why a path leads to no program.
pub(crate) enum Unopened {
    /// It holds none.
    Launch(LaunchError),
    /// It holds a source that was not compiled.
    Compile(CompileError),
    /// It holds code whose SIMD width is decided, and another one was asked for.
    Decided(PathBuf),
    /// It holds a source without a kernel.
    NoKernel(PathBuf),
}

/// What to do about a source without a kernel.
const KERNEL: &str = "a kernel is a function that begins with `__kernel void`";

fn no_kernel(path: &Path) -> String {
    format!(
        "{}: is OpenCL C or SPIR-V without a kernel",
        input::name(path)
    )
}

impl From<LaunchError> for Unopened {
    fn from(error: LaunchError) -> Self {
        Self::Launch(error)
    }
}

impl From<CompileError> for Unopened {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
    }
}

impl fmt::Display for Unopened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(error) => error.fmt(f),
            Self::Compile(error) => {
                error.fmt(f)?;
                error.help().map_or(Ok(()), |help| write!(f, "\n{help}"))
            }
            Self::Decided(path) => {
                let (message, help) = is_decided(path);
                write!(f, "{message}\n{help}")
            }
            Self::NoKernel(path) => write!(f, "{}\n{KERNEL}", no_kernel(path)),
        }
    }
}

impl From<Unopened> for Failure {
    fn from(error: Unopened) -> Self {
        match error {
            Unopened::Launch(error) => told(&[error], &[]),
            Unopened::Compile(error) => refused(&error),
            Unopened::Decided(path) => {
                let (message, help) = is_decided(&path);
                render::failure_with_help(&message, help);
                Self::Told(Status::Unusable)
            }
            Unopened::NoKernel(path) => {
                render::failure_with_help(&no_kernel(&path), KERNEL);
                Self::Told(Status::Unusable)
            }
        }
    }
}

/// What to say of code whose SIMD width is decided.
pub(crate) fn is_decided(path: &Path) -> (String, &'static str) {
    let message = format!(
        "{}: is compiled already, for one SIMD width",
        input::name(path)
    );
    (
        message,
        "--simd compiles a source for each width: name the OpenCL C or the SPIR-V",
    )
}

/// Reports why a source was not compiled; what is wrong with the source itself is a finding.
pub(crate) fn refused(error: &CompileError) -> Failure {
    let text = crate::output::printable_lines(&error.to_string());
    match error.help() {
        Some(help) => render::failure_with_help(&text, &help),
        None => render::failure(&text),
    }
    Failure::Told(match error {
        CompileError::Refused { .. } => Status::Findings,
        _ => Status::Unusable,
    })
}

/// Opens a file, a folder of dumps, or standard input for `-`; compiles sources.
pub(crate) fn open(path: &Path, reading: Reading) -> Result<Opened, Unopened> {
    if input::is_folder(path) {
        decided(path, reading)?;
        return Ok(Opened::Dump(Dumped {
            dump: Dump::open(path)?,
            _folder: None,
        }));
    }
    opened(path, &bytes(path)?, reading)
}

/// Opens what was read of a file by [`bytes`].
pub(crate) fn opened(path: &Path, bytes: &[u8], reading: Reading) -> Result<Opened, Unopened> {
    let beginning = bytes.get(..TELLING).unwrap_or(bytes);
    if is_source(Content::of(beginning)) {
        let dumped = reading.building.compile(path, bytes, reading.platform)?;
        return Ok(Opened::Dump(dumped));
    }
    may_have_kernel(path, bytes)?;
    decided(path, reading)?;
    let name = match path.as_os_str() == STDIN {
        true => Path::new("<stdin>"),
        false => path,
    };
    Ok(Opened::Program(Input::of(name, bytes)?))
}

/// Refuses another SIMD width for code that has one.
fn decided(path: &Path, reading: Reading) -> Result<(), Unopened> {
    match reading.building.simd {
        Some(_) => Err(Unopened::Decided(path.to_owned())),
        None => Ok(()),
    }
}

/// The content of a file, or of standard input for `-`. Of what holds neither a program nor metadata, its beginning.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, LaunchError> {
    if path.as_os_str() == STDIN {
        let stdin = crate::input::stdin().map_err(|source| cannot_read(path, source));
        return all(path, &mut stdin?);
    }
    let file = visakit_files::open(path).map_err(|source| cannot_read(path, source));
    all(path, &mut file?)
}

fn all(path: &Path, from: &mut dyn Read) -> Result<Vec<u8>, LaunchError> {
    let failed = |source| cannot_read(path, source);
    let mut bytes = Vec::new();
    let beginning = from.take(TELLING as u64).read_to_end(&mut bytes);
    beginning.map_err(failed)?;
    let content = Content::of(&bytes);
    if content.may_hold_visa() || is_source(content) || content == Content::ZeInfo {
        visakit_files::take(from, input::LARGEST, &mut bytes).map_err(failed)?;
    }
    Ok(bytes)
}

impl Opened {
    /// The program with all its kernels.
    pub(crate) fn input(self, path: &Path) -> Result<Input, LaunchError> {
        match self {
            Self::Program(input) => Ok(input),
            Self::Dump(dumped) => dumped.dump.input(path),
        }
    }
}

pub(crate) fn cannot_read(path: &Path, source: io::Error) -> LaunchError {
    LaunchError::Read {
        path: path.to_owned(),
        source,
    }
}
