//! Regions.

use super::diagnostic::{Diagnostic, DiagnosticKind, Parsed, Span};
use super::expression::Extent;
use super::instruction::Line;
use visakit_isa::Region;
use visakit_isa::operand::RegionCode;

impl Line<'_, '_> {
    /// `<1>`, `<8,1>`, `<8;8,1>`
    pub(super) fn region(&mut self, destination: bool) -> Parsed<Region> {
        self.cursor.need(b'<', "a region")?;
        let start = self.cursor.at;
        let first = self.stride(RegionCode::from_elements(32))?;
        let absent = RegionCode::ABSENT;
        let region = if destination {
            Region::of_codes(absent, absent, first)
        } else if self.cursor.eat(b';') {
            let width = self.stride(RegionCode::from_elements(16))?;
            self.cursor.need(b',', "`,` and a horizontal stride")?;
            let horizontal = self.stride(RegionCode::from_elements(4))?;
            Region::of_codes(first, width, horizontal)
        } else if self.cursor.eat(b',') {
            let horizontal = self.stride(RegionCode::from_elements(4))?;
            Region::of_codes(absent, first, horizontal)
        } else {
            Region::of_codes(absent, absent, first)
        };
        if destination {
            let most = RegionCode::from_elements(4).unwrap_or_default();
            if first.code() > most.code() {
                let span = Span::between(start, self.cursor.at);
                let message = "no destination has this stride";
                let fault = Diagnostic::new(DiagnosticKind::RegionValue, span, message);
                return Err(fault.expected("0, 1, 2 or 4"));
            }
        }
        self.cursor.need(b'>', "`>`")?;
        Ok(region)
    }

    pub(super) fn stride(&mut self, most: Option<RegionCode>) -> Parsed<RegionCode> {
        self.cursor.blanks();
        let start = self.cursor.at;
        let range = i64::MIN..=i64::MAX;
        let value = self.expression(Extent::NoComparison, "a number of elements", range)?;
        let code = u8::try_from(value).ok().and_then(RegionCode::from_elements);
        let most = most.unwrap_or_default();
        match code {
            Some(code) if code.code() <= most.code() => Ok(code),
            // What printers show for a value that is absent.
            None if value == -1 => Ok(RegionCode::ABSENT),
            _ => {
                let span = Span::between(start, self.cursor.at);
                let message = alloc::format!("no region has {value} here");
                let fault = Diagnostic::new(DiagnosticKind::RegionValue, span, message);
                let most = most.elements().unwrap_or(0);
                let wanted = alloc::format!("0 or a power of two up to {most}");
                Err(fault.expected(wanted))
            }
        }
    }
}
