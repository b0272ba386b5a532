//! Programs of every kind: sources are compiled first.

use crate::input::STDIN;
use crate::output::Failure;
use crate::reading::{Reading, told};
use crate::{Status, input, render};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use visakit::isa::{Device, Platform};
use visakit_compile::{CompileError, DEFAULT_DEVICE, Program, compile, is_source};
use visakit_files::TemporaryFolder;
use visakit_launch::{Content, Dump, Input, LaunchError};

/// So much of a file tells what it is.
const TELLING: u64 = 64 << 10;

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
            dump: Dump::open(folder.path())?,
            _folder: Some(folder),
        })
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
                let (message, help) = decided(path);
                write!(f, "{message}\n{help}")
            }
        }
    }
}

impl From<Unopened> for Failure {
    fn from(error: Unopened) -> Self {
        match error {
            Unopened::Launch(error) => told(&[error], &[]),
            Unopened::Compile(error) => refused(&error),
            Unopened::Decided(path) => {
                let (message, help) = decided(&path);
                render::failure_with_help(&message, help);
                Self::Told(Status::Unusable)
            }
        }
    }
}

/// What to say of code whose SIMD width is decided.
pub(crate) fn decided(path: &Path) -> (String, &'static str) {
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
    let decided = || match reading.building.simd {
        Some(_) => Err(Unopened::Decided(path.to_owned())),
        None => Ok(()),
    };
    if crate::input::is_folder(path) {
        decided()?;
        return Ok(Opened::Dump(Dumped {
            dump: Dump::open(path)?,
            _folder: None,
        }));
    }
    let found = if path.as_os_str() == STDIN {
        read("<stdin>".as_ref(), &mut io::stdin().lock())?
    } else {
        let file = File::open(path).map_err(|source| cannot_read(path, source));
        read(path, &mut file?)?
    };
    match found {
        Found::Program(input) => {
            decided()?;
            Ok(Opened::Program(input))
        }
        Found::Source(bytes) => {
            let dumped = reading.building.compile(path, &bytes, reading.platform)?;
            Ok(Opened::Dump(dumped))
        }
    }
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

/// The content of a file.
enum Found {
    Program(Input),
    Source(Vec<u8>),
}

fn read(path: &Path, from: &mut dyn Read) -> Result<Found, LaunchError> {
    let failed = |source| cannot_read(path, source);
    let mut bytes = Vec::new();
    from.take(TELLING).read_to_end(&mut bytes).map_err(failed)?;
    if !is_source(Content::of(&bytes)) {
        return Input::of(path, bytes.as_slice().chain(from)).map(Found::Program);
    }
    from.read_to_end(&mut bytes).map_err(failed)?;
    Ok(Found::Source(bytes))
}

fn cannot_read(path: &Path, source: io::Error) -> LaunchError {
    LaunchError::Read {
        path: path.to_owned(),
        source,
    }
}
