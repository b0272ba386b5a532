//! Incremental edits, and texts that are anything but right.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use visakit_language::{Document, Encoding, Position};

const TEXTS: [&str; 4] = [
    ".version 4.1\n.kernel \"k\"\n.decl V1 v_type=G type=ud num_elts=8\n/* a\nb */ .decl V2 \\\n v_type=G type=d \\\n num_elts=8\nL:\n{\n.decl V1 v_type=P num_elts=8\n    (V1) mov (M1, 8) V2(0,0)<1> %r0(0,0)<1;1,0> // é€𝄞\n}\n    goto (M1, 8) L\n    ret (M1, 1)\n",
    "\u{feff}.version 3.6\r\n.kernel \"ä\"\r\n.decl A v_type=G type=ud num_elts=8\r\nmov (8) A(0,0)<1> 0x1:ud\r\n",
    "",
    ".kernel k\n.function \"f\"\nf:\n call (M1, 16) f\n.decl\n.decl V\n(",
];

const PIECES: [&str; 22] = [
    "\n",
    "/*",
    "*/",
    "//",
    "\\\n",
    "\"",
    "{",
    "}",
    ".decl ",
    "V1",
    "é",
    "𝄞",
    "(",
    ")",
    ":",
    "L:",
    "\r\n",
    ".kernel \"x\"\n",
    " ",
    "mov (M1, 8) ",
    "<",
    "\\\r\n",
];

fn below(random: &mut Xoshiro256PlusPlus, end: usize) -> usize {
    usize::try_from(random.next_u64() % (end as u64 + 1)).unwrap()
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn facts(document: &Document) -> String {
    let lines: Vec<usize> = (0..document.line_count())
        .map(|l| document.line_start(l))
        .collect();
    let colours = document.highlights(0..document.line_count());
    format!(
        "{lines:?}\n{:?}\n{:?}\n{colours:?}",
        document.outline(),
        document.folds()
    )
}

/// After any edits a document is what a new one of its text is.
#[test]
fn edited_documents_are_as_new_ones() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    for round in 0..400 {
        let mut document = Document::new(TEXTS[round % TEXTS.len()]);
        for _ in 0..8 {
            let text = document.text();
            let start = boundary(text, below(&mut random, text.len()));
            let length = below(&mut random, 12);
            let end = boundary(text, (start + length).min(text.len()));
            let piece = PIECES[below(&mut random, PIECES.len() - 1)];
            let before = text.to_owned();
            document.edit(start..end, piece).unwrap();
            let fresh = Document::new(document.text());
            assert_eq!(
                facts(&document),
                facts(&fresh),
                "{before:?} with {piece:?} at {start}..{end}"
            );
        }
    }
}

/// Every question at every place of broken texts.
#[test]
fn no_text_and_no_place_is_too_strange() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    for round in 0..60 {
        let mut document = Document::new(TEXTS[round % TEXTS.len()]);
        for _ in 0..round / 6 {
            let at = boundary(document.text(), below(&mut random, document.text().len()));
            document
                .edit(at..at, PIECES[below(&mut random, PIECES.len() - 1)])
                .unwrap();
        }
        for at in 0..document.text().len() + 3 {
            let _ = document.hover(at);
            let (range, _) = document.complete(at);
            assert!(range.start <= range.end);
            let _ = (document.references(at), document.rename(at, "x1"));
            let _ = document.fixes(at..at + 1);
        }
        for problem in document.problems() {
            assert!(
                problem.span.end <= document.text().len() && problem.span.start <= problem.span.end
            );
        }
        let _ = (
            document.format(),
            document.hints(0..usize::MAX),
            document.lenses(),
        );
    }
}

#[test]
fn places_that_are_none_are_refused() {
    let mut document = Document::new("é\n");
    assert!(document.edit(0..1, "x").is_err());
    assert!(document.edit(2..9, "x").is_err());
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 2..0;
    assert!(document.edit(reversed, "x").is_err());
    assert_eq!(document.text(), "é\n");
    document.edit(0..2, "").unwrap();
    assert_eq!(document.text(), "\n");
}

#[test]
fn columns_count_what_the_encoding_says() {
    let document = Document::new("a\né𝄞b\r\nc");
    for (encoding, columns) in [
        (Encoding::Utf8, [0, 2, 6, 7]),
        (Encoding::Utf16, [0, 1, 3, 4]),
        (Encoding::Utf32, [0, 1, 2, 3]),
    ] {
        for (offset, column) in [2, 4, 8, 9].into_iter().zip(columns) {
            let place = Position { line: 1, column };
            assert_eq!(document.position(offset, encoding), place);
            assert_eq!(document.offset(place, encoding), offset);
        }
        // Past the end of the line, and of the text.
        assert_eq!(
            document.offset(
                Position {
                    line: 1,
                    column: 99
                },
                encoding
            ),
            9
        );
        assert_eq!(
            document.offset(Position { line: 9, column: 0 }, encoding),
            12
        );
    }
    // The second half of a pair.
    assert_eq!(
        document.offset(Position { line: 1, column: 2 }, Encoding::Utf16),
        4
    );
}

#[test]
fn only_what_changes_is_lexed() {
    let mut text = String::from(".kernel \"k\"\n");
    text.extend(std::iter::repeat_n(
        "    mov (M1, 8) V1(0,0)<1> 0x1:ud\n",
        5000,
    ));
    let mut document = Document::new(text);
    let before = document.lexed_lines();
    let at = document.line_start(2500) + 12;
    document.edit(at..at, "x").unwrap();
    assert_eq!(document.lexed_lines() - before, 1);
    document.edit(at..at + 1, "\n\n").unwrap();
    assert_eq!(document.lexed_lines() - before, 4);
}
