//! The printer and the assembler through their public interface.

mod arrangement;
mod assemble;
mod constants;
mod edits;
mod exact;
mod examples;
mod faults;
mod fixtures;
mod format;
mod grammar;
mod laws;
mod lines;
mod plain;
mod reference;
mod routines;
mod rows;
mod values;

use visakit_isa::object::Object;
use visakit_text::{Form, Options, Printer};

/// A whole object as text.
fn text_of(object: &Object<'_>, form: Form) -> Vec<u8> {
    let options = Options {
        form,
        ..Options::default()
    };
    let mut text = Vec::new();
    let Ok(()) = Printer::new(object, options).object(&mut text);
    text
}
