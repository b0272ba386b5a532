//! Routines in the plain and in the exact form.

use super::exact::{self, Strings};
use super::instruction::is_identifier;
use super::line::Line;
use super::output::{LineKind, Output};
use super::plan::{Plan, numbered_mentions};
use super::reading::{Meaning, Mention, Reading};
use super::{Context, Form, Printer, undecoded};
use crate::language::attribute::{TARGET, Written};
use crate::language::numbers::{self, InstructionNumbers, Numbered};
use crate::language::pool::{in_pool, string};
use crate::language::symbol::{resolved, symbolic};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use visakit_isa::object::{
    Alignment, Attribute, Content, Declaration, Input, InputKind, Item, LabelKind, RawItem,
    Routine, RoutineId, RoutineKind, Variable, VariableProperties,
};
use visakit_isa::table::{LineKind as SyntaxLine, Part};
use visakit_isa::{Instruction, SurfaceId, Value, VarId};

impl<'o, 'a> Printer<'o, 'a> {
    /// The whole object in the plain or in the exact form.
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

    /// A routine without what stands before all routines.
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

/// How instructions are written: with the memory that their lines share.
#[derive(Debug)]
pub(super) struct InstructionLines {
    pub(super) reading: Reading,
    is_exact: bool,
    spare: Line,
}

impl InstructionLines {
    fn new(context: &Context<'_>, is_exact: bool) -> Self {
        Self {
            reading: Reading::new(context.format),
            is_exact,
            spare: Line::default(),
        }
    }

    /// Writes an instruction in the form of its row, without the end of the line. What the assembler makes
    /// of it, or `None` where it has to be written number by number.
    #[inline]
    pub(super) fn write(
        &mut self,
        context: &Context<'_>,
        line: &mut Line,
        instruction: &Instruction,
    ) -> Option<Meaning> {
        let def = instruction.def();
        if def.syntax.line != SyntaxLine::Label {
            line.text("    ");
        }
        let start = line.bytes().len();
        self.reading.begin(def);
        context.parts(line, instruction, Some(&mut self.reading));
        let written = line.bytes().get(start..).unwrap_or_default();
        match self.reading.meaning(instruction, line.bytes()) {
            Meaning::Refused => None,
            Meaning::Other if !self.is_enough(context, instruction, written) => None,
            meaning => Some(meaning),
        }
    }

    /// Whether a line that does not say all of an instruction shows it nevertheless: what the assembler
    /// makes of it has the same text, and in exact text directives can say the rest.
    #[cold]
    fn is_enough(&mut self, context: &Context<'_>, wanted: &Instruction, written: &[u8]) -> bool {
        let found = self.reading.fields.instruction();
        // What these parts show depends on nothing else of the instruction.
        let alone = |part: &Part| {
            matches!(
                part,
                Part::Text(_)
                    | Part::Mnemonic
                    | Part::Predicate
                    | Part::Saturation
                    | Part::ExecSize
                    | Part::Operands
                    | Part::Operand(_)
                    | Part::Surface(_)
                    | Part::Sampler(_)
            )
        };
        if !found.def().syntax.parts.iter().all(alone) {
            self.spare.clear();
            context.parts(&mut self.spare, &found, None);
            if self.spare.bytes() != written {
                return false;
            }
        }
        !self.is_exact || has_layout_of(context, wanted, &found)
    }
}

/// Whether two instructions have the same numbers, so that changes make one of the other.
fn has_layout_of(context: &Context<'_>, wanted: &Instruction, found: &Instruction) -> bool {
    let keys = |instruction: &Instruction| {
        let numbers =
            InstructionNumbers::of(&instruction.fields, instruction.def(), context.format);
        numbers.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    keys(wanted) == keys(found)
}

/// A routine that is being written.
struct Writer<'o> {
    context: Context<'o>,
    routine: &'o Routine<'o>,
    lines: InstructionLines,
    /// The strings that names take, in exact text.
    strings: Option<Strings<'o>>,
    /// Which labels the text has named up to now.
    named: Vec<bool>,
}

impl<'o> Writer<'o> {
    fn run<O: Output>(
        &mut self,
        is_exact: bool,
        line: &mut Line,
        out: &mut O,
    ) -> Result<(), O::Error> {
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
        if is_exact && !self.routine.binaries.is_empty() {
            out.line(LineKind::Header, exact::natives(self.routine).as_bytes())?;
        }
        Ok(())
    }

    /// The string that a name takes, which is the one that is wanted in plain text.
    fn take(
        &mut self,
        text: Cow<'o, [u8]>,
        wanted: visakit_isa::StringId,
    ) -> visakit_isa::StringId {
        match &mut self.strings {
            Some(strings) => strings.take(text, wanted),
            None => wanted,
        }
    }

    /// Says what the routine has besides its tables.
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

    /// Ends a line, with how the record differs that the assembler makes of it.
    fn end<N: Numbered + PartialEq>(&self, line: &mut Line, wanted: &N, found: &N) {
        if let Some(strings) = &self.strings
            && (wanted != found || strings.has_added())
        {
            let format = self.context.format;
            let (wanted, found) = (wanted.numbers(format), found.numbers(format));
            line.note(&exact::difference(&wanted, &found, strings));
        }
        line.byte(b'\n');
    }

