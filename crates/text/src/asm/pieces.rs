//! The pieces of text that a statement was parsed from, for the formatter and for fragments.

use super::diagnostic::Span;
use super::instruction::LineParser;
use crate::language::index::enumeration;
use alloc::vec::Vec;
use visakit_isa::table::{FieldName, Part};

/// A piece of an instruction, in text order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece {
    /// Fixed characters, as in the description.
    Fixed(&'static str),
    /// An execution size.
    Lanes(Span),
    /// Anything the text spells in its own way.
    Said(Span),
    /// Names separated by commas.
    List(Span),
    /// An operand, set off by a blank.
    Operand(Span),
}

/// What a statement is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StatementKind {
    /// A statement that begins with a full stop and is not an instruction.
    Directive,
    /// A label with its colon.
    Label,
    /// An instruction with this many pieces.
    Instruction { pieces: usize },
    /// A brace.
    Scope { opens: bool },
}

/// A statement and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Statement {
    pub(crate) kind: StatementKind,
    pub(crate) span: Span,
}

/// Everything recorded about a text.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) statements: Vec<Statement>,
    /// The pieces of the instructions, one instruction after the other.
    pub(crate) pieces: Vec<Piece>,
    /// How many of them belong to instructions before the current one.
    pub(crate) done: usize,
    /// The fields of the last instruction that the text shows, in text order.
    pub(crate) fields: Vec<(FieldName, Span)>,
}

impl Record {
    /// Ends a statement.
    pub(super) fn end(&mut self, mut kind: StatementKind, span: Span) {
        if let StatementKind::Instruction { pieces } = &mut kind {
            *pieces = self.pieces.len() - self.done;
        }
        self.done = self.pieces.len();
        self.statements.push(Statement { kind, span });
    }
}

impl LineParser<'_, '_> {
    /// Notes what a part was parsed from, unless nothing was consumed.
    pub(super) fn note(&mut self, part: &'static Part, start: usize) {
        let end = self.cursor.at;
        // Blanks and comments before it belong to no part.
        let mut at = *self.cursor;
        at.at = start;
        at.blanks();
        let span = Span::between(at.at.min(end), end);
        let Some(record) = self.scratch.record.as_mut() else {
            return;
        };
        if span.len == 0 {
            return;
        }
        let (piece, field) = match *part {
            Part::ExecSize | Part::FixedLanes(_) => (Piece::Lanes(span), Some(FieldName::ExecSize)),
            Part::Lanes(name) => (Piece::Lanes(span), Some(name)),
            Part::Targets(name) => (Piece::List(span), Some(name)),
            Part::NoRegion(name) | Part::AddressOf(name) | Part::MinMaxMode(name) => {
                (Piece::Operand(span), Some(name))
            }
            Part::Bare(name)
            | Part::Surface(name)
            | Part::SurfaceNumber(name)
            | Part::Sampler(name)
            | Part::State(name, ..)
            | Part::Number(name)
            | Part::PowerOfTwo(name, _)
            | Part::HexDigits(name)
            | Part::Hex(name)
            | Part::HexPair(name, _)
            | Part::SignedHex(name)
            | Part::Channels(name, _)
            | Part::ChannelsInverted(name, _)
            | Part::Flags(name, _)
            | Part::Precision(name)
            | Part::Target(name)
            | Part::BareTarget(name)
            | Part::CallTarget(name)
            | Part::Quoted(name)
            | Part::Name(name)
            | Part::Symbol(name)
            | Part::Variable(name) => (Piece::Said(span), Some(name)),
            Part::Named(name) | Part::Operation(name, _) => {
                let said = self.cursor.text.get(span.start..end).unwrap_or_default();
                let names = enumeration(self.def, name).map_or(&[][..], |e| e.entries);
                let listed =
                    |(_, text): &&(u8, &'static str)| text.as_bytes().eq_ignore_ascii_case(said);
                let known = names.iter().find(listed);
                (
                    known.map_or(Piece::Said(span), |(_, text)| Piece::Fixed(text)),
                    Some(name),
                )
            }
            Part::Text(_)
            | Part::Mnemonic
            | Part::Predicate
            | Part::Saturation
            | Part::Operands
            | Part::List(_)
            | Part::Choice(_)
            | Part::Caching
            | Part::If(..)
            | Part::NotIntel(_)
            | Part::MayOmit(_)
            | Part::InputOnly(_)
            | Part::Operand(_)
            | Part::CallMnemonic(_)
            | Part::Placed(_)
            | Part::Subroutine(_) => return,
        };
        if record.pieces.last() == Some(&piece) {
            return;
        }
        record.pieces.push(piece);
        if let Some(field) = field {
            record.fields.push((field, span));
        }
    }

    /// Notes fixed characters of the description.
    #[inline]
    pub(super) fn fixed(&mut self, text: &'static str) {
        if let Some(record) = self.scratch.record.as_mut() {
            record.pieces.push(Piece::Fixed(text));
        }
    }

    /// Notes the predicate before the mnemonic.
    pub(super) fn predicated(&mut self, span: Span) {
        if let Some(record) = self.scratch.record.as_mut() {
            record.pieces.extend([Piece::Said(span), Piece::Fixed(" ")]);
            record.fields.push((FieldName::Pred, span));
        }
    }

    /// Notes an operand.
    #[inline]
    pub(super) fn listed(&mut self, name: FieldName, start: usize) {
        let mut at = *self.cursor;
        at.at = start;
        at.blanks();
        let span = Span::between(at.at, self.cursor.at);
        if let Some(record) = self.scratch.record.as_mut() {
            record.pieces.push(Piece::Operand(span));
            record.fields.push((name, span));
        }
    }
}
