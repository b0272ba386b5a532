//! OpenCL kernels on a grid.

mod launch;
mod team;

pub use launch::{Outcome, Prepared};
pub(crate) use team::Team;

use crate::agreement;
use crate::agreement::payload_inputs;
use crate::argument::Argument;
use crate::bind::{Others, bind};
use crate::config::Config;
use crate::dump::{DebugFiles, DumpedKernel, Metadata};
use crate::error::LaunchError;
use crate::implicit::Implicit;
use crate::input::{Input, Reading, link};
use crate::locals::LocalVariable;
use crate::ndrange::NdRange;
use crate::payload::Layout;
use crate::source::{Source, find_kernel, grf_bytes_of, texts_of_kernel};
use crate::structure;
use crate::turns::most_groups;
use crate::variables::Variables;
use crate::zebin::{DataSection, DataSymbol};
use crate::zeinfo::{ArgInfo, ArgType, KernelInfo, ZeInfo};
use std::sync::Arc;
use visakit_exec::{Examined, Observer, Options, Program};
use visakit_isa::DataType;
use visakit_isa::object::{Object, RoutineId};
use web_time::{Duration, Instant};

/// Least bytes of the buffer through which groups wait for each other.
const SYNC_BYTES: u64 = 64;

/// Bytes of the buffer for printf, as the OpenCL runtimes for this hardware have it.
const PRINTF_BYTES: usize = 4 << 20;

/// Private memory of a thread that calls functions with a stack is at least this, as the depth of calls is not known.
const STACK_BYTES: u64 = 64 << 10;

/// Most memory that all private memory together may take.
const MOST_PRIVATE: u64 = 8 << 30;

/// An object of somebody else, or the kernel's own.
#[derive(Clone, Debug)]
enum Held<'o> {
    Borrowed(&'o Object<'o>),
    Owned(Arc<Object<'static>>),
}

impl<'o> Held<'o> {
    fn get(&self) -> &Object<'o> {
        match self {
            Self::Borrowed(object) => object,
            Self::Owned(object) => object,
        }
    }
}

/// An OpenCL kernel with everything needed to start it.
///
/// ```
/// use visakit_launch::{Argument, Config, Kernel, NdRange};
///
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernels/");
/// # let (text, zebin) = (format!("{folder}lookup.pvc.visaasm"), format!("{folder}lookup.pvc.zebin"));
/// let kernel = Kernel::from_files(&[text.as_ref()], zebin.as_ref(), None)?;
/// let which = [0_i32, 1, 2, 3, 4, 5, 6, 7];
/// let arguments = [
///     Argument::Buffer(vec![0; 32]),
///     Argument::array(&which),
///     Argument::number(1000_i32),
/// ];
/// let outcome = kernel.run(&NdRange::new(&[8], &[8], &[])?, &arguments, &Config::default())?;
/// assert_eq!(outcome.array::<i32>(0), Some(vec![1000, 1001, 1004, 1027, 1016, 1125, 1036, 1343]));
/// # Ok::<(), visakit_launch::LaunchError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kernel<'o> {
    object: Held<'o>,
    routine: RoutineId,
    info: KernelInfo,
    args_info: Vec<ArgInfo>,
    /// Bytes of a register, 32 or 64. Found out from the object where that is possible; 32 otherwise.
    pub grf_bytes: u32,
    /// Program-scope variables.
    pub data: Vec<DataSection>,
    /// Their names and places.
    pub symbols: Vec<DataSymbol>,
    /// Its variables in local memory, where a dump names them ([`crate::DumpedKernel`]).
    pub locals: Vec<LocalVariable>,
    /// What debuggers need, where a dump has it.
    pub debug: Option<DebugFiles>,
}

/// The type of OpenCL C.
const fn in_source(ty: DataType) -> &'static str {
    match ty {
        DataType::B => "char",
        DataType::Ub => "uchar",
        DataType::W => "short",
        DataType::Uw => "ushort",
        DataType::D => "int",
        DataType::Ud => "uint",
        DataType::Q => "long",
        DataType::Uq => "ulong",
        DataType::Hf => "half",
        DataType::F => "float",
        DataType::Df => "double",
        other => other.name(),
    }
}

