//! Compares two kernels: code of one source for two devices, by a run and by a proof.
//!
//! `cargo run --example compare --features prove`

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::Path;
use visakit::Launch;
use visakit::launch::{Kernel, LaunchError};
use visakit::prove::{Options, Verdict};

fn main() -> Result<(), Box<dyn Error>> {
    let (results, verdict) = compare()?;
    println!("equal for one input: {}", results[0] == results[1]);
    println!("for every input: {verdict:?}");
    Ok(())
}

/// What both leave for one input, and the verdict on all.
pub(crate) fn compare() -> Result<([Vec<i32>; 2], Verdict), LaunchError> {
    let [old, new] = [kernel("tgllp")?, kernel("pvc")?];
    let on = |kernel| {
        let which = [0, 1, 2, 3, 4, 5, 6, 7];
        let launch = Launch::new(kernel).global(8).arg(&[0_i32; 8]);
        launch.arg(&which).arg(1000)
    };
    let results =
        [on(&old).run()?, on(&new).run()?].map(|outcome| outcome.array(0).unwrap_or_default());
    let proof = on(&old).prove(&new, &Options::default())?;
    Ok((results, proof.verdict))
}

/// The kernel that looks entries up in a table, compiled for a device.
fn kernel(device: &str) -> Result<Kernel<'static>, LaunchError> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernels");
    let text = folder.join(format!("lookup.{device}.visaasm"));
    let zebin = folder.join(format!("lookup.{device}.zebin"));
    Kernel::from_files(&[&text], &zebin, None)
}
