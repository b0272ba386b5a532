//! Configurations: a compiler, a device, options and a size of sub-groups.

use crate::ast::{Program, Statement, Together};
use crate::compiler::{Call, Compiled, Compiler};
use crate::machine::{self, Launching, Memory, Ran};
use crate::render::{MATRIX, source_for};
use crate::second::{Answer, Answered, Launch, Request, Second};
use crate::smaller::Smaller;
use crate::switches::Switch;
use crate::through::Through;
use crate::types::Scalar;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::io;
use visakit_launch::{Argument, DumpedKernel};

/// A way to compile programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// What compiles and runs.
    pub maker: Maker,
    /// The name of that in reports.
    pub release: String,
    /// The device; empty for a second opinion.
    pub device: String,
    /// The version of the language.
    pub standard: &'static str,
    /// Options for OpenCL C.
    pub options: String,
    /// Work-items of a sub-group, if that is demanded.
    pub sub_group: Option<u32>,
    /// Work-items of a sub-group that multiplies matrices.
    pub matrix: u32,
    /// Switches of the compiler.
    pub switches: Vec<Switch>,
    /// What changes the SPIR-V on the way, by its number, and its name in reports.
    pub through: Option<(usize, String)>,
}

/// What compiles a program and runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// A compiler by its number, and the machine of this project.
    Compiler(usize),
    /// Another implementation of OpenCL by its number.
    Second(usize),
}

impl Configuration {
    /// What a maker makes without any options.
    pub(crate) fn of(maker: Maker, release: &str, device: &str) -> Self {
        Self {
            maker,
            release: release.to_owned(),
            device: device.to_owned(),
            standard: STANDARDS[0],
            options: String::new(),
            sub_group: None,
            matrix: MATRIX,
            switches: Vec::new(),
            through: None,
        }
    }

    /// A name for reports.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = format!("{} {}", self.release, self.device);
        name.truncate(name.trim_end().len());
        if !self.options.is_empty() {
            name.push(' ');
            name.push_str(&self.options);
        }
        if let Some(size) = self.sub_group {
            name.push_str(&format!(" simd{size}"));
        }
        for switch in &self.switches {
            name.push_str(&format!(" {switch}"));
        }
        if let Some((_, through)) = &self.through {
            name.push_str(&format!(" through {through}"));
        }
        name
    }

    /// The version of the language and the options.
    pub(crate) fn all_options(&self) -> String {
        let both = format!("{} {}", self.standard, self.options);
        both.trim().to_owned()
    }

    /// The source that it compiles.
    pub(crate) fn source(&self, programs: &[&Program]) -> String {
        source_for(programs, self.sub_group, self.matrix)
    }

    /// Whether it can run a program: it has what that needs, and the size of sub-groups is that of matrices, if there are some.
    pub(crate) fn fits(&self, has: &BTreeSet<Need>, program: &Program) -> bool {
        let sized = self.sub_group.is_none_or(|size| size == self.matrix);
        (sized || !program.is_fixed()) && Need::of(program).iter().all(|need| has.contains(need))
    }

    /// Whether it compiles without optimisation.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.options.contains("-cl-opt-disable")
    }

    /// Whether it is a compiler that is tested, and not a second opinion.
    #[must_use]
    pub const fn is_tested(&self) -> bool {
        matches!(self.maker, Maker::Compiler(_))
    }
}

/// What not every device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// Anything at all.
    Kernel,
    /// `half`
    Half,
    /// `double`
    Double,
    /// `intel_sub_group_shuffle_xor`
    Shuffle,
    /// `work_group_reduce_add` and others
    Reduce,
    /// `intel_sub_group_block_read` and others
    Block,
    /// `intel_sub_group_2d_block_read_16b_1r16x1c`
    Block2,
    /// `intel_sub_group_i8_i8_matrix_mad_k32` and others
    Matrix,
    /// `read_imageui` and others
    Image,
    /// A size of sub-groups.
    SubGroup(u32),
}