impl Kernel<'static> {
    /// The kernel of a dump ([`crate::Dump::kernel`]), with its variables and what debuggers need.
    ///
    /// # Errors
    /// [`LaunchError::NoMetadata`], and texts that cannot be assembled.
    pub fn from_dump(dumped: &DumpedKernel) -> Result<Self, LaunchError> {
        let missing = || LaunchError::NoMetadata {
            kernel: dumped.name.clone(),
        };
        let metadata = dumped.metadata.as_ref().ok_or_else(missing)?;
        let mut kernel = Self::of_sources(&dumped.sources, metadata, Some(&dumped.name))?;
        kernel.locals.clone_from(&dumped.locals);
        kernel.debug.clone_from(&dumped.debug);
        Ok(kernel)
    }

    /// A kernel of a compiled program (zebin) that carries vISA text; the only one where no name is given.
    ///
    /// # Errors
    /// [`LaunchError::NotAProgram`] if it carries none ([`Self::from_files`] takes the texts as well), and all that prevents
    /// reading it.
    pub fn from_zebin(zebin: &[u8], name: Option<&str>) -> Result<Self, LaunchError> {
        let input = Input::of("zebin".as_ref(), zebin)?;
        let missing = || LaunchError::NoMetadata {
            kernel: name.unwrap_or_default().to_owned(),
        };
        let metadata = Metadata::of("zebin".into(), input.zebin.ok_or_else(missing)?)?;
        Self::of_sources(texts_of_kernel(&input.sources, name), &metadata, name)
    }

    /// A kernel of texts or objects, with its metadata from a zebin or from the text of a `.ze_info`; the only kernel where
    /// no name is given.
    ///
    /// # Errors
    /// All that prevents reading the files.
    pub fn from_files(
        files: &[&std::path::Path],
        metadata: &std::path::Path,
        name: Option<&str>,
    ) -> Result<Self, LaunchError> {
        let opened = files.iter().map(|file| Ok(Input::open(file)?.sources));
        let sources: Result<Vec<_>, LaunchError> = opened.collect();
        Self::of_sources(&sources?.concat(), &Metadata::open(metadata)?, name)
    }

    fn of_sources(
        sources: &[Source],
        metadata: &Metadata,
        name: Option<&str>,
    ) -> Result<Self, LaunchError> {
        let zebin = metadata.zebin.as_ref();
        let stated = zebin.and_then(|zebin| zebin.grf_bytes);
        let how = Reading {
            grf_bytes: stated.or_else(|| metadata.zeinfo.grf_bytes()),
            ..Reading::default()
        };
        let linked = link(sources, &how).map_err(|errors| {
            let none = || LaunchError::Mismatch("no program was given".to_owned());
            errors.into_iter().next().unwrap_or_else(none)
        })?;
        let object = Arc::new(linked.object.into_owned());
        let (_, routine) = find_kernel(&object, name)?;
        let name = routine.display_name().into_owned();
        let mut kernel = Self::held(Held::Owned(object), &name, &metadata.zeinfo)?;
        kernel.grf_bytes = linked.grf_bytes.unwrap_or(kernel.grf_bytes);
        if let Some(zebin) = zebin {
            kernel.data.clone_from(&zebin.data);
            kernel.symbols.clone_from(&zebin.symbols);
        }
        Ok(kernel)
    }
}

impl<'o> Kernel<'o> {
    /// Checks that a number of this type, or for a pointer an array of such numbers, may be given for an argument, as far
    /// as the metadata state the type in the source: sizes must agree, and integers and floats are not interchangeable.
    /// Arrays of bytes hold anything.
    ///
    /// # Errors
    /// [`LaunchError::Argument`] names both types.
    pub fn check_type(&self, index: usize, given: DataType) -> Result<(), LaunchError> {
        let mut args = self.args_info.iter();
        let Some(info) = args.find(|a| usize::try_from(a.index) == Ok(index)) else {
            return Ok(());
        };
        let (what, raw) = match info.is_pointer() {
            true => ("the array has elements", given.size() == 1),
            false => ("the value is", false),
        };
        match info.element() {
            Some(wanted)
                if !raw
                    && (wanted.is_float() != given.is_float() || wanted.size() != given.size()) =>
            {
                let (name, wanted) = (&info.name, info.type_in_source());
                let given = in_source(given);
                let message = format!("`{name}` is of type {wanted}, {what} of type {given}");
                Err(LaunchError::Argument { index, message })
            }
            _ => Ok(()),
        }
    }

