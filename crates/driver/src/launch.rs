//! Launches: from a kernel and a grid to a command.

use crate::binary::{self, Binary};
use crate::context::Context;
use crate::device::Device;
use crate::error::{Code, Result, ensure, fail};
use crate::kernel::{Arg, Kernel};
use crate::queue::Queue;
use crate::stream::Action;
use crate::watch::{self, Launching, through};
use opencl_sys as cl;
use std::cell::OnceCell;
use std::sync::Arc;
use visakit_exec::FaultKind;
use visakit_isa::Platform;
use visakit_launch::{Argument, Config, KernelInfo, LaunchError, Loaded, NdRange, Others, Turn};
use visakit_profile::Timer;

/// A grid as passed by the host.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Work-items in each dimension.
    pub global: Vec<usize>,
    /// Work-items of a group; `None` leaves it to us.
    pub local: Option<Vec<usize>>,
    /// The offset added to global ids.
    pub offset: Vec<usize>,
}

fn small(sizes: &[usize], code: i32) -> Result<Vec<u32>> {
    let small = sizes
        .iter()
        .map(|n| u32::try_from(*n).map_err(|_| Code(code)));
    small.collect()
}

/// A suitable size of groups for a kernel and a grid: what the source requires, or else a divisor of the
/// grid.
///
/// # Errors
/// Grids that cannot be.
pub fn suggested_local(info: &KernelInfo, global: &[usize]) -> Result<Vec<usize>> {
    if let Some(required) = Kernel::required_group(info) {
        return Ok(required.into_iter().take(global.len()).collect());
    }
    let global = small(global, cl::CL_INVALID_GLOBAL_WORK_SIZE)?;
    let local = NdRange::default_local(&global);
    Ok(local
        .into_iter()
        .filter_map(|n| usize::try_from(n).ok())
        .collect())
}

/// A kernel with its arguments and a grid, checked and ready to run, any number of times.
#[derive(Debug)]
pub struct Launch {
    context: Arc<Context>,
    device: Arc<Device>,
    kernel: Arc<Kernel>,
    binary: Arc<Binary>,
    args: Vec<Arg>,
    /// `None` if there are no work-items.
    range: Option<NdRange>,
    /// Whether its time on the device is wanted.
    is_timed: bool,
    /// How its groups take turns, if they wait for each other.
    turn: Option<Turn>,
}

/// Checks a launch and makes the action of a command of it, with the arguments as they are now.
///
/// # Errors
/// Those of the specification.
pub fn command(queue: &Arc<Queue>, kernel: &Arc<Kernel>, grid: &Grid) -> Result<Action> {
    let place = (&queue.context, &queue.device);
    kernel.binary(&queue.device)?;
    let mut launch = Launch::new(place, kernel, kernel.arguments()?, grid, queue.is_timed())?;
    if kernel.is_together() {
        launch = launch.together()?;
    }
    Ok(Arc::new(move || launch.run()))
}

/// How many groups of a size can run at once on a device, and so wait for each other.
///
/// # Errors
/// Kernels that the device does not have, or that cannot be translated.
pub fn most_groups(
    device: &Arc<Device>,
    kernel: &Kernel,
    args: &[Arg],
    local: [u32; 3],
) -> Result<u64> {
    let binary = kernel.binary(device)?;
    let info = kernel.metadata(binary)?;
    let loaded = binary.load(&kernel.name)?;
    let loaded = loaded.map_err(|_| Code(cl::CL_INVALID_KERNEL))?;
    let product = |sizes: [u32; 3]| {
        sizes
            .iter()
            .fold(1_u64, |n, d| n.saturating_mul((*d).into()))
    };
    let lanes = u64::from(info.execution_env.simd_size.max(1));
    let threads = product(local).div_ceil(lanes).max(1);
    let (slices, subslices, _) = device.model.engines;
    let mut all = u64::from(device.model.units()) * u64::from(device.model.threads());
    if info.execution_env.grf_count > 128 {
        all /= 2;
    }
    let memory = local_bytes(info, local_sizes(args));
    let by_memory = device.local_memory().checked_div(memory);
    let by_memory = by_memory.map(|n| n * u64::from(slices) * u64::from(subslices));
    let most = (all / threads).min(by_memory.unwrap_or(u64::MAX));
    Ok(most.clamp(1, loaded.most_groups(local).max(1)))
}

/// Bytes of the arguments in local memory.
fn local_sizes(args: &[Arg]) -> impl Iterator<Item = usize> {
    args.iter().filter_map(|arg| match arg {
        Arg::Local(bytes) => Some(*bytes),
        _ => None,
    })
}

