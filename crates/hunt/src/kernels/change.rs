//! Changes of a source that keep what it computes, and variants made of some of them.

use super::parsed::{Parsed, declarator};
use super::{branch, dead, memory, outline, peel, swap};
use crate::choices::Choices;
use std::ops::Range;

/// The argument that each variant has, with the value 1 that the compiler does not know.
pub(crate) const OPAQUE: &str = "visakit_one";

/// Text in place of a part of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
    /// The part of the source that the text was made of.
    pub(crate) of: Range<usize>,
}

/// Edits that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The transformation.
    pub(crate) what: &'static str,
    pub(crate) edits: Vec<Edit>,
}

/// All changes of a kind that are possible in a kernel.
type Transformation = fn(&Parsed, &str) -> Vec<Change>;

const ALL: [Transformation; 6] = [
    branch::changes,
    dead::changes,
    memory::changes,
    outline::changes,
    peel::changes,
    swap::changes,
];

impl Change {
    pub(crate) fn replace(what: &'static str, range: Range<usize>, text: String) -> Self {
        Self {
            what,
            edits: vec![Edit {
                of: range.clone(),
                range,
                text,
            }],
        }
    }

    /// Text that is put in, made of a part of the source.
    pub(crate) fn insert(what: &'static str, at: usize, text: String, of: Range<usize>) -> Self {
        Self {
            what,
            edits: vec![Edit {
                range: at..at,
                text,
                of,
            }],
        }
    }

    /// Whether it may change the bits of floats: which of two NaN an operation takes over.
    pub(super) fn is_for_integers(&self) -> bool {
        self.what == swap::WHAT
    }

    /// Whether one changes what the other is made of. Insertions at one place do not meet.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let meets = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        let pairs = self.edits.iter();
        let mut pairs = pairs.flat_map(|a| other.edits.iter().map(move |b| (a, b)));
        pairs.any(|(a, b)| meets(&a.range, &b.of) || meets(&a.of, &b.range))
    }
}

/// The changes of each kind that are possible in a kernel.
pub(super) fn all(parsed: &Parsed, kernel: &str) -> Vec<Vec<Change>> {
    ALL.iter().map(|all| all(parsed, kernel)).collect()
}

/// Some changes of a kernel that do not meet, at most so many.
pub(crate) fn chosen(
    parsed: &Parsed,
    kernel: &str,
    most: usize,
    choices: &mut Choices,
    floats: bool,
) -> Vec<Change> {
    let mut possible = all(parsed, kernel);
    for changes in &mut possible {
        changes.retain(|change| !(floats && change.is_for_integers()));
    }
    possible.retain(|all| !all.is_empty());
    let mut chosen: Vec<Change> = Vec::new();
    for _ in 0..most * 4 {
        let kind = choices.below(possible.len());
        let Some(kind) = possible.get(kind) else {
            break;
        };
        let change = kind.get(choices.below(kind.len()));
        if let Some(change) = change
            && chosen.len() < most
            && !chosen.iter().any(|c| c == change || c.meets(change))
        {
            chosen.push(change.clone());
        }
    }
    chosen
}

/// The source with changes, and with the argument; `None` if there is no such kernel.
pub(crate) fn variant(parsed: &Parsed, kernel: &str, changes: &[Change]) -> Option<String> {
    let function = parsed.function(kernel)?;
    let parameters = declarator(function)?.child_by_field_name("parameters")?;
    let end = parameters.end_byte().checked_sub(1)?;
    let none = parameters.named_child_count() == 0;
    let argument = Edit {
        range: end..end,
        of: end..end,
        text: format!("{}const uint {OPAQUE}", if none { "" } else { ", " }),
    };
    let mut edits: Vec<&Edit> = changes
        .iter()
        .flat_map(|c| &c.edits)
        .chain([&argument])
        .collect();
    // The last one first, so that places stay right.
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut text = parsed.source().to_owned();
    for edit in edits.into_iter().rev() {
        text.get(edit.range.clone())?;
        text.replace_range(edit.range.clone(), &edit.text);
    }
    Some(text)
}