    /// The kernel of that name.
    ///
    /// # Errors
    /// [`LaunchError::NoSuchKernel`] if the object or the metadata do not have it.
    pub fn new(object: &'o Object<'o>, name: &str, zeinfo: &ZeInfo) -> Result<Self, LaunchError> {
        Self::held(Held::Borrowed(object), name, zeinfo)
    }

    fn held(object: Held<'o>, name: &str, zeinfo: &ZeInfo) -> Result<Self, LaunchError> {
        let (routine, found) = find_kernel(object.get(), Some(name))?;
        Ok(Self {
            routine,
            info: zeinfo.kernel(name)?.clone(),
            args_info: zeinfo.args_info(name).to_vec(),
            grf_bytes: grf_bytes_of(found).unwrap_or(32),
            object,
            data: Vec::new(),
            symbols: Vec::new(),
            locals: Vec::new(),
            debug: None,
        })
    }

    /// The object that it is of.
    #[must_use]
    pub fn object(&self) -> &Object<'o> {
        self.object.get()
    }

    /// The metadata.
    #[must_use]
    pub const fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// The default size of groups: what the kernel requires, or else [`NdRange::default_local`].
    #[must_use]
    pub fn local_size(&self, global: &[u32]) -> Vec<u32> {
        let required = &self.info.execution_env.required_work_group_size;
        if required.iter().any(|&n| n > 0) {
            return required.clone();
        }
        NdRange::default_local(global)
    }

    /// Names and types of the arguments, if the compiler wrote them down.
    #[must_use]
    pub fn args_info(&self) -> &[ArgInfo] {
        &self.args_info
    }

    /// Runs the kernel over a grid, groups in parallel on the threads of the current rayon pool.
    ///
    /// # Errors
    /// Those of [`Self::prepare`], and [`LaunchError::Fault`] if a group faulted.
    pub fn run(
        &self,
        range: &NdRange,
        arguments: &[Argument],
        config: &Config<'_>,
    ) -> Result<Outcome, LaunchError> {
        self.prepare(range, arguments, config)?.run(config)
    }

    /// Runs the kernel group after group and thread after thread, telling an observer of everything.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_observed(
        &self,
        range: &NdRange,
        arguments: &[Argument],
        config: &Config<'_>,
        observer: &mut impl Observer,
    ) -> Result<Outcome, LaunchError> {
        self.prepare(range, arguments, config)?
            .run_observed(config, observer)
    }

    /// Translates the kernel and lays out memory and payload.
    ///
    /// # Errors
    /// Arguments or a grid that do not match the kernel, and kernels that cannot be translated.
    pub fn prepare(
        &self,
        range: &NdRange,
        arguments: &[Argument],
        config: &Config<'_>,
    ) -> Result<Prepared, LaunchError> {
        let variables = if config.lenient {
            let (data, symbols) = DataSection::apart(&self.data, &self.symbols);
            Variables::new(&data, &symbols)?
        } else {
            Variables::new(&self.data, &self.symbols)?
        };
        self.load(&Arc::new(variables), config)?
            .launch(range, arguments, None, config)
    }

    /// Translates the kernel, to start it many times. The variables are those of all kernels of the program.
    ///
    /// # Errors
    /// Kernels that cannot be translated.
    pub fn load(
        &self,
        variables: &Arc<Variables>,
        config: &Config<'_>,
    ) -> Result<Loaded, LaunchError> {
        let started = Instant::now();
        self.info.is_provided()?;
        let options = Options {
            symbols: variables.symbols.clone(),
            ..config.options(self.grf_bytes)
        };
        let mut program = Program::new(self.object(), self.routine, &options)?;
        if let Some(compile) = &config.compile {
            program.examine_registers(Examined::Never);
            compile.apply(&mut program);
        }
        let translation = started.elapsed();
        let inputs = payload_inputs(&program);
        let layout = Layout::new(&self.info, &inputs, self.grf_bytes)?;
        let routine = self.object().routine(self.routine);
        if let Some(body) = routine.and_then(|routine| routine.body()) {
            agreement::check(body, &self.info, &program, &layout)?;
        }
        Ok(Loaded {
            program: Arc::new(program),
            info: Arc::new(self.info.clone()),
            args_info: self.args_info.clone(),
            layout,
            variables: Arc::clone(variables),
            translation,
        })
    }
}

