//! OpenCL kernels on a grid.

use crate::agreement;
use crate::argument::Argument;
use crate::bind::{Bound, bind};
use crate::effort::{Done, Effort};
use crate::error::{LaunchError, zeroes};
use crate::facts::Facts;
use crate::implicit::Implicit;
use crate::ndrange::NdRange;
use crate::objects::{LocalObject, MemoryObject, ObjectKind};
use crate::payload::Layout;
use crate::source::{find_kernel, grf_bytes_of};
use crate::value;
use crate::variables::Variables;
use crate::zebin::{DataSection, DataSymbol};
use crate::zeinfo::{ArgInfo, ArgType, KernelInfo, ZeInfo};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use visakit_exec::code::StepCounts;
use visakit_exec::memory::Storage;
use visakit_exec::{
    Compiler, Counters, Fault, Group, InputClass, Interrupt, Limits, Memory, Observer, Options,
    Program, ThreadStart,
};
use visakit_isa::DataType;
use visakit_isa::object::{Object, RoutineId};
use web_time::{Duration, Instant};

/// Bytes of the buffer for printf, as the OpenCL runtimes for this hardware have it.
const PRINTF_BYTES: usize = 4 << 20;

/// Private memory of a thread that calls functions with a stack is at least this, as the depth of calls is not known.
const STACK_BYTES: u64 = 64 << 10;

/// Bytes between arguments in local memory that are to stand apart.
const LOCAL_GUARD: u64 = 256;

/// Most memory that all private memory together may take.
const MOST_PRIVATE: u64 = 8 << 30;

/// An OpenCL kernel with what is needed to start it.
#[derive(Clone, Debug)]
pub struct Kernel<'o> {
    object: &'o Object<'o>,
    routine: RoutineId,
    info: KernelInfo,
    args_info: Vec<ArgInfo>,
    /// Bytes of a register, 32 or 64. Found out from the object where that is possible; 32 otherwise.
    pub grf_bytes: u32,
    /// Program-scope variables.
    pub data: Vec<DataSection>,
    /// Their names and places.
    pub symbols: Vec<DataSymbol>,
}

/// How to run.
#[derive(Clone, Copy)]
pub struct Config<'a> {
    /// Bounds for each group.
    pub limits: Limits,
    /// Instructions of all groups together. By default ten times what the largest devices execute before drivers
    /// reset them.
    pub max_steps: u64,
    /// Most bytes of global memory: buffers, images, program-scope variables and private memory.
    pub max_memory: u64,
    /// Stops the run when it is raised, within milliseconds; the outcome then is what was computed so far.
    pub interrupt: Option<&'a Interrupt>,
    /// Whether reads outside of a buffer are a fault even in its last page; see [`Memory::set_exact_reads`].
    pub exact_reads: bool,
    /// Whether accesses that would be a fault are dropped, and arguments in local memory stand apart; see
    /// [`Memory::set_lenient`].
    pub lenient: bool,
    /// Whether an unsupported instruction is an error even if it is not reached.
    pub strict: bool,
    /// Makes machine code of the program. Without one the interpreter runs everything.
    pub compile: Option<Compile<'a>>,
    /// Whether programs count what runs; see [`Program::take_counts`].
    pub count: bool,
    /// Is called with the number of groups that have ended since it was called last, from any thread.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

/// When machine code is made, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct Compile<'a> {
    /// The compiler.
    pub compiler: &'a Arc<dyn Compiler>,
    /// How often each instruction of the program runs, on average, before it is asked; 0: at once.
    pub after: u64,
}

impl<'a> Compile<'a> {
    /// Runs of each instruction of a program, on average, that pay for compiling it: what compiling
    /// takes is divided by what machine code saves.
    const RUNS: u64 = 1000;

    /// Compiles what runs long enough to pay.
    #[must_use]
    pub const fn when_it_pays(compiler: &'a Arc<dyn Compiler>) -> Self {
        Self {
            compiler,
            after: Self::RUNS,
        }
    }

    /// Compiles at once.
    #[must_use]
    pub const fn always(compiler: &'a Arc<dyn Compiler>) -> Self {
        Self { compiler, after: 0 }
    }

    pub(crate) fn apply(&self, program: &mut Program) {
        let size = u64::try_from(program.instruction_count()).unwrap_or(u64::MAX);
        let after = self.after.saturating_mul(size.max(1));
        program.compile_with(Arc::clone(self.compiler), after);
    }
}

impl Default for Config<'_> {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            max_steps: 1_000_000_000_000_000,
            max_memory: 64 << 30,
            interrupt: None,
            exact_reads: false,
            lenient: false,
            strict: false,
            compile: None,
            count: false,
            progress: None,
        }
    }
}

