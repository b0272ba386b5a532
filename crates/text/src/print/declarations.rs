//! Declarations, inputs and attributes in the plain and the exact form.

use super::Context;
use super::instruction::is_identifier;
use super::line::Line;
use super::output::{LineKind, Output};
use super::plain::Writer;
use crate::language::attribute::TARGET;
use crate::language::pool::string;
use crate::language::symbol::{resolved, symbolic};
use alloc::borrow::Cow;
use visakit_isa::object::{
    Alignment, Declaration, Input, InputKind, LabelKind, Variable, VariableProperties,
};
use visakit_isa::{SurfaceId, VarId};

impl<'o> Writer<'o> {
    pub(super) fn header<O: Output>(
        &mut self,
        line: &mut Line,
        out: &mut O,
    ) -> Result<(), O::Error> {
        let body = self.context.body;
        for (i, variable) in body.variables.iter().enumerate() {
            line.clear();
            let name = self
                .context
                .names
                .variables
                .get(i)
                .cloned()
                .unwrap_or_default();
            self.context.variable(line, i, variable, &name);
            if self.strings.is_some() {
                let found = self.read_variable(variable, name);
                self.end(line, variable, &found);
            } else {
                line.byte(b'\n');
            }
            out.line(LineKind::Declaration, line.bytes())?;
        }
        let names = &mut self.context.names;
        let tables = [
            (&body.addresses, core::mem::take(&mut names.addresses), b'A'),
            (
                &body.predicates,
                core::mem::take(&mut names.predicates),
                b'P',
            ),
            (&body.samplers, core::mem::take(&mut names.samplers), b'S'),
            (&body.surfaces, core::mem::take(&mut names.surfaces), b'T'),
        ];
        for (list, names, letter) in &tables {
            for (declaration, name) in list.iter().zip(names) {
                self.declaration(line, declaration, name.clone(), *letter);
                out.line(LineKind::Declaration, line.bytes())?;
            }
        }
        let [addresses, predicates, samplers, surfaces] = tables.map(|(_, names, _)| names);
        let names = &mut self.context.names;
        names.addresses = addresses;
        names.predicates = predicates;
        names.samplers = samplers;
        names.surfaces = surfaces;
        for (i, label) in body.labels.iter().enumerate() {
            let note = self.context.labels.get(i).copied().unwrap_or_default();
            if !note.declared {
                continue;
            }
            line.clear();
            line.text(".label ");
            let name = self
                .context
                .names
                .labels
                .get(i)
                .cloned()
                .unwrap_or_default();
            line.raw(&name);
            line.text(" kind=");
            line.label_kind(label.kind);
            line.text(if note.unplaced { " unplaced" } else { "" });
            self.context.plain_attributes(line, &label.attributes);
            let found = visakit_isa::object::Label {
                name: self.take(name, label.name),
                kind: label.kind,
                attributes: self.read_attributes(&label.attributes, true),
            };
            self.end(line, label, &found);
            out.line(LineKind::Declaration, line.bytes())?;
        }
        for input in &body.inputs {
            line.clear();
            self.context.plain_input(line, input);
            line.byte(b'\n');
            out.line(LineKind::Declaration, line.bytes())?;
        }
        self.routine_attributes(line, out)
    }

    /// The variable as the assembler reads it.
    fn read_variable(&mut self, variable: &'o Variable<'o>, name: Cow<'o, [u8]>) -> Variable<'o> {
        let properties = variable.properties;
        let alignment = properties.alignment();
        let alignment = alignment.name().map_or(Alignment(0), |_| alignment);
        let relocations = &self.routine.variable_relocations;
        let (alias, alias_scope) = match variable.alias_scope {
            0 => (variable.alias, 0),
            _ => (
                symbolic(relocations, resolved(relocations, variable.alias)),
                1,
            ),
        };
        Variable {
            name: self.take(name, variable.name),
            properties: VariableProperties::new(properties.data_type(), alignment),
            elements: variable.elements,
            alias,
            alias_offset: if variable.is_alias() {
                variable.alias_offset
            } else {
                0
            },
            alias_scope,
            attributes: self.read_attributes(&variable.attributes, true),
        }
    }

    fn declaration(
        &mut self,
        line: &mut Line,
        declaration: &'o Declaration<'o>,
        name: Cow<'o, [u8]>,
        letter: u8,
    ) {
        line.clear();
        line.text(".decl ");
        line.raw(&name);
        line.text(" v_type=");
        line.byte(letter);
        line.text(" num_elts=");
        line.number(declaration.elements);
        self.context.plain_attributes(line, &declaration.attributes);
        if self.strings.is_none() {
            return line.byte(b'\n');
        }
        let found = Declaration {
            name: self.take(name, declaration.name),
            elements: declaration.elements,
            attributes: self.read_attributes(&declaration.attributes, true),
        };
        self.end(line, declaration, &found);
    }

    /// The attributes of the routine, with the implied target if it states none.
    fn routine_attributes<O: Output>(
        &mut self,
        line: &mut Line,
        out: &mut O,
    ) -> Result<(), O::Error> {
        let body = self.context.body;
        let mut has_target = self.strings.is_some();
        for attribute in &body.attributes {
            has_target |= string(body, attribute.name) == TARGET;
            line.clear();
            line.text(".kernel_attr ");
            self.context.plain_attribute(line, attribute, false);
            for found in self.read_attributes(core::slice::from_ref(attribute), false) {
                self.end(line, attribute, &found);
            }
            out.line(LineKind::Declaration, line.bytes())?;
        }
        if !has_target {
            line.clear();
            line.text(".kernel_attr Target=");
            line.target(self.context.target_before());
            line.byte(b'\n');
            out.line(LineKind::Declaration, line.bytes())?;
        }
        Ok(())
    }
}

impl Context<'_> {
    fn plain_input(&self, line: &mut Line, input: &Input) {
        match input.kind.implicit_kind() {
            0 => line.text(".input "),
            kind @ (1..=3 | 16) => super::header::implicit(line, kind),
            kind => {
                line.text(".implicit_UNDEFINED_");
                line.number(kind);
                line.byte(b' ');
            }
        }
        match (input.kind.class(), u8::try_from(input.index)) {
            (InputKind::GENERAL, _) => self.variable_name(line, VarId(input.index)),
            (InputKind::SAMPLER, Ok(id)) => self.sampler(line, id.into()),
            (InputKind::SURFACE, Ok(id)) => self.surface(line, SurfaceId(id)),
            (InputKind(class), _) => {
                line.unnamed(b'C', class.into());
                line.byte(b'_');
                line.number(input.index);
            }
        }
        line.text(" offset=");
        line.signed(input.offset.into());
        line.text(" size=");
        line.number(input.size);
    }
}

impl Line {
    /// The kind of a label by its name, or else by its number.
    pub(crate) fn label_kind(&mut self, kind: LabelKind) {
        match kind.name() {
            Some(name) if is_identifier(name.as_bytes()) => self.text(name),
            _ => self.number(kind.0),
        }
    }
}
