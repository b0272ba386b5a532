//! Attributes.

use crate::line::Line;
use crate::names::string;
use visakit_isa::object::{Attribute, Body};

/// What the value of an attribute is; the bytes do not tell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Flag,
    Number,
    Target,
    Path,
    Unknown,
}

/// The attributes that Intel's tools know.
const KNOWN: [(&[u8], Kind); 29] = [
    (b"Extern", Kind::Flag),
    (b"NoBarrier", Kind::Flag),
    (b"Callable", Kind::Flag),
    (b"Caller", Kind::Flag),
    (b"Composable", Kind::Flag),
    (b"Entry", Kind::Flag),
    (b"Input", Kind::Flag),
    (b"Output", Kind::Flag),
    (b"PayloadLiveOut", Kind::Flag),
    (b"Input_Output", Kind::Flag),
    (b"NoWidening", Kind::Flag),
    (b"DoNotSpill", Kind::Flag),
    (b"SepSpillPvtSS", Kind::Flag),
    (b"LTO_InvokeOptTarget", Kind::Flag),
    (TARGET, Kind::Target),
    (b"SLMSize", Kind::Number),
    (b"SpillMemOffset", Kind::Number),
    (b"ArgSize", Kind::Number),
    (b"RetValSize", Kind::Number),
    (b"PerThreadInputSize", Kind::Number),
    (b"perThreadInputSize", Kind::Number),
    (b"SimdSize", Kind::Number),
    (b"Scope", Kind::Number),
    (b"SurfaceUsage", Kind::Number),
    (b"CrossThreadInputSize", Kind::Number),
    (b"crossThreadInputSize", Kind::Number),
    (b"NBarrierCnt", Kind::Number),
    (b"OutputAsmPath", Kind::Path),
    (b"AsmName", Kind::Path),
];

/// The names of the attributes that Intel's tools know.
pub(crate) fn known() -> impl Iterator<Item = &'static [u8]> {
    KNOWN.iter().chain(&LATER).map(|(name, _)| *name)
}

/// The attribute that says for whom a routine was made.
pub(crate) const TARGET: &[u8] = b"Target";

/// Attributes of later tools, which texts of theirs may have.
const LATER: [(&[u8], Kind); 9] = [
    (b"AllLaneActive", Kind::Flag),
    (b"DisableLoadThreadPayloadWA", Kind::Flag),
    (b"ForceSpill", Kind::Flag),
    (b"ExclusiveLoad", Kind::Flag),
    (b"NumGRF", Kind::Number),
    (b"MaxRegThreadDispatch", Kind::Number),
    (b"ScratchInlineOffset", Kind::Number),
    (b"ScratchIndirectRegOffset", Kind::Number),
    (b"ScratchIndirectMemOffset", Kind::Number),
];

/// What a value is, attributes of later tools included.
pub(crate) fn any_kind(name: &[u8]) -> Kind {
    let later = LATER.iter().find(|(known, _)| *known == name);
    later.map_or_else(|| kind(name), |(_, kind)| *kind)
}

pub(crate) fn kind(name: &[u8]) -> Kind {
    KNOWN
        .iter()
        .find(|(known, _)| *known == name)
        .map_or(Kind::Unknown, |(_, kind)| *kind)
}

/// Whether the attribute only says where Intel's tools put their files.
pub(crate) fn is_path(body: &Body<'_>, attribute: &Attribute<'_>) -> bool {
    kind(string(body, attribute.name)) == Kind::Path
}

/// The value as Intel's tools read it: one, two or four bytes with a sign, 1 where there is none.
pub(crate) fn number(attribute: &Attribute<'_>) -> Option<i32> {
    match *attribute.value.as_ref() {
        [] => Some(1),
        [a] => Some(i8::from_le_bytes([a]).into()),
        [a, b] => Some(i16::from_le_bytes([a, b]).into()),
        [a, b, c, d] => Some(i32::from_le_bytes([a, b, c, d])),
        _ => None,
    }
}

/// What a target is called.
pub(crate) const fn target_name(target: i32) -> Option<&'static str> {
    match target {
        0 => Some("\"cm\""),
        1 => Some("\"3d\""),
        _ => None,
    }
}

impl Line {
    /// ` attrs={A, B=1}`, nothing where there are none.
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
        match (any_kind(name), number(attribute)) {
            (Kind::Flag, _) => {}
            (Kind::Target, Some(target)) => {
                self.byte(b'=');
                match target_name(target) {
                    Some(name) => self.text(name),
                    None => self.signed(target.into()),
                }
            }
            (Kind::Number, Some(number)) => {
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
