//! Texts that Intel's printer made of the fixtures.

use std::fs;
use std::path::Path;
use visakit_text::{Form, Options, Printer};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");

#[test]
fn fixtures_print_as_intels_printer_prints_them() {
    let texts = fs::read_dir(Path::new(FIXTURES).join("texts")).unwrap();
    let mut count = 0;
    for text in texts {
        let text = text.unwrap().path();
        let stem = text.file_stem().unwrap().to_owned();
        let object = Path::new(FIXTURES).join("objects").join(&stem);
        let bytes = fs::read(object.with_extension("isa")).unwrap();
        let object = visakit_parse::read(&bytes).unwrap();
        let wide = stem.to_str().unwrap().contains("_pvc_");
        let options = Options {
            form: Form::Intel,
            grf_bytes: Some(if wide { 64 } else { 32 }),
        };
        let printer = Printer::new(&object, options);
        let mut printed = Vec::new();
        for (id, _) in object.routines() {
            let Ok(()) = printer.routine(id, &mut printed);
        }
        let expected = fs::read(&text).unwrap();
        let same = expected.iter().zip(&printed).take_while(|(a, b)| a == b);
        let offset = same.count();
        assert!(expected == printed, "{stem:?} differs from {offset} on");
        count += 1;
    }
    assert!(count >= 6);
}
