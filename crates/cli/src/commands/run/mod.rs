//! `visakit run`: cases, OpenCL kernels, media kernels and bare routines.

mod arguments;
mod bare;
pub(crate) mod case;
mod control;
pub(crate) mod effect;
mod fault;
mod fill;
mod generate;
pub(crate) mod kernel;
mod media;
mod show;
pub(crate) mod simd;
mod spec;
mod stop;
mod trace;

pub(super) use control::session;
pub(super) use stop::why;

use crate::Status;
use crate::commands::checking::Checking;
use crate::commands::roundtrip::progress;
use crate::output::{self, Failure};
use crate::reading::{Reading, tell_faults, told};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use spec::{ArgSpec, InputSpec, OutSpec, SetSpec, SurfaceSpec};
use std::path::{Path, PathBuf};
use visakit::isa::Platform;
use visakit::isa::object::Object;
use visakit_check::{Checks, Report};
use visakit_exec::code::Liveness;
use visakit_exec::{Limits, Pass, Program};
use visakit_jit::Features;
use visakit_launch::{Case, Compile, Config, LaunchError, Source, find_kernel, grf_bytes_of, link};

/// Headings of the options.
const CASES: &str = "Cases";
const MEDIA: &str = "Media mode";
const BARE: &str = "Bare mode";
const MACHINE: &str = "How it runs, and what of it is shown";
const LIMITS: &str = "Limits";
const CHECKS: &str = "Checks";
const READING: &str = "Reading";

/// How kernels are launched.
#[derive(Clone, Default, clap::Args)]
pub(crate) struct Launching {
    /// Launch metadata: the text of a .ze_info section.
    #[arg(long, value_name = "FILE", conflicts_with = "zebin")]
    pub(crate) zeinfo: Option<PathBuf>,
    /// Launch metadata, constants and device from a compiled program (zebin).
    #[arg(long, value_name = "FILE")]
    pub(crate) zebin: Option<PathBuf>,
    /// Work-items in each dimension.
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',', num_args = 1)]
    pub(crate) global: Vec<u32>,
    /// Work-items of a group. [default: what the kernel requires, else up to 256]
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',', num_args = 1)]
    pub(crate) local: Vec<u32>,
    /// Global offset: added to the global ids in each dimension.
    #[arg(long, value_name = "X[,Y[,Z]]", value_delimiter = ',', num_args = 1)]
    pub(crate) offset: Vec<u32>,
    /// The arguments in order: buffer:FILE, FILE.npy (an array of NumPy), zeros:BYTES, random:BYTES[:TYPE],
    /// iota:BYTES[:TYPE] (0, 1, 2 …; the kernel's type by default), auto, same:N, null, 7 (of the kernel's type; several
    /// values separated by commas make a vector) or u32:7 (i8 to u64, f16, f32, f64), bytes:HEX, local:BYTES,
    /// image2d:FILE:WxH[:ORDER:TYPE[:PITCH]] (FILE may be zeros, random or iota; also image1d, image1d_buffer, image1d_array,
    /// image2d_array and image3d, with one to three sizes), sampler:[normalized,]ADDRESSING,FILTER. [default: all are auto: generated for the grid]
    #[arg(long = "arg", value_name = "SPEC", allow_hyphen_values = true)]
    pub(crate) args: Vec<ArgSpec>,
}

#[derive(Clone, clap::Args)]
#[command(after_long_help = "Examples:
  visakit run k.isa --kernel add --zeinfo k.zeinfo --global 1024 --local 64 \\
      --arg zeros:4096 --arg buffer:a.bin --arg f32:1.5 --out 0:c.bin
  visakit run add.cl --device dg2 --global 1024
  visakit run dumps/ --routine add --global 1024 --arg zeros:4096 \\
      --arg buffer:a.bin --arg f32:1.5
  visakit run --case cases/vecadd/skl
  visakit run copy.isa --kernel copy --media 4x4 --surface 0:in.bin:64x64 \\
      --surface 1:out.bin:64x64
  visakit run k.visaasm --bare --set V32=1,2,3 --print V33")]
