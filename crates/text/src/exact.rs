//! Exact text: plain text with directives in comments for everything that the language cannot say.
//!
//! The assembler itself is asked what it makes of the plain text. What differs from the object is
//! then noted where it belongs, so that nothing has to know what the assembler does by itself.

use crate::asm::{self, DERIVED, InstructionNumbers, RoutineNumbers, each_string, shortened};
use crate::line::Line;
use crate::notes::{Notes, Place};
use crate::output::{LineKind as Kindof, Output};
use crate::plain::{Kept, is_default_arrangement, label_notes};
use crate::printer::Printer;
use crate::wire::{Key, Numbers, Slot};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write as _;
use data_encoding::{BASE64, HEXLOWER};
use visakit_isa::object::{
    Arrangement, Body, Content, Declaration, Item, Label, NativeBinary, NativeCode, Object, Piece,
    Routine, RoutineId, RoutineKind,
};
use visakit_isa::{ExecMask, Instruction, LabelId, StringId, Value};

/// Bytes of a line of base64: 76 characters.
const BLOB_LINE: usize = 57;

/// About so many characters are in a line of strings.
const STRINGS_LINE: usize = 100;

type AllNotes = BTreeMap<RoutineId, Notes>;

pub(crate) fn exact<O: Output>(printer: &Printer<'_, '_>, out: &mut O) -> Result<(), O::Error> {
    let object = printer.printed();
    let mut line = Line::new();
    let mut notes = AllNotes::new();
    for (id, routine) in object.routines() {
        let mut made = match &routine.content {
            Content::Body(body) => printer.notes(&mut printer.context(id, body)),
            _ => Notes::default(),
        };
        let target = routine.body().and_then(|b| b.attribute("Target"));
        made.no_target = target.is_none();
        made.lines = lines(routine);
        made.lines
            .extend_from_slice(mask_line(object, routine).as_bytes());
        made.tail = natives(routine);
        notes.insert(id, made);
    }
    // First with the string pools and labels that the assembler makes by itself.
    let made = Made::of(printer, &notes);
    for (id, routine) in object.routines() {
        let (Some(wanted), Some(notes)) = (routine.body(), notes.get_mut(&id)) else {
            continue;
        };
        let found = made.body(id);
        let same = |found: &Body<'_>| {
            wanted.strings == found.strings && string_ids(wanted) == string_ids(found)
        };
        if !found.is_some_and(same) {
            let mut strings = pool_lines(wanted);
            strings.append(&mut notes.lines);
            notes.lines = strings;
        }
        if found.is_none_or(|found| labels_differ(wanted, found)) {
            notes.declare_labels();
        }
    }
    // Then with those of the object, which may show more labels that have to be declared.
    let mut made = Made::of(printer, &notes);
    let mut again = false;
    for (id, routine) in object.routines() {
        let (Some(wanted), Some(found), Some(notes)) =
            (routine.body(), made.body(id), notes.get_mut(&id))
        else {
            continue;
        };
        let declared = notes.labels.iter().all(|l| l.declared);
        let forced = other_layouts(object, wanted, found);
        let label = !declared && labels_differ(wanted, found);
        again |= label || !forced.is_empty();
        if !forced.is_empty() {
            notes.forced.extend(forced);
            notes.labels = label_notes(wanted, &notes.forced);
        }
        if label || declared {
            notes.declare_labels();
        }
    }
    if again {
        made = Made::of(printer, &notes);
    }
    // What still differs is noted at its lines.
    for (id, routine) in object.routines() {
        if let (Some(found), Some(notes)) = (made.routine(id), notes.get_mut(&id)) {
            differences(object, routine, found, notes);
        }
    }
    print(printer, &notes, &mut line, out)
}

/// What the assembler makes of a text.
struct Made {
    object: Object<'static>,
}

impl Made {
    fn of(printer: &Printer<'_, '_>, notes: &AllNotes) -> Self {
        let mut kept = Kept::default();
        let Ok(()) = print(printer, notes, &mut Line::new(), &mut kept);
        let made = asm::assemble(&kept.text, &asm::Options::default());
        let object = printer.printed();
        let nothing = || Object::new(object.version, object.dialect);
        Self {
            object: made.map_or_else(|_| nothing(), Object::into_owned),
        }
    }

    fn routine(&self, id: RoutineId) -> Option<&Routine<'static>> {
        self.object.routine(id)
    }

    fn body(&self, id: RoutineId) -> Option<&Body<'static>> {
        self.routine(id)?.body()
    }
}

