//! Regions.

use super::diagnostic::{Diagnostic, DiagnosticKind, Parsed, Span};
use super::expression::Extent;
use super::instruction::LineParser;
use crate::language::operand::RegionPart;
use visakit_isa::Region;
use visakit_isa::operand::RegionCode;

impl LineParser<'_, '_> {
    /// `<1>`, `<8,1>`, `<8;8,1>`
    pub(super) fn region(&mut self, destination: bool) -> Parsed<Region> {
        self.cursor.need(b'<', "a region")?;
        let start = self.cursor.at;
        let first = self.stride(RegionPart::First)?;
        let absent = RegionCode::ABSENT;
        let region = if destination {
            let most = RegionPart::Destination.most();
            if first.elements().is_some_and(|elements| elements > most) {
                let span = Span::between(start, self.cursor.at);
                let message = "no destination has this stride";
                let fault = Diagnostic::new(DiagnosticKind::RegionValue, span, message);
                return Err(fault.expected("0, 1, 2 or 4"));
            }
            Region::of_codes(absent, absent, first)
        } else if self.cursor.eat(b';') {
            let width = self.stride(RegionPart::Width)?;
            self.cursor.need(b',', "`,` and a horizontal stride")?;
            let horizontal = self.stride(RegionPart::Horizontal)?;
            Region::of_codes(first, width, horizontal)
        } else if self.cursor.eat(b',') {
            let horizontal = self.stride(RegionPart::Horizontal)?;
            Region::of_codes(absent, first, horizontal)
        } else {
            Region::of_codes(absent, absent, first)
        };
        self.cursor.need(b'>', "`>`")?;
        Ok(region)
    }

    pub(super) fn stride(&mut self, part: RegionPart) -> Parsed<RegionCode> {
        self.cursor.blanks();
        let start = self.cursor.at;
        let range = i64::MIN..=i64::MAX;
        let value = self.expression(Extent::NoComparison, "a number of elements", range)?;
        let elements = u8::try_from(value).ok();
        let most = part.most();
        match elements.and_then(RegionCode::from_elements) {
            Some(code) if elements.is_some_and(|elements| elements <= most) => Ok(code),
            // Printers write this for an absent value.
            None if value == -1 => Ok(RegionCode::ABSENT),
            _ => {
                let span = Span::between(start, self.cursor.at);
                let message = alloc::format!("no region has {value} here");
                let fault = Diagnostic::new(DiagnosticKind::RegionValue, span, message);
                let wanted = alloc::format!("0 or a power of two up to {most}");
                Err(fault.expected(wanted))
            }
        }
    }
}
