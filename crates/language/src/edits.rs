//! Changes: rename, formatting.

use crate::analysis::Severity;
use crate::symbols::Space;
use crate::{Document, Fix, SymbolKind};
use std::fmt;
use std::ops::Range;
use visakit_text::asm::Options;

/// A piece of the text and its replacement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The piece.
    pub range: Range<usize>,
    /// Its replacement.
    pub text: String,
}

/// Why a name cannot become another one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CannotRename {
    /// There is no declared name.
    NoName,
    /// The characters are not allowed in such a name.
    NotAName(SymbolKind),
    /// The name means something else there.
    Taken(String),
}

impl fmt::Display for CannotRename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoName => f.write_str("there is no declared name here"),
            Self::NotAName(kind) => write!(
                f,
                "no {} can have this name: letters, digits and underscores, a letter first",
                kind.name()
            ),
            Self::Taken(name) => write!(f, "`{name}` means something else here"),
        }
    }
}

impl core::error::Error for CannotRename {}

impl Document {
    /// The edits that rename the symbol at an offset everywhere.
    ///
    /// # Errors
    /// There is no declared name, the new one cannot be a name, or it is taken.
    pub fn rename(&self, offset: usize, name: &str) -> Result<Vec<Edit>, CannotRename> {
        let definition = self.definition(offset).ok_or(CannotRename::NoName)?;
        let sign =
            usize::from(definition.kind == SymbolKind::FileVariable && name.starts_with('@'));
        let plain = name.get(sign..).unwrap_or_default();
        let mut letters = plain.bytes();
        let first = letters
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == b'_');
        if !first || !letters.all(|c| c.is_ascii_alphanumeric() || c == b'_') {
            return Err(CannotRename::NotAName(definition.kind));
        }
        let uses = self.uses(&definition);
        let space = definition.kind.space();
        let symbols = self.symbols();
        let other = |at: usize| {
            let found = symbols.find(self.text(), space, name, at);
            found.is_some_and(|d| d.name != definition.name)
        };
        // A variable that would hide, or be hidden, anywhere in the scope of this one.
        let hides = symbols.definitions.iter().any(|d| {
            d.kind.space() == space
                && self.text().get(d.name.clone()) == Some(name)
                && d.known.start < definition.known.end
                && definition.known.start < d.known.end
        });
        let predefined = space == Space::Variable && self.is_predefined(name);
        if predefined || hides || uses.iter().any(|at| other(at.start)) {
            return Err(CannotRename::Taken(name.into()));
        }
        let edits = uses.into_iter().map(|range| {
            // Variables of the file are named with and without their sign.
            let signed = self
                .text()
                .get(range.clone())
                .is_some_and(|said| said.starts_with('@'));
            let text = match (signed, sign) {
                (true, 0) => format!("@{name}"),
                (false, 1) => plain.into(),
                _ => name.into(),
            };
            Edit { range, text }
        });
        Ok(edits.collect())
    }

    /// The edits that bring the text into the form of the printer; empty if it already is. A text that does not
    /// assemble is not changed.
    #[must_use]
    pub fn format(&self) -> Vec<Edit> {
        let tidy = visakit_text::format(self.text().as_bytes(), &Options::default()).ok();
        let tidy = tidy.and_then(|tidy| String::from_utf8(tidy).ok());
        tidy.map(|tidy| differences(self.text(), &tidy))
            .unwrap_or_default()
    }

    /// Changes that help against the problems in a range.
    #[must_use]
    pub fn fixes(&self, range: Range<usize>) -> Vec<(&crate::Problem, &Fix)> {
        let problems = self.problems().iter();
        let meets = problems.filter(|p| p.span.start <= range.end && range.start <= p.span.end);
        let mut fixes: Vec<_> = meets.filter_map(|p| Some((p, p.fix.as_ref()?))).collect();
        fixes.sort_by_key(|(p, _)| p.severity != Severity::Error);
        fixes
    }
}

/// The edits, line by line, that turn one text into the other: common lines, in order, are kept. Formatting changes
/// lines in place, so that looking a few lines ahead finds where both agree again.
fn differences(old: &str, new: &str) -> Vec<Edit> {
    const AHEAD: usize = 16;
    let before: Vec<&str> = old.split_inclusive('\n').collect();
    let after: Vec<&str> = new.split_inclusive('\n').collect();
    let (mut a, mut b, mut at) = (0, 0, 0);
    let mut edits: Vec<Edit> = Vec::new();
    while a < before.len() || b < after.len() {
        let (old, new) = (before.get(a), after.get(b));
        if let (Some(old), Some(new)) = (old, new)
            && old == new
        {
            at += old.len();
            a += 1;
            b += 1;
            continue;
        }
        let mut steps = (0..=AHEAD).flat_map(|sum| (0..=sum).map(move |i| (i, sum - i)));
        let agree = |(i, j): &(usize, usize)| match (before.get(a + i), after.get(b + j)) {
            (Some(old), Some(new)) => old == new && !old.trim().is_empty(),
            (None, None) => true,
            _ => false,
        };
        let (gone, come) = steps.find(agree).unwrap_or((1, 1));
        let gone = gone.min(before.len() - a);
        let come = come.min(after.len() - b);
        let removed: usize = before
            .get(a..a + gone)
            .unwrap_or_default()
            .iter()
            .map(|l| l.len())
            .sum();
        let text: String = after.get(b..b + come).unwrap_or_default().concat();
        match edits.last_mut() {
            Some(last) if last.range.end == at => {
                last.range.end += removed;
                last.text.push_str(&text);
            }
            _ => edits.push(Edit {
                range: at..at + removed,
                text,
            }),
        }
        at += removed;
        a += gone;
        b += come;
    }
    edits
}
