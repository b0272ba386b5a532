//! The string pool of a routine: its initial strings, and which string a name takes.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use hashbrown::HashMap;
use visakit_isa::object::{Attribute, Body, Item};
use visakit_isa::{Features, Format, StringId, SurfaceId, Value};

use super::symbol::BINDLESS_SAMPLER;

/// A string pool that the text states, and which of its strings the names take.
#[derive(Debug, Default)]
pub(crate) struct Pool<'t> {
    places: HashMap<Cow<'t, [u8]>, Occurrences>,
    /// For each string the next one with the same text, or [`NONE`].
    next: Vec<u32>,
}

/// Where a text occurs in the pool.
#[derive(Clone, Copy, Debug)]
struct Occurrences {
    first: u32,
    last: u32,
    /// The first one not yet taken by a name, or [`NONE`].
    free: u32,
}

const NONE: u32 = u32::MAX;

impl<'t> Pool<'t> {
    /// Adds a stated string; must precede any `take`.
    pub(crate) fn state(&mut self, text: Cow<'t, [u8]>) {
        let index = self.len();
        self.next.push(NONE);
        let places = self.places.entry(text).or_insert(Occurrences {
            first: index,
            last: NONE,
            free: index,
        });
        if let Some(next) = self.next.get_mut(places.last as usize) {
            *next = index;
        }
        places.last = index;
    }

    /// Reserves space for `additional` more strings.
    pub(crate) fn reserve(&mut self, additional: usize) {
        self.places.reserve(additional);
        self.next.reserve(additional);
    }

    /// Marks all strings as not taken.
    pub(crate) fn release(&mut self) {
        for places in self.places.values_mut() {
            places.free = places.first;
        }
    }

    /// The number of stated strings.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.next.len()).unwrap_or(NONE)
    }

    /// The string that the next name with this text takes: the first occurrence not yet taken by a
    /// name, or the first occurrence if all are taken.
    pub(crate) fn take(&mut self, text: &[u8]) -> Option<StringId> {
        let places = self.places.get_mut(text)?;
        let Some(next) = self.next.get(places.free as usize) else {
            return Some(StringId(places.first));
        };
        let taken = places.free;
        places.free = *next;
        Some(StringId(taken))
    }
}

/// The initial strings of a pool that the text does not state: the name of the routine and the names
/// that Intel's assemblers add.
pub(crate) fn initial<'n>(
    name: Cow<'n, [u8]>,
    format: Format,
) -> impl Iterator<Item = Cow<'n, [u8]>> {
    let features = format.features();
    let known = if features.contains(Features::SINCE_4_1) {
        21
    } else if features.contains(Features::SINCE_3_8) {
        20
    } else {
        18
    };
    let variables = format.predefined_variables().iter().take(known);
    let variables = variables.map(|variable| {
        let mut name = Vec::from(*b"%");
        name.extend_from_slice(variable.name.as_bytes());
        Cow::Owned(name)
    });
    let surfaces = (0..format.predefined_surface_count())
        .filter_map(move |id| format.predefined_surface(SurfaceId(id)))
        .map(|surface| Cow::Borrowed(surface.name.as_bytes()));
    core::iter::once(in_pool(name))
        .chain(variables)
        .chain(surfaces)
        .chain(core::iter::once(Cow::Borrowed(BINDLESS_SAMPLER.as_bytes())))
}

/// The name of a routine as the pool repeats it: strings of a pool end at their first NUL, while the
/// list of routines stores the length of the name.
pub(crate) fn in_pool(name: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let Some(end) = name.iter().position(|c| *c == 0) else {
        return name;
    };
    match name {
        Cow::Borrowed(name) => Cow::Borrowed(name.get(..end).unwrap_or(name)),
        Cow::Owned(mut name) => {
            name.truncate(end);
            Cow::Owned(name)
        }
    }
}

/// Visits every index into the string pool.
pub(crate) fn each_string(body: &mut Body<'_>, see: &mut dyn FnMut(&mut StringId)) {
    see(&mut body.name);
    let attributes = |list: &mut Vec<Attribute<'_>>, see: &mut dyn FnMut(&mut StringId)| {
        list.iter_mut().for_each(|a| see(&mut a.name));
    };
    for variable in &mut body.variables {
        see(&mut variable.name);
        attributes(&mut variable.attributes, see);
    }
    let tables = [
        &mut body.addresses,
        &mut body.predicates,
        &mut body.samplers,
        &mut body.surfaces,
    ];
    for declaration in tables.into_iter().flatten() {
        see(&mut declaration.name);
        attributes(&mut declaration.attributes, see);
    }
    for label in &mut body.labels {
        see(&mut label.name);
        attributes(&mut label.attributes, see);
    }
    attributes(&mut body.attributes, see);
    for item in &mut body.code {
        let Item::Instruction(instruction) = item else {
            continue;
        };
        for field in &mut instruction.fields {
            if let Value::String(id) = &mut field.value {
                see(id);
            }
        }
    }
}

/// A string of the pool; empty if there is none.
pub(crate) fn string<'a>(body: &'a Body<'_>, id: StringId) -> &'a [u8] {
    body.string(id).unwrap_or_default()
}
