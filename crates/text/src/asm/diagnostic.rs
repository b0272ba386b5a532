//! Diagnostics: what is wrong with a text.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use visakit_isa::Features;

/// A piece of the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Number of bytes.
    pub len: usize,
}

impl Span {
    /// The bytes from `start` up to but not including `end`.
    #[must_use]
    pub const fn between(start: usize, end: usize) -> Self {
        Self {
            start,
            len: end.saturating_sub(start),
        }
    }

    /// Offset after the last byte.
    #[must_use]
    pub const fn end(self) -> usize {
        self.start.saturating_add(self.len)
    }

    /// Line and column, both from 1; columns count bytes.
    #[must_use]
    pub fn place(self, text: &[u8]) -> (usize, usize) {
        let before = text.get(..self.start).unwrap_or(text);
        let lines = before.iter().filter(|b| **b == b'\n').count();
        let column = before.iter().rev().take_while(|b| **b != b'\n').count();
        (lines + 1, column + 1)
    }
}

/// What kind of fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DiagnosticKind {
    /// The meaning depends on the size of a register, which is not known.
    RegisterSize,
    /// Something else was expected here.
    Syntax,
    /// No instruction has this name.
    UnknownOpcode,
    /// The instruction exists, but not in this version or dialect.
    NotInVersion,
    /// The construct exists, but not in this dialect of the version; the hint names the dialects that
    /// have it.
    NotInDialect,
    /// The instruction cannot be predicated.
    NotPredicable,
    /// The number of lanes does not exist, or the instruction does not support it.
    IllegalExecSize,
    /// A name that was not declared.
    Undeclared,
    /// A name that was declared before.
    DuplicateDeclaration,
    /// A label that was placed before.
    DuplicateLabel,
    /// A label that is never placed.
    MissingLabel,
    /// The operand needs a region.
    MissingRegion,
    /// Regions cannot have this value.
    RegionValue,
    /// The number does not fit.
    ImmediateRange,
    /// The constant has a type that is not allowed here.
    ImmediateType,
    /// The instruction takes more or fewer operands.
    OperandCount,
    /// A different class of operand is required here.
    OperandClass,
    /// No attribute has this name.
    UnknownAttribute,
    /// The alias begins or ends outside the variable it aliases.
    AliasBounds,
    /// The string has no end on its line.
    UnterminatedString,
    /// The comment has no end.
    UnterminatedComment,
    /// More text follows a complete line.
    TrailingText,
    /// The directive or instruction is not allowed here.
    Misplaced,
    /// The text needs something that the target has no binary form for.
    NotEncodable,
    /// A directive in a comment is unknown or not allowed here.
    Directive,
    /// A directive in a comment was written for a different line than the one it follows.
    StaleDirective,
    /// The native code in a text belongs to a routine that has changed since.
    StaleNative,
    /// More faults were found than are listed.
    TooMany,
}

/// One fault.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What kind of fault it is.
    pub kind: DiagnosticKind,
    /// Where it is.
    pub span: Span,
    /// What is wrong, one clause without a full stop.
    pub message: String,
    /// What was expected at the place, if that can be said.
    pub expected: Option<String>,
    /// What may help.
    pub hint: Option<String>,
    /// Another related place, such as the first declaration, with a remark.
    pub related: Option<(Span, &'static str)>,
    /// Features that the format lacks and another one has.
    pub(crate) needs: Features,
}

pub(crate) type Fault = Box<Diagnostic>;
pub(crate) type Parsed<T> = Result<T, Fault>;

impl Diagnostic {
    /// The suggested replacement for the text at the place, if the hint has one.
    #[must_use]
    pub fn replacement(&self) -> Option<&str> {
        let hint = self.hint.as_ref()?;
        hint.strip_prefix("did you mean `")?.strip_suffix("`?")
    }

    #[cold]
    pub(crate) fn new(kind: DiagnosticKind, span: Span, message: impl Into<String>) -> Fault {
        Box::new(Self {
            kind,
            span,
            message: message.into(),
            expected: None,
            hint: None,
            related: None,
            needs: Features::empty(),
        })
    }

    #[cold]
    pub(crate) fn expected(mut self: Box<Self>, what: impl Into<String>) -> Fault {
        self.expected = Some(what.into());
        self
    }

    #[cold]
    pub(crate) fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Fault {
        self.hint = Some(hint.into());
        self
    }

