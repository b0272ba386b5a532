//! Objects that break one rule each: as text where the assembler lets it through, else by an edit.

#![allow(dead_code)] // not every test uses every helper

pub(crate) mod edits;
pub(crate) mod texts;

use visakit_isa::object::Object;
use visakit_validate::{Options, Platform, Report, object};

/// Variables that every text may use.
pub(crate) const DECLARATIONS: &str = "\
.decl D0 v_type=G type=d num_elts=64 align=GRF
.decl D1 v_type=G type=d num_elts=64 align=GRF
.decl U0 v_type=G type=ud num_elts=64 align=GRF
.decl U1 v_type=G type=ud num_elts=64 align=GRF
.decl W0 v_type=G type=w num_elts=64 align=GRF
.decl B0 v_type=G type=ub num_elts=64 align=GRF
.decl F0 v_type=G type=f num_elts=64 align=GRF
.decl F1 v_type=G type=f num_elts=64 align=GRF
.decl H0 v_type=G type=hf num_elts=64 align=GRF
.decl N0 v_type=G type=bf num_elts=64 align=GRF
.decl X0 v_type=G type=df num_elts=32 align=GRF
.decl Q0 v_type=G type=q num_elts=32 align=GRF
.decl Z0 v_type=G type=uq num_elts=32 align=GRF
.decl I0 v_type=G type=d num_elts=1 align=dword
.decl O0 v_type=G type=uq num_elts=1 align=qword
.decl A0 v_type=A num_elts=16
.decl A1 v_type=A num_elts=2
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=32
.decl S0 v_type=S num_elts=1
.decl T6 v_type=T num_elts=1
";

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

/// The object of a text.
pub(crate) fn assembled(text: &str) -> Result<Object<'static>, String> {
    let options = visakit_text::asm::Options::default();
    let object = visakit_text::asm::assemble(text.as_bytes(), &options);
    object.map(Object::into_owned).map_err(|faults| {
        faults
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ")
    })
}

/// What is wrong with an object, with the rules of a platform if one is named.
pub(crate) fn report(of: &Object<'_>, platform: &str) -> Report {
    let platform = Platform::from_name(platform);
    let options = Options {
        platform,
        ..Options::default()
    };
    object(of, &options)
}
