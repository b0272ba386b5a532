//! Operands.

use super::Context;
use super::line::Line;
use crate::language::operand::{element_size, modifier_text, shown_constant};
use alloc::borrow::Cow;
use visakit_isa::operand::{GeneralOperand, RegionCode, StateClass, StateOperand};
use visakit_isa::{
    AddressId, PredicateId, RawOperand, Region, SamplerId, SurfaceId, VectorOperand,
};

/// Lanes of a width code, encoded as in execution sizes.
const fn lanes(code: u8) -> u8 {
    match code & 0xf {
        n @ 0..=5 => 1 << n,
        _ => 0,
    }
}

impl Context<'_> {
    /// A vector operand; destinations have only a horizontal stride.
    #[inline]
    pub(crate) fn vector(&self, line: &mut Line, operand: &VectorOperand, destination: bool) {
        if !destination {
            line.text(modifier_text(operand.modifier()));
        }
        match operand {
            VectorOperand::General(o) => {
                self.general(line, o);
                line.region(o.region, destination);
            }
            VectorOperand::Address(o) => {
                self.address(line, o.address);
                line.byte(b'(');
                line.number(o.offset);
                line.text(")<");
                line.number(lanes(o.width));
                line.byte(b'>');
            }
            VectorOperand::Predicate(o) => self.predicate(line, o.predicate.id()),
            VectorOperand::Indirect(o) => {
                line.text("r[");
                self.address(line, o.address);
                line.byte(b'(');
                line.number(o.address_offset);
                line.text("),");
                line.signed(o.offset.into());
                line.byte(b']');
                line.region(o.region, destination);
                line.byte(b':');
                line.text(o.property.data_type().name());
            }
            VectorOperand::Immediate(o) => {
                line.text("0x");
                line.hex(shown_constant(*o));
                line.byte(b':');
                line.text(o.data_type().name());
            }
            VectorOperand::State(o) => {
                self.state(line, o);
                line.byte(b'(');
                line.number(o.offset);
                line.byte(b')');
            }
        }
    }

    /// A general variable and its place, without the region.
    #[inline]
    pub(crate) fn general(&self, line: &mut Line, operand: &GeneralOperand) {
        self.variable_name(line, operand.variable);
        line.place(operand.row, operand.column);
    }

    /// The address of a variable, and its offset; an operand of another class is written as it is.
    pub(crate) fn address_of(&self, line: &mut Line, operand: &VectorOperand) -> u32 {
        let offset = match operand {
            VectorOperand::General(o) => {
                line.text(modifier_text(o.modifier));
                line.byte(b'&');
                self.variable_name(line, o.variable);
                let size = element_size(self.body, self.format, o.variable);
                let row = u32::from(o.row).saturating_mul(self.grf_bytes);
                let bytes = u32::from(o.column) * size;
                // An offset in bytes is equivalent only if the assembler splits it the same way.
                let split_alike = bytes < self.grf_bytes && (o.row == 0 || !self.rows_by_number);
                if self.is_plain && !split_alike {
                    line.place(o.row, o.column);
                    return 0;
                }
                row.saturating_add(bytes)
            }
            VectorOperand::State(o) => {
                line.byte(b'&');
                self.state(line, o);
                o.offset.into()
            }
            _ => {
                self.vector(line, operand, false);
                return 0;
            }
        };
        if offset != 0 {
            line.byte(b'[');
            line.number(offset);
            line.byte(b']');
        }
        offset
    }

    fn state(&self, line: &mut Line, operand: &StateOperand) {
        match operand.class {
            StateClass::SURFACE => match u8::try_from(operand.index) {
                Ok(id) => self.surface(line, SurfaceId(id)),
                Err(_) if self.is_plain => line.unnamed(b'T', operand.index.into()),
                Err(_) => {
                    line.byte(b'T');
                    line.number(operand.index);
                }
            },
            _ => self.sampler(line, operand.index),
        }
    }

    /// The name of a symbol in the form with the object's names: the declared one, or one made of
    /// its number if it has none.
    #[inline]
    fn name_or_number(
        line: &mut Line,
        names: &[Cow<'_, [u8]>],
        first: u32,
        letter: u8,
        number: u32,
    ) {
        let declared = number
            .checked_sub(first)
            .and_then(|i| names.get(i as usize));
        match declared {
            Some(name) => line.raw(name),
            None => line.unnamed(letter, number),
        }
    }

    /// An address variable.
    #[inline]
    pub(crate) fn address(&self, line: &mut Line, id: AddressId) {
        if self.is_plain {
            return Self::name_or_number(line, &self.names.addresses, 0, b'A', id.0.into());
        }
        line.byte(b'A');
        line.number(id.0);
    }

    /// A predicate variable.
    #[inline]
    pub(crate) fn predicate(&self, line: &mut Line, id: PredicateId) {
        if self.is_plain {
            return Self::name_or_number(line, &self.names.predicates, 1, b'P', id.0.into());
        }
        line.byte(b'P');
        line.number(id.0);
    }

    /// A sampler.
    pub(crate) fn sampler(&self, line: &mut Line, id: u16) {
        if self.is_plain {
            match self.names.samplers.get(usize::from(id)) {
                Some(name) => return line.raw(name),
                None if id == u16::from(SamplerId::BINDLESS.0) => {}
                None => return line.unnamed(b'S', id.into()),
            }
        }
        line.byte(b'S');
        line.number(id);
    }

    /// A surface by its name.
    pub(crate) fn surface(&self, line: &mut Line, id: SurfaceId) {
        match self.format.predefined_surface(id) {
            Some(surface) => line.text(surface.name),
            None if self.is_plain => {
                let (names, first) = (&self.names.surfaces, self.first_surface);
                Self::name_or_number(line, names, first.into(), b'T', id.0.into());
            }
            None => {
                line.byte(b'T');
                line.number(id.0);
            }
        }
    }

    /// A raw operand.
    #[inline]
    pub(crate) fn raw(&self, line: &mut Line, operand: RawOperand) {
        self.variable_name(line, operand.variable);
        line.byte(b'.');
        line.number(operand.offset);
    }

    /// A raw operand; its offset only if it is not zero.
    pub(crate) fn bare_raw(&self, line: &mut Line, operand: RawOperand) {
        self.variable_name(line, operand.variable);
        if operand.offset != 0 {
            line.byte(b'.');
            line.number(operand.offset);
        }
    }

    /// A vector operand without region and type; its place only if it is not the first. Constants
    /// are in capitals.
    pub(crate) fn bare_vector(&self, line: &mut Line, operand: &VectorOperand) {
        match operand {
            VectorOperand::Immediate(o) => {
                line.text("0x");
                line.hex_capital(shown_constant(*o));
            }
            VectorOperand::General(o) if o.row == 0 && o.column == 0 => {
                self.variable_name(line, o.variable);
            }
            VectorOperand::General(o) => self.general(line, o),
            _ => self.vector(line, operand, false),
        }
    }
}

impl Line {
    /// `(1,4)`: row and column.
    #[inline]
    fn place(&mut self, row: u8, column: u8) {
        self.byte(b'(');
        self.number(row);
        self.byte(b',');
        self.number(column);
        self.byte(b')');
    }

    /// An undeclared symbol, by its number: `#T7`.
    #[cold]
    pub(crate) fn unnamed(&mut self, letter: u8, number: u32) {
        self.raw(&[b'#', letter]);
        self.number(number);
    }

    #[inline]
    fn region(&mut self, region: Region, destination: bool) {
        self.byte(b'<');
        let (v, w) = (region.vertical_stride(), region.width());
        if !destination && w != RegionCode::ABSENT {
            if v != RegionCode::ABSENT {
                self.stride(v);
                self.byte(b';');
            }
            self.stride(w);
            self.byte(b',');
        }
        self.stride(region.horizontal_stride());
        self.byte(b'>');
    }

    #[inline]
    fn stride(&mut self, code: RegionCode) {
        match code.elements() {
            Some(elements) => self.number(elements),
            None => self.text("-1"),
        }
    }
}