fn print<O: Output>(
    printer: &Printer<'_, '_>,
    notes: &AllNotes,
    line: &mut Line,
    out: &mut O,
) -> Result<(), O::Error> {
    let object = printer.printed();
    printer.preamble(line, out)?;
    for (id, routine) in object.routines() {
        out.line(Kindof::Header, b"\n")?;
        let made = notes.get(&id).cloned().unwrap_or_default();
        if routine.body().is_some() {
            printer.own_routine(id, Some(made), line, out)?;
            continue;
        }
        line.clear();
        line.text(match id.kind {
            RoutineKind::Kernel => ".kernel ",
            RoutineKind::Function => ".global_function ",
        });
        line.quoted(routine.name.iter().copied());
        line.byte(b'\n');
        line.raw(&made.lines);
        line.raw(&made.tail);
        out.line(Kindof::Undecoded(0), line.bytes())?;
    }
    if !is_default_arrangement(object) {
        line.clear();
        line.byte(b'\n');
        line.raw(arrangement(object).as_bytes());
        out.line(Kindof::Header, line.bytes())?;
    }
    Ok(())
}

/// The directives behind the first line of a routine.
fn lines(routine: &Routine<'_>) -> Vec<u8> {
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
        let _ = writeln!(text, "//@ routine linkage=0>{}", routine.linkage.0);
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
    text.into_bytes()
}

/// The code that most instructions have for the mask M1, where the version has two.
fn mask_line(object: &Object<'_>, routine: &Routine<'_>) -> &'static str {
    const SECOND: u8 = 9;
    let format = object.format();
    if ExecMask::from_code(SECOND, format) != Some(ExecMask::M1) {
        return "";
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
    if second > first {
        "//@ m1_code 9\n"
    } else {
        ""
    }
}

/// The directives behind the instructions of a routine.
fn natives(routine: &Routine<'_>) -> Vec<u8> {
    let mut text = String::new();
    for binary in &routine.binaries {
        text.push('\n');
        native(&mut text, binary);
    }
    text.into_bytes()
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

fn pool_lines(body: &Body<'_>) -> Vec<u8> {
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

fn arrangement(object: &Object<'_>) -> String {
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

/// The indices of all strings that a routine names, in order.
fn string_ids(body: &Body<'_>) -> Vec<StringId> {
    let mut ids = Vec::new();
    each_string(&mut body.clone(), &mut |id| ids.push(*id));
    ids
}

/// The labels that the instructions name, in order.
fn label_ids<'b>(body: &'b Body<'_>) -> impl Iterator<Item = LabelId> + 'b {
    let fields = body.instructions().flat_map(|i| &i.fields);
    fields.filter_map(|field| match field.value {
        Value::Label(id) => Some(id),
        _ => None,
    })
}

/// The instructions that no change of single numbers makes of what the text says: fields that the
/// text does not show have another layout.
fn other_layouts(object: &Object<'_>, wanted: &Body<'_>, found: &Body<'_>) -> Vec<usize> {
    let format = object.format();
    let layout = |instruction: &Instruction| {
        let mut fields = instruction.fields.clone();
        let numbers = &mut InstructionNumbers {
            fields: &mut fields,
            def: instruction.def(),
            format,
        };
        held(numbers)
            .into_iter()
            .map(|(key, _)| key)
            .collect::<Vec<_>>()
    };
    let pairs = wanted.code.iter().zip(&found.code).enumerate();
    let other = pairs.filter_map(|(i, items)| match items {
        (Item::Instruction(a), Item::Instruction(b)) => {
            let differs = a != b && (a.op != b.op || layout(a) != layout(b));
            differs.then_some(i)
        }
        _ => None,
    });
    other.collect()
}

/// Whether the text has to declare all labels: those that the assembler makes are others.
fn labels_differ(wanted: &Body<'_>, found: &Body<'_>) -> bool {
    let pairs = wanted.labels.iter().zip(&found.labels);
    let differ = |(a, b): (&Label<'_>, &Label<'_>)| {
        a.kind != b.kind
            || !a.attributes.is_empty()
            || wanted.string(a.name) != found.string(b.name)
            || wanted.strings == found.strings && a.name != b.name
    };
    wanted.labels.len() != found.labels.len()
        || pairs.into_iter().any(differ)
        || !label_ids(wanted).eq(label_ids(found))
}

/// Notes what still differs at the lines that it belongs to.
fn differences(object: &Object<'_>, wanted: &Routine<'_>, found: &Routine<'_>, notes: &mut Notes) {
    let (Some(a), Some(b)) = (wanted.body(), found.body()) else {
        return;
    };
    let strings = Pool {
        strings: &b.strings,
        stated: a.strings.len(),
    };
    let (mut x, mut y) = (a.clone(), b.clone());
    let (mut x_linkage, mut y_linkage) = (wanted.linkage, found.linkage);
    let changes = difference(
        &mut RoutineNumbers {
            body: &mut x,
            linkage: &mut x_linkage,
        },
        &mut RoutineNumbers {
            body: &mut y,
            linkage: &mut y_linkage,
        },
        strings,
    );
    if let Some(changes) = changes {
        let line = alloc::format!("//@ routine{changes}\n");
        notes.lines.extend_from_slice(line.as_bytes());
    }
    let mut note = |place, changes: Option<String>| {
        if let Some(changes) = changes {
            notes.trailing.insert(place, changes);
        }
    };
    for (i, (a, b)) in x.variables.iter_mut().zip(&mut y.variables).enumerate() {
        note(Place::Variable(i), difference(a, b, strings));
    }
    type Of = fn(usize) -> Place;
    let tables: [(&mut Vec<Declaration<'_>>, &mut Vec<Declaration<'_>>, Of); 4] = [
        (&mut x.addresses, &mut y.addresses, Place::Address),
        (&mut x.predicates, &mut y.predicates, Place::Predicate),
        (&mut x.samplers, &mut y.samplers, Place::Sampler),
        (&mut x.surfaces, &mut y.surfaces, Place::Surface),
    ];
    for (wanted, found, place) in tables {
        for (i, (a, b)) in wanted.iter_mut().zip(found).enumerate() {
            note(place(i), difference(a, b, strings));
        }
    }
    for (i, (a, b)) in x.labels.iter_mut().zip(&mut y.labels).enumerate() {
        note(Place::Label(i), difference(a, b, strings));
    }
    for (i, (a, b)) in x.attributes.iter_mut().zip(&mut y.attributes).enumerate() {
        note(Place::Attribute(i), difference(a, b, strings));
    }
    let format = object.format();
    for (i, (a, b)) in x.code.iter_mut().zip(&mut y.code).enumerate() {
        let (Item::Instruction(a), Item::Instruction(b)) = (a, b) else {
            continue;
        };
        if a == b && !strings.has_added(b) {
            continue;
        }
        let def = a.def();
        let [mut a, mut b] = [a, b].map(|i| InstructionNumbers {
            fields: &mut i.fields,
            def,
            format,
        });
        note(Place::Item(i), difference(&mut a, &mut b, strings));
    }
}

/// What a slot holds.
#[derive(PartialEq)]
enum Held {
    Bits(u32),
    Whole(u32),
    Name(u32),
    Bytes(Vec<u8>),
}

fn held<'a>(record: &mut dyn Numbers<'a>) -> Vec<(Key, Held)> {
    let mut all = Vec::new();
    record.visit(&mut |key, slot| {
        let held = match slot {
            Slot::Bits(n) => Held::Bits(*n),
            Slot::Whole(n) => Held::Whole(*n),
            Slot::Name(n) => Held::Name(*n),
            Slot::Bytes(bytes) => Held::Bytes(bytes.to_vec()),
        };
        all.push((key, held));
    });
    all
}

/// The strings that the assembler has in the end.
#[derive(Clone, Copy)]
struct Pool<'p> {
    strings: &'p [Cow<'p, [u8]>],
    /// Those that the text states. Behind them are names that it makes distinct, which have to go again.
    stated: usize,
}

