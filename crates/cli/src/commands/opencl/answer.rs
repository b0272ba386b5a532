//! `visakit opencl answer`: builds and runs what `visakit hunt --with` asks for on another OpenCL driver, which may crash
//! this process.

use crate::output::Failure;
use std::path::Path;
use visakit_host::foreign::{self, Bytes, Foreign};
use visakit_hunt::{Answer, Given, Launch, Request};
use visakit_launch::NdRange;

pub(super) fn run(library: &str, folder: &Path) -> Result<(), Failure> {
    let request = Request::read(folder)?;
    let driver = Foreign::open(library).map_err(Failure::Other)?;
    let built = driver.program(&[(request.source.as_bytes(), request.options)]);
    let program = match built {
        Ok(program) => program,
        Err(said) => return Ok(Answer::Refused(said).add(folder)?),
    };
    Answer::Built.add(folder)?;
    for launch in request.launches {
        let answer = launched(&driver, program, launch);
        answer.unwrap_or_else(Answer::Not).add(folder)?;
    }
    Ok(())
}

fn launched(driver: &Foreign, program: foreign::Program, launch: Launch) -> Result<Answer, String> {
    let range = NdRange::new(&launch.global, &launch.local, &launch.offset);
    let range = range.map_err(|error| error.to_string())?;
    let mut memory = Vec::new();
    let mut given = Vec::new();
    for argument in launch.arguments {
        given.push(match argument {
            Given::Value(bytes) => foreign::Given::Value(bytes),
            Given::Local(bytes) => foreign::Given::Local(bytes),
            Given::Buffer(bytes) => {
                memory.push(Bytes { bytes, image: None });
                foreign::Given::Memory(Some(memory.len() - 1))
            }
        });
    }
    driver.run(program, &launch.kernel, &mut memory, &given, &range)?;
    let memory = memory.into_iter().map(|one| one.bytes);
    Ok(Answer::Memory(memory.collect()))
}