    #[cold]
    pub(crate) fn needs(mut self: Box<Self>, features: Features) -> Fault {
        self.needs = features;
        self
    }

    #[cold]
    pub(crate) fn related(mut self: Box<Self>, span: Span, remark: &'static str) -> Fault {
        self.related = Some((span, remark));
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(expected) = &self.expected {
            write!(f, ", expected {expected}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, " ({hint})")?;
        }
        Ok(())
    }
}

impl core::error::Error for Diagnostic {}

/// Everything that is wrong with a text, ordered by place: at least one [`Diagnostic`].
///
/// Dereferences to a slice of diagnostics, and iterates by value or by reference. Is shown as `9:14: ` (line and column of
/// the first fault), its message, and the number of further faults.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Errors {
    list: Vec<Diagnostic>,
    /// Where the first one is.
    place: (usize, usize),
}

impl Errors {
    pub(crate) fn new(list: Vec<Diagnostic>, text: &[u8]) -> Self {
        let place = list.first().map_or((1, 1), |first| first.span.place(text));
        Self { list, place }
    }

    /// Line and column of the first fault, as [`Span::place`] counts them.
    #[must_use]
    pub const fn place(&self) -> (usize, usize) {
        self.place
    }

    /// The diagnostics.
    #[must_use]
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }
}

impl core::ops::Deref for Errors {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        &self.list
    }
}

impl IntoIterator for Errors {
    type Item = Diagnostic;
    type IntoIter = alloc::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'e> IntoIterator for &'e Errors {
    type Item = &'e Diagnostic;
    type IntoIter = core::slice::Iter<'e, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.place;
        write!(f, "{line}:{column}: ")?;
        match self.split_first() {
            None => Ok(()),
            Some((first, [])) => first.fmt(f),
            Some((first, [_])) => write!(f, "{first}, and one more fault"),
            Some((first, more)) => write!(f, "{first}, and {} more faults", more.len()),
        }
    }
}

impl core::error::Error for Errors {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.first().map(|first| first as _)
    }
}

/// The candidate most similar to `name`, if any is similar at all.
pub(crate) fn closest<'c>(
    name: &[u8],
    candidates: impl Iterator<Item = &'c [u8]>,
) -> Option<&'c [u8]> {
    const LONGEST: usize = 40;
    if name.len() > LONGEST {
        return None;
    }
    let limit = 1 + name.len() / 4;
    candidates
        .filter(|c| c.len() <= LONGEST && c.len().abs_diff(name.len()) <= limit)
        .map(|c| (distance(name, c), c))
        .filter(|(d, _)| *d <= limit)
        // Of two equally similar candidates, prefer the one that begins the same way.
        .min_by_key(|(d, c)| (*d, Reverse(common_start(name, c)), *c))
        .map(|(_, c)| c)
}

fn common_start(a: &[u8], b: &[u8]) -> usize {
    let pairs = a.iter().zip(b);
    pairs.take_while(|(x, y)| x.eq_ignore_ascii_case(y)).count()
}

/// Edit distance of two short names; swapping neighbours counts as one edit, and case is ignored.
/// Written by hand because `strsim`, which the command line uses, needs the standard library.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let width = b.len() + 1;
    let mut before = alloc::vec![0; width];
    let mut last: alloc::vec::Vec<usize> = (0..width).collect();
    let mut row = alloc::vec![0; width];
    let at = |row: &[usize], i: usize| row.get(i).copied().unwrap_or(usize::MAX / 2);
    for (i, x) in a.iter().enumerate() {
        for j in 0..width {
            let cost = match j.checked_sub(1).and_then(|j| b.get(j)) {
                None => i + 1,
                Some(y) => {
                    let same = usize::from(!x.eq_ignore_ascii_case(y));
                    let mut cost = (at(&last, j - 1) + same)
                        .min(at(&last, j) + 1)
                        .min(at(&row, j - 1) + 1);
                    let swapped = i > 0
                        && j > 1
                        && a.get(i - 1).is_some_and(|p| p.eq_ignore_ascii_case(y))
                        && b.get(j - 2).is_some_and(|q| q.eq_ignore_ascii_case(x));
                    if swapped {
                        cost = cost.min(at(&before, j - 2) + 1);
                    }
                    cost
                }
            };
            if let Some(place) = row.get_mut(j) {
                *place = cost;
            }
        }
        core::mem::swap(&mut before, &mut last);
        core::mem::swap(&mut last, &mut row);
    }
    at(&last, b.len())
}
