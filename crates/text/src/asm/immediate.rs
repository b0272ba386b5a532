//! Constants.

use super::declaration::{newer_type, type_named};
use super::diagnostic::{Diagnostic, DiagnosticKind, Parsed, Span};
use super::expression::{Extent, exact};
use super::instruction::LineParser;
use crate::language::operand;
use crate::lexer::{Cursor, Word};
use visakit_isa::operand::{ImmediateOperand, PropertyByte};
use visakit_isa::table::FieldDef;
use visakit_isa::{DataType, VectorOperand};

impl LineParser<'_, '_> {
    /// `:ud`
    pub(super) fn data_type(&mut self) -> Parsed<DataType> {
        self.cursor.need(b':', "`:` and a type")?;
        let span = self.cursor.piece();
        let name = self.cursor.text.get(span.start..span.end());
        let name = name.unwrap_or_default();
        match type_named(name) {
            Some(ty) => {
                self.cursor.at = span.end();
                Ok(ty)
            }
            None => {
                let fault = newer_type(Word { name, span });
                Err(fault.unwrap_or_else(|| self.cursor.unexpected("a type such as `ud` or `f`")))
            }
        }
    }

    /// A constant with its type.
    pub(super) fn immediate(&mut self, field: &FieldDef) -> Parsed<VectorOperand> {
        self.cursor.blanks();
        let start = self.cursor.at;
        let (bits, ty) = match self.float()? {
            Some(float) => float,
            None => {
                let negative = self.cursor.peek() == Some(b'-');
                let draft = &*self.draft;
                let names = |name: &[u8], span| draft.size_of(name, span);
                let (value, span) = exact(self.cursor, Extent::Unary, &names, "a number")?;
                let ty = self.data_type()?;
                (Self::bits(value, ty, negative, span)?, ty)
            }
        };
        let span = Span::between(start, self.cursor.at);
        let takes = field.types;
        if !operand::takes_constant(field, ty) {
            let message = alloc::format!("{} cannot be a constant of type {ty}", field.name);
            let fault = Diagnostic::new(DiagnosticKind::ImmediateType, span, message);
            let mut wanted = alloc::string::String::from("one of the types");
            for ty in takes.types() {
                wanted.push(' ');
                wanted.push_str(ty.name());
            }
            return Err(if takes.is_empty() {
                fault
            } else {
                fault.expected(wanted)
            });
        }
        Ok(ImmediateOperand::new(PropertyByte::from(ty), bits).into())
    }

    /// The stored bits of a whole number of this type.
    fn bits(value: i128, ty: DataType, negative: bool, span: Span) -> Parsed<u64> {
        let range = match operand::constant_bits(value, ty, negative) {
            Ok(bits) => return Ok(bits),
            Err(range) => range,
        };
        let message = alloc::format!("{value} does not fit into the type {ty}");
        let fault = Diagnostic::new(DiagnosticKind::ImmediateRange, span, message);
        let wanted = alloc::format!("a number from {} to {}", range.start(), range.end());
        Err(fault.expected(wanted))
    }

    /// `1.5:f`, `-2e+3:df`; `None` where no such number begins here.
    pub(super) fn float(&mut self) -> Parsed<Option<(u64, DataType)>> {
        let mut ahead = *self.cursor;
        let start = ahead.at;
        if ahead.peek() == Some(b'-') {
            ahead.at += 1;
        }
        let digits = |cursor: &mut Cursor<'_>| {
            let rest = cursor.rest();
            let count = rest.iter().take_while(|c| c.is_ascii_digit()).count();
            cursor.at += count;
            count
        };
        if digits(&mut ahead) == 0 {
            return Ok(None);
        }
        let mut float = false;
        if ahead.peek() == Some(b'.') {
            ahead.at += 1;
            float = digits(&mut ahead) > 0;
            if !float {
                return Ok(None);
            }
        }
        if matches!(ahead.peek(), Some(b'e' | b'E')) {
            ahead.at += 1;
            if matches!(ahead.peek(), Some(b'+' | b'-')) {
                ahead.at += 1;
            }
            float = digits(&mut ahead) > 0;
        }
        if !float {
            return Ok(None);
        }
        let span = Span::between(start, ahead.at);
        let text = self.cursor.text.get(start..ahead.at).unwrap_or_default();
        let number: Option<f64> = core::str::from_utf8(text).ok().and_then(|t| t.parse().ok());
        let Some(number) = number else {
            return Ok(None);
        };
        *self.cursor = ahead;
        let ty = self.data_type()?;
        #[allow(clippy::cast_possible_truncation)] // rounded to the type that was asked for
        let bits = match ty {
            DataType::F => u64::from((number as f32).to_bits()),
            DataType::Df => number.to_bits(),
            _ => {
                let message = alloc::format!("a number with a fraction cannot be of type {ty}");
                let fault = Diagnostic::new(DiagnosticKind::ImmediateType, span, message);
                return Err(fault.expected("the type f or df, or the bits as `0x3c00:hf`"));
            }
        };
        Ok(Some((bits, ty)))
    }
}
