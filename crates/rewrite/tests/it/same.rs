//! Objects that mean the same have no differences, however they are encoded.

use crate::passes::all;
use proptest::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;
use visakit_isa::object::{Attribute, Body, Object};
use visakit_rewrite::rewrite::Rewriter;
use visakit_rewrite::{Change, Error, Location, Reference, Table, diff};
use visakit_testing::layouts::Random;
use visakit_text::{Options, Printer, asm};

/// New numbers of the entries of tables.
#[derive(Default)]
struct Renumbered {
    tables: HashMap<Table, Vec<u32>>,
}

impl Rewriter<'_> for Renumbered {
    fn reference(&mut self, _: Location, reference: &mut Reference) -> Result<(), Error> {
        let new = self.tables.get(&reference.table);
        if let Some(new) = new.and_then(|new| new.get(reference.id as usize)) {
            reference.id = *new;
        }
        Ok(())
    }
}

/// Shuffles a table; returns the new index of each old one.
fn shuffled<T: Clone>(list: &mut [T], random: &mut Random) -> Vec<u32> {
    let mut order: Vec<usize> = (0..list.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    let old = list.to_vec();
    let mut new = vec![0; list.len()];
    for (to, from) in order.into_iter().enumerate() {
        list[to] = old[from].clone();
        new[from] = u32::try_from(to).unwrap();
    }
    new
}

/// Attributes in another order, their numbers in other sizes.
fn reencoded(list: &mut [Attribute<'_>], strings: &[Cow<'_, [u8]>], random: &mut Random) {
    shuffled(list, random);
    for attribute in list {
        let name = strings.get(attribute.name.0 as usize);
        let path = name.is_none_or(|name| Attribute::PATHS.iter().any(|p| p.as_bytes() == &**name));
        let number = attribute
            .number()
            .filter(|_| !attribute.value.is_empty() && !path);
        if let Some(number) = number {
            let bytes = number.to_le_bytes();
            let least = 8 - number.leading_zeros() as usize / 8;
            let size = [1, 2, 4, 8][random.below(4)].max(least.max(1));
            attribute.value = bytes[..size].to_vec().into();
        }
    }
}

/// The tables whose order has no meaning, in another order.
fn reordered(body: &mut Body<'_>, random: &mut Random) {
    let mut renumbered = Renumbered::default();
    let strings = shuffled(&mut body.strings, random);
    let labels = shuffled(&mut body.labels, random);
    renumbered.tables.insert(Table::String, strings);
    renumbered.tables.insert(Table::Label, labels);
    renumbered.body(body).unwrap();
    let Body {
        strings,
        attributes,
        variables,
        ..
    } = body;
    reencoded(attributes, strings, random);
    for variable in variables {
        reencoded(&mut variable.attributes, strings, random);
    }
}

/// Plain text carries no native code.
fn without_native(mut object: Object<'static>) -> Object<'static> {
    object.discard_native_of(|_| true);
    object
}

fn objects(test: &str) -> Vec<(String, Object<'static>)> {
    let read = |path: std::path::PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        let object = visakit_parse::read(&bytes).unwrap().into_owned();
        (path.display().to_string(), without_native(object))
    };
    all(test).into_iter().map(read).collect()
}

/// In a text a name means one thing: the printer renames what has the name of another.
fn is_renamed(change: &Change) -> bool {
    let rest = |side: &Option<(usize, String)>| {
        let (index, text) = side.as_ref()?;
        let (name, rest) = text.split_once(' ')?;
        // An alias is shown with the name of its parent.
        let rest = rest.split(" alias=").next()?;
        Some((*index, name.to_owned(), rest.to_owned()))
    };
    let sides = rest(&change.old).zip(rest(&change.new));
    let declared = Table::ALL.iter().any(|table| table.name() == change.what);
    declared && sides.is_some_and(|((i, _, a), (j, _, b))| (i, a) == (j, b))
}

#[test]
fn text_and_back_is_no_difference() {
    let mut checked = 0;
    for (path, object) in objects("text_and_back_is_no_difference") {
        // Their values are arbitrary, also those of operands that an instruction does not have, which plain text leaves out.
        if path.contains("/synth/") {
            continue;
        }
        let mut text = Vec::new();
        let Ok(()) = Printer::new(&object, Options::default()).object(&mut text);
        let options = asm::Options {
            dialect: Some(object.dialect),
            ..asm::Options::default()
        };
        let Ok(made) = asm::assemble(&text, &options) else {
            continue;
        };
        let found = diff(&object, &made);
        let changes = found.routines.iter().flat_map(|routine| &routine.changes);
        let changes: Vec<_> = changes.filter(|change| !is_renamed(change)).collect();
        assert!(
            found.object.is_empty() && changes.is_empty(),
            "{path}: {:#?} {changes:#?}",
            found.object
        );
        checked += 1;
    }
    assert!(checked > 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_and_encoding_are_no_difference(seed in any::<u64>()) {
        let mut random = Random::of_seed(seed);
        for (path, object) in objects("order_and_encoding_are_no_difference") {
            let mut other = object.clone();
            for (_, routine) in other.routines_mut() {
                reordered(routine.body_mut().unwrap(), &mut random);
            }
            let found = diff(&object, &other);
            prop_assert!(found.is_empty(), "{}: {:#?}", path, found);
        }
    }
}