impl Need {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Kernel,
        Self::Half,
        Self::Double,
        Self::Shuffle,
        Self::Reduce,
        Self::Block,
        Self::Block2,
        Self::Matrix,
        Self::Image,
        Self::SubGroup(8),
        Self::SubGroup(16),
        Self::SubGroup(32),
    ];

    /// Those that mean the same in each implementation of OpenCL: sub-groups have sizes of their own elsewhere.
    pub(crate) const PORTABLE: [Self; 4] = [Self::Kernel, Self::Half, Self::Double, Self::Reduce];

    /// A kernel that needs it.
    fn probe(self, number: usize, matrix: u32) -> String {
        let (before, ty, value) = match self {
            Self::Kernel => (String::new(), "uint", "p[0]"),
            Self::Half => (extension("fp16"), "half", "p[0] * p[1]"),
            Self::Double => (extension("fp64"), "double", "p[0] * p[1]"),
            Self::Shuffle => (
                String::new(),
                "uint",
                "intel_sub_group_shuffle_xor(p[get_global_id(0)], 1u)",
            ),
            Self::Reduce => (String::new(), "uint", "work_group_reduce_add(p[0])"),
            Self::Block => (
                String::new(),
                "ushort",
                "intel_sub_group_block_read_us(p) + (ushort)intel_sub_group_block_read((__global uint *)p)",
            ),
            Self::Block2 => (
                sized(16),
                "ushort",
                "0; ushort b; intel_sub_group_2d_block_read_16b_1r16x1c(p, 64, 1, 64, (int2)(0, 0), &b); p[0] = b",
            ),
            Self::Matrix => (
                sized(matrix),
                "int",
                match matrix {
                    8 => "intel_sub_group_i8_u8_matrix_mad_k32(p[0], (uint8)(1), 2)",
                    _ => "intel_sub_group_i8_u8_matrix_mad_k32((short)p[0], (uint8)(1), 2)",
                },
            ),
            Self::SubGroup(size) => (sized(size), "uint", "p[0]"),
            Self::Image => {
                return format!(
                    "__kernel void k{number}(read_only image2d_t m, write_only image2d_t d) {{ write_imageui(d, (int2)(0, 0), \
                     read_imageui(m, (int2)(0, 0))); }}\n"
                );
            }
        };
        format!(
            "{before}__kernel void k{number}(__global {ty} *p) {{ p[get_global_id(0)] = {value}; }}\n"
        )
    }

    /// What a program needs.
    #[must_use]
    pub fn of(program: &Program) -> Vec<Self> {
        let mut needs = vec![Self::Kernel];
        let used = program.scalars_used();
        for (scalar, need) in [(Scalar::Half, Self::Half), (Scalar::Double, Self::Double)] {
            if used.contains(&scalar) {
                needs.push(need);
            }
        }
        if !program.images.is_empty() || !program.drawn.is_empty() {
            needs.push(Self::Image);
        }
        program.each_statement(&mut |statement| {
            if let Statement::Together(_, _, together) = statement {
                match together {
                    Together::Shuffle(_) => needs.push(Self::Shuffle),
                    Together::Reduce(_) => needs.push(Self::Reduce),
                    Together::Block(_) => needs.push(Self::Block),
                    Together::Block2(_) => needs.push(Self::Block2),
                    Together::Matrix(_) => needs.push(Self::Matrix),
                    Together::Exchange(_) => {}
                }
            }
        });
        needs
    }
}

fn sized(size: u32) -> String {
    format!("__attribute__((intel_reqd_sub_group_size({size})))\n")
}

fn extension(name: &str) -> String {
    format!("#pragma OPENCL EXTENSION cl_khr_{name} : enable\n")
}

/// What a compiler made of a program and what that computes.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    /// The buffers, and the kernel.
    Memory(Memory, Box<DumpedKernel>),
    /// The buffers, of a second opinion.
    Second(Memory),
    /// The kernel faults, or does not end.
    Fault(String, Box<DumpedKernel>),
    /// The compiler crashed.
    Crash(String),
    /// The compiler did not end.
    Endless,
    /// The compiler refused the source.
    Refused(String),
    /// The executor cannot run the kernel.
    Not(String),
}

