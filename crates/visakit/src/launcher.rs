//! Kernels on slices and numbers.

use visakit_exec::Pass;
use visakit_isa::DataType;
use visakit_jit::Jit;
use visakit_launch::{
    Argument, Compile, Config, Kernel, LaunchError, NdRange, Outcome, Passed, Prepared,
};

/// One size for each dimension of a grid: `1024`, `[64, 64]`, a slice of up to three.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sizes(Vec<u32>);

impl From<u32> for Sizes {
    fn from(size: u32) -> Self {
        Self(vec![size])
    }
}

impl<const N: usize> From<[u32; N]> for Sizes {
    fn from(sizes: [u32; N]) -> Self {
        Self(sizes.to_vec())
    }
}

impl From<&[u32]> for Sizes {
    fn from(sizes: &[u32]) -> Self {
        Self(sizes.to_vec())
    }
}

/// A kernel with its grid and arguments, to be run, checked or profiled as often as wanted: each time begins with the
/// contents that were given.
///
/// Machine code runs kernels that run long enough for it, on hosts that it exists for.
///
/// ```
/// use visakit::Launch;
/// use visakit::launch::Kernel;
///
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernels/");
/// # let (text, zebin) = (format!("{folder}lookup.pvc.visaasm"), format!("{folder}lookup.pvc.zebin"));
/// let kernel = Kernel::from_files(&[text.as_ref()], zebin.as_ref(), None)?;
/// let which = [0, 1, 2, 3, 4, 5, 6, 7];
/// let outcome = Launch::new(&kernel)
///     .global(8)
///     .arg(&[0_i32; 8])
///     .arg(&which)
///     .arg(1000)
///     .run()?;
/// assert_eq!(outcome.array::<i32>(0), Some(vec![1000, 1001, 1004, 1027, 1016, 1125, 1036, 1343]));
/// # Ok::<(), visakit::launch::LaunchError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Launch<'k> {
    kernel: &'k Kernel<'k>,
    global: Sizes,
    local: Option<Sizes>,
    offset: Sizes,
    arguments: Vec<Argument>,
    types: Vec<(usize, DataType)>,
    config: Config<'k>,
}

impl<'k> Launch<'k> {
    /// A kernel on one work-item, without arguments.
    #[must_use]
    pub fn new(kernel: &'k Kernel<'k>) -> Self {
        Self {
            kernel,
            global: Sizes(vec![1]),
            local: None,
            offset: Sizes(Vec::new()),
            arguments: Vec::new(),
            types: Vec::new(),
            config: Config {
                compile: Jit::shared().map(Compile::when_it_pays),
                ..Config::default()
            },
        }
    }

    /// The number of work-items in each dimension, `global_work_size` of OpenCL.
    #[must_use]
    pub fn global(mut self, sizes: impl Into<Sizes>) -> Self {
        self.global = sizes.into();
        self
    }

    /// The number of work-items of a group in each dimension. By default what the kernel requires, or a divisor of the
    /// global size ([`Kernel::local_size`]).
    #[must_use]
    pub fn local(mut self, sizes: impl Into<Sizes>) -> Self {
        self.local = Some(sizes.into());
        self
    }

    /// The first global id in each dimension.
    #[must_use]
    pub fn offset(mut self, ids: impl Into<Sizes>) -> Self {
        self.offset = ids.into();
        self
    }

    /// The next argument. References to slices and arrays are buffers with that content; numbers and
    /// [vectors](visakit_launch::Vector) are values; [`Argument`] has what else there is. The type is compared with that of
    /// the kernel's parameter.
    #[must_use]
    pub fn arg<T: Passed>(mut self, argument: T) -> Self {
        let index = self.arguments.len();
        self.types.extend(T::TYPE.map(|of| (index, of)));
        self.arguments.push(argument.argument());
        self
    }

    /// Changes how it runs: limits, an interrupt, progress.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Config<'k>)) -> Self {
        change(&mut self.config);
        self
    }

    /// The grid, if the arguments are of the types of the parameters.
    fn range(&self) -> Result<NdRange, LaunchError> {
        for &(index, of) in &self.types {
            self.kernel.check_type(index, of)?;
        }
        let local = match &self.local {
            Some(local) => local.0.clone(),
            None => self.kernel.local_size(&self.global.0),
        };
        NdRange::new(&self.global.0, &local, &self.offset.0)
    }

    fn prepared(&self, config: &Config<'_>) -> Result<Prepared, LaunchError> {
        self.kernel.prepare(&self.range()?, &self.arguments, config)
    }

    /// Runs the kernel. [`Outcome::array`] has what it left in its buffers.
    ///
    /// # Errors
    /// Arguments or a grid that do not match the kernel, kernels that cannot be translated, and faults.
    pub fn run(&self) -> Result<Outcome, LaunchError> {
        let config = Config {
            passes: &Pass::ALL,
            ..self.config
        };
        self.prepared(&config)?.run(&config)
    }

    /// Runs the kernel under checks, in the interpreter. [`Report::findings`](visakit_check::Report::findings) has what is
    /// wrong; only [`Verdict::Clean`](visakit_check::Verdict::Clean) says that nothing is.
    ///
    /// # Errors
    /// As [`Self::run`], but faults are findings.
    #[cfg(feature = "check")]
    pub fn check(
        &self,
        checks: visakit_check::Checks,
    ) -> Result<visakit_check::Report, LaunchError> {
        let config = visakit_check::config(self.config);
        let prepared = self.prepared(&config)?;
        visakit_check::check(self.kernel, prepared, &config, checks, &[])
    }

    /// Runs the kernel and counts what it executes; the time is estimated for a device of that platform, by default the
    /// one that the kernel's code is for.
    ///
    /// # Errors
    /// As [`Self::run`].
    #[cfg(feature = "profile")]
    pub fn profile(
        &self,
        platform: Option<visakit_isa::Platform>,
    ) -> Result<(visakit_profile::KernelProfile, Outcome), LaunchError> {
        let config = visakit_profile::config(self.config);
        let prepared = self.prepared(&config)?;
        let object = self.kernel.object();
        let code = visakit_profile::KernelCode::new(object, prepared.program(), platform);
        let watched = visakit_profile::Watched::default();
        visakit_profile::run(&code, prepared, &config, watched)
    }

    /// Whether another kernel leaves the same bytes in every buffer, whatever is in the buffers before: only the sizes of
    /// buffers, and all other arguments, are as they were given.
    ///
    /// # Errors
    /// Arguments or a grid that do not match one of the kernels, and kernels that cannot be translated.
    #[cfg(feature = "prove")]
    pub fn prove(
        &self,
        other: &Kernel<'_>,
        options: &visakit_prove::Options,
    ) -> Result<visakit_prove::Proof, LaunchError> {
        let range = self.range()?;
        let side = |kernel| visakit_prove::Side { kernel, range };
        let [old, new] = [side(self.kernel), side(other)];
        visakit_prove::prove(old, new, &self.arguments, &self.config, options)
    }
}
