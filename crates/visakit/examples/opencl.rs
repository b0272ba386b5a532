//! Runs a kernel of OpenCL C, checks it and profiles it.
//!
//! `cargo run --example opencl --features check,compile,profile`
//!
//! Intel's compiler, `ocloc`, has to be installed.

#![allow(clippy::print_stdout)]

use std::error::Error;
use visakit::Launch;
use visakit::check::{Checks, Finding};
use visakit::compile::Program;

const SOURCE: &str = "kernel void saxpy(global float *y, global const float *x, float a) {
    size_t i = get_global_id(0);
    y[i] += a * x[i + 1];
}";

fn main() -> Result<(), Box<dyn Error>> {
    let (results, findings) = saxpy()?;
    println!("{results:?}");
    for finding in findings {
        println!("{finding}");
    }
    Ok(())
}

/// The results, and what is wrong with the kernel: the last work-item reads past the end of `x`. Counts what ran besides.
pub(crate) fn saxpy() -> Result<(Vec<f32>, Vec<Finding>), Box<dyn Error>> {
    let kernel = Program::new("saxpy.cl".as_ref(), SOURCE.as_bytes()).kernel(None)?;
    let (y, x) = (vec![1.0_f32; 256], vec![2.0_f32; 256]);
    let launch = Launch::new(&kernel)
        .global(256)
        .arg(&y)
        .arg(&x)
        .arg(3.0_f32);

    let outcome = launch.run()?;
    let report = launch.check(Checks::ALL)?;
    let (profile, _) = launch.profile(None)?;
    for (mnemonic, counts) in profile.mnemonics() {
        println!("{mnemonic} {}", counts.executions);
    }
    Ok((outcome.array(0).unwrap_or_default(), report.findings))
}
