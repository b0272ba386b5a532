//! Incremental edits, and texts that are anything but right.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::ops::Range;
use visakit_language::{Document, Encoding, Piece, Position};

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

/// After any edits a document equals a new one with the same text.
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

/// Edits of texts of compilers, with edits as people make them: a character, a word from elsewhere, lines that are
/// copied, moved and removed, names that are declared again. Not every edit is followed by queries: caches must survive
/// several.
#[test]
fn edited_texts_of_compilers_are_as_new_ones() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    let texts = visakit_testing::corpus::texts().into_iter();
    let texts = texts.filter(|(_, text)| (500..40_000).contains(&text.len()));
    let texts: Vec<_> = texts
        .filter_map(|(name, text)| Some((name, String::from_utf8(text).ok()?)))
        .collect();
    for round in 0..60 {
        let (name, text) = &texts[below(&mut random, texts.len() - 1)];
        let mut document = Document::new(text.as_str());
        let mut history = Vec::new();
        for step in 0..12 {
            let (range, with) = change(&mut random, &document);
            document.edit(range.clone(), &with).unwrap();
            history.push((range, with));
            if below(&mut random, 2) == 0 {
                continue;
            }
            let fresh = Document::new(document.text());
            let told = format!("{name}, round {round}, step {step}: {history:?}");
            assert!(facts(&document) == facts(&fresh), "{told}");
            assert_eq!(document.problems(), fresh.problems(), "{told}");
            let all = 0..document.text().len();
            assert!(document.hints(all.clone()) == fresh.hints(all), "{told}");
            assert_eq!(document.lenses(), fresh.lenses(), "{told}");
        }
    }
}

/// An edit as people make them.
fn change(random: &mut Xoshiro256PlusPlus, document: &Document) -> (Range<usize>, String) {
    let text = document.text();
    let lines = document.line_count();
    let mut line = || {
        let number = below(random, lines - 1);
        document.line_start(number)..document.line_start(number + 1)
    };
    let (here, there) = (line(), line());
    let kind = below(random, 9);
    let at = boundary(text, here.start + below(random, here.len()));
    let words = |range: &Range<usize>| -> Vec<Range<usize>> {
        let said = text[range.clone()].split(|c: char| !c.is_ascii_alphanumeric());
        let place = |word: &str| {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            start..start + word.len()
        };
        said.filter(|word| !word.is_empty()).map(place).collect()
    };
    match kind {
        0 | 1 => {
            let sign = PIECES[below(random, PIECES.len() - 1)];
            (at..at, sign.to_owned())
        }
        2 => {
            let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
            (at..end, String::new())
        }
        3 => (here, String::new()),
        4 => (here.start..here.start, text[there].to_owned()),
        5 => (
            here.start..here.start,
            text[here.start.min(there.start)..here.start.max(there.start)]
                .chars()
                .take(3000)
                .collect(),
        ),
        6 => (at..at, " ".to_owned()),
        _ => {
            // A word takes the place of another one: variables become others, declarations name others.
            let (own, others) = (words(&here), words(&there));
            if own.is_empty() || others.is_empty() {
                return (at..at, "x".to_owned());
            }
            let own = own[below(random, own.len() - 1)].clone();
            let other = others[below(random, others.len() - 1)].clone();
            (own, text[other].to_owned())
        }
    }
}

/// Lines that an edit does not affect keep their highlighting: the same list, not an equal one.
#[test]
fn only_what_an_edit_reaches_is_coloured_anew() {
    let mut text =
        String::from(".version 4.1\n.kernel \"k\"\n.decl A v_type=G type=ud num_elts=8\n");
    for number in 0..200 {
        let name = if number % 10 == 0 { "A" } else { "B" };
        text.push_str(&format!("    mov (M1, 8) {name}(0,0)<1> 0x1:ud\n"));
    }
    let mut document = Document::new(text);
    let mut kept = |range: Range<usize>, with: &str| {
        let pieces =
            |d: &Document| -> Vec<_> { (0..d.line_count()).map(|l| d.pieces(l)).collect() };
        let before = pieces(&document);
        document.edit(range, with).unwrap();
        let after = pieces(&document);
        let new =
            |a: &&std::sync::Arc<[Piece]>| !before.iter().any(|b| std::sync::Arc::ptr_eq(a, b));
        after.iter().filter(new).count()
    };
    // A blank on the line of an instruction, in a declaration, and an empty line.
    assert_eq!(kept(90..90, " "), 1);
    assert_eq!(kept(33..33, " "), 1);
    assert_eq!(kept(63..63, "\n"), 2);
    // The declaration names another variable: its own line, and those that name either.
    let at = 31;
    assert_eq!(kept(at..at + 1, "B"), 201);
    assert_eq!(kept(at..at + 1, "C"), 181);
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
