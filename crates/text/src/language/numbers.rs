//! Records as lists of named numbers, according to their layouts.
//!
//! What the language cannot express is written number by number. Names, order and meaning of the
//! numbers are those of the layouts, which are defined once, beside the records.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use visakit_isa::object::{Attribute, Body, Declaration, Label, Linkage, Variable};
use visakit_isa::table::{FieldKind, InstructionDef};
use visakit_isa::wire::{Derived, Meaning, Record, Sink, Source, Undescribed, Width};
use visakit_isa::{Field, Format, Value};

/// The name of a number: `region`, `dst.region`, `labels[2]`, `attributes[0].value`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Key {
    /// What it is part of, empty for the whole.
    group: &'static str,
    /// Which entry of a list.
    index: Option<u32>,
    /// The number itself, empty where the group is one number.
    name: &'static str,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.group)?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        if !self.group.is_empty() && !self.name.is_empty() {
            f.write_str(".")?;
        }
        f.write_str(self.name)
    }
}

/// What a record holds under a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Held {
    /// A word of bits or a plain number.
    Bits(u32),
    /// The index of an entry of a table.
    Index(u32),
    /// The index of a string.
    Name(u32),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Held {
    /// The number, 0 for bytes.
    pub(crate) const fn number(&self) -> u32 {
        match self {
            Self::Bits(n) | Self::Index(n) | Self::Name(n) => *n,
            Self::Bytes(_) => 0,
        }
    }

    /// A copy with another number.
    fn with(&self, number: u32) -> Self {
        match self {
            Self::Bits(_) => Self::Bits(number),
            Self::Index(_) => Self::Index(number),
            Self::Name(_) => Self::Name(number),
            Self::Bytes(bytes) => Self::Bytes(bytes.clone()),
        }
    }
}

/// The numbers of a record in the order of its layout, with their keys.
pub(crate) type Numbers = Vec<(Key, Held)>;

/// A record whose numbers can be shown and changed one by one.
pub(crate) trait Numbered {
    /// All numbers.
    fn numbers(&self, format: Format) -> Numbers;

    /// Gives the number under a key another value; a value that does not fit is truncated.
    fn set(&mut self, format: Format, key: Key, held: Held);

    /// The number of this name.
    fn find(&self, format: Format, name: &[u8]) -> Option<(Key, Held)> {
        let mut numbers = self.numbers(format).into_iter();
        numbers.find(|(key, _)| key.to_string().as_bytes() == name)
    }
}

/// A record of the symbol tables. Attributes are the only lists in them.
trait Symbol<'a>: Record<'a> {
    fn attributes(&mut self) -> &mut [Attribute<'a>];
}

macro_rules! symbols {
    ($($ty:ident |$record:ident| $attributes:expr;)*) => {$(
        impl<'a> Symbol<'a> for $ty<'a> {
            fn attributes(&mut self) -> &mut [Attribute<'a>] {
                let $record = self;
                $attributes
            }
        }

        impl Numbered for $ty<'_> {
            fn numbers(&self, format: Format) -> Numbers {
                numbers_of(self, format).shown()
            }

            fn set(&mut self, format: Format, key: Key, held: Held) {
                set_in(self, format, key, &held);
            }
        }
    )*};
}

symbols! {
    Variable |record| &mut record.attributes;
    Declaration |record| &mut record.attributes;
    Label |record| &mut record.attributes;
    Attribute |record| core::slice::from_mut(record);
}

fn numbers_of<'a, R: Record<'a>>(record: &R, format: Format) -> List {
    let mut list = List::new(format);
    // The list ends at what the format cannot hold.
    let _ = record.write(&mut list);
    list
}

fn set_in<'a, R: Symbol<'a>>(record: &mut R, format: Format, key: Key, held: &Held) {
    // Values are not numbers, and are kept aside.
    let values: Vec<Cow<'a, [u8]>> = record
        .attributes()
        .iter_mut()
        .map(|a| core::mem::take(&mut a.value))
        .collect();
    let list = numbers_of(record, format);
    let mut next = list.entries.iter();
    let mut feed = Feed {
        format,
        next: |_, _| {
            let (found, entry) = next.next()?;
            Some(match entry {
                Entry::Count(count) => *count,
                Entry::Held(_) if *found == key => held.number(),
                Entry::Held(held) => held.number(),
            })
        },
    };
    let mut changed = R::default();
    if changed.read(&mut feed).is_ok() {
        *record = changed;
    }
    for (i, (attribute, value)) in record.attributes().iter_mut().zip(values).enumerate() {
        let index = u32::try_from(i).ok();
        attribute.value = match held {
            Held::Bytes(bytes) if key.index.is_none() || key.index == index => {
                Cow::Owned(bytes.clone())
            }
            _ => value,
        };
    }
}