pub(crate) struct Args {
    /// The program: an object or vISA text (texts of called functions may follow), a zebin that carries text, a folder
    /// of dumps, or OpenCL C or SPIR-V, which is compiled first.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Run cases: folders with a case.json, compare outputs.
    #[arg(help_heading = CASES, long, num_args = 1.., value_name = "DIR", conflicts_with_all = ["files", "routine", "global", "media", "bare"])]
    case: Vec<PathBuf>,
    /// For cases: run the compiler's text instead of the object.
    #[arg(help_heading = CASES, long, requires = "case")]
    from_text: bool,
    /// The kernel, by name or number. [default: the only one]
    #[arg(long, visible_alias = "kernel", value_name = "NAME|INDEX")]
    routine: Option<String>,
    #[command(flatten)]
    launching: Launching,
    /// Write the buffer of argument or input N to a file. [default: small buffers that changed are printed]
    #[arg(long, value_name = "N:FILE")]
    out: Vec<OutSpec>,
    /// Print the buffer of argument or input N as elements of a type.
    #[arg(long, value_name = "N:TYPE")]
    show: Vec<spec::ShowSpec>,
    /// Write what the kernel prints, and nothing of its buffers; of cases one after the other, before what comes of
    /// them.
    #[arg(long, conflicts_with_all = ["json", "media", "bare"])]
    printf: bool,
    /// Media mode: a 2D space of threads.
    #[arg(help_heading = MEDIA, long, value_name = "WxH", value_parser = spec::two, conflicts_with_all = ["bare", "global"])]
    media: Option<[u32; 2]>,
    /// Media mode: threads of a group, for kernels with local memory and barriers.
    #[arg(help_heading = MEDIA, long, value_name = "WxH", value_parser = spec::two, requires = "media")]
    group: Option<[u32; 2]>,
    /// Media mode: which threads wait for others: none, vertical, horizontal, wavefront, wavefront26.
    #[arg(help_heading = MEDIA, long, value_name = "PATTERN", value_parser = spec::dependency, requires = "media")]
    dependency: Option<visakit_launch::Dependency>,
    /// Media mode: a surface for input N (or entry N of the binding table: btiN). WIDTH in bytes.
    #[arg(help_heading = MEDIA, long, value_name = "N:FILE[:WIDTHxHEIGHT[:PITCH]]", requires = "media")]
    surface: Vec<SurfaceSpec>,
    /// Media mode: a value for input N, in numbers of the input's type.
    #[arg(
        help_heading = MEDIA,
        long,
        value_name = "N:VALUE",
        requires = "media",
        allow_hyphen_values = true
    )]
    input: Vec<InputSpec>,
    /// Bare mode: set variables by name, run one thread, print variables.
    #[arg(help_heading = BARE, long)]
    bare: bool,
    /// Bare mode: a variable's first content, elements separated by commas.
    #[arg(
        help_heading = BARE,
        long,
        value_name = "NAME=VALUE",
        requires = "bare",
        allow_hyphen_values = true
    )]
    set: Vec<SetSpec>,
    /// Bare mode: variables to print. [default: all that are not zero]
    #[arg(help_heading = BARE, long, value_name = "NAME", value_delimiter = ',', requires = "bare")]
    print: Vec<String>,
    /// Refuse programs with unsupported instructions even if they are not reached.
    #[arg(help_heading = MACHINE, long)]
    strict: bool,
    /// Refuse accesses outside of a buffer in its last page, too.
    #[arg(help_heading = MACHINE, long, alias = "exact-reads")]
    exact_ends: bool,
    /// Accesses outside of every buffer do nothing, and loads there give 0, as where a driver maps a page for them.
    #[arg(help_heading = MACHINE, long)]
    drop_outside: bool,
    /// Print every instruction with what it wrote. Runs thread after thread.
    #[arg(help_heading = MACHINE, long, conflicts_with_all = ["json", "case"])]
    trace: bool,
    /// Print the number of instructions and lane operations, the seconds, and lane operations a second.
    #[arg(help_heading = MACHINE, long)]
    stats: bool,
    /// Stop a work-group after this many instructions. [default: 10^12]
    #[arg(help_heading = LIMITS, long, value_name = "N")]
    max_steps: Option<u64>,
    /// Stop a run after this many instructions of all work-groups together. [default: 10^15]
    #[arg(help_heading = LIMITS, long, value_name = "N")]
    max_launch_steps: Option<u64>,
    /// Most bytes of registers, scratch and local memory that a work-group may have. [default: 1 GiB]
    #[arg(help_heading = LIMITS, long, value_name = "BYTES")]
    max_group_memory: Option<u64>,
    /// Most bytes of buffers, images, constants and private memory. [default: 64 GiB]
    #[arg(help_heading = LIMITS, long, value_name = "BYTES")]
    max_memory: Option<u64>,
    /// Stop after that time, as Ctrl-C does: what was computed so far is printed and written.
    #[arg(help_heading = LIMITS, long, value_name = "SECONDS", value_parser = stop::seconds)]
    timeout: Option<std::time::Duration>,
    /// For cases: take files from anywhere, not only from the folder of a case and beside it.
    #[arg(help_heading = CASES, long, requires = "case")]
    allow_outside: bool,
    /// Print the translated code of the kernel and of what it calls, and run nothing: after `all` passes, as it is
    /// without a value; as it was `translated`; or after the pass that is named
    #[arg(help_heading = MACHINE, long, value_name = "PASS", num_args = 0..=1, require_equals = true, default_missing_value = LAST, value_parser = shown(), hide_possible_values = true, conflicts_with_all = ["case", "media", "stats", "json"])]
    show_code: Option<String>,
    /// Print the machine code of the kernel and of what it calls, with the translated code between the lines, and run
    /// nothing: for this host, or for one with other features
    #[arg(help_heading = MACHINE, long, value_name = "HOST", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "asm", conflicts_with_all = ["case", "media", "bare", "trace", "stats", "json", "show_code"])]
    show_machine_code: Option<Listed>,
    /// Machine code for the host: when a program has run long enough for it to pay, at once, or never
    #[arg(help_heading = MACHINE, long, value_enum, value_name = "WHEN", default_value_t = Jit::Auto)]
    jit: Jit,
    /// No machine code, as --jit=never
    #[arg(help_heading = MACHINE, long, conflicts_with = "jit")]
    no_jit: bool,
    /// Compile a source for each of these SIMD widths, and compare what they leave in the buffers. [default: the width that
    /// the compiler chooses]
    #[arg(help_heading = MACHINE, long, value_name = "8,16,32", value_delimiter = ',', num_args = 1, value_parser = PossibleValuesParser::new(["8", "16", "32"]).map(|n| n.parse::<u32>().unwrap_or_default()), hide_possible_values = true, conflicts_with_all = ["case", "media", "bare", "trace", "stats", "show_code", "show_machine_code", "out", "show", "printf"])]
    simd: Vec<u32>,
    /// Number of host threads. [default: all]
    #[arg(help_heading = MACHINE, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Look for what is wrong while the kernel runs: kinds of checks, separated by commas; see `visakit check`.
    #[arg(help_heading = CHECKS, long = "check", value_name = "KINDS", value_delimiter = ',', conflicts_with_all = ["media", "bare", "trace", "stats", "show_code", "show_machine_code", "out", "show"])]
    kinds: Vec<String>,
    #[command(flatten, next_help_heading = CHECKS)]
    checking: Checking,
    #[command(flatten, next_help_heading = READING)]
    reading: Reading,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let pool = args.pool()?;
    // Not `install`: the command stays outside, only launches run in the pool.
    let run = || {
        args.named()?;
        if !args.simd.is_empty() {
            simd::run(args)
        } else if !args.case.is_empty() {
            case::run(args)
        } else if let Some(pass) = &args.show_code {
            show_code(args, pass)
        } else if let Some(listed) = args.show_machine_code {
            show_machine_code(args, listed)
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

/// Runs the arguments, which are not cases, under checks. The report has the output of the kernel.
pub(crate) fn check(args: &Args, checks: Checks) -> Result<Report<Vec<u8>>, Failure> {
    if args.bare {
        return bare::check(args, checks);
    }
    if args.media.is_some() {
        return media::check(args, checks);
    }
    kernel::check(args, checks)
}

/// Runs with a bar for that many groups on a terminal.
fn with_bar<R>(
    groups: u64,
    config: Config<'_>,
    run: impl FnOnce(&Config<'_>) -> Result<R, LaunchError>,
) -> Result<R, LaunchError> {
    let bar = progress(usize::try_from(groups).unwrap_or(usize::MAX));
    let count = |groups| bar.inc(groups);
    let result = run(&Config {
        progress: Some(&count),
        ..config
    });
    bar.finish_and_clear();
    result
}

/// Reports that a run was stopped, and that what follows is incomplete.
pub(crate) fn told_stopped() {
    stop::tell("not all groups had ended");
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

/// The host whose machine code is listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Listed {
    /// This one.
    Asm,
    /// One with AVX2.
    Avx2,
    /// One with AVX-512.
    Avx512,
}

impl Listed {
    /// Features of the host; `None` if machine code does not exist for it.
    fn features(self) -> Option<Features> {
        match self {
            Self::Asm => visakit_jit::Jit::host().map(|jit| jit.features()),
            Self::Avx2 => Some(Features::Avx2),
            Self::Avx512 => Some(Features::Avx512),
        }
    }
}

impl Args {
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.launching.zebin.is_none()
    }

    /// Whether there is anything to run.
    pub(crate) fn named(&self) -> Result<(), Failure> {
        if self.is_empty() && self.case.is_empty() {
            let what = "no program: name an object or a text, or cases with --case";
            return Err(Failure::Other(what.to_owned()));
        }
        Ok(())
    }

    pub(crate) fn kinds(&self) -> &[String] {
        &self.kinds
    }

    pub(crate) const fn checking(&self) -> &Checking {
        &self.checking
    }

    pub(crate) fn cases(&self) -> &[PathBuf] {
        &self.case
    }

    /// The arguments for each of two programs that are named; `None` for another number of them.
    pub(crate) fn halves(&self) -> Option<[Self; 2]> {
        let [old, new] = self.files.as_slice() else {
            return None;
        };
        Some([old, new].map(|path| Self {
            files: vec![path.clone()],
            ..self.clone()
        }))
    }

    /// Arguments that nobody has written yet.
    pub(crate) fn uninitialized(&self) -> Vec<usize> {
        let unset = self.launching.args.iter().enumerate();
        let unset = unset.filter(|(_, spec)| spec.is_uninitialized());
        unset.map(|(index, _)| index).collect()
    }

    /// The launch of a kernel of two programs that another command names.
    pub(crate) fn of_two(
        files: [&Path; 2],
        kernel: &str,
        launching: &Launching,
        reading: Reading,
    ) -> Result<Self, Failure> {
        #[derive(clap::Parser)]
        struct Words {
            #[command(flatten)]
            args: Args,
        }
        let words = <Words as clap::Parser>::try_parse_from(["run"]);
        let words = words.map_err(|error| Failure::Other(error.to_string()))?;
        Ok(Self {
            files: files.map(Path::to_owned).to_vec(),
            routine: Some(kernel.to_owned()),
            launching: launching.clone(),
            reading,
            ..words.args
        })
    }

    /// Takes the metadata from elsewhere.
    pub(crate) fn set_metadata(&mut self, zeinfo: Option<PathBuf>, zebin: Option<PathBuf>) {
        (self.launching.zeinfo, self.launching.zebin) = (zeinfo, zebin);
    }

    /// A case, which may name files as the arguments say.
    pub(crate) fn open_case(&self, path: &Path) -> Result<Case, LaunchError> {
        Ok(Case::open(path)?.allow_outside(self.allow_outside))
    }

    pub(crate) const fn takes_texts(&self) -> bool {
        self.from_text
    }

    /// Whether the output of the kernel is to be printed.
    pub(crate) const fn printf(&self) -> bool {
        self.printf
    }

    pub(crate) const fn json(&self) -> bool {
        self.reading.json
    }

    /// The platform that was given, or the one that sources are compiled for.
    pub(crate) fn platform(&self) -> Option<Platform> {
        let device = self.reading.building.device;
        self.reading
            .platform
            .or_else(|| Platform::from_name(device?))
    }

    /// The pool that launches run in, ready to be stopped from outside.
    pub(crate) fn pool(&self) -> Result<rayon::ThreadPool, Failure> {
        stop::watch(self)?;
        let threads = usize::from(self.threads.unwrap_or(0));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| Failure::Other(error.to_string()))
    }

    /// The name of the input, for a title.
    pub(crate) fn title(&self) -> String {
        match self.case.as_slice() {
            [] => self.name(),
            [case] => crate::input::name(case),
            [first, ..] => format!("{} and others", crate::input::name(first)),
        }
    }

    /// The kernel, or the program.
    pub(crate) fn name(&self) -> String {
        let first = self.files.first().or(self.launching.zebin.as_ref());
        let file = first.map_or_else(String::new, |path| crate::input::name(path));
        self.routine.clone().unwrap_or(file)
    }

    pub(crate) fn config(&self) -> Config<'static> {
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
            exact_ends: self.exact_ends,
            drops_outside: self.drop_outside,
            strict: self.strict,
            compile: match self.jit {
                Jit::Auto if !self.no_jit => visakit_jit::Jit::shared().map(Compile::when_it_pays),
                Jit::Always => visakit_jit::Jit::shared().map(Compile::always),
                Jit::Auto | Jit::Never => None,
            },
            ..default
        }
    }

    /// The programs that are named, opened.
    fn sources(&self) -> Result<Vec<Source>, Failure> {
        let mut sources = Vec::new();
        for path in &self.files {
            sources.extend(self.reading.open(path)?.sources);
        }
        Ok(sources)
    }

    /// The object that the sources assemble to, and the size of registers that it is for.
    fn object<'s>(
        &self,
        sources: &'s [Source],
        known: Option<u32>,
    ) -> Result<(Object<'s>, u32), Failure> {
        let mut how = self.reading.how(None);
        how.grf_bytes = how.grf_bytes.or(known);
        let linked = link(sources, &how).map_err(|errors| told(&errors, sources))?;
        tell_faults(&linked, sources);
        let mut grf_bytes = linked.grf_bytes;
        // What the kernel states takes precedence over what is stated for others.
        if how.grf_bytes.is_none()
            && let Ok((_, kernel)) = find_kernel(&linked.object, self.routine.as_deref())
        {
            grf_bytes = grf_bytes_of(kernel).or(grf_bytes);
        }
        Ok((linked.object, grf_bytes.unwrap_or(32)))
    }
}