/// The sizes of groups for a launch.
fn groups(device: &Device, binary: &Binary, info: &KernelInfo, grid: &Grid) -> Result<Vec<usize>> {
    let dimensions = grid.global.len();
    ensure((1..=3).contains(&dimensions), cl::CL_INVALID_WORK_DIMENSION)?;
    let local = match &grid.local {
        Some(local) => local.clone(),
        None => suggested_local(info, &grid.global)?,
    };
    if let Some(required) = Kernel::required_group(info) {
        let same = local.iter().eq(required.iter().take(dimensions));
        ensure(
            grid.local.is_some() && same || grid.local.is_none(),
            cl::CL_INVALID_WORK_GROUP_SIZE,
        )?;
    }
    ensure(!local.contains(&0), cl::CL_INVALID_WORK_GROUP_SIZE)?;
    ensure(
        local.iter().all(|n| *n <= device.max_group()),
        cl::CL_INVALID_WORK_ITEM_SIZE,
    )?;
    let items = local.iter().fold(1_usize, |n, d| n.saturating_mul(*d));
    ensure(
        items <= Kernel::max_group(device, info),
        cl::CL_INVALID_WORK_GROUP_SIZE,
    )?;
    let mut sizes = grid.global.iter().zip(&local);
    let even = sizes.all(|(g, l)| g.is_multiple_of(*l));
    let uneven = ["-cl-std=CL2", "-cl-std=CL3"]
        .iter()
        .any(|o| binary.options.contains(o))
        && !binary.options.contains("-cl-uniform-work-group-size");
    ensure(even || uneven, cl::CL_INVALID_WORK_GROUP_SIZE)?;
    Ok(local)
}

/// Local memory that a kernel needs itself and for arguments of these sizes, which the host chooses freely.
pub fn local_bytes(info: &KernelInfo, sizes: impl Iterator<Item = usize>) -> u64 {
    let own = u64::from(info.execution_env.slm_size);
    sizes.fold(own, |sum, bytes| sum.saturating_add(bytes as u64))
}

impl Launch {
    /// Checks a launch of a kernel with these arguments.
    ///
    /// # Errors
    /// Those of the specification of OpenCL.
    pub fn new(
        (context, device): (&Arc<Context>, &Arc<Device>),
        kernel: &Arc<Kernel>,
        args: Vec<Arg>,
        grid: &Grid,
        is_timed: bool,
    ) -> Result<Self> {
        let binary = Arc::clone(kernel.binary(device)?);
        let info = kernel.metadata(&binary)?;
        let global = small(&grid.global, cl::CL_INVALID_GLOBAL_WORK_SIZE)?;
        let offset = small(&grid.offset, cl::CL_INVALID_GLOBAL_OFFSET)?;
        let local = groups(device, &binary, info, grid)?;
        ensure(
            local_bytes(info, local_sizes(&args)) <= device.local_memory(),
            cl::CL_OUT_OF_RESOURCES,
        )?;
        let local = small(&local, cl::CL_INVALID_WORK_GROUP_SIZE)?;
        let range = NdRange::new(&global, &local, &offset);
        let range = range.map_err(|_| Code(cl::CL_INVALID_WORK_GROUP_SIZE));
        let launch = Self {
            context: Arc::clone(context),
            device: Arc::clone(device),
            kernel: Arc::clone(kernel),
            range: if global.contains(&0) {
                None
            } else {
                Some(range?)
            },
            binary,
            args,
            is_timed,
            turn: None,
        };
        if launch.range.is_none() {
            return Ok(launch);
        }
        match launch.loaded()? {
            Ok((loaded, _)) if loaded.needs_all_groups() => launch.together(),
            Ok(_) => Ok(launch),
            Err(message) => {
                let name = &kernel.name;
                context.complain(&format!("kernel `{name}`: {message}"));
                fail(cl::CL_INVALID_KERNEL)
            }
        }
    }

    /// The launch for groups that wait for each other: all of them begin before one has to end.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` where they are more than the device runs at once.
    pub fn together(mut self) -> Result<Self> {
        if let Some(range) = &self.range {
            let most = most_groups(&self.device, &self.kernel, &self.args, range.local)?;
            ensure(range.group_count() <= most, cl::CL_INVALID_VALUE)?;
        }
        self.turn = Some(Turn::TOGETHER);
        Ok(self)
    }

