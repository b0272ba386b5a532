//! The header: everything before the instructions.

use super::attribute::is_path;
use super::instruction::is_identifier;
use super::line::Line;
use super::output::{LineKind, Output};
use super::{Context, is_kernel};
use crate::language::attribute::{TARGET, target_name};
use crate::language::pool::string;
use crate::language::symbol::resolved;
use visakit_isa::enums::IMPLICIT_INPUT;
use visakit_isa::object::{
    Alignment, Declaration, FileVariable, Input, InputKind, RoutineKind, Variable,
};
use visakit_isa::{Dialect, Format, SurfaceId, VarId, Version};

/// The number of predefined variables that Intel's printer knows.
const LISTED_VARIABLES: usize = 21;

/// The format whose predefined symbols Intel's printer lists for every version.
const LISTED: Format = Format::new(Version::V4_1, Dialect::Writer2018);

impl Context<'_> {
    /// Header, declarations, inputs and attributes. The last line has no line end.
    pub(crate) fn header<O: Output>(&self, line: &mut Line, out: &mut O) -> Result<(), O::Error> {
        let mut lines = Lines { line, out };
        lines.line.clear();
        lines.line.text(".version ");
        lines.line.number(self.object.version.major);
        lines.line.byte(b'.');
        lines.line.number(self.object.version.minor);
        lines.end(LineKind::Header)?;
        self.name(lines.line);
        lines.end(LineKind::Header)?;
        if is_kernel(self.id) {
            for function in &self.object.functions {
                lines.line.text(".funcdecl ");
                lines.line.quoted(function.name.iter().copied());
                lines.end(LineKind::Header)?;
            }
        }
        self.predefined(&mut lines)?;
        self.declarations(&mut lines)?;
        self.attributes(&mut lines)?;
        lines.out.line(LineKind::Declaration, lines.line.bytes())
    }

    fn name(&self, line: &mut Line) {
        line.text(match self.id.kind {
            RoutineKind::Kernel => ".kernel ",
            RoutineKind::Function => ".global_function ",
        });
        let name = self.object.routine(self.id).map(|r| r.name.as_ref());
        let name = name.unwrap_or_default();
        let dots_as_blanks = |c: &u8| if *c == b'.' { b' ' } else { *c };
        line.quoted(name.iter().map(dots_as_blanks));
    }

    fn predefined<O: Output>(&self, lines: &mut Lines<'_, O>) -> Result<(), O::Error> {
        lines.line.text("\n/// VISA Predefined Variables");
        lines.end(LineKind::Header)?;
        let listed = |own| if own { self.format } else { LISTED };
        let mut variables = listed(self.tables.variables).predefined_variables();
        if !self.tables.variables {
            variables = variables.get(..LISTED_VARIABLES).unwrap_or(variables);
        }
        for (id, variable) in variables.iter().enumerate() {
            lines.line.text("// .decl V");
            lines.line.number(id as u64);
            lines.line.text(" v_type=G v_name=%");
            lines.line.text(variable.name);
            lines.end(LineKind::Header)?;
        }
        let format = listed(self.tables.surfaces);
        for id in 0..format.predefined_surface_count() {
            lines.line.text("// .decl T");
            lines.line.number(id);
            lines.line.text(" v_type=T v_name=");
            if let Some(surface) = format.predefined_surface(SurfaceId(id)) {
                lines.line.text(surface.name);
            }
            lines.end(LineKind::Header)?;
        }
        Ok(())
    }

    fn declarations<O: Output>(&self, lines: &mut Lines<'_, O>) -> Result<(), O::Error> {
        let variables = self.body.variables.iter().zip(&self.names.variables);
        for (i, (variable, name)) in variables.enumerate() {
            lines.next()?;
            self.variable(lines.line, i, variable, name);
        }
        for (id, address) in (0..).zip(&self.body.addresses) {
            lines.next()?;
            self.numbered(lines.line, 'A', id, address, None);
        }
        for (id, predicate) in (1..).zip(&self.body.predicates) {
            lines.next()?;
            self.numbered(lines.line, 'P', id, predicate, None);
        }
        for ((id, sampler), name) in (0..).zip(&self.body.samplers).zip(&self.names.samplers) {
            lines.next()?;
            self.numbered(lines.line, 'S', id, sampler, Some(name));
        }
        let first = u64::from(self.first_surface);
        for ((id, surface), name) in (first..).zip(&self.body.surfaces).zip(&self.names.surfaces) {
            lines.next()?;
            self.numbered(lines.line, 'T', id, surface, Some(name));
        }
        for input in &self.body.inputs {
            lines.next()?;
            self.input(lines.line, input);
        }
        Ok(())
    }

    pub(crate) fn variable(
        &self,
        line: &mut Line,
        index: usize,
        variable: &Variable<'_>,
        name: &[u8],
    ) {
        line.text(".decl ");
        line.raw(name);
        line.text(" v_type=G type=");
        line.text(variable.properties.data_type().name());
        line.text(" num_elts=");
        line.number(variable.elements);
        if let Some(alignment) = alignment(variable) {
            line.text(" align=");
            line.text(alignment);
        }
        let shared = variable.alias_scope != 0;
        if shared {
            line.text(" alias=<");
            self.file_variable(line, variable.alias);
        } else if variable.alias.0 != 0 {
            line.text(" alias=<");
            if self.is_plain && !self.is_declared_before(index, variable.alias) {
                line.unnamed(b'V', variable.alias.0);
            } else {
                self.variable_name(line, variable.alias);
            }
        }
        if variable.is_alias() {
            line.text(", ");
            line.number(variable.alias_offset);
            line.byte(b'>');
        }
        if self.is_plain {
            self.plain_attributes(line, &variable.attributes);
        } else {
            line.attributes(self.body, &variable.attributes);
        }
    }

    /// Whether the variable at `index` may refer to another one: that one must be predefined or
    /// declared before it.
    fn is_declared_before(&self, index: usize, id: VarId) -> bool {
        id.0.checked_sub(self.first_variable)
            .is_none_or(|place| usize::try_from(place).is_ok_and(|place| place < index))
    }

    /// A variable of the file, resolved by the routine's relocations.
    fn file_variable(&self, line: &mut Line, id: VarId) {
        let relocations = self.object.routine(self.id);
        let relocations = relocations.map_or(&[][..], |r| r.variable_relocations.as_slice());
        let resolved = resolved(relocations, id);
        let variable = usize::try_from(resolved)
            .ok()
            .and_then(|i| self.object.file_variables.get(i));
        match variable {
            Some(variable) if !self.is_plain => line.raw(&variable.name),
            variable => {
                line.byte(b'@');
                let all = &self.object.file_variables;
                match variable.and_then(|variable| file_name(all, variable)) {
                    Some(name) => line.raw(name),
                    None => line.number(resolved),
                }
            }
        }
    }

    fn numbered(
        &self,
        line: &mut Line,
        letter: char,
        id: u64,
        declaration: &Declaration<'_>,
        name: Option<&[u8]>,
    ) {
        let letter = &[letter as u8];
        line.text(".decl ");
        line.raw(letter);
        line.number(id);
        line.text(" v_type=");
        line.raw(letter);
        line.text(" num_elts=");
        line.number(declaration.elements);
        if let Some(name) = name {
            line.text(" v_name=");
            line.raw(name);
        }
        line.attributes(self.body, &declaration.attributes);
    }

    pub(crate) fn input(&self, line: &mut Line, input: &Input) {
        match input.kind.implicit_kind() {
            0 => line.text(".input "),
            kind => implicit(line, kind),
        }
        match input.kind.class() {
            InputKind::GENERAL => self.variable_name(line, VarId(input.index)),
            class => {
                line.text(match class {
                    InputKind::SAMPLER => "S",
                    InputKind::SURFACE => "T",
                    _ => "?",
                });
                line.number(input.index);
            }
        }
        line.text(" offset=");
        line.signed(input.offset.into());
        line.text(" size=");
        line.number(input.size);
    }

    fn attributes<O: Output>(&self, lines: &mut Lines<'_, O>) -> Result<(), O::Error> {
        let mut targeted = false;
        for attribute in &self.body.attributes {
            if is_path(self.body, attribute) {
                continue;
            }
            targeted |= string(self.body, attribute.name) == TARGET;
            lines.next()?;
            lines.line.text(".kernel_attr ");
            lines.line.attribute(self.body, attribute);
        }
        if !targeted {
            lines.next()?;
            lines.line.text(".kernel_attr Target=");
            let target = self.target_before();
            let name = target_name(target).unwrap_or("3d");
            lines.line.quoted(name.bytes());
        }
        Ok(())
    }

    /// The target of the last routine before this one that states its own, or else 3D.
    pub(crate) fn target_before(&self) -> i32 {
        i32::try_from(self.object.target_before(self.id)).unwrap_or(i32::MAX)
    }

    /// A general variable by its name.
    #[inline]
    pub(crate) fn variable_name(&self, line: &mut Line, id: VarId) {
        let declared = id.0.checked_sub(self.first_variable);
        let declared = declared.and_then(|i| self.names.variables.get(i as usize));
        match declared {
            Some(name) => line.raw(name),
            None => self.predefined_name(line, id),
        }
    }

    fn predefined_name(&self, line: &mut Line, id: VarId) {
        match self.format.predefined_variable(id) {
            Some(variable) => {
                line.byte(b'%');
                line.text(variable.name);
            }
            None if self.is_plain && id.0 >= self.first_variable => line.unnamed(b'V', id.0),
            None => {
                line.byte(b'V');
                line.number(id.0);
            }
        }
    }
}

