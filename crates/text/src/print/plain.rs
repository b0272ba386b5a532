//! Routines in the plain and the exact form.

use super::code::InstructionLines;
use super::exact::{self, Strings};
use super::line::Line;
use super::output::{Digested, LineKind, Output};
use super::plan::Plan;
use super::{Context, Form, Printer, undecoded};
use crate::language::attribute::Written;
use crate::language::digest::Digest;
use crate::language::numbers::Numbered;
use crate::language::pool::{in_pool, string};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use visakit_isa::object::{Alignment, Attribute, Content, Routine, RoutineId, RoutineKind};

impl<'o, 'a> Printer<'o, 'a> {
    /// The whole object in the plain or the exact form.
    pub(super) fn plain_object<O: Output>(&self, out: &mut O) -> Result<(), O::Error> {
        let is_exact = self.form == Form::Exact;
        let mut line = Line::new();
        self.preamble(&mut line, out)?;
        for (id, _) in self.object.routines() {
            out.line(LineKind::Header, b"\n")?;
            self.plain_routine(id, is_exact, &mut line, out)?;
        }
        if is_exact && !exact::is_default_arrangement(self.object) {
            line.clear();
            line.byte(b'\n');
            line.raw(exact::arrangement(self.object).as_bytes());
            out.line(LineKind::Header, line.bytes())?;
        }
        if is_exact && self.object.padded {
            out.line(LineKind::Header, b"\n//@ padded\n")?;
        }
        Ok(())
    }

    /// Version, dialect and the variables that all routines share.
    pub(super) fn preamble<O: Output>(&self, line: &mut Line, out: &mut O) -> Result<(), O::Error> {
        self.format_lines(line, out)?;
        self.file_variables(line, out)
    }

    /// Version and dialect.
    fn format_lines<O: Output>(&self, line: &mut Line, out: &mut O) -> Result<(), O::Error> {
        let object = self.object;
        line.clear();
        line.text(".version ");
        line.number(object.version.major);
        line.byte(b'.');
        line.number(object.version.minor);
        line.byte(b'\n');
        if object.version == visakit_isa::Version::V4_2 {
            line.text("//@ text_only\n");
        }
        if object.dialect != visakit_isa::Dialect::default() {
            line.text("//@ dialect ");
            line.text(object.dialect.name());
            line.byte(b'\n');
        }
        if self.says_grf_bytes() {
            line.text("//@ grf_bytes ");
            line.number(self.grf_bytes);
            line.byte(b'\n');
        }
        if object.routines().next().is_none() {
            line.text("//@ no_routines\n");
        }
        out.line(LineKind::Header, line.bytes())
    }

    fn file_variables<O: Output>(&self, line: &mut Line, out: &mut O) -> Result<(), O::Error> {
        for variable in &self.object.file_variables {
            line.clear();
            line.text(".file_decl ");
            line.quoted(variable.name.iter().copied());
            line.text(" type=");
            line.text(variable.properties.data_type().name());
            line.text(" num_elts=");
            line.number(variable.elements);
            match variable.properties.alignment() {
                Alignment(0) => {}
                alignment => {
                    line.text(" align=");
                    match alignment.name() {
                        Some(name) => line.text(name),
                        None => {
                            line.byte(b'#');
                            line.number(alignment.0);
                        }
                    }
                }
            }
            if variable.linkage.0 != 0 {
                line.text(" linkage=");
                line.number(variable.linkage.0);
            }
            for attribute in &variable.attributes {
                line.text(" attr=");
                line.number(attribute.name);
                line.byte(b':');
                line.quoted(attribute.value.iter().copied());
            }
            line.byte(b'\n');
            out.line(LineKind::Declaration, line.bytes())?;
        }
        Ok(())
    }

    /// A routine without the preamble shared by all routines.
    pub(super) fn plain_routine<O: Output>(
        &self,
        id: RoutineId,
        is_exact: bool,
        line: &mut Line,
        out: &mut O,
    ) -> Result<(), O::Error> {
        let Some(routine) = self.object.routine(id) else {
            return Ok(());
        };
        let body = match &routine.content {
            Content::Body(body) => body,
            _ if is_exact => {
                line.clear();
                line.routine(id.kind, &routine.name);
                line.raw(exact::lines(routine).as_bytes());
                line.raw(exact::natives(routine).as_bytes());
                return out.line(LineKind::Undecoded(0), line.bytes());
            }
            Content::Raw(raw) => {
                line.clear();
                return undecoded(line, out, &routine.name, &raw.reason);
            }
            Content::Missing(reason) => {
                line.clear();
                return undecoded(line, out, &routine.name, reason);
            }
        };
        let context = self.context(id, body);
        let mut writer = Writer {
            lines: InstructionLines::new(&context, is_exact),
            routine,
            context,
            strings: None,
            named: Vec::new(),
        };
        writer.run(is_exact, line, out)
    }
}

