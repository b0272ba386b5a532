//! Labels: where they are placed and where they are named.

use crate::instruction::Printing;
use crate::line::Line;
use crate::names::string;
use crate::printer::Context;
use visakit_isa::object::LabelKind;
use visakit_isa::table::Part;
use visakit_isa::{LabelId, StringId, Value};

impl Context<'_> {
    pub(crate) fn label_kind(&self, id: LabelId) -> LabelKind {
        let label = self.body.labels.get(usize::from(id.0));
        label.map_or(LabelKind::BLOCK, |l| l.kind)
    }
}

impl Printing<'_, '_> {
    /// Parts that name labels.
    pub(crate) fn label(&mut self, part: &Part) {
        let (Part::Placed(name)
        | Part::Target(name)
        | Part::BareTarget(name)
        | Part::CallMnemonic(name)
        | Part::CallTarget(name)
        | Part::Targets(name)) = *part
        else {
            return;
        };
        if self.context.own {
            return self.own_label(part, name);
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
            Part::Placed(_) if kind == LabelKind::BLOCK => {
                self.line.byte(b'\n');
                self.label_text(id, true);
                self.line.byte(b':');
            }
            Part::Placed(_) => self.subroutine(id),
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

    /// The name of a label, with the number of its string behind it.
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

    /// The directive that begins a subroutine, and its label.
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

impl Line {
    /// A name with the characters replaced that labels cannot have.
    pub(crate) fn legal(&mut self, name: &[u8]) {
        for &c in name {
            self.byte(if matches!(c, b'.' | b'$') { b'_' } else { c });
        }
    }
}