/// A kernel that is translated, with the variables of its program.
#[derive(Clone, Debug)]
pub struct Loaded {
    program: Arc<Program>,
    info: Arc<KernelInfo>,
    args_info: Vec<ArgInfo>,
    layout: Layout,
    variables: Arc<Variables>,
    translation: Duration,
}

impl Loaded {
    /// The metadata.
    #[must_use]
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// The translated program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The variables of the program.
    #[must_use]
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Lays out memory and payload. Besides the arguments, the kernel reaches `others` through pointers in memory.
    ///
    /// # Errors
    /// Arguments or a grid that do not match the kernel.
    pub fn launch(
        &self,
        range: &NdRange,
        arguments: &[Argument],
        others: Option<&Others>,
        config: &Config<'_>,
    ) -> Result<Prepared, LaunchError> {
        self.check_count(arguments.len())?;
        self.check_grid(range)?;
        let info = structure::resolved(&self.info, arguments, &self.program, &self.layout)?;
        let info = info.map_or_else(|| Arc::clone(&self.info), Arc::new);
        let mut bound = bind(
            (&info, self.layout.grf_bytes),
            arguments,
            &self.variables,
            others,
            config,
        )?;
        let drops = config.lenient || config.drops_outside;
        bound.memory.set_lenient(drops);
        let layout = self.layout.clone();
        let threads = u64::from(layout.threads(range.local));
        let payloads = threads.saturating_mul(layout.bytes.into());
        if payloads > config.limits.max_bytes {
            return Err(LaunchError::TooLarge {
                what: "the payloads of a group",
                bytes: payloads,
                limit: config.limits.max_bytes,
            });
        }
        let workers = u64::try_from(rayon::current_num_threads()).unwrap_or(1);
        let workers = workers.min(range.group_count()).max(1);
        let private = self.private_bytes();
        if private > 0 {
            let bytes = private.saturating_mul(threads).saturating_mul(workers);
            if bytes > MOST_PRIVATE {
                return Err(LaunchError::TooLarge {
                    what: "private memory",
                    bytes,
                    limit: MOST_PRIVATE,
                });
            }
            bound.private_base = bound.add_zeroes(bytes)?;
        }
        let implicit = self.needs_implicit();
        if implicit || self.payload_has(&ArgType::PrintfBuffer) {
            bound.add_printf(PRINTF_BYTES)?;
        }
        if implicit || self.payload_has(&ArgType::AssertBuffer) {
            bound.add_assert()?;
        }
        if self.needs_all_groups() {
            let (most, groups) = (self.most_groups(range.local), range.group_count());
            if groups > most {
                return Err(LaunchError::Grid(format!(
                    "the groups wait for each other: of this size at most {most} can, not {groups}"
                )));
            }
            // A byte for each group, in whole words.
            let bytes = range.group_count().max(SYNC_BYTES);
            bound.sync = bound.add_zeroes(bytes.next_multiple_of(8))?;
        }
        let walk = self.walk();
        let implicit = if implicit {
            Some(Implicit::new(&mut bound, range, &layout, walk)?)
        } else {
            None
        };
        Ok(Prepared {
            program: Arc::clone(&self.program),
            info,
            args_info: self.args_info.clone(),
            walk,
            layout,
            range: *range,
            arguments: arguments.iter().map(Argument::without_content).collect(),
            bound,
            implicit,
            private,
            scratch: self.scratch_bytes(),
            workers,
            translation: self.translation,
            reaches_others: others.is_some_and(|others| others.expected > 0),
        })
    }

