//! A dump names every byte of a file exactly once.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::ops::Range;
use visakit::ReadOptions;
use visakit::dump::{Content, Selection, Visitor, walk};
use visakit::isa::object::RoutineId;
use visakit::parse::{Container, Error, Extent, InstructionRef};

#[derive(Default)]
struct Ranges {
    fields: Vec<Range<u64>>,
    depth: usize,
    instructions: u64,
    faults: usize,
}

impl<'a> Visitor<'a> for Ranges {
    type Error = Error;

    fn enter(&mut self, _: &str, _: Option<u32>, _: u64) -> Result<(), Error> {
        self.depth += 1;
        Ok(())
    }

    fn leave(&mut self, _: u64) -> Result<(), Error> {
        self.depth -= 1;
        Ok(())
    }

    fn field(&mut self, _: &str, range: Range<u64>, _: &Content<'a>) -> Result<(), Error> {
        self.fields.push(range);
        Ok(())
    }

    fn routine(&mut self, _: RoutineId, _: &[u8], _: &Extent) -> Result<(), Error> {
        self.depth += 1;
        Ok(())
    }

    fn instruction(&mut self, _: u32, _: &InstructionRef<'a>) -> Result<(), Error> {
        self.depth += 1;
        self.instructions += 1;
        Ok(())
    }

    fn fault(&mut self, _: &Error) -> Result<(), Error> {
        self.faults += 1;
        Ok(())
    }
}

fn covers(what: &str, bytes: &[u8], lenient: bool) -> Ranges {
    let options = ReadOptions {
        lenient,
        dialect: None,
    };
    let mut ranges = Ranges::default();
    walk(bytes, options, &Selection::All, &mut ranges)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(ranges.depth, 0, "{what}");
    let mut at = 0;
    for range in &ranges.fields {
        assert_eq!(range.start, at, "{what}: gap or overlap");
        at = range.end;
    }
    assert_eq!(at, bytes.len() as u64, "{what}");
    ranges
}

#[test]
fn every_byte_of_committed_objects_has_a_name() {
    for path in visakit_testing::objects(&visakit_testing::root().join("fixtures/objects")) {
        let bytes = std::fs::read(&path).unwrap();
        let ranges = covers(&path.to_string_lossy(), &bytes, false);
        assert!(ranges.instructions > 0 && ranges.faults == 0);
    }
}

#[test]
fn every_byte_of_cut_objects_has_a_name() {
    for path in visakit_testing::objects(&visakit_testing::root().join("fixtures/objects")) {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.to_string_lossy();
        let header_end = usize::try_from(Container::parse(&bytes).unwrap().header_end()).unwrap();
        for length in (header_end..bytes.len()).step_by(97) {
            let ranges = covers(&name, &bytes[..length], true);
            assert!(ranges.faults > 0, "{name} cut at {length}");
        }
    }
}

#[test]
fn every_byte_of_shipped_objects_has_a_name() {
    let Some(folder) =
        visakit_testing::shared("every_byte_of_shipped_objects_has_a_name", "corpus/isa")
    else {
        return;
    };
    let mut instructions = 0;
    for path in visakit_testing::objects(&folder) {
        let bytes = std::fs::read(&path).unwrap();
        instructions += covers(&path.to_string_lossy(), &bytes, false).instructions;
    }
    assert_eq!(instructions, 153_589);
}
