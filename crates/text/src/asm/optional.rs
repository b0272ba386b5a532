//! Optional parts.

use super::diagnostic::Parsed;
use super::instruction::LineParser;
use visakit_isa::table::{FieldName, Part, Test};

impl LineParser<'_, '_> {
    pub(super) fn conditional(&mut self, test: Test, parts: &'static [Part]) -> Parsed<()> {
        let holds = self.scratch.fields.decided(test);
        let there = match (holds, test) {
            (Some(holds), _) => holds,
            (None, Test::Not(..)) if matches!(parts.first(), Some(Part::Number(_))) => {
                self.begins_twice(parts)
            }
            (None, _) => self.begins(parts),
        };
        if !there {
            return Ok(());
        }
        if let (None, Test::Not(name, _)) = (holds, test) {
            self.in_dialect(name, self.cursor.piece())?;
        }
        if holds.is_none() {
            self.scratch.fields.entered(test);
        }
        self.parts(parts)
    }

    /// Whether the text here begins as these parts do.
    pub(super) fn begins(&mut self, parts: &'static [Part]) -> bool {
        for (n, part) in parts.iter().enumerate() {
            let rest = parts.get(n + 1..).unwrap_or_default();
            let mut ahead = *self.cursor;
            match *part {
                Part::Text(text) if text.bytes().all(|c| c == b' ') => {}
                Part::Text(text) => {
                    // A listed name is more specific than what precedes it.
                    let Some(Part::Named(name)) = rest.first() else {
                        return ahead.eat_text(text);
                    };
                    return ahead.eat_text(text)
                        && (ahead.has("<<") || self.longest(*name, u64::MAX, &ahead).is_some());
                }
                Part::Hex(FieldName::AddrScale) if ahead.begins_primary() => return true,
                Part::Number(_) | Part::Hex(_) => {
                    return matches!(ahead.number(), Ok(Some(_))) && ahead.peek() != Some(b':');
                }
                Part::Named(name) => {
                    ahead.blanks();
                    return ahead.has("<<") || self.longest(name, u64::MAX, &ahead).is_some();
                }
                Part::Choice(choice) => {
                    let texts = choice.cases.iter().map(|(_, t)| *t);
                    let mut texts = texts.chain(core::iter::once(choice.otherwise));
                    return texts.any(|t| !t.is_empty() && ahead.eat_text(t));
                }
                Part::InputOnly(parts) if self.begins(parts) => return true,
                Part::MayOmit(_) | Part::InputOnly(_) | Part::SignedHex(_) => {}
                _ => return !ahead.ends(),
            }
        }
        false
    }

    /// Whether a number and a text occur here twice: one pair belongs to these parts, the other to
    /// what follows.
    pub(super) fn begins_twice(&self, parts: &'static [Part]) -> bool {
        let mut ahead = *self.cursor;
        (0..2).all(|_| {
            parts.iter().all(|part| match *part {
                Part::Text(text) => ahead.eat_text(text),
                Part::Number(_) => matches!(ahead.number(), Ok(Some(_))),
                _ => false,
            })
        })
    }
}