/// The code as it is translated, for `--show-code`.
const TRANSLATED: &str = "translated";

/// The code after all passes, for `--show-code`.
const LAST: &str = "all";

/// The values that `--show-code` accepts.
fn shown() -> clap::builder::PossibleValuesParser {
    let passes = Pass::ALL.map(Pass::name);
    [LAST, TRANSLATED]
        .into_iter()
        .chain(passes)
        .collect::<Vec<_>>()
        .into()
}

/// Prints the translated code after a pass, or after all.
fn show_code(args: &Args, pass: &str) -> Result<Status, Failure> {
    let after = Pass::ALL.iter().position(|p| p.name() == pass);
    let passes = match after {
        Some(last) => Pass::ALL.get(..=last).unwrap_or_default(),
        None if pass == TRANSLATED => &[],
        None => &Pass::ALL,
    };
    let code = translated(args, passes)?.code().to_string();
    output::text(None, code.as_bytes())?;
    Ok(Status::Clean)
}

/// Prints the machine code that launches run.
fn show_machine_code(args: &Args, listed: Listed) -> Result<Status, Failure> {
    let program = translated(args, &Pass::ALL)?;
    let live = Liveness::new(program.code(), program.addressed(), false);
    let listing = |features| visakit_jit::listing(program.code(), live.as_ref(), features);
    let text = listed.features().and_then(listing).ok_or_else(|| {
        Failure::Other(
            "no machine code: this host or the program has none; --show-code prints what the interpreter runs"
                .to_owned(),
        )
    })?;
    output::text(None, text.as_bytes())?;
    Ok(Status::Clean)
}

/// The kernel, translated, after these passes.
fn translated(args: &Args, passes: &[Pass]) -> Result<Program, Failure> {
    let sources = args.sources()?;
    let (object, grf_bytes) = args.object(&sources, None)?;
    let program = || -> Result<Program, LaunchError> {
        let (kernel, _) = find_kernel(&object, args.routine.as_deref())?;
        let options = visakit_exec::Options {
            grf_bytes,
            strict: args.strict,
            passes: passes.to_vec(),
            ..visakit_exec::Options::default()
        };
        Ok(Program::new(&object, kernel, &options)?)
    };
    Ok(program()?)
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        told(&[error], &[])
    }
}
