//! Every available text.

use visakit_language::Document;

/// Texts of at most this size; the larger ones only repeat what smaller ones have.
const LARGEST: usize = 200_000;
/// Fewer texts than this are all tested.
const MANY: usize = 500;

/// One of `step` texts of the reference data, or all of the few that are committed.
fn texts(step: usize) -> impl Iterator<Item = (String, String)> {
    let texts = visakit_testing::corpus::texts();
    let step = if texts.len() < MANY { 1 } else { step };
    let texts = texts.into_iter().filter(|(_, text)| text.len() < LARGEST);
    let texts = texts.filter_map(|(name, text)| Some((name, String::from_utf8(text).ok()?)));
    texts.step_by(step)
}

/// Declared words are resolved where they are used: anything that the assembler knows and the lexer does not
/// would be missing here.
#[test]
fn every_operand_of_a_right_text_is_resolved() {
    let mut names = 0;
    for (place, text) in texts(7) {
        let document = Document::new(text);
        if !document.analysis().assembles() {
            continue;
        }
        for entry in document.outline() {
            for symbol in &entry.children {
                let at = symbol.definition.name.start;
                let uses = document.references(at);
                let own = document.text().get(symbol.definition.name.clone());
                assert!(!uses.is_empty(), "{place}: {own:?} at {at}");
                for using in uses {
                    names += 1;
                    let said = document.text().get(using.clone());
                    assert_eq!(said, own, "{place}: {using:?}");
                }
            }
        }
    }
    assert!(names > 1000);
}

/// A variable written by no instruction that names it is not a reference, and vice versa.
#[test]
fn references_are_what_the_assembler_takes_them_for() {
    for (place, text) in texts(31) {
        let document = Document::new(text);
        if !document.analysis().assembles() {
            continue;
        }
        for entry in document.outline() {
            for symbol in entry.children.iter().take(12) {
                let Some(life) = document.life(&symbol.definition) else {
                    continue;
                };
                let uses = document.references(symbol.definition.name.start);
                let used = uses
                    .iter()
                    .any(|range| document.analysis().instruction_at(range.start).is_some());
                assert_eq!(used, life.writes + life.reads > 0, "{place}: {symbol:?}");
            }
        }
    }
}

/// The bytes shown beside the instructions of a routine are those of the object, one after the other.
#[test]
fn hints_are_the_bytes_of_the_object() {
    let mut count = 0;
    for (place, text) in texts(13) {
        let document = Document::new(text);
        let analysis = document.analysis();
        let Ok(object) = visakit_encode::write(analysis.object()) else {
            continue;
        };
        let mut code: Vec<u8> = Vec::new();
        for encoded in analysis.encoded() {
            if encoded.offset == 0 {
                code.clear();
            }
            assert_eq!(encoded.offset, code.len(), "{place}");
            code.extend(&encoded.bytes);
            count += 1;
        }
        let mut found = object.windows(code.len().max(1));
        assert!(
            code.is_empty() || found.any(|bytes| bytes == code),
            "{place}"
        );
    }
    assert!(count > 100);
}

#[test]
fn renamed_texts_make_the_same_object_but_for_the_name() {
    let mut renamed = 0;
    for (place, text) in texts(41) {
        let mut document = Document::new(text);
        if !document.analysis().assembles() {
            continue;
        }
        let before = visakit_encode::write(document.analysis().object()).map(|b| b.len());
        let Some(symbol) = document
            .outline()
            .first()
            .and_then(|r| r.children.last().cloned())
        else {
            continue;
        };
        let old = document.name_of(&symbol.definition);
        let new: String = old
            .chars()
            .map(|c| {
                if c == '_' || c.is_ascii_digit() {
                    'q'
                } else {
                    c
                }
            })
            .collect();
        let Ok(mut edits) = document.rename(symbol.definition.name.start, &new) else {
            continue;
        };
        edits.sort_by_key(|e| std::cmp::Reverse(e.range.start));
        for edit in edits {
            document.edit(edit.range, &edit.text).unwrap();
        }
        assert!(
            document.analysis().assembles(),
            "{place}: {old} as {new}: {:?}",
            document.problems()
        );
        if old.len() == new.len() {
            let after = visakit_encode::write(document.analysis().object()).map(|b| b.len());
            assert_eq!(before.ok(), after.ok(), "{place}: {old} as {new}");
        }
        renamed += 1;
    }
    assert!(renamed > 3);
}

#[test]
fn formatting_makes_the_text_of_the_formatter() {
    for (place, text) in texts(17) {
        let mut document = Document::new(text);
        let Ok(tidy) = visakit_text::format(document.text().as_bytes(), &Default::default()) else {
            assert!(document.format().is_empty());
            continue;
        };
        let mut edits = document.format();
        edits.reverse();
        for edit in edits {
            document.edit(edit.range, &edit.text).unwrap();
        }
        assert_eq!(document.text().as_bytes(), tidy, "{place}");
    }
}

#[test]
fn colours_are_in_order_and_do_not_meet() {
    for (place, text) in texts(11) {
        let document = Document::new(text);
        let mut end = 0;
        for (span, _) in document.highlights(0..document.line_count()) {
            assert!(
                span.start >= end && span.end > span.start,
                "{place}: {span:?}"
            );
            assert!(
                document.text().get(span.clone()).is_some(),
                "{place}: {span:?}"
            );
            end = span.end;
        }
    }
}

#[test]
fn hints_have_every_byte_of_the_code() {
    let path = visakit_testing::fixtures().join("kernels/matmul.pvc.visaasm");
    let document = Document::new(std::fs::read_to_string(path).unwrap());
    let bytes = visakit_encode::write(document.analysis().object()).unwrap();
    let mut code = Vec::new();
    for e in document.analysis().encoded() {
        assert_eq!(e.offset, code.len());
        code.extend_from_slice(&e.bytes);
    }
    assert!(bytes.windows(code.len()).any(|w| w == code));
}
