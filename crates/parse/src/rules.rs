//! What strict reading requires of values beyond having a layout.

use crate::error::ErrorKind;
use visakit_isa::object::{Attribute, Body, InputKind};
use visakit_isa::operand::{Modifier, OperandClass, OperandRef, StateClass};
use visakit_isa::{Format, Region, SamplerId, Value};

/// Ends of the index spaces of a routine, and whether values are checked at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether values are checked at all.
    pub(crate) strict: bool,
    variables: u32,
    addresses: u16,
    predicates: u16,
    labels: u16,
    surfaces: u16,
    samplers: u16,
    strings: u32,
}

/// The largest number of predefined surfaces of any version.
const MOST_PREDEFINED_SURFACES: u16 = 6;

fn count16(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

fn count32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Rules {
    /// Accepts every value that has a layout.
    pub const LENIENT: Self = Self {
        strict: false,
        variables: u32::MAX,
        addresses: u16::MAX,
        predicates: u16::MAX,
        labels: u16::MAX,
        surfaces: u16::MAX,
        samplers: u16::MAX,
        strings: u32::MAX,
    };

    /// Accepts known codes without checking indices; for instructions outside a routine.
    pub const CODES_ONLY: Self = Self {
        strict: true,
        ..Self::LENIENT
    };

    /// Accepts known codes and indices into the tables of `body`.
    #[must_use]
    pub fn of_body(body: &Body<'_>, format: Format) -> Self {
        Self {
            strict: true,
            variables: count32(body.variables.len())
                .saturating_add(format.predefined_variable_count()),
            addresses: count16(body.addresses.len()),
            // P0 means no predicate.
            predicates: count16(body.predicates.len()).saturating_add(1),
            labels: count16(body.labels.len()),
            // Objects marked 3.0 by newer tools count six predefined surfaces, but 3.0 has five.
            surfaces: count16(body.surfaces.len()).saturating_add(MOST_PREDEFINED_SURFACES),
            samplers: count16(body.samplers.len()),
            strings: count32(body.strings.len()),
        }
    }

    /// Checks the value of a field; `key` is that of the instruction's key field.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn check(&self, value: &Value, key: u16, format: Format) -> Result<(), ErrorKind> {
        match value {
            Value::Raw(operand) => self.variable(operand.variable.0),
            Value::ExecSize(v) if !v.is_wire_legal(format) => Err(ErrorKind::ExecSize(v.bits())),
            Value::ElementCount(v) if !v.is_wire_legal(format) => {
                Err(ErrorKind::ElementCount(v.bits()))
            }
            Value::Predicate(v) if !v.is_wire_legal() => Err(ErrorKind::Predicate(v.bits())),
            Value::Predicate(v) => self.predicate(v.id().0),
            Value::SamplerOp(v) if !v.is_wire_legal() => Err(ErrorKind::SamplerOp(v.bits())),
            Value::Label(v) => below("label", v.0.into(), self.labels.into()),
            Value::String(v) => self.string(v.0),
            Value::Surface(v) => below("surface", v.0.into(), self.surfaces.into()),
            Value::Sampler(v) => self.sampler(v.0.into()),
            Value::Lifetime(v) => match OperandClass::of_lifetime(key) {
                Some(OperandClass::Address) => below("address", v.0, self.addresses.into()),
                Some(OperandClass::Predicate) => below("predicate", v.0, self.predicates.into()),
                _ => self.variable(v.0),
            },
            Value::ExecSize(_)
            | Value::ElementCount(_)
            | Value::SamplerOp(_)
            | Value::U8(_)
            | Value::U16(_)
            | Value::U32(_)
            | Value::I32(_)
            | Value::Vector(_) => Ok(()),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn check_operand(&self, tag: u8, operand: OperandRef<'_>) -> Result<(), ErrorKind> {
        if !Modifier::from_tag(tag).is_wire_legal() {
            return Err(ErrorKind::Modifier(tag));
        }
        match operand {
            OperandRef::General(o) => {
                region(o.region)?;
                self.variable(o.variable.0)
            }
            OperandRef::Immediate(o) if o.property.reserved() != 0 => {
                Err(ErrorKind::ImmediateType(o.property.bits()))
            }
            OperandRef::Immediate(_) => Ok(()),
            OperandRef::Address(o) => below("address", o.address.0.into(), self.addresses.into()),
            OperandRef::Predicate(o) => {
                if !o.predicate.is_wire_legal() {
                    return Err(ErrorKind::Predicate(o.predicate.bits()));
                }
                self.predicate(o.predicate.id().0)
            }
            OperandRef::Indirect(o) => {
                region(o.region)?;
                below("address", o.address.0.into(), self.addresses.into())
            }
            OperandRef::State(o) => match o.class {
                StateClass::SURFACE => below("surface", o.index.into(), self.surfaces.into()),
                StateClass::SAMPLER => self.sampler(o.index),
                StateClass(class) => Err(ErrorKind::StateClass(class)),
            },
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn variable(&self, index: u32) -> Result<(), ErrorKind> {
        below("variable", index, self.variables)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn predicate(&self, index: u16) -> Result<(), ErrorKind> {
        below("predicate", index.into(), self.predicates.into())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sampler(&self, index: u16) -> Result<(), ErrorKind> {
        if index == u16::from(SamplerId::BINDLESS.0) {
            return Ok(());
        }
        below("sampler", index.into(), self.samplers.into())
    }

    pub(crate) fn string(&self, index: u32) -> Result<(), ErrorKind> {
        below("string", index, self.strings)
    }

    /// Checks the indices of a body's own tables; returns the table, the entry and what is wrong.
    pub(crate) fn check_tables(
        &self,
        body: &Body<'_>,
    ) -> Result<(), (&'static str, Option<usize>, ErrorKind)> {
        self.string(body.name.0).map_err(|e| ("name", None, e))?;
        let names = |name, attributes: &[Attribute<'_>]| {
            self.string(name)?;
            attributes.iter().try_for_each(|a| self.string(a.name.0))
        };
        for (i, v) in body.variables.iter().enumerate() {
            let place = |e| ("variables", Some(i), e);
            names(v.name.0, &v.attributes).map_err(place)?;
            // A file scope points into a table of the header, through relocations.
            if v.alias_scope == 0 {
                self.variable(v.alias.0).map_err(place)?;
            }
        }
        for (table, list) in [
            ("addresses", &body.addresses),
            ("predicates", &body.predicates),
            ("samplers", &body.samplers),
            ("surfaces", &body.surfaces),
        ] {
            for (i, d) in list.iter().enumerate() {
                names(d.name.0, &d.attributes).map_err(|e| (table, Some(i), e))?;
            }
        }
        for (i, l) in body.labels.iter().enumerate() {
            names(l.name.0, &l.attributes).map_err(|e| ("labels", Some(i), e))?;
        }
        for (i, input) in body.inputs.iter().enumerate() {
            // Real kernels list input surfaces that they do not declare; only variables must exist.
            if input.kind.class() == InputKind::GENERAL {
                self.variable(input.index)
                    .map_err(|e| ("inputs", Some(i), e))?;
            }
        }
        for (i, a) in body.attributes.iter().enumerate() {
            self.string(a.name.0)
                .map_err(|e| ("attributes", Some(i), e))?;
        }
        Ok(())
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn region(region: Region) -> Result<(), ErrorKind> {
    if region.is_wire_legal() {
        Ok(())
    } else {
        Err(ErrorKind::Region(region.bits()))
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn below(table: &'static str, index: u32, end: u32) -> Result<(), ErrorKind> {
    if index < end {
        Ok(())
    } else {
        Err(ErrorKind::IndexOutOfRange { table, index, end })
    }
}
