//! Records as lists of named numbers, after their layouts.
//!
//! What the language cannot say is said number by number. Their names and their order are those of
//! the layouts, which are written down once, beside the operands.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;
use visakit_isa::object::{Attribute, Declaration, Label, Variable};
use visakit_isa::table::FieldKind;
use visakit_isa::wire::{Derived, Sink, Source, Undescribed, Width};
use visakit_isa::{Field, Format, Value};

/// The name of a number: `region`, `dst.region`, `labels[2]`, `attributes[0].value`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    /// What it is part of, empty for the whole.
    pub(crate) group: &'static str,
    /// Which entry of a list.
    pub(crate) index: Option<usize>,
    /// The number itself, empty where the group is one number.
    pub(crate) name: &'static str,
}

impl Key {
    pub(crate) const fn of(name: &'static str) -> Self {
        Self {
            group: "",
            index: None,
            name,
        }
    }

    /// Whether the number is a name, an index or a count, which only makes sense as a whole. The
    /// others are bits.
    const fn is_whole(kind: &str) -> bool {
        matches!(
            kind.as_bytes(),
            b"variable"
                | b"address"
                | b"label"
                | b"label list"
                | b"surface"
                | b"sampler"
                | b"index"
                | b"row"
                | b"column"
                | b"offset"
                | b"address_offset"
        )
    }
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

/// A number or bytes of a record, to be looked at or changed.
#[derive(Debug)]
pub(crate) enum Slot<'r, 'a> {
    /// A word of bits.
    Bits(&'r mut u32),
    /// An index, a count or another number that only makes sense as a whole.
    Whole(&'r mut u32),
    /// The index of a string.
    Name(&'r mut u32),
    /// Bytes.
    Bytes(&'r mut Cow<'a, [u8]>),
}

/// A record whose numbers can be visited. A visitor must not leave a number that does not fit;
/// such numbers are cut.
pub(crate) trait Numbers<'a> {
    /// Shows every number, in order.
    fn visit(&mut self, see: &mut dyn FnMut(Key, Slot<'_, 'a>));
}

/// Shows a number that is narrower than 32 bits.
fn narrow<T: TryFrom<u32> + Into<u32> + Copy>(number: &mut T, see: impl FnOnce(&mut u32)) {
    let mut wide = (*number).into();
    see(&mut wide);
    if let Ok(fits) = T::try_from(wide) {
        *number = fits;
    }
}

impl<'a> Numbers<'a> for Attribute<'a> {
    fn visit(&mut self, see: &mut dyn FnMut(Key, Slot<'_, 'a>)) {
        see(Key::of("name"), Slot::Name(&mut self.name.0));
        see(Key::of("value"), Slot::Bytes(&mut self.value));
    }
}

impl<'a> Numbers<'a> for Vec<Attribute<'a>> {
    fn visit(&mut self, see: &mut dyn FnMut(Key, Slot<'_, 'a>)) {
        for (i, attribute) in self.iter_mut().enumerate() {
            attribute.visit(&mut |key, slot| {
                let key = Key {
                    group: "attributes",
                    index: Some(i),
                    ..key
                };
                see(key, slot);
            });
        }
    }
}

impl<'a> Numbers<'a> for Variable<'a> {
    fn visit(&mut self, see: &mut dyn FnMut(Key, Slot<'_, 'a>)) {
        see(Key::of("name"), Slot::Name(&mut self.name.0));
        let bits = |n: &mut u32| see(Key::of("properties"), Slot::Bits(n));
        narrow(&mut self.properties.0, bits);
        see(Key::of("alias"), Slot::Whole(&mut self.alias.0));
        let whole = |n: &mut u32| see(Key::of("alias_offset"), Slot::Whole(n));
        narrow(&mut self.alias_offset, whole);
        let whole = |n: &mut u32| see(Key::of("alias_scope"), Slot::Whole(n));
        narrow(&mut self.alias_scope, whole);
        self.attributes.visit(see);
    }
}

impl<'a> Numbers<'a> for Declaration<'a> {
    fn visit(&mut self, see: &mut dyn FnMut(Key, Slot<'_, 'a>)) {
        see(Key::of("name"), Slot::Name(&mut self.name.0));
        self.attributes.visit(see);
    }
}

