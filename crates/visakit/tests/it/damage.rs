//! Damaged objects that once came out of lenient reading changed.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use visakit::parse::{Container, ErrorKind};
use visakit::verify::{Outcome, roundtrip};
use visakit::{ReadOptions, parse};
use visakit_testing::layouts::cases;

const LENIENT: ReadOptions = ReadOptions {
    lenient: true,
    dialect: None,
};

/// The header states a routine that extends past the end of the file, while the numbers inside the
/// routine agree with its content.
#[test]
fn a_stated_size_beyond_the_file_is_kept() {
    for case in cases().iter().filter(|case| case.variant == "-") {
        let container = Container::parse(&case.bytes).unwrap();
        let place = container.extents()[0];
        let size = usize::try_from(place.stated_at).unwrap() + 4;
        let mut bytes = case.bytes.clone();
        bytes[size + 1] += 1;
        let decoded = parse::read_with(&bytes, LENIENT).unwrap();
        // The content states where the routine ends.
        assert!(matches!(
            decoded.errors[0].kind(),
            ErrorKind::Inconsistent { .. }
        ));
        assert!(decoded.object.kernels[0].body().is_some());
        let outcome = roundtrip(bytes, LENIENT);
        assert!(
            matches!(outcome, Outcome::Identical(_)),
            "{}: {outcome:?}",
            case.place
        );
    }
}

/// An error names a routine of a name of any length, and keeps the beginning of it.
#[test]
fn errors_keep_the_begin_of_a_long_name() {
    use visakit::isa::object::{Body, Object, Routine};
    use visakit::isa::{Dialect, Version};
    for (letter, kept) in [("n", 120), ("ñ", 60), ("名", 40)] {
        let name = letter.repeat(10_000);
        let mut object = Object::new(Version::V4_1, Dialect::Writer2018);
        let routine = Routine::new(name.clone().into_bytes(), Body::default());
        object.kernels.push(routine);
        // The body names a string that is not there.
        let bytes = visakit::encode::write(&object).unwrap();
        let error = parse::read(&bytes).unwrap_err();
        let (_, found) = error.context().routine.clone().unwrap();
        assert_eq!(found, format!("{}…", letter.repeat(kept)));
    }
}
