//! Exact text: what it adds to plain text, as directives in comments.

use super::line::Line;
use crate::asm::DERIVED;
use crate::language::numbers::{Held, Numbers, RoutineNumbers, shortened};
use crate::language::pool::Pool;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use data_encoding::{BASE64, HEXLOWER};
use visakit_isa::object::{
    Arrangement, Body, Content, Linkage, NativeBinary, NativeCode, Object, Piece, Routine,
};
use visakit_isa::{ExecMask, Format, StringId, Value};

/// Bytes per line of base64: 76 characters.
const BLOB_LINE: usize = 57;

/// Approximate number of characters in a line of strings.
const STRINGS_LINE: usize = 100;

/// Whether the assembler would arrange the pieces of the file like this by default.
pub(super) fn is_default_arrangement(object: &Object<'_>) -> bool {
    match &object.arrangement {
        Arrangement::Custom(_) => false,
        usual => *usual == object.usual_arrangement() || !object.order_matters(),
    }
}

/// The directives after the first line of a routine.
pub(super) fn lines(routine: &Routine<'_>) -> String {
    let mut text = String::new();
    for (name, list) in [
        ("variable_relocation", &routine.variable_relocations),
        ("function_relocation", &routine.function_relocations),
    ] {
        for relocation in list {
            let (symbolic, resolved) = (relocation.symbolic, relocation.resolved);
            let _ = writeln!(text, "//@ {name} {symbolic} {resolved}");
        }
    }
    for (what, number) in &routine.stored {
        if let Some((name, _)) = DERIVED.iter().find(|(_, derived)| derived == what) {
            let _ = writeln!(text, "//@ stored {name} {number:#x}");
        }
    }
    if routine.body().is_none() && routine.linkage.0 != 0 {
        let _ = writeln!(text, "//@ routine linkage+{:#x}", routine.linkage.0);
    }
    match &routine.content {
        Content::Body(_) => {
            let target = routine.body().and_then(|b| b.attribute("Target"));
            if target.is_none() {
                text.push_str("//@ no_target\n");
            }
        }
        Content::Raw(raw) => {
            text.push_str("//@ raw\n");
            blob(&mut text, &raw.bytes);
        }
        Content::Missing(_) => text.push_str("//@ missing\n"),
    }
    text
}

/// The most frequent code of the mask M1 among the instructions, in versions that have two.
pub(super) fn m1_code(format: Format, routine: &Routine<'_>) -> u8 {
    const SECOND: u8 = 9;
    if ExecMask::from_code(SECOND, format) != Some(ExecMask::M1) {
        return 0;
    }
    let (mut first, mut second) = (0, 0);
    let instructions = routine.body().into_iter().flat_map(Body::instructions);
    for field in instructions.flat_map(|i| &i.fields) {
        let bits = match field.value {
            Value::ExecSize(size) => size.bits(),
            Value::ElementCount(count) => count.bits(),
            _ => continue,
        };
        first += usize::from(bits >> 4 == 0);
        second += usize::from(bits >> 4 == SECOND);
    }
    if second > first { SECOND } else { 0 }
}

/// The directives after the instructions of a routine.
pub(super) fn natives(routine: &Routine<'_>) -> String {
    let mut text = String::new();
    for binary in &routine.binaries {
        text.push('\n');
        native(&mut text, binary);
    }
    text
}

fn native(text: &mut String, binary: &NativeBinary<'_>) {
    match binary.platform.name() {
        Some(name) => {
            let _ = write!(text, "//@ native {name}");
        }
        None => {
            let _ = write!(text, "//@ native {}", binary.platform.0);
        }
    }
    match &binary.code {
        NativeCode::Bytes(bytes) => {
            text.push('\n');
            blob(text, bytes);
        }
        NativeCode::Placeholder { offset, size } => {
            let _ = writeln!(text, " {offset:#x} {size:#x}");
        }
    }
}

fn blob(text: &mut String, bytes: &[u8]) {
    for piece in bytes.chunks(BLOB_LINE) {
        text.push_str("//@ data ");
        BASE64.encode_append(piece, text);
        text.push('\n');
    }
}

/// The directives that state the string pool.
pub(super) fn pool_lines(body: &Body<'_>) -> Vec<u8> {
    let mut line = Line::new();
    line.text("//@ strings");
    let mut start = 0;
    for text in &body.strings {
        if line.bytes().len() - start > STRINGS_LINE {
            line.byte(b'\n');
            start = line.bytes().len();
            line.text("//@ strings");
        }
        line.byte(b' ');
        line.quoted(text.iter().copied());
    }
    line.byte(b'\n');
    line.bytes().to_vec()
}

/// The directives that state how the pieces of the file are arranged.
pub(super) fn arrangement(object: &Object<'_>) -> String {
    let mut text = String::from("//@ arrangement ");
    match &object.arrangement {
        Arrangement::Interleaved => text.push_str("interleaved\n"),
        Arrangement::Grouped => text.push_str("grouped\n"),
        Arrangement::Custom(pieces) => {
            text.push_str("custom\n");
            for piece in pieces {
                match piece {
                    Piece::Routine(id) => {
                        let (kind, index) = (id.kind.name(), id.index);
                        let _ = writeln!(text, "//@ place {kind} {index}");
                    }
                    Piece::Binary { kernel, index } => {
                        let _ = writeln!(text, "//@ place binary {kernel} {index}");
                    }
                    Piece::Filler(bytes) => {
                        text.push_str("//@ place filler\n");
                        blob(&mut text, bytes);
                    }
                }
            }
        }
    }
    text
}

