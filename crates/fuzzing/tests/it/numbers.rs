//! A wrong number of the header costs at most the part that it locates.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

use crate::property::{Numbers, object};
use proptest::prelude::*;
use proptest::sample::Index;
use visakit::isa::object::{Content, NativeCode, Object};
use visakit::isa::{Dialect, Version};
use visakit::parse::{Container, ExtentId};

/// An object whose routines have different names, which their bodies repeat, as compilers write them.
fn named(numbers: &[u64], version: Version) -> Object<'static> {
    let mut n = Numbers(numbers.iter());
    let mut whole = object(&mut n, version, Dialect::default());
    for _ in 0..2 {
        let more = object(&mut n, version, Dialect::default());
        whole.kernels.extend(more.kernels);
        whole.functions.extend(more.functions);
    }
    for (number, (_, routine)) in whole.routines_mut().enumerate() {
        let name = format!("routine {number}").into_bytes();
        let body = routine.body_mut().unwrap();
        body.strings[body.name.0 as usize] = name.clone().into();
        routine.name = name.into();
    }
    whole
}

fn lenient() -> visakit::ReadOptions {
    visakit::ReadOptions {
        lenient: true,
        dialect: Some(Dialect::default()),
    }
}

/// The content of every routine, and the native code of every kernel.
type Parts<'a> = (
    Vec<Option<&'a Content<'a>>>,
    Vec<Option<&'a NativeCode<'a>>>,
);

/// All parts but the one whose place is in doubt.
fn parts<'a>(object: &'a Object<'a>, but: Option<ExtentId>) -> Parts<'a> {
    let routines = object
        .routines()
        .map(|(id, routine)| (but != Some(ExtentId::Routine(id))).then_some(&routine.content));
    let kernels = object.kernels.iter().enumerate();
    let binaries = kernels.flat_map(|(kernel, routine)| {
        let binaries = routine.binaries.iter().enumerate();
        binaries.map(move |(index, binary)| {
            (but != Some(ExtentId::Binary { kernel, index })).then_some(&binary.code)
        })
    });
    (routines.collect(), binaries.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn one_wrong_number_leaves_the_other_parts(
        version in any::<Index>(),
        numbers in proptest::collection::vec(any::<u64>(), 0..4000),
        wrong in proptest::collection::vec((any::<Index>(), any::<u32>()), 16),
    ) {
        let version = *version.get(&Version::SUPPORTED);
        let bytes = visakit::encode::write(&named(&numbers, version)).unwrap();
        let original = visakit::parse::read_with(&bytes, lenient()).unwrap();
        prop_assert!(original.errors.is_empty());
        let container = Container::parse(&bytes).unwrap();
        // Every number of the header: its place, its part, and whether it is the offset.
        let places: Vec<(usize, ExtentId, bool)> = container
            .extents()
            .iter()
            .flat_map(|extent| {
                let inputs = extent.input_offset.map(|_| 2);
                let numbers = [0, 1].into_iter().chain(inputs);
                numbers.map(|n| (extent.stated_at as usize + 4 * n, extent.id, n == 0))
            })
            .collect();
        if places.is_empty() {
            return Ok(());
        }
        for (which, value) in wrong {
            let (at, id, offset) = *which.get(&places);
            let stated = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let length = bytes.len() as u32;
            let value = match value % 6 {
                0 => 0,
                1 => stated.wrapping_add(value >> 29),
                2 => stated.wrapping_sub(value >> 29),
                3 => value % (length + 1),
                4 => length.wrapping_add(value >> 20),
                _ => value,
            };
            let mut damaged = bytes.clone();
            damaged[at..at + 4].copy_from_slice(&value.to_le_bytes());
            let read = visakit::parse::read_with(&damaged, lenient()).unwrap();
            prop_assert_eq!(&visakit::encode::write(&read.object).unwrap(), &damaged);
            let binary = matches!(id, ExtentId::Binary { .. });
            let lost = (offset || binary).then_some(id);
            let (routines, natives) = parts(&read.object, lost);
            let (all, codes) = parts(&original.object, lost);
            let told = format!("{id:?} at {at:#x}: {stated} is {value}, {:?}", read.errors);
            prop_assert!(routines == all, "{told}");
            if !(binary && offset) {
                prop_assert!(natives == codes, "{told}");
            }
        }
    }
}
