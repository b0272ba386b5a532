//! Builds a kernel, prints it, assembles the text, and runs it.
//!
//! `cargo run --example run --features launch -- 1,2,3`

#![allow(clippy::print_stdout)]

use std::error::Error;
use visakit::build;
use visakit::isa::object::{Body, RoutineId, RoutineKind};
use visakit::isa::operand::GeneralOperand as Operand;
use visakit::launch::{Bare, Config, value};
use visakit::text::{Form, Options, Printer, asm};
use visakit::{DataType, Dialect, Object, Routine, Version};

fn main() -> Result<(), Box<dyn Error>> {
    let values = std::env::args().nth(1).unwrap_or("1,2,3".to_owned());
    let text = text(&square_plus_one()?);
    println!("{text}\n{}", run(&text, &values)?);
    Ok(())
}

/// A kernel of eight lanes: Y = X * X + 1.
pub(crate) fn square_plus_one() -> Result<Object<'static>, build::Error> {
    let mut object = Object::new(Version::V4_1, Dialect::default());
    let format = object.format();
    let mut body = Body::default();
    body.name = body.add_string(&b"square"[..]);
    let x = body.add_variable("X", DataType::D, 8, format);
    let y = body.add_variable("Y", DataType::D, 8, format);
    let square = build::mul(8, Operand::dst(y), Operand::src(x), Operand::src(x));
    let plus_one = build::add(8, Operand::dst(y), Operand::src(y), 1);
    for instruction in [square, plus_one, build::ret(1)] {
        body.code.push(instruction.finish(format)?.into());
    }
    object.kernels.push(Routine::new(&b"square"[..], body));
    Ok(object)
}

/// The object as text, with the names that it declares.
pub(crate) fn text(object: &Object<'_>) -> String {
    let options = Options {
        form: Form::Plain,
        ..Options::default()
    };
    let mut text = Vec::new();
    let Ok(()) = Printer::new(object, options).object(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Assembles the text and runs its kernel in one thread, without any host: X is set, Y is read.
pub(crate) fn run(text: &str, values: &str) -> Result<String, Box<dyn Error>> {
    let assembled = asm::assemble(text.as_bytes(), &asm::Options::default());
    let object = assembled.map_err(|faults| {
        let lines: Vec<_> = faults.iter().map(ToString::to_string).collect();
        lines.join(
            "
",
        )
    })?;
    let kernel = RoutineId::new(RoutineKind::Kernel, 0);
    let mut thread = Bare::new(&object, kernel, 32, &Config::default())?;
    // Eight lanes are live.
    thread.mask = 0xff;
    thread.set("X", values)?;
    let result = thread.run(&mut ())?.variable("Y")?;
    Ok(value::show(&result.bytes, result.data_type)
        .collect::<Vec<_>>()
        .join(" "))
}