impl std::fmt::Debug for Config<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Config");
        out.field("limits", &self.limits)
            .field("max_steps", &self.max_steps)
            .field("max_memory", &self.max_memory)
            .field("exact_reads", &self.exact_reads)
            .field("strict", &self.strict);
        out.finish_non_exhaustive()
    }
}

/// What a run left behind.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What all threads did together.
    pub counters: Counters,
    /// Groups that ran to their ends.
    pub groups: u64,
    /// Whether the run was interrupted before all groups had ended: memory then holds what was computed so far.
    pub stopped: bool,
    /// Time to translate.
    pub translation: Duration,
    /// Instructions translated.
    pub translated: usize,
    /// Whether machine code was made.
    pub compiled: bool,
    /// What was counted of each step of the program, if [`Config::count`] asked for it. Launches of one [`Loaded`] at
    /// the same time share their counters.
    pub counts: Option<Vec<StepCounts>>,
    /// Time to run.
    pub time: Duration,
    /// What the kernel printed, as the hardware's buffer has it; the format strings are in the program's constants.
    pub printf: Vec<u8>,
    /// The same as text.
    pub printed: Vec<u8>,
    memory: Vec<Option<Vec<u8>>>,
}

impl Outcome {
    /// Content of the buffer or image that an argument is.
    #[must_use]
    pub fn memory(&self, argument: usize) -> Option<&[u8]> {
        self.memory.get(argument)?.as_deref()
    }
}

