//! Rows of files that are not plain objects.

use flate2::write::GzEncoder;
use std::io::Write;
use visakit_corpus::{Select, Source, Table, Tables, fill, fill_file};
use visakit_launch::Reading;

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(visakit_testing::fixtures().join(name)).unwrap_or_default()
}

/// The numbers of rows: objects, routines, instructions, operands, declarations, inputs,
/// attributes.
fn counts(tables: &Tables) -> [usize; 5] {
    [
        tables.objects.rows(),
        tables.routines.rows(),
        tables.instructions.rows(),
        tables.declarations.rows(),
        tables.inputs.rows(),
    ]
}

fn rows_of(name: &str, bytes: &[u8]) -> Result<[usize; 5], String> {
    let mut tables = Tables::default();
    let source = Source::new(name, bytes);
    let filled = fill_file(&source, &Reading::default(), Select::ALL, &mut tables);
    assert_eq!(tables.objects.rows(), 1, "each file has a row");
    match filled {
        Ok(()) => Ok(counts(&tables)),
        Err(errors) => Err(errors.first().map(ToString::to_string).unwrap_or_default()),
    }
}

#[test]
fn a_text_has_the_rows_of_the_object_that_it_makes() {
    let text = fixture("kernels/blur.dg2.visaasm");
    let object = visakit_text::asm::assemble(&text, &visakit_text::asm::Options::default());
    let object = object.unwrap_or_else(|errors| panic!("{errors}"));
    let bytes = visakit_encode::write(&object).unwrap_or_default();
    let mut tables = Tables::default();
    fill(&Source::new("blur.isa", &bytes), Select::ALL, &mut tables)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(rows_of("blur.visaasm", &text), Ok(counts(&tables)));
}

#[test]
fn what_is_packed_has_the_rows_of_what_is_in_it() {
    let object = fixture("objects/subgroups_skl_v36.isa");
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&object).unwrap_or_default();
    let packed = packed.finish().unwrap_or_default();
    assert_eq!(rows_of("k.isa.gz", &packed), rows_of("k.isa", &object));
}

#[test]
fn a_file_without_a_program_has_a_row_that_says_why() {
    let error = rows_of("k.visaasm", b".version 4.1\n.kernel \"k\"\n    nonsense\n");
    assert!(error.is_err_and(|e| e.contains("nonsense")));
    let error = rows_of("k.spv", b"\x03\x02\x23\x07\0\0\x01\0\0\0\0\0\0\0\0\0");
    assert!(error.is_err_and(|e| e.contains("SPIR-V")));
    assert!(rows_of("empty", b"").is_err());
}
