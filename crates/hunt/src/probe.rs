//! What the compilers have for the devices.

use crate::campaign::Settings;
use crate::configuration::{Bench, Configuration, Maker, Need, STANDARDS};
use crate::render::MATRIX;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::io;
use visakit_isa::Platform;

/// What each compiler has for each device.
pub(crate) fn probed(
    bench: &Bench,
    settings: &Settings,
) -> io::Result<Vec<(Configuration, BTreeSet<Need>)>> {
    let mut targets = Vec::new();
    for (compiler, (release, _)) in settings.compilers.iter().enumerate() {
        for device in &settings.devices {
            targets.push(Configuration::of(
                Maker::Compiler(compiler),
                release,
                device,
            ));
        }
    }
    for (number, (name, _)) in settings.seconds.iter().enumerate() {
        targets.push(Configuration::of(Maker::Second(number), name, ""));
    }
    let probed = targets.into_par_iter().map(|mut target| {
        let needs = match target.is_tested() {
            true => &Need::ALL[..],
            false => &Need::PORTABLE,
        };
        for standard in STANDARDS {
            target.standard = standard;
            if !bench.having(&target, &[Need::Kernel])?.is_empty() {
                // Products of matrices are defined for the smallest size of sub-groups of a device alone.
                let small = Need::SubGroup(MATRIX / 2);
                if target.is_tested() && !bench.having(&target, &[small])?.is_empty() {
                    target.matrix = MATRIX / 2;
                }
                let mut has: BTreeSet<Need> = bench.having(&target, needs)?.into_iter().collect();
                // Some compilers take images for devices that have none.
                let platform = Platform::from_name(&target.device);
                if platform.is_some_and(|platform| !platform.has_samplers()) {
                    has.remove(&Need::Image);
                }
                return Ok((target, has));
            }
        }
        Ok((target, BTreeSet::new()))
    });
    let mut has: Vec<(Configuration, BTreeSet<Need>)> = probed.collect::<io::Result<_>>()?;
    let silent = has
        .iter()
        .find(|(target, has)| !target.is_tested() && has.is_empty());
    if let Some((target, _)) = silent {
        let name = target.name();
        return Err(io::Error::other(format!("{name} does not run a kernel")));
    }
    has.retain(|(_, has)| !has.is_empty());
    match !has.iter().any(|(target, _)| target.is_tested()) {
        true => Err(io::Error::other(
            "none of the compilers compiles for any of the devices",
        )),
        false => Ok(has),
    }
}
