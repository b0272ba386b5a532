//! Objects that break one rule each: as text if the assembler accepts it, otherwise by an edit.

#![allow(dead_code)] // not every test uses every helper

pub(crate) mod edits;
pub(crate) mod texts;

use visakit_isa::object::Object;
pub(crate) use visakit_validate::examples::DECLARATIONS;
use visakit_validate::{Options, Platform, Report, object};

/// A whole text of these lines.
pub(crate) fn text(declarations: &str, lines: &str) -> String {
    let mut text = String::from(".version 4.1\n.kernel \"k\"\n");
    text.push_str(DECLARATIONS);
    for line in declarations.lines() {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(".kernel_attr Target=\"cm\"\n.kernel_attr OutputAsmPath=\"k\"\n");
    for line in lines.lines() {
        text.push_str("    ");
        text.push_str(line);
        text.push('\n');
    }
    if !lines.ends_with("ret (M1, 1)") {
        text.push_str("    ret (M1, 1)\n");
    }
    text
}

/// The object of a text: of version 4.2 if 4.1 lacks something that it uses.
pub(crate) fn assembled(text: &str) -> Result<Object<'static>, String> {
    let options = visakit_text::asm::Options::default();
    let newest = text.replacen(".version 4.1", ".version 4.2", 1);
    let object = visakit_text::asm::assemble(text.as_bytes(), &options).or_else(|faults| {
        let newest = newest.as_bytes();
        let made = visakit_text::asm::assemble_in_any_dialect(newest, &options);
        made.map(|made| made.object).map_err(|_| faults)
    });
    object.map(Object::into_owned).map_err(|faults| {
        faults
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ")
    })
}

/// The findings in an object, with the rules of a platform if one is given.
pub(crate) fn report(of: &Object<'_>, platform: &str) -> Report {
    let platform = Platform::from_name(platform);
    let options = Options {
        platform,
        ..Options::default()
    };
    object(of, &options)
}
