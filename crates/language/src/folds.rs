//! Folding ranges.

use crate::Document;
use crate::line::What;
use std::ops::Range;

/// What a fold contains.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FoldKind {
    /// A routine.
    Routine,
    /// Declarations that follow each other.
    Declarations,
    /// Comments that follow each other.
    Comment,
    /// A scope in braces.
    Scope,
}

/// Lines that can be folded; the first one stays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fold {
    /// The lines.
    pub lines: Range<usize>,
    /// Their kind.
    pub kind: FoldKind,
}

impl Document {
    /// The folding ranges, in the order of their first lines.
    #[must_use]
    pub fn folds(&self) -> Vec<Fold> {
        let mut folds = Vec::new();
        let mut fold = |lines: Range<usize>, kind| {
            if lines.len() > 1 {
                folds.push(Fold { lines, kind });
            }
        };
        for routine in &self.symbols().routines {
            let mut end = routine.end;
            while end > routine.start && self.line_text(end - 1).trim().is_empty() {
                end -= 1;
            }
            fold(routine.start..end, FoldKind::Routine);
        }
        // A run of one kind, and the scopes that are open.
        let mut run: Option<(usize, FoldKind)> = None;
        let mut open = Vec::new();
        for (number, line) in self.lines().iter().enumerate() {
            let blank = line.what == What::Blank && line.opens == 0 && line.closes == 0;
            let kind = match line.what {
                What::Declaration(_) | What::LabelDeclaration => Some(FoldKind::Declarations),
                What::Blank if blank && !self.line_text(number).trim().is_empty() => {
                    Some(FoldKind::Comment)
                }
                _ => None,
            };
            if run.map(|(_, kind)| kind) != kind {
                if let Some((start, kind)) = run {
                    fold(start..number, kind);
                }
                run = kind.map(|kind| (number, kind));
            }
            open.extend((0..line.opens).map(|_| number));
            for _ in 0..line.closes {
                if let Some(start) = open.pop() {
                    fold(start..number + 1, FoldKind::Scope);
                }
            }
        }
        if let Some((start, kind)) = run {
            fold(start..self.line_count(), kind);
        }
        folds.sort_by_key(|f| (f.lines.start, f.lines.end));
        folds
    }
}