    /// The attributes that the assembler makes.
    fn read_attributes(
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

    fn header<O: Output>(&mut self, line: &mut Line, out: &mut O) -> Result<(), O::Error> {
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

    /// The variable that the assembler makes.
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

    /// The attributes of the routine, with the target that it has where it says none.
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

    fn code<O: Output>(
        &mut self,
        plan: &Plan,
        line: &mut Line,
        out: &mut O,
    ) -> Result<(), O::Error> {
        for (index, item) in self.context.body.code.iter().enumerate() {
            line.clear();
            match item {
                Item::Instruction(instruction) => {
                    self.instruction(plan.is_forced(index), line, instruction);
                    out.line(LineKind::Instruction(index), line.bytes())?;
                }
                Item::Raw(raw) => {
                    line.undecoded(raw);
                    out.line(LineKind::Undecoded(index), line.bytes())?;
                }
            }
        }
        Ok(())
    }

    /// An instruction, a label, or an instruction number by number.
    #[inline]
    fn instruction(&mut self, is_forced: bool, line: &mut Line, instruction: &'o Instruction) {
        let meaning = match is_forced {
            true => None,
            false => self.lines.write(&self.context, line, instruction),
        };
        if meaning.is_none() {
            line.clear();
            self.context.numbers(line, instruction);
        }
        let names_nothing = meaning.is_some() && self.lines.reading.mentions.is_empty();
        if self.strings.is_some() && (meaning != Some(Meaning::Same) || !names_nothing) {
            self.note(line, instruction, meaning);
        }
        line.byte(b'\n');
    }

    /// Notes how the instruction differs that the assembler makes of a line.
    fn note(&mut self, line: &mut Line, wanted: &'o Instruction, meaning: Option<Meaning>) {
        let body = self.context.body;
        let mut found = match meaning {
            Some(_) => self.lines.reading.fields.instruction(),
            None => wanted.clone(),
        };
        let mentions: Vec<Mention> = match meaning {
            Some(_) => core::mem::take(&mut self.lines.reading.mentions),
            None => numbered_mentions(&self.context, wanted).collect(),
        };
        for mention in &mentions {
            match *mention {
                Mention::String(id) => {
                    let taken = self.take(Cow::Borrowed(string(body, id)), id);
                    let named = found.fields.iter_mut();
                    for field in named.filter(|f| f.value == Value::String(id)) {
                        field.value = Value::String(taken);
                    }
                }
                // The name comes with the first line that has it.
                Mention::Label(id) => {
                    let index = usize::from(id.0);
                    let named = self.named.get_mut(index);
                    let is_new = named.is_some_and(|named| !core::mem::replace(named, true));
                    let label = body
                        .labels
                        .get(index)
                        .zip(self.context.names.labels.get(index));
                    if let (true, Some((label, name))) = (is_new, label) {
                        let name = name.clone();
                        self.take(name, label.name);
                    }
                }
            }
        }
        self.lines.reading.mentions = mentions;
        let Some(strings) = &self.strings else { return };
        if found == *wanted && !strings.has_added() {
            return;
        }
        let (def, format) = (wanted.def(), self.context.format);
        let wanted = InstructionNumbers::of(&wanted.fields, def, format);
        let found = InstructionNumbers::of(&found.fields, def, format);
        line.note(&exact::difference(&wanted, &found, strings));
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

    /// `.op MOV exec_size=0x4 pred=0x0 dst.tag=0x0 …`: all numbers of an instruction.
    fn numbers(&self, line: &mut Line, instruction: &Instruction) {
        let def = instruction.def();
        line.text("    .op ");
        line.text(def.name);
        for field in &instruction.fields {
            line.byte(b' ');
            line.text(field.name.as_str());
            if let Value::Label(id) = field.value
                && let Some(name) = self.names.labels.get(usize::from(id.0))
            {
                line.byte(b'=');
                line.raw(name);
                continue;
            }
            if let Value::String(id) = field.value
                && let Some(text) = self.body.string(id)
            {
                line.byte(b'=');
                line.quoted(text.iter().copied());
                continue;
            }
            let kind = def.fields.iter().find(|f| f.name == field.name);
            let numbers = kind.and_then(|f| {
                let numbers = numbers::numbers(f.kind, &field.value, self.format)?;
                Some((f.kind, numbers))
            });
            let Some((kind, numbers)) = numbers else {
                continue;
            };
            for (i, (name, number)) in numbers.into_iter().enumerate() {
                match numbers::part(kind, name) {
                    "" => {}
                    name => {
                        if i > 0 {
                            line.byte(b' ');
                            line.text(field.name.as_str());
                        }
                        line.byte(b'.');
                        line.text(name);
                    }
                }
                line.text("=0x");
                line.hex(number.into());
            }
        }
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
    fn note(&mut self, changes: &str) {
        if !changes.is_empty() {
            self.text(" //@");
            self.text(changes);
        }
    }

    /// `.bytes 60 04 03 00`: what could not be decoded.
    pub(crate) fn undecoded(&mut self, raw: &RawItem<'_>) {
        self.text("    .bytes");
        for byte in raw.bytes.iter() {
            self.byte(b' ');
            self.hex_pair(*byte);
        }
        self.text(" /// undecoded: ");
        for c in raw.reason.bytes() {
            self.byte(if c == b'\n' { b' ' } else { c });
        }
        self.byte(b'\n');
    }

    /// The kind of a label by its name, or by its number.
    pub(crate) fn label_kind(&mut self, kind: LabelKind) {
        match kind.name() {
            Some(name) if is_identifier(name.as_bytes()) => self.text(name),
            _ => self.number(kind.0),
        }
    }
}
