//! Semantic tokens: for a whole text, and as changes since a client's last version.

use crate::convert::{View, narrow, token_type, wide};
use gen_lsp_types as lsp;
use std::ops::Range;
use std::sync::Arc;
use visakit_language::{Highlight, Piece};

/// A token on its line, as its client counts columns.
#[derive(Clone, Copy, Debug)]
struct Token {
    column: u32,
    length: u32,
    class: Highlight,
}

/// The tokens of a line, and the pieces they were computed from: as long as the document returns the same pieces, the
/// line is unchanged.
#[derive(Clone, Debug)]
struct Line {
    pieces: Arc<[Piece]>,
    tokens: Arc<[Token]>,
}

impl Line {
    fn of(view: View<'_>, line: usize, pieces: Arc<[Piece]>) -> Self {
        let text = view.document.line_text(line);
        // The start of the previous piece, in bytes and in the client's units.
        let (mut start, mut column) = (0, 0);
        let tokens = pieces.iter().map(|piece| {
            let from = wide(piece.start);
            let to = from + wide(piece.length);
            column += view
                .encoding
                .length(text.get(start..from).unwrap_or_default());
            start = from;
            let said = text.get(from..to).unwrap_or_default();
            Token {
                column: narrow(column),
                length: narrow(view.encoding.length(said)),
                class: piece.class,
            }
        });
        let tokens = tokens.collect();
        Self { pieces, tokens }
    }
}

/// The tokens of a document, line by line.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    lines: Vec<Line>,
}

impl Tokens {
    /// Those of a document now. Lines that are as they were are taken from `before`.
    pub(crate) fn of(view: View<'_>, before: Option<&Self>) -> Self {
        let old = before.map_or(&[][..], |before| &before.lines);
        let mut new: Vec<(usize, Arc<[Piece]>)> = Vec::new();
        let count = view.document.line_count();
        new.extend((0..count).map(|line| (line, view.document.pieces(line))));
        let same = |old: &Line, new: &(usize, Arc<[Piece]>)| Arc::ptr_eq(&old.pieces, &new.1);
        let front = old.iter().zip(&new).take_while(|(a, b)| same(a, b)).count();
        let most = old.len().min(count) - front;
        let ends = old.iter().rev().zip(new.iter().rev()).take(most);
        let back = ends.take_while(|(a, b)| same(a, b)).count();
        let mut lines = Vec::with_capacity(count);
        lines.extend(old.iter().take(front).cloned());
        let changed = new.into_iter().skip(front).take(count - back - front);
        lines.extend(changed.map(|(line, pieces)| Line::of(view, line, pieces)));
        lines.extend(old.iter().skip(old.len() - back).cloned());
        Self { lines }
    }

    /// All of them, packed as the protocol wants them.
    pub(crate) fn packed(&self) -> Vec<lsp::SemanticToken> {
        self.pack(0..self.lines.len(), 0)
    }

    /// Those of some lines, after a token on the line `previous`.
    fn pack(&self, lines: Range<usize>, mut previous: usize) -> Vec<lsp::SemanticToken> {
        let mut packed = Vec::new();
        for number in lines {
            let tokens = self.lines.get(number).map_or(&[][..], |line| &line.tokens);
            let mut column = 0;
            for token in tokens {
                packed.push(lsp::SemanticToken {
                    delta_line: narrow(number - previous),
                    delta_start: token.column - column,
                    length: token.length,
                    token_type: token_type(token.class),
                    token_modifiers_bitset: u32::from(token.class == Highlight::Predefined),
                });
                (previous, column) = (number, token.column);
            }
        }
        packed
    }

    /// The changes that turn the previous tokens into these, as one edit; empty if nothing has changed. There are five
    /// numbers for each token.
    pub(crate) fn since(&self, before: &Self) -> Vec<lsp::SemanticTokensEdit> {
        let (old, new) = (&before.lines, &self.lines);
        let same = |(a, b): &(&Line, &Line)| Arc::ptr_eq(&a.tokens, &b.tokens);
        let front = old.iter().zip(new).take_while(same).count();
        let most = old.len().min(new.len()) - front;
        let ends = old.iter().rev().zip(new.iter().rev()).take(most);
        let mut back = ends.take_while(same).count();
        // Lines that move have other numbers only in the first token after those that have changed.
        while back > 0 {
            back -= 1;
            let after = new.get(new.len() - back - 1);
            if after.is_some_and(|line| !line.tokens.is_empty()) {
                break;
            }
        }
        let first = new.get(..front).unwrap_or_default();
        let previous = first.iter().rposition(|line| !line.tokens.is_empty());
        let previous = previous.unwrap_or(0);
        let gone = before.pack(front..old.len() - back, previous);
        let come = self.pack(front..new.len() - back, previous);
        let head = gone.iter().zip(&come).take_while(|(a, b)| a == b).count();
        let most = gone.len().min(come.len()) - head;
        let ends = gone.iter().rev().zip(come.iter().rev()).take(most);
        let tail = ends.take_while(|(a, b)| a == b).count();
        let put = come.get(head..come.len() - tail).unwrap_or_default();
        let removed = gone.len() - tail - head;
        if removed == 0 && put.is_empty() {
            return Vec::new();
        }
        let start = first.iter().map(|line| line.tokens.len()).sum::<usize>() + head;
        let data = put.iter().flat_map(|t| {
            [
                t.delta_line,
                t.delta_start,
                t.length,
                t.token_type,
                t.token_modifiers_bitset,
            ]
        });
        vec![lsp::SemanticTokensEdit {
            start: narrow(start.saturating_mul(5)),
            delete_count: narrow(removed.saturating_mul(5)),
            data: Some(data.collect()),
        }]
    }
}

/// The tokens of some lines of a document, packed.
pub(crate) fn of_lines(view: View<'_>, lines: Range<usize>) -> Vec<lsp::SemanticToken> {
    let end = lines.end.min(view.document.line_count());
    let made = (lines.start..end).map(|line| Line::of(view, line, view.document.pieces(line)));
    let tokens = Tokens {
        lines: made.collect(),
    };
    let mut packed = tokens.packed();
    if let Some(first) = packed.first_mut() {
        first.delta_line = first.delta_line.saturating_add(narrow(lines.start));
    }
    packed
}
