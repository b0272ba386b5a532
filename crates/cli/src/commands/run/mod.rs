//! `visakit run`: cases, OpenCL kernels, media kernels and bare routines.

mod bare;
mod case;
mod kernel;
mod media;
mod show;
mod spec;
mod stop;
mod trace;

use super::Reading;
use super::asm::one_byte_each;
use crate::output::Failure;
use crate::{Status, render};
use spec::{ArgSpec, InputSpec, OutSpec, SetSpec, SurfaceSpec};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use visakit::isa::Platform;
use visakit_exec::{Compiler, Limits, Program};
use visakit_launch::{Compile, Config, LaunchError, Source, grf_bytes_of};

#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  visakit run k.isa --kernel add --zeinfo k.zeinfo --global 1024 --local 64 \\
      --arg zeros:4096 --arg buffer:a.bin --arg f32:1.5 --out 0:c.bin
  visakit run --case cases/vecadd/skl
  visakit run copy.isa --kernel copy --media 4x4 --surface 0:in.bin:64x64 --surface 1:out.bin:64x64
  visakit run k.visaasm --bare --set V32=1,2,3 --print V33")]
pub(crate) struct Args {
    /// The program: an object or vISA text; texts of called functions may follow.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Run cases: folders with a case.json, compare outputs.
    #[arg(long, num_args = 1.., value_name = "DIR", conflicts_with_all = ["files", "kernel", "global", "media", "bare"])]
    case: Vec<PathBuf>,
    /// For cases: run the compiler's text instead of the object.
    #[arg(long, requires = "case")]
    from_text: bool,
    /// The kernel. [default: the only one]
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Launch metadata: the text of a .ze_info section.
    #[arg(long, value_name = "FILE", conflicts_with = "zebin")]
    zeinfo: Option<PathBuf>,
    /// Launch metadata, constants and device from a compiled program (zebin).
    #[arg(long, value_name = "FILE")]
    zebin: Option<PathBuf>,
    /// Work-items in each dimension.
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',', num_args = 1)]
    global: Vec<u32>,
    /// Work-items of a group. [default: what the kernel requires, else up to 256]
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',', num_args = 1)]
    local: Vec<u32>,
    /// Global offset: added to the global ids in each dimension.
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',', num_args = 1)]
    offset: Vec<u32>,
    /// The arguments in order: buffer:FILE, zeros:BYTES, same:N, null, u32:7 (i8 to u64, f16, f32, f64; several
    /// values separated by commas make a vector), bytes:HEX, local:BYTES, image2d:FILE:WxH[:ORDER:TYPE[:PITCH]] (also
    /// image1d, image1d_buffer, image1d_array, image2d_array and image3d, with one to three sizes),
    /// sampler:[normalized,]ADDRESSING,FILTER.
    #[arg(long = "arg", value_name = "SPEC", allow_hyphen_values = true)]
    args: Vec<ArgSpec>,
    /// Write the buffer of argument or input N to a file. [default: small buffers that changed are printed]
    #[arg(long, value_name = "N:FILE")]
    out: Vec<OutSpec>,
    /// Print the buffer of argument or input N as elements of a type.
    #[arg(long, value_name = "N:TYPE")]
    show: Vec<spec::ShowSpec>,
    /// Media mode: a 2D space of threads.
    #[arg(long, value_name = "WxH", value_parser = spec::two, conflicts_with_all = ["bare", "global"])]
    media: Option<[u32; 2]>,
    /// Media mode: threads of a group, for kernels with local memory and barriers.
    #[arg(long, value_name = "WxH", value_parser = spec::two, requires = "media")]
    group: Option<[u32; 2]>,
    /// Media mode: which threads wait for others: none, vertical, horizontal, wavefront, wavefront26.
    #[arg(long, value_name = "PATTERN", value_parser = spec::dependency, requires = "media")]
    dependency: Option<visakit_launch::Dependency>,
    /// Media mode: a surface for input N (or entry N of the binding table: btiN). WIDTH in bytes.
    #[arg(long, value_name = "N:FILE[:WIDTHxHEIGHT[:PITCH]]", requires = "media")]
    surface: Vec<SurfaceSpec>,
    /// Media mode: a value for input N, in numbers of the input's type.
    #[arg(
        long,
        value_name = "N:VALUE",
        requires = "media",
        allow_hyphen_values = true
    )]
    input: Vec<InputSpec>,
    /// Bare mode: set variables by name, run one thread, print variables.
    #[arg(long)]
    bare: bool,
    /// Bare mode: a variable's first content, elements separated by commas.
    #[arg(
        long,
        value_name = "NAME=VALUE",
        requires = "bare",
        allow_hyphen_values = true
    )]
    set: Vec<SetSpec>,
    /// Bare mode: variables to print. [default: all that are not zero]
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "bare")]
    print: Vec<String>,
    /// Platform, which tells the size of a register. [default: found out, else one with 32 bytes]
    #[arg(long, value_name = "NAME")]
    platform: Option<Platform>,
    /// Refuse programs with unsupported instructions even if they are not reached.
    #[arg(long)]
    strict: bool,
    /// Refuse reads outside of a buffer in its last page, too; else they give zeroes.
    #[arg(long)]
    exact_reads: bool,
    /// Print every instruction with what it wrote. Runs thread after thread.
    #[arg(long, conflicts_with_all = ["json", "case"])]
    trace: bool,
    /// Print the number of instructions and lane operations, the seconds, and lane operations a second.
    #[arg(long)]
    stats: bool,
    /// Stop a work-group after this many instructions. [default: 10^12]
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
    /// Stop a run after this many instructions of all work-groups together. [default: 10^15]
    #[arg(long, value_name = "N")]
    max_launch_steps: Option<u64>,
    /// Most bytes of registers, scratch and local memory that a work-group may have. [default: 1 GiB]
    #[arg(long, value_name = "BYTES")]
    max_group_memory: Option<u64>,
    /// Most bytes of buffers, images, constants and private memory. [default: 64 GiB]
    #[arg(long, value_name = "BYTES")]
    max_memory: Option<u64>,
    /// Stop after that time, as Ctrl-C does: what was computed so far is printed and written.
    #[arg(long, value_name = "SECONDS", value_parser = stop::seconds)]
    timeout: Option<std::time::Duration>,
    /// Print the translated code of the kernel and of what it calls, and run nothing
    #[arg(long, conflicts_with_all = ["case", "media", "stats", "json"])]
    show_code: bool,
    /// Machine code for the host: when a program has run long enough for it to pay, at once, or never
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Jit::Auto)]
    jit: Jit,
    /// The same as --jit=never
    #[arg(long, conflicts_with = "jit")]
    no_jit: bool,
    /// Number of host threads. [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    stop::watch(args)?;
    let threads = usize::from(args.threads.unwrap_or(0));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Failure::Other(error.to_string()))?;
    // Not `install`: the command stays outside, only launches run in the pool.
    let run = || {
        if !args.case.is_empty() {
            case::run(args)
        } else if args.show_code {
            show_code(args)
        } else if args.files.is_empty() && args.zebin.is_none() {
            Err(Failure::Other(
                "no program: name an object or a text, or cases with --case".to_owned(),
            ))
        } else if args.bare {
            bare::run(args)
        } else if args.media.is_some() {
            media::run(args)
        } else {
            kernel::run(args)
        }
    };
    pool.install(run)
}