impl<'o> Kernel<'o> {
    /// Whether a value of this type may be given for an argument, as far as the metadata tell the type of the source:
    /// whole numbers and floats are not exchanged.
    ///
    /// # Errors
    /// [`LaunchError::Argument`] names both types.
    pub fn check_type(&self, index: usize, given: DataType) -> Result<(), LaunchError> {
        let mut args = self.args_info.iter();
        let Some(info) = args.find(|a| usize::try_from(a.index) == Ok(index)) else {
            return Ok(());
        };
        let name = info.type_name.split(';').next().unwrap_or_default();
        let scalar = name.trim_end_matches(|c: char| c.is_ascii_digit());
        match value::type_of(scalar) {
            Some(wanted)
                if wanted.is_float() != given.is_float() || wanted.size() != given.size() =>
            {
                let message = format!(
                    "`{}` is of type {name}, the value is of type {given}",
                    info.name
                );
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
        let (routine, found) = find_kernel(object, Some(name))?;
        Ok(Self {
            object,
            routine,
            info: zeinfo.kernel(name)?.clone(),
            args_info: zeinfo.args_info(name).to_vec(),
            grf_bytes: grf_bytes_of(found).unwrap_or(32),
            data: Vec::new(),
            symbols: Vec::new(),
        })
    }

    /// The object that it is of.
    #[must_use]
    pub const fn object(&self) -> &'o Object<'o> {
        self.object
    }

    /// What the metadata say.
    #[must_use]
    pub const fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// Names and types of the arguments, if the compiler wrote them down.
    #[must_use]
    pub fn args_info(&self) -> &[ArgInfo] {
        &self.args_info
    }

    /// Runs the kernel over a grid, groups in parallel on the threads of the current rayon pool.
    ///
    /// # Errors
    /// What [`Self::prepare`] says, and [`LaunchError::Fault`] of a group that faulted.
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
    /// Arguments that are not what the kernel takes, a grid that it does not take, and kernels that cannot be
    /// translated.
    pub fn prepare(
        &self,
        range: &NdRange,
        arguments: &[Argument],
        config: &Config<'_>,
    ) -> Result<Launch, LaunchError> {
        let variables = Variables::new(&self.data, &self.symbols)?;
        self.load(&Arc::new(variables), config)?
            .launch(range, arguments, &[], config)
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
        let options = Options {
            grf_bytes: self.grf_bytes,
            strict: config.strict,
            symbols: variables.symbols.clone(),
            count: config.count,
            ..Options::default()
        };
        let mut program = Program::new(self.object, self.routine, &options)?;
        if let Some(compile) = &config.compile {
            compile.apply(&mut program);
        }
        let translation = started.elapsed();
        let inputs: Vec<_> = program
            .inputs()
            .iter()
            .filter(|input| input.class == InputClass::General)
            .map(|input| (small(input.image_offset), small(input.size)))
            .collect();
        let layout = Layout::new(&self.info, &inputs, self.grf_bytes)?;
        let routine = self.object.routine(self.routine);
        if let Some(body) = routine.and_then(|routine| routine.body()) {
            agreement::check(body, &self.info, &inputs, &layout)?;
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
    /// What the metadata say.
    #[must_use]
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// The variables of the program.
    #[must_use]
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Lays out memory and payload. Besides the arguments, the kernel reaches `reachable`: storage and the addresses
    /// where it stands.
    ///
    /// # Errors
    /// Arguments that are not what the kernel takes, and a grid that it does not take.
    pub fn launch(
        &self,
        range: &NdRange,
        arguments: &[Argument],
        reachable: &[(u64, Storage)],
        config: &Config<'_>,
    ) -> Result<Launch, LaunchError> {
        self.check_count(arguments.len())?;
        self.check_grid(range)?;
        let mut bound = bind(
            &self.info,
            arguments,
            &self.variables,
            reachable,
            (
                config.max_memory,
                if config.lenient { LOCAL_GUARD } else { 0 },
            ),
        )?;
        bound.memory.set_lenient(config.lenient);
        bound.memory.set_exact_reads(config.exact_reads);
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
        if implicit || self.payload_has(ArgType::PrintfBuffer) {
            bound.add_printf(PRINTF_BYTES)?;
        }
        let walk = self.walk();
        let implicit = if implicit {
            Some(Implicit::new(&mut bound, range, &layout, walk)?)
        } else {
            None
        };
        Ok(Launch {
            program: Arc::clone(&self.program),
            info: Arc::clone(&self.info),
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
        })
    }

    /// Whether functions of the kernel may ask for implicit arguments.
    fn needs_implicit(&self) -> bool {
        let env = &self.info.execution_env;
        env.has_stack_calls || env.require_iab || self.payload_has(ArgType::ImplicitArgBuffer)
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
        let names = self.args_info.iter().map(|arg| {
            let kind = arg.type_name.split(';').next().unwrap_or_default();
            format!("{kind} {}", arg.name)
        });
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

    fn payload_has(&self, kind: ArgType) -> bool {
        self.info
            .payload_arguments
            .iter()
            .any(|a| a.arg_type == kind)
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
        if !self.payload_has(ArgType::PrivateBaseStateless) {
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

/// A kernel that is ready to run, with its memory.
#[derive(Debug)]
pub struct Launch {
    pub(crate) program: Arc<Program>,
    pub(crate) info: Arc<KernelInfo>,
    /// Names and types of the arguments, if the compiler wrote them down.
    pub(crate) args_info: Vec<ArgInfo>,
    pub(crate) walk: [usize; 3],
    pub(crate) layout: Layout,
    pub(crate) range: NdRange,
    /// Without the contents of buffers and images.
    arguments: Vec<Argument>,
    pub(crate) bound: Bound,
    implicit: Option<Implicit>,
    /// Private memory of a thread.
    private: u64,
    /// Scratch memory of a thread.
    scratch: usize,
    workers: u64,
    translation: Duration,
}

impl Launch {
    /// The translated program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Runs all groups in parallel.
    ///
    /// # Errors
    /// [`LaunchError::Fault`] of the first group that faulted: it stops the others. [`LaunchError::Steps`].
    pub fn run(self, config: &Config<'_>) -> Result<Outcome, LaunchError> {
        let workers = self.workers;
        self.run_with(&Effort::new(config), workers)
    }

    pub(crate) fn run_with(
        self,
        effort: &Effort<'_>,
        workers: u64,
    ) -> Result<Outcome, LaunchError> {
        let started = Instant::now();
        let done = effort.all(
            (0, self.range.group_count()),
            workers,
            |slot| Team::new(&self, slot),
            |team, number, done| team.run(number, effort, done, &mut ()),
        )?;
        self.outcome(done, started)
    }

    /// Runs all groups one after the other, telling an observer of everything.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_observed(
        self,
        config: &Config<'_>,
        observer: &mut impl Observer,
    ) -> Result<Outcome, LaunchError> {
        let started = Instant::now();
        let effort = Effort::new(config);
        let mut team = Team::new(&self, 0);
        let done = effort.each(0..self.range.group_count(), |number, done| {
            team.run(number, &effort, done, observer)
        })?;
        drop(team);
        self.outcome(done, started)
    }

    /// Runs all groups in parallel. Those that `watched` picks by their numbers run in the interpreter and tell an
    /// observer of everything, one for each worker; what these saw comes back with the outcome.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_sampled<O: Observer + Send>(
        self,
        config: &Config<'_>,
        watched: impl Fn(u64) -> bool + Sync,
        observer: impl Fn() -> O,
    ) -> Result<(Outcome, Vec<O>), LaunchError> {
        let started = Instant::now();
        let effort = Effort::new(config);
        let observers: Vec<_> = (0..self.workers).map(|_| Mutex::new(observer())).collect();
        let done = effort.all(
            (0, self.range.group_count()),
            self.workers,
            |slot| (Team::new(&self, slot), slot),
            |(team, slot), number, done| {
                let own = usize::try_from(*slot).ok().and_then(|s| observers.get(s));
                match own.filter(|_| watched(number)) {
                    // Nobody else has the observer of this worker.
                    Some(own) => {
                        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
                        team.run(number, &effort, done, &mut *own)
                    }
                    None => team.run(number, &effort, done, &mut ()),
                }
            },
        )?;
        let observers = observers.into_iter();
        let seen = observers.map(|o| o.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok((self.outcome(done, started)?, seen.collect()))
    }

    /// As [`Self::run_observed`], going on with the next group after one that faulted, as long as `fault` wants it.
    ///
    /// # Errors
    /// As [`Self::run`]; the fault of a group only if `fault` breaks.
    pub fn run_watched(
        self,
        config: &Config<'_>,
        observer: &mut impl Observer,
        mut fault: impl FnMut([u32; 3], &Fault) -> ControlFlow<()>,
    ) -> Result<Outcome, LaunchError> {
        let started = Instant::now();
        let effort = Effort::new(config);
        let mut team = Team::new(&self, 0);
        let groups = 0..self.range.group_count();
        let done = effort.each(groups, |number, done| {
            match team.run(number, &effort, done, observer) {
                Err(LaunchError::Fault {
                    group: Some(at),
                    fault: found,
                }) if fault(at, &found).is_continue() => Ok(()),
                other => other,
            }
        })?;
        drop(team);
        self.outcome(done, started)
    }

    /// The grid.
    #[must_use]
    pub const fn range(&self) -> &NdRange {
        &self.range
    }

    /// What the metadata say.
    #[must_use]
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// Work-items of a thread.
    #[must_use]
    pub const fn simd(&self) -> u32 {
        self.layout.simd
    }

    /// Threads of a full group.
    #[must_use]
    pub fn threads_of_group(&self) -> u32 {
        self.layout.threads(self.range.local)
    }

    /// Order of the dimensions that work-items run through, the fastest first.
    #[must_use]
    pub const fn walk(&self) -> [usize; 3] {
        self.walk
    }

    /// Private memory of a thread in flat memory.
    #[must_use]
    pub const fn private_bytes(&self) -> u64 {
        self.private
    }

    /// What stands in flat memory.
    #[must_use]
    pub fn objects(&self) -> Vec<MemoryObject> {
        let mut objects = self.bound.objects();
        for object in &mut objects {
            if self.private > 0 && object.address == self.bound.private_base {
                object.kind = ObjectKind::Private;
            }
        }
        objects
    }

    /// What stands in local memory.
    #[must_use]
    pub fn local_objects(&self) -> Vec<LocalObject> {
        let own = LocalObject {
            start: 0,
            bytes: self.info.execution_env.slm_size.into(),
            argument: None,
        };
        let arguments = self.bound.locals.iter();
        let arguments = arguments.map(|&(index, start, bytes)| LocalObject {
            start,
            bytes,
            argument: Some(index),
        });
        std::iter::once(own).chain(arguments).collect()
    }

    fn outcome(self, done: Done, started: Instant) -> Result<Outcome, LaunchError> {
        Ok(Outcome {
            counters: done.counters,
            groups: done.groups,
            stopped: done.stopped,
            translation: self.translation,
            translated: self.program.instruction_count(),
            compiled: self.program.is_compiled(),
            counts: self.program.take_counts(),
            time: started.elapsed(),
            printf: self.bound.printf_bytes(),
            printed: self.printed(),
            memory: self.bound.contents()?,
        })
    }

    /// What the kernel has printed by now, as text. What cannot be read, or is more than 64 MiB, is left out.
    #[must_use]
    pub fn printed(&self) -> Vec<u8> {
        crate::printf::text(&self.bound.printf_bytes(), &self.bound)
    }

    /// Global memory.
    #[must_use]
    pub const fn memory(&self) -> &Memory {
        &self.bound.memory
    }

    /// Content of the buffers and images that arguments are, by argument, as it is now.
    ///
    /// # Errors
    /// More memory than can be had.
    pub fn contents(&self) -> Result<Vec<Option<Vec<u8>>>, LaunchError> {
        self.bound.contents()
    }

    /// Number of groups of the grid.
    #[must_use]
    pub fn group_count(&self) -> u64 {
        self.range.group_count()
    }

    fn facts(&self, local: [u32; 3]) -> Facts<'_> {
        Facts {
            range: &self.range,
            local,
            arguments: &self.arguments,
            places: &self.bound.places,
            private_base: self.bound.private_base,
            printf: self.bound.printf_address(),
            constants: self.bound.section(&[".data.const", ".bss.const"]),
            globals: self.bound.section(&[".data.global", ".bss.global"]),
            implicit: self.implicit.as_ref().map_or(0, |i| i.address(local)),
        }
    }
}

/// What one worker keeps from group to group: the threads' registers and payloads.
pub(crate) struct Team<'l> {
    launch: &'l Launch,
    /// Number of the worker, which tells its piece of private memory.
    slot: u64,
    group: Group,
    starts: Vec<ThreadStart>,
    /// The size of groups that `starts` are for.
    local: Option<[u32; 3]>,
}

impl<'l> Team<'l> {
    pub(crate) fn new(launch: &'l Launch, slot: u64) -> Self {
        Self {
            launch,
            slot,
            group: Group::default(),
            starts: Vec::new(),
            local: None,
        }
    }

    fn run(
        &mut self,
        number: u64,
        effort: &Effort<'_>,
        done: &mut Done,
        observer: &mut impl Observer,
    ) -> Result<(), LaunchError> {
        let at = self.start(number, effort.limits())?;
        observer.group(at, self.launch.range.local_of(at));
        let parts = (&mut self.group, &*self.launch.program, self.launch.memory());
        effort.run(number, parts, observer, done, |fault| at_group(at, fault))
    }

    /// Gets the threads of a group ready, and tells its place in the grid.
    fn start(&mut self, number: u64, limits: &Limits) -> Result<[u32; 3], LaunchError> {
        let launch = self.launch;
        let at = launch.range.group(number);
        let local = launch.range.local_of(at);
        if self.local != Some(local) {
            self.local = None;
            self.fill(local)?;
            self.local = Some(local);
        }
        let implicit = launch.implicit.as_ref().map_or(0, |i| i.place(local));
        for (thread, start) in (0_u32..).zip(&mut self.starts) {
            let image = &mut start.image;
            launch.layout.write_header(image, at, thread, implicit);
            start.group_id = at;
        }
        let (program, slm) = (&*launch.program, launch.bound.slm_bytes);
        self.group
            .reset(program, slm, &self.starts, limits)
            .map_err(|fault| at_group(at, fault))?;
        Ok(at)
    }

    /// The group, ready to run.
    pub(crate) fn started(mut self, number: u64, limits: &Limits) -> Result<Group, LaunchError> {
        self.start(number, limits)?;
        Ok(self.group)
    }

    /// Lays out the payloads of the threads of a group of that size.
    fn fill(&mut self, local: [u32; 3]) -> Result<(), LaunchError> {
        let launch = self.launch;
        let layout = &launch.layout;
        let facts = launch.facts(local);
        let bytes = usize::try_from(layout.bytes).unwrap_or(0);
        let payload = || zeroes("the payload of a thread", bytes);
        let mut shared = payload()?;
        layout.write_cross_thread(&mut shared, &launch.info, &facts)?;
        let most = u64::from(layout.threads(launch.range.local));
        let first = self.slot.saturating_mul(most);
        self.starts.clear();
        for thread in 0..layout.threads(local) {
            let mut image = payload()?;
            image.copy_from_slice(&shared);
            layout.write_local_ids(&mut image, local, launch.walk, thread);
            if launch.private > 0 {
                // Every thread believes to be the first of the machine, and has its own memory.
                let number = first.saturating_add(thread.into());
                let place = number.saturating_mul(launch.private);
                let facts = Facts {
                    private_base: launch.bound.private_base.saturating_add(place),
                    ..facts
                };
                layout.write_private_base(&mut image, &launch.info, &facts)?;
            }
            let mask = layout.live_lanes(local, thread);
            self.starts.push(ThreadStart {
                image,
                mask,
                sr0: [0, 0, mask, 0],
                local_size: local,
                group_count: launch.range.groups(),
                scratch_bytes: launch.scratch,
                ..ThreadStart::default()
            });
        }
        Ok(())
    }
}

fn at_group(group: [u32; 3], fault: visakit_exec::Fault) -> LaunchError {
    LaunchError::Fault {
        group: Some(group),
        fault: Box::new(fault),
    }
}

fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Addresses of symbols.
pub(crate) type Symbols = BTreeMap<String, u64>;