impl<'a> Numbers<'a> for Label<'a> {
    fn visit(&mut self, see: &mut dyn FnMut(Key, Slot<'_, 'a>)) {
        see(Key::of("name"), Slot::Name(&mut self.name.0));
        let whole = |n: &mut u32| see(Key::of("kind"), Slot::Whole(n));
        narrow(&mut self.kind.0, whole);
        self.attributes.visit(see);
    }
}

/// The numbers of a field of an instruction.
#[derive(Debug)]
pub(crate) struct FieldNumbers<'f> {
    pub(crate) field: &'f mut Field,
    pub(crate) kind: FieldKind,
    /// Which entry of a list it is.
    pub(crate) index: Option<usize>,
    pub(crate) format: Format,
}

impl<'a> Numbers<'a> for FieldNumbers<'_> {
    fn visit(&mut self, see: &mut dyn FnMut(Key, Slot<'_, 'a>)) {
        let Some(mut numbers) = numbers(self.kind, &self.field.value, self.format) else {
            return;
        };
        let before = numbers.clone();
        for (name, number) in &mut numbers {
            let key = self.key(name);
            let slot = match *name {
                "string" | "string16" => Slot::Name(number),
                name if Key::is_whole(name) => Slot::Whole(number),
                _ => Slot::Bits(number),
            };
            see(key, slot);
        }
        if numbers != before
            && let Some(value) = value(self.kind, self.format, |i, _, _| {
                numbers.get(i).map(|(_, n)| *n)
            })
        {
            self.field.value = value;
        }
    }
}

impl FieldNumbers<'_> {
    fn key(&self, name: &'static str) -> Key {
        Key {
            group: self.field.name.as_str(),
            index: self.index,
            name: part(self.kind, name),
        }
    }
}

/// The name of a number within its field: nothing where the field is that number.
pub(crate) const fn part(kind: FieldKind, name: &'static str) -> &'static str {
    match kind {
        FieldKind::Vector | FieldKind::Raw | FieldKind::Raws => name,
        _ => "",
    }
}

/// The numbers of a value with their names; `None` where the format cannot hold it.
pub(crate) fn numbers(
    kind: FieldKind,
    value: &Value,
    format: Format,
) -> Option<Vec<(&'static str, u32)>> {
    let mut list = List {
        format,
        numbers: Vec::new(),
    };
    value.write(kind, &mut list).ok()?;
    Some(list.numbers)
}

/// The value whose numbers `next` gives: their place, name and width come in.
pub(crate) fn value(
    kind: FieldKind,
    format: Format,
    next: impl FnMut(usize, &'static str, Width) -> Option<u32>,
) -> Option<Value> {
    let mut feed = Feed {
        format,
        count: 0,
        next,
    };
    Value::read(kind, &mut feed).ok()
}

struct List {
    format: Format,
    numbers: Vec<(&'static str, u32)>,
}

impl Sink for List {
    type Error = ();

    fn format(&self) -> Format {
        self.format
    }

    fn number(&mut self, name: &'static str, _: Width, value: u32) -> Result<(), ()> {
        self.numbers.push((name, value));
        Ok(())
    }

    fn bytes(&mut self, _: &'static str, _: &[u8]) -> Result<(), ()> {
        Err(())
    }

    fn text(&mut self, _: &'static str, _: &[u8]) -> Result<(), ()> {
        Err(())
    }

    fn derived(&mut self, _: Derived) -> Result<(), ()> {
        Err(())
    }

    fn count(&mut self, _: &'static str, _: Width, _: usize) -> Result<(), ()> {
        Err(())
    }

    fn mark_inputs(&mut self) {}

    fn enter(&mut self, _: &'static str, _: Option<u32>) {}

    fn leave(&mut self) {}

    fn absent(&mut self, _: &'static str) -> Result<(), ()> {
        Err(())
    }
}

struct Feed<F> {
    format: Format,
    count: usize,
    next: F,
}

impl<'a, F: FnMut(usize, &'static str, Width) -> Option<u32>> Source<'a> for Feed<F> {
    type Error = ();

    fn format(&self) -> Format {
        self.format
    }

    fn number(&mut self, name: &'static str, width: Width) -> Result<u32, ()> {
        let number = (self.next)(self.count, name, width).ok_or(())?;
        self.count += 1;
        Ok(number)
    }

    fn bytes(&mut self, _: &'static str, _: u32) -> Result<&'a [u8], ()> {
        Err(())
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
