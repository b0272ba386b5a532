//! Source lines of instructions, according to `FILE` and `LOC`.

use visakit_isa::object::{Body, Item, RawItem, SourceFiles, SourceLine};
use visakit_isa::{FieldName, Instruction, Op, StringId, Value};

fn file(name: StringId) -> Item<'static> {
    Instruction::new(Op::FILE)
        .with(FieldName::FileName, Value::String(name))
        .into()
}

fn line(number: u32) -> Item<'static> {
    Instruction::new(Op::LOC)
        .with(FieldName::Line, Value::U32(number))
        .into()
}

fn code() -> Item<'static> {
    Instruction::new(Op::LIFETIME).into()
}

fn lines(files: &mut SourceFiles, body: &Body<'_>) -> Vec<Option<(Option<usize>, u32)>> {
    let lines = files.lines(body).into_iter();
    lines
        .map(|of| of.map(|SourceLine { file, line }| (file, line)))
        .collect()
}

#[test]
fn file_and_line_hold_until_the_next_of_their_kind() {
    let mut body = Body::default();
    let (a, b) = (body.add_string(&b"a.cl"[..]), body.add_string(&b"b.h"[..]));
    body.code = vec![
        code(),
        line(3),
        code(),
        file(a),
        code(),
        // Compilers leave a line out that is the same in the next file.
        file(b),
        code(),
        line(7),
        file(a),
        code(),
    ];
    let mut files = SourceFiles::default();
    let expected = vec![
        None,
        Some((None, 3)),
        Some((None, 3)),
        Some((Some(0), 3)),
        Some((Some(0), 3)),
        Some((Some(1), 3)),
        Some((Some(1), 3)),
        Some((Some(1), 7)),
        Some((Some(0), 7)),
        Some((Some(0), 7)),
    ];
    assert_eq!(lines(&mut files, &body), expected);
    assert_eq!(files.names(), ["a.cl", "b.h"]);
    assert_eq!(files.name(1), Some("b.h"));
    assert_eq!(files.name(2), None);
}

#[test]
fn line_zero_is_no_line() {
    let mut body = Body::default();
    let name = body.add_string(&b"a.cl"[..]);
    body.code = vec![file(name), line(5), code(), line(0), code(), line(6)];
    let mut files = SourceFiles::default();
    let numbers = files
        .lines(&body)
        .into_iter()
        .map(|of| of.map(|of| of.line));
    let numbers: Vec<_> = numbers.collect();
    assert_eq!(numbers, [None, Some(5), Some(5), None, None, Some(6)]);
}

#[test]
fn entries_that_could_not_be_decoded_count() {
    let raw = RawItem {
        bytes: vec![1, 2].into(),
        reason: "damaged".to_owned(),
    };
    let body = Body {
        code: vec![raw.into(), line(1), code()],
        ..Body::default()
    };
    let found = lines(&mut SourceFiles::default(), &body);
    assert_eq!(found, [None, Some((None, 1)), Some((None, 1))]);
}

#[test]
fn files_of_several_routines_have_common_numbers() {
    let mut files = SourceFiles::default();
    for (name, expected) in [("a.cl", 0), ("b.cl", 1), ("a.cl", 0)] {
        let mut body = Body::default();
        // A pool may have a string several times.
        body.add_string(name.as_bytes());
        let id = body.add_string(name.as_bytes());
        body.code = vec![file(id), line(2)];
        let found = lines(&mut files, &body);
        assert_eq!(found, [None, Some((Some(expected), 2))]);
    }
    let missing = Body {
        code: vec![file(StringId(9)), line(2)],
        ..Body::default()
    };
    assert_eq!(lines(&mut files, &missing), [None, Some((None, 2))]);
    assert_eq!(files.names(), ["a.cl", "b.cl"]);
}