impl Made {
    /// Whether it is anything but the expected buffers, and of what kind.
    pub(crate) fn wrong(&self, expected: &Memory) -> Option<&'static str> {
        match self {
            Self::Memory(memory, _) | Self::Second(memory) => {
                (memory != expected).then_some("miscompile")
            }
            Self::Fault(..) => Some("fault"),
            Self::Crash(_) => Some("crash"),
            Self::Endless => Some("endless"),
            Self::Refused(_) | Self::Not(_) => None,
        }
    }

    /// The buffers.
    pub(crate) const fn memory(&self) -> Option<&Memory> {
        match self {
            Self::Memory(memory, _) | Self::Second(memory) => Some(memory),
            _ => None,
        }
    }

    pub(crate) const fn kernel(&self) -> Option<&DumpedKernel> {
        match self {
            Self::Memory(_, kernel) | Self::Fault(_, kernel) => Some(kernel),
            _ => None,
        }
    }
}

/// What compiles, runs and reduces programs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bench {
    /// The compilers with their names.
    pub(crate) compilers: Vec<(String, Compiler)>,
    pub(crate) seconds: Vec<Second>,
    pub(crate) throughs: Vec<Through>,
    pub(crate) smaller: Option<Smaller>,
}

/// Versions of the language that programs may have, the best one first. Releases of 2020 do not know the newest one, and
/// others do not compile it for devices without images.
pub(crate) const STANDARDS: [&str; 2] = ["-cl-std=CL3.0", "-cl-std=CL2.0"];

impl Bench {
    fn compile(
        &self,
        configuration: &Configuration,
        number: usize,
        source: &str,
        programs: usize,
    ) -> io::Result<Compiled> {
        let compiler = self.compilers.get(number);
        let (_, compiler) = compiler.ok_or_else(|| io::Error::other("no such compiler"))?;
        let mut options = configuration.all_options();
        for option in configuration.switches.iter().filter_map(|s| s.option()) {
            options.push(' ');
            options.push_str(option);
        }
        compiler.compile(&Call {
            source,
            device: &configuration.device,
            options: &options,
            switches: &configuration.switches,
            programs,
            through: match &configuration.through {
                Some((number, _)) => self.throughs.get(*number),
                None => None,
            },
        })
    }

    fn ask(&self, number: usize, source: String, launches: Vec<Launch>) -> io::Result<Answered> {
        let second = self.seconds.get(number);
        let second = second.ok_or_else(|| io::Error::other("no such implementation"))?;
        second.ask(&Request {
            source,
            options: STANDARDS[0].to_owned(),
            launches,
        })
    }

    /// Which of these a configuration has: if they do not compile together, halves are tried.
    pub(crate) fn having(
        &self,
        configuration: &Configuration,
        needs: &[Need],
    ) -> io::Result<Vec<Need>> {
        let kernels = needs
            .iter()
            .enumerate()
            .map(|(n, need)| need.probe(n, configuration.matrix));
        let source: String = kernels.collect();
        let has_all = match configuration.maker {
            Maker::Compiler(number) => {
                let compiled = self.compile(configuration, number, &source, 1)?;
                matches!(compiled, Compiled::Done(_))
            }
            Maker::Second(number) => {
                let answered = self.ask(number, source, Vec::new())?;
                matches!(answered, Answered::All(_))
            }
        };
        if has_all {
            return Ok(needs.to_vec());
        }
        if needs.len() < 2 {
            return Ok(Vec::new());
        }
        let (first, second) = needs.split_at(needs.len() / 2);
        let mut has = self.having(configuration, first)?;
        has.extend(self.having(configuration, second)?);
        Ok(has)
    }

    /// Compiles programs together and runs each. If they do not compile together, each is compiled alone.
    pub(crate) fn make(
        &self,
        configuration: &Configuration,
        programs: &[&Program],
    ) -> io::Result<Vec<Made>> {
        if programs.is_empty() {
            return Ok(Vec::new());
        }
        let text = configuration.source(programs);
        let tasks = programs.iter().enumerate().map(|(number, program)| {
            let launching = Launching::of(program).map_err(|e| io::Error::other(e.to_string()))?;
            Ok((format!("k{number}"), launching))
        });
        let tasks: Vec<_> = tasks.collect::<io::Result<_>>()?;
        match self.run(configuration, &text, &tasks)? {
            Ok(all) => Ok(all),
            Err(made) if programs.len() == 1 => Ok(vec![made]),
            Err(_) => {
                let (first, second) = programs.split_at(programs.len() / 2);
                let mut all = self.make(configuration, first)?;
                all.extend(self.make(configuration, second)?);
                Ok(all)
            }
        }
    }

