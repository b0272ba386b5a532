//! Which lines an edit affects through names: those highlighted when a name had another meaning.

use crate::{Document, SymbolKind};
use visakit_isa::Format;

/// A definition as lines know it that are not its own.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Known {
    kind: SymbolKind,
    name: String,
    /// Lines, by their names: its own, and those at whose begin it becomes known and ceases to be.
    line: u64,
    from: u64,
    /// `None` at the end of the text.
    until: Option<u64>,
}

/// The meanings of names when lines were highlighted.
#[derive(Debug)]
pub(crate) struct Before {
    known: Vec<Known>,
    layout: Format,
}

/// More definitions than these are not looked for one by one.
const MOST_CHANGED: usize = 64;

impl Document {
    /// Called before an edit after which names may have other meanings.
    pub(crate) fn remember_names(&mut self) {
        let coloured = |line: &crate::line::Line| line.pieces.borrow().is_some();
        if self.before.get_mut().is_none() && self.lines().iter().any(coloured) {
            let before = self.names_now();
            *self.before.get_mut() = Some(before);
        }
    }

    fn names_now(&self) -> Before {
        let lines = self.lines();
        let id = |line: usize| lines.get(line).map_or(0, |line| line.id);
        let end = self.text().len();
        let known = self.symbols().definitions.iter().map(|d| Known {
            kind: d.kind,
            name: self.name_of(d),
            line: id(d.line),
            from: id(self.line_at(d.known.start)),
            until: (d.known.end != end).then(|| id(self.line_at(d.known.end))),
        });
        Before {
            known: known.collect(),
            layout: self.layout(),
        }
    }

    /// Drops the highlighting of lines that contain a name whose meaning has changed since the last edits.
    pub(crate) fn settle_names(&self) {
        let Some(before) = self.before.take() else {
            return;
        };
        let now = self.names_now();
        let (old, new) = (&before.known, &now.known);
        let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let most = old.len().min(new.len()) - front;
        let ends = old.iter().rev().zip(new.iter().rev()).take(most);
        let back = ends.take_while(|(a, b)| a == b).count();
        let changed = |all: &'_ [Known]| {
            let changed = all.get(front..all.len() - back);
            changed.unwrap_or_default().to_vec()
        };
        let changed = [changed(old), changed(new)].concat();
        // The predefined names depend on the version.
        if changed.len() > MOST_CHANGED || before.layout != now.layout {
            for line in self.lines() {
                line.pieces.take();
            }
            return;
        }
        let line = |id: u64| self.lines().iter().position(|line| line.id == id);
        for known in changed {
            // Lines that have gone: from the begin of the text, and to its end.
            let first = line(known.from).unwrap_or(0);
            let last = known.until.and_then(line);
            let start = self.line_start(first);
            let end = last.map_or(self.text().len(), |last| self.line_start(last + 1));
            // A variable of the file may be named without its sign.
            let name = known.name.strip_prefix('@').unwrap_or(&known.name);
            let text = self.text().get(start..end).unwrap_or_default();
            for (at, _) in text.match_indices(name) {
                let number = self.line_at(start + at);
                if let Some(line) = self.lines().get(number) {
                    line.pieces.take();
                }
            }
        }
    }
}
