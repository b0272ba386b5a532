//! Configurations: a compiler, a device, options and a size of sub-groups.

use crate::ast::{Program, Statement, Together};
use crate::compiler::{Call, Compiled, Compiler};
use crate::machine::{self, Memory, Ran};
use crate::render::source;
use crate::types::Scalar;
use rayon::prelude::*;
use std::io;
use visakit_launch::DumpedKernel;

/// A way to compile programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Number of the compiler.
    pub compiler: usize,
    /// The compiler's name in reports.
    pub release: String,
    /// The device.
    pub device: String,
    /// Options for OpenCL C.
    pub options: String,
    /// Work-items of a sub-group, if that is demanded.
    pub sub_group: Option<u32>,
}

impl Configuration {
    /// A name for reports.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = format!("{} {}", self.release, self.device);
        if !self.options.is_empty() {
            name.push(' ');
            name.push_str(&self.options);
        }
        if let Some(size) = self.sub_group {
            name.push_str(&format!(" simd{size}"));
        }
        name
    }

    /// Whether it compiles without optimisation.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.options.contains("-cl-opt-disable")
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
    /// A size of sub-groups.
    SubGroup(u32),
}

impl Need {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Kernel,
        Self::Half,
        Self::Double,
        Self::Shuffle,
        Self::Reduce,
        Self::SubGroup(8),
        Self::SubGroup(16),
        Self::SubGroup(32),
    ];

    /// A kernel that needs it.
    fn probe(self, number: usize) -> String {
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
            Self::SubGroup(size) => (
                format!("__attribute__((intel_reqd_sub_group_size({size})))\n"),
                "uint",
                "p[0]",
            ),
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
        program.each_statement(&mut |statement| {
            if let Statement::Together(_, _, together) = statement {
                match together {
                    Together::Shuffle(_) => needs.push(Self::Shuffle),
                    Together::Reduce(_) => needs.push(Self::Reduce),
                    Together::Exchange(_) => {}
                }
            }
        });
        needs
    }
}

fn extension(name: &str) -> String {
    format!("#pragma OPENCL EXTENSION cl_khr_{name} : enable\n")
}

/// What a compiler made of a program and what that computes.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    /// The buffers, and the kernel.
    Memory(Memory, Box<DumpedKernel>),
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
            Self::Memory(memory, _) => (memory != expected).then_some("miscompile"),
            Self::Fault(..) => Some("fault"),
            Self::Crash(_) => Some("crash"),
            Self::Endless => Some("endless"),
            Self::Refused(_) | Self::Not(_) => None,
        }
    }

    pub(crate) const fn kernel(&self) -> Option<&DumpedKernel> {
        match self {
            Self::Memory(_, kernel) | Self::Fault(_, kernel) => Some(kernel),
            _ => None,
        }
    }
}

/// The compilers with the options that all of their calls have.
#[derive(Clone, Debug)]
pub(crate) struct Bench {
    pub(crate) compilers: Vec<Compiler>,
}

/// All programs are of this version of the language.
const STANDARD: &str = "-cl-std=CL3.0";

impl Bench {
    fn compile(
        &self,
        configuration: &Configuration,
        source: &str,
        programs: usize,
    ) -> io::Result<Compiled> {
        let compiler = self.compilers.get(configuration.compiler);
        let compiler = compiler.ok_or_else(|| io::Error::other("no such compiler"))?;
        let options = format!("{STANDARD} {}", configuration.options);
        compiler.compile(&Call {
            source,
            device: &configuration.device,
            options: options.trim_end(),
            programs,
        })
    }

    /// Which of these a configuration has: if they do not compile together, halves are tried.
    pub(crate) fn having(
        &self,
        configuration: &Configuration,
        needs: &[Need],
    ) -> io::Result<Vec<Need>> {
        let kernels = needs.iter().enumerate().map(|(n, need)| need.probe(n));
        let source: String = kernels.collect();
        let compiled = self.compile(configuration, &source, 1)?;
        if matches!(compiled, Compiled::Done(_)) {
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
        let text = source(programs, configuration.sub_group);
        let made = |compiled, program: &Program, number: usize| match compiled {
            Compiled::Done(dump) => match dump.kernel(Some(&format!("k{number}"))) {
                Ok(kernel) => ran(kernel, program),
                Err(error) => Made::Not(error.to_string()),
            },
            Compiled::Refused(said) => Made::Refused(said),
            Compiled::Crashed(said) => Made::Crash(said),
            Compiled::Endless => Made::Endless,
        };
        match self.compile(configuration, &text, programs.len())? {
            Compiled::Done(dump) => {
                let all = programs.par_iter().enumerate();
                let all = all.map(|(number, program)| {
                    let name = format!("k{number}");
                    match dump.kernel(Some(&name)) {
                        Ok(kernel) => ran(kernel, program),
                        Err(error) => Made::Not(error.to_string()),
                    }
                });
                Ok(all.collect())
            }
            compiled => match programs {
                [program] => Ok(vec![made(compiled, program, 0)]),
                _ => {
                    let (first, second) = programs.split_at(programs.len() / 2);
                    let mut all = self.make(configuration, first)?;
                    all.extend(self.make(configuration, second)?);
                    Ok(all)
                }
            },
        }
    }
}

fn ran(kernel: DumpedKernel, program: &Program) -> Made {
    match machine::run(&kernel, program) {
        Ran::Ended(memory) => Made::Memory(memory, Box::new(kernel)),
        Ran::Faulted(fault) => Made::Fault(fault, Box::new(kernel)),
        Ran::Not(reason) => Made::Not(reason),
    }
}