/// The numbers of a routine that are not in any of its tables.
#[derive(Debug)]
pub(crate) struct RoutineNumbers<'r, 't> {
    pub(crate) body: &'r mut Body<'t>,
    pub(crate) linkage: &'r mut Linkage,
}

impl RoutineNumbers<'_, '_> {
    const NAME: &'static str = "name";

    /// The byte-sized ones among them.
    fn bytes(&mut self) -> [(&'static str, &mut u8); 3] {
        [
            ("linkage", &mut self.linkage.0),
            ("input_size", &mut self.body.input_size),
            ("return_value_size", &mut self.body.return_value_size),
        ]
    }

    /// All of them, named by their role in the routine.
    pub(crate) fn of(body: &Body<'_>, linkage: Linkage) -> Numbers {
        let key = |name| Key {
            name,
            ..Key::default()
        };
        let bits = |name, byte: u8| (key(name), Held::Bits(byte.into()));
        Vec::from([
            (key(Self::NAME), Held::Name(body.name.0)),
            bits("linkage", linkage.0),
            bits("input_size", body.input_size),
            bits("return_value_size", body.return_value_size),
        ])
    }
}

impl Numbered for RoutineNumbers<'_, '_> {
    fn numbers(&self, _: Format) -> Numbers {
        Self::of(self.body, *self.linkage)
    }

    fn set(&mut self, _: Format, key: Key, held: Held) {
        if key.name == Self::NAME {
            self.body.name.0 = held.number();
        }
        let byte = u8::try_from(held.number());
        for (name, number) in self.bytes() {
            if let (true, Ok(byte)) = (name == key.name, byte) {
                *number = byte;
            }
        }
    }
}

/// The numbers of an instruction.
#[derive(Debug)]
pub(crate) struct InstructionNumbers<'i> {
    pub(crate) fields: &'i mut [Field],
    pub(crate) def: &'static InstructionDef,
}

impl InstructionNumbers<'_> {
    /// Visits the numbers of the wanted fields, which are given by position in the list.
    fn each(
        fields: &[Field],
        def: &'static InstructionDef,
        format: Format,
        wanted: impl Fn(usize) -> bool,
        mut see: impl FnMut(usize, FieldKind, List),
    ) {
        let mut entry = 0;
        for (i, field) in fields.iter().enumerate() {
            let Some(def) = def.fields.iter().find(|f| f.name == field.name) else {
                continue;
            };
            let mut list = List::new(format);
            list.key.group = field.name.as_str();
            if def.kind.is_list() {
                list.key.index = Some(entry);
                entry += 1;
            }
            if !wanted(i) {
                continue;
            }
            list.is_one = is_one_number(def.kind);
            if field.value.write(def.kind, &mut list).is_ok() {
                see(i, def.kind, list);
            }
        }
    }

    /// The numbers of the wanted fields, which are given by position in the list.
    pub(crate) fn of(
        fields: &[Field],
        def: &'static InstructionDef,
        format: Format,
        wanted: impl Fn(usize) -> bool,
    ) -> Numbers {
        let mut all = Vec::new();
        Self::each(fields, def, format, wanted, |_, _, list| {
            all.extend(list.shown());
        });
        all
    }
}

impl Numbered for InstructionNumbers<'_> {
    fn numbers(&self, format: Format) -> Numbers {
        Self::of(self.fields, self.def, format, |_| true)
    }

    fn set(&mut self, format: Format, key: Key, held: Held) {
        let mut changed = None;
        Self::each(
            self.fields,
            self.def,
            format,
            |_| true,
            |i, kind, list| {
                let mut numbers = list.shown();
                if let Some((_, found)) = numbers.iter_mut().find(|(k, _)| *k == key) {
                    *found = found.with(held.number());
                    let mut next = numbers.iter();
                    let value = value(kind, format, |_, _| next.next().map(|(_, h)| h.number()));
                    changed = value.map(|value| (i, value));
                }
            },
        );
        if let Some((i, value)) = changed
            && let Some(field) = self.fields.get_mut(i)
        {
            field.value = value;
        }
    }
}

/// Whether a field is a single number, which has no name other than that of the field.
pub(crate) const fn is_one_number(kind: FieldKind) -> bool {
    !matches!(kind, FieldKind::Vector | FieldKind::Raw | FieldKind::Raws)
}

