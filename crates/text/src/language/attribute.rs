//! Attributes: which ones are known, and how their values are written.

use alloc::borrow::Cow;
use alloc::vec::Vec;

/// The kind of value an attribute has, which its bytes do not show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Flag,
    Number,
    Target,
    Path,
    Unknown,
}

/// The attributes that Intel's tools know.
const KNOWN: [(&[u8], ValueKind); 29] = [
    (b"Extern", ValueKind::Flag),
    (b"NoBarrier", ValueKind::Flag),
    (b"Callable", ValueKind::Flag),
    (b"Caller", ValueKind::Flag),
    (b"Composable", ValueKind::Flag),
    (b"Entry", ValueKind::Flag),
    (b"Input", ValueKind::Flag),
    (b"Output", ValueKind::Flag),
    (b"PayloadLiveOut", ValueKind::Flag),
    (b"Input_Output", ValueKind::Flag),
    (b"NoWidening", ValueKind::Flag),
    (b"DoNotSpill", ValueKind::Flag),
    (b"SepSpillPvtSS", ValueKind::Flag),
    (b"LTO_InvokeOptTarget", ValueKind::Flag),
    (TARGET, ValueKind::Target),
    (b"SLMSize", ValueKind::Number),
    (b"SpillMemOffset", ValueKind::Number),
    (b"ArgSize", ValueKind::Number),
    (b"RetValSize", ValueKind::Number),
    (b"PerThreadInputSize", ValueKind::Number),
    (b"perThreadInputSize", ValueKind::Number),
    (b"SimdSize", ValueKind::Number),
    (b"Scope", ValueKind::Number),
    (b"SurfaceUsage", ValueKind::Number),
    (b"CrossThreadInputSize", ValueKind::Number),
    (b"crossThreadInputSize", ValueKind::Number),
    (b"NBarrierCnt", ValueKind::Number),
    (b"OutputAsmPath", ValueKind::Path),
    (b"AsmName", ValueKind::Path),
];

/// The names of the attributes that Intel's tools know.
pub(crate) fn known() -> impl Iterator<Item = &'static [u8]> {
    KNOWN.iter().chain(&LATER).map(|(name, _)| *name)
}

/// The attribute that states the target of a routine.
pub(crate) const TARGET: &[u8] = b"Target";

/// Attributes of later tools, which may occur in their texts.
const LATER: [(&[u8], ValueKind); 9] = [
    (b"AllLaneActive", ValueKind::Flag),
    (b"DisableLoadThreadPayloadWA", ValueKind::Flag),
    (b"ForceSpill", ValueKind::Flag),
    (b"ExclusiveLoad", ValueKind::Flag),
    (b"NumGRF", ValueKind::Number),
    (b"MaxRegThreadDispatch", ValueKind::Number),
    (b"ScratchInlineOffset", ValueKind::Number),
    (b"ScratchIndirectRegOffset", ValueKind::Number),
    (b"ScratchIndirectMemOffset", ValueKind::Number),
];

/// The kind of value, including attributes of later tools.
pub(crate) fn any_kind(name: &[u8]) -> ValueKind {
    let later = LATER.iter().find(|(known, _)| *known == name);
    later.map_or_else(|| kind(name), |(_, kind)| *kind)
}

pub(crate) fn kind(name: &[u8]) -> ValueKind {
    KNOWN
        .iter()
        .find(|(known, _)| *known == name)
        .map_or(ValueKind::Unknown, |(_, kind)| *kind)
}

/// The value as Intel's tools read it: one, two or four bytes, signed; 1 if there is none.
pub(crate) fn number(value: &[u8]) -> Option<i32> {
    match *value {
        [] => Some(1),
        [a] => Some(i8::from_le_bytes([a]).into()),
        [a, b] => Some(i16::from_le_bytes([a, b]).into()),
        [a, b, c, d] => Some(i32::from_le_bytes([a, b, c, d])),
        _ => None,
    }
}

/// Targets with their names.
const TARGETS: [(u8, &str); 2] = [(0, "cm"), (1, "3d")];

/// The name of a target.
pub(crate) fn target_name(target: i32) -> Option<&'static str> {
    let known = TARGETS.iter().find(|(code, _)| i32::from(*code) == target);
    known.map(|(_, name)| *name)
}

/// The target with this name.
pub(crate) fn target_named(name: &[u8]) -> Option<u8> {
    let known = TARGETS.iter().find(|(_, known)| known.as_bytes() == name);
    known.map(|(code, _)| *code)
}

/// The bytes of a number.
pub(crate) fn number_bytes(number: i64) -> Vec<u8> {
    number.to_le_bytes().into_iter().take(4).collect()
}

/// The value of a known attribute written without one.
pub(crate) fn absent_value(kind: ValueKind, of_symbol: bool) -> Vec<u8> {
    if of_symbol && kind == ValueKind::Number {
        number_bytes(0)
    } else {
        Vec::new()
    }
}

/// How an attribute is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Written<'v> {
    /// The name is quoted, and the value is taken verbatim.
    pub(crate) quoted_name: bool,
    pub(crate) value: WrittenValue<'v>,
}

/// How the value of an attribute is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WrittenValue<'v> {
    None,
    Number(i32),
    Target(&'static str),
    Quoted(&'v [u8]),
}

impl<'v> Written<'v> {
    /// The text of a value: the name is quoted if the assembler does not know it, the value if no number
    /// has these bytes.
    pub(crate) fn of(name: &[u8], value: &'v [u8], of_symbol: bool) -> Self {
        let kind = any_kind(name);
        let number = number(value).filter(|_| !value.is_empty());
        let odd_target = kind == ValueKind::Target && number.is_none() && !value.is_empty();
        let bare = value.is_empty() && (kind != ValueKind::Number || !of_symbol);
        let value = match (kind, number) {
            _ if bare => WrittenValue::None,
            (ValueKind::Target, Some(target)) => match target_name(target) {
                Some(name) if value.len() == 1 => WrittenValue::Target(name),
                _ => WrittenValue::Number(target),
            },
            (ValueKind::Number, Some(number)) => WrittenValue::Number(number),
            (ValueKind::Flag, Some(number)) if !of_symbol => WrittenValue::Number(number),
            _ => WrittenValue::Quoted(value),
        };
        Self {
            quoted_name: kind == ValueKind::Unknown || odd_target,
            value,
        }
    }

    /// The bytes that the text denotes.
    pub(crate) fn read(self) -> Cow<'v, [u8]> {
        match self.value {
            WrittenValue::None => Cow::Borrowed(&[]),
            WrittenValue::Number(number) => Cow::Owned(number_bytes(number.into())),
            WrittenValue::Target(name) => {
                Cow::Owned(target_named(name.as_bytes()).into_iter().collect())
            }
            WrittenValue::Quoted(value) => Cow::Borrowed(value),
        }
    }
}
