//! Runs a kernel of OpenCL C: by the interpreter or machine code, under checks.
//!
//! `cargo run --example opencl --features check,compile,jit -- saxpy.cl`
//!
//! Without a file it runs a kernel that is compiled already, which has constants.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;
use visakit::check::{Checks, check};
use visakit::exec::Compiler;
use visakit::jit::Jit;
use visakit::launch::{Argument, Compile, Config, Kernel, NdRange};

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(file) => {
            let source = std::fs::read(&file)?;
            let program = visakit::compile::Program {
                device: "Arc A770",
                ..visakit::compile::Program::new(file.as_ref(), &source)
            };
            let kernel = program.kernel(None)?;
            let names: Vec<_> = kernel.args_info().iter().map(|a| a.name.as_str()).collect();
            println!("{} ({})", kernel.info().name, names.join(", "));
        }
        None => println!("{:?}", lookup()?),
    }
    Ok(())
}

/// The sums of a table's entries and a number; the table is a constant of the program.
pub(crate) fn lookup() -> Result<Vec<i32>, Box<dyn Error>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernels");
    let (text, zebin) = (
        format!("{folder}/lookup.pvc.visaasm"),
        format!("{folder}/lookup.pvc.zebin"),
    );
    let kernel = Kernel::from_files(&[text.as_ref()], zebin.as_ref(), None)?;
    let grid = NdRange::new(&[8], &[8], &[])?;
    let arguments = [
        Argument::array(&[0_i32; 8]),
        Argument::array(&[0_i32, 1, 2, 3, 4, 5, 6, 7]),
        Argument::number(1000_i32),
    ];

    // Machine code, for programs that run long enough; there is some for x86-64 with AVX2 or AVX-512.
    let jit = Jit::host().map(|jit| Arc::new(jit) as Arc<dyn Compiler>);
    let config = Config {
        compile: jit.as_ref().map(Compile::when_it_pays),
        ..Config::default()
    };
    let outcome = kernel.run(&grid, &arguments, &config)?;

    // The launch under all checks, which the interpreter runs.
    let config = visakit::check::config(Config::default());
    let launch = kernel.prepare(&grid, &arguments, &config)?;
    let report = check(&kernel, launch, &config, Checks::ALL, &[])?;
    for finding in &report.findings {
        println!("{finding:?}");
    }
    Ok(outcome.array(0).unwrap_or_default())
}
