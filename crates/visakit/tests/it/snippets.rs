//! Messages about texts.

use visakit::snippets::{one_byte_each, printable};

#[test]
fn nothing_that_steers_a_terminal_is_printed() {
    assert_eq!(printable(b"a\x1b[31m"), "a\\u{1b}[31m");
    assert_eq!(printable("x\u{202e}gpj".as_bytes()), "x\\u{202e}gpj");
    assert_eq!(
        printable("\u{2066}k\u{200b}".as_bytes()),
        "\\u{2066}k\\u{200b}"
    );
    assert_eq!(printable("größe→".as_bytes()), "größe→");
}

#[test]
fn places_stay_where_they_are() {
    let text = b"a\xff\xfe\xc3(b\xe2\x82";
    let shown = one_byte_each(text);
    assert_eq!(shown, "a???(b??");
    assert_eq!(shown.len(), text.len());
}
