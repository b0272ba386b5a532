//! The words of the language, for editors and other tools that complete, explain or highlight them.

use crate::asm::DIRECTIVES;
use crate::language::attribute;
use crate::language::index::Index;
use crate::lexer::Cursor;
use visakit_isa::table::{InstructionDef, Part};

/// Every word that an instruction may begin with, after its predicate, and its row. A word shared by
/// several rows is listed once for each.
pub fn mnemonics() -> impl Iterator<Item = (&'static str, &'static InstructionDef)> {
    Index::get().entries().map(|e| (e.spelling(), e.def))
}

/// The rows whose lines begin like this text, by the longest match, each with the matching form of the
/// row. Empty if there is no instruction.
///
/// ```
/// let mut rows = visakit_text::vocabulary::rows_at(b"lsc_load.ugm.d32 (M1, 16) V33 flat[V32]:a64");
/// assert_eq!(rows.next().unwrap().0.name, "LSC_LOAD");
/// ```
pub fn rows_at(
    text: &[u8],
) -> impl Iterator<Item = (&'static InstructionDef, &'static [Part])> + use<'_> {
    let found = Index::get().find(Cursor::new(text));
    found.map(|entry| (entry.def, entry.parts))
}

/// The directives, each with its full stop.
pub fn directives() -> impl Iterator<Item = &'static str> {
    DIRECTIVES
        .into_iter()
        .filter_map(|name| core::str::from_utf8(name).ok())
}

/// The names of the attributes that Intel's tools know.
pub fn attributes() -> impl Iterator<Item = &'static str> {
    attribute::known().filter_map(|name| core::str::from_utf8(name).ok())
}
