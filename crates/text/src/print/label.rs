//! Labels: their placement and references to them.

use super::Context;
use super::instruction::Printing;
use super::line::Line;
use crate::language::pool::string;
use visakit_isa::object::LabelKind;
use visakit_isa::table::{FieldName, Part};
use visakit_isa::{LabelId, StringId, Value};

impl Context<'_> {
    /// Whether the routine has this label.
    pub(crate) fn has_label(&self, id: LabelId) -> bool {
        usize::from(id.0) < self.body.labels.len()
    }

    /// The name of a label in plain text.
    fn label_name(&self, line: &mut Line, id: LabelId) {
        match self.names.labels.get(usize::from(id.0)) {
            Some(name) => line.raw(name),
            None => line.unnamed(b'L', id.0.into()),
        }
    }

    pub(crate) fn label_kind(&self, id: LabelId) -> LabelKind {
        let label = self.body.labels.get(usize::from(id.0));
        label.map_or(LabelKind::BLOCK, |l| l.kind)
    }
}

impl Printing<'_, '_> {
    /// Parts that name labels.
    pub(crate) fn label(&mut self, part: &Part) {
        let (Part::Placed(name)
        | Part::Subroutine(name)
        | Part::Target(name)
        | Part::BareTarget(name)
        | Part::CallMnemonic(name)
        | Part::CallTarget(name)
        | Part::Targets(name)) = *part
        else {
            return;
        };
        if self.context.is_plain {
            return self.plain_label(part, name);
        }
        if let Part::Targets(_) = part {
            let instruction = self.instruction;
            for (i, value) in instruction.all(name).enumerate() {
                if let Value::Label(id) = value {
                    self.line.text(if i == 0 { "" } else { ", " });
                    self.label_text(*id, false);
                }
            }
            return;
        }
        let Some(Value::Label(id)) = self.get(name).copied() else {
            return;
        };
        let kind = self.context.label_kind(id);
        match part {
            // The kind of the label decides, whichever instruction places it.
            Part::Placed(_) | Part::Subroutine(_) if kind == LabelKind::BLOCK => {
                self.line.byte(b'\n');
                self.label_text(id, true);
                self.line.byte(b':');
            }
            Part::Placed(_) | Part::Subroutine(_) => self.subroutine(id),
            Part::Target(_) => {
                self.label_text(id, true);
                if kind == LabelKind::SUBROUTINE {
                    self.label_number(id);
                }
            }
            Part::BareTarget(_) => self.label_text(id, false),
            Part::CallMnemonic(_) => {
                let fast = kind == LabelKind::FAST_COMPOSITE;
                self.line
                    .text(if fast { "fccall" } else { self.def.mnemonic() });
            }
            Part::CallTarget(_) => {
                self.label_text(id, true);
                self.label_number(id);
            }
            _ => {}
        }
    }

    /// The name of a label, followed by the number of its string.
    fn label_text(&mut self, id: LabelId, legal: bool) {
        let Some(label) = self.context.body.labels.get(usize::from(id.0)) else {
            self.line.byte(b'L');
            return self.line.number(id.0);
        };
        let name = string(self.context.body, label.name);
        if label.name == StringId(0) {
            return self.line.byte(b'L');
        }
        if legal {
            self.line.legal(name);
        } else {
            self.line.raw(name);
        }
        if label.kind != LabelKind::FAST_COMPOSITE {
            self.line.byte(b'_');
            self.line.number(label.name.0);
        }
    }

    fn label_number(&mut self, id: LabelId) {
        self.line.byte(b'_');
        self.line.number(id.0);
    }

    /// The directive that begins a subroutine, with its label.
    fn subroutine(&mut self, id: LabelId) {
        let label = self.context.body.labels.get(usize::from(id.0));
        let name = label.map(|l| string(self.context.body, l.name));
        let changed = name.is_some_and(|n| n.iter().any(|c| matches!(c, b'.' | b'$')));
        self.line.text("    \n.function \"");
        self.label_text(id, true);
        self.label_number(id);
        self.line.byte(b'"');
        if changed {
            self.line.text(" /// Original Name: \"");
            self.label_text(id, false);
            self.label_number(id);
            self.line.byte(b'"');
        }
        self.line.text("\n\n");
        self.label_text(id, true);
        self.label_number(id);
        self.line.byte(b':');
    }
}

impl Printing<'_, '_> {
    /// Parts that name labels, in plain text.
    fn plain_label(&mut self, part: &Part, name: FieldName) {
        let context = self.context;
        let instruction = self.instruction;
        if let Part::Targets(_) = part {
            for (i, value) in instruction.all(name).enumerate() {
                if let Value::Label(id) = value {
                    self.line.text(if i == 0 { "" } else { ", " });
                    self.label_name(name, *id);
                }
            }
            return;
        }
        let Some(Value::Label(id)) = self.get(name).copied() else {
            if let Some(reading) = self.reading.as_deref_mut() {
                reading.absent(name);
            }
            return;
        };
        match part {
            Part::Subroutine(_) => {
                self.line.text("\n.function \"");
                self.label_name(name, id);
                self.line.byte(b'"');
                let note = context.labels.get(usize::from(id.0));
                if note.is_some_and(|note| !note.declared) {
                    self.line.byte(b'\n');
                    context.label_name(self.line, id);
                    self.line.byte(b':');
                }
            }
            Part::Placed(_) => {
                self.line.byte(b'\n');
                self.label_name(name, id);
                self.line.byte(b':');
            }
            Part::CallMnemonic(_) => {
                let fast = context.label_kind(id) == LabelKind::FAST_COMPOSITE;
                let plain = self.def.mnemonic();
                self.line.text(if fast { "fccall" } else { plain });
            }
            _ => self.label_name(name, id),
        }
    }

    /// The name of a label in plain text.
    fn label_name(&mut self, name: FieldName, id: LabelId) {
        self.context.label_name(self.line, id);
        let is_known = self.context.has_label(id);
        if let Some(reading) = self.reading.as_deref_mut() {
            if is_known {
                reading.label(name, id);
            } else {
                reading.refuse();
            }
        }
    }
}

impl Line {
    /// Writes a name with characters that labels cannot have replaced.
    pub(crate) fn legal(&mut self, name: &[u8]) {
        for &c in name {
            self.byte(if matches!(c, b'.' | b'$') { b'_' } else { c });
        }
    }
}