/// When machine code is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Jit {
    /// When a program has run long enough for it to pay.
    Auto,
    /// Before a program runs.
    Always,
    /// The interpreter runs everything.
    Never,
}

/// The compiler for this host, if there is one.
fn compiler() -> Option<&'static Arc<dyn Compiler>> {
    static COMPILER: LazyLock<Option<Arc<dyn Compiler>>> = LazyLock::new(|| {
        let jit = visakit_jit::Jit::host()?;
        Some(Arc::new(jit) as Arc<dyn Compiler>)
    });
    COMPILER.as_ref()
}

impl Args {
    fn config(&self) -> Config<'static> {
        let mut limits = Limits::default();
        if let Some(steps) = self.max_steps {
            limits.max_steps = steps;
        }
        if let Some(bytes) = self.max_group_memory {
            limits.max_bytes = bytes;
        }
        let default = Config::default();
        Config {
            limits,
            max_steps: self.max_launch_steps.unwrap_or(default.max_steps),
            max_memory: self.max_memory.unwrap_or(default.max_memory),
            interrupt: Some(stop::interrupt()),
            exact_reads: self.exact_reads,
            strict: self.strict,
            compile: match self.jit {
                Jit::Auto if !self.no_jit => compiler().map(Compile::when_it_pays),
                Jit::Always => compiler().map(Compile::always),
                Jit::Auto | Jit::Never => None,
            },
            progress: None,
        }
    }

    fn sources(&self) -> Result<Vec<Source>, LaunchError> {
        self.files.iter().map(|path| Source::open(path)).collect()
    }

    /// The object that the sources make, and the size of registers that it is for.
    fn object<'s>(
        &self,
        sources: &'s [Source],
        known: Option<u32>,
    ) -> Result<(visakit::isa::object::Object<'s>, u32), LaunchError> {
        let options = self.reading.options();
        let known = self.platform.map(Platform::grf_bytes).or(known);
        let object = Source::link_with(sources, known.unwrap_or(32), options)?;
        if known.is_some() {
            return Ok((object, known.unwrap_or(32)));
        }
        let kernel = visakit_launch::find_kernel(&object, self.kernel.as_deref());
        let found = kernel.ok().and_then(|(_, kernel)| grf_bytes_of(kernel));
        match found {
            // Places in texts count registers, so they are read again with the right size.
            Some(bytes) if bytes != 32 && sources.iter().any(|s| !s.is_object()) => {
                Ok((Source::link_with(sources, bytes, options)?, bytes))
            }
            _ => Ok((object, found.unwrap_or(32))),
        }
    }
}