impl Pool<'_> {
    fn get(&self, id: u32) -> Option<&[u8]> {
        let text = self.strings.get(usize::try_from(id).ok()?)?;
        Some(text.as_ref())
    }

    /// Whether the string came with a name. What is wanted may have its number by chance, which then points behind the
    /// pool.
    fn is_added(&self, id: u32) -> bool {
        usize::try_from(id).is_ok_and(|i| i >= self.stated) && self.get(id).is_some()
    }

    fn has_added(&self, instruction: &Instruction) -> bool {
        instruction.fields.iter().any(|field| match field.value {
            Value::String(id) => self.is_added(id.0),
            _ => false,
        })
    }
}

/// The changes that make the wanted record of the one that was found; `None` where there are none.
fn difference<'a, 'b>(
    wanted: &mut dyn Numbers<'a>,
    found: &mut dyn Numbers<'b>,
    strings: Pool<'_>,
) -> Option<String> {
    let (wanted, found) = (held(wanted), held(found));
    let mut text = String::new();
    let added = |held: &Held| matches!(held, Held::Name(id) if strings.is_added(*id));
    let pairs = wanted.iter().zip(&found);
    for ((key, wanted), (_, found)) in pairs.filter(|(a, b)| a != b || added(&b.1)) {
        text.push(' ');
        text.push_str(&key.to_string());
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
            (Held::Whole(from), Held::Whole(to)) => write!(text, "={from}>{to}"),
            (Held::Name(from), Held::Name(to)) => {
                let mut line = Line::new();
                line.quoted(strings.get(*from).unwrap_or_default().iter().copied());
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
            _ => Ok(()),
        };
    }
    (!text.is_empty()).then_some(text)
}
