//! Lines of the text with the object's own names.

use crate::attribute::{Kind, TARGET, any_kind, number, target_name};
use crate::instruction::{Printing, is_identifier};
use crate::line::Line;
use crate::names::string;
use crate::notes::Place;
use crate::output::{LineKind as Kindof, Output};
use crate::printer::Context;
use crate::wire;
use visakit_isa::object::{
    Attribute, Declaration, Input, InputKind, Item, LabelKind, RawItem, RoutineKind, Variable,
};
use visakit_isa::table::{FieldName, Part};
use visakit_isa::{Instruction, LabelId, Op, SurfaceId, Value, VarId};

impl Context<'_> {
    /// Everything of a routine.
    pub(crate) fn own_text<O: Output>(&self, line: &mut Line, out: &mut O) -> Result<(), O::Error> {
        self.own_header(line, out)?;
        for (index, item) in self.body.code.iter().enumerate() {
            line.clear();
            match item {
                Item::Instruction(instruction) => {
                    self.instruction(line, index, instruction);
                    out.line(Kindof::Instruction(index), line.bytes())?;
                }
                Item::Raw(raw) => {
                    line.undecoded(raw);
                    out.line(Kindof::Undecoded(index), line.bytes())?;
                }
            }
        }
        if !self.notes.tail.is_empty() {
            out.line(Kindof::Header, &self.notes.tail)?;
        }
        Ok(())
    }

    /// Ends a line, with what is noted at it.
    #[inline]
    fn end(&self, line: &mut Line, place: Place) {
        if !self.notes.trailing.is_empty()
            && let Some(note) = self.notes.trailing.get(&place)
        {
            line.text(" //@");
            line.text(note);
        }
        line.byte(b'\n');
    }

    pub(crate) fn own_header<O: Output>(
        &self,
        line: &mut Line,
        out: &mut O,
    ) -> Result<(), O::Error> {
        line.clear();
        line.text(match self.id.kind {
            RoutineKind::Kernel => ".kernel ",
            RoutineKind::Function => ".global_function ",
        });
        let name = self.object.routine(self.id).map(|r| r.name.as_ref());
        line.quoted(name.unwrap_or_default().iter().copied());
        line.byte(b'\n');
        out.line(Kindof::Header, line.bytes())?;
        if !self.notes.lines.is_empty() {
            out.line(Kindof::Header, &self.notes.lines)?;
        }
        let body = self.body;
        let variables = body.variables.iter().zip(&self.names.variables);
        for (i, (variable, name)) in variables.enumerate() {
            line.clear();
            self.variable(line, i, variable, name);
            self.end(line, Place::Variable(i));
            out.line(Kindof::Declaration, line.bytes())?;
        }
        let names = &self.names;
        type Of = fn(usize) -> Place;
        let tables: [(&[Declaration<'_>], _, u8, Of); 4] = [
            (&body.addresses, &names.addresses, b'A', Place::Address),
            (&body.predicates, &names.predicates, b'P', Place::Predicate),
            (&body.samplers, &names.samplers, b'S', Place::Sampler),
            (&body.surfaces, &names.surfaces, b'T', Place::Surface),
        ];
        for (list, names, letter, place) in tables {
            for (i, (declaration, name)) in list.iter().zip(names).enumerate() {
                line.clear();
                line.text(".decl ");
                line.raw(name);
                line.text(" v_type=");
                line.byte(letter);
                line.text(" num_elts=");
                line.number(declaration.elements);
                self.own_attributes(line, &declaration.attributes);
                self.end(line, place(i));
                out.line(Kindof::Declaration, line.bytes())?;
            }
        }
        let labels = body.labels.iter().zip(&self.notes.labels).enumerate();
        for (i, (label, note)) in labels.filter(|(_, (_, note))| note.declared) {
            line.clear();
            line.text(".label ");
            if let Some(name) = self.names.labels.get(i) {
                line.raw(name);
            }
            line.text(" kind=");
            line.label_kind(label.kind);
            line.text(if note.unplaced { " unplaced" } else { "" });
            self.own_attributes(line, &label.attributes);
            self.end(line, Place::Label(i));
            out.line(Kindof::Declaration, line.bytes())?;
        }
        for input in &body.inputs {
            line.clear();
            self.own_input(line, input);
            line.byte(b'\n');
            out.line(Kindof::Declaration, line.bytes())?;
        }
        let mut targeted = self.notes.no_target;
        for (i, attribute) in body.attributes.iter().enumerate() {
            targeted |= string(body, attribute.name) == TARGET;
            line.clear();
            line.text(".kernel_attr ");
            self.own_attribute(line, attribute, false);
            self.end(line, Place::Attribute(i));
            out.line(Kindof::Declaration, line.bytes())?;
        }
        if !targeted {
            line.clear();
            line.text(".kernel_attr Target=");
            match target_name(self.target_before()) {
                Some(name) => line.text(name),
                None => line.signed(self.target_before().into()),
            }
            line.byte(b'\n');
            out.line(Kindof::Declaration, line.bytes())?;
        }
        Ok(())
    }

    /// Whether the assembler takes the alias of the variable at `index` by its name: it is declared
    /// before, and large enough.
    pub(crate) fn is_tame(&self, index: usize, variable: &Variable<'_>) -> bool {
        let Some(aliased) = variable.alias.0.checked_sub(self.first_variable) else {
            return true;
        };
        let Ok(place) = usize::try_from(aliased) else {
            return false;
        };
        let end = u32::from(variable.alias_offset) + variable.size();
        let large_enough = |aliased: &Variable<'_>| end <= aliased.size();
        place < index && self.body.variables.get(place).is_some_and(large_enough)
    }

    fn own_input(&self, line: &mut Line, input: &Input) {
        match input.kind.implicit_kind() {
            0 => line.text(".input "),
            kind @ (1..=3 | 16) => crate::header::implicit(line, kind),
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

    pub(crate) fn own_attributes(&self, line: &mut Line, attributes: &[Attribute<'_>]) {
        for (i, attribute) in attributes.iter().enumerate() {
            line.text(if i == 0 { " attrs={" } else { ", " });
            self.own_attribute(line, attribute, true);
        }
        if !attributes.is_empty() {
            line.byte(b'}');
        }
    }

    /// `NAME`, `NAME=1`, `NAME="text"`; the name is quoted where the assembler does not know it,
    /// the value where no number has these bytes.
    fn own_attribute(&self, line: &mut Line, attribute: &Attribute<'_>, of_symbol: bool) {
        let name = string(self.body, attribute.name);
        let value = attribute.value.as_ref();
        let kind = any_kind(name);
        let number = number(attribute).filter(|_| !value.is_empty());
        let odd_target = kind == Kind::Target && number.is_none() && !value.is_empty();
        if kind == Kind::Unknown || odd_target {
            line.quoted(name.iter().copied());
        } else {
            line.raw(name);
        }
        let bare = match kind {
            Kind::Number => value.is_empty() && !of_symbol,
            _ => value.is_empty(),
        };
        if bare {
            return;
        }
        line.byte(b'=');
        match (kind, number) {
            (Kind::Target, Some(target)) => match target_name(target) {
                Some(name) if value.len() == 1 => line.text(name),
                _ => line.signed(target.into()),
            },
            (Kind::Number, Some(number)) => line.signed(number.into()),
            (Kind::Flag, Some(number)) if !of_symbol => line.signed(number.into()),
            _ => line.quoted(value.iter().copied()),
        }
    }

    /// An instruction, a label, or an instruction number by number.
    pub(crate) fn own_instruction(&self, line: &mut Line, index: usize, instruction: &Instruction) {
        if self.notes.forced.contains(&index) {
            self.numbers(line, instruction);
        } else {
            self.own_line(line, instruction);
        }
        self.end(line, Place::Item(index));
    }

    /// The line of an instruction, without its end.
    pub(crate) fn own_line(&self, line: &mut Line, instruction: &Instruction) {
        let def = instruction.def();
        if !matches!(def.op, Op::LABEL | Op::SUBROUTINE) {
            line.text("    ");
        }
        let mut printing = Printing {
            context: self,
            line,
            def,
            instruction,
            capital: false,
        };
        printing.parts(def.syntax.parts);
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
                let numbers = wire::numbers(f.kind, &field.value, self.format)?;
                Some((f.kind, numbers))
            });
            let Some((kind, numbers)) = numbers else {
                continue;
            };
            for (i, (name, number)) in numbers.into_iter().enumerate() {
                match wire::part(kind, name) {
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

impl Printing<'_, '_> {
    /// Parts that name labels.
    pub(crate) fn own_label(&mut self, part: &Part, name: FieldName) {
        let context = self.context;
        if let Part::Targets(_) = part {
            let instruction = self.instruction;
            for (i, value) in instruction.all(name).enumerate() {
                if let Value::Label(id) = value {
                    self.line.text(if i == 0 { "" } else { ", " });
                    context.label_name(self.line, *id);
                }
            }
            return;
        }
        let Some(Value::Label(id)) = self.get(name).copied() else {
            return;
        };
        match part {
            Part::Placed(_) if self.def.op == Op::SUBROUTINE => {
                self.line.text("\n.function \"");
                context.label_name(self.line, id);
                self.line.byte(b'"');
                let note = context.notes.labels.get(usize::from(id.0));
                if note.is_some_and(|note| !note.declared) {
                    self.line.byte(b'\n');
                    context.label_name(self.line, id);
                    self.line.byte(b':');
                }
            }
            Part::Placed(_) => {
                self.line.byte(b'\n');
                context.label_name(self.line, id);
                self.line.byte(b':');
            }
            Part::CallMnemonic(_) => {
                let fast = context.label_kind(id) == LabelKind::FAST_COMPOSITE;
                let plain = self.def.mnemonic();
                self.line.text(if fast { "fccall" } else { plain });
            }
            _ => context.label_name(self.line, id),
        }
    }
}

impl Context<'_> {
    fn label_name(&self, line: &mut Line, id: LabelId) {
        match self.names.labels.get(usize::from(id.0)) {
            Some(name) => line.raw(name),
            None => line.unnamed(b'L', id.0.into()),
        }
    }
}

impl Line {
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