/// The name that identifies a variable of the file, without a leading `@`: letters and digits, not
/// beginning with a digit, and not the name of an earlier variable.
fn file_name<'v>(all: &'v [FileVariable<'_>], variable: &FileVariable<'_>) -> Option<&'v [u8]> {
    let plain = |v: &'v FileVariable<'_>| v.name.strip_prefix(b"@").unwrap_or(&v.name);
    let wanted = variable.name.strip_prefix(b"@").unwrap_or(&variable.name);
    let first = all.iter().find(|v| plain(v) == wanted)?;
    (is_identifier(wanted) && core::ptr::eq(first, variable)).then(|| plain(first))
}

/// The name of the alignment; the smallest one is not printed.
fn alignment(variable: &Variable<'_>) -> Option<&'static str> {
    match variable.properties.alignment() {
        Alignment(0) => None,
        alignment => alignment.name(),
    }
}

/// `.implicit_LOCAL_ID `
pub(crate) fn implicit(line: &mut Line, kind: u8) {
    line.text(".implicit_");
    let name = match kind {
        4 => Some("PSEUDO_INPUT"),
        1..=3 | 16 => IMPLICIT_INPUT.name_of(kind << 3),
        _ => None,
    };
    match name {
        Some(name) => name.bytes().for_each(|c| line.byte(c.to_ascii_uppercase())),
        None => {
            line.text("UNDEFINED_");
            line.number(kind);
        }
    }
    line.byte(b' ');
}

/// Declarations are preceded by line ends, everything else is followed by one.
struct Lines<'l, O> {
    line: &'l mut Line,
    out: &'l mut O,
}

impl<O: Output> Lines<'_, O> {
    /// Outputs the line with its line end.
    fn end(&mut self, kind: LineKind) -> Result<(), O::Error> {
        self.line.byte(b'\n');
        self.out.line(kind, self.line.bytes())?;
        self.line.clear();
        Ok(())
    }

    /// Outputs the previous line, with its line end, before another one begins.
    fn next(&mut self) -> Result<(), O::Error> {
        self.end(LineKind::Declaration)
    }
}