/// A routine under construction.
pub(super) struct Writer<'o> {
    pub(super) context: Context<'o>,
    pub(super) routine: &'o Routine<'o>,
    pub(super) lines: InstructionLines,
    /// The strings that names take, in exact text.
    pub(super) strings: Option<Strings<'o>>,
    /// Which labels the text has named so far.
    pub(super) named: Vec<bool>,
}

impl<'o> Writer<'o> {
    fn run<O: Output>(
        &mut self,
        is_exact: bool,
        line: &mut Line,
        out: &mut O,
    ) -> Result<(), O::Error> {
        let marks_native = is_exact && self.context.object.has_native();
        let out = &mut Digested {
            out,
            digest: marks_native.then(Digest::new),
        };
        let mut lines = alloc::string::String::new();
        if is_exact {
            lines = exact::lines(self.routine);
            let m1_code = exact::m1_code(self.context.format, self.routine);
            if m1_code != 0 {
                lines.push_str("//@ m1_code ");
                lines.push_str(if m1_code == 9 { "9\n" } else { "0\n" });
            }
            self.lines.reading.m1_code = m1_code;
        }
        let mut plan = Plan::of(&self.context, &mut self.lines);
        self.context.labels = core::mem::take(&mut plan.labels);
        line.clear();
        line.routine(self.context.id.kind, &self.routine.name);
        if is_exact {
            let strings = plan.strings(&mut self.context, self.routine);
            if strings.is_stated() {
                line.raw(&exact::pool_lines(self.context.body));
            }
            line.raw(lines.as_bytes());
            self.strings = Some(strings);
            self.named = self
                .context
                .labels
                .iter()
                .map(|note| note.declared)
                .collect();
            self.routine_changes(line);
        }
        out.line(LineKind::Header, line.bytes())?;
        self.header(line, out)?;
        self.code(&plan, line, out)?;
        if let Some(digest) = out.digest.take() {
            line.clear();
            line.text("//@ compiled 0x");
            line.hex(digest.value().into());
            line.byte(b'\n');
            out.line(LineKind::Header, line.bytes())?;
        }
        if is_exact && !self.routine.binaries.is_empty() {
            out.line(LineKind::Header, exact::natives(self.routine).as_bytes())?;
        }
        Ok(())
    }

    /// The string that a name takes; in plain text always the wanted one.
    pub(super) fn take(
        &mut self,
        text: Cow<'o, [u8]>,
        wanted: visakit_isa::StringId,
    ) -> visakit_isa::StringId {
        match &mut self.strings {
            Some(strings) => strings.take(text, wanted),
            None => wanted,
        }
    }

    /// Writes what the routine has besides its tables.
    fn routine_changes(&mut self, line: &mut Line) {
        let name = self.take(
            in_pool(Cow::Borrowed(&self.routine.name)),
            self.context.body.name,
        );
        if let Some(strings) = &self.strings {
            let changes = exact::routine_changes(self.routine, self.context.body, name, strings);
            if !changes.is_empty() {
                line.text("//@ routine");
                line.text(&changes);
                line.byte(b'\n');
            }
        }
    }

    /// Ends a line, with the changes to the record that the assembler makes of it.
    pub(super) fn end<N: Numbered + PartialEq>(&self, line: &mut Line, wanted: &N, found: &N) {
        if let Some(strings) = &self.strings
            && (wanted != found || strings.collides())
        {
            let format = self.context.format;
            let (wanted, found) = (wanted.numbers(format), found.numbers(format));
            line.note(&exact::difference(&wanted, &found, strings));
        }
        line.byte(b'\n');
    }

    /// The attributes as the assembler reads them.
    pub(super) fn read_attributes(
        &mut self,
        attributes: &'o [Attribute<'o>],
        of_symbol: bool,
    ) -> Vec<Attribute<'o>> {
        let read = |attribute: &'o Attribute<'o>| {
            let name = string(self.context.body, attribute.name);
            Attribute {
                name: self.take(Cow::Borrowed(name), attribute.name),
                value: Written::of(name, &attribute.value, of_symbol).read(),
            }
        };
        attributes.iter().map(read).collect()
    }
}

impl Line {
    /// The line that begins a routine.
    fn routine(&mut self, kind: RoutineKind, name: &[u8]) {
        self.text(match kind {
            RoutineKind::Kernel => ".kernel ",
            RoutineKind::Function => ".global_function ",
        });
        self.quoted(name.iter().copied());
        self.byte(b'\n');
    }

    /// A directive at the end of a line, with its changes.
    pub(super) fn note(&mut self, changes: &str) {
        if !changes.is_empty() {
            self.text(" //@");
            self.text(changes);
        }
    }
}
