//! Launches: from a kernel and a grid to a command.

use crate::binary;
use crate::error::{Code, Result, ensure, fail};
use crate::event::{Event, Work};
use crate::kernel::{Arg, Kernel};
use crate::queue::Queue;
use crate::watch::{Launching, through};
use opencl_sys as cl;
use std::cell::OnceCell;
use std::sync::Arc;
use visakit_isa::Platform;
use visakit_launch::{Argument, KernelInfo, LaunchError, NdRange, Others};

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

/// Checks a launch and makes a command of it, with the arguments as they are now.
///
/// # Errors
/// Those of the specification.
pub fn command(queue: &Arc<Queue>, kernel: &Arc<Kernel>, grid: &Grid) -> Result<Work> {
    let binary = Arc::clone(kernel.binary(&queue.device)?);
    let info = kernel.metadata(&binary)?;
    let args = kernel.arguments()?;
    let dimensions = grid.global.len();
    ensure((1..=3).contains(&dimensions), cl::CL_INVALID_WORK_DIMENSION)?;
    let global = small(&grid.global, cl::CL_INVALID_GLOBAL_WORK_SIZE)?;
    let offset = small(&grid.offset, cl::CL_INVALID_GLOBAL_OFFSET)?;
    let local = match &grid.local {
        Some(local) => local.clone(),
        None => suggested_local(info, &grid.global)?,
    };
    let required = Kernel::required_group(info);
    if let Some(required) = required {
        let same = local.iter().eq(required.iter().take(dimensions));
        ensure(
            grid.local.is_some() && same || grid.local.is_none(),
            cl::CL_INVALID_WORK_GROUP_SIZE,
        )?;
    }
    let most = Kernel::max_group(&queue.device, info);
    ensure(!local.contains(&0), cl::CL_INVALID_WORK_GROUP_SIZE)?;
    ensure(
        local.iter().all(|n| *n <= queue.device.max_group()),
        cl::CL_INVALID_WORK_ITEM_SIZE,
    )?;
    let items = local.iter().fold(1_usize, |n, d| n.saturating_mul(*d));
    ensure(items <= most, cl::CL_INVALID_WORK_GROUP_SIZE)?;
    let even = grid
        .global
        .iter()
        .zip(&local)
        .all(|(g, l)| g.is_multiple_of(*l));
    let uneven = ["-cl-std=CL2", "-cl-std=CL3"]
        .iter()
        .any(|o| binary.options.contains(o))
        && !binary.options.contains("-cl-uniform-work-group-size");
    ensure(even || uneven, cl::CL_INVALID_WORK_GROUP_SIZE)?;
    let sizes = args.iter().filter_map(|arg| match arg {
        Arg::Local(bytes) => Some(*bytes),
        _ => None,
    });
    ensure(
        local_bytes(info, sizes) <= queue.device.local_memory(),
        cl::CL_OUT_OF_RESOURCES,
    )?;
    if global.contains(&0) {
        return Ok(Box::new(|_| Ok(())));
    }
    let local = small(&local, cl::CL_INVALID_WORK_GROUP_SIZE)?;
    let range =
        NdRange::new(&global, &local, &offset).map_err(|_| Code(cl::CL_INVALID_WORK_GROUP_SIZE))?;
    let ready = if queue.is_timed() {
        let timed = binary.timed(&kernel.name, platform(queue))?;
        timed.map(drop)
    } else {
        binary.load(&kernel.name)?.map(drop)
    };
    if let Err(message) = ready {
        queue
            .context
            .complain(&format!("kernel `{}`: {message}", kernel.name));
        return fail(cl::CL_INVALID_KERNEL);
    }
    let (queue, kernel) = (Arc::clone(queue), Arc::clone(kernel));
    Ok(Box::new(move |event| {
        run(&queue, &kernel, &binary, &args, &range, event)
    }))
}

/// Local memory that a kernel needs itself and for arguments of these sizes, which the host chooses freely.
pub fn local_bytes(info: &KernelInfo, sizes: impl Iterator<Item = usize>) -> u64 {
    let own = u64::from(info.execution_env.slm_size);
    sizes.fold(own, |sum, bytes| sum.saturating_add(bytes as u64))
}

fn platform(queue: &Queue) -> Option<Platform> {
    Platform::from_name(queue.device.model.name)
}

/// Runs a launch: the one place where kernels run.
fn run(
    queue: &Queue,
    kernel: &Kernel,
    binary: &super::binary::Binary,
    args: &[Arg],
    range: &NdRange,
    event: &Event,
) -> Result<()> {
    let invalid = |_| Code(cl::CL_INVALID_KERNEL);
    let (loaded, timer) = if queue.is_timed() {
        let timed = binary.timed(&kernel.name, platform(queue))?;
        let (loaded, timer) = timed.map_err(invalid)?;
        (loaded, Some(timer))
    } else {
        (binary.load(&kernel.name)?.map_err(invalid)?, None)
    };
    let arguments: Vec<Argument> = args
        .iter()
        .map(|a| kernel.argument(a))
        .collect::<Result<_>>()?;
    let addresses = &queue.context.addresses;
    let others = Others {
        known: Arc::clone(addresses) as _,
        expected: if kernel.reaches_more() {
            addresses.count()
        } else {
            0
        },
    };
    let launching = Launching {
        kernel,
        binary,
        device: &queue.device,
        args,
        arguments: &arguments,
        others: &others,
        range,
        nanoseconds: OnceCell::new(),
    };
    let outcome = through(&launching, &mut || {
        let config = binary::config();
        let Some(timer) = timer else {
            let launch = loaded.launch(range, &arguments, Some(&others), &config)?;
            return launch.run(&config);
        };
        let config = visakit_profile::config(config);
        let launch = loaded.launch(range, &arguments, Some(&others), &config)?;
        let (time, outcome) = timer.run(launch, &config)?;
        let _ = launching.nanoseconds.set(time.nanoseconds);
        Ok(outcome)
    });
    if let Some(nanoseconds) = launching.nanoseconds.get() {
        event.took(*nanoseconds);
    }
    for arg in args {
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
        Err(error) => {
            let reached = match &error {
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
            queue
                .context
                .complain(&format!("kernel `{}`: {error}{gone}", kernel.name));
            fail(match error {
                LaunchError::Argument { .. } | LaunchError::ArgumentCount { .. } => {
                    cl::CL_INVALID_KERNEL_ARGS
                }
                LaunchError::Grid(_) => cl::CL_INVALID_WORK_GROUP_SIZE,
                _ => cl::CL_OUT_OF_RESOURCES,
            })
        }
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
