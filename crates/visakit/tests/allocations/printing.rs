//! Printing needs no memory for a line.

#![allow(missing_docs, clippy::unwrap_used)]

use visakit::text::{Form, LineKind, Options, Output, Printer};

/// The form of Intel's printer.
fn intel() -> Options {
    Options {
        form: Form::Intel,
        ..Options::default()
    }
}

/// Counts lines and forgets them.
#[derive(Default)]
struct Counter(u64);

impl Output for Counter {
    type Error = std::convert::Infallible;

    fn line(&mut self, _: LineKind, _: &[u8]) -> Result<(), Self::Error> {
        self.0 += 1;
        Ok(())
    }
}

#[test]
fn lines_are_printed_without_allocating() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/objects/images_dg2_v41.isa"
    );
    let bytes = std::fs::read(path).unwrap();
    let object = visakit::parse::read(&bytes).unwrap();
    let mut lines = Counter::default();
    let used = allocation_counter::measure(|| {
        let printer = Printer::new(&object, intel());
        for (id, _) in object.routines() {
            let Ok(()) = printer.routine(id, &mut lines);
        }
    });
    assert!(lines.0 > 400);
    assert!(used.count_total < 20, "{} allocations", used.count_total);
}
