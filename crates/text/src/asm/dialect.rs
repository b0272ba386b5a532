//! Which dialect a text is for, and whether any version has a binary form for what it says.

use super::diagnostic::Errors;
use super::pieces::Record;
use super::source_map::{Assembled, Checked};
use super::{Assembler, Options};
use visakit_isa::{Dialect, Features, Version};

/// What may help where only 4.2 has something.
pub(super) const TEXT_ONLY: &str = "4.2 has it, and exists as text only";

/// Assembles a text in the dialect that the options or the text itself name; where neither does, in
/// the first one, in the order of [`Dialect::ALL`], that has everything the text says. What only 4.2 has
/// gives an object of that version, unless options or text name another. Also says where each part of
/// the object was written.
///
/// # Errors
/// Everything that is wrong with the text. Where no dialect has all of it: the faults in the first.
pub fn assemble_in_any_dialect<'t>(
    text: &'t [u8],
    options: &Options,
) -> Result<Assembled<'t>, Errors> {
    in_any_dialect(text, options, false, Assembler::result)
}

/// As [`assemble_in_any_dialect`], for editors: faults take nothing away from what the other lines made.
#[must_use]
pub fn check<'t>(text: &'t [u8], options: &Options) -> Checked<'t> {
    in_any_dialect(text, options, false, Assembler::checked)
}

/// What the statements of a text are made of, in the same dialect.
///
/// # Errors
/// Everything that is wrong with the text.
pub(crate) fn record_in_any_dialect(text: &[u8], options: &Options) -> Result<Record, Errors> {
    in_any_dialect(text, options, true, |mut assembler| {
        let record = assembler.scratch.record.take();
        assembler.result().map(|_| record.unwrap_or_default())
    })
}

/// The result in the first format that lacks nothing, else in the first one.
fn in_any_dialect<'t, T>(
    text: &'t [u8],
    options: &Options,
    recorded: bool,
    result: impl Fn(Assembler<'t>) -> T,
) -> T {
    let run = |options: &Options| {
        let mut assembler = Assembler::new(text, options);
        assembler.scratch.record = recorded.then(Record::default);
        assembler.run();
        assembler
    };
    let first = run(options);
    if first.needs.is_empty() {
        return result(first);
    }
    let any_dialect = options.dialect.is_none() && !first.states_dialect;
    let any_version =
        options.version.is_none() && first.stated.is_none_or(|stated| stated == Version::V4_2);
    // What a dialect has is only known when nothing of the text is left out: an instruction that lacks
    // one thing may lack more.
    let mut needs = first.needs;
    loop {
        let text_only = needs.contains(Features::SINCE_4_2);
        let unmarked = needs & Features::UNMARKED;
        let mut dialects = Dialect::ALL.into_iter();
        let found = dialects.rfind(|_| text_only).or_else(|| {
            let mut dialects = Dialect::ALL.into_iter();
            dialects.find(|d| d.features().contains(unmarked))
        });
        let Some(dialect) = found else {
            break;
        };
        if (text_only && !any_version) || (!any_dialect && !unmarked.is_empty()) {
            break;
        }
        let options = Options {
            dialect: if any_dialect {
                Some(dialect)
            } else {
                options.dialect
            },
            version: if text_only {
                Some(Version::V4_2)
            } else {
                options.version
            },
            ..*options
        };
        let next = run(&options);
        // Where another format has what was missing, its other faults are those of the text.
        if (next.needs - needs).is_empty() {
            return result(next);
        }
        needs |= next.needs;
    }
    result(first)
}