    /// Compiles a source and runs one kernel of it.
    pub(crate) fn run_one(
        &self,
        configuration: &Configuration,
        source: &str,
        kernel: &str,
        launching: &Launching,
    ) -> io::Result<Made> {
        let task = [(kernel.to_owned(), launching.clone())];
        let all = self.run(configuration, source, &task)?;
        let none = || Made::Not("it was not run".to_owned());
        Ok(all.map_or_else(|made| made, |mut all| all.pop().unwrap_or_else(none)))
    }

    /// Compiles a source and runs kernels of it; what became of the source if it did not compile.
    pub(crate) fn run(
        &self,
        configuration: &Configuration,
        source: &str,
        tasks: &[(String, Launching)],
    ) -> io::Result<Result<Vec<Made>, Made>> {
        Ok(Err(match configuration.maker {
            Maker::Compiler(number) => {
                match self.compile(configuration, number, source, tasks.len())? {
                    Compiled::Done(dump) => {
                        let all = tasks.par_iter();
                        let all = all.map(|(name, launching)| match dump.kernel(Some(name)) {
                            Ok(kernel) => ran(kernel, launching),
                            Err(error) => Made::Not(error.to_string()),
                        });
                        return Ok(Ok(all.collect()));
                    }
                    Compiled::Not(reason) => Made::Not(reason.to_owned()),
                    Compiled::Refused(said) => Made::Refused(said),
                    Compiled::Crashed(said) => Made::Crash(said),
                    Compiled::Endless => Made::Endless,
                }
            }
            Maker::Second(number) => {
                let launches = tasks.iter().map(|(name, l)| Launch::of(name, l));
                let Some(launches) = launches.collect() else {
                    let reason = "an argument cannot be passed on".to_owned();
                    return Ok(Err(Made::Not(reason)));
                };
                match self.ask(number, source.to_owned(), launches)? {
                    Answered::All(answers) => {
                        let answers = answers.into_iter().zip(tasks);
                        return Ok(Ok(answers.map(|(a, (_, l))| answered(a, l)).collect()));
                    }
                    Answered::Refused(said) => Made::Refused(said),
                    Answered::Crashed(said) => Made::Crash(said),
                    Answered::Endless => Made::Endless,
                }
            }
        }))
    }
}

/// What a second opinion computes: the buffers that are compared.
fn answered(answer: Answer, launching: &Launching) -> Made {
    match answer {
        Answer::Memory(memory) => {
            // It answers with the buffers alone, in their order.
            let arguments = launching.arguments.iter().enumerate();
            let buffers = arguments.filter(|(_, a)| matches!(a, Argument::Buffer(_)));
            let mut memory = buffers.zip(memory);
            let of = |n: &usize| memory.find(|((number, _), _)| number == n).map(|(_, m)| m);
            let compared = launching.compared.iter().map(of).collect::<Option<_>>();
            compared.map_or_else(
                || Made::Not("a buffer has no answer".to_owned()),
                Made::Second,
            )
        }
        Answer::Refused(said) => Made::Refused(said),
        Answer::Not(reason) => Made::Not(reason),
        Answer::Built => Made::Not("it was not run".to_owned()),
    }
}

fn ran(kernel: DumpedKernel, launching: &Launching) -> Made {
    match machine::run(&kernel, launching) {
        Ran::Ended(memory) => Made::Memory(memory, Box::new(kernel)),
        Ran::Faulted(fault) => Made::Fault(fault, Box::new(kernel)),
        Ran::Not(reason) => Made::Not(reason),
    }
}

/// The compiler of this machine for dg2, if there is one.
#[cfg(test)]
pub(crate) fn of_this_machine() -> Option<(Bench, Configuration)> {
    let folders = std::env::var_os("PATH")?;
    let mut all = std::env::split_paths(&folders).map(|folder| folder.join("ocloc"));
    let path = all.find(|path| path.is_file())?;
    let bench = Bench {
        compilers: vec![(
            "ocloc".to_owned(),
            Compiler {
                path,
                limits: crate::process::Limits::default(),
            },
        )],
        ..Bench::default()
    };
    let configuration = Configuration::of(Maker::Compiler(0), "ocloc", "dg2");
    Some((bench, configuration))
}