    /// Whether its groups wait for each other, through a buffer that the launch gives them: then all have to begin before
    /// one of them ends.
    #[must_use]
    pub fn needs_all_groups(&self) -> bool {
        self.payload_has(&ArgType::SyncBuffer)
    }

    /// How many groups of a size can wait for each other.
    #[must_use]
    pub fn most_groups(&self, local: [u32; 3]) -> u64 {
        let threads = usize::try_from(self.layout.threads(local)).unwrap_or(usize::MAX);
        most_groups(threads) as u64
    }

    /// Whether functions of the kernel may use implicit arguments.
    fn needs_implicit(&self) -> bool {
        let env = &self.info.execution_env;
        env.has_stack_calls || env.require_iab || self.payload_has(&ArgType::ImplicitArgBuffer)
    }

    fn check_count(&self, given: usize) -> Result<(), LaunchError> {
        let least = usize::try_from(self.info.argument_count()).unwrap_or(0);
        let expected = if self.args_info.is_empty() {
            least
        } else {
            self.args_info.len()
        };
        // Without names, trailing arguments that the kernel does not use leave no trace.
        if given == expected || (self.args_info.is_empty() && given > least) {
            return Ok(());
        }
        let names = self
            .args_info
            .iter()
            .map(|arg| format!("{} {}", arg.type_in_source(), arg.name));
        let names: Vec<_> = names.collect();
        Err(LaunchError::ArgumentCount {
            expected,
            given,
            hint: if names.is_empty() {
                String::new()
            } else {
                format!(": {}", names.join(", "))
            },
        })
    }

    fn check_grid(&self, range: &NdRange) -> Result<(), LaunchError> {
        range.check()?;
        let stated = [
            &self.info.execution_env.required_work_group_size,
            &self.info.user_attributes.reqd_work_group_size,
        ];
        let required = stated.into_iter().find(|r| r.iter().any(|&n| n > 0));
        let required = required.map_or(&[][..], Vec::as_slice);
        if required.iter().any(|&n| n > 0) && required.iter().zip(range.local).any(|(a, b)| *a != b)
        {
            let [x, y, z] = range.local;
            return Err(LaunchError::Grid(format!(
                "the kernel runs in groups of {required:?} only, not of [{x}, {y}, {z}]"
            )));
        }
        Ok(())
    }

    fn payload_has(&self, kind: &ArgType) -> bool {
        self.info
            .payload_arguments
            .iter()
            .any(|a| a.arg_type == *kind)
    }

    /// Order of the dimensions that local ids run through, the fastest first.
    fn walk(&self) -> [usize; 3] {
        let stated = &self.info.execution_env.work_group_walk_order_dimensions;
        let stated = stated.iter().filter_map(|d| usize::try_from(*d).ok());
        let mut order: Vec<usize> = Vec::new();
        for dimension in stated.chain(0..3) {
            if dimension < 3 && !order.contains(&dimension) {
                order.push(dimension);
            }
        }
        order.try_into().unwrap_or([0, 1, 2])
    }

    /// Private memory in flat memory that a thread needs, a multiple of a page.
    fn private_bytes(&self) -> u64 {
        if !self.payload_has(&ArgType::PrivateBaseStateless) {
            return 0;
        }
        let simd = u64::from(self.info.execution_env.simd_size);
        let buffers = self.info.per_thread_memory_buffers.iter();
        let stated = buffers.filter(|b| b.kind == "global").map(|b| {
            let factor = if b.is_simt_thread { simd } else { 1 };
            u64::from(b.size) * factor
        });
        let stated = stated.max().unwrap_or(0);
        let least = if self.info.execution_env.has_stack_calls {
            STACK_BYTES
        } else {
            0
        };
        stated.max(least).max(1).next_multiple_of(4096)
    }

    fn scratch_bytes(&self) -> usize {
        usize::try_from(self.info.scratch_bytes()).unwrap_or(usize::MAX)
    }
}