/// Prints the translated code.
fn show_code(args: &Args) -> Result<Status, Failure> {
    let code = || -> Result<String, (LaunchError, Vec<Source>)> {
        let sources = args.sources().map_err(|error| (error, Vec::new()))?;
        let listing = || -> Result<String, LaunchError> {
            let (object, grf_bytes) = args.object(&sources, None)?;
            let (kernel, _) = visakit_launch::find_kernel(&object, args.kernel.as_deref())?;
            let options = visakit_exec::Options {
                grf_bytes,
                strict: args.strict,
                ..visakit_exec::Options::default()
            };
            Ok(Program::new(&object, kernel, &options)?.code().to_string())
        };
        listing().map_err(|error| (error, sources))
    };
    match code() {
        Ok(listing) => {
            anstream::stdout().write_all(listing.as_bytes())?;
            Ok(Status::Clean)
        }
        Err((error, sources)) => Ok(report(&error, &sources)),
    }
}

/// Tells of an error in the best way there is for it, and how the command ends. What the program did wrong is a finding,
/// what keeps it from running makes the input unusable.
fn report(error: &LaunchError, sources: &[Source]) -> Status {
    let bytes_of = |path: &Path| sources.iter().find(|s| s.path == path).map(|s| &s.bytes);
    match error {
        LaunchError::Assemble { path, faults } => {
            let text = one_byte_each(bytes_of(path).map_or(&[][..], |b| b));
            for fault in faults {
                render::text_error(path, &text, fault);
            }
            Status::Unusable
        }
        LaunchError::Decode { path, error } => {
            render::read_error(path, bytes_of(path).map_or(&[][..], |b| b), error);
            Status::Unusable
        }
        LaunchError::Fault { .. } | LaunchError::Steps(_) => {
            render::failure(&error.to_string());
            Status::Findings
        }
        _ => {
            render::failure(&error.to_string());
            Status::Unusable
        }
    }
}
