//! Which dialect a text is for.

use super::diagnostic::{DiagnosticKind, Errors};
use super::pieces::Record;
use super::source_map::Assembled;
use super::{Assembler, Options};
use visakit_isa::Dialect;

/// Assembles a text in the dialect that the options or the text itself name; where neither does, in
/// the first one, in the order of [`Dialect::ALL`], that has everything the text says. Also tells where each
/// part of the object was written.
///
/// # Errors
/// Everything that is wrong with the text. Where no dialect has all of it: the faults in the first.
pub fn assemble_in_any_dialect<'t>(
    text: &'t [u8],
    options: &Options,
) -> Result<Assembled<'t>, Errors> {
    in_any_dialect(text, options, |mut assembler| {
        assembler.run();
        let stated = assembler.states_dialect;
        (assembler.result(), stated)
    })
}

/// What the statements of a text are made of, in the same dialect.
///
/// # Errors
/// Everything that is wrong with the text.
pub(crate) fn record_in_any_dialect(text: &[u8], options: &Options) -> Result<Record, Errors> {
    in_any_dialect(text, options, |mut assembler| {
        assembler.scratch.record = Some(Record::default());
        assembler.run();
        let stated = assembler.states_dialect;
        let record = assembler.scratch.record.take();
        (
            assembler.result().map(|_| record.unwrap_or_default()),
            stated,
        )
    })
}

/// The result in the first dialect that lacks nothing, else in the first one. An attempt also tells
/// whether the text names its dialect.
fn in_any_dialect<'t, T>(
    text: &'t [u8],
    options: &Options,
    attempt: impl Fn(Assembler<'t>) -> (Result<T, Errors>, bool),
) -> Result<T, Errors> {
    let (first, stated) = attempt(Assembler::new(text, options));
    let lacks = |result: &Result<T, Errors>| match result {
        Ok(_) => false,
        Err(faults) => faults
            .iter()
            .any(|f| f.kind == DiagnosticKind::NotInDialect),
    };
    if stated || options.dialect.is_some() || !lacks(&first) {
        return first;
    }
    for dialect in Dialect::ALL {
        let options = Options {
            dialect: Some(dialect),
            ..*options
        };
        let (result, _) = attempt(Assembler::new(text, &options));
        // Where another dialect has what was missing, its other faults are those of the text.
        if !lacks(&result) {
            return result;
        }
    }
    first
}
