//! Which lines an edit reaches through names: those whose colours were made when a name stood for something else.

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

/// What names stood for when the colours of lines were made.
#[derive(Debug)]
pub(crate) struct Before {
    known: Vec<Known>,
    layout: Format,
}

/// More names than these are not looked for one by one.
const MOST_NAMES: usize = 64;

impl Document {
    /// Before an edit after which names may stand for something else.
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

    /// Forgets the colours of lines that have a name which stands for something else than before the last edits.
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
        let changed = |all: &'_ [Known]| -> Vec<String> {
            let changed = all.get(front..all.len() - back).unwrap_or_default();
            let names = changed.iter().take(MOST_NAMES + 1);
            // A variable of the file may be named without its sign.
            let names = names.map(|k| k.name.strip_prefix('@').unwrap_or(&k.name).to_owned());
            names.collect()
        };
        let mut names = [changed(old), changed(new)].concat();
        names.sort_unstable();
        names.dedup();
        // What is predefined depends on the version.
        let all = names.len() > MOST_NAMES || before.layout != now.layout;
        for (number, line) in self.lines().iter().enumerate() {
            let text = self.line_text(number);
            if all || names.iter().any(|name| text.contains(name.as_str())) {
                line.pieces.take();
            }
        }
    }
}
