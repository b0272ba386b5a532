//! Checkers for running kernels: what is wrong in one, at which source line, for which work-items.
//!
//! [`check`] runs a launch on the interpreter and watches every instruction and access:
//!
//! * `memory`: accesses outside of buffers, surfaces, local and private memory; null and misaligned addresses; writes to
//!   constants.
//! * `uninitialized`: bits that nobody wrote, followed through registers and memory to a branch, an address, a predicate
//!   or an output.
//! * `race`: conflicting accesses without an order by barriers, fences and atomics, however the host ran them.
//! * `sync`: barriers that not all work-items of a group reach.
//! * `arithmetic`: values that are rarely meant; only on demand.
//!
//! What happens often by one cause is one [`Finding`] with a count. State grows with the memory that a launch touches,
//! not with how long it runs.

#![forbid(unsafe_code)]

mod checker;
mod definedness;
mod finding;
mod listing;
mod objects;
mod race;
mod shadow;
mod suppress;

pub use finding::{Checks, Finding, Item, Kind, Level, Other, Place, Space, Target};
pub use suppress::{Suppressions, SuppressionsError};

use checker::{Checker, Ids, Setting};
use listing::Listing;
use objects::Objects;
use std::ops::ControlFlow;
use visakit_launch::{Case, Config, Kernel, Launch, LaunchError, Outcome};

/// What a check gave.
#[derive(Debug)]
pub struct Report {
    /// What is wrong, in the order in which it was found.
    pub findings: Vec<Finding>,
    /// What the launch left behind.
    pub outcome: Outcome,
}

/// How launches are to be run so that they can be checked: accesses that would be a fault are dropped.
#[must_use]
pub const fn config(config: Config<'_>) -> Config<'_> {
    Config {
        lenient: true,
        compile: None,
        ..config
    }
}

/// Runs a launch and looks for what is wrong. It was prepared with [`config`]; `uninitialized` names arguments whose
/// first content means nothing.
///
/// # Errors
/// What keeps a launch from running: limits, an interrupt. Faults of groups are findings.
pub fn check(
    kernel: &Kernel<'_>,
    launch: Launch,
    config: &Config<'_>,
    checks: Checks,
    uninitialized: &[usize],
) -> Result<Report, LaunchError> {
    let program = launch.program();
    let code = program.code().clone();
    let routines: Vec<_> = code.routines.iter().map(|r| r.id).collect();
    let (listing, fences) = Listing::new(kernel.object(), kernel.grf_bytes, routines.into_iter());
    let variables = program.variables();
    let info = launch.info();
    let private = info.per_thread_memory_buffers.iter();
    let has_private = private.clone().any(|buffer| buffer.is_simt_thread);
    let sub_groups = info.user_attributes.intel_reqd_sub_group_size > 0
        || !has_private && listing.counts_lanes();
    let mut checker = Checker::new(Setting {
        checks,
        listing,
        fences,
        objects: Objects::new(&launch, kernel.args_info(), uninitialized),
        defined: program.defined(),
        addressed: program.addressed().to_vec(),
        variables: variables
            .map(|(name, slot)| (slot.offset..slot.offset + slot.bytes, name.to_owned()))
            .collect(),
        ids: Ids {
            simd: launch.simd(),
            walk: launch.walk(),
            local: launch.range().local,
            offset: launch.range().offset,
        },
        groups: launch.range().groups(),
        sub_groups,
        code,
    });
    let mut faults = Vec::new();
    let outcome = launch.run_watched(config, &mut checker, |_, fault| {
        faults.push(fault.clone());
        ControlFlow::Continue(())
    })?;
    for fault in &faults {
        checker.fault(fault);
    }
    Ok(Report {
        findings: checker.findings(),
        outcome,
    })
}

/// Runs a case and looks for what is wrong. What comes out is not compared.
///
/// # Errors
/// As [`check`], and everything that keeps the kernel from being prepared.
pub fn check_case(
    case: &Case,
    from_text: bool,
    config: &Config<'_>,
    checks: Checks,
) -> Result<Report, LaunchError> {
    let config = self::config(*config);
    case.launch(
        from_text,
        &config,
        |object| object,
        |kernel, _, launch| {
            let uninitialized = case.uninitialized();
            check(kernel, launch, &config, checks, &uninitialized)
        },
    )
}
