//! Selects the dialect of a text, and decides whether any version can encode what it says.

use super::diagnostic::Errors;
use super::pieces::Record;
use super::source_map::{Assembled, Checked};
use super::{Assembler, Options};
use visakit_isa::{Dialect, Features, Version};

/// The hint for features that only 4.2 has.
pub(super) const TEXT_ONLY: &str = "4.2 has it, and exists as text only";

/// Assembles a text in the dialect that the options or the text itself name; if neither names one, in
/// the first dialect, in the order of [`Dialect::ALL`], that has everything the text uses. Features that
/// only 4.2 has produce an object of that version, unless options or text name another. Also returns
/// where each part of the object was written.
///
/// # Errors
/// Everything that is wrong with the text. If no dialect has all of it: the faults in the first.
pub fn assemble_in_any_dialect<'t>(
    text: &'t [u8],
    options: &Options,
) -> Result<Assembled<'t>, Errors> {
    in_any_dialect(text, options, false, Assembler::result)
}

/// Like [`assemble_in_any_dialect`], for editors: a faulty line does not discard what other lines
/// produced.
#[must_use]
pub fn check<'t>(text: &'t [u8], options: &Options) -> Checked<'t> {
    in_any_dialect(text, options, false, Assembler::checked)
}

/// Records the pieces of each statement of a text, choosing the dialect in the same way.
///
/// # Errors
/// Everything that is wrong with the text.
pub(crate) fn record_in_any_dialect(text: &[u8], options: &Options) -> Result<Record, Errors> {
    in_any_dialect(text, options, true, |mut assembler| {
        let record = assembler.scratch.record.take();
        assembler.result().map(|_| record.unwrap_or_default())
    })
}

/// The result in the first format that lacks nothing, or else in the first one.
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
    // All needs of the text are known only when no line was left out: an instruction that lacks one
    // feature may lack more.
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
        // If another format has what was missing, the faults that remain are those of the text.
        if (next.needs - needs).is_empty() {
            return result(next);
        }
        needs |= next.needs;
    }
    result(first)
}