/// The name of a number within its field: empty if the field is that number.
pub(crate) const fn part(kind: FieldKind, name: &'static str) -> &'static str {
    if is_one_number(kind) { "" } else { name }
}

/// The numbers of a value with their names; `None` where the format cannot hold it.
pub(crate) fn numbers(
    kind: FieldKind,
    value: &Value,
    format: Format,
) -> Option<Vec<(&'static str, u32)>> {
    let mut list = List::new(format);
    value.write(kind, &mut list).ok()?;
    let named = |(key, held): (Key, Held)| (part(kind, key.name), held.number());
    Some(list.shown().into_iter().map(named).collect())
}

/// The value built from the numbers that `next` returns for a name and a width.
pub(crate) fn value(
    kind: FieldKind,
    format: Format,
    next: impl FnMut(&'static str, Width) -> Option<u32>,
) -> Option<Value> {
    Value::read(kind, &mut Feed { format, next }).ok()
}

/// The little-endian number in `len` bytes, if they can hold it including its sign.
pub(crate) fn shortened(bytes: &[u8], len: usize) -> Option<Vec<u8>> {
    let (kept, cut) = bytes.split_at_checked(len)?;
    let sign = kept.last()? >> 7;
    let fill = if sign == 1 { 0xff } else { 0 };
    cut.iter().all(|b| *b == fill).then(|| kept.to_vec())
}

#[derive(Debug)]
enum Entry {
    Held(Held),
    /// A length or number of entries, derived from the rest.
    Count(u32),
}

/// Collects the numbers as they are written.
struct List {
    format: Format,
    key: Key,
    /// The name of the number is that of the group.
    is_one: bool,
    meaning: Meaning,
    entries: Vec<(Key, Entry)>,
}

impl List {
    fn new(format: Format) -> Self {
        Self {
            format,
            key: Key::default(),
            is_one: false,
            meaning: Meaning::Bits,
            entries: Vec::new(),
        }
    }

    fn push(&mut self, name: &'static str, entry: Entry) {
        let name = if self.is_one { "" } else { name };
        self.entries.push((Key { name, ..self.key }, entry));
    }

    /// The entries without counts.
    fn shown(self) -> Numbers {
        let entries = self.entries.into_iter();
        let held = entries.filter_map(|(key, entry)| match entry {
            Entry::Held(held) => Some((key, held)),
            Entry::Count(_) => None,
        });
        held.collect()
    }
}

impl Sink for List {
    type Error = ();

    fn format(&self) -> Format {
        self.format
    }

    fn number(&mut self, name: &'static str, _: Width, value: u32) -> Result<(), ()> {
        let held = match core::mem::take(&mut self.meaning) {
            Meaning::Bits => Held::Bits(value),
            Meaning::Index => Held::Index(value),
            Meaning::Text => Held::Name(value),
        };
        self.push(name, Entry::Held(held));
        Ok(())
    }

    fn bytes(&mut self, name: &'static str, bytes: &[u8]) -> Result<(), ()> {
        self.push(name, Entry::Held(Held::Bytes(bytes.to_vec())));
        Ok(())
    }

    fn text(&mut self, _: &'static str, _: &[u8]) -> Result<(), ()> {
        Err(())
    }

    fn derived(&mut self, _: Derived) -> Result<(), ()> {
        Err(())
    }

    fn count(&mut self, name: &'static str, _: Width, count: usize) -> Result<(), ()> {
        let count = u32::try_from(count).map_err(|_| ())?;
        self.push(name, Entry::Count(count));
        Ok(())
    }

    fn mark_inputs(&mut self) {}

    fn meaning(&mut self, meaning: Meaning) {
        self.meaning = meaning;
    }

    fn enter(&mut self, name: &'static str, index: Option<u32>) {
        self.key.group = name;
        self.key.index = index;
    }

    fn leave(&mut self) {
        self.key = Key::default();
    }

    fn absent(&mut self, _: &'static str) -> Result<(), ()> {
        Err(())
    }
}

struct Feed<F> {
    format: Format,
    next: F,
}

impl<'a, F: FnMut(&'static str, Width) -> Option<u32>> Source<'a> for Feed<F> {
    type Error = ();

    fn format(&self) -> Format {
        self.format
    }

    fn number(&mut self, name: &'static str, width: Width) -> Result<u32, ()> {
        (self.next)(name, width).ok_or(())
    }

    fn bytes(&mut self, _: &'static str, length: u32) -> Result<&'a [u8], ()> {
        // Values of attributes are kept aside; one that was already taken is empty.
        let Some(0) = (self.next)("bytes", Width::U8).filter(|_| length == 0) else {
            return Err(());
        };
        Ok(&[])
    }

    fn text(&mut self, _: &'static str) -> Result<&'a [u8], ()> {
        Err(())
    }

    fn derived(&mut self, _: Derived) -> Result<(), ()> {
        Err(())
    }

    fn zero(&mut self, _: &'static str, _: Width) -> Result<(), ()> {
        Err(())
    }

    fn mark_inputs(&mut self) {}

    fn invalid(&mut self, _: Undescribed) {}

    fn enter(&mut self, _: &'static str, _: Option<u32>) {}

    fn leave(&mut self) {}
}
