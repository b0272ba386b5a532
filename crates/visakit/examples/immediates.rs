//! Changes every integer constant 1 of an object to 2.
//!
//! `cargo run --example immediates -- OLD NEW`

#![allow(clippy::disallowed_methods, reason = "an example")]
#![allow(clippy::print_stdout)]

use std::error::Error;
use visakit::Value;
use visakit::isa::VectorOperand;
use visakit::isa::object::Body;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(old), Some(new)) = (arguments.next(), arguments.next()) else {
        return Err("usage: immediates OLD NEW".into());
    };
    let (object, changed) = ones_to_twos(&std::fs::read(old)?)?;
    std::fs::write(new, object)?;
    println!("{changed} constants changed");
    Ok(())
}

/// The changed object, and how many constants were changed.
pub(crate) fn ones_to_twos(file: &[u8]) -> Result<(Vec<u8>, usize), Box<dyn Error>> {
    let mut object = visakit::read(file)?;
    let mut changed = 0;
    for (_, routine) in object.routines_mut() {
        // Native code was compiled from the constants as they were.
        routine.binaries.clear();
        for instruction in routine
            .body_mut()
            .into_iter()
            .flat_map(Body::instructions_mut)
        {
            for field in instruction.fields.iter_mut() {
                if let Value::Vector(VectorOperand::Immediate(immediate)) = &mut field.value
                    && immediate.as_integer() == Some(1)
                {
                    immediate.set_bits(2);
                    changed += 1;
                }
            }
        }
    }
    Ok((visakit::write(&object)?, changed))
}
