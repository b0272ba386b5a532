//! Attributes in text.

use super::Context;
use super::line::Line;
use crate::language::attribute::{
    ValueKind, Written, WrittenValue, any_kind, kind, number, target_name,
};
use crate::language::pool::string;
use visakit_isa::object::{Attribute, Body};

/// Whether the attribute only states where Intel's tools put their files.
pub(crate) fn is_path(body: &Body<'_>, attribute: &Attribute<'_>) -> bool {
    kind(string(body, attribute.name)) == ValueKind::Path
}

impl Context<'_> {
    /// ` attrs={A, B=1}` of a symbol in plain text; nothing if it has none.
    pub(crate) fn plain_attributes(&self, line: &mut Line, attributes: &[Attribute<'_>]) {
        for (i, attribute) in attributes.iter().enumerate() {
            line.text(if i == 0 { " attrs={" } else { ", " });
            self.plain_attribute(line, attribute, true);
        }
        if !attributes.is_empty() {
            line.byte(b'}');
        }
    }

    /// `NAME`, `NAME=1`, `NAME="text"` in plain text.
    pub(crate) fn plain_attribute(
        &self,
        line: &mut Line,
        attribute: &Attribute<'_>,
        of_symbol: bool,
    ) {
        let name = string(self.body, attribute.name);
        let written = Written::of(name, &attribute.value, of_symbol);
        if written.quoted_name {
            line.quoted(name.iter().copied());
        } else {
            line.raw(name);
        }
        if written.value != WrittenValue::None {
            line.byte(b'=');
        }
        match written.value {
            WrittenValue::None => {}
            WrittenValue::Number(number) => line.signed(number.into()),
            WrittenValue::Target(name) => line.quoted(name.bytes()),
            WrittenValue::Quoted(value) => line.quoted(value.iter().copied()),
        }
    }
}

impl Line {
    /// A target by its name, or by its number.
    pub(crate) fn target(&mut self, target: i32) {
        match target_name(target) {
            Some(name) => self.quoted(name.bytes()),
            None => self.signed(target.into()),
        }
    }

    /// ` attrs={A, B=1}`; nothing if there are none.
    pub(crate) fn attributes(&mut self, body: &Body<'_>, attributes: &[Attribute<'_>]) {
        for (i, attribute) in attributes.iter().enumerate() {
            self.text(if i == 0 { " attrs={" } else { ", " });
            self.attribute(body, attribute);
        }
        if !attributes.is_empty() {
            self.byte(b'}');
        }
    }

    /// `NAME`, `NAME=1` or `NAME="text"`.
    pub(crate) fn attribute(&mut self, body: &Body<'_>, attribute: &Attribute<'_>) {
        let name = string(body, attribute.name);
        self.raw(name);
        match (any_kind(name), number(&attribute.value)) {
            (ValueKind::Flag, _) => {}
            (ValueKind::Target, Some(target)) => {
                self.byte(b'=');
                self.target(target);
            }
            (ValueKind::Number, Some(number)) => {
                self.byte(b'=');
                self.signed(number.into());
            }
            _ if attribute.value.is_empty() => {}
            _ => {
                self.byte(b'=');
                let end = attribute.value.iter().take_while(|b| **b != 0);
                self.quoted(end.copied());
            }
        }
    }
}