/// The strings that the names of a text take in the assembler.
#[derive(Debug)]
pub(crate) struct Strings<'o> {
    /// The pool that the text states; `None` if every name takes the string that is wanted.
    pool: Option<Pool<'o>>,
    stated: &'o [Cow<'o, [u8]>],
    /// Strings added to the pool along with names that do not occur in it.
    added: Vec<Cow<'o, [u8]>>,
    /// A wanted index past the pool equals that of a string added with a name.
    collides: bool,
}

impl<'o> Strings<'o> {
    /// The strings the assembler chooses without a stated pool.
    pub(super) const fn usual() -> Self {
        Self {
            pool: None,
            stated: &[],
            added: Vec::new(),
            collides: false,
        }
    }

    /// The strings of a pool that the text states.
    pub(super) fn stated(strings: &'o [Cow<'o, [u8]>]) -> Self {
        let mut pool = Pool::default();
        pool.reserve(strings.len());
        for text in strings {
            pool.state(Cow::Borrowed(text.as_ref()));
        }
        Self {
            pool: Some(pool),
            stated: strings,
            added: Vec::new(),
            collides: false,
        }
    }

    /// Restarts at the beginning of the text: no name has taken a string.
    pub(super) fn restart(&mut self) {
        self.pool.iter_mut().for_each(Pool::release);
        self.added.clear();
        self.collides = false;
    }

    pub(super) const fn is_stated(&self) -> bool {
        self.pool.is_some()
    }

    /// The string that the next name of the text takes.
    pub(super) fn take(&mut self, text: Cow<'o, [u8]>, wanted: StringId) -> StringId {
        let Some(pool) = &mut self.pool else {
            return wanted;
        };
        pool.take(&text).unwrap_or_else(|| {
            let index = self.stated.len().saturating_add(self.added.len());
            self.added.push(text);
            let taken = StringId(u32::try_from(index).unwrap_or(u32::MAX));
            self.collides |= taken == wanted;
            taken
        })
    }

    /// Whether the string was added with a name and has to be dropped again. A wanted index past the
    /// pool may equal its number by chance.
    pub(super) fn is_added(&self, id: u32) -> bool {
        let index = usize::try_from(id)
            .ok()
            .and_then(|i| i.checked_sub(self.stated.len()));
        index.is_some_and(|i| i < self.added.len())
    }

    /// Whether a name may have a string that has to be dropped although its number is the wanted one.
    pub(super) const fn collides(&self) -> bool {
        self.collides
    }

    fn get(&self, id: u32) -> &[u8] {
        let Ok(index) = usize::try_from(id) else {
            return &[];
        };
        let added = || self.added.get(index.checked_sub(self.stated.len())?);
        let text = self.stated.get(index).or_else(added);
        text.map_or(&[], AsRef::as_ref)
    }
}

/// What the routine has besides its tables and a text without directives lacks.
pub(super) fn routine_changes(
    routine: &Routine<'_>,
    body: &Body<'_>,
    name: StringId,
    strings: &Strings<'_>,
) -> String {
    let made = Body {
        name,
        ..Body::default()
    };
    let wanted = RoutineNumbers::of(body, routine.linkage);
    difference(
        &wanted,
        &RoutineNumbers::of(&made, Linkage::default()),
        strings,
    )
}

/// The changes that turn the record the assembler makes into the wanted one; empty if they are equal.
pub(super) fn difference(wanted: &Numbers, found: &Numbers, strings: &Strings<'_>) -> String {
    let mut text = String::new();
    let added = |held: &Held| matches!(held, Held::Name(id) if strings.is_added(*id));
    let pairs = wanted.iter().zip(found);
    for ((key, wanted), (_, found)) in pairs.filter(|(a, b)| a.1 != b.1 || added(&b.1)) {
        let _ = write!(text, " {key}");
        let _ = match (found, wanted) {
            (Held::Bits(from), Held::Bits(to)) => {
                let (set, clear) = (to & !from, from & !to);
                if set != 0 {
                    let _ = write!(text, "+{set:#x}");
                }
                if clear != 0 {
                    let _ = write!(text, "-{clear:#x}");
                }
                Ok(())
            }
            (Held::Name(from), Held::Name(to)) => {
                let mut line = Line::new();
                line.quoted(strings.get(*from).iter().copied());
                let quoted = String::from_utf8_lossy(line.bytes());
                write!(text, "={quoted}>{to}")
            }
            (Held::Bytes(from), Held::Bytes(to)) => {
                if shortened(from, to.len()).as_ref() == Some(to) {
                    write!(text, "/{}", to.len())
                } else {
                    let (from, to) = (HEXLOWER.encode(from), HEXLOWER.encode(to));
                    write!(text, "=x{from}>x{to}")
                }
            }
            (from, to) => write!(text, "={}>{}", from.number(), to.number()),
        };
    }
    text
}