    /// The translated kernel, with what tells the time if that is wanted.
    fn loaded(&self) -> Result<std::result::Result<(&Loaded, Option<&Timer>), &str>> {
        let name = &self.kernel.name;
        if !self.is_timed {
            return Ok(self.binary.load(name)?.map(|loaded| (loaded, None)));
        }
        let platform = Platform::from_name(self.device.model.name);
        let timed = self.binary.timed(name, platform)?;
        Ok(timed.map(|(loaded, timer)| (loaded, Some(timer))))
    }

    /// Runs it: the one place where kernels run. Returns how many nanoseconds it took on the device, if that is known.
    ///
    /// # Errors
    /// What stopped the kernel; the context reports it.
    pub fn run(&self) -> (Result<()>, Option<f64>) {
        let Some(range) = &self.range else {
            return (Ok(()), None);
        };
        let nanoseconds = OnceCell::new();
        (self.run_on(range, &nanoseconds), nanoseconds.get().copied())
    }

    fn run_on(&self, range: &NdRange, nanoseconds: &OnceCell<f64>) -> Result<()> {
        let loaded = self.loaded()?;
        let (loaded, timer) = loaded.map_err(|_| Code(cl::CL_INVALID_KERNEL))?;
        let arguments = self.args.iter().map(|a| self.kernel.argument(a));
        let arguments: Vec<Argument> = arguments.collect::<Result<_>>()?;
        let addresses = &self.context.addresses;
        let others = Others {
            known: Arc::clone(addresses) as _,
            expected: if self.kernel.reaches_more() {
                addresses.count()
            } else {
                0
            },
        };
        let launching = Launching {
            kernel: &self.kernel,
            binary: &self.binary,
            device: &self.device,
            args: &self.args,
            arguments: &arguments,
            others: &others,
            range,
            turn: self.turn,
            nanoseconds,
        };
        let outcome = through(&launching, &mut || {
            let config = Config {
                turn: self.turn,
                ..binary::config()
            };
            let Some(timer) = timer else {
                let launch = loaded.launch(range, &arguments, Some(&others), &config)?;
                return launch.run(&config);
            };
            let config = visakit_profile::config(config);
            let launch = loaded.launch(range, &arguments, Some(&others), &config)?;
            let (time, outcome) = timer.run(launch, &config)?;
            let _ = nanoseconds.set(time.nanoseconds);
            Ok(outcome)
        });
        for arg in &self.args {
            if let Arg::Mem(Some(mem)) = arg {
                mem.write();
            }
        }
        match outcome {
            Ok(outcome) => {
                if !outcome.printed.is_empty() {
                    visakit_host::print(&outcome.printed);
                }
                Ok(())
            }
            Err(error) => self.failed(&error, &others),
        }
    }

    /// Reports why it failed. After a failed assertion the program ends abnormally, as with Intel's driver.
    fn failed(&self, error: &LaunchError, others: &Others) -> Result<()> {
        let reached = match error {
            LaunchError::Fault { fault, .. } => fault.address,
            _ => None,
        };
        let reached = reached.and_then(|address| others.known.find(address));
        let gone = reached.filter(|reached| reached.storage.is_none());
        let gone = gone.map_or_else(String::new, |reached| {
            format!(
                "; the address is that of {}, which was released",
                reached.name
            )
        });
        let advice = match error {
            LaunchError::Fault { fault, .. }
                if matches!(fault.kind, FaultKind::MemoryOutOfBounds { .. }) =>
            {
                format!(
                    "; on hardware this may do nothing, as with {}=ignore",
                    binary::OUTSIDE
                )
            }
            _ => String::new(),
        };
        let name = &self.kernel.name;
        self.context
            .complain(&format!("kernel `{name}`: {error}{gone}{advice}"));
        if let LaunchError::Asserted { printed, .. } = error {
            visakit_host::print(printed);
            watch::report();
            visakit_host::abort();
        }
        fail(match error {
            LaunchError::Argument { .. } | LaunchError::ArgumentCount { .. } => {
                cl::CL_INVALID_KERNEL_ARGS
            }
            LaunchError::Grid(_) => cl::CL_INVALID_WORK_GROUP_SIZE,
            _ => cl::CL_OUT_OF_RESOURCES,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No sizes of local memory add up to less than one of them.
        #[test]
        fn sums_of_local_memory_do_not_wrap(
            own: u32,
            sizes in prop::collection::vec(prop_oneof![any::<usize>(), Just(usize::MAX), 0..70_000_usize], 0..6),
        ) {
            let mut info = KernelInfo::default();
            info.execution_env.slm_size = own;
            let exact = sizes.iter().fold(u128::from(own), |sum, n| sum + *n as u128);
            let sum = local_bytes(&info, sizes.iter().copied());
            prop_assert_eq!(u128::from(sum), exact.min(u64::MAX.into()));
        }
    }
}
