//! Syntax highlighting: the class of each word in a text.

use crate::line::What;
use crate::{Document, SymbolKind};
use std::ops::Range;
use std::sync::Arc;
use visakit_text::Token;

/// The class of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Highlight {
    /// A comment.
    Comment,
    /// A directive.
    Directive,
    /// A mnemonic with its modifiers.
    Mnemonic,
    /// A label.
    Label,
    /// A kernel, a function or a subroutine.
    Function,
    /// A variable of a routine or of the file.
    Variable,
    /// A predicate.
    Predicate,
    /// A sampler or a surface.
    Resource,
    /// A name that every routine has.
    Predefined,
    /// A property of a declaration, or an attribute.
    Property,
    /// A number.
    Number,
    /// A type.
    Type,
    /// A string.
    String,
}

/// A piece of a line that has a colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Piece {
    /// Bytes of the line before it.
    pub start: u32,
    /// Its bytes.
    pub length: u32,
    /// Its class.
    pub class: Highlight,
}

impl Document {
    /// The pieces of some lines that have a colour, in the order of the text.
    #[must_use]
    pub fn highlights(&self, lines: Range<usize>) -> Vec<(Range<usize>, Highlight)> {
        let mut found = Vec::new();
        for line in lines.start..lines.end.min(self.line_count()) {
            let start = self.line_start(line);
            found.extend(self.pieces(line).iter().map(|piece| {
                let start = start + wide(piece.start);
                (start..start + wide(piece.length), piece.class)
            }));
        }
        found
    }

    /// The highlighted pieces of a line; empty if there is no such line. They are cached: the same list is returned
    /// until an edit affects the line, or the meaning of its names.
    #[must_use]
    pub fn pieces(&self, line: usize) -> Arc<[Piece]> {
        self.settle_names();
        let Some(known) = self.lines().get(line) else {
            return Arc::default();
        };
        if let Some(pieces) = &*known.pieces.borrow() {
            return pieces.clone();
        }
        let mut found = Vec::new();
        self.highlights_of(line, &mut found);
        let pieces = found.into_iter().map(|(span, class)| Piece {
            start: narrow(span.start - known.start),
            length: narrow(span.len()),
            class,
        });
        let pieces: Arc<[Piece]> = pieces.collect();
        *known.pieces.borrow_mut() = Some(pieces.clone());
        pieces
    }

    fn highlights_of(&self, line: usize, found: &mut Vec<(Range<usize>, Highlight)>) {
        let what = self.lines().get(line).map_or(What::Blank, |l| l.what);
        let directive = !matches!(what, What::Instruction | What::Label | What::Blank);
        let tokens: Vec<_> = self.line_tokens(line).collect();
        let names = self.names_among(line, &tokens);
        let mut names = names.iter().peekable();
        let mut until = 0;
        for (token, span) in tokens {
            while names.next_if(|n| n.span.end <= span.start).is_some() {}
            if span.start < until {
                continue;
            }
            // The quotes of a name belong to the string.
            let name = names
                .peek()
                .filter(|n| n.span.start <= span.start && token != Token::String);
            if let Some(name) = name {
                until = name.span.end;
                let kind = name.definition.as_ref().map(|d| d.kind);
                let class = match kind {
                    Some(SymbolKind::Kernel | SymbolKind::Function | SymbolKind::Subroutine) => {
                        Highlight::Function
                    }
                    Some(SymbolKind::Label) => Highlight::Label,
                    Some(SymbolKind::Predicate) => Highlight::Predicate,
                    Some(SymbolKind::Sampler | SymbolKind::Surface) => Highlight::Resource,
                    Some(_) => Highlight::Variable,
                    None if token == Token::Predefined || self.is_predefined(self.said(&span)) => {
                        Highlight::Predefined
                    }
                    // A mask or a word of the instruction.
                    None => Highlight::Property,
                };
                found.push((name.span.clone(), class));
                continue;
            }
            let class = match token {
                Token::Comment => Highlight::Comment,
                Token::Directive => Highlight::Directive,
                Token::Mnemonic => Highlight::Mnemonic,
                Token::Label => Highlight::Label,
                Token::Predefined => Highlight::Predefined,
                Token::Number => Highlight::Number,
                Token::Type => Highlight::Type,
                Token::String => Highlight::String,
                Token::Name if directive && self.follows(&span, "type=") => Highlight::Type,
                Token::Name => Highlight::Property,
                _ => continue,
            };
            let text = self.said(&span);
            let end = span.start + text.trim_end_matches(['\n', '\r']).len();
            if end > span.start {
                found.push((span.start..end, class));
            }
        }
    }

    pub(crate) fn said(&self, span: &Range<usize>) -> &str {
        self.text().get(span.clone()).unwrap_or_default()
    }

    fn follows(&self, span: &Range<usize>, what: &str) -> bool {
        let before = self.text().get(..span.start).unwrap_or_default();
        before.ends_with(what) && !before.ends_with("v_type=")
    }
}

/// Lines of more than 4 GiB have no colours past that.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
