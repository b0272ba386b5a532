//! Damaged objects that once came out of lenient reading changed.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod common;

use common::cases;
use visakit::parse::{Container, ErrorKind};
use visakit::verify::{Outcome, roundtrip};
use visakit::{ReadOptions, parse};

const LENIENT: ReadOptions = ReadOptions {
    lenient: true,
    dialect: None,
};

/// The header states a routine that reaches beyond the end of the file, while the numbers inside
/// of the routine agree with what is there.
#[test]
fn a_stated_size_beyond_the_file_is_kept() {
    for case in cases().iter().filter(|case| case.variant == "-") {
        let container = Container::parse(&case.bytes).unwrap();
        let place = container.places()[0];
        let size = usize::try_from(place.stated_at).unwrap() + 4;
        let mut bytes = case.bytes.clone();
        bytes[size + 1] += 1;
        let decoded = parse::read_with(&bytes, LENIENT).unwrap();
        assert!(matches!(
            decoded.faults[0].kind(),
            ErrorKind::OutsideOfFile { .. }
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
