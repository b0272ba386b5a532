//! What only texts of 4.2 can say: constructs that objects have no place for.

use super::diagnostic::{Diagnostic, DiagnosticKind, Fault};
use crate::lexer::Cursor;
use visakit_isa::enums;
use visakit_isa::table::{Group, InstructionDef};

/// Says of a fault in an instruction that a newer construct stands there, if one does.
#[cold]
pub(super) fn explain(fault: Fault, def: &InstructionDef, text: &[u8]) -> Fault {
    let mut at = Cursor::new(text);
    at.at = fault.span.start;
    if fault.kind != DiagnosticKind::Syntax {
        return fault;
    }
    let Some(what) = construct(at, def) else {
        return fault;
    };
    let message = alloc::format!("{what} is newer than every version that has a binary form");
    Diagnostic::new(DiagnosticKind::NotEncodable, fault.span, message)
}

fn construct(mut at: Cursor<'_>, def: &InstructionDef) -> Option<&'static str> {
    let first = at.peek();
    match (def.group, first) {
        (Group::ThreeD, Some(b'(')) => {
            return Some("a sampler or surface with an index");
        }
        (Group::Lsc, Some(b'+' | b'-')) if def.name.contains("BLOCK2D") => {
            return Some("an offset of a block");
        }
        (Group::Lsc, _) => {}
        _ => return None,
    }
    at.eat(b'.');
    let word = at.word()?.name;
    let is = |name: &str| name.as_bytes() == word;
    if is("ov") {
        Some("`.ov`")
    } else if is("msaa") {
        Some("`.msaa`")
    } else if is("set") || is("reset") {
        Some("the operation of a cache control")
    } else if enums::LSC_CACHING.entries.iter().any(|(_, name)| is(name)) {
        Some("a third caching control")
    } else {
        None
    }
}
